/* libFuzzer over streams, read by what explains, lints and draws memory. See run.sh. */
#include <stdlib.h>
#include <string.h>

#include "lib/region/explain.h"
#include "lib/region/lint.h"
#include "lib/region/svg.h"

static void found(void *self, const struct hrr_lint_finding *f)
{
	if (hrr_lint_text(f, self) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hrr_question q = {.addr = 0x7f0000000008, .size = 16, .p = -1};
	struct hrr_map_options opt = {.p = -1};
	struct hrr_buf out = {0};
	struct hrr_record rec = {0};
	struct hrr_diag d;

	/* The first line is a question. */
	const uint8_t *nl = memchr(data, '\n', size);
	char *text = strndup((const char *)data, nl != NULL ? (size_t)(nl - data) : size);
	(void)hrr_question_read(&q, text, &d);
	free(text);
	struct hrr_explain *e = hrr_explain_new(&q);
	struct hrr_lint *l = hrr_lint_new(0, -1, found, &out);
	struct hrr_map *m = hrr_map_new(&opt);
	struct hrr_map_stats st;
	for (; nl != NULL; rec.lineno++) {
		const uint8_t *line = nl + 1;
		size_t left = (size_t)(data + size - line);
		nl = memchr(line, '\n', left);
		if (hrr_record_parse(&rec, (const char *)line,
				     nl != NULL ? (size_t)(nl - line) : left, &d) < 0)
			continue;
		(void)hrr_explain_record(e, &rec, false, &d);
		(void)hrr_lint_record(l, &rec, NULL, &d);
		(void)hrr_map_record(m, &rec, &d);
	}
	(void)hrr_explain_answer(e, &out, &d);
	(void)hrr_map_svg(&m, 1, &out, &st, &d);
	hrr_explain_free(e);
	hrr_lint_free(l);
	hrr_map_free(m);
	hrr_record_release(&rec);
	hrr_buf_release(&out);
	return 0;
}
