#include "t/unit/emu_fixture.h"

#include <sys/mman.h>

/*
 * Kernels of t/apps/modkern.hip: arguments, refused shapes, and what a fault says.
 * scale(float *x, float a, int n); mixed(char, double, short, int *, unsigned long long)
 */

static hipModule_t module;
static hipFunction_t scale, mixed;

static hipError_t run_scale(void *x, float a, int n, unsigned blocks, unsigned threads)
{
	void *params[] = {&x, &a, &n};
	hipError_t e =
	    HIP(hipModuleLaunchKernel, scale, blocks, 1, 1, threads, 1, 1, 0, NULL, params, NULL);
	hipError_t s = HIP(hipDeviceSynchronize);

	return e != hipSuccess ? e : s;
}

static void arguments(void)
{
	float *d = NULL, h[256];
	int *out = NULL, got[128], n = 200;
	float a = 3;

	is(HIP(hipMalloc, (void **)&d, sizeof h), hipSuccess, "hipMalloc");
	for (unsigned i = 0; i < 256; i++)
		h[i] = (float)i;
	is(HIP(hipMemcpy, d, h, sizeof h, hipMemcpyDefault), hipSuccess, "to the device");
	is(run_scale(d, 2, 256, 4, 64), hipSuccess, "kernelParams");
	/* The other way to pass them. */
	struct {
		float *x;
		float a;
		int n;
	} buffer = {d, a, n};
	size_t size = sizeof buffer;
	void *extra[] = {(void *)1, &buffer, (void *)2, &size, (void *)3};
	is(HIP(hipModuleLaunchKernel, scale, 4, 1, 1, 64, 1, 1, 0, NULL, NULL, extra), hipSuccess,
	   "extra");
	size = 12;
	is(HIP(hipModuleLaunchKernel, scale, 4, 1, 1, 64, 1, 1, 0, NULL, NULL, extra),
	   hipErrorInvalidValue, "a buffer that is too short");
	is(HIP(hipModuleLaunchKernel, scale, 4, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL),
	   hipErrorInvalidValue, "no arguments at all");
	is(HIP(hipMemcpy, h, d, sizeof h, hipMemcpyDefault), hipSuccess, "back");
	bool right = true;
	for (unsigned i = 0; i < 256; i++)
		right = right && h[i] == (float)i * (i < 200 ? 6 : 2);
	ok(right, "both ran");

	/* Sizes that do not divide: global work size of the AMD call. */
	void *params[] = {&d, &a, &n};
	is(HIP(hipExtModuleLaunchKernel, scale, 100, 1, 1, 64, 1, 1, 0, NULL, params, NULL, NULL,
	       NULL, 0),
	   hipSuccess, "100 work-items in blocks of 64");
	is(HIP(hipMemcpy, h, d, sizeof h, hipMemcpyDefault), hipSuccess, "back");
	/* In code object v4 blockDim is what is left of the grid: 36 in the second block, which
	 * so works on 36 to 71. */
	ok(h[35] == 35 * 18 && h[36] == 36 * 54 && h[63] == 63 * 54 && h[64] == 64 * 18 &&
	       h[71] == 71 * 18 && h[72] == 72 * 6,
	   "exactly those ran");

	char c = 1;
	double dd = 2;
	short s = 3;
	unsigned long long u = 4;
	is(HIP(hipMalloc, (void **)&out, sizeof got), hipSuccess, "hipMalloc");
	void *many[] = {&c, &dd, &s, &out, &u};
	is(HIP(hipModuleLaunchKernel, mixed, 2, 1, 1, 64, 1, 1, 256, NULL, many, NULL), hipSuccess,
	   "mixed sizes, dynamic LDS");
	is(HIP(hipMemcpy, got, out, sizeof got, hipMemcpyDefault), hipSuccess, "back");
	right = true;
	for (int i = 0; i < 128; i++)
		right = right && got[i] == 10 + 63 - i % 64;
	ok(right, "right values");
	is(HIP(hipFree, out), hipSuccess, "hipFree");
	is(HIP(hipFree, d), hipSuccess, "hipFree");
}

