#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/stream/select.h"

/*
 * Bits by process and seq in pages made when first needed, found by hash: a
 * dense set costs a bit per call, a sparse one a page per member at worst.
 */
#define PAGE_BITS 4096u

struct page {
	uint64_t key; /* p << 48 | page number + 1; 0: free slot */
	uint64_t *bits;
};

struct hrr_seqs {
	struct page *slots;
	size_t n, cap; /* cap is a power of two */
};

struct hrr_seqs *hrr_seqs_new(void)
{
	return calloc(1, sizeof(struct hrr_seqs));
}

void hrr_seqs_free(struct hrr_seqs *s)
{
	if (s == NULL)
		return;
	for (size_t i = 0; i < s->cap; i++)
		free(s->slots[i].bits);
	free(s->slots);
	free(s);
}

static uint64_t key_of(uint32_t p, uint64_t seq)
{
	return (uint64_t)p << 48 | (seq / PAGE_BITS + 1);
}

static struct page *slot(struct page *slots, size_t cap, uint64_t key)
{
	size_t i = (size_t)((key * 0x9e3779b97f4a7c15u) >> 20) & (cap - 1);

	while (slots[i].key != 0 && slots[i].key != key)
		i = (i + 1) & (cap - 1);
	return &slots[i];
}

int hrr_seqs_add(struct hrr_seqs *s, uint32_t p, uint64_t seq)
{
	if (s->n * 2 >= s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 64;
		struct page *grown = calloc(cap, sizeof *grown);
		if (grown == NULL)
			return -ENOMEM;
		for (size_t i = 0; i < s->cap; i++)
			if (s->slots[i].key != 0)
				*slot(grown, cap, s->slots[i].key) = s->slots[i];
		free(s->slots);
		s->slots = grown;
		s->cap = cap;
	}
	struct page *at = slot(s->slots, s->cap, key_of(p, seq));
	if (at->key == 0) {
		at->bits = calloc(PAGE_BITS / 64, sizeof *at->bits);
		if (at->bits == NULL)
			return -ENOMEM;
		at->key = key_of(p, seq);
		s->n++;
	}
	at->bits[seq % PAGE_BITS / 64] |= (uint64_t)1 << seq % 64;
	return 0;
}

bool hrr_seqs_has(const struct hrr_seqs *s, uint32_t p, uint64_t seq)
{
	if (s->cap == 0)
		return false;
	const struct page *at = slot(s->slots, s->cap, key_of(p, seq));
	return at->key != 0 && (at->bits[seq % PAGE_BITS / 64] >> seq % 64 & 1) != 0;
}
