#include "lib/diff/resync.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Where a run of equal calls is in both, what follows is held against each other place by place.
 * Much of it is only alike: it is about what was made by calls that one of them does not have.
 */
#define RUN 8
#define TRIAL 128
#define TRIALS 65536 /* for all of a search; each of both rows' places may have many */

struct row {
	size_t n, n_runs;
	uint64_t content[HRR_RESYNC_MOST], shape[HRR_RESYNC_MOST];
	uint64_t run[HRR_RESYNC_MOST]; /* a hash of the run that begins here */
};

#define SLOTS (HRR_RESYNC_MOST * 2)
struct memory {
	struct row a, b;
	/* Places in a by their runs, the nearest first: 1 + a place, 0 is none. */
	uint32_t first[SLOTS], next[HRR_RESYNC_MOST];
};

static void read_row(const struct hrr_row *from, struct row *r)
{
	const uint64_t base = 0x9e3779b97f4a7c15u;
	uint64_t out = 1, h = 0;

	for (const struct hrr_diff_call *c = from->head; c && r->n < HRR_RESYNC_MOST; c = c->next) {
		r->content[r->n] = c->content;
		r->shape[r->n++] = c->shape;
	}
	for (int i = 0; i < RUN; i++)
		out *= base;
	for (size_t i = 0; i < r->n; i++) {
		h = h * base + r->content[i];
		if (i >= RUN)
			h -= out * r->content[i - RUN];
		if (i + 1 >= RUN)
			r->run[r->n_runs++] = h;
	}
}

static uint32_t *slot(struct memory *m, uint64_t run)
{
	return &m->first[(run >> 24) % SLOTS];
}

static bool meet(const struct row *a, size_t i, const struct row *b, size_t j)
{
	size_t n = a->n - i < b->n - j ? a->n - i : b->n - j, equal = 0, other = 0;

	n = n < TRIAL ? n : TRIAL;
	for (size_t k = 0; k < n && other * 16 <= n; k++) {
		equal += a->content[i + k] == b->content[j + k];
		other += a->shape[i + k] != b->shape[j + k];
	}
	return other * 16 <= n && equal * 2 >= n;
}

static int search(const struct hrr_row *a, const struct hrr_row *b, size_t before[2], bool *alike)
{
	struct memory *m = calloc(1, sizeof *m);
	size_t best = SIZE_MAX, trials = 0;

	if (!m)
		return -ENOMEM;
	read_row(a, &m->a);
	read_row(b, &m->b);
	for (size_t i = m->a.n_runs; i-- > 0;) {
		uint32_t *s = slot(m, m->a.run[i]);

		m->next[i] = *s;
		*s = (uint32_t)i + 1;
	}
	for (size_t j = 0; j < m->b.n_runs && j < best && trials < TRIALS; j++)
		for (uint32_t at = *slot(m, m->b.run[j]); at && trials < TRIALS;
		     at = m->next[at - 1]) {
			size_t i = at - 1;

			if (i + j >= best)
				break;
			if (m->a.run[i] != m->b.run[j])
				continue;
			trials++;
			if (!meet(&m->a, i, &m->b, j))
				continue;
			best = i + j;
			before[0] = i;
			before[1] = j;
		}
	/* Before the first equal run they may be alike already. */
	while (best < SIZE_MAX && before[0] > 0 && before[1] > 0 &&
	       m->a.shape[before[0] - 1] == m->b.shape[before[1] - 1]) {
		before[0]--;
		before[1]--;
	}
	free(m);
	*alike = best < SIZE_MAX && before[0] + before[1] == 0;
	return best < SIZE_MAX && !*alike ? HRR_MEET_FOUND : HRR_MEET_NONE;
}

bool hrr_meet_waits(const struct hrr_search *s, const struct hrr_meeting *m)
{
	return (m->a->n < s->look && !m->ended[0]) || (m->b->n < s->look && !m->ended[1]);
}

int hrr_meet_again(struct hrr_search *s, struct hrr_meeting *m, size_t same, size_t of,
		   uint64_t passed)
{
	if (same * 4 >= of * 3 || passed < s->tired) {
		s->look = 0;
		return HRR_MEET_NONE;
	}
	for (s->look = s->look ? s->look : HRR_RESYNC_LEAST;; s->look *= 4) {
		if (hrr_meet_waits(s, m))
			return HRR_MEET_WAIT;
		bool alike;
		int rc = search(m->a, m->b, m->before, &alike);

		if (rc == HRR_MEET_NONE && alike) {
			s->look = 0;
			s->tired = passed + HRR_ALIGN_WINDOW;
			return rc;
		}
		if (rc == HRR_MEET_NONE && s->look < HRR_RESYNC_MOST &&
		    (m->a->n >= s->look || m->b->n >= s->look))
			continue;
		if (rc == HRR_MEET_NONE)
			s->tired = passed + HRR_RESYNC_MOST / 4;
		s->look = 0;
		return rc;
	}
}

size_t hrr_align_same(const unsigned char *ops, size_t n, const struct hrr_align_key *a,
		      const struct hrr_align_key *b)
{
	size_t same = 0, i = 0, j = 0;

	for (size_t k = 0; k < n; k++) {
		same += ops[k] == HRR_ALIGN_BOTH && a[i].content == b[j].content;
		i += ops[k] != HRR_ALIGN_B;
		j += ops[k] != HRR_ALIGN_A;
	}
	return same;
}
