#include "lib/region/explain.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/stream/select.h"

/* A copy of a thing that is over, or of one that is yet to come. */
struct past {
	struct hrr_thing x; /* api and tag owned here */
	bool set;
	uint64_t to, by_seq; /* ns; the call that ended it, or 0 */
	char by[64];
};

struct hrr_explain {
	struct hrr_question q;
	struct hrr_world *world;
	struct past freed[HRR_THING_KINDS]; /* the last that held the address, until then */
	struct past later;		    /* the first that gets it, afterwards */
	bool frozen, failed;
	struct hrr_buf answer; /* of the moment, without what is known only at the end */
	bool holds;
	char place[128];       /* of the moment, in words */
	struct hrr_buf copied; /* the last copy to the address, in words */
};

static void past_release(struct past *p)
{
	free(p->x.api);
	free(p->x.tag);
	*p = (struct past){0};
}

static bool holds(const struct hrr_thing *x, uint64_t addr)
{
	return addr >= x->base && addr - x->base < x->size;
}

static void keep(struct hrr_explain *e, struct past *p, const struct hrr_thing *x)
{
	past_release(p);
	p->set = true;
	p->x = *x;
	p->x.api = x->api != NULL ? strdup(x->api) : NULL;
	p->x.tag = x->tag != NULL ? strdup(x->tag) : NULL;
	if ((x->api != NULL && p->x.api == NULL) || (x->tag != NULL && p->x.tag == NULL))
		e->failed = true;
}

static void on_begin(void *self, const struct hrr_thing *x)
{
	struct hrr_explain *e = self;

	if (e->frozen && !e->later.set && holds(x, e->q.addr))
		keep(e, &e->later, x);
}

static void on_end(void *self, const struct hrr_thing *x, const struct hrr_record *by)
{
	struct hrr_explain *e = self;
	struct past *p = &e->freed[x->kind];

	if (e->frozen || !holds(x, e->q.addr))
		return;
	keep(e, p, x);
	p->to = by->t;
	if (by->kind == HRR_REC_CALL) {
		p->by_seq = by->seq;
		hrr_mask(p->by, sizeof p->by, by->api, by->api_len);
	}
}

struct hrr_explain *hrr_explain_new(const struct hrr_question *q)
{
	struct hrr_explain *e = calloc(1, sizeof *e);

	if (e == NULL)
		return NULL;
	e->q = *q;
	e->world = hrr_world_new(&(struct hrr_world_events){on_begin, on_end, e});
	if (e->world == NULL) {
		free(e);
		return NULL;
	}
	hrr_world_process(e->world, q->p);
	if (q->at == HRR_WHEN_TIME)
		snprintf(e->place, sizeof e->place, "at t %" PRIu64, q->when);
	else
		snprintf(e->place, sizeof e->place, "at the end of the stream");
	return e;
}

void hrr_explain_free(struct hrr_explain *e)
{
	if (e == NULL)
		return;
	hrr_world_free(e->world);
	for (int i = 0; i < HRR_THING_KINDS; i++)
		past_release(&e->freed[i]);
	past_release(&e->later);
	hrr_buf_release(&e->answer);
	hrr_buf_release(&e->copied);
	free(e);
}

/* --- words --- */

static int put_time(struct hrr_buf *b, uint64_t t)
{
	return t == HRR_NO_TIME ? hrr_buf_adds(b, "before the stream")
				: hrr_buf_addf(b, "t %" PRIu64, t);
}

static int put_tag(struct hrr_buf *b, const struct hrr_thing *x)
{
	char text[1024];

	if (x->tag == NULL)
		return 0;
	hrr_mask(text, sizeof text, x->tag, strlen(x->tag));
	return hrr_buf_addf(b, ", tag \"%s\"", text);
}

/* "block 0x7f… + 512 (device 0, tag …)": who it is. */
static int put_who(struct hrr_buf *b, const struct hrr_thing *x)
{
	int bad = hrr_buf_addf(b, "%s 0x%" PRIx64 " + %" PRIu64, hrr_thing_word(x->kind), x->base,
			       x->size);

	if (x->device > 0)
		bad |= hrr_buf_addf(b, " on device %d", x->device);
	return bad | put_tag(b, x);
}

static int put_origin(struct hrr_buf *b, const struct hrr_thing *x)
{
	if (x->api == NULL)
		return hrr_buf_adds(b, ", since ") | put_time(b, x->from);
	return hrr_buf_addf(b, ", by call %" PRIu64 " %s at t %" PRIu64, x->seq, x->api, x->from);
}

static int put_holder(struct hrr_explain *e, const struct hrr_thing *x)
{
	struct hrr_buf *b = &e->answer;
	uint64_t off = e->q.addr - x->base, left = x->size - off;
	int bad = put_who(b, x);

	bad |= put_origin(b, x);
	bad |= hrr_buf_addf(b, "\n  offset %" PRIu64 ", %" PRIu64 " bytes from there to its end",
			    off, left);
	if (e->q.size > left)
		bad |= hrr_buf_addf(b, ": %" PRIu64 " bytes run %" PRIu64 " past it", e->q.size,
				    e->q.size - left);
	return bad | hrr_buf_addc(b, '\n');
}

