#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>

#include "lib/base/json_private.h"

/*
 * jansson builds a tree of many allocations, so what it may build is bounded by
 * a look at the bytes first: nesting, and the separators that bound the values.
 */
static int bounds(struct hrr_json *j, const char *s, size_t len)
{
	size_t depth = 0, values = 1;

	for (size_t i = 0; i < len; i++) {
		switch (s[i]) {
		case '"':
			for (i++; i < len && s[i] != '"'; i++)
				if (s[i] == '\\')
					i++;
			break;
		case '{':
		case '[':
			if (++depth > HRR_JSON_MAX_DEPTH) {
				j->n = 0;
				return -E2BIG;
			}
			values++;
			break;
		case '}':
		case ']':
			if (depth > 0)
				depth--;
			break;
		case ',':
		case ':':
			values++;
		}
	}
	/* At most one too many per container; the scan of the result counts exactly. */
	if (values > (size_t)2 * HRR_JSON_MAX_NODES) {
		j->n = HRR_JSON_MAX_NODES;
		return -E2BIG;
	}
	return 0;
}

int hrr_json_parse_general(struct hrr_json *j, const char *text, size_t len, struct hrr_diag *diag)
{
	json_error_t e;
	json_t *root;
	int rc = bounds(j, text, len);

	if (rc < 0)
		return hrr_json_too_big(j, len, diag);
	errno = 0;
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
	if (root == NULL) {
		/* It does not always say so itself. */
		if (json_error_code(&e) == json_error_out_of_memory || errno == ENOMEM)
			return hrr_diag_set(diag, -ENOMEM, "out of memory");
		return hrr_diag_set(diag, -EINVAL, "not JSON: %s (byte %d)", e.text,
				    e.position < 0 ? 0 : e.position);
	}

	size_t size = json_dumpb(root, NULL, 0, JSON_COMPACT);
	j->own.len = 0;
	rc = size == 0 ? -ENOMEM : hrr_buf_reserve(&j->own, size);
	if (rc == 0)
		j->own.len = json_dumpb(root, j->own.data, size, JSON_COMPACT);
	json_decref(root);
	if (rc == 0 && j->own.len != size) /* it prints as far as there is memory */
		rc = -ENOMEM;
	if (rc < 0)
		return hrr_diag_set(diag, rc, "out of memory");

	rc = hrr_json_scan_printed(j, j->own.data, j->own.len);
	j->general = true;
	if (rc == -E2BIG)
		return hrr_json_too_big(j, j->own.len, diag);
	if (rc < 0)
		return hrr_diag_set(diag, rc == -EAGAIN ? -EINVAL : rc, "not JSON we can hold");
	return 0;
}
