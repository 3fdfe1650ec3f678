#include <errno.h>
#include <stdlib.h>

#include "formats/hrr/export_private.h"

#define DUMMY UINT64_C(1) /* the address of something whose address the stream does not hold */

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int hrr_out_hex(const struct hrr_json *j, int node, size_t max, struct hrr_buf *b)
{
	size_t len;
	const char *s = node >= 0 ? hrr_json_raw(j, node, &len) : NULL;

	if (s == NULL || len % 2 != 0 || len / 2 > max)
		return -EINVAL;
	if (hrr_buf_reserve(b, len / 2 + 1) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < len; i += 2) {
		int hi = digit(s[i]), lo = digit(s[i + 1]);
		if (hi < 0 || lo < 0)
			return -EINVAL;
		b->data[b->len++] = (char)(hi << 4 | lo);
	}
	return 0;
}

static int foreign(const struct hrr_record *rec, const char *name)
{
	int f = hrr_json_get(&rec->json, 0, "foreign");

	return f >= 0 && rec->json.nodes[f].type == HRR_JSON_OBJECT
		   ? hrr_json_get(&rec->json, f, name)
		   : -1;
}

uint64_t hrr_out_word(const struct hrr_record *rec, const char *name)
{
	int words = foreign(rec, "words");
	uint64_t v;

	if (words < 0 || rec->json.nodes[words].type != HRR_JSON_OBJECT ||
	    hrr_json_addr(&rec->json, hrr_json_get(&rec->json, words, name), &v) < 0)
		return 0;
	return v;
}

bool hrr_out_has_word(const struct hrr_record *rec, const char *name)
{
	int words = foreign(rec, "words");

	return words >= 0 && rec->json.nodes[words].type == HRR_JSON_OBJECT &&
	       hrr_json_get(&rec->json, words, name) >= 0;
}

/* A scalar as a word; enumerators by name. */
static uint64_t scalar(const struct out_process *p, const struct hrr_json *j, int node,
		       const struct hrr_enum *en)
{
	uint64_t v;
	int64_t i;
	double f;
	size_t len;
	const char *s;
	int e;

	if (node < 0)
		return 0;
	if (hrr_json_addr(j, node, &v) == 0)
		return v;
	if (hrr_json_i64(j, node, &i) == 0)
		return (uint64_t)i;
	if (en != NULL && (s = hrr_json_raw(j, node, &len)) != NULL &&
	    hrr_enum_value(en, p->major, s, len, &e) == 0)
		return (uint64_t)(int64_t)e;
	if (hrr_json_f64(j, node, &f) == 0) {
		float g = (float)f;
		uint32_t u;
		memcpy(&u, &g, sizeof u);
		return u;
	}
	return 0;
}

static uint64_t float_bits(const struct hrr_json *j, int node)
{
	double f = 0;
	uint64_t v;
	float g;
	uint32_t u;

	if (j->nodes[node].type == HRR_JSON_STRING) /* no number: its bits */
		return hrr_json_addr(j, node, &v) == 0 ? v : 0;
	(void)hrr_json_f64(j, node, &f);
	g = (float)f;
	memcpy(&u, &g, sizeof u);
	return u;
}

static void ints(const struct hrr_json *j, int node, unsigned max, unsigned char *data)
{
	unsigned i = 0;

	if (j->nodes[node].type != HRR_JSON_ARRAY)
		return;
	for (int n = hrr_json_first(j, node); n >= 0 && i < max; n = hrr_json_next(j, node, n)) {
		int64_t v = 0;
		(void)hrr_json_i64(j, n, &v);
		set_le(data + 4 * i++, (uint64_t)v, 4);
	}
}

int hrr_out_struct(struct out_process *p, const struct hrr_json *j, int node,
		   const struct hrr_struct *st, unsigned char *data)
{
	struct hrr_buf b = {0};
	int rc = 0;

	st = hrr_struct_at(st, 10 * p->major);
	if (j->nodes[node].type == HRR_JSON_STRING) { /* opaque */
		rc = hrr_out_hex(j, node, st->size, &b);
		if (rc == 0)
			memcpy(data, b.data, b.len);
		hrr_buf_release(&b);
		return rc == -ENOMEM ? rc : 0;
	}
	for (int i = 0; j->nodes[node].type == HRR_JSON_OBJECT && i < st->n; i++) {
		const struct hrr_field *f = &st->fields[i];
		unsigned char *at = data + f->offset;
		int n = hrr_json_get(j, node, f->name);
		if (n < 0)
			continue;
		switch (f->kind) {
		case HRR_K_CHARS:
			b.len = 0;
			if (hrr_json_str(j, n, &b) == 0)
				memcpy(at, b.data, b.len < f->count ? b.len : f->count);
			break;
		case HRR_K_BYTES:
			b.len = 0;
			if (hrr_out_hex(j, n, f->count, &b) == 0)
				memcpy(at, b.data, b.len);
			break;
		case HRR_K_INTS:
			ints(j, n, f->count, at);
			break;
		case HRR_K_DIM3:
			ints(j, n, 3, at);
			break;
		case HRR_K_FLOAT:
			set_le(at, float_bits(j, n), 4);
			break;
		default:
			set_le(at, scalar(p, j, n, f->en), (unsigned)hrr_scalar_size(f->kind));
			break;
		}
	}
	hrr_buf_release(&b);
	return 0;
}

