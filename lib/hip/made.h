#ifndef HRR_HIP_MADE_H
#define HRR_HIP_MADE_H

#include "lib/hip/table.h"
#include "lib/stream/record.h"

/* What a recorded call did to memory, by the table alone. */
struct hrr_made {
	enum hrr_gives_kind kind;
	bool host;	 /* a host address; else a device's */
	uint64_t base;	 /* recorded address, never 0 */
	uint64_t size;	 /* bytes; 0: not told */
	uint64_t behind; /* names: the host address it goes by elsewhere, or 0 */
};

/* Row of a call, or NULL: not one the table knows, or no call. */
const struct hrr_api_row *hrr_record_row(const struct hrr_record *rec);
/* Whether it came back and did what it is for; row may be NULL. */
bool hrr_record_succeeded(const struct hrr_record *rec, const struct hrr_api_row *row);
/* What it made. false: nothing, it failed, or its args do not tell. */
bool hrr_record_makes(const struct hrr_record *rec, const struct hrr_api_row *row,
		      struct hrr_made *ret);
/* The address it gave back; *ret_all: all of it (then *ret is not set). false: none, it failed. */
bool hrr_record_takes(const struct hrr_record *rec, const struct hrr_api_row *row, uint64_t *ret,
		      bool *ret_all);

#endif
