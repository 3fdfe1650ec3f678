#include <errno.h>
#include <string.h>

#include "lib/replay/engine.h"

/* From the JSON of a call to words, by the roles of the table. Nothing is translated here. */

size_t hrr_kind_size(enum hrr_kind_of kind)
{
	size_t scalar = hrr_scalar_size((int)kind);

	if (scalar != 0)
		return scalar;
	return kind == HRR_K_CHARS || kind == HRR_K_BYTES ? 1 : kind == HRR_K_INTS ? 4 : 8;
}

static int nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool hrr_hex(const char *s, size_t len, unsigned char *to)
{
	for (size_t i = 0; i + 1 < len; i += 2) {
		int hi = nibble(s[i]), lo = nibble(s[i + 1]);
		if (hi < 0 || lo < 0)
			return false;
		to[i / 2] = (unsigned char)(hi << 4 | lo);
	}
	return true;
}

static int bad(struct hrr_replay *r, const char *name, const char *why)
{
	return hrr_fail(r, "argument %s: %s", name, why);
}

static int read_enum(struct hrr_replay *r, const struct hrr_enum *en, const struct hrr_json *j,
		     int node, const char *name, uint64_t *ret)
{
	int64_t i;
	int v;
	size_t len;
	const char *s;

	if (hrr_json_i64(j, node, &i) == 0) {
		*ret = (uint64_t)i;
		return 0;
	}
	s = hrr_json_raw(j, node, &len);
	if (s == NULL || j->nodes[node].type != HRR_JSON_STRING)
		return bad(r, name, "is no enumerator");
	if (hrr_enum_value(en, r->hip->major, s, len, &v) < 0)
		return hrr_fail(r, "argument %s: HIP %d has no value for %.*s", name, r->hip->major,
				(int)(len > 80 ? 80 : len), s);
	*ret = (uint64_t)(int64_t)v;
	return 0;
}

static int read_text(struct hrr_replay *r, const struct hrr_json *j, int node, const char *name,
		     uint64_t *ret)
{
	size_t len;
	const char *s = j->nodes[node].type == HRR_JSON_STRING ? hrr_json_raw(j, node, &len) : NULL;
	struct hrr_buf b = {0};

	if (s == NULL) {
		if (hrr_json_str(j, node, &b) < 0) {
			hrr_buf_release(&b);
			return bad(r, name, "is no string");
		}
		s = b.data != NULL ? b.data : "";
		len = b.len;
	}
	char *copy = hrr_scratch(r, len + 1);
	if (copy != NULL)
		memcpy(copy, s, len);
	hrr_buf_release(&b);
	if (copy == NULL)
		return hrr_trouble(r, -ENOMEM, "out of memory");
	*ret = HRR_P(copy);
	return 0;
}

/* One scalar, address, handle, enumerator or string as a word. */
static int read_word(struct hrr_replay *r, const struct hrr_json *j, int node, const char *name,
		     enum hrr_kind_of kind, const struct hrr_enum *en, uint64_t *ret)
{
	uint64_t u;
	int64_t i;
	double f;

	if (j->nodes[node].type == HRR_JSON_NULL) {
		*ret = 0;
		return 0;
	}
	switch (kind) {
	case HRR_K_ENUM:
		return read_enum(r, en, j, node, name, ret);
	case HRR_K_STR:
		return read_text(r, j, node, name, ret);
	case HRR_K_FLOAT: {
		union {
			float f;
			uint32_t u;
		} x;
		if (hrr_json_f64(j, node, &f) < 0)
			return bad(r, name, "is no number");
		x.f = (float)f;
		*ret = x.u;
		return 0;
	}
	default:
		if (hrr_json_addr(j, node, &u) == 0)
			*ret = u;
		else if (hrr_json_i64(j, node, &i) == 0)
			*ret = (uint64_t)i;
		else
			return bad(r, name, "is neither a number nor an address");
		return 0;
	}
}

static int read_dim3(struct hrr_replay *r, const struct hrr_json *j, int node, const char *name,
		     uint32_t d[3])
{
	int n = 0;
	uint64_t v;

	if (j->nodes[node].type != HRR_JSON_ARRAY)
		return bad(r, name, "is no [x,y,z]");
	for (uint32_t k = (uint32_t)node + 1; k < j->nodes[node].next; k = j->nodes[k].next) {
		if (n == 3 || hrr_json_u64(j, (int)k, &v) < 0 || v > UINT32_MAX)
			return bad(r, name, "is no [x,y,z]");
		d[n++] = (uint32_t)v;
	}
	return n == 3 ? 0 : bad(r, name, "is no [x,y,z]");
}

