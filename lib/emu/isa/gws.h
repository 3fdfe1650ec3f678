#ifndef HRR_EMU_ISA_GWS_H
#define HRR_EMU_ISA_GWS_H

#include "lib/emu/isa/internal.h"

#define ISA_GWS 64
struct isa_gws {
	_Atomic u64 counter[ISA_GWS];
};

void isa_gws_start(struct isa_gws *g, u64 n_groups);
int isa_gws_init(struct isa_wave *w, const struct isa_inst *in);
int isa_gws_barrier(struct isa_wave *w, const struct isa_inst *in);

#endif
