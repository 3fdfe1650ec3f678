#include "lib/emu/runtime/rt.h"

#include <string.h>

/* hipGetProcAddress: the table's own names, as far as the major has them. */

#define STANDIN(sym, target, major) {#sym, (void (*)(void))target, major},
static const struct {
	const char *name;
	void (*fn)(void);
	int major;
} names[] = {
#include "emu_names.inc"
};
#undef STANDIN

static bool look(const char *name, void **ret)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].major <= rt.major && strcmp(names[i].name, name) == 0) {
			memcpy(ret, &names[i].fn, sizeof *ret);
			return true;
		}
	return false;
}

static hipError_t find(const char *symbol, void **pfn, int version, uint64_t flags, int *status,
		       bool spt)
{
	enum { FOUND, NOT_FOUND, VERSION_NOT_SUFFICIENT };
	char name[256];
	size_t n;

	if (symbol == NULL || pfn == NULL || (n = strlen(symbol)) == 0 || n > 240)
		return hipErrorInvalidValue;
	*pfn = NULL;
	memcpy(name, symbol, n + 1);
	/* The structure of ROCm 6 goes with the number of ROCm 6. */
	if (version >= 600 &&
	    (strcmp(name, "hipGetDeviceProperties") == 0 || strcmp(name, "hipChooseDevice") == 0))
		memcpy(name + n, "R0600", 6);
	bool found = false;
	if (spt || (flags & 2) != 0) { /* per-thread default stream, where there is such a one */
		char own[256];
		memcpy(own, name, strlen(name) + 1);
		memcpy(own + strlen(own), "_spt", 5);
		found = look(own, pfn);
	}
	found = found || look(name, pfn);
	if (status != NULL)
		*status = found ? FOUND : NOT_FOUND;
	return found || status != NULL ? hipSuccess : hipErrorNotFound;
}

hipError_t emu_hipGetProcAddress(const char *symbol, void **pfn, int hipVersion, uint64_t flags,
				 int *symbolStatus)
{
	EMU_ENTER(EMU_ANY);
	return emu_ret(find(symbol, pfn, hipVersion, flags, symbolStatus, false));
}

hipError_t emu_hipGetProcAddress_spt(const char *symbol, void **pfn, int hipVersion, uint64_t flags,
				     int *symbolStatus)
{
	EMU_ENTER(EMU_ANY);
	return emu_ret(find(symbol, pfn, hipVersion, flags, symbolStatus, true));
}

hipError_t emu_hipGetDriverEntryPoint(const char *symbol, void **funcPtr, uint64_t flags,
				      int *status)
{
	EMU_ENTER(EMU_ANY);
	return emu_ret(find(symbol, funcPtr, 600, flags, status, false));
}

hipError_t emu_hipGetDriverEntryPoint_spt(const char *symbol, void **funcPtr, uint64_t flags,
					  int *status)
{
	EMU_ENTER(EMU_ANY);
	return emu_ret(find(symbol, funcPtr, 600, flags, status, true));
}
