#include "lib/preload/preload.h"

#include <stdlib.h>
#include <string.h>

/*
 * Outputs that are on their way. Each knows the streams and events whose end
 * implies its own (its cover); a wait for one of them makes it known. Recording
 * an event in a stream adds the event to what the stream covers, a stream that
 * waits for an event is added to what the event covers. We never wait ourselves.
 *
 * The null stream waits for all blocking streams and they for it: work put into
 * it covers everything they cover. Streams made non-blocking take no part in that.
 */
_Atomic unsigned hrr_n_pending;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hrr_pending *first, **last = &first;

#define EVENT(e) ((e) | (uint64_t)1 << 63)

/* Streams made with hipStreamNonBlocking. */
static uint64_t *apart;
static size_t n_apart, cap_apart;

void hrr_pending_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	first = NULL;
	last = &first;
	hrr_n_pending = 0;
}

static bool covers(const struct hrr_pending *p, uint64_t what)
{
	for (unsigned i = 0; i < p->n_cover; i++)
		if (p->cover[i] == what)
			return true;
	return false;
}

static void cover(struct hrr_pending *p, uint64_t what)
{
	if (covers(p, what))
		return;
	if (p->n_cover < sizeof p->cover / sizeof *p->cover)
		p->cover[p->n_cover++] = what;
	/* Full: only another of its covers, or the device, tells that it is over. */
}

static void uncover(struct hrr_pending *p, uint64_t what)
{
	for (unsigned i = 0; i < p->n_cover; i++)
		if (p->cover[i] == what)
			p->cover[i--] = p->cover[--p->n_cover];
}

/* Streams 0 and 1 are the legacy null stream; 2 is each thread's own. */
static uint64_t norm(uint64_t stream)
{
	return stream <= 1 ? 0 : stream == 2 ? (uintptr_t)&hrr_self : stream;
}

static bool blocking(uint64_t stream)
{
	for (size_t i = 0; i < n_apart; i++)
		if (apart[i] == stream)
			return false;
	return true;
}

/* Whether the null stream's next work comes after p. */
static bool null_covers(const struct hrr_pending *p)
{
	for (unsigned i = 0; i < p->n_cover; i++)
		if ((p->cover[i] >> 63) == 0 && blocking(p->cover[i]))
			return true;
	return false;
}

void hrr_pending_att(struct hrr_call *c, uint64_t node, uint64_t addr, uint64_t size)
{
	uint64_t v[3] = {node, addr, size};
	unsigned char *d = hrr_b_att(c->t, HRR_A_PENDING, 0, sizeof v);

	if (d != NULL)
		memcpy(d, v, sizeof v);
}

void hrr_pending_add(uint64_t call, uint64_t node, uint64_t addr, const struct hrr_rect *r,
		     struct hrr_host_range *host, bool kernel, uint64_t stream)
{
	stream = norm(stream);
	pthread_mutex_lock(&lock);
	/* A loop of launches with one buffer is one thing to look at, until somebody marks a place.
	 */
	for (struct hrr_pending *p = first; kernel && p != NULL; p = p->next)
		if (p->host == host && p->kernel && p->n_cover == 1 && p->cover[0] == stream) {
			p->call = call;
			p->node = node;
			pthread_mutex_unlock(&lock);
			return;
		}
	struct hrr_pending *p = calloc(1, sizeof *p);
	if (p != NULL) {
		p->call = call;
		p->node = node;
		p->addr = addr;
		p->rect = *r;
		p->host = host;
		p->kernel = kernel;
		p->n_cover = 1;
		p->cover[0] = stream;
		if (host != NULL)
			hrr_host_ref(host);
		*last = p;
		last = &p->next;
		atomic_fetch_add(&hrr_n_pending, 1);
	} else {
		atomic_fetch_add(&hrr_proc->ctl->lost, 1);
	}
	pthread_mutex_unlock(&lock);
}

static bool is_covered(const struct hrr_pending *p, const void *self)
{
	return covers(p, *(const uint64_t *)self);
}

static bool is_null_covered(const struct hrr_pending *p, const void *self)
{
	(void)self;
	return null_covers(p);
}

static bool is_any(const struct hrr_pending *p, const void *self)
{
	(void)p;
	(void)self;
	return true;
}

static bool overlap(const struct hrr_pending *a, const struct hrr_pending *b)
{
	return a->addr < b->addr + hrr_rect_span(&b->rect) &&
	       b->addr < a->addr + hrr_rect_span(&a->rect);
}

