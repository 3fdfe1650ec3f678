#include "lib/region/world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hip/made.h"

struct hrr_world {
	struct hrr_world_events events;
	struct hrr_timeline *regions; /* user of a live region: its struct hrr_thing */
	struct hrr_ranges *calls[2];  /* device, host; values: struct hrr_thing, owned */
	int64_t p;
	uint64_t now, made;
	const struct hrr_record *rec; /* while one is applied */
	struct hrr_buf tag;
};

const char *hrr_thing_word(enum hrr_thing_kind kind)
{
	static const char *const words[] = {"block", "segment", "allocation", "host memory"};

	return words[kind];
}

struct hrr_world *hrr_world_new(const struct hrr_world_events *events)
{
	struct hrr_world *w = calloc(1, sizeof *w);

	if (w == NULL)
		return NULL;
	w->p = -1;
	if (events != NULL)
		w->events = *events;
	w->regions = hrr_timeline_new();
	w->calls[0] = hrr_ranges_new();
	w->calls[1] = hrr_ranges_new();
	if (w->regions == NULL || w->calls[0] == NULL || w->calls[1] == NULL) {
		hrr_world_free(w);
		return NULL;
	}
	return w;
}

static void thing_free(struct hrr_thing *x)
{
	if (x != NULL) {
		free(x->api);
		free(x->tag);
	}
	free(x);
}

static int free_value(void *self, const struct hrr_range *x)
{
	(void)self;
	thing_free(x->value);
	return 0;
}

static int free_user(void *self, const struct hrr_range *x)
{
	(void)self;
	thing_free(((struct hrr_live_region *)x->value)->user);
	return 0;
}

void hrr_world_free(struct hrr_world *w)
{
	if (w == NULL)
		return;
	for (int i = 0; i < 2; i++) {
		if (w->calls[i] != NULL)
			hrr_ranges_each(w->calls[i], free_value, NULL);
		hrr_ranges_free(w->calls[i]);
		if (w->regions != NULL)
			hrr_ranges_each(hrr_timeline_ranges(w->regions, i == 1), free_user, NULL);
	}
	hrr_timeline_free(w->regions);
	hrr_buf_release(&w->tag);
	free(w);
}

void hrr_world_process(struct hrr_world *w, int64_t p)
{
	w->p = p;
}

bool hrr_world_is_mine(struct hrr_world *w, const struct hrr_record *rec)
{
	if (rec->kind == HRR_REC_OTHER)
		return false;
	if (w->p < 0)
		w->p = rec->p;
	return rec->p == (uint32_t)w->p;
}

uint64_t hrr_world_now(const struct hrr_world *w)
{
	return w->now;
}

static void end_thing(struct hrr_world *w, struct hrr_thing *x)
{
	if (x != NULL && w->events.end != NULL)
		w->events.end(w->events.self, x, w->rec);
	thing_free(x);
}

static void on_del(void *self, struct hrr_live_region *x)
{
	end_thing(self, x->user);
	x->user = NULL;
}

/* --- what records do --- */

static int add_region(struct hrr_world *w, const struct hrr_region *r, struct hrr_diag *diag)
{
	struct hrr_thing *x = calloc(1, sizeof *x);
	int rc = x == NULL ? -ENOMEM : 0;

	if (rc == 0) {
		*x = (struct hrr_thing){.kind = r->segment ? HRR_THING_SEGMENT : HRR_THING_BLOCK,
					.base = r->base,
					.size = r->size,
					.device = r->device,
					.from = r->t,
					.number = w->made + 1};
		if (r->tag != NULL && (x->tag = strndup(r->tag, r->tag_len)) == NULL)
			rc = -ENOMEM;
	}
	if (rc == 0)
		rc = hrr_timeline_apply(w->regions, r, on_del, w);
	if (rc < 0) {
		thing_free(x);
		return hrr_diag_set(diag, rc, rc == -ENOMEM ? "out of memory" : "bad region");
	}
	const struct hrr_range *live =
	    hrr_ranges_at(hrr_timeline_ranges(w->regions, r->segment), r->base);
	((struct hrr_live_region *)live->value)->user = x;
	w->made++;
	if (w->events.begin != NULL)
		w->events.begin(w->events.self, x);
	return 0;
}

static int region(struct hrr_world *w, const struct hrr_record *rec, struct hrr_diag *diag)
{
	struct hrr_region r;
	int rc = hrr_region_read(rec, &r, &w->tag, diag);

	if (rc < 0)
		return rc;
	if (r.add)
		return add_region(w, &r, diag);
	rc = hrr_timeline_apply(w->regions, &r, on_del, w);
	return rc < 0 ? hrr_diag_set(diag, rc, "out of memory") : 0;
}

static int enter(struct hrr_world *w, const struct hrr_record *rec, uint64_t base, uint64_t size,
		 bool host)
{
	struct hrr_thing *x = calloc(1, sizeof *x);

	if (x == NULL)
		return -ENOMEM;
	*x = (struct hrr_thing){.kind = host ? HRR_THING_HOST : HRR_THING_DEVICE,
				.base = base,
				.size = size,
				.device = -1,
				.from = rec->t,
				.seq = rec->seq,
				.number = w->made + 1,
				.api = strndup(rec->api, rec->api_len)};
	int rc = x->api == NULL ? -ENOMEM : hrr_ranges_add(w->calls[host], base, size, x);
	if (rc < 0) {
		thing_free(x);
		return rc;
	}
	w->made++;
	if (w->events.begin != NULL)
		w->events.begin(w->events.self, x);
	return 0;
}

