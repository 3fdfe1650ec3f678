#include "lib/region/lint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LOW ((uint64_t)1 << 32)	 /* words below are numbers */
#define HIGH ((uint64_t)1 << 47) /* no user address lies above */
#define GROUPS 8		 /* different findings told of one record and place */
#define PAGES 1024		 /* 4 GiB pages that hold or held memory */

struct group {
	struct hrr_lint_finding f;
	uint64_t owner;
};

struct hrr_lint {
	struct hrr_world *world;
	struct hrr_ranges *gone; /* what was given back */
	uint64_t pages[PAGES];
	size_t n_pages;
	int at_least;
	void (*found)(void *self, const struct hrr_lint_finding *f);
	void *self;
	struct hrr_lint_stats stats;
	struct group groups[GROUPS];
	size_t n_groups;
	const struct hrr_record *rec; /* the launch */
	/* Its arguments: bytes; of which argument each is (from 1; 0: of none, or of a declared
	 * pointer); where each argument begins. */
	struct hrr_buf image, owner, starts;
};

static void on_begin(void *self, const struct hrr_thing *x)
{
	struct hrr_lint *l = self;
	uint64_t page = x->base >> 32;

	if (x->kind == HRR_THING_HOST)
		return;
	for (size_t i = 0; i < l->n_pages; i++)
		if (l->pages[i] == page)
			return;
	if (l->n_pages < PAGES)
		l->pages[l->n_pages++] = page;
}

static void on_end(void *self, const struct hrr_thing *x, const struct hrr_record *by)
{
	struct hrr_lint *l = self;

	(void)by;
	if (x->kind != HRR_THING_HOST && hrr_ranges_count(l->gone) < HRR_LINT_MAX_GONE)
		(void)hrr_ranges_add(l->gone, x->base, x->size, NULL);
}

struct hrr_lint *hrr_lint_new(int at_least, int64_t p,
			      void (*found)(void *self, const struct hrr_lint_finding *f),
			      void *self)
{
	struct hrr_lint *l = calloc(1, sizeof *l);

	if (l == NULL)
		return NULL;
	l->at_least = at_least;
	l->found = found;
	l->self = self;
	l->world = hrr_world_new(&(struct hrr_world_events){on_begin, on_end, l});
	l->gone = hrr_ranges_new();
	if (l->world == NULL || l->gone == NULL) {
		hrr_lint_free(l);
		return NULL;
	}
	hrr_world_process(l->world, p);
	return l;
}

void hrr_lint_free(struct hrr_lint *l)
{
	if (l == NULL)
		return;
	hrr_world_free(l->world);
	hrr_ranges_free(l->gone);
	hrr_buf_release(&l->image);
	hrr_buf_release(&l->owner);
	hrr_buf_release(&l->starts);
	free(l);
}

void hrr_lint_stats(const struct hrr_lint *l, struct hrr_lint_stats *ret)
{
	*ret = l->stats;
}

/* --- findings, gathered per record --- */

static void note(struct hrr_lint *l, const struct hrr_lint_finding *f)
{
	uint64_t owner = f->owner != NULL ? f->owner->number : 0;

	for (size_t i = 0; i < l->n_groups; i++) {
		struct group *g = &l->groups[i];
		if (g->f.kind == f->kind && g->owner == owner) {
			g->f.count++;
			/* The best of a group speaks for it. */
			if (f->confidence > g->f.confidence) {
				uint64_t count = g->f.count;
				g->f = *f;
				g->f.count = count;
			}
			return;
		}
	}
	if (l->n_groups < GROUPS) {
		l->groups[l->n_groups] = (struct group){*f, owner};
		l->groups[l->n_groups++].f.count = 1;
	}
}

static void tell(struct hrr_lint *l)
{
	for (size_t i = 0; i < l->n_groups; i++)
		if (l->groups[i].f.confidence >= l->at_least) {
			l->stats.found++;
			l->found(l->self, &l->groups[i].f);
		}
	l->n_groups = 0;
}

/* --- what a word is --- */

