#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/replay/engine.h"

/*
 * Where bytes land that go to pageable host memory of the recorded program: a
 * buffer by recorded address, used again for the next copy to it, let go when compared or
 * overtaken and too much of it has gathered.
 */

#define LANDING_KEEP ((size_t)64 << 20)
#define LANDING_MANY 4096
/* Those whose output has not come yet; of streams that have none, all. */
#define UNSEEN_KEEP ((size_t)1 << 30)
#define UNSEEN_MANY 1000000
#define STAGED_KEEP ((size_t)256 << 20)

static struct hrr_ranges *map_of(const struct hrr_replay *r, const struct hrr_landing *l)
{
	return l->rows.height != 0 ? r->rects : r->landings;
}

static void landing_free(struct hrr_replay *r, struct hrr_landing *l)
{
	r->landing_bytes -= l->cap;
	free(l->data);
	free(l);
}

void hrr_landing_seen(struct hrr_replay *r, struct hrr_landing *l)
{
	r->landings_seen += !l->compared;
	r->landing_bytes_seen += l->compared ? 0 : l->cap;
	l->compared = true;
}

static void landing_unseen(struct hrr_replay *r, struct hrr_landing *l)
{
	r->landings_seen -= l->compared;
	r->landing_bytes_seen -= l->compared ? l->cap : 0;
	l->compared = false;
}

/* Leaves the map; queued work may still write it, so it is freed after the next wait. */
void hrr_landing_retire(struct hrr_replay *r, struct hrr_landing *l)
{
	landing_unseen(r, l);
	hrr_ranges_del(map_of(r, l), l->addr, l);
	l->next = r->old_landings;
	r->old_landings = l;
}

static int landing_new(struct hrr_replay *r, uint64_t addr, uint64_t size,
		       const struct hrr_rows *rows, struct hrr_landing **ret)
{
	uint64_t bytes = rows->height != 0 ? rows->width * rows->height * rows->depth : size;
	struct hrr_landing *l;
	int rc = hrr_host_room(r, bytes);

	if (rc < 0)
		return rc;
	l = calloc(1, sizeof *l);
	if (l == NULL || bytes > SIZE_MAX / 2)
		goto fail;
	*l = (struct hrr_landing){.addr = addr, .size = size, .cap = bytes, .rows = *rows};
	l->data = aligned_alloc(64, (bytes + 63) & ~(uint64_t)63);
	if (l->data == NULL)
		goto fail;
	memset(l->data, 0, bytes);
	r->landing_bytes += l->cap;
	*ret = l;
	return 0;
fail:
	free(l);
	hrr_fail(r, "out of memory for %llu bytes that reach the host", (unsigned long long)bytes);
	return -ENOMEM;
}

static int landing_enter(struct hrr_replay *r, struct hrr_landing *l)
{
	if (hrr_ranges_add(map_of(r, l), l->addr, l->size, l) == 0)
		return 0;
	landing_free(r, l);
	return hrr_trouble(r, -ENOMEM, "out of memory");
}

static bool still_queued(struct hrr_replay *r, const struct hrr_landing *l)
{
	if (l->queued == 0 || r->waited >= l->queued)
		return false;
	return l->several || r->owed_back || hrr_awaited(r, l->stream) < l->queued;
}

void hrr_landing_queued(struct hrr_replay *r, struct hrr_landing *l, uint64_t seq, uint64_t key)
{
	key = hrr_work_key(r, key);
	l->several = still_queued(r, l) && (l->several || l->stream != key);
	l->queued = seq;
	l->stream = key;
}

struct following {
	uint64_t key, to;
	bool any;
};

static int follow(void *self, const struct hrr_range *x)
{
	struct following *f = self;
	struct hrr_landing *l = x->value;

	if (l->queued != 0 && l->stream == f->key) {
		l->stream = f->to;
		f->any = true;
	}
	return 0;
}

bool hrr_landings_follow(struct hrr_replay *r, uint64_t key, uint64_t to)
{
	struct following f = {key, to, false};

	hrr_ranges_each(r->landings, follow, &f);
	hrr_ranges_each(r->rects, follow, &f);
	return f.any;
}

