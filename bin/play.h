#ifndef HRR_BIN_PLAY_H
#define HRR_BIN_PLAY_H

#include <stdio.h>

#include "lib/replay/children.h"
#include "lib/replay/fault.h"
#include "lib/replay/replay.h"

/* Private to hrr-play: its state, and what its parts do for each other. All die on trouble. */

#define PLAY_SIDECARS 64

struct play {
	/* the command line */
	const char *operand, *name, *device, *blobs, *results_path, *hashes_path, *type, *atol,
	    *rtol, *ulp;
	struct hrr_replay_options opt;
	struct hrr_rules tolerance;
	struct hrr_faults faults;
	int64_t pid; /* -1: any */
	/* Index of the process that is played for another program, or -1; name: where that has
	 * the records from. */
	int64_t child;
	int results_fd;
	bool no_regions, require_complete, quiet;
	uint64_t dump_addr, dump_size;
	const char *sidecars[PLAY_SIDECARS];
	size_t n_sidecars;
	char **argv;
	int n_options; /* of argv, before the operand */
	/* the replay */
	struct hrr_hip hip;
	struct hrr_replay *engine;
	struct hrr_source *src;
	struct hrr_children *children; /* NULL: one process only so far */
	const char *reading;	  /* file of the record in hand, where there are several; NULL */
	bool own_regions;	  /* the stream itself holds regions */
	uint32_t p, recorded_pid; /* of the process this program replays */
	bool have_p;
	struct hrr_buf text;
};
extern struct play play;

const char *play_where(void); /* for messages: what the record in hand came from */
int64_t play_index(void);     /* of the process, where there are several; -1 */
bool play_is_pipe(void);

/* play_options.c */
void play_options(int argc, char **argv);

/* play_start.c */
struct hrr_source *play_open_source(void);
/* Reserves the addresses the archive will want, before anything else takes them. */
struct hrr_place *play_place(void);
void play_load(void);			     /* the run time */
void play_start_engine(struct hrr_place *p); /* takes p; signals and the watchdog from here on */
/* The watchdog learns that replay goes on, with rec; NULL: to its end. */
void play_beat(const struct hrr_record *rec);
int play_signalled(void); /* the signal that came, or 0 */

/* play_children.c: whether the record belongs to another process than ours; then it is handed on.
 */
bool play_handed_on(const struct hrr_record *rec);

/* play_results.c */
void play_open_outputs(void);
void play_put_result(void); /* play.text, where results are asked for */
void play_close_results(void);
void play_on_fidelity(void *self, const struct hrr_launch_fidelity *f);
void play_hash_header(const struct hrr_record *rec);
void play_close_hashes(const struct hrr_verdict *v);

/* play_report.c */
void play_on_outcome(void *self, const struct hrr_outcome *o);
void play_listen(void);			   /* to what kernels print */
void play_fidelity(struct hrr_verdict *v); /* what the run time tells goes into v */
void play_times(void);
void play_summary(const struct hrr_verdict *v, int code); /* and the last line of the results */

#endif
