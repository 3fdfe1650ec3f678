#include "lib/region/svg.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hip/made.h"
#include "lib/region/svg_private.h"

/* What a picture of memory is made from. */

static size_t keep_text(struct hrr_map *m, const char *s)
{
	size_t at = m->text.len;

	if (s == NULL)
		return SIZE_MAX;
	if (hrr_buf_add(&m->text, s, strlen(s) + 1) < 0) {
		m->failed = true;
		return SIZE_MAX;
	}
	return at;
}

static void on_begin(void *self, const struct hrr_thing *x)
{
	struct hrr_map *m = self;
	struct hrr_map_thing t = {.base = x->base,
				  .size = x->size,
				  .from = x->from,
				  .to = HRR_NO_TIME,
				  .seq = x->seq,
				  .kind = (uint8_t)x->kind,
				  .device = x->device};

	if (hrr_buf_add(&m->open, &m->n_things, sizeof m->n_things) < 0) {
		m->failed = true;
		return;
	}
	t.tag = keep_text(m, x->tag);
	t.api = keep_text(m, x->api);
	if (hrr_buf_add(&m->things, &t, sizeof t) < 0)
		m->failed = true;
	else
		m->n_things++;
}

static void on_end(void *self, const struct hrr_thing *x, const struct hrr_record *by)
{
	struct hrr_map *m = self;
	const size_t *open = (const void *)m->open.data;

	if (!m->failed)
		hrr_map_things(m)[open[x->number - 1]].to = by->t != HRR_NO_TIME ? by->t : m->last;
}

struct hrr_map *hrr_map_new(const struct hrr_map_options *opt)
{
	struct hrr_map *m = calloc(1, sizeof *m);

	if (m == NULL)
		return NULL;
	m->opt = *opt;
	m->world = hrr_world_new(&(struct hrr_world_events){on_begin, on_end, m});
	if (m->world == NULL) {
		free(m);
		return NULL;
	}
	hrr_world_process(m->world, opt->p);
	return m;
}

void hrr_map_free(struct hrr_map *m)
{
	if (m == NULL)
		return;
	hrr_world_free(m->world);
	free(m->title);
	hrr_buf_release(&m->things);
	hrr_buf_release(&m->marks);
	hrr_buf_release(&m->text);
	hrr_buf_release(&m->open);
	hrr_buf_release(&m->bands);
	free(m);
}

int hrr_map_title(struct hrr_map *m, const char *title)
{
	char *copy = strdup(title);

	if (copy == NULL)
		return -ENOMEM;
	free(m->title);
	m->title = copy;
	return 0;
}

/* --- marks --- */

struct marking {
	struct hrr_map *m;
	const struct hrr_record *rec;
};

static bool holds(const struct hrr_thing *x, uint64_t addr)
{
	return x != NULL && addr >= x->base && addr - x->base < x->size;
}

/* Why a use is none of live memory, or NULL. */
static const char *why_wrong(const struct hrr_map *m, const struct hrr_use *u, uint64_t *ret_past)
{
	const struct hrr_thing *block = hrr_world_find(m->world, HRR_THING_BLOCK, u->addr),
			       *whole = hrr_world_find(m->world, HRR_THING_SEGMENT, u->addr);

	if (whole == NULL)
		whole = hrr_world_find(m->world, HRR_THING_DEVICE, u->addr);
	if (whole == NULL)
		whole = hrr_world_find(m->world, HRR_THING_HOST, u->addr);
	if (block == NULL && whole == NULL)
		return "nothing lives there";
	if (block == NULL) {
		const struct hrr_thing *a = hrr_world_after(m->world, HRR_THING_BLOCK, u->addr),
				       *b = hrr_world_before(m->world, HRR_THING_BLOCK, u->addr);
		/* Where an allocator tells of its blocks, the rest is nobody's. */
		if ((a != NULL && holds(whole, a->base)) || (b != NULL && holds(whole, b->base)))
			return "in no live block";
	}
	const struct hrr_thing *tight = block != NULL ? block : whole;
	uint64_t left = tight->size - (u->addr - tight->base);
	if (u->size > left) {
		*ret_past = u->size - left;
		return "runs past the end";
	}
	return NULL;
}

static int mark(void *self, const struct hrr_use *u)
{
	struct marking *k = self;
	struct hrr_map *m = k->m;
	uint64_t past = 0;
	const char *why = why_wrong(m, u, &past);
	char text[256], api[64];

	if (why == NULL)
		return 0;
	if (m->n_marks >= HRR_MAP_MAX_MARKS) {
		m->marks_left_out++;
		return 0;
	}
	hrr_mask(api, sizeof api, k->rec->api, k->rec->api_len);
	int n = snprintf(text, sizeof text, "call %" PRIu64 " %s: %s 0x%" PRIx64 ": %s",
			 k->rec->seq, api, u->what, u->addr, why);
	if (past > 0 && n > 0 && (size_t)n < sizeof text)
		snprintf(text + n, sizeof text - (size_t)n, " by %" PRIu64 " bytes", past);
	struct hrr_map_mark x = {.t = k->rec->t, .seq = k->rec->seq};
	/* Where it goes wrong, as far as that is known. */
	x.addr = past > 0 ? u->addr + (u->size - past) : u->addr;
	x.text = keep_text(m, text);
	if (hrr_buf_add(&m->marks, &x, sizeof x) < 0)
		m->failed = true;
	else
		m->n_marks++;
	return 0;
}

int hrr_map_record(struct hrr_map *m, const struct hrr_record *rec, struct hrr_diag *diag)
{
	struct marking k = {m, rec};

	if (!hrr_world_is_mine(m->world, rec))
		return 0;
	if (rec->t != HRR_NO_TIME) {
		uint64_t end = rec->kind == HRR_REC_CALL && rec->dur < UINT64_MAX - rec->t
				   ? rec->t + rec->dur
				   : rec->t;
		if (end > m->last)
			m->last = end;
	}
	if (rec->kind == HRR_REC_CALL && hrr_record_succeeded(rec, hrr_record_row(rec)))
		(void)hrr_call_uses(rec, mark, &k);
	int rc = hrr_world_record(m->world, rec, diag);
	if (rc == 0 && m->failed)
		rc = hrr_diag_set(diag, -ENOMEM, "out of memory");
	return rc;
}
