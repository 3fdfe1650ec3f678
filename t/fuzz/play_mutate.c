/* Damage for archives: what a fuzzer of bytes would rarely find between two JSON quotes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "t/fuzz/play.h"

static uint64_t state;

void fuzz_seed(uint64_t seed)
{
	state = seed * 0x9e3779b97f4a7c15u + 1;
}

uint64_t fuzz_rand(uint64_t n)
{
	uint64_t z = state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (z ^ (z >> 31)) % n;
}

struct span {
	size_t off, len;
};

static void need(int rc)
{
	if (rc < 0)
		abort();
}

static void replace(struct hrr_buf *b, struct span s, const char *text, size_t len)
{
	struct hrr_buf out = {0};

	need(hrr_buf_add(&out, b->data, s.off));
	need(hrr_buf_add(&out, text, len));
	need(hrr_buf_add(&out, b->data + s.off + s.len, b->len - s.off - s.len));
	hrr_buf_release(b);
	*b = out;
}

/* A line, with its newline. */
static struct span line_of(const struct hrr_buf *b)
{
	struct span s = {0, 0};

	if (b->len == 0)
		return s;
	s.off = fuzz_rand(b->len);
	while (s.off > 0 && b->data[s.off - 1] != '\n')
		s.off--;
	const char *nl = memchr(b->data + s.off, '\n', b->len - s.off);
	s.len = nl != NULL ? (size_t)(nl + 1 - b->data) - s.off : b->len - s.off;
	return s;
}

/* A value or key within a line: a string without its quotes, or a run of digits. */
static struct span token(const struct hrr_buf *b, bool *ret_string)
{
	struct span l = line_of(b), s = {0, 0};
	size_t seen = 0, end = l.off + l.len;

	for (size_t i = l.off; i < end;) {
		struct span t = {i, 1};
		bool string = b->data[i] == '"';
		if (string) {
			const char *q = memchr(b->data + i + 1, '"', end - i - 1);
			if (q == NULL)
				break;
			t = (struct span){i + 1, (size_t)(q - b->data) - i - 1};
			i = t.off + t.len + 1;
		} else if (b->data[i] >= '0' && b->data[i] <= '9') {
			while (i + t.len < end && b->data[i + t.len] >= '0' &&
			       b->data[i + t.len] <= '9')
				t.len++;
			i += t.len;
		} else {
			i++;
			continue;
		}
		if (fuzz_rand(++seen) == 0) {
			s = t;
			*ret_string = string;
		}
	}
	return s;
}

static uint64_t odd_number(uint64_t was)
{
	switch (fuzz_rand(8)) {
	case 0:
		return UINT64_C(1) << fuzz_rand(64);
	case 1:
		return (UINT64_C(1) << fuzz_rand(64)) - 1;
	case 2:
		return fuzz_rand(16);
	case 3:
		return was + 1 + fuzz_rand(8);
	case 4:
		return was - 1 - fuzz_rand(8);
	case 5:
		return was * (2 + fuzz_rand(1000));
	case 6:
		return UINT64_MAX - fuzz_rand(0x2000);
	default:
		return was ^ (UINT64_C(1) << fuzz_rand(48));
	}
}

static void change_token(struct hrr_buf *b)
{
	static const char *const other[] = {"null", "{}",    "[]",   "true",	"-1",
					    "1.5",  "[[1]]", "\"\"", "\"0x0\"", "1e400"};
	bool string = false;
	struct span s = token(b, &string), t;
	char text[64] = "";
	uint64_t way = fuzz_rand(8);

	if (s.len == 0)
		return;
	memcpy(text, b->data + s.off, s.len < 63 ? s.len : 63);
	if (way == 0) { /* another type */
		const char *o = other[fuzz_rand(sizeof other / sizeof *other)];
		if (string)
			s = (struct span){s.off - 1, s.len + 2};
		replace(b, s, o, strlen(o));
	} else if (!string) {
		snprintf(text, sizeof text, "%" PRIu64, odd_number(strtoull(text, NULL, 10)));
		replace(b, s, text, strlen(text));
	} else if (way < 4 && strncmp(text, "0x", 2) == 0) {
		snprintf(text, sizeof text, "0x%" PRIx64, odd_number(strtoull(text, NULL, 16)));
		replace(b, s, text, strlen(text));
	} else if (way < 7) { /* some other string of the stream */
		for (int i = 0; i < 8; i++) {
			bool also;
			t = token(b, &also);
			/* Strings that look alike are handles and addresses, names, hashes. */
			if (t.len == 0 || !also ||
			    (i < 7 && memcmp(b->data + s.off, b->data + t.off, 2) != 0))
				continue;
			char *copy = malloc(t.len);
			if (copy == NULL)
				abort();
			memcpy(copy, b->data + t.off, t.len);
			replace(b, s, copy, t.len);
			free(copy);
			return;
		}
	} else {
		b->data[s.off + fuzz_rand(s.len)] = "0123456789abcdefx_"[fuzz_rand(18)];
	}
}

