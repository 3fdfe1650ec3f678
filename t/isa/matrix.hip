/* One matrix instruction per kernel, by the layout AMD's notes give; the host has the product. */
#include "small.h"
typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f8 __attribute__((ext_vector_type(8)));
typedef float f16 __attribute__((ext_vector_type(16)));
typedef float f32 __attribute__((ext_vector_type(32)));
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef _Float16 h8 __attribute__((ext_vector_type(8)));
typedef _Float16 h16 __attribute__((ext_vector_type(16)));
typedef short s4 __attribute__((ext_vector_type(4)));
typedef int i4 __attribute__((ext_vector_type(4)));
typedef int i8v __attribute__((ext_vector_type(8)));
typedef double d4 __attribute__((ext_vector_type(4)));

#define LANE (int)TID_X
/* A is M x K, B is K x N, D is M x N, row by row; C = 1 everywhere. */
#ifdef CDNA
extern "C" __global__ void m32x32x2f32(const float *A, const float *B, float *D)
{
	f16 c = 1;
	c = __builtin_amdgcn_mfma_f32_32x32x2f32(A[LANE % 32 * 2 + LANE / 32],
						 B[LANE / 32 * 32 + LANE % 32], c, 0, 0, 0);
	for (int v = 0; v < 16; v++)
		D[(v % 4 + 8 * (v / 4) + 4 * (LANE / 32)) * 32 + LANE % 32] = c[v];
}
extern "C" __global__ void m16x16x4f32(const float *A, const float *B, float *D)
{
	f4 c = 1;
	c = __builtin_amdgcn_mfma_f32_16x16x4f32(A[LANE % 16 * 4 + LANE / 16],
						 B[LANE / 16 * 16 + LANE % 16], c, 0, 0, 0);
	for (int v = 0; v < 4; v++)
		D[(v + 4 * (LANE / 16)) * 16 + LANE % 16] = c[v];
}
extern "C" __global__ void m16x16x16f16(const float *A, const float *B, float *D)
{
	f4 c = 1;
	h4 a, b;
	for (int e = 0; e < 4; e++) {
		a[e] = (_Float16)A[LANE % 16 * 16 + 4 * (LANE / 16) + e];
		b[e] = (_Float16)B[(4 * (LANE / 16) + e) * 16 + LANE % 16];
	}
	c = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);
	for (int v = 0; v < 4; v++)
		D[(v + 4 * (LANE / 16)) * 16 + LANE % 16] = c[v];
}
extern "C" __global__ void m32x32x8bf16(const float *A, const float *B, float *D)
{
	f16 c = 1;
	s4 a, b;
	for (int e = 0; e < 4; e++) {
		a[e] =
		    (short)(__builtin_bit_cast(unsigned, A[LANE % 32 * 8 + 4 * (LANE / 32) + e]) >>
			    16);
		b[e] = (short)(__builtin_bit_cast(unsigned,
						  B[(4 * (LANE / 32) + e) * 32 + LANE % 32]) >>
			       16);
	}
	c = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(a, b, c, 0, 0, 0);
	for (int v = 0; v < 16; v++)
		D[(v % 4 + 8 * (v / 4) + 4 * (LANE / 32)) * 32 + LANE % 32] = c[v];
}
extern "C" __global__ void m16x16x4f64(const float *A, const float *B, float *D)
{
	d4 c = 1;
	c = __builtin_amdgcn_mfma_f64_16x16x4f64(A[LANE % 16 * 4 + LANE / 16],
						 B[LANE / 16 * 16 + LANE % 16], c, 0, 0, 0);
	for (int v = 0; v < 4; v++)
		D[(4 * v + LANE / 16) * 16 + LANE % 16] = (float)c[v];
}
#ifdef OLD_I8
extern "C" __global__ void m16x16x16i8(const float *A, const float *B, float *D)
{
	i4 c = 1;
	int a = 0, b = 0;
	for (int e = 0; e < 4; e++) {
		a |= ((int)A[LANE % 16 * 16 + 4 * (LANE / 16) + e] & 255) << 8 * e;
		b |= ((int)B[(4 * (LANE / 16) + e) * 16 + LANE % 16] & 255) << 8 * e;
	}
	c = __builtin_amdgcn_mfma_i32_16x16x16i8(a, b, c, 0, 0, 0);
	for (int v = 0; v < 4; v++)
		D[(v + 4 * (LANE / 16)) * 16 + LANE % 16] = (float)c[v];
}
#endif
/* sixteen products of 4 x 4; only the block of lanes 8 to 11 is looked at */
extern "C" __global__ void m4x4x4f16(const float *A, const float *B, float *D)
{
	f4 c = 1;
	h4 a, b;
	for (int e = 0; e < 4; e++) {
		a[e] = (_Float16)(A[LANE % 4 * 4 + e] + (LANE / 4 == 2 ? 0 : 9));
		b[e] = (_Float16)B[e * 4 + LANE % 4];
	}
	c = __builtin_amdgcn_mfma_f32_4x4x4f16(a, b, c, 0, 0, 0);
	if (LANE / 4 == 2)
		for (int v = 0; v < 4; v++)
			D[v * 4 + LANE % 4] = c[v];
}
#elif defined(RDNA3)
extern "C" __global__ void m16x16x16f16(const float *A, const float *B, float *D)
{
	f8 c = 1;
	h16 a, b;
	for (int e = 0; e < 16; e++) {
		a[e] = (_Float16)A[LANE % 16 * 16 + e];
		b[e] = (_Float16)B[e * 16 + LANE % 16];
	}
	c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c);
	for (int v = 0; v < 8; v++)
		D[(2 * v + LANE / 16) * 16 + LANE % 16] = c[v];
}
extern "C" __global__ void m16x16x16f16_f16(const float *A, const float *B, float *D)
{
	h16 a, b, c = 1;
	for (int e = 0; e < 16; e++) {
		a[e] = (_Float16)A[LANE % 16 * 16 + e];
		b[e] = (_Float16)B[e * 16 + LANE % 16];
	}
	c = __builtin_amdgcn_wmma_f16_16x16x16_f16_w32(a, b, c, true);
	for (int v = 0; v < 8; v++)
		D[(2 * v + LANE / 16) * 16 + LANE % 16] = (float)c[2 * v + 1];
}
extern "C" __global__ void m16x16x16i8(const float *A, const float *B, float *D)
{
	i4 a = 0, b = 0;
	i8v c = 1;
	for (int e = 0; e < 16; e++) {
		a[e / 4] |= ((int)A[LANE % 16 * 16 + e] & 255) << 8 * (e % 4);
		b[e / 4] |= ((int)B[e * 16 + LANE % 16] & 255) << 8 * (e % 4);
	}
	c = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(true, a, true, b, c, false);
	for (int v = 0; v < 8; v++)
		D[(2 * v + LANE / 16) * 16 + LANE % 16] = (float)c[v];
}
#elif defined(RDNA4)
extern "C" __global__ void m16x16x16f16(const float *A, const float *B, float *D)
{
	f8 c = 1;
	h8 a, b;
	for (int e = 0; e < 8; e++) {
		a[e] = (_Float16)A[LANE % 16 * 16 + 8 * (LANE / 16) + e];
		b[e] = (_Float16)B[(8 * (LANE / 16) + e) * 16 + LANE % 16];
	}
	c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, c);
	for (int v = 0; v < 8; v++)
		D[(v + 8 * (LANE / 16)) * 16 + LANE % 16] = c[v];
}
#endif
