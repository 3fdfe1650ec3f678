#include "lib/preload/preload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Launches: what the kernel is given, and the mapped host memory it may read or write. */

#define KERNARG_INLINE 4096 /* bytes kept on the stack; the API's own limit */

static void dims(uint32_t *to, uint64_t x, uint64_t y, uint64_t z)
{
	to[0] = (uint32_t)x;
	to[1] = (uint32_t)y;
	to[2] = (uint32_t)z;
}

static void boxed(uint32_t *to, uint64_t word)
{
	memcpy(to, (const void *)(uintptr_t)word, 12);
}

bool hrr_launch_describe(enum hrr_api api, const uint64_t *a, struct hrr_launch_args *l)
{
	*l = (struct hrr_launch_args){0};
	switch (api) {
	case HRR_API_hipLaunchKernel:
	case HRR_API_hipLaunchKernel_spt:
	case HRR_API_hipExtLaunchKernel:
	case HRR_API_hipLaunchCooperativeKernel:
	case HRR_API_hipLaunchCooperativeKernel_spt:
		boxed(l->grid, a[1]);
		boxed(l->block, a[2]);
		l->params = (const uint64_t *)(uintptr_t)a[3];
		l->lds = a[4];
		l->stream = a[5];
		break;
	case HRR_API_hipModuleLaunchKernel:
		dims(l->grid, a[1], a[2], a[3]);
		dims(l->block, a[4], a[5], a[6]);
		l->lds = (uint32_t)a[7];
		l->stream = a[8];
		l->params = (const uint64_t *)(uintptr_t)a[9];
		l->extra = (const uint64_t *)(uintptr_t)a[10];
		break;
	case HRR_API_hipModuleLaunchCooperativeKernel:
		dims(l->grid, a[1], a[2], a[3]);
		dims(l->block, a[4], a[5], a[6]);
		l->lds = (uint32_t)a[7];
		l->stream = a[8];
		l->params = (const uint64_t *)(uintptr_t)a[9];
		break;
	case HRR_API_hipExtModuleLaunchKernel:
	case HRR_API_hipHccModuleLaunchKernel:
		dims(l->grid, a[1], a[2], a[3]);
		dims(l->block, a[4], a[5], a[6]);
		l->lds = a[7];
		l->stream = a[8];
		l->params = (const uint64_t *)(uintptr_t)a[9];
		l->extra = (const uint64_t *)(uintptr_t)a[10];
		break;
	case HRR_API_hipLaunchKernelExC: {
		const struct hipLaunchConfig_t *p = (const void *)(uintptr_t)a[0];
		if (p == NULL)
			return false;
		memcpy(l->grid, &p->gridDim, 12);
		memcpy(l->block, &p->blockDim, 12);
		l->lds = p->dynamicSmemBytes;
		l->stream = hrr_stream_of(api, (uintptr_t)p->stream);
		l->stub = a[1];
		l->params = (const uint64_t *)(uintptr_t)a[2];
		return true;
	}
	case HRR_API_hipDrvLaunchKernelEx: {
		const struct HIP_LAUNCH_CONFIG *p = (const void *)(uintptr_t)a[0];
		if (p == NULL)
			return false;
		dims(l->grid, p->gridDimX, p->gridDimY, p->gridDimZ);
		dims(l->block, p->blockDimX, p->blockDimY, p->blockDimZ);
		l->lds = p->sharedMemBytes;
		l->stream = hrr_stream_of(api, (uintptr_t)p->hStream);
		l->stub = a[1];
		l->params = (const uint64_t *)(uintptr_t)a[2];
		l->extra = (const uint64_t *)(uintptr_t)a[3];
		return true;
	}
	case HRR_API_hipGraphAddKernelNode:
	case HRR_API_hipGraphKernelNodeSetParams:
	case HRR_API_hipGraphExecKernelNodeSetParams: {
		int k = hrr_api_param(api, "pNodeParams", 11);
		const struct hipKernelNodeParams *p = (const void *)(uintptr_t)a[k];
		if (p == NULL)
			return false;
		memcpy(l->grid, &p->gridDim, 12);
		memcpy(l->block, &p->blockDim, 12);
		l->params = (const uint64_t *)(const void *)p->kernelParams;
		l->extra = (const uint64_t *)(const void *)p->extra;
		l->lds = p->sharedMemBytes;
		l->stub = (uintptr_t)p->func;
		return true;
	}
	default:
		return false;
	}
	l->stream = hrr_stream_of(api, l->stream);
	l->stub = a[0];
	return true;
}

