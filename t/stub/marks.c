/* marks [dl]: marks of roctx and hipProfilerStart and Stop around calls; dl: roctx by dlsym. */
#include <dlfcn.h>
#include <stdio.h>

int hipGetDevice(int *device);
int hipSetDevice(int device);
int hipProfilerStart(void);
int hipProfilerStop(void);
void roctxMarkA(const char *text);
int roctxRangePushA(const char *text);
int roctxRangePop(void);
unsigned long roctxRangeStartA(const char *text);
void roctxRangeStop(unsigned long id);

int main(int argc, char **argv)
{
	int (*push)(const char *) = roctxRangePushA;
	int d;

	(void)argv;
	if (argc > 1) {
		void *lib = dlopen("libroctx64.so.4", RTLD_LAZY);
		if (lib == NULL ||
		    (push = (int (*)(const char *))dlsym(lib, "roctxRangePushA")) == NULL)
			return 2;
	}
	roctxMarkA("before HIP");
	hipSetDevice(0);
	if (push("outer \"range\"") != 0)
		return 3;
	hipProfilerStart();
	hipGetDevice(&d);
	roctxMarkA("mark");
	unsigned long id = roctxRangeStartA("work");
	hipGetDevice(&d);
	roctxRangeStop(id);
	hipProfilerStop();
	if (roctxRangePop() != 0)
		return 4;
	hipSetDevice(0);
	return id == 77 ? 0 : 5;
}
