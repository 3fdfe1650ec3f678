#ifndef HRR_STREAM_VIEW_PRIVATE_H
#define HRR_STREAM_VIEW_PRIVATE_H

#include "lib/stream/view.h"

struct hrr_view {
	enum hrr_view_kind kind;
	struct hrr_view_options opt;
	bool begun;
	struct hrr_buf name;   /* scratch: a kernel's name */
	struct hrr_buf text;   /* scratch: a string without its escapes */
	struct hrr_buf t0s;    /* timeline: uint64_t by p */
	struct hrr_buf tracks; /* timeline: struct track, HIP streams met */
	struct hrr_buf pids;   /* timeline: uint64_t by p */
};

/* The kernel's name as it is to be shown, in v->name: 1; 0: it has none; or -ENOMEM. */
int hrr_view_kernel(struct hrr_view *v, const struct hrr_record *rec, int kernel);

int hrr_view_text(struct hrr_view *v, const struct hrr_record *rec, struct hrr_buf *b);
int hrr_view_csv(struct hrr_view *v, const struct hrr_record *rec, struct hrr_buf *b);
int hrr_view_timeline(struct hrr_view *v, const struct hrr_record *rec, struct hrr_buf *b);
int hrr_view_timeline_end(struct hrr_view *v, struct hrr_buf *b);

#endif
