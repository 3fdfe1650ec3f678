#include "lib/emu/runtime/describe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/range.h"
#include "lib/emu/runtime/copy.h"
#include "lib/emu/runtime/emu.h"
#include "lib/emu/runtime/memcheck.h"

struct description {
	uint64_t live, size, recorded;
	char *tag; /* owned; NULL: none */
	bool parent;
	bool carved; /* parent: had blocks */
};

#define GONE 1024
/* How much of an argument's block is searched for pointers to further blocks. */
#define SEARCHED ((uint64_t)1 << 20)

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct hrr_ranges *parents, *blocks;
static struct {
	struct description d;
	char *when; /* owned */
} gone[GONE];
static size_t n_gone;

__attribute__((visibility("default"))) int
hrr_emu_describe(uint64_t live, uint64_t size, uint64_t recorded, const char *tag, int parent)
{
	struct description *d = calloc(1, sizeof *d);
	int rc = -ENOMEM;

	if (d == NULL || (tag != NULL && (d->tag = strdup(tag)) == NULL)) {
		free(d);
		return rc;
	}
	d->live = live;
	d->size = size;
	d->recorded = recorded;
	d->parent = parent != 0;
	pthread_rwlock_wrlock(&lock);
	struct hrr_ranges **t = parent != 0 ? &parents : &blocks;
	if (*t == NULL)
		*t = hrr_ranges_new();
	if (*t != NULL)
		rc = hrr_ranges_add(*t, live, size, d);
	const struct hrr_range *in =
	    parent == 0 && parents != NULL ? hrr_ranges_find(parents, live) : NULL;
	if (rc == 0 && in != NULL)
		((struct description *)in->value)->carved = true;
	pthread_rwlock_unlock(&lock);
	if (rc < 0) {
		free(d->tag);
		free(d);
	}
	return rc;
}

__attribute__((visibility("default"))) int hrr_emu_undescribe(uint64_t live, const char *when_freed)
{
	int rc = -ENOENT;

	pthread_rwlock_wrlock(&lock);
	/* A block goes before the allocation it begins. */
	struct hrr_ranges *t = blocks;
	const struct hrr_range *x = t != NULL ? hrr_ranges_at(t, live) : NULL;
	if (x == NULL) {
		t = parents;
		x = t != NULL ? hrr_ranges_at(t, live) : NULL;
	}
	if (x != NULL) {
		struct description *d = x->value;
		rc = hrr_ranges_del(t, live, d);
		size_t i = n_gone++ % GONE;
		free(gone[i].d.tag);
		free(gone[i].when);
		gone[i].d = *d;
		gone[i].when = when_freed != NULL ? strdup(when_freed) : NULL;
		free(d);
	}
	pthread_rwlock_unlock(&lock);
	return rc;
}

/* --- reports -------------------------------------------------------------------------- */

static int name(struct hrr_buf *b, const struct description *d)
{
	char tag[128];
	int rc = hrr_buf_adds(b, d->parent ? "recorded memory " : "block ");

	if (rc == 0 && d->tag != NULL) {
		hrr_mask(tag, sizeof tag, d->tag, strlen(d->tag));
		rc = hrr_buf_addf(b, "\"%s\" ", tag);
	}
	if (rc == 0)
		rc = hrr_buf_addx(b, d->recorded);
	return rc == 0 ? hrr_buf_addf(b, " +%llu", (unsigned long long)d->size) : rc;
}

static int line(struct hrr_buf *b, const char *fmt, uint64_t n, const struct description *d)
{
	int rc;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	rc = hrr_buf_addf(b, fmt, (unsigned long long)n);
#pragma GCC diagnostic pop
	if (rc == 0)
		rc = name(b, d);
	return rc == 0 ? hrr_buf_addc(b, '\n') : rc;
}

/* A neighbour further away than this explains nothing. */
#define NEAR ((uint64_t)64 << 20)

