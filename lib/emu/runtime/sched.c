#include "lib/emu/runtime/sched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/emu/runtime/copy.h"
#include "lib/hip/table.h"

static struct stream *active; /* streams with a non-empty queue, oldest first */
static struct stream *active_last;
static unsigned n_workers, n_idle; /* threads of async mode; of the others' watchdog */
static uint64_t last_entry;	   /* when the program last called us */

#define MAX_WORKERS 64
/* Queued work that nobody asked for runs after the program was silent this long: it may be
 * waiting in its own way, on memory or on what a host function does. */
#define SILENCE_NS 100000000u

struct work *work_ref(struct work *w)
{
	if (w != NULL)
		w->refs++;
	return w;
}

void work_unref(struct work *w)
{
	if (w == NULL || --w->refs > 0)
		return;
	for (unsigned i = 0; i < w->n_deps; i++)
		work_unref(w->deps[i]);
	free(w->deps);
	op_release(&w->op);
	free(w);
}

static void drop_deps(struct work *w)
{
	/* Early, so that long chains of done work do not hang on to each other. */
	for (unsigned i = 0; i < w->n_deps; i++)
		work_unref(w->deps[i]);
	w->n_deps = 0;
}

static int add_dep(struct work *w, struct work *on)
{
	if (on == NULL || on->state == WORK_DONE)
		return 0;
	struct work **p = realloc(w->deps, (w->n_deps + 1) * sizeof *p);
	if (p == NULL)
		return -ENOMEM;
	w->deps = p;
	w->deps[w->n_deps++] = work_ref(on);
	return 0;
}

static void activate(struct stream *s)
{
	s->prev_active = active_last;
	s->next_active = NULL;
	if (active_last != NULL)
		active_last->next_active = s;
	else
		active = s;
	active_last = s;
}

static void deactivate(struct stream *s)
{
	if (s->prev_active != NULL)
		s->prev_active->next_active = s->next_active;
	else
		active = s->next_active;
	if (s->next_active != NULL)
		s->next_active->prev_active = s->prev_active;
	else
		active_last = s->prev_active;
	s->next_active = s->prev_active = NULL;
}

static struct work *undone_dep(const struct work *w)
{
	for (unsigned i = 0; i < w->n_deps; i++)
		if (w->deps[i]->state != WORK_DONE)
			return w->deps[i];
	return NULL;
}

static bool ready(const struct work *w)
{
	return w->state == WORK_QUEUED && w == w->stream->head && undone_dep(w) == NULL &&
	       (w->op.kind != OP_WAIT_VALUE || value_satisfied(&w->op));
}

/* A ready work that w cannot do without, w itself at last; NULL: that chain is held up. */
static struct work *needed(struct work *w)
{
	while (w->state != WORK_DONE) {
		struct work *h = w->stream->head;
		struct work *d = undone_dep(h);
		if (d == NULL)
			return ready(h) ? h : NULL;
		w = d;
	}
	return NULL;
}

static struct work *any_ready(void)
{
	for (struct stream *s = active; s != NULL; s = s->next_active)
		if (ready(s->head))
			return s->head;
	return NULL;
}

/*
 * A stream has a pace, drawn from the seed: one in four does nothing until it is waited for, one in
 * four hardly anything. If all went at the same pace, work would seldom be late by more than a call
 * or two.
 */
static bool willing(struct stream *s)
{
	if (s->pace == 0)
		s->pace = (unsigned char)(1 + rt_random() % 4);
	return s->pace > 2 || (s->pace == 2 && rt_random() % 8 == 0);
}

static struct work *random_ready(void)
{
	struct work *pick = NULL;
	unsigned n = 0;

	for (struct stream *s = active; s != NULL; s = s->next_active)
		if (ready(s->head) && willing(s) && rt_random() % ++n == 0)
			pick = s->head;
	return pick;
}

