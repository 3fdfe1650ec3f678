#include "lib/preload/preload.h"

#include <errno.h>
#include <string.h>

#define HRR_SHIM __attribute__((visibility("default")))

/* What a row asks of entering: its seq at entry, or a word that it has begun. */
static inline bool enters(const struct hrr_call *c, const struct hrr_api_row *row)
{
	return row->release != -1 || (row->sync != HRR_SYNC_NONE && row->sync != HRR_SYNC_QUERY) ||
	       ((c->hook == HRR_HOOK_LAUNCH || hrr_graph_launches(c->api)) &&
		(hrr_proc->hub->options & HRR_OPT_INSIDE) != 0);
}

uint64_t hrr_take_seq(void)
{
	return atomic_fetch_add_explicit(&hrr_proc->ctl->seq, 1, memory_order_acq_rel) + 1;
}

/* Where records are dropped room is kept for the one that says it of a call that has begun: a bare
 * header, behind what it may leave at the ring's end. */
#define LOST_ROOM (2 * sizeof(struct hrr_rec))

static void write_lost(struct hrr_thread *t, enum hrr_api api)
{
	t->must = true;
	hrr_b_begin(t, HRR_R_LEAVE, api);
	t->must = false;
	hrr_b_commit(t);
}

static void write_enter(struct hrr_call *c, const struct hrr_api_row *row)
{
	struct hrr_thread *t = c->t;

	hrr_b_begin(t, HRR_R_ENTER, c->api);
	hrr_encode_args(t, c, false);
	if (c->hook == HRR_HOOK_LAUNCH)
		hrr_launch_begun(c);
	if ((hrr_proc->hub->options & HRR_OPT_DROP) != 0)
		hrr_b_room(t, LOST_ROOM);
	if (t->failed) {
		hrr_b_commit(t);
		c->t = NULL; /* the whole call is lost, and counted once */
		return;
	}
	struct hrr_rec *r = hrr_b_rec(t);
	r->t = c->begin;
	if (row->release != -1) {
		r->seq = c->seq = hrr_take_seq();
		c->flags |= HRR_F_ENTERED;
	}
	c->since =
	    c->seq != 0 ? c->seq : atomic_load_explicit(&hrr_proc->ctl->seq, memory_order_acquire);
	t->begun = (struct hrr_begun){true, c->api, c->begin, c->seq};
	hrr_b_commit(t);
}

static void enter_hook(struct hrr_call *c)
{
	int err = errno;

	switch (c->hook) {
	case HRR_HOOK_FREE:
		hrr_free_enter(c);
		break;
	case HRR_HOOK_MAP:
		hrr_map_enter(c);
		break;
	case HRR_HOOK_LAUNCH:
		hrr_launch_enter(c);
		break;
	case HRR_HOOK_GRAPH:
		hrr_graph_enter(c);
		break;
	default:
		break;
	}
	errno = err;
}

/* A node by its type is recorded as the call for nodes of that type: so it replays on run times
 * that do not have this one. */
static void other_call(struct hrr_call *c)
{
	int err = errno;

	c->hook = HRR_HOOK_NONE;
	if (hrr_node_call(c->api, c->a, hrr_copy_in, &c->node)) {
		c->api = c->node.api;
		c->a = c->node.a;
		c->hook = hrr_hook_of[c->api];
	}
	errno = err;
}

static void *enter_slow(struct hrr_call *c, struct hrr_thread *t, void *real)
{
	if (hrr_proc->gen == 0) {
		hrr_tables_init();
		if (hrr_hook_of[c->api] == HRR_HOOK_REGISTER)
			return real; /* kept, and written with the first other call */
	}
	c->t = hrr_thread_slow(t);
	return real;
}

/* The run time calling itself is no call of the program's. One that the program makes there, in a
 * signal's handler or a host function, cannot be recorded: its ring has a call begun. */
static void nested_call(enum hrr_api api, const void *from)
{
	if (hrr_proc->recording && !hrr_in_runtime(from) &&
	    atomic_load_explicit(&hrr_proc->hub->off, memory_order_relaxed) == 0)
		atomic_fetch_add_explicit(&hrr_proc->ctl->not_recorded[api], 1,
					  memory_order_relaxed);
}

void *hrr_shim_enter(struct hrr_call *c, enum hrr_api api, uint64_t *a);
void hrr_shim_leave(struct hrr_call *c, int64_t ret);