/*
 * Work that came while the wait was under way, another thread's, was not waited for, or nobody
 * knows; nor can the bytes of older work be told from its.
 */
static bool came_later(const struct hrr_call *c, const struct hrr_pending *p, uint64_t newest)
{
	if (c->since == 0 || newest <= c->since || p->function)
		return false;
	if (p->call > c->since)
		return true;
	for (const struct hrr_pending *q = first; q != NULL; q = q->next)
		if (q->call > c->since && !q->function && overlap(p, q))
			return true;
	return false;
}

static uint64_t newest_call(void)
{
	uint64_t n = 0;

	for (const struct hrr_pending *p = first; p != NULL; p = p->next)
		n = p->call > n ? p->call : n;
	return n;
}

/* Moves what is over to c->outputs, in the order it was issued. */
static void take(struct hrr_call *c, bool (*done)(const struct hrr_pending *, const void *),
		 const void *self)
{
	struct hrr_pending **out = &c->outputs;

	if (hrr_n_pending == 0)
		return;
	while (*out != NULL)
		out = &(*out)->next;
	pthread_mutex_lock(&lock);
	const uint64_t newest = newest_call();
	for (struct hrr_pending **pp = &first; *pp != NULL;) {
		struct hrr_pending *p = *pp;
		if (!done(p, self) || came_later(c, p, newest)) {
			pp = &p->next;
			continue;
		}
		*pp = p->next;
		p->next = NULL;
		atomic_fetch_sub(&hrr_n_pending, 1);
		if (p->function) {
			free(p);
			continue;
		}
		*out = p;
		out = &p->next;
	}
	last = &first;
	while (*last != NULL)
		last = &(*last)->next;
	pthread_mutex_unlock(&lock);
}

void hrr_pending_device(struct hrr_call *c)
{
	take(c, is_any, NULL);
}

void hrr_pending_stream(struct hrr_call *c, uint64_t stream)
{
	stream = norm(stream);
	if (stream == 0)
		take(c, is_null_covered, NULL);
	else
		take(c, is_covered, &stream);
}

bool hrr_pending_overlaps(uint64_t addr, uint64_t size)
{
	bool yes = false;

	pthread_mutex_lock(&lock);
	for (struct hrr_pending *p = first; p != NULL && !yes; p = p->next) {
		uint64_t n = (p->rect.depth - 1) * p->rect.slice +
			     (p->rect.height - 1) * p->rect.pitch + p->rect.width;
		/* What a kernel may write is only a guess: the bytes there now are better than
		 * none. */
		yes = !p->kernel && !p->function && addr < p->addr + n && p->addr < addr + size;
	}
	pthread_mutex_unlock(&lock);
	return yes;
}

void hrr_pending_function(uint64_t stream)
{
	hrr_pending_work(stream);
	stream = norm(stream);
	pthread_mutex_lock(&lock);
	for (struct hrr_pending *p = first; p != NULL; p = p->next)
		if (p->function && p->n_cover == 1 && p->cover[0] == stream) {
			pthread_mutex_unlock(&lock); /* nobody can tell the two apart yet */
			return;
		}
	struct hrr_pending *p = calloc(1, sizeof *p);
	if (p != NULL) {
		p->function = true;
		p->n_cover = 1;
		p->cover[0] = stream;
		*last = p;
		last = &p->next;
		atomic_fetch_add(&hrr_n_pending, 1);
	} else {
		atomic_fetch_add(&hrr_proc->ctl->lost, 1);
	}
	pthread_mutex_unlock(&lock);
}

bool hrr_pending_function_before(uint64_t stream)
{
	bool yes = false;

	stream = norm(stream);
	pthread_mutex_lock(&lock);
	for (struct hrr_pending *p = first; p != NULL && !yes; p = p->next)
		yes = p->function && (covers(p, stream) || (stream == 0 && null_covers(p)) ||
				      (stream != 0 && blocking(stream) && covers(p, 0)) ||
				      p->n_cover == sizeof p->cover / sizeof *p->cover);
	pthread_mutex_unlock(&lock);
	return yes;
}

void hrr_pending_work(uint64_t stream)
{
	stream = norm(stream);
	pthread_mutex_lock(&lock);
	bool waits = stream != 0 && blocking(stream);
	for (struct hrr_pending *p = first; p != NULL; p = p->next)
		if (stream == 0 ? null_covers(p) : waits && covers(p, 0))
			cover(p, stream);
	pthread_mutex_unlock(&lock);
}

