#include "lib/stream/edit.h"

#include <errno.h>
#include <string.h>

static int put_raw(struct hrr_buf *b, const struct hrr_json *j, int node)
{
	const struct hrr_json_node *n = &j->nodes[node];
	size_t quote = n->type == HRR_JSON_STRING;

	return hrr_buf_add(b, j->text + n->off - quote, n->len + 2 * quote);
}

static int put_member(struct hrr_buf *b, bool *first, const struct hrr_edit *e)
{
	int bad = *first ? 0 : hrr_buf_addc(b, ',');

	*first = false;
	bad |= hrr_json_put_str(b, e->key, strlen(e->key));
	bad |= hrr_buf_addc(b, ':');
	bad |= hrr_buf_add(b, e->value, e->len);
	return bad;
}

int hrr_record_edit(const struct hrr_record *rec, const struct hrr_edit *edits, size_t n,
		    struct hrr_buf *b)
{
	const struct hrr_json *j = &rec->json;
	size_t before = b->len;
	bool first = true;
	int bad = hrr_buf_addc(b, '{');

	for (int i = hrr_json_first(j, 0); i >= 0; i = hrr_json_next(j, 0, i)) {
		const struct hrr_edit *e = NULL;
		for (size_t k = 0; k < n && e == NULL; k++)
			if (hrr_json_is(j, i, edits[k].key))
				e = &edits[k];
		bool was_first = first;
		if (e == NULL || e->value != NULL) {
			if (!first)
				bad |= hrr_buf_addc(b, ',');
			first = false;
			bad |= put_raw(b, j, i);
			bad |= hrr_buf_addc(b, ':');
			bad |= e == NULL ? put_raw(b, j, i + 1) : hrr_buf_add(b, e->value, e->len);
		}
		if (!was_first || first)
			continue;
		for (size_t k = 0; k < n; k++)
			if (edits[k].missing == HRR_EDIT_SECOND && edits[k].value != NULL &&
			    hrr_json_get(j, 0, edits[k].key) < 0)
				bad |= put_member(b, &first, &edits[k]);
	}
	for (size_t k = 0; k < n; k++)
		if (edits[k].missing == HRR_EDIT_LAST && edits[k].value != NULL &&
		    hrr_json_get(j, 0, edits[k].key) < 0)
			bad |= put_member(b, &first, &edits[k]);
	bad |= hrr_buf_addc(b, '}');
	if (bad) {
		b->len = before;
		return -ENOMEM;
	}
	return 0;
}
