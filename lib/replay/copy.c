#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/replay/engine.h"

/*
 * Copies. Each is issued by the call it was recorded from, with live operands; the
 * ones of per-thread default streams by their asynchronous sibling on that thread's stream.
 */

#define LLU(x) ((unsigned long long)(x))
#define VARIABLE_AT ((uint64_t)0xffff800000000000) /* no recorded address is there */

uint64_t hrr_arg_of(const struct hrr_event *ev, const char *name)
{
	int i = hrr_api_param(ev->api, name, strlen(name));
	return i >= 0 ? ev->w[i] : 0;
}

/* The call to issue instead, and whether to wait after it. */
static enum hrr_api sibling(enum hrr_api api, bool *ret_spt, bool *ret_wait)
{
	*ret_wait = false;
	*ret_spt = true;
	switch (api) {
	case HRR_API_hipMemcpy_spt:
		*ret_wait = true;
		return HRR_API_hipMemcpyAsync;
	case HRR_API_hipMemcpyAsync_spt:
		return HRR_API_hipMemcpyAsync;
	case HRR_API_hipMemcpy2D_spt:
		*ret_wait = true;
		return HRR_API_hipMemcpy2DAsync;
	case HRR_API_hipMemcpy2DAsync_spt:
		return HRR_API_hipMemcpy2DAsync;
	case HRR_API_hipMemcpy3D_spt:
		*ret_wait = true;
		return HRR_API_hipMemcpy3DAsync;
	case HRR_API_hipMemcpy3DAsync_spt:
		return HRR_API_hipMemcpy3DAsync;
	case HRR_API_hipMemcpy2DToArray_spt:
		*ret_wait = true;
		return HRR_API_hipMemcpy2DToArrayAsync;
	case HRR_API_hipMemcpy2DToArrayAsync_spt:
		return HRR_API_hipMemcpy2DToArrayAsync;
	case HRR_API_hipMemcpy2DFromArray_spt:
	case HRR_API_hipMemcpyFromArray_spt:
		*ret_wait = true;
		return HRR_API_hipMemcpy2DFromArrayAsync;
	case HRR_API_hipMemcpy2DFromArrayAsync_spt:
		return HRR_API_hipMemcpy2DFromArrayAsync;
	default:
		*ret_spt = false;
		return api;
	}
}

static int copy_stream(struct hrr_replay *r, struct hrr_event *ev, struct hrr_copy *c, bool spt)
{
	int i = hrr_api_param(ev->api, "stream", 6);
	uint64_t recorded = i >= 0 ? ev->w[i] : 0;

	c->key = hrr_stream_key(ev, recorded, spt);
	return hrr_stream(r, ev, recorded, spt, &c->stream);
}

/* Issues by name of parameter: whatever of these the call has. */
static void put(struct hrr_event *ev, enum hrr_api api, const char *name, uint64_t v)
{
	int i = hrr_api_param(api, name, strlen(name));
	if (i >= 0)
		ev->live[i] = v;
}

static int finish_copy(struct hrr_replay *r, struct hrr_event *ev, struct hrr_copy *c,
		       struct hrr_graph *g, struct hrr_copy_ends *e, int64_t got, bool wait)
{
	int rc = hrr_settle(r, ev, got);

	if (wait && rc == 0 && got == hipSuccess)
		rc = hrr_wait_stream(r, c->stream);
	rc = hrr_copy_done(r, ev, c, g, e, rc);
	if (rc == 0 && ev->row->sync == HRR_SYNC_COPY && !(c->dev_src && c->dev_dst))
		hrr_note_wait(r, c->key, ev->seq);
	else if (rc == 0 && ev->row->sync == HRR_SYNC_STREAM)
		hrr_note_wait(r, c->key, ev->seq);
	return rc;
}