bool hrr_launch_nth(enum hrr_api api, const uint64_t *a, unsigned n, struct hrr_launch_args *l)
{
	const void *list = (const void *)(uintptr_t)a[0];

	if (hrr_api_launches(api) < 0)
		return n == 0 && hrr_launch_describe(api, a, l);
	*l = (struct hrr_launch_args){0};
	if (n >= (uint32_t)a[1] || n >= HRR_LAUNCHES_MAX)
		return false;
	/* The call may yet fail, or has: nothing is known to be there. */
	if (api == HRR_API_hipModuleLaunchCooperativeKernelMultiDevice) {
		struct hipFunctionLaunchParams_t p;
		if (!hrr_copy_in(&p, (const struct hipFunctionLaunchParams_t *)list + n, sizeof p))
			return false;
		dims(l->grid, p.gridDimX, p.gridDimY, p.gridDimZ);
		dims(l->block, p.blockDimX, p.blockDimY, p.blockDimZ);
		l->lds = p.sharedMemBytes;
		l->stream = (uintptr_t)p.hStream;
		l->stub = (uintptr_t)p.function;
		l->params = (const uint64_t *)(const void *)p.kernelParams;
		return true;
	}
	struct hipLaunchParams_t p;
	if (!hrr_copy_in(&p, (const struct hipLaunchParams_t *)list + n, sizeof p))
		return false;
	memcpy(l->grid, &p.gridDim, sizeof l->grid);
	memcpy(l->block, &p.blockDim, sizeof l->block);
	l->lds = p.sharedMem;
	l->stream = (uintptr_t)p.stream;
	l->stub = (uintptr_t)p.func;
	l->params = (const uint64_t *)(const void *)p.args;
	return true;
}

/* HIP_LAUNCH_PARAM_BUFFER_POINTER 1, _BUFFER_SIZE 2, _END 3 (0 in old headers). */
static bool extra_buffer(const uint64_t *extra, const void **ret, size_t *ret_size)
{
	*ret = NULL;
	*ret_size = 0;
	for (int i = 0; i < 8; i += 2) {
		if (extra[i] == 3 || extra[i] == 0)
			break;
		if (extra[i] == 1)
			*ret = (const void *)(uintptr_t)extra[i + 1];
		else if (extra[i] == 2)
			*ret_size = *(const size_t *)(uintptr_t)extra[i + 1];
	}
	return *ret != NULL;
}

size_t hrr_launch_bytes(const struct hrr_kernel_info *k, const struct hrr_launch_args *l,
			unsigned char *buf, size_t cap)
{
	const void *p;
	size_t n = k->kernarg;

	if (n > cap)
		return 0;
	if (l->params != NULL) {
		size_t end = 0;
		for (uint32_t i = 0; i < k->n_args; i++) {
			const struct hrr_kernel_arg *x = &k->args[i];
			if (x->offset > end)
				memset(buf + end, 0, x->offset - end);
			if (x->size == 8 && l->params[i] != 0)
				memcpy(buf + x->offset, (const void *)(uintptr_t)l->params[i], 8);
			else if (l->params[i] != 0)
				memcpy(buf + x->offset, (const void *)(uintptr_t)l->params[i],
				       x->size);
			else
				memset(buf + x->offset, 0, x->size);
			end = x->offset + x->size;
		}
		return n;
	}
	size_t have;
	if (l->extra == NULL || !extra_buffer(l->extra, &p, &have))
		return 0;
	have = have < n ? have : n;
	memcpy(buf, p, have);
	memset(buf + have, 0, n - have);
	return n;
}

void hrr_kernel_att(struct hrr_call *c, const struct hrr_launch_args *l, unsigned nth)
{
	struct hrr_kernel_info *k = hrr_kernel_of(c->t, l->stub);
	struct hrr_att_kernel x = {.lds = l->lds};
	size_t n = k != NULL ? k->kernarg : 0;

	memcpy(x.grid, l->grid, sizeof x.grid);
	memcpy(x.block, l->block, sizeof x.block);
	if (k != NULL) {
		x.kernel = atomic_load_explicit(&k->id, memory_order_relaxed);
		if (n > c->t->size / 8)
			n = 0; /* more than the API allows */
	}
	unsigned char *d = hrr_b_att(c->t, HRR_A_KERNEL, nth, sizeof x + n);
	if (d == NULL)
		return;
	if (n != 0)
		x.size = (uint32_t)hrr_launch_bytes(k, l, d + sizeof x, n);
	memcpy(d, &x, sizeof x);
}

