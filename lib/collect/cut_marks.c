#include "lib/collect/cut.h"

#include <string.h>

#include "lib/base/json.h"

/*
 * Markers of before the window. One that stands for itself goes; the begin of a range stays as long
 * as its end has not come, or comes inside the window. Ranges are of a thread (push, pop), have a
 * number (start, stop), or are there once (profilerStart, profilerStop).
 */
enum range { PUSHED, STARTED, PROFILER, NO_RANGE };

struct open {
	uint64_t place; /* of the marker, counted from 0 */
	uint64_t key;
	uint32_t range;
};

static const struct {
	const char *name;
	enum range range;
	bool begins;
} names[] = {
    {"push", PUSHED, true},
    {"pop", PUSHED, false},
    {"start", STARTED, true},
    {"stop", STARTED, false},
    {"profilerStart", PROFILER, true},
    {"profilerStop", PROFILER, false},
};

static enum range range_of(const struct hrr_record *rec, bool *ret_begins, uint64_t *ret_key)
{
	const struct hrr_json *j = &rec->json;
	int node = hrr_json_get(j, 0, "marker");

	*ret_key = 0;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (!hrr_json_is(j, node, names[i].name))
			continue;
		*ret_begins = names[i].begins;
		if (names[i].range == PUSHED)
			(void)hrr_json_u64(j, hrr_json_get(j, 0, "tid"), ret_key);
		else if (names[i].range == STARTED)
			(void)hrr_json_addr(j, hrr_json_get(j, 0, "id"), ret_key);
		return names[i].range;
	}
	return NO_RANGE;
}

bool cut_is_mark(const struct hrr_record *rec, uint64_t *ret_t)
{
	if (rec->kind != HRR_REC_OTHER || hrr_json_get(&rec->json, 0, "marker") < 0)
		return false;
	*ret_t = 0;
	(void)hrr_json_u64(&rec->json, hrr_json_get(&rec->json, 0, "t"), ret_t);
	return true;
}

int cut_mark_old(struct cut_marks *m, const struct hrr_record *rec)
{
	struct open *all = (struct open *)(void *)m->open.data;
	size_t n = m->open.len / sizeof *all;
	struct open x = {.place = m->seen++};
	bool begins;
	enum range range = range_of(rec, &begins, &x.key);

	if (range == NO_RANGE)
		return 0;
	x.range = range;
	if (begins)
		return hrr_buf_add(&m->open, &x, sizeof x);
	for (size_t i = n; i-- > 0;)
		if (all[i].range == x.range && all[i].key == x.key) {
			memmove(all + i, all + i + 1, (n - i - 1) * sizeof *all);
			m->open.len -= sizeof *all;
			break;
		}
	return 0;
}

bool cut_mark_stays(struct cut_marks *m)
{
	const struct open *all = (const struct open *)(const void *)m->open.data;
	bool stays = m->next < m->open.len / sizeof *all && all[m->next].place == m->place;

	m->place++;
	m->next += stays;
	return stays;
}

void cut_marks_release(struct cut_marks *m)
{
	hrr_buf_release(&m->open);
	*m = (struct cut_marks){0};
}
