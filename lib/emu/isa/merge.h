#ifndef HRR_EMU_ISA_MERGE_H
#define HRR_EMU_ISA_MERGE_H

#include "lib/emu/isa/internal.h"

/*
 * Adds up what the threads of a launch counted and found (NULL: one that did not come). What is
 * told does not depend on which thread ran which workgroup.
 */
void isa_merge(struct isa_report *out, struct isa_thread *const *threads, unsigned n);

#endif
