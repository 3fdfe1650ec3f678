#include "lib/stream/shape.h"

#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define BUCKETS 256   /* by the call's name */
#define PER_BUCKET 48 /* shapes of a bucket; a bucket that is full learns no more */
#define MAX_PARTS 256 /* holes of a line that is worth a shape */
#define MAX_LITERAL 65535

/* A literal and the hole behind it. Literals lie in text, each followed by 16 bytes of padding. */
struct part {
	uint32_t off;
	uint16_t len;
	uint8_t hole; /* NUMBER, STRING, or NONE behind the last literal */
};
enum { NONE, NUMBER, STRING };

struct shape {
	struct part *parts; /* owned */
	char *text;	    /* owned */
};

struct hrr_shapes {
	struct {
		struct shape *list[PER_BUCKET]; /* newest success first; owned */
		unsigned n;
	} buckets[BUCKETS];
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

/* line[i..) against the parts of a shape. */
static bool fits(const struct shape *x, const char *line, size_t i, size_t len)
{
	for (const struct part *p = x->parts;; p++) {
		if (!literal(line + i, len - i, x->text + p->off, p->len))
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
#define MEMBER(name, v) (i = member(line, i, len, name, sizeof(name) - 1, &(v)), i != 0)

/* The head of a call up to behind its name's closing quote; 0: not canonical. */
static size_t head(struct hrr_record *rec, const char *line, size_t len)
{
	uint64_t p = 0;
	size_t i = 0;

	if (!MEMBER("{\"seq\":", rec->seq))
		return 0;
	if (len - i > 4 && line[i + 2] == 'p') {
		if (!MEMBER(",\"p\":", p) || p >= HRR_STREAM_MAX_PROCESSES)
			return 0;
	}
	if (!MEMBER(",\"t\":", rec->t) || !MEMBER(",\"dur\":", rec->dur) ||
	    !MEMBER(",\"tid\":", rec->tid))
		return 0;
	if (len - i < 8 || memcmp(line + i, ",\"api\":\"", 8) != 0)
		return 0;
	i += 8;
	size_t end = plain(line, i, len);
	if (end >= len || line[end] != '"' || end == i)
		return 0;
	rec->p = (uint32_t)p;
	rec->api = line + i;
	rec->api_len = end - i;
	return end + 1;
}

bool hrr_shapes_fit(struct hrr_shapes *s, struct hrr_record *rec, const char *line, size_t len)
{
	size_t i = len > HRR_JSON_MAX_LINE ? 0 : head(rec, line, len);

	if (i == 0)
		return false;
	unsigned b = bucket_of(rec->api, rec->api_len);
	struct shape **list = s->buckets[b].list;
	for (unsigned k = 0; k < s->buckets[b].n; k++) {
		if (!fits(list[k], line, i, len))
			continue;
		if (k > 0) {
			struct shape *x = list[k];
			memmove(list + 1, list, k * sizeof(struct shape *));
			list[0] = x;
		}
		rec->kind = HRR_REC_CALL;
		rec->line = line;
		rec->len = len;
		rec->json.n = 0;
		rec->args = rec->ret = rec->dir = rec->blobs = rec->kernel = rec->host =
		    rec->symbol = -1;
		return true;
	}
	return false;
}

void hrr_shapes_learn(struct hrr_shapes *s, const struct hrr_record *rec)
{
	const struct hrr_json *j = &rec->json;
	struct hrr_record again = {0};
	struct part parts[MAX_PARTS];
	struct hrr_buf text = {0};
	static const char padding[16];
	uint32_t n = 0;

	if (rec->kind != HRR_REC_CALL || j->general)
		return;
	size_t at = head(&again, rec->line, rec->len);
	unsigned b = bucket_of(rec->api, rec->api_len);
	/* seq, p, t and the others have to be its own, at the top, as the head has them. */
	if (at == 0 || again.seq != rec->seq || again.t != rec->t || again.p != rec->p ||
	    again.tid != rec->tid || again.dur != rec->dur || again.api != rec->api ||
	    s->buckets[b].n == PER_BUCKET)
		return;
	int bad = 0;
	for (uint32_t i = 0; i <= j->n; i++) {
		bool last = i == j->n;
		const struct hrr_json_node *v = last ? NULL : &j->nodes[i];
		if (!last && (v->key || v->off < at ||
			      (v->type != HRR_JSON_INT && v->type != HRR_JSON_STRING)))
			continue;
		size_t end = last ? rec->len : v->off;
		if (end - at > MAX_LITERAL || n == MAX_PARTS)
			goto out;
		parts[n++] = (struct part){.off = (uint32_t)text.len,
					   .len = (uint16_t)(end - at),
					   .hole = last			     ? NONE
						   : v->type == HRR_JSON_INT ? NUMBER
									     : STRING};
		bad |= hrr_buf_add(&text, rec->line + at, end - at);
		bad |= hrr_buf_add(&text, padding, sizeof padding);
		at = last ? end : v->off + v->len;
	}
	struct shape *x = calloc(1, sizeof *x);
	if (x != NULL && bad == 0)
		x->parts = malloc(n * sizeof *x->parts);
	if (x == NULL || x->parts == NULL) {
		shape_free(x);
		goto out;
	}
	memcpy(x->parts, parts, n * sizeof *parts);
	x->text = text.data;
	text = (struct hrr_buf){0};
	s->buckets[b].list[s->buckets[b].n++] = x;
out:
	hrr_buf_release(&text);
}
