#include "lib/stream/shape.h"

#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define BUCKETS 256	      /* by the call's name */
#define PER_BUCKET 48	      /* shapes of a bucket; a bucket that is full learns no more */
#define MAX_PARTS 256	      /* of a line that is worth a shape; an index fits a byte */
#define MAX_LINE 16384	      /* bytes of such a line */
#define MAX_MEMORY (4u << 20) /* bytes of all shapes together; then no more is learned */

enum { NONE, NUMBER, STRING };

/*
 * A literal and the hole behind it: a value that may differ. A line is parts
 * from its first byte to its last. The first ones are the head of a call, whose literals
 * head() knows; text holds the others, each followed by 16 bytes of padding.
 */
struct part {
	uint32_t text;
	uint16_t len;
	uint8_t hole; /* NUMBER, STRING, or NONE behind the last literal */
};

/* Where a part begins in the line learned; index behind its nodes, the last of which is its hole.
 */
struct piece {
	uint32_t at, end;
};

/* An object or array that is not empty, and the part it ends in. */
struct container {
	uint32_t node, part, end;
};

struct shape {
	struct part *parts;	      /* owned, as all of these */
	struct piece *pieces;	      /* by part */
	struct container *containers; /* n_containers */
	struct hrr_json_node *nodes;  /* of the line learned, n_nodes */
	char *line;		      /* that line: keys are read there */
	struct hrr_json json;	      /* the two, borrowed */
	uint8_t *part_of;	      /* by node: the part it begins in, or is the hole of */
	char *text;
	struct shape *next; /* that fitted behind this one: likely to do so again */
	uint32_t n_parts, n_head, n_containers, n_nodes;
	unsigned form; /* of its head */
	int args, ret, dir, blobs, kernel, host, symbol;
};

struct hrr_shapes {
	struct {
		struct shape *list[PER_BUCKET]; /* newest success first; owned */
		unsigned n;
	} buckets[BUCKETS];
	size_t memory;
	/* The line that fitted last: its shape, and where its parts begin. */
	struct shape *last;
	uint32_t at[MAX_PARTS + 1];
};

struct hrr_shapes *hrr_shapes_new(void)
{
	return calloc(1, sizeof(struct hrr_shapes));
}

static void shape_free(struct shape *x)
{
	if (x == NULL)
		return;
	free(x->parts);
	free(x->pieces);
	free(x->containers);
	free(x->nodes);
	free(x->part_of);
	free(x->line);
	free(x->text);
	free(x);
}

void hrr_shapes_free(struct hrr_shapes *s)
{
	if (s == NULL)
		return;
	for (int b = 0; b < BUCKETS; b++)
		for (unsigned i = 0; i < s->buckets[b].n; i++)
			shape_free(s->buckets[b].list[i]);
	free(s);
}

static unsigned bucket_of(const char *api, size_t len)
{
	uint32_t h = (uint32_t)len;

	for (size_t i = len > 12 ? len - 12 : 0; i < len; i++)
		h = h * 31 + (unsigned char)api[i];
	return h % BUCKETS;
}

/* Bytes that are simply part of a string, from i on. */
static inline size_t plain(const char *s, size_t i, size_t len)
{
#ifdef __SSE2__
	for (; len - i >= 16; i += 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)(s + i));
		__m128i odd = _mm_or_si128(_mm_cmplt_epi8(v, _mm_set1_epi8(0x20)),
					   _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')),
							_mm_cmpeq_epi8(v, _mm_set1_epi8('\\'))));
		unsigned mask = (unsigned)_mm_movemask_epi8(odd);
		if (mask != 0)
			return i + (size_t)__builtin_ctz(mask);
	}
#endif
	while (i < len && (unsigned char)s[i] >= 0x20 && (unsigned char)s[i] < 0x80 &&
	       s[i] != '"' && s[i] != '\\')
		i++;
	return i;
}

/* -?[0-9]{1,18} without leading zero, as the scanner has it; 0: not that. */
static inline size_t number(const char *s, size_t i, size_t len)
{
	if (i < len && s[i] == '-')
		i++;
	size_t digits = i;
	while (i < len && (unsigned char)(s[i] - '0') <= 9)
		i++;
	if (i - digits - 1 > 17 || (s[digits] == '0' && (i - digits > 1 || s[digits - 1] == '-')))
		return 0;
	return i;
}

static inline bool literal(const char *s, size_t room, const char *want, size_t len)
{
#ifdef __SSE2__
	if (len <= 16 && room >= 16) {
		__m128i a = _mm_loadu_si128((const __m128i *)(const void *)s);
		__m128i b = _mm_loadu_si128((const __m128i *)(const void *)want);
		unsigned same = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b));
		unsigned need = len == 16 ? 0xffff : (1u << len) - 1;
		return (same & need) == need;
	}