/* A second name of memory that is there: variables, and host memory as devices see it. */
static int other_name(struct hrr_world *w, const struct hrr_record *rec, struct hrr_made *m)
{
	if (hrr_ranges_find(w->calls[0], m->base) || hrr_ranges_find(w->calls[1], m->base))
		return 0;
	const struct hrr_range *x = m->behind != 0 ? hrr_ranges_find(w->calls[1], m->behind) : NULL;
	if (x != NULL)
		m->size = x->size - (m->behind - x->base);
	if (m->size == 0 || m->base > UINT64_MAX - (m->size - 1))
		return 0;
	return enter(w, rec, m->base, m->size, x != NULL);
}

static void release(struct hrr_world *w, uint64_t base, bool host)
{
	/* What is not where its call would have it is elsewhere. */
	for (int i = 0; i < 2; i++, host = !host) {
		const struct hrr_range *r = hrr_ranges_at(w->calls[host], base);
		if (r == NULL)
			continue;
		struct hrr_thing *x = r->value;
		(void)hrr_ranges_del(w->calls[host], base, x);
		end_thing(w, x);
		return;
	}
}

static void end_tree(struct hrr_world *w, struct hrr_ranges *tree)
{
	const struct hrr_range *r;

	while ((r = hrr_ranges_overlap(tree, 0, UINT64_MAX)) != NULL) {
		struct hrr_thing *x = r->value;
		(void)hrr_ranges_del(tree, x->base, x);
		end_thing(w, x);
	}
}

static int call(struct hrr_world *w, const struct hrr_record *rec)
{
	const struct hrr_api_row *row = hrr_record_row(rec);
	struct hrr_made m;
	uint64_t base;
	bool all;

	if (row == NULL)
		return 0;
	if (hrr_record_makes(rec, row, &m)) {
		if (m.kind == HRR_GIVES_NAME)
			return other_name(w, rec, &m);
		if (m.kind != HRR_GIVES_RESERVE && m.size > 0)
			return enter(w, rec, m.base, m.size, m.host);
	} else if (hrr_record_takes(rec, row, &base, &all)) {
		if (all)
			end_tree(w, w->calls[0]);
		else if (row->takes != HRR_GIVES_RESERVE)
			release(w, base, row->params[row->release].kind == HRR_K_HOST);
	}
	return 0;
}

int hrr_world_record(struct hrr_world *w, const struct hrr_record *rec, struct hrr_diag *diag)
{
	int rc = 0;

	if (!hrr_world_is_mine(w, rec))
		return 0;
	if (rec->t != HRR_NO_TIME && rec->t > w->now)
		w->now = rec->t;
	w->rec = rec;
	if (rec->kind == HRR_REC_REGION)
		rc = region(w, rec, diag);
	else if (rec->kind == HRR_REC_CALL && call(w, rec) < 0)
		rc = hrr_diag_set(diag, -ENOMEM, "out of memory");
	w->rec = NULL;
	return rc;
}

static int end_region(void *self, const struct hrr_range *r)
{
	on_del(self, r->value);
	return 0;
}

void hrr_world_end(struct hrr_world *w)
{
	hrr_ranges_each(hrr_timeline_ranges(w->regions, false), end_region, w);
	hrr_ranges_each(hrr_timeline_ranges(w->regions, true), end_region, w);
	end_tree(w, w->calls[0]);
	end_tree(w, w->calls[1]);
}

/* --- look-ups --- */

static const struct hrr_ranges *tree_of(const struct hrr_world *w, enum hrr_thing_kind kind)
{
	if (kind >= HRR_THING_DEVICE)
		return w->calls[kind - HRR_THING_DEVICE];
	return hrr_timeline_ranges(w->regions, kind == HRR_THING_SEGMENT);
}

static const struct hrr_thing *thing(enum hrr_thing_kind kind, const struct hrr_range *x)
{
	if (x == NULL)
		return NULL;
	return kind >= HRR_THING_DEVICE ? x->value : ((struct hrr_live_region *)x->value)->user;
}

const struct hrr_thing *hrr_world_find(const struct hrr_world *w, enum hrr_thing_kind kind,
				       uint64_t addr)
{
	return thing(kind, hrr_ranges_find(tree_of(w, kind), addr));
}

const struct hrr_thing *hrr_world_before(const struct hrr_world *w, enum hrr_thing_kind kind,
					 uint64_t addr)
{
	return thing(kind, hrr_ranges_before(tree_of(w, kind), addr));
}

const struct hrr_thing *hrr_world_after(const struct hrr_world *w, enum hrr_thing_kind kind,
					uint64_t addr)
{
	return thing(kind, hrr_ranges_after(tree_of(w, kind), addr));
}

size_t hrr_world_count(const struct hrr_world *w, enum hrr_thing_kind kind)
{
	return hrr_ranges_count(tree_of(w, kind));
}
