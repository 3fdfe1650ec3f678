#include "lib/collect/private.h"

#include <stdio.h>
#include <string.h>

/* Arguments as JSON, by the table. Errors of memory leave b short; the line is then dropped. */

const struct hrr_att *att_next(const struct hrr_att *a, const struct hrr_att *end)
{
	const char *next = (const char *)(a + 1) + ((a->len + 7) & ~7u);

	return next + sizeof *a > (const char *)end ? end
						    : (const struct hrr_att *)(const void *)next;
}

void atts_read(const struct hrr_rec *r, struct atts *x)
{
	const char *from = (const char *)(r + 1) + 8 * r->words, *to = (const char *)r + r->size;

	memset(x, 0, sizeof *x);
	if (from > to)
		from = to;
	x->first = (const struct hrr_att *)(const void *)from;
	x->end = (const struct hrr_att *)(const void *)to;
	for (const struct hrr_att *a = x->first; a < x->end;) {
		if ((size_t)(to - (const char *)(a + 1)) < a->len) {
			x->end = a; /* damaged: what came before counts */
			break;
		}
		switch (a->tag) {
		case HRR_A_VALUE:
			if (a->param < 16)
				x->value[a->param] = a;
			break;
		case HRR_A_SRC:
			x->src = a;
			break;
		case HRR_A_KERNEL:
			x->kernel = a;
			break;
		case HRR_A_SYMBOL:
			x->symbol = a;
			break;
		case HRR_A_IMAGE:
			x->image = a;
			break;
		case HRR_A_RET:
			x->ret = a;
			break;
		default:
			break;
		}
		a = att_next(a, x->end);
	}
}

static void put_u64(struct hrr_buf *b, uint64_t v)
{
	if (v <= ((uint64_t)1 << 53) - 1)
		hrr_buf_addu(b, v);
	else
		hrr_json_put_addr(b, v);
}

static void put_int(struct hrr_buf *b, int64_t v)
{
	if (v < 0)
		hrr_buf_addc(b, '-');
	hrr_buf_addu(b, v < 0 ? (uint64_t)0 - (uint64_t)v : (uint64_t)v);
}

static void put_dim3(struct hrr_buf *b, const unsigned char *at)
{
	uint32_t d[3];

	memcpy(d, at, sizeof d);
	hrr_buf_add_dims(b, d);
}

static void put_enum(struct hrr_buf *b, const struct hrr_enum *en, int layout, int v)
{
	const char *name = hrr_enum_name(en, layout / 10, v);

	if (name == NULL) {
		put_int(b, v);
		return;
	}
	hrr_buf_addc(b, '"');
	hrr_buf_adds(b, name);
	hrr_buf_addc(b, '"');
}

static uint64_t word_at(const unsigned char *at, size_t n)
{
	uint64_t v = 0;

	memcpy(&v, at, n < 8 ? n : 8);
	return v;
}

static void put_scalar(struct hrr_buf *b, int kind, const struct hrr_enum *en, uint64_t v,
		       int layout)
{
	float f;
	uint32_t w = (uint32_t)v;

	switch (kind) {
	case HRR_K_INT:
	case HRR_K_DEVICE:
		put_int(b, (int32_t)w);
		break;
	case HRR_K_UINT:
	case HRR_K_FLAGS:
	case HRR_K_U32:
		hrr_buf_addu(b, w);
		break;
	case HRR_K_U8:
		hrr_buf_addu(b, v & 0xff);
		break;
	case HRR_K_U16:
		hrr_buf_addu(b, v & 0xffff);
		break;
	case HRR_K_SIZE:
	case HRR_K_U64:
		put_u64(b, v);
		break;
	case HRR_K_FLOAT:
		memcpy(&f, &w, sizeof f);
		if (f - f == 0)
			hrr_buf_addf(b, "%.9g", (double)f);
		else
			hrr_buf_adds(b, "null"); /* JSON has no infinities */
		break;
	case HRR_K_ENUM:
		put_enum(b, en, layout, (int32_t)w);
		break;
	default:
		hrr_json_put_addr(b, v);
		break;
	}
}

static size_t width_of(int kind, const struct hrr_struct *st)
{
	return st != NULL ? st->size : hrr_scalar_size(kind);
}

static void put_struct(struct hrr_buf *b, const struct hrr_struct *st, const unsigned char *at,
		       int layout, const struct atts *x, int param);

static void put_elem(struct hrr_buf *b, int kind, const struct hrr_struct *st,
		     const struct hrr_enum *en, const unsigned char *at, int layout)
{
	if (st != NULL)
		put_struct(b, st, at, layout, NULL, -1);
	else if (kind == HRR_K_DIM3)
		put_dim3(b, at);
	else
		put_scalar(b, kind, en, word_at(at, hrr_scalar_size(kind)), layout);
}

/* What a field of param's structure points to, or NULL: it was not recorded. */
static const struct hrr_att *field_att(const struct atts *x, int param, int field)
{
	for (const struct hrr_att *a = x->first; a < x->end; a = att_next(a, x->end))
		if (a->tag == HRR_A_FIELD && a->param == param && a->field == field)
			return a;
	return NULL;
}

