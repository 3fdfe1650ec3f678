#include "lib/diff/typed_block.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "lib/base/half.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

/*
 * Loops over whole blocks that the compiler makes vectors of. All is inlined into one function
 * for each type and level of the machine; what they find does not depend on the level.
 */
#define N HRR_TYPED_BLOCK
#define INLINE static inline __attribute__((always_inline))

/* --- small types as binary32, exactly --- */

typedef void to_floats(const void *x, float *ret);

#define TO_FLOATS(name, in, number)                                    \
	INLINE void floats_##name(const void *p, float *ret)           \
	{                                                              \
		typedef in any __attribute__((aligned(1), may_alias)); \
		const any *x = p;                                      \
		for (int i = 0; i < N; i++)                            \
			ret[i] = number(x[i]);                         \
	}
TO_FLOATS(bf16, uint16_t, hrr_of_bfloat16)
TO_FLOATS(f32, float, )
TO_FLOATS(i16, int16_t, (float))
TO_FLOATS(u16, uint16_t, (float))
/* Finite ones: others are made 0 before. */
TO_FLOATS(f16_portable, uint16_t, hrr_of_finite_half)
TO_FLOATS(i8, int8_t, (float))
TO_FLOATS(u8, uint8_t, (float))

#if defined(__x86_64__)
#define AVX512 "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,f16c"
#define TARGET_AVX2 __attribute__((target("avx2,f16c")))
#if defined(__clang__)
#define TARGET_AVX512 __attribute__((target(AVX512)))
#else
#define TARGET_AVX512 __attribute__((target(AVX512 ",prefer-vector-width=512")))
#endif

TARGET_AVX2 static inline void floats_f16_avx2(const void *p, float *ret)
{
	const unsigned char *x = p;

	for (int i = 0; i < N; i += 8)
		_mm256_storeu_ps(ret + i,
				 _mm256_cvtph_ps(_mm_loadu_si128((const void *)(x + 2 * i))));
}

TARGET_AVX512 static inline void floats_f16_avx512(const void *p, float *ret)
{
	const unsigned char *x = p;

	for (int i = 0; i < N; i += 16)
		_mm512_storeu_ps(ret + i,
				 _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(x + 2 * i))));
}
#endif

/* --- errors, in binary64 --- */

struct errors {
	uint32_t near; /* pairs within the tolerance; equal numbers are, with any */
	bool worse;    /* a distance or a quotient is more than the worst was */
};

/*
 * d of a pair is its distance and v the size of its first number. A quotient that exceeds rel
 * has d >= rel * v however the product is rounded; whether one does is then seen by dividing.
 */
#define ERRORS(name, number, near_t, distance, size)                                       \
	INLINE void errors_##name(const number *x, const number *y, const near_t *near,    \
				  const struct hrr_typed_plan *p, struct errors *ret)      \
	{                                                                                  \
		const double atol = p->tol->atol, rtol = p->tol->rtol, abs = p->abs.value, \
			     rel = p->rel.value;                                           \
		int64_t in = 0, over = 0, perhaps = 0;                                     \
		for (int i = 0; i < N; i++) {                                              \
			const double d = distance(x[i], y[i]), v = size(x[i], y[i]);       \
			in += (d <= atol + rtol * v) | (near ? near[i] : 0);               \
			over |= -(int64_t)(d > abs);                                       \
			perhaps |= -(int64_t)(d >= rel * v) & -(int64_t)(d > 0);           \
		}                                                                          \
		for (int i = 0; perhaps && i < N; i++)                                     \
			over |= -(int64_t)(distance(x[i], y[i]) / size(x[i], y[i]) > rel); \
		*ret = (struct errors){.near = (uint32_t)in, .worse = over != 0};          \
	}

#define FLOAT_DISTANCE(x, y) fabs((double)(x) - (double)(y))
#define FLOAT_SIZE(x, y) fabs((double)(x))
#define FIRST(x, y) (x)
#define SECOND(x, y) (y)
ERRORS(of_floats, float, int32_t, FLOAT_DISTANCE, FLOAT_SIZE)
ERRORS(of_distances, double, int64_t, FIRST, SECOND)

/*
 * The same of small types in binary32, which holds their numbers exactly, and their distances if
 * they are near each other. false: not sure, one has to look closer.
 */
