#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/hrr/convert_private.h"

/* A word of an out scalar below this is its value, else the address it had. */
#define VALUE_MAX (UINT64_C(1) << 44)

int hrr_put_enum(struct hrr_convert *c, struct hrr_buf *b, const struct hrr_enum *en, int64_t v)
{
	const char *name = en != NULL && v >= INT32_MIN && v <= INT32_MAX
			       ? hrr_enum_name(en, c->major, (int)v)
			       : NULL;

	if (room(b, 256) < 0)
		return -ENOMEM;
	if (name == NULL) {
		put_int(b, v);
		return 0;
	}
	b->data[b->len++] = '"';
	put_raw(b, name, strnlen(name, 200));
	b->data[b->len++] = '"';
	return 0;
}

static int put_float(struct hrr_buf *b, uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof f);
	/* JSON has no name for what is no number: its bits, then. */
	if (f != f || f - f != 0)
		return hrr_buf_addf(b, "\"0x%x\"", bits);
	return hrr_buf_addf(b, "%.9g", (double)f);
}

static int put_field(struct hrr_convert *c, const struct hrr_field *f, const unsigned char *at)
{
	struct hrr_buf *b = &c->out;

	if (room(b, 256 + 16u * f->count) < 0)
		return -ENOMEM;
	switch (f->kind) {
	case HRR_K_INT:
	case HRR_K_DEVICE:
		put_int(b, (int32_t)hrr_le32(at));
		return 0;
	case HRR_K_UINT:
	case HRR_K_FLAGS:
	case HRR_K_U32:
		put_dec(b, hrr_le32(at));
		return 0;
	case HRR_K_U8:
		put_dec(b, at[0]);
		return 0;
	case HRR_K_U16:
		put_dec(b, hrr_le16(at));
		return 0;
	case HRR_K_SIZE:
	case HRR_K_U64:
		put_num(b, hrr_le64(at));
		return 0;
	case HRR_K_FLOAT:
		return put_float(b, hrr_le32(at));
	case HRR_K_ENUM:
		return hrr_put_enum(c, b, f->en, (int32_t)hrr_le32(at));
	case HRR_K_CHARS:
		return hrr_json_put_str(b, (const char *)at, strnlen((const char *)at, f->count));
	case HRR_K_BYTES:
		return hrr_json_put_hex(b, at, f->count);
	case HRR_K_INTS:
	case HRR_K_DIM3: {
		unsigned n = f->kind == HRR_K_DIM3 ? 3 : f->count;
		PUT(b, "[");
		for (unsigned i = 0; i < n; i++) {
			put_comma(b);
			if (f->kind == HRR_K_DIM3)
				put_dec(b, hrr_le32(at + 4 * i));
			else
				put_int(b, (int32_t)hrr_le32(at + 4 * i));
		}
		PUT(b, "]");
		return 0;
	}
	default:
		put_hex(b, hrr_le64(at));
		return 0;
	}
}

int hrr_put_struct(struct hrr_convert *c, const struct hrr_struct *st, const unsigned char *bytes)
{
	struct hrr_buf *b = &c->out;

	st = hrr_struct_at(st, 10 * c->major);
	if (st->n == 0) /* opaque: an inter-process handle */
		return hrr_json_put_hex(b, bytes, st->size);
	if (hrr_buf_addc(b, '{') < 0)
		return -ENOMEM;
	for (int i = 0; i < st->n; i++) {
		const struct hrr_field *f = &st->fields[i];
		size_t len = strlen(f->name);
		if (f->kind == HRR_K_KPARAMS || f->kind == HRR_K_EXTRA)
			continue;
		if (room(b, len + 8) < 0)
			return -ENOMEM;
		put_comma(b);
		PUT(b, "\"");
		put_raw(b, f->name, len);
		PUT(b, "\":");
		if (put_field(c, f, bytes + f->offset) < 0)
			return -ENOMEM;
	}
	return hrr_buf_addc(b, '}');
}

int hrr_left_word(struct hrr_convert *c, const char *name, uint64_t v)
{
	struct hrr_buf *b = &c->words;

	return hrr_buf_addf(b, "%s\"%s\":\"0x%llx\"", b->len > 0 ? "," : "", name,
			    (unsigned long long)v) < 0
		   ? -ENOMEM
		   : 0;
}

int hrr_left_bytes(struct hrr_convert *c, const char *name, const unsigned char *data, size_t n)
{
	struct hrr_buf *b = &c->extra;

	if (hrr_buf_addf(b, "%s\"%s\":", b->len > 0 ? "," : "", name) < 0 ||
	    hrr_json_put_hex(b, data, n) < 0)
		return -ENOMEM;
	return 0;
}