static void event_recorded(uint64_t event, uint64_t stream)
{
	hrr_pending_work(stream);
	stream = norm(stream);
	pthread_mutex_lock(&lock);
	for (struct hrr_pending *p = first; p != NULL; p = p->next) {
		uncover(p, EVENT(event));
		if (covers(p, stream))
			cover(p, EVENT(event));
	}
	pthread_mutex_unlock(&lock);
}

static void stream_waits(uint64_t stream, uint64_t event)
{
	pthread_mutex_lock(&lock);
	for (struct hrr_pending *p = first; p != NULL; p = p->next)
		if (covers(p, EVENT(event)))
			cover(p, norm(stream));
	pthread_mutex_unlock(&lock);
}

static void stream_apart(uint64_t stream)
{
	pthread_mutex_lock(&lock);
	if (n_apart == cap_apart) {
		size_t cap = cap_apart ? cap_apart * 2 : 16;
		uint64_t *p = realloc(apart, cap * sizeof *p);
		if (p != NULL) {
			apart = p;
			cap_apart = cap;
		}
	}
	if (n_apart < cap_apart)
		apart[n_apart++] = stream;
	pthread_mutex_unlock(&lock);
}

static void stream_gone(uint64_t stream)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < n_apart; i++)
		if (apart[i] == stream)
			apart[i--] = apart[--n_apart];
	pthread_mutex_unlock(&lock);
}

static void forget(uint64_t what)
{
	pthread_mutex_lock(&lock);
	for (struct hrr_pending *p = first; p != NULL; p = p->next)
		uncover(p, what);
	pthread_mutex_unlock(&lock);
}

void hrr_stream_leave(struct hrr_call *c)
{
	if (!hrr_ok(c))
		return;
	uint64_t stream = hrr_stream_of(c->api, c->a[0]);
	switch (c->api) {
	case HRR_API_hipEventRecord:
	case HRR_API_hipEventRecord_spt:
	case HRR_API_hipEventRecordWithFlags:
		stream = hrr_stream_of(c->api, c->a[1]);
		if (hrr_n_captures != 0)
			hrr_graph_event(c->a[0], stream, false);
		if (hrr_n_pending != 0)
			event_recorded(c->a[0], stream);
		break;
	case HRR_API_hipStreamWaitEvent:
	case HRR_API_hipStreamWaitEvent_spt:
		if (hrr_n_captures != 0)
			hrr_graph_event(c->a[1], stream, true);
		if (hrr_n_pending != 0)
			stream_waits(stream, c->a[1]);
		break;
	case HRR_API_hipStreamAddCallback:
	case HRR_API_hipStreamAddCallback_spt:
	case HRR_API_hipLaunchHostFunc:
	case HRR_API_hipLaunchHostFunc_spt:
		if (hrr_n_captures != 0 && hrr_capturing(stream))
			hrr_capture_function(stream);
		else
			hrr_pending_function(stream);
		break;
	case HRR_API_hipEventDestroy:
		if (hrr_n_pending != 0)
			forget(EVENT(c->a[0]));
		break;
	case HRR_API_hipStreamCreateWithFlags:
	case HRR_API_hipStreamCreateWithPriority:
		if ((c->a[1] & 1) != 0) /* hipStreamNonBlocking */
			stream_apart(*(const uint64_t *)(uintptr_t)c->a[0]);
		break;
	case HRR_API_hipStreamDestroy:
		stream_gone(c->a[0]);
		if (hrr_n_pending != 0)
			forget(c->a[0]);
		break;
	default:
		break;
	}
}

void hrr_sync_leave(struct hrr_call *c)
{
	uint64_t what;

	if (!hrr_ok(c))
		return;
	if (hrr_api_table[c->api].release == -2)
		hrr_memory_reset(c);
	if (hrr_n_pending == 0)
		return;
	switch (hrr_api_table[c->api].sync) {
	case HRR_SYNC_DEVICE:
		hrr_pending_device(c);
		break;
	case HRR_SYNC_STREAM:
	case HRR_SYNC_QUERY:
	case HRR_SYNC_EVENT: {
		int s = hrr_api_param(c->api, "stream", 6);
		if (s < 0)
			s = hrr_api_param(c->api, "event", 5);
		if (s < 0)
			break;
		bool event = hrr_api_table[c->api].params[s].handle == HRR_H_EVENT;
		if (!event) {
			hrr_pending_stream(c, hrr_stream_of(c->api, c->a[s]));
			break;
		}
		what = EVENT(c->a[s]);
		take(c, is_covered, &what);
		break;
	}
	default:
		break;
	}
}
