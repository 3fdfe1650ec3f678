#include "lib/store/source.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/store/archive.h"
#include "lib/store/file.h"
#include "lib/store/source_private.h"

int hrr_source_open(struct hrr_source **ret, const char *operand,
		    const struct hrr_source_options *opt, struct hrr_diag *diag)
{
	struct hrr_source *s = calloc(1, sizeof *s);
	int rc = 0;

	if (s == NULL)
		return hrr_source_no_memory(diag);
	s->shapes = hrr_shapes_new();
	if (s->shapes == NULL) {
		free(s);
		return hrr_source_no_memory(diag);
	}
	s->opt.pid = -1;
	if (opt != NULL)
		s->opt = *opt;
	if (s->opt.blobs != NULL) {
		s->blobs = hrr_blobs_folder(s->opt.blobs);
		if (s->blobs == NULL) {
			hrr_diag_at(diag, s->opt.blobs, 0);
			rc = hrr_diag_set(diag, -errno, "cannot open blob folder: %s",
					  strerror(errno));
		}
	}
	if (rc == 0)
		rc = hrr_source_find(s, operand, diag);
	if (rc < 0) {
		hrr_source_close(s);
		return rc;
	}
	if (s->opt.follow)
		hrr_source_follow(s);
	*ret = s;
	return 0;
}

void hrr_source_close(struct hrr_source *s)
{
	if (s == NULL)
		return;
	for (size_t i = 0; i < s->n_feeds; i++)
		hrr_source_feed_release(&s->feeds[i]);
	free(s->feeds);
	for (size_t p = 0; p < s->n_processes; p++)
		free(hrr_source_process(s, (uint32_t)p)->blobs);
	hrr_buf_release(&s->processes);
	struct hrr_blobs **stores = (void *)s->stores.data;
	for (size_t i = 0; i < s->stores.len / sizeof *stores; i++)
		hrr_blobs_close(stores[i]);
	hrr_buf_release(&s->stores);
	free(s->blobs);
	free(s->archive);
	hrr_shapes_free(s->shapes);
	free(s);
}

/* The region of a sidecar that comes before the head, or NULL. */
static const struct hrr_sidecar_line *due(const struct feed *f)
{
	if (f->side_next >= f->side.n)
		return NULL;
	const struct hrr_sidecar_line *l = hrr_sidecars_at(&f->side, f->side_next);
	if (!f->pending)
		return l;
	if (!f->first_out && f->head.kind == HRR_REC_HEADER)
		return NULL;
	return f->head.kind == HRR_REC_END || l->t <= f->t ? l : NULL;
}

static bool has_next(const struct feed *f)
{
	return f->pending || f->side_next < f->side.n;
}

/* When the next item of a feed comes, on the machine's clock. */
static uint64_t when(const struct hrr_source *s, const struct feed *f)
{
	const struct process *p = hrr_source_process(s, f->p >= 0 ? (uint32_t)f->p : 0);
	const struct hrr_sidecar_line *l = due(f);

	return (p != NULL ? p->t0 : 0) + (l != NULL && l->t < f->t ? l->t : f->t);
}

static void note_region(struct hrr_source *s, const struct feed *f,
			const struct hrr_sidecar_line *l)
{
	struct process *p = hrr_source_process(s, f->region.p);

	s->sidecars++;
	if (p == NULL || !l->stamped)
		return;
	p->stamped++;
	/* Behind the last record that has a time, or moved to the start from before it. */
	if (l->t > 0 && l->t <= f->t)
		p->inside++;
}

static int give_region(struct hrr_source *s, struct feed *f, const struct hrr_sidecar_line *l,
		       struct hrr_record **ret_rec, struct hrr_diag *diag)
{
	int rc = hrr_record_parse(&f->region, f->side.text.data + l->off, l->len, diag);

	if (rc < 0)
		return rc; /* it was parsed before */
	f->region.lineno = 0;
	f->region.p = f->side_p;
	if (f->side_insert) {
		rc = hrr_source_insert_p(&f->region, &f->region_line, f->side_p, diag);
		if (rc < 0)
			return rc;
	}
	f->side_next++;
	note_region(s, f, l);
	s->last = f;
	s->last_region = true;
	*ret_rec = &f->region;
	return 1;
}

/* The end of a stream: was the process in it that --pid names? */
static int check_chosen(struct hrr_source *s, struct hrr_diag *diag)
{
	for (size_t i = 0; i < s->n_processes; i++)
		if (hrr_source_process(s, (uint32_t)i)->met &&
		    !hrr_source_process(s, (uint32_t)i)->dropped)
			return 0;
	hrr_diag_at(diag, s->feeds[0].name, 0);
	return hrr_diag_set(diag, -ENOENT, "no process %lld in it", (long long)s->opt.pid);
}

