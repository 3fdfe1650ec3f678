#include <string.h>

#include "lib/replay/engine.h"

/*
 * Lists: copies, or waits and writes of values, that one call queues. Each is issued as
 * the single call it stands for, in order, which the list allows. The record has "dirs", the
 * direction of each copy, and the bytes of host sources in "host" by their addresses.
 */

#define LLU(x) ((unsigned long long)(x))

/* The blob of a host source, or -1. */
static int source_bytes(const struct hrr_event *ev, uint64_t addr, uint64_t size)
{
	const struct hrr_json *j = ev->j;
	int n = ev->rec->host;
	uint64_t a, s;

	if (n < 0 || j->nodes[n].type != HRR_JSON_ARRAY)
		return -1;
	for (uint32_t k = (uint32_t)n + 1; k < j->nodes[n].next; k = j->nodes[k].next)
		if (j->nodes[k].type == HRR_JSON_OBJECT &&
		    hrr_json_addr(j, hrr_json_get(j, (int)k, "addr"), &a) == 0 && a == addr &&
		    hrr_json_u64(j, hrr_json_get(j, (int)k, "size"), &s) == 0 && s == size)
			return hrr_json_get(j, (int)k, "blob");
	return -1;
}

/* What the record says of the i-th copy's direction; without it the addresses decide. */
static void direction(struct hrr_replay *r, const struct hrr_event *ev, uint64_t i,
		      struct hrr_copy *c)
{
	const struct hrr_json *j = ev->j;
	int n = hrr_json_get(j, 0, "dirs");
	const char *s = NULL;
	size_t len = 0;

	if (n >= 0 && j->nodes[n].type == HRR_JSON_ARRAY) {
		uint32_t k = (uint32_t)n + 1;
		for (; i > 0 && k < j->nodes[n].next; i--)
			k = j->nodes[k].next;
		if (k < j->nodes[n].next)
			s = hrr_json_raw(j, (int)k, &len);
	}
	if (s != NULL && len == 3 && s[1] == '2') {
		c->dev_src = s[0] == 'd';
		c->dev_dst = s[2] == 'd';
		return;
	}
	c->dev_src = hrr_is_device(r, c->src);
	c->dev_dst = hrr_is_device(r, c->dst);
}

static int read_box(struct hrr_replay *r, const struct hipMemcpy3DBatchOp *b, struct hrr_copy *c)
{
	if (b->src.type == hipMemcpyOperandTypeArray || b->dst.type == hipMemcpyOperandTypeArray)
		return hrr_refuse(r, "arrays in lists of copies are not replayed");
	c->dst = HRR_P(b->dst.ptr);
	c->src = HRR_P(b->src.ptr);
	c->width = b->extent.width;
	c->height = b->extent.height;
	c->depth = b->extent.depth;
	c->dpitch = b->dst.rowLength != 0 ? b->dst.rowLength : c->width;
	c->spitch = b->src.rowLength != 0 ? b->src.rowLength : c->width;
	uint64_t drows = b->dst.layerHeight != 0 ? b->dst.layerHeight : c->height;
	uint64_t srows = b->src.layerHeight != 0 ? b->src.layerHeight : c->height;
	if (__builtin_mul_overflow(c->dpitch, drows, &c->dslice) ||
	    __builtin_mul_overflow(c->spitch, srows, &c->sslice))
		return hrr_fail(r, "the box is larger than memory");
	return 0;
}

static int read_nth(struct hrr_replay *r, const struct hrr_event *ev, uint64_t i,
		    struct hrr_copy *c)
{
	if (ev->api == HRR_API_hipMemcpy3DBatchAsync)
		return read_box(r, (const struct hipMemcpy3DBatchOp *)(uintptr_t)ev->w[1] + i, c);
	c->dst = ((const uint64_t *)(uintptr_t)ev->w[0])[i];
	c->src = ((const uint64_t *)(uintptr_t)ev->w[1])[i];
	c->width = ((const uint64_t *)(uintptr_t)ev->w[2])[i];
	c->height = c->depth = 1;
	c->dpitch = c->spitch = c->dslice = c->sslice = c->width;
	return 0;
}

static int64_t issue(struct hrr_replay *r, const struct hrr_copy *c, const struct hrr_copy_ends *e)
{
	struct hipMemcpy3DParms *p;

	if (c->height == 1 && c->depth == 1)
		return HRR_CALL(r, hipMemcpyAsync, e->dst, e->src, c->width, (uint64_t)e->kind,
				c->stream);
	p = hrr_scratch(r, sizeof *p);
	if (p == NULL)
		return hipErrorOutOfMemory;
	hrr_copy_box3d(p, c, e);
	return HRR_CALL(r, hipMemcpy3DAsync, HRR_P(p), c->stream);
}

