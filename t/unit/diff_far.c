/*
 * Halves and short integers that are any number of steps apart: what is found by blocks is what is
 * found pair by pair, at each level of the machine.
 */
#include <string.h>

#include "lib/diff/typed.h"
#include "lib/diff/typed_block.h"
#include "t/unit/tap.h"

enum { N = 4096, FEW = HRR_TYPED_BLOCK / 2 /* too few for a block */ };

static uint16_t a[N], b[N];
static uint64_t state = 88172645463325252u;

static uint32_t any(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 24) % below;
}

static void worse(struct hrr_typed_worst *t, const struct hrr_typed_worst *x, size_t at)
{
	if (x->value <= t->value && x->ulp <= t->ulp)
		return;
	*t = *x;
	t->index += at;
}

static void by_pairs(enum hrr_type type, size_t n, const struct hrr_tolerance *tol,
		     struct hrr_typed *t)
{
	*t = (struct hrr_typed){.n = n, .first = n};
	for (size_t at = 0; at < n; at += FEW) {
		struct hrr_typed x;

		hrr_typed_compare(type, a + at, b + at, 2 * (n - at < FEW ? n - at : FEW), tol, &x);
		if (t->differing == 0 && x.differing > 0)
			t->first = at + x.first;
		t->exact += x.exact;
		t->within += x.within;
		t->differing += x.differing;
		for (int side = 0; side < 2; side++) {
			t->nan[side] += x.nan[side];
			t->inf[side] += x.inf[side];
		}
		worse(&t->abs, &x.abs, at);
		worse(&t->rel, &x.rel, at);
		worse(&t->ulp, &x.ulp, at);
		for (int k = 0; k < HRR_TYPED_BINS; k++)
			t->bins[k] += x.bins[k];
	}
}

/* Pairs in a part of the line of all values, near each other or not. */
static void fill(enum hrr_type type, uint32_t how)
{
	const uint32_t tiny = 0x8000u + (type == HRR_TYPE_BF16 ? 0x3000 : 0);
	const uint32_t base = any(65536), width = 1u << any(17), spread = 1u << any(17);

	for (int i = 0; i < N; i++) {
		uint32_t x = base + any(width), y = x + any(spread);

		switch (how) {
		case 0:
			y = any(65536);
			break;
		case 1:
			y = x ^ 0x8000;
			break;
		case 2:
			y = any(50) == 0 ? y : x;
			break;
		case 3: /* many of one quotient, or one distance */
			x = 0x3c00 + any(16) * 0x40;
			y = x + any(16) * 0x400;
			break;
		case 4: /* distances that a binary32 cannot tell apart */
			x = tiny + any(0x400);
			y = 0x4780;
			break;
		case 5: /* and quotients */
			x = 0x4780;
			y = tiny + any(0x400);
			break;
		default:
			break;
		}
		a[i] = (uint16_t)x;
		b[i] = (uint16_t)y;
	}
	/* More steps than those make, so that the worst by steps is not theirs. */
	if (how == 4 || how == 5) {
		a[0] = how == 4 ? 0xb800 : 0x7800;
		b[0] = how == 4 ? 0x4600 : (uint16_t)tiny;
	}
}

static bool same(const struct hrr_typed_worst *x, const struct hrr_typed_worst *y)
{
	return x->value == y->value && x->ulp == y->ulp && x->index == y->index;
}

static void compare(enum hrr_type type, enum hrr_typed_level level)
{
	static const double rtols[] = {0, 1e-2, 1e-5, 0.5, 3}, atols[] = {0, 1e-3, 1, 100};
	static const uint64_t ulps[] = {0, 1, 8, 5000, 70000};
	int wrong = 0;

	hrr_typed_limit(level);
	for (int i = 0; i < 400; i++) {
		const struct hrr_tolerance tol = {.rtol = rtols[any(5)],
						  .atol = atols[any(4)],
						  .ulp = ulps[any(5)],
						  .equal_nan = any(2)};
		const size_t n = N - any(600);
		struct hrr_typed x, y;

		fill(type, (uint32_t)i % 8);
		hrr_typed_compare(type, a, b, 2 * n, &tol, &x);
		by_pairs(type, n, &tol, &y);
		wrong += x.n != y.n || x.exact != y.exact || x.within != y.within ||
			 x.differing != y.differing || x.first != y.first ||
			 memcmp(x.nan, y.nan, sizeof x.nan) != 0 ||
			 memcmp(x.inf, y.inf, sizeof x.inf) != 0 ||
			 memcmp(x.bins, y.bins, sizeof x.bins) != 0 || !same(&x.abs, &y.abs) ||
			 !same(&x.rel, &y.rel) || !same(&x.ulp, &y.ulp) ||
			 hrr_typed_within(type, a, b, 2 * n, &tol) != (y.differing == 0);
	}
	is(wrong, 0, "%s by blocks as pair by pair, level %d", hrr_type_names[type], (int)level);
}

int main(void)
{
	static const enum hrr_type types[] = {HRR_TYPE_F16, HRR_TYPE_BF16, HRR_TYPE_I16,
					      HRR_TYPE_U16};

	for (int level = HRR_TYPED_PORTABLE; level <= HRR_TYPED_AVX512; level++)
		for (size_t k = 0; k < sizeof types / sizeof *types; k++)
			compare(types[k], (enum hrr_typed_level)level);
	return done_testing();
}