INLINE bool errors_fast(const float *x, const float *y, const int32_t *near,
			const struct hrr_typed_plan *p, int far, bool any_size, bool integers,
			bool exact, bool rel, struct errors *ret)
{
	const float atol = p->atol, rtol = p->rtol, beyond = p->beyond, least = p->least[far],
		    rel_d = p->rel_d[far], rel_v = p->rel_v, steps = p->steps;
	int32_t in = 0, reach = 0, worse = 0;

	for (int i = 0; i < N; i++) {
		const float d = fabsf(x[i] - y[i]), v = fabsf(x[i]), limit = atol + rtol * v,
			    low = limit < steps ? steps : limit;
		const int32_t close = near ? near[i] : 0;

		in += (d <= low) | close;
		if (!exact)
			reach += (d <= low * beyond) | close;
		if (!integers)
			worse |= -(int32_t)(d >= least);
		if (rel)
			worse |= -(int32_t)(d * rel_v > rel_d * v);
		if (any_size) /* products stay normal numbers */
			worse |=
			    -(int32_t)(d > 1e30f) | (-(int32_t)(d > 0) & -(int32_t)(d < 1e-30f));
	}
	*ret = (struct errors){.near = (uint32_t)in};
	return (exact || in == reach) && !worse;
}

/* --- bins: the number of binary digits of each distance --- */

/* By comparing with each power of two from the least up to the most. */
#define BINS_BY_POWERS(bits)                                                            \
	INLINE void by_powers_##bits(const bits *u, bits min, bits most, size_t finite, \
				     struct hrr_typed_bins *bins)                       \
	{                                                                               \
		size_t more = finite;                                                   \
		int b = min > 0 ? 64 - __builtin_clzll(min) : 0;                        \
		for (; (size_t)b < sizeof(bits) * 8 && most >> b; b++) {                \
			const bits least = (bits)((bits)1 << b);                        \
			bits n = 0;                                                     \
			for (int i = 0; i < N; i++)                                     \
				n = (bits)(n + (u[i] >= least));                        \
			bins->n[0][b] += more - (size_t)n;                              \
			more = (size_t)n;                                               \
		}                                                                       \
		bins->n[0][b] += more;                                                  \
	}
BINS_BY_POWERS(uint16_t)
BINS_BY_POWERS(uint32_t)
BINS_BY_POWERS(uint64_t)

/* Binary digits of u by the exponent of u as a binary32. Below its highest bit one is cleared,
 * so that nothing is rounded up to the next power of two. */
INLINE uint32_t digits_32(uint32_t u)
{
	float f = (float)(int32_t)(u & ~(u >> 1) & 0x7fffffffu);
	uint32_t e, top = -(u >> 31);

	memcpy(&e, &f, sizeof e);
	e >>= 23;
	e = (e > 126 ? e : 126) - 126;
	return (e & ~top) | (32 & top);
}

INLINE uint32_t digits_64(uint64_t u)
{
	uint32_t high = (uint32_t)(u >> 32), low = (uint32_t)u, is_high = -(uint32_t)(high != 0);

	return ((digits_32(high) + 32) & is_high) | (digits_32(low) & ~is_high);
}

/* One by one, in four counts of each, so that none waits for the last. */
static void by_digits(const uint8_t *digit, size_t finite, struct hrr_typed_bins *b)
{
	for (int i = 0; i < N; i += 4) {
		b->n[0][digit[i]]++;
		b->n[1][digit[i + 1]]++;
		b->n[2][digit[i + 2]]++;
		b->n[3][digit[i + 3]]++;
	}
	b->n[0][0] -= N - finite; /* what is no number stood there as 0 */
}

/* The same without a branch for each: they are few, and none waits for another. */
INLINE void bins_uint8_t(const uint8_t *u, uint8_t min, uint8_t most, size_t finite,
			 struct hrr_typed_bins *bins)
{
	size_t more[9] = {finite};

	(void)min;

	for (int b = 0; b < 8; b++) {
		const uint8_t least = (uint8_t)(1u << b);
		uint8_t n = 0;

		for (int i = 0; i < N; i++)
			n = (uint8_t)(n + (u[i] >= least));
		more[b + 1] = most >> b ? n ? (size_t)n : N : 0;
	}
	for (int b = 0; b < 9; b++)
		bins->n[0][b] += more[b] - (b < 8 ? more[b + 1] : 0);
}

#define bins_uint16_t by_powers_uint16_t
#define WIDE_BINS(bits, digits)                                                    \
	INLINE void bins_##bits(const bits *u, bits min, bits most, size_t finite, \
				struct hrr_typed_bins *bins)                       \
	{                                                                          \
		uint8_t digit[N];                                                  \
		if (most < 256) {                                                  \
			by_powers_##bits(u, min, most, finite, bins);              \
			return;                                                    \
		}                                                                  \
		for (int i = 0; i < N; i++)                                        \
			digit[i] = (uint8_t)digits(u[i]);                          \
		by_digits(digit, finite, bins);                                    \
	}
