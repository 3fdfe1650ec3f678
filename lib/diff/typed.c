#include "lib/diff/typed.h"

#include <math.h>
#include <string.h>

#include "lib/diff/typed_block.h"

/* A value in two views: as a number, and as a place on the line of all values of its type, where
 * neighbours are 1 apart. */
struct value {
	double number;
	int64_t place;
	bool finite;
};

static double half(uint16_t h)
{
	int e = h >> 10 & 31, m = h & 1023;
	double v = e == 31  ? (m ? NAN : INFINITY)
		   : e == 0 ? ldexp(m, -24)
			    : ldexp(m + 1024, e - 25);

	return h & 0x8000 ? -v : v;
}

static double brain(uint16_t h)
{
	uint32_t u = (uint32_t)h << 16;
	float f;

	memcpy(&f, &u, sizeof f);
	return (double)f;
}

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
		v.number = half((uint16_t)bits);
		v.place = line(bits, 16);
		break;
	case HRR_TYPE_BF16:
		v.number = brain((uint16_t)bits);
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

static bool equal(const struct value *x, const struct value *y, const struct hrr_tolerance *tol)
{
	if (isnan(x->number) || isnan(y->number))
		return tol->equal_nan && isnan(x->number) && isnan(y->number);
	if (!x->finite || !y->finite)
		return x->number == y->number;
	return fabs(x->number - y->number) <= tol->atol + tol->rtol * fabs(x->number) ||
	       steps(x->place, y->place) <= tol->ulp;
}

bool hrr_typed_equal(enum hrr_type type, const void *a, const void *b,
		     const struct hrr_tolerance *tol)
{
	struct value x = value(type, a), y = value(type, b);

	return memcmp(a, b, hrr_type_size(type)) == 0 || equal(&x, &y, tol);
}

static inline void note(struct hrr_typed *t, size_t i, const struct value *x, const struct value *y)
{
	double d = fabs(x->number - y->number), ax = fabs(x->number);
	uint64_t ulp = steps(x->place, y->place);

	if (d > t->abs.value)
		t->abs = (struct hrr_typed_worst){.value = d, .index = i};
	/* d / ax is greater, without dividing each time */
	if (d > t->rel.value * ax && d > 0)
		t->rel = (struct hrr_typed_worst){.value = ax > 0 ? d / ax : INFINITY, .index = i};
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
			note(t, i, &x, &y);
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
		else if (equal(&x, &y, tol))
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
		  const struct hrr_tolerance *tol, struct hrr_typed *t, struct hrr_typed_bins *bins,
		  bool *unsure)
{
	size_t size = hrr_type_size(type);
	struct hrr_typed_sums s = {.unsure = *unsure};

	hrr_typed_block(type, a + at * size, b + at * size, tol, t, &s, bins);
	*unsure = s.unsure;
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
	if (s.worse)
		each_pair(type, a, b, at, at + HRR_TYPED_BLOCK, tol, true, t);
}

void hrr_typed_compare(enum hrr_type type, const void *a, const void *b, size_t len,
		       const struct hrr_tolerance *tol, struct hrr_typed *ret)
{
	struct hrr_typed_bins bins = {0};
	bool unsure = false;
	size_t i = 0;

	*ret =
	    (struct hrr_typed){.n = len / hrr_type_size(type), .first = len / hrr_type_size(type)};
	if (type == HRR_TYPE_NONE)
		return;
	for (; ret->n - i >= HRR_TYPED_BLOCK; i += HRR_TYPED_BLOCK) {
		unsure &= i / HRR_TYPED_BLOCK % 8 != 0; /* where it failed the next are alike */
		block(type, a, b, i, tol, ret, &bins, &unsure);
	}
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
			 const struct hrr_tolerance *tol)
{
	const struct hrr_typed any = {
	    .abs.value = INFINITY, .rel.value = INFINITY, .ulp.ulp = UINT64_MAX};
	struct hrr_typed_sums s = {.unsure = false};

	hrr_typed_block(type, a, b, tol, &any, &s, NULL);
	return s.exact + s.within == HRR_TYPED_BLOCK;
}

bool hrr_typed_within(enum hrr_type type, const void *va, const void *vb, size_t len,
		      const struct hrr_tolerance *tol)
{
	const unsigned char *a = va, *b = vb;
	size_t size = hrr_type_size(type), block = size * HRR_TYPED_BLOCK, at = 0;
	bool near = type == HRR_TYPE_F32 && tol->atol < 1e30 && tol->rtol < 1e30;

	if (type == HRR_TYPE_NONE)
		return memcmp(a, b, len) == 0;
	for (; len - at >= block; at += block)
		if (!(near && near_block(a + at, b + at, tol)) &&
		    memcmp(a + at, b + at, block) != 0 && !within_block(type, a + at, b + at, tol))
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
