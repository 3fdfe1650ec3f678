#ifndef HRR_REPLAY_PAGES_H
#define HRR_REPLAY_PAGES_H

/* Private to pages.c and block.c. */

#include "lib/base/range.h"
#include "lib/replay/block.h"

struct hrr_pages {
	int fd;			    /* the memory file */
	uint64_t length;	    /* of the file */
	uint64_t limit, charged;    /* bytes */
	uint64_t vetted;	    /* no limit: charge up to which the machine had room */
	unsigned fail;		    /* tests: growths until one fails */
	struct hrr_ranges *extents; /* recorded pages -> offset in the file; disjoint */
};

/* Rounds out to pages. -EINVAL: empty or wrapping. */
int hrr_page_range(uint64_t addr, uint64_t size, uint64_t *ret_first, uint64_t *ret_end,
		   struct hrr_diag *diag);
/* Maps pages that have storage over [at, at + size). */
int hrr_pages_map(struct hrr_pages *p, uint64_t first, uint64_t size, unsigned char *at,
		  struct hrr_diag *diag);

#endif
