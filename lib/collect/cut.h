#ifndef HRR_COLLECT_CUT_H
#define HRR_COLLECT_CUT_H

#include "lib/base/idmap.h"
#include "lib/hip/slice.h"
#include "lib/stream/filter.h"

/* Markers of before the window, in two readings: which stay (cut_marks.c). */
struct cut_marks {
	struct hrr_buf open; /* ranges that have begun, in order */
	uint64_t seen;	     /* first reading */
	uint64_t place;	     /* second reading */
	size_t next;	     /* of open */
};
/* Whether it is a marker; ret_t: when, since the process's t0. */
bool cut_is_mark(const struct hrr_record *rec, uint64_t *ret_t);
/* First reading, of each old one. -ENOMEM. */
int cut_mark_old(struct cut_marks *m, const struct hrr_record *rec);
/* Second reading, of each old one. */
bool cut_mark_stays(struct cut_marks *m);
void cut_marks_release(struct cut_marks *m);

/* One stream of an archive cut down to what is asked for and what that depends on, as another file.
 */
struct cut {
	struct hrr_diag *diag; /* borrowed */
	uint64_t from;	       /* CLOCK_MONOTONIC: calls that returned since then are asked for */
	bool live;	       /* the process goes on: what lives is kept too (hrr_slice_live) */
	/* Calls asked for besides; NULL: none. */
	bool (*also)(void *self, uint64_t seq);
	void *self;
	struct hrr_idmap named;		  /* blobs that lines that stay name */
	struct hrr_idmap *gone;		  /* those of the others; NULL: not wanted */
	uint64_t calls, outputs, regions; /* that stay, of all streams */
	/* private */
	struct hrr_record rec;
	uint64_t t0;  /* of the stream that is read */
	uint64_t end; /* CLOCK_MONOTONIC: the last call's return, of all streams */
	struct hrr_slice *slice;
	struct cut_marks marks;
	struct hrr_filter *filter;
	struct hrr_buf out;
	int fd;
	const char *name; /* of fd */
};
/* Sets end. limit: bytes of the stream to look at. */
int cut_find_end(struct cut *c, const char *path, uint64_t limit);
/* Writes what stays of path's first limit bytes to the new file temp, or leaves nothing. */
int cut_stream(struct cut *c, const char *path, uint64_t limit, const char *temp);
void cut_release(struct cut *c);

#endif
