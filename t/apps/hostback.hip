/* hostback: mapped memory that kernels read is changed for an upload and changed back: what it held
 * is in the record of the first kernel and, in between, in that of the copy. */
#include <hip/hip_runtime.h>
#include "app.h"

#define N 4096

__global__ void add(int *sum, const int *what)
{
	int i = blockIdx.x * 64 + threadIdx.x;

	sum[i] += what[i];
}

static void fill(int *p, int first, int n, int value)
{
	for (int i = first; i < first + n; i++)
		p[i] = value;
}

/* n of its numbers are changed, uploaded, and changed back. */
static void round_trip(int *host, int *dev, int *sum, int *out, int n, hipStream_t s)
{
	fill(host, 0, N, 1);
	CHECK(hipMemsetAsync(sum, 0, N * sizeof *sum, s));
	add<<<N / 64, 64, 0, s>>>(sum, host);
	CHECK(hipMemcpyAsync(dev, host, N * sizeof *host, hipMemcpyHostToDevice, s));
	CHECK(hipStreamSynchronize(s));
	fill(host, 0, n, 100);
	CHECK(hipMemcpyAsync(dev, host, n * sizeof *host, hipMemcpyHostToDevice, s));
	CHECK(hipStreamSynchronize(s));
	fill(host, 0, n, 1);
	add<<<N / 64, 64, 0, s>>>(sum, host);
	add<<<N / 64, 64, 0, s>>>(sum, dev);
	CHECK(hipMemcpyAsync(out, sum, N * sizeof *out, hipMemcpyDeviceToHost, s));
	CHECK(hipStreamSynchronize(s));
	for (int i = 0; i < N; i++)
		app_equal("sum", i, out[i], i < n ? 102 : 3);
}

int main(int argc, char **argv)
{
	static int memory[N] __attribute__((aligned(4096)));
	int *pinned, *dev, *sum, *out;
	hipStream_t s;

	app_begin(argv[0], 1);
	(void)argc;
	CHECK(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
	CHECK(hipHostMalloc((void **)&pinned, N * sizeof *pinned, 0));
	CHECK(hipHostMalloc((void **)&out, N * sizeof *out, 0));
	CHECK(hipHostRegister(memory, sizeof memory, 0));
	CHECK(hipMalloc((void **)&dev, N * sizeof *dev));
	CHECK(hipMalloc((void **)&sum, N * sizeof *sum));
	round_trip(pinned, dev, sum, out, N, s);
	round_trip(pinned, dev, sum, out, 64, s);
	round_trip(memory, dev, sum, out, N, s);
	round_trip(memory, dev, sum, out, 64, s);
	CHECK(hipHostUnregister(memory));
	printf("hostback: changed and changed back, right\n");
	return 0;
}
