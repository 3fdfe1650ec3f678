#include "lib/stream/shape.h"

#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "lib/stream/shape_private.h"

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

#ifdef __SSE2__
/* A byte of ones for each that is the same in both. */
static inline __m128i same16(const char *a, const char *b)
{
	return _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)a),
			      _mm_loadu_si128((const __m128i *)(const void *)b));
}
#endif

/* Bytes that are the same in both, at most n. */
static inline size_t same(const char *a, const char *b, size_t n)
{
	size_t i = 0;

#ifdef __SSE2__
	for (; n - i >= 64; i += 64) {
		__m128i low = _mm_and_si128(same16(a + i, b + i), same16(a + i + 16, b + i + 16));
		__m128i high =
		    _mm_and_si128(same16(a + i + 32, b + i + 32), same16(a + i + 48, b + i + 48));
		if (_mm_movemask_epi8(_mm_and_si128(low, high)) != 0xffff)
			break;
	}
	for (; n >= 16 && i < n; i += 16) {
		/* The last bytes together with some that are known to be the same. */
		size_t at = n - i < 16 ? n - 16 : i;
		unsigned equal = (unsigned)_mm_movemask_epi8(same16(a + at, b + at));
		if (equal != 0xffff)
			return at + (size_t)__builtin_ctz(~equal);
	}
	if (n >= 16)
		return n;
#endif
	while (i < n && a[i] == b[i])
		i++;
	return i;
}

/* A hole with another value in it than in the last tail, and how much farther on the parts behind
 * it begin. */
struct change {
	uint32_t part, by;
};

/* Keeps a tail that fits for the next one to be compared with. False: no memory. */
static bool keep(struct hrr_shapes *s, struct hrr_shape *x, const char *tail, size_t len,
		 const struct change *changed, uint32_t n_changed)
{
	if (len > x->tail_cap) {
		size_t cap = 2 * len, more = cap - x->tail_cap;
		char *p = s->memory + more > HRR_SHAPE_MEMORY ? NULL : realloc(x->tail, cap);
		if (p == NULL)
			return false;
		s->memory += more;
		x->tail = p;
		x->tail_cap = (uint32_t)cap;
	}
	memcpy(x->tail, tail, len);
	x->tail_len = (uint32_t)len;
	for (uint32_t c = 0; c < n_changed; c++) {
		x->stale |= changed[c].by != 0;
		uint32_t end = c + 1 < n_changed ? changed[c + 1].part : x->n_parts - 1;
		for (uint32_t k = changed[c].part + 1; k <= end; k++)
			x->at[k] += changed[c].by;
	}
	return true;
}

/*
 * Does a tail fit? It is compared with the last one that did, which it mostly repeats: only the
 * holes where the two differ are looked at.
 */
