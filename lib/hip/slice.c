#include "lib/hip/slice.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/hip/slice_private.h"

struct hrr_slice *hrr_slice_new(void)
{
	struct hrr_slice *s = calloc(1, sizeof *s);

	if (s != NULL)
		s->outputs = hrr_seqs_new();
	if (s != NULL && s->outputs == NULL) {
		free(s);
		s = NULL;
	}
	return s;
}

void hrr_slice_free(struct hrr_slice *s)
{
	if (s == NULL)
		return;
	struct slice_world *w = (void *)s->worlds.data;
	for (uint32_t i = 0; i < s->n_worlds; i++) {
		hrr_ranges_free(w[i].memory);
		hrr_ranges_free(w[i].maps);
		hrr_idmap_release(&w[i].handles);
		hrr_idmap_release(&w[i].variables);
		hrr_idmap_release(&w[i].devices);
	}
	for (uint32_t i = 0; i < s->n_objects; i++) {
		hrr_buf_release(&slice_objects(s)[i].writers);
		hrr_buf_release(&slice_objects(s)[i].touches);
	}
	hrr_buf_release(&s->calls);
	hrr_buf_release(&s->uses);
	hrr_buf_release(&s->objects);
	hrr_buf_release(&s->worlds);
	hrr_buf_release(&s->regions);
	hrr_buf_release(&s->work);
	hrr_seqs_free(s->outputs);
	free(s);
}

static int need(struct hrr_slice *s, uint32_t call)
{
	if (call == NOBODY || slice_calls(s)[call].kept)
		return 0;
	slice_calls(s)[call].kept = true;
	return hrr_buf_add(&s->work, &call, sizeof call);
}

/*
 * Everything a call needs. Calls come in any order, so what is looked at of an
 * object's writers only ever grows: done is how far.
 */
static int follow(struct hrr_slice *s, uint32_t call)
{
	const struct slice_call c = slice_calls(s)[call];
	int rc = need(s, c.device);

	for (uint32_t i = 0; rc == 0 && i < c.n_uses; i++) {
		struct slice_object *o = &slice_objects(s)[slice_uses(s)[c.uses + i].object];
		const uint32_t *writers = (const void *)o->writers.data;
		size_t n = o->writers.len / sizeof *writers;
		rc = need(s, o->creator);
		/* Variables nobody outside of kernels touches are taken for constants. */
		if ((o->variables && !o->variables_used) || slice_uses(s)[c.uses + i].releases)
			continue;
		for (; rc == 0 && o->done < n && writers[o->done] < call; o->done++)
			rc = need(s, writers[o->done]);
		/* What it waits for may be written behind it, on another stream. */
		for (size_t k = o->done; rc == 0 && c.waits_value && o->memory && k < n; k++)
			rc = need(s, writers[k]);
	}
	return rc;
}

static int follow_all(struct hrr_slice *s)
{
	int rc = 0;

	while (rc == 0 && s->work.len > 0) {
		uint32_t call;
		s->work.len -= sizeof call;
		call = *(const uint32_t *)(void *)(s->work.data + s->work.len);
		rc = follow(s, call);
	}
	return rc;
}

static bool shares_memory(const struct hrr_slice *s, const struct slice_call *a,
			  const struct slice_call *b)
{
	for (uint32_t i = 0; i < a->n_uses; i++)
		for (uint32_t k = 0; k < b->n_uses; k++) {
			uint32_t object = slice_uses(s)[a->uses + i].object;
			if (object == slice_uses(s)[b->uses + k].object &&
			    slice_objects(s)[object].memory)
				return true;
		}
	return false;
}

/* A launch has nothing to compare of its own: the next copy to the host from its memory has. */
#define LOOK_AHEAD 100000
static void select_results(struct hrr_slice *s)
{
	struct slice_call *all = slice_calls(s);

	for (uint32_t i = 0; i < s->n_calls; i++) {
		if (!all[i].selected || !all[i].launch || all[i].outputs)
			continue;
		for (uint32_t k = i + 1; k < s->n_calls && k - i < LOOK_AHEAD; k++)
			if (all[k].to_host && all[k].outputs && all[k].p == all[i].p &&
			    shares_memory(s, &all[i], &all[k])) {
				all[k].selected = true;
				break;
			}
	}
}

/* A wait concerns kept work when it uses nothing (the whole device) or a thing that is kept. */
static bool concerns(const struct hrr_slice *s, const struct slice_call *c)
{
	bool handle = false;

	for (uint32_t i = 0; i < c->n_uses; i++) {
		const struct slice_object *o = &slice_objects(s)[slice_uses(s)[c->uses + i].object];
		if (o->memory || o->variables)
			continue;
		handle = true;
		if (o->creator == NOBODY || slice_calls(s)[o->creator].kept)
			return true;
	}
	return !handle;
}

static uint32_t next_handle(const struct hrr_slice *s, const struct slice_call *c, uint32_t *i)
{
	while (*i < c->n_uses) {
		uint32_t object = slice_uses(s)[c->uses + (*i)++].object;
		if (!slice_objects(s)[object].memory && !slice_objects(s)[object].variables)
			return object;
	}
	return NOBODY;
}

