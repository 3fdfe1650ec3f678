#ifndef HRR_STREAM_SHAPE_PRIVATE_H
#define HRR_STREAM_SHAPE_PRIVATE_H

#include "lib/stream/shape.h"

#define HRR_SHAPE_BUCKETS 256	    /* by the call's name */
#define HRR_SHAPE_PER_BUCKET 48	    /* shapes of a bucket; a bucket that is full learns no more */
#define HRR_SHAPE_PARTS 256	    /* of a line that is worth a shape; an index fits a byte */
#define HRR_SHAPE_MAX_LINE 16384    /* bytes of such a line */
#define HRR_SHAPE_MEMORY (4u << 20) /* bytes of all shapes together; then no more is learned */

/* What a part's hole, a value that may differ, is to be. */
enum hrr_hole { HRR_HOLE_NONE, HRR_HOLE_NUMBER, HRR_HOLE_STRING };

/*
 * A literal and the hole behind it. A line is parts from its first byte to its last. The
 * first ones are the head of a call; what stands behind the head is the tail.
 */
struct hrr_shape_part {
	uint32_t at;  /* where it begins in the line learned */
	uint32_t end; /* index behind its nodes, the last of which is its hole */
	uint16_t len; /* of the literal */
	uint8_t hole;
};

/* An object or array that is not empty, and the part it ends in. */
struct hrr_shape_container {
	uint32_t node, part, end;
};

struct hrr_shape {
	struct hrr_shape_part *parts;		/* owned, as all of these */
	struct hrr_shape_container *containers; /* n_containers */
	struct hrr_json_node *nodes;		/* of the line learned, n_nodes */
	char *line;				/* that line: keys are read there */
	struct hrr_json json;			/* the two, borrowed */
	uint8_t *part_of; /* by node: the part it begins in, or is the hole of */
	/* The tail of the line that fitted last, and by part where it begins there. */
	char *tail;
	uint32_t *at;
	struct hrr_json_node *now; /* nodes of that tail, by their place in it, unless stale */
	bool stale;
	uint32_t tail_len, tail_cap;
	struct hrr_shape *next; /* that fitted behind this one: likely to do so again */
	uint32_t n_parts, n_head, n_containers, n_nodes;
	unsigned form; /* of its head */
	struct hrr_address_place *addresses;
	uint32_t n_addresses;
	struct hrr_size_places size;
	int args, ret, dir, blobs, kernel, host, symbol;
};

/* Forms of a head: it may have p, and dur. */
#define HRR_HEAD_P 1u
#define HRR_HEAD_DUR 2u
#define HRR_HEAD_PARTS 6 /* at most */

struct hrr_shapes {
	struct {
		struct hrr_shape *list[HRR_SHAPE_PER_BUCKET]; /* newest success first; owned */
		unsigned n;
	} buckets[HRR_SHAPE_BUCKETS];
	size_t memory;
	/* The line that fitted last: its shape, where the parts of its head and its tail begin. */
	struct hrr_shape *last;
	uint32_t head[HRR_HEAD_PARTS], from;
};

static inline uint32_t hrr_head_parts(unsigned form)
{
	return 4 + (form & HRR_HEAD_P) + (form / HRR_HEAD_DUR);
}

static inline unsigned hrr_shape_bucket(const char *api, size_t len)
{
	uint32_t h = (uint32_t)len;

	for (size_t i = len > 12 ? len - 12 : 0; i < len; i++)
		h = h * 31 + (unsigned char)api[i];
	return h % HRR_SHAPE_BUCKETS;
}

/*
 * The head of a call up to its name's closing quote: rec gets p, t, seq, dur, tid and api.
 * 0: not canonical. Where its parts begin is written to at: hrr_head_parts of its form.
 */
size_t hrr_shape_head(struct hrr_record *rec, const char *line, size_t len, uint32_t *at,
		      unsigned *ret_form);

#endif
