#include "lib/stream/tail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct waiting {
	enum hrr_record_kind kind;
	uint32_t p;
	uint64_t seq, lineno;
	size_t off, len;
};

struct hrr_tail {
	uint64_t max, calls;
	struct hrr_filter *filter;
	int (*put)(void *self, const struct hrr_record *rec);
	void *self;
	struct hrr_buf queue, text; /* struct waiting and their lines */
	size_t from;		    /* first in the queue */
	struct hrr_seqs *dropped;
	struct hrr_record rec;
};

int hrr_tail_new(struct hrr_tail **ret, uint64_t calls, struct hrr_filter *filter,
		 int (*put)(void *self, const struct hrr_record *rec), void *self)
{
	struct hrr_tail *t = calloc(1, sizeof *t);

	if (t == NULL)
		return -ENOMEM;
	t->max = calls;
	t->filter = filter;
	t->put = put;
	t->self = self;
	t->dropped = hrr_seqs_new();
	if (t->dropped == NULL) {
		free(t);
		return -ENOMEM;
	}
	*ret = t;
	return 0;
}

void hrr_tail_free(struct hrr_tail *t)
{
	if (t == NULL)
		return;
	hrr_buf_release(&t->queue);
	hrr_buf_release(&t->text);
	hrr_seqs_free(t->dropped);
	hrr_record_release(&t->rec);
	free(t);
}

static struct waiting *at(const struct hrr_tail *t, size_t i)
{
	return &((struct waiting *)(void *)t->queue.data)[i];
}

static size_t queued(const struct hrr_tail *t)
{
	return t->queue.len / sizeof(struct waiting);
}

static bool is_dropped(const struct hrr_tail *t, const struct waiting *w)
{
	return w->kind == HRR_REC_OUTPUT && hrr_seqs_has(t->dropped, w->p, w->seq);
}

static int put(struct hrr_tail *t, const struct waiting *w)
{
	int rc = hrr_record_parse(&t->rec, t->text.data + w->off, w->len, NULL);

	t->rec.lineno = w->lineno;
	return rc < 0 ? rc : t->put(t->self, &t->rec);
}

/* Moves what is left to the front once half of the queue is spent. */
static void compact(struct hrr_tail *t)
{
	size_t n = queued(t), rest = n - t->from;

	if (t->from == 0 || t->from * 2 < n)
		return;
	size_t base = rest > 0 ? at(t, t->from)->off : t->text.len;
	if (rest > 0)
		memmove(at(t, 0), at(t, t->from), rest * sizeof(struct waiting));
	t->queue.len = rest * sizeof(struct waiting);
	memmove(t->text.data, t->text.data + base, t->text.len - base);
	t->text.len -= base;
	for (size_t i = 0; i < rest; i++)
		at(t, i)->off -= base;
	t->from = 0;
}

static int drop_oldest(struct hrr_tail *t)
{
	bool dropped = false;
	int rc = 0;

	for (; rc >= 0 && t->from < queued(t); t->from++) {
		const struct waiting *w = at(t, t->from);
		if (w->kind == HRR_REC_CALL) {
			if (dropped)
				break;
			dropped = true;
			t->calls--;
			hrr_filter_take_back(t->filter, w->kind, w->p);
			rc = hrr_seqs_add(t->dropped, w->p, w->seq);
		} else if (is_dropped(t, w)) {
			hrr_filter_take_back(t->filter, w->kind, w->p);
		} else {
			rc = put(t, w);
		}
	}
	compact(t);
	return rc < 0 ? rc : 0;
}

int hrr_tail_record(struct hrr_tail *t, const struct hrr_record *rec)
{
	const struct waiting w = {.kind = rec->kind,
				  .p = rec->p,
				  .seq = rec->seq,
				  .lineno = rec->lineno,
				  .off = t->text.len,
				  .len = rec->len};

	if (is_dropped(t, &w)) {
		hrr_filter_take_back(t->filter, rec->kind, rec->p);
		return 0;
	}
	if (hrr_buf_add(&t->text, rec->line, rec->len) < 0 ||
	    hrr_buf_add(&t->queue, &w, sizeof w) < 0)
		return -ENOMEM;
	return rec->kind == HRR_REC_CALL && ++t->calls > t->max ? drop_oldest(t) : 0;
}

int hrr_tail_end(struct hrr_tail *t)
{
	int rc = 0;

	/* Outputs of dropped calls that still wait must be out of the counts before an end record
	 * is written. */
	for (size_t i = t->from; i < queued(t); i++)
		if (is_dropped(t, at(t, i)))
			hrr_filter_take_back(t->filter, HRR_REC_OUTPUT, at(t, i)->p);
	for (size_t i = t->from; rc >= 0 && i < queued(t); i++)
		if (!is_dropped(t, at(t, i)))
			rc = put(t, at(t, i));
	t->from = queued(t);
	return rc < 0 ? rc : 0;
}

uint64_t hrr_tail_calls(const struct hrr_tail *t)
{
	return t->calls;
}