static void put_array(struct hrr_buf *b, const struct hrr_field *f, const struct hrr_att *a,
		      int layout)
{
	size_t n = width_of(f->elem, f->st);

	hrr_buf_addc(b, '[');
	for (size_t i = 0; n != 0 && (i + 1) * n <= a->len; i++) {
		if (i > 0)
			hrr_buf_addc(b, ',');
		put_elem(b, f->elem, f->st, f->en, att_data(a) + i * n, layout);
	}
	hrr_buf_addc(b, ']');
}

/* x: the record's attachments, where fields point to arrays; NULL: they are left as addresses. */
static void put_struct(struct hrr_buf *b, const struct hrr_struct *st, const unsigned char *at,
		       int layout, const struct atts *x, int param)
{
	bool first = true;

	hrr_buf_addc(b, '{');
	for (int i = 0; i < st->n; i++) {
		const struct hrr_field *f = &st->fields[i];
		const unsigned char *v = at + f->offset;
		if (f->kind == HRR_K_KPARAMS || f->kind == HRR_K_EXTRA)
			continue;
		if (!first)
			hrr_buf_addc(b, ',');
		first = false;
		hrr_buf_addc(b, '"');
		hrr_buf_adds(b, f->name);
		hrr_buf_add(b, "\":", 2);
		switch (f->kind) {
		case HRR_K_CHARS:
			hrr_json_put_str(b, (const char *)v, strnlen((const char *)v, f->count));
			break;
		case HRR_K_BYTES:
			hrr_json_put_hex(b, v, f->count);
			break;
		case HRR_K_INTS:
			hrr_buf_addc(b, '[');
			for (unsigned k = 0; k < f->count; k++) {
				if (k > 0)
					hrr_buf_addc(b, ',');
				put_int(b, (int32_t)word_at(v + 4 * k, 4));
			}
			hrr_buf_addc(b, ']');
			break;
		case HRR_K_DIM3:
			put_dim3(b, v);
			break;
		default: {
			const struct hrr_att *a =
			    f->by >= 0 && x != NULL ? field_att(x, param, i) : NULL;
			if (a != NULL)
				put_array(b, f, a, layout);
			else
				put_scalar(b, f->kind, f->en, word_at(v, hrr_scalar_size(f->kind)),
					   layout);
			break;
		}
		}
	}
	hrr_buf_addc(b, '}');
}

/* What is behind a pointer, as recorded; false: it is not known and the member is left out. */
static bool put_pointee(struct hrr_buf *b, const struct hrr_param *p, const struct atts *x, int i,
			int layout)
{
	const struct hrr_att *a = x->value[i];
	const struct hrr_struct *st = hrr_struct_at(p->st, layout);
	size_t n = width_of(p->kind, st);

	if (p->kind == HRR_K_STR || p->kind == HRR_K_CHARS) {
		hrr_json_put_str(b, (const char *)att_data(a), a->len);
	} else if (p->count >= 0) {
		if (n == 0)
			return false;
		hrr_buf_addc(b, '[');
		for (size_t k = 0; (k + 1) * n <= a->len; k++) {
			if (k > 0)
				hrr_buf_addc(b, ',');
			put_elem(b, p->kind, st, p->en, att_data(a) + k * n, layout);
		}
		hrr_buf_addc(b, ']');
	} else if (n == 0 || a->len < n) {
		return false;
	} else if (st != NULL) {
		put_struct(b, st, att_data(a), layout, x, i);
	} else {
		put_elem(b, p->kind, NULL, p->en, att_data(a), layout);
	}
	return true;
}

static bool is_followed(const struct hrr_param *p)
{
	return p->flow != HRR_FLOW_IN || p->count >= 0 || p->kind == HRR_K_STR ||
	       p->kind == HRR_K_STRUCT || hrr_param_boxed(p);
}

void print_args(struct hrr_buf *b, const struct hrr_rec *r, const struct atts *x, int layout)
{
	const struct hrr_api_row *row = &hrr_api_table[r->api];
	const unsigned char *words = (const unsigned char *)(r + 1);
	size_t room = (r->size - sizeof *r) / 8; /* r->words are said to be there */
	bool first = true;

	for (unsigned i = 0; i < row->n_params && i < r->words && i < room; i++) {
		const struct hrr_param *p = &row->params[i];
		uint64_t w = word_at(words + 8 * i, 8);
		size_t before = b->len;
		if (p->kind == HRR_K_KPARAMS || p->kind == HRR_K_EXTRA)
			continue;
		bool followed = is_followed(p);
		if (followed && w != 0 && (i >= 16 || x->value[i] == NULL))
			continue;
		if (!first)
			hrr_buf_addc(b, ',');
		hrr_buf_addc(b, '"');
		hrr_buf_adds(b, p->name);
		hrr_buf_add(b, "\":", 2);
		bool put = true;
		if (!followed)
			put_scalar(b, p->kind, p->en, w, layout);
		else if (w == 0)
			hrr_buf_add(b, "null", 4);
		else
			put = put_pointee(b, p, x, (int)i, layout);
		if (put)
			first = false;
		else
			b->len = before;
	}
}
