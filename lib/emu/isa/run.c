/* The loop over instructions of one wave, and how a launch ends badly. */
#include <stdarg.h>
#include <stdio.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "lib/emu/isa/internal.h"
#include "lib/emu/isa/valu_mode.h"

int isa_fail(struct isa_wave *w, const struct isa_inst *in, enum isa_status status, const char *fmt,
	     ...)
{
	struct isa_report *const r = &w->t->report;
	char text[96];
	va_list ap;
	size_t n;

	r->status = status;
	va_start(ap, fmt);
	vsnprintf(r->what, sizeof(r->what), fmt, ap);
	va_end(ap);
	if (status != ISA_FAULT && in) {
		r->pc = in->pc;
		memcpy(r->workgroup, w->wg->id, sizeof(r->workgroup));
		isa_inst_text(w->t->code, in, text, sizeof(text));
		n = strlen(r->what);
		snprintf(r->what + n, sizeof(r->what) - n, " at pc 0x%llx: %s",
			 (unsigned long long)in->pc, text);
	}
	return NEXT_STOP;
}

static const char *const space_names[] = {"global", "LDS", "scratch", "constant", "flat"};
static const char *const access_names[] = {"load from", "store to", "atomic on",
					   "instruction fetch from"};

/* Where a fault goes: its own place, a new one, or NULL when there is no more room. */
static struct isa_fault *place(struct isa_report *r, const struct isa_fault *f)
{
	for (unsigned i = 0; i < r->n_faults; i++)
		if (f->ends ? r->faults[i].ends : isa_same_site(&r->faults[i], f))
			return &r->faults[i];
	if (r->n_faults < ISA_MAX_FAULTS)
		return &r->faults[r->n_faults++];
	return f->ends ? &r->faults[ISA_MAX_FAULTS - 1] : NULL;
}

void isa_note(struct isa_wave *w, const struct isa_inst *in, const struct isa_fault *what)
{
	struct isa_report *const r = &w->t->report;
	const u64 n = (u64)__builtin_popcountll(what->lanes);
	struct isa_fault this = *what;
	const u32 lane = what->lanes ? (u32)__builtin_ctzll(what->lanes) : 0;
	const u32 item = w->index * w->lanes + lane;
	const struct isa_wg *const g = w->wg;
	u64 count = n;

	this.pc = in->pc;
	struct isa_fault *const f = place(r, &this);
	if (!what->ends)
		r->fault_count += n;
	if (!f)
		return;
	if (!what->ends && f->count) { /* workgroups take turns: the lowest is told */
		count = f->count += n;
		if (f->order <= g->order)
			return;
	}
	*f = this;
	f->wave = w->index;
	f->lane = lane;
	f->count = count;
	f->order = g->order;
	isa_inst_text(w->t->code, in, f->text, sizeof(f->text));
	memcpy(f->workgroup, g->id, sizeof(f->workgroup));
	f->workitem[0] = item % g->dim[0];
	f->workitem[1] = item / g->dim[0] % g->dim[1];
	f->workitem[2] = item / g->dim[0] / g->dim[1];
}

int isa_fault_in(struct isa_wave *w, const struct isa_inst *in, const struct isa_fault *what)
{
	struct isa_report *const r = &w->t->report;

	struct isa_fault f = *what;

	f.ends = true;
	isa_note(w, in, &f);
	r->status = ISA_FAULT;
	snprintf(r->what, sizeof(r->what), "%s %s memory at 0x%llx: %s", access_names[what->access],
		 space_names[what->space], (unsigned long long)what->address,
		 what->why		    ? what->why
		 : what->access == ISA_LOAD ? "no readable memory there"
					    : "no writable memory there");
	return NEXT_STOP;
}

int isa_fault_at(struct isa_wave *w, const struct isa_inst *in, enum isa_access access,
		 enum isa_space space, u64 addr, u32 size, u64 lanes, const char *why)
{
	return isa_fault_in(w, in,
			    &(struct isa_fault){.access = access,
						.space = space,
						.address = addr,
						.size = size,
						.lanes = lanes,
						.why = why});
}

#if defined(__x86_64__)
static unsigned csr_for(unsigned round, unsigned denorm)
{
	static const unsigned rounding[4] = {0, 0x4000, 0x2000, 0x6000};
	unsigned csr = 0x1f80 | rounding[round];

	if (!(denorm & 1)) /* sources flushed */
		csr |= 0x0040;
	if (!(denorm & 2)) /* results flushed */
		csr |= 0x8000;
	return csr;
}
#endif

/* Masks and numbers of lanes are in scalar registers, which are not indexed. */
static bool is_scalar_source(const struct isa_inst *in, u32 k)
{
	const char *const spec = isa_op_at(in->op)->spec;
	const char *const sources = spec ? strchr(spec, ':') : NULL;

	return sources && strlen(sources) > k + 1 && strchr("muU", sources[k + 1]);
}

/*
 * Registers named relative to M0 (s_set_gpr_idx_on): a copy of the instruction
 * with the index added.
 */