#endif
	return room >= len && memcmp(s, want, len) == 0;
}

/* line[i..) against the parts of a shape behind its head. */
static bool fits(const struct shape *x, const char *line, size_t i, size_t len, uint32_t *at)
{
	at += x->n_head;
	for (const struct part *p = x->parts + x->n_head;; p++) {
		*at++ = (uint32_t)i;
		if (!literal(line + i, len - i, x->text + p->text, p->len))
			return false;
		i += p->len;
		if (p->hole == NONE)
			return i == len;
		if (p->hole == NUMBER) {
			/* What follows is a literal, which no '.' or exponent fits. */
			i = number(line, i, len);
			if (i == 0)
				return false;
		} else {
			i = plain(line, i, len);
			if (i >= len || line[i] != '"')
				return false;
		}
		/* Behind the last byte there is always a literal: at least a brace. */
	}
}

/* "name": and digits. 0: not that. */
static inline size_t member(const char *line, size_t i, size_t len, const char *name,
			    size_t name_len, uint64_t *ret)
{
	uint64_t v = 0;

	if (len - i < name_len || memcmp(line + i, name, name_len) != 0)
		return 0;
	i += name_len;
	size_t digits = i;
	for (; i < len && (unsigned char)(line[i] - '0') <= 9; i++)
		v = v * 10 + (uint64_t)(line[i] - '0');
	if (i - digits - 1 > 17 || (line[digits] == '0' && i - digits > 1))
		return 0;
	*ret = v;
	return i;
}
/* The parts of a head begin where the one before ends. */
#define MEMBER(name, v) \
	(*at++ = (uint32_t)i, i = member(line, i, len, name, sizeof(name) - 1, &(v)), i != 0)

/* Forms of a head: it may have p, and dur. */
#define HEAD_P 1u
#define HEAD_DUR 2u
#define HEAD_MAX 6 /* parts */

static uint32_t n_head_of(unsigned form)
{
	return 4 + (form & HEAD_P) + (form / HEAD_DUR);
}

/*
 * The head of a call up to its name's closing quote; 0: not canonical. Its parts are
 * written to at: n_head of its form.
 */
static size_t head(struct hrr_record *rec, const char *line, size_t len, uint32_t *at,
		   unsigned *ret_form)
{
	unsigned form = 0;
	uint64_t p = 0;
	size_t i = 0;

	if (!MEMBER("{\"seq\":", rec->seq))
		return 0;
	if (len - i > 2 && line[i + 2] == 'p') { /* of merged streams */
		if (!MEMBER(",\"p\":", p) || p >= HRR_STREAM_MAX_PROCESSES)
			return 0;
		form |= HEAD_P;
	}
	if (!MEMBER(",\"t\":", rec->t))
		return 0;
	rec->dur = 0;
	if (len - i > 2 && line[i + 2] == 'd') { /* converted streams have none */
		if (!MEMBER(",\"dur\":", rec->dur))
			return 0;
		form |= HEAD_DUR;
	}
	if (!MEMBER(",\"tid\":", rec->tid))
		return 0;
	if (len - i < 8 || memcmp(line + i, ",\"api\":\"", 8) != 0)
		return 0;
	*at++ = (uint32_t)i;
	i += 8;
	size_t end = plain(line, i, len);
	if (end >= len || line[end] != '"' || end == i)
		return 0;
	rec->p = (uint32_t)p;
	rec->api = line + i;
	rec->api_len = end - i;
	*ret_form = form;
	return end;
}

static struct shape *find(struct hrr_shapes *s, const struct hrr_record *rec, const char *line,
			  size_t i, size_t len, unsigned form)
{
	struct shape *x = s->last != NULL ? s->last->next : NULL;

	if (x != NULL && x->form == form && fits(x, line, i, len, s->at))
		return x;
	unsigned b = bucket_of(rec->api, rec->api_len);
	struct shape **list = s->buckets[b].list;
	for (unsigned k = 0; k < s->buckets[b].n; k++) {
		x = list[k];
		if (x->form != form || !fits(x, line, i, len, s->at))
			continue;
		memmove(list + 1, list, k * sizeof(struct shape *));
		list[0] = x;
		if (s->last != NULL)
			s->last->next = x;
		return x;
	}
	return NULL;
}

bool hrr_shapes_fit(struct hrr_shapes *s, struct hrr_record *rec, const char *line, size_t len)
{
	unsigned form;
	size_t i = len > MAX_LINE ? 0 : head(rec, line, len, s->at, &form);
	struct shape *x = i == 0 ? NULL : find(s, rec, line, i, len, form);

	if (x == NULL)
		return false;
	s->last = x;
	hrr_record_head_only(rec, line, len);
	rec->shapes = s;
	return true;
}

