#include "formats/hrrr/sidecar.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "formats/hrrr/hrrr.h"
#include "lib/stream/record.h"

#define REGION_MAX ((uint64_t)1 << 47)

/* The first moment met; what producers stamp 0 was there before. */
static uint64_t first_time(const struct hrr_rrr_list *l)
{
	uint64_t t = 0;

	for (size_t i = 0; i < l->n; i++)
		if (l->r[i].t > 0 && (t == 0 || (uint64_t)l->r[i].t < t))
			t = (uint64_t)l->r[i].t;
	return t;
}

bool hrr_rrr_region(struct hrr_region *ret, const struct hrr_rrr *x, uint64_t t0,
		    char tag[HRR_RRR_TAG])
{
	*ret = (struct hrr_region){.add = x->op == 0,
				   .segment = x->kind == 1,
				   .kind_known = true,
				   .device = x->device,
				   .base = x->base,
				   .size = x->op == 0 ? x->size : 0,
				   .t = HRR_NO_TIME};
	if (x->t != 0)
		ret->t = x->t > 0 && (uint64_t)x->t > t0 ? (uint64_t)x->t - t0 : 0;
	if (x->tag != 0) {
		ret->tag_len = (size_t)snprintf(tag, HRR_RRR_TAG, "#%u", x->tag);
		ret->tag = tag;
	}
	return ret->size <= REGION_MAX && ret->size <= UINT64_MAX - ret->base;
}

static int one(struct hrr_buf *out, const struct hrr_rrr *x, uint64_t t0, struct hrr_rrr_stats *st)
{
	char tag[HRR_RRR_TAG];
	struct hrr_region r;

	if (!hrr_rrr_region(&r, x, t0, tag)) {
		st->refused++;
		return 0;
	}
	st->records++;
	return hrr_write_region(out, -1, &r);
}

int hrr_rrr_import(struct hrr_buf *out, const void *data, size_t len, uint64_t t0, int64_t pid,
		   struct hrr_rrr_stats *ret, struct hrr_diag *diag)
{
	struct hrr_rrr_list l = {0};
	struct hrr_rrr_stats st = {0};
	int rc = hrr_rrr_parse(&l, data, len, diag);

	if (rc < 0)
		goto out;
	st.cut = rc > 0;
	st.torn = l.torn_records;
	st.ignored = l.ignored;
	rc = hrr_rrr_sort(&l);
	if (rc < 0)
		goto out;
	if (t0 == 0)
		t0 = first_time(&l);
	rc = hrr_buf_addf(out,
			  "{\"regions\":1,\"clock\":\"monotonic\",\"resolution\":1,\"t0\":\"%llu\"",
			  (unsigned long long)t0);
	if (rc == 0 && pid >= 0)
		rc = hrr_buf_addf(out, ",\"pid\":%lld", (long long)pid);
	if (rc == 0)
		rc = hrr_buf_adds(out, "}\n");
	for (size_t i = 0; rc == 0 && i < l.n; i++)
		rc = one(out, &l.r[i], t0, &st);
	if (rc == 0)
		*ret = st;
out:
	hrr_rrr_release(&l);
	return rc;
}

int hrr_rrr_export_add(struct hrr_rrr_writer *w, const struct hrr_region *r)
{
	struct hrr_rrr x = {.op = !r->add,
			    .kind = r->segment,
			    .device = (uint8_t)r->device,
			    .base = r->base,
			    .size = r->size};
	char text[16], end;
	unsigned tag;

	if (r->device < 0 || r->device > UINT8_MAX) {
		w->stats.refused++;
		return 0;
	}
	if (r->t != HRR_NO_TIME)
		x.t = (int64_t)(w->t0 + r->t);
	if (r->tag != NULL && r->tag_len > 0) {
		snprintf(text, sizeof text, "%.*s", r->tag_len < 15 ? (int)r->tag_len : 15, r->tag);
		if (r->tag_len < 15 && sscanf(text, "#%9u%c", &tag, &end) == 1)
			x.tag = tag;
		else
			w->stats.tags++;
	}
	w->stats.records++;
	return hrr_buf_add(&w->records, &x, sizeof x);
}

int hrr_rrr_export_end(struct hrr_rrr_writer *w, struct hrr_buf *out)
{
	const struct hrr_rrr *r = (const struct hrr_rrr *)(const void *)w->records.data;
	size_t n = w->records.len / sizeof *r;
	int rc = hrr_rrr_put_header(out);

	if (rc == 0 && n > 0)
		rc = hrr_rrr_put_batch(out, r, n, w->t0);
	hrr_buf_release(&w->records);
	return rc;
}
