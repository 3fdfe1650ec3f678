/* Scalar memory. */
#include "lib/emu/isa/mem.h"
#include "lib/emu/isa/table.h"

/* Where nothing is, when the launch goes on. */
static const u8 zeros[64];

/* A span each byte of which is watched: it is in no cache. */
static const u8 *watched(struct isa_wave *w, const struct isa_inst *in, u64 addr, u32 size)
{
	const struct isa_mem *const mem = &w->t->launch->mem;
	struct isa_span s;

	if (mem->find(mem->self, addr, &s) || (!s.written && !s.forbidden) || addr < s.base ||
	    size > s.size || addr - s.base > s.size - size || !s.readable)
		return NULL;
	if (s.forbidden && !w->t->launch->go_on)
		return NULL;
	if (s.forbidden)
		isa_note(w, in,
			 &(struct isa_fault){.access = ISA_LOAD,
					     .space = ISA_CONSTANT,
					     .address = addr,
					     .size = size,
					     .lanes = isa_exec(w)});
	/* Compilers load whole dwords of which they need a part. */
	for (u32 k = 0; s.written && k < size; k += 4) {
		const u8 *const shadow = s.written + (addr - s.base) + k;
		bool any = false;
		for (u32 i = 0; i < 4 && k + i < size; i++)
			any = any || shadow[i];
		if (!any) {
			isa_note(w, in,
				 &(struct isa_fault){.access = ISA_LOAD,
						     .space = ISA_CONSTANT,
						     .address = addr + k,
						     .size = size,
						     .lanes = isa_exec(w),
						     .why = "memory that nothing wrote"});
			break;
		}
	}
	return s.host + (addr - s.base);
}

/* Host address of size bytes at addr, or NULL with the fault reported. */
static const u8 *fetch(struct isa_wave *w, const struct isa_inst *in, u64 addr, u32 size)
{
	struct isa_span_cache *const c = &w->t->cache[in->id % ISA_CACHE];

#ifdef ISA_UNCHECKED /* see rows.inc */
	if (c->readable)
		return isa_host(c->delta, addr);
#endif
	if (!(addr >= c->lo && addr + size <= c->hi && addr + size > addr && c->readable &&
	      !c->shadow)) {
		if (addr + size < addr || !isa_span_fill(w, in, c, addr, addr + size)) {
			const struct isa_fault f = {.access = ISA_LOAD,
						    .space = ISA_CONSTANT,
						    .address = addr,
						    .size = size,
						    .lanes = isa_exec(w)};
			const u8 *const p = addr + size < addr ? NULL : watched(w, in, addr, size);
			if (p)
				return p;
			if (!w->t->launch->go_on) {
				isa_fault_in(w, in, &f);
				return NULL;
			}
			isa_note(w, in, &f);
			return zeros;
		}
	}
	return isa_host(c->delta, addr);
}

static int load(struct isa_wave *w, const struct isa_inst *in)
{
	const u32 size = in->m.size < 4 ? in->m.size : in->m.dwords * 4u;
	u64 addr = isa_su64(w, in, 0) + isa_su32(w, in, 1) + (u64)in->imm;
	u32 v[16] = {0};
	const u8 *p;

	if (in->m.size >= 4)
		addr &= ~(u64)3;
	p = fetch(w, in, addr, size);
	if (!p)
		return NEXT_STOP;
	memcpy(v, p, size);
	if (in->m.sext)
		v[0] = in->m.size == 1 ? (u32)(i32)(i8)v[0] : (u32)(i32)(i16)v[0];
	if (in->ds + in->m.dwords <= R_COUNT)
		memcpy(&w->s[in->ds], v, in->m.dwords * 4u);
	return NEXT_INST;
}

/* Through a buffer descriptor: beyond its records 0 is read. */
static int buffer(struct isa_wave *w, const struct isa_inst *in)
{
	const u32 *const srd = isa_sp(w, in, 0);
	const u64 base = srd[0] | (u64)(srd[1] & 0xffffu) << 32;
	const u32 stride = srd[1] >> 16 & 0x3fffu;
	const u64 size = stride ? (u64)stride * srd[2] : srd[2];
	const u64 off = ((u64)isa_su32(w, in, 1) + (u64)in->imm) & ~(u64)3;
	u32 v[16] = {0};

	for (u32 k = 0; k < in->m.dwords; k++) {
		const u8 *p;

		if (off + 4 * k + 4 > size)
			continue;
		p = fetch(w, in, base + off + 4 * k, 4);
		if (!p)
			return NEXT_STOP;
		memcpy(&v[k], p, 4);
	}
	if (in->ds + in->m.dwords <= R_COUNT)
		memcpy(&w->s[in->ds], v, in->m.dwords * 4u);
	return NEXT_INST;
}

static int scratch(struct isa_wave *w, const struct isa_inst *in)
{
	return isa_fail(w, in, ISA_UNIMPLEMENTED, "scalar scratch load");
}

isa_fn isa_smem_fn(const char *name)
{
	return !strncmp(name, "s_buffer_", 9)	  ? buffer
	       : !strncmp(name, "s_scratch_", 10) ? scratch
						  : load;
}
