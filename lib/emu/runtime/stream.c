#include "lib/emu/runtime/sched.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "lib/emu/runtime/capture.h"

#define LEGACY ((hipStream_t)1)
#define PER_THREAD ((hipStream_t)2)

enum { PRIORITY_LEAST = 1, PRIORITY_GREATEST = -1 };

static pthread_key_t thread_key;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;

struct stream *stream_new(int device, unsigned flags, int priority)
{
	static uint64_t id;
	struct stream *s = calloc(1, sizeof *s);

	if (s == NULL)
		return NULL;
	s->device = device;
	s->flags = flags;
	s->priority = priority;
	s->id = ++id;
	s->next = rt.dev[device].streams;
	rt.dev[device].streams = s;
	return s;
}

void stream_free_if_idle(struct stream *s)
{
	if (s->head != NULL)
		return;
	for (struct stream **p = &rt.dev[s->device].streams; *p != NULL; p = &(*p)->next)
		if (*p == s) {
			*p = s->next;
			break;
		}
	free(s->cap_deps);
	free(s);
}

static void stream_destroy(struct stream *s)
{
	handle_del(s);
	capture_stream_gone(s);
	s->destroyed = true;
	/* What is queued still runs; the last work takes the stream along. */
	stream_free_if_idle(s);
}

static void thread_ends(void *arg)
{
	struct stream **own = arg;

	rt_lock();
	for (int d = 0; d < EMU_MAX_DEVICES; d++)
		if (own[d] != NULL)
			stream_destroy(own[d]);
	rt_unlock();
	free(own);
}

static void make_key(void)
{
	pthread_key_create(&thread_key, thread_ends);
}

static struct stream *own_stream(void)
{
	int d = emu_thread.device;

	if (emu_thread.own[d] != NULL)
		return emu_thread.own[d];
	pthread_once(&thread_once, make_key);
	/* The destructor's copy: thread-local storage is gone or not by then, who knows. */
	struct stream **own = pthread_getspecific(thread_key);
	if (own == NULL) {
		own = calloc(EMU_MAX_DEVICES, sizeof *own);
		if (own == NULL)
			return NULL;
		if (pthread_setspecific(thread_key, own) != 0) {
			free(own);
			return NULL;
		}
	}
	own[d] = emu_thread.own[d] = stream_new(d, 0, 0);
	return own[d];
}

hipError_t stream_get(hipStream_t h, bool spt, struct stream **ret_stream)
{
	struct device *d = rt_device();

	if (h == PER_THREAD || (h == NULL && spt)) {
		*ret_stream = own_stream();
		return *ret_stream != NULL ? hipSuccess : hipErrorOutOfMemory;
	}
	if (h == NULL || h == LEGACY) {
		if (d->null_stream == NULL) {
			d->null_stream = stream_new(d->index, 0, 0);
			if (d->null_stream == NULL)
				return hipErrorOutOfMemory;
			d->null_stream->null = true;
		}
		*ret_stream = d->null_stream;
		return hipSuccess;
	}
	if (!handle_is(HANDLE_STREAM, h))
		return hipErrorContextIsDestroyed; /* what HIP says of a stream that is not there */
	*ret_stream = (struct stream *)(void *)h;
	return hipSuccess;
}

static hipError_t create(hipStream_t *ret, unsigned flags, int priority, const uint32_t *mask,
			 unsigned n_mask)
{
	if (ret == NULL || (flags & ~STREAM_NONBLOCKING) != 0)
		return hipErrorInvalidValue;
	if (priority < PRIORITY_GREATEST)
		priority = PRIORITY_GREATEST;
	if (priority > PRIORITY_LEAST)
		priority = PRIORITY_LEAST;
	rt_lock();
	struct stream *s = stream_new(emu_thread.device, flags, priority);
	if (s != NULL && handle_add(HANDLE_STREAM, s) < 0) {
		stream_free_if_idle(s);
		s = NULL;
	}
	if (s != NULL) {
		s->n_cu_mask = n_mask < 8 ? n_mask : 8;
		if (mask != NULL)
			memcpy(s->cu_mask, mask, s->n_cu_mask * sizeof *mask);
		*ret = (hipStream_t)(void *)s;
	}
	rt_unlock();
	return s != NULL ? hipSuccess : hipErrorOutOfMemory;
}