/* Of two waits with no kept work between them that are for the same stream, event or device, one
 * will do. */
static bool same_wait(const struct hrr_slice *s, const struct slice_call *a,
		      const struct slice_call *b)
{
	uint32_t i = 0, k = 0, object;

	if (a->p != b->p)
		return false;
	do {
		object = next_handle(s, a, &i);
		if (object != next_handle(s, b, &k))
			return false;
	} while (object != NOBODY);
	return true;
}

void hrr_slice_last(struct hrr_slice *s, uint64_t n)
{
	struct slice_call *all = slice_calls(s);

	for (uint32_t i = s->n_calls; i-- > 0 && s->selected > 0;) {
		if (!all[i].selected)
			continue;
		if (n > 0) {
			n--;
			continue;
		}
		all[i].selected = false;
		s->selected--;
	}
}

void hrr_slice_live(struct hrr_slice *s)
{
	s->live = true;
}

/* As if a last call used all that lives. */
static int need_live(struct hrr_slice *s)
{
	const struct slice_world *w = (const void *)s->worlds.data;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < s->n_objects; i++) {
		struct slice_object *o = &slice_objects(s)[i];
		const uint32_t *writers = (const void *)o->writers.data;
		if (o->releaser != NOBODY)
			continue;
		rc = need(s, o->creator);
		if (o->variables && !o->variables_used)
			continue;
		for (size_t n = o->writers.len / sizeof *writers; rc == 0 && o->done < n; o->done++)
			rc = need(s, writers[o->done]);
	}
	for (uint32_t i = 0; rc == 0 && i < s->n_calls; i++) {
		const struct slice_call *c = &slice_calls(s)[i];
		bool captured = w[c->p].captures > 0 && i >= w[c->p].capture_from;
		if (c->current || captured)
			rc = need(s, i);
	}
	return rc;
}

int hrr_slice_solve(struct hrr_slice *s)
{
	struct slice_call *all = slice_calls(s);
	uint32_t first = NOBODY, last = 0;
	int rc = 0;

	slice_select_graphs(s);
	select_results(s);
	for (uint32_t i = 0; rc == 0 && i < s->n_calls; i++)
		if (all[i].selected || all[i].wanted) {
			rc = need(s, i);
			if (rc == 0)
				rc = need(s, all[i].seen_by);
		}
	if (rc == 0 && s->live)
		rc = need_live(s);
	if (rc == 0)
		rc = follow_all(s);
	for (uint32_t i = 0; i < s->n_calls; i++)
		if (all[i].kept) {
			first = first == NOBODY ? i : first;
			last = i;
		}
	if (first == NOBODY)
		return rc;
	/* Waits, releases and what is always there: they need what they use, which is kept. */
	uint32_t wait = NOBODY;
	for (uint32_t i = 0; rc == 0 && i <= last; i++) {
		if (all[i].kept) {
			wait = all[i].waits ? i : NOBODY;
		} else if (all[i].always) {
			rc = need(s, i);
		} else if (i > first && all[i].waits && concerns(s, &all[i]) &&
			   !(s->live && wait != NOBODY && same_wait(s, &all[wait], &all[i]))) {
			wait = i;
			rc = need(s, i);
		}
	}
	for (uint32_t i = 0; rc == 0 && i < s->n_objects; i++) {
		const struct slice_object *o = &slice_objects(s)[i];
		if (o->creator != NOBODY && all[o->creator].kept && o->releaser != NOBODY)
			rc = need(s, o->releaser);
	}
	if (rc == 0)
		rc = follow_all(s);
	for (uint32_t i = 0; rc == 0 && i < s->n_calls; i++) {
		s->kept += all[i].kept;
		for (uint32_t k = 0; all[i].kept && k < all[i].n_uses; k++)
			slice_objects(s)[slice_uses(s)[all[i].uses + k].object].used = true;
		if (all[i].selected)
			rc = hrr_seqs_add(s->outputs, all[i].p, all[i].seq);
	}
	return rc;
}

bool hrr_slice_keeps(struct hrr_slice *s, const struct hrr_record *rec)
{
	if (rec->kind == HRR_REC_OUTPUT)
		return hrr_seqs_has(s->outputs, rec->p, rec->seq);
	if (rec->kind != HRR_REC_CALL)
		return true;
	return s->next < s->n_calls && slice_calls(s)[s->next++].kept;
}

bool hrr_slice_keeps_region(struct hrr_slice *s, const struct hrr_record *rec)
{
	const struct slice_region *all = (const struct slice_region *)(const void *)s->regions.data;

	if (rec->kind != HRR_REC_REGION || s->next_region >= s->n_regions)
		return true;
	const struct slice_region *x = &all[s->next_region++];
	return x->object == NOBODY || !x->gone || slice_objects(s)[x->object].used;
}

void hrr_slice_counts(const struct hrr_slice *s, uint64_t *ret_selected, uint64_t *ret_kept)
{
	*ret_selected = s->selected;
	*ret_kept = s->kept;
}
