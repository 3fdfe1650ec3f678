/* A launch: its workgroups over threads. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "lib/emu/isa/group.h"
#include "lib/emu/isa/gws.h"
#include "lib/emu/isa/merge.h"
#include "lib/emu/isa/pool.h"

/* Instructions a wave runs before others get a turn. */
#define SLICE 20000
/* Workgroups one thread keeps in flight when they wait for one another. */
#define MAX_LIVE 65536
#define MAX_THREADS 256
/* Instructions after which a launch is worth waking others for. */
#define WORTH_HELP 4000
/* Workgroups are handed out so many instructions at a time: who asks waits for another core's
 * cache. */
#define HAND_OUT 4000
/* The budget is counted together each so many instructions of a thread. */
#define QUANTUM 65536u

struct isa_run {
	const struct isa_launch *launch;
	struct isa_kernel kernel;
	struct isa_code *code;
	const struct isa_inst *entry;
	unsigned n_threads; /* at most, the caller's included */
	struct isa_job job;
	struct isa_gws gws;
	struct isa_thread *thread[MAX_THREADS]; /* 0 the caller's; those who came */
	/* what threads write all the time; and what they look at all the time and nearly never
	 * write */
	alignas(128) _Atomic u64 next;	     /* workgroup to hand out */
	_Atomic u64 room;		     /* bytes taken for scratch and LDS */
	_Atomic u64 instructions;	     /* counted towards the budget */
	alignas(128) _Atomic u64 stop_order; /* lowest workgroup that ended the launch */
	_Atomic bool failed;		     /* out of memory in a thread */
};

static bool stopped(struct isa_run *r, u64 order)
{
	return atomic_load_explicit(&r->stop_order, memory_order_relaxed) < order ||
	       atomic_load_explicit(&r->failed, memory_order_relaxed);
}

/* Ends at the first workgroup that stops; lower ones, in other threads, still run. */
static void stop_at(struct isa_run *r, u64 order)
{
	u64 now = atomic_load(&r->stop_order);

	while (order < now && !atomic_compare_exchange_weak(&r->stop_order, &now, order))
		;
}

/* The groups a thread has in flight; they take turns. */
struct flight {
	struct isa_wg **live; /* owned array of owned groups */
	size_t n, cap;
	u64 next, end; /* workgroups handed out to the thread that are not in flight yet */
};

/*
 * A share of the workgroups, as many as make HAND_OUT instructions by what ended so far; fewer
 * towards the end, so that threads end together. One that waits for a higher one does not end
 * its slice, and then what its thread holds back comes in too.
 */
static void hand_out(struct isa_thread *t, struct flight *f)
{
	struct isa_run *const r = t->run;
	const u64 all = r->kernel.n_groups,
		  next = atomic_load_explicit(&r->next, memory_order_relaxed);
	const u64 fair = next < all ? (all - next) / (4 * (u64)r->n_threads) : 0;
	const u64 done = t->groups - f->n;
	u64 n = t->instructions ? HAND_OUT * done / t->instructions : 0;

	if (n > fair)
		n = fair;
	if (n == 0)
		n = 1;
	f->next = atomic_fetch_add(&r->next, n);
	f->end = f->next + n;
}

/* Takes one more workgroup. 1 when it did, 0 when there is none left, -ENOMEM. */
static int admit(struct isa_thread *t, struct flight *f)
{
	struct isa_run *const r = t->run;
	struct isa_wg *g;
	u64 order;

	if (f->next == f->end)
		hand_out(t, f);
	order = f->next++;
	if (order >= r->kernel.n_groups || stopped(r, order))
		return 0;
	if (f->n == f->cap) {
		const size_t cap = f->cap ? 2 * f->cap : 8;
		struct isa_wg **const list = realloc(f->live, cap * sizeof(*list));

		if (!list)
			return -ENOMEM;
		f->live = list;
		f->cap = cap;
	}
	g = isa_group_take(t);
	if (!g)
		return -ENOMEM;
	isa_group_start(g, t, order);
	t->groups++;
	f->live[f->n++] = g;
	return 1;
}

/* A turn for each group in flight; ended ones make room. */
static void turn(struct isa_thread *t, struct flight *f)
{
	struct isa_run *const r = t->run;

	for (size_t i = 0; i < f->n;) {
		struct isa_wg *const g = f->live[i];
		const enum isa_pass p =
		    stopped(r, g->order) ? PASS_DONE : isa_group_pass(g, t, SLICE);

		if (p == PASS_WAITS) {
			i++;
			continue;
		}
		if (p == PASS_STOP) {
			if (g->order < t->order) {
				t->order = g->order;
				t->final = t->report;
			}
			stop_at(r, g->order);
		}
		memmove(&f->live[i], &f->live[i + 1], (f->n - i - 1) * sizeof(*f->live));
		f->n--;
		isa_group_put(t, g);
	}
}

