#ifndef HRR_REPLAY_TOLERANCE_H
#define HRR_REPLAY_TOLERANCE_H

/* Private to check.c and tolerance.c. */

#include "lib/replay/verdict.h"

/* Whether all n bytes are within the rule; fills max_abs, max_rel, max_ulp. */
bool hrr_rule_apply(const struct hrr_rule *rule, const void *was, const void *is, uint64_t n,
		    struct hrr_outcome *o);
const struct hrr_rule *hrr_rule_find(const struct hrr_rules *t, const char *api, const char *kernel,
				     uint64_t addr, uint64_t size);

#endif
