#ifndef HRR_DIFF_FACTS_H
#define HRR_DIFF_FACTS_H

#include "lib/diff/call.h"

/* Inside lib/diff: a record being turned into facts. */
struct hrr_facts {
	struct hrr_objects *o;
	struct hrr_diff_scratch *s;
	const struct hrr_record *rec;
	const struct hrr_api_row *row; /* NULL: not in the table */
	int api;
	int err;	     /* first failure; later steps do nothing */
	uint32_t stream;     /* as in struct hrr_diff_call */
	bool several;	     /* of more than one stream: that is the first */
	size_t stream_at[2]; /* where in the facts the stream is: from, to */
};

/* Value of a node as JSON text, quotes included. */
const char *hrr_facts_text(const struct hrr_facts *f, int node, size_t *ret_len);
void hrr_facts_add(struct hrr_facts *f, enum hrr_fact_kind kind, const char *value, size_t len);
void hrr_facts_node(struct hrr_facts *f, enum hrr_fact_kind kind, int node);
void hrr_facts_ref(struct hrr_facts *f, enum hrr_ref_kind kind, uint32_t object, uint64_t offset,
		   uint64_t value);
/* An address the record uses; unknown is what it is when nothing holds it. */
void hrr_facts_address(struct hrr_facts *f, uint64_t addr, enum hrr_ref_kind unknown);
void hrr_facts_made(struct hrr_facts *f, uint8_t type, uint64_t value, uint64_t size);
/* args of a call; what it makes and releases is done. */
void hrr_facts_args(struct hrr_facts *f);
/* kernel of a launch. */
void hrr_facts_kernel(struct hrr_facts *f, int kernel); /* or the list of them */
/* A value of which nothing is known but its JSON. */
void hrr_facts_any(struct hrr_facts *f, int node);

#endif
