#ifndef HRR_T_UNIT_TORCH_FIXTURE_H
#define HRR_T_UNIT_TORCH_FIXTURE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/torch/torch.h"
#include "lib/stream/record.h"

/* What the tests and the fuzzer of snapshots share. */

/* The same bytes in memory of exactly that size, so that ASan sees a read past them. */
static inline void *exact(const void *p, size_t n)
{
	void *q = malloc(n != 0 ? n : 1);

	if (q == NULL)
		abort();
	if (n != 0)
		memcpy(q, p, n);
	return q;
}

/*
 * Imports with and without a stream's clock and with frames; every line that comes
 * out has to be a region. Returns what the plain import said.
 */
static inline int exercise_snapshot(const void *data, size_t size, struct hrr_diag *why)
{
	static const struct hrr_torch_options ways[] = {
	    {.realtime = UINT64_C(1795982130000020500),
	     .t0 = 1,
	     .end = 30000,
	     .pid = 1,
	     .frames = HRR_TORCH_MAX_FRAMES},
	    {.end = HRR_NO_TIME, .pid = -1},
	};
	void *p = exact(data, size);
	struct hrr_torch_stats st;
	struct hrr_record rec = {0};
	int rc = 0;

	for (size_t i = 0; i < 2; i++) {
		struct hrr_buf out = {0};
		rc = hrr_torch_import(&out, p, size, &ways[i], &st, why);
		if (rc < 0 && out.len != 0)
			abort();
		uint64_t lines = 0, last = 0;
		for (size_t at = 0; at < out.len; lines++) {
			const char *line = out.data + at, *nl = memchr(line, '\n', out.len - at);
			if (nl == NULL ||
			    hrr_record_parse(&rec, line, (size_t)(nl - line), why) < 0)
				abort();
			if (rec.kind != (lines == 0 ? HRR_REC_OTHER : HRR_REC_REGION))
				abort();
			if (lines > 0 && rec.t != HRR_NO_TIME) {
				if (rec.t < last)
					abort();
				last = rec.t;
			}
			at += (size_t)(nl - line) + 1;
		}
		if (rc == 0 && lines != 1 + st.adds + st.dels)
			abort();
		hrr_buf_release(&out);
	}
	hrr_record_release(&rec);
	free(p);
	return rc;
}

#endif
