#include "lib/base/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/json_private.h"
#include "t/unit/tap.h"

static struct hrr_json fast, slow, j;

/* The same values in the same shape; spelling of escapes and numbers aside. */
static bool agree(const struct hrr_json *a, const struct hrr_json *b)
{
	struct hrr_buf x = {0}, y = {0};
	bool good = a->n == b->n;

	for (uint32_t i = 0; good && i < a->n; i++) {
		const struct hrr_json_node *p = &a->nodes[i], *q = &b->nodes[i];
		good = p->type == q->type && p->key == q->key && p->next == q->next;
		x.len = y.len = 0;
		if (good && p->type == HRR_JSON_STRING) {
			good = hrr_json_str(a, (int)i, &x) == 0 && hrr_json_str(b, (int)i, &y) == 0;
			good = good && x.len == y.len &&
			       (x.len == 0 || memcmp(x.data, y.data, x.len) == 0);
		}
		if (good && p->type == HRR_JSON_INT)
			good = p->len == q->len &&
			       memcmp(a->text + p->off, b->text + q->off, p->len) == 0;
	}
	hrr_buf_release(&x);
	hrr_buf_release(&y);
	return good;
}

/* Whatever the fast path takes, the general path must take, and alike. */
static bool both(const char *text, size_t len, bool *ret_fast)
{
	int f = hrr_json_scan(&fast, text, len);
	int s = hrr_json_parse_general(&slow, text, len, NULL);

	*ret_fast = f == 0;
	if (f == -EAGAIN)
		return true;
	if (f != s) {
		diag("fast %d, general %d: %.*s", f, s, (int)(len < 200 ? len : 200), text);
		return false;
	}
	if (f == 0 && !agree(&fast, &slow)) {
		diag("differ: %.*s", (int)len, text);
		return false;
	}
	return true;
}

static const char *const samples[] = {
    "{}",
    "[]",
    "{\"a\":1}",
    ("{\"seq\":7,\"t\":51234,\"dur\":812,\"tid\":4242,\"api\":\"hipMemcpy\",\"args\":{\"dst\":"
     "\"0x7fbe01400000\",\"src\":\"0x55d0c0a0\",\"sizeBytes\":4096,\"kind\":"
     "\"hipMemcpyHostToDevice\"},\"dir\":\"h2d\",\"blobs\":{\"src\":\"xxh128:"
     "99aa06d3014798d86001c324468d497f\"}}"),
    ("{\"kernel\":{\"grid\":[4,1,1],\"args\":[{\"offset\":0,\"hex\":\"00\"},{\"offset\":8,"
     "\"ptr\":[0]}],\"x\":null,\"y\":true,\"z\":false},\"e\":{},\"f\":[],\"g\":[[],[{}]]}"),
    "{\"s\":\"a\\n\\\"b\\\\cd\\t\",\"u\":\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"}",
    "{\"n\":[0,-1,123456789012345678,-5,10,9007199254740991]}",
};

static void check_agreement(void)
{
	static const char alphabet[] = "{}[]\",:\\0123456789-+.eEtrufalsn \t\x01\x7f\x80\xc3\xa9u";
	uint32_t seed = 99;
	bool good = true, took;
	int taken = 0;

	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
		ok(both(samples[i], strlen(samples[i]), &took) && took,
		   "the fast path takes sample %zu as the general one does", i);
		for (size_t cut = 0; cut < strlen(samples[i]); cut++)
			good = both(samples[i], cut, &took) && !took && good;
	}
	ok(good, "no sample cut short is taken");
	for (int i = 0; i < 60000 && good; i++) {
		char text[512];
		const char *s = samples[i % (int)(sizeof samples / sizeof *samples)];
		size_t len = strlen(s);
		memcpy(text, s, len);
		for (int k = 0; k < 1 + i % 3; k++) {
			seed = seed * 1664525u + 1013904223u;
			text[(seed >> 8) % len] = alphabet[(seed >> 3) % (sizeof alphabet - 1)];
		}
		good = both(text, len, &took);
		taken += took;
	}
	ok(good, "60000 damaged texts: whatever the fast path takes the general one takes alike");
	ok(taken > 1000 && taken < 59000, "some were taken and some not (%d)", taken);
}