static int add_host_node(struct hrr_replay *r, struct hrr_graph *g, const struct hrr_copy *c,
			 const struct hrr_copy_ends *e, uint64_t node)
{
	if (g == NULL || e->host_size == 0)
		return 0;
	struct hrr_host_node h = hrr_copy_host_node(c, e);
	h.node_live = node;
	return hrr_graph_host(r, g, &h);
}

/* Where a call has an end: the first of these names it has a parameter of, or -1. */
static int end_param(enum hrr_api api, bool dst)
{
	static const char *const names[2][4] = {{"src", "srcArray", "srcHost", "srcDevice"},
						{"dst", "dstArray", "dstHost", "dstDevice"}};
	int k = -1;

	for (int i = 0; i < 4 && k < 0; i++)
		k = hrr_api_param(api, names[dst][i], strlen(names[dst][i]));
	return k;
}

/* An end as recorded: an address, or an array. */
static int read_end(struct hrr_replay *r, struct hrr_event *ev, int k, bool dst, struct hrr_copy *c)
{
	const struct hrr_param *p = &ev->row->params[k];

	if (p->kind == HRR_K_HANDLE && p->handle == HRR_H_ARRAY)
		return hrr_handle(r, ev, HRR_H_ARRAY, ev->w[k],
				  dst ? &c->dst_array : &c->src_array);
	*(dst ? &c->dst : &c->src) = ev->w[k];
	*(dst ? &c->dst_typed : &c->src_typed) = p->kind != HRR_K_ADDR;
	*(dst ? &c->dev_dst : &c->dev_src) = p->kind == HRR_K_DEV;
	return 0;
}

int hrr_do_copy(struct hrr_replay *r, struct hrr_event *ev)
{
	struct hrr_copy c = {.height = 1, .depth = 1};
	struct hrr_copy_ends e;
	bool spt, wait;
	enum hrr_api api = sibling(ev->api, &spt, &wait);

	int dst = end_param(ev->api, true), src = end_param(ev->api, false);
	if (dst < 0 || src < 0)
		return hrr_refuse(r, "this copy is not replayed");
	int rc = read_end(r, ev, dst, true, &c);
	if (rc == 0)
		rc = read_end(r, ev, src, false, &c);
	if (rc < 0)
		return rc;
	if (hrr_api_param(ev->api, "width", 5) >= 0) {
		c.width = hrr_arg_of(ev, "width");
		c.height = hrr_arg_of(ev, "height");
		c.dpitch = c.dst_array != 0 ? c.width : hrr_arg_of(ev, "dpitch");
		c.spitch = c.src_array != 0 ? c.width : hrr_arg_of(ev, "spitch");
	} else {
		c.width = hrr_arg_of(ev, "sizeBytes") | hrr_arg_of(ev, "count") |
			  hrr_arg_of(ev, "ByteCount");
		c.dpitch = c.spitch = c.width;
	}
	if (__builtin_mul_overflow(c.dpitch, c.height, &c.dslice) ||
	    __builtin_mul_overflow(c.spitch, c.height, &c.sslice))
		return hrr_fail(r, "the rectangle is larger than memory");
	c.async = wait ? false : hrr_api_param(ev->api, "stream", 6) >= 0;
	rc = copy_stream(r, ev, &c, spt);
	if (rc < 0)
		return rc;
	struct hrr_graph *g = hrr_capture_of(r, c.key);
	rc = hrr_copy_resolve(r, ev, &c, g, &e);
	if (rc < 0)
		return rc;
	/* A sibling takes the same, and a stream behind it. */
	memcpy(ev->live, ev->w, sizeof ev->live);
	if (ev->api == HRR_API_hipMemcpyFromArray_spt) {
		ev->live[3] = ev->w[2];
		ev->live[4] = ev->w[3];
		src = 2;
	}
	ev->live[dst] = c.dst_array != 0 ? c.dst_array : e.dst;
	ev->live[src] = c.src_array != 0 ? c.src_array : e.src;
	put(ev, api, "width", c.width);
	put(ev, api, "height", c.height);
	put(ev, api, "dpitch", e.dpitch);
	put(ev, api, "spitch", e.spitch);
	put(ev, api, "kind", (uint64_t)e.kind);
	put(ev, api, "stream", c.stream);
	if (g == NULL)
		hrr_order_fills(r, c.stream);
	int64_t got = hrr_call(r, api, ev->live);
	if (got == hipSuccess)
		rc = add_host_node(r, g, &c, &e, 0);
	int rc2 = finish_copy(r, ev, &c, g, &e, got, wait);
	return rc < 0 ? rc : rc2;
}

