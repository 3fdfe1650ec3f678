/* What memory instructions do away from the fast path: spans, faults, scratch, atomics. */
#include "lib/emu/isa/mem.h"
#include "lib/emu/isa/numeric.h"

enum isa_access isa_access_kind(const struct isa_inst *in)
{
	return in->m.op == MEM_LOAD ? ISA_LOAD : in->m.op == MEM_STORE ? ISA_STORE : ISA_ATOMIC;
}

static bool permits(const struct isa_inst *in, const struct isa_span *s)
{
	if (in->m.op == MEM_LOAD)
		return s->readable;
	return s->writable && (in->m.op == MEM_STORE || s->readable);
}

bool isa_span_fill(struct isa_wave *w, const struct isa_inst *in, struct isa_span_cache *c, u64 lo,
		   u64 hi)
{
	const struct isa_mem *mem = &w->t->launch->mem;
	struct isa_span s;

	if (mem->find(mem->self, lo, &s))
		return false;
	if (lo < s.base || hi - s.base > s.size || !permits(in, &s) || s.forbidden)
		return false;
	c->lo = s.base;
	c->hi = s.base + s.size;
	c->delta = (uintptr_t)s.host - s.base;
	c->readable = s.readable;
	c->writable = s.writable && (in->m.op != MEM_ATOMIC || s.readable);
	c->shadow = s.written ? (uintptr_t)s.written - s.base : 0;
	return !s.written;
}

static const char not_written[] = "memory that nothing wrote";

int isa_bad_lanes(struct isa_wave *w, const struct isa_inst *in, struct isa_access_set *a, u64 bad,
		  const struct isa_fault *what)
{
	struct isa_fault f = *what;

	f.access = isa_access_kind(in);
	f.lanes = bad;
	if (!w->t->launch->go_on)
		return isa_fault_in(w, in, &f);
	isa_note(w, in, &f);
	a->lanes &= ~bad;
	if ((in->m.op == MEM_LOAD && !in->m.to_lds) || in->m.rtn)
		for (u64 left = bad; left; left &= left - 1)
			for (u32 k = 0; k < in->m.dwords; k++)
				isa_row(w, in->dv)[(u32)__builtin_ctzll(left) + k * ISA_LANES] = 0;
	return NEXT_INST;
}

/* Whether it was written; notes that it is now, when it is stored to. */
static bool written(const struct isa_inst *in, u8 *shadow, u64 addr, u32 size)
{
	const bool was = in->m.op == MEM_STORE || isa_was_written(shadow, addr, size);

	if (in->m.op != MEM_LOAD)
		memset(shadow, 1, size);
	return was;
}

int isa_global_lanes(struct isa_wave *w, const struct isa_inst *in, struct isa_access_set *a,
		     u32 size)
{
	const struct isa_mem *mem = &w->t->launch->mem;
	const bool atomic = in->m.op == MEM_ATOMIC;
	struct isa_span s = {0};
	struct isa_fault f = {.space = (enum isa_space)in->m.space, .size = size}, odd = f,
			 fresh = f, away = f;
	u64 bad = 0, no = 0, wild = 0, poor = 0;
	int r = NEXT_INST;

	for (u64 left = a->lanes; left; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(left);
		const u64 addr = a->off[i];
		const bool known =
		    s.size >= size && addr >= s.base && addr - s.base <= s.size - size;

		if (!known) {
			s = (struct isa_span){0};
			if (mem->find(mem->self, addr, &s) || addr < s.base || s.size < size ||
			    addr - s.base > s.size - size || !permits(in, &s)) {
				if (!bad && (!no || w->t->launch->go_on))
					f.address = addr;
				bad |= (u64)1 << i;
				s = (struct isa_span){0};
				continue;
			}
		}
		if (s.forbidden) {
			if (!no)
				away.address = addr;
			if (!bad && !no)
				f.address = addr;
			no |= (u64)1 << i;
		}
		if (atomic && addr & (size - 1u)) { /* here the device address is still known */
			if (!wild)
				odd.address = addr;
			wild |= (u64)1 << i;
			continue;
		}
		if (s.written && !written(in, s.written + (addr - s.base), addr, size)) {
			if (!poor)
				fresh.address = addr;
			poor |= (u64)1 << i;
		}
		a->off[i] = (u64)(uintptr_t)s.host + (addr - s.base);
	}
	if (poor) {
		fresh.access = isa_access_kind(in);
		fresh.lanes = poor;
		fresh.why = not_written;
		isa_note(w, in, &fresh);
	}
	if (no && !w->t->launch->go_on) {
		bad |= no;
	} else if (no) {
		away.access = isa_access_kind(in);
		away.lanes = no;
		isa_note(w, in, &away);
	}
	if (bad)
		r = isa_bad_lanes(w, in, a, bad, &f);
	if (wild && r == NEXT_INST) {
		odd.why = "misaligned atomic";
		r = isa_bad_lanes(w, in, a, wild, &odd);
	}
	a->base = 0;
	return r;
}

