#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "lib/replay/engine.h"

/*
 * Waiting is asking again and again, so that the watchdog and signals are heard
 * and the end of replay stays orderly. Only where the run time cannot be asked, it waits itself.
 */

#define WAIT_SPINS 200
#define SIGNAL_WAIT 5	     /* seconds the device is given after a signal */
#define WAIT_NAP_MAX 1000000 /* ns */

struct waiting {
	struct timespec since;
	unsigned spins;
	long nap;
};

static int waiting_step(struct hrr_replay *r, struct waiting *w)
{
	struct timespec now;

	bool interrupted = r->opt.interrupt != NULL && *r->opt.interrupt != 0;
	unsigned limit = r->opt.watchdog;
	if (interrupted && !r->finished)
		return hrr_trouble(r, -EINTR, "interrupted while waiting for the device");
	/* The end itself is waited for, also after a signal, but then not for long. */
	if (interrupted && (limit == 0 || limit > SIGNAL_WAIT))
		limit = SIGNAL_WAIT;
	if (w->spins++ < WAIT_SPINS) {
		sched_yield();
		return 0;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (w->nap == 0) {
		w->nap = 20000;
		w->since = now;
	}
	time_t waited = now.tv_sec - w->since.tv_sec - (now.tv_nsec < w->since.tv_nsec);
	if (limit != 0 && waited >= (time_t)limit)
		return hrr_trouble(r, -ETIMEDOUT,
				   "watchdog: the device is still busy after %u seconds", limit);
	nanosleep(&(struct timespec){.tv_nsec = w->nap}, NULL);
	if (w->nap < WAIT_NAP_MAX)
		w->nap += w->nap / 4;
	return 0;
}

/* 0 and the state's error (hipSuccess: done), or negative: trouble. */
static int poll_handle(struct hrr_replay *r, enum hrr_api query, enum hrr_api sync, uint64_t live,
		       int64_t *ret_error)
{
	struct waiting w = {0};

	for (;;) {
		int64_t e = r->no_query ? hipErrorNotSupported
					: hrr_call(r, query, (const uint64_t[]){live});
		if (e == hipErrorNotSupported) {
			e = hrr_call(r, sync, (const uint64_t[]){live});
			*ret_error = e;
			return 0;
		}
		if (e != hipErrorNotReady) {
			*ret_error = e;
			return 0;
		}
		int rc = waiting_step(r, &w);
		if (rc < 0)
			return rc;
	}
}

static int waited(struct hrr_replay *r, int rc, int64_t e, const char *what)
{
	char buf[32];

	if (rc < 0 || e == hipSuccess)
		return rc;
	r->device_error = e;
	return hrr_fail(r, "waiting for %s: %s", what, hrr_error_text(e, buf));
}

int hrr_wait_stream(struct hrr_replay *r, uint64_t live)
{
	int64_t e = hipSuccess;
	int rc = poll_handle(r, HRR_API_hipStreamQuery, HRR_API_hipStreamSynchronize, live, &e);
	return waited(r, rc, e, "a stream");
}

int hrr_wait_launch(struct hrr_replay *r, uint64_t live)
{
	for (int i = 0; r->value_waits && i < 1000; i++) {
		if (HRR_CALL(r, hipStreamQuery, live) != hipErrorNotReady)
			return hrr_wait_stream(r, live);
		sched_yield();
	}
	return r->value_waits ? 0 : hrr_wait_stream(r, live);
}

int hrr_wait_event(struct hrr_replay *r, uint64_t live)
{
	int64_t e = hipSuccess;
	int rc = poll_handle(r, HRR_API_hipEventQuery, HRR_API_hipEventSynchronize, live, &e);
	return waited(r, rc, e, "an event");
}

/* Calls fn for every live stream that may be asked; stops at non-zero. */
static int each_stream(struct hrr_replay *r, int (*fn)(struct hrr_replay *r, uint64_t live))
{
	struct hrr_held_map *m = &r->held[HRR_H_STREAM];
	int rc = 0, device = r->device;

	for (size_t i = 0; rc == 0 && i < m->cap; i++)
		if (m->slot[i].recorded != 0 && m->slot[i].info == NULL)
			rc = fn(r, m->slot[i].live);
	for (struct hrr_deferred *d = r->deferred; rc == 0 && d != NULL; d = d->next)
		if (d->kind == HRR_DEFER_STREAM)
			rc = fn(r, d->live);
	/* While a capture is open, asking the null stream would end it. */
	for (int d = 0; rc == 0 && r->captures == 0 && d < r->n_devices && d < HRR_MAX_DEVICES; d++)
		if (r->used[d] || d == 0) {
			rc = hrr_set_device(r, d);
			if (rc == 0)
				rc = fn(r, 0);
		}
	if (r->device != device && hrr_set_device(r, device) < 0 && rc == 0)
		rc = -EPROTO;
	return rc;
}

int hrr_wait_queued(struct hrr_replay *r)
{
	return each_stream(r, hrr_wait_stream);
}

int hrr_wait_all(struct hrr_replay *r)
{
	int rc = hrr_wait_queued(r);

	if (rc < 0)
		return rc;
	if (r->captures != 0)
		return 0;
	return hrr_settled(r);
}

static int ask(struct hrr_replay *r, uint64_t live)
{
	return HRR_CALL(r, hipStreamQuery, live) == hipErrorNotReady;
}

bool hrr_idle(struct hrr_replay *r)
{
	if (r->captures != 0)
		return false;
	if (r->no_query)
		return hrr_wait_all(r) == 0;
	return each_stream(r, ask) == 0;
}

int hrr_settled(struct hrr_replay *r)
{
	r->epoch++;
	r->waited = r->seq;
	r->owed_wait = r->owed_back = r->value_waits = false;
	int rc = hrr_run_deferred(r);
	int rc2 = hrr_mem_reap(r);
	while (r->staged != NULL) {
		struct hrr_staged *next = r->staged->next;
		hrr_blob_release(&r->staged->blob);
		free(r->staged);
		r->staged = next;
	}
	r->staged_bytes = 0;
	hrr_landing_trim(r);
	return rc < 0 ? rc : rc2;
}

int hrr_settle_if_idle(struct hrr_replay *r)
{
	if (r->dead == NULL && r->deferred == NULL && r->staged == NULL)
		return 0;
	return hrr_idle(r) ? hrr_settled(r) : 0;
}
