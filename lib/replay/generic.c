#include <errno.h>
#include <string.h>

#include "lib/replay/engine.h"

/* Calls that need nothing but their operands translated by role, and calls recorded as failing. */

#define NON_BLOCKING 1u /* hipStreamNonBlocking */
#define OUT_BOX 4096	/* for what a run time writes and replay does not look at */

/* Either kind of address: the map decides, then a live segment, then host memory. */
static int either(struct hrr_replay *r, const char *name, uint64_t addr, uint64_t size,
		  uint64_t *ret)
{
	struct hrr_operand op = {name, addr, size, -1};
	struct hrr_where w;
	struct hrr_mem *m;
	int rc;

	if (hrr_is_device(r, addr) || hrr_ranges_find(r->hostmap, addr) == NULL) {
		rc = hrr_translate(r, &op, HRR_END_DEVICE, &w);
		*ret = w.live;
		return rc;
	}
	rc = hrr_host_place(r, &op, ret, &m);
	return rc;
}

/* Elements an array parameter has to have, by the parameter that counts them. */
static uint64_t count_of(const struct hrr_event *ev, const struct hrr_param *p)
{
	return p->count >= 0 ? ev->w[p->count] : 0;
}

/* The run time reads as many elements as it is told: all of them come from the record. */
static int in_array(struct hrr_replay *r, struct hrr_event *ev, int i)
{
	const struct hrr_param *p = &ev->row->params[i];
	bool array = ev->node[i] >= 0 && ev->j->nodes[ev->node[i]].type == HRR_JSON_ARRAY;
	uint64_t n = array ? hrr_json_count(ev->j, ev->node[i]) : 0;

	ev->live[i] = 0;
	if (ev->w[i] == 0)
		return 0;
	if (n < count_of(ev, p))
		return hrr_fail(r, "argument %s: %llu elements, but %llu are needed", p->name,
				(unsigned long long)n, (unsigned long long)count_of(ev, p));
	if (!array) /* an address of the recorded program is never followed */
		return 0;
	if (p->kind != HRR_K_HANDLE) {
		ev->live[i] = ev->w[i];
		return 0;
	}
	const uint64_t *from = (const uint64_t *)(uintptr_t)ev->w[i];
	uint64_t *to = hrr_scratch(r, (n + 1) * 8);
	if (to == NULL)
		return hrr_trouble(r, -ENOMEM, "out of memory");
	ev->live[i] = HRR_P(to);
	for (uint64_t k = 0; k < n; k++) {
		int rc = hrr_handle(r, ev, p->handle, from[k], &to[k]);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int out_box(struct hrr_replay *r, struct hrr_event *ev, int i)
{
	const struct hrr_param *p = &ev->row->params[i];
	bool null = ev->node[i] >= 0 && ev->j->nodes[ev->node[i]].type == HRR_JSON_NULL;
	size_t each = hrr_kind_size(p->kind), most = (size_t)HRR_MAX_COUNT * 8 / each;

	ev->live[i] = 0;
	if (null)
		return 0;
	if (count_of(ev, p) > most) /* the run time may fill them all */
		return hrr_fail(r, "argument %s: %llu elements, more than %zu", p->name,
				(unsigned long long)count_of(ev, p), most);
	unsigned char *box = hrr_scratch(r, OUT_BOX + count_of(ev, p) * each);
	if (box == NULL)
		return hrr_trouble(r, -ENOMEM, "out of memory");
	if (p->flow == HRR_FLOW_INOUT && p->count < 0 && p->kind != HRR_K_STRUCT)
		memcpy(box, &ev->w[i], 8);
	ev->live[i] = HRR_P(box);
	return 0;
}

static int in_word(struct hrr_replay *r, struct hrr_event *ev, int i, bool addresses)
{
	const struct hrr_param *p = &ev->row->params[i];
	struct hrr_operand op = {p->name, ev->w[i], 0, -1};
	struct hrr_where w = {0};
	int rc = 0;

	ev->live[i] = ev->w[i];
	switch (p->kind) {
	case HRR_K_HANDLE:
		return hrr_handle(r, ev, p->handle, ev->w[i], &ev->live[i]);
	case HRR_K_DEV:
		if (addresses)
			rc = hrr_translate(r, &op, HRR_END_DEVICE, &w);
		ev->live[i] = w.live;
		return rc;
	case HRR_K_HOST:
		if (addresses)
			rc = hrr_translate(r, &op, HRR_END_HOST, &w);
		ev->live[i] = w.live;
		return rc;
	case HRR_K_VALUE:
	case HRR_K_DIM3: /* the call takes what the word points to */
		return ev->w[i] != 0 ? 0 : hrr_fail(r, "argument %s was not recorded", p->name);
	case HRR_K_ADDR:
		return addresses ? either(r, p->name, ev->w[i], ev->row->unit, &ev->live[i]) : 0;
	case HRR_K_HINT:
	case HRR_K_SYMBOL:
	case HRR_K_STUB:
	case HRR_K_IMAGE:
	case HRR_K_KPARAMS:
	case HRR_K_EXTRA:
	case HRR_K_PTR:
	case HRR_K_FN:
		ev->live[i] = 0;
		return 0;
	default:
		return 0;
	}
}

int hrr_generic_words(struct hrr_replay *r, struct hrr_event *ev, bool addresses)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < ev->row->n_params; i++) {
		const struct hrr_param *p = &ev->row->params[i];
		if (p->flow != HRR_FLOW_IN)
			rc = out_box(r, ev, i);
		else if (p->count >= 0)
			rc = in_array(r, ev, i);
		else
			rc = in_word(r, ev, i, addresses);
	}
	return rc;
}