/* The extra that holds what parameter i points to, or -1. */
static int pointee(const struct hrr_wire_row *w, const struct hrr_layout *l, int i)
{
	for (int k = 0; k < w->n; k++)
		if (w->extra[k].param == i && l->extra[k] != 0)
			return k;
	return -1;
}

/* Bytes the reader kept as they were, in "foreign". */
static bool kept_bytes(struct hrr_hrr8 *x, const struct hrr_record *rec, const char *name,
		       size_t max, size_t *ret_n)
{
	int n = foreign(rec, name);

	x->tmp.len = 0;
	if (n < 0 || hrr_out_hex(&rec->json, n, max, &x->tmp) < 0)
		return false;
	*ret_n = x->tmp.len;
	return true;
}

static int put_array(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		     const struct hrr_api_row *row, int i, int node, const struct hrr_wire_extra *e,
		     unsigned char *at)
{
	const struct hrr_param *q = &row->params[i];
	const struct hrr_json *j = &rec->json;
	unsigned elem = e->elem;
	uint32_t n = 0, max;

	if (elem == 0) /* one structure stands for the list */
		elem = q->kind == HRR_K_STRUCT && q->st->size < e->size ? q->st->size : e->size;
	max = e->size / elem;
	if (e->what == HRR_W_BYTES)
		max = 1;
	for (int m = hrr_json_first(j, node); m >= 0; m = hrr_json_next(j, node, m), n++) {
		if (n >= max)
			continue;
		if (q->kind == HRR_K_STRUCT && q->st->size <= elem) {
			if (hrr_out_struct(p, j, m, q->st, at + (size_t)n * elem) < 0)
				return -ENOMEM;
		} else {
			set_le(at + (size_t)n * elem, scalar(p, j, m, q->en), elem < 8 ? elem : 8);
		}
	}
	if (n > max) {
		hrr_lost(x, "%s: elements of %s past the first %u", row->name, q->name, max);
		n = max;
	}
	if (e->what == HRR_W_IN) {
		at[e->size] = 1;
		if (e->elem > 0)
			set_le(at + e->size + 1, n, 4);
	}
	return 0;
}

