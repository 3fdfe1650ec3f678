/* What the test programs share: naming a failing call, refusing a machine with
 * no device, reproducible input. For C and for HIP C++.
 * Exit codes: 0 correct, 1 wrong, 2 no device or no run time, 77 not for this machine. */
#ifndef HRR_T_APP_H
#define HRR_T_APP_H

#include <hip/hip_runtime_api.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __clang__
#pragma clang diagnostic ignored "-Wunused-function"
#else
#pragma GCC diagnostic ignored "-Wunused-function"
#endif

static const char *app_name = "app";

static void app_end(int code, const char *fmt, va_list ap)
{
	fflush(stdout);
	fprintf(stderr, "%s: ", app_name);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	exit(code);
}

__attribute__((noreturn, format(printf, 1, 2))) static void app_wrong(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	app_end(1, fmt, ap);
	va_end(ap);
	abort();
}

__attribute__((noreturn, format(printf, 2, 3))) static void app_quit(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	app_end(code, fmt, ap);
	va_end(ap);
	abort();
}

static void app_check(hipError_t e, const char *call, int line)
{
	if (e != hipSuccess)
		app_wrong("line %d: %s: %s", line, call, hipGetErrorName(e));
}
#define CHECK(call) app_check((call), #call, __LINE__)
/* A call that has to fail, and how. */
#define CHECK_FAILS(call, want)                                                       \
	do {                                                                          \
		hipError_t app_e = (call);                                            \
		if (app_e != (want))                                                  \
			app_wrong("line %d: %s: %s where %s is due", __LINE__, #call, \
				  hipGetErrorName(app_e), hipGetErrorName(want));     \
	} while (0)

/* Every program starts here: its name for messages; `devices` or more or out. */
static void app_begin(const char *argv0, int devices)
{
	const char *slash = strrchr(argv0, '/');
	int n = 0;
	hipError_t e;

	app_name = slash ? slash + 1 : argv0;
	e = hipGetDeviceCount(&n);
	if (e != hipSuccess || n < 1)
		app_quit(2, "no HIP device: %s", hipGetErrorName(e));
	if (n < devices)
		app_quit(77, "needs %d devices, there are %d", devices, n);
}

/* Small whole numbers: sums and products of them are exact in binary32. */
static float app_number(uint32_t seed, uint32_t i)
{
	uint32_t x = (i + 1) * 2654435761u ^ seed * 40503u;

	x ^= x >> 15;
	x *= 2246822519u;
	x ^= x >> 13;
	return (float)(int)(x % 201) - 100;
}

static void app_numbers(float *v, size_t n, uint32_t seed)
{
	for (size_t i = 0; i < n; i++)
		v[i] = app_number(seed, (uint32_t)i);
}

static void app_equal(const char *what, size_t i, double got, double want)
{
	if (got != want)
		app_wrong("%s[%zu] is %g, %g is due", what, i, got, want);
}

static uint32_t app_seed(int argc, char **argv, int at, uint32_t otherwise)
{
	return argc > at ? (uint32_t)strtoul(argv[at], NULL, 0) : otherwise;
}

/* `name` beside the running program, read whole; the caller frees. */
static void *app_beside(const char *name, size_t *ret_size)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 256);
	FILE *f;
	long size;
	void *p;

	path[n > 0 ? n : 0] = 0;
	char *slash = strrchr(path, '/');

	snprintf(slash ? slash + 1 : path, 255, "%s", name);
	f = fopen(path, "rb");
	if (!f)
		app_quit(2, "%s: cannot open", path);
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	p = malloc((size_t)size);
	if (!p || fread(p, 1, (size_t)size, f) != (size_t)size)
		app_quit(2, "%s: cannot read", path);
	fclose(f);
	if (ret_size)
		*ret_size = (size_t)size;
	return p;
}

#endif
