/* proc LIBRARY: binds HIP through hipGetProcAddress alone, as ROCm 6 programs may. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *h = dlopen(argc > 1 ? argv[1] : "libamdhip64.so.6", RTLD_NOW | RTLD_LOCAL),
	     *fn = NULL;
	int (*get)(const char *, void **, int, uint64_t, int *), found, count = 0;

	if (h == NULL) {
		puts(dlerror());
		return 1;
	}
	get = (int (*)(const char *, void **, int, uint64_t, int *))dlsym(h, "hipGetProcAddress");
	if (get == NULL || get("hipGetDeviceCount", &fn, 600, 0, &found) != 0 || fn == NULL)
		return 2;
	return ((int (*)(int *))fn)(&count) == 0 && count > 0 ? 0 : 3;
}
