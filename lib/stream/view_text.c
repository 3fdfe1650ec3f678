#include <errno.h>
#include <string.h>

#include "lib/stream/view_private.h"

/* Bytes of the stream as a terminal may see them. */
static int put_masked(struct hrr_buf *b, const char *s, size_t len)
{
	/* Each byte may become \xNN. */
	if (len > SIZE_MAX / 8 || hrr_buf_reserve(b, 4 * len + 8) < 0)
		return -ENOMEM;
	b->len += hrr_mask(b->data + b->len, 4 * len + 8, s, len);
	return 0;
}

/* A value: strings without their quotes, everything else as JSON has it. */
static int put_value(struct hrr_buf *b, const struct hrr_json *j, int node)
{
	struct hrr_buf text = {0};
	int rc;

	if (j->nodes[node].type == HRR_JSON_STRING) {
		rc = hrr_json_str(j, node, &text);
		if (rc == 0)
			rc = put_masked(b, text.data, text.len);
		hrr_buf_release(&text);
		return rc;
	}
	return put_masked(b, j->text + j->nodes[node].off, j->nodes[node].len);
}

/* "key=value" for the members of an object. */
static int put_members(struct hrr_buf *b, const struct hrr_json *j, int object, const char *between)
{
	int bad = 0;

	for (int i = hrr_json_first(j, object); i >= 0; i = hrr_json_next(j, object, i)) {
		if (i != object + 1)
			bad |= hrr_buf_adds(b, between);
		bad |= put_masked(b, j->text + j->nodes[i].off, j->nodes[i].len);
		bad |= hrr_buf_addc(b, '=');
		bad |= put_value(b, j, i + 1);
	}
	return bad;
}

/* ns as milliseconds. */
static int put_ms(struct hrr_buf *b, uint64_t ns)
{
	return hrr_buf_addf(b, "%llu.%06llu ms", (unsigned long long)(ns / 1000000),
			    (unsigned long long)(ns % 1000000));
}

static int put_kernel(struct hrr_view *v, const struct hrr_record *rec, int kernel,
		      struct hrr_buf *b)
{
	const struct hrr_json *j = &rec->json;
	int bad = hrr_buf_adds(b, "  ");

	if (hrr_view_kernel(v, rec, kernel))
		bad |= put_masked(b, v->name.data, v->name.len);
	static const char *const keys[] = {"grid", "block", "lds"};
	for (int k = 0; k < 3; k++) {
		int node = hrr_json_get(j, kernel, keys[k]);
		if (node < 0)
			continue;
		bad |= hrr_buf_addf(b, " %s=", keys[k]);
		bad |= put_value(b, j, node);
	}
	return bad;
}

static int call(struct hrr_view *v, const struct hrr_record *rec, struct hrr_buf *b)
{
	const struct hrr_json *j = &rec->json;
	int bad = hrr_buf_addf(b, "%llu ", (unsigned long long)rec->seq);

	bad |= put_ms(b, rec->t);
	bad |= hrr_buf_addf(b, " +%llu ns tid %llu  ", (unsigned long long)rec->dur,
			    (unsigned long long)rec->tid);
	bad |= put_masked(b, rec->api, rec->api_len);
	bad |= hrr_buf_addc(b, '(');
	bad |= put_members(b, j, rec->args, ", ");
	bad |= hrr_buf_addc(b, ')');
	if (rec->ret >= 0) {
		bad |= hrr_buf_adds(b, " = ");
		bad |= put_value(b, j, rec->ret);
	}
	if (rec->dir >= 0) {
		bad |= hrr_buf_adds(b, " ");
		bad |= put_value(b, j, rec->dir);
	}
	for (int k = -1; (k = hrr_kernel_next(j, rec->kernel, k)) >= 0;)
		bad |= put_kernel(v, rec, k, b);
	return bad;
}

static int output(const struct hrr_record *rec, struct hrr_buf *b)
{
	const struct hrr_json *j = &rec->json;
	int blob = hrr_json_get(j, 0, "blob"), node = hrr_json_get(j, 0, "node"),
	    unknown = hrr_json_get(j, 0, "unknown");
	int bad = hrr_buf_addf(b, "  output of %llu", (unsigned long long)rec->seq);

	if (node >= 0) {
		bad |= hrr_buf_adds(b, " node ");
		bad |= put_value(b, j, node);
	}
	bad |= hrr_buf_adds(b, ": ");
	bad |= put_value(b, j, hrr_json_get(j, 0, "size"));
	bad |= hrr_buf_adds(b, " bytes to ");
	bad |= put_value(b, j, hrr_json_get(j, 0, "addr"));
	bad |= hrr_buf_adds(b, blob >= 0 ? ", " : ", unknown: ");
	bad |= put_value(b, j, blob >= 0 ? blob : unknown);
	return bad;
}

int hrr_view_text(struct hrr_view *v, const struct hrr_record *rec, struct hrr_buf *b)
{
	const struct hrr_json *j = &rec->json;
	int bad = 0;

	if (hrr_json_get(j, 0, "p") >= 0)
		bad |= hrr_buf_addf(b, "[%u] ", rec->p);
	switch (rec->kind) {
	case HRR_REC_CALL:
		bad |= call(v, rec, b);
		break;
	case HRR_REC_OUTPUT:
		bad |= output(rec, b);
		break;
	case HRR_REC_HEADER:
		bad |= hrr_buf_adds(b, "header: ");
		bad |= put_members(b, j, 0, ", ");
		break;
	case HRR_REC_REGION:
	case HRR_REC_RUNTIME:
	case HRR_REC_END:
	case HRR_REC_OTHER:
		bad |= hrr_buf_adds(b, "  ");
		bad |= put_members(b, j, 0, ", ");
		break;
	}
	bad |= hrr_buf_addc(b, '\n');
	return bad ? -ENOMEM : 0;
}
