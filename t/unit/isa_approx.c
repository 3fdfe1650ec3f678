/* Approximated instructions: a documented error for each, and ours far below it. */
#include <math.h>

#include "lib/emu/isa/approx.h"
#include "lib/emu/isa/internal.h"
#include "lib/emu/isa/numeric_approx.h"
#include "t/unit/tap.h"

static void rows(void)
{
	const u16 *list;
	const unsigned n = isa_approx_rows(&list);
	struct hrr_emu_error e;

	ok(n > 20, "%u instructions are approximated", n);
	for (unsigned i = 0; i < n; i++) {
		const char *const name = isa_op_at(list[i])->name;
		const bool known = isa_approx_error(name, &e) == 0;

		if (!known || !(e.bound > 0) || e.bound > 0x1p-2)
			ok(false, "%s has an error", name);
	}
	ok(isa_approx_error("v_add_f32", &e) == -2, "v_add_f32 is exact");
	ok(isa_approx_error("v_s_rcp_f16", &e) == 0 && e.type == HRR_TYPE_F16,
	   "v_s_rcp_f16 is not");
	ok(isa_approx_error("v_rcp_f64", &e) == 0 && e.bound == 0x1p-23, "doubles: 2^29 units");
	ok(isa_approx_error("v_mfma_f32_32x32x8f16", &e) == 0 && e.of == HRR_EMU_OF_TERMS &&
	       e.bound == 8 * 0x1p-23,
	   "matrices: K units");
}

/* Units in the last place of float, of y beside the exact one. */
static double units(float y, long double exact)
{
	const int e = exact == 0 ? -126 : (int)ilogbl(exact);

	return (double)fabsl(((long double)y - exact) / ldexpl(1, (e < -126 ? -126 : e) - 23));
}

static float next(u32 *seed, float from, float to)
{
	*seed = *seed * 1664525u + 1013904223u;
	return from + (to - from) * (float)(*seed >> 8) * 0x1p-24f;
}

static void ours(void)
{
	const long double pi = 3.14159265358979323846264338327950288L;
	double worst[6] = {0};
	u32 seed = 1;

	for (int i = 0; i < 300000; i++) {
		const float x = next(&seed, -120, 120), p = exp2f(x),
			    t = next(&seed, -0.25f, 0.25f);
		const double got[6] = {units(approx_exp2(x), exp2l((long double)x)),
				       units(approx_log2(p), log2l((long double)p)),
				       units(approx_rcp(x), 1 / (long double)x),
				       units(approx_rsq(p), 1 / sqrtl((long double)p)),
				       units(approx_sin(t), sinl(2 * pi * (long double)t)),
				       units(approx_cos(t), cosl(2 * pi * (long double)t))};

		for (int k = 0; k < 6; k++)
			worst[k] = fmax(worst[k], got[k]);
	}
	for (int k = 0; k < 6; k++) {
		static const char *const names[] = {"exp", "log", "rcp", "rsq", "sin", "cos"};

		ok(worst[k] <= 0.51, "%s: %.3f units in the last place", names[k], worst[k]);
	}
}

int main(void)
{
	rows();
	ours();
	return done_testing();
}