static void refused(void)
{
	void *x = NULL;
	float a = 1;
	int n = 0;
	void *params[] = {&x, &a, &n};

	is(HIP(hipModuleLaunchKernel, scale, 1, 1, 1, 0, 1, 1, 0, NULL, params, NULL),
	   hipErrorInvalidConfiguration, "no threads");
	is(HIP(hipModuleLaunchKernel, scale, 1, 1, 1, 1025, 1, 1, 0, NULL, params, NULL),
	   hipErrorInvalidConfiguration, "too many");
	is(HIP(hipModuleLaunchKernel, scale, 1, 1, 1, 64, 32, 1, 0, NULL, params, NULL),
	   hipErrorInvalidConfiguration, "in all");
	is(HIP(hipModuleLaunchKernel, scale, 0x80000000u, 1, 1, 64, 1, 1, 0, NULL, params, NULL),
	   hipErrorInvalidConfiguration, "a grid past 2^32");
	is(HIP(hipModuleLaunchKernel, scale, 1, 1, 1, 64, 1, 1, 65537, NULL, params, NULL),
	   hipErrorInvalidValue, "too much LDS");
	is(HIP(hipModuleLaunchKernel, (hipFunction_t)0x1234, 1, 1, 1, 64, 1, 1, 0, NULL, params,
	       NULL),
	   hipErrorInvalidHandle, "no function");
	is(HIP(hipLaunchKernel, (void *)0x1234, (dim3){1, 1, 1}, (dim3){64, 1, 1}, params, 0, NULL),
	   hipErrorInvalidDeviceFunction, "no stub");
	is(run_scale(NULL, 1, 0, 1, 64), hipSuccess, "none of it is sticky");
}

static void has(const char *what)
{
	ok(strstr(last_fault, what) != NULL, "the report has: %s", what);
}

static void faults(void)
{
	char *d = NULL, text[128];
	unsigned n = n_faults;

	is(HIP(hipMalloc, (void **)&d, 1000), hipSuccess, "hipMalloc");
	is(run_scale(d, 1, 256, 1, 256), hipErrorIllegalAddress, "an overrun is a fault");
	ok(n_faults > n, "reported");
	has("scale: load of 4 bytes (global) at 0x");
	is((long long)(fault_at - (uintptr_t)d), 1000, "the first byte behind");
	has("workgroup (0,0,0) wave 3 lane 58 work-item (250,0,0); 6 lanes");
	has("global_load_dword ");
	snprintf(text, sizeof text, "  0 bytes after the end of device memory #");
	has(text);
	diag("%s", last_fault);
	is(HIP(hipMemset, d, 0, 4), hipErrorIllegalAddress, "sticky");
	is(HIP(hipFree, d), hipSuccess, "but memory can be freed");
	is(HIP(hipDeviceReset), hipSuccess, "reset");

	is(run_scale(NULL, 1, 1, 1, 64), hipErrorIllegalAddress, "a null pointer");
	is(HIP(hipDeviceReset), hipSuccess, "reset");
	is(run_scale(d, 1, 1, 1, 64), hipErrorIllegalAddress, "freed memory");
	is(HIP(hipDeviceReset), hipSuccess, "reset");

	float *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	page[0] = 3;
	is(run_scale(page, 2, 1, 1, 64), hipErrorIllegalAddress, "pageable memory");
	is(HIP(hipDeviceReset), hipSuccess, "reset");
	is(HIP(hipHostRegister, page, 4096, 0), hipSuccess, "registered");
	is(run_scale(page, 2, 1, 1, 64), hipSuccess, "is reached");
	ok(page[0] == 6, "and written");
	munmap(page, 4096);
	is(run_scale(page, 2, 1, 1, 64), hipErrorIllegalAddress, "unmapped: a fault, no crash");
	is(HIP(hipDeviceReset), hipSuccess, "reset");
	is(HIP(hipHostUnregister, page), hipSuccess, "unregister");

	/* Another device's memory, without and with access. */
	is(HIP(hipSetDevice, 1), hipSuccess, "device 1");
	is(HIP(hipMalloc, (void **)&d, 64), hipSuccess, "hipMalloc there");
	is(HIP(hipSetDevice, 0), hipSuccess, "device 0");
	is(run_scale(d, 1, 1, 1, 64), hipErrorIllegalAddress, "no peer access");
	is(HIP(hipDeviceReset), hipSuccess, "reset");
	is(HIP(hipDeviceEnablePeerAccess, 1, 0), hipSuccess, "access");
	is(run_scale(d, 1, 1, 1, 64), hipSuccess, "then it may");
}

