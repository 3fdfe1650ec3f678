/* A launch: kernel descriptor, first state of waves, workgroups over threads. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "lib/emu/isa/internal.h"

/* Instructions a wave runs before others get a turn. */
#define SLICE 20000
/* Workgroups one thread keeps in flight when they wait for one another. */
#define MAX_LIVE 65536
#define MAX_THREADS 256

struct isa_run {
	const struct isa_launch *launch;
	struct isa_kernel kernel;
	struct isa_code *code;
	const struct isa_inst *entry;
	_Atomic u64 next;	  /* workgroup to hand out */
	_Atomic u64 stop_order;	  /* lowest workgroup that ended the launch */
	_Atomic u64 instructions; /* of waves that have ended or yielded */
	_Atomic bool failed;	  /* out of memory in a thread */
	unsigned n_threads;
};

static u32 get32(const u8 *p)
{
	u32 v;
	memcpy(&v, p, 4);
	return v;
}

int isa_kernel_read(const struct isa_launch *l, struct isa_kernel *k, char *why, size_t size)
{
	const enum isa_arch arch = isa_program_arch(l->prog);
	const u8 *const kd = isa_program_bytes(l->prog, l->kd, 64);
	u64 items = 1;
	i64 entry;
	u32 user;

	if (!kd) {
		snprintf(why, size, "kernel descriptor 0x%llx outside the code object",
			 (unsigned long long)l->kd);
		return -EINVAL;
	}
	*k = (struct isa_kernel){0};
	memcpy(&entry, kd + 16, 8);
	k->entry = l->kd + (u64)entry;
	k->rsrc3 = get32(kd + 44);
	k->rsrc1 = get32(kd + 48);
	k->rsrc2 = get32(kd + 52);
	memcpy(&k->properties, kd + 56, 2);
	memcpy(&k->preload, kd + 58, 2);
	k->gen = arch <= ISA_GFX950 ? 9 : arch == ISA_GFX1030 ? 10 : arch == ISA_GFX1100 ? 11 : 12;
	k->lanes = k->gen == 9 || !(k->properties >> 10 & 1) ? 64 : 32;
	k->lds = l->lds;
	k->scratch = l->scratch;
	if ((k->preload & 127) && (arch == ISA_GFX942 || arch == ISA_GFX950 || arch == ISA_GFX90A))
		k->entry +=
		    256; /* behind the code that loads the arguments where preloading is missing */
	else
		k->preload = 0;
	for (unsigned d = 0; d < 3; d++) {
		if (!l->block[d] || !l->grid[d]) {
			snprintf(why, size, "empty grid or block");
			return -EINVAL;
		}
		items *= l->block[d];
		k->groups[d] = (l->grid[d] - 1) / l->block[d] + 1;
		if (items > 1024 || l->block[d] > 1024) {
			snprintf(why, size, "block of more than 1024 work-items");
			return -EINVAL;
		}
	}
	k->n_groups = (u64)k->groups[0] * k->groups[1];
	if (k->n_groups > UINT64_MAX / k->groups[2]) {
		snprintf(why, size, "grid too big");
		return -EINVAL;
	}
	k->n_groups *= k->groups[2];
	k->waves = (u32)((items + k->lanes - 1) / k->lanes);
	user = k->rsrc2 >> 1 & 31;
	if (user > 16 + 16 || l->scratch > (64u << 20) || l->lds > (1u << 20)) {
		snprintf(why, size, "kernel descriptor or sizes out of range");
		return -EINVAL;
	}
	return 0;
}

static void put64(u32 *s, u64 v)
{
	s[0] = (u32)v;
	s[1] = (u32)(v >> 32);
}

/*
 * Work-item ids of a group of this size, wave by wave in the rows they begin with.
 * Nearly all groups of a launch have the same: kept by the thread.
 */
static const u32 *group_ids(struct isa_thread *t, const struct isa_kernel *k, const u32 dim[3])
{
	u32 *const x = t->ids, *const y = x + ISA_MAX_ITEMS, *const z = y + ISA_MAX_ITEMS;
	const u32 items = k->waves * k->lanes;
	u32 at[3] = {0, 0, 0};

	if (!memcmp(t->ids_dim, dim, sizeof(t->ids_dim)) && t->ids_gen == k->gen)
		return t->ids;
	memcpy(t->ids_dim, dim, sizeof(t->ids_dim));
	t->ids_gen = k->gen;
	for (u32 i = 0; i < items; i++) {
		if (k->gen == 10) {
			x[i] = at[0];
			y[i] = at[1];
			z[i] = at[2];
		} else {
			x[i] = at[0] | at[1] << 10 | at[2] << 20;
		}
		if (++at[0] == dim[0]) {
			at[0] = 0;
			if (++at[1] == dim[1]) {
				at[1] = 0;
				at[2]++;
			}
		}
	}
	return t->ids;
}

