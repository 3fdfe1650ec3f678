#ifndef HRR_EMU_FAULT_H
#define HRR_EMU_FAULT_H

#include "lib/emu/runtime/module.h"

/*
 * What went wrong, counted and said. Without rt.lock.
 */

struct launch_view;
/* Takes in a launch's report: statistics, messages. What the launch ends with. */
hipError_t fault_launch(const struct isa_report *r, const struct hrr_kernel *k, struct image *image,
			const struct launch_view *view, uint64_t ns);
/* A copy or set that met memory it may not touch. */
void fault_copy(const char *what, bool write, uint64_t addr, uint64_t size, int device);
void fault_count_not_supported(void);

#endif
