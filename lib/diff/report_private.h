#ifndef HRR_DIFF_REPORT_PRIVATE_H
#define HRR_DIFF_REPORT_PRIVATE_H

#include <stdio.h>

#include "lib/diff/report.h"

/* Inside lib/diff. */

/* 1 when two spans differ beyond the tolerance. */
int hrr_report_differ(const struct hrr_report *r, const void *a, size_t len_a, const void *b,
		      size_t len_b);
/* Text: whole lines, indented. JSON: members, with a leading comma. */
int hrr_report_put_bytes(struct hrr_report *r, const char *path, const void *a, size_t len_a,
			 const void *b, size_t len_b);

/* A member of an event with the bytes of its blobs, where it has two and they could be read. */
struct hrr_report_member {
	const struct hrr_diff_member *m;
	struct hrr_blob blob[2];
	bool loaded;
};

int hrr_report_text(struct hrr_report *r, const struct hrr_diff_event *e,
		    const struct hrr_report_member *m, size_t n);
int hrr_report_json(struct hrr_report *r, const struct hrr_diff_event *e,
		    const struct hrr_report_member *m, size_t n);

#endif
