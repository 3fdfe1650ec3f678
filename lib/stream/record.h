#ifndef HRR_STREAM_RECORD_H
#define HRR_STREAM_RECORD_H

#include "lib/base/id.h"
#include "lib/base/json.h"

/* One line of an event stream. The format is formats/events/README.md. */
enum hrr_record_kind {
	HRR_REC_HEADER,
	HRR_REC_CALL,
	HRR_REC_OUTPUT,
	HRR_REC_REGION,
	HRR_REC_RUNTIME,
	HRR_REC_END,
	HRR_REC_OTHER /* none of the six names: passed on untouched */
};

#define HRR_STREAM_VERSION 1
#define HRR_STREAM_MAX_PROCESSES 65536 /* in one merged stream */

struct hrr_shapes;

struct hrr_record {
	enum hrr_record_kind kind;
	const char *line; /* as it came, without newline; borrowed until the next read */
	size_t len;
	uint64_t lineno; /* 1-based, in the file it came from */
	struct hrr_json json;
	uint32_t p; /* process index; 0 when absent */
	uint64_t t; /* ns since t0 of its process; HRR_NO_TIME when absent */
	/* calls; for outputs seq is the call that delivered */
	uint64_t seq, dur, tid;
	const char *api; /* not NUL-ended; borrowed */
	size_t api_len;
	int args, ret, dir, blobs, kernel, host,
	    symbol; /* nodes of these members, -1 when absent; kernel: or of "kernels", a list */
	/* Its members were not looked at (lib/stream/shape.h); NULL: they are in json. */
	const struct hrr_shapes *shapes;
};

#define HRR_NO_TIME UINT64_MAX

/*
 * Parses one line into rec (reused: rec->json keeps its memory). Known kinds are
 * checked: members of the right type, required ones there.
 * -EINVAL (diag says what), -E2BIG, -ENOMEM.
 */
int hrr_record_parse(struct hrr_record *rec, const char *line, size_t len, struct hrr_diag *diag);
void hrr_record_release(struct hrr_record *rec);
/*
 * A call that did not do what it should: ret is an error's name, or "none". Handles ("0x…"), texts
 * and whole numbers are what a few calls return. Members have to be there.
 */
bool hrr_record_failed(const struct hrr_record *rec);
/* ret is a value, as handles and the texts of hipGetErrorName are, and tells no error. */
bool hrr_returns_value(const char *api, size_t api_len, const char *ret, size_t len);
/*
 * The kernels a call launches, one after the other: kernel is rec->kernel (or a look's), at the one
 * before or -1. One that is not known is an object without members. -1: there is no more.
 */
int hrr_kernel_next(const struct hrr_json *j, int kernel, int at);
/*
 * The stream that the n-th launch (from 0) of a call goes to: args' own, or that of a structure or
 * of an element of a list in it. -1: none is told.
 */
int hrr_launch_stream(const struct hrr_json *j, int args, unsigned n);
/* Number of the output's making call: member "node", or -1 when it is not a graph's. */
int64_t hrr_record_node(const struct hrr_record *rec);

/* Makes rec a call whose members are not there: its head is filled elsewhere. */
static inline void hrr_record_head_only(struct hrr_record *rec, const char *line, size_t len)
{
	rec->kind = HRR_REC_CALL;
	rec->line = line;
	rec->len = len;
	rec->json.n = 0;
	rec->args = rec->ret = rec->dir = rec->blobs = rec->kernel = rec->host = rec->symbol = -1;
	rec->shapes = NULL;
}

/* Lines from a file descriptor; zstd is noticed and unpacked. */
struct hrr_reader;
struct hrr_reader *
hrr_reader_new(int fd,
	       const char *name); /* takes fd; name (copied) for diagnostics. NULL: no memory */
void hrr_reader_free(struct hrr_reader *r);
/*
 * 1 and a line (without newline, borrowed until the next call), 0 at the end, or
 * -E2BIG (line too long), -EIO, -EINVAL (damaged compression), diag filled with
 * name and line. A last line without newline is returned with *ret_cut true.
 */
int hrr_reader_line(struct hrr_reader *r, const char **ret_line, size_t *ret_len,
		    uint64_t *ret_lineno, bool *ret_cut, struct hrr_diag *diag);

/* The next line is in memory already: hrr_reader_line will not wait. */
bool hrr_reader_ready(const struct hrr_reader *r);

/* What to do at the end of the file: wait and return 1 to try again, 0 to end there, or -EAGAIN,
 * which hrr_reader_line then returns, to be asked again later. For files that grow. */
void hrr_reader_follow(struct hrr_reader *r, int (*more)(void *self), void *self);

#endif