void *hrr_shim_enter(struct hrr_call *c, enum hrr_api api, uint64_t *a)
{
	struct hrr_thread *t = &hrr_self;
	const struct hrr_process *p = hrr_proc;
	void *real = __atomic_load_n(&hrr_real[api], __ATOMIC_ACQUIRE);

	c->api = api;
	c->a = a;
	c->t = NULL;
	c->hook = HRR_HOOK_NONE;
	if (__builtin_expect(real == NULL, 0))
		real = hrr_resolve(api);
	if (hrr_nested(t, __builtin_frame_address(0), c->from)) {
		t->depth++;
		nested_call(api, c->from);
		return real;
	}
	hrr_inside(t, __builtin_frame_address(0));
	c->mark = t->mark += 0x9e3779b97f4a7c15; /* no number that stands on a stack by chance */
	atomic_signal_fence(memory_order_seq_cst);
	t->outer = c;
	if (__builtin_expect(
		t->gen == 0 || t->gen != atomic_load_explicit(&p->gen, memory_order_acquire), 0)) {
		enter_slow(c, t, real);
		p = hrr_proc;
	} else if (t->ring != NULL) {
		c->t = t;
	} else if (p->recording) { /* no ring could be made for this thread */
		atomic_fetch_add_explicit(&p->ctl->lost, 1, memory_order_relaxed);
	}
	if (c->t == NULL ||
	    __builtin_expect(atomic_load_explicit(&p->hub->off, memory_order_relaxed) != 0, 0)) {
		c->t = NULL;
		return real;
	}
	c->flags = c->dir = 0;
	c->seq = c->since = 0;
	c->outputs = NULL;
	c->snaps = NULL;
	c->host = NULL;
	c->gone = false;
	c->mem = HRR_MEM_NONE;
	c->hook = hrr_hook_of[api];
	if (__builtin_expect(c->hook == HRR_HOOK_NODE, 0))
		other_call(c);
	if (c->hook != HRR_HOOK_NONE)
		enter_hook(c);
	c->begin = hrr_now() - p->ctl->t0;
	const struct hrr_api_row *row = &hrr_api_table[c->api];
	if (enters(c, row))
		write_enter(c, row);
	return real;
}

/* Effects that other threads must see before they can see the result. */
static void leave_hook(struct hrr_call *c)
{
	switch (c->hook) {
	case HRR_HOOK_MODULE:
		hrr_module_leave(c);
		break;
	case HRR_HOOK_PROC:
		hrr_proc_leave(c);
		break;
	case HRR_HOOK_SYMBOL:
	case HRR_HOOK_COPY:
	case HRR_HOOK_GRAPH:
		hrr_symbol_prepare(c);
		break;
	default:
		break;
	}
}

/* What stands in the record beyond the arguments. */
static void record_hook(struct hrr_call *c)
{
	switch (c->hook) {
	case HRR_HOOK_COPY:
		hrr_copy_leave(c);
		break;
	case HRR_HOOK_ALLOC:
		hrr_alloc_leave(c);
		break;
	case HRR_HOOK_ARRAY:
		hrr_array_leave(c);
		if (hrr_api_table[c->api].sync != HRR_SYNC_NONE)
			hrr_sync_leave(c);
		break;
	case HRR_HOOK_FREE:
		hrr_free_leave(c);
		break;
	case HRR_HOOK_MAP:
		hrr_map_leave(c);
		break;
	case HRR_HOOK_LAUNCH:
		hrr_launch_leave(c);
		break;
	case HRR_HOOK_REGISTER:
		hrr_managed_att(c);
		break;
	case HRR_HOOK_MODULE:
		hrr_module_att(c);
		break;
	case HRR_HOOK_SYMBOL:
		hrr_symbol_att(c, hrr_api_param(c->api, "symbol", 6));
		if (hrr_ok(c) && c->api == HRR_API_hipGetSymbolAddress && c->a[0] != 0)
			hrr_variable_known(c, *(const uint64_t *)(uintptr_t)c->a[0],
					   hrr_symbol_size(c->a[1]));
		break;
	case HRR_HOOK_GRAPH:
		hrr_graph_att(c);
		break;
	case HRR_HOOK_STREAM:
		hrr_stream_leave(c);
		break;
	case HRR_HOOK_SYNC:
		hrr_sync_leave(c);
		break;
	case HRR_HOOK_SET:
		if (hrr_n_pending != 0) {
			int s = hrr_api_param(c->api, "stream", 6);
			hrr_pending_work(hrr_stream_of(c->api, s >= 0 ? c->a[s] : 0));
		}
		break;
	default:
		break;
	}
	if (hrr_api_table[c->api].ret == HRR_RET_STR && c->ret != 0) {
		const char *s = (const char *)(intptr_t)c->ret;
		size_t n = strnlen(s, 65536);
		unsigned char *d = hrr_b_att(c->t, HRR_A_RET, 0, n);
		if (d != NULL)
			memcpy(d, s, n);
	}
}

