/* structarg [SEED]: structures passed by value that hold device addresses, one
 * aligned, one packed so that its addresses stand at odd byte offsets, one with
 * an array of addresses and a second level of structure. */
#include <hip/hip_runtime.h>
#include "app.h"

#define N 3000

struct aligned_args {
	const float *x;
	int n;
	float a;
	float *out;
};

struct __attribute__((packed)) packed_args {
	char tag;
	const float *x;
	short n;
	float *out;
};

struct nested_args {
	int count;
	struct {
		const float *in[3];
		char pad;
	} from;
	float *out;
	unsigned long long not_an_address;
};

__global__ void add_aligned(struct aligned_args p)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < p.n)
		p.out[i] = p.x[i] + p.a;
}

__global__ void add_packed(int before, struct packed_args p)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < p.n)
		p.out[i] = p.x[i] * before + p.tag;
}

__global__ void add_nested(struct nested_args p, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	if (i >= n)
		return;
	for (int k = 0; k < p.count; k++)
		sum += p.from.in[k][i];
	p.out[i] = sum + (float)(p.not_an_address & 0xff);
}

int main(int argc, char **argv)
{
	uint32_t seed = app_seed(argc, argv, 1, 1);
	static float x[N], got[N];
	float *dx, *dout;

	app_begin(argv[0], 1);
	app_numbers(x, N, seed);
	CHECK(hipMalloc(&dx, sizeof x));
	CHECK(hipMalloc(&dout, sizeof x));
	CHECK(hipMemcpy(dx, x, sizeof x, hipMemcpyHostToDevice));

	struct aligned_args al = {dx, N, 7, dout};

	add_aligned<<<(N + 255) / 256, 256>>>(al);
	CHECK(hipGetLastError());
	CHECK(hipMemcpy(got, dout, sizeof got, hipMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		app_equal("aligned", i, got[i], x[i] + 7);

	struct packed_args pa = {5, dx + 1, N - 1, dout};

	add_packed<<<(N + 255) / 256, 256>>>(3, pa);
	CHECK(hipGetLastError());
	CHECK(hipMemcpy(got, dout, sizeof got, hipMemcpyDeviceToHost));
	for (int i = 0; i < N - 1; i++)
		app_equal("packed", i, got[i], x[i + 1] * 3 + 5);

	struct nested_args ne;

	memset(&ne, 0, sizeof ne);
	ne.count = 3;
	for (int k = 0; k < 3; k++)
		ne.from.in[k] = dx + k;
	ne.out = dout;
	ne.not_an_address = 9;
	add_nested<<<(N + 255) / 256, 256>>>(ne, N - 2);
	CHECK(hipGetLastError());
	CHECK(hipMemcpy(got, dout, sizeof got, hipMemcpyDeviceToHost));
	for (int i = 0; i < N - 2; i++)
		app_equal("nested", i, got[i], x[i] + x[i + 1] + x[i + 2] + 9);
	CHECK(hipFree(dx));
	CHECK(hipFree(dout));
	printf("structarg: three layouts are right\n");
	return 0;
}
