#ifndef HRR_DIFF_MAP_H
#define HRR_DIFF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Hash map from two words to one. A zeroed struct is empty. */
struct hrr_map_slot {
	uint64_t a, b, value;
	bool used;
};

struct hrr_map {
	struct hrr_map_slot *slots; /* owned, open addressing */
	size_t n, cap;
};

void hrr_map_release(struct hrr_map *m);
/* 0, and an old value is replaced; -ENOMEM. */
int hrr_map_set(struct hrr_map *m, uint64_t a, uint64_t b, uint64_t value);
bool hrr_map_get(const struct hrr_map *m, uint64_t a, uint64_t b, uint64_t *ret_value);
/* true and the value it had. */
bool hrr_map_del(struct hrr_map *m, uint64_t a, uint64_t b, uint64_t *ret_value);

#endif
