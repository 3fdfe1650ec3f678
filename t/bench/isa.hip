// The kernels whose rate is a figure of the CPU run time. Each checks its own result and prints
// name, wave-instructions of a launch and the best of N launches in nanoseconds: by the clock, of
// processor time.
//	isa KERNEL [N]		saxpy, matmul, reduce, mandelbrot, transpose
//	isa launch [N]		an empty kernel: nanoseconds each, of N launches in a row
//	isa first FILE NAME	of a code object: nanoseconds from loading it to the end of kernel
// NAME
#include <algorithm>
#include <cmath>
#include <dlfcn.h>
#include <time.h>
#include <vector>

#include "hip/hip_runtime.h"
#include "app.h"

extern "C" {
#include "lib/hip/checker.h"
}

#define TILE 16
#define SIDE 32

__global__ void saxpy(float a, const float *x, float *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		y[i] = a * x[i] + y[i];
}

__global__ void matmul(const float *a, const float *b, float *c, int n)
{
	__shared__ float as[TILE][TILE], bs[TILE][TILE];
	int x = threadIdx.x, y = threadIdx.y;
	int row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;
	float sum = 0;

	for (int t = 0; t < n; t += TILE) {
		as[y][x] = a[row * n + t + x];
		bs[y][x] = b[(t + y) * n + col];
		__syncthreads();
		for (int k = 0; k < TILE; k++)
			sum += as[y][k] * bs[k][x];
		__syncthreads();
	}
	c[row * n + col] = sum;
}

__global__ void reduce(const float *x, float *sums)
{
	__shared__ float s[256];
	int t = threadIdx.x;

	s[t] = x[blockIdx.x * 256 + t];
	__syncthreads();
	for (int h = 128; h > 0; h >>= 1) {
		if (t < h)
			s[t] += s[t + h];
		__syncthreads();
	}
	if (t == 0)
		sums[blockIdx.x] = s[0];
}

__global__ void mandelbrot(int *out, int width, int limit)
{
	int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y;
	float cx = px * (3.0f / width) - 2, cy = py * (3.0f / width) - 1.5f;
	float x = 0, y = 0;
	int n = 0;

	while (n < limit && x * x + y * y < 4) {
		float t = x * x - y * y + cx;
		y = 2 * x * y + cy;
		x = t;
		n++;
	}
	out[py * width + px] = n;
}

