#ifndef HRR_EMU_DEVICE_H
#define HRR_EMU_DEVICE_H

#include "lib/emu/runtime/rt.h"

/* What an architecture looks like: values of a common product that has it. */
struct arch_info {
	const char *name, *target; /* marketing name; gcnArchName with features */
	int cus, clock_khz, memory_clock_khz, bus_bits, l2_bytes;
	int waves_per_cu, wave_size, vgprs_per_simd_lane, gcn;
};
const struct arch_info *arch_info(enum isa_arch arch);

#endif
