#ifndef HRR_EMU_ISA_MEM_H
#define HRR_EMU_ISA_MEM_H

#include "lib/emu/isa/internal.h"

/*
 * One access of a wave, addresses resolved: lane i's bytes are at
 * base + off[i], its next dwords step bytes apart (scratch is kept swizzled,
 * dword by dword across the lanes, as hardware has it).
 */
struct isa_access_set {
	u64 lanes;	/* the ones that take part */
	uintptr_t base; /* a number: with device addresses as offsets it wraps */
	u32 step;
	bool split; /* scratch: some lane's bytes are not within one dword */
	u64 off[ISA_LANES] __attribute__((aligned(64)));
};

/* A lane's bytes. */
static inline u8 *isa_host(uintptr_t base, u64 off)
{
	return (u8 *)(base + off);
}

/* mem.c */
/* Device addresses in a->off of several spans to host pointers, lane by lane; faults are reported.
 */
int isa_global_lanes(struct isa_wave *w, const struct isa_inst *in, struct isa_access_set *a,
		     u32 size);
/*
 * Lanes bad of the access went wrong as what says. Ends the launch (NEXT_STOP), or leaves them out
 * of a, with 0 for what they load, and goes on (NEXT_INST).
 */
int isa_bad_lanes(struct isa_wave *w, const struct isa_inst *in, struct isa_access_set *a, u64 bad,
		  const struct isa_fault *what);
/* The span around [lo, hi) into the cache entry; false when no single one covers it or permits it,
 * or when each byte is watched (then it is in the entry, with its shadow).
 */
bool isa_span_fill(struct isa_wave *w, const struct isa_inst *in, struct isa_span_cache *c, u64 lo,
		   u64 hi);
int isa_lds_fault(struct isa_wave *w, const struct isa_inst *in, struct isa_access_set *a,
		  u32 size);
int isa_scratch_resolve(struct isa_wave *w, const struct isa_inst *in, struct isa_access_set *a,
			u32 size, u64 wave_offset);
/* For launches that watch their own memory: tells loads of what nothing wrote, notes stores. off
 * as isa_scratch_resolve takes it. */
void isa_watch_lds(struct isa_wave *w, const struct isa_inst *in, const struct isa_access_set *a,
		   u32 size);
void isa_watch_scratch(struct isa_wave *w, const struct isa_inst *in,
		       const struct isa_access_set *a, u32 size, u64 wave_offset);
/*
 * Whether something wrote size bytes at addr, by the bytes of shadow. Compilers load, and copy,
 * whole dwords with what lies between the members of a structure: of a dword one written byte is
 * enough.
 */
static inline bool isa_was_written(const u8 *shadow, u64 addr, u32 size)
{
	u32 dword;

	if (size < 4) {
		for (u32 k = 0; k < size; k++)
			if (!shadow[k])
				return false;
		return true;
	}
	if (!(addr & 3) && !(size & 3)) {
		for (u32 k = 0; k < size; k += 4) {
			memcpy(&dword, shadow + k, 4);
			if (!dword)
				return false;
		}
		return true;
	}
	for (u32 k = 0; k < size;) {
		bool any = false;

		do
			any = any || shadow[k];
		while (++k < size && (addr + k) & 3);
		if (!any)
			return false;
	}
	return true;
}
int isa_atomic_lanes(struct isa_wave *w, const struct isa_inst *in, const struct isa_access_set *a,
		     const u32 *data, const u32 *cmp);
/* Loads whose result goes to LDS: at M0 plus the offset, lane by lane. */
int isa_load_to_lds(struct isa_wave *w, const struct isa_inst *in, const struct isa_access_set *a);
void isa_split_transfer(struct isa_wave *w, const struct isa_inst *in,
			const struct isa_access_set *a);
enum isa_access isa_access_kind(const struct isa_inst *in);

enum {
	MEM_FN_GLOBAL,
	MEM_FN_FLAT,
	MEM_FN_SCRATCH,
	MEM_FN_BUFFER,
	MEM_FN_DS,
	MEM_FN_DS2,
	MEM_FN_COUNT
};
extern const isa_fn *const isa_fns_mem[3];
/* smem.c */
isa_fn isa_smem_fn(const char *name);

#endif
