#include "lib/base/range.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "t/unit/tap.h"

/* The plain answer: a list that is walked. */
struct plain {
	uint64_t base, last, size, serial;
	int *value;
};
static struct plain list[2000];
static size_t n_list;
static uint64_t serial;

static uint32_t seed = 12345;
static uint32_t rnd(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)seed * n) >> 32);
}

static bool same(const struct hrr_range *r, const struct plain *p)
{
	if (r == NULL || p == NULL)
		return r == NULL && p == NULL;
	return r->base == p->base && r->size == p->size && r->value == p->value;
}

static bool is_odd(void *self, const struct hrr_range *x)
{
	(void)self;
	return (x->base & 1) != 0;
}

static bool check(const struct hrr_ranges *r, uint64_t addr, uint64_t size)
{
	const struct plain *find = NULL, *at = NULL, *before = NULL, *after = NULL, *over = NULL;
	const struct plain *longest = NULL;
	bool good = true;

	for (size_t i = 0; i < n_list; i++) {
		const struct plain *p = &list[i];
		if (p->base <= addr && addr <= p->last &&
		    (find == NULL || p->size < find->size ||
		     (p->size == find->size && p->serial > find->serial)))
			find = p;
		if (p->base <= addr && addr <= p->last && (p->base & 1) != 0 &&
		    (longest == NULL || p->last > longest->last))
			longest = p;
		if (p->base == addr && (at == NULL || p->serial > at->serial))
			at = p;
		if (p->last < addr && (before == NULL || p->last > before->last))
			before = p;
		if (p->base > addr && (after == NULL || p->base < after->base))
			after = p;
		if (p->base <= addr + size - 1 && p->last >= addr &&
		    (over == NULL || p->base < over->base))
			over = p;
	}
	good = good && same(hrr_ranges_find(r, addr), find);
	good = good && same(hrr_ranges_at(r, addr), at);
	/* Several may end, or begin, at one place: the place is what is promised. */
	const struct hrr_range *x = hrr_ranges_before(r, addr);
	good = good &&
	       (before == NULL ? x == NULL : x != NULL && x->base + (x->size - 1) == before->last);
	x = hrr_ranges_longest_if(r, addr, is_odd, NULL);
	good = good && (longest == NULL ? x == NULL
					: x != NULL && is_odd(NULL, x) && x->base <= addr &&
					      x->base + (x->size - 1) == longest->last);
	x = hrr_ranges_after(r, addr);
	good = good && (after == NULL ? x == NULL : x != NULL && x->base == after->base);
	x = hrr_ranges_overlap(r, addr, size);
	good = good && (over == NULL ? x == NULL : x != NULL && x->base == over->base);
	if (!good)
		diag("differs at address %llu size %llu with %zu ranges", (unsigned long long)addr,
		     (unsigned long long)size, n_list);
	return good;
}

static int in_order(void *self, const struct hrr_range *x)
{
	uint64_t *state = self;

	if (x->base < state[0])
		return 1;
	state[0] = x->base;
	state[1]++;
	return 0;
}

static void random_walk(bool nested)
{
	struct hrr_ranges *r = hrr_ranges_new();
	static int values[64];
	bool good = true;

	n_list = 0;
	for (int step = 0; step < 20000 && good; step++) {
		if (n_list == 0 || (rnd(100) < 55 && n_list < 400)) {
			uint64_t base = nested ? rnd(1000) : rnd(1000) * 100;
			uint64_t size = 1 + rnd(nested && rnd(4) == 0 ? 300 : 60);
			int *value = &values[rnd(64)];
			good = hrr_ranges_add(r, base, size, value) == 0;
			list[n_list++] =
			    (struct plain){base, base + size - 1, size, ++serial, value};
		} else {
			size_t victim = rnd((uint32_t)n_list);
			bool any = rnd(2) == 0;
			uint64_t base = list[victim].base;
			int *value = list[victim].value;
			for (size_t i = 0; i < n_list; i++) /* the newest that fits goes */
				if (list[i].base == base && (any || list[i].value == value) &&
				    list[i].serial > list[victim].serial)
					victim = i;
			good = hrr_ranges_del(r, base, any ? NULL : value) == 0;
			list[victim] = list[--n_list];
		}
		good = good && hrr_ranges_count(r) == n_list;
		good = good && check(r, rnd(nested ? 1100 : 101000), 1 + rnd(200));
	}
	ok(good, "20000 random changes and look-ups agree with a walked list (%s)",
	   nested ? "nested" : "disjoint");
	uint64_t state[2] = {0, 0};
	is(hrr_ranges_each(r, in_order, state), 0, "each goes in order");
	is(state[1], n_list, "and meets every range");
	hrr_ranges_free(r);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(void)
{
	struct hrr_ranges *r = hrr_ranges_new();
	int a, b;

	is(hrr_ranges_add(r, 10, 0, NULL), -EINVAL, "an empty range is refused");
	is(hrr_ranges_add(r, UINT64_MAX, 2, NULL), -EINVAL, "a range that wraps is refused");
	is(hrr_ranges_add(r, UINT64_MAX, 1, &a), 0, "the last byte may be a range");
	ok(hrr_ranges_find(r, UINT64_MAX) != NULL, "and is found");
	is(hrr_ranges_del(r, 10, NULL), -ENOENT, "what is not there cannot be deleted");
	is(hrr_ranges_del(r, UINT64_MAX, &b), -ENOENT, "nor with another value");
	is(hrr_ranges_del(r, UINT64_MAX, &a), 0, "with its value it goes");
	ok(hrr_ranges_find(r, UINT64_MAX) == NULL, "and is gone");

	hrr_ranges_add(r, 0x1000, 0x1000, &a);
	hrr_ranges_add(r, 0x1000, 0x100, &b);
	ok(hrr_ranges_find(r, 0x1050)->value == &b, "the tightest wins");
	ok(hrr_ranges_find(r, 0x1100)->value == &a, "the enclosing one holds the rest");
	hrr_ranges_add(r, 0x1000, 0x100, &a);
	ok(hrr_ranges_find(r, 0x1050)->value == &a, "among equals the newest");
	hrr_ranges_free(r);

	random_walk(false);
	random_walk(true);

	r = hrr_ranges_new();
	for (uint64_t i = 0; i < 10000; i++)
		hrr_ranges_add(r, 0x7f0000000000 + (i * 7919 % 10000) * 0x10000, 0x8000, &a);
	const int n = 300000;
	size_t found = 0;
	double t = now();
	for (int i = 0; i < n; i++)
		found += hrr_ranges_find(r, 0x7f0000000000 + (uint64_t)rnd(10000) * 0x10000 +
						rnd(0x10000)) != NULL;
	t = now() - t;
	diag("10000 live ranges: %.0f ns a look-up", t / n * 1e9);
	ok(found > n / 3 && found < n * 2 / 3, "about half of random addresses are inside");
	hrr_ranges_free(r);
	return done_testing();
}
