#include "lib/emu/runtime/sched.h"

#include <stdlib.h>

#include "lib/emu/runtime/capture.h"
#include "lib/emu/runtime/event.h"

static struct event *event_get(hipEvent_t h)
{
	return handle_is(HANDLE_EVENT, h) ? (struct event *)(void *)h : NULL;
}

static hipError_t create(hipEvent_t *ret, unsigned flags)
{
	/* blocking 1, no timing 2, interprocess 4, and AMD's cache flags */
	const unsigned known = 7u | 0x20000000u | 0x40000000u | 0x80000000u;

	if (ret == NULL || (flags & ~known) != 0)
		return hipErrorInvalidValue;
	if ((flags & 4) != 0 && (flags & EVENT_NO_TIMING) == 0)
		return hipErrorInvalidValue; /* what processes share has no times */
	struct event *e = calloc(1, sizeof *e);
	if (e == NULL)
		return hipErrorOutOfMemory;
	e->flags = flags;
	e->device = emu_thread.device;
	rt_lock();
	int rc = handle_add(HANDLE_EVENT, e);
	rt_unlock();
	if (rc < 0) {
		free(e);
		return hipErrorOutOfMemory;
	}
	*ret = (hipEvent_t)(void *)e;
	return hipSuccess;
}

hipError_t emu_hipEventCreate(hipEvent_t *event)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(create(event, 0));
}

hipError_t emu_hipEventCreateWithFlags(hipEvent_t *event, unsigned int flags)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(create(event, flags));
}

hipError_t emu_hipEventDestroy(hipEvent_t event)
{
	EMU_ENTER(EMU_ANY);
	rt_lock();
	struct event *e = event_get(event);
	if (e != NULL) {
		handle_del(e);
		capture_event_reset(e);
		work_unref(e->last);
		free(e);
	}
	rt_unlock();
	return emu_ret(e != NULL ? hipSuccess : hipErrorInvalidHandle);
}

hipError_t event_record(struct event *e, struct stream *s)
{
	struct op op = {.kind = OP_NONE};
	struct work *w = NULL;

	if (e->device != s->device)
		return hipErrorInvalidHandle;
	hipError_t rc = sched_submit(s, &op, NULL, 0, &w);
	if (rc == hipSuccess) {
		capture_event_reset(e);
		work_unref(e->last);
		e->last = w;
		e->in_graph = false;
	}
	return rc;
}

hipError_t event_record_handle(hipEvent_t event, struct stream *s)
{
	bool done = false;
	struct event *e = event_get(event);

	if (e == NULL)
		return hipErrorInvalidHandle;
	hipError_t rc = capture_record(e, s, &done);
	if (rc == hipSuccess && !done)
		rc = event_record(e, s);
	return rc;
}

static hipError_t record(hipEvent_t event, hipStream_t stream, bool spt)
{
	struct stream *s;

	rt_lock();
	hipError_t rc = stream_get(stream, spt, &s);
	if (rc == hipSuccess)
		rc = event_record_handle(event, s);
	rt_unlock();
	return rc;
}

hipError_t emu_hipEventRecord(hipEvent_t event, hipStream_t stream)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(record(event, stream, false));
}

hipError_t emu_hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned int flags)
{
	EMU_ENTER(EMU_WORK);
	if (flags != 0) /* external: a node of its own in a capture */
		return emu_not_supported("hipEventRecordExternal");
	return emu_ret(record(event, stream, false));
}

/* The event asked whether it is done; NULL: *ret_rc says why not. To ask a captured one ends its
 * capture. */
static struct event *event_done_get(hipEvent_t h, hipError_t *ret_rc)
{
	struct event *e = event_get(h);

	*ret_rc = e != NULL ? hipSuccess : hipErrorInvalidHandle;
	if (e != NULL && e->capture != NULL) {
		e->capture->invalid = true;
		*ret_rc = hipErrorCapturedEvent;
		return NULL;
	}
	return e;
}

hipError_t emu_hipEventQuery(hipEvent_t event)
{
	EMU_ENTER(EMU_WORK);
	rt_lock();
	hipError_t rc;
	struct event *e = event_done_get(event, &rc);
	if (e != NULL) {
		int device = e->device;
		rc = sched_poll_work(e->last) ? rt.dev[device].sticky : hipErrorNotReady;
	}
	rt_unlock();
	return emu_ret(rc);
}

hipError_t emu_hipEventSynchronize(hipEvent_t event)
{
	EMU_ENTER(EMU_WORK);
	rt_lock();
	hipError_t rc;
	struct event *e = event_done_get(event, &rc);
	if (e != NULL && e->last != NULL)
		rc = sched_wait_work(e->last);
	rt_unlock();
	return emu_ret(rc);
}

void event_node_ran(hipEvent_t h)
{
	rt_lock();
	struct event *e = event_get(h);
	if (e != NULL)
		e->node_time = rt_now();
	rt_unlock();
}

/* When it was recorded; it is done. */
static uint64_t event_time(const struct event *e)
{
	return e->in_graph ? e->node_time : e->last->time;
}

hipError_t emu_hipEventElapsedTime(float *ms, hipEvent_t start, hipEvent_t stop)
{
	EMU_ENTER(EMU_WORK);
	if (ms == NULL)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	struct event *a = event_get(start), *b = event_get(stop);
	hipError_t rc = hipSuccess;
	if (a == NULL || b == NULL || a->last == NULL || b->last == NULL ||
	    ((a->flags | b->flags) & EVENT_NO_TIMING) != 0 || a->device != b->device)
		rc = hipErrorInvalidHandle;
	else {
		/* Both: each not-ready one takes a step. */
		struct work *wa = work_ref(a->last), *wb = work_ref(b->last);
		bool first = sched_poll_work(wa), second = sched_poll_work(wb);
		if (!first || !second)
			rc = hipErrorNotReady;
		else
			*ms = (float)((double)(int64_t)(event_time(b) - event_time(a)) / 1e6);
		work_unref(wa);
		work_unref(wb);
	}
	rt_unlock();
	return emu_ret(rc);
}
