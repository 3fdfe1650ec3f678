#include "lib/diff/typed.h"

#include <math.h>
#include <string.h>

#include "lib/base/half.h"
#include "lib/diff/typed_block.h"

/* A value in two views: as a number, and as a place on the line of all values of its type, where
 * neighbours are 1 apart. */
struct value {
	double number;
	int64_t place;
	bool finite;
};

/* Sign and magnitude to a line: -0 and +0 are one place. */
static int64_t line(uint64_t bits, int width)
{
	uint64_t sign = (uint64_t)1 << (width - 1);

	return bits & sign ? -(int64_t)(bits & (sign - 1)) : (int64_t)bits;
}

static inline struct value value(enum hrr_type type, const unsigned char *p)
{
	struct value v = {0};
	uint64_t bits = 0;

	memcpy(&bits, p, hrr_type_size(type));
	switch (type) {
	case HRR_TYPE_F16:
		v.number = (double)hrr_of_half((uint16_t)bits);
		v.place = line(bits, 16);
		break;
	case HRR_TYPE_BF16:
		v.number = (double)hrr_of_bfloat16((uint16_t)bits);
		v.place = line(bits, 16);
		break;
	case HRR_TYPE_F32: {
		float f;

		memcpy(&f, p, sizeof f);
		v.number = (double)f;
		v.place = line(bits, 32);
		break;
	}
	case HRR_TYPE_F64:
		memcpy(&v.number, p, sizeof v.number);
		v.place = line(bits, 64);
		break;
	case HRR_TYPE_I8:
		v.place = (int8_t)bits;
		v.number = (double)v.place;
		break;
	case HRR_TYPE_I16:
		v.place = (int16_t)bits;
		v.number = (double)v.place;
		break;
	case HRR_TYPE_I32:
		v.place = (int32_t)bits;
		v.number = (double)v.place;
		break;
	case HRR_TYPE_U64: /* the line begins in the middle, so that it fits */
		v.place = (int64_t)(bits ^ (uint64_t)1 << 63);
		v.number = (double)bits;
		break;
	default:
		v.place = (int64_t)bits;
		v.number = (double)v.place;
		break;
	}
	v.finite = isfinite(v.number);
	return v;
}

static uint64_t steps(int64_t x, int64_t y)
{
	return x < y ? (uint64_t)y - (uint64_t)x : (uint64_t)x - (uint64_t)y;
}

/* Of finite numbers. Wide integers are compared as they are, not as the nearest binary64. */
static double distance(enum hrr_type type, const struct value *x, const struct value *y)
{
	return type >= HRR_TYPE_I8 ? (double)steps(x->place, y->place)
				   : fabs(x->number - y->number);
}

static inline bool equal(enum hrr_type type, const struct value *x, const struct value *y,
			 const struct hrr_tolerance *tol)
{
	if (isnan(x->number) || isnan(y->number))
		return tol->equal_nan && isnan(x->number) && isnan(y->number);
	if (!x->finite || !y->finite)
		return x->number == y->number;
	return distance(type, x, y) <= tol->atol + tol->rtol * fabs(x->number) ||
	       steps(x->place, y->place) <= tol->ulp;
}

bool hrr_typed_equal(enum hrr_type type, const void *a, const void *b,
		     const struct hrr_tolerance *tol)
{
	struct value x = value(type, a), y = value(type, b);

	return memcmp(a, b, hrr_type_size(type)) == 0 || equal(type, &x, &y, tol);
}

static inline void note(enum hrr_type type, struct hrr_typed *t, size_t i, const struct value *x,
			const struct value *y)
{
	double d = distance(type, x, y), ax = fabs(x->number);
	uint64_t ulp = steps(x->place, y->place);

	if (d > t->abs.value)
		t->abs = (struct hrr_typed_worst){.value = d, .index = i};
	/* No quotient is greater whose product is not reached; few have to be divided. */
	if (d >= t->rel.value * ax && d > 0 && d / ax > t->rel.value)
		t->rel = (struct hrr_typed_worst){.value = d / ax, .index = i};
	if (ulp > t->ulp.ulp)
		t->ulp = (struct hrr_typed_worst){.ulp = ulp, .index = i};
}