/* A parameter that points to something. */
static int put_pointer(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		       enum hrr_api api, const struct hrr_layout *l, int i, int node,
		       unsigned char *data)
{
	const struct hrr_api_row *row = &hrr_api_table[api];
	const struct hrr_wire_row *w = hrr_wire_row(api);
	const struct hrr_param *q = &row->params[i];
	const struct hrr_json *j = &rec->json;
	int k = pointee(w, l, i);
	const struct hrr_wire_extra *e = k >= 0 ? &w->extra[k] : NULL;
	unsigned char *at = k >= 0 ? data + l->extra[k] : NULL;
	const struct hrr_struct *st = e != NULL ? hrr_wire_struct(api, e) : NULL;
	bool null = node >= 0 && j->nodes[node].type == HRR_JSON_NULL;
	uint64_t word = hrr_out_word(rec, q->name);
	size_t n;

	if (word == 0 && node >= 0 && !null)
		word = DUMMY;
	if (e != NULL && (e->what == HRR_W_IN || e->what == HRR_W_BYTES) &&
	    kept_bytes(x, rec, e->what == HRR_W_IN ? q->name : e->field, e->size, &n)) {
		memcpy(at, x->tmp.data, n);
		if (e->what == HRR_W_IN) {
			at[e->size] = 1;
			if (e->elem > 0)
				set_le(at + e->size + 1, n / e->elem, 4);
		}
		if (word == 0)
			word = DUMMY;
	}
	if (node >= 0 && !null && e != NULL) {
		uint8_t type = j->nodes[node].type;
		if (type == HRR_JSON_ARRAY) {
			if (put_array(x, p, rec, row, i, node, e, at) < 0)
				return -ENOMEM;
		} else if (st != NULL && (type == HRR_JSON_OBJECT || type == HRR_JSON_STRING)) {
			if (hrr_out_struct(p, j, node, st, at) < 0)
				return -ENOMEM;
			if (e->what == HRR_W_IN)
				at[e->size] = 1;
		} else if (q->kind == HRR_K_STR) {
			x->tmp.len = 0;
			if (hrr_json_str(j, node, &x->tmp) == 0) {
				if (x->tmp.len > e->size)
					hrr_lost(x, "%s: bytes of %s past the first %u", row->name,
						 q->name, e->size);
				memcpy(at, x->tmp.data,
				       x->tmp.len < e->size ? x->tmp.len : e->size);
				at[e->size] = 1;
			}
		} else if (e->what == HRR_W_IN && e->size == 8) {
			set_le(at, scalar(p, j, node, q->en), 8);
			at[e->size] = 1;
		} else if (hrr_json_addr(j, node, &word) < 0) {
			word = DUMMY;
		}
	} else if (node >= 0 && !null) {
		if (q->kind == HRR_K_STR || q->kind == HRR_K_CHARS)
			hrr_lost(x, "%s: the text of %s", row->name, q->name);
		else if (j->nodes[node].type == HRR_JSON_ARRAY ||
			 j->nodes[node].type == HRR_JSON_OBJECT)
			hrr_lost(x, "%s: what %s points to", row->name, q->name);
		else if (q->kind == HRR_K_FLOAT)
			hrr_lost(x, "%s: what %s points to", row->name, q->name);
		else
			word = scalar(p, j, node, q->en);
		/* Read back it is null, which the call would not have written. */
		if (word == 0 && q->flow != HRR_FLOW_IN && j->nodes[node].type == HRR_JSON_STRING &&
		    !(q->kind == HRR_K_HANDLE && q->handle == HRR_H_STREAM))
			hrr_lost(x, "%s: what %s points to", row->name, q->name);
	}
	if (e != NULL && e->what == HRR_W_U64)
		set_le(at, hrr_out_word(rec, e->field), 8);
	if (l->width[i] == 8)
		set_le(data + l->at[i], word, 8);
	return 0;
}

void hrr_out_no_place(struct hrr_hrr8 *x, const struct hrr_record *rec,
		      const struct hrr_api_row *row, int i)
{
	const struct hrr_param *q = &row->params[i];
	int node = hrr_json_get(&rec->json, rec->args, q->name);

	if (node >= 0 && rec->json.nodes[node].type != HRR_JSON_NULL && q->kind != HRR_K_KPARAMS &&
	    q->kind != HRR_K_EXTRA)
		hrr_lost(x, "%s: %s", row->name, q->name);
}

int hrr_out_args(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		 enum hrr_api api, const struct hrr_layout *l, unsigned char *data,
		 struct hrr_diag *diag)
{
	const struct hrr_api_row *row = &hrr_api_table[api];
	const struct hrr_json *j = &rec->json;

	(void)diag;
	for (int i = 0; i < row->n_params; i++) {
		const struct hrr_param *q = &row->params[i];
		int node = hrr_json_get(j, rec->args, q->name);
		unsigned char *at = data + l->at[i];
		bool in = q->flow == HRR_FLOW_IN && q->count < 0;
		if (l->width[i] == 0) {
			hrr_out_no_place(x, rec, row, i);
			continue;
		}
		if (in && q->kind == HRR_K_DIM3) {
			if (node >= 0)
				ints(j, node, 3, at);
		} else if (in && q->kind == HRR_K_VALUE) {
			if (node >= 0 && hrr_out_struct(p, j, node, q->st, at) < 0)
				return -ENOMEM;
		} else if (in && q->kind == HRR_K_FLOAT) {
			if (node >= 0)
				set_le(at, float_bits(j, node), 4);
		} else if (!in || q->kind == HRR_K_STR || q->kind == HRR_K_STRUCT ||
			   pointee(hrr_wire_row(api), l, i) >= 0) {
			if (put_pointer(x, p, rec, api, l, i, node, data) < 0)
				return -ENOMEM;
		} else if (node < 0 && hrr_out_has_word(rec, q->name)) {
			set_le(at, hrr_out_word(rec, q->name), l->width[i]);
		} else if (node >= 0) {
			set_le(at, scalar(p, j, node, q->en), l->width[i]);
		}
	}
	for (int k = 0; k < hrr_wire_row(api)->n; k++) {
		const struct hrr_wire_extra *e = &hrr_wire_row(api)->extra[k];
		if (e->what == HRR_W_U64 && e->param < 0 && l->extra[k] != 0)
			set_le(data + l->extra[k], hrr_out_word(rec, e->field), 8);
	}
	return 0;
}
