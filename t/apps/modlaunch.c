/* modlaunch [SEED]: modules from memory and from a file, launches by
 * kernelParams and by extra, a module's global. In C. */
#include "app.h"

#define N 5000

int main(int argc, char **argv)
{
	uint32_t seed = app_seed(argc, argv, 1, 1);
	hipModule_t mod, again;
	hipFunction_t scale, mixed;
	hipDeviceptr_t global;
	size_t global_size;
	static float in[N], got[N];
	static int ints[128];
	float *x;
	int *out, n = N, by = 2;
	float a = 3;
	char c = 1;
	double d = 20;
	short s = 300;
	unsigned long long u = 4000;

	app_begin(argv[0], 1);
	void *image = app_beside("modkern.hsaco", NULL);

	CHECK(hipModuleLoadData(&mod, image));
	free(image);
	CHECK(hipModuleGetFunction(&scale, mod, "scale"));
	CHECK(hipModuleGetFunction(&mixed, mod, "mixed"));
	CHECK_FAILS(hipModuleGetFunction(&mixed, mod, "no_such_kernel"), hipErrorNotFound);
	CHECK(hipModuleGetFunction(&mixed, mod, "mixed"));
	CHECK(hipModuleGetGlobal(&global, &global_size, mod, "scale_by"));
	if (global_size != sizeof by)
		app_wrong("scale_by has %zu bytes", global_size);
	CHECK(hipMemcpyHtoD(global, &by, sizeof by));

	app_numbers(in, N, seed);
	CHECK(hipMalloc((void **)&x, sizeof in));
	CHECK(hipMemcpyHtoD((hipDeviceptr_t)x, in, sizeof in));
	void *params[] = {&x, &a, &n};

	CHECK(
	    hipModuleLaunchKernel(scale, (N + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
	CHECK(hipMemcpyDtoH(got, (hipDeviceptr_t)x, sizeof got));
	for (size_t i = 0; i < N; i++)
		app_equal("scale", i, got[i], in[i] * a * by);

	/* The same arguments as one buffer, laid out as the kernel wants them. */
	struct {
		char c;
		double d;
		short s;
		int *out;
		unsigned long long u;
	} packed;
	size_t size = sizeof packed;

	memset(&packed, 0, sizeof packed);
	CHECK(hipMalloc((void **)&out, sizeof ints));
	packed.c = c;
	packed.d = d;
	packed.s = s;
	packed.out = out;
	packed.u = u;
	void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE,
			 &size, HIP_LAUNCH_PARAM_END};

	CHECK(hipModuleLaunchKernel(mixed, 2, 1, 1, 64, 1, 1, 64 * sizeof(int), NULL, NULL, extra));
	CHECK(hipMemcpyDtoH(ints, (hipDeviceptr_t)out, sizeof ints));
	for (int i = 0; i < 128; i++)
		app_equal("mixed", (size_t)i, ints[i], 4321 + 63 - i % 64);

	char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof path - 32);

	path[len > 0 ? len : 0] = 0;
	strcpy(strrchr(path, '/') + 1, "modkern.hsaco");
	CHECK(hipModuleLoad(&again, path));
	CHECK(hipModuleGetFunction(&scale, again, "scale"));
	CHECK(
	    hipModuleLaunchKernel(scale, (N + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
	CHECK(hipMemcpyDtoH(got, (hipDeviceptr_t)x, sizeof got));
	for (size_t i = 0; i < N; i++)
		app_equal("scale again", i, got[i], in[i] * a * by * a);
	CHECK(hipModuleUnload(again));
	CHECK(hipModuleUnload(mod));
	CHECK(hipFree(x));
	CHECK(hipFree(out));
	printf("modlaunch: both ways of passing arguments are right\n");
	return 0;
}