static int read_bytes(struct hrr_replay *r, const struct hrr_json *j, int node,
		      const struct hrr_field *f, unsigned char *to)
{
	size_t len;
	const char *s = hrr_json_raw(j, node, &len);

	if (s == NULL || j->nodes[node].type != HRR_JSON_STRING || len != (size_t)f->count * 2)
		return hrr_fail(r, "argument %s: no %u bytes in hex digits", f->name, f->count);
	return hrr_hex(s, len, to) ? 0 : bad(r, f->name, "is no hex digits");
}

static int read_struct(struct hrr_replay *r, const struct hrr_json *j, int node,
		       const struct hrr_struct *st, const char *name, unsigned char *box);

/* Elements of an array one behind the other; st: structures. */
static int read_elements(struct hrr_replay *r, const struct hrr_json *j, int node, const char *name,
			 enum hrr_kind_of kind, const struct hrr_enum *en,
			 const struct hrr_struct *st, uint64_t *ret)
{
	size_t n = hrr_json_count(j, node);
	size_t each = st != NULL ? st->size : hrr_kind_size(kind);
	int rc = 0;

	if (n > HRR_MAX_COUNT)
		return hrr_fail(r, "argument %s: %zu elements, more than %d", name, n,
				HRR_MAX_COUNT);
	unsigned char *box = hrr_scratch(r, (n + 1) * each), *at = box;
	if (box == NULL)
		return hrr_trouble(r, -ENOMEM, "out of memory");
	for (uint32_t k = (uint32_t)node + 1; rc == 0 && k < j->nodes[node].next;
	     k = j->nodes[k].next, at += each) {
		uint64_t w = 0;
		if (st != NULL) {
			rc = read_struct(r, j, (int)k, st, name, at);
			continue;
		}
		rc = read_word(r, j, (int)k, name, kind, en, &w);
		memcpy(at, &w, each);
	}
	*ret = HRR_P(box);
	return rc;
}

static int read_field(struct hrr_replay *r, const struct hrr_json *j, int node,
		      const struct hrr_field *f, unsigned char *box)
{
	uint64_t w = 0;

	if (f->by >= 0) { /* an address of the recorded program is never followed */
		if (j->nodes[node].type != HRR_JSON_ARRAY)
			return 0;
		int rc = read_elements(r, j, node, f->name, f->elem, f->en, f->st, &w);
		memcpy(box + f->offset, &w, 8);
		return rc;
	}
	switch (f->kind) {
	case HRR_K_DIM3:
		return read_dim3(r, j, node, f->name, (uint32_t *)(void *)(box + f->offset));
	case HRR_K_BYTES:
		return read_bytes(r, j, node, f, box + f->offset);
	case HRR_K_CHARS:
	case HRR_K_PTR:
	case HRR_K_INTS:
	case HRR_K_KPARAMS:
	case HRR_K_EXTRA:
	case HRR_K_FN:
		return 0; /* what the run time tells, or what other members tell */
	default:
		break;
	}
	int rc = read_word(r, j, node, f->name, f->kind, f->en, &w);
	if (rc == 0)
		memcpy(box + f->offset, &w, hrr_kind_size(f->kind));
	return rc;
}

static bool key_is(const struct hrr_json *j, uint32_t k, const char *name)
{
	size_t n = j->nodes[k].len;
	return strncmp(name, j->text + j->nodes[k].off, n) == 0 && name[n] == '\0';
}

/* No array has fewer elements than the field that counts them says. */
static int counts_fit(struct hrr_replay *r, const struct hrr_json *j, int node,
		      const struct hrr_struct *st, const char *name, const unsigned char *box)
{
	for (int i = 0; i < st->n; i++) {
		const struct hrr_field *f = &st->fields[i];
		if (f->by < 0)
			continue;
		int a = hrr_json_get(j, node, f->name);
		bool array = a >= 0 && j->nodes[a].type == HRR_JSON_ARRAY;
		uint64_t have = array ? hrr_json_count(j, a) : 0;
		uint64_t want = hrr_field(st, box, st->fields[f->by].name);
		/* Foreign streams have them elsewhere: the pointer is null then. */
		if (want > have && (array || hrr_json_get(j, 0, "foreign") < 0))
			return hrr_fail(r, "argument %s.%s: %llu elements, but %llu are needed",
					name, f->name, (unsigned long long)have,
					(unsigned long long)want);
	}
	return 0;
}

