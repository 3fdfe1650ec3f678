#include "lib/hip/entry.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static float hrr_word_float(uint64_t w)
{
	union {
		uint32_t u;
		float f;
	} x = {.u = (uint32_t)w};
	return x.f;
}

int64_t hrr_hip_invoke(struct hrr_hip *hip, enum hrr_api api, const uint64_t *a)
{
	void *fn = hip->fn[api];

	if (fn == NULL)
		return hipErrorNotSupported;
	switch (api) {
#include "hip_invoke.inc"
	default:
		return hipErrorNotSupported;
	}
}

int64_t hrr_hip_call(struct hrr_hip *hip, enum hrr_api api, const uint64_t *args)
{
	if (hip->hook != NULL)
		return hip->hook(hip->hook_self, hip, api, args);
	return hrr_hip_invoke(hip, api, args);
}

int hrr_libdir(char *path, size_t size)
{
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);

	if (n < 0)
		return -errno;
	exe[n] = '\0';
	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(exe, '/');
		if (slash == NULL)
			return -ENOENT;
		*slash = '\0';
	}
	int w = snprintf(path, size, "%s/lib/hrr", exe);
	return w < 0 || (size_t)w >= size ? -ENAMETOOLONG : 0;
}

static int major_of(struct hrr_hip *hip)
{
	const char *so = strstr(hip->path, "libamdhip64.so.");

	if (so != NULL && so[15] >= '5' && so[15] <= '7')
		return so[15] - '0';
	int version = 0;
	uint64_t a[1] = {(uintptr_t)&version};
	if (hip->fn[HRR_API_hipRuntimeGetVersion] != NULL &&
	    hrr_hip_invoke(hip, HRR_API_hipRuntimeGetVersion, a) == hipSuccess)
		return version / 10000000;
	return 5;
}

/* 5.3 has calls that 5.2 has not. Our stand-in has them too, with the structures of 5.2. */
static int layout_of(int major, void *lib)
{
	if (major != 5)
		return 10 * major;
	return dlsym(lib, "hipUserObjectCreate") != NULL && dlsym(lib, "emu_set_major") == NULL
		   ? 53
		   : 52;
}

int hrr_hip_load(struct hrr_hip *hip, const char *device, const char *libdir, struct hrr_diag *diag)
{
	char emu[PATH_MAX];
	const char *names[4] = {NULL};

	*hip = (struct hrr_hip){0};
	if (strcmp(device, "rocm") == 0) {
		names[0] = "libamdhip64.so.7";
		names[1] = "libamdhip64.so.6";
		names[2] = "libamdhip64.so.5";
	} else if (strcmp(device, "emu") == 0) {
		int n = snprintf(emu, sizeof emu, "%s/emu/libamdhip64.so.5", libdir);
		if (n < 0 || (size_t)n >= sizeof emu)
			return hrr_diag_set(diag, -ENAMETOOLONG, "%s: path too long", libdir);
		names[0] = emu;
	} else {
		names[0] = device;
	}
	char why[512] = "", name[128];
	for (int i = 0; names[i] != NULL && hip->lib == NULL; i++) {
		hip->lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
		if (hip->lib == NULL && why[0] == '\0')
			snprintf(why, sizeof why, "%s", dlerror());
	}
	if (hip->lib == NULL)
		return hrr_diag_set(diag, -ENOENT, "device %s: cannot load the HIP run time: %s",
				    device, why);
	for (int i = 0; i < HRR_API_COUNT; i++) {
		if (!hrr_api_table[i].typed)
			continue;
		hip->fn[i] = dlsym(hip->lib, hrr_api_table[i].symbol);
		/* The stand-in of one major leaves out what came later; the CPU run time has it. */
		if (hip->fn[i] == NULL &&
		    snprintf(name, sizeof name, "emu_%s", hrr_api_table[i].name) < (int)sizeof name)
			hip->fn[i] = dlsym(hip->lib, name);
	}
	Dl_info info;
	if (hip->fn[HRR_API_hipInit] == NULL || hip->fn[HRR_API_hipGetDeviceCount] == NULL)
		return hrr_diag_set(diag, -ENOENT, "device %s: not a HIP run time: no hipInit",
				    device);
	if (dladdr(hip->fn[HRR_API_hipInit], &info) != 0 && info.dli_fname != NULL)
		snprintf(hip->path, sizeof hip->path, "%s", info.dli_fname);
	hip->major = major_of(hip);
	hip->layout = layout_of(hip->major, hip->lib);
	hip->any_major = strcmp(device, "emu") == 0;
	return 0;
}

int hrr_hip_become(struct hrr_hip *hip, int major)
{
	size_t len = strlen(hip->path);
	struct hrr_diag diag = {0};

	if (major == hip->major)
		return 0;
	if (!hip->any_major || major < 5 || major > 7 || len == 0)
		return -ENOENT;
	struct hrr_hip *other = malloc(sizeof *other);
	char *path = strdup(hip->path);
	int rc = other != NULL && path != NULL ? 0 : -ENOENT;
	if (rc == 0) {
		path[len - 1] = (char)('0' + major); /* libamdhip64.so.5 */
		rc = hrr_hip_load(other, path, NULL, &diag);
	}
	if (rc == 0) {
		other->hook = hip->hook;
		other->hook_self = hip->hook_self;
		other->any_major = true;
		*hip = *other;
	}
	free(other);
	free(path);
	return rc;
}

int hrr_hip_devices(struct hrr_hip *hip, int *ret_count, struct hrr_diag *diag)
{
	int count = 0;
	uint64_t zero[1] = {0}, out[1] = {(uintptr_t)&count};
	const char *call = "hipInit";
	int64_t e = hrr_hip_call(hip, HRR_API_hipInit, zero);

	if (e == hipSuccess) {
		call = "hipGetDeviceCount";
		e = hrr_hip_call(hip, HRR_API_hipGetDeviceCount, out);
	}
	if (e != hipSuccess || count <= 0) {
		const char *name = hrr_error_name((int)e);
		return hrr_diag_set(diag, -ENODEV, "no device: %s: %s says %s", hip->path, call,
				    e == hipSuccess ? "0 devices"
				    : name	    ? name
						    : "an unknown error");
	}
	*ret_count = count;
	return 0;
}