static int parse(const char *text)
{
	return hrr_json_parse(&j, text, strlen(text), NULL);
}

static void check_limits(void)
{
	char *big = malloc(HRR_JSON_MAX_LINE + 64);
	struct hrr_diag d;

	for (int spaced = 0; spaced < 2; spaced++) {
		size_t n = 0;
		if (spaced)
			n = 1, big[0] = ' ';
		memset(big + n, '[', HRR_JSON_MAX_DEPTH);
		memset(big + n + HRR_JSON_MAX_DEPTH, ']', HRR_JSON_MAX_DEPTH);
		is(hrr_json_parse(&j, big, n + 2 * HRR_JSON_MAX_DEPTH, &d), 0,
		   "nesting at the limit (%s)", spaced ? "general" : "fast");
		memset(big + n, '[', HRR_JSON_MAX_DEPTH + 1);
		memset(big + n + HRR_JSON_MAX_DEPTH + 1, ']', HRR_JSON_MAX_DEPTH + 1);
		is(hrr_json_parse(&j, big, n + 2 * HRR_JSON_MAX_DEPTH + 2, &d), -E2BIG,
		   "nesting over the limit (%s)", spaced ? "general" : "fast");
		is_str(d.what, "nested too deep: the limit is 32", "and it is said");
		n = spaced ? 1 : 0;
		big[n++] = '[';
		for (int i = 0; i < HRR_JSON_MAX_NODES; i++) {
			big[n++] = '0';
			big[n++] = ',';
		}
		big[n - 1] = ']';
		is(hrr_json_parse(&j, big, n, &d), -E2BIG, "too many values (%s)",
		   spaced ? "general" : "fast");
		is_str(d.what, "too many values in a line: the limit is 4194304", "and it is said");
	}
	memset(big, ' ', HRR_JSON_MAX_LINE + 2);
	big[0] = '{';
	big[HRR_JSON_MAX_LINE - 1] = '}';
	is(hrr_json_parse(&j, big, HRR_JSON_MAX_LINE, &d), 0, "a line at the limit");
	big[HRR_JSON_MAX_LINE] = '}';
	big[HRR_JSON_MAX_LINE - 1] = ' ';
	is(hrr_json_parse(&j, big, HRR_JSON_MAX_LINE + 1, &d), -E2BIG, "a line over the limit");
	is_str(d.what, "line too long: 16777217 bytes, the limit is 16777216", "and it is said");

	/* Many members, all in one hash bucket or not: found either way, and not by walking. */
	size_t n = 0;
	big[n++] = '{';
	for (int i = 0; i < 100000; i++)
		n += (size_t)sprintf(big + n, "\"k%d\":%d,", i, i);
	size_t end = n;
	big[n - 1] = '}';
	is(hrr_json_parse(&j, big, n, &d), 0, "an object of 100000 members");
	n = end + (size_t)sprintf(big + end - 1, ",\"k5\":0}") - 1;
	is(hrr_json_parse(&j, big, n, &d), -EINVAL, "with one of them twice");
	free(big);
}

