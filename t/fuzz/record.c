/*
 * libFuzzer over lines of a stream: what is fast agrees with what is general. The scanner
 * with jansson (same values, or both refuse), and a line that fits a shape learned
 * from lines before with the line parsed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/json_private.h"
#include "lib/stream/shape.h"

#define CHECK(x)                 \
	do {                     \
		if (!(x))        \
			abort(); \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same_node(const struct hrr_json *a, const struct hrr_json *b, int i)
{
	const struct hrr_json_node *x = &a->nodes[i], *y = &b->nodes[i];
	static struct hrr_buf s, t;
	uint64_t u = 0, v = 0;
	int64_t k = 0, l = 0;
	double f = 0, g = 0;

	s.len = t.len = 0;
	CHECK(x->type == y->type && x->key == y->key && x->next == y->next);
	switch (x->type) {
	case HRR_JSON_STRING:
		CHECK(hrr_json_str(a, i, &s) == 0 && hrr_json_str(b, i, &t) == 0);
		CHECK(s.len == t.len && (s.len == 0 || memcmp(s.data, t.data, s.len) == 0));
		break;
	case HRR_JSON_INT:
		CHECK(hrr_json_u64(a, i, &u) == hrr_json_u64(b, i, &v) && u == v);
		CHECK(hrr_json_i64(a, i, &k) == hrr_json_i64(b, i, &l) && k == l);
		break;
	case HRR_JSON_REAL:
		CHECK(hrr_json_f64(a, i, &f) == hrr_json_f64(b, i, &g) && f == g);
		break;
	}
}

static void two_paths(const char *line, size_t len)
{
	static struct hrr_json a, b;
	int fast = hrr_json_scan(&a, line, len);

	if (fast != -EAGAIN) {
		CHECK((fast < 0) == (hrr_json_parse_general(&b, line, len, NULL) < 0));
		CHECK(fast < 0 || a.n == b.n);
		for (uint32_t i = 0; fast == 0 && i < a.n; i++)
			same_node(&a, &b, (int)i);
	}
}

static void same_head(const struct hrr_record *a, const struct hrr_record *b)
{
	CHECK(a->kind == b->kind && a->p == b->p && a->t == b->t && a->seq == b->seq);
	CHECK(a->dur == b->dur && a->tid == b->tid && a->api_len == b->api_len);
	CHECK(a->api_len == 0 || memcmp(a->api, b->api, a->api_len) == 0);
}

/* What is looked at through the shape is what parsing gives. */
static void same_look(const struct hrr_record *parsed, const struct hrr_record *fit)
{
	struct hrr_look a, b;
	size_t n, m;

	hrr_record_look(parsed, &a);
	hrr_record_look(fit, &b);
	CHECK(a.args == b.args && a.ret == b.ret && a.dir == b.dir && a.kernel == b.kernel);
	CHECK(a.json->n == b.json->n);
	for (uint32_t i = 0; i < a.json->n; i++) {
		const struct hrr_json_node *x = &a.json->nodes[i], *y = &b.json->nodes[i];
		CHECK(x->type == y->type && x->key == y->key && x->next == y->next);
		if (x->type != HRR_JSON_STRING && x->type != HRR_JSON_INT)
			continue;
		const char *s = hrr_look_text(&a, (int)i, &n), *t = hrr_look_text(&b, (int)i, &m);
		CHECK(n == m && memcmp(s, t, n) == 0);
	}
}

/* Shapes are kept over some inputs: what they learned of one must not change another. */
static struct hrr_shapes *learned(void)
{
	static struct hrr_shapes *shapes;
	static unsigned used;

	if (used++ % 4096 == 0) {
		hrr_shapes_free(shapes);
		shapes = hrr_shapes_new();
		CHECK(shapes != NULL);
	}
	return shapes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hrr_record rec, slow, fit;
	static struct hrr_buf spaced;
	struct hrr_shapes *shapes = learned();
	struct hrr_diag d = {0};

	for (size_t at = 0; at < size;) {
		const char *line = (const char *)data + at;
		const char *nl = memchr(line, '\n', size - at);
		size_t len = nl != NULL ? (size_t)(nl - line) : size - at;
		at += len + 1;
		two_paths(line, len);
		/* A blank in front: never the fast path. */
		spaced.len = 0;
		CHECK(hrr_buf_addc(&spaced, ' ') == 0 && hrr_buf_add(&spaced, line, len) == 0);
		bool fits = hrr_shapes_fit(shapes, &fit, line, len);
		int rc = hrr_record_parse(&rec, line, len, &d);
		CHECK((rc < 0) == (hrr_record_parse(&slow, spaced.data, spaced.len, &d) < 0));
		CHECK(!fits || rc == 0);
		if (rc < 0)
			continue;
		same_head(&rec, &slow);
		CHECK(rec.args == slow.args && rec.ret == slow.ret && rec.dir == slow.dir &&
		      rec.blobs == slow.blobs && rec.kernel == slow.kernel &&
		      rec.host == slow.host && rec.symbol == slow.symbol);
		if (fits) {
			same_head(&rec, &fit);
			same_look(&rec, &fit);
		}
		hrr_shapes_learn(shapes, &rec);
		CHECK(rec.kind != HRR_REC_OUTPUT ||
		      hrr_record_node(&rec) == hrr_record_node(&slow));
	}
	return 0;
}
