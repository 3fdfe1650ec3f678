#ifndef HRR_BASE_IDMAP_H
#define HRR_BASE_IDMAP_H

#include "lib/base/buf.h"
#include "lib/base/id.h"

/* A 64-bit value for each of a number of ids. A zeroed struct is empty. Not locked. */
struct hrr_idmap {
	struct hrr_buf slots; /* open addressing by the id's first bytes, a hash already */
	size_t n, cap;	      /* cap is 0 or a power of two */
};

/* The value of id, or NULL. Valid until the next add. */
uint64_t *hrr_idmap_get(const struct hrr_idmap *m, const struct hrr_id *id);
/* 1 when id is new (with this value), 0 when it was there (it keeps its own), -ENOMEM. */
int hrr_idmap_add(struct hrr_idmap *m, const struct hrr_id *id, uint64_t value);
/* Goes through all: the id behind at (0: the first) and the next at, 0 at the end. */
size_t hrr_idmap_next(const struct hrr_idmap *m, size_t at, struct hrr_id *ret_id);
void hrr_idmap_release(struct hrr_idmap *m);

#endif