static int run_indexed(struct isa_wave *w, const struct isa_inst *in)
{
	const u32 idx = w->s[R_M0] & 0xff;
	struct isa_inst copy;
	struct isa_extra extra;

	if (!(in->flags & F_VECTOR))
		return in->run(w, in);
	memcpy((void *)&copy, (const void *)in, sizeof(copy));
	if (in->extra) {
		extra = *in->extra;
		copy.extra = &extra;
	}
	for (u32 k = 0; k < in->n_src && k < 3; k++) {
		if (!(w->gpr_idx >> k & 1) || is_scalar_source(in, k))
			continue;
		if (in->extra && extra.mod[k].kind == PREP_VGPR) {
			extra.mod[k].row += (i32)idx;
			if (extra.mod[k].row >= ROW_VGPRS + ROW_AGPRS - 1)
				return isa_fail(w, in, ISA_FAULT,
						"vector register index out of range");
		} else if (copy.src[k].rel && (i64)copy.src[k].off >= 0) {
			copy.src[k].off += (uintptr_t)idx * ISA_ROW;
			if (copy.src[k].off >= (uintptr_t)(ROW_VGPRS + ROW_AGPRS - 1) * ISA_ROW)
				return isa_fail(w, in, ISA_FAULT,
						"vector register index out of range");
		}
	}
	if (w->gpr_idx >> 3 & 1) {
		if (copy.dv >= 0)
			copy.dv += (i32)idx * ISA_ROW;
		else if (in->extra)
			extra.dst_row += (i32)idx;
		if (copy.dv >= (ROW_VGPRS + ROW_AGPRS - 1) * ISA_ROW ||
		    (in->extra && extra.dst_row >= ROW_VGPRS + ROW_AGPRS - 1))
			return isa_fail(w, in, ISA_FAULT, "vector register index out of range");
	}
	return copy.run(w, &copy);
}

/* Both halves of a pair. */
static int run_mode_dual(struct isa_wave *w, const struct isa_inst *in)
{
	const struct isa_inst *const y = in->extra->dual;
	const isa_fn fx = isa_mode_fn(isa_op_at(in->op)), fy = isa_mode_fn(isa_op_at(y->op));
	struct isa_inst copy, second;
	struct isa_extra extra = *in->extra;

	memcpy((void *)&copy, (const void *)in, sizeof(copy));
	memcpy((void *)&second, (const void *)y, sizeof(second));
	if (fx) {
		extra.dual_run = extra.dual_run == in->fn ? fx : extra.dual_run;
		copy.fn = fx;
	}
	if (fy) {
		second.run = y->run == y->fn ? fy : y->run;
		second.fn = fy;
	}
	extra.dual = &second;
	copy.extra = &extra;
	return copy.run(w, &copy);
}

/* An instruction whose function does not do for an unusual MODE: a copy with the one that does. */
static int run_mode(struct isa_wave *w, const struct isa_inst *in)
{
	const isa_fn fn = isa_mode_fn(isa_op_at(in->op));
	struct isa_inst copy;

	if (in->extra && in->extra->dual)
		return run_mode_dual(w, in);
	if (!fn)
		return in->run(w, in);
	if (in->run == in->fn)
		return fn(w, in);
	memcpy((void *)&copy, (const void *)in, sizeof(copy));
	copy.fn = fn;
	if (in->inner == in->fn) /* what counting calls */
		copy.inner = fn;
	return copy.run(w, &copy);
}

/* Straight code under an unusual MODE or with register indexing. */
static int run_special(struct isa_wave *w, const struct isa_inst **at)
{
	const struct isa_inst *in = *at;
	int r;
#if defined(__x86_64__)
	const unsigned csr32 = csr_for(MODE_ROUND32(w->mode), MODE_DENORM32(w->mode));
	const unsigned csr64 = csr_for(MODE_ROUND64(w->mode), MODE_DENORM64(w->mode));
#endif

	for (;; in++) {
#if defined(__x86_64__)
		if (in->flags & (F_FP32 | F_FP64))
			_mm_setcsr(in->flags & F_FP32 ? csr32 : csr64);
#endif
		if (w->gpr_idx)
			r = run_indexed(w, in);
		else
			r = in->flags & F_MODE ? run_mode(w, in) : in->run(w, in);
#if defined(__x86_64__)
		if (in->flags & (F_FP32 | F_FP64))
			_mm_setcsr(0x1f80);
#endif
		if (r)
			break;
	}
	*at = in;
	return r;
}

int isa_step(struct isa_wave *w, u64 slice)
{
	const struct isa_inst *in = w->in;
	const u64 limit = w->count + slice;
	int r;

	for (;;) {
		w->block = in;
		if (__builtin_expect((w->mode & 0xff) != 0xf0 || w->gpr_idx, 0)) {
			r = run_special(w, &in);
		} else {
			for (;;) {
				r = in->run(w, in);
				if (r)
					break;
				in++;
			}
		}
		w->count += (u64)(in - w->block) + !(in->flags & F_LINK);
		if (r != NEXT_JUMP)
			return r;
		in = w->in;
		if (__builtin_expect(w->count >= limit, 0))
			return NEXT_YIELD;
	}
}
