#include "lib/diff/typed.h"

#include <math.h>
#include <string.h>

const char *const hrr_type_names[HRR_TYPE_COUNT] = {"none", "f16", "bf16", "f32", "f64", "i8", "u8",
						    "i16",  "u16", "i32",  "u32", "i64", "u64"};
static const unsigned char sizes[HRR_TYPE_COUNT] = {1, 2, 2, 4, 8, 1, 1, 2, 2, 4, 4, 8, 8};

/* A value in two views: as a number, and as a place on the line of all values of its type, where
 * neighbours are 1 apart. */
struct value {
	double number;
	int64_t place;
	bool finite;
};

enum hrr_type hrr_type_find(const char *name)
{
	for (int t = 1; t < HRR_TYPE_COUNT; t++)
		if (strcmp(hrr_type_names[t], name) == 0)
			return (enum hrr_type)t;
	return HRR_TYPE_NONE;
}

size_t hrr_type_size(enum hrr_type type)
{
	return sizes[type];
}

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

static struct value value(enum hrr_type type, const unsigned char *p)
{
	struct value v = {0};
	uint64_t bits = 0;

	memcpy(&bits, p, sizes[type]);
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

	return memcmp(a, b, sizes[type]) == 0 || equal(&x, &y, tol);
}

static void note(struct hrr_typed *t, size_t i, const struct value *x, const struct value *y)
{
	double d = fabs(x->number - y->number), r = x->number != 0 ? d / fabs(x->number) : INFINITY;
	uint64_t ulp = steps(x->place, y->place);

	t->bins[ulp ? 64 - __builtin_clzll(ulp) : 0]++;
	if (d > t->abs.value)
		t->abs = (struct hrr_typed_worst){.value = d, .index = i};
	if (r > t->rel.value && d > 0)
		t->rel = (struct hrr_typed_worst){.value = r, .index = i};
	if (ulp > t->ulp.ulp)
		t->ulp = (struct hrr_typed_worst){.ulp = ulp, .index = i};
}

static void count(struct hrr_typed *t, int side, const struct value *v)
{
	t->nan[side] += isnan(v->number);
	t->inf[side] += isinf(v->number) != 0;
}

void hrr_typed_compare(enum hrr_type type, const void *va, const void *vb, size_t len,
		       const struct hrr_tolerance *tol, struct hrr_typed *ret)
{
	const unsigned char *a = va, *b = vb;
	size_t size = sizes[type];

	*ret = (struct hrr_typed){.n = len / size, .first = len / size};
	for (size_t i = 0; i < ret->n; i++) {
		struct value x = value(type, a + i * size), y = value(type, b + i * size);

		count(ret, 0, &x);
		count(ret, 1, &y);
		if (x.finite && y.finite)
			note(ret, i, &x, &y);
		if (memcmp(a + i * size, b + i * size, size) == 0) {
			ret->exact++;
		} else if (equal(&x, &y, tol)) {
			ret->within++;
		} else {
			if (ret->differing++ == 0)
				ret->first = i;
		}
	}
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