hipError_t emu_hipStreamCreate(hipStream_t *stream)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(create(stream, 0, 0, NULL, 0));
}

hipError_t emu_hipStreamCreateWithFlags(hipStream_t *stream, unsigned int flags)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(create(stream, flags, 0, NULL, 0));
}

hipError_t emu_hipStreamCreateWithPriority(hipStream_t *stream, unsigned int flags, int priority)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(create(stream, flags, priority, NULL, 0));
}

hipError_t emu_hipExtStreamCreateWithCUMask(hipStream_t *stream, uint32_t cuMaskSize,
					    uint32_t *cuMask)
{
	EMU_ENTER(EMU_WORK);
	if (cuMask == NULL || cuMaskSize == 0)
		return emu_ret(hipErrorInvalidValue);
	return emu_ret(create(stream, 0, 0, cuMask, cuMaskSize));
}

hipError_t emu_hipDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
	EMU_ENTER(EMU_ANY);
	if (leastPriority != NULL)
		*leastPriority = PRIORITY_LEAST;
	if (greatestPriority != NULL)
		*greatestPriority = PRIORITY_GREATEST;
	return emu_ret(hipSuccess);
}

hipError_t emu_hipStreamDestroy(hipStream_t stream)
{
	struct stream *s;

	EMU_ENTER(EMU_ANY);
	rt_lock();
	hipError_t e = stream == NULL || stream == LEGACY || stream == PER_THREAD
			   ? hipErrorInvalidHandle
			   : stream_get(stream, false, &s);
	if (e == hipSuccess)
		stream_destroy(s);
	rt_unlock();
	return emu_ret(e);
}

/* The whole of a question that a field of the stream answers: size bytes at an offset. */
static hipError_t ask(hipStream_t stream, bool spt, size_t offset, void *ret, size_t size)
{
	struct stream *s;

	EMU_ENTER(EMU_WORK);
	if (ret == NULL)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	hipError_t e = stream_get(stream, spt, &s);
	if (e == hipSuccess)
		memcpy(ret, (const char *)s + offset, size);
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipStreamGetFlags(hipStream_t stream, unsigned int *flags)
{
	if (stream == NULL) { /* HIP knows none of that one */
		EMU_ENTER(EMU_WORK);
		return emu_ret(hipErrorInvalidValue);
	}
	return ask(stream, false, offsetof(struct stream, flags), flags, sizeof *flags);
}

hipError_t emu_hipStreamGetFlags_spt(hipStream_t stream, unsigned int *flags)
{
	return ask(stream, true, offsetof(struct stream, flags), flags, sizeof *flags);
}

hipError_t emu_hipStreamGetPriority(hipStream_t stream, int *priority)
{
	return ask(stream, false, offsetof(struct stream, priority), priority, sizeof *priority);
}

hipError_t emu_hipStreamGetPriority_spt(hipStream_t stream, int *priority)
{
	return ask(stream, true, offsetof(struct stream, priority), priority, sizeof *priority);
}

hipError_t emu_hipStreamGetDevice(hipStream_t stream, int *device)
{
	return ask(stream, false, offsetof(struct stream, device), device, sizeof *device);
}

hipError_t emu_hipStreamGetId(hipStream_t stream, uint64_t *streamId)
{
	return ask(stream, false, offsetof(struct stream, id), streamId, sizeof *streamId);
}

int emu_hipGetStreamDeviceId(hipStream_t stream)
{
	struct stream *s;
	int device = -1;

	if (emu_enter(EMU_ANY) != hipSuccess)
		return -1;
	rt_lock();
	if (stream_get(stream, false, &s) == hipSuccess)
		device = s->device;
	rt_unlock();
	return device;
}

static hipError_t query(hipStream_t stream, bool spt)
{
	struct stream *s;

	rt_lock();
	hipError_t e = stream_get(stream, spt, &s);
	if (e == hipSuccess)
		e = capture_wait_check(s);
	if (e == hipSuccess) {
		int device = s->device;
		e = sched_poll_stream(s) ? rt.dev[device].sticky : hipErrorNotReady;
	}
	rt_unlock();
	return e;
}

hipError_t emu_hipStreamQuery(hipStream_t stream)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(query(stream, false));
}