static const struct hrr_thing *holder(const struct hrr_lint *l, uint64_t addr)
{
	static const enum hrr_thing_kind order[] = {HRR_THING_BLOCK, HRR_THING_SEGMENT,
						    HRR_THING_DEVICE, HRR_THING_HOST};
	const struct hrr_thing *x = NULL;

	for (size_t i = 0; x == NULL && i < sizeof order / sizeof *order; i++)
		x = hrr_world_find(l->world, order[i], addr);
	return x;
}

static bool near(const struct hrr_lint *l, uint64_t addr)
{
	if (addr % 256 != 0)
		return false;
	for (size_t i = 0; i < l->n_pages; i++)
		if (l->pages[i] == addr >> 32)
			return true;
	return false;
}

/* A word that nobody declared. f has its place. */
static void word(struct hrr_lint *l, struct hrr_lint_finding *f)
{
	if (f->addr < LOW || f->addr >= HIGH)
		return;
	f->owner = holder(l, f->addr);
	/* Host addresses in arguments and payloads are the program's own affair. */
	if (f->owner != NULL && f->owner->kind == HRR_THING_HOST)
		return;
	if (f->owner != NULL) {
		bool base = f->owner->base == f->addr;
		f->kind = f->in_payload ? HRR_LINT_PAYLOAD : HRR_LINT_HIDDEN;
		f->confidence = base ? 90 : f->addr % 16 == 0 ? 70 : f->addr % 4 == 0 ? 50 : 30;
	} else {
		f->kind = HRR_LINT_NEAR;
		f->confidence = hrr_ranges_find(l->gone, f->addr) != NULL ? 40
				: near(l, f->addr)			  ? 20
									  : 0;
		if (f->confidence == 0)
			return;
	}
	note(l, f);
}

static int declared(void *self, const struct hrr_use *u)
{
	struct hrr_lint *l = self;
	struct hrr_lint_finding f = {.addr = u->addr,
				     .arg = (int64_t)u->arg,
				     .at = u->at,
				     .rec = l->rec,
				     .kernel = u->kernel};

	if (holder(l, u->addr) != NULL)
		return 0;
	bool gone = hrr_ranges_find(l->gone, u->addr) != NULL;
	f.kind = gone ? HRR_LINT_STALE : HRR_LINT_UNKNOWN;
	/* One past an end is a pointer nobody follows, often enough. */
	f.confidence = u->addr < 4096 ? 10 : !gone && holder(l, u->addr - 1) != NULL ? 30 : 90;
	note(l, &f);
	return 0;
}

static uint64_t word_of(const void *p)
{
	const unsigned char *s = p;
	uint64_t v = 0;

	for (int i = 7; i >= 0; i--)
		v = v << 8 | s[i];
	return v;
}

/* --- launches --- */

/* One argument's bytes into the image. */
static int put_argument(struct hrr_lint *l, const struct hrr_json *j, int a, uint32_t number,
			struct hrr_buf *hex)
{
	static const uint32_t none;
	int ptr = hrr_json_get(j, a, "ptr"), bad;
	uint64_t offset = 0, at;

	hex->len = 0;
	if (hrr_json_u64(j, hrr_json_get(j, a, "offset"), &offset) < 0 ||
	    offset > HRR_LINT_MAX_KERNARG || hrr_json_hex(j, hrr_json_get(j, a, "hex"), hex) < 0 ||
	    hex->len > HRR_LINT_MAX_KERNARG - offset)
		hex->len = 0;
	bad = hrr_buf_add(&l->starts, &offset, sizeof offset);
	while (bad == 0 && l->image.len < offset + hex->len)
		bad = hrr_buf_addc(&l->image, 0) | hrr_buf_add(&l->owner, &none, sizeof none);
	if (bad != 0 || hex->len == 0)
		return bad;
	memcpy(l->image.data + offset, hex->data, hex->len);
	uint32_t *owner = (uint32_t *)(void *)l->owner.data + offset;
	for (size_t i = 0; i < hex->len; i++)
		owner[i] = number;
	if (ptr < 0 || j->nodes[ptr].type != HRR_JSON_ARRAY)
		return 0;
	for (int o = hrr_json_first(j, ptr); o >= 0; o = hrr_json_next(j, ptr, o))
		if (hrr_json_u64(j, o, &at) == 0)
			for (uint64_t i = at; i < hex->len && i - at < 8; i++)
				owner[i] = 0;
	return 0;
}

