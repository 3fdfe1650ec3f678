#include "lib/emu/runtime/fault.h"
#include "lib/emu/runtime/rt.h"

#include <string.h>

/* Every call of the table that has no definition elsewhere says so by name. */

hipError_t emu_not_supported(const char *name)
{
	static const char *seen[512]; /* names are static strings */
	static unsigned n;
	bool fresh = true;

	emu_enter(EMU_ANY);
	fault_count_not_supported();
	rt_lock();
	for (unsigned i = 0; i < n && fresh; i++)
		fresh = strcmp(seen[i], name) != 0;
	if (fresh && n < sizeof seen / sizeof *seen)
		seen[n++] = name;
	rt_unlock();
	if (fresh)
		emu_note("%s: not supported", name);
	return emu_ret(hipErrorNotSupported);
}

#include "emu_stubs.inc"