int hrr_landing_arrived(struct hrr_replay *r, struct hrr_landing *l)
{
	const struct hrr_held *h = hrr_work_stream(r, l->stream);
	int rc = 0;

	if (!still_queued(r, l))
		return 0;
	/* The null stream is waited for with all others. */
	if (h != NULL && h->live != 0 && !l->several)
		rc = hrr_wait_launch(r, h->live);
	else if (!r->value_waits)
		rc = hrr_wait_queued(r);
	if (rc == 0)
		l->queued = 0;
	return rc;
}

/* Bytes around [*first, *end) that a new buffer has to take in; what is under way has arrived. */
static int landing_widen(struct hrr_replay *r, uint64_t *first, uint64_t *end)
{
	const struct hrr_range *x;
	int rc = 0;

	for (uint64_t at = *first; rc == 0 && at < *end; at = x->base + x->size) {
		x = hrr_ranges_overlap(r->landings, at, *end - at);
		if (x == NULL)
			break;
		*first = x->base < *first ? x->base : *first;
		*end = x->base + x->size > *end ? x->base + x->size : *end;
		rc = hrr_landing_arrived(r, x->value);
	}
	return rc;
}

static int landing_make(struct hrr_replay *r, uint64_t addr, uint64_t size,
			struct hrr_landing **ret)
{
	static const struct hrr_rows plain;
	uint64_t first = addr, end = addr + size;
	const struct hrr_range *x;
	int rc = landing_widen(r, &first, &end);

	if (rc == 0)
		rc = landing_new(r, first, end - first, &plain, ret);
	if (rc < 0)
		return rc;
	/* What landed before in the same bytes is still there, as in the program. */
	while ((x = hrr_ranges_overlap(r->landings, first, end - first)) != NULL) {
		struct hrr_landing *l = x->value;
		memcpy((*ret)->data + (l->addr - first), l->data, l->size);
		hrr_landing_retire(r, l);
	}
	return landing_enter(r, *ret);
}

static int delivered(struct hrr_replay *r, struct hrr_landing *l, struct hrr_landing **ret)
{
	l->epoch = r->epoch;
	landing_unseen(r, l);
	*ret = l;
	return 0;
}

int hrr_landing_get(struct hrr_replay *r, uint64_t addr, uint64_t size, struct hrr_landing **ret)
{
	struct hrr_landing *l = hrr_landing_find(r, addr, size);
	int rc = l == NULL ? landing_make(r, addr, size, &l) : 0;

	return rc < 0 ? rc : delivered(r, l, ret);
}

static bool same_rows(void *self, const struct hrr_range *x)
{
	const struct hrr_rows *a = self, *b = &((const struct hrr_landing *)x->value)->rows;

	return a->width == b->width && a->height == b->height && a->depth == b->depth &&
	       a->pitch == b->pitch && a->slice == b->slice;
}

int hrr_landing_rect(struct hrr_replay *r, uint64_t addr, uint64_t size,
		     const struct hrr_rows *rows, struct hrr_landing **ret)
{
	struct hrr_rows want = *rows;
	const struct hrr_range *x = hrr_ranges_at_if(r->rects, addr, same_rows, &want);
	struct hrr_landing *l = x != NULL ? x->value : NULL;
	int rc = l == NULL ? landing_new(r, addr, size, rows, &l) : 0;

	if (rc == 0 && x == NULL)
		rc = landing_enter(r, l);
	return rc < 0 ? rc : delivered(r, l, ret);
}

static bool has_bytes(void *self, const struct hrr_range *x)
{
	return ((const struct hrr_landing *)x->value)->cap == *(const uint64_t *)self;
}

struct hrr_landing *hrr_landing_find_rect(struct hrr_replay *r, uint64_t addr, uint64_t bytes)
{
	const struct hrr_range *x = hrr_ranges_at_if(r->rects, addr, has_bytes, &bytes);

	return x != NULL ? x->value : NULL;
}

struct hrr_landing *hrr_landing_find(struct hrr_replay *r, uint64_t addr, uint64_t size)
{
	const struct hrr_range *x = hrr_ranges_find(r->landings, addr);
	struct hrr_landing *l = x != NULL ? x->value : NULL;

