#ifndef HRR_DIFF_REPORT_H
#define HRR_DIFF_REPORT_H

#include "lib/diff/diff.h"
#include "lib/diff/typed.h"

/*
 * Differences as text, in the manner of diff -u, or as JSON lines. Also decides:
 * bytes within tolerance are no difference.
 */
struct hrr_report_options {
	bool json;
	bool list;	/* every differing byte, as cmp -l prints it */
	uint64_t shown; /* differences printed; the rest is counted */
	bool first;	/* only that of the earliest call */
	enum hrr_type type;
	struct hrr_tolerance tolerance;
};

struct hrr_report {
	struct hrr_report_options opt;
	const char *name[2]; /* borrowed */
	struct hrr_source *source[2];
	struct hrr_diff *diff;
	/* Gets finished text; taken from buf, which is emptied. */
	void (*write)(const char *data, size_t len);
	/* Something could not be compared: a blob that is missing or damaged. */
	void (*trouble)(const struct hrr_diag *diag);
	struct hrr_buf buf;
	uint64_t differ; /* differences found */
	uint64_t changed, only[2], outputs, outputs_only[2];
	uint64_t tolerated; /* pairs of blobs that differ within tolerance */
	uint64_t troubles;
	uint32_t first_p; /* the earliest so far; its text is in buf until the end */
	uint64_t first_seq;
	bool told[2]; /* that there are no blobs */
};

/* The callback for hrr_diff_new; self is the report. */
int hrr_report_event(void *self, const struct hrr_diff_event *e);
void hrr_report_release(struct hrr_report *r);
/* What is in buf; of opt.first nothing is written before. */
void hrr_report_flush(struct hrr_report *r);
/* JSON: the last line, with the counts. */
int hrr_report_end(struct hrr_report *r);

/* Bytes of two files or blobs. Returns 1 when they differ, 0 when not, negative on failure. path
 * is what the text calls them. */
int hrr_report_bytes(struct hrr_report *r, const char *path, const void *a, size_t len_a,
		     const void *b, size_t len_b);

#endif
