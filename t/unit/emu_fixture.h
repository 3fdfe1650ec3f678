#ifndef HRR_T_UNIT_EMU_FIXTURE_H
#define HRR_T_UNIT_EMU_FIXTURE_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/emu/runtime/emu.h"
#include "lib/hip/entry.h"
#include "t/unit/tap.h"

/*
 * The CPU run time as any program sees it: through the stand-in's entry points.
 *     HIP(hipMalloc, &p, 16)
 * Settings are read at the first call, so environment variables come before emu_open.
 */
static struct hrr_hip hip;

#define HIP(name, ...) ((hrr_fn_##name)hip.fn[HRR_API_##name])(__VA_ARGS__)

static char last_fault[8192]; /* the newest report; reports are kept off standard error */
static unsigned n_faults;
static uint64_t fault_at;

__attribute__((unused)) static void take_fault(void *self, const struct hrr_emu_fault *f)
{
	(void)self;
	snprintf(last_fault, sizeof last_fault, "%s", f->text);
	fault_at = f->address;
	n_faults++;
}

/* dlsym without a cast that C does not have. */
__attribute__((unused)) static bool emu_symbol(const char *name, void *fn)
{
	void *p = dlsym(hip.lib, name);

	memcpy(fn, &p, sizeof p);
	return p != NULL;
}

/* What was built together with this test: NAME under the build folder. */
__attribute__((unused)) static const char *emu_built(const char *name)
{
	static char path[8192];
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);

	exe[n > 0 ? n : 0] = '\0';
	for (int i = 0; i < 3; i++) { /* BUILD/t/unit/NAME */
		char *slash = strrchr(exe, '/');
		if (slash != NULL)
			*slash = '\0';
	}
	snprintf(path, sizeof path, "%s/%s", exe, name);
	return path;
}

__attribute__((unused)) static bool emu_open(void)
{
	struct hrr_diag diag = {0};
	void (*on_fault)(void (*fn)(void *, const struct hrr_emu_fault *), void *, int);

	if (!ok(hrr_hip_load(&hip, "emu", emu_built("lib/hrr"), &diag) == 0,
		"the stand-in loads %s", diag.what))
		return false;
	if (!ok(emu_symbol("hrr_emu_on_fault", &on_fault), "the run time's own interface is there"))
		return false;
	on_fault(take_fault, NULL, 1);
	return true;
}

#endif