static void check_values(void)
{
	uint64_t u = 0;
	int64_t i = 0;
	double f = 0;
	struct hrr_buf b = {0};

	is(parse(
	       "{\"a\":{\"x\":1,\"y\":[1,2,3]},\"b\":-3,\"c\":\"0xFfff\",\"d\":1.5,\"e\":{\"hex\":"
	       "\"00ff41\"}}"),
	   0, "a spaced or real number takes the general path");
	ok(j.general, "it does");
	is(hrr_json_count(&j, 0), 5, "five members");
	is(hrr_json_count(&j, hrr_json_get(&j, hrr_json_get(&j, 0, "a"), "y")), 3,
	   "three elements");
	is(hrr_json_u64(&j, hrr_json_get(&j, 0, "b"), &u), -EINVAL, "-3 is no u64");
	ok(hrr_json_i64(&j, hrr_json_get(&j, 0, "b"), &i) == 0 && i == -3, "but an i64");
	ok(hrr_json_addr(&j, hrr_json_get(&j, 0, "c"), &u) == 0 && u == 0xffff, "an address");
	is(hrr_json_u64(&j, hrr_json_get(&j, 0, "d"), &u), -EINVAL, "1.5 is no u64");
	ok(hrr_json_f64(&j, hrr_json_get(&j, 0, "d"), &f) == 0 && f == 1.5, "1.5 is a double");
	ok(hrr_json_str(&j, hrr_json_get(&j, 0, "e"), &b) == 0 && b.len == 3 &&
	       memcmp(b.data,
		      "\0\xff"
		      "A",
		      3) == 0,
	   "a string written as hex");
	is(hrr_json_get(&j, 0, "zz"), -1, "no such member");
	is(hrr_json_get(&j, hrr_json_get(&j, 0, "b"), "zz"), -1, "a number has no members");
	is(hrr_json_u64(&j, -1, &u), -EINVAL, "a missing node is an error, not a crash");

	static const struct {
		const char *text;
		int rc;
	} addresses[] = {
	    {"[\"0x0\"]", 0},
	    {"[\"0xffffffffffffffff\"]", 0},
	    {"[5]", 0},
	    {"[\"0x\"]", -EINVAL},
	    {"[\"0x10000000000000000\"]", -EINVAL},
	    {"[\"12\"]", -EINVAL},
	    {"[\"0xg\"]", -EINVAL},
	    {"[-1]", -EINVAL},
	    {"[null]", -EINVAL},
	};
	for (size_t k = 0; k < sizeof addresses / sizeof *addresses; k++) {
		parse(addresses[k].text);
		is(hrr_json_addr(&j, 1, &u), addresses[k].rc, "address %s", addresses[k].text);
	}

	static const struct {
		const char *text, *what;
	} bad[] = {
	    {"{\"a\":1,\"a\":2}", "a name twice"},
	    {"{ \"a\":1,\"a\":2}", "a name twice, spaced"},
	    {"{\"a\":1,\"\\u0061\":2}", "a name twice, spelled differently"},
	    {"{\"a\":\"\\u0000\"}", "a NUL"},
	    {"{\"a\":\"\\ud800\"}", "half a surrogate pair"},
	    {"{\"a\":\"\xff\"}", "not UTF-8"},
	    {"{\"a\":\"\n\"}", "a control character"},
	    {"{\"a\":01}", "a leading zero"},
	    {"{\"a\":99999999999999999999}", "an integer too big"},
	    {"{\"a\":1}x", "something behind"},
	    {"5", "no object"},
	    {"", "nothing"},
	    {"{\"a\":1,}", "a comma too many"},
	    {"{\"a\"}", "no value"},
	};
	for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
		is(parse(bad[k].text), -EINVAL, "refused: %s", bad[k].what);

	parse("{\"a\":\"\\ud83d\\ude00\\u00e9\\u0041\\n\"}");
	b.len = 0;
	ok(hrr_json_str(&j, 2, &b) == 0 && b.len == 8 &&
	       memcmp(b.data,
		      "\xf0\x9f\x98\x80\xc3\xa9"
		      "A\n",
		      8) == 0,
	   "escapes are decoded");

	/* Strings come back as they were written. */
	struct hrr_buf line = {0};
	bool good = true;
	for (int c = 0; c < 256; c++) {
		char s[3] = {'<', (char)c, '>'};
		line.len = b.len = 0;
		hrr_buf_addc(&line, '[');
		hrr_json_put_str(&line, s, 3);
		hrr_buf_addc(&line, ']');
		good = good && hrr_json_parse(&j, line.data, line.len, NULL) == 0 &&
		       hrr_json_str(&j, 1, &b) == 0 && b.len == 3 && memcmp(b.data, s, 3) == 0;
	}
	ok(good, "every byte survives writing and reading");
	hrr_buf_release(&line);
	hrr_buf_release(&b);
}

int main(void)
{
	check_agreement();
	check_values();
	check_limits();
	hrr_json_release(&fast);
	hrr_json_release(&slow);
	hrr_json_release(&j);
	return done_testing();
}
