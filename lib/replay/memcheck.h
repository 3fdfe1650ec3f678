#ifndef HRR_REPLAY_MEMCHECK_H
#define HRR_REPLAY_MEMCHECK_H

#include "lib/replay/memory.h"

/* Private to lib/replay: what the CPU run time is told, and what it tells. */

struct hrr_record;
struct hrr_replay;

/* memcheck.c: what the CPU run time is told about blocks, and what it tells about accesses. */
int hrr_memcheck_start(struct hrr_replay *r, struct hrr_diag *diag);
void hrr_memcheck_end(struct hrr_replay *r);
/* The call in hand, for what is found in its work. */
void hrr_memcheck_call(struct hrr_replay *r, const char *api);
/* A block came (fresh: just now) or goes. */
void hrr_memcheck_block(struct hrr_replay *r, struct hrr_live_region *x, bool fresh);
void hrr_memcheck_block_gone(struct hrr_replay *r, struct hrr_live_region *x);
/* Memory came or goes: it and the live blocks inside. */
void hrr_memcheck_mem(struct hrr_replay *r, struct hrr_mem *m);
void hrr_memcheck_mem_gone(struct hrr_replay *r, struct hrr_mem *m);
/* Faults met since the last call become outcomes. */
void hrr_memcheck_tell(struct hrr_replay *r);
/*
 * Whether a recorded address that is not mapped can go to a kernel as it is: with --memcheck, and
 * when nothing lives under that number here, so that touching it is a fault that names the lane.
 */
bool hrr_memcheck_dead(struct hrr_replay *r, uint64_t addr);
/* Tells of launches that were less than exact, as the record in hand brought them about. */
void hrr_fidelity_tell(struct hrr_replay *r, const struct hrr_record *rec);

#endif
