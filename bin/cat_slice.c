#include "bin/cat.h"
#include "bin/tool.h"
#include "lib/stream/select.h"

struct hrr_slice *cat_slice(const char *operand, const struct hrr_source_options *opt,
			    const char *expr)
{
	struct hrr_slice *slice = hrr_slice_new();
	struct hrr_select *select;
	struct hrr_source *src;
	struct hrr_record *rec;
	uint64_t selected, kept, n = 0;
	struct hrr_diag diag = {0};
	int rc;

	if (slice == NULL)
		tool_no_memory();
	if (hrr_select_new(&select, expr, &diag) < 0)
		tool_die(NULL, 0, "%s", diag.what);
	if (hrr_source_open(&src, operand, opt, &diag) < 0)
		tool_die_diag(&diag);
	while ((rc = hrr_source_next(src, &rec, &diag)) > 0) {
		if (++n % 4096 == 0)
			tool_progress("records", n, 0);
		if (hrr_slice_gather(slice, rec, hrr_select_call(select, rec)) < 0)
			tool_no_memory();
	}
	if (rc < 0)
		tool_die_diag(&diag);
	if (hrr_slice_solve(slice) < 0)
		tool_no_memory();
	hrr_slice_counts(slice, &selected, &kept);
	if (selected == 0)
		tool_die(operand, 0, "--slice: it selects no call");
	hrr_source_close(src);
	hrr_select_free(select);
	return slice;
}