/*
 * One group at a time as long as groups end within their slice. Those that do
 * not may be waiting for one that has not begun: then twice as many come in,
 * up to a number, from there on a few each turn.
 */
static void run_groups(struct isa_thread *t, bool first)
{
	struct isa_run *const r = t->run;
	struct flight f = {0};
	const bool cooperative = r->launch->cooperative;
	/* cooperative: all of them at once, shared out evenly */
	const u64 share = (r->kernel.n_groups + r->n_threads - 1) / r->n_threads;
	size_t want = cooperative ? (size_t)share : 1;
	bool more = true, alone = first && r->n_threads > 1;
#if defined(__x86_64__)
	const unsigned csr = _mm_getcsr();

	_mm_setcsr(0x1f80);
#endif
	while (more || f.n) {
		if (alone && (cooperative || t->instructions >= WORTH_HELP)) {
			isa_job_open(&r->job);
			alone = false;
		}
		for (size_t i = 0; more && i < want && f.n < MAX_LIVE; i++) {
			const int got = admit(t, &f);

			if (got < 0)
				atomic_store(&r->failed, true);
			more = got > 0;
		}
		turn(t, &f);
		if (!cooperative)
			want = f.n == 0 ? 1 : f.n < 1024 ? f.n : 64;
	}
#if defined(__x86_64__)
	_mm_setcsr(csr);
#endif
	free(f.live);
}

static struct isa_thread *enter(struct isa_run *r)
{
	struct isa_thread *const t = isa_thread_get();
	const u64 quantum = r->launch->budget / (8 * r->n_threads);

	if (!t)
		return NULL;
	t->launch = r->launch;
	t->kernel = &r->kernel;
	t->entry = r->entry;
	t->code = r->code;
	t->run = r;
	t->gws = &r->gws;
	t->order = UINT64_MAX;
	t->all_instructions = &r->instructions;
	t->all_room = &r->room;
	t->quantum = quantum < QUANTUM ? quantum : QUANTUM;
	return t;
}

static void help(void *self, unsigned index)
{
	struct isa_run *const r = self;
	struct isa_thread *const t = enter(r);

	r->thread[1 + index] = t;
	if (t) /* else fewer threads do the same work */
		run_groups(t, false);
}

/* What the launch is refused for before it begins, or NULL. */
static const char *prepare(struct isa_run *r, char *why, size_t size)
{
	const struct isa_launch *const l = r->launch;

	if (isa_kernel_read(l, &r->kernel, why, size))
		return why;
	r->code = isa_program_code(l->prog, r->kernel.lanes, why, size);
	r->entry = r->code ? isa_code_at(r->code, r->kernel.entry, why, size) : NULL;
	r->n_threads = l->threads > MAX_THREADS ? MAX_THREADS : l->threads ? l->threads : 1;
	if (r->n_threads > r->kernel.n_groups)
		r->n_threads = (unsigned)r->kernel.n_groups;
	return r->entry ? NULL : why;
}

int isa_run(const struct isa_launch *launch, struct isa_report *ret_report)
{
	struct isa_run r = {.launch = launch};
	struct isa_report *const out = ret_report;
	char text[160] = "";
	const char *const why = prepare(&r, text, sizeof(text));
	int err = 0;

	memset(out, 0, sizeof(*out));
	if (why) {
		out->status = !r.entry && strstr(why, "memory") ? ISA_NOMEM : ISA_BAD_LAUNCH;
		snprintf(out->what, sizeof(out->what), "%s", why);
		return 0;
	}
	atomic_init(&r.stop_order, UINT64_MAX);
	isa_gws_start(&r.gws, r.kernel.n_groups);
	r.thread[0] = enter(&r);
	if (!r.thread[0])
		return -ENOMEM;
	r.job = (struct isa_job){.help = help, .self = &r, .room = r.n_threads - 1};
	run_groups(r.thread[0], true);
	if (r.n_threads > 1)
		isa_job_close(&r.job);
	if (atomic_load(&r.failed) && atomic_load(&r.stop_order) == UINT64_MAX)
		err = -ENOMEM;
	else
		isa_merge(out, r.thread, r.n_threads);
	for (unsigned i = 0; i < r.n_threads; i++)
		if (r.thread[i])
			isa_thread_put(r.thread[i]);
	return err;
}