static int read_struct(struct hrr_replay *r, const struct hrr_json *j, int node,
		       const struct hrr_struct *st, const char *name, unsigned char *box)
{
	int at = 0, rc;

	if (j->nodes[node].type != HRR_JSON_OBJECT)
		return bad(r, name, "is no structure");
	for (uint32_t k = (uint32_t)node + 1; k < j->nodes[node].next; k = j->nodes[k + 1].next) {
		int f = -1;
		for (int i = 0; i < st->n && f < 0; i++) /* in order, mostly */
			if (key_is(j, k, st->fields[(at + i) % st->n].name))
				f = (at + i) % st->n;
		if (f < 0)
			continue; /* members we do not know pass */
		at = f + 1;
		rc = read_field(r, j, (int)k + 1, &st->fields[f], box);
		if (rc < 0)
			return rc;
	}
	return counts_fit(r, j, node, st, name, box);
}

/* An array parameter: elements one behind the other. */
static int read_array(struct hrr_replay *r, const struct hrr_json *j, int node,
		      const struct hrr_param *p, uint64_t *ret)
{
	return read_elements(r, j, node, p->name, p->kind, p->en,
			     p->kind == HRR_K_STRUCT ? p->st : NULL, ret);
}

static int read_param(struct hrr_replay *r, const struct hrr_json *j, int node,
		      const struct hrr_param *p, uint64_t *ret)
{
	const struct hrr_struct *st = hrr_struct_at(p->st, r->hip->layout);
	unsigned char *box;

	if (j->nodes[node].type == HRR_JSON_NULL) {
		*ret = 0;
		return 0;
	}
	switch (p->kind) {
	case HRR_K_DIM3:
		box = hrr_scratch(r, 16);
		*ret = HRR_P(box);
		return box == NULL ? hrr_trouble(r, -ENOMEM, "out of memory")
				   : read_dim3(r, j, node, p->name, (uint32_t *)(void *)box);
	case HRR_K_STRUCT:
	case HRR_K_VALUE:
		if (p->count >= 0)
			break;
		box = hrr_scratch(r, st->size);
		*ret = HRR_P(box);
		return box == NULL ? hrr_trouble(r, -ENOMEM, "out of memory")
				   : read_struct(r, j, node, st, p->name, box);
	case HRR_K_KPARAMS:
	case HRR_K_EXTRA:
	case HRR_K_CHARS:
	case HRR_K_FN:
	case HRR_K_PTR:
		*ret = 0;
		return 0;
	default:
		break;
	}
	if (p->count >= 0 && j->nodes[node].type == HRR_JSON_ARRAY)
		return read_array(r, j, node, p, ret);
	return read_word(r, j, node, p->name, p->kind, p->en, ret);
}

int hrr_args_read(struct hrr_replay *r, struct hrr_event *ev)
{
	const struct hrr_api_row *row = ev->row;
	const struct hrr_json *j = ev->j;
	int at = 0, rc = 0;

	for (int i = 0; i < row->n_params; i++) {
		ev->w[i] = 0;
		ev->node[i] = -1;
	}
	if (ev->rec->args < 0 || row->n_params == 0)
		return 0;
	uint32_t end = j->nodes[ev->rec->args].next;
	for (uint32_t k = (uint32_t)ev->rec->args + 1; rc == 0 && k < end;
	     k = j->nodes[k + 1].next) {
		int p = -1;
		for (int i = 0; i < row->n_params && p < 0; i++)
			if (key_is(j, k, row->params[(at + i) % row->n_params].name))
				p = (at + i) % row->n_params;
		if (p < 0)
			continue;
		at = p + 1;
		ev->node[p] = (int)k + 1;
		rc = read_param(r, j, (int)k + 1, &row->params[p], &ev->w[p]);
	}
	return rc;
}

static const struct hrr_field *field_of(const struct hrr_struct *st, const char *name)
{
	for (int i = 0; i < st->n; i++)
		if (strcmp(st->fields[i].name, name) == 0)
			return &st->fields[i];
	return NULL;
}

uint64_t hrr_field(const struct hrr_struct *st, const void *box, const char *name)
{
	const struct hrr_field *f = field_of(st, name);
	uint64_t w = 0;

	if (f == NULL)
		return 0;
	memcpy(&w, (const unsigned char *)box + f->offset, hrr_kind_size(f->kind));
	if (f->kind == HRR_K_ENUM || f->kind == HRR_K_INT)
		w = (uint64_t)(int64_t)(int32_t)w;
	return w;
}

void hrr_field_set(const struct hrr_struct *st, void *box, const char *name, uint64_t v)
{
	const struct hrr_field *f = field_of(st, name);

	if (f != NULL)
		memcpy((unsigned char *)box + f->offset, &v, hrr_kind_size(f->kind));
}
