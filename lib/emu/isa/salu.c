/* Scalar instructions; those by hand that are not data: salu_flow.c, salu_mode.c. */
#include "lib/emu/isa/salu.h"
#include "lib/emu/isa/table.h"

INLINE u32 ctz64(u64 v)
{
	return v ? (u32)__builtin_ctzll(v) : ~0u;
}
INLINE u32 clz64(u64 v)
{
	return v ? (u32)__builtin_clzll(v) : ~0u;
}
static u64 bit_replicate(u32 v)
{
	u64 r = 0;

	for (unsigned i = 0; i < 32; i++)
		r |= (u64)(v >> i & 1) * 3 << (2 * i);
	return r;
}
static u64 wqm(u64 v)
{
	const u64 any = (v | v >> 1 | v >> 2 | v >> 3) & 0x1111111111111111ull;

	return any * 15;
}
static u64 quadmask(u64 v)
{
	u64 r = 0;

	for (unsigned i = 0; i < 16; i++)
		r |= (u64)((v >> (4 * i) & 15) != 0) << i;
	return r;
}
/* Field of B: offset in bits 4:0 (5:0), width in bits 22:16. */
static u32 sbfe_u32(u32 a, u32 b)
{
	const u32 n = b >> 16 & 127, v = a >> (b & 31);

	return n >= 32 ? v : v & ((1u << n) - 1);
}
static u32 sbfe_i32(u32 a, u32 b)
{
	const u32 off = b & 31, n = b >> 16 & 127;
	const u32 width = n > 32 - off ? 32 - off : n;

	return width == 0 ? 0 : (u32)((i32)(a << (32 - off - width)) >> (32 - width));
}
static u64 sbfe_u64(u64 a, u32 b)
{
	const u32 n = b >> 16 & 127;
	const u64 v = a >> (b & 63);

	return n >= 64 ? v : v & (((u64)1 << n) - 1);
}
static u64 sbfe_i64(u64 a, u32 b)
{
	const u32 off = b & 63, n = b >> 16 & 127;
	const u32 width = n > 64 - off ? 64 - off : n;

	return width == 0 ? 0 : (u64)((i64)(a << (64 - off - width)) >> (64 - width));
}

/* a row that salu.def has whole */
#define ROW_FN(name) static int op_##name(struct isa_wave *w, const struct isa_inst *in)

/* floats, flushed as MODE says */
#define XA flush_in32(A, 'f', w->mode)
#define XB flush_in32(B, 'f', w->mode)
#define FA u2f(XA)
#define FB u2f(XB)
#define FC u2f(flush_in32(C, 'f', w->mode))
#define HXA flush_in32(A & 0xffffu, 'h', w->mode)
#define HXB flush_in32(B & 0xffffu, 'h', w->mode)
#define HA h2f(HXA)
#define HB h2f(HXB)
#define f2h(f) f2h_to(f, w->mode)
#define fma_f16(a, b, c) fma_f16_to(a, b, c, w->mode)
#define SA SU
#define SI SU
#define SF(name, spec, archs, expr) SU(name, spec, archs, flush_out32(expr, 'f', w->mode))
#define SH(name, spec, archs, expr) SU(name, spec, archs, flush_out32(expr, 'h', w->mode))
#define SU(name, spec, archs, expr)    \
	ROW_FN(name)                   \
	{                              \
		const u32 r_ = (expr); \
		w->s[in->ds] = r_;     \
		return NEXT_INST;      \
	}
#define SUZ(name, spec, archs, expr)   \
	ROW_FN(name)                   \
	{                              \
		const u32 r_ = (expr); \
		w->s[in->ds] = r_;     \
		SCC = r_ != 0;         \
		return NEXT_INST;      \
	}