/* --- copies described by a structure ---------------------------------------- */

struct types { /* of memory, as the run time numbers them */
	int host, device, array;
};

static struct types memory_types(const struct hrr_replay *r)
{
	const struct hrr_enum *en = NULL;
	struct types t = {0, 1, 2};

	for (int k = 0; hrr_enums[k] != NULL; k++)
		if (strcmp(hrr_enums[k]->name, "hipMemoryType") == 0)
			en = hrr_enums[k];
	if (en != NULL) {
		hrr_enum_value(en, r->hip->major, "hipMemoryTypeHost", 17, &t.host);
		hrr_enum_value(en, r->hip->major, "hipMemoryTypeDevice", 19, &t.device);
		hrr_enum_value(en, r->hip->major, "hipMemoryTypeArray", 18, &t.array);
	}
	return t;
}

/* A structure's memory type says of which kind an end is; others (unified, managed) do not. */
static void type_ends(struct hrr_copy *c, int src, int dst, const struct types *t)
{
	c->src_typed = src == t->host || src == t->device;
	c->dev_src = src == t->device;
	c->dst_typed = dst == t->host || dst == t->device;
	c->dev_dst = dst == t->device;
}

/* One end of a copy by memory type: its base, or the array. */
static int typed_end(struct hrr_replay *r, struct hrr_event *ev, const struct types *t, int type,
		     const void *host, const void *device, const void *array, bool dst,
		     struct hrr_copy *c, uint64_t *ret)
{
	*ret = 0;
	if (type == t->array && array != NULL)
		return hrr_array_end_of(r, ev, array, dst, c);
	*ret = HRR_P(type == t->host && host != NULL ? host : device != NULL ? device : host);
	return 0;
}

static int read_2d(struct hrr_replay *r, struct hrr_event *ev, const struct types *t,
		   const struct hip_Memcpy2D *p, struct hrr_copy *c)
{
	uint64_t a, b, s, d;
	int rc = typed_end(r, ev, t, p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, false,
			   c, &s);

	if (rc == 0)
		rc = typed_end(r, ev, t, p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray,
			       true, c, &d);
	if (rc < 0)
		return rc;
	c->width = p->WidthInBytes;
	c->height = p->Height;
	c->depth = 1;
	c->spitch = p->srcPitch != 0 ? p->srcPitch : c->width;
	c->dpitch = p->dstPitch != 0 ? p->dstPitch : c->width;
	if (__builtin_mul_overflow(p->srcY, c->spitch, &a) ||
	    __builtin_add_overflow(a, p->srcXInBytes, &a) ||
	    __builtin_add_overflow(a, s, &c->src) ||
	    __builtin_mul_overflow(p->dstY, c->dpitch, &b) ||
	    __builtin_add_overflow(b, p->dstXInBytes, &b) ||
	    __builtin_add_overflow(b, d, &c->dst) ||
	    __builtin_mul_overflow(c->spitch, c->height, &c->sslice) ||
	    __builtin_mul_overflow(c->dpitch, c->height, &c->dslice))
		return hrr_fail(r, "the rectangle is larger than memory");
	return 0;
}

