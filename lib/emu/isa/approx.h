#ifndef HRR_EMU_ISA_APPROX_H
#define HRR_EMU_ISA_APPROX_H

#include "lib/hip/checker.h"

/*
 * How far hardware may be from the exact result of an approximated instruction (F_APPROX), by its
 * canonical name. -ENOENT: it is none of them.
 */
int isa_approx_error(const char *mnemonic, struct hrr_emu_error *ret_error);

#endif
