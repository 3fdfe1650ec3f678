/* Structures and vectors with gaps, stored member by member and copied whole, in device memory and
 * in LDS: nothing is read that matters and that nothing wrote. */
#include <hip/hip_runtime.h>

#include "app.h"

#define N 256

struct gaps {
	char a, b, c;
	short d;
	char e;
	int f;
};

__global__ void fill(gaps *g, uchar3 *v)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	g[i].a = (char)i;
	g[i].b = 1;
	g[i].c = 2;
	g[i].d = (short)(3 * i);
	g[i].e = 5;
	g[i].f = 7 * i;
	v[i].x = (unsigned char)i;
	v[i].y = 9;
	v[i].z = 11;
}

__global__ void copy(const gaps *from, gaps *to, const unsigned *v, unsigned *w)
{
	__shared__ gaps s[64];
	__shared__ unsigned part[64];
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), t = (int)threadIdx.x;

	s[t] = from[i];
	((unsigned char *)part)[4 * t] = (unsigned char)(t + 1); /* one byte of a dword */
	__syncthreads();
	to[i ^ 1] = s[t ^ 1];
	w[i] = (part[t] & 255) + (i < 3 * N / 4 ? v[i] : 0);
}

int main(int, char **argv)
{
	gaps *a, *b, h[N];
	uchar3 *v;
	unsigned *w, g[N];

	app_begin(argv[0], 1);
	CHECK(hipMalloc(&a, sizeof h));
	CHECK(hipMalloc(&b, sizeof h));
	CHECK(hipMalloc(&v, 3 * N));
	CHECK(hipMalloc(&w, sizeof g));
	fill<<<N / 64, 64>>>(a, v);
	copy<<<N / 64, 64>>>(a, b, (const unsigned *)v, w);
	CHECK(hipMemcpy(h, b, sizeof h, hipMemcpyDeviceToHost));
	CHECK(hipMemcpy(g, w, sizeof g, hipMemcpyDeviceToHost));
	for (int i = 0; i < N; i++) {
		unsigned x = (unsigned)(i % 64 + 1), word = 0;

		if (h[i].a != (char)i || h[i].d != (short)(3 * i) || h[i].e != 5 || h[i].f != 7 * i)
			app_wrong("structure %d is not what it was", i);
		for (int k = 0; i < 3 * N / 4 && k < 4; k++) {
			int at = 4 * i + k;
			unsigned byte = at % 3 == 0   ? (unsigned)(at / 3) & 255
					: at % 3 == 1 ? 9
						      : 11;
			word |= byte << (8 * k);
		}
		if (g[i] != x + word)
			app_wrong("word %d is %x, not %x", i, g[i], x + word);
	}
	printf("padding: %d structures are right\n", N);
	return 0;
}
