#ifndef HRR_HIP_ENTRY_H
#define HRR_HIP_ENTRY_H

#include "lib/base/diag.h"
#include "lib/hip/table.h"

/*
 * The HIP entry points of one run time, loaded with dlopen: the only way this
 * project calls HIP. fn[] holds what dlsym found, NULL where the library lacks
 * a call; a layer (fault injection, counting) may replace entries.
 */
struct hrr_hip {
	void *lib;	 /* owned: dlopen handle; never closed (run times do not survive it) */
	char path[4096]; /* of the loaded library */
	int major;	 /* 5, 6 or 7: from the soname, else hipRuntimeGetVersion */
	int layout;	 /* of its structures: hrr_struct_at */
	bool any_major;	 /* asked for as "emu": hrr_hip_become may take another */
	void *fn[HRR_API_COUNT];
	/* When set, hrr_hip_call goes through it (fault injection, counting): must call
	 * hrr_hip_invoke itself. */
	int64_t (*hook)(void *self, struct hrr_hip *hip, enum hrr_api api, const uint64_t *args);
	void *hook_self;
};

/*
 * device: "rocm" (libamdhip64.so.7, .6, .5 in this order, as the loader finds them),
 * "emu" (the CPU run time shipped beside the program, libdir/emu), or a path
 * to a library. libdir: folder that holds emu/ (see hrr_libdir). Does not
 * touch a device. -ENOENT and a diag when it cannot be loaded.
 */
int hrr_hip_load(struct hrr_hip *hip, const char *device, const char *libdir,
		 struct hrr_diag *diag);
/*
 * Takes the CPU run time's stand-in for another major in the place of the one that is loaded, where
 * "emu" was asked for; the hook stays. Nothing may live in it yet. -ENOENT: there is none, and hip
 * is as it was.
 */
int hrr_hip_become(struct hrr_hip *hip, int major);
/*
 * Number of devices (hipInit, hipGetDeviceCount): 0 and the count, or -ENODEV
 * with "no device: hipGetDeviceCount: hipErrorNoDevice" in diag.
 */
int hrr_hip_devices(struct hrr_hip *hip, int *ret_count, struct hrr_diag *diag);
/*
 * Issues one call: args are words as described at hrr_param_boxed (pointers,
 * handles and scalars as numbers; dim3 and by-value structures as the address
 * of one). Returns what the call returned (hipError_t, int, or a pointer);
 * hipErrorNotSupported when the run time lacks the call.
 */
int64_t hrr_hip_call(struct hrr_hip *hip, enum hrr_api api, const uint64_t *args);
/* Without the hook. */
int64_t hrr_hip_invoke(struct hrr_hip *hip, enum hrr_api api, const uint64_t *args);
/* Folder of the project's shared objects, found from the running program: BIN/../lib/hrr. */
int hrr_libdir(char *path, size_t size);

#endif