int isa_lds_fault(struct isa_wave *w, const struct isa_inst *in, struct isa_access_set *a, u32 size)
{
	struct isa_fault f = {.space = ISA_LDS,
			      .size = size,
			      .limit = w->lds_size,
			      .why = "outside the workgroup's LDS"};
	u64 bad = 0;

	for (u64 left = a->lanes; left; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(left);

		if (a->off[i] + size > w->lds_size) {
			if (!bad)
				f.address = a->off[i];
			bad |= (u64)1 << i;
		}
	}
	return isa_bad_lanes(w, in, a, bad, &f);
}

/*
 * off holds byte offsets in each lane's private segment; wave_offset is what
 * the (unswizzled) scalar offset adds for the whole wave.
 */
int isa_scratch_resolve(struct isa_wave *w, const struct isa_inst *in, struct isa_access_set *a,
			u32 size, u64 wave_offset)
{
	const u64 whole = w->scratch_size / w->lanes, row = (u64)w->lanes * 4;
	const u64 lane_offset = wave_offset / w->lanes;
	const u32 unit = size < 4 ? size : 4;
	u64 bad = 0, first = 0;

	a->split = false;
	a->base = (uintptr_t)w->scratch;
	a->step = (u32)row;
	for (u64 left = a->lanes; left; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(left);
		const u64 o = a->off[i];

		if (lane_offset + o + size > whole) {
			if (!bad)
				first = lane_offset + o;
			bad |= (u64)1 << i;
		}
		if ((o & 3) + unit > 4)
			a->split = true;
	}
	if (bad) {
		const int r = isa_bad_lanes(
		    w, in, a, bad,
		    &(struct isa_fault){.space = ISA_SCRATCH,
					.address = first,
					.size = size,
					.limit = whole,
					.why = "outside the work-item's private segment"});
		if (r)
			return r;
	}
	if (w->t->launch->watch_own)
		isa_watch_scratch(w, in, a, size, wave_offset);
	for (u64 left = a->lanes; left; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(left);
		const u64 o = a->off[i];

		if (!a->split)
			a->off[i] = wave_offset + (o >> 2) * row + i * 4u + (o & 3);
	}
	for (u64 left = in->m.op == MEM_LOAD ? 0 : a->lanes; left; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(left);
		const u64 o = a->off[i];
		u64 end =
		    a->split ? wave_offset + ((o + size) / 4 + 1) * row : o + (size / 4 + 1) * row;

		if (end > w->scratch_size)
			end = w->scratch_size;
		if (end > w->scratch_used)
			w->scratch_used = end;
	}
	if (a->split) /* offsets stay per lane; isa_split_transfer finds the bytes */
		a->base = (uintptr_t)w->scratch + wave_offset;
	return NEXT_INST;
}