/* How far what begins in part k of the last line lies from where it was learned. */
static inline uint32_t moved(const struct hrr_shapes *s, uint32_t k)
{
	return s->at[k] - s->last->pieces[k].at;
}

static inline uint32_t hole_len(const struct hrr_shapes *s, uint32_t k)
{
	return s->at[k + 1] - s->at[k] - s->last->parts[k].len;
}

/* A node moved by a distance in the text. */
static inline void copy_moved(struct hrr_json_node *to, const struct hrr_json_node *from,
			      uint32_t by)
{
#ifdef __SSE2__
	_Static_assert(sizeof *to == 16 && offsetof(struct hrr_json_node, off) == 4,
		       "off is the second of four words");
	_mm_storeu_si128((void *)to, _mm_add_epi32(_mm_loadu_si128((const void *)from),
						   _mm_set_epi32(0, 0, (int)by, 0)));
#else
	*to = *from;
	to->off += by;
#endif
}

int hrr_shapes_members(struct hrr_shapes *s, struct hrr_record *rec)
{
	const struct shape *x = s->last;
	struct hrr_json *j = &rec->json;
	int rc = hrr_json_room(j, x->n_nodes);
	uint32_t n = 0;

	if (rc < 0)
		return rc;
	for (uint32_t k = 0; k < x->n_parts; k++) {
		/* What begins in one part is moved by one distance. */
		uint32_t by = moved(s, k);
		for (; n < x->pieces[k].end; n++)
			copy_moved(&j->nodes[n], &x->nodes[n], by);
		if (x->parts[k].hole != NONE)
			j->nodes[n - 1].len = hole_len(s, k);
	}
	for (uint32_t k = 0; k < x->n_containers; k++) {
		const struct container *c = &x->containers[k];
		j->nodes[c->node].len = c->end + moved(s, c->part) - j->nodes[c->node].off;
	}
	j->text = rec->line;
	j->len = rec->len;
	j->n = n;
	j->general = false;
	rec->args = x->args;
	rec->ret = x->ret;
	rec->dir = x->dir;
	rec->blobs = x->blobs;
	rec->kernel = x->kernel;
	rec->host = x->host;
	rec->symbol = x->symbol;
	rec->shapes = NULL;
	return 0;
}

void hrr_record_look(const struct hrr_record *rec, struct hrr_look *ret)
{
	if (rec->shapes == NULL) {
		*ret = (struct hrr_look){&rec->json, NULL,     rec->line,  rec->args,
					 rec->ret,   rec->dir, rec->kernel};
		return;
	}
	const struct shape *x = rec->shapes->last;
	*ret =
	    (struct hrr_look){&x->json, rec->shapes, rec->line, x->args, x->ret, x->dir, x->kernel};
}

const char *hrr_look_text(const struct hrr_look *l, int node, size_t *ret_len)
{
	const struct hrr_json_node *v = &l->json->nodes[node];

	if (l->shapes == NULL) {
		*ret_len = v->len;
		return l->json->text + v->off;
	}
	const struct shape *x = l->shapes->last;
	uint32_t k = x->part_of[node];
	*ret_len = v->type == HRR_JSON_INT || (v->type == HRR_JSON_STRING && !v->key)
		       ? hole_len(l->shapes, k)
		       : v->len;
	/* Moved to the front is a distance that wraps. */
	return l->line + (uint32_t)(v->off + moved(l->shapes, k));
}

/* --- learning --- */

/* A shape in the making. */
struct draft {
	struct part parts[MAX_PARTS];
	struct piece pieces[MAX_PARTS];
	struct hrr_buf text, containers, part_of;
	uint32_t n;
};