static void change_lines(struct hrr_buf *b)
{
	struct span s = line_of(b), t = line_of(b);
	char *copy = malloc(s.len + 1);

	if (copy == NULL)
		abort();
	memcpy(copy, b->data + s.off, s.len);
	switch (fuzz_rand(4)) {
	case 0: /* gone */
		replace(b, s, "", 0);
		break;
	case 1: /* twice */
		replace(b, (struct span){t.off, 0}, copy, s.len);
		break;
	case 2: /* elsewhere */
		replace(b, (struct span){t.off, 0}, copy, s.len);
		if (t.off <= s.off)
			s.off += s.len;
		replace(b, s, "", 0);
		break;
	default: /* the rest is missing, now and then */
		if (fuzz_rand(4) == 0)
			b->len = s.off + fuzz_rand(s.len + 1);
		break;
	}
	free(copy);
}

/* A member's value, wherever one begins at random: "key":"text". Empty when there is none. */
static struct span member(const struct hrr_buf *b, const char *key)
{
	size_t n = strlen(key), from = fuzz_rand(b->len);

	for (size_t i = from; i + n < b->len; i++)
		if (memcmp(b->data + i, key, n) == 0) {
			const char *q = memchr(b->data + i + n, '"', b->len - i - n);
			return (struct span){i + n, q != NULL ? (size_t)(q - b->data) - i - n : 0};
		}
	return (struct span){0, 0};
}

/* One call's arguments are another's. */
static void change_api(struct hrr_buf *b)
{
	struct span s = member(b, "\"api\":\""), t = member(b, "\"api\":\"");
	char name[128];

	if (s.len == 0 || t.len == 0 || t.len > sizeof name)
		return;
	memcpy(name, b->data + t.off, t.len);
	replace(b, s, name, t.len);
}

/* What a kernel is given: addresses, counts, the bytes of structures. */
static void change_argument(struct hrr_buf *b)
{
	struct span s = member(b, "\"hex\":\""), t;
	char text[40];

	if (s.len == 0)
		return;
	switch (fuzz_rand(4)) {
	case 0: /* one shorter or longer */
		s.len = fuzz_rand(s.len);
		replace(b, s, "00", 2);
		break;
	case 1: /* another argument */
		t = member(b, "\"hex\":\"");
		if (t.len > 0 && t.len <= sizeof text) {
			memcpy(text, b->data + t.off, t.len);
			replace(b, s, text, t.len);
		}
		break;
	case 2: /* a pointer that is a little beside, or a count that is large */
		b->data[s.off + fuzz_rand(s.len)] = "0123456789abcdef"[fuzz_rand(16)];
		break;
	default:
		memset(b->data + s.off, "f0"[fuzz_rand(2)], s.len);
	}
}