/* type is constant in each of its uses, so that value() is one case of it. */
static inline __attribute__((always_inline)) void pairs(enum hrr_type type, const unsigned char *a,
							const unsigned char *b, size_t from,
							size_t to, const struct hrr_tolerance *tol,
							bool worst_only, struct hrr_typed *t)
{
	size_t size = hrr_type_size(type);

	for (size_t i = from; i < to; i++) {
		struct value x = value(type, a + i * size), y = value(type, b + i * size);

		if (x.finite && y.finite)
			note(type, t, i, &x, &y);
		if (worst_only)
			continue;
		uint64_t ulp = steps(x.place, y.place);
		t->nan[0] += isnan(x.number);
		t->nan[1] += isnan(y.number);
		t->inf[0] += isinf(x.number) != 0;
		t->inf[1] += isinf(y.number) != 0;
		if (x.finite && y.finite)
			t->bins[ulp ? 64 - __builtin_clzll(ulp) : 0]++;
		if (memcmp(a + i * size, b + i * size, size) == 0)
			t->exact++;
		else if (equal(type, &x, &y, tol))
			t->within++;
		else if (t->differing++ == 0)
			t->first = i;
	}
}

static void each_pair(enum hrr_type type, const void *a, const void *b, size_t from, size_t to,
		      const struct hrr_tolerance *tol, bool worst_only, struct hrr_typed *t)
{
	switch (type) {
#define CASE(t_)                                               \
	case t_:                                               \
		pairs(t_, a, b, from, to, tol, worst_only, t); \
		break;
		CASE(HRR_TYPE_F16)
		CASE(HRR_TYPE_BF16)
		CASE(HRR_TYPE_F32)
		CASE(HRR_TYPE_F64)
		CASE(HRR_TYPE_I8)
		CASE(HRR_TYPE_U8)
		CASE(HRR_TYPE_I16)
		CASE(HRR_TYPE_U16)
		CASE(HRR_TYPE_I32)
		CASE(HRR_TYPE_U32)
		CASE(HRR_TYPE_I64)
		CASE(HRR_TYPE_U64)
#undef CASE
	case HRR_TYPE_NONE:
	case HRR_TYPE_COUNT:
		break;
	}
}

/* A whole block. The worst of it, and the first that differs, are looked for where there are any.
 */
static void block(enum hrr_type type, const unsigned char *a, const unsigned char *b, size_t at,
		  struct hrr_typed_plan *plan, struct hrr_typed *t, struct hrr_typed_bins *bins)
{
	const struct hrr_tolerance *tol = plan->tol;
	size_t size = hrr_type_size(type);
	struct hrr_typed_sums s;

	hrr_typed_block(type, a + at * size, b + at * size, plan, &s, bins);
	t->exact += s.exact;
	t->within += s.within;
	for (int side = 0; side < 2; side++) {
		t->nan[side] += s.nan[side];
		t->inf[side] += s.inf[side];
	}
	size_t differing = HRR_TYPED_BLOCK - s.exact - s.within;
	for (size_t i = at; differing && t->differing == 0 && i < at + HRR_TYPED_BLOCK; i++)
		if (!hrr_typed_equal(type, a + i * size, b + i * size, tol)) {
			t->first = i;
			break;
		}
	t->differing += differing;
	if (!s.worse)
		return;
	each_pair(type, a, b, at, at + HRR_TYPED_BLOCK, tol, true, t);
	struct value x = value(type, a + t->rel.index * size),
		     y = value(type, b + t->rel.index * size);
	hrr_typed_plan_worst(plan, type, t, distance(type, &x, &y), fabs(x.number),
			     steps(x.place, y.place));
}

/* Blocks take numbers for tolerances; infinity times 0 is none. */
static bool usable(const struct hrr_tolerance *tol)
{
	return isfinite(tol->atol) && isfinite(tol->rtol);
}

