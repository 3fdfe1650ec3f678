#include <errno.h>
#include <string.h>

#include "lib/replay/engine.h"

/*
 * Launches on several devices with one call. There are no stubs here, so all go by function handle:
 * cooperative ones with one call where the run time has it, which alone gives kernels a barrier
 * over all grids; the others one by one, with the waits around them that the call would make.
 */
#define NO_SYNC_BEFORE 1u
#define NO_SYNC_AFTER 2u

struct one {
	uint64_t stream, key; /* live; recorded */
	int device;
	struct hrr_launch l;
};

/* What the i-th element of the list says of where to launch, and what by. */
static void listed(const struct hrr_event *ev, unsigned i, uint64_t *ret_stream,
		   uint64_t *ret_function)
{
	if (ev->api == HRR_API_hipModuleLaunchCooperativeKernelMultiDevice) {
		const struct hipFunctionLaunchParams_t *p = (const void *)(uintptr_t)ev->w[0];
		*ret_stream = HRR_P(p[i].hStream);
		*ret_function = HRR_P(p[i].function);
		return;
	}
	const struct hipLaunchParams_t *p = (const void *)(uintptr_t)ev->w[0];
	*ret_stream = HRR_P(p[i].stream);
	*ret_function = 0;
}

static int read_one(struct hrr_replay *r, struct hrr_event *ev, unsigned i, int kernel,
		    struct one *x)
{
	uint64_t function;

	listed(ev, i, &x->key, &function);
	int rc = hrr_stream(r, ev, x->key, false, &x->stream);
	if (rc < 0)
		return rc;
	const struct hrr_held *h = hrr_held_find(&r->held[HRR_H_STREAM], x->key);
	if (h == NULL || h->live != x->stream)
		return hrr_fail(r, "launch %u of a list: its stream was not created", i);
	if (hrr_capture_of(r, x->key) != NULL)
		return hrr_fail(r, "launch %u of a list: its stream is being captured", i);
	x->device = h->device;
	/* Modules and functions are a device's. */
	rc = hrr_set_device(r, x->device);
	return rc < 0 ? rc : hrr_kernel_read(r, ev, kernel, function, &x->l);
}

static int read_all(struct hrr_replay *r, struct hrr_event *ev, struct one **ret, unsigned *ret_n)
{
	const struct hrr_json *j = ev->j;
	bool list = ev->node[0] >= 0 && j->nodes[ev->node[0]].type == HRR_JSON_ARRAY;
	uint64_t n = (uint32_t)ev->w[1], have = list ? hrr_json_count(j, ev->node[0]) : 0;
	unsigned i = 0;
	int rc = 0;

	if (ev->rec->kernel < 0 || have < n || n == 0 || n > HRR_MAX_DEVICES)
		return hrr_fail(r, "its list of %llu launches was not recorded",
				(unsigned long long)n);
	struct one *x = hrr_scratch(r, n * sizeof *x);
	if (x == NULL)
		return hrr_trouble(r, -ENOMEM, "out of memory");
	for (int k = -1; rc == 0 && (k = hrr_kernel_next(j, ev->rec->kernel, k)) >= 0 && i < n; i++)
		rc = read_one(r, ev, i, k, &x[i]);
	if (rc == 0 && i < n)
		return hrr_fail(r, "launch %u of a list of %llu: its kernel was not recorded", i,
				(unsigned long long)n);
	*ret = x;
	*ret_n = (unsigned)n;
	return rc;
}

static int wait_for_all(struct hrr_replay *r, const struct one *x, unsigned n)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < n; i++)
		rc = hrr_wait_launch(r, x[i].stream);
	return rc;
}

static int64_t launch_one(struct hrr_replay *r, const struct one *x, bool cooperative)
{
	const struct hrr_launch *l = &x->l;
	enum hrr_api api =
	    cooperative && r->hip->fn[HRR_API_hipModuleLaunchCooperativeKernel] != NULL
		? HRR_API_hipModuleLaunchCooperativeKernel
		: HRR_API_hipModuleLaunchKernel;
	const uint64_t a[HRR_MAX_WORDS] = {l->live_fn,	l->grid[0],	 l->grid[1],  l->grid[2],
					   l->block[0], l->block[1],	 l->block[2], l->lds,
					   x->stream,	HRR_P(l->params)};

	return hrr_call(r, api, a);
}

