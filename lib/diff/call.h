#ifndef HRR_DIFF_CALL_H
#define HRR_DIFF_CALL_H

#include "lib/diff/object.h"
#include "lib/stream/record.h"

/*
 * A record as what it means: a list of facts, each a path ("args.sizeBytes",
 * "kernel.args[1]", "blobs.src") with a value. Times, thread ids and numbers of
 * the run are left out; an address or a handle is what it stood for when the
 * record was read. One block of memory, so that many can wait.
 */
enum hrr_fact_kind {
	HRR_FACT_TEXT, /* JSON text, compared as it is */
	HRR_FACT_HEX,  /* the same: a string of hex digits, '.' where an address stands */
	HRR_FACT_BLOB, /* the same: a blob's id, its bytes may be looked at */
	HRR_FACT_REF   /* what an address or handle stands for */
};

enum hrr_ref_kind {
	HRR_REF_NULL,
	HRR_REF_HOST,	/* host memory the stream says nothing of: all of it is one */
	HRR_REF_DEVICE, /* device address nobody declared */
	HRR_REF_HANDLE, /* handle no recorded call made */
	HRR_REF_OBJECT,
	HRR_REF_MADE /* the object this call made */
};

struct hrr_diff_ref {
	uint8_t kind;
	uint32_t object; /* OBJECT, MADE: counted in its refs */
	uint64_t offset, value;
};

/* Bytes of a path in front of the member of a kernel: "kernel.", "kernels[1]."; 0: not of one. */
size_t hrr_path_kernel(const char *path, size_t len);

struct hrr_fact {
	enum hrr_fact_kind kind;
	const char *path, *value; /* borrowed from the call, not NUL-ended */
	size_t path_len, value_len;
	const struct hrr_diff_ref *ref; /* REF */
};

struct hrr_diff_call {
	struct hrr_diff_call *next;
	struct hrr_diff_call *outputs, **outputs_tail; /* arrived while it waits */
	enum hrr_record_kind kind;
	int api; /* row of the table, -1: none, or not a call */
	uint32_t p, n_refs;
	uint64_t seq, tid, lineno;
	/* hashes: all facts; api, kernel, direction and result; api alone; all facts but the stream
	 */
	uint64_t content, shape, family, work;
	/* The stream it is about: an object, 0 (none, or a default one) or HRR_STREAM_UNDECLARED.
	 */
	uint32_t stream;
	bool queued; /* work on that stream: its order to other streams' work is luck */
	bool orders; /* does something at its place for all streams, or waits for some */
	/* Set on its way through the alignment: see stream.c. */
	uint64_t rank, passed, after;
	size_t len;	  /* of the facts */
	const char *name; /* of a call, NUL-ended; NULL for others */
	struct hrr_diff_ref *refs;
	const char *facts;
};

#define HRR_STREAM_UNDECLARED (UINT32_MAX - 1)

/* Scratch memory of the walk, one per recording. Zeroed is empty. */
struct hrr_diff_scratch {
	struct hrr_buf facts, refs, text;
	bool mixed;	/* the recordings are of different formats: see held.h */
	bool of_launch; /* an output at hand is of a kernel: of no host memory but known one */
	char path[128];
};

/*
 * Reads a call, output or region record, or a line of replay's results, against o, which then knows
 * what the record made and released. *ret is owned by the caller. *ret is NULL where the record
 * says nothing that can be compared (a query that was not ready, a header, …). -ENOMEM; -EINVAL
 * with diag.
 */
int hrr_diff_call_read(struct hrr_objects *o, struct hrr_diff_scratch *s,
		       const struct hrr_record *rec, struct hrr_diff_call **ret,
		       struct hrr_diag *diag);
void hrr_diff_call_free(struct hrr_objects *o, struct hrr_diff_call *c);
/* Walks the facts: *at is 0 at first; false at the end. */
bool hrr_diff_call_fact(const struct hrr_diff_call *c, size_t *at, uint32_t *ref_at,
			struct hrr_fact *ret);
/* The value of a path; false when it is not there. */
bool hrr_diff_call_get(const struct hrr_diff_call *c, const char *path, struct hrr_fact *ret);
size_t hrr_diff_call_bytes(const struct hrr_diff_call *c); /* memory it takes */

#endif