static int read_drv3d(struct hrr_replay *r, struct hrr_event *ev, const struct types *t,
		      const struct HIP_MEMCPY3D_size *p, struct hrr_copy *c)
{
	uint64_t s, d;
	int rc = typed_end(r, ev, t, p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, false,
			   c, &s);

	if (rc == 0)
		rc = typed_end(r, ev, t, p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray,
			       true, c, &d);
	if (rc < 0)
		return rc;
	c->width = p->WidthInBytes;
	c->height = p->Height;
	c->depth = p->Depth;
	c->spitch = p->srcPitch != 0 ? p->srcPitch : c->width;
	c->dpitch = p->dstPitch != 0 ? p->dstPitch : c->width;
	uint64_t so, d0, a;
	if (__builtin_mul_overflow(c->spitch, p->srcHeight != 0 ? p->srcHeight : c->height,
				   &c->sslice) ||
	    __builtin_mul_overflow(c->dpitch, p->dstHeight != 0 ? p->dstHeight : c->height,
				   &c->dslice) ||
	    __builtin_mul_overflow(p->srcZ, c->sslice, &so) ||
	    __builtin_mul_overflow(p->srcY, c->spitch, &a) || __builtin_add_overflow(so, a, &so) ||
	    __builtin_add_overflow(so, p->srcXInBytes, &so) ||
	    __builtin_add_overflow(so, s, &c->src) ||
	    __builtin_mul_overflow(p->dstZ, c->dslice, &d0) ||
	    __builtin_mul_overflow(p->dstY, c->dpitch, &a) || __builtin_add_overflow(d0, a, &d0) ||
	    __builtin_add_overflow(d0, p->dstXInBytes, &d0) ||
	    __builtin_add_overflow(d0, d, &c->dst))
		return hrr_fail(r, "the box is larger than memory");
	return 0;
}

static void box_2d(struct hip_Memcpy2D *p, const struct hrr_copy *c, const struct hrr_copy_ends *e,
		   const struct types *t)
{
	struct hip_Memcpy2D old = *p;

	memset(p, 0, sizeof *p);
	p->srcMemoryType = c->src_array != 0 ? t->array : c->dev_src ? t->device : t->host;
	if (c->src_array != 0) {
		p->srcArray = (hipArray_t)(uintptr_t)c->src_array;
		p->srcXInBytes = old.srcXInBytes;
		p->srcY = old.srcY;
	} else {
		p->srcHost = c->dev_src ? NULL : (void *)(uintptr_t)e->src;
		p->srcDevice = c->dev_src ? (void *)(uintptr_t)e->src : NULL;
		p->srcPitch = e->spitch;
	}
	p->dstMemoryType = c->dst_array != 0 ? t->array : c->dev_dst ? t->device : t->host;
	if (c->dst_array != 0) {
		p->dstArray = (hipArray_t)(uintptr_t)c->dst_array;
		p->dstXInBytes = old.dstXInBytes;
		p->dstY = old.dstY;
	} else {
		p->dstHost = c->dev_dst ? NULL : (void *)(uintptr_t)e->dst;
		p->dstDevice = c->dev_dst ? (void *)(uintptr_t)e->dst : NULL;
		p->dstPitch = e->dpitch;
	}
	p->WidthInBytes = c->width;
	p->Height = c->height;
}

