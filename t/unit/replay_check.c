/* Outcomes, tolerance rules and the verdict. */
#include <errno.h>
#include <math.h>

#include "lib/replay/tolerance.h"
#include "t/unit/replay_fake.h"

static bool fits(const char *rule, const void *a, const void *b, size_t n)
{
	struct hrr_rules t = {0};
	struct hrr_outcome o = {0};
	struct hrr_diag d = {0};

	if (hrr_rules_add(&t, rule, &d) < 0) {
		diag("%s: %s", rule, d.what);
		return false;
	}
	bool r = hrr_rule_apply(&t.rules[0], a, b, n, &o);
	hrr_rules_release(&t);
	return r;
}

static void floats(void)
{
	float a[4] = {1, -2, 0, 1e30f}, b[4];

	memcpy(b, a, sizeof b);
	b[0] = nextafterf(1, 2);
	ok(fits("type=f32 ulp=1", a, b, 16), "one unit in the last place");
	ok(!fits("type=f32", a, b, 16), "exact");
	ok(fits("type=f32 atol=1e-6", a, b, 16), "absolute");
	ok(!fits("type=f32 atol=1e-8", a, b, 16), "absolute, too far");
	ok(fits("type=f32 rtol=1e-6", a, b, 16), "relative");
	b[3] = nextafterf(1e30f, 0);
	ok(!fits("type=f32 atol=1", a, b, 16), "every element counts");
	ok(fits("type=f32 rtol=1e-6", a, b, 16), "relative to the recorded one");
	memcpy(b, a, sizeof b);
	b[2] = -0.0f;
	ok(fits("type=f32 ulp=1", a, b, 16) || fits("type=f32 atol=0 ulp=1", a, b, 16),
	   "minus zero");
	a[1] = NAN;
	b[1] = -NAN;
	ok(fits("type=f32 ulp=1 nan=equal", a, b, 16), "NaN equals NaN when asked");
	ok(!fits("type=f32 ulp=1", a, b, 16), "  and not otherwise");
	b[1] = 1;
	ok(!fits("type=f32 ulp=1000000000 atol=1e38 nan=equal", a, b, 16), "NaN is no number");
	a[1] = INFINITY;
	b[1] = 3.4e38f;
	ok(!fits("type=f32 atol=1e38 rtol=1 ulp=100", a, b, 16), "infinity is no large number");
	uint16_t h[2] = {0x3c00, 0x7c00}, k[2] = {0x3c01, 0x7c00};
	ok(fits("type=f16 ulp=1", h, k, 4) && fits("type=bf16 ulp=1", h, k, 4), "half precision");
	ok(fits("type=f16 atol=0.001", h, k, 4) && !fits("type=f16 atol=0.0009", h, k, 4),
	   "  by value");
	ok(!fits("type=f32 ulp=4", a, b, 15), "bytes that are no whole element");
	int32_t i[2] = {-5, 7}, j[2] = {-4, 7};
	ok(fits("type=i32 atol=1", i, j, 8) && !fits("type=i32 atol=0.5", i, j, 8), "integers");
	uint8_t u[1] = {255}, v[1] = {0};
	ok(!fits("type=u8 atol=1", u, v, 1) && fits("type=i8 atol=1", u, v, 1), "signed or not");
}

static void rules(void)
{
	struct hrr_rules t = {0};
	struct hrr_diag d = {0};

	is(hrr_rules_add(&t, "api=hipMemcpy* kernel=_Z5* addr=0x1000:0x100 type=f32 ulp=1", &d), 0,
	   "a rule by call, kernel and address");
	ok(hrr_rule_find(&t, "hipMemcpyAsync", "_Z5saxpy", 0x1000, 0x100) != NULL, "fits");
	ok(hrr_rule_find(&t, "hipMemset", "_Z5saxpy", 0x1000, 1) == NULL, "another call");
	ok(hrr_rule_find(&t, "hipMemcpy", "_Z6saxpy", 0x1000, 1) == NULL, "another kernel");
	ok(hrr_rule_find(&t, "hipMemcpy", NULL, 0x1000, 1) == NULL, "no kernel known");
	ok(hrr_rule_find(&t, "hipMemcpy", "_Z5", 0x10ff, 2) == NULL, "not wholly inside");
	is(hrr_rules_add(&t, "ulp=1", &d), -EINVAL, "no type: nothing is guessed");
	is(hrr_rules_add(&t, "type=f31", &d), -EINVAL, "unknown type");
	is(hrr_rules_add(&t, "type=f32 atol=-1", &d), -EINVAL, "negative");
	is(hrr_rules_add(&t, "type=f32 colour=red", &d), -EINVAL, "unknown key: %s", d.what);
	hrr_rules_release(&t);
}

