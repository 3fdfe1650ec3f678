#include "lib/preload/preload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Copies: what moves where, which bytes go in, which come out and when. */

/* Where a row keeps the parts of a copy: parameter indices, -1 where absent. */
struct shape {
	int8_t dst, src, size, dpitch, spitch, width, height, kind, stream, symbol, offset, boxed;
};

/* The first of these names a call has a parameter of. */
static int8_t at(enum hrr_api api, const char *names)
{
	int k = -1;

	while (*names != '\0' && k < 0) {
		size_t n = strcspn(names, " ");
		k = hrr_api_param(api, names, n);
		names += n + strspn(names + n, " ");
	}
	return (int8_t)k;
}

static const struct shape *shape_of(enum hrr_api api)
{
	static struct shape shapes[HRR_API_COUNT];
	static _Atomic uint8_t known[HRR_API_COUNT];
	struct shape *s = &shapes[api];

	if (atomic_load_explicit(&known[api], memory_order_acquire))
		return s;
	struct shape x = {at(api, "dst dstArray dstHost dstDevice"),
			  at(api, "src srcArray srcHost srcDevice"),
			  at(api, "sizeBytes count ByteCount"),
			  at(api, "dpitch"),
			  at(api, "spitch"),
			  at(api, "width"),
			  at(api, "height"),
			  at(api, "kind"),
			  at(api, "stream"),
			  at(api, "symbol"),
			  at(api, "offset"),
			  -1};
	const struct hrr_api_row *row = &hrr_api_table[api];
	for (int i = 0; i < row->n_params; i++)
		if (row->params[i].kind == HRR_K_STRUCT && row->params[i].flow == HRR_FLOW_IN)
			x.boxed = (int8_t)i;
	*s = x; /* the same from every thread */
	atomic_store_explicit(&known[api], 1, memory_order_release);
	return s;
}

static struct hrr_rect line(uint64_t n)
{
	return (struct hrr_rect){n, 1, 1, n, n};
}

/* Bytes of an element where an array takes part: what it counts is elements then. */
static uint64_t element_of(struct hrr_copy_op *op, hipArray_t src, hipArray_t dst)
{
	uint64_t n = 1;

	op->src_dev = src != NULL;
	op->dst_dev = dst != NULL;
	if (src != NULL || dst != NULL)
		n = hrr_array_element((uintptr_t)(src != NULL ? src : dst));
	op->unknown = n == 0;
	return n;
}

static void from_3d(struct hrr_copy_op *op, const struct hipMemcpy3DParms *p)
{
	uint64_t w = p->extent.width * element_of(op, p->srcArray, p->dstArray);
	uint64_t h = p->extent.height, d = p->extent.depth;

	op->src = (uintptr_t)p->srcPtr.ptr + p->srcPos.x + p->srcPos.y * p->srcPtr.pitch +
		  p->srcPos.z * p->srcPtr.pitch * p->srcPtr.ysize;
	op->dst = (uintptr_t)p->dstPtr.ptr + p->dstPos.x + p->dstPos.y * p->dstPtr.pitch +
		  p->dstPos.z * p->dstPtr.pitch * p->dstPtr.ysize;
	op->srect = (struct hrr_rect){w, h, d, p->srcPtr.pitch, p->srcPtr.pitch * p->srcPtr.ysize};
	op->drect = (struct hrr_rect){w, h, d, p->dstPtr.pitch, p->dstPtr.pitch * p->dstPtr.ysize};
	if (p->srcArray != NULL)
		op->src = 0;
	if (p->dstArray != NULL)
		op->dst = 0;
	op->kind = p->kind;
}

/* hip_Memcpy2D and HIP_MEMCPY3D say by memory type which field holds an end's address. */
static uint64_t by_type(int type, const void *host, const void *dev, uint64_t offset, bool *ret_dev)
{
	bool old = hrr_runtime_major() < 6; /* their numbers changed */
	bool array = type == (old ? hipMemoryTypeArray_5 : hipMemoryTypeArray_6);

	*ret_dev = array || type == (old ? hipMemoryTypeDevice_5 : hipMemoryTypeDevice_6);
	if (array)
		return 0;
	if (type == (old ? hipMemoryTypeHost_5 : hipMemoryTypeHost_6))
		return (uintptr_t)host + offset;
	return (dev != NULL ? (uintptr_t)dev : (uintptr_t)host) + offset;
}

