#include "lib/base/counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t hash(const char *name, size_t len)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)name[i]) * 0x100000001b3u;
	return (size_t)(h ^ h >> 29);
}

static struct hrr_count *slot(struct hrr_count *slots, size_t cap, const char *name, size_t len)
{
	size_t i = hash(name, len) & (cap - 1);

	while (slots[i].name != NULL &&
	       (slots[i].len != len || memcmp(slots[i].name, name, len) != 0))
		i = (i + 1) & (cap - 1);
	return &slots[i];
}

int hrr_counts_add(struct hrr_counts *c, const char *name, size_t len, uint64_t n)
{
	if (c->used * 2 >= c->cap) {
		size_t cap = c->cap ? c->cap * 2 : 64;
		struct hrr_count *grown = calloc(cap, sizeof *grown);
		if (grown == NULL)
			return -ENOMEM;
		for (size_t i = 0; i < c->cap; i++)
			if (c->slots[i].name != NULL)
				*slot(grown, cap, c->slots[i].name, c->slots[i].len) = c->slots[i];
		free(c->slots);
		c->slots = grown;
		c->cap = cap;
	}
	struct hrr_count *s = slot(c->slots, c->cap, name, len);
	if (s->name == NULL) {
		if (c->used >= HRR_COUNTS_MAX) {
			c->total += n;
			return 0;
		}
		char *copy = malloc(len + 1);
		if (copy == NULL)
			return -ENOMEM;
		memcpy(copy, name, len);
		copy[len] = '\0';
		*s = (struct hrr_count){copy, len, 0};
		c->used++;
	}
	s->n += n;
	c->total += n;
	return 0;
}

static int largest_first(const void *a, const void *b)
{
	const struct hrr_count *x = a, *y = b;

	if (x->name == NULL || y->name == NULL)
		return (x->name == NULL) - (y->name == NULL);
	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	return strcmp(x->name, y->name);
}

void hrr_counts_sort(struct hrr_counts *c)
{
	if (c->cap > 0)
		qsort(c->slots, c->cap, sizeof *c->slots, largest_first);
}

void hrr_counts_release(struct hrr_counts *c)
{
	for (size_t i = 0; i < c->cap; i++)
		if (c->slots[i].name != NULL) {
			char *name;
			memcpy(&name, &c->slots[i].name,
			       sizeof name); /* it was ours to begin with */
			free(name);
		}
	free(c->slots);
	*c = (struct hrr_counts){0};
}
