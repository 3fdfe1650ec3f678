#include <errno.h>
#include <string.h>

#include "lib/replay/engine.h"

/* Any copy as a box of bytes: resolving its two ends. */

#define LLU(x) ((unsigned long long)(x))
#define TOLD_ROWS 256 /* of a rectangle */

int hrr_span(struct hrr_replay *r, const char *what, uint64_t width, uint64_t height,
	     uint64_t depth, uint64_t pitch, uint64_t slice, uint64_t *ret)
{
	uint64_t rows, planes, n;

	if (width == 0 || height == 0 || depth == 0) {
		*ret = 0;
		return 0;
	}
	if ((height > 1 && pitch < width) || (depth > 1 && slice < width))
		return hrr_fail(r, "%s: rows of %llu bytes are %llu bytes apart", what, LLU(width),
				LLU(height > 1 ? pitch : slice));
	if (__builtin_mul_overflow(height - 1, pitch, &rows) ||
	    __builtin_mul_overflow(depth - 1, slice, &planes) ||
	    __builtin_add_overflow(rows, planes, &n) || __builtin_add_overflow(n, width, &n))
		return hrr_fail(r, "%s: the box is larger than memory", what);
	*ret = n;
	return 0;
}

void hrr_copy_rows(void *dst, uint64_t dpitch, uint64_t dslice, const void *src, uint64_t spitch,
		   uint64_t sslice, uint64_t width, uint64_t height, uint64_t depth)
{
	for (uint64_t z = 0; z < depth; z++)
		for (uint64_t y = 0; y < height; y++)
			memcpy((unsigned char *)dst + z * dslice + y * dpitch,
			       (const unsigned char *)src + z * sslice + y * spitch, width);
}

void hrr_copy_dir(struct hrr_replay *r, struct hrr_event *ev, struct hrr_copy *c)
{
	size_t len = 0;
	const char *s = ev->rec->dir >= 0 ? hrr_json_raw(ev->j, ev->rec->dir, &len) : NULL;

	c->has_dir = s != NULL && len == 3 && s[1] == '2';
	if (c->has_dir) {
		c->dev_src = s[0] == 'd';
		c->dev_dst = s[2] == 'd';
		return;
	}
	/* A foreign stream: as the call is typed, else by map, then live segment, then host. */
	if (!c->src_typed)
		c->dev_src = hrr_is_device(r, c->src);
	if (!c->dst_typed)
		c->dev_dst = hrr_is_device(r, c->dst);
}

static void set_packed(const struct hrr_copy *c, uint64_t *pitch, uint64_t *slice)
{
	*pitch = c->width;
	*slice = c->width * c->height;
}

static bool is_rect(const struct hrr_copy *c, uint64_t pitch, uint64_t slice)
{
	return (c->height > 1 && pitch != c->width) ||
	       (c->depth > 1 && slice != c->width * c->height);
}

/* A host source's bytes, row by row where queued work has to be minded. */
static int source_bytes(struct hrr_replay *r, const struct hrr_copy *c, struct hrr_mem *m,
			uint64_t live, const unsigned char *from, uint64_t span)
{
	int rc = m != NULL ? hrr_wait_owed(r) : 0;

	if (rc < 0)
		return rc;
	if (m == NULL || !hrr_pending(r, m, c->src, span)) {
		hrr_copy_rows((void *)(uintptr_t)live, c->spitch, c->sslice, from, c->width,
			      c->width * c->height, c->width, c->height, c->depth);
		return 0;
	}
	for (uint64_t z = 0; rc >= 0 && z < c->depth; z++)
		for (uint64_t y = 0; rc >= 0 && y < c->height; y++, from += c->width) {
			uint64_t at = z * c->sslice + y * c->spitch;
			rc = hrr_host_write(r, m, c->src + at, live + at, from, c->width);
		}
	return rc < 0 ? rc : 0;
}

/* The record so says what that memory holds. */
static void source_told(struct hrr_replay *r, const struct hrr_copy *c, struct hrr_mem *m, int src)
{
	uint64_t n = 0;

	if (!is_rect(c, c->spitch, c->sslice)) {
		hrr_host_told(m, c->src, c->width * c->height * c->depth, r->j, src, 0);
		return;
	}
	for (uint64_t z = 0; z < c->depth && n < TOLD_ROWS * c->width; z++)
		for (uint64_t y = 0; y < c->height && n < TOLD_ROWS * c->width; y++, n += c->width)
			hrr_host_told(m, c->src + z * c->sslice + y * c->spitch, c->width, r->j,
				      src, n);
}

