/*
 * Algorithms that a kernel and the host compute by the same source: t/unit/isa_algos.c
 * includes this file too. Every compiler, arch and level of optimisation has to give the
 * same bits. A function gets the work-item's number and returns a hash.
 */
typedef unsigned int u32_t;
typedef unsigned long long u64_t;
typedef signed long long i64_t;

#ifdef __HIP__
#define DEV static __attribute__((device))
#define APART __attribute__((noinline))
#define HALF(x) ((float)(_Float16)(x))
#else
#define DEV static
#define APART __attribute__((noinline))
#define HALF(x) host_half(x) /* to the nearest half */
static float host_half(float x);
#endif

DEV u32_t mix(u32_t h, u32_t v)
{
	h ^= v + 0x9e3779b9u + (h << 6) + (h >> 2);
	return h * 0x85ebca6bu ^ h >> 13;
}
DEV u32_t mix64(u32_t h, u64_t v)
{
	return mix(mix(h, (u32_t)v), (u32_t)(v >> 32));
}
DEV u32_t bits_f(float f)
{
	u32_t u;
	__builtin_memcpy(&u, &f, 4);
	return f != f ? 0x7fc00000u : u;
}
DEV u64_t bits_d(double d)
{
	u64_t u;
	__builtin_memcpy(&u, &d, 8);
	return d != d ? 0x7ff8000000000000ull : u;
}
DEV u32_t next(u32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed ^ *seed >> 15;
}
DEV u64_t next64(u32_t *seed)
{
	u64_t hi = next(seed);

	return hi << 32 | next(seed);
}

/* Insertion sort in a private array that is indexed at run time. */
DEV u32_t sorted(u32_t i)
{
	u32_t v[24], h = 1, n = 4 + i % 20, seed = i;

	for (u32_t k = 0; k < n; k++)
		v[k] = next(&seed);
	for (u32_t k = 1; k < n; k++) {
		u32_t x = v[k], at = k;
		for (; at > 0 && v[at - 1] > x; at--)
			v[at] = v[at - 1];
		v[at] = x;
	}
	for (u32_t k = 0; k < n; k++)
		h = mix(h, v[k]);
	return h;
}

DEV APART u32_t depth(u32_t n, u32_t h)
{
	if (n == 0)
		return h;
	/* not the last thing done: no loop can be made of it */
	return mix(depth(n - 1, h + n), depth(n / 3, h ^ n));
}
DEV u32_t recursed(u32_t i)
{
	return depth(i % 9, i);
}

DEV APART u32_t op_add(u32_t a, u32_t b)
{
	return a + b;
}
DEV APART u32_t op_mul(u32_t a, u32_t b)
{
	return a * b;
}
DEV APART u32_t op_rot(u32_t a, u32_t b)
{
	return a << (b & 31) | a >> (-b & 31);
}
DEV u32_t called(u32_t i)
{
	u32_t (*f[3])(u32_t, u32_t) = {op_add, op_mul, op_rot};
	u32_t h = i;

	for (u32_t k = 0; k < 6; k++)
		h = f[(h + k) % 3](h, k + 7);
	return h;
}

DEV u32_t switched(u32_t i)
{
	u32_t h = i;

	for (u32_t k = 0; k < 8; k++)
		switch ((h >> 3) % 12) {
		case 0:
			h += 17;
			break;
		case 1:
			h *= 3;
			break;
		case 2:
			h ^= 0x5a5a;
			break;
		case 3:
			h = ~h; /* and on */
		case 4:
			h -= k;
			break;
		case 5:
			h = h << 3 | h >> 29;
			break;
		case 6:
			h ^= h >> 7;
			break;
		case 7:
			h += h << 5;
			break;
		case 8:
			h = h / 3;
			break;
		case 9:
			h = h % 1000003;
			break;
		case 10:
			return h + k;
		default:
			h++;
		}
	return h;
}

DEV u32_t wide(u32_t i)
{
	u32_t seed = i, h = 2;
	u64_t high = next64(&seed);
	unsigned __int128 a = (unsigned __int128)high << 64 | next64(&seed);
	unsigned __int128 b = next64(&seed);

	for (u32_t k = 0; k < 4; k++) {
		a = a * b + (a >> (k * 17 + 1)) - ((unsigned __int128)i << (k * 31));
		h = mix64(mix64(h, (u64_t)a), (u64_t)(a >> 64));
		h += a > b;
		h += (__int128)a < 0;
	}
	return h;
}

