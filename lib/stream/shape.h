#ifndef HRR_STREAM_SHAPE_H
#define HRR_STREAM_SHAPE_H

#include "lib/stream/places.h"
#include "lib/stream/record.h"

/*
 * Calls that look like earlier ones. Lines of our writers repeat: but for
 * numbers and strings a call to one function is spelled as the one before. A shape is what
 * stays, learned from a line that was parsed in full, so a line that fits a shape is
 * a well-formed record with the same members, and is known to be one in a fraction of the time.
 * What does not fit is parsed in full: shapes decide nothing else.
 */
struct hrr_shapes;

struct hrr_shapes *hrr_shapes_new(void); /* NULL: no memory */
void hrr_shapes_free(struct hrr_shapes *s);
/*
 * The line fits: rec has kind, line, p, t, seq, dur, tid and api as
 * hrr_record_parse would give them, and no members (json has no nodes, args and the others are -1);
 * those can be looked at until the next line fits.
 */
bool hrr_shapes_fit(struct hrr_shapes *s, struct hrr_record *rec, const char *line, size_t len);
/*
 * For rec, which was the last to fit: its members too, as hrr_record_parse would
 * give them. -ENOMEM.
 */
int hrr_shapes_members(struct hrr_shapes *s, struct hrr_record *rec);
/*
 * A call's members, without their being taken apart where that can be avoided: json has
 * the structure and the keys; values are where hrr_look_text says. Borrowed, as the record is.
 */
struct hrr_look {
	const struct hrr_json *json;
	const struct hrr_shapes *shapes; /* the values are elsewhere; or NULL */
	const char *line;
	int args, ret, dir, kernel; /* -1 when absent */
	/* With shapes: what hrr_address_places and hrr_size_places say. */
	const struct hrr_address_place *addresses;
	uint32_t n_addresses;
	const struct hrr_size_places *size;
};
void hrr_record_look(const struct hrr_record *rec, struct hrr_look *ret);
/* Text of a value that is a string (without its quotes) or a number. */
const char *hrr_look_text(const struct hrr_look *l, int node, size_t *ret_len);

/* Learns from a record that hrr_record_parse has just taken. Not learning is no failure. */
void hrr_shapes_learn(struct hrr_shapes *s, const struct hrr_record *rec);

#endif
