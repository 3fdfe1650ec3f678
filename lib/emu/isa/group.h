#ifndef HRR_EMU_ISA_GROUP_H
#define HRR_EMU_ISA_GROUP_H

#include "lib/emu/isa/internal.h"

/*
 * Workgroups in flight. Their storage (register files, LDS, scratch) is the
 * thread's and serves one group after the other, launch after launch.
 */

/* Storage for a group of the thread's launch: kept from an earlier one, or new. NULL: no memory. */
struct isa_wg *isa_group_take(struct isa_thread *t);
/* It ended, or is not wanted any more. */
void isa_group_put(struct isa_thread *t, struct isa_wg *g);
/* At the end of a launch: keeps one, frees the others; or none. */
void isa_groups_trim(struct isa_thread *t, bool all);
/* Workgroup number order at its first instruction. */
void isa_group_start(struct isa_wg *g, struct isa_thread *t, u64 order);

enum isa_pass { PASS_DONE, PASS_WAITS, PASS_STOP };
/* Lets every wave run: to its end, or until each has had its slice of instructions. */
enum isa_pass isa_group_pass(struct isa_wg *g, struct isa_thread *t, u64 slice);

#endif
