#ifndef HRR_FORMATS_HRR_EVENTS_H
#define HRR_FORMATS_HRR_EVENTS_H

#include "formats/hrr/wire.h"
#include "lib/base/buf.h"

/*
 * One events.bin, versions 3 to 8: untrusted, never trusted for a length. Opening
 * reads every record header once (256 KiB at a time) and finds where the file is
 * whole; records then come in order of sequence number, equal ones in file order.
 * Memory is bounded: 8 bytes per 1024 records, and what is out of order at one time.
 */
struct hrr_events;

enum hrr_up_refused { /* why a file is no archive */
		      HRR_UP_OPENS,
		      HRR_UP_NO_FILE,
		      HRR_UP_SHORT,
		      HRR_UP_MAGIC_BAD,
		      HRR_UP_VERSION_BAD
};

enum hrr_up_torn { /* what the file ends in */
		   HRR_UP_WHOLE,
		   HRR_UP_TORN_HEADER,	/* have of 32 bytes */
		   HRR_UP_TORN_PAYLOAD, /* have of length bytes */
		   HRR_UP_TORN_SHORT,	/* length below 32 */
		   HRR_UP_TORN_LENGTH	/* length above the limit */
};

struct hrr_events_facts {
	int version;
	unsigned flags;
	uint64_t file_size, count; /* bytes; records kept (no trailer) */
	enum hrr_up_torn torn;
	uint64_t have, length;
	bool trailer;		/* a whole trailer was met */
	uint64_t trailer_count; /* events it says precede it */
	uint64_t after;		/* whole records after it, ignored */
	bool complete;		/* trailer there and its count right */
	int base;	/* first id of the compiler's calls; -1: no record tells; 0 before 5 */
	int base_other; /* another base that fits as well, or -1 */
	uint64_t t_min, t_max; /* of the records kept; 0 when there are none */
	uint64_t t_trailer, seq_trailer;
	uint64_t max_seq;
	bool sorted; /* file order is sequence order */
};

struct hrr_event {
	unsigned type;
	uint64_t seq, t, tid;	   /* t: CLOCK_MONOTONIC, ns */
	uint64_t offset;	   /* in the file */
	uint32_t len;		   /* whole record */
	const unsigned char *data; /* the whole record; borrowed until the next call */
};

/*
 * path: the file itself. -EINVAL with *ret_refused and diag in upstream's words
 * ("bad magic 0x… (expected 0x52524845)"), -ENOENT, -EIO, -ENOMEM.
 */
int hrr_events_open(struct hrr_events **ret, const char *path, enum hrr_up_refused *ret_refused,
		    struct hrr_diag *diag);
void hrr_events_close(struct hrr_events *e);
const struct hrr_events_facts *hrr_events_facts(const struct hrr_events *e);
/* 1 and the next record, 0 at the end, -EIO (the file shrank), -ENOMEM. */
int hrr_events_next(struct hrr_events *e, struct hrr_event *ret, struct hrr_diag *diag);
/* From the first record again. */
void hrr_events_rewind(struct hrr_events *e);
/*
 * What is wrong with the file, one message each, from i = 0: 1 and the text in b
 * (cleared first), 0 when there are no more.
 */
int hrr_events_damage(const struct hrr_events *e, int i, struct hrr_buf *b);

#endif
