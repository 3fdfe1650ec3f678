#ifndef HRR_STORE_SOURCE_H
#define HRR_STORE_SOURCE_H

#include "lib/store/blob.h"
#include "lib/stream/record.h"

/*
 * What every program reads: an archive (all processes, merged by time), one
 * process's folder, an events.jsonl, or a stream ("-" or NULL: standard input).
 * Sidecars of a process are merged in at their time as region records (their t
 * moved to the stream's clock), unless asked otherwise.
 */
struct hrr_source_options {
	int64_t pid;	   /* -1: all */
	const char *blobs; /* -b DIR: overrides what the header says; NULL */
	bool no_sidecars;
	size_t n_sidecars; /* further sidecars (--regions FILE), for the first process */
	const char *const *sidecars;
};

struct hrr_source;

int hrr_source_open(struct hrr_source **ret, const char *operand,
		    const struct hrr_source_options *opt, struct hrr_diag *diag);
/*
 * 1 and the next record (borrowed until the next call), 0 at the end, negative
 * with diag naming operand and line. A cut last line is not returned; hrr_source_state tells.
 */
int hrr_source_next(struct hrr_source *s, struct hrr_record **ret_rec, struct hrr_diag *diag);
/* The operand a record came from, for messages. */
const char *hrr_source_name(const struct hrr_source *s, const struct hrr_record *rec);
/* The blob store of process p. NULL with diag where there is none (or it cannot be opened). */
struct hrr_blobs *hrr_source_blobs(struct hrr_source *s, uint32_t p, struct hrr_diag *diag);

struct hrr_source_state {
	bool cut_line;	 /* a last line without newline was left out */
	bool has_end;	 /* every process had an end record */
	bool filtered;	 /* an end record says filtered */
	bool counts_fit; /* calls and outputs counted as the end record says */
	uint32_t processes;
	uint64_t calls, outputs, regions, sidecars, not_recorded, lost;
};
/* Meaningful after hrr_source_next returned 0. */
void hrr_source_state(const struct hrr_source *s, struct hrr_source_state *ret);
/* "complete", "running", "cut short", "filtered": one word or two for messages. */
const char *hrr_source_word(const struct hrr_source_state *st);
void hrr_source_close(struct hrr_source *s);

#endif
