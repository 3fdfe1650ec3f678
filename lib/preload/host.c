#include "lib/preload/preload.h"

#include <stdlib.h>
#include <string.h>

/*
 * Host memory that kernels see: pinned, registered, managed. Remembered by a hash
 * of each 256 KiB piece as last recorded; a piece goes into the archive when it
 * has changed since, before a launch as input, after a wait as output.
 */
_Atomic unsigned hrr_n_hosts;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct hrr_host_range *list[4096];
static unsigned n_list;

struct hrr_snapshots {
	struct hrr_snapshots *next;
	uint64_t addr, size;
	uint64_t file;	     /* as in struct hrr_bytes */
	unsigned char *data; /* owned, when file is 0 */
};

/* Not for names, only to see a change: 64 bits, four lanes so that it runs at memory speed. */
static uint64_t piece_hash(const void *data, size_t n)
{
	const unsigned char *p = data;
	uint64_t h[4] = {n + 1, 2, 3, 4};
	size_t i = 0;

	for (; i + 32 <= n; i += 32)
		for (int k = 0; k < 4; k++) {
			uint64_t v;
			memcpy(&v, p + i + 8 * k, 8);
			h[k] = (h[k] ^ v) * 0x9fb21c651e98df25ull;
			h[k] ^= h[k] >> 29;
		}
	uint64_t x = h[0];
	for (; i < n; i++)
		x = (x ^ p[i]) * 0x9fb21c651e98df25ull;
	for (int k = 1; k < 4; k++)
		x = (x ^ h[k] ^ h[k] >> 31) * 0xd6e8feb86659fd93ull;
	x ^= x >> 32;
	return x != 0 ? x : 1;
}

struct hrr_host_range *hrr_host_new(uint64_t base, uint64_t size, enum hrr_mem mem)
{
	struct hrr_host_range *h = calloc(1, sizeof *h);

	if (h == NULL)
		return NULL;
	h->base = base;
	h->size = size;
	h->mem = mem;
	h->n_pieces = (size + HRR_PIECE - 1) / HRR_PIECE;
	h->known = calloc(h->n_pieces, sizeof *h->known);
	atomic_store(&h->refs, 1);
	pthread_mutex_init(&h->lock, NULL);
	if (h->known == NULL) {
		free(h);
		return NULL;
	}
	pthread_mutex_lock(&list_lock);
	if (n_list < sizeof list / sizeof *list)
		list[n_list++] = h;
	hrr_n_hosts = n_list;
	pthread_mutex_unlock(&list_lock);
	return h;
}

void hrr_hosts_forget(void)
{
	pthread_mutex_init(&list_lock, NULL);
	n_list = 0;
	hrr_n_hosts = 0;
}

void hrr_host_ref(struct hrr_host_range *h)
{
	atomic_fetch_add_explicit(&h->refs, 1, memory_order_relaxed);
}

void hrr_host_unref(struct hrr_host_range *h)
{
	if (atomic_fetch_sub(&h->refs, 1) != 1)
		return;
	free(h->known);
	free(h);
}

void hrr_host_gone(struct hrr_host_range *h)
{
	atomic_store(&h->gone, true);
	pthread_mutex_lock(&list_lock);
	for (unsigned i = 0; i < n_list; i++)
		if (list[i] == h) {
			list[i] = list[--n_list];
			break;
		}
	hrr_n_hosts = n_list;
	pthread_mutex_unlock(&list_lock);
}

void hrr_host_each(void (*each)(void *self, struct hrr_host_range *h), void *self)
{
	struct hrr_host_range *some[64];
	unsigned n = 0;

	pthread_mutex_lock(&list_lock);
	for (; n < n_list && n < 64; n++) {
		some[n] = list[n];
		hrr_host_ref(some[n]);
	}
	pthread_mutex_unlock(&list_lock);
	for (unsigned i = 0; i < n; i++) {
		each(self, some[i]);
		hrr_host_unref(some[i]);
	}
}

static uint64_t piece_size(const struct hrr_host_range *h, uint64_t i)
{
	uint64_t from = i * HRR_PIECE;

	return h->size - from < HRR_PIECE ? h->size - from : HRR_PIECE;
}

/*
 * 0: it is not there. Registered memory is the program's, which may have given it back or shut it
 * off without a word to the run time.
 */
static uint64_t hash_now(const struct hrr_host_range *h, uint64_t at, uint64_t n)
{
	const void *p = (const void *)(uintptr_t)at;

	if (h->mem == HRR_MEM_REGISTERED && !hrr_still_readable(p, n))
		return 0;
	return piece_hash(p, n);
}

static bool over_limit(uint64_t size)
{
	return size > hrr_proc->hub->host_limit;
}