static int put_key(struct hrr_convert *c, const struct op *o)
{
	struct hrr_buf *b = &c->out;

	if (room(b, o->key_len + 8u + KEY_ROOM) < 0)
		return -ENOMEM;
	put_comma(b);
	put_key_text(b, o->key, o->key_len);
	return 0;
}

static int put_null(struct hrr_convert *c, const struct op *o)
{
	return put_key(c, o) < 0 ? -ENOMEM : hrr_buf_adds(&c->out, "null");
}

/* The bytes a parameter points to, or NULL: *ret_x says which extra, *ret_n how many elements. */
static const unsigned char *pointee(const struct prog *p, const struct hrr_event *ev, int param,
				    const struct hrr_wire_extra **ret_x, uint32_t *ret_n)
{
	*ret_x = NULL;
	for (int k = 0; k < p->wire->n; k++) {
		const struct hrr_wire_extra *x = &p->wire->extra[k];
		const unsigned char *at = ev->data + p->l.extra[k];
		if (x->param != param || p->l.extra[k] == 0)
			continue;
		*ret_x = x;
		*ret_n = 0;
		if (x->what == HRR_W_IN) {
			if (at[x->size] == 0)
				return NULL;
			if (x->elem != 0)
				*ret_n = hrr_le32(at + x->size + 1);
		}
		return at;
	}
	return NULL;
}

static int put_elements(struct hrr_convert *c, const struct hrr_param *x, const unsigned char *at,
			uint32_t n, unsigned elem)
{
	struct hrr_buf *b = &c->out;

	if (room(b, 4 + 24u * (size_t)n) < 0)
		return -ENOMEM;
	PUT(b, "[");
	for (uint32_t i = 0; i < n; i++, at += elem) {
		put_comma(b);
		if (x->kind == HRR_K_STRUCT && x->st->size <= elem) {
			if (hrr_put_struct(c, x->st, at) < 0 || room(b, 4 + 24u * (size_t)n) < 0)
				return -ENOMEM;
		} else if (elem == 8 && hrr_is_address(x->kind)) {
			put_hex(b, hrr_le64(at));
		} else if (elem == 8) {
			put_num(b, hrr_le64(at));
		} else if (x->kind == HRR_K_INT) {
			put_int(b, (int32_t)hrr_le32(at));
		} else {
			put_dec(b, hrr_le32(at));
		}
	}
	PUT(b, "]");
	return 0;
}

/* An array parameter: what is recorded of it. */
static int slow_array(struct hrr_convert *c, const struct prog *p, const struct hrr_event *ev,
		      const struct op *o, uint64_t w)
{
	const struct hrr_param *x = &p->row->params[o->param];
	const struct hrr_wire_extra *e;
	uint32_t n = 0;
	const unsigned char *at = pointee(p, ev, o->param, &e, &n);
	const struct hrr_param *cp = &p->row->params[x->count];
	uint64_t count = word(ev->data + p->l.at[x->count], p->l.width[x->count]);

	if (at != NULL && e->what == HRR_W_BYTES) { /* only the first one is there */
		n = 1;
		unsigned elem = x->kind == HRR_K_STRUCT ? x->st->size : e->size;
		if (count == 1)
			return put_key(c, o) < 0 ? -ENOMEM : put_elements(c, x, at, n, elem);
		return hrr_left_bytes(c, x->name, at, e->size);
	}
	if (at != NULL && e->elem > 0 && n <= e->size / e->elem &&
	    (cp->flow != HRR_FLOW_IN || count == n) &&
	    (e->elem == 8 || e->elem == 4 || x->kind == HRR_K_STRUCT))
		return put_key(c, o) < 0 ? -ENOMEM : put_elements(c, x, at, n, e->elem);
	if (at != NULL) {
		hrr_note(c, "event %llu (%s): %s: %u of %llu elements are recorded",
			 (unsigned long long)ev->seq, p->row->name, x->name, n,
			 (unsigned long long)count);
		return hrr_left_bytes(c, x->name, at, e->size);
	}
	if (w == 0)
		return put_null(c, o);
	return hrr_left_word(c, x->name, w);
}

