#include <errno.h>
#include <stdlib.h>

#include "lib/replay/engine.h"

/*
 * Releases take their number when they begin. One that would wait for the device
 * might wait for what a later record brings, so it is put off until the device is idle.
 */

int hrr_defer(struct hrr_replay *r, enum hrr_deferred_kind kind, struct hrr_event *ev,
	      uint64_t recorded, uint64_t live, struct hrr_registration *reg)
{
	struct hrr_deferred *d = calloc(1, sizeof *d);

	if (d == NULL)
		return hrr_trouble(r, -ENOMEM, "out of memory");
	*d = (struct hrr_deferred){.kind = kind,
				   .seq = ev->seq,
				   .line = ev->rec->lineno,
				   .recorded = recorded,
				   .live = live,
				   .reg = reg};
	*r->deferred_end = d;
	r->deferred_end = &d->next;
	return 0;
}

static int run_one(struct hrr_replay *r, struct hrr_deferred *d)
{
	int64_t e = hipSuccess;
	const char *what = "";
	char buf[32];

	switch (d->kind) {
	case HRR_DEFER_UNREGISTER:
		return hrr_unregister_now(r, d->reg);
	case HRR_DEFER_MODULE:
		what = "hipModuleUnload";
		e = HRR_CALL(r, hipModuleUnload, d->live);
		break;
	case HRR_DEFER_STREAM:
		what = "hipStreamDestroy";
		e = HRR_CALL(r, hipStreamDestroy, d->live);
		break;
	}
	return e == hipSuccess
		   ? 0
		   : hrr_fail(r, "%s of 0x%llx, put off until the device was idle: %s", what,
			      (unsigned long long)d->recorded, hrr_error_text(e, buf));
}

/* A release that was put off has failed: the outcome is its own, whatever is in hand now. */
void hrr_late_failure(struct hrr_replay *r, const char *api, uint64_t seq, uint64_t line)
{
	struct hrr_outcome o = {.kind = HRR_FAILED,
				.line = line,
				.seq = seq,
				.node = -1,
				.api = api,
				.text = r->diag.what};

	hrr_report(r, &o);
	r->diag.what[0] = '\0';
	r->late_failure = true;
}

int hrr_run_deferred(struct hrr_replay *r)
{
	static const char *const names[] = {[HRR_DEFER_UNREGISTER] = "hipHostUnregister",
					    [HRR_DEFER_MODULE] = "hipModuleUnload",
					    [HRR_DEFER_STREAM] = "hipStreamDestroy"};

	while (r->deferred != NULL) {
		struct hrr_deferred *d = r->deferred;
		r->deferred = d->next;
		if (r->deferred == NULL)
			r->deferred_end = &r->deferred;
		if (run_one(r, d) < 0)
			hrr_late_failure(r, names[d->kind], d->seq, d->line);
		free(d);
	}
	return 0;
}