/* Puts them into the wave's first registers; the lanes there are, as EXEC. */
static u64 take_ids(struct isa_wave *w, const struct isa_kernel *k)
{
	const struct isa_wg *const g = w->wg;
	const u32 rows = k->gen != 10 ? 1 : 1 + (k->rsrc2 >> 11 & 3);
	const u32 items = g->dim[0] * g->dim[1] * g->dim[2], first = w->index * k->lanes;
	const u32 *const ids = group_ids(w->t, k, g->dim) + first;
	const u32 n = items - first;

	for (u32 r = 0; r < rows && r < 3; r++)
		memcpy(w->v + r * ISA_LANES, ids + r * ISA_MAX_ITEMS, k->lanes * sizeof(u32));
	return n >= k->lanes ? w->full : ((u64)1 << n) - 1;
}

void isa_wave_init(struct isa_wave *w, const struct isa_kernel *k, const struct isa_launch *l)
{
	const struct isa_wg *const g = w->wg;
	const u32 user = k->rsrc2 >> 1 & 31;
	u32 at = 0;

	memset(w->s, 0, sizeof(w->s));
	w->lanes = k->lanes;
	w->gen = k->gen;
	w->full = k->lanes == 64 ? ~(u64)0 : 0xffffffffu;
	w->gpr_idx = 0;
	w->fnuz = isa_program_arch(l->prog) == ISA_GFX942;
	w->state = WAVE_READY;
	w->count = 0;
	w->mode = k->rsrc1 >> 12 & 0xff;
	w->mode |= k->gen == 12 ? MODE_DX10_CLAMP | MODE_IEEE
				: (k->rsrc1 >> 21 & 1 ? MODE_DX10_CLAMP : 0) |
				      (k->rsrc1 >> 23 & 1 ? MODE_IEEE : 0);
	/* user registers in the order of the property bits */
	if (k->properties & 1) {
		w->s[at] = (u32)SCRATCH_WINDOW;
		w->s[at + 1] = (u32)(SCRATCH_WINDOW >> 32) | 1u << 31;
		w->s[at + 2] = ~0u;
		w->s[at + 3] = 0x00e80000u;
		at += 4;
	}
	if (k->properties & 2)
		put64(&w->s[at], l->packet), at += 2;
	if (k->properties & 4)
		put64(&w->s[at], l->queue), at += 2;
	if (k->properties & 8)
		put64(&w->s[at], l->kernarg), at += 2;
	if (k->properties & 16)
		at += 2; /* dispatch id 0 */
	if (k->properties & 32)
		put64(&w->s[at], (u64)k->scratch << 32), at += 2;
	if (k->properties & 64)
		w->s[at++] = k->scratch;
	if (k->preload) {
		const u32 n = k->preload & 127, first = k->preload >> 7;
		struct isa_span sp;

		if (!l->mem.find(l->mem.self, l->kernarg + 4 * first, &sp))
			for (u32 i = 0; i < n && at < 32; i++) {
				const u64 a = l->kernarg + 4 * (first + i);
				if (a - sp.base + 4 <= sp.size)
					memcpy(&w->s[at], sp.host + (a - sp.base), 4);
				at++;
			}
	}
	at = user;
	for (u32 d = 0; d < 3; d++)
		if (k->rsrc2 >> (7 + d) & 1)
			w->s[at++] = g->id[d];
	if (k->rsrc2 >> 10 & 1)
		w->s[at++] = 0; /* workgroup info */
	if (k->rsrc2 & 1)
		w->s[at++] = 0; /* scratch wave offset: each wave has its own window */
	if (k->gen == 12) {
		w->s[R_TTMP + 9] = g->id[0];
		w->s[R_TTMP + 7] = g->id[1] | g->id[2] << 16;
		w->s[R_TTMP + 8] = w->index << 25;
	}
	w->s[R_SHARED_BASE + 1] = APERTURE_SHARED;
	w->s[R_SHARED_LIMIT] = ~0u;
	w->s[R_SHARED_LIMIT + 1] = APERTURE_SHARED;
	w->s[R_PRIVATE_BASE + 1] = APERTURE_PRIVATE;
	w->s[R_PRIVATE_LIMIT] = ~0u;
	w->s[R_PRIVATE_LIMIT + 1] = APERTURE_PRIVATE;
	isa_set_exec(w, take_ids(w, k));
}

