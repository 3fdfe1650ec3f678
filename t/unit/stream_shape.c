#include "lib/stream/shape.h"

#include <stdlib.h>
#include <string.h>

#include "t/unit/tap.h"

static const char *const samples[] = {
    ("{\"seq\":7,\"t\":51234,\"dur\":812,\"tid\":4242,\"api\":\"hipMemcpy\",\"args\":{\"dst\":"
     "\"0x7fbe01400000\",\"src\":\"0x55d0c0a0\",\"sizeBytes\":4096,\"kind\":"
     "\"hipMemcpyHostToDevice\"},\"dir\":\"h2d\",\"blobs\":{\"src\":\"xxh128:"
     "99aa06d3014798d86001c324468d497f\"}}"),
    ("{\"seq\":9,\"p\":2,\"t\":60111,\"dur\":5121,\"tid\":4242,\"api\":\"hipLaunchKernel\","
     "\"args\":"
     "{"
     "\"numBlocks\":[4,1,1],\"x\":null,\"y\":true,\"z\":{},\"stream\":\"0x0\"},\"kernel\":{"
     "\"name\":"
     "\"k\",\"args\":[{\"offset\":0,\"hex\":\"00\"},{\"offset\":8,\"hex\":\"0000\",\"ptr\":[0,8]}]}"
     "}"),
    "{\"seq\":10,\"t\":1,\"dur\":21,\"tid\":4242,\"api\":\"hipDeviceSynchronize\",\"args\":{}}",
    ("{\"seq\":11,\"t\":1,\"dur\":21,\"tid\":4242,\"api\":\"hipFree\",\"ret\":\"hipErrorX\","
     "\"args\":{"
     "\"n\":-5}}"),
    ("{\"seq\":12,\"t\":1,\"dur\":21,\"tid\":4242,\"api\":\"hipX\",\"ret\":3,\"args\":{},\"more\":"
     "\"\"}"),
};
enum { N = sizeof samples / sizeof *samples };

static struct hrr_record full, light;
static struct hrr_shapes *shapes;

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
	return 1;
}

int main(void)
{
	static const char alphabet[] = "{}[]\",:\\0123456789-+.eEptrufalsn \t\x01\x80\xc3";
	uint32_t seed = 7;
	int taken = 0, wrong = 0;

	shapes = hrr_shapes_new();
	for (int i = 0; i < N; i++) {
		size_t len = strlen(samples[i]);
		is(agree(samples[i], len), 0, "sample %d is not known", i);
		is(hrr_record_parse(&full, samples[i], len, NULL), 0, "it is parsed");
		hrr_shapes_learn(shapes, &full);
		is(agree(samples[i], len), 1, "and known from then on");
		for (size_t cut = 0; cut < len; cut++)
			wrong += agree(samples[i], cut) != 0;
	}
	is(wrong, 0, "nothing that is cut fits");
	for (int i = 0; i < 300000; i++) {
		char line[512];
		size_t len = strlen(samples[i % N]);
		memcpy(line, samples[i % N], len);
		for (int k = 0; k < 1 + i % 3; k++) {
			seed = seed * 1664525u + 1013904223u;
			line[(seed >> 8) % len] = alphabet[(seed >> 3) % (sizeof alphabet - 1)];
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
		is(agree(exact, len), 1, "sample %d in a block of its own size", i);
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
	hrr_shapes_free(shapes);
	hrr_record_release(&full);
	return done_testing();
}