/* Scratch access that crosses dwords: byte by byte. */
void isa_split_transfer(struct isa_wave *w, const struct isa_inst *in,
			const struct isa_access_set *a)
{
	const u32 size = in->m.size < 4 ? in->m.size : in->m.dwords * 4u;

	for (u64 left = a->lanes; left; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(left);
		u8 bytes[64] = {0};
		u32 word[16];

		if (in->m.op == MEM_STORE) {
			const u32 *s = isa_row(w, in->dv2);
			for (u32 k = 0; k < in->m.dwords; k++)
				word[k] = s[i + k * ISA_LANES];
			if (in->m.d16_hi)
				word[0] >>= 16;
			memcpy(bytes, word, sizeof(bytes));
		}
		for (u32 b = 0; b < size; b++) {
			const u64 o = a->off[i] + b;
			u8 *p = isa_host(a->base, (o >> 2) * a->step + i * 4u + (o & 3));

			if (in->m.op == MEM_STORE)
				*p = bytes[b];
			else
				bytes[b] = *p;
		}
		if (in->m.op == MEM_LOAD) {
			u32 *d = isa_row(w, in->dv);

			memcpy(word, bytes, sizeof(word));
			if (size < 4) {
				u32 v = word[0];
				if (in->m.sext)
					v = size == 1 ? (u32)(i32)(i8)v : (u32)(i32)(i16)v;
				if (!in->m.d16)
					d[i] = v;
				else if (in->m.d16_hi)
					d[i] = (d[i] & 0xffffu) | v << 16;
				else
					d[i] = (d[i] & 0xffff0000u) | (v & 0xffffu);
			} else {
				for (u32 k = 0; k < in->m.dwords; k++)
					d[i + k * ISA_LANES] = word[k];
			}
		}
	}
}

int isa_load_to_lds(struct isa_wave *w, const struct isa_inst *in, const struct isa_access_set *a)
{
	const u32 size = in->m.dwords * 4u, base = (w->s[R_M0] & 0xffffu) + (u32)in->imm;
	u64 bad = 0;

	for (u64 left = a->lanes; left; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(left);
		const u64 to = (u64)base + i * size;
		u32 v[4] = {0};

		if (to + size > w->lds_size) {
			bad |= (u64)1 << i;
			continue;
		}
		memcpy(v, isa_host(a->base, a->off[i]), in->m.size < 4 ? in->m.size : size);
		if (in->m.sext)
			v[0] = in->m.size == 1 ? (u32)(i32)(i8)v[0] : (u32)(i32)(i16)v[0];
		memcpy(w->lds + to, v, size);
		if (w->t->launch->watch_own)
			memset(w->wg->lds_written + to, 1, size);
	}
	if (bad) { /* the others are done: nothing to leave out */
		const struct isa_fault f = {.access = ISA_STORE,
					    .space = ISA_LDS,
					    .address = base + (u64)__builtin_ctzll(bad) * size,
					    .size = size,
					    .lanes = bad,
					    .limit = w->lds_size,
					    .why = "outside the workgroup's LDS"};
		if (!w->t->launch->go_on)
			return isa_fault_in(w, in, &f);
		isa_note(w, in, &f);
	}
	return NEXT_INST;
}

/* --- atomics ------------------------------------------------------------------- */

static u32 new32(u8 op, u32 old, u32 data, u32 cmp)
{
	switch (op) {
	case AT_SWAP:
		return data;
	case AT_CMPSWAP:
		return old == cmp ? data : old;
	case AT_ADD:
		return old + data;
	case AT_SUB:
		return old - data;
	case AT_RSUB:
		return data - old;
	case AT_SMIN:
		return (i32)old < (i32)data ? old : data;
	case AT_UMIN:
		return old < data ? old : data;
	case AT_SMAX:
		return (i32)old > (i32)data ? old : data;
	case AT_UMAX:
		return old > data ? old : data;
	case AT_AND:
		return old & data;
	case AT_OR:
		return old | data;
	case AT_XOR:
		return old ^ data;
	case AT_MSKOR: /* data is the mask, cmp the bits */
		return (old & ~data) | cmp;
	case AT_INC:
		return old >= data ? 0 : old + 1;
	case AT_DEC:
		return old == 0 || old > data ? data : old - 1;
	case AT_FADD:
		return f2u(u2f(old) + u2f(data));
	case AT_FMIN:
		return min_f32(old, data, true);
	case AT_FMAX:
		return max_f32(old, data, true);
	case AT_FCMPSWAP:
		return u2f(old) == u2f(cmp) ? data : old;
	case AT_PK_ADD_F16:
		return f2h(h2f(old & 0xffff) + h2f(data & 0xffff)) |
		       f2h(h2f(old >> 16) + h2f(data >> 16)) << 16;
	case AT_PK_ADD_BF16:
		return f2bf(bf2f(old & 0xffff) + bf2f(data & 0xffff)) |
		       f2bf(bf2f(old >> 16) + bf2f(data >> 16)) << 16;
	case AT_CSUB:
		return old < data ? 0 : old - data;
	case AT_COND_SUB:
		return old < data ? old : old - data;
	default:
		return old;
	}
}

