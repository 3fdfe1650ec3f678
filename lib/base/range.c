#include "lib/base/range.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/base/buf.h"

/*
 * An AVL tree ordered by (base, serial), each node with the largest last byte
 * of its subtree, so that a look-up skips every subtree that ends too early.
 * Nodes live in one array and point by index: 64 bytes each, one cache line.
 * Ends are inclusive: a range may reach the last byte of the address space.
 */
typedef uint32_t ref; /* index in the array; 0 is no node */

struct node {
	struct hrr_range range;
	uint64_t last;	   /* base + size - 1 */
	uint64_t max_last; /* of the subtree */
	uint64_t serial;
	ref left, right;
	uint32_t height;
	uint32_t unused;
};

struct hrr_ranges {
	struct hrr_buf mem;  /* the nodes; number 0 stands for none: height 0, max_last 0 */
	ref root, free_list; /* freed nodes are chained by left */
	size_t count;
	uint64_t serial;
};

static struct node *nodes(const struct hrr_ranges *r)
{
	return (struct node *)(void *)r->mem.data;
}

struct hrr_ranges *hrr_ranges_new(void)
{
	struct hrr_ranges *r = calloc(1, sizeof *r);
	const struct node none = {0};

	if (r != NULL && hrr_buf_add(&r->mem, &none, sizeof none) < 0) {
		free(r);
		r = NULL;
	}
	return r;
}

void hrr_ranges_free(struct hrr_ranges *r)
{
	if (r == NULL)
		return;
	hrr_buf_release(&r->mem);
	free(r);
}

/* --- balance --- */

static void update(struct node *n, ref i)
{
	const struct node *l = &n[n[i].left], *r = &n[n[i].right];
	uint64_t max = n[i].last;

	if (n[i].left && l->max_last > max)
		max = l->max_last;
	if (n[i].right && r->max_last > max)
		max = r->max_last;
	n[i].max_last = max;
	n[i].height = 1 + (l->height > r->height ? l->height : r->height);
}

static ref rotate_right(struct node *n, ref i)
{
	ref l = n[i].left;

	n[i].left = n[l].right;
	n[l].right = i;
	update(n, i);
	update(n, l);
	return l;
}

static ref rotate_left(struct node *n, ref i)
{
	ref r = n[i].right;

	n[i].right = n[r].left;
	n[r].left = i;
	update(n, i);
	update(n, r);
	return r;
}

static ref balance(struct node *n, ref i)
{
	ref l = n[i].left, r = n[i].right;

	if (n[l].height > n[r].height + 1) {
		if (n[n[l].left].height < n[n[l].right].height)
			n[i].left = rotate_left(n, l);
		return rotate_right(n, i);
	}
	if (n[r].height > n[l].height + 1) {
		if (n[n[r].right].height < n[n[r].left].height)
			n[i].right = rotate_right(n, r);
		return rotate_left(n, i);
	}
	update(n, i);
	return i;
}

static bool before(const struct node *a, const struct node *b)
{
	if (a->range.base != b->range.base)
		return a->range.base < b->range.base;
	return a->serial < b->serial;
}

/* Depth of recursion is the height: at most 1.44 log2(2^32). */
static ref insert(struct node *n, ref i, ref x)
{
	if (i == 0)
		return x;
	if (before(&n[x], &n[i]))
		n[i].left = insert(n, n[i].left, x);
	else
		n[i].right = insert(n, n[i].right, x);
	return balance(n, i);
}

static ref take_first(struct node *n, ref i, ref *ret_first)
{
	if (n[i].left == 0) {
		*ret_first = i;
		return n[i].right;
	}
	n[i].left = take_first(n, n[i].left, ret_first);
	return balance(n, i);
}

static ref take_out(struct node *n, ref i, ref x)
{
	if (i != x) {
		if (before(&n[x], &n[i]))
			n[i].left = take_out(n, n[i].left, x);
		else
			n[i].right = take_out(n, n[i].right, x);
		return balance(n, i);
	}
	if (n[i].right == 0)
		return n[i].left;

	ref first, right = take_first(n, n[i].right, &first);
	n[first].left = n[i].left;
	n[first].right = right;
	return balance(n, first);
}

/* --- changes --- */

int hrr_ranges_add(struct hrr_ranges *r, uint64_t base, uint64_t size, void *value)
{
	ref x = r->free_list;

	if (size == 0 || base > UINT64_MAX - (size - 1))
		return -EINVAL;
	if (x != 0) {
		r->free_list = nodes(r)[x].left;
	} else {
		const struct node fresh = {0};
		size_t have = r->mem.len / sizeof fresh;
		if (have >= UINT32_MAX || hrr_buf_add(&r->mem, &fresh, sizeof fresh) < 0)
			return -ENOMEM;
		x = (ref)have;
	}
	nodes(r)[x] = (struct node){
	    .range = {.base = base, .size = size, .value = value},
	    .last = base + (size - 1),
	    .max_last = base + (size - 1),
	    .serial = ++r->serial,
	    .height = 1,
	};
	r->root = insert(nodes(r), r->root, x);
	r->count++;
	return 0;
}

static ref at_if(const struct node *n, ref i, uint64_t base,
		 bool (*is_it)(void *, const struct hrr_range *), void *self)
{
	while (i != 0 && n[i].range.base != base)
		i = base < n[i].range.base ? n[i].left : n[i].right;
	if (i == 0)
		return 0;

	ref x = at_if(n, n[i].right, base, is_it, self);
	if (x != 0)
		return x;
	if (is_it(self, &n[i].range))
		return i;
	return at_if(n, n[i].left, base, is_it, self);
}

struct carries {
	const void *value;
};