hipError_t emu_hipStreamQuery_spt(hipStream_t stream)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(query(stream, true));
}

static hipError_t synchronize(hipStream_t stream, bool spt)
{
	struct stream *s;

	rt_lock();
	hipError_t e = stream_get(stream, spt, &s);
	if (e == hipSuccess)
		e = capture_wait_check(s);
	if (e == hipSuccess && s->null) {
		/* The null stream comes after all blocking streams of its device. */
		struct op op = {.kind = OP_NONE};
		struct work *w = NULL;
		e = sched_submit(s, &op, NULL, 0, &w);
		if (e == hipSuccess)
			e = sched_wait_work(w);
		work_unref(w);
	} else if (e == hipSuccess) {
		e = sched_wait_stream(s);
	}
	rt_unlock();
	return e;
}

hipError_t emu_hipStreamSynchronize(hipStream_t stream)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(synchronize(stream, false));
}

hipError_t emu_hipStreamSynchronize_spt(hipStream_t stream)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(synchronize(stream, true));
}

static hipError_t wait_event(hipStream_t stream, hipEvent_t event, unsigned flags, bool spt)
{
	struct stream *s;
	bool done = false;

	if (flags != 0)
		return hipErrorInvalidValue;
	rt_lock();
	hipError_t e = stream_get(stream, spt, &s);
	if (e == hipErrorContextIsDestroyed || !handle_is(HANDLE_EVENT, event))
		e = hipErrorInvalidHandle;
	if (e == hipSuccess) {
		struct event *ev = (struct event *)(void *)event;
		e = capture_wait(s, ev, &done);
		if (e == hipSuccess && !done && ev->last != NULL && ev->last->state != WORK_DONE) {
			struct op op = {.kind = OP_NONE};
			struct work *on = work_ref(ev->last);
			e = sched_submit(s, &op, &on, 1, NULL);
			work_unref(on);
		}
	}
	rt_unlock();
	return e;
}

hipError_t emu_hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned int flags)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(wait_event(stream, event, flags, false));
}

hipError_t emu_hipStreamWaitEvent_spt(hipStream_t stream, hipEvent_t event, unsigned int flags)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(wait_event(stream, event, flags, true));
}

/* --- host functions and values ------------------------------------------------- */

/* Queues what no capture can hold: an open one is spoilt. */
static hipError_t submit_uncaptured(hipStream_t stream, struct op op)
{
	struct stream *s;

	rt_lock();
	hipError_t e = stream_get(stream, false, &s);
	if (e == hipSuccess && s->capture != NULL) {
		s->capture->invalid = true;
		e = hipErrorStreamCaptureUnsupported;
	} else if (e == hipSuccess) {
		e = sched_submit(s, &op, NULL, 0, NULL);
	}
	rt_unlock();
	return e;
}

hipError_t emu_hipStreamAddCallback(hipStream_t stream, void *callback, void *userData,
				    unsigned int flags)
{
	struct op op = {.kind = OP_HOST};

	EMU_ENTER(EMU_WORK);
	if (callback == NULL || flags != 0)
		return emu_ret(hipErrorInvalidValue);
	memcpy(&op.u.host.callback, &callback, sizeof callback);
	op.u.host.stream = stream;
	op.u.host.data = userData;
	return emu_ret(submit_uncaptured(stream, op));
}

