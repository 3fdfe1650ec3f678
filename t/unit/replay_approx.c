/* Which differences approximate instructions may cause. */
#include <math.h>
#include <string.h>

#include "lib/emu/isa/approx.h"
#include "lib/replay/approx.h"
#include "t/unit/tap.h"

static struct hrr_emu_stats used(const char *const *names)
{
	struct hrr_emu_stats s = {.size = sizeof s};

	for (; *names != NULL; names++) {
		s.approx[s.n_approx].mnemonic = *names;
		ok(isa_approx_error(*names, &s.error[s.n_approx++]) == 0, "%s", *names);
	}
	return s;
}
#define USED(...) used((const char *const[]){__VA_ARGS__, NULL})

static bool near_float(const struct hrr_emu_stats *s, float a, float b)
{
	const float was[3] = {1, a, -4}, is[3] = {1, b, -4};

	return hrr_approximately(s, HRR_TYPE_NONE, was, is, sizeof was);
}

static void floats(void)
{
	const struct hrr_emu_stats none = {.size = sizeof none};
	const struct hrr_emu_stats e = USED("v_exp_f32"), s = USED("v_sin_f32");
	const struct hrr_emu_stats m = USED("v_mfma_f32_16x16x16_f16");

	ok(!near_float(&none, 1.0f, 1.0f + 0x1p-23f), "no approximate instruction causes none");
	ok(near_float(&e, 1.0f, 1.0f + 0x1p-17f), "exp: 64 units in the last place");
	ok(!near_float(&e, 1.0f, 1.0f + 0x1p-15f), "exp: 256 are too many");
	ok(!near_float(&e, 1e-6f, 2e-6f), "exp: small ones by themselves");
	ok(near_float(&s, 1e-6f, 2e-6f), "sine: small ones by the largest");
	ok(near_float(&s, 1.0f, 1.0f + 0x1p-10f), "sine: 2^-11 of 4");
	ok(!near_float(&s, 1.0f, 1.0f + 0x1p-8f), "sine: not more");
	ok(near_float(&m, 1e-6f, 1e-6f + 0x1p-15f), "sums: small ones by the largest");
	ok(!near_float(&m, 1.0f, 1.0f + 0x1p-10f), "sums: less than a sine");
	ok(!near_float(&e, 1.0f, NAN) && !near_float(&e, INFINITY, 3e38f), "numbers only");
	ok(!near_float(&e, 0x1p-130f, 0x1.00002p-130f),
	   "what would be denormals are integers, when nobody said what they are");
}

static void types(void)
{
	const struct hrr_emu_stats h = USED("v_exp_f16"), f = USED("v_exp_f32");
	const struct hrr_emu_stats d = USED("v_rcp_f64");
	const unsigned short a[4] = {0x3c00, 0x4000, 0xc000, 0}, b[4] = {0x3c01, 0x4000, 0xc001, 0};
	const unsigned short c[4] = {0x3c00, 0x4100, 0xc000, 0};
	const double x[2] = {1, 3}, y[2] = {1, 3 + 0x1p-22}, z[2] = {1, 3 + 0x1p-18};
	const unsigned i[2] = {1000, 2000}, k[2] = {1001, 2000};

	ok(hrr_approximately(&h, HRR_TYPE_NONE, a, b, sizeof a), "halves");
	ok(!hrr_approximately(&h, HRR_TYPE_NONE, a, c, sizeof a), "halves that are far apart");
	ok(!hrr_approximately(&f, HRR_TYPE_NONE, a, b, sizeof a), "floats are no halves");
	ok(hrr_approximately(&f, HRR_TYPE_F16, a, b, sizeof a),
	   "halves rounded from floats, as somebody said they are");
	ok(hrr_approximately(&d, HRR_TYPE_NONE, x, y, sizeof x), "doubles");
	ok(!hrr_approximately(&d, HRR_TYPE_NONE, x, z, sizeof x), "doubles that are far apart");
	ok(!hrr_approximately(&h, HRR_TYPE_NONE, i, k, sizeof i), "integers are no halves");
	ok(!hrr_approximately(&f, HRR_TYPE_I32, i, k, sizeof i), "integers, as somebody said");
	ok(!hrr_approximately(&d, HRR_TYPE_NONE, x, y, 12), "no number of doubles");
}

/* Errors that are large already do not grow until anything would do. */
static void large(void)
{
	const struct hrr_emu_stats c = USED("v_cvt_sr_fp8_f32"),
				   b = USED("v_wmma_bf16_16x16x16_bf16");
	const float was[2] = {1, 4}, is[2] = {1.0625f, 4}, far[2] = {1.5f, 4};

	ok(hrr_approximately(&c, HRR_TYPE_F32, was, is, sizeof was),
	   "rounded at random: an eighth");
	ok(!hrr_approximately(&c, HRR_TYPE_F32, was, far, sizeof was), "and no half");
	ok(!hrr_approximately(&c, HRR_TYPE_NONE, was, is, sizeof was), "makes no floats by itself");
	ok(!hrr_approximately(&b, HRR_TYPE_F32, was, (const float[2]){1.75f, 4}, sizeof was),
	   "narrow sums: an eighth of the largest");
}

int main(void)
{
	large();
	floats();
	types();
	return done_testing();
}
