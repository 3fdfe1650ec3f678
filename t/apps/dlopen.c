/* dlopen [SEED]: a program that is not linked with HIP. Every call goes through
 * dlopen(RTLD_LOCAL) and dlsym, as Triton and with it PyTorch do. */
#include <dlfcn.h>
#include <hip/hip_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N 2000

static void *lib;

static void *sym(const char *name)
{
	void *p = dlsym(lib, name);

	if (!p) {
		fprintf(stderr, "dlopen: %s: %s\n", name, dlerror());
		exit(2);
	}
	return p;
}

/* `name` with the type its declaration has. */
#define HIP(name) ((__typeof__(&name))sym(#name))

static void check(hipError_t e, const char *call)
{
	if (e == hipSuccess)
		return;
	fprintf(stderr, "dlopen: %s: %s\n", call, HIP(hipGetErrorName)(e));
	exit(1);
}
#define CALL(name, ...) check(HIP(name)(__VA_ARGS__), #name)

static void *image(void)
{
	static char buf[1 << 20];
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 32);
	FILE *f;

	path[n > 0 ? n : 0] = 0;
	strcpy(strrchr(path, '/') + 1, "modkern.hsaco");
	f = fopen(path, "rb");
	if (!f || !fread(buf, 1, sizeof buf, f)) {
		fprintf(stderr, "dlopen: %s: cannot read\n", path);
		exit(2);
	}
	fclose(f);
	return buf;
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"libamdhip64.so", "libamdhip64.so.7",
					    "libamdhip64.so.6", "libamdhip64.so.5"};
	int seed = argc > 1 ? atoi(argv[1]) : 1, devices = 0, n = N;
	static float x[N], got[N];
	float *d, a = 5;
	hipModule_t mod;
	hipFunction_t f;
	hipStream_t s;

	for (size_t i = 0; i < sizeof names / sizeof *names && !lib; i++)
		lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!lib) {
		fprintf(stderr, "dlopen: no HIP library: %s\n", dlerror());
		return 2;
	}
	hipError_t e = HIP(hipGetDeviceCount)(&devices);

	if (e != hipSuccess || devices < 1) {
		fprintf(stderr, "dlopen: no HIP device: %s\n", HIP(hipGetErrorName)(e));
		return 2;
	}
	for (int i = 0; i < N; i++)
		x[i] = (float)(i % 97 + seed);
	CALL(hipStreamCreate, &s);
	CALL(hipMalloc, (void **)&d, sizeof x);
	CALL(hipModuleLoadData, &mod, image());
	CALL(hipModuleGetFunction, &f, mod, "scale");
	CALL(hipMemcpyAsync, d, x, sizeof x, hipMemcpyHostToDevice, s);
	void *params[] = {&d, &a, &n};

	CALL(hipModuleLaunchKernel, f, (N + 63) / 64, 1, 1, 64, 1, 1, 0, s, params, NULL);
	CALL(hipMemcpyAsync, got, d, sizeof got, hipMemcpyDeviceToHost, s);
	CALL(hipStreamSynchronize, s);
	for (int i = 0; i < N; i++)
		if (got[i] != x[i] * a) {
			fprintf(stderr, "dlopen: x[%d] is %g, %g is due\n", i, (double)got[i],
				(double)(x[i] * a));
			return 1;
		}
	CALL(hipModuleUnload, mod);
	CALL(hipFree, d);
	CALL(hipStreamDestroy, s);
	printf("dlopen: %d elements are right\n", N);
	return 0;
}