/* The live address of a host end, 0: nothing here holds it. A graph's lives as long as it does. */
static int host_end(struct hrr_replay *r, const struct hrr_operand *op, struct hrr_graph *graph,
		    struct hrr_copy_ends *e, uint64_t *ret_live, struct hrr_mem **ret_mem)
{
	struct hrr_block *block;
	int rc = hrr_host_place(r, op, ret_live, ret_mem);

	if (rc == 0 && *ret_live == 0 && graph != NULL) {
		rc = hrr_block_for(r, op->addr, op->need, false, &block);
		if (rc == 0)
			*ret_live = HRR_P(hrr_block_at(block, op->addr));
	}
	e->host_addr = op->addr;
	e->host_size = op->need;
	return rc;
}

static int resolve_host_src(struct hrr_replay *r, struct hrr_copy *c, struct hrr_graph *graph,
			    struct hrr_copy_ends *e, uint64_t span)
{
	struct hrr_operand op = {"source", c->src, span, -1};
	uint64_t live;
	int rc = host_end(r, &op, graph, e, &live, &e->smem);

	if (rc < 0)
		return rc;
	if (live != 0) {
		if (e->blob.data != NULL &&
		    (rc = source_bytes(r, c, e->smem, live, e->blob.data, span)) < 0)
			return rc;
		e->src = live;
		return 0;
	}
	if (e->blob.data != NULL) {
		e->src = HRR_P(e->blob.data);
		set_packed(c, &e->spitch, &e->sslice);
		return 0;
	}
	struct hrr_landing *l = hrr_landing_find(r, c->src, span);
	if (l == NULL)
		return hrr_fail(r, "source 0x%llx (%llu bytes): its bytes were not recorded",
				LLU(c->src), LLU(span));
	e->src = HRR_P(l->data) + (c->src - l->addr);
	return 0;
}

static int resolve_host_dst(struct hrr_replay *r, struct hrr_copy *c, struct hrr_graph *graph,
			    struct hrr_copy_ends *e, uint64_t span)
{
	struct hrr_operand op = {"destination", c->dst, span, -1};
	uint64_t live;
	int rc = host_end(r, &op, graph, e, &live, &e->dmem);

	if (rc < 0)
		return rc;
	if (live != 0) {
		e->dst = live;
		return 0;
	}
	const struct hrr_rows rows = {c->width, c->height, c->depth, c->dpitch, c->dslice};
	bool rect = is_rect(c, c->dpitch, c->dslice);
	rc = rect ? hrr_landing_rect(r, c->dst, span, &rows, &e->landing)
		  : hrr_landing_get(r, c->dst, span, &e->landing);
	if (rc < 0)
		return rc;
	if (rect)
		set_packed(c, &e->dpitch, &e->dslice);
	e->dst = HRR_P(e->landing->data) + (c->dst - e->landing->addr);
	return 0;
}

static int resolve_dev(struct hrr_replay *r, const char *what, uint64_t addr, uint64_t span,
		       const struct hrr_blob *blob, struct hrr_where *ret)
{
	struct hrr_operand op = {what, addr, span, blob->data != NULL ? (int64_t)blob->len : -1};

	if (addr == 0)
		return hrr_fail(r, "%s is a null pointer", what);
	return hrr_translate(r, &op, HRR_END_DEVICE, ret);
}

static int resolve_ends(struct hrr_replay *r, struct hrr_copy *c, struct hrr_graph *graph,
			struct hrr_copy_ends *e)
{
	struct hrr_where d = {0}, s = {0};
	uint64_t dspan, sspan;
	int rc =
	    hrr_span(r, "destination", c->width, c->height, c->depth, c->dpitch, c->dslice, &dspan);

