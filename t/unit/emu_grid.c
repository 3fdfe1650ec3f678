#include "t/unit/emu_fixture.h"
#include "t/unit/isa_tools.h"

/* Barriers over a grid on architectures whose device libraries count workgroups in memory. */

static void told(hipModule_t m, bool cooperative)
{
	hipFunction_t f = NULL;
	unsigned out[3] = {0, 0, 0}, *p = NULL;
	void *args[] = {&p};

	is(HIP(hipModuleGetFunction, &f, m, "grid_told"), hipSuccess, "kernel");
	HIP(hipMalloc, (void **)&p, sizeof out);
	HIP(hipMemset, p, 0, sizeof out);
	is(cooperative ? HIP(hipModuleLaunchCooperativeKernel, f, 3, 2, 1, 64, 1, 1, 0, NULL, args)
		       : HIP(hipModuleLaunchKernel, f, 3, 2, 1, 64, 1, 1, 0, NULL, args, NULL),
	   hipSuccess, "launch");
	HIP(hipMemcpy, out, p, sizeof out, hipMemcpyDeviceToHost);
	is(out[0], cooperative, "a grid that meets is told so (%d)", cooperative);
	is(out[1], 0, "and of no other grid");
	is(out[2], cooperative ? 6 : 0, "and how many workgroups there are");
	HIP(hipFree, p);
}

static void rounds(hipModule_t m)
{
	hipFunction_t f = NULL;
	unsigned out[2] = {0, 0}, *p = NULL, *wrong, n = 40;
	void *args[] = {&p, &wrong, &n};

	HIP(hipModuleGetFunction, &f, m, "grid_counts");
	HIP(hipMalloc, (void **)&p, sizeof out);
	wrong = p + 1;
	for (int i = 1; i <= 2; i++) { /* counters begin anew */
		HIP(hipMemset, p, 0, sizeof out);
		is(HIP(hipModuleLaunchCooperativeKernel, f, 9, 1, 1, 64, 1, 1, 0, NULL, args),
		   hipSuccess, "launch %d", i);
		is(HIP(hipMemcpy, out, p, sizeof out, hipMemcpyDeviceToHost), hipSuccess, "result");
		is(out[0], 9 * 40, "each workgroup took part in each round");
		is(out[1], 0, "and none went on before all had come");
	}
	HIP(hipFree, p);
}

int main(void)
{
	static char image[1 << 16];
	hipModule_t m = NULL;
	FILE *in;

	setenv("HRR_EMU_ARCH", "gfx942", 1);
	if (!isa_has("clang++-19", "grid") || !emu_open())
		return done_testing();
	const char *const path = fx_compile("grid", "gfx942", "clang++-19", "-O3");
	if (!ok(path != NULL, "compiles"))
		return done_testing();
	in = fopen(path, "rb");
	ok(in && fread(image, 1, sizeof image, in) > 0 && feof(in), "is read");
	if (in)
		fclose(in);
	is(HIP(hipModuleLoadData, &m, image), hipSuccess, "loads");
	told(m, true);
	told(m, false);
	rounds(m);
	HIP(hipModuleUnload, m);
	return done_testing();
}