int hrr_source_next(struct hrr_source *s, struct hrr_record **ret_rec, struct hrr_diag *diag)
{
	struct feed *best = NULL;

	if (s->last != NULL && !s->last_region) {
		s->last->pending = false;
		s->last->first_out = true;
	}
	s->last = NULL;
	for (;;) {
		for (size_t i = 0; i < s->n_feeds; i++) {
			struct feed *f = &s->feeds[i];
			if (!f->pending && !f->eof) {
				int rc = hrr_source_fetch(s, f, diag);
				if (rc == -EAGAIN)
					continue;
				if (rc < 0)
					return rc;
			}
			if (has_next(f) && (best == NULL || when(s, f) < when(s, best)))
				best = f;
		}
		int rc = s->grows ? hrr_source_wait(s, best == NULL, diag) : 0;
		if (rc < 0)
			return rc;
		if (rc == 0)
			break;
		best = NULL;
	}
	if (best == NULL)
		return s->opt.pid >= 0 ? check_chosen(s, diag) : 0;
	const struct hrr_sidecar_line *l = due(best);
	if (l != NULL)
		return give_region(s, best, l, ret_rec, diag);

	struct process *p = hrr_source_process(s, best->head.p);
	switch (best->head.kind) {
	case HRR_REC_CALL:
		p->calls++;
		s->calls++;
		break;
	case HRR_REC_OUTPUT:
		p->outputs++;
		s->outputs++;
		break;
	case HRR_REC_REGION:
		s->regions++;
		break;
	case HRR_REC_END:
		hrr_source_note_end(&best->head, p);
		break;
	case HRR_REC_HEADER:
	case HRR_REC_RUNTIME:
	case HRR_REC_OTHER:
		break;
	}
	s->last = best;
	s->last_region = false;
	*ret_rec = &best->head;
	return 1;
}

/* --- questions --- */

const char *hrr_source_sidecar_folder(const struct hrr_source *s)
{
	return s->n_feeds == 1 ? s->feeds[0].sidecars_in : NULL;
}

size_t hrr_source_files(const struct hrr_source *s)
{
	return s->n_feeds;
}

const char *hrr_source_name(const struct hrr_source *s, const struct hrr_record *rec)
{
	for (size_t i = 0; i < s->n_feeds; i++)
		if (rec == &s->feeds[i].head || rec == &s->feeds[i].region)
			return s->feeds[i].name;
	return s->n_feeds > 0 ? s->feeds[0].name : "-";
}

bool hrr_source_ready(const struct hrr_source *s)
{
	for (size_t i = 0; i < s->n_feeds; i++) {
		const struct feed *f = &s->feeds[i];
		bool pending = (f->pending && (f != s->last || s->last_region)) || due(f) != NULL;
		bool more = f->reader == NULL || hrr_reader_ready(f->reader);
		/* One will do where none is waited for. */
		if (s->grows ? pending || (!f->eof && more) : !pending && !f->eof && !more)
			return s->grows;
	}
	return !s->grows;
}

void hrr_source_heads_only(struct hrr_source *s, bool looked_at)
{
	/* Heads of several files wait together, and only the last one can be looked at. */
	s->heads_only = !looked_at || (s->n_feeds == 1 && !s->grows);
	s->looked_at = looked_at;
}

bool hrr_source_from_sidecar(const struct hrr_source *s)
{
	return s->last != NULL && s->last_region;
}

uint64_t hrr_source_t0(const struct hrr_source *s, uint32_t p)
{
	const struct process *x = hrr_source_process(s, p);

	return x != NULL ? x->t0 : 0;
}

const char *hrr_source_blobs_path(struct hrr_source *s, uint32_t p)
{
	const struct process *x = hrr_source_process(s, p);

	if (s->blobs != NULL)
		return s->blobs;
	if (s->n_feeds == 1 && s->feeds[0].format != NULL) {
		struct hrr_blobs *store = s->feeds[0].format->blobs(s->feeds[0].foreign, p, NULL);
		return store != NULL ? hrr_blobs_path(store) : NULL;
	}
	return x != NULL ? x->blobs : NULL;
}

struct hrr_blobs *hrr_source_blobs(struct hrr_source *s, uint32_t p, struct hrr_diag *diag)
{
	struct process *x;
	struct hrr_blobs *store;

	if (s->blobs == NULL && s->n_feeds == 1 && s->feeds[0].format != NULL)
		return s->feeds[0].format->blobs(s->feeds[0].foreign, p, diag);
	if (hrr_source_process_get(s, p, &x) < 0) {
		hrr_source_no_memory(diag);
		return NULL;
	}
	if (x->store != NULL)
		return x->store;
	const char *path = hrr_source_blobs_path(s, p);
	if (path == NULL) {
		hrr_diag_set(diag, -ENOENT,
			     "the stream does not say where its blobs are: name the "
			     "folder with -b");
		return NULL;
	}
	struct hrr_blobs **stores = (void *)s->stores.data;
	for (size_t i = 0; i < s->stores.len / sizeof *stores; i++)
		if (strcmp(hrr_blobs_path(stores[i]), path) == 0)
			return x->store = stores[i];
	if (hrr_blobs_open(&store, path, false, diag) < 0)
		return NULL;
	if (hrr_buf_add(&s->stores, &store, sizeof store) < 0) {
		hrr_blobs_close(store);
		hrr_source_no_memory(diag);
		return NULL;
	}
	return x->store = store;
}
