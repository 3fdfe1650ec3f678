#include "lib/stream/select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/stream/select_private.h"
#include "stream_families.h"
#include "lib/stream/shape.h"

const char *const *hrr_class_list;
int hrr_class_list_n;
int (*hrr_class_of)(const char *api, size_t len);

void hrr_select_classes(const char *const *names, int n,
			int (*class_of)(const char *api, size_t len))
{
	hrr_class_list = names;
	hrr_class_list_n = n;
	hrr_class_of = class_of;
}

static bool glob_any(const struct item *x, const struct item *end, const char *s, size_t len)
{
	for (; x < end; x++)
		if (x->plain ? x->len == len && memcmp(x->glob, s, len) == 0
			     : hrr_glob(x->glob, x->len, s, len))
			return true;
	return false;
}

static bool number_any(const struct item *x, const struct item *end, uint64_t v)
{
	for (; x < end; x++)
		if (v >= x->first && v <= x->last && (v - x->first) % x->step == 0)
			return true;
	return false;
}

/* With a step: the first call met that began in each. Asked again it gives the same answer. */
static bool time_any(struct item *x, const struct item *end, const struct hrr_record *rec)
{
	bool any = false;

	for (; rec->t != HRR_NO_TIME && x < end; x++) {
		if (rec->t < x->first || rec->t > x->last)
			continue;
		uint64_t at = (rec->t - x->first) / x->step;
		if (x->step > 1 && at >= x->met) {
			x->met = at + 1;
			x->p = rec->p;
			x->seq = rec->seq;
			x->t = rec->t;
		}
		any = any || x->step == 1 ||
		      (at + 1 == x->met && x->p == rec->p && x->seq == rec->seq && x->t == rec->t);
	}
	return any;
}

static bool overlap_any(const struct item *x, const struct item *end, uint64_t first, uint64_t size)
{
	uint64_t last = size == 0 || first > UINT64_MAX - (size - 1) ? first : first + (size - 1);

	for (; x < end; x++)
		if (first <= x->last && last >= x->first)
			return true;
	return false;
}

/* Value of a whole number of 0 or more. */
static bool number_of(const struct hrr_look *l, int node, uint64_t *ret)
{
	size_t len;

	if (node < 0 || l->json->nodes[node].type != HRR_JSON_INT)
		return false;
	const char *s = hrr_look_text(l, node, &len);
	return hrr_json_text_u64(s, len, ret) == 0;
}

/* Text of a string without escapes, or NULL. */
static const char *string_of(const struct hrr_look *l, int node, size_t *ret_len)
{
	if (node < 0 || l->json->nodes[node].type != HRR_JSON_STRING ||
	    l->json->nodes[node].escaped)
		return NULL;
	return hrr_look_text(l, node, ret_len);
}

static bool size_of_call(const struct hrr_record *rec, const struct hrr_look *l, uint64_t *ret_size)
{
	struct hrr_size_places own;
	const struct hrr_size_places *at = l->size;
	uint64_t width, height;

	if (at == NULL) {
		hrr_size_places(l->json, l->args, &own);
		at = &own;
	}
	for (unsigned m = HRR_SIZE_BYTES; at->met >> m != 0 && m < HRR_COUNT; m++)
		if ((at->met & 1u << m) != 0 && number_of(l, at->node[m], ret_size))
			return true;
	/* Elsewhere than in a set a count counts devices, nodes, … */
	if ((at->met & 1u << HRR_COUNT) != 0 &&
	    (hrr_select_families_of(rec->api, rec->api_len) & 1u << HRR_FAMILY_SET) != 0 &&
	    number_of(l, at->node[HRR_COUNT], ret_size))
		return true;
	return (at->met & 1u << HRR_WIDTH) != 0 && (at->met & 1u << HRR_HEIGHT) != 0 &&
	       number_of(l, at->node[HRR_WIDTH], &width) &&
	       number_of(l, at->node[HRR_HEIGHT], &height) &&
	       !__builtin_mul_overflow(width, height, ret_size);
}

bool hrr_record_size(const struct hrr_record *rec, uint64_t *ret_size)
{
	struct hrr_look l;

	if (rec->kind == HRR_REC_OUTPUT)
		return hrr_json_u64(&rec->json, hrr_json_get(&rec->json, 0, "size"), ret_size) == 0;
	if (rec->kind != HRR_REC_CALL)
		return false;
	hrr_record_look(rec, &l);
	return size_of_call(rec, &l, ret_size);
}

/* Bytes from the addresses a copy, set or allocation is about; 0: another call. */
static uint64_t touched_size(const struct hrr_record *rec, const struct hrr_look *l)
{
	uint64_t size;

	if ((hrr_select_families_of(rec->api, rec->api_len) &
	     (1u << HRR_FAMILY_COPY | 1u << HRR_FAMILY_SET | 1u << HRR_FAMILY_ALLOC)) == 0)
		return 0;
	return size_of_call(rec, l, &size) && size < UINT64_MAX ? size : 0;
}

/* What eight hex digits say, as four bytes from the lowest on. */
static uint64_t four_bytes(const char *hex)
{
	const uint64_t each = 0x0101010101010101u;
	uint64_t v;

	memcpy(&v, hex, sizeof v);
	v = (v & 0x0f * each) + 9 * (v >> 6 & each); /* letters have 0x40 */
	v = (v << 4 | v >> 8) & 0x00ff00ff00ff00ffu;
	v = (v | v >> 8) & 0x0000ffff0000ffffu;
	return (v | v >> 16) & 0xffffffffu;
}

/* The little-endian word at byte at of a string of hex digits. */
static bool word_at(const char *hex, size_t len, uint64_t at, uint64_t *ret)
{
	if (at > len / 2 || len / 2 - at < 8)
		return false;
	*ret = four_bytes(hex + 2 * at) | four_bytes(hex + 2 * at + 8) << 32;
	return true;
}

