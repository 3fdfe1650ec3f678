/* Spans wanted by a scan: which numbers are device addresses, and what becomes one span. */
#include "lib/replay/place.h"
#include "t/unit/tap.h"

#define GRAIN HRR_SPAN_ROUND

int main(void)
{
	struct hrr_place *p = hrr_place_new();

	if (!ok(p != NULL, "a new place"))
		return done_testing();
	is(hrr_place_want(p, 0x7fbe01400000, 4096), 0, "an address as hardware gives them");
	is(hrr_ranges_count(p->spans), 1, "it is wanted");
	is(hrr_place_want(p, 0x7d0000006000, 20000), 0, "one as the CPU run time gives them");
	is(hrr_ranges_count(p->spans), 2, "it is wanted too");
	const struct hrr_range *x = hrr_ranges_find(p->spans, 0x7d0000006000);
	ok(x != NULL && x->base % HRR_SPAN_WIDE == 0 && x->size == HRR_SPAN_WIDE,
	   "spans are rounded to what every run time honours");
	is(hrr_place_want(p, 0x7d0000000000 + HRR_SPAN_WIDE, GRAIN), 0, "a neighbour");
	is(hrr_ranges_count(p->spans), 2, "neighbours are one span");
	is(hrr_place_want(p, (uint64_t)1 << 47, 4096), 0, "no user address");
	is(hrr_place_want(p, ((uint64_t)1 << 47) - 4096, 8192), 0, "one that runs past the end");
	is(hrr_place_want(p, UINT64_MAX - 10, 4096), 0, "one that wraps");
	is(hrr_place_want(p, 0x1000, (uint64_t)1 << 50), 0, "a size no memory has");
	is(hrr_ranges_count(p->spans), 2, "none of them is wanted");
	hrr_place_free(p);
	return done_testing();
}