/* --- workgroups ---------------------------------------------------------------------- */

static void group_free(struct isa_wg *g)
{
	if (!g)
		return;
	for (u32 i = 0; g->waves && i < g->n_alloc; i++) {
		if (g->waves[i].rows)
			munmap(g->waves[i].rows, (size_t)ROW_ALL * ISA_ROW);
		free(g->waves[i].scratch);
	}
	free(g->waves);
	free(g->lds);
	free(g);
}

static struct isa_wg *group_new(struct isa_thread *t)
{
	const struct isa_kernel *const k = &t->run->kernel;
	struct isa_wg *const g = calloc(1, sizeof(*g));
	const size_t scratch = (size_t)k->scratch * k->lanes;

	if (!g)
		return NULL;
	g->waves = aligned_alloc(64, k->waves * sizeof(*g->waves));
	if (!g->waves)
		goto fail;
	memset(g->waves, 0, k->waves * sizeof(*g->waves));
	if (k->lds) {
		g->lds = aligned_alloc(64, ((size_t)k->lds + 63) / 64 * 64);
		if (!g->lds)
			goto fail;
	}
	for (u32 i = 0; i < k->waves; i++) {
		struct isa_wave *const w = &g->waves[i];
		void *const rows = mmap(NULL, (size_t)ROW_ALL * ISA_ROW, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (rows == MAP_FAILED)
			goto fail;
		w->rows = rows;
		g->n_alloc = i + 1;
		w->v = w->rows + (size_t)ROW_TEMPS * ISA_LANES;
		w->wg = g;
		w->t = t;
		w->index = i;
		w->lds = g->lds;
		w->lds_size = k->lds;
		if (scratch) {
			/* 64 bytes more: a byte-wise access looks at whole dwords */
			w->scratch =
			    t->launch->poison_lds ? malloc(scratch + 64) : calloc(1, scratch + 64);
			if (!w->scratch)
				goto fail;
			if (t->launch->poison_lds)
				memset(w->scratch, t->launch->poison_lds, scratch);
		}
		w->scratch_size = scratch;
	}
	return g;
fail:
	group_free(g);
	return NULL;
}

static void group_start(struct isa_wg *g, struct isa_thread *t, u64 order)
{
	const struct isa_launch *const l = t->launch;
	const struct isa_kernel *const k = &t->run->kernel;
	u32 items = 1;

	g->order = order;
	g->id[0] = (u32)(order % k->groups[0]);
	g->id[1] = (u32)(order / k->groups[0] % k->groups[1]);
	g->id[2] = (u32)(order / k->groups[0] / k->groups[1]);
	for (unsigned d = 0; d < 3; d++) {
		const u32 left = l->grid[d] - g->id[d] * l->block[d];
		g->dim[d] = left < l->block[d] ? left : l->block[d];
		items *= g->dim[d];
	}
	g->n_waves = (items + k->lanes - 1) / k->lanes;
	g->n_done = 0;
	if (g->lds)
		memset(g->lds, l->poison_lds, k->lds);
	for (u32 i = 0; i < g->n_waves; i++) {
		struct isa_wave *const w = &g->waves[i];

		if (w->scratch_used) {
			memset(w->scratch, l->poison_lds, w->scratch_used);
			w->scratch_used = 0;
		}
		isa_wave_init(w, k, l);
		w->in = t->run->entry;
	}
	t->waves += g->n_waves;
}

enum pass { PASS_DONE, PASS_WAITS, PASS_STOP };

/* Lets every wave of the group run: to its end, or until each has had its slice. */
static enum pass group_pass(struct isa_wg *g, struct isa_thread *t, u64 slice)
{
	struct isa_run *const r = t->run;

