#ifndef HRR_BASE_COUNTS_H
#define HRR_BASE_COUNTS_H

#include <stddef.h>
#include <stdint.h>

/* How often each name was met. A zeroed struct is empty. */
struct hrr_count {
	const char *name; /* owned, ended by NUL */
	size_t len;
	uint64_t n;
};

struct hrr_counts {
	struct hrr_count *slots; /* owned; open addressing, name NULL is free */
	size_t used, cap;	 /* cap is 0 or a power of two */
	uint64_t total;
};

#define HRR_COUNTS_MAX ((size_t)1 << 20) /* different names; beyond it they are only totalled */

int hrr_counts_add(struct hrr_counts *c, const char *name, size_t len, uint64_t n); /* -ENOMEM */
/* Largest first, equal ones by name: moves the entries to the front. No add afterwards. */
void hrr_counts_sort(struct hrr_counts *c);
void hrr_counts_release(struct hrr_counts *c);

#endif
