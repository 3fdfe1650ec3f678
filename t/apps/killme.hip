/* killme [ROUNDS]: makes HIP calls until something kills it. When HRR_T_LOG names
 * a file, each call that has returned is one line there, put by one write(2):
 * {"api":NAME,"args":{...}} with the arguments as the stream writes them. What
 * the log holds, an archive of the run has to hold too, in this order. */
#include <hip/hip_runtime.h>
#include "app.h"
#include <fcntl.h>

#define N 1024
#define SIZE (N * sizeof(float))

static int log_fd = -1;

__attribute__((format(printf, 2, 3))) static void returned(const char *api, const char *fmt, ...)
{
	char line[512];
	va_list ap;
	int n = snprintf(line, sizeof line, "{\"api\":\"%s\",\"args\":{", api);

	if (log_fd < 0)
		return;
	va_start(ap, fmt);
	n += vsnprintf(line + n, sizeof line - n, fmt, ap);
	va_end(ap);
	n += snprintf(line + n, sizeof line - n, "}}\n");
	if (write(log_fd, line, n) != n)
		app_quit(2, "cannot write the log");
}

#define A(p) ((unsigned long long)(uintptr_t)(p))

__global__ void grow(float *x, float by, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] += by;
}

static void one_round(int r, hipStream_t s, float *pinned)
{
	static float in[N], out[N];
	float *x, by = (float)(r % 64);
	int n = N;
	void *args[] = {&x, &by, &n};

	app_numbers(in, N, r);
	CHECK(hipMalloc((void **)&x, SIZE));
	returned("hipMalloc", "\"ptr\":\"0x%llx\",\"size\":%zu", A(x), SIZE);
	CHECK(hipMemcpy(x, in, SIZE, hipMemcpyHostToDevice));
	returned("hipMemcpy",
		 "\"dst\":\"0x%llx\",\"sizeBytes\":%zu,\"kind\":\"hipMemcpyHostToDevice\"", A(x),
		 SIZE);
	CHECK(hipLaunchKernel((const void *)grow, dim3(N / 256), dim3(256), args, 0, s));
	returned("hipLaunchKernel", "\"sharedMemBytes\":0");
	CHECK(hipMemcpyAsync(pinned, x, SIZE, hipMemcpyDeviceToHost, s));
	returned("hipMemcpyAsync",
		 "\"src\":\"0x%llx\",\"sizeBytes\":%zu,\"kind\":\"hipMemcpyDeviceToHost\"", A(x),
		 SIZE);
	CHECK(hipStreamSynchronize(s));
	returned("hipStreamSynchronize", "\"stream\":\"0x%llx\"", A(s));
	for (int i = 0; i < N; i++)
		app_equal("x", i, pinned[i], in[i] + by);
	CHECK(hipMemset(x, r & 0xff, SIZE));
	returned("hipMemset", "\"dst\":\"0x%llx\",\"value\":%d,\"sizeBytes\":%zu", A(x), r & 0xff,
		 SIZE);
	CHECK(hipMemcpy(out, x, SIZE, hipMemcpyDeviceToHost));
	returned("hipMemcpy",
		 "\"src\":\"0x%llx\",\"sizeBytes\":%zu,\"kind\":\"hipMemcpyDeviceToHost\"", A(x),
		 SIZE);
	for (size_t i = 0; i < SIZE; i++)
		app_equal("bytes", i, ((unsigned char *)out)[i], r & 0xff);
	CHECK(hipFree(x));
	returned("hipFree", "\"ptr\":\"0x%llx\"", A(x));
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1000000;
	const char *path = getenv("HRR_T_LOG");
	hipStream_t s;
	float *pinned;

	app_begin(argv[0], 1);
	if (path) {
		log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
		if (log_fd < 0)
			app_quit(2, "%s: cannot open", path);
	}
	CHECK(hipStreamCreate(&s));
	returned("hipStreamCreate", "\"stream\":\"0x%llx\"", A(s));
	CHECK(hipHostMalloc((void **)&pinned, SIZE, hipHostMallocDefault));
	returned("hipHostMalloc", "\"ptr\":\"0x%llx\",\"size\":%zu", A(pinned), SIZE);
	for (int r = 0; r < rounds; r++)
		one_round(r, s, pinned);
	CHECK(hipHostFree(pinned));
	returned("hipHostFree", "\"ptr\":\"0x%llx\"", A(pinned));
	CHECK(hipStreamDestroy(s));
	returned("hipStreamDestroy", "\"stream\":\"0x%llx\"", A(s));
	printf("killme: %d rounds are right\n", rounds);
	return 0;
}