/* Mapped host memory behind the words of the kernel's arguments. */
void hrr_launch_hosts(const struct hrr_kernel_info *k, const struct hrr_launch_args *l,
		      void (*each)(void *self, struct hrr_host_range *h), void *self)
{
	unsigned char buf[KERNARG_INLINE];
	struct hrr_host_range *seen[32];
	unsigned n_seen = 0;
	size_t n = hrr_launch_bytes(k, l, buf, sizeof buf);

	for (size_t i = 0; i + 8 <= n && n_seen < 32; i++) {
		uint64_t v;
		memcpy(&v, buf + i, 8);
		if (v < 4096 || v >= (uint64_t)1 << 48)
			continue;
		struct hrr_where w = hrr_where_is(v);
		if (w.host == NULL)
			continue;
		unsigned j = 0;
		while (j < n_seen && seen[j] != w.host)
			j++;
		if (j < n_seen) {
			hrr_host_unref(w.host);
			continue;
		}
		seen[n_seen++] = w.host;
	}
	for (unsigned j = 0; j < n_seen; j++) {
		each(self, seen[j]);
		hrr_host_unref(seen[j]);
	}
	hrr_managed_each(k->object, each, self);
}

bool hrr_host_wanted(void)
{
	return hrr_n_hosts != 0 && (hrr_proc->hub->options & HRR_OPT_HOST_OFF) == 0;
}

static void snapshot(void *self, struct hrr_host_range *h)
{
	hrr_host_snapshot(self, h, h->base, h->size);
}

static void enter(struct hrr_call *c, const struct hrr_launch_args *l)
{
	/* Its records, when they are new, must be out before this call's own is begun. */
	struct hrr_kernel_info *k = hrr_kernel_of(c->t, l->stub);
	if (k == NULL || !hrr_host_wanted() || (hrr_n_captures != 0 && hrr_capturing(l->stream)))
		return;
	if ((hrr_proc->hub->options & HRR_OPT_HOST_ALL) == 0)
		hrr_launch_hosts(k, l, snapshot, &c->snaps);
	else if (c->snaps == NULL)
		hrr_host_each(snapshot, &c->snaps);
}

void hrr_launch_enter(struct hrr_call *c)
{
	struct hrr_launch_args l;

	for (unsigned n = 0; hrr_launch_nth(c->api, c->a, n, &l); n++)
		enter(c, &l);
}

void hrr_launch_begun(struct hrr_call *c)
{
	struct hrr_launch_args l;

	for (unsigned n = 0; hrr_launch_nth(c->api, c->a, n, &l); n++)
		hrr_kernel_att(c, &l, n);
}

struct writes {
	struct hrr_call *c;
	uint64_t stream;
};

static void may_write(void *self, struct hrr_host_range *h)
{
	struct writes *w = self;
	struct hrr_rect r = {h->size, 1, 1, h->size, h->size};

	hrr_pending_add(hrr_seq(w->c), 0, h->base, &r, h, true, w->stream);
}

/* A launch that succeeded, its kernel said in the record. */
static void left(struct hrr_call *c, const struct hrr_launch_args *l)
{
	if (hrr_n_captures != 0 && hrr_capturing(l->stream)) {
		c->flags |= HRR_F_CAPTURED;
		hrr_capture_launch(c, l);
		return;
	}
	if (hrr_n_pending != 0)
		hrr_pending_work(l->stream);
	if (!hrr_host_wanted())
		return;
	struct hrr_kernel_info *k = hrr_kernel_of(c->t, l->stub);
	struct writes w = {c, l->stream};
	if (k == NULL)
		return;
	if ((hrr_proc->hub->options & HRR_OPT_HOST_ALL) != 0)
		hrr_host_each(may_write, &w);
	else
		hrr_launch_hosts(k, l, may_write, &w);
}

void hrr_launch_leave(struct hrr_call *c)
{
	struct hrr_launch_args l;

	for (unsigned n = 0; hrr_launch_nth(c->api, c->a, n, &l); n++) {
		hrr_kernel_att(c, &l, n);
		if (hrr_ok(c))
			left(c, &l);
	}
	if (hrr_ok(c) && c->snaps != NULL)
		hrr_snapshots_att(c->t, c->snaps);
}
