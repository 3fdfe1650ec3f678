#include "lib/diff/typed_block.h"

#include <math.h>
#include <string.h>

#define N HRR_TYPED_BLOCK

/* One copy of a function per width of vectors, chosen when the program starts. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WIDE __attribute__((target_clones("arch=skylake-avx512", "avx2", "default")))
#else
#define WIDE
#endif

/* A block on its way: distances in steps; bits that are set in pairs of finite numbers. */
struct steps_32 {
	uint32_t ulp[N], max;
	int32_t finite[N];
};

struct steps_64 {
	uint64_t ulp[N], max;
	int64_t finite[N];
};

static inline float of_bits(uint32_t u)
{
	float f;

	memcpy(&f, &u, sizeof f);
	return f;
}

/*
 * The functions of a type: bits is an unsigned integer of its size, place what a value's bits are
 * on the line of all values (typed.c), is_special whether they are no finite number, and number
 * is the value in binary64.
 */
#define TYPE(name, bits, width, place, is_special, number)                                         \
	WIDE static void distances_##name(const bits *x, const bits *y, struct steps_##width *s,   \
					  struct hrr_typed_sums *t)                                \
	{                                                                                          \
		uint##width##_t max = 0, special = 0, exact = 0;                                   \
		for (int i = 0; i < N; i++) {                                                      \
			const bits a = x[i], b = y[i];                                             \
			const int##width##_t p = place(a), q = place(b);                           \
			const uint##width##_t d = p < q ? (uint##width##_t)q - (uint##width##_t)p  \
							: (uint##width##_t)p - (uint##width##_t)q; \
			s->ulp[i] = d;                                                             \
			s->finite[i] = -1;                                                         \
			max = d > max ? d : max;                                                   \
			exact += a == b;                                                           \
			special |= (uint##width##_t)(is_special(a) | is_special(b));               \
		}                                                                                  \
		s->max = max;                                                                      \
		t->exact = (uint32_t)exact;                                                        \
		t->finite = N;                                                                     \
		if (special)                                                                       \
			specials_##name(x, y, s, t);                                               \
	}                                                                                          \
                                                                                                   \
	WIDE static void errors_##name(const bits *x, const bits *y,                               \
				       const struct steps_##width *s,                              \
				       const struct hrr_tolerance *tol,                            \
				       const struct hrr_typed *worst, struct hrr_typed_sums *t)    \
	{                                                                                          \
		const double atol = tol->atol, rtol = tol->rtol, abs = worst->abs.value,           \
			     rel = worst->rel.value;                                               \
		const uint##width##_t ulp =                                                        \
		    tol->ulp > UINT##width##_MAX ? UINT##width##_MAX : (uint##width##_t)tol->ulp;  \
		int##width##_t within = 0, worse = 0;                                              \
		for (int i = 0; i < N; i++) {                                                      \
			const bits a = x[i], b = y[i];                                             \
			const double v = number(a), d = fabs(v - number(b)), m = fabs(v);          \
			const int##width##_t differs = s->finite[i] & -(int##width##_t)(a != b);   \
			within -= differs & (-(int##width##_t)(d <= atol + rtol * m) |             \
					     -(int##width##_t)(s->ulp[i] <= ulp));                 \
			worse |= differs &                                                         \
				 (-(int##width##_t)(d > abs) | -(int##width##_t)(d > rel * m));    \
		}                                                                                  \
		t->within += (uint32_t)within;                                                     \
		t->worse = worse != 0 || s->max > worst->ulp.ulp;                                  \
	}

/*
 * All of it in binary32, for types of at most 32 bits, as far as it is sure: no pair of the block
 * is of other than finite numbers, is worse than the worst, lies at the edge of the tolerance, or
 * so near to 0 that products are not normal numbers. d and m, the distance and the size of the
 * first number, are rounded once each, and the margins are larger than what three roundings make.
 * false says that one has to look closer.
 */
struct bounds {
	bool usable;
	float atol, rtol; /* a little smaller */
	float beyond;	  /* what is so many times the tolerance is outside it */
	float abs, rel;	  /* d of the worst so far is less; a little smaller */
	uint32_t ulp;
};

static void bounds(struct bounds *r, const struct hrr_tolerance *tol, const struct hrr_typed *worst)
{
	const double less = 1 - 1e-6;

	r->usable = tol->atol < 1e30 && tol->rtol < 1e30;
	r->atol = (float)(tol->atol * less);
	r->rtol = (float)(tol->rtol * less);
	r->beyond = (float)(1 + 4e-6);
	r->rel = (float)(worst->rel.value * less);
	r->ulp = tol->ulp > UINT32_MAX ? UINT32_MAX : (uint32_t)tol->ulp;
	/* Where distances are exact, which is seen to later, an equal one is no reason to look. */
	r->abs = (float)worst->abs.value;
	if ((double)r->abs == worst->abs.value)
		r->abs = nextafterf(r->abs, INFINITY);
	else
		r->abs = (float)(worst->abs.value * less);
}

#define FAST(name, bits, place, is_special, distance, magnitude)                                \
	WIDE static bool fast_##name(const bits *x, const bits *y, struct steps_32 *s,          \
				     const struct bounds *r, struct hrr_typed_sums *t)          \
	{                                                                                       \
		const float atol = r->atol, rtol = r->rtol, beyond = r->beyond, abs = r->abs,   \
			    rel = r->rel;                                                       \
		const uint32_t ulp = r->ulp, small = to_bits(1e-36f) - 1;                       \
		uint32_t max = 0, exact = 0;                                                    \
		int32_t within = 0, unsure = 0;                                                 \
		for (int i = 0; i < N; i++) {                                                   \
			const bits a = x[i], b = y[i];                                          \
			const int32_t p = place(a), q = place(b);                               \
			const uint32_t u =                                                      \
			    p < q ? (uint32_t)q - (uint32_t)p : (uint32_t)p - (uint32_t)q;      \
			const float d = distance(a, b, u), m = magnitude(a),                    \
				    low = atol + rtol * m;                                      \
			const int32_t differs = -(int32_t)(a != b),                             \
				      in = -(int32_t)(d <= low) | -(int32_t)(u <= ulp),         \
				      out = -(int32_t)(d > low * beyond),                       \
				      worse = -(int32_t)(d >= abs) | -(int32_t)(d >= rel * m) | \
					      -(int32_t)(to_bits(d) - 1 < small);               \
			s->ulp[i] = u;                                                          \
			max = u > max ? u : max;                                                \
			exact += a == b;                                                        \
			within -= differs & in;                                                 \
			unsure |= (differs & (worse | ~(in | out))) |                           \
				  -(int32_t)(is_special(a) | is_special(b));                    \
		}                                                                               \
		s->max = max;                                                                   \
		t->exact = exact;                                                               \
		t->within = (uint32_t)within;                                                   \
		t->finite = N;                                                                  \
		return unsure == 0;                                                             \
	}

static inline uint32_t to_bits(float f)
{
	uint32_t u;

	memcpy(&u, &f, sizeof u);
	return u;
}

/* What is no finite number has no distance. */
#define SPECIALS(name, bits, width, size, infinity)                                        \
	static void specials_##name(const bits *x, const bits *y, struct steps_##width *s, \
				    struct hrr_typed_sums *t)                              \
	{                                                                                  \
		s->max = 0;                                                                \
		t->finite = 0;                                                             \
		for (int i = 0; i < N; i++) {                                              \
			const bits a = size(x[i]), b = size(y[i]);                         \
			const bool both = a < (infinity) && b < (infinity);                \
			t->nan[0] += a > (infinity);                                       \
			t->nan[1] += b > (infinity);                                       \
			t->inf[0] += a == (infinity);                                      \
			t->inf[1] += b == (infinity);                                      \
			t->both_nan += a > (infinity) && b > (infinity) && x[i] != y[i];   \
			t->finite += both;                                                 \
			s->finite[i] = -(int##width##_t)both;                              \
			s->ulp[i] = both ? s->ulp[i] : 0;                                  \
			s->max = s->ulp[i] > s->max ? s->ulp[i] : s->max;                  \
		}                                                                          \
	}
#define NO_SPECIALS(name, bits, width)                                                     \
	static void specials_##name(const bits *x, const bits *y, struct steps_##width *s, \
				    struct hrr_typed_sums *t)                              \
	{                                                                                  \
		(void)x;                                                                   \
		(void)y;                                                                   \
		(void)s;                                                                   \
		(void)t;                                                                   \
	}

#define SIZE_16(u) ((uint16_t)((u)&0x7fffu))
#define SIZE_32(u) ((u)&0x7fffffffu)
#define SIZE_64(u) ((u)&0x7fffffffffffffffu)
#define LINE_16(u) ((u)&0x8000u ? -(int32_t)((u)&0x7fffu) : (int32_t)((u)&0x7fffu))
#define LINE_32(u) ((u) >> 31 ? -(int32_t)SIZE_32(u) : (int32_t)(u))
#define LINE_64(u) ((u) >> 63 ? -(int64_t)SIZE_64(u) : (int64_t)(u))
#define PLACE_I8(u) ((int8_t)(u))
#define PLACE_I16(u) ((int16_t)(u))
#define PLACE_I32(u) ((int32_t)(u))
#define PLACE_U32(u) ((int32_t)((u) ^ 0x80000000u))
#define PLACE_I64(u) ((int64_t)(u))
#define PLACE_U64(u) ((int64_t)((u) ^ 0x8000000000000000u))
#define PLAIN(u) (u)
#define IS_F16(u) (SIZE_16(u) >= 0x7c00)
#define IS_BF16(u) (SIZE_16(u) >= 0x7f80)
#define IS_F32(u) (SIZE_32(u) >= 0x7f800000u)
#define IS_F64(u) (SIZE_64(u) >= (uint64_t)0x7ff << 52)
#define NEVER(u) 0
/* A half is a binary32 of another bias; 2^112 mends it, of subnormal ones too. */
#define NUMBER_F16(u) \
	((double)(of_bits((uint32_t)SIZE_16(u) << 13 | ((uint32_t)(u)&0x8000u) << 16) * 0x1p112f))
#define NUMBER_BF16(u) ((double)of_bits((uint32_t)(u) << 16))
#define NUMBER_F32(u) ((double)of_bits(u))
#define NUMBER_I8(u) ((double)(int8_t)(u))
#define NUMBER_I16(u) ((double)(int16_t)(u))
#define NUMBER_I32(u) ((double)(int32_t)(u))
#define NUMBER_I64(u) ((double)(int64_t)(u))
#define NUMBER_U(u) ((double)(u))

static inline double number_f64(uint64_t u)
{
	double d;

	memcpy(&d, &u, sizeof d);
	return d;
}

SPECIALS(f16, uint16_t, 32, SIZE_16, 0x7c00)
SPECIALS(bf16, uint16_t, 32, SIZE_16, 0x7f80)
SPECIALS(f32, uint32_t, 32, SIZE_32, 0x7f800000u)
SPECIALS(f64, uint64_t, 64, SIZE_64, (uint64_t)0x7ff << 52)
NO_SPECIALS(i8, uint8_t, 32)
NO_SPECIALS(u8, uint8_t, 32)
NO_SPECIALS(i16, uint16_t, 32)
NO_SPECIALS(u16, uint16_t, 32)
NO_SPECIALS(i32, uint32_t, 32)
NO_SPECIALS(u32, uint32_t, 32)
NO_SPECIALS(i64, uint64_t, 64)
NO_SPECIALS(u64, uint64_t, 64)

TYPE(f16, uint16_t, 32, LINE_16, IS_F16, NUMBER_F16)
TYPE(bf16, uint16_t, 32, LINE_16, IS_BF16, NUMBER_BF16)
TYPE(f32, uint32_t, 32, LINE_32, IS_F32, NUMBER_F32)
TYPE(f64, uint64_t, 64, LINE_64, IS_F64, number_f64)
TYPE(i8, uint8_t, 32, PLACE_I8, NEVER, NUMBER_I8)
TYPE(u8, uint8_t, 32, PLAIN, NEVER, NUMBER_U)
TYPE(i16, uint16_t, 32, PLACE_I16, NEVER, NUMBER_I16)
TYPE(u16, uint16_t, 32, PLAIN, NEVER, NUMBER_U)
TYPE(i32, uint32_t, 32, PLACE_I32, NEVER, NUMBER_I32)
TYPE(u32, uint32_t, 32, PLACE_U32, NEVER, NUMBER_U)
TYPE(i64, uint64_t, 64, PLACE_I64, NEVER, NUMBER_I64)
TYPE(u64, uint64_t, 64, PLACE_U64, NEVER, NUMBER_U)

#define FAST_F16(u) of_bits((uint32_t)SIZE_16(u) << 13 | ((uint32_t)(u)&0x8000u) << 16) * 0x1p112f
#define DISTANCE_F16(a, b, u) fabsf(FAST_F16(a) - FAST_F16(b))
#define DISTANCE_BF16(a, b, u) fabsf(of_bits((uint32_t)(a) << 16) - of_bits((uint32_t)(b) << 16))
#define DISTANCE_F32(a, b, u) fabsf(of_bits(a) - of_bits(b))
#define DISTANCE_INT(a, b, u) ((float)(u))
#define SIZE_OF_F16(a) fabsf(FAST_F16(a))
#define SIZE_OF_BF16(a) of_bits((uint32_t)SIZE_16(a) << 16)
#define SIZE_OF_F32(a) of_bits(SIZE_32(a))
#define SIZE_OF_I8(a) fabsf((float)(int8_t)(a))
#define SIZE_OF_I16(a) fabsf((float)(int16_t)(a))
#define SIZE_OF_I32(a) fabsf((float)(int32_t)(a))
#define SIZE_OF_U(a) ((float)(a))

FAST(f16, uint16_t, LINE_16, IS_F16, DISTANCE_F16, SIZE_OF_F16)
FAST(bf16, uint16_t, LINE_16, IS_BF16, DISTANCE_BF16, SIZE_OF_BF16)
FAST(f32, uint32_t, LINE_32, IS_F32, DISTANCE_F32, SIZE_OF_F32)
FAST(i8, uint8_t, PLACE_I8, NEVER, DISTANCE_INT, SIZE_OF_I8)
FAST(u8, uint8_t, PLAIN, NEVER, DISTANCE_INT, SIZE_OF_U)
FAST(i16, uint16_t, PLACE_I16, NEVER, DISTANCE_INT, SIZE_OF_I16)
FAST(u16, uint16_t, PLAIN, NEVER, DISTANCE_INT, SIZE_OF_U)
FAST(i32, uint32_t, PLACE_I32, NEVER, DISTANCE_INT, SIZE_OF_I32)
FAST(u32, uint32_t, PLACE_U32, NEVER, DISTANCE_INT, SIZE_OF_U)

/* --- bins: the number of binary digits of each distance --- */

#define FEW 8 /* bins that are counted by comparing; more, one by one */

WIDE static uint32_t at_least_32(const uint32_t *u, uint32_t least)
{
	uint32_t n = 0;

	for (int i = 0; i < N; i++)
		n += u[i] >= least;
	return n;
}

WIDE static uint64_t at_least_64(const uint64_t *u, uint64_t least)
{
	uint64_t n = 0;

	for (int i = 0; i < N; i++)
		n += u[i] >= least;
	return n;
}

/* Binary digits of u by the exponent of u as a binary32. Below its highest bit one is cleared,
 * so that nothing is rounded up to the next power of two. */
static inline uint32_t digits(uint32_t u)
{
	float f = (float)(int32_t)(u & ~(u >> 1) & 0x7fffffffu);
	uint32_t e, top = -(u >> 31);

	memcpy(&e, &f, sizeof e);
	e >>= 23;
	e = (e > 126 ? e : 126) - 126;
	return (e & ~top) | (32 & top);
}

WIDE static void digits_32(const uint32_t *u, uint8_t *ret)
{
	for (int i = 0; i < N; i++)
		ret[i] = (uint8_t)digits(u[i]);
}

WIDE static void digits_64(const uint64_t *u, uint8_t *ret)
{
	for (int i = 0; i < N; i++) {
		uint32_t high = (uint32_t)(u[i] >> 32), low = (uint32_t)u[i],
			 is_high = -(uint32_t)(high != 0);

		ret[i] = (uint8_t)(((digits(high) + 32) & is_high) | (digits(low) & ~is_high));
	}
}

/* Four counts of each, so that none waits for the last. */
static void count(const uint8_t *digit, struct hrr_typed_bins *b)
{
	for (int i = 0; i < N; i += 4) {
		b->n[0][digit[i]]++;
		b->n[1][digit[i + 1]]++;
		b->n[2][digit[i + 2]]++;
		b->n[3][digit[i + 3]]++;
	}
}

#define BINS(width)                                                                         \
	static void bins_##width(const struct steps_##width *s, uint32_t finite,            \
				 struct hrr_typed_bins *bins)                               \
	{                                                                                   \
		uint8_t digit[N];                                                           \
		size_t more = finite, n;                                                    \
		if (s->max < 1u << FEW) {                                                   \
			for (int b = 0; more; b++, more = n) {                              \
				n = s->max >> b                                             \
					? at_least_##width(s->ulp, (uint##width##_t)1 << b) \
					: 0;                                                \
				bins->n[0][b] += more - n;                                  \
			}                                                                   \
			return;                                                             \
		}                                                                           \
		digits_##width(s->ulp, digit);                                              \
		count(digit, bins);                                                         \
		bins->n[0][0] -= N - finite; /* what is no number stood there as 0 */       \
	}

BINS(32)
BINS(64)

static bool aligned(const void *p, size_t size)
{
	return (uintptr_t)p % size == 0;
}

void hrr_typed_block(enum hrr_type type, const void *a, const void *b,
		     const struct hrr_tolerance *tol, const struct hrr_typed *worst,
		     struct hrr_typed_sums *ret, struct hrr_typed_bins *bins)
{
	/* Numbers fewer steps apart have a distance that binary32 holds: within a factor of 2, or
	 * with so many digits fewer. */
	static const uint32_t exact[HRR_TYPE_COUNT] = {
	    [HRR_TYPE_F16] = 12 << 10, [HRR_TYPE_BF16] = 16 << 7, [HRR_TYPE_F32] = 1 << 23,
	    [HRR_TYPE_I8] = 1 << 24,   [HRR_TYPE_U8] = 1 << 24,	  [HRR_TYPE_I16] = 1 << 24,
	    [HRR_TYPE_U16] = 1 << 24,  [HRR_TYPE_I32] = 1 << 24,  [HRR_TYPE_U32] = 1 << 24};
	struct bounds r;

	bounds(&r, tol, worst);
	bool fast = !ret->unsure && r.usable;
	*ret = (struct hrr_typed_sums){0};
	switch (type) {
#define CASE(t, name, bits, width, sure)                                                       \
	case t: {                                                                              \
		bits copy[2][N];                                                               \
		const bits *x = a, *y = b;                                                     \
		struct steps_##width s;                                                        \
		if (!aligned(a, sizeof(bits)) || !aligned(b, sizeof(bits))) {                  \
			x = memcpy(copy[0], a, sizeof copy[0]);                                \
			y = memcpy(copy[1], b, sizeof copy[1]);                                \
		}                                                                              \
		if (fast && memcmp(x, y, sizeof copy[0]) != 0 && (sure) && s.max < exact[t]) { \
			ret->worse = s.max > worst->ulp.ulp;                                   \
		} else {                                                                       \
			*ret = (struct hrr_typed_sums){.unsure = true};                        \
			distances_##name(x, y, &s, ret);                                       \
			if (ret->exact == N)                                                   \
				ret->unsure = false;                                           \
			else                                                                   \
				errors_##name(x, y, &s, tol, worst, ret);                      \
		}                                                                              \
		if (bins)                                                                      \
			bins_##width(&s, ret->finite, bins);                                   \
		break;                                                                         \
	}
		CASE(HRR_TYPE_F16, f16, uint16_t, 32, fast_f16(x, y, &s, &r, ret))
		CASE(HRR_TYPE_BF16, bf16, uint16_t, 32, fast_bf16(x, y, &s, &r, ret))
		CASE(HRR_TYPE_F32, f32, uint32_t, 32, fast_f32(x, y, &s, &r, ret))
		CASE(HRR_TYPE_F64, f64, uint64_t, 64, false)
		CASE(HRR_TYPE_I8, i8, uint8_t, 32, fast_i8(x, y, &s, &r, ret))
		CASE(HRR_TYPE_U8, u8, uint8_t, 32, fast_u8(x, y, &s, &r, ret))
		CASE(HRR_TYPE_I16, i16, uint16_t, 32, fast_i16(x, y, &s, &r, ret))
		CASE(HRR_TYPE_U16, u16, uint16_t, 32, fast_u16(x, y, &s, &r, ret))
		CASE(HRR_TYPE_I32, i32, uint32_t, 32, fast_i32(x, y, &s, &r, ret))
		CASE(HRR_TYPE_U32, u32, uint32_t, 32, fast_u32(x, y, &s, &r, ret))
		CASE(HRR_TYPE_I64, i64, uint64_t, 64, false)
		CASE(HRR_TYPE_U64, u64, uint64_t, 64, false)
#undef CASE
	case HRR_TYPE_NONE:
	case HRR_TYPE_COUNT:
		break;
	}
	if (tol->equal_nan)
		ret->within += ret->both_nan;
}
