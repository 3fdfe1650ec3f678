#ifndef HRR_EMU_ISA_MFMA_H
#define HRR_EMU_ISA_MFMA_H

#include "lib/emu/isa/internal.h"

/* Reads a name; n_dst: registers of the destination. false when it is none of ours, or has others.
 */
bool isa_matrix_parse(const char *name, enum isa_arch arch, unsigned lanes, unsigned n_dst,
		      struct isa_matrix *x);
/* Registers that hold per_lane elements of a type. */
unsigned isa_matrix_registers(u8 type, unsigned per_lane);
extern const isa_fn *const isa_fns_matrix[3];

#endif