	if (rc == 0)
		rc = hrr_span(r, "source", c->width, c->height, c->depth, c->spitch, c->sslice,
			      &sspan);
	if (rc < 0)
		return rc;
	e->dspan = dspan;
	if (c->dst_array != 0)
		c->dst = 0;
	if (c->src_array != 0)
		c->src = 0;
	if (c->src + sspan < c->src || c->dst + dspan < c->dst)
		return hrr_fail(r, "an operand wraps around the address space");
	if (e->blob.data != NULL && e->blob.len != e->total)
		return hrr_fail(r, "moves %llu bytes, but the blob of its source has %zu",
				LLU(e->total), e->blob.len);
	if (c->dst_array == 0 && !c->dev_dst) {
		rc = resolve_host_dst(r, c, graph, e, dspan);
		e->daddr = c->dst;
	} else if (c->dst_array == 0) {
		rc = resolve_dev(r, "destination", c->dst, dspan, &e->blob, &d);
		e->dst = d.live;
		e->dmem = d.mem;
		e->daddr = d.addr;
	}
	if (rc < 0 || c->src_array != 0)
		return rc;
	if (!c->dev_src)
		return resolve_host_src(r, c, graph, e, sspan);
	rc = resolve_dev(r, "source", c->src, sspan, &e->blob, &s);
	e->src = s.live;
	e->smem = s.mem;
	return rc;
}

int hrr_copy_resolve(struct hrr_replay *r, struct hrr_event *ev, struct hrr_copy *c,
		     struct hrr_graph *graph, struct hrr_copy_ends *e)
{
	int blobs = ev->rec->blobs, rc = hrr_host_bytes(r, ev, NULL);

	if (rc < 0)
		return rc;
	hrr_copy_dir(r, ev, c);
	return hrr_copy_resolve_as(r, c, blobs >= 0 ? hrr_json_get(ev->j, blobs, "src") : -1, graph,
				   e);
}

int hrr_copy_resolve_as(struct hrr_replay *r, struct hrr_copy *c, int src, struct hrr_graph *graph,
			struct hrr_copy_ends *e)
{
	static const int kinds[2][2] = {{hipMemcpyHostToHost, hipMemcpyHostToDevice},
					{hipMemcpyDeviceToHost, hipMemcpyDeviceToDevice}};
	uint64_t area;
	int rc = 0;

	*e = (struct hrr_copy_ends){0};
	c->dev_src = c->dev_src || c->src_array != 0;
	c->dev_dst = c->dev_dst || c->dst_array != 0;
	e->kind = kinds[c->dev_src][c->dev_dst];
	if (__builtin_mul_overflow(c->width, c->height, &area) ||
	    __builtin_mul_overflow(area, c->depth, &e->total))
		return hrr_fail(r, "the box is larger than memory");
	e->dpitch = c->dpitch;
	e->dslice = c->dslice;
	e->spitch = c->spitch;
	e->sslice = c->sslice;
	if (e->total == 0) { /* moves nothing: its addresses need not mean anything */
		e->dst = e->src = HRR_P(r->nowhere);
		return 0;
	}
	if (src >= 0 && !c->dev_src)
		rc = hrr_blob_get(r, src, "source", &e->blob);
	if (rc == 0)
		rc = resolve_ends(r, c, graph, e);
	if (rc == 0 && e->smem != NULL && e->blob.data != NULL)
		source_told(r, c, e->smem, src);
	if (rc < 0 && e->blob.data != NULL) {
		hrr_blob_release(&e->blob);
		e->blob = (struct hrr_blob){0};
	}
	return rc;
}

struct hrr_host_node hrr_copy_host_node(const struct hrr_copy *c, const struct hrr_copy_ends *e)
{
	return (struct hrr_host_node){.addr = e->host_addr,
				      .size = e->host_size,
				      .dst = e->dst,
				      .src = e->src,
				      .count = e->total,
				      .kind = e->kind,
				      .one_d = c->height == 1 && c->depth == 1 &&
					       c->src_array == 0 && c->dst_array == 0};
}

static void written_by(struct hrr_writer *to, const struct hrr_writer *from)
{
	if (from->seq > to->seq)
		*to = *from;
}

int hrr_copy_done(struct hrr_replay *r, struct hrr_event *ev, const struct hrr_copy *c,
		  struct hrr_graph *graph, struct hrr_copy_ends *e, int rc)
{
	static const struct hrr_writer nobody = {0};
	const struct hrr_writer *w = e->smem != NULL ? &e->smem->writer : &nobody;

