#include "lib/stream/write.h"

#include <errno.h>
#include <string.h>

#include "lib/stream/record.h"

/*
 * Each function builds the whole line and takes it back when memory runs out:
 * a buffer never holds half a record. Within, a failed append makes the later
 * ones meaningless but not wrong; the results are gathered in bad.
 */
#define LIT(s) (bad |= hrr_buf_add(b, s, sizeof(s) - 1))
#define NUM(v) (bad |= hrr_buf_addu(b, v))
#define STR(s) (bad |= hrr_json_put_str(b, s, strlen(s)))
#define ADDR(v) (bad |= hrr_json_put_addr(b, v))

static int done(struct hrr_buf *b, size_t before, int bad)
{
	if (bad == 0)
		return 0;
	b->len = before;
	return -ENOMEM;
}

static int put_p(struct hrr_buf *b, int64_t p)
{
	int bad = 0;

	if (p >= 0) {
		LIT(",\"p\":");
		NUM((uint64_t)p);
	}
	return bad;
}

/* A decimal number as a string: it may pass 2^53-1. */
static int put_decimal(struct hrr_buf *b, uint64_t v)
{
	int bad = 0;

	LIT("\"");
	NUM(v);
	LIT("\"");
	return bad;
}

int hrr_write_header(struct hrr_buf *b, const struct hrr_write_header *h)
{
	size_t before = b->len;
	int bad = 0;

	LIT("{\"hrr\":");
	NUM(HRR_STREAM_VERSION);
	bad |= put_p(b, h->p);
	LIT(",\"pid\":");
	NUM(h->pid);
	LIT(",\"image\":");
	NUM(h->image);
	LIT(",\"command\":[");
	for (size_t i = 0; i < h->argc; i++) {
		if (i > 0)
			LIT(",");
		STR(h->argv[i]);
	}
	LIT("],\"t0\":");
	bad |= put_decimal(b, h->t0);
	LIT(",\"realtime\":");
	bad |= put_decimal(b, h->realtime);
	LIT(",\"boot\":");
	STR(h->boot != NULL ? h->boot : "");
	LIT(",\"env\":{");
	bool first = true;
	for (size_t i = 0; i < h->n_env; i++) {
		const char *eq = strchr(h->env[i], '=');
		if (eq == NULL)
			continue;
		if (!first)
			LIT(",");
		first = false;
		/* Names are white-listed by the caller and plain; a member name cannot be hex. */
		bad |= hrr_json_put_str(b, h->env[i], (size_t)(eq - h->env[i]));
		LIT(":");
		STR(eq + 1);
	}
	LIT("},\"blobs\":");
	STR(h->blobs != NULL ? h->blobs : "");
	LIT("}\n");
	return done(b, before, bad);
}

int hrr_write_call(struct hrr_buf *b, const struct hrr_write_call *c)
{
	size_t before = b->len;
	int bad = 0;

	LIT("{\"seq\":");
	NUM(c->seq);
	bad |= put_p(b, c->p);
	LIT(",\"t\":");
	NUM(c->t);
	LIT(",\"dur\":");
	NUM(c->dur);
	LIT(",\"tid\":");
	NUM(c->tid);
	LIT(",\"api\":");
	STR(c->api);
	if (c->ret != NULL) {
		LIT(",\"ret\":");
		char first = c->ret[0];
		if (first == '"' || first == '-' || (first >= '0' && first <= '9'))
			bad |= hrr_buf_adds(b, c->ret);
		else
			STR(c->ret);
	}
	LIT(",\"args\":{");
	return done(b, before, bad);
}

int hrr_write_call_end(struct hrr_buf *b)
{
	return hrr_buf_add(b, "}\n", 2);
}

int hrr_write_output(struct hrr_buf *b, const struct hrr_write_output *o)
{
	size_t before = b->len;
	int bad = 0;

	LIT("{\"output\":");
	NUM(o->seq);
	bad |= put_p(b, o->p);
	if (o->node >= 0) {
		LIT(",\"node\":");
		NUM((uint64_t)o->node);
	}
	LIT(",\"t\":");
	NUM(o->t);
	LIT(",\"tid\":");
	NUM(o->tid);
	LIT(",\"addr\":");
	ADDR(o->addr);
	LIT(",\"size\":");
	NUM(o->size);
	if (o->width > 0 || o->height > 0 || o->depth > 0) {
		LIT(",\"width\":");
		NUM(o->width);
		LIT(",\"height\":");
		NUM(o->height);
		LIT(",\"depth\":");
		NUM(o->depth);
		LIT(",\"pitch\":");
		NUM(o->pitch);
		LIT(",\"slice\":");
		NUM(o->slice);
	}
	if (o->unknown) {
		LIT(",\"unknown\":");
		STR(o->reason != NULL ? o->reason : "");
	} else {
		char text[HRR_ID_TEXT + 1];
		hrr_id_text(&o->blob, text);
		LIT(",\"blob\":");
		STR(text);
	}
	LIT("}\n");
	return done(b, before, bad);
}

int hrr_write_region(struct hrr_buf *b, int64_t p, const struct hrr_region *r)
{
	size_t before = b->len;
	int bad = 0;

	LIT("{\"region\":");
	if (r->add)
		LIT("\"add\"");
	else
		LIT("\"del\"");
	bad |= put_p(b, p);
	if (r->add || r->kind_known) {
		LIT(",\"kind\":");
		if (r->segment)
			LIT("\"segment\"");
		else
			LIT("\"block\"");
	}
	LIT(",\"device\":");
	NUM((uint64_t)r->device);
	LIT(",\"base\":");
	ADDR(r->base);
	if (r->add) {
		LIT(",\"size\":");
		NUM(r->size);
	}
	if (r->t != HRR_NO_TIME) {
		LIT(",\"t\":");
		NUM(r->t);
	}
	if (r->tag != NULL) {
		LIT(",\"tag\":");
		bad |= hrr_json_put_str(b, r->tag, r->tag_len);
	}
	LIT("}\n");
	return done(b, before, bad);
}

static int put_counts(struct hrr_buf *b, size_t n, const char *const *names, const uint64_t *counts)
{
	int bad = hrr_buf_addc(b, '{');

	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			LIT(",");
		STR(names[i]);
		LIT(":");
		NUM(counts[i]);
	}
	LIT("}");
	return bad;
}

int hrr_write_end(struct hrr_buf *b, const struct hrr_write_end *e)
{
	size_t before = b->len;
	int bad = 0;

	LIT("{\"end\":");
	STR(e->how);
	bad |= put_p(b, e->p);
	LIT(",\"t\":");
	NUM(e->t);
	LIT(",\"calls\":");
	NUM(e->calls);
	LIT(",\"outputs\":");
	NUM(e->outputs);
	LIT(",\"regions\":");
	NUM(e->regions);
	LIT(",\"lost\":");
	NUM(e->lost);
	LIT(",\"notRecorded\":");
	bad |= put_counts(b, e->n_not_recorded, e->not_recorded, e->not_recorded_count);
	if (e->n_aside != 0) {
		LIT(",\"aside\":");
		bad |= put_counts(b, e->n_aside, e->aside, e->aside_count);
	}
	LIT(",\"realtime\":");
	bad |= put_decimal(b, e->realtime);
	LIT("}\n");
	return done(b, before, bad);
}
