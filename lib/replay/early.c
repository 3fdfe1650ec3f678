#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/replay/engine.h"

/*
 * Outputs that stand before the call that delivers them: a thread that waited for the device was
 * told of another thread's call, whose line came behind. They are compared right behind that call.
 */
#define MAX_HELD 1024 /* threads are fewer; an archive may have outputs without calls */

struct hrr_early {
	struct hrr_early *next;
	uint64_t seq, line;
	size_t len;
	char text[];
};

bool hrr_output_is_early(const struct hrr_replay *r, const struct hrr_record *rec)
{
	return r->v.calls != 0 && rec->seq > r->seq;
}

int hrr_output_hold(struct hrr_replay *r, const struct hrr_record *rec)
{
	if (r->n_early == MAX_HELD)
		return hrr_output_told(r, rec);
	struct hrr_early *e = malloc(sizeof *e + rec->json.len), **at = &r->early;

	if (e == NULL)
		return hrr_trouble(r, -ENOMEM, "out of memory");
	*e = (struct hrr_early){.seq = rec->seq, .line = rec->lineno, .len = rec->json.len};
	memcpy(e->text, rec->json.text, e->len);
	while (*at != NULL && (*at)->seq <= e->seq)
		at = &(*at)->next;
	e->next = *at;
	*at = e;
	r->n_early++;
	return 0;
}

static int compare(struct hrr_replay *r, const struct hrr_early *e)
{
	struct hrr_record rec = {0};
	const struct hrr_json *j = r->j;
	struct hrr_diag d = {0};
	uint64_t line = r->line;
	int rc = hrr_record_parse(&rec, e->text, e->len, &d);

	rec.lineno = r->line = e->line;
	r->j = &rec.json;
	if (rc == 0 && r->captures == 0)
		rc = hrr_wait_all(r);
	if (rc == 0)
		rc = hrr_output_told(r, &rec);
	r->j = j;
	r->line = line;
	hrr_record_release(&rec);
	return rc;
}

int hrr_outputs_due(struct hrr_replay *r, uint64_t seq)
{
	int rc = 0;

	while (rc == 0 && r->early != NULL && r->early->seq <= seq) {
		struct hrr_early *e = r->early;
		r->early = e->next;
		r->n_early--;
		rc = compare(r, e);
		free(e);
	}
	return rc;
}

void hrr_early_release(struct hrr_replay *r)
{
	while (r->early != NULL) {
		struct hrr_early *next = r->early->next;
		free(r->early);
		r->early = next;
	}
}