/* Handles the call made: recorded number to live one. */
int hrr_generic_made(struct hrr_replay *r, struct hrr_event *ev)
{
	for (int i = 0; i < ev->row->n_params; i++) {
		const struct hrr_param *p = &ev->row->params[i];
		if (p->kind != HRR_K_HANDLE || p->flow == HRR_FLOW_IN || p->count >= 0 ||
		    ev->w[i] == 0 || ev->live[i] == 0)
			continue;
		uint64_t live = *(const uint64_t *)(uintptr_t)ev->live[i];
		struct hrr_held *h = hrr_held_find(&r->held[p->handle], ev->w[i]);
		if (h != NULL && h->live == live)
			continue; /* told again, not made */
		void *info = h != NULL && p->handle == HRR_H_GRAPH ? h->info : NULL;
		h = hrr_held_add(&r->held[p->handle], ev->w[i], live);
		if (h == NULL)
			return hrr_trouble(r, -ENOMEM, "out of memory");
		h->info = info;
		h->device = r->device;
		if (p->handle == HRR_H_STREAM && (hrr_arg_of(ev, "flags") & NON_BLOCKING) != 0)
			h->extra = HRR_STREAM_APART;
	}
	if (ev->row->release >= 0) {
		const struct hrr_param *p = &ev->row->params[ev->row->release];
		if (p->kind == HRR_K_HANDLE)
			hrr_held_del(&r->held[p->handle], ev->w[ev->row->release]);
	}
	return 0;
}

int hrr_do_generic(struct hrr_replay *r, struct hrr_event *ev)
{
	int rc = hrr_generic_words(r, ev, true);

	if (rc == 0)
		rc = hrr_issue(r, ev);
	return rc < 0 ? rc : hrr_generic_made(r, ev);
}

/* --- recorded failures ---------------------------------------------------------- */

/* An address for a call that is expected to fail: live where known, else one that nothing maps. */
static uint64_t failing_address(struct hrr_replay *r, uint64_t addr)
{
	const struct hrr_range *x;

	if (addr == 0)
		return 0;
	if ((x = hrr_ranges_find(r->hostmap, addr)) != NULL)
		return ((struct hrr_mem *)x->value)->host + (addr - x->base);
	if ((x = hrr_ranges_find(r->map, addr)) != NULL)
		return ((struct hrr_mem *)x->value)->live + (addr - x->base);
	struct hrr_block *b = hrr_blocks_find(r->blocks, addr, 1);
	if (b != NULL)
		return HRR_P(hrr_block_at(b, addr));
	return HRR_P(r->nowhere) + (addr & 0xfff);
}

static bool is_unknown(struct hrr_replay *r, uint64_t addr)
{
	return addr != 0 && (failing_address(r, addr) & ~(uint64_t)0xfff) == HRR_P(r->nowhere);
}

/* Whether a run time might touch host memory before it finds the call wrong. */
static bool is_copy(const struct hrr_event *ev)
{
	return ev->row->cls == HRR_CLASS_COPY || ev->row->cls == HRR_CLASS_SET ||
	       ev->row->cls == HRR_CLASS_LAUNCH || ev->row->cls == HRR_CLASS_GRAPH ||
	       ev->row->cls == HRR_CLASS_VALUE;
}

/*
 * A call recorded as failing is issued as it was, should fail the same way, and
 * changes nothing here either way. Where its operands cannot be had it is counted and left out.
 */
int hrr_reissue_failed(struct hrr_replay *r, struct hrr_event *ev)
{
	for (int i = 0; i < ev->row->n_params; i++) {
		const struct hrr_param *p = &ev->row->params[i];
		uint64_t live = ev->w[i];
		int rc = 0;
		switch (p->kind) {
		case HRR_K_DEV:
		case HRR_K_HOST:
		case HRR_K_ADDR:
			if (p->flow != HRR_FLOW_IN)
				break;
			if (is_copy(ev) && is_unknown(r, ev->w[i]))
				goto left_out;
			live = failing_address(r, ev->w[i]);
			break;
		case HRR_K_HANDLE:
			if (p->flow == HRR_FLOW_IN && p->count < 0)
				rc = hrr_handle(r, ev, p->handle, ev->w[i], &live);
			if (rc < 0)
				goto left_out;
			break;
		case HRR_K_STRUCT:
		case HRR_K_VALUE:
		case HRR_K_STUB:
		case HRR_K_SYMBOL:
		case HRR_K_KPARAMS:
		case HRR_K_EXTRA:
		case HRR_K_IMAGE:
		case HRR_K_FN:
		case HRR_K_PTR:
			if (p->flow == HRR_FLOW_IN)
				goto left_out; /* what they held is not told when a call fails */
			break;
		default:
			break;
		}
		if (p->flow != HRR_FLOW_IN) {
			rc = out_box(r, ev, i);
			if (rc < 0 && r->trouble)
				return rc;
			if (rc < 0)
				goto left_out;
		} else if (p->count >= 0) {
			rc = in_array(r, ev, i);
			if (rc < 0)
				goto left_out;
		} else {
			ev->live[i] = live;
		}
	}
	hrr_handler *handler = hrr_handler_of(ev->api);
	if (handler != hrr_do_register && handler != hrr_do_unregister)
		return hrr_issue(r, ev);
	int rc = hrr_failing_registration(r, ev);
	if (rc <= 0)
		return rc;
left_out:
	r->diag.what[0] = '\0';
	r->v.not_reissued++;
	r->v.issued--;
	return 0;
}