static bool fits(struct hrr_shapes *s, struct hrr_shape *x, const char *tail, size_t len)
{
	struct change changed[HRR_SHAPE_PARTS];
	uint32_t n = 0, k = x->n_head;
	size_t a = 0, b = 0; /* in the last tail and in this one */

	for (;;) {
		size_t left = x->tail_len - a, room = len - b;
		size_t equal = same(x->tail + a, tail + b, left < room ? left : room);
		if (equal == left && equal == room)
			return n == 0 || keep(s, x, tail, len, changed, n);
		if (equal == left || equal == room)
			return false;
		a += equal;
		b += equal;
		while (k + 1 < x->n_parts && x->at[k + 1] <= a)
			k++;
		if (a == x->at[k]) {
			/* One of the two values ends here. Not where both ended before. */
			if (equal == 0)
				return false;
			k--;
		} else if (a - x->at[k] < x->parts[k].len) {
			return false;
		}
		size_t hole = x->at[k] + x->parts[k].len + (b - a);
		if (x->parts[k].hole == HRR_HOLE_NUMBER) {
			/* What follows is a literal, which no '.' or exponent fits. */
			b = number(tail, hole, len);
			if (b == 0)
				return false;
		} else {
			b = plain(tail, hole, len);
			if (b >= len || tail[b] != '"')
				return false;
		}
		a = x->at[k + 1];
		changed[n++] = (struct change){k++, (uint32_t)(b - a)};
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

static inline size_t head(struct hrr_record *rec, const char *line, size_t len, uint32_t *at,
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
		form |= HRR_HEAD_P;
	}
	if (!MEMBER(",\"t\":", rec->t))
		return 0;
	rec->dur = 0;
	if (len - i > 2 && line[i + 2] == 'd') { /* converted streams have none */
		if (!MEMBER(",\"dur\":", rec->dur))
			return 0;
		form |= HRR_HEAD_DUR;
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

size_t hrr_shape_head(struct hrr_record *rec, const char *line, size_t len, uint32_t *at,
		      unsigned *ret_form)
{
	return head(rec, line, len, at, ret_form);
}

static struct hrr_shape *find(struct hrr_shapes *s, const struct hrr_record *rec, const char *tail,
			      size_t len, unsigned form)
{
	struct hrr_shape *x = s->last != NULL ? s->last->next : NULL;

	if (x != NULL && x->form == form && fits(s, x, tail, len))
		return x;
	unsigned b = hrr_shape_bucket(rec->api, rec->api_len);
	struct hrr_shape **list = s->buckets[b].list;
	for (unsigned k = 0; k < s->buckets[b].n; k++) {
		x = list[k];
		if (x->form != form || !fits(s, x, tail, len))
			continue;
		memmove(list + 1, list, k * sizeof(struct hrr_shape *));
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
	size_t i = len > HRR_SHAPE_MAX_LINE ? 0 : head(rec, line, len, s->head, &form);
	struct hrr_shape *x = i == 0 ? NULL : find(s, rec, line + i, len - i, form);

	if (x == NULL)
		return false;
	s->last = x;
	s->from = (uint32_t)i;
	hrr_record_head_only(rec, line, len);
	rec->shapes = s;
	return true;
}

/* Where part k of the last line begins. */
static inline uint32_t place(const struct hrr_shapes *s, uint32_t k)
{
	return k < s->last->n_head ? s->head[k] : s->from + s->last->at[k];
}

/* How far what begins in part k of the last line lies from where it was learned. */
static inline uint32_t moved(const struct hrr_shapes *s, uint32_t k)
{
	return place(s, k) - s->last->parts[k].at;
}

static inline uint32_t hole_len(const struct hrr_shapes *s, uint32_t k)
{
	return place(s, k + 1) - place(s, k) - s->last->parts[k].len;
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

/* The nodes of the last tail: what begins in one part lies farther on by one distance. */
static void refresh(struct hrr_shape *x)
{
	uint32_t n = x->parts[x->n_head - 1].end;

	for (uint32_t k = x->n_head; k < x->n_parts; k++) {
		uint32_t by = x->at[k] - x->parts[k].at;
		for (; n < x->parts[k].end; n++)
			copy_moved(&x->now[n], &x->nodes[n], by);
		if (x->parts[k].hole != HRR_HOLE_NONE)
			x->now[n - 1].len = x->at[k + 1] - x->at[k] - x->parts[k].len;
	}
	for (uint32_t k = 0; k < x->n_containers; k++) {
		const struct hrr_shape_container *c = &x->containers[k];
		uint32_t by = x->at[c->part] - x->parts[c->part].at;
		if (c->node > 0) /* the whole line's begins in the head */
			x->now[c->node].len = c->end + by - x->now[c->node].off;
	}
	x->stale = false;
}

int hrr_shapes_members(struct hrr_shapes *s, struct hrr_record *rec)
{
	struct hrr_shape *x = s->last;
	struct hrr_json *j = &rec->json;
	int rc = hrr_json_room(j, x->n_nodes);
	uint32_t n = 0;

	if (rc < 0)
		return rc;
	if (x->stale)
		refresh(x);
	for (uint32_t k = 0; k < x->n_head; k++) {
		for (; n < x->parts[k].end; n++)
			copy_moved(&j->nodes[n], &x->nodes[n], moved(s, k));
		j->nodes[n - 1].len = hole_len(s, k);
	}
	for (; n < x->n_nodes; n++)
		copy_moved(&j->nodes[n], &x->now[n], s->from);
	j->nodes[0].len = (uint32_t)rec->len;
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
		*ret = (struct hrr_look){.json = &rec->json,
					 .line = rec->line,
					 .args = rec->args,
					 .ret = rec->ret,
					 .dir = rec->dir,
					 .kernel = rec->kernel};
		return;
	}
	const struct hrr_shape *x = rec->shapes->last;
	*ret = (struct hrr_look){.json = &x->json,
				 .shapes = rec->shapes,
				 .line = rec->line,
				 .args = x->args,
				 .ret = x->ret,
				 .dir = x->dir,
				 .kernel = x->kernel,
				 .addresses = x->addresses,
				 .n_addresses = x->n_addresses,
				 .size = &x->size};
}

const char *hrr_look_text(const struct hrr_look *l, int node, size_t *ret_len)
{
	const struct hrr_json_node *v = &l->json->nodes[node];

	if (l->shapes == NULL) {
		*ret_len = v->len;
		return l->json->text + v->off;
	}
	const struct hrr_shape *x = l->shapes->last;
	uint32_t k = x->part_of[node];
	*ret_len = v->type == HRR_JSON_INT || (v->type == HRR_JSON_STRING && !v->key)
		       ? hole_len(l->shapes, k)
		       : v->len;
	/* Moved to the front is a distance that wraps. */
	return l->line + (uint32_t)(v->off + moved(l->shapes, k));
}
