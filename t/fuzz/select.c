/*
 * libFuzzer over selectors (the first line), held against calls (the others): "not"
 * turns the answer around, and what asks for the head alone needs no more. See run.sh.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/stream/select.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hrr_select *s = NULL, *inverse = NULL;
	struct hrr_record rec = {0};
	struct hrr_diag d = {0};
	struct hrr_buf not = {0};
	uint64_t bytes;

	const uint8_t *nl = memchr(data, '\n', size);
	size_t len = nl != NULL ? (size_t)(nl - data) : size;
	char *text = strndup((const char *)data, len);
	if (text == NULL || hrr_buf_addf(&not, "not (%s)", text) < 0 || hrr_buf_str(&not ) == NULL)
		abort();
	if (hrr_select_new(&s, text, &d) == 0) {
		/* One deeper may be too deep. */
		if (hrr_select_new(&inverse, not .data, &d) < 0)
			inverse = NULL;
		for (size_t at = len + 1; at < size;) {
			const char *line = (const char *)data + at;
			nl = memchr(line, '\n', size - at);
			len = nl != NULL ? (size_t)(nl - (const uint8_t *)line) : size - at;
			at += len + 1;
			if (hrr_record_parse(&rec, line, len, &d) < 0)
				continue;
			(void)hrr_record_size(&rec, &bytes);
			bool fits = hrr_select_call(s, &rec);
			if (rec.kind != HRR_REC_CALL) {
				if (fits)
					abort();
				continue;
			}
			if (inverse != NULL && hrr_select_call(inverse, &rec) == fits)
				abort();
			struct hrr_record head = rec;
			head.json = (struct hrr_json){0};
			head.args = head.ret = head.dir = head.blobs = -1;
			head.kernel = head.host = head.symbol = -1;
			if (hrr_select_head_only(s) && hrr_select_call(s, &head) != fits)
				abort();
		}
	} else if (d.what[0] == '\0') {
		abort();
	}
	hrr_select_free(s);
	hrr_select_free(inverse);
	hrr_record_release(&rec);
	hrr_buf_release(&not );
	free(text);
	return 0;
}
