#ifndef HRR_STREAM_WRITE_H
#define HRR_STREAM_WRITE_H

#include "lib/base/id.h"
#include "lib/base/json.h"

/*
 * Records in canonical form, appended to a buffer with their newline. All
 * strings are bytes that need not be UTF-8. Functions return 0 or -ENOMEM.
 * Where a caller prints args itself (from the table), it appends to b between
 * hrr_write_call and hrr_write_call_end.
 */
struct hrr_write_header {
	int64_t p; /* -1: not merged */
	uint32_t pid, image;
	size_t argc;
	const char *const *argv;
	uint64_t t0;	   /* CLOCK_MONOTONIC, ns */
	uint64_t realtime; /* CLOCK_REALTIME at t0, ns since 1970 */
	const char *boot;  /* boot id, or "" */
	size_t n_env;	   /* "NAME=VALUE", white-listed by the caller */
	const char *const *env;
	const char *blobs; /* folder: relative to the stream's file, or absolute */
};
int hrr_write_header(struct hrr_buf *b, const struct hrr_write_header *h);

struct hrr_write_call {
	int64_t p;
	uint64_t seq, t, dur, tid;
	const char *api;
	const char *ret; /* NULL: success. Otherwise written as it is when it starts with '"' or a
			    digit, else quoted */
};
/* {"seq":…,"t":…,"dur":…,"tid":…,"api":"…",["ret":…,]"args":{   — the caller adds members, without
 * a leading comma */
int hrr_write_call(struct hrr_buf *b, const struct hrr_write_call *c);
/* The caller closes args with "}" and may add ,"dir":… ,"blobs":… ,"host":… ,"kernel":… ,"symbol":…
 * in this order; then: */
int hrr_write_call_end(struct hrr_buf *b); /* "}\n" */

struct hrr_write_output {
	int64_t p;
	uint64_t seq; /* the call that delivered */
	int64_t node; /* seq of the call that made the graph node, or -1 */
	uint64_t t, tid;
	uint64_t addr, size; /* recorded host address; packed bytes */
	/* rectangles: width, height, depth > 0; pitch and slice are bytes between rows and planes
	 */
	uint64_t width, height, depth, pitch, slice;
	struct hrr_id blob;
	bool unknown; /* the bytes are not known (why in reason): replay counts it as unchecked */
	const char *reason;
};
int hrr_write_output(struct hrr_buf *b, const struct hrr_write_output *o);

struct hrr_region {
	bool add, segment; /* else del, block */
	bool kind_known;   /* del without kind */
	int device;
	uint64_t base, size; /* size is 0 in del */
	uint64_t t;	     /* ns since t0, or HRR_NO_TIME */
	const char *tag;     /* NULL: none; borrowed */
	size_t tag_len;
};
int hrr_write_region(struct hrr_buf *b, int64_t p, const struct hrr_region *r);

struct hrr_write_end {
	int64_t p;
	const char *how; /* "complete", "filtered", "cut" */
	uint64_t t;
	uint64_t calls, outputs, regions;
	uint64_t realtime;     /* CLOCK_REALTIME at t */
	size_t n_not_recorded; /* calls the program made that were not recorded */
	const char *const *not_recorded;
	const uint64_t *not_recorded_count;
	size_t n_aside; /* not recorded either, and nothing is missing without them */
	const char *const *aside;
	const uint64_t *aside_count;
	uint64_t lost; /* records lost (--drop, reader died) */
};
int hrr_write_end(struct hrr_buf *b, const struct hrr_write_end *e);

#endif