/* NULL stands for any value. */
static bool carries(void *self, const struct hrr_range *x)
{
	const struct carries *c = self;

	return c->value == NULL || x->value == c->value;
}

int hrr_ranges_del(struct hrr_ranges *r, uint64_t base, const void *value)
{
	struct node *n = nodes(r);
	struct carries c = {value};
	ref x = at_if(n, r->root, base, carries, &c);

	if (x == 0)
		return -ENOENT;
	r->root = take_out(n, r->root, x);
	n[x] = (struct node){.left = r->free_list};
	r->free_list = x;
	r->count--;
	return 0;
}

/* --- look-ups --- */

static ref find(const struct node *n, ref i, uint64_t addr, ref best)
{
	while (i != 0 && n[i].max_last >= addr) {
		if (addr < n[i].range.base) {
			i = n[i].left;
			continue;
		}
		if (addr <= n[i].last &&
		    (best == 0 || n[i].range.size < n[best].range.size ||
		     (n[i].range.size == n[best].range.size && n[i].serial > n[best].serial)))
			best = i;
		if (n[i].left != 0 && n[n[i].left].max_last >= addr)
			best = find(n, n[i].left, addr, best);
		i = n[i].right;
	}
	return best;
}

static const struct hrr_range *range_of(const struct hrr_ranges *r, ref x)
{
	return x ? &nodes(r)[x].range : NULL;
}

const struct hrr_range *hrr_ranges_find(const struct hrr_ranges *r, uint64_t addr)
{
	return range_of(r, find(nodes(r), r->root, addr, 0));
}

static ref ends_last(const struct node *n, ref i, uint64_t addr, ref best,
		     bool (*is_it)(void *, const struct hrr_range *), void *self)
{
	while (i != 0 && n[i].max_last >= addr && (best == 0 || n[i].max_last > n[best].last)) {
		if (addr < n[i].range.base) {
			i = n[i].left;
			continue;
		}
		if (addr <= n[i].last && (best == 0 || n[i].last > n[best].last) &&
		    is_it(self, &n[i].range))
			best = i;
		best = ends_last(n, n[i].left, addr, best, is_it, self);
		i = n[i].right;
	}
	return best;
}

const struct hrr_range *hrr_ranges_longest_if(const struct hrr_ranges *r, uint64_t addr,
					      bool (*is_it)(void *self, const struct hrr_range *x),
					      void *self)
{
	return range_of(r, ends_last(nodes(r), r->root, addr, 0, is_it, self));
}

const struct hrr_range *hrr_ranges_at(const struct hrr_ranges *r, uint64_t base)
{
	return range_of(r, at_if(nodes(r), r->root, base, carries, &(struct carries){NULL}));
}

const struct hrr_range *hrr_ranges_at_if(const struct hrr_ranges *r, uint64_t base,
					 bool (*is_it)(void *self, const struct hrr_range *x),
					 void *self)
{
	return range_of(r, at_if(nodes(r), r->root, base, is_it, self));
}

/* Largest last byte below addr; a subtree that ends no later than the best so far is skipped. */
static ref ends_before(const struct node *n, ref i, uint64_t addr, ref best)
{
	while (i != 0) {
		if (best != 0 && n[i].max_last <= n[best].last)
			return best;
		if (n[i].range.base >= addr) {
			i = n[i].left;
			continue;
		}
		if (n[i].last < addr && (best == 0 || n[i].last > n[best].last))
			best = i;
		/* Right first: disjoint ranges have the nearest there, and the left is skipped. */
		best = ends_before(n, n[i].right, addr, best);
		i = n[i].left;
	}
	return best;
}

const struct hrr_range *hrr_ranges_before(const struct hrr_ranges *r, uint64_t addr)
{
	return range_of(r, ends_before(nodes(r), r->root, addr, 0));
}

const struct hrr_range *hrr_ranges_after(const struct hrr_ranges *r, uint64_t addr)
{
	const struct node *n = nodes(r);
	ref best = 0;

	for (ref i = r->root; i != 0;) {
		if (n[i].range.base > addr) {
			best = i;
			i = n[i].left;
		} else {
			i = n[i].right;
		}
	}
	return range_of(r, best);
}

static ref lowest_overlap(const struct node *n, ref i, uint64_t base, uint64_t last)
{
	while (i != 0 && n[i].max_last >= base) {
		ref l = n[i].left;
		/* Something on the left ends at or past base. Should it begin after last, so does
		 * everything to its right: the left decides either way. */
		if (l != 0 && n[l].max_last >= base)
			i = l;
		else if (n[i].range.base > last)
			return 0;
		else if (n[i].last >= base)
			return i;
		else
			i = n[i].right;
	}
	return 0;
}

const struct hrr_range *hrr_ranges_overlap(const struct hrr_ranges *r, uint64_t base, uint64_t size)
{
	if (size == 0)
		return NULL;
	uint64_t last = base > UINT64_MAX - (size - 1) ? UINT64_MAX : base + (size - 1);
	return range_of(r, lowest_overlap(nodes(r), r->root, base, last));
}

size_t hrr_ranges_count(const struct hrr_ranges *r)
{
	return r->count;
}

static int walk(const struct node *n, ref i, int (*each)(void *, const struct hrr_range *),
		void *self)
{
	while (i != 0) {
		int rc = walk(n, n[i].left, each, self);
		if (rc == 0)
			rc = each(self, &n[i].range);
		if (rc != 0)
			return rc;
		i = n[i].right;
	}
	return 0;
}

int hrr_ranges_each(const struct hrr_ranges *r, int (*each)(void *self, const struct hrr_range *x),
		    void *self)
{
	return walk(nodes(r), r->root, each, self);
}