/* A grid, a block, sizes of a rectangle: a number within brackets. */
static void change_dims(struct hrr_buf *b)
{
	static const char *const keys[] = {
	    "\"grid\":[",     "\"block\":[", "\"width\":", "\"height\":",
	    "\"sizeBytes\":", "\"size\":",   "\"count\":", "\"pitch\":"};
	const char *key = keys[fuzz_rand(sizeof keys / sizeof *keys)];
	struct span s = member(b, key);
	char text[32];

	if (s.off == 0)
		return;
	for (uint64_t skip = fuzz_rand(3); skip > 0; skip--) { /* x, y or z */
		const char *c = memchr(b->data + s.off, ',', b->len - s.off);
		if (c == NULL || c[1] < '0' || c[1] > '9')
			break;
		s.off = (size_t)(c + 1 - b->data);
	}
	s.len = 0;
	while (s.off + s.len < b->len && b->data[s.off + s.len] >= '0' &&
	       b->data[s.off + s.len] <= '9')
		s.len++;
	if (s.len == 0 || s.len > 20)
		return;
	memcpy(text, b->data + s.off, s.len);
	text[s.len] = '\0';
	snprintf(text, sizeof text, "%" PRIu64, odd_number(strtoull(text, NULL, 10)));
	replace(b, s, text, strlen(text));
}

static void change_byte(struct hrr_buf *b)
{
	if (b->len > 0)
		b->data[fuzz_rand(b->len)] = (char)fuzz_rand(256);
}

/* Where instructions are: before an s_endpgm; else anywhere. */
static size_t code_at(const struct hrr_buf *b)
{
	size_t at = fuzz_rand(b->len);

	for (size_t i = 0; i + 4 <= b->len; i += 4)
		if (memcmp(b->data + i, "\0\0\x81\xbf", 4) == 0 && fuzz_rand(3) == 0)
			return i - fuzz_rand((i < 400 ? i : 400) + 1);
	return at;
}

static void change_blob(const struct fuzz_archive *a, struct hrr_buf *events,
			struct fuzz_blob *ret_blob)
{
	const struct fuzz_blob *from = &a->blobs[fuzz_rand(a->n)];

	/* Code objects say more than data. */
	for (int i = 0; i < 6 && (from->data.len < 4 || memcmp(from->data.data, "\177ELF", 4) != 0);
	     i++)
		from = &a->blobs[fuzz_rand(a->n)];
	struct hrr_buf *b = &ret_blob->data;
	b->len = 0;
	need(hrr_buf_add(b, from->data.data, from->data.len));
	if (b->len == 0)
		need(hrr_buf_addc(b, 0));
	bool code = fuzz_rand(2) == 0;
	for (uint64_t n = 1 + fuzz_rand(4); n > 0; n--) {
		size_t at = code ? code_at(b) : fuzz_rand(b->len);
		uint64_t v = fuzz_rand(2) == 0 ? odd_number((unsigned char)b->data[at])
					       : fuzz_rand(UINT64_MAX);
		size_t len = (size_t)1 << fuzz_rand(4);
		if (at + len <= b->len)
			memcpy(b->data + at, &v, len);
	}
	if (fuzz_rand(12) == 0)
		b->len = fuzz_rand(b->len) + 1;
	struct hrr_id id = hrr_id_of(b->data, b->len);
	hrr_id_text(&id, ret_blob->name);
	for (size_t i = 0; i + HRR_ID_TEXT <= events->len; i++)
		if (memcmp(events->data + i, from->name, HRR_ID_TEXT) == 0)
			memcpy(events->data + i, ret_blob->name, HRR_ID_TEXT);
}

void fuzz_mutate(const struct fuzz_archive *a, struct hrr_buf *events, struct fuzz_blob *ret_blob)
{
	ret_blob->name[0] = '\0';
	events->len = 0;
	need(hrr_buf_add(events, a->events.data, a->events.len));
	if (a->n > 0 && fuzz_rand(3) == 0) {
		change_blob(a, events, ret_blob);
		if (fuzz_rand(2) == 0)
			return;
	}
	for (uint64_t n = 1 + fuzz_rand(4); n > 0 && events->len > 0; n--) {
		switch (fuzz_rand(11)) {
		case 0:
			change_byte(events);
			break;
		case 1:
		case 2:
			change_lines(events);
			break;
		case 3:
			change_api(events);
			break;
		case 4:
			change_argument(events);
			break;
		case 5:
			change_dims(events);
			break;
		default:
			change_token(events);
			break;
		}
	}
}
