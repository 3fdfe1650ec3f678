#ifndef HRR_REGION_LINT_H
#define HRR_REGION_LINT_H

#include "lib/region/world.h"
#include "lib/store/blob.h"

/*
 * Words that look like recorded device addresses where nobody says so: replay
 * translates what is declared, so each of these may point into nothing there.
 */
enum hrr_lint_kind {
	HRR_LINT_UNKNOWN, /* a declared pointer to memory that neither HIP nor a region knows */
	HRR_LINT_STALE,	  /* a declared pointer to memory that was given back */
	HRR_LINT_HIDDEN, /* bytes of an argument that are no declared pointer, but are an address */
	HRR_LINT_PAYLOAD, /* a word of a copy's payload that is an address */
	HRR_LINT_NEAR	  /* such a word, to no live memory, but to where memory is or was */
};

struct hrr_lint_finding {
	enum hrr_lint_kind kind;
	int confidence; /* percent; a guess, by how much the word has in common with addresses */
	const struct hrr_record *rec;
	int kernel; /* of a launch: hrr_kernel_next; -1 */
	uint64_t addr;
	/* Where: argument and byte in it; in a payload (and across arguments) the byte alone. */
	bool in_payload;
	int64_t arg; /* -1: across several: at is a byte of the kernel's argument segment */
	uint64_t at;
	uint64_t count;		       /* words of this kind in the record, this one the first */
	const struct hrr_thing *owner; /* what holds addr now, or NULL */
};

#define HRR_LINT_MAX_KERNARG 65536		 /* bytes of arguments looked at */
#define HRR_LINT_MAX_PAYLOAD ((uint64_t)1 << 30) /* bytes of a payload looked at */
#define HRR_LINT_MAX_GONE 65536			 /* freed ranges remembered */

struct hrr_lint;
/* at_least: findings with less confidence are not told (percent). NULL: no memory. */
struct hrr_lint *hrr_lint_new(int at_least, int64_t p,
			      void (*found)(void *self, const struct hrr_lint_finding *f),
			      void *self);
void hrr_lint_free(struct hrr_lint *l);
/*
 * Each record, in stream order. blobs: its store, or NULL: payloads are not looked at.
 * A payload that cannot be read is counted. -EINVAL with diag, -ENOMEM.
 */
int hrr_lint_record(struct hrr_lint *l, const struct hrr_record *rec, struct hrr_blobs *blobs,
		    struct hrr_diag *diag);

struct hrr_lint_stats {
	uint64_t launches, payloads, bytes; /* looked at */
	uint64_t unread;		    /* payloads that could not be */
	uint64_t found;			    /* told */
};
void hrr_lint_stats(const struct hrr_lint *l, struct hrr_lint_stats *ret);
/* Appends what was found, one line without newline: "90% stale: call 7 hipLaunchKernel of …: …". */
int hrr_lint_text(const struct hrr_lint_finding *f, struct hrr_buf *b);
const char *hrr_lint_word(enum hrr_lint_kind kind);

#endif
