#ifndef HRR_EMU_ARCH_H
#define HRR_EMU_ARCH_H

#include "lib/emu/runtime/module.h"

/*
 * What the devices are: what the user says (HRR_EMU_ARCH), or who replays (hrr_emu_devices), else
 * what the program's code is for. Fixed by the first call; a program that has registered none by
 * then is decided by the first module it loads. All with rt.lock held.
 */
void arch_set(enum isa_arch arch);
/* By what a container that is loaded has code for, where nothing has decided yet. */
void arch_adopt(const struct hrr_bundle *b);
/* Bytes of memory that a product of that kind has. */
uint64_t arch_memory(enum isa_arch arch);

#endif