static u64 new64(u8 op, u64 old, u64 data, u64 cmp)
{
	switch (op) {
	case AT_SWAP:
		return data;
	case AT_CMPSWAP:
		return old == cmp ? data : old;
	case AT_ADD:
		return old + data;
	case AT_SUB:
		return old - data;
	case AT_RSUB:
		return data - old;
	case AT_SMIN:
		return (i64)old < (i64)data ? old : data;
	case AT_UMIN:
		return old < data ? old : data;
	case AT_SMAX:
		return (i64)old > (i64)data ? old : data;
	case AT_UMAX:
		return old > data ? old : data;
	case AT_AND:
		return old & data;
	case AT_OR:
		return old | data;
	case AT_XOR:
		return old ^ data;
	case AT_MSKOR:
		return (old & ~data) | cmp;
	case AT_INC:
		return old >= data ? 0 : old + 1;
	case AT_DEC:
		return old == 0 || old > data ? data : old - 1;
	case AT_FADD:
		return d2u(u2d(old) + u2d(data));
	case AT_FMIN:
		return min_f64(old, data, true);
	case AT_FMAX:
		return max_f64(old, data, true);
	case AT_FCMPSWAP:
		return u2d(old) == u2d(cmp) ? data : old;
	default:
		return old;
	}
}

int isa_atomic_lanes(struct isa_wave *w, const struct isa_inst *in, const struct isa_access_set *a,
		     const u32 *data, const u32 *cmp)
{
	const u8 op = in->m.atomic;
	/* memory that other threads see needs the real thing; LDS belongs to this thread */
	const bool shared = in->m.space != ISA_LDS && w->t->launch->threads > 1;
	u32 *const d = in->m.rtn ? isa_row(w, in->dv) : NULL;
	u64 odd = 0;

	for (u64 left = a->lanes; left; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(left);
		u8 *const p = isa_host(a->base, a->off[i]);

		if ((uintptr_t)p & (in->m.size - 1u)) {
			odd |= (u64)1 << i;
			continue;
		}
		if (in->m.size == 4) {
			u32 *const q = (u32 *)(void *)p;
			u32 old = __atomic_load_n(q, __ATOMIC_RELAXED);
			const u32 c = cmp ? cmp[i] : 0;

			if (shared)
				while (!__atomic_compare_exchange_n(
				    q, &old, new32(op, old, data[i], c), true, __ATOMIC_SEQ_CST,
				    __ATOMIC_RELAXED))
					;
			else
				*q = new32(op, old, data[i], c);
			if (d)
				d[i] = old;
		} else {
			u64 *const q = (u64 *)(void *)p;
			u64 old = __atomic_load_n(q, __ATOMIC_RELAXED);
			const u64 v = (u64)data[i + ISA_LANES] << 32 | data[i];
			const u64 c = cmp ? (u64)cmp[i + ISA_LANES] << 32 | cmp[i] : 0;

			if (shared)
				while (!__atomic_compare_exchange_n(q, &old, new64(op, old, v, c),
								    true, __ATOMIC_SEQ_CST,
								    __ATOMIC_RELAXED))
					;
			else
				*q = new64(op, old, v, c);
			if (d) {
				d[i] = (u32)old;
				d[i + ISA_LANES] = (u32)(old >> 32);
			}
		}
	}
	if (odd) { /* of lanes through one cached span, or of LDS and scratch: off is what was asked
		      for */
		const struct isa_fault f = {.access = ISA_ATOMIC,
					    .space = (enum isa_space)in->m.space,
					    .address = a->off[__builtin_ctzll(odd)],
					    .size = in->m.size,
					    .lanes = odd,
					    .why = "misaligned atomic"};
		if (!w->t->launch->go_on)
			return isa_fault_in(w, in, &f);
		isa_note(w, in, &f);
		for (u64 left = d ? odd : 0; left; left &= left - 1)
			d[__builtin_ctzll(left)] = 0;
	}
	return NEXT_INST;
}
