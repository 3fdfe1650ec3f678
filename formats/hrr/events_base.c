#include "formats/hrr/events_private.h"

/* Lengths of the nine, by place; the second of __hipRegisterVar is version 6's. */
static const uint16_t nine[HRR_UP_COMPILER_CALLS][2] = {
    {68, 68}, {76, 76}, {64, 64}, {108, 108}, {76, 76}, {72, 72}, {76, 76}, {84, 349}, {40, 40}};

static unsigned fits(uint32_t len)
{
	unsigned mask = 0;

	for (int k = 0; k < HRR_UP_COMPILER_CALLS; k++)
		if (len == nine[k][0] || len == nine[k][1])
			mask |= 1u << k;
	return mask;
}

void hrr_events_vote(struct hrr_votes *v, unsigned type, uint32_t len)
{
	if (type < BASE_FIRST || type - BASE_FIRST >= TYPES)
		return;
	unsigned i = type - BASE_FIRST;
	v->mask[i] = (uint16_t)((v->seen[i] ? v->mask[i] : 0x1ff) & fits(len));
	v->seen[i] = true;
}

void hrr_events_count_votes(struct hrr_events_facts *f, const struct hrr_votes *v)
{
	int best = 0;

	f->base = f->base_other = -1;
	for (int b = BASE_FIRST; b <= BASE_LAST; b++) {
		int score = 0;
		for (int k = 0; k < HRR_UP_COMPILER_CALLS && score >= 0; k++) {
			int i = b + k - BASE_FIRST;
			if (v->seen[i])
				score = v->mask[i] >> k & 1 ? score + 1 : -1;
		}
		if (b > BASE_NEAR && score < 2)
			continue; /* one record alone may be anything */
		if (score > best) {
			best = score;
			f->base = b;
			f->base_other = -1;
		} else if (score > 0 && score == best && f->base_other < 0) {
			f->base_other = b;
		}
	}
	/* Where several fit, the base of the released builds goes first. */
	if (f->base_other == HRR_UP_COMPILER_BASE) {
		f->base_other = f->base;
		f->base = HRR_UP_COMPILER_BASE;
	}
}