void hrr_typed_compare(enum hrr_type type, const void *a, const void *b, size_t len,
		       const struct hrr_tolerance *tol, struct hrr_typed *ret)
{
	struct hrr_typed_bins bins = {0};
	struct hrr_typed_plan plan;
	size_t i = 0;

	*ret =
	    (struct hrr_typed){.n = len / hrr_type_size(type), .first = len / hrr_type_size(type)};
	if (type == HRR_TYPE_NONE)
		return;
	hrr_typed_plan(&plan, type, tol, ret->n);
	for (; ret->n - i >= HRR_TYPED_BLOCK && usable(tol); i += HRR_TYPED_BLOCK)
		block(type, a, b, i, &plan, ret, &bins);
	for (int k = 0; k < HRR_TYPED_BINS; k++)
		ret->bins[k] = bins.n[0][k] + bins.n[1][k] + bins.n[2][k] + bins.n[3][k];
	each_pair(type, a, b, i, ret->n, tol, false, ret);
}

/*
 * A block of binary32 near each other by the first rule. In binary32 arithmetic,
 * so that it is fast, with the tolerance a little smaller, so that its three
 * roundings never make equal what is not; where products get near the smallest
 * normal number a rounding is no longer small, and only equal numbers pass.
 * false says that one has to look.
 */
static bool near_block(const unsigned char *a, const unsigned char *b,
		       const struct hrr_tolerance *tol)
{
	float atol = (float)(tol->atol * (1 - 1e-6)), rtol = (float)(tol->rtol * (1 - 1e-6));
	int bad = 0;

	for (int i = 0; i < HRR_TYPED_BLOCK; i++) {
		float x, y;

		memcpy(&x, a + i * 4, 4);
		memcpy(&y, b + i * 4, 4);
		float d = fabsf(x - y), limit = atol + rtol * fabsf(x);

		bad |= !((d == 0) | ((d <= limit) & (limit > 1e-36f) & (d < INFINITY)));
	}
	return !bad;
}

/* A block of any type. */
static bool within_block(enum hrr_type type, const void *a, const void *b,
			 const struct hrr_typed_plan *plan)
{
	struct hrr_typed_bins bins;
	struct hrr_typed_sums s;

	hrr_typed_block(type, a, b, plan, &s, &bins);
	return s.exact + s.within == HRR_TYPED_BLOCK;
}

bool hrr_typed_within(enum hrr_type type, const void *va, const void *vb, size_t len,
		      const struct hrr_tolerance *tol)
{
	const unsigned char *a = va, *b = vb;
	size_t size = hrr_type_size(type), block = size * HRR_TYPED_BLOCK, at = 0;
	bool near = type == HRR_TYPE_F32 && tol->atol < 1e30 && tol->rtol < 1e30;
	/* Nothing is worse than this, so that nobody asks for the worst. */
	const struct hrr_typed worst = {
	    .abs.value = INFINITY, .rel.value = INFINITY, .ulp.ulp = UINT64_MAX};
	struct hrr_typed_plan plan;

	if (type == HRR_TYPE_NONE)
		return memcmp(a, b, len) == 0;
	hrr_typed_plan(&plan, type, tol, len / size);
	hrr_typed_plan_worst(&plan, type, &worst, 0, 1, 0);
	for (; len - at >= block && usable(tol); at += block)
		if (!(near && near_block(a + at, b + at, tol)) &&
		    memcmp(a + at, b + at, block) != 0 &&
		    !within_block(type, a + at, b + at, &plan))
			return false;
	for (; len - at >= size; at += size)
		if (!hrr_typed_equal(type, a + at, b + at, tol))
			return false;
	return true;
}

int hrr_typed_put(enum hrr_type type, const void *p, struct hrr_buf *b)
{
	struct value v = value(type, p);
	static const int digits[] = {
	    [HRR_TYPE_F16] = 5, [HRR_TYPE_BF16] = 4, [HRR_TYPE_F32] = 9, [HRR_TYPE_F64] = 17};

	if (type <= HRR_TYPE_F64)
		return hrr_buf_addf(b, "%.*g", digits[type], v.number);
	if (type == HRR_TYPE_U64) {
		uint64_t u;

		memcpy(&u, p, sizeof u);
		return hrr_buf_addf(b, "%llu", (unsigned long long)u);
	}
	return hrr_buf_addf(b, "%lld", (long long)v.place);
}