/* narrow: the call counts in 32 bits. */
static int box_drv3d(struct hrr_replay *r, struct HIP_MEMCPY3D_size *p, const struct hrr_copy *c,
		     const struct hrr_copy_ends *e, const struct types *t, bool narrow)
{
	struct HIP_MEMCPY3D_size old = *p;

	if (narrow &&
	    ((e->spitch | e->dpitch | c->width | c->height | c->depth) > UINT32_MAX ||
	     e->sslice / (e->spitch | 1) > UINT32_MAX || e->dslice / (e->dpitch | 1) > UINT32_MAX))
		return hrr_fail(r, "the box is larger than the call can say");
	memset(p, 0, sizeof *p);
	p->srcMemoryType = c->src_array != 0 ? t->array : c->dev_src ? t->device : t->host;
	if (c->src_array != 0) {
		p->srcArray = (hipArray_t)(uintptr_t)c->src_array;
		p->srcXInBytes = old.srcXInBytes;
		p->srcY = old.srcY;
		p->srcZ = old.srcZ;
	} else {
		p->srcHost = c->dev_src ? NULL : (void *)(uintptr_t)e->src;
		p->srcDevice = c->dev_src ? (void *)(uintptr_t)e->src : NULL;
		p->srcPitch = e->spitch;
		p->srcHeight = (e->spitch != 0 ? e->sslice / e->spitch : c->height);
	}
	p->dstMemoryType = c->dst_array != 0 ? t->array : c->dev_dst ? t->device : t->host;
	if (c->dst_array != 0) {
		p->dstArray = (hipArray_t)(uintptr_t)c->dst_array;
		p->dstXInBytes = old.dstXInBytes;
		p->dstY = old.dstY;
		p->dstZ = old.dstZ;
	} else {
		p->dstHost = c->dev_dst ? NULL : (void *)(uintptr_t)e->dst;
		p->dstDevice = c->dev_dst ? (void *)(uintptr_t)e->dst : NULL;
		p->dstPitch = e->dpitch;
		p->dstHeight = (e->dpitch != 0 ? e->dslice / e->dpitch : c->height);
	}
	p->WidthInBytes = c->width;
	p->Height = c->height;
	p->Depth = c->depth;
	return 0;
}

int hrr_do_copy_param(struct hrr_replay *r, struct hrr_event *ev)
{
	struct hrr_copy c = {0};
	struct hrr_copy_ends e;
	bool spt, wait;
	enum hrr_api api = sibling(ev->api, &spt, &wait);
	const char *type = ev->row->params[0].st != NULL ? ev->row->params[0].st->name : "";
	void *box = (void *)(uintptr_t)ev->w[0], *peer = NULL;
	const struct hrr_struct *st = hrr_struct_at(ev->row->params[0].st, r->hip->layout);
	struct HIP_MEMCPY3D_size wide = {0}; /* whatever the run time's layout is */
	struct hipMemcpy3DParms parms = {0};
	const struct hrr_struct *parms_st = hrr_api_table[HRR_API_hipMemcpy3D].params[0].st;
	bool is_peer = strcmp(type, "hipMemcpy3DPeerParms") == 0;
	bool is_parms = is_peer || strcmp(type, "hipMemcpy3DParms") == 0;
	bool is_2d = strcmp(type, "hip_Memcpy2D") == 0;

	if (box == NULL)
		return hrr_fail(r, "its structure was not recorded");
	if (is_peer) { /* the same box, and two devices */
		peer = box;
		box = &parms;
		hrr_struct_convert(parms_st, box, st, peer);
	}
	c.async = !wait && hrr_api_param(ev->api, "stream", 6) >= 0;
	struct types t = memory_types(r);
	int rc = copy_stream(r, ev, &c, spt);
	if (!is_parms && !is_2d)
		hrr_struct_convert(ev->row->params[0].st->later, &wide, st, box);
	if (rc == 0)
		rc = is_parms ? hrr_copy_read3d(r, ev, box, &c)
		     : is_2d  ? read_2d(r, ev, &t, box, &c)
			      : read_drv3d(r, ev, &t, &wide, &c);
	if (rc < 0)
		return rc;
	if (is_2d)
		type_ends(&c, ((struct hip_Memcpy2D *)box)->srcMemoryType,
			  ((struct hip_Memcpy2D *)box)->dstMemoryType, &t);
	else if (!is_parms)
		type_ends(&c, wide.srcMemoryType, wide.dstMemoryType, &t);
	struct hrr_graph *g = hrr_capture_of(r, c.key);
	rc = hrr_copy_resolve(r, ev, &c, g, &e);
	if (rc < 0)
		return rc;
	if (is_parms)
		hrr_copy_box3d(box, &c, &e);
	else if (is_2d)
		box_2d(box, &c, &e, &t);
	else
		rc = box_drv3d(r, &wide, &c, &e, &t, st->later != NULL);
	if (rc < 0) {
		if (e.blob.data != NULL)
			hrr_blob_release(&e.blob);
		return rc;
	}
	if (!is_parms && !is_2d)
		hrr_struct_convert(st, box, ev->row->params[0].st->later, &wide);
	if (is_peer)
		hrr_struct_convert(st, peer, parms_st, box);
	ev->live[0] = HRR_P(is_peer ? peer : box);
	put(ev, api, "stream", c.stream);
	if (g == NULL)
		hrr_order_fills(r, c.stream);
	int64_t got = hrr_call(r, api, ev->live);
	if (got == hipSuccess)
		rc = add_host_node(r, g, &c, &e, 0);
	int rc2 = finish_copy(r, ev, &c, g, &e, got, wait);
	return rc < 0 ? rc : rc2;
}