static int copy_one(struct hrr_replay *r, struct hrr_event *ev, uint64_t i, struct hrr_copy *c,
		    int64_t *ret_got)
{
	struct hrr_graph *g = hrr_capture_of(r, c->key);
	struct hrr_copy_ends e;
	int rc = read_nth(r, ev, i, c);

	if (rc < 0)
		return rc;
	direction(r, ev, i, c);
	int src = c->dev_src ? -1 : source_bytes(ev, c->src, c->width * c->height * c->depth);
	rc = hrr_copy_resolve_as(r, c, src, g, &e);
	if (rc < 0)
		return rc;
	int64_t got = issue(r, c, &e);
	if (got != hipSuccess && *ret_got == hipSuccess)
		*ret_got = got;
	if (got == hipSuccess && g != NULL && e.host_size != 0) {
		struct hrr_host_node h = hrr_copy_host_node(c, &e);
		rc = hrr_graph_host(r, g, &h);
	}
	int rc2 = hrr_copy_done(r, ev, c, g, &e, 0);
	return rc < 0 ? rc : rc2;
}

/* Whether parameter k is an array of n elements or more. */
static bool has(const struct hrr_event *ev, int k, uint64_t n)
{
	return ev->node[k] >= 0 && ev->j->nodes[ev->node[k]].type == HRR_JSON_ARRAY &&
	       hrr_json_count(ev->j, ev->node[k]) >= n;
}

int hrr_do_batch(struct hrr_replay *r, struct hrr_event *ev)
{
	bool boxes = ev->api == HRR_API_hipMemcpy3DBatchAsync;
	uint64_t n = hrr_arg_of(ev, boxes ? "numOps" : "count");
	uint64_t recorded = hrr_arg_of(ev, "stream");
	struct hrr_copy proto = {.async = true, .element = 1};
	int64_t got = hipSuccess;
	char why[128] = "";

	if (boxes ? !has(ev, 1, n) : !has(ev, 0, n) || !has(ev, 1, n) || !has(ev, 2, n))
		return hrr_fail(r, "its list of %llu copies was not recorded", LLU(n));
	proto.key = hrr_stream_key(ev, recorded, false);
	int rc = hrr_stream(r, ev, recorded, false, &proto.stream);
	if (rc == 0 && hrr_capture_of(r, proto.key) == NULL)
		hrr_order_fills(r, proto.stream);
	for (uint64_t i = 0; rc == 0 && i < n; i++) {
		struct hrr_copy c = proto;
		rc = copy_one(r, ev, i, &c, &got);
		if (rc < 0 && !r->trouble) {
			memcpy(why, r->diag.what, sizeof why - 1);
			return hrr_diag_set(&r->diag, rc, "copy %llu of %llu: %s", LLU(i), LLU(n),
					    why);
		}
	}
	return rc < 0 ? rc : hrr_settle(r, ev, got);
}

int hrr_do_batch_value(struct hrr_replay *r, struct hrr_event *ev)
{
	const struct hipStreamBatchMemOpParams *list = (const void *)(uintptr_t)ev->w[2];
	uint64_t n = (uint32_t)ev->w[1], stream;
	int64_t got = hipSuccess;
	struct hrr_where w;

	if (!has(ev, 2, n))
		return hrr_fail(r, "its list of %llu operations was not recorded", LLU(n));
	int rc = hrr_stream(r, ev, ev->w[0], false, &stream);
	if (rc == 0)
		rc = hrr_host_bytes(r, ev, NULL);
	for (uint64_t i = 0; rc == 0 && got == hipSuccess && i < n; i++) {
		const struct hipStreamBatchMemOpParams *p = &list[i];
		bool wide = p->operation == hipStreamMemOpWaitValue64 ||
			    p->operation == hipStreamMemOpWriteValue64;
		struct hrr_operand op = {"address", HRR_P(p->address), wide ? 8 : 4, -1};
		if (p->operation == hipStreamMemOpFlushRemoteWrites ||
		    p->operation == hipStreamMemOpBarrier)
			continue; /* each call of its own is one */
		rc = hrr_translate(r, &op, HRR_END_DEVICE, &w);
		if (rc < 0)
			break;
		switch (p->operation) {
		case hipStreamMemOpWaitValue32:
			r->value_waits = true;
			got = HRR_CALL(r, hipStreamWaitValue32, stream, w.live,
				       (uint32_t)p->value64, p->flags, UINT32_MAX);
			break;
		case hipStreamMemOpWaitValue64:
			r->value_waits = true;
			got = HRR_CALL(r, hipStreamWaitValue64, stream, w.live, p->value64,
				       p->flags, UINT64_MAX);
			break;
		case hipStreamMemOpWriteValue32:
			got = HRR_CALL(r, hipStreamWriteValue32, stream, w.live,
				       (uint32_t)p->value64, p->flags);
			break;
		case hipStreamMemOpWriteValue64:
			got = HRR_CALL(r, hipStreamWriteValue64, stream, w.live, p->value64,
				       p->flags);
			break;
		default:
			return hrr_refuse(r, "operation %d is not replayed", p->operation);
		}
	}
	return rc < 0 ? rc : hrr_settle(r, ev, got);
}