/* Addresses that are asked for, in one call. */
struct asked {
	const struct hrr_record *rec;
	const struct hrr_look *look;
	const struct item *x, *end;
	uint64_t size; /* touched; UINT64_MAX: not asked for yet */
};

static bool is_asked(void *self, const struct hrr_address_place *at)
{
	struct asked *q = self;
	uint64_t v, offset;
	size_t len;
	const char *s = hrr_look_text(q->look, at->node, &len);

	if (at->word >= 0)
		return number_of(q->look, at->word, &offset) && word_at(s, len, offset, &v) &&
		       overlap_any(q->x, q->end, v, 0);
	if (hrr_json_text_addr(s, len, &v) < 0)
		return false;
	if (at->touched && q->size == UINT64_MAX)
		q->size = touched_size(q->rec, q->look);
	return overlap_any(q->x, q->end, v, at->touched ? q->size : 0);
}

static bool addresses_in(const struct hrr_record *rec, const struct hrr_look *l,
			 const struct item *x, const struct item *end)
{
	struct asked q = {rec, l, x, end, UINT64_MAX};

	if (l->shapes == NULL)
		return hrr_address_places(l->json, l->args, l->kernel, is_asked, &q);
	for (uint32_t i = 0; i < l->n_addresses; i++)
		if (is_asked(&q, &l->addresses[i]))
			return true;
	return false;
}

static bool stream_any(const struct hrr_look *l, const struct item *x, const struct item *end)
{
	const struct hrr_json *j = l->json;
	uint64_t v;
	size_t len;
	int stream;

	for (unsigned n = 0; (stream = hrr_launch_stream(j, l->args, n)) >= 0; n++) {
		const char *s = string_of(l, stream, &len);
		bool is =
		    s != NULL ? hrr_json_text_addr(s, len, &v) == 0 : number_of(l, stream, &v);
		if (j->nodes[stream].type == HRR_JSON_NULL ? number_any(x, end, 0)
							   : is && number_any(x, end, v))
			return true;
	}
	return false;
}

static bool string_any(const struct hrr_look *l, int node, const struct item *x,
		       const struct item *end)
{
	size_t len;
	const char *s = string_of(l, node, &len);

	return s != NULL && glob_any(x, end, s, len);
}

/* Terms that are about a call's members. */
static bool member_term(const struct node *n, const struct hrr_record *rec, const struct item *x,
			const struct item *end)
{
	struct hrr_look l;
	uint64_t v;
	size_t len;

	hrr_record_look(rec, &l);
	switch ((enum key)n->key) {
	case KEY_KERNEL:
		for (int k = -1; (k = hrr_kernel_next(l.json, l.kernel, k)) >= 0;)
			if (string_any(&l, hrr_json_get(l.json, k, "name"), x, end))
				return true;
		return false;
	case KEY_DIR:
		return string_any(&l, l.dir, x, end);
	case KEY_RET:
		if (l.ret < 0)
			return glob_any(x, end, "hipSuccess", 10);
		const char *ret = hrr_look_text(&l, l.ret, &len);
		return glob_any(x, end, ret, len) ||
		       (l.json->nodes[l.ret].type == HRR_JSON_STRING &&
			hrr_returns_value(rec->api, rec->api_len, ret, len) &&
			glob_any(x, end, "hipSuccess", 10));
	case KEY_SIZE:
		return size_of_call(rec, &l, &v) && number_any(x, end, v);
	case KEY_STREAM:
		return stream_any(&l, x, end);
	case KEY_ADDR:
		return addresses_in(rec, &l, x, end);
	default:
		return false;
	}
}

static bool term(struct hrr_select *s, const struct node *n, const struct hrr_record *rec)
{
	struct item *items = (void *)s->items.data, *x = items + n->a;
	const struct item *end = items + n->b;

	switch ((enum key)n->key) {
	case KEY_API:
		return glob_any(x, end, rec->api, rec->api_len);
	case KEY_FAMILY:
		return (hrr_select_families_of(rec->api, rec->api_len) >> x->first & 1) != 0;
	case KEY_CLASS:
		return hrr_class_of(rec->api, rec->api_len) == (int)x->first;
	case KEY_SEQ:
		return number_any(x, end, rec->seq);
	case KEY_T:
		return time_any(x, end, rec);
	case KEY_DUR:
		return number_any(x, end, rec->dur);
	case KEY_TID:
		return number_any(x, end, rec->tid);
	case KEY_P:
		return number_any(x, end, rec->p);
	default:
		return member_term(n, rec, x, end);
	}
}

static bool eval(struct hrr_select *s, uint32_t at, const struct hrr_record *rec)
{
	const struct node *all = (const void *)s->nodes.data, *n = &all[at];
	bool fits;

	switch ((enum node_type)n->type) {
	case NODE_OR:
		/* A step is taken by the first call in it, whatever else lets that through. */
		fits = eval(s, n->a, rec);
		return (fits && !all[n->b].samples) || eval(s, n->b, rec) || fits;
	case NODE_AND:
		if (all[n->a].samples)
			return eval(s, n->b, rec) && eval(s, n->a, rec);
		return eval(s, n->a, rec) && eval(s, n->b, rec);
	case NODE_NOT:
		return !eval(s, n->a, rec);
	case NODE_TERM:
		return term(s, n, rec) != n->negate;
	}
	return false;
}

bool hrr_select_call(struct hrr_select *s, const struct hrr_record *rec)
{
	return rec->kind == HRR_REC_CALL && eval(s, s->root, rec);
}

bool hrr_select_head_only(const struct hrr_select *s)
{
	return s->head_only;
}