static int put_near(struct hrr_buf *b, const struct hrr_thing *x, const char *before, uint64_t n,
		    const char *after)
{
	int bad = hrr_buf_addf(b, "  %s%" PRIu64 " bytes %s ", before, n, after);

	return bad | put_who(b, x) | put_origin(b, x) | hrr_buf_addc(b, '\n');
}

/* The neighbours of one kind, of self or of the address; only those inside in, unless NULL. */
static int put_neighbours(struct hrr_explain *e, enum hrr_thing_kind kind,
			  const struct hrr_thing *self, const struct hrr_thing *in)
{
	uint64_t low = self != NULL ? self->base : e->q.addr,
		 high = self != NULL ? self->base + (self->size - 1) : e->q.addr;
	const struct hrr_thing *before = hrr_world_before(e->world, kind, low),
			       *after = hrr_world_after(e->world, kind, high);
	int bad = 0;

	if (before != NULL && (in == NULL || holds(in, before->base))) {
		uint64_t gap = low - (before->base + before->size);
		bad |= self != NULL ? put_near(&e->answer, before, "it begins ", gap, "behind")
				    : put_near(&e->answer, before, "", gap, "past the end of");
	}
	if (after != NULL && (in == NULL || holds(in, after->base))) {
		uint64_t gap = after->base - high - (self != NULL);
		bad |= self != NULL ? put_near(&e->answer, after, "it ends ", gap, "before")
				    : put_near(&e->answer, after, "", gap, "before");
	}
	return bad;
}

static int describe(struct hrr_explain *e)
{
	const struct hrr_thing *at[HRR_THING_KINDS], *whole;
	struct hrr_buf *b = &e->answer;
	int bad = hrr_buf_addf(b, "0x%" PRIx64, e->q.addr);

	if (e->q.size > 0)
		bad |= hrr_buf_addf(b, " + %" PRIu64, e->q.size);
	bad |= hrr_buf_addf(b, " %s\n", e->place);
	for (int k = 0; k < HRR_THING_KINDS; k++) {
		at[k] = hrr_world_find(e->world, k, e->q.addr);
		if (at[k] != NULL)
			bad |= put_holder(e, at[k]);
	}
	whole = at[HRR_THING_SEGMENT] != NULL  ? at[HRR_THING_SEGMENT]
		: at[HRR_THING_DEVICE] != NULL ? at[HRR_THING_DEVICE]
					       : at[HRR_THING_HOST];
	bool blocks = false; /* are there any in what holds it? */
	if (whole != NULL) {
		const struct hrr_thing *x = hrr_world_after(e->world, HRR_THING_BLOCK, e->q.addr);
		blocks = x != NULL && holds(whole, x->base);
		x = hrr_world_before(e->world, HRR_THING_BLOCK, e->q.addr);
		blocks = blocks || (x != NULL && holds(whole, x->base));
	}
	if (at[HRR_THING_BLOCK] == NULL && whole == NULL)
		bad |= hrr_buf_adds(b, "nothing that lives holds it\n");
	else if (at[HRR_THING_BLOCK] == NULL && blocks)
		bad |= hrr_buf_addf(b, "in no live block of that %s: out of bounds or stale\n",
				    hrr_thing_word(whole->kind));
	const struct hrr_thing *tight = at[HRR_THING_BLOCK] != NULL ? at[HRR_THING_BLOCK] : whole;
	e->holds = tight != NULL && !(at[HRR_THING_BLOCK] == NULL && blocks) &&
		   e->q.size <= tight->size - (e->q.addr - tight->base);
	if (at[HRR_THING_BLOCK] != NULL || blocks)
		bad |= put_neighbours(e, HRR_THING_BLOCK, at[HRR_THING_BLOCK], whole);
	else if (whole == NULL)
		for (int k = 0; k < HRR_THING_KINDS; k++)
			bad |= put_neighbours(e, k, NULL, NULL);
	else
		bad |= put_neighbours(e, whole->kind, whole, NULL);
	return bad;
}

static int freeze(struct hrr_explain *e)
{
	e->frozen = true;
	return describe(e) != 0 ? -ENOMEM : 0;
}