struct around {
	const struct description *parent, *block, *before, *after;
	const struct description *under; /* the parent that ends before, when there is none */
	const struct description *gone;	 /* the newest that was here, when nothing is */
	const char *when;
};

/* Under the lock. */
static void look(uint64_t addr, struct around *a)
{
	const struct hrr_range *x;

	*a = (struct around){0};
	x = parents != NULL ? hrr_ranges_find(parents, addr) : NULL;
	a->parent = x != NULL ? x->value : NULL;
	x = parents != NULL && x == NULL ? hrr_ranges_before(parents, addr) : NULL;
	if (x != NULL && addr - (x->base + x->size) < NEAR)
		a->under = x->value;
	x = blocks != NULL ? hrr_ranges_find(blocks, addr) : NULL;
	a->block = x != NULL ? x->value : NULL;
	x = blocks != NULL ? hrr_ranges_before(blocks, addr) : NULL;
	if (x != NULL &&
	    (a->parent != NULL ? x->base >= a->parent->live : addr - (x->base + x->size) < NEAR))
		a->before = x->value;
	x = blocks != NULL ? hrr_ranges_after(blocks, addr) : NULL;
	if (x != NULL && (a->parent != NULL ? x->base - a->parent->live < a->parent->size
					    : x->base - addr < NEAR))
		a->after = x->value;
	for (size_t i = n_gone; a->block == NULL && i > 0 && i + GONE > n_gone; i--) {
		const struct description *d = &gone[(i - 1) % GONE].d;
		if (addr - d->live >= d->size || (d->parent && a->parent != NULL))
			continue;
		a->gone = d;
		a->when = gone[(i - 1) % GONE].when;
		break;
	}
}

int describe_explain(struct hrr_buf *b, uint64_t addr, uint64_t size)
{
	struct around a;
	int rc = 0;

	pthread_rwlock_rdlock(&lock);
	look(addr, &a);
	if (a.parent != NULL)
		rc = line(b, "  at byte %llu of ", addr - a.parent->live, a.parent);
	if (a.under != NULL && rc == 0)
		rc = line(b, "  %llu bytes after the end of ",
			  addr - (a.under->live + a.under->size), a.under);
	if (a.block != NULL && rc == 0) {
		rc = line(b, "  at byte %llu of ", addr - a.block->live, a.block);
		uint64_t left = a.block->live + a.block->size - addr;
		if (rc == 0 && size > left)
			rc = hrr_buf_addf(b, "  %llu bytes past its end\n",
					  (unsigned long long)(size - left));
	}
	if (a.gone != NULL && rc == 0) {
		rc = line(b, "  at byte %llu of freed ", addr - a.gone->live, a.gone);
		if (rc == 0 && a.when != NULL)
			rc = hrr_buf_addf(b, "  freed: %s\n", a.when);
	}
	if (a.before != NULL && rc == 0)
		rc = line(b, "  %llu bytes after the end of ",
			  addr - (a.before->live + a.before->size), a.before);
	if (a.after != NULL && rc == 0)
		rc = line(b, "  %llu bytes before the start of ", a.after->live - addr, a.after);
	pthread_rwlock_unlock(&lock);
	return rc;
}

static void block_fill(struct hrr_emu_block *to, const struct description *d, uint64_t distance,
		       char tag[DESCRIBE_TAG])
{
	if (d == NULL)
		return;
	*to =
	    (struct hrr_emu_block){.recorded = d->recorded, .size = d->size, .distance = distance};
	if (d->tag != NULL) {
		hrr_mask(tag, DESCRIBE_TAG, d->tag, strlen(d->tag));
		to->tag = tag;
	}
}

