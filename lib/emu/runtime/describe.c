#include "lib/emu/runtime/describe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/range.h"
#include "lib/emu/runtime/copy.h"
#include "lib/emu/runtime/emu.h"

struct description {
	uint64_t live, size, recorded;
	char *tag; /* owned; NULL: none */
	bool parent;
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
static bool check_blocks;

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

__attribute__((visibility("default"))) int hrr_emu_memcheck(unsigned flags)
{
	if ((flags & ~HRR_EMU_CHECK_BLOCKS) != 0)
		return -ENOTSUP;
	pthread_rwlock_wrlock(&lock);
	check_blocks = (flags & HRR_EMU_CHECK_BLOCKS) != 0;
	pthread_rwlock_unlock(&lock);
	return 0;
}

/* --- reports -------------------------------------------------------------------------- */

static int name(struct hrr_buf *b, const struct description *d)
{
	char tag[128];
	int rc = hrr_buf_adds(b, d->parent ? "segment " : "block ");

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

int describe_explain(struct hrr_buf *b, uint64_t addr, uint64_t size)
{
	const struct hrr_range *x;
	int rc = 0;

	pthread_rwlock_rdlock(&lock);
	x = parents != NULL ? hrr_ranges_find(parents, addr) : NULL;
	if (x != NULL)
		rc = line(b, "  at byte %llu of ", addr - x->base, x->value);
	x = blocks != NULL ? hrr_ranges_find(blocks, addr) : NULL;
	if (x != NULL && rc == 0) {
		rc = line(b, "  at byte %llu of ", addr - x->base, x->value);
		uint64_t left = x->base + x->size - addr;
		if (rc == 0 && size > left)
			rc = hrr_buf_addf(b, "  %llu bytes past its end\n",
					  (unsigned long long)(size - left));
	}
	for (size_t i = n_gone; x == NULL && rc == 0 && i > 0 && i + GONE > n_gone; i--) {
		const struct description *d = &gone[(i - 1) % GONE].d;
		if (addr - d->live >= d->size)
			continue;
		rc = line(b, "  at byte %llu of freed ", addr - d->live, d);
		if (rc == 0 && gone[(i - 1) % GONE].when != NULL)
			rc = hrr_buf_addf(b, "  freed: %s\n", gone[(i - 1) % GONE].when);
		break;
	}
	const struct hrr_range *before = blocks != NULL ? hrr_ranges_before(blocks, addr) : NULL;
	const struct hrr_range *after = blocks != NULL ? hrr_ranges_after(blocks, addr) : NULL;
	if (before != NULL && rc == 0)
		rc = line(b, "  %llu bytes after the end of ", addr - (before->base + before->size),
			  before->value);
	if (after != NULL && rc == 0)
		rc = line(b, "  %llu bytes before the start of ", after->base - addr, after->value);
	pthread_rwlock_unlock(&lock);
	return rc;
}

/* --- what a launch may touch ----------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

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
	v->blocks = check_blocks && blocks != NULL && hrr_ranges_count(blocks) > 0;
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

void view_release(struct launch_view *v)
{
	free(v->allowed);
	*v = (struct launch_view){0};
}

int view_isa_find(void *self, uint64_t addr, struct isa_span *ret_span)
{
	const struct launch_view *v = self;
	int rc = range_isa_find((void *)(intptr_t)v->device, addr, ret_span);

	if (rc < 0 || !v->blocks)
		return rc;
	pthread_rwlock_rdlock(&lock);
	const struct hrr_range *parent = parents != NULL ? hrr_ranges_find(parents, addr) : NULL;
	const struct hrr_range *x = hrr_ranges_find(blocks, addr);
	/* Memory nobody described block by block is held to its range only. */
	if (x == NULL && parent != NULL &&
	    hrr_ranges_overlap(blocks, parent->base, parent->size) != NULL)
		rc = -EFAULT;
	if (x != NULL) {
		if (bsearch(&x->base, v->allowed, v->n, sizeof x->base, by_number) == NULL)
			rc = -EFAULT;
		else if (x->base >= ret_span->base &&
			 x->size <= ret_span->base + ret_span->size - x->base) {
			ret_span->host += x->base - ret_span->base;
			ret_span->base = x->base;
			ret_span->size = x->size;
		}
	}
	pthread_rwlock_unlock(&lock);
	return rc;
}