static void from_drv2d(struct hrr_copy_op *op, const struct hip_Memcpy2D *p)
{
	uint64_t spitch = p->srcPitch != 0 ? p->srcPitch : p->WidthInBytes,
		 dpitch = p->dstPitch != 0 ? p->dstPitch : p->WidthInBytes;

	op->src = by_type(p->srcMemoryType, p->srcHost, p->srcDevice,
			  p->srcXInBytes + p->srcY * spitch, &op->src_dev);
	op->dst = by_type(p->dstMemoryType, p->dstHost, p->dstDevice,
			  p->dstXInBytes + p->dstY * dpitch, &op->dst_dev);
	op->srect = (struct hrr_rect){p->WidthInBytes, p->Height, 1, spitch, 0};
	op->drect = (struct hrr_rect){p->WidthInBytes, p->Height, 1, dpitch, 0};
}

static void from_drv3d(struct hrr_copy_op *op, const struct HIP_MEMCPY3D_size *p)
{
	uint64_t spitch = p->srcPitch != 0 ? p->srcPitch : p->WidthInBytes,
		 dpitch = p->dstPitch != 0 ? p->dstPitch : p->WidthInBytes,
		 sslice = spitch * (p->srcHeight != 0 ? p->srcHeight : p->Height),
		 dslice = dpitch * (p->dstHeight != 0 ? p->dstHeight : p->Height);

	op->src = by_type(p->srcMemoryType, p->srcHost, p->srcDevice,
			  p->srcXInBytes + p->srcY * spitch + p->srcZ * sslice, &op->src_dev);
	op->dst = by_type(p->dstMemoryType, p->dstHost, p->dstDevice,
			  p->dstXInBytes + p->dstY * dpitch + p->dstZ * dslice, &op->dst_dev);
	op->srect = (struct hrr_rect){p->WidthInBytes, p->Height, p->Depth, spitch, sslice};
	op->drect = (struct hrr_rect){p->WidthInBytes, p->Height, p->Depth, dpitch, dslice};
}

/* An end that is an array has no address. */
static bool is_array(const struct hrr_api_row *row, int k)
{
	return row->params[k].kind == HRR_K_HANDLE && row->params[k].handle == HRR_H_ARRAY;
}

bool hrr_copy_describe(enum hrr_api api, const uint64_t *a, struct hrr_copy_op *op)
{
	const struct hrr_api_row *row = &hrr_api_table[api];
	const struct shape *s = shape_of(api);

	*op = (struct hrr_copy_op){.kind = s->kind >= 0 ? (int)a[s->kind] : -1,
				   .stream = hrr_stream_of(api, s->stream >= 0 ? a[s->stream] : 0),
				   .async = s->stream >= 0 && row->sync == HRR_SYNC_NONE,
				   .dst_param = (uint8_t)s->dst,
				   .src_param = (uint8_t)s->src};
	if (s->boxed >= 0) {
		const void *p = (const void *)(uintptr_t)a[s->boxed];
		const char *type = row->params[s->boxed].st->name;
		op->dst_param = op->src_param = (uint8_t)s->boxed;
		if (p == NULL)
			return false;
		if (strcmp(type, "hipMemcpy3DParms") == 0) {
			from_3d(op, p);
		} else if (strcmp(type, "hipMemcpy3DPeerParms") == 0) {
			const struct hrr_param *parms =
			    &hrr_api_table[HRR_API_hipMemcpy3D].params[0];
			struct hipMemcpy3DParms box = {0};
			hrr_struct_convert(parms->st, &box, row->params[s->boxed].st, p);
			from_3d(op, &box);
			op->kind = -1;
		} else if (strcmp(type, "hip_Memcpy2D") == 0)
			from_drv2d(op, p);
		else if (strcmp(type, "HIP_MEMCPY3D") == 0) {
			const struct hrr_struct *st = row->params[s->boxed].st;
			struct HIP_MEMCPY3D_size box = {0};
			hrr_struct_convert(st->later, &box,
					   hrr_struct_at(st, (int)hrr_proc->ctl->layout), p);
			from_drv3d(op, &box);
		} else
			return false;
		return true;
	}
	if (s->dst >= 0)
		op->dst = a[s->dst];
	if (s->src >= 0)
		op->src = a[s->src];
	if (s->symbol >= 0) { /* the other end is device memory, wherever it lies */
		op->dst_dev = s->dst < 0;
		op->src_dev = s->src < 0;
	} else if (s->dst < 0 || s->src < 0) {
		return false;
	} else {
		op->dst_dev = row->params[s->dst].kind == HRR_K_DEV || is_array(row, s->dst);
		op->src_dev = row->params[s->src].kind == HRR_K_DEV || is_array(row, s->src);
		op->dst = is_array(row, s->dst) ? 0 : op->dst;
		op->src = is_array(row, s->src) ? 0 : op->src;
	}
	if (s->width >= 0) {
		uint64_t w = a[s->width];
		op->srect =
		    (struct hrr_rect){w, a[s->height], 1, s->spitch >= 0 ? a[s->spitch] : w, 0};
		op->drect =
		    (struct hrr_rect){w, a[s->height], 1, s->dpitch >= 0 ? a[s->dpitch] : w, 0};
	} else if (s->size >= 0) {
		op->srect = op->drect = line(a[s->size]);
	} else {
		return false;
	}
	return true;
}