#define SUC(name, spec, archs, expr, scc)                                     \
	ROW_FN(name)                                                          \
	{                                                                     \
		const u32 A_ = in->n_src > 0 ? A : 0, SCC_ = SCC, OLD_ = OLD, \
			  B_ = in->n_src > 1 ? B : 0, R = (expr);             \
		(void)A_, (void)B_, (void)SCC_, (void)OLD_;                   \
		w->s[in->ds] = R;                                             \
		SCC = (scc) != 0;                                             \
		return NEXT_INST;                                             \
	}
#define SQ(name, spec, archs, expr)       \
	ROW_FN(name)                      \
	{                                 \
		const u64 r_ = (expr);    \
		*isa_s64(w, in->ds) = r_; \
		return NEXT_INST;         \
	}
#define SQZ(name, spec, archs, expr)      \
	ROW_FN(name)                      \
	{                                 \
		const u64 r_ = (expr);    \
		*isa_s64(w, in->ds) = r_; \
		SCC = r_ != 0;            \
		return NEXT_INST;         \
	}
#define SC(name, spec, archs, cond)   \
	ROW_FN(name)                  \
	{                             \
		SCC = (cond) ? 1 : 0; \
		return NEXT_INST;     \
	}
#define SAVE(name, archs, expr)                                       \
	ROW_FN(name##_b64)                                            \
	{                                                             \
		const u64 S_ = QA, E_ = isa_exec(w), r_ = (expr);     \
		*isa_s64(w, in->ds) = E_;                             \
		isa_set_exec(w, r_);                                  \
		SCC = r_ != 0;                                        \
		return NEXT_INST;                                     \
	}                                                             \
	ROW_FN(name##_b32)                                            \
	{                                                             \
		const u32 S_ = A, E_ = (u32)isa_exec(w), r_ = (expr); \
		w->s[in->ds] = E_;                                    \
		isa_set_exec(w, r_);                                  \
		SCC = r_ != 0;                                        \
		return NEXT_INST;                                     \
	}
#define WREX(name, archs, expr)                                       \
	ROW_FN(name##_b64)                                            \
	{                                                             \
		const u64 S_ = QA, E_ = isa_exec(w), r_ = (expr);     \
		*isa_s64(w, in->ds) = r_;                             \
		isa_set_exec(w, r_);                                  \
		SCC = r_ != 0;                                        \
		return NEXT_INST;                                     \
	}                                                             \
	ROW_FN(name##_b32)                                            \
	{                                                             \
		const u32 S_ = A, E_ = (u32)isa_exec(w), r_ = (expr); \
		w->s[in->ds] = r_;                                    \
		isa_set_exec(w, r_);                                  \
		SCC = r_ != 0;                                        \
		return NEXT_INST;                                     \
	}
#include "lib/emu/isa/salu.def"

FUNC(s_cmov_b32)
{
	if (SCC)
		w->s[in->ds] = A;
	return NEXT_INST;
}
FUNC(s_cmov_b64)
{
	if (SCC)
		*isa_s64(w, in->ds) = QA;
	return NEXT_INST;
}
FUNC(s_cmovk_i32)
{
	if (SCC)
		w->s[in->ds] = K;
	return NEXT_INST;
}

#define ROW(name) op_##name,
#define SU(name, spec, archs, expr) ROW(name)
#define SA(name, spec, archs, expr) ROW(name)
#define SI(name, spec, archs, expr) ROW(name)
#define SF(name, spec, archs, expr) ROW(name)
#define SH(name, spec, archs, expr) ROW(name)
#define SUZ(name, spec, archs, expr) ROW(name)
#define SUC(name, spec, archs, expr, scc) ROW(name)
#define SQ(name, spec, archs, expr) ROW(name)
#define SQZ(name, spec, archs, expr) ROW(name)
#define SC(name, spec, archs, cond) ROW(name)
#define SAVE(name, archs, expr) ROW(name##_b64) ROW(name##_b32)
#define WREX(name, archs, expr) ROW(name##_b64) ROW(name##_b32)
#define SX(name, spec, archs) ROW(name)
const isa_fn isa_fns_salu[] = {
#include "lib/emu/isa/salu.def"
};
