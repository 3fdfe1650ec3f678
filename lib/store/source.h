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
	bool follow;	   /* at the end of a running archive wait for more */
	size_t n_sidecars; /* further sidecars (--regions FILE), for the first process */
	const char *const *sidecars;
};

struct hrr_source;

/*
 * An archive in another format. Its reader turns it into lines of ours (a merged
 * stream where it holds several processes: headers with "p"). Programs add the
 * formats they take before they open anything; the table is not locked.
 */
struct hrr_source_format {
	const char *name;
	/* Looks like mine? path is a folder or a file. Reads little and says nothing. */
	bool (*probe)(const char *path);
	int (*open)(void **ret_self, const char *path, const struct hrr_source_options *opt,
		    struct hrr_diag *diag);
	/* As hrr_reader_line: 1 and a line, 0 at the end, negative with diag. */
	int (*line)(void *self, const char **ret_line, size_t *ret_len, uint64_t *ret_lineno,
		    bool *ret_cut, struct hrr_diag *diag);
	/*
	 * The line given last is a call: fills p, t, seq, dur, tid and api (which is in the
	 * line), as parsing would. False: it is to be parsed. NULL: always.
	 */
	bool (*head)(void *self, struct hrr_record *rec);
	/* Store of process p, which stays self's. NULL with diag. */
	struct hrr_blobs *(*blobs)(void *self, uint32_t p, struct hrr_diag *diag);
	void (*close)(void *self);
};
#define HRR_SOURCE_MAX_FORMATS 8
int hrr_source_add_format(const struct hrr_source_format *format); /* -ENOSPC */

int hrr_source_open(struct hrr_source **ret, const char *operand,
		    const struct hrr_source_options *opt, struct hrr_diag *diag);
/*
 * 1 and the next record (borrowed until the next call), 0 at the end, negative
 * with diag naming operand and line. A cut last line is not returned; hrr_source_state tells.
 */
int hrr_source_next(struct hrr_source *s, struct hrr_record **ret_rec, struct hrr_diag *diag);
/* The operand a record came from, for messages. */
const char *hrr_source_name(const struct hrr_source *s, const struct hrr_record *rec);
/* Absolute path of the blob folder of process p as -b or its header says, whether it is there or
 * not; NULL where nothing says it or it cannot be known (a relative path on standard input).
 * Borrowed until close. */
const char *hrr_source_blobs_path(struct hrr_source *s, uint32_t p);
/* t0 of process p's header, ns of CLOCK_MONOTONIC; 0 before it was met. */
uint64_t hrr_source_t0(const struct hrr_source *s, uint32_t p);
/* The next record needs no read that could wait: output need not be flushed first. */
bool hrr_source_ready(const struct hrr_source *s);
/* Folder of the sidecars when one process's file is read ("regions" beside it, there or not);
 * NULL for standard input, another format, or several processes. Borrowed until close. */
const char *hrr_source_sidecar_folder(const struct hrr_source *s);
/* Files that are read: processes of an archive that were chosen. */
size_t hrr_source_files(const struct hrr_source *s);
/*
 * From now on calls may come with their head alone: kind, line, p, t, seq, dur, tid
 * and api, and no members (args and the others -1). For programs that pass lines on.
 * looked_at: selectors may still ask for them (lib/stream/shape.h).
 */
void hrr_source_heads_only(struct hrr_source *s, bool looked_at);
/* The record last returned came out of a sidecar. */
bool hrr_source_from_sidecar(const struct hrr_source *s);
/* The blob store of process p. NULL with diag where there is none (or it cannot be opened). */
struct hrr_blobs *hrr_source_blobs(struct hrr_source *s, uint32_t p, struct hrr_diag *diag);

struct hrr_source_state {
	bool cut_line;	    /* a last line without newline was left out */
	bool has_end;	    /* every process had an end record */
	bool no_header;	    /* some process had no header */
	bool running;	    /* the archive's writer is alive: the tail may still grow */
	bool ended_cut;	    /* an end record says cut */
	bool cut_sidecar;   /* a sidecar's last line was left out */
	bool clock_suspect; /* fewer than a tenth of a process's stamped regions fall inside its
			       stream */
	bool filtered;	    /* an end record says filtered */
	bool counts_fit;    /* calls and outputs counted as the end record says */
	bool sidecar;	    /* no stream but a sidecar by itself: neither header nor end is due */
	uint32_t processes;
	uint64_t calls, outputs, regions, sidecars, not_recorded, lost;
};
/* Meaningful after hrr_source_next returned 0. */
void hrr_source_state(const struct hrr_source *s, struct hrr_source_state *ret);
/* "complete", "running", "cut short", "filtered": one word or two for messages. */
const char *hrr_source_word(const struct hrr_source_state *st);
void hrr_source_close(struct hrr_source *s);

#endif