	for (;;) {
		u32 waiting = 0;
		bool sliced = false;

		for (u32 i = 0; i < g->n_waves; i++) {
			struct isa_wave *const w = &g->waves[i];
			const u64 before = w->count;
			int next;

			if (w->state == WAVE_DONE)
				continue;
			if (w->state == WAVE_BARRIER) {
				waiting++;
				continue;
			}
			next = isa_step(w, slice);
			t->instructions += w->count - before;
			if (next == NEXT_END) {
				w->state = WAVE_DONE;
				g->n_done++;
			} else if (next == NEXT_STOP) {
				return PASS_STOP;
			} else if (w->state == WAVE_BARRIER) {
				waiting++;
			} else {
				sliced = true;
			}
		}
		if (r->launch->budget) {
			const u64 mine = t->instructions - t->counted;

			t->counted = t->instructions;
			if (atomic_fetch_add(&r->instructions, mine) + mine > r->launch->budget) {
				t->report.status = ISA_BUDGET;
				snprintf(t->report.what, sizeof(t->report.what),
					 "instruction budget of %llu used up",
					 (unsigned long long)r->launch->budget);
				return PASS_STOP;
			}
		}
		if (g->n_done == g->n_waves)
			return PASS_DONE;
		if (sliced)
			return PASS_WAITS;
		/* all that are left wait at the barrier */
		for (u32 i = 0; i < g->n_waves; i++)
			if (g->waves[i].state == WAVE_BARRIER)
				g->waves[i].state = WAVE_READY;
		(void)waiting;
	}
}

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
	struct isa_wg *spare; /* one that ended, to be used again */
};

/* Takes one more workgroup. 1 when it did, 0 when there is none left, -ENOMEM. */
static int admit(struct isa_thread *t, struct flight *f)
{
	struct isa_run *const r = t->run;
	const u64 order = atomic_fetch_add(&r->next, 1);
	struct isa_wg *g;

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
	g = f->spare ? f->spare : group_new(t);
	f->spare = NULL;
	if (!g)
		return -ENOMEM;
	group_start(g, t, order);
	f->live[f->n++] = g;
	return 1;
}

/* A turn for each group in flight; ended ones make room. */
static void turn(struct isa_thread *t, struct flight *f)
{
	struct isa_run *const r = t->run;

	for (size_t i = 0; i < f->n;) {
		struct isa_wg *const g = f->live[i];
		const enum pass p = stopped(r, g->order) ? PASS_DONE : group_pass(g, t, SLICE);

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
		if (f->spare)
			group_free(f->spare);
		f->spare = g;
	}
}

/*
 * One group at a time as long as groups end within their slice. Those that do
 * not may be waiting for one that has not begun: then twice as many come in,
 * up to a number, from there on a few each turn.
 */
static void *thread_main(void *arg)
{
	struct isa_thread *const t = arg;
	struct isa_run *const r = t->run;
	struct flight f = {0};
	/* cooperative: all of them at once, shared out evenly */
	const u64 share = (r->kernel.n_groups + r->n_threads - 1) / r->n_threads;
	size_t want = r->launch->cooperative ? (size_t)share : 1;
	bool more = true;
#if defined(__x86_64__)
	const unsigned csr = _mm_getcsr();

	_mm_setcsr(0x1f80);
#endif
	while (more || f.n) {
		for (size_t i = 0; more && i < want && f.n < MAX_LIVE; i++) {
			const int got = admit(t, &f);

			if (got < 0)
				atomic_store(&r->failed, true);
			more = got > 0;
		}
		turn(t, &f);
		if (!r->launch->cooperative)
			want = f.n == 0 ? 1 : f.n < 1024 ? f.n : 64;
	}
#if defined(__x86_64__)
	_mm_setcsr(csr);
#endif
	group_free(f.spare);
	free(f.live);
	return NULL;
}

/* One site for each pc, told by its lowest workgroup, and in the order of these. */
static void merge_site(struct isa_report *out, struct isa_fault f)
{
	unsigned at = 0;

	while (at < out->n_faults && (out->faults[at].pc != f.pc || f.ends))
		at++;
	if (at < out->n_faults) {
		const u64 count = f.count + out->faults[at].count;
		if (out->faults[at].order < f.order)
			f = out->faults[at];
		f.count = count;
		out->n_faults--;
		memmove(&out->faults[at], &out->faults[at + 1], (out->n_faults - at) * sizeof(f));
	} else if (out->n_faults == ISA_MAX_FAULTS) {
		if (!f.ends && out->faults[ISA_MAX_FAULTS - 1].order <= f.order)
			return;
		out->n_faults--;
	}
	for (at = out->n_faults; at > 0 && !f.ends && out->faults[at - 1].order > f.order; at--)
		out->faults[at] = out->faults[at - 1];
	out->faults[at] = f;
	out->n_faults++;
}

