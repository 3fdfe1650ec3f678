#include "lib/base/json.h"

#include <errno.h>
#include <string.h>

#include "lib/base/json_private.h"

void hrr_json_release(struct hrr_json *j)
{
	hrr_buf_release(&j->mem);
	hrr_buf_release(&j->own);
	*j = (struct hrr_json){0};
}

int hrr_json_more(struct hrr_json *j)
{
	uint32_t cap = j->cap ? j->cap * 2 : 64;

	if (j->n >= HRR_JSON_MAX_NODES)
		return -E2BIG;
	if (cap > HRR_JSON_MAX_NODES)
		cap = HRR_JSON_MAX_NODES;
	j->mem.len = (size_t)j->n * sizeof *j->nodes;
	if (hrr_buf_reserve(&j->mem, (size_t)cap * sizeof *j->nodes - j->mem.len) < 0)
		return -ENOMEM;
	j->nodes = (struct hrr_json_node *)(void *)j->mem.data;
	j->cap = cap;
	return 0;
}

int hrr_json_room(struct hrr_json *j, uint32_t n)
{
	int rc = 0;

	while (rc == 0 && j->cap < n) {
		j->n = j->cap;
		rc = hrr_json_more(j);
	}
	return rc;
}

int hrr_json_parse(struct hrr_json *j, const char *text, size_t len, struct hrr_diag *diag)
{
	int rc = hrr_json_scan(j, text, len);

	if (rc == -EAGAIN)
		return hrr_json_parse_general(j, text, len, diag);
	if (rc == -E2BIG)
		return hrr_json_too_big(j, len, diag);
	if (rc < 0)
		return hrr_diag_set(diag, rc, "out of memory");
	return rc;
}

int hrr_json_too_big(const struct hrr_json *j, size_t len, struct hrr_diag *diag)
{
	if (len > HRR_JSON_MAX_LINE)
		return hrr_diag_set(diag, -E2BIG, "line too long: %zu bytes, the limit is %zu", len,
				    HRR_JSON_MAX_LINE);
	if (j->n >= HRR_JSON_MAX_NODES)
		return hrr_diag_set(diag, -E2BIG, "too many values in a line: the limit is %d",
				    HRR_JSON_MAX_NODES);
	return hrr_diag_set(diag, -E2BIG, "nested too deep: the limit is %d", HRR_JSON_MAX_DEPTH);
}
