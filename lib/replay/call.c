#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/replay/engine.h"

int64_t hrr_call(struct hrr_replay *r, enum hrr_api api, const uint64_t *args)
{
	return hrr_hip_call(r->hip, api, args);
}

int hrr_set_device(struct hrr_replay *r, int device)
{
	char buf[32];

	if (device == r->device)
		return 0;
	if (device < 0 || device >= r->n_devices || device >= HRR_MAX_DEVICES)
		return hrr_fail(r, "device %d: this run time has %d", device, r->n_devices);
	int64_t e = HRR_CALL(r, hipSetDevice, (uint64_t)device);
	if (e != hipSuccess)
		return hrr_fail(r, "hipSetDevice %d: %s", device, hrr_error_text(e, buf));
	r->device = device;
	return 0;
}

struct hrr_thread *hrr_thread(struct hrr_replay *r, uint64_t tid)
{
	if (r->n_threads != 0 && r->last_tid == tid)
		return &r->threads[r->last_thread];
	size_t i = 0;
	while (i < r->n_threads && r->threads[i].tid != tid)
		i++;
	if (i == r->n_threads) {
		if (r->n_threads == r->cap_threads) {
			size_t cap = r->cap_threads == 0 ? 16 : r->cap_threads * 2;
			struct hrr_thread *t = realloc(r->threads, cap * sizeof *t);
			if (t == NULL)
				return NULL;
			r->threads = t;
			r->cap_threads = cap;
		}
		r->threads[r->n_threads++] = (struct hrr_thread){.tid = tid};
	}
	r->last_tid = tid;
	r->last_thread = i;
	return &r->threads[i];
}

int hrr_settle(struct hrr_replay *r, struct hrr_event *ev, int64_t got)
{
	char a[32], b[32];

	if (ev->row->ret != HRR_RET_ERROR)
		return 0;
	if (got != hipSuccess && got != hipErrorNotReady)
		ev->th->last_error = got;
	if (got == ev->recorded || ev->row->fail == HRR_FAIL_IGNORE) /* timing */
		return 0;
	/* The run time keeps its own last error; the next recorded call must not meet it. */
	if (got == hipErrorNotSupported && r->hip->fn[ev->api] == NULL)
		return hrr_fail(r, "the run time has no %s", ev->row->name);
	if (ev->recorded == hipSuccess)
		return hrr_fail(r, "succeeded when recorded, replay says %s",
				hrr_error_text(got, a));
	return hrr_fail(r, "recorded as %s, replay says %s", hrr_error_text(ev->recorded, a),
			hrr_error_text(got, b));
}

int hrr_issue(struct hrr_replay *r, struct hrr_event *ev)
{
	return hrr_settle(r, ev, hrr_call(r, ev->api, ev->live));
}

/*
 * While a capture is open, calls that are not part of it may be forbidden (and
 * would end it): the thread's mode is relaxed around the engine's own ones.
 */
void hrr_relax(struct hrr_replay *r, int *saved)
{
	*saved = -1;
	if (r->captures == 0)
		return;
	int mode = hipStreamCaptureModeRelaxed;
	if (HRR_CALL(r, hipThreadExchangeStreamCaptureMode, HRR_P(&mode)) == hipSuccess)
		*saved = mode;
}

void hrr_unrelax(struct hrr_replay *r, int saved)
{
	if (saved >= 0)
		HRR_CALL(r, hipThreadExchangeStreamCaptureMode, HRR_P(&saved));
}