static void merge(struct isa_report *out, const struct isa_thread *t, u64 *order, u64 *approx)
{
	const unsigned n = isa_op_count();

	out->instructions += t->instructions;
	out->waves += t->waves;
	out->fault_count += t->report.fault_count;
	for (unsigned i = 0; i < n; i++)
		approx[i] += t->approx[i];
	for (unsigned i = 0; i < t->report.n_faults; i++)
		if (!t->report.faults[i].ends)
			merge_site(out, t->report.faults[i]);
	if (t->order < *order) {
		*order = t->order;
		out->status = t->final.status;
		memcpy(out->what, t->final.what, sizeof(out->what));
	}
}

/* What ended the launch: last, and of the lowest workgroup only. */
static void merge_end(struct isa_report *out, const struct isa_thread *t)
{
	for (unsigned i = 0; t->final.status == ISA_FAULT && i < t->final.n_faults; i++)
		if (t->final.faults[i].ends) {
			out->fault_count += t->final.faults[i].count;
			merge_site(out, t->final.faults[i]);
		}
}

int isa_run(const struct isa_launch *launch, struct isa_report *ret_report)
{
	struct isa_run r = {.launch = launch};
	struct isa_report *const out = ret_report;
	unsigned n = launch->threads ? launch->threads : 1, started = 0;
	struct isa_thread *threads = NULL;
	pthread_t ids[MAX_THREADS];
	u64 *approx = NULL, order = UINT64_MAX;
	char why[160] = "";
	int err = -ENOMEM;

	memset(out, 0, sizeof(*out));
	if (isa_kernel_read(launch, &r.kernel, why, sizeof(why))) {
		out->status = ISA_BAD_LAUNCH;
		snprintf(out->what, sizeof(out->what), "%s", why);
		return 0;
	}
	r.code = isa_program_code(launch->prog, r.kernel.lanes, why, sizeof(why));
	r.entry = r.code ? isa_code_at(r.code, r.kernel.entry, why, sizeof(why)) : NULL;
	if (!r.entry) {
		out->status = strstr(why, "memory") ? ISA_NOMEM : ISA_BAD_LAUNCH;
		snprintf(out->what, sizeof(out->what), "%s", why);
		return 0;
	}
	atomic_init(&r.next, 0);
	atomic_init(&r.stop_order, UINT64_MAX);
	atomic_init(&r.instructions, 0);
	atomic_init(&r.failed, false);
	if (n > MAX_THREADS)
		n = MAX_THREADS;
	if (n > r.kernel.n_groups)
		n = (unsigned)r.kernel.n_groups;
	r.n_threads = n;
	threads = calloc(n, sizeof(*threads));
	approx = calloc((size_t)(n + 1) * isa_op_count(), sizeof(*approx));
	if (!threads || !approx)
		goto out;
	for (unsigned i = 0; i < n; i++) {
		threads[i].launch = launch;
		threads[i].code = r.code;
		threads[i].run = &r;
		threads[i].order = UINT64_MAX;
		threads[i].approx = approx + (size_t)(i + 1) * isa_op_count();
	}
	for (unsigned i = 1; i < n; i++) {
		if (pthread_create(&ids[started], NULL, thread_main, &threads[i]))
			break; /* fewer threads do the same work */
		started++;
	}
	thread_main(&threads[0]);
	for (unsigned i = 0; i < started; i++)
		pthread_join(ids[i], NULL);
	if (atomic_load(&r.failed) && atomic_load(&r.stop_order) == UINT64_MAX)
		goto out;
	for (unsigned i = 0; i < n; i++)
		merge(out, &threads[i], &order, approx);
	for (unsigned i = 0; order != UINT64_MAX && i < n; i++)
		if (threads[i].order == order)
			merge_end(out, &threads[i]);
	for (unsigned i = 0; i < isa_op_count() && out->n_approx < ISA_MAX_APPROX; i++)
		if (approx[i])
			out->approx[out->n_approx++] =
			    (struct isa_approx){.mnemonic = isa_op_at(i)->name, .count = approx[i]};
	err = 0;
out:
	free(threads);
	free(approx);
	return err;
}
