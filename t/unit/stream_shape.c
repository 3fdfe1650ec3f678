#include "lib/stream/shape.h"

#include <stdlib.h>
#include <string.h>

#include "lib/stream/select.h"
#include "t/unit/tap.h"

static const char *const samples[] = {
    ("{\"seq\":7,\"t\":51234,\"dur\":812,\"tid\":4242,\"api\":\"hipMemcpy\",\"args\":{\"dst\":"
     "\"0x7fbe01400000\",\"src\":\"0x55d0c0a0\",\"sizeBytes\":4096,\"kind\":"
     "\"hipMemcpyHostToDevice\"},\"dir\":\"h2d\",\"blobs\":{\"src\":\"xxh128:"
     "99aa06d3014798d86001c324468d497f\"}}"),
    ("{\"seq\":9,\"p\":2,\"t\":60111,\"dur\":5121,\"tid\":4242,\"api\":\"hipLaunchKernel\","
     "\"args\":"
     "{"
     "\"numBlocks\":[4,1,1],\"hStream\":null,\"size\":64,\"y\":true,\"z\":{},\"stream\":\"0x0\"},"
     "\"kernel\":{"
     "\"name\":"
     "\"k\",\"args\":[{\"offset\":0,\"hex\":\"00\"},{\"offset\":8,\"hex\":"
     "\"0000000000000000ff0f4001be7f0000\",\"ptr\":[0,8]}]}"
     "}"),
    "{\"seq\":10,\"p\":1,\"t\":1,\"tid\":4242,\"api\":\"hipDeviceReset\",\"args\":{}}",
    "{\"seq\":10,\"t\":1,\"tid\":4242,\"api\":\"hipDeviceReset\",\"args\":{}}",
    "{\"seq\":10,\"t\":1,\"dur\":21,\"tid\":4242,\"api\":\"hipDeviceSynchronize\",\"args\":{}}",
    ("{\"seq\":11,\"t\":1,\"dur\":21,\"tid\":4242,\"api\":\"hipFree\",\"ret\":\"hipErrorX\","
     "\"args\":{"
     "\"n\":-5}}"),
    ("{\"seq\":12,\"t\":1,\"dur\":21,\"tid\":4242,\"api\":\"hipX\",\"ret\":3,\"args\":{},\"more\":"
     "\"\"}"),
    ("{\"seq\":13,\"t\":1,\"dur\":21,\"tid\":4242,\"api\":\"hipY\",\"args\":{\"s\":\"a\\n\\\\\","
     "\"d\":[]"
     ",\"e\":[[[1],{\"f\":{\"g\":[\"\",true]}}]]},\"host\":[{\"addr\":\"0x1\"}],\"symbol\":{\"n\":"
     "\"\"}}"),
};
enum { N = sizeof samples / sizeof *samples };

static struct hrr_record full, light;
static struct hrr_shapes *shapes;

/* Every key that is about members, for and against. */
static const char *const exprs[] = {"size>=1",
				    "size=4096",
				    "size!=4096",
				    "addr=0x7fbe01400000+4096",
				    "addr=0x7fbe01400fff",
				    "addr=0x0+1K",
				    "kernel=k",
				    "kernel!=k",
				    "ret=hipSuccess",
				    "ret=3,hipErrorX",
				    "dir=h2d",
				    "dir!=h2d",
				    "stream=null",
				    "stream!=0x0",
				    "addr=0..0xffffffffffffffff"};
enum { N_EXPRS = sizeof exprs / sizeof *exprs };
static struct hrr_select *selects[N_EXPRS];
static int selected[N_EXPRS], judged;

/* Looked at through a shape a record is what it is taken apart. */
static bool same_choice(void)
{
	judged++;
	for (int i = 0; i < N_EXPRS; i++) {
		bool one = hrr_select_call(selects[i], &light);
		if (one != hrr_select_call(selects[i], &full)) {
			diag("%s", exprs[i]);
			return false;
		}
		selected[i] += one;
	}
	return true;
}

static bool same_members(void)
{
	const struct hrr_json *a = &full.json, *b = &light.json;

	if (a->n != b->n || a->text != b->text || a->len != b->len || b->general ||
	    full.args != light.args || full.ret != light.ret || full.dir != light.dir ||
	    full.blobs != light.blobs || full.kernel != light.kernel || full.host != light.host ||
	    full.symbol != light.symbol)
		return false;
	for (uint32_t i = 0; i < a->n; i++) {
		const struct hrr_json_node *x = &a->nodes[i], *y = &b->nodes[i];
		if (x->type != y->type || x->escaped != y->escaped || x->key != y->key ||
		    x->off != y->off || x->len != y->len || x->next != y->next)
			return false;
	}
	return true;
}