DEV u32_t divided(u32_t i)
{
	u32_t seed = i, h = 3;

	for (u32_t k = 0; k < 6; k++) {
		u64_t a = next64(&seed), b = next64(&seed);

		a >>= next(&seed) & 63;
		b >>= next(&seed) & 63;
		i64_t c = (i64_t)(a << 1), d = (i64_t)b - 5;
		u32_t e = (u32_t)a, f = (u32_t)b | 1;

		b += b == 0;
		d = d == 0 || d == -1 ? 7 : d; /* -1: the one that overflows */
		h = mix64(mix64(h, a / b), a % b);
		h = mix64(mix64(h, (u64_t)(c / d)), (u64_t)(c % d));
		h = mix(mix(h, e / f), (u32_t)((int)e % (int)(f >> 1 | 2)));
	}
	return h;
}

DEV u32_t floats(u32_t i)
{
	u32_t seed = i, h = 4;

	for (u32_t k = 0; k < 6; k++) {
		u32_t u = next(&seed), v = next(&seed);
		float a, b, c;

		__builtin_memcpy(&a, &u, 4);
		__builtin_memcpy(&b, &v, 4);
		c = a * b;
		h = mix(h, bits_f(c));
		c = a + b;
		h = mix(h, bits_f(c));
		c = a / b;
		h = mix(h, bits_f(c));
		/* not of denormals: clang 15 leaves those to hardware, which takes them for 0 */
		c = __builtin_sqrtf(__builtin_fabsf(a) + 0x1p-100f);
		h = mix(h, bits_f(c));
		c = __builtin_fmaf(a, b, 1.5f);
		h = mix(h, bits_f(c));
		h = mix(h, bits_f(__builtin_floorf(a)) ^ bits_f(__builtin_truncf(b)));
		h = mix(h, (a < b) + 2 * (a == a) + 4 * (a >= b));
		/* around the least normal number */
		c = (1.0f + (float)(u & 0xffff) * 0x1p-17f) * 0x1p-126f;
		c = c * 0.37f;
		h = mix(h, bits_f(c));
		h = mix(h, (u32_t)(int)(c * 0x1p120f * 0x1p20f));
	}
	return h;
}

DEV u32_t doubles(u32_t i)
{
	u32_t seed = i, h = 5;

	for (u32_t k = 0; k < 4; k++) {
		double a = (double)(i64_t)next64(&seed) * 0x1p-31, b = (double)next64(&seed) + 0.5,
		       c;

		c = a / b;
		h = mix64(h, bits_d(c));
		c = __builtin_sqrt(b);
		h = mix64(h, bits_d(c));
		c = __builtin_fma(a, b, c);
		h = mix64(h, bits_d(c));
		h = mix64(h, (u64_t)(i64_t)(a * 0.001));
		h = mix(h, bits_f((float)c));
		c = 0x1p-1022 * (1 + (a < 0 ? -a : a) * 0x1p-40) * 0.01;
		h = mix64(h, bits_d(c));
		h = mix64(h, bits_d(__builtin_floor(a) + __builtin_trunc(b)));
	}
	return h;
}

DEV u32_t halves(u32_t i)
{
	u32_t seed = i, h = 6;

	for (u32_t k = 0; k < 8; k++) {
		/* one operation at a time: each is rounded once */
		float a = HALF((float)(int)(next(&seed) % 4001) - 2000);
		float b = HALF((float)(next(&seed) % 977) * 0.125f);

		h = mix(h, bits_f(HALF(a + b)));
		/* compilers make fma(a, b, 0) of it, whose zero has another sign */
		h = mix(h, bits_f(HALF(a * b) + 0.0f));
		h = mix(h, bits_f(HALF(b * 0x1p-20f)));
		h = mix(h, a < b);
	}
	return h;
}

struct record {
	u32_t a[5];
	double d;
	unsigned char c;
	short s;
	u32_t field : 11, sign : 5;
};
DEV APART struct record turned(struct record r, u32_t by)
{
	for (u32_t k = 0; k < 5; k++)
		r.a[k] = r.a[(k + by) % 5] + k;
	r.d = r.d * 2 + by;
	r.c = (unsigned char)(r.c + by);
	r.s = (short)(r.s * 3);
	r.field += by;
	r.sign ^= by;
	return r;
}
DEV u32_t by_value(u32_t i)
{
	struct record r = {{i, i + 1, i * 3, ~i, i >> 2},
			   i * 0.25,
			   (unsigned char)i,
			   (short)(i * 7),
			   i & 2047,
			   i & 31};
	u32_t h = 7;

	for (u32_t k = 0; k < 3; k++)
		r = turned(r, i + k);
	for (u32_t k = 0; k < 5; k++)
		h = mix(h, r.a[k]);
	return mix(mix(mix64(h, bits_d(r.d)), r.c), (u32_t)r.s) ^ (r.field << 5 | r.sign);
}