/* Takes the line apart at every value that may differ. False: too many parts, or no memory. */
static bool take_apart(struct draft *d, const struct hrr_record *rec, uint32_t n_head)
{
	static const char padding[16];
	const struct hrr_json *j = &rec->json;
	size_t at = 0;
	int bad = 0;

	for (uint32_t i = 0; i <= j->n; i++) {
		bool last = i == j->n;
		const struct hrr_json_node *v = last ? NULL : &j->nodes[i];
		if (!last)
			bad |= hrr_buf_addc(&d->part_of, (char)d->n);
		if (!last && (v->key || (v->type != HRR_JSON_INT && v->type != HRR_JSON_STRING)))
			continue;
		size_t end = last ? rec->len : v->off;
		if (d->n == MAX_PARTS)
			return false;
		d->parts[d->n] = (struct part){.text = (uint32_t)d->text.len,
					       .len = (uint16_t)(end - at),
					       .hole = last			 ? NONE
						       : v->type == HRR_JSON_INT ? NUMBER
										 : STRING};
		d->pieces[d->n] = (struct piece){(uint32_t)at, last ? i : i + 1};
		if (d->n++ >= n_head) {
			bad |= hrr_buf_add(&d->text, rec->line + at, end - at);
			bad |= hrr_buf_add(&d->text, padding, sizeof padding);
		}
		at = last ? end : v->off + v->len;
	}
	for (uint32_t i = 0; i < j->n; i++) {
		const struct hrr_json_node *v = &j->nodes[i];
		if (v->type > HRR_JSON_ARRAY || v->len == 2)
			continue;
		struct container c = {i, 0, v->off + v->len};
		while (c.part + 1 < d->n && d->pieces[c.part + 1].at < c.end)
			c.part++;
		bad |= hrr_buf_add(&d->containers, &c, sizeof c);
	}
	return bad == 0;
}

static void *copy(const void *data, size_t size)
{
	void *p = malloc(size > 0 ? size : 1);

	if (p != NULL && size > 0)
		memcpy(p, data, size);
	return p;
}

static struct shape *finish(const struct draft *d, const struct hrr_record *rec, unsigned form,
			    size_t *ret_memory)
{
	const struct hrr_json *j = &rec->json;
	struct shape *x = calloc(1, sizeof *x);

	if (x == NULL)
		return NULL;
	x->n_parts = d->n;
	x->form = form;
	x->n_head = n_head_of(form);
	x->n_nodes = j->n;
	x->n_containers = (uint32_t)(d->containers.len / sizeof *x->containers);
	x->parts = copy(d->parts, d->n * sizeof *x->parts);
	x->pieces = copy(d->pieces, d->n * sizeof *x->pieces);
	x->containers = copy(d->containers.data, d->containers.len);
	x->nodes = copy(j->nodes, j->n * sizeof *x->nodes);
	x->part_of = copy(d->part_of.data, d->part_of.len);
	x->line = copy(rec->line, rec->len);
	x->json = (struct hrr_json){
	    .text = x->line, .len = rec->len, .nodes = x->nodes, .n = j->n, .cap = j->n};
	x->text = copy(d->text.data, d->text.len);
	/* A string that fits has no escapes, whatever the one learned had. */
	for (uint32_t i = 0; x->nodes != NULL && i < j->n; i++)
		x->nodes[i].escaped = x->nodes[i].escaped && x->nodes[i].key;
	x->args = rec->args;
	x->ret = rec->ret;
	x->dir = rec->dir;
	x->blobs = rec->blobs;
	x->kernel = rec->kernel;
	x->host = rec->host;
	x->symbol = rec->symbol;
	*ret_memory = sizeof *x + d->n * (sizeof *x->parts + sizeof *x->pieces) +
		      d->containers.len + j->n * (sizeof *x->nodes + 1) + d->text.len + rec->len;
	if (x->parts != NULL && x->pieces != NULL && x->containers != NULL && x->nodes != NULL &&
	    x->part_of != NULL && x->line != NULL && x->text != NULL)
		return x;
	shape_free(x);
	return NULL;
}

void hrr_shapes_learn(struct hrr_shapes *s, const struct hrr_record *rec)
{
	struct hrr_record again = {0};
	struct draft d = {.n = 0};
	uint32_t at[HEAD_MAX];
	unsigned form;
	size_t memory;

	if (rec->kind != HRR_REC_CALL || rec->json.general || rec->len > MAX_LINE)
		return;
	size_t end = head(&again, rec->line, rec->len, at, &form);
	/* seq and p are the first two members of a head, each a key and a value. */
	int p = hrr_json_get(&rec->json, 0, "p");
	unsigned b = bucket_of(rec->api, rec->api_len);
	/* seq, p, t and the others have to be its own, at the top, as the head has them. */
	if (end == 0 || (p >= 0 && p != 4) || again.seq != rec->seq || again.t != rec->t ||
	    again.p != rec->p || again.tid != rec->tid || again.dur != rec->dur ||
	    again.api != rec->api || s->buckets[b].n == PER_BUCKET || s->memory >= MAX_MEMORY)
		return;
	if (take_apart(&d, rec, n_head_of(form))) {
		struct shape *x = finish(&d, rec, form, &memory);
		if (x != NULL) {
			s->buckets[b].list[s->buckets[b].n++] = x;
			s->memory += memory;
		}
	}
	hrr_buf_release(&d.text);
	hrr_buf_release(&d.containers);
	hrr_buf_release(&d.part_of);
}
