#include "lib/stream/select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/stream/select_private.h"
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

static bool overlap_any(const struct item *x, const struct item *end, uint64_t first, uint64_t size)
{
	uint64_t last = size == 0 || first > UINT64_MAX - (size - 1) ? first : first + (size - 1);

	for (; x < end; x++)
		if (first <= x->last && last >= x->first)
			return true;
	return false;
}

/* Names of arguments that say how much a call is about: the first in this order counts. */
enum measure {
	SIZE_BYTES,
	SIZE,
	BYTES,
	SIZE_IN_BYTES,
	BYTESIZE,
	BYTE_COUNT,
	COUNT,
	WIDTH,
	HEIGHT,
	NONE
};

#define IS(name) (memcmp(s, name, sizeof(name) - 1) == 0)

/* Every call passes here, argument by argument. */
static inline enum measure measure_of(const char *s, size_t len)
{
	switch (len) {
	case 4:
		return IS("size") ? SIZE : NONE;
	case 5:
		return IS("bytes") ? BYTES : IS("count") ? COUNT : IS("width") ? WIDTH : NONE;
	case 6:
		return IS("height") ? HEIGHT : NONE;
	case 8:
		return IS("bytesize") ? BYTESIZE : NONE;
	case 9:
		return IS("sizeBytes") ? SIZE_BYTES : IS("ByteCount") ? BYTE_COUNT : NONE;
	case 11:
		return IS("sizeInBytes") ? SIZE_IN_BYTES : NONE;
	default:
		return NONE;
	}
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
	const struct hrr_json *j = l->json;
	uint64_t v[NONE];
	unsigned met = 0;

	for (int i = hrr_json_first(j, l->args); i >= 0; i = hrr_json_next(j, l->args, i)) {
		enum measure m = measure_of(j->text + j->nodes[i].off, j->nodes[i].len);
		if (m != NONE && number_of(l, i + 1, &v[m]))
			met |= 1u << m;
	}
	for (enum measure m = SIZE_BYTES; m < COUNT; m++)
		if ((met & 1u << m) != 0) {
			*ret_size = v[m];
			return true;
		}
	/* Elsewhere than in a set a count counts devices, nodes, … */
	if ((met & 1u << COUNT) != 0 &&
	    (hrr_select_families_of(rec->api, rec->api_len) & FAMILY_SET) != 0) {
		*ret_size = v[COUNT];
		return true;
	}
	return (met & 1u << WIDTH) != 0 && (met & 1u << HEIGHT) != 0 &&
	       !__builtin_mul_overflow(v[WIDTH], v[HEIGHT], ret_size);
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

/* The memory a copy or set touches starts at these. */
static inline bool is_touched(const char *s, size_t len)
{
	switch (len) {
	case 3:
		return IS("dst") || IS("src") || IS("ptr");
	case 4:
		return IS("dest");
	case 6:
		return IS("devPtr");
	case 7:
		return IS("dev_ptr");
	case 9:
		return IS("dstDevice") || IS("srcDevice");
	default:
		return false;
	}
}
#undef IS

/* Bytes from the addresses a copy, set or allocation is about; 0: another call. */
static uint64_t touched_size(const struct hrr_record *rec, const struct hrr_look *l)
{
	uint64_t size;

	if ((hrr_select_families_of(rec->api, rec->api_len) &
	     (FAMILY_COPY | FAMILY_SET | FAMILY_ALLOC)) == 0)
		return 0;
	return size_of_call(rec, l, &size) && size < UINT64_MAX ? size : 0;
}

/* The little-endian word at byte at of a string of hex digits. */
static bool word_at(const char *hex, size_t len, uint64_t at, uint64_t *ret)
{
	uint64_t v = 0;

	if (at > len / 2 || len / 2 - at < 8)
		return false;
	for (int b = 7; b >= 0; b--)
		for (int h = 0; h < 2; h++) {
			char c = hex[2 * (at + (uint64_t)b) + (uint64_t)h];
			v = v << 4 | (uint64_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
		}
	*ret = v;
	return true;
}

static bool kernel_addresses_in(const struct hrr_look *l, const struct item *x,
				const struct item *x_end)
{
	const struct hrr_json *j = l->json;
	int args = hrr_json_get(j, l->kernel, "args");
	uint64_t at, v;

	if (args < 0 || j->nodes[args].type != HRR_JSON_ARRAY)
		return false;
	for (int a = hrr_json_first(j, args); a >= 0; a = hrr_json_next(j, args, a)) {
		int ptr = hrr_json_get(j, a, "ptr");
		if (ptr < 0 || j->nodes[ptr].type != HRR_JSON_ARRAY)
			continue;
		size_t len;
		const char *hex = string_of(l, hrr_json_get(j, a, "hex"), &len);
		if (hex == NULL)
			continue;
		for (int o = hrr_json_first(j, ptr); o >= 0; o = hrr_json_next(j, ptr, o))
			if (number_of(l, o, &at) && word_at(hex, len, at, &v) &&
			    overlap_any(x, x_end, v, 0))
				return true;
	}
	return false;
}

static bool addresses_in(const struct hrr_record *rec, const struct hrr_look *l,
			 const struct item *x, const struct item *x_end)
{
	const struct hrr_json *j = l->json;
	const struct hrr_json_node *end = j->nodes + j->nodes[l->args].next;
	uint64_t v, size = UINT64_MAX; /* not asked for yet */
	size_t len;

	for (const struct hrr_json_node *n = j->nodes + l->args + 1; n < end; n++) {
		if (n->key || n->type != HRR_JSON_STRING)
			continue;
		const char *s = hrr_look_text(l, (int)(n - j->nodes), &len);
		if (hrr_json_text_addr(s, len, &v) < 0)
			continue;
		bool whole = n[-1].key && is_touched(j->text + n[-1].off, n[-1].len);
		if (whole && size == UINT64_MAX)
			size = touched_size(rec, l);
		if (overlap_any(x, x_end, v, whole ? size : 0))
			return true;
	}
	return kernel_addresses_in(l, x, x_end);
}

static bool stream_any(const struct hrr_look *l, const struct item *x, const struct item *end)
{
	const struct hrr_json *j = l->json;
	int stream = hrr_json_get(j, l->args, "stream");
	uint64_t v;
	size_t len;

	if (stream < 0)
		stream = hrr_json_get(j, l->args, "hStream");
	if (stream < 0)
		return false;
	if (j->nodes[stream].type == HRR_JSON_NULL)
		return number_any(x, end, 0);
	const char *s = string_of(l, stream, &len);
	bool is = s != NULL ? hrr_json_text_addr(s, len, &v) == 0 : number_of(l, stream, &v);
	return is && number_any(x, end, v);
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
		return string_any(&l, hrr_json_get(l.json, l.kernel, "name"), x, end);
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

static bool term(const struct hrr_select *s, const struct node *n, const struct hrr_record *rec)
{
	const struct item *items = (const void *)s->items.data;
	const struct item *x = items + n->a, *end = items + n->b;

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
		return rec->t != HRR_NO_TIME && number_any(x, end, rec->t);
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

static bool eval(const struct hrr_select *s, uint32_t at, const struct hrr_record *rec)
{
	const struct node *n = &((const struct node *)(const void *)s->nodes.data)[at];

	switch ((enum node_type)n->type) {
	case NODE_OR:
		return eval(s, n->a, rec) || eval(s, n->b, rec);
	case NODE_AND:
		return eval(s, n->a, rec) && eval(s, n->b, rec);
	case NODE_NOT:
		return !eval(s, n->a, rec);
	case NODE_TERM:
		return term(s, n, rec) != n->negate;
	}
	return false;
}

bool hrr_select_call(const struct hrr_select *s, const struct hrr_record *rec)
{
	return rec->kind == HRR_REC_CALL && eval(s, s->root, rec);
}

bool hrr_select_head_only(const struct hrr_select *s)
{
	return s->head_only;
}