	return l != NULL && size <= l->size - (addr - l->addr) ? l : NULL;
}

struct gathered {
	struct hrr_replay *r;
	bool unseen;
	struct hrr_landing **v;
	size_t n;
};

static int gather(void *self, const struct hrr_range *x)
{
	struct gathered *g = self;
	struct hrr_landing *l = x->value;

	if (l->compared || (g->unseen && l->epoch + 1 < g->r->epoch))
		g->v[g->n++] = l;
	return 0;
}

/* The device was waited for. */
void hrr_landing_trim(struct hrr_replay *r)
{
	while (r->old_landings != NULL) {
		struct hrr_landing *next = r->old_landings->next;
		landing_free(r, r->old_landings);
		r->old_landings = next;
	}
	size_t n = hrr_ranges_count(r->landings) + hrr_ranges_count(r->rects);
	bool unseen = r->landing_bytes > UNSEEN_KEEP || n > UNSEEN_MANY;
	if (r->landing_bytes_seen <= LANDING_KEEP && r->landings_seen <= LANDING_MANY && !unseen)
		return;
	struct gathered g = {.r = r, .unseen = unseen, .v = calloc(n + 1, sizeof *g.v)};
	if (g.v == NULL)
		return;
	hrr_ranges_each(r->landings, gather, &g);
	hrr_ranges_each(r->rects, gather, &g);
	for (size_t i = 0; i < g.n; i++) {
		landing_unseen(r, g.v[i]);
		hrr_ranges_del(map_of(r, g.v[i]), g.v[i]->addr, g.v[i]);
		landing_free(r, g.v[i]);
	}
	free(g.v);
}

static int retire_each(void *self, const struct hrr_range *x)
{
	struct hrr_replay *r = self;
	struct hrr_landing *l = x->value;

	l->next = r->old_landings;
	r->old_landings = l;
	return 0;
}

void hrr_landing_end(struct hrr_replay *r, bool leak)
{
	if (r->landings == NULL)
		return;
	hrr_ranges_each(r->landings, retire_each, r);
	hrr_ranges_each(r->rects, retire_each, r);
	hrr_ranges_free(r->landings);
	hrr_ranges_free(r->rects);
	r->landings = r->rects = NULL;
	while (r->old_landings != NULL) {
		struct hrr_landing *l = r->old_landings;
		r->old_landings = l->next;
		if (leak)
			free(l); /* the bytes stay: the device may still write them */
		else
			landing_free(r, l);
	}
}

int hrr_blob_of(struct hrr_replay *r, const struct hrr_json *j, int node, const char *what,
		struct hrr_blob *ret)
{
	struct hrr_id id;
	struct hrr_diag d = {0};
	size_t len = 0;

	const char *s = node >= 0 ? hrr_json_raw(j, node, &len) : NULL;
	if (s == NULL || hrr_id_parse(s, len, &id) < 0)
		return hrr_trouble(r, -EINVAL, "%s: no blob id", what);
	if (r->blobs == NULL)
		return hrr_trouble(r, -ENOENT, "%s: there is no blob folder (see -b)", what);
	int rc = hrr_blobs_get(r->blobs, &id, 0, ret, &d);
	return rc < 0 ? hrr_trouble(r, rc, "%s: %s", what, d.what) : 0;
}

int hrr_blob_get(struct hrr_replay *r, int node, const char *what, struct hrr_blob *ret)
{
	return hrr_blob_of(r, r->j, node, what, ret);
}

int hrr_stage(struct hrr_replay *r, struct hrr_blob *blob)
{
	struct hrr_staged *s = malloc(sizeof *s);

	if (s == NULL) {
		hrr_blob_release(blob);
		return hrr_trouble(r, -ENOMEM, "out of memory");
	}
	*s = (struct hrr_staged){*blob, r->epoch, r->staged};
	r->staged = s;
	r->staged_bytes += blob->len + 4096;
	return 0;
}

/* Too much is kept for copies that are done by now. */
int hrr_stage_trim(struct hrr_replay *r)
{
	return r->staged_bytes > STAGED_KEEP && r->captures == 0 ? hrr_wait_all(r) : 0;
}
