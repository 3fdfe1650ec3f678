#include "lib/emu/runtime/arch.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/emu/runtime/emu.h"

/* Unpacking every compressed container of a big library would cost more than it decides. */
#define MAX_UNPACKED ((size_t)64 << 20)

uint64_t arch_memory(enum isa_arch arch)
{
	static const uint64_t gib[ISA_ARCH_COUNT] = {
	    [ISA_GFX90A] = 64,	[ISA_GFX942] = 192, [ISA_GFX950] = 288,
	    [ISA_GFX1030] = 16, [ISA_GFX1100] = 24, [ISA_GFX1201] = 16};
	return gib[arch] << 30;
}

void arch_set(enum isa_arch arch)
{
	rt.arch = arch;
	rt.arch_known = rt.arch_fixed = true;
}

static int entry_arch(const struct hrr_bundle_entry *e)
{
	char name[64];

	return hrr_bundle_arch(e, name, sizeof name) == 0 ? isa_arch_by_name(name) : -1;
}

/* The architectures a container has code for, a bit each. */
static unsigned archs_of(const struct hrr_bundle *b)
{
	unsigned set = 0;

	for (size_t i = 0; i < b->n_entries; i++) {
		int a = entry_arch(&b->entries[i]);
		if (a >= 0)
			set |= 1u << a;
	}
	return set;
}

/*
 * Of those the program's first fat binary has code for, in its order, the first that the most of
 * the others have code for, too; -1: none is emulated. A library that comes before the program
 * may have more than the program was built for.
 */
static int fatbin_arch(void)
{
	unsigned votes[ISA_ARCH_COUNT] = {0};
	const struct module *first = NULL;
	size_t unpacked = 0;
	int best = -1;

	for (const struct module *m = module_list(); m != NULL; m = m->next)
		if (m->fat && !m->gone)
			first = m; /* the list begins with the last one */
	for (struct module *m = module_list(); m != NULL; m = m->next) {
		if (!m->fat || m->gone || (m != first && unpacked > MAX_UNPACKED) ||
		    module_open(m) != hipSuccess)
			continue;
		for (size_t i = 0; i < m->bundle.n_unpacked; i++)
			unpacked += m->bundle.unpacked[i].len;
		unsigned set = archs_of(&m->bundle);
		for (unsigned a = 0; a < ISA_ARCH_COUNT; a++)
			votes[a] += set >> a & 1;
	}
	for (size_t i = 0; first != NULL && i < first->bundle.n_entries; i++) {
		int a = entry_arch(&first->bundle.entries[i]);
		if (a >= 0 && (best < 0 || votes[a] > votes[best]))
			best = a;
	}
	return best;
}

enum isa_arch rt_arch(void)
{
	if (!rt.arch_known) {
		int a = fatbin_arch();
		if (a >= 0)
			arch_set((enum isa_arch)a);
		else
			rt.arch = ISA_GFX90A;
		rt.arch_known = true;
	}
	return rt.arch;
}

void arch_adopt(const struct hrr_bundle *b)
{
	if (rt.arch_fixed || module_images_loaded())
		return;
	for (size_t i = 0; i < b->n_entries; i++) {
		int a = entry_arch(&b->entries[i]);
		if (a >= 0) {
			arch_set((enum isa_arch)a);
			return;
		}
	}
}

__attribute__((visibility("default"))) int hrr_emu_devices(const char *arch, unsigned count)
{
	const char *set = getenv("HRR_EMU_ARCH"), *number = getenv("HRR_EMU_DEVICES");

	rt_init();
	rt_lock();
	bool used = module_images_loaded();
	for (int i = 0; i < EMU_MAX_DEVICES; i++)
		used = used || rt.dev[i].used != 0 || rt.dev[i].streams != NULL;
	if (!used && arch != NULL && (set == NULL || *set == '\0')) {
		int a = isa_arch_by_name(arch);
		if (a >= 0)
			arch_set((enum isa_arch)a);
		rt.memory = 0; /* anew by the next call */
	}
	if (!used && (number == NULL || *number == '\0') && count > 0)
		rt_set_devices(count < EMU_MAX_DEVICES ? (int)count : EMU_MAX_DEVICES);
	rt_unlock();
	return used ? -EBUSY : 0;
}
