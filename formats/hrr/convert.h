#ifndef HRR_FORMATS_HRR_CONVERT_H
#define HRR_FORMATS_HRR_CONVERT_H

#include "formats/hrr/blobs.h"
#include "formats/hrr/events.h"
#include "lib/stream/record.h"

/*
 * One process of an upstream archive as lines of our stream (formats/events): the
 * header, runtime, calls in sequence order each followed by the output it
 * delivered, regions at their time, and end when the archive was closed in order.
 * What our stream has no place for is the last member of a line, "foreign"
 * (formats/hrr/README.md).
 */
struct hrr_convert;

struct hrr_convert_options {
	int64_t p; /* index put into the lines; -1: none */
	bool no_regions;
	/* Told what is wrong, one message each, as it is met; may be NULL. */
	void (*note)(void *self, const char *text);
	void *note_self;
};

/*
 * dir: the process's folder. The diag says why it is none of ours; -EINVAL,
 * -ENOENT, -EIO, -ENOMEM.
 */
int hrr_convert_open(struct hrr_convert **ret, const char *dir,
		     const struct hrr_convert_options *opt, struct hrr_diag *diag);
void hrr_convert_close(struct hrr_convert *c);
/* 1 and a line without its newline (borrowed until the next call), 0 at the end, negative. */
int hrr_convert_line(struct hrr_convert *c, const char **ret_line, size_t *ret_len,
		     struct hrr_diag *diag);
/*
 * When the line returned last is a call: its head (p, seq, t, dur, tid, and api in the line), so
 * that nobody has to parse it. False: it is something else.
 */
bool hrr_convert_head(const struct hrr_convert *c, const char *line, struct hrr_record *rec);
/* When what was returned last stands, on the machine's clock: CLOCK_MONOTONIC, ns. */
uint64_t hrr_convert_time(const struct hrr_convert *c);
/* The process's id: as its manifest says, else its folder's name, else 0. */
uint32_t hrr_convert_pid(const struct hrr_convert *c);
/* The blobs the lines name. Borrowed. */
struct hrr_up_blobs *hrr_convert_blobs(struct hrr_convert *c);
const struct hrr_events_facts *hrr_convert_facts(const struct hrr_convert *c);

#endif