DEV u32_t small(u32_t i)
{
	signed char c = (signed char)i;
	unsigned char u = (unsigned char)(i * 5);
	short s = (short)(i * 257);
	unsigned short t = (unsigned short)~i;
	u32_t h = 8;

	for (u32_t k = 0; k < 5; k++) {
		c = (signed char)(c * 3 + (c >> 2));
		u = (unsigned char)(u / 3 + k);
		s = (short)(s - c * 100);
		t = (unsigned short)(t % 251 + (t << 3));
		h = mix(h, (u32_t)(c + s) ^ (u32_t)(u * t));
	}
	return mix(h, (u32_t)(__builtin_popcount(h) * 64 + __builtin_clz(h | 1) +
			      __builtin_ctzll((u64_t)h << 20 | 1ull << 40)));
}

/* X(name): each is a kernel of its own, too. */
#define ALGOS(X)                                                                            \
	X(sorted)                                                                           \
	X(recursed)                                                                         \
	X(called) X(switched) X(wide) X(divided) X(floats) X(doubles) X(halves) X(by_value) \
	    X(small)

#ifdef __HIP__
#include "small.h"

#define KERNEL(name)                                           \
	extern "C" __global__ void k_##name(u32_t *out, int n) \
	{                                                      \
		int i = BID_X * BDIM_X + TID_X;                \
		if (i < n)                                     \
			out[i] = name(i);                      \
	}
ALGOS(KERNEL)

/* What a workgroup of 256 does together. */
extern "C" __global__ __launch_bounds__(256) void g_sort(u32_t *v)
{
	__shared__ u32_t s[256];
	u32_t t = TID_X;

	s[t] = v[BID_X * 256 + t];
	SYNC;
	for (u32_t k = 2; k <= 256; k *= 2)
		for (u32_t j = k / 2; j > 0; j /= 2) {
			u32_t o = t ^ j;
			if (o > t && (s[t] > s[o]) == ((t & k) == 0)) {
				u32_t x = s[t];
				s[t] = s[o];
				s[o] = x;
			}
			SYNC;
		}
	v[BID_X * 256 + t] = s[t];
}
extern "C" __global__ __launch_bounds__(256) void g_scan(u32_t *v)
{
	__shared__ u32_t s[2][256];
	u32_t t = TID_X, from = 0;

	s[0][t] = v[BID_X * 256 + t];
	SYNC;
	for (u32_t d = 1; d < 256; d *= 2, from ^= 1) {
		s[from ^ 1][t] = s[from][t] + (t >= d ? s[from][t - d] : 0);
		SYNC;
	}
	v[BID_X * 256 + t] = s[from][t];
}
/* Counts of 64 values: in LDS, then added to all. */
extern "C" __global__ __launch_bounds__(256) void g_count(u32_t *v, u32_t *counts)
{
	__shared__ u32_t s[64];
	u32_t t = TID_X;

	if (t < 64)
		s[t] = 0;
	SYNC;
	__hip_atomic_fetch_add(&s[v[BID_X * 256 + t] % 64], 1u, __ATOMIC_RELAXED,
			       __HIP_MEMORY_SCOPE_WORKGROUP);
	SYNC;
	if (t < 64)
		__hip_atomic_fetch_add(&counts[t], s[t], __ATOMIC_RELAXED,
				       __HIP_MEMORY_SCOPE_AGENT);
}
/* A tree of doubles, and LDS that the launch asks for. */
extern __attribute__((shared)) double tree[];
extern "C" __global__ __launch_bounds__(256) void g_tree(u32_t *v, double *sums)
{
	u32_t t = TID_X;

	tree[t] = v[BID_X * 256 + t] / 3.0;
	SYNC;
	for (u32_t h = 128; h > 0; h /= 2) {
		if (t < h)
			tree[t] = tree[t] + tree[t + h];
		SYNC;
	}
	if (t == 0)
		sums[BID_X] = tree[0];
}
/* Through the lanes of each wave: a sum by exchange, and how many lanes are odd. */
extern "C" __global__ __launch_bounds__(256) void g_lanes(u32_t *v, u32_t *sums)
{
	u32_t x = v[BID_X * 256 + TID_X], lane = TID_X % 32, odd = 0;

	for (u32_t d = 1; d < 32; d *= 2)
		x += (u32_t)__builtin_amdgcn_ds_bpermute((int)((TID_X ^ d) * 4), (int)x);
	if (v[BID_X * 256 + TID_X] & 1)
		odd = 1;
	for (u32_t d = 1; d < 32; d *= 2)
		odd += (u32_t)__builtin_amdgcn_ds_bpermute((int)((TID_X ^ d) * 4), (int)odd);
	if (lane == 0) {
		__hip_atomic_fetch_add(&sums[0], x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
		__hip_atomic_fetch_add(&sums[1], odd, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
	}
}
/* 20 x 6 x 4 work-items, 10 x 3 x 2 in a workgroup. */
extern "C" __global__ void g_grid(u32_t *out)
{
	u32_t x = BID_X * 10 + TID_X, y = BID_Y * 3 + TID_Y, z = BID_Z * 2 + TID_Z;

	out[(z * 6 + y) * 20 + x] = x | y << 8 | z << 16;
}
#endif