static void blocks(void)
{
	int (*describe)(uint64_t, uint64_t, uint64_t, const char *, int);
	int (*undescribe)(uint64_t, const char *) = NULL;
	int (*memcheck)(unsigned) = NULL;
	char *d = NULL;

	if (!ok(emu_symbol("hrr_emu_describe", &describe) &&
		    emu_symbol("hrr_emu_undescribe", &undescribe) &&
		    emu_symbol("hrr_emu_memcheck", &memcheck),
		"descriptions"))
		return;
	is(HIP(hipMalloc, (void **)&d, 4096), hipSuccess, "a pool");
	uint64_t at = (uintptr_t)d;
	is(describe(at, 4096, 0x1000000, "pool", 1), 0, "segment");
	is(describe(at, 256, 0x1000000, "weights", 0), 0, "block");
	is(describe(at + 256, 256, 0x1000100, "bias", 0), 0, "next block");
	is(run_scale(d, 1, 128, 2, 64), hipSuccess, "an overrun into the next block goes unseen");
	is(memcheck(HRR_EMU_CHECK_BLOCKS), 0, "check blocks");
	is(run_scale(d, 1, 64, 2, 64), hipSuccess, "inside its block");
	is(run_scale(d, 1, 128, 2, 64), hipErrorIllegalAddress, "the overrun is seen");
	has("block \"bias\" 0x1000100 +256");
	has("  0 bytes after the end of block \"weights\" 0x1000000 +256");
	is(HIP(hipDeviceReset), hipSuccess, "reset");
	is(memcheck(0), 0, "off");
	is(memcheck(64), -95, "a check it does not have");
	is(undescribe(at, "by the test"), 0, "block gone");
	is(undescribe(at + 256, NULL), 0, "block gone");
	is(undescribe(at, NULL), 0, "segment gone");
	is(undescribe(at, NULL), -2, "once");
}

static void numbers(void)
{
	int (*report)(struct hrr_emu_stats *);
	struct hrr_emu_stats s = {.size = sizeof s};

	if (!ok(emu_symbol("hrr_emu_report", &report) && report(&s) == 0, "statistics"))
		return;
	ok(s.launches > 10 && s.instructions > 100 && s.waves > 10, "of launches");
	is(s.refused, 0, "none refused");
}

int main(void)
{
	char *path = strdup(emu_built("t/apps/modkern.hsaco"));

	setenv("HRR_EMU_DEVICES", "2", 1);
	FILE *f = fopen(path, "re");
	if (f == NULL) {
		printf("1..0 # SKIP no %s\n", path);
		return 0;
	}
	fclose(f);
	if (emu_open() && ok(HIP(hipModuleLoad, &module, path) == hipSuccess, "module") &&
	    ok(HIP(hipModuleGetFunction, &scale, module, "scale") == hipSuccess, "scale") &&
	    ok(HIP(hipModuleGetFunction, &mixed, module, "mixed") == hipSuccess, "mixed")) {
		arguments();
		refused();
		faults();
		blocks();
		numbers();
	}
	free(path);
	return done_testing();
}