static int one_by_one(struct hrr_replay *r, struct hrr_event *ev, const struct one *x, unsigned n,
		      bool cooperative, int64_t *ret)
{
	uint64_t flags = ev->w[2];
	int rc = (flags & NO_SYNC_BEFORE) == 0 ? wait_for_all(r, x, n) : 0;

	*ret = hipSuccess;
	for (unsigned i = 0; rc == 0 && *ret == hipSuccess && i < n; i++) {
		rc = hrr_set_device(r, x[i].device);
		if (rc == 0)
			*ret = launch_one(r, &x[i], cooperative);
	}
	if (rc == 0 && *ret == hipSuccess && (flags & NO_SYNC_AFTER) == 0)
		rc = wait_for_all(r, x, n);
	return rc;
}

static int together(struct hrr_replay *r, struct hrr_event *ev, const struct one *x, unsigned n,
		    int64_t *ret)
{
	struct hipFunctionLaunchParams_t *p = hrr_scratch(r, n * sizeof *p);

	if (p == NULL)
		return hrr_trouble(r, -ENOMEM, "out of memory");
	for (unsigned i = 0; i < n; i++) {
		const struct hrr_launch *l = &x[i].l;
		p[i].function = (hipFunction_t)(uintptr_t)l->live_fn;
		p[i].gridDimX = l->grid[0];
		p[i].gridDimY = l->grid[1];
		p[i].gridDimZ = l->grid[2];
		p[i].blockDimX = l->block[0];
		p[i].blockDimY = l->block[1];
		p[i].blockDimZ = l->block[2];
		p[i].sharedMemBytes = l->lds;
		p[i].hStream = (hipStream_t)(uintptr_t)x[i].stream;
		p[i].kernelParams = l->params;
	}
	*ret = HRR_CALL(r, hipModuleLaunchCooperativeKernelMultiDevice, HRR_P(p), n, ev->w[2]);
	return 0;
}

/* All memory that any of them was given, in ret. */
static int note_all(struct hrr_replay *r, struct hrr_event *ev, struct one *x, unsigned n,
		    struct hrr_launch *ret)
{
	int rc = 0;

	*ret = x[0].l;
	for (unsigned i = 0; i < n; i++) {
		struct hrr_launch *l = &x[i].l;
		hrr_launch_wrote(r, ev, l, x[i].key);
		l->fn->launches++;
		r->v.launches++;
		for (size_t k = 0; rc == 0 && i > 0 && k < l->n_mems; k++)
			rc = hrr_launch_uses(r, ret, l->mems[k]);
	}
	return rc;
}

int hrr_do_launches(struct hrr_replay *r, struct hrr_event *ev)
{
	bool cooperative = ev->api != HRR_API_hipExtLaunchMultiKernelMultiDevice;
	struct hrr_launch all;
	struct one *x = NULL;
	unsigned n = 0;
	int64_t e;
	int rc = read_all(r, ev, &x, &n);

	if (rc == 0)
		rc = hrr_host_bytes(r, ev, NULL);
	for (unsigned i = 0; rc == 0 && i < n; i++) {
		rc = hrr_set_device(r, x[i].device);
		hrr_order_fills(r, x[i].stream);
	}
	if (rc < 0)
		return rc;
	if (cooperative && r->hip->fn[HRR_API_hipModuleLaunchCooperativeKernelMultiDevice] != NULL)
		rc = together(r, ev, x, n, &e);
	else
		rc = one_by_one(r, ev, x, n, cooperative, &e);
	if (rc < 0)
		return rc;
	rc = hrr_settle(r, ev, e);
	if (e != hipSuccess)
		return rc;
	int rc2 = note_all(r, ev, x, n, &all);
	rc = rc < 0 ? rc : rc2;
	if (rc < 0 || r->captures != 0 ||
	    !(r->opt.sync_after_launch || r->opt.timing || r->opt.hashes != NULL))
		return rc;
	rc = wait_for_all(r, x, n);
	if (rc == 0 && r->opt.hashes != NULL)
		rc = hrr_hash_launch(r, ev, &all);
	return rc;
}
