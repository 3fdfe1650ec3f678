/* dl [LIBRARY]: binds HIP by dlopen(RTLD_LOCAL) and dlsym only; with LIBRARY
 * calls its deep(), the library opened RTLD_DEEPBIND. With "" a second HIP in a
 * namespace of its own, which has to be called itself. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>

static int other(void)
{
	void *h = dlmopen(LM_ID_NEWLM, "libamdhip64.so.5", RTLD_NOW);
	void *get = h != NULL ? dlsym(h, "hipGetDevice") : NULL;
	struct link_map *its;
	Dl_info one;
	int d;

	if (get == NULL || dladdr(get, &one) == 0 || dlinfo(h, RTLD_DI_LINKMAP, &its) != 0)
		return 2;
	return (uintptr_t)one.dli_fbase != its->l_addr || ((int (*)(int *))get)(&d);
}

int main(int argc, char **argv)
{
	void *h = dlopen("libamdhip64.so.5", RTLD_NOW | RTLD_LOCAL);
	int (*get)(int *), (*deep)(void), d;

	if (h == NULL) {
		puts(dlerror());
		return 1;
	}
	if (argc > 1 && argv[1][0] == '\0')
		return other();
	if (argc > 1) {
		h = dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
		if (h == NULL) {
			puts(dlerror());
			return 1;
		}
		deep = (int (*)(void))dlsym(h, "deep");
		return deep();
	}
	get = (int (*)(int *))dlsym(h, "hipGetDevice");
	return get(&d);
}