static void verdicts(void)
{
	struct hrr_verdict v = {.outputs = 2};
	struct hrr_buf b = {0};

	v.outcome[HRR_EXACT] = 2;
	is(hrr_verdict_exit(&v, false), 0, "all exact: 0");
	hrr_verdict_text(&b, &v, false);
	ok(strstr(hrr_buf_str(&b), "matched: 2 outputs") != NULL, "  matched");
	static const enum hrr_outcome_kind bad[] = {HRR_DIFFERS, HRR_REFUSED, HRR_FAILED};
	for (int i = 0; i < 3; i++) {
		struct hrr_verdict w = v;
		w.outcome[bad[i]] = 1;
		is(hrr_verdict_exit(&w, false), 1, "one %s: 1", hrr_outcome_name(bad[i]));
	}
	struct hrr_verdict w = v;
	w.outcome[HRR_UNCHECKED] = 1;
	is(hrr_verdict_exit(&w, false), 0, "unchecked beside compared: 0");
	b.len = 0;
	hrr_verdict_text(&b, &w, false);
	ok(strstr(hrr_buf_str(&b), "matched") == NULL, "  but not matched");
	w = (struct hrr_verdict){.outputs = 1};
	w.outcome[HRR_UNCHECKED] = 1;
	is(hrr_verdict_exit(&w, false), 1, "outputs, but none compared: 1");
	w = (struct hrr_verdict){0};
	is(hrr_verdict_exit(&w, false), 0, "no outputs at all: 0");
	w = v;
	w.not_recorded = 1;
	b.len = 0;
	hrr_verdict_text(&b, &w, false);
	ok(strstr(hrr_buf_str(&b), "matched") == NULL && hrr_verdict_exit(&w, false) == 0,
	   "not recorded calls block the word");
	w = v;
	w.emu_refused = 1;
	is(hrr_verdict_exit(&w, false), 1, "the device refused a launch: 1");
	w = v;
	w.trouble = true;
	is(hrr_verdict_exit(&w, false), 2, "trouble: 2");
	hrr_buf_release(&b);
}

#define D 0x600000000000u
#define H 0x7f0000000000u
#define LLU(x) ((unsigned long long)(x))

static int fetch(struct rig *g, size_t n)
{
	return rig_call(g, "hipMemcpy",
			"\"dst\":\"0x%llx\",\"src\":\"0x%llx\",\"sizeBytes\":%zu,\"kind\":"
			"\"hipMemcpyDeviceToHost\"},\"dir\":\"d2h\"}",
			LLU(H), LLU(D), n);
}

static void outputs(void)
{
	struct rig g = {.opt.keep_going = true};
	unsigned char bytes[300];

	rig_start(&g);
	rig_call(&g, "hipMalloc", "\"ptr\":\"0x%llx\",\"size\":65536}}", LLU(D));
	rig_call(&g, "hipMemset", "\"dst\":\"0x%llx\",\"value\":7,\"sizeBytes\":65536}}", LLU(D));
	fetch(&g, 300);
	rig_output(&g, H, 7, 300, 0);
	memset(bytes, 7, sizeof bytes);
	bytes[100] = 8;
	bytes[101] = 9;
	bytes[299] = 1;
	rig_line(
	    &g,
	    "{\"output\":%llu,\"t\":1,\"tid\":1,\"addr\":\"0x%llx\",\"size\":300,\"blob\":\"%s\"}",
	    LLU(g.seq), LLU(H), rig_blob(&g, bytes, 300));
	ok(strstr(g.text, "offset 100") != NULL &&
	       strstr(g.text, "3 of 300 bytes in 2 ranges") != NULL,
	   "a difference: offset, count, ranges: %s", g.text);
	rig_line(
	    &g,
	    "{\"output\":%llu,\"t\":1,\"tid\":1,\"addr\":\"0x%llx\",\"size\":300,\"blob\":\"%s\"}",
	    LLU(g.seq), LLU(H), rig_bytes(&g, 7, 200));
	ok(strstr(g.text, "200") != NULL, "a shorter blob: %s", g.text);
	rig_line(&g,
		 "{\"output\":%llu,\"t\":1,\"tid\":1,\"addr\":\"0x%llx\",\"size\":16,\"unknown\":"
		 "\"why\"}",
		 LLU(g.seq), LLU(H));
	rig_line(&g,
		 "{\"output\":%llu,\"t\":1,\"tid\":1,\"addr\":\"0x123400\",\"size\":200,\"blob\":"
		 "\"%s\"}",
		 LLU(g.seq), rig_bytes(&g, 7, 200));
	fetch(&g, 70000);
	rig_output(&g, H, 7, 300, 0);
	/* a rectangle, 3 rows of 16 bytes, 64 apart */
	rig_call(&g, "hipMemcpy2D",
		 "\"dst\":\"0x%llx\",\"dpitch\":64,\"src\":\"0x%llx\",\"spitch\":32,\"width\":16,"
		 "\"height\":3,\"kind\":\"hipMemcpyDeviceToHost\"},\"dir\":\"d2h\"}",
		 LLU(H + 0x10000), LLU(D));
	rig_end(&g);
	is(g.v.outcome[HRR_EXACT], 1, "one exact");
	is(g.v.outcome[HRR_DIFFERS], 1, "one differs");
	is(g.v.outcome[HRR_UNCHECKED], 4, "short blob, unknown, nowhere, call failed: unchecked");
	is(g.v.outcome[HRR_FAILED], 2, "the failed call and the one this run time lacks");
	is(g.v.outputs, 6, "six outputs");
}

int main(void)
{
	floats();
	rules();
	verdicts();
	outputs();
	return done_testing();
}