WIDE_BINS(uint32_t, digits_32)
WIDE_BINS(uint64_t, digits_64)

/* --- the types --- */

#define PLAIN(u) (u)

/* A float's sign and magnitude to a line: -0 and +0 are one place. */
#define LINE(w)                                                                                \
	INLINE int##w##_t line_##w(uint##w##_t u)                                              \
	{                                                                                      \
		const uint##w##_t negative = (uint##w##_t) - (u >> (w - 1));                   \
		return (int##w##_t)(                                                           \
		    ((u & (uint##w##_t) ~((uint##w##_t)1 << (w - 1))) ^ negative) - negative); \
	}
LINE(16)
LINE(32)
LINE(64)

INLINE double double_of_bits(uint64_t u)
{
	double d;

	memcpy(&d, &u, sizeof d);
	return d;
}

#define NAME f16
#define BITS uint16_t
#define PLACE line_16
#define INFINITE 0x7c00
#define SMALL_FLOAT(most) ((most) < 2 << 10)
#define FLOATS(level) floats_f16_##level
#include "lib/diff/typed_block.inc"

#define NAME bf16
#define BITS uint16_t
#define PLACE line_16
#define INFINITE 0x7f80
#define SMALL_FLOAT(most) ((most) < 2 << 7)
#define FLOATS(level) floats_bf16
#include "lib/diff/typed_block.inc"

#define NAME f32
#define BITS uint32_t
#define PLACE line_32
#define INFINITE 0x7f800000u
#define FLOATS(level) floats_f32
#include "lib/diff/typed_block.inc"

#define NAME f64
#define BITS uint64_t
#define PLACE line_64
#define INFINITE ((uint64_t)0x7ff << 52)
#define NUMBER double_of_bits
#define DISTANCE(x, y, u) fabs(NUMBER(x) - NUMBER(y))
#include "lib/diff/typed_block.inc"

#define NAME i8
#define SMALL_INTEGER
#define BITS uint8_t
#define PLACE (int8_t)
#define FLOATS(level) floats_i8
#include "lib/diff/typed_block.inc"

#define NAME u8
#define SMALL_INTEGER
#define BITS uint8_t
#define PLACE (uint8_t)
#define FLOATS(level) floats_u8
#include "lib/diff/typed_block.inc"

#define NAME i16
#define SMALL_INTEGER
#define BITS uint16_t
#define PLACE (int16_t)
#define FLOATS(level) floats_i16
#include "lib/diff/typed_block.inc"

#define NAME u16
#define SMALL_INTEGER
#define BITS uint16_t
#define PLACE (uint16_t)
#define FLOATS(level) floats_u16
#include "lib/diff/typed_block.inc"

#define NAME i32
#define BITS uint32_t
#define PLACE (int32_t)
#define NUMBER(x) (double)(int32_t)(x)
#define DISTANCE(x, y, u) (double)(u)
#include "lib/diff/typed_block.inc"

#define NAME u32
#define BITS uint32_t
#define PLACE (uint32_t)
#define NUMBER(x) (double)(x)
#define DISTANCE(x, y, u) (double)(u)
#include "lib/diff/typed_block.inc"

#define NAME i64
#define BITS uint64_t
#define PLACE (int64_t)
#define NUMBER(x) (double)(int64_t)(x)
#define DISTANCE(x, y, u) (double)(u)
#include "lib/diff/typed_block.inc"

#define NAME u64
#define BITS uint64_t
#define PLACE (uint64_t)
#define NUMBER(x) (double)(x)
#define DISTANCE(x, y, u) (double)(u)
#include "lib/diff/typed_block.inc"

/* --- plans --- */

#define SLIGHTLY 1e-6 /* more than three roundings in binary32 make */

/*
 * atol and rtol in binary32 by which every number of 8 bits has the same whole steps within its
 * tolerance as in binary64. Mostly the nearest ones, or their neighbours, will do.
 */
static bool exact_for_bytes(const struct hrr_tolerance *tol, float *atol, float *rtol)
{
	const float r[] = {(float)tol->rtol, nextafterf((float)tol->rtol, INFINITY),
			   nextafterf((float)tol->rtol, 0)};

	*atol = (float)tol->atol;
	for (size_t k = 0; k < sizeof r / sizeof *r; k++) {
		int v = 0;

		for (; v < 256; v++) {
			double limit = tol->atol + tol->rtol * v;
			float got = *atol + r[k] * (float)v;

			if (fmin(floor(limit), 256) != fmin(floor((double)got), 256))
				break;
		}
		*rtol = r[k];
		if (v == 256)
			return true;
	}
	return false;
}

void hrr_typed_plan(struct hrr_typed_plan *p, enum hrr_type type, const struct hrr_tolerance *tol,
		    size_t n)
{
	const bool integers = type >= HRR_TYPE_I8;

	*p = (struct hrr_typed_plan){.tol = tol, .beyond = 1, .rel_v = 1};
	p->steps = integers ? (float)(tol->ulp < 65536 ? tol->ulp : 65536) : 0;
	p->fast = n >= N && hrr_type_size(type) <= 2 && tol->atol < 1e30 && tol->rtol < 1e6 &&
		  (tol->rtol == 0 || tol->rtol > 1e-6);
	if (!p->fast)
		return;
	if (hrr_type_size(type) == 1) {
		p->fast = exact_for_bytes(tol, &p->atol, &p->rtol);
		return;
	}
	if (integers && tol->rtol == 0) {
		p->atol = (float)fmin(floor(tol->atol), 65536);
		p->rtol = 0;
		return;
	}
	p->atol = (float)(tol->atol * (1 - SLIGHTLY));
	p->rtol = (float)(tol->rtol * (1 - SLIGHTLY));
	p->beyond = (float)(1 + 4 * SLIGHTLY);
}

void hrr_typed_plan_worst(struct hrr_typed_plan *p, enum hrr_type type, const struct hrr_typed *t,
			  double d, double v, uint64_t steps)
{
	const uint64_t few = type == HRR_TYPE_F16 ? 2 << 10 : type == HRR_TYPE_BF16 ? 2 << 7 : 256;
	int exponent;

	p->abs = t->abs;
	p->rel = t->rel;
	p->ulp = t->ulp;
	p->least[HRR_TYPED_FAR] = (float)(t->abs.value * (1 - SLIGHTLY));
	p->rel_d[HRR_TYPED_NEAR] = p->rel_d[HRR_TYPED_FAR] = p->rel_v = 0;
	/* Where distances are exact an equal one is not worse. */
	const float abs = (float)t->abs.value;
	p->least[HRR_TYPED_NEAR] =
	    (double)abs == t->abs.value ? nextafterf(abs, INFINITY) : p->least[HRR_TYPED_FAR];
	if (t->rel.value > 1e30) {
		/* Nothing is worse than what was 0. */
		p->fast = p->fast && isinf(t->rel.value);
		return;
	}
	p->rel_v = (float)frexp(v, &exponent);
	const double rel_d = ldexp(d, -exponent);
	p->rel_d[HRR_TYPED_FAR] = (float)(rel_d * (1 - SLIGHTLY));
	/* Products of numbers of so few digits are exact. */
	p->rel_d[HRR_TYPED_NEAR] = steps < few ? (float)rel_d : p->rel_d[HRR_TYPED_FAR];
}

/* --- the levels --- */

typedef void block(const void *a, const void *b, const struct hrr_typed_plan *p,
		   struct hrr_typed_sums *t, struct hrr_typed_bins *bins);

#define LEVEL(level)                                                                               \
	{                                                                                          \
		NULL, f16_##level, bf16_##level, f32_##level, f64_##level, i8_##level, u8_##level, \
		    i16_##level, u16_##level, i32_##level, u32_##level, i64_##level, u64_##level   \
	}

static block *const blocks[][HRR_TYPE_COUNT] = {LEVEL(portable),
#if defined(__x86_64__)
						LEVEL(avx2), LEVEL(avx512)
#endif
};

static enum hrr_typed_level best(void)
{
#if defined(__x86_64__)
	unsigned a, b, c = 0, d;

	__builtin_cpu_init();
	/* Not every compiler knows f16c by name. */
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_F16C) || !__builtin_cpu_supports("avx2"))
		return HRR_TYPED_PORTABLE;
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
		       __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
		       __builtin_cpu_supports("avx512vl")
		   ? HRR_TYPED_AVX512
		   : HRR_TYPED_AVX2;
#else
	return HRR_TYPED_PORTABLE;
#endif
}

static atomic_int level = -1; /* not known yet */

enum hrr_typed_level hrr_typed_limit(enum hrr_typed_level most)
{
	enum hrr_typed_level l = best();

	l = l < most ? l : most;
	atomic_store_explicit(&level, (int)l, memory_order_relaxed);
	return l;
}

void hrr_typed_block(enum hrr_type type, const void *a, const void *b,
		     const struct hrr_typed_plan *p, struct hrr_typed_sums *ret,
		     struct hrr_typed_bins *bins)
{
	int l = atomic_load_explicit(&level, memory_order_relaxed);

	if (l < 0)
		l = (int)hrr_typed_limit(HRR_TYPED_AVX512);
	blocks[l][type](a, b, p, ret, bins);
}
