#ifndef HRR_FORMATS_HRR_EVENTS_PRIVATE_H
#define HRR_FORMATS_HRR_EVENTS_PRIVATE_H

#include "formats/hrr/events.h"

/* Private to events*.c: the file, what the first pass found, and whose turn is next. */

#define WINDOW ((size_t)256 << 10) /* bytes of hrr_events.win */
#define CHUNK 1024		   /* records per entry of hrr_events.least */

/* A record set aside until its turn. */
struct pending {
	uint64_t seq, offset;
	uint32_t len;
};

struct hrr_events {
	int fd;
	struct hrr_events_facts f;
	uint64_t end; /* of the records kept */
	/* least[i]: smallest sequence number in chunk i and all after it */
	uint64_t *least;
	size_t n_least;
	unsigned char *win; /* WINDOW bytes, or one long record */
	size_t cap, have;
	uint64_t at; /* file offset of win */
	/* reading */
	uint64_t next_off, next_no;
	struct pending *heap; /* by (seq, offset) */
	size_t n_heap, cap_heap;
};

/* Moves the window to off: for hrr_events_bytes. */
const unsigned char *hrr_events_read(struct hrr_events *e, uint64_t off, size_t n,
				     size_t *ret_have);

/* n bytes at off, or NULL: *ret_have says how many there are (errno set on trouble). */
static inline const unsigned char *hrr_events_bytes(struct hrr_events *e, uint64_t off, size_t n,
						    size_t *ret_have)
{
	if (off >= e->at && off - e->at <= e->have && e->have - (size_t)(off - e->at) >= n)
		return e->win + (off - e->at);
	return hrr_events_read(e, off, n, ret_have);
}

/* Of the record whose header is at p: as it says, not checked. */
static inline uint32_t hrr_events_length(const struct hrr_events *e, const unsigned char *p)
{
	return e->f.version == 3 ? hrr_le16(p + 26) : hrr_le32(p + 26);
}

/* events_base.c: which number the compiler's calls begin with. */

#define BASE_FIRST 543
#define BASE_NEAR 575 /* above, one kind of record is no evidence */
#define BASE_LAST 767
#define TYPES (BASE_LAST + HRR_UP_COMPILER_CALLS - BASE_FIRST)

/* By type, from BASE_FIRST on; all zero at first. */
struct hrr_votes {
	bool seen[TYPES];
	uint16_t mask[TYPES]; /* places whose length all records of the type have */
};

/* A record of that type and length was met. */
void hrr_events_vote(struct hrr_votes *v, unsigned type, uint32_t len);
/* All were: sets base and base_other. */
void hrr_events_count_votes(struct hrr_events_facts *f, const struct hrr_votes *v);

#endif
