/* dl [LIBRARY]: binds HIP by dlopen(RTLD_LOCAL) and dlsym only; with LIBRARY
 * calls its deep(), the library opened RTLD_DEEPBIND. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *h = dlopen("libamdhip64.so.5", RTLD_NOW | RTLD_LOCAL);
	int (*get)(int *), (*deep)(void), d;

	if (h == NULL) {
		puts(dlerror());
		return 1;
	}
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