static int slow(struct hrr_convert *c, const struct prog *p, const struct hrr_event *ev,
		const struct op *o)
{
	const struct hrr_param *x = &p->row->params[o->param];
	const unsigned char *at = ev->data + o->at, *data;
	const struct hrr_wire_extra *e;
	uint32_t n = 0;
	uint64_t w = o->width == 4 ? hrr_le32(at) : hrr_le64(at);
	struct hrr_buf *b = &c->out;

	if (x->count >= 0 && x->kind != HRR_K_CHARS)
		return slow_array(c, p, ev, o, w);
	if (x->kind == HRR_K_VALUE) {
		if (c->f.version >= 6)
			return put_key(c, o) < 0 ? -ENOMEM : hrr_put_struct(c, x->st, at);
		return hrr_left_word(c, x->name, w);
	}
	data = pointee(p, ev, o->param, &e, &n);
	if (e != NULL &&
	    e->what == HRR_W_U64) { /* hipMemPoolSetAttribute: the value it points to */
		if (put_key(c, o) < 0 || room(b, 32) < 0)
			return -ENOMEM;
		put_hex(b, w);
		return hrr_left_word(c, e->field, hrr_le64(data));
	}
	if (data != NULL) {
		const struct hrr_struct *st = hrr_wire_struct(p->api, e);
		if (st != NULL)
			return put_key(c, o) < 0 ? -ENOMEM : hrr_put_struct(c, st, data);
		if (x->kind == HRR_K_STR) {
			size_t len = strnlen((const char *)data, e->size);
			return put_key(c, o) < 0 ? -ENOMEM
						 : hrr_json_put_str(b, (const char *)data, len);
		}
		if (e->what == HRR_W_IN && x->flow != HRR_FLOW_IN && e->size == 8) {
			if (put_key(c, o) < 0 || room(b, 32) < 0)
				return -ENOMEM;
			put_num(b, hrr_le64(data));
			return 0;
		}
		size_t keep = e->elem > 0 && n <= e->size / e->elem ? (size_t)n * e->elem : e->size;
		if (hrr_left_bytes(c, e->what == HRR_W_IN ? x->name : e->field, data, keep) < 0)
			return -ENOMEM;
		if (e->what == HRR_W_BYTES || x->kind == HRR_K_PTR) { /* the address is there too */
			if (put_key(c, o) < 0 || room(b, 32) < 0)
				return -ENOMEM;
			put_hex(b, w);
			return 0;
		}
	}
	if (w == 0 && (x->kind == HRR_K_STR || x->kind == HRR_K_STRUCT || x->kind == HRR_K_CHARS))
		return put_null(c, o);
	if (x->flow != HRR_FLOW_IN) {
		bool value = w < VALUE_MAX;
		switch (x->kind) {
		case HRR_K_INT:
		case HRR_K_DEVICE:
		case HRR_K_UINT:
		case HRR_K_FLAGS:
		case HRR_K_U32:
		case HRR_K_ENUM:
			value = w <= UINT32_MAX;
			/* fall through */
		case HRR_K_SIZE:
		case HRR_K_U64:
			if (!value)
				break;
			if (put_key(c, o) < 0 || room(b, 32) < 0)
				return -ENOMEM;
			if (x->kind == HRR_K_ENUM)
				return hrr_put_enum(c, b, x->en, (int32_t)w);
			if (x->kind == HRR_K_INT || x->kind == HRR_K_DEVICE)
				put_int(b, (int32_t)w);
			else
				put_num(b, w);
			return 0;
		default:
			if (w == 0)
				return put_null(c, o);
			break;
		}
	}
	return hrr_left_word(c, x->name, w);
}

int hrr_put_args(struct hrr_convert *c, const struct prog *p, const struct hrr_event *ev)
{
	struct hrr_buf *b = &c->out;

	for (int i = 0; i < p->n_ops; i++) {
		const struct op *o = &p->ops[i];
		const unsigned char *at = ev->data + o->at;
		if (o->code == OP_SLOW) {
			if (slow(c, p, ev, o) < 0)
				return -ENOMEM;
			continue;
		}
		if (room(b, o->key_len + 64u + KEY_ROOM) < 0)
			return -ENOMEM;
		put_comma(b);
		put_key_text(b, o->key, o->key_len);
		switch (o->code) {
		case OP_ADDR:
			put_hex(b, hrr_le64(at));
			break;
		case OP_OUT_ADDR:
			/* 0 is a stream, and no other thing that a call makes */
			if (hrr_le64(at) != 0 || hrr_is_stream(&p->row->params[o->param]))
				put_hex(b, hrr_le64(at));
			else
				PUT(b, "null");
			break;
		case OP_I32:
			put_int(b, (int32_t)hrr_le32(at));
			break;
		case OP_U32:
			put_dec(b, hrr_le32(at));
			break;
		case OP_U64:
			put_num(b, hrr_le64(at));
			break;
		case OP_F32:
			if (put_float(b, hrr_le32(at)) < 0)
				return -ENOMEM;
			break;
		case OP_ENUM:
			if (hrr_put_enum(c, b, o->en,
					 o->width == 4 ? (int32_t)hrr_le32(at)
						       : (int64_t)hrr_le64(at)) < 0)
				return -ENOMEM;
			break;
		default: /* dim3 */
			PUT(b, "[");
			put_dec(b, hrr_le32(at));
			PUT(b, ",");
			put_dec(b, hrr_le32(at + 4));
			PUT(b, ",");
			put_dec(b, hrr_le32(at + 8));
			PUT(b, "]");
			break;
		}
	}
	return 0;
}