/* --- symbols ------------------------------------------------------------------ */

/*
 * One end is a variable: it is entered under an address of its own for the call, so
 * that one path resolves both ends.
 */
int hrr_variable_copy(struct hrr_replay *r, struct hrr_event *ev, struct hrr_copy *c,
		      struct hrr_graph *g, struct hrr_copy_ends *e, uint64_t live, uint64_t size,
		      uint64_t offset, bool to)
{
	struct hrr_mem *var = hrr_mem_new(r, HRR_MEM_ALIAS, VARIABLE_AT, size);

	if (var == NULL)
		return -ENOMEM;
	var->live = live;
	int rc = hrr_mem_enter(r, var);
	if (rc == 0) {
		*(to ? &c->dst : &c->src) = var->base + offset;
		rc = hrr_copy_resolve(r, ev, c, g, e);
		hrr_ranges_del(r->map, var->base, var);
	}
	if (rc == 0)
		*(to ? &e->dmem : &e->smem) = NULL;
	free(var);
	return rc;
}

/* Copies from and to device variables go to the variable's address here. */
int hrr_do_symbol_copy(struct hrr_replay *r, struct hrr_event *ev)
{
	bool to = hrr_api_param(ev->api, "dst", 3) < 0;
	bool spt = strstr(ev->row->name, "_spt") != NULL;
	uint64_t addr = 0, size = 0, offset = hrr_arg_of(ev, "offset");
	struct hrr_copy c = {.height = 1, .depth = 1};
	struct hrr_copy_ends e;
	int rc = hrr_symbol(r, ev, &addr, &size);

	if (rc < 0)
		return rc;
	c.width = c.dpitch = c.spitch = c.dslice = c.sslice = hrr_arg_of(ev, "sizeBytes");
	if (offset > size || c.width > size - offset)
		return hrr_fail(r, "%llu bytes at offset %llu: the variable has %llu", LLU(c.width),
				LLU(offset), LLU(size));
	rc = copy_stream(r, ev, &c, spt);
	if (rc < 0 || c.width == 0)
		return rc;
	c.async = hrr_api_param(ev->api, "stream", 6) >= 0;
	c.src = hrr_arg_of(ev, "src");
	c.dst = hrr_arg_of(ev, "dst");
	struct hrr_graph *g = hrr_capture_of(r, c.key);
	rc = hrr_variable_copy(r, ev, &c, g, &e, addr, size, offset, to);
	if (rc < 0)
		return rc;
	uint64_t kind = (uint64_t)e.kind;
	int64_t got = c.async || spt
			  ? HRR_CALL(r, hipMemcpyAsync, e.dst, e.src, c.width, kind, c.stream)
			  : HRR_CALL(r, hipMemcpy, e.dst, e.src, c.width, kind);
	if (got == hipSuccess)
		rc = add_host_node(r, g, &c, &e, 0);
	int rc2 = finish_copy(r, ev, &c, g, &e, got, spt && !c.async);
	return rc < 0 ? rc : rc2;
}