/* 1: fits a shape, 0: does not, -1: fits and should not, or otherwise than parsed. */
static int agree(const char *line, size_t len)
{
	if (!hrr_shapes_fit(shapes, &light, line, len))
		return 0;
	if (hrr_record_parse(&full, line, len, NULL) < 0 || full.kind != HRR_REC_CALL ||
	    full.json.general || full.seq != light.seq || full.p != light.p || full.t != light.t ||
	    full.dur != light.dur || full.tid != light.tid || full.api != light.api ||
	    full.api_len != light.api_len) {
		diag("%.*s", (int)len, line);
		return -1;
	}
	if (!same_choice() || light.args != -1 || hrr_shapes_members(shapes, &light) < 0 ||
	    !same_members()) {
		diag("members: %.*s", (int)len, line);
		return -1;
	}
	return 1;
}

int main(void)
{
	static const char alphabet[] = "{}[]\",:\\0123456789-+.eEptrufalsn \t\x01\x80\xc3";
	uint32_t seed = 7;
	int taken = 0, wrong = 0;

	shapes = hrr_shapes_new();
	for (int i = 0; i < N_EXPRS; i++)
		is(hrr_select_new(&selects[i], exprs[i], NULL), 0, "selector %s", exprs[i]);
	for (int i = 0; i < N; i++) {
		size_t len = strlen(samples[i]);
		is(agree(samples[i], len), 0, "sample %d is not known", i);
		is(hrr_record_parse(&full, samples[i], len, NULL), 0, "it is parsed");
		hrr_shapes_learn(shapes, &full);
		/* The last one's escapes fit no shape. */
		is(agree(samples[i], len), i < N - 1, "and known from then on");
		for (size_t cut = 0; cut < len; cut++)
			wrong += agree(samples[i], cut) != 0;
	}
	is(wrong, 0, "nothing that is cut fits");
	static const char plain[] =
	    "{\"seq\":13,\"t\":1,\"dur\":21,\"tid\":4242,\"api\":\"hipY\",\"args\":{\"s\":\"abc\","
	    "\"d\":[],\"e\":[[[10000],{\"f\":{\"g\":[\"longer than it was\",true]}}]]},\"host\":[{"
	    "\"addr\":\"0x7f0000000000\"}],\"symbol\":{\"n\":\"x\"}}";
	is(agree(plain, sizeof plain - 1), 1, "a shape learned from escapes, without them");
	/* The process may be named anywhere: where it is not in the head, nothing is learned. */
	static const char late[] = "{\"seq\":1,\"t\":1,\"dur\":1,\"tid\":1,\"api\":\"hipLate\","
				   "\"args\":{},\"p\":0}";
	is(hrr_record_parse(&full, late, sizeof late - 1, NULL), 0, "p at the end is parsed");
	hrr_shapes_learn(shapes, &full);
	char other[sizeof late];
	memcpy(other, late, sizeof late);
	other[sizeof late - 3] = '1';
	is(agree(other, sizeof late - 1), 0, "and its value is not taken for one that varies");
	for (int i = 0; i < 300000; i++) {
		char line[512];
		size_t len = strlen(samples[i % N]);
		memcpy(line, samples[i % N], len);
		for (int k = 0; k < 1 + i % 3; k++) {
			seed = seed * 1664525u + 1013904223u;
			size_t at = (seed >> 8) % len;
			char c = alphabet[(seed >> 3) % (sizeof alphabet - 1)];
			if (i % 2 == 0) { /* one more byte: what follows moves */
				memmove(line + at + 1, line + at, len - at);
				len++;
			}
			line[at] = c;
		}
		int a = agree(line, len);
		wrong += a < 0;
		taken += a > 0;
	}
	is(wrong, 0, "300000 changed lines: what fits is what parsing gives");
	ok(taken > 10000 && taken < 290000, "some fit and some do not (%d)", taken);

	/* A line behind which memory ends: nothing past it is read (for ASan). */
	for (int i = 0; i < N; i++) {
		size_t len = strlen(samples[i]);
		char *exact = malloc(len);
		memcpy(exact, samples[i], len);
		is(agree(exact, len), i < N - 1, "sample %d in a block of its own size", i);
		free(exact);
	}

	/* More shapes than are kept: the rest is just not known. */
	for (int i = 0; i < 200; i++) {
		char line[256];
		int len =
		    snprintf(line, sizeof line,
			     "{\"seq\":1,\"t\":1,\"dur\":1,\"tid\":1,\"api\":\"hipA\",\"args\":{"
			     "\"k%d\":1}}",
			     i);
		hrr_record_parse(&full, line, (size_t)len, NULL);
		hrr_shapes_learn(shapes, &full);
		wrong += agree(line, (size_t)len) < 0;
	}
	is(wrong, 0, "200 shapes of one call");
	for (int i = 0; i < N_EXPRS; i++) {
		ok(selected[i] > 0 && selected[i] < judged, "%s takes %d of %d", exprs[i],
		   selected[i], judged);
		hrr_select_free(selects[i]);
	}
	hrr_shapes_free(shapes);
	hrr_record_release(&light);
	hrr_record_release(&full);
	return done_testing();
}
