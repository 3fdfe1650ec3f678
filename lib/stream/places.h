#ifndef HRR_STREAM_PLACES_H
#define HRR_STREAM_PLACES_H

#include "lib/base/json.h"

/*
 * Where in a call selectors find its addresses and its size: nodes. What calls of one shape have
 * in common, so that it is looked for once and not call by call.
 */

/* An address: a string, or the word at a byte offset of a kernel's argument. */
struct hrr_address_place {
	int node;     /* its text, or the argument's bytes as hex digits */
	int word;     /* the number that is the offset; -1: the string is the address */
	bool touched; /* a copy or set touches what is there, and behind it */
};

/* Gives each place to take until that returns true, and returns what it did last. */
bool hrr_address_places(const struct hrr_json *j, int args, int kernel,
			bool (*take)(void *self, const struct hrr_address_place *place),
			void *self);

/* Names of arguments that say how much a call is about: the first in this order counts. */
enum hrr_measure {
	HRR_SIZE_BYTES,
	HRR_SIZE,
	HRR_BYTES,
	HRR_SIZE_IN_BYTES,
	HRR_BYTESIZE,
	HRR_BYTE_COUNT,
	HRR_COUNT,
	HRR_WIDTH,
	HRR_HEIGHT,
	HRR_MEASURES
};

struct hrr_size_places {
	unsigned met; /* bit i: node[i] is a whole number */
	int node[HRR_MEASURES];
};

void hrr_size_places(const struct hrr_json *j, int args, struct hrr_size_places *ret);

#endif
