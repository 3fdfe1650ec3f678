/* Loads and stores of every width whose lanes lie in memory in every way. */
#include "small.h"

typedef unsigned u2 __attribute__((ext_vector_type(2)));
typedef unsigned u4 __attribute__((ext_vector_type(4)));
typedef struct {
	unsigned x, y, z;
} u3;

/* from and to are elements of `in` and `out`, on says which lanes take part. */
#define MOVE(name, T)                                                                          \
	extern "C" __global__ void global_##name(const T *in, T *out, const int *from,         \
						 const int *to, const unsigned *on)            \
	{                                                                                      \
		const unsigned i = TID_X;                                                      \
		const int f = from[i], t = to[i];                                              \
		if (on[i])                                                                     \
			out[t] = in[f + 3];                                                    \
	}                                                                                      \
	extern "C" __global__ void lds_##name(const T *in, T *out, const int *from,            \
					      const int *to, const unsigned *on)               \
	{                                                                                      \
		__shared__ T a[256], b[256];                                                   \
		const unsigned i = TID_X;                                                      \
		const int f = from[i], t = to[i];                                              \
		for (unsigned k = i; k < 256; k += 64) {                                       \
			a[k] = in[k];                                                          \
			b[k] = out[k];                                                         \
		}                                                                              \
		SYNC;                                                                          \
		if (on[i])                                                                     \
			b[t] = a[f + 3];                                                       \
		SYNC;                                                                          \
		for (unsigned k = i; k < 256; k += 64)                                         \
			out[k] = b[k];                                                         \
	}
MOVE(u8, unsigned char)
MOVE(s8, signed char)
MOVE(u16, unsigned short)
MOVE(u32, unsigned)
MOVE(u64, u2)
MOVE(u96, u3)
MOVE(u128, u4)

/* Two loads by one instruction, the first into the register of the address. */
extern "C" __global__ void lds_pair(const unsigned *in, unsigned *out, const int *from, const int *to,
				    const unsigned *on)
{
	__shared__ unsigned a[256], b[256];
	const unsigned i = TID_X;
	const int f = from[i], t = to[i];
	for (unsigned k = i; k < 256; k += 64) {
		a[k] = in[k];
		b[k] = out[k];
	}
	SYNC;
	if (on[i]) {
#ifdef __gfx90a__
		const unsigned at = (unsigned)(__attribute__((address_space(3))) unsigned *)&a[f];
		unsigned x;
		asm volatile("v_mov_b32 v10, %1\n"
			     "ds_read2_b32 v[10:11], v10 offset1:3\n"
			     "s_waitcnt lgkmcnt(0)\n"
			     "v_xor_b32 %0, v10, v11"
			     : "=v"(x)
			     : "v"(at)
			     : "v10", "v11", "memory");
		b[t] = x;
#else
		b[t] = a[f] ^ a[f + 3];
#endif
	}
	SYNC;
	for (unsigned k = i; k < 128; k += 64) {
		out[k] = b[k];
		out[k + 128] = b[k + 128];
	}
}

/* A private array at one place for all lanes, and at one of each lane's own. */
extern "C" __global__ void scratch(const unsigned *in, unsigned *out, const int *from, const int *to,
				   const unsigned *on)
{
	volatile unsigned a[64];
	const unsigned i = TID_X;
	for (unsigned k = 0; k < 64; k++)
		a[k] = in[k] + i;
	if (on[i])
		a[from[i] & 63] = 7;
	if (on[i])
		out[to[i]] = a[5] + a[(from[i] + 1) & 63];
}
