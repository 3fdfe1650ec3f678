#ifndef HRR_REPLAY_CHILDREN_H
#define HRR_REPLAY_CHILDREN_H

#include "lib/base/diag.h"

/*
 * Several recorded processes: each is replayed by a program of its own, which reads
 * its records from a pipe. HIP run times do not survive fork, so programs are started anew.
 */
struct hrr_children; /* owned: pipes and process ids */

struct hrr_children *hrr_children_new(void); /* NULL: out of memory */
/* Starts argv (ended by NULL; argv[0] a path) for process p, its standard input a pipe. */
int hrr_children_start(struct hrr_children *c, uint32_t p, char *const argv[],
		       struct hrr_diag *diag);
/*
 * One line to process p, newline added, and "line", where it stood (0: nowhere). 1 when that child
 * reads no more (it ended early; its exit code tells), -ENOENT when there is none.
 */
int hrr_children_line(struct hrr_children *c, uint32_t p, const char *line, size_t len,
		      uint64_t lineno, struct hrr_diag *diag);
/* Closes the pipes, passes sig on (0: none), waits. The largest exit code; 2 for a death by signal.
 */
int hrr_children_end(struct hrr_children *c, int sig);

#endif