hipError_t emu_hipLaunchHostFunc(hipStream_t stream, void *fn, void *userData)
{
	struct op op = {.kind = OP_HOST};
	struct stream *s;

	EMU_ENTER(EMU_WORK);
	if (fn == NULL)
		return emu_ret(hipErrorInvalidValue);
	memcpy(&op.u.host.fn, &fn, sizeof fn);
	op.u.host.data = userData;
	rt_lock();
	hipError_t e = stream_get(stream, false, &s);
	if (e == hipSuccess)
		e = capture_submit(s, &op, NULL);
	rt_unlock();
	return emu_ret(e);
}

static hipError_t value(hipStream_t stream, enum op_kind kind, void *ptr, uint64_t v, unsigned size,
			unsigned flags, uint64_t mask)
{
	struct op op = {.kind = kind};

	if (ptr == NULL || (kind == OP_WAIT_VALUE && flags > 3))
		return hipErrorInvalidValue;
	op.u.value.addr = (uintptr_t)ptr;
	op.u.value.value = v;
	op.u.value.mask = mask;
	op.u.value.size = size;
	op.u.value.flags = flags;
	return submit_uncaptured(stream, op);
}

hipError_t emu_hipStreamWaitValue32(hipStream_t stream, void *ptr, uint32_t v, unsigned int flags,
				    uint32_t mask)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(value(stream, OP_WAIT_VALUE, ptr, v, 4, flags, mask));
}

hipError_t emu_hipStreamWaitValue64(hipStream_t stream, void *ptr, uint64_t v, unsigned int flags,
				    uint64_t mask)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(value(stream, OP_WAIT_VALUE, ptr, v, 8, flags, mask));
}

hipError_t emu_hipStreamWriteValue32(hipStream_t stream, void *ptr, uint32_t v, unsigned int flags)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(value(stream, OP_WRITE_VALUE, ptr, v, 4, flags, 0));
}

hipError_t emu_hipStreamWriteValue64(hipStream_t stream, void *ptr, uint64_t v, unsigned int flags)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(value(stream, OP_WRITE_VALUE, ptr, v, 8, flags, 0));
}

hipError_t emu_hipStreamBatchMemOp(hipStream_t stream, unsigned int count,
				   struct hipStreamBatchMemOpParams *paramArray, unsigned int flags)
{
	EMU_ENTER(EMU_WORK);
	if (flags != 0 || count == 0 || count > 256 || paramArray == NULL)
		return emu_ret(hipErrorInvalidValue);
	hipError_t e = hipSuccess;
	for (unsigned i = 0; e == hipSuccess && i < count; i++) {
		const struct hipStreamBatchMemOpParams *p = &paramArray[i];
		uint32_t v = (uint32_t)p->value64;
		switch (p->operation) {
		case hipStreamMemOpWaitValue32:
			e = value(stream, OP_WAIT_VALUE, p->address, v, 4, p->flags, UINT32_MAX);
			break;
		case hipStreamMemOpWaitValue64:
			e = value(stream, OP_WAIT_VALUE, p->address, p->value64, 8, p->flags,
				  UINT64_MAX);
			break;
		case hipStreamMemOpWriteValue32:
			e = value(stream, OP_WRITE_VALUE, p->address, v, 4, p->flags, 0);
			break;
		case hipStreamMemOpWriteValue64:
			e = value(stream, OP_WRITE_VALUE, p->address, p->value64, 8, p->flags, 0);
			break;
		case hipStreamMemOpFlushRemoteWrites:
		case hipStreamMemOpBarrier:
			break; /* work of a stream is in order, and memory is one */
		default:
			e = hipErrorInvalidValue;
			break;
		}
	}
	return emu_ret(e);
}