void describe_fill(struct hrr_emu_fault *f, char tags[3][DESCRIBE_TAG])
{
	const uint64_t addr = f->address;
	struct around a;

	pthread_rwlock_rdlock(&lock);
	look(addr, &a);
	const struct description *d = a.block != NULL ? a.block : a.gone;
	const struct description *in = a.parent != NULL ? a.parent : d;
	if (in != NULL)
		f->recorded = in->recorded + (addr - in->live);
	else if (a.under != NULL) /* past its end: by its numbers */
		f->recorded = a.under->recorded + (addr - a.under->live);
	if (d != NULL)
		block_fill(&f->block, d, addr - d->live, tags[0]);
	f->block.freed = a.block == NULL && a.gone != NULL;
	if (a.before != NULL)
		block_fill(&f->before, a.before, addr - (a.before->live + a.before->size), tags[1]);
	if (a.after != NULL)
		block_fill(&f->after, a.after, a.after->live - addr, tags[2]);
	pthread_rwlock_unlock(&lock);
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool carved(const struct hrr_range *x)
{
	return ((const struct description *)x->value)->carved;
}

int view_explain(struct hrr_buf *b, const struct launch_view *v, uint64_t addr)
{
	unsigned told = 0;
	int rc = 0;

	if (!v->blocks)
		return 0;
	pthread_rwlock_rdlock(&lock);
	const struct hrr_range *x = hrr_ranges_find(blocks, addr);
	const struct hrr_range *parent = parents != NULL ? hrr_ranges_find(parents, addr) : NULL;
	bool ours = x != NULL && bsearch(&x->base, v->allowed, v->n, sizeof x->base, by_number);
	if (x != NULL && !ours)
		rc = hrr_buf_adds(b, "  no argument of the launch leads to that block\n");
	else if (x == NULL && parent != NULL && carved(parent))
		rc = hrr_buf_adds(b, "  in no live block\n");
	for (size_t i = 0; rc == 0 && !ours && i < v->n && told < 4; i++) {
		x = hrr_ranges_at(blocks, v->allowed[i]);
		if (x == NULL)
			continue;
		told++;
		rc = line(b, "  an argument leads to ", 0, x->value);
	}
	if (rc == 0 && told == 4 && v->n > 4)
		rc = hrr_buf_addf(b, "  and to %zu more blocks\n", v->n - 4);
	pthread_rwlock_unlock(&lock);
	return rc;
}

/* --- what a launch may touch ----------------------------------------------------------- */

/* Adds the block a word points into; true when it was not there yet. */
static bool allow(struct launch_view *v, size_t *cap, uint64_t word)
{
	const struct hrr_range *x = hrr_ranges_find(blocks, word);

	if (x == NULL)
		return false;
	for (size_t i = 0; i < v->n; i++)
		if (v->allowed[i] == x->base)
			return false;
	if (v->n == *cap) {
		size_t more = *cap > 0 ? 2 * *cap : 32;
		uint64_t *p = realloc(v->allowed, more * sizeof *p);
		if (p == NULL) {
			v->blocks = false; /* rather unchecked than wrong */
			return false;
		}
		v->allowed = p;
		*cap = more;
	}
	v->allowed[v->n++] = x->base;
	return true;
}

static void search(struct launch_view *v, size_t *cap, const unsigned char *bytes, size_t n)
{
	uint64_t word;

	for (size_t i = 0; i + sizeof word <= n && v->blocks; i += sizeof word) {
		memcpy(&word, bytes + i, sizeof word);
		allow(v, cap, word);
	}
}

void view_init(struct launch_view *v, int device, const void *args, size_t size)
{
	size_t cap = 0;

	*v = (struct launch_view){.device = device};
	pthread_rwlock_rdlock(&lock);
	v->parents = parents != NULL && hrr_ranges_count(parents) != 0;
	v->blocks = (memcheck_flags() & HRR_EMU_CHECK_BLOCKS) != 0 && blocks != NULL;
	if (v->blocks) {
		const unsigned char *p = args;
		uint64_t word;
		/* Arguments may lie at any offset: packed structures. */
		for (size_t i = 0; i + sizeof word <= size; i++) {
			memcpy(&word, p + i, sizeof word);
			allow(v, &cap, word);
		}
		/* Tables of pointers: one step. */
		for (size_t i = 0, n = v->n; i < n && v->blocks; i++) {
			const struct hrr_range *x = hrr_ranges_at(blocks, v->allowed[i]);
			uint64_t len = x->size < SEARCHED ? x->size : SEARCHED, bad;
			unsigned char *copy = malloc(len);
			if (copy != NULL && mem_read(-1, copy, x->base, len, &bad) == 0)
				search(v, &cap, copy, len);
			free(copy);
		}
		if (v->n > 1)
			qsort(v->allowed, v->n, sizeof *v->allowed, by_number);
	}
	pthread_rwlock_unlock(&lock);
}

uint64_t describe_room(uint64_t addr, uint64_t n)
{
	uint64_t room = n;

	if ((memcheck_flags() & HRR_EMU_CHECK_BLOCKS) == 0)
		return n;
	pthread_rwlock_rdlock(&lock);
	const struct hrr_range *x = blocks != NULL ? hrr_ranges_find(blocks, addr) : NULL;
	const struct hrr_range *parent = parents != NULL ? hrr_ranges_find(parents, addr) : NULL;
	bool all = parent != NULL && addr == parent->base && n >= parent->size;
	if (x != NULL && !all && n > x->size - (addr - x->base))
		room = x->size - (addr - x->base);
	pthread_rwlock_unlock(&lock);
	return room;
}

void view_release(struct launch_view *v)
{
	free(v->allowed);
	*v = (struct launch_view){0};
}

/* What of the span lies in x too. */
static void clip(struct isa_span *s, const struct hrr_range *x)
{
	uint64_t lo = s->base > x->base ? s->base : x->base;
	uint64_t s_end = s->base + s->size, x_end = x->base + x->size;
	uint64_t hi = s_end < x_end ? s_end : x_end;

	s->host += lo - s->base;
	if (s->written != NULL)
		s->written += lo - s->base;
	s->base = lo;
	s->size = hi - lo;
}

int view_isa_find(void *self, uint64_t addr, struct isa_span *ret_span)
{
	const struct launch_view *v = self;
	int rc = range_isa_find((void *)(intptr_t)v->device, addr, ret_span);

	if (rc < 0 || (!v->blocks && !v->parents))
		return rc;
	pthread_rwlock_rdlock(&lock);
	/* What was placed is mapped by pages: the recorded size is what counts. */
	const struct hrr_range *parent = parents != NULL ? hrr_ranges_find(parents, addr) : NULL;
	if (parent != NULL)
		clip(ret_span, parent);
	else if (parents != NULL &&
		 hrr_ranges_overlap(parents, ret_span->base, ret_span->size) != NULL)
		rc = -EFAULT;
	const struct hrr_range *x = v->blocks ? hrr_ranges_find(blocks, addr) : NULL;
	/* Memory nobody described block by block is held to its range only. */
	if (v->blocks && x == NULL && parent != NULL && carved(parent) && rc == 0) {
		const struct hrr_range *next = hrr_ranges_after(blocks, addr);
		const struct hrr_range *last = hrr_ranges_before(blocks, addr);
		struct hrr_range gap = *parent;
		/* Up to the blocks on both sides. */
		if (last != NULL && last->base + last->size > gap.base) {
			gap.size -= last->base + last->size - gap.base;
			gap.base = last->base + last->size;
		}
		if (next != NULL && next->base - gap.base < gap.size)
			gap.size = next->base - gap.base;
		clip(ret_span, &gap);
		ret_span->forbidden = true;
	}
	if (x != NULL && rc == 0) {
		ret_span->forbidden =
		    bsearch(&x->base, v->allowed, v->n, sizeof x->base, by_number) == NULL;
		clip(ret_span, x);
	}
	pthread_rwlock_unlock(&lock);
	return rc;
}