	/* The call may have been taken although its result was not the recorded one. */
	if (e->blob.data != NULL) {
		if (c->async && e->src == HRR_P(e->blob.data)) {
			int rc2 = hrr_stage(r, &e->blob);
			rc = rc < 0 ? rc : rc2;
		} else {
			hrr_blob_release(&e->blob);
		}
		e->blob = (struct hrr_blob){0};
	}
	if (rc < 0)
		return rc;
	if (e->landing != NULL) {
		e->landing->writer = *w;
		if (c->async)
			hrr_landing_queued(r, e->landing, ev->seq, c->key);
	}
	if (e->dmem != NULL) {
		written_by(&e->dmem->writer, w);
		if (c->async && graph == NULL) /* captured, nothing is queued yet */
			hrr_note_pending(r, e->dmem, e->daddr, e->dspan, ev->seq, c->key,
					 e->dspan == e->total);
	}
	if (graph != NULL) {
		rc = hrr_graph_use(r, graph, e->dmem);
		if (rc == 0)
			rc = hrr_graph_use(r, graph, e->smem);
		return rc;
	}
	return hrr_stage_trim(r);
}

int hrr_copy_read3d(struct hrr_replay *r, struct hrr_event *ev, const struct hipMemcpy3DParms *p,
		    struct hrr_copy *c)
{
	c->element = 1; /* bytes, unless an array takes part */
	int rc = hrr_array_end_of(r, ev, p->srcArray, false, c);
	if (rc == 0)
		rc = hrr_array_end_of(r, ev, p->dstArray, true, c);
	if (rc < 0)
		return rc;
	if (__builtin_mul_overflow((uint64_t)p->extent.width, c->element, &c->width))
		return hrr_fail(r, "the box is larger than memory");
	c->height = p->extent.height;
	c->depth = p->extent.depth;
	c->spitch = p->srcPtr.pitch != 0 ? p->srcPtr.pitch : c->width;
	c->dpitch = p->dstPtr.pitch != 0 ? p->dstPtr.pitch : c->width;
	uint64_t srows = p->srcPtr.ysize != 0 ? p->srcPtr.ysize : c->height;
	uint64_t drows = p->dstPtr.ysize != 0 ? p->dstPtr.ysize : c->height;
	uint64_t so, d, t;
	if (__builtin_mul_overflow(c->spitch, srows, &c->sslice) ||
	    __builtin_mul_overflow(c->dpitch, drows, &c->dslice) ||
	    __builtin_mul_overflow(p->srcPos.z, c->sslice, &so) ||
	    __builtin_mul_overflow(p->srcPos.y, c->spitch, &t) ||
	    __builtin_add_overflow(so, t, &so) || __builtin_add_overflow(so, p->srcPos.x, &so) ||
	    __builtin_add_overflow(so, HRR_P(p->srcPtr.ptr), &c->src) ||
	    __builtin_mul_overflow(p->dstPos.z, c->dslice, &d) ||
	    __builtin_mul_overflow(p->dstPos.y, c->dpitch, &t) ||
	    __builtin_add_overflow(d, t, &d) || __builtin_add_overflow(d, p->dstPos.x, &d) ||
	    __builtin_add_overflow(d, HRR_P(p->dstPtr.ptr), &c->dst))
		return hrr_fail(r, "the box is larger than memory");
	return 0;
}

void hrr_copy_box3d(struct hipMemcpy3DParms *p, const struct hrr_copy *c,
		    const struct hrr_copy_ends *e)
{
	struct hipMemcpy3DParms old = *p;

	memset(p, 0, sizeof *p);
	if (c->src_array != 0) {
		p->srcArray = (hipArray_t)(uintptr_t)c->src_array;
		p->srcPos = old.srcPos;
	} else {
		p->srcPtr.ptr = (void *)(uintptr_t)e->src;
		p->srcPtr.pitch = e->spitch;
		p->srcPtr.xsize = c->width;
		p->srcPtr.ysize = e->spitch != 0 ? e->sslice / e->spitch : c->height;
	}
	if (c->dst_array != 0) {
		p->dstArray = (hipArray_t)(uintptr_t)c->dst_array;
		p->dstPos = old.dstPos;
	} else {
		p->dstPtr.ptr = (void *)(uintptr_t)e->dst;
		p->dstPtr.pitch = e->dpitch;
		p->dstPtr.xsize = c->width;
		p->dstPtr.ysize = e->dpitch != 0 ? e->dslice / e->dpitch : c->height;
	}
	p->extent.width = c->width / c->element;
	p->extent.height = c->height;
	p->extent.depth = c->depth;
	p->kind = e->kind;
}
