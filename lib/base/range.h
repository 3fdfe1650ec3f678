#ifndef HRR_BASE_RANGE_H
#define HRR_BASE_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Ordered, possibly nested address ranges. Keys are [base, base + size), sizes
 * above 0, no wrap past 2^64. Several ranges may share a base or overlap; a
 * look-up takes the tightest enclosing one (smallest size; among equals the one
 * added last). O(log n) for disjoint ranges; nesting costs its depth.
 * Not locked. value is borrowed.
 */
struct hrr_range {
	uint64_t base, size;
	void *value;
};

struct hrr_ranges; /* owned tree */

struct hrr_ranges *hrr_ranges_new(void); /* NULL: out of memory */
void hrr_ranges_free(struct hrr_ranges *r);
/* -EINVAL: empty or wrapping range; -ENOMEM. */
int hrr_ranges_add(struct hrr_ranges *r, uint64_t base, uint64_t size, void *value);
/* Removes the newest range with this base (and value, unless NULL). -ENOENT. */
int hrr_ranges_del(struct hrr_ranges *r, uint64_t base, const void *value);
/* Tightest range that holds addr, or NULL. Valid until the next add or del. */
const struct hrr_range *hrr_ranges_find(const struct hrr_ranges *r, uint64_t addr);
/* Of the ranges that hold addr, and for which is_it says true, the one that ends last, or NULL. */
const struct hrr_range *hrr_ranges_longest_if(const struct hrr_ranges *r, uint64_t addr,
					      bool (*is_it)(void *self, const struct hrr_range *x),
					      void *self);
/* Newest range that starts exactly at base, or NULL. */
const struct hrr_range *hrr_ranges_at(const struct hrr_ranges *r, uint64_t base);
/* Newest range at base for which is_it says true, or NULL. */
const struct hrr_range *hrr_ranges_at_if(const struct hrr_ranges *r, uint64_t base,
					 bool (*is_it)(void *self, const struct hrr_range *x),
					 void *self);
/* Nearest range that ends at or below addr / starts above addr, or NULL. */
const struct hrr_range *hrr_ranges_before(const struct hrr_ranges *r, uint64_t addr);
const struct hrr_range *hrr_ranges_after(const struct hrr_ranges *r, uint64_t addr);
/* Any range that overlaps [base, base + size) — the lowest — or NULL. */
const struct hrr_range *hrr_ranges_overlap(const struct hrr_ranges *r, uint64_t base,
					   uint64_t size);
size_t hrr_ranges_count(const struct hrr_ranges *r);
/* In order of base; return non-zero from each to stop. No add or del inside. */
int hrr_ranges_each(const struct hrr_ranges *r, int (*each)(void *self, const struct hrr_range *x),
		    void *self);

#endif
