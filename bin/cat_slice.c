#include "bin/cat.h"
#include "bin/tool.h"

struct hrr_slice *cat_slice(const struct cat_options *o)
{
	const struct hrr_filter_options chosen = {
	    .n_selectors = o->n_slices, .selectors = o->slices, .first = o->filter.first};
	struct hrr_slice *slice = hrr_slice_new();
	struct hrr_filter *filter;
	struct hrr_source *src;
	struct hrr_record *rec;
	uint64_t selected, kept, n = 0;
	struct hrr_diag diag = {0};
	int rc;

	if (slice == NULL)
		tool_no_memory();
	if (hrr_filter_new(&filter, &chosen, &diag) < 0)
		tool_die(NULL, 0, "%s", diag.what);
	if (hrr_source_open(&src, o->operand, &o->source, &diag) < 0)
		tool_die_diag(&diag);
	while ((rc = hrr_source_next(src, &rec, &diag)) > 0) {
		if (++n % 4096 == 0)
			tool_progress("records", n, 0);
		int keep = hrr_filter_record(filter, rec);
		if (keep < 0 || hrr_slice_gather(slice, rec, keep > 0) < 0)
			tool_no_memory();
	}
	if (rc < 0)
		tool_die_diag(&diag);
	if (o->last > 0)
		hrr_slice_last(slice, o->last);
	if (hrr_slice_solve(slice) < 0)
		tool_no_memory();
	hrr_slice_counts(slice, &selected, &kept);
	if (selected == 0)
		tool_die(o->operand, 0, "--slice: it selects no call");
	hrr_source_close(src);
	hrr_filter_free(filter);
	return slice;
}
