/*
 * A sidecar of regions: lines come out sorted, each a region that says its time. The input is
 * read with four pairs of clocks.
 */
#include <stdlib.h>

#include "lib/store/sidecar.h"
#include "t/fuzz/memfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct hrr_sidecar_clock clocks[] = {
	    {0, 0}, {7675166380820, 1795997951455357601}, {UINT64_MAX, 1}, {1, UINT64_MAX}};
	static struct hrr_record rec;
	struct hrr_diag d = {0};
	struct hrr_sidecars s = {0};
	uint64_t before = 0;

	memfile_set("a.jsonl", data, size);
	if (hrr_sidecars_add(&s, MEM "/a.jsonl", &clocks[size % 4], &d) < 0) {
		if (d.what[0] == '\0')
			abort();
		s.n = 0;
	}
	hrr_sidecars_sort(&s);
	for (size_t i = 0; i < s.n; i++) {
		const struct hrr_sidecar_line *l = hrr_sidecars_at(&s, i);
		if (l->t < before || l->off > s.text.len || l->len > s.text.len - l->off)
			abort();
		before = l->t;
		if (hrr_record_parse(&rec, s.text.data + l->off, l->len, &d) < 0 ||
		    rec.kind != HRR_REC_REGION || (l->stamped && rec.t != l->t))
			abort();
	}
	hrr_sidecars_release(&s);
	return 0;
}
