#include <stdlib.h>

#include "lib/replay/engine.h"

/*
 * Device work that is queued and writes host memory, by range, until the recorded program had
 * waited for it.
 */

static bool still(struct hrr_replay *r, const struct hrr_pending *p)
{
	return p->seq != 0 && hrr_awaited(r, p->stream) < p->seq;
}

static struct hrr_pending *pending_slot(struct hrr_replay *r, struct hrr_mem *m, uint64_t addr,
					uint64_t size, uint64_t key, bool exact)
{
	struct hrr_pending *free_one = NULL;

	for (uint32_t i = 0; i < m->n_pending; i++) {
		struct hrr_pending *p = &m->pending[i];
		if (p->base == addr && p->size == size && p->stream == key && p->exact == exact)
			return p;
		if (free_one == NULL && !still(r, p))
			free_one = p;
	}
	if (free_one != NULL)
		return free_one;
	if (m->n_pending == m->cap_pending) {
		uint32_t cap = m->cap_pending == 0 ? 4 : m->cap_pending * 2;
		struct hrr_pending *v =
		    cap <= HRR_PENDING ? realloc(m->pending, cap * sizeof *v) : NULL;
		if (v == NULL)
			return NULL;
		m->pending = v;
		m->cap_pending = cap;
	}
	return &m->pending[m->n_pending++];
}

void hrr_note_pending(struct hrr_replay *r, struct hrr_mem *m, uint64_t addr, uint64_t size,
		      uint64_t seq, uint64_t key, bool exact)
{
	key = hrr_work_key(r, key);
	struct hrr_pending x = {addr, size, seq, key, exact}, *rest = &m->pending_rest;

	if (m->host == 0 || size == 0)
		return;
	struct hrr_pending *to = pending_slot(r, m, addr, size, key, exact);
	if (to == NULL && still(r, rest)) {
		uint64_t end = addr + size, old = rest->base + rest->size;
		x.base = addr < rest->base ? addr : rest->base;
		x.size = (end > old ? end : old) - x.base;
		x.stream = rest->stream == key ? key : 0;
		x.exact = false;
	}
	*(to != NULL ? to : rest) = x;
}

static bool meets(struct hrr_replay *r, const struct hrr_pending *p, uint64_t addr, uint64_t size)
{
	return addr < p->base + p->size && p->base < addr + size && still(r, p);
}

static bool pending_in(struct hrr_replay *r, const struct hrr_mem *m, uint64_t addr, uint64_t size)
{
	for (uint32_t i = 0; i < m->n_pending; i++)
		if (meets(r, &m->pending[i], addr, size))
			return true;
	return meets(r, &m->pending_rest, addr, size);
}

bool hrr_pending(struct hrr_replay *r, const struct hrr_mem *m, uint64_t addr, uint64_t size)
{
	return pending_in(r, m, addr, size) ||
	       (m->reached && pending_in(r, &r->anywhere, addr, size));
}

static const struct hrr_pending *anywhere_in(struct hrr_replay *r, const struct hrr_mem *m,
					     uint64_t addr, uint64_t size,
					     const struct hrr_pending *after)
{
	const struct hrr_pending *rest = &m->pending_rest;

	if (after == rest)
		return NULL;
	for (uint32_t i = after != NULL ? (uint32_t)(after - m->pending) + 1 : 0; i < m->n_pending;
	     i++)
		if (!m->pending[i].exact && meets(r, &m->pending[i], addr, size))
			return &m->pending[i];
	return meets(r, rest, addr, size) ? rest : NULL;
}

static bool is_of(const struct hrr_mem *m, const struct hrr_pending *p)
{
	return p == &m->pending_rest ||
	       (m->pending != NULL && p >= m->pending && p < m->pending + m->n_pending);
}

const struct hrr_pending *hrr_pending_anywhere(struct hrr_replay *r, const struct hrr_mem *m,
					       uint64_t addr, uint64_t size,
					       const struct hrr_pending *after)
{
	bool first = after == NULL || !is_of(&r->anywhere, after);
	const struct hrr_pending *p = first ? anywhere_in(r, m, addr, size, after) : NULL;

	if (p != NULL || !m->reached)
		return p;
	return anywhere_in(r, &r->anywhere, addr, size, first ? NULL : after);
}

bool hrr_pending_exactly(struct hrr_replay *r, const struct hrr_mem *m, uint64_t addr, uint64_t *n)
{
	bool in = false;

	for (uint32_t i = 0; i < m->n_pending; i++) {
		const struct hrr_pending *p = &m->pending[i];
		if (!p->exact || !meets(r, p, addr, *n))
			continue;
		if (addr >= p->base) {
			uint64_t left = p->base + p->size - addr;
			in = true;
			*n = left < *n ? left : *n;
		} else {
			*n = p->base - addr; /* up to where it begins */
		}
	}
	return in;
}

static void told_in(struct hrr_replay *r, const struct hrr_mem *m, uint64_t seq)
{
	for (uint32_t i = 0; i < m->n_pending; i++)
		if (m->pending[i].seq == seq && m->pending[i].stream != 0)
			hrr_note_wait(r, m->pending[i].stream, seq);
}

void hrr_pending_told(struct hrr_replay *r, const struct hrr_mem *m, uint64_t seq)
{
	told_in(r, m, seq);
	if (m->reached)
		told_in(r, &r->anywhere, seq);
}

struct following {
	struct hrr_replay *r;
	uint64_t key, to;
	bool any;
};

static void follow(struct following *f, struct hrr_pending *p)
{
	if (p->stream != f->key)
		return;
	if (!still(f->r, p)) {
		p->seq = 0;
		return;
	}
	p->stream = f->to;
	f->any = true;
}

static void follow_in(struct following *f, struct hrr_mem *m)
{
	for (uint32_t i = 0; i < m->n_pending; i++)
		follow(f, &m->pending[i]);
	follow(f, &m->pending_rest);
}

static int follow_one(void *self, const struct hrr_range *x)
{
	follow_in(self, x->value);
	return 0;
}

bool hrr_pending_follows(struct hrr_replay *r, uint64_t key, uint64_t to)
{
	struct following f = {r, key, to, false};

	follow_in(&f, &r->anywhere);
	hrr_ranges_each(r->hostmap, follow_one, &f);
	return f.any;
}