static void keep(struct hrr_snapshots **s, uint64_t addr, const struct hrr_rect *r, bool trusted)
{
	uint64_t n = hrr_rect_bytes(r);
	struct hrr_snapshots *x = calloc(1, sizeof *x);

	if (x == NULL || n == 0) {
		free(x);
		return;
	}
	x->addr = addr;
	x->size = n;
	if (n > HRR_INLINE_MAX / 2) {
		x->file = hrr_bytes_big((const void *)(uintptr_t)addr, r, trusted);
	} else {
		x->data = malloc(n);
		unsigned char *to = x->data;
		bool ok = to != NULL;
		for (uint64_t z = 0; ok && z < r->depth; z++)
			for (uint64_t y = 0; ok && y < r->height; y++, to += r->width) {
				const void *row =
				    (const void *)(uintptr_t)(addr + z * r->slice + y * r->pitch);
				if (trusted)
					memcpy(to, row, r->width);
				else
					ok = hrr_copy_in(to, row, r->width);
			}
		if (!ok)
			x->file = HRR_NO_FILE;
	}
	x->next = *s;
	*s = x;
}

void hrr_host_snapshot(struct hrr_snapshots **s, struct hrr_host_range *h, uint64_t addr,
		       uint64_t size)
{
	if (atomic_load(&h->gone) || over_limit(h->size) || size == 0)
		return;
	pthread_mutex_lock(&h->lock);
	uint64_t last = (addr - h->base + size - 1) / HRR_PIECE;
	for (uint64_t i = (addr - h->base) / HRR_PIECE; i <= last && i < h->n_pieces; i++) {
		uint64_t at = h->base + i * HRR_PIECE, n = piece_size(h, i);
		uint64_t now = hash_now(h, at, n);
		if (now == 0 || now == h->known[i])
			continue;
		struct hrr_rect r = {n, 1, 1, n, n};
		keep(s, at, &r, true);
		h->known[i] = now;
	}
	pthread_mutex_unlock(&h->lock);
}

void hrr_host_snapshot_plain(struct hrr_snapshots **s, uint64_t addr, const struct hrr_rect *r)
{
	keep(s, addr, r, false);
}

/* The list is newest first; replay takes them in any order, people read them by address. */
void hrr_snapshots_att(struct hrr_thread *t, struct hrr_snapshots *s)
{
	if (s == NULL)
		return;
	hrr_snapshots_att(t, s->next);
	struct hrr_bytes b = {s->addr, s->size, s->file};
	size_t n = s->file == 0 ? s->size : 0;
	if (n > t->size / 8) { /* a small ring */
		struct hrr_rect r = {n, 1, 1, n, n};
		b.file = hrr_bytes_big(s->data, &r, true);
		hrr_kept(t, b.file);
		n = 0;
	}
	unsigned char *d = hrr_b_att(t, HRR_A_HOST, 0, sizeof b + n);
	if (d == NULL)
		return;
	memcpy(d, &b, sizeof b);
	if (n != 0)
		memcpy(d + sizeof b, s->data, n);
}

void hrr_snapshots_free(struct hrr_snapshots *s, bool written)
{
	while (s != NULL) {
		struct hrr_snapshots *next = s->next;
		if (!written)
			hrr_arena_give(s->file);
		free(s->data);
		free(s);
		s = next;
	}
}

/*
 * Bytes are in the record by a copy. plain: all of them, no rectangle. settle: whole pieces hold
 * what was recorded, others are left; else, of pieces that were recorded before, what was recorded
 * of those that are not whole holds no more.
 */
static void recorded(struct hrr_host_range *h, uint64_t addr, uint64_t size, bool plain,
		     bool settle)
{
	if (atomic_load(&h->gone) || over_limit(h->size) || addr < h->base || size == 0)
		return;
	pthread_mutex_lock(&h->lock);
	uint64_t last = (addr - h->base + size - 1) / HRR_PIECE;
	for (uint64_t i = (addr - h->base) / HRR_PIECE; i <= last && i < h->n_pieces; i++) {
		uint64_t at = h->base + i * HRR_PIECE, n = piece_size(h, i);
		bool whole = plain && at >= addr && at + n <= addr + size;
		if (settle ? !whole : h->known[i] == 0)
			continue;
		uint64_t now = hash_now(h, at, n);
		if (now != h->known[i])
			h->known[i] = whole ? now : 0;
	}
	pthread_mutex_unlock(&h->lock);
}

void hrr_host_settle(struct hrr_host_range *h, uint64_t addr, uint64_t size)
{
	recorded(h, addr, size, true, true);
}

void hrr_host_sourced(struct hrr_host_range *h, uint64_t addr, uint64_t size, bool plain)
{
	recorded(h, addr, size, plain, false);
}

void hrr_host_changed(struct hrr_host_range *h,
		      void (*each)(void *self, uint64_t addr, uint64_t size), void *self)
{
	if (atomic_load(&h->gone) || over_limit(h->size))
		return;
	pthread_mutex_lock(&h->lock);
	for (uint64_t i = 0; i < h->n_pieces; i++) {
		uint64_t at = h->base + i * HRR_PIECE, n = piece_size(h, i);
		uint64_t now = hash_now(h, at, n);
		if (now == 0 || now == h->known[i])
			continue;
		h->known[i] = now;
		each(self, at, n);
	}
	pthread_mutex_unlock(&h->lock);
}
