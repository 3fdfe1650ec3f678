#ifndef HRR_EMU_DEVICE_H
#define HRR_EMU_DEVICE_H

#include "lib/emu/runtime/rt.h"
#include "lib/hip/codeobj.h"

/* What an architecture looks like: values of a common product that has it. */
struct arch_info {
	const char *name, *target; /* marketing name; gcnArchName with features */
	int cus, clock_khz, memory_clock_khz, bus_bits, l2_bytes;
	int waves_per_cu, wave_size, vgprs_per_simd_lane, gcn;
	unsigned lds_bytes; /* that a workgroup may have */
};
const struct arch_info *arch_info(enum isa_arch arch);
/* Bytes of LDS that a kernel leaves for launches to ask for; 0 too when it has more than there is.
 */
unsigned lds_left(const struct hrr_kernel *k);

#endif
