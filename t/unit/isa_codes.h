#ifndef HRR_T_UNIT_ISA_CODES_H
#define HRR_T_UNIT_ISA_CODES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/*
 * Floats of eight bits and fewer, by what each of their codes is worth: a number becomes the code
 * whose worth is nearest, found by trying all of them.
 */
struct code {
	int bits, man, bias, top, inf, nan; /* top: the greatest; what infinity and NaN become */
};

/* fnuz: the kind that gfx942 has of fp8 and bf8. */
static inline struct code code_of(const char *name, bool fnuz)
{
	static const struct {
		const char *name;
		struct code ocp, fnuz;
	} kinds[] = {{"fp8", {8, 3, 7, 0x7e, 0x7f, 0x7f}, {8, 3, 8, 127, 128, 128}},
		     {"bf8", {8, 2, 15, 0x7b, 0x7c, 0x7f}, {8, 2, 16, 127, 128, 128}},
		     {"fp6", {6, 3, 1, 31, 31, 31}, {0}},
		     {"bf6", {6, 2, 3, 31, 31, 31}, {0}},
		     {"fp4", {4, 1, 1, 7, 7, 7}, {0}}};
	struct code none = {0};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, name))
			return fnuz ? kinds[i].fnuz : kinds[i].ocp;
	return none;
}

/* What a code is worth, its sign aside, as if there were no end. */
static inline double code_worth(struct code c, int code)
{
	const int e = code >> c.man, m = code & ((1 << c.man) - 1);

	return e ? ldexp(1 + ldexp(m, -c.man), e - c.bias) : ldexp(m, 1 - c.bias - c.man);
}

static inline double code_value(struct code c, uint64_t v)
{
	const int half = 1 << (c.bits - 1), code = (int)v & (half - 1);
	const bool sign = v & (uint64_t)half;
	double x;

	if (c.nan == 128 ? sign && !code : c.nan > c.top && code > (c.inf == c.nan ? c.top : c.inf))
		return NAN;
	x = c.inf != c.nan && code == c.inf ? INFINITY : code_worth(c, code);
	return sign ? -x : x;
}

static inline uint64_t code_signed(struct code c, int code, bool sign)
{
	if (code > c.top)
		code = c.inf;
	return code == 128		   ? 128
	       : code == 0 && c.nan == 128 ? 0
					   : (uint64_t)code | (uint64_t)sign << (c.bits - 1);
}

static inline uint64_t code_nearest(struct code c, double v)
{
	const double x = fabs(v);
	int best = 0;

	if (isnan(v))
		return code_signed(c, c.nan == 128 ? 128 : c.nan, signbit(v)) |
		       (c.nan == 128 ? 0 : (uint64_t)c.nan);
	if (x >= code_worth(c, c.top + 1))
		return code_signed(c, c.top + 1, signbit(v));
	for (int i = 1; i <= c.top + 1; i++) {
		const double d = fabs(code_worth(c, i) - x), old = fabs(code_worth(c, best) - x);

		if (d < old || (d == old && i % 2 == 0))
			best = i;
	}
	return code_signed(c, best, signbit(v));
}

#endif