__global__ void transpose(const float *in, float *out, int n)
{
	__shared__ float tile[SIDE][SIDE + 1];
	int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;

	for (int j = 0; j < SIDE; j += 8)
		tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
	__syncthreads();
	x = blockIdx.y * SIDE + threadIdx.x;
	y = blockIdx.x * SIDE + threadIdx.y;
	for (int j = 0; j < SIDE; j += 8)
		out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void empty()
{
}

static uint64_t now(clockid_t clock = CLOCK_MONOTONIC)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static hrr_emu_stats stats()
{
	static auto report = (int (*)(hrr_emu_stats *))dlsym(RTLD_DEFAULT, "hrr_emu_report");
	hrr_emu_stats s = {};

	s.size = sizeof s;
	if (!report || report(&s) != 0)
		app_quit(77, "this is not the CPU run time");
	return s;
}

static float *device(const std::vector<float> &v)
{
	float *p;

	CHECK(hipMalloc((void **)&p, v.size() * sizeof v[0]));
	CHECK(hipMemcpy(p, v.data(), v.size() * sizeof v[0], hipMemcpyHostToDevice));
	return p;
}

static std::vector<float> host(const float *p, size_t n)
{
	std::vector<float> v(n);

	CHECK(hipMemcpy(v.data(), p, n * sizeof v[0], hipMemcpyDeviceToHost));
	return v;
}

template <typename F> static void best(const char *name, int times, F launch)
{
	uint64_t instructions = 0, ns = UINT64_MAX, cpu = UINT64_MAX;

	for (int i = 0; i < times; i++) {
		hrr_emu_stats a = stats();
		uint64_t c = now(CLOCK_PROCESS_CPUTIME_ID);
		launch();
		CHECK(hipDeviceSynchronize());
		c = now(CLOCK_PROCESS_CPUTIME_ID) - c;
		hrr_emu_stats b = stats();
		instructions = b.instructions - a.instructions;
		ns = std::min(ns, b.nanoseconds - a.nanoseconds);
		cpu = std::min(cpu, c);
	}
	printf("%s %llu %llu %llu\n", name, (unsigned long long)instructions,
	       (unsigned long long)ns, (unsigned long long)cpu);
}

static void run_saxpy(int times)
{
	const int n = 1 << 20;
	std::vector<float> x(n), y(n, 0);

	app_numbers(x.data(), n, 1);
	float *dx = device(x), *dy = device(y);
	best("saxpy", times, [&] { saxpy<<<n / 256, 256>>>(2, dx, dy, n); });
	y = host(dy, n);
	for (int i = 0; i < n; i++)
		app_equal("y", i, y[i], 2.0f * times * x[i]);
}

static void run_matmul(int times)
{
	const int n = 256;
	std::vector<float> a(n * n), b(n * n), c(n * n);

	app_numbers(a.data(), a.size(), 1);
	app_numbers(b.data(), b.size(), 2);
	float *da = device(a), *db = device(b), *dc = device(c);
	best("matmul", times,
	     [&] { matmul<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(da, db, dc, n); });
	c = host(dc, c.size());
	for (int i = 0; i < n * n; i += 97) {
		float sum = 0;
		for (int k = 0; k < n; k++)
			sum += a[i / n * n + k] * b[k * n + i % n];
		app_equal("c", i, c[i], sum);
	}
}

static void run_reduce(int times)
{
	const int n = 1 << 20;
	std::vector<float> x(n), sums(n / 256);

	app_numbers(x.data(), n, 1);
	float *dx = device(x), *ds = device(sums);
	best("reduce", times, [&] { reduce<<<n / 256, 256>>>(dx, ds); });
	sums = host(ds, sums.size());
	for (int i = 0; i < n / 256; i++) {
		float sum = 0;
		for (int k = 0; k < 256; k++)
			sum += x[i * 256 + k];
		app_equal("sum", i, sums[i], sum);
	}
}

static void run_mandelbrot(int times)
{
	const int n = 512, limit = 256;
	std::vector<float> out(n * n);

	float *d = device(out);
	best("mandelbrot", times,
	     [&] { mandelbrot<<<dim3(n / 256, n), 256>>>((int *)d, n, limit); });
	out = host(d, out.size());
	int inside = 0, at = 0;
	for (float f : out) {
		int k;
		memcpy(&k, &f, 4);
		inside += k == limit;
		at += k;
	}
	/* its area is known: about 1.5066 of 9 */
	if (fabs(9.0 * inside / n / n - 1.52) > 0.03)
		app_wrong("the set covers %g (%d iterations)", 9.0 * inside / n / n, at);
}

static void run_transpose(int times)
{
	const int n = 1024;
	std::vector<float> in(n * n), out(n * n);

	app_numbers(in.data(), in.size(), 1);
	float *di = device(in), *d = device(out);
	best("transpose", times,
	     [&] { transpose<<<dim3(n / SIDE, n / SIDE), dim3(SIDE, 8)>>>(di, d, n); });
	out = host(d, out.size());
	for (int i = 0; i < n * n; i++)
		app_equal("out", i, out[i], in[i % n * n + i / n]);
}

static void run_launch(int times)
{
	empty<<<1, 64>>>();
	CHECK(hipDeviceSynchronize());
	hrr_emu_stats a = stats();
	uint64_t t = now(), c = now(CLOCK_PROCESS_CPUTIME_ID);
	for (int i = 0; i < times; i++)
		empty<<<1, 64>>>();
	CHECK(hipDeviceSynchronize());
	t = now() - t;
	c = now(CLOCK_PROCESS_CPUTIME_ID) - c;
	if (stats().instructions - a.instructions != (uint64_t)times)
		app_wrong("an empty kernel is one instruction");
	printf("launch %d %llu %llu\n", times, (unsigned long long)t / times,
	       (unsigned long long)c / times);
}

static void run_first(const char *file, const char *name)
{
	hipModule_t m;
	hipFunction_t f;
	void *d;
	uint32_t got = 0;

	CHECK(hipMalloc(&d, 4));
	void *params[] = {&d};
	uint64_t t = now(), c = now(CLOCK_PROCESS_CPUTIME_ID);
	CHECK(hipModuleLoad(&m, file));
	CHECK(hipModuleGetFunction(&f, m, name));
	CHECK(hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
	CHECK(hipDeviceSynchronize());
	t = now() - t;
	c = now(CLOCK_PROCESS_CPUTIME_ID) - c;
	CHECK(hipMemcpy(&got, d, 4, hipMemcpyDeviceToHost));
	if (got == 0)
		app_wrong("%s wrote nothing", name);
	printf("first %u %llu %llu\n", got, (unsigned long long)t, (unsigned long long)c);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(int times);
	} kernels[] = {{"saxpy", run_saxpy},	     {"matmul", run_matmul},
		       {"reduce", run_reduce},	     {"mandelbrot", run_mandelbrot},
		       {"transpose", run_transpose}, {"launch", run_launch}};

	app_begin(argv[0], 1);
	if (argc == 4 && strcmp(argv[1], "first") == 0) {
		run_first(argv[2], argv[3]);
		return 0;
	}
	for (const auto &k : kernels)
		if (argc > 1 && strcmp(argv[1], k.name) == 0) {
			k.run(argc > 2 ? atoi(argv[2]) : 5);
			return 0;
		}
	app_quit(2, "which kernel?");
}