/*
 * Memory we have not heard of is the host's, unless the call's types or its
 * kind say device and it cannot be read (imported from elsewhere).
 */
static bool is_device(uint64_t addr, bool typed, bool kind, enum hrr_mem *ret_mem,
		      struct hrr_host_range **ret_host)
{
	struct hrr_where w = hrr_where_is(addr);
	char byte;

	*ret_mem = w.mem;
	*ret_host = w.host;
	if (addr == 0)
		return typed;
	if (w.mem != HRR_MEM_NONE)
		return hrr_mem_device(w.mem);
	if (typed)
		return true;
	return kind && !hrr_copy_in(&byte, (const void *)(uintptr_t)addr, 1);
}

struct ends {
	enum hrr_dir dir;
	enum hrr_mem dst, src;
	struct hrr_host_range *dst_host, *src_host;
};

static struct ends ends_of(const struct hrr_copy_op *op)
{
	struct ends e = {0};
	int err = errno;
	bool d = is_device(op->dst, op->dst_dev,
			   op->kind == hipMemcpyHostToDevice || op->kind == hipMemcpyDeviceToDevice,
			   &e.dst, &e.dst_host);
	bool s = is_device(op->src, op->src_dev,
			   op->kind == hipMemcpyDeviceToHost || op->kind == hipMemcpyDeviceToDevice,
			   &e.src, &e.src_host);

	e.dir = d ? (s ? HRR_DIR_D2D : HRR_DIR_H2D) : (s ? HRR_DIR_D2H : HRR_DIR_H2H);
	errno = err;
	return e;
}

enum hrr_dir hrr_copy_dir(const struct hrr_copy_op *op)
{
	struct ends e = ends_of(op);

	if (e.dst_host != NULL)
		hrr_host_unref(e.dst_host);
	if (e.src_host != NULL)
		hrr_host_unref(e.src_host);
	return e.dir;
}

uint64_t hrr_rect_span(const struct hrr_rect *r)
{
	return (r->depth - 1) * r->slice + (r->height - 1) * r->pitch + r->width;
}

static void source(struct hrr_call *c, const struct hrr_copy_op *op, const struct ends *e,
		   enum hrr_att_tag tag)
{
	/* What other work will still write there is not known now; replay has its own copy. */
	if (hrr_n_pending != 0 && hrr_pending_overlaps(op->src, hrr_rect_span(&op->srect)))
		return;
	/* Mapped memory is read when the copy's turn comes: a host function before it may write. */
	if (hrr_n_pending != 0 && op->async &&
	    (e->src == HRR_MEM_PINNED || e->src == HRR_MEM_REGISTERED) &&
	    hrr_pending_function_before(op->stream))
		return;
	hrr_bytes_att(c->t, tag, op->src_param, (const void *)(uintptr_t)op->src, &op->srect,
		      e->src == HRR_MEM_PINNED || e->src == HRR_MEM_REGISTERED);
	if (e->src_host != NULL)
		hrr_host_sourced(e->src_host, op->src, hrr_rect_span(&op->srect),
				 hrr_rect_span(&op->srect) == hrr_rect_bytes(&op->srect));
}

static void destination(struct hrr_call *c, const struct hrr_copy_op *op, const struct ends *e)
{
	bool mapped = e->dst == HRR_MEM_PINNED || e->dst == HRR_MEM_REGISTERED;

	if (op->async && mapped) {
		c->flags |= HRR_F_PENDING;
		hrr_pending_att(c, 0, op->dst, hrr_rect_bytes(&op->drect));
		hrr_pending_add(hrr_seq(c), 0, op->dst, &op->drect, e->dst_host, false, op->stream);
		return;
	}
	/* Pageable memory has its bytes when the call returns, so has every synchronous copy. */
	struct hrr_pending *p = calloc(1, sizeof *p);
	if (p == NULL) {
		atomic_fetch_add(&hrr_proc->ctl->lost, 1);
		return;
	}
	p->call = hrr_seq(c);
	p->addr = op->dst;
	p->rect = op->drect;
	p->host = e->dst_host;
	if (p->host != NULL)
		hrr_host_ref(p->host);
	p->next = c->outputs;
	c->outputs = p;
}

/* Memory that the device copies from, and the host may have written: managed. */
static void mapped_source(struct hrr_call *c, const struct hrr_copy_op *op, const struct ends *e)
{
	if (e->src_host == NULL || !hrr_mem_device(e->src) || !hrr_host_wanted())
		return;
	hrr_host_snapshot(&c->snaps, e->src_host, op->src, hrr_rect_span(&op->srect));
	hrr_snapshots_att(c->t, c->snaps);
}

