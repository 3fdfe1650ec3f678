#ifndef HRR_REGION_EXPLAIN_H
#define HRR_REGION_EXPLAIN_H

#include "lib/region/world.h"

/*
 * Whose is this address, then? Fed with a whole stream, it says what held an
 * address at one moment, what lies next to it, who had it last and who gets it next.
 */
struct hrr_question {
	uint64_t addr;
	uint64_t size; /* bytes meant from there on; 0: not known */
	enum {
		HRR_WHEN_END,  /* at the end of the stream */
		HRR_WHEN_SEQ,  /* when call `when` began */
		HRR_WHEN_LINE, /* where line `when` of the stream stands */
		HRR_WHEN_TIME  /* `when` ns after t0, with all that is stamped so */
	} at;
	uint64_t when;
	int64_t p; /* process; -1: the first */
};

/*
 * Reads a question as people have it: an address ("0x7f…", "0x7f…+64"), or a message
 * of a tool ("hrr-play: run.hrr:4: hipMemcpy: destination 0x7f… (64 bytes, …"), or a
 * line of hrr-play's results (members seq and addr). Sets what it finds and keeps the
 * rest of *q. -EINVAL with diag when there is no address in it.
 */
/* How many bytes of a message say where it is about: "PROG: FILE:LINE:"; 0: it does not. */
size_t hrr_question_place(const char *text);
int hrr_question_read(struct hrr_question *q, const char *text, struct hrr_diag *diag);

struct hrr_explain;
struct hrr_explain *hrr_explain_new(const struct hrr_question *q); /* NULL: no memory */
void hrr_explain_free(struct hrr_explain *e);
/* Each record of the stream, in order; sidecar: hrr_source_from_sidecar. -EINVAL with diag for a
 * bad region, -ENOMEM. */
int hrr_explain_record(struct hrr_explain *e, const struct hrr_record *rec, bool sidecar,
		       struct hrr_diag *diag);
/*
 * Appends the answer, lines of text. 1: something that lives holds the address (and all bytes
 * asked for), 0: nothing does. -ENOENT with diag: there is no such call or line. -ENOMEM.
 */
int hrr_explain_answer(struct hrr_explain *e, struct hrr_buf *b, struct hrr_diag *diag);

#endif