/* Takes rt.lock off while the work runs. */
static void run(struct work *w)
{
	struct stream *s = w->stream;
	bool host = w->op.kind == OP_HOST;
	bool outer = emu_thread.in_work;
	const struct hrr_emu_origin caller = emu_thread.origin;

	w->state = WORK_RUNNING;
	work_ref(w);
	if (!host)
		rt.running++;
	emu_thread.in_work = host || outer;
	emu_thread.origin = w->origin;
	/* After a fault the device does nothing more; host functions are still called. */
	bool go = rt.dev[s->device].sticky == hipSuccess || host;
	rt_unlock();
	hipError_t e = hipSuccess;
	if (go)
		e = op_run(&w->op, s->device);
	rt_lock();
	last_entry = rt_now();
	emu_thread.in_work = outer;
	emu_thread.origin = caller;
	if (!host)
		rt.running--;
	w->state = WORK_DONE;
	w->time = rt_now();
	w->error = e;
	if (e != hipSuccess && rt.dev[s->device].sticky == hipSuccess)
		rt.dev[s->device].sticky = e;
	s->head = w->next;
	if (s->head == NULL) {
		s->tail = NULL;
		deactivate(s);
	}
	drop_deps(w);
	work_unref(w); /* the queue's */
	work_unref(w); /* ours */
	if (s->destroyed && s->head == NULL)
		stream_free_if_idle(s);
	pthread_cond_broadcast(&rt.changed);
}

static void wait_changed(uint64_t ns)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_nsec += (long)ns;
	ts.tv_sec += ts.tv_nsec / 1000000000;
	ts.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&rt.changed, &rt.lock, &ts);
}

/* --- threads of our own ----------------------------------------------------- */

/*
 * async: takes ready work until there is none. Other modes: one such thread,
 * which acts only after silence.
 */
static void *worker(void *arg)
{
	(void)arg;
	rt_lock();
	for (;;) {
		bool may = rt.mode == SCHED_ASYNC ||
			   (rt.running == 0 && rt_now() - last_entry >= SILENCE_NS);
		struct work *w = may ? any_ready() : NULL;
		if (w != NULL) {
			run(w);
			continue;
		}
		n_idle++;
		wait_changed(active == NULL	      ? 500000000u
			     : rt.mode == SCHED_ASYNC ? 1000000u
						      : SILENCE_NS);
		n_idle--;
		if (active == NULL && rt.mode != SCHED_ASYNC)
			break;
	}
	n_workers--;
	rt_unlock();
	return NULL;
}

static void start_worker(void)
{
	pthread_t t;
	pthread_attr_t attr;

	if (n_workers >= (rt.mode == SCHED_ASYNC ? MAX_WORKERS : 1))
		return;
	if (pthread_attr_init(&attr) != 0)
		return;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	/* When no thread is to be had, whoever waits runs the work. */
	if (pthread_create(&t, &attr, worker, NULL) == 0)
		n_workers++;
	pthread_attr_destroy(&attr);
}

/* --- submission ------------------------------------------------------------------ */

static int implicit_deps(struct stream *s, struct work *w)
{
	struct device *d = &rt.dev[s->device];

	if (s->null) {
		for (struct stream *o = d->streams; o != NULL; o = o->next)
			if (o != s && !(o->flags & STREAM_NONBLOCKING) && add_dep(w, o->tail) < 0)
				return -ENOMEM;
	} else if (!(s->flags & STREAM_NONBLOCKING) && d->null_stream != NULL) {
		return add_dep(w, d->null_stream->tail);
	}
	return 0;
}

static void drain(void)
{
	struct work *w;

	while ((w = any_ready()) != NULL)
		run(w);
}

hipError_t sched_submit(struct stream *s, struct op *op, struct work **deps, unsigned n_deps,
			struct work **ret_work)
{
	struct work *w = calloc(1, sizeof *w);

