/*
 * The loops every lane function is made of. Included once per variant, without
 * a guard: names get the variant's suffix.
 */
#undef FN
#undef FN_
#undef FN__
#define FN__(name, variant) name##_##variant
#define FN_(name, variant) FN__(name, variant)
#define FN(name) FN_(name, VARIANT)

#if defined(__clang__)
#define IVDEP /* clang warns about each loop it cannot vectorise, such as under strict rounding */
#else
#define IVDEP _Pragma("GCC ivdep")
#endif

/*
 * Lanes in blocks of 32, so that a wave of 32 does no more than it must. Lanes
 * are independent: lane i only touches element i of each row.
 */
#define LANES(...)                                       \
	for (size_t b_ = 0; b_ < w->lanes; b_ += 32) {   \
		IVDEP for (size_t k_ = 0; k_ < 32; k_++) \
		{                                        \
			const size_t i = b_ + k_;        \
			__VA_ARGS__                      \
		}                                        \
	}

#ifdef MODE_AWARE /* seldom run: not worth a second copy of each loop without the mask */
#define IS_FULL false
#else
#define IS_FULL (isa_exec(w) == w->full)
#endif

#ifndef SAME_VARIANT /* included again in the same variant */
/* Packs 64 dwords of 0 or ~0 into bits. */
static inline __attribute__((always_inline, unused)) u64 FN(pack)(const u32 *r, u32 lanes)
{
	u64 m = 0;

#if VARIANT_LEVEL == 2 && defined(__x86_64__)
	for (unsigned i = 0; i < lanes; i += 16)
		m |= (u64)_mm512_movepi32_mask(_mm512_loadu_si512((const void *)(r + i))) << i;
#elif VARIANT_LEVEL == 1 && defined(__x86_64__)
	for (unsigned i = 0; i < lanes; i += 8)
		m |= (u64)(u32)_mm256_movemask_ps(_mm256_loadu_ps((const float *)(r + i))) << i;
#elif defined(__x86_64__)
	for (unsigned i = 0; i < lanes; i += 4)
		m |= (u64)(u32)_mm_movemask_ps(_mm_loadu_ps((const float *)(r + i))) << i;
#else
	for (unsigned i = 0; i < lanes; i++)
		m |= (u64)(r[i] >> 31) << i;
#endif
	return m;
}

/* Bits to 64 dwords of 0 or ~0. */
static inline __attribute__((always_inline, unused)) void FN(spread)(u64 m, u32 *r)
{
	static const u32 bit[32] = {
	    1u << 0,  1u << 1,	1u << 2,  1u << 3,  1u << 4,  1u << 5,	1u << 6,  1u << 7,
	    1u << 8,  1u << 9,	1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
	    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
	    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

	for (unsigned h = 0; h < 64; h += 32) {
		const u32 half = (u32)(m >> h);
		for (unsigned i = 0; i < 32; i++)
			r[h + i] = half & bit[i] ? ~0u : 0u;
	}
}
/* EXEC as dwords, cached in the wave. */
static inline __attribute__((always_inline, unused)) const u32 *FN(lane_mask)(struct isa_wave *w)
{
	const u64 e = isa_exec(w);

	if (e != w->mask_exec) {
		FN(spread)(e, w->mask);
		w->mask_exec = e;
	}
	return w->mask;
}
#endif