/* Is the moment just before rec? */
static bool is_moment(struct hrr_explain *e, const struct hrr_record *rec, bool sidecar)
{
	switch (e->q.at) {
	case HRR_WHEN_SEQ:
		if (rec->kind != HRR_REC_CALL || rec->seq != e->q.when)
			return false;
		break;
	case HRR_WHEN_LINE:
		if (sidecar || rec->lineno != e->q.when)
			return false;
		break;
	case HRR_WHEN_TIME:
		return rec->t != HRR_NO_TIME && rec->t > e->q.when;
	case HRR_WHEN_END:
		return false;
	}
	char api[64] = "";
	if (rec->kind == HRR_REC_CALL)
		hrr_mask(api, sizeof api, rec->api, rec->api_len);
	if (rec->kind == HRR_REC_CALL || rec->kind == HRR_REC_OUTPUT)
		snprintf(e->place, sizeof e->place, "at %s %" PRIu64 "%s%s (t %" PRIu64 ")",
			 rec->kind == HRR_REC_CALL ? "call" : "the output of call", rec->seq,
			 api[0] != '\0' ? " " : "", api, rec->t);
	else
		snprintf(e->place, sizeof e->place, "at line %" PRIu64, rec->lineno);
	return true;
}

/* Host memory that nobody declared: what was copied there tells more than neighbours do. */
static int note_copy(struct hrr_explain *e, const struct hrr_record *rec)
{
	const struct hrr_json *j = &rec->json;
	const struct hrr_thing *x = NULL;
	uint64_t dst, src, size;
	char api[64];

	if (rec->kind != HRR_REC_CALL || !hrr_json_is(j, rec->dir, "d2h") ||
	    hrr_json_addr(j, hrr_json_get(j, rec->args, "dst"), &dst) < 0 || e->q.addr < dst ||
	    !hrr_record_size(rec, &size) || e->q.addr - dst >= size ||
	    hrr_json_addr(j, hrr_json_get(j, rec->args, "src"), &src) < 0)
		return 0;
	src += e->q.addr - dst;
	for (int k = 0; k < HRR_THING_KINDS && x == NULL; k++)
		x = hrr_world_find(e->world, k, src);
	hrr_mask(api, sizeof api, rec->api, rec->api_len);
	e->copied.len = 0;
	int bad = hrr_buf_addf(&e->copied,
			       "copied there last:\n  call %" PRIu64 " %s, from 0x%" PRIx64 ": ",
			       rec->seq, api, src);
	if (x == NULL)
		return bad | hrr_buf_adds(&e->copied, "nothing that lives holds that\n");
	bad |= hrr_buf_addf(&e->copied, "offset %" PRIu64 " of ", src - x->base);
	return bad | put_who(&e->copied, x) | put_origin(&e->copied, x) |
	       hrr_buf_addc(&e->copied, '\n');
}

int hrr_explain_record(struct hrr_explain *e, const struct hrr_record *rec, bool sidecar,
		       struct hrr_diag *diag)
{
	if (!hrr_world_is_mine(e->world, rec))
		return 0;
	/* The copy that is the moment has its place in it. */
	if (!e->frozen && (note_copy(e, rec) != 0 || (is_moment(e, rec, sidecar) && freeze(e) < 0)))
		return hrr_diag_set(diag, -ENOMEM, "out of memory");
	int rc = hrr_world_record(e->world, rec, diag);
	if (rc == 0 && e->failed)
		rc = hrr_diag_set(diag, -ENOMEM, "out of memory");
	return rc;
}

static int put_past(struct hrr_explain *e, const struct past *p)
{
	struct hrr_buf *b = &e->answer;
	int bad = hrr_buf_adds(b, "  ");

	bad |= put_who(b, &p->x);
	bad |= put_origin(b, &p->x);
	if (p->by_seq != 0)
		bad |= hrr_buf_addf(b, ", until call %" PRIu64 " %s at t %" PRIu64, p->by_seq,
				    p->by, p->to);
	else
		bad |= hrr_buf_adds(b, ", until ") | put_time(b, p->to);
	return bad |
	       hrr_buf_addf(b, "\n    it was at offset %" PRIu64 " there\n", e->q.addr - p->x.base);
}

int hrr_explain_answer(struct hrr_explain *e, struct hrr_buf *b, struct hrr_diag *diag)
{
	bool any = false;
	int bad = 0;

	if (!e->frozen && (e->q.at == HRR_WHEN_SEQ || e->q.at == HRR_WHEN_LINE))
		return hrr_diag_set(diag, -ENOENT, "no %s %" PRIu64 " in it",
				    e->q.at == HRR_WHEN_SEQ ? "call" : "line", e->q.when);
	if (!e->frozen)
		bad = freeze(e);
	if (!e->holds)
		bad |= hrr_buf_add(&e->answer, e->copied.data, e->copied.len);
	for (int k = 0; k < HRR_THING_KINDS; k++) {
		if (!e->freed[k].set)
			continue;
		if (!any)
			bad |= hrr_buf_adds(&e->answer, "freed there last:\n");
		any = true;
		bad |= put_past(e, &e->freed[k]);
	}
	if (e->later.set) {
		bad |= hrr_buf_adds(&e->answer, "later there:\n  ") |
		       put_who(&e->answer, &e->later.x) | put_origin(&e->answer, &e->later.x) |
		       hrr_buf_addc(&e->answer, '\n');
	}
	bad |= hrr_buf_add(b, e->answer.data, e->answer.len);
	return bad != 0 ? hrr_diag_set(diag, -ENOMEM, "out of memory") : e->holds;
}