static void leave_recorded(struct hrr_call *c, int64_t ret)
{
	struct hrr_thread *t = c->t;

	c->ret = ret;
	if (__builtin_expect(ret == 0 && atomic_load_explicit(&hrr_proc->ctl->told,
							      memory_order_relaxed) != HRR_TOLD_ALL,
			     0) &&
	    hrr_api_table[c->api].ret == HRR_RET_ERROR)
		hrr_runtime_told(c);
	if (c->hook != HRR_HOOK_NONE)
		leave_hook(c);
	hrr_b_begin(t, HRR_R_LEAVE, c->api);
	hrr_encode_args(t, c, true);
	if (c->hook != HRR_HOOK_NONE || hrr_api_table[c->api].ret == HRR_RET_STR)
		record_hook(c);
	struct hrr_rec *r = hrr_b_rec(t);
	bool whole = !t->failed;
	if (whole || c->seq != 0) {
		if (!whole) { /* its number is taken: the bare call must come */
			t->must = true;
			hrr_b_begin(t, HRR_R_LEAVE, c->api);
			hrr_encode_args(t, c, true);
			r = hrr_b_rec(t);
			t->must = false;
		}
		r->t = c->begin;
		r->dur = c->dur;
		r->ret = ret;
		r->dir = c->dir;
		r->seq = hrr_seq(c);
		r->flags = (uint8_t)(c->flags | (c->outputs != NULL ? HRR_F_MORE : 0));
	}
	whole &= hrr_b_commit(t);
	if (!whole && t->begun.is && c->seq == 0)
		write_lost(t, c->api);
	t->begun.is = false;
	if (c->hook == HRR_HOOK_REGISTER)
		hrr_register_leave(c->api, c->a, ret);
	if (c->outputs != NULL)
		hrr_outputs_write(c);
	if (c->snaps != NULL)
		hrr_snapshots_free(c->snaps, whole);
	if (c->host != NULL) {
		if (c->gone)
			hrr_host_gone(c->host);
		hrr_host_unref(c->host);
	}
}

void hrr_shim_leave(struct hrr_call *c, int64_t ret)
{
	if (__builtin_expect(c->t != NULL, 1)) {
		int err = errno;
		c->dur = hrr_now() - hrr_proc->ctl->t0 - c->begin;
		leave_recorded(c, ret);
		errno = err;
	} else if (hrr_api_table[c->api].cls == HRR_CLASS_REGISTER && hrr_self.depth == 1) {
		int err = errno;
		hrr_register_leave(c->api, c->a, ret);
		errno = err;
	}
	if (hrr_self.depth == 1)
		hrr_outside(&hrr_self);
	else
		hrr_self.depth--;
}

/* --- calls that are not recorded ------------------------------------------- */
static int not_there(void)
{
	return hipErrorNotSupported;
}

void *hrr_tramp_enter(unsigned api, const void *from);

void *hrr_tramp_enter(unsigned api, const void *from)
{
	struct hrr_thread *t = &hrr_self;
	int err = errno;
	void *real = __atomic_load_n(&hrr_real[api], __ATOMIC_ACQUIRE);

	if (real == NULL)
		real = hrr_resolve((enum hrr_api)api);
	if (hrr_nested(t, __builtin_frame_address(0), from)) {
		nested_call((enum hrr_api)api, from);
	} else {
		hrr_inside(t, __builtin_frame_address(0));
		if (t->gen == 0 || t->gen != hrr_proc->gen)
			hrr_thread_slow(t);
		if (t->ring != NULL)
			atomic_fetch_add_explicit(&hrr_proc->ctl->not_recorded[api], 1,
						  memory_order_relaxed);
		if (t->ring != NULL && hrr_proc->hub->off == 0 &&
		    (api == HRR_API_hipProfilerStart || api == HRR_API_hipProfilerStop))
			hrr_marker(t,
				   api == HRR_API_hipProfilerStart ? HRR_MARK_PROFILER_START
								   : HRR_MARK_PROFILER_STOP,
				   0, NULL);
		hrr_outside(t);
	}
	if (real == NULL) {
		int (*none)(void) = not_there;
		memcpy(&real, &none, sizeof real);
	}
	errno = err;
	return real;
}

/* Their prototypes are HIP's, which are not ours to include. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "preload_shims.inc"