	if (w == NULL) {
		op_release(op);
		return hipErrorOutOfMemory;
	}
	w->refs = 1;
	w->stream = s;
	w->device = s->device;
	w->op = *op;
	w->origin = emu_thread.origin;
	int rc = implicit_deps(s, w);
	for (unsigned i = 0; rc == 0 && i < n_deps; i++)
		rc = add_dep(w, deps[i]);
	if (rc < 0) {
		work_unref(w);
		return hipErrorOutOfMemory;
	}
	if (s->tail != NULL)
		s->tail->next = w;
	else {
		s->head = w;
		activate(s);
	}
	s->tail = w;
	if (ret_work != NULL)
		*ret_work = work_ref(w);
	switch (rt.mode) {
	case SCHED_EAGER:
		drain();
		break;
	case SCHED_ASYNC:
		if (n_idle == 0)
			start_worker();
		pthread_cond_broadcast(&rt.changed);
		break;
	case SCHED_LATE:
	case SCHED_RANDOM:
		start_worker();
		break;
	}
	return hipSuccess;
}

/* --- waiting ------------------------------------------------------------------------ */

/* One step towards w. */
static void step(struct work *w)
{
	struct work *r = rt.mode == SCHED_ASYNC ? NULL : needed(w);

	/* A kernel elsewhere may write the value this chain waits for. */
	if (r == NULL && rt.mode != SCHED_ASYNC && rt.running == 0)
		r = any_ready();
	if (r != NULL)
		run(r);
	else
		wait_changed(200000);
}

hipError_t sched_wait_work(struct work *w)
{
	int device = w->device;

	work_ref(w);
	while (w->state != WORK_DONE)
		step(w);
	work_unref(w);
	return rt.dev[device].sticky;
}

hipError_t sched_wait_stream(struct stream *s)
{
	int device = s->device;

	if (s->tail != NULL)
		return sched_wait_work(s->tail);
	return rt.dev[device].sticky;
}

hipError_t sched_wait_device(int device)
{
	/* What is queued now; new work of other threads is not waited for. */
	struct work **tails = NULL;
	unsigned n = 0, i = 0;

	for (struct stream *s = active; s != NULL; s = s->next_active)
		n += s->device == device;
	if (n > 0) {
		tails = calloc(n, sizeof *tails);
		if (tails == NULL)
			return hipErrorOutOfMemory;
		for (struct stream *s = active; s != NULL; s = s->next_active)
			if (s->device == device)
				tails[i++] = work_ref(s->tail);
		for (i = 0; i < n; i++) {
			sched_wait_work(tails[i]);
			work_unref(tails[i]);
		}
		free(tails);
	}
	return rt.dev[device].sticky;
}

bool sched_poll_work(struct work *w)
{
	if (w == NULL || w->state == WORK_DONE)
		return true;
	work_ref(w);
	if (rt.mode != SCHED_ASYNC) {
		struct work *r = needed(w);
		if (r == NULL)
			r = any_ready();
		if (r != NULL)
			run(r);
	}
	/* The step may have been the one: still "not ready" this once, so that a program that
	 * does not poll on is seen to. */
	bool done = rt.mode == SCHED_EAGER && w->state == WORK_DONE;
	work_unref(w);
	return done;
}

bool sched_poll_stream(struct stream *s)
{
	return sched_poll_work(s->tail);
}

void sched_quiesce(void)
{
	while (rt.running > 0 && !emu_thread.in_work)
		wait_changed(1000000);
}

void sched_tick(void)
{
	last_entry = rt_now();
	if (active == NULL || emu_thread.in_work)
		return;
	if (rt.mode == SCHED_EAGER)
		drain();
	else if (rt.mode == SCHED_RANDOM)
		for (uint64_t n = rt_random() % 4; n > 0; n--) {
			struct work *w = random_ready();
			if (w == NULL)
				break;
			run(w);
		}
}

void sched_fault(int device, hipError_t e)
{
	if (rt.dev[device].sticky == hipSuccess)
		rt.dev[device].sticky = e;
}

hipError_t sched_sync(enum hrr_api api, struct stream *s, struct work *w, bool touches_host)
{
	switch (hrr_api_table[api].sync) {
	case HRR_SYNC_DEVICE:
		return sched_wait_device(s->device);
	case HRR_SYNC_STREAM:
		return w != NULL ? sched_wait_work(w) : sched_wait_stream(s);
	case HRR_SYNC_COPY:
		if (w != NULL && touches_host)
			return sched_wait_work(w);
		break;
	default:
		break;
	}
	return hipSuccess;
}