/* tag: of the attachment that holds the source's bytes. */
static enum hrr_dir one(struct hrr_call *c, const struct hrr_copy_op *op, enum hrr_att_tag tag)
{
	struct ends e = ends_of(op);

	if (hrr_ok(c) && hrr_rect_bytes(&op->drect) != 0) {
		if (hrr_n_captures != 0 && hrr_capturing(op->stream)) {
			c->flags |= HRR_F_CAPTURED;
			hrr_capture_copy(c, op, e.dir);
		} else {
			if (e.dir == HRR_DIR_H2D || e.dir == HRR_DIR_H2H)
				source(c, op, &e, tag);
			else if (tag == HRR_A_SRC)
				mapped_source(c, op, &e);
			if (hrr_n_pending != 0) {
				hrr_pending_work(op->stream);
				/* A synchronous copy by the null stream ends what was before it. */
				if (hrr_api_table[c->api].sync == HRR_SYNC_COPY &&
				    e.dir != HRR_DIR_D2D)
					hrr_pending_stream(c, op->stream);
				else if (hrr_api_table[c->api].sync == HRR_SYNC_STREAM)
					hrr_pending_stream(c, op->stream);
			}
			if (e.dir == HRR_DIR_D2H || e.dir == HRR_DIR_H2H)
				destination(c, op, &e);
		}
	}
	if (e.dst_host != NULL)
		hrr_host_unref(e.dst_host);
	if (e.src_host != NULL)
		hrr_host_unref(e.src_host);
	return e.dir;
}

/* --- lists of copies -------------------------------------------------------- */
#define MAX_LIST 8192 /* as many as the arguments of a record hold */

static uint64_t list_count(const struct hrr_call *c)
{
	return c->api == HRR_API_hipMemcpyBatchAsync ? c->a[3] : c->a[0];
}

static struct hrr_rect packed(uint64_t w, uint64_t h, uint64_t d, uint64_t row, uint64_t rows)
{
	uint64_t pitch = row != 0 ? row : w, height = rows != 0 ? rows : h;

	return (struct hrr_rect){w, h, d, pitch, pitch * height};
}

static bool nth(const struct hrr_call *c, uint64_t i, struct hrr_copy_op *op)
{
	*op = (struct hrr_copy_op){.kind = -1, .async = true};
	if (c->api == HRR_API_hipMemcpyBatchAsync) {
		op->dst = ((const uint64_t *)(uintptr_t)c->a[0])[i];
		op->src = ((const uint64_t *)(uintptr_t)c->a[1])[i];
		op->srect = op->drect = line(((const uint64_t *)(uintptr_t)c->a[2])[i]);
		op->stream = hrr_stream_of(c->api, c->a[8]);
		return true;
	}
	const struct hipMemcpy3DBatchOp *b =
	    (const struct hipMemcpy3DBatchOp *)(uintptr_t)c->a[1] + i;
	uint64_t w = b->extent.width, h = b->extent.height, d = b->extent.depth;
	op->dst = (uintptr_t)b->dst.ptr;
	op->src = (uintptr_t)b->src.ptr;
	op->srect = packed(w, h, d, b->src.rowLength, b->src.layerHeight);
	op->drect = packed(w, h, d, b->dst.rowLength, b->dst.layerHeight);
	op->stream = hrr_stream_of(c->api, c->a[4]);
	return b->src.type == hipMemcpyOperandTypePointer &&
	       b->dst.type == hipMemcpyOperandTypePointer;
}

static void list_leave(struct hrr_call *c)
{
	uint64_t n = list_count(c);
	struct hrr_copy_op op;

	if (!hrr_ok(c) || n > MAX_LIST)
		return;
	unsigned char *dirs = calloc(1, n + 1);
	for (uint64_t i = 0; dirs != NULL && i < n; i++)
		if (nth(c, i, &op)) /* bytes go with their addresses: there are many sources */
			dirs[i] = (unsigned char)one(c, &op, HRR_A_HOST);
	unsigned char *d = dirs != NULL ? hrr_b_att(c->t, HRR_A_DIRS, 0, n) : NULL;
	if (d != NULL)
		memcpy(d, dirs, n);
	free(dirs);
}

void hrr_copy_leave(struct hrr_call *c)
{
	struct hrr_copy_op op;

	if (c->api == HRR_API_hipMemcpyBatchAsync || c->api == HRR_API_hipMemcpy3DBatchAsync) {
		list_leave(c);
		return;
	}
	if (!hrr_copy_describe(c->api, c->a, &op) || op.unknown)
		return;
	hrr_symbol_att(c, hrr_api_param(c->api, "symbol", 6));
	c->dir = (uint8_t)one(c, &op, HRR_A_SRC);
}
