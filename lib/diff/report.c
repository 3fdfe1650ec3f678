#include "lib/diff/report_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void hrr_report_flush(struct hrr_report *r)
{
	if (r->buf.len)
		r->write(r->buf.data, r->buf.len);
	r->buf.len = 0;
}

void hrr_report_release(struct hrr_report *r)
{
	hrr_buf_release(&r->buf);
}

/* A stream may come without any blobs (hrr-play --hash-launches writes ids only). Then the ids say
 * whether bytes differ, and there is nothing to show. */
static bool without_blobs(struct hrr_report *r, int side, uint32_t p)
{
	const char *path = hrr_source_blobs_path(r->source[side], p);
	struct hrr_diag diag = {0};
	bool tolerances = r->opt.type && (r->opt.tolerance.atol > 0 || r->opt.tolerance.rtol > 0 ||
					  r->opt.tolerance.ulp > 0 || r->opt.tolerance.equal_nan);

	if (tolerances || (path && access(path, F_OK) == 0))
		return false;
	if (!r->told[side]) {
		r->told[side] = true;
		(void)hrr_diag_set(&diag, -ENOENT, "no blobs here: the ids alone are compared");
		hrr_diag_at(&diag, r->name[side], 0);
		r->trouble(&diag);
	}
	return true;
}

/* The bytes of one side's blob. 0, or the trouble is told and counted. */
static int load(struct hrr_report *r, int side, uint32_t p, const struct hrr_fact *f,
		struct hrr_blob *ret)
{
	struct hrr_diag diag = {0};
	struct hrr_blobs *store;
	struct hrr_id id;
	int rc = -EINVAL;

	if (f->value_len < 2 || hrr_id_parse(f->value + 1, f->value_len - 2, &id) < 0)
		(void)hrr_diag_set(&diag, -EINVAL, "not a blob's id: %.*s",
				   (int)(f->value_len < 80 ? f->value_len : 80), f->value);
	else if ((store = hrr_source_blobs(r->source[side], p, &diag)) != NULL)
		rc = hrr_blobs_get(store, &id, 0, ret, &diag);
	if (rc == 0)
		return 0;
	if (!diag.operand[0])
		hrr_diag_at(&diag, r->name[side], 0);
	r->troubles++;
	r->trouble(&diag);
	return -1;
}

static void count(struct hrr_report *r, enum hrr_diff_what what)
{
	r->differ++;
	switch (what) {
	case HRR_DIFF_CHANGED:
		r->changed++;
		break;
	case HRR_DIFF_ONLY_A:
	case HRR_DIFF_ONLY_B:
		r->only[what == HRR_DIFF_ONLY_B]++;
		break;
	case HRR_DIFF_OUTPUT:
		r->outputs++;
		break;
	case HRR_DIFF_OUTPUT_ONLY_A:
	case HRR_DIFF_OUTPUT_ONLY_B:
		r->outputs_only[what == HRR_DIFF_OUTPUT_ONLY_B]++;
		break;
	}
}

/* Leaves out blobs that are equal enough. Returns how many members are left. */
static size_t weigh(struct hrr_report *r, const struct hrr_diff_event *e,
		    struct hrr_report_member *v)
{
	bool read = r->differ < r->opt.shown || r->opt.type || r->opt.first;
	size_t n = 0;

	for (size_t i = 0; i < e->n_members; i++) {
		const struct hrr_diff_member *m = &e->members[i];
		struct hrr_report_member x = {.m = m};

		if (read && m->in_a && m->in_b && m->a.kind == HRR_FACT_BLOB &&
		    m->b.kind == HRR_FACT_BLOB && !without_blobs(r, 0, e->a->p) &&
		    !without_blobs(r, 1, e->b->p) && load(r, 0, e->a->p, &m->a, &x.blob[0]) == 0) {
			if (load(r, 1, e->b->p, &m->b, &x.blob[1]) == 0)
				x.loaded = true;
			else
				hrr_blob_release(&x.blob[0]);
		}
		if (x.loaded && !hrr_report_differ(r, x.blob[0].data, x.blob[0].len, x.blob[1].data,
						   x.blob[1].len)) {
			r->tolerated++;
			hrr_blob_release(&x.blob[0]);
			hrr_blob_release(&x.blob[1]);
			continue;
		}
		v[n++] = x;
	}
	return n;
}

/*
 * Threads and streams are answered one after the other, so that a difference of another one may be
 * of an earlier call. Whether this one takes the place of what was found before.
 */
static bool earliest(struct hrr_report *r, const struct hrr_diff_event *e)
{
	const struct hrr_diff_call *c = e->a ? e->a : e->b;

	if (r->differ && (c->p != r->first_p || c->seq >= r->first_seq))
		return false;
	hrr_diff_stop_after(r->diff, c->p, c->seq);
	r->first_p = c->p;
	r->first_seq = c->seq;
	r->differ = r->changed = r->outputs = 0;
	memset(r->only, 0, sizeof r->only);
	memset(r->outputs_only, 0, sizeof r->outputs_only);
	r->buf.len = 0;
	return true;
}

int hrr_report_event(void *self, const struct hrr_diff_event *e)
{
	struct hrr_report *r = self;
	struct hrr_report_member *v = calloc(e->n_members ? e->n_members : 1, sizeof *v);
	int rc = 0;

	if (!v)
		return -ENOMEM;
	size_t n = weigh(r, e, v);

	if ((n || e->n_members == 0) && (!r->opt.first || earliest(r, e))) {
		count(r, e->what);
		if (r->differ <= r->opt.shown) {
			rc =
			    r->opt.json ? hrr_report_json(r, e, v, n) : hrr_report_text(r, e, v, n);
			if (!r->opt.first)
				hrr_report_flush(r);
		}
		/* Lists may be long, and the exit code is that of any: neither waits. */
		if (rc == 0 && r->opt.first && (r->opt.list || r->opt.shown == 0))
			rc = 1;
	}
	for (size_t i = 0; i < n; i++)
		if (v[i].loaded) {
			hrr_blob_release(&v[i].blob[0]);
			hrr_blob_release(&v[i].blob[1]);
		}
	free(v);
	return rc;
}
