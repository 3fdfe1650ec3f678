#include <errno.h>
#include <string.h>

#include "lib/base/digits.h"
#include "lib/base/mask.h"
#include "lib/stream/view_private.h"

/*
 * A line for people. Room for all of it is made first (make_room), so that what puts a piece only
 * moves the end: every event of a stream goes through here.
 */
#define CONSTANTS 512 /* bytes of a line that do not come from the record, and numbers */

struct line {
	struct hrr_view *v;
	const struct hrr_record *rec;
	struct hrr_buf *b;
	char *end;   /* of what was put into b */
	bool failed; /* no memory */
};

/* For a line, each byte of which may become \xNN, and for more that is not in the record. */
static int make_room(struct line *l, size_t more)
{
	const struct hrr_record *rec = l->rec;
	size_t len = rec->json.len > rec->len ? rec->json.len : rec->len;

	if (l->end != NULL)
		l->b->len = (size_t)(l->end - l->b->data);
	if (more > SIZE_MAX / 16 ||
	    hrr_buf_reserve(l->b, HRR_MASK_ROOM(len) + HRR_MASK_ROOM(more) + CONSTANTS) < 0) {
		l->failed = true;
		return -ENOMEM;
	}
	l->end = l->b->data + l->b->len;
	return 0;
}

#define PUT(l, text) \
	(memcpy((l)->end, text, sizeof(text) - 1), (void)((l)->end += sizeof(text) - 1))

static void put_number(struct line *l, uint64_t n)
{
	l->end += hrr_dec_put(l->end, n);
}

/* Bytes of the stream as a terminal may see them. */
static void put_masked(struct line *l, const char *s, size_t len)
{
	l->end = hrr_mask_put(l->end, s, len);
}

/* A value: strings without their quotes, everything else as JSON has it. */
static void put_value(struct line *l, int node)
{
	const struct hrr_json *j = &l->rec->json;
	const struct hrr_json_node *n = &j->nodes[node];
	struct hrr_buf *text = &l->v->text;

	if (!n->escaped || n->type != HRR_JSON_STRING) {
		put_masked(l, j->text + n->off, n->len);
		return;
	}
	text->len = 0;
	if (hrr_json_str(j, node, text) < 0)
		l->failed = true;
	else
		put_masked(l, text->data, text->len);
}

/* "key=value" for the members of an object. */
static void put_members(struct line *l, int object)
{
	const struct hrr_json *j = &l->rec->json;

	for (int i = hrr_json_first(j, object); i >= 0; i = hrr_json_next(j, object, i)) {
		if (i != object + 1)
			PUT(l, ", ");
		put_masked(l, j->text + j->nodes[i].off, j->nodes[i].len);
		PUT(l, "=");
		put_value(l, i + 1);
	}
}

/* ns as milliseconds. */
static void put_ms(struct line *l, uint64_t ns)
{
	put_number(l, ns / 1000000);
	char *from = l->end;
	put_number(l, 1000000 + ns % 1000000);
	*from = '.'; /* the 1 that kept the zeros */
	PUT(l, " ms");
}

static void put_kernel(struct line *l, int kernel)
{
	const struct hrr_json *j = &l->rec->json;
	int node, named = hrr_view_kernel(l->v, l->rec, kernel);

	PUT(l, "  ");
	if (named < 0)
		l->failed = true;
	else if (named > 0 && make_room(l, l->v->name.len) == 0)
		put_masked(l, l->v->name.data, l->v->name.len);
	if ((node = hrr_json_get(j, kernel, "grid")) >= 0) {
		PUT(l, " grid=");
		put_value(l, node);
	}
	if ((node = hrr_json_get(j, kernel, "block")) >= 0) {
		PUT(l, " block=");
		put_value(l, node);
	}
	if ((node = hrr_json_get(j, kernel, "lds")) >= 0) {
		PUT(l, " lds=");
		put_value(l, node);
	}
}

static void call(struct line *l)
{
	const struct hrr_record *rec = l->rec;

	put_number(l, rec->seq);
	PUT(l, " ");
	put_ms(l, rec->t);
	PUT(l, " +");
	put_number(l, rec->dur);
	PUT(l, " ns tid ");
	put_number(l, rec->tid);
	PUT(l, "  ");
	put_masked(l, rec->api, rec->api_len);
	PUT(l, "(");
	put_members(l, rec->args);
	PUT(l, ")");
	if (rec->ret >= 0) {
		PUT(l, " = ");
		put_value(l, rec->ret);
	}
	if (rec->dir >= 0) {
		PUT(l, " ");
		put_value(l, rec->dir);
	}
	for (int k = -1; (k = hrr_kernel_next(&rec->json, rec->kernel, k)) >= 0;)
		put_kernel(l, k);
}

static void output(struct line *l)
{
	const struct hrr_json *j = &l->rec->json;
	int blob = hrr_json_get(j, 0, "blob"), node = hrr_json_get(j, 0, "node");

	PUT(l, "  output of ");
	put_number(l, l->rec->seq);
	if (node >= 0) {
		PUT(l, " node ");
		put_value(l, node);
	}
	PUT(l, ": ");
	put_value(l, hrr_json_get(j, 0, "size"));
	PUT(l, " bytes to ");
	put_value(l, hrr_json_get(j, 0, "addr"));
	if (blob >= 0)
		PUT(l, ", ");
	else
		PUT(l, ", unknown: ");
	put_value(l, blob >= 0 ? blob : hrr_json_get(j, 0, "unknown"));
}

int hrr_view_text(struct hrr_view *v, const struct hrr_record *rec, struct hrr_buf *b)
{
	struct line l = {.v = v, .rec = rec, .b = b, .end = b->data + b->len};

	if (make_room(&l, 0) < 0)
		return -ENOMEM;
	if (hrr_json_get(&rec->json, 0, "p") >= 0) {
		PUT(&l, "[");
		put_number(&l, rec->p);
		PUT(&l, "] ");
	}
	switch (rec->kind) {
	case HRR_REC_CALL:
		call(&l);
		break;
	case HRR_REC_OUTPUT:
		output(&l);
		break;
	case HRR_REC_HEADER:
		PUT(&l, "header: ");
		put_members(&l, 0);
		break;
	case HRR_REC_REGION:
	case HRR_REC_RUNTIME:
	case HRR_REC_END:
	case HRR_REC_OTHER:
		PUT(&l, "  ");
		put_members(&l, 0);
		break;
	}
	PUT(&l, "\n");
	b->len = (size_t)(l.end - b->data);
	return l.failed ? -ENOMEM : 0;
}
