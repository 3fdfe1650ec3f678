#include "t/unit/emu_fixture.h"

#include <math.h>

/* The stand-ins of the later majors: values, structures and names that are theirs. */

static void half(void)
{
	uint16_t (*f2h)(float) = NULL;
	float (*h2f)(uint16_t) = NULL;

	if (!ok(emu_symbol("__gnu_f2h_ieee", &f2h) && emu_symbol("__gnu_h2f_ieee", &h2f),
		"half precision"))
		return;
	unsigned wrong = 0;
	for (unsigned i = 0; i < 65536; i++) {
		float f = h2f((uint16_t)i);
		if (isnan(f) ? (i & 0x7c00) != 0x7c00 : f2h(f) != i)
			wrong++;
	}
	is(wrong, 0, "every half survives");
	is(f2h(65519.0f), 0x7bff, "just below the limit");
	is(f2h(65520.0f), 0x7c00, "rounds to infinity");
	is(f2h(1.00048828125f), 0x3c00, "a tie to even");
	is(f2h(1.00146484375f), 0x3c02, "the other way");
	is(f2h(0x1p-25f), 0, "half the smallest, to even");
	is(f2h(0x1.8p-25f), 1, "more than that");
	is(f2h(-0x1.ffcp-15f), 0x8400, "a denormal that rounds up to normal");
}

int main(void)
{
	struct hrr_diag why = {0};
	struct hipDeviceProp_tR0600 p;
	struct hipPointerAttribute_t a;
	char path[8192];
	void *d = NULL, *fn = NULL;
	int v = 0, status = 9;

	snprintf(path, sizeof path, "%s", emu_built("lib/hrr/emu/libamdhip64.so.6"));
	if (!ok(hrr_hip_load(&hip, path, ".", &why) == 0, "libamdhip64.so.6 loads: %s", why.what))
		return done_testing();
	is(hip.major, 6, "major");
	is(HIP(hipRuntimeGetVersion, &v), hipSuccess, "version");
	is(v / 10000000, 6, "is 6");
	is(HIP(hipGetDevicePropertiesR0600, &p, 0), hipSuccess, "R0600 properties");
	is(p.warpSize, 64, "warp size");
	ok(strncmp(p.gcnArchName, "gfx90a", 6) == 0, "arch %s", p.gcnArchName);
	is_str(HIP(hipGetErrorString, hipErrorInvalidValue), "invalid argument",
	       "texts of errors are texts");
	is(HIP(hipMalloc, &d, 16), hipSuccess, "hipMalloc");
	is(HIP(hipPointerGetAttributes, &a, d), hipSuccess, "attributes");
	is(a.memoryType, 2, "device memory has 6's number");
	is(HIP(hipPointerGetAttributes, &a, &v), hipSuccess, "of unknown memory");
	is(a.memoryType, 0, "unregistered");

	/* Graph node types count from 0. */
	hipGraph_t g = NULL;
	hipGraphNode_t n = NULL;
	is(HIP(hipGraphCreate, &g, 0), hipSuccess, "graph");
	is(HIP(hipGraphAddEmptyNode, &n, g, NULL, 0), hipSuccess, "empty node");
	is(HIP(hipGraphNodeGetType, n, &v), hipSuccess, "type");
	is(v, 5, "empty");

	is(HIP(hipGetProcAddress, "hipGetDeviceProperties", &fn, 600, 0, &status), hipSuccess,
	   "entry point by name");
	is(status, 0, "found");
	memset(&p, 0, sizeof p);
	hrr_fn_hipGetDevicePropertiesR0600 get;
	memcpy(&get, &fn, sizeof get);
	is(get(&p, 0), hipSuccess, "it is the one of 6");
	is(p.warpSize, 64, "with its structure");
	is(HIP(hipGetProcAddress, "hipNoSuch", &fn, 600, 0, &status), hipSuccess, "another name");
	is(status, 1, "not found");
	is(HIP(hipGetProcAddress, "hipNoSuch", &fn, 600, 0, NULL), hipErrorNotFound,
	   "without a status");

	/* Up to 6 success clears the last error, from 7 on it stays. */
	is(HIP(hipFree, (char *)d + 1), hipErrorInvalidValue, "an error");
	is(HIP(hipFree, d), hipSuccess, "a success");
	is(HIP(hipGetLastError), hipSuccess, "forgets it");
	char *six = strstr(path, ".so.6");
	six[4] = '7';
	if (ok(hrr_hip_load(&hip, path, ".", &why) == 0, "libamdhip64.so.7 loads: %s", why.what)) {
		is(HIP(hipFree, (char *)d + 1), hipErrorInvalidValue, "an error");
		is(HIP(hipFree, NULL), hipSuccess, "a success");
		is(HIP(hipGetLastError), hipErrorInvalidValue, "does not forget it");
		is(HIP(hipGetLastError), hipSuccess, "reading does");
		half();
	}
	return done_testing();
}