static int image(struct hrr_lint *l, const struct hrr_record *rec, int kernel)
{
	const struct hrr_json *j = &rec->json;
	int args = hrr_json_get(j, kernel, "args"), bad = 0;
	struct hrr_buf hex = {0};
	uint32_t number = 0;

	l->image.len = l->owner.len = l->starts.len = 0;
	if (args < 0 || j->nodes[args].type != HRR_JSON_ARRAY)
		return 0;
	for (int a = hrr_json_first(j, args); bad == 0 && a >= 0; a = hrr_json_next(j, args, a))
		bad = put_argument(l, j, a, ++number, &hex);
	hrr_buf_release(&hex);
	return bad;
}

/* Every place where an address could stand that is not declared. */
static void undeclared(struct hrr_lint *l, const struct hrr_record *rec, int kernel)
{
	const uint32_t *owner = (const uint32_t *)(const void *)l->owner.data;
	const uint64_t *starts = (const uint64_t *)(const void *)l->starts.data;

	for (size_t i = 0; i + 8 <= l->image.len; i++) {
		size_t known = 0;
		while (known < 8 && owner[i + known] != 0)
			known++;
		if (known < 8) {
			i += known;
			continue;
		}
		struct hrr_lint_finding f = {.rec = rec,
					     .kernel = kernel,
					     .addr = word_of(l->image.data + i),
					     .arg = -1,
					     .at = i};
		/* In one argument (a packed structure) anywhere; across two: as their halves. */
		if (owner[i] == owner[i + 7]) {
			f.arg = (int64_t)owner[i] - 1;
			f.at = i - starts[f.arg];
		} else if (i % 4 != 0) {
			continue;
		}
		word(l, &f);
	}
}

static int launch(struct hrr_lint *l, const struct hrr_record *rec)
{
	l->rec = rec;
	(void)hrr_call_uses(rec, declared, l);
	for (int k = -1; (k = hrr_kernel_next(&rec->json, rec->kernel, k)) >= 0;) {
		int rc = image(l, rec, k);
		if (rc < 0)
			return rc;
		l->stats.launches++;
		undeclared(l, rec, k);
	}
	tell(l);
	return 0;
}

/* --- payloads --- */

static int payload(struct hrr_lint *l, const struct hrr_record *rec, struct hrr_blobs *blobs)
{
	const struct hrr_json *j = &rec->json;
	struct hrr_blob blob;
	struct hrr_id id;
	size_t len;
	const char *text = hrr_json_raw(j, hrr_json_get(j, rec->blobs, "src"), &len);

	if (text == NULL || hrr_id_parse(text, len, &id) < 0)
		return 0;
	if (blobs == NULL || hrr_blobs_get(blobs, &id, HRR_LINT_MAX_PAYLOAD, &blob, NULL) < 0) {
		l->stats.unread++;
		return 0;
	}
	l->stats.payloads++;
	l->stats.bytes += blob.len;
	for (size_t i = 0; i + 8 <= blob.len; i += 8) {
		struct hrr_lint_finding f = {.rec = rec,
					     .kernel = -1,
					     .addr = word_of((const char *)blob.data + i),
					     .in_payload = true,
					     .arg = -1,
					     .at = i};
		word(l, &f);
	}
	hrr_blob_release(&blob);
	tell(l);
	return 0;
}

int hrr_lint_record(struct hrr_lint *l, const struct hrr_record *rec, struct hrr_blobs *blobs,
		    struct hrr_diag *diag)
{
	int rc = 0;

	if (!hrr_world_is_mine(l->world, rec))
		return 0;
	if (rec->kind == HRR_REC_CALL && rec->kernel >= 0)
		rc = launch(l, rec);
	else if (rec->kind == HRR_REC_CALL && rec->blobs >= 0 && rec->dir >= 0 &&
		 hrr_json_is(&rec->json, rec->dir, "h2d"))
		rc = payload(l, rec, blobs);
	if (rc < 0)
		return hrr_diag_set(diag, rc, "out of memory");
	return hrr_world_record(l->world, rec, diag);
}
