/*
 * What looks across lanes or changes operands: DPP, SDWA, op_sel, modifiers,
 * permutes, LDS and memory of every width, atomics. Each case is a few
 * instructions and a function that says what the whole wave must hold after.
 */
#include <math.h>

#include "t/unit/isa_asm.h"

#define GFX9 "gfx90a gfx942 gfx950"
#define RDNA "gfx1030 gfx1100 gfx1201"

struct wave {
	unsigned lanes;
	uint64_t exec, vcc;
	uint64_t want[64]; /* starts as old */
	bool wide;
};
struct test {
	const char *archs;
	const char *text;
	void (*fn)(struct wave *w);
	/* for families: parameters of fn */
	int p[6];
	const char *late; /* the text for gfx11 and later, when it differs */
};
static const struct test *now;

#define A(i) ((uint32_t)lane_in[i].a)
#define B(i) ((uint32_t)lane_in[i].b)
#define C(i) ((uint32_t)lane_in[i].c)
#define OLD(i) ((uint32_t)lane_in[i].old)
#define ON(i) (w->exec >> (i)&1)
#define EACH for (unsigned i = 0; i < w->lanes; i++)

/* --- DPP: p[0] kind, p[1] amount, p[2] row mask, p[3] bank mask, p[4] bound_ctrl --- */
enum { QUAD, SHL, SHR, ROR, MIRROR, HALF, BCAST15, BCAST31, SHARE, XMASK, WSHL, WROL, WSHR, WROR };

static int dpp_from(int lane, const struct wave *w)
{
	const int row = lane / 16 * 16, in_row = lane % 16, n = now->p[1];
	int k;

	switch (now->p[0]) {
	case QUAD:
		return lane / 4 * 4 + (n >> lane % 4 * 2 & 3);
	case SHL:
		k = in_row + n;
		return k > 15 ? -1 : row + k;
	case SHR:
		k = in_row - n;
		return k < 0 ? -1 : row + k;
	case ROR:
		return row + (in_row + 16 - n) % 16;
	case MIRROR:
		return row + 15 - in_row;
	case HALF:
		return lane / 8 * 8 + 7 - lane % 8;
	case BCAST15:
		return row ? row - 1 : -1;
	case BCAST31:
		return lane >= 32 ? 31 : -1;
	case SHARE:
		return row + n;
	case XMASK:
		return row + (in_row ^ n);
	case WSHL:
		return lane + 1 == (int)w->lanes ? -1 : lane + 1;
	case WROL:
		return (lane + 1) % (int)w->lanes;
	case WSHR:
		return lane - 1;
	default:
		return (lane + (int)w->lanes - 1) % (int)w->lanes;
	}
}
static void dpp_mov(struct wave *w)
{
	EACH
	{
		const int from = dpp_from((int)i, w);
		const bool valid = from >= 0 && ON(from);

		if (!ON(i) || !(now->p[2] >> (i / 16) & 1) || !(now->p[3] >> (i / 4 % 4) & 1))
			continue;
		if (valid)
			w->want[i] = A(from);
		else if (now->p[4])
			w->want[i] = 0;
	}
}
static void dpp_add(struct wave *w)
{
	EACH
	{
		const int from = dpp_from((int)i, w);
		const bool valid = from >= 0 && ON(from);

		if (!ON(i) || !(now->p[2] >> (i / 16) & 1) || !(now->p[3] >> (i / 4 % 4) & 1))
			continue;
		if (valid || now->p[4])
			w->want[i] = (valid ? A(from) : 0) + B(i);
	}
}
static void dpp8(struct wave *w)
{
	static const int order[8] = {7, 6, 5, 4, 3, 2, 1, 0};
	EACH
	{
		const unsigned from = i / 8 * 8 + (unsigned)order[i % 8];
		if (ON(i))
			w->want[i] = ON(from) ? A(from) : 0;
	}
}

/* --- SDWA: p[0] src0_sel, p[1] src1_sel, p[2] dst_sel, p[3] unused (0 pad, 1 sext, 2 preserve),
 * p[4] sext bits --- */
static uint32_t part(uint32_t v, int sel, bool sext)
{
	switch (sel) {
	case 1:
	case 2:
	case 3:
	case 4:
		v = v >> 8 * (sel - 1) & 255;
		return sext && v >= 128 ? v - 256 : v;
	case 5:
	case 6:
		v = v >> 16 * (sel - 5) & 65535;
		return sext && v >= 32768 ? v - 65536 : v;
	default:
		return v;
	}
}
static void sdwa_add(struct wave *w)
{
	EACH
	{
		const uint32_t r =
		    part(A(i), now->p[0], now->p[4] & 1) + part(B(i), now->p[1], now->p[4] & 2);
		uint32_t v = r;

		if (!ON(i))
			continue;
		if (now->p[2] > 0) {
			const int n = now->p[2] < 5 ? 8 : 16,
				  at = now->p[2] < 5 ? 8 * (now->p[2] - 1) : 16 * (now->p[2] - 5);
			const uint32_t field = n == 8 ? r & 255 : r & 65535;

			if (now->p[3] == 2)
				v = (OLD(i) & ~((n == 8 ? 255u : 65535u) << at)) | field << at;
			else
				v = field << at;
			if (now->p[3] == 1 && field >> (n - 1) && at + n < 32)
				v |= ~0u << (at + n);
		}
		w->want[i] = v;
	}
}

/* --- modifiers --- */
static float fl(uint32_t u)
{
	float f;
	memcpy(&f, &u, 4);
	return f;
}
static uint32_t bits(float f)
{
	uint32_t u;
	memcpy(&u, &f, 4);
	return u;
}
static void neg_abs(struct wave *w)
{
	EACH if (ON(i)) w->want[i] = bits(-fl(A(i)) + fabsf(fl(B(i))));
}
static void clamped(struct wave *w)
{
	EACH if (ON(i))
	{
		const float r = fl(A(i)) + fl(B(i));
		w->want[i] = r > 1 ? bits(1) : r > 0 ? bits(r) : 0;
	}
}
static void add_sat(struct wave *w)
{
	EACH if (ON(i)) w->want[i] = (uint64_t)A(i) + B(i) > 0xffffffff ? 0xffffffff : A(i) + B(i);
}
static void pk_swapped(struct wave *w) /* op_sel:[1,0] op_sel_hi:[0,1] */
{
	EACH if (ON(i)) w->want[i] =
	    ((A(i) >> 16) + B(i)) % 65536 + (A(i) + (B(i) >> 16)) % 65536 * 65536ull;
}
static void mad_hi(
    struct wave *w) /* v_mad_u16 op_sel:[1,0,1,1]: upper a, lower b, upper c, to the upper half */
{
	EACH if (ON(i)) w->want[i] =
	    (OLD(i) & 0xffff) | ((A(i) >> 16) * (B(i) & 0xffff) + (C(i) >> 16)) % 65536 * 65536;
}

/* --- lanes --- */
static void readlane(struct wave *w)
{
	EACH if (ON(i)) w->want[i] = A(13);
}
static void readfirst(struct wave *w)
{
	unsigned first = 0;

	while (first < w->lanes - 1 && !ON(first))
		first++;
	if (!ON(first))
		first = 0;
	EACH if (ON(i)) w->want[i] = A(first);
}
static void writelane(struct wave *w)
{
	w->want[5] = 0x1234;
}
static void mbcnt(struct wave *w)
{
	unsigned n = 0;
	EACH
	{
		if (ON(i))
			w->want[i] = n + B(i);
		n += w->vcc >> i & 1;
	}
}
static void bpermute(struct wave *w)
{
	EACH if (ON(i))
	{
		const unsigned from = (A(i) / 4) % w->lanes;
		w->want[i] = ON(from) ? B(from) : 0;
	}
}
static void permute(struct wave *w)
{
	uint32_t t[64] = {0};
	EACH if (ON(i)) t[A(i) / 4 % w->lanes] = B(i);
	EACH if (ON(i)) w->want[i] = t[i];
}
static void swizzle_xor(struct wave *w)
{
	EACH if (ON(i)) w->want[i] = ON(i ^ 5) ? A(i ^ 5) : 0;
}
static void swizzle_quad(struct wave *w)
{
	EACH if (ON(i)) w->want[i] = ON(i / 4 * 4 + 3 - i % 4) ? A(i / 4 * 4 + 3 - i % 4) : 0;
}
static void permlane16(struct wave *w) /* selector 0xfedcba9876543210 reversed: lane 15 - n */
{
	EACH if (ON(i))
	{
		const unsigned from = i / 16 * 16 + 15 - i % 16;
		if (ON(from))
			w->want[i] = A(from);
	}
}
static void permlanex16(struct wave *w)
{
	EACH if (ON(i))
	{
		const unsigned from = (i / 16 ^ 1) * 16 + 15 - i % 16;
		if (ON(from))
			w->want[i] = A(from);
	}
}

/* --- LDS: written, then read back by the neighbour; addresses 16 times the lane --- */
static void lds_pair(struct wave *w)
{
	EACH if (ON(i)) w->want[i] = ON(i ^ 1) ? lane_in[i ^ 1].a : 0;
	w->wide = true;
}
static void lds_byte(struct wave *w)
{
	EACH if (ON(i)) w->want[i] = ON(i ^ 1) ? (uint32_t)(int32_t)(int8_t)A(i ^ 1) : 0;
}
static void lds_short_hi(struct wave *w)
{
	EACH if (ON(i)) w->want[i] =
	    (OLD(i) & 0xffff) | (ON(i ^ 1) ? (A(i ^ 1) & 0xffff) << 16 : 0);
}
static void lds_two(struct wave *w)
{
	EACH if (ON(i)) w->want[i] = ON(i ^ 1) ? (uint64_t)B(i ^ 1) << 32 | A(i ^ 1) : 0;
	w->wide = true;
}
static void lds_add(struct wave *w) /* all lanes on one counter; each gets what was before it */
{
	uint32_t s = 0;
	EACH if (ON(i))
	{
		w->want[i] = s;
		s += A(i);
	}
}
static void lds_cmpswap(struct wave *w)
{
	EACH if (ON(i)) w->want[i] = A(i) == B(i) ? C(i) : A(i);
}
static void lds_fmax(struct wave *w)
{
	EACH if (ON(i)) w->want[i] = fl(A(i)) > fl(B(i)) ? A(i) : B(i);
}
static void append(struct wave *w)
{
	EACH if (ON(i)) w->want[i] = (uint32_t)__builtin_popcountll(w->exec);
}

static void is_b(struct wave *w)
{
	EACH if (ON(i)) w->want[i] = B(i);
}
static void is_a(struct wave *w)
{
	EACH if (ON(i)) w->want[i] = A(i);
}
static void is_c(struct wave *w)
{
	EACH if (ON(i)) w->want[i] = C(i);
}
static void is_const(struct wave *w)
{
	EACH if (ON(i)) w->want[i] = (uint32_t)now->p[0];
}
static void swapped(struct wave *w)
{
	EACH if (ON(i)) w->want[i] = A(i) | (uint64_t)OLD(i) << 32;
	w->wide = true;
}
/* p[0]: how many lanes away, among 32 or 64; every lane is on */
static void swap_rows(struct wave *w)
{
	const unsigned n = (unsigned)now->p[0];

	EACH w->want[i] =
	    i & n ? A(i - n) | (uint64_t)A(i) << 32 : OLD(i) | (uint64_t)OLD(i + n) << 32;
	w->wide = true;
}
static void permlane_var(struct wave *w) /* p[0]: of the other row */
{
	EACH if (ON(i))
	{
		const unsigned from = (i / 16 * 16 ^ (now->p[0] ? 16 : 0)) + (B(i) & 15);
		if (ON(from))
			w->want[i] = A(from);
	}
}
/* p[0]: first byte of the first lane's a; p[1] bytes; p[2] with its sign */
static void scalar_bytes(struct wave *w)
{
	const uint64_t v = lane_in[0].a >> 8 * now->p[0];
	const uint32_t x = now->p[1] == 1 ? v & 255 : v & 65535;
	const uint32_t top = now->p[1] == 1 ? 128 : 32768;

	EACH if (ON(i)) w->want[i] = now->p[2] && x & top ? x - 2 * top : x;
}
static void low_byte(struct wave *w)
{
	EACH if (ON(i)) w->want[i] = A(i) & 255;
}
static void whole_a(struct wave *w)
{
	EACH if (ON(i)) w->want[i] = lane_in[i].a;
	w->wide = true;
}

/* --- memory atomics on the lane's own input: old value back, p[0] which --- */
enum { ADD, SUB, SMIN, UMIN, SMAX, UMAX, AND, OR, XOR, INC, DEC, SWAP };
static uint64_t atomic(uint64_t m, uint64_t v, bool wide)
{
	const int64_t sm = wide ? (int64_t)m : (int32_t)m, sv = wide ? (int64_t)v : (int32_t)v;

	switch (now->p[0]) {
	case ADD:
		return m + v;
	case SUB:
		return m - v;
	case SMIN:
		return sm < sv ? m : v;
	case UMIN:
		return m < v ? m : v;
	case SMAX:
		return sm > sv ? m : v;
	case UMAX:
		return m > v ? m : v;
	case AND:
		return m & v;
	case OR:
		return m | v;
	case XOR:
		return m ^ v;
	case INC:
		return m >= v ? 0 : m + 1;
	case DEC:
		return m == 0 || m > v ? v : m - 1;
	default:
		return v;
	}
}
static void atomic32(struct wave *w) /* memory a, operand b; then the old value plus the new one */
{
	EACH if (ON(i)) w->want[i] = (uint32_t)(atomic(A(i), B(i), false) + A(i));
}
static void atomic64(struct wave *w) /* the new value */
{
	EACH if (ON(i)) w->want[i] = atomic(lane_in[i].a, lane_in[i].b, true);
	w->wide = true;
}

#define DPP9(ctrl, kind, n)                                                                        \
	{GFX9,                                                                                     \
	 "v_mov_b32_dpp v8, v2 " ctrl " row_mask:0xf bank_mask:0xf",                               \
	 dpp_mov,                                                                                  \
	 {kind, n, 15, 15, 0},                                                                     \
	 NULL},                                                                                    \
	    {GFX9,                                                                                 \
	     "v_mov_b32_dpp v8, v2 " ctrl " row_mask:0xa bank_mask:0x5",                           \
	     dpp_mov,                                                                              \
	     {kind, n, 10, 5, 0},                                                                  \
	     NULL},                                                                                \
	{                                                                                          \
		GFX9, "v_add_u32_dpp v8, v2, v4 " ctrl " row_mask:0xf bank_mask:0xf bound_ctrl:0", \
		    dpp_add, {kind, n, 15, 15, 1}, NULL                                            \
	}
#define DPPR(ctrl, kind, n)                                          \
	{RDNA,                                                       \
	 "v_mov_b32_dpp v8, v2 " ctrl " row_mask:0xf bank_mask:0xf", \
	 dpp_mov,                                                    \
	 {kind, n, 15, 15, 0},                                       \
	 NULL},                                                      \
	{                                                            \
		RDNA,                                                \
		    "v_add_nc_u32_dpp v8, v2, v4 " ctrl              \
		    " row_mask:0xf bank_mask:0xf bound_ctrl:1",      \
		    dpp_add, {kind, n, 15, 15, 1}, NULL              \
	}
#define SDWA(s0, s1, d, u, n0, n1, nd, nu)                                                  \
	{                                                                                   \
		GFX9,                                                                       \
		    "v_add_u32_sdwa v8, v2, v4 dst_sel:" d " dst_unused:" u " src0_sel:" s0 \
		    " src1_sel:" s1,                                                        \
		    sdwa_add, {n0, n1, nd, nu, 0}, NULL                                     \
	}
#define LDS_HEAD "v_lshlrev_b32 v14, 4, v10\nv_xor_b32 v15, 16, v14\ns_mov_b32 m0, -1\n"
#define LDS_WAIT "\ns_waitcnt lgkmcnt(0)\n"
#define MEM_AT "v_lshlrev_b32 v14, 5, v10\n"
#define AT32(archs, op, kind, rtn, add)                                                            \
	{                                                                                          \
		archs,                                                                             \
		    MEM_AT                                                                         \
		    "global_atomic_" op " v8, v14, v4, s[4:5] " rtn "\ns_waitcnt vmcnt(0)\n"       \
		    "global_load_dword v15, v14, s[4:5]\ns_waitcnt vmcnt(0)\n" add " v8, v8, v15", \
		    atomic32, {kind}, NULL                                                         \
	}
#define AT(op, kind)                                                                           \
	AT32("gfx90a", op, kind, "glc", "v_add_u32"),                                          \
	    AT32("gfx942 gfx950", op, kind, "sc0", "v_add_u32"),                               \
	    AT32("gfx1030", op, kind, "glc", "v_add_nc_u32"),                                  \
	{                                                                                      \
		GFX9 " gfx1030",                                                               \
		    MEM_AT "global_atomic_" op "_x2 v14, v[4:5], s[4:5]\ns_waitcnt vmcnt(0)\n" \
			   "global_load_dwordx2 v[8:9], v14, s[4:5]\ns_waitcnt vmcnt(0)",      \
		    atomic64, {kind}, NULL                                                     \
	}

static const struct test tests[] = {
    DPP9("quad_perm:[3,1,0,2]", QUAD, 0x87),
    DPP9("row_shl:3", SHL, 3),
    DPP9("row_shr:5", SHR, 5),
    DPP9("row_ror:7", ROR, 7),
    DPP9("wave_shl:1", WSHL, 0),
    DPP9("wave_rol:1", WROL, 0),
    DPP9("wave_shr:1", WSHR, 0),
    DPP9("wave_ror:1", WROR, 0),
    DPP9("row_mirror", MIRROR, 0),
    DPP9("row_half_mirror", HALF, 0),
    DPP9("row_bcast:15", BCAST15, 0),
    DPP9("row_bcast:31", BCAST31, 0),
    DPP9("row_newbcast:6", SHARE, 6),
    DPPR("quad_perm:[3,1,0,2]", QUAD, 0x87),
    DPPR("row_shl:3", SHL, 3),
    DPPR("row_shr:5", SHR, 5),
    DPPR("row_ror:7", ROR, 7),
    DPPR("row_mirror", MIRROR, 0),
    DPPR("row_half_mirror", HALF, 0),
    DPPR("row_share:6", SHARE, 6),
    DPPR("row_xmask:9", XMASK, 9),
    {RDNA, "v_mov_b32_dpp v8, v2 dpp8:[7,6,5,4,3,2,1,0]", dpp8, {0}, NULL},
    SDWA("BYTE_0", "BYTE_3", "DWORD", "UNUSED_PAD", 1, 4, 0, 0),
    SDWA("WORD_1", "DWORD", "BYTE_2", "UNUSED_PAD", 6, 0, 3, 0),
    SDWA("DWORD", "WORD_0", "WORD_1", "UNUSED_PRESERVE", 0, 5, 6, 2),
    SDWA("BYTE_2", "BYTE_1", "WORD_0", "UNUSED_SEXT", 3, 2, 5, 1),
    SDWA("BYTE_1", "WORD_1", "BYTE_3", "UNUSED_PRESERVE", 2, 6, 4, 2),
    {GFX9,
     "v_add_u32_sdwa v8, sext(v2), sext(v4) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 "
     "src1_sel:WORD_1",
     sdwa_add,
     {2, 6, 0, 0, 3},
     NULL},
    {NULL, "v_add_f32 v8, -v2, |v4|", neg_abs, {0}, NULL},
    {NULL, "v_add_f32 v8, v2, v4 clamp", clamped, {0}, NULL},
    {GFX9, "v_add_u32 v8, v2, v4 clamp", add_sat, {0}, NULL},
    {RDNA, "v_add_nc_u32 v8, v2, v4 clamp", add_sat, {0}, NULL},
    {NULL, "v_pk_add_u16 v8, v2, v4 op_sel:[1,0] op_sel_hi:[0,1]", pk_swapped, {0}, NULL},
    {NULL, "v_mad_u16 v8, v2, v4, v6 op_sel:[1,0,1,1]", mad_hi, {0}, NULL},
    {NULL, "v_readlane_b32 s20, v2, 13\nv_mov_b32 v8, s20", readlane, {0}, NULL},
    {NULL, "v_readfirstlane_b32 s20, v2\nv_mov_b32 v8, s20", readfirst, {0}, NULL},
    {NULL, "s_movk_i32 s20, 0x1234\nv_writelane_b32 v8, s20, 5", writelane, {0}, NULL},
    {GFX9,
     "v_mbcnt_lo_u32_b32 v8, vcc_lo, v4\nv_mbcnt_hi_u32_b32 v8, vcc_hi, v8",
     mbcnt,
     {0},
     NULL},
    {RDNA, "v_mbcnt_lo_u32_b32 v8, vcc_lo, v4", mbcnt, {0}, NULL},
    {GFX9 " gfx1030", "ds_bpermute_b32 v8, v2, v4" LDS_WAIT, bpermute, {0}, NULL},
    {"gfx1100", "ds_bpermute_b32 v8, v2, v4" LDS_WAIT, bpermute, {0}, NULL},
    {"gfx1201", "ds_bpermute_b32 v8, v2, v4\ns_wait_dscnt 0x0", bpermute, {0}, NULL},
    {GFX9 " gfx1030 gfx1100",
     "v_lshlrev_b32 v14, 2, v10\nv_xor_b32 v2, 12, v14\nds_permute_b32 v8, v2, v4" LDS_WAIT,
     permute,
     {1},
     NULL},
    {GFX9 " gfx1030 gfx1100",
     "ds_swizzle_b32 v8, v2 offset:0x141f" LDS_WAIT,
     swizzle_xor,
     {4},
     NULL},
    {GFX9 " gfx1030 gfx1100",
     "ds_swizzle_b32 v8, v2 offset:swizzle(QUAD_PERM,3,2,1,0)" LDS_WAIT,
     swizzle_quad,
     {0},
     NULL},
    {RDNA,
     "s_mov_b32 s20, 0x89abcdef\ns_mov_b32 s21, 0x01234567\nv_permlane16_b32 v8, v2, s20, s21",
     permlane16,
     {0},
     NULL},
    {RDNA,
     "s_mov_b32 s20, 0x89abcdef\ns_mov_b32 s21, 0x01234567\nv_permlanex16_b32 v8, v2, s20, s21",
     permlanex16,
     {0},
     NULL},
    {GFX9 " gfx1030",
     LDS_HEAD "ds_write_b64 v14, v[2:3] offset:8" LDS_WAIT
	      "ds_read_b64 v[8:9], v15 offset:8" LDS_WAIT,
     lds_pair,
     {0},
     NULL},
    {"gfx1100",
     LDS_HEAD "ds_store_b64 v14, v[2:3] offset:8" LDS_WAIT
	      "ds_load_b64 v[8:9], v15 offset:8" LDS_WAIT,
     lds_pair,
     {0},
     NULL},
    {"gfx1201",
     LDS_HEAD "ds_store_b64 v14, v[2:3] offset:8\ns_wait_dscnt 0x0\nds_load_b64 v[8:9], v15 "
	      "offset:8\ns_wait_dscnt 0x0",
     lds_pair,
     {0},
     NULL},
    {GFX9 " gfx1030",
     LDS_HEAD "ds_write_b8 v14, v2 offset:3" LDS_WAIT "ds_read_i8 v8, v15 offset:3" LDS_WAIT,
     lds_byte,
     {0},
     NULL},
    {GFX9 " gfx1030",
     LDS_HEAD "ds_write_b16 v14, v2 offset:2" LDS_WAIT
	      "ds_read_u16_d16_hi v8, v15 offset:2" LDS_WAIT,
     lds_short_hi,
     {0},
     NULL},
    {GFX9 " gfx1030",
     LDS_HEAD "ds_write2_b32 v14, v2, v4 offset0:1 offset1:3" LDS_WAIT
	      "ds_read2_b32 v[8:9], v15 offset0:1 offset1:3" LDS_WAIT,
     lds_two,
     {0},
     NULL},
    {GFX9 " gfx1030",
     "v_mov_b32 v14, 4\ns_mov_b32 m0, -1\nds_add_rtn_u32 v8, v14, v2" LDS_WAIT,
     lds_add,
     {0},
     NULL},
    {"gfx1100", "v_mov_b32 v14, 4\nds_add_rtn_u32 v8, v14, v2" LDS_WAIT, lds_add, {0}, NULL},
    {GFX9 " gfx1030",
     LDS_HEAD "ds_write_b32 v14, v2" LDS_WAIT "ds_cmpst_b32 v14, v4, v6" LDS_WAIT
	      "ds_read_b32 v8, v14" LDS_WAIT,
     lds_cmpswap,
     {0},
     NULL},
    {"gfx1100",
     LDS_HEAD "ds_store_b32 v14, v2" LDS_WAIT "ds_cmpstore_b32 v14, v6, v4" LDS_WAIT
	      "ds_load_b32 v8, v14" LDS_WAIT,
     lds_cmpswap,
     {0},
     NULL},
    {GFX9 " gfx1030",
     LDS_HEAD "ds_write_b32 v14, v2" LDS_WAIT "ds_max_f32 v14, v4" LDS_WAIT
	      "ds_read_b32 v8, v14" LDS_WAIT,
     lds_fmax,
     {2},
     NULL},
    {GFX9,
     "s_mov_b32 m0, 0\nds_append v14 offset:8" LDS_WAIT "ds_append v8 offset:8" LDS_WAIT,
     append,
     {0},
     NULL},
    {RDNA, "v_mbcnt_hi_u32_b32 v8, vcc_lo, v4", is_b, {0}, NULL},
    {"gfx1201",
     "v_lshlrev_b32 v14, 2, v10\nv_xor_b32 v2, 12, v14\nds_permute_b32 v8, v2, v4\n"
     "s_wait_dscnt 0x0",
     permute,
     {1},
     NULL},
    {"gfx1201", "ds_swizzle_b32 v8, v2 offset:0x141f\ns_wait_dscnt 0x0", swizzle_xor, {4}, NULL},
    {"gfx1201",
     "s_mov_b32 m0, 0\nds_append v14 offset:8\nds_append v8 offset:8\ns_wait_dscnt 0x0",
     append,
     {0},
     NULL},
    {"gfx1030 gfx1100",
     "s_mov_b32 m0, 0\nds_append v14 offset:8" LDS_WAIT "ds_append v8 offset:8" LDS_WAIT,
     append,
     {0},
     NULL},
    {GFX9 " gfx1030 gfx1100",
     "s_mov_b32 m0, 0\nds_append v14 offset:8" LDS_WAIT "ds_consume v8 offset:8" LDS_WAIT,
     append,
     {0},
     NULL},
    {"gfx1201",
     "s_mov_b32 m0, 0\nds_append v14 offset:8\nds_consume v8 offset:8\ns_wait_dscnt 0x0",
     append,
     {0},
     NULL},
    {NULL, "v_swap_b32 v8, v2\nv_mov_b32 v9, v2", swapped, {0}, NULL},
    {"gfx1100 gfx1201", "v_permlane64_b32 v8, v2", is_a, {0}, NULL},
    {"gfx1201", "v_permlane16_var_b32 v8, v2, v4", permlane_var, {0}, NULL},
    {"gfx1201", "v_permlanex16_var_b32 v8, v2, v4", permlane_var, {1}, NULL},
    {"gfx950",
     "s_mov_b64 exec, -1\nv_permlane16_swap_b32 v8, v2\nv_mov_b32 v9, v2",
     swap_rows,
     {16},
     NULL},
    {"gfx950",
     "s_mov_b64 exec, -1\nv_permlane32_swap_b32 v8, v2\nv_mov_b32 v9, v2",
     swap_rows,
     {32},
     NULL},
    {RDNA, "s_mov_b32 m0, 2\nv_movrels_b32 v8, v2", is_b, {0}, NULL},
    {RDNA, "s_mov_b32 m0, 6\nv_movreld_b32 v2, v4", is_b, {0}, NULL},
    {RDNA, "s_mov_b32 m0, 2\nv_movrelsd_b32 v6, v2", is_b, {0}, NULL},
    {RDNA, "s_mov_b32 m0, 0x20004\nv_movrelsd_2_b32 v6, v2", is_c, {0}, NULL},
    {NULL,
     "s_mov_b32 s22, 0x12345\ns_mov_b32 m0, 2\ns_movrels_b32 s24, s20\nv_mov_b32 v8, s24",
     is_const,
     {0x12345},
     NULL},
    {NULL,
     "s_mov_b32 s23, 0x12346\ns_mov_b32 m0, 2\ns_movrels_b64 s[24:25], s[20:21]\n"
     "v_mov_b32 v8, s25",
     is_const,
     {0x12346},
     NULL},
    {NULL,
     "s_mov_b32 s22, 0x12347\ns_mov_b32 m0, 4\ns_movreld_b32 s20, s22\nv_mov_b32 v8, s24",
     is_const,
     {0x12347},
     NULL},
    {NULL,
     "s_mov_b32 s23, 0x12348\ns_mov_b32 m0, 4\ns_movreld_b64 s[20:21], s[22:23]\n"
     "v_mov_b32 v8, s25",
     is_const,
     {0x12348},
     NULL},
    /* calls the two instructions behind the branch, which then skips them */
    {NULL,
     "s_call_b64 s[20:21], 1\ns_branch 2\ns_movk_i32 s22, 0x123\ns_setpc_b64 s[20:21]\n"
     "v_mov_b32 v8, s22",
     is_const,
     {0x123},
     NULL},
    {GFX9,
     "v_accvgpr_write_b32 a1, v2\nv_accvgpr_mov_b32 a2, a1\nv_accvgpr_read_b32 v8, a2",
     is_a,
     {0},
     NULL},
    {GFX9,
     "s_mov_b32 s20, 2\ns_set_gpr_idx_on s20, gpr_idx(DST)\ns_set_gpr_idx_mode gpr_idx(SRC0)\n"
     "v_mov_b32 v8, v2\ns_set_gpr_idx_off",
     is_b,
     {0},
     NULL},
    {GFX9,
     "s_mov_b32 s20, 0\ns_set_gpr_idx_on s20, gpr_idx(SRC0)\ns_mov_b32 s20, 2\n"
     "s_set_gpr_idx_idx s20\nv_mov_b32 v8, v2\ns_set_gpr_idx_off",
     is_b,
     {0},
     NULL},
    /* a mask, a carry and a number of a lane are scalar: no index is added to them */
    {GFX9,
     "s_mov_b64 s[22:23], 0\ns_mov_b32 s20, 2\ns_set_gpr_idx_on s20, gpr_idx(SRC2)\n"
     "v_cndmask_b32 v8, v2, v4, s[22:23]\ns_set_gpr_idx_off",
     is_a,
     {0},
     NULL},
    {GFX9,
     "s_mov_b64 s[22:23], -1\ns_mov_b32 s20, 2\ns_set_gpr_idx_on s20, gpr_idx(SRC2)\n"
     "v_cndmask_b32 v8, v2, v4, s[22:23]\ns_set_gpr_idx_off",
     is_b,
     {0},
     NULL},
    {GFX9,
     "s_mov_b64 s[22:23], 0\ns_mov_b32 s20, 2\ns_set_gpr_idx_on s20, gpr_idx(SRC2)\n"
     "v_addc_co_u32 v8, s[24:25], v2, 0, s[22:23]\ns_set_gpr_idx_off",
     is_a,
     {0},
     NULL},
    {GFX9,
     "s_mov_b64 s[22:23], -1\ns_mov_b32 s20, 2\ns_set_gpr_idx_on s20, gpr_idx(SRC2)\n"
     "v_addc_co_u32 v8, s[24:25], v2, 0, s[22:23]\ns_set_gpr_idx_off\n"
     "v_subrev_u32 v8, 1, v8",
     is_a,
     {0},
     NULL},
    {GFX9,
     "s_mov_b32 s22, 5\nv_readlane_b32 s24, v2, 5\ns_mov_b32 s20, 2\n"
     "s_set_gpr_idx_on s20, gpr_idx(SRC1)\nv_readlane_b32 s25, v2, s22\ns_set_gpr_idx_off\n"
     "s_xor_b32 s24, s24, s25\nv_mov_b32 v8, s24",
     is_const,
     {0},
     NULL},
    {GFX9 " gfx1030",
     "s_memtime s[20:21]\ns_memrealtime s[22:23]\ns_waitcnt lgkmcnt(0)\n"
     "s_memtime s[24:25]\ns_waitcnt lgkmcnt(0)\ns_sub_u32 s24, s24, s20\n"
     "s_subb_u32 s25, s25, s21\ns_lshr_b64 s[20:21], s[20:21], 4\n"
     "s_sub_u32 s22, s22, s20\ns_add_u32 s24, s24, s22\nv_mov_b32 v8, s24",
     is_const,
     {3 * 16 + 1}, /* 16 for each instruction of the wave, 1 */
     NULL},
    /* signs of a scalar, as the vector unit has them */
    {"gfx1201",
     "v_readfirstlane_b32 s20, v2\nv_s_rcp_f32 s24, -|s20|\nv_mov_b32 v14, s20\n"
     "v_rcp_f32 v15, -|v14|\nv_xor_b32 v8, s24, v15",
     is_const,
     {0},
     NULL},
    {"gfx1201",
     "v_readfirstlane_b32 s20, v2\nv_s_sqrt_f16 s24, |s20|\nv_mov_b32 v14, s20\n"
     "v_mov_b32 v15, 0\nv_sqrt_f16 v15, |v14|\nv_xor_b32 v8, s24, v15",
     is_const,
     {0},
     NULL},
    {"gfx1201",
     "s_load_u8 s20, s[4:5], 0x1\ns_wait_kmcnt 0x0\nv_mov_b32 v8, s20",
     scalar_bytes,
     {1, 1, 0},
     NULL},
    {"gfx1201",
     "s_load_i8 s20, s[4:5], 0x3\ns_wait_kmcnt 0x0\nv_mov_b32 v8, s20",
     scalar_bytes,
     {3, 1, 1},
     NULL},
    {"gfx1201",
     "s_load_u16 s20, s[4:5], 0x2\ns_wait_kmcnt 0x0\nv_mov_b32 v8, s20",
     scalar_bytes,
     {2, 2, 0},
     NULL},
    {"gfx1201",
     "s_load_i16 s20, s[4:5], 0x4\ns_wait_kmcnt 0x0\nv_mov_b32 v8, s20",
     scalar_bytes,
     {4, 2, 1},
     NULL},
    /* to LDS at M0 and four times the lane (16 times, of wide ones) */
    {"gfx942 gfx950",
     MEM_AT "v_lshlrev_b32 v15, 2, v10\ns_movk_i32 m0, 0x100\n"
	    "global_load_lds_dword v14, s[4:5]\ns_waitcnt vmcnt(0)\n"
	    "ds_read_b32 v8, v15 offset:256" LDS_WAIT,
     is_a,
     {0},
     NULL},
    {"gfx942 gfx950",
     MEM_AT "v_lshlrev_b32 v15, 2, v10\ns_movk_i32 m0, 0x100\n"
	    "global_load_lds_ubyte v14, s[4:5]\ns_waitcnt vmcnt(0)\n"
	    "ds_read_b32 v8, v15 offset:256" LDS_WAIT,
     low_byte,
     {0},
     NULL},
    {"gfx950",
     MEM_AT "v_lshlrev_b32 v15, 4, v10\ns_movk_i32 m0, 0x100\n"
	    "global_load_lds_dwordx4 v14, s[4:5]\ns_waitcnt vmcnt(0)\n"
	    "ds_read_b64 v[8:9], v15 offset:256" LDS_WAIT,
     whole_a,
     {0},
     NULL},
    AT("add", ADD),
    AT("sub", SUB),
    AT("smin", SMIN),
    AT("umin", UMIN),
    AT("smax", SMAX),
    AT("umax", UMAX),
    AT("and", AND),
    AT("or", OR),
    AT("xor", XOR),
    AT("inc", INC),
    AT("dec", DEC),
    AT("swap", SWAP),
};
#define N_TESTS (sizeof(tests) / sizeof(tests[0]))

static uint32_t seed;
static uint64_t rnd64(void)
{
	uint64_t r = 0;

	for (int i = 0; i < 4; i++) {
		seed = seed * 1664525u + 1013904223u;
		r = r << 16 ^ seed >> 12;
	}
	return r;
}

static bool in_arch(const struct test *t, const char *arch)
{
	return !t->archs || strstr(t->archs, arch);
}

static void check(struct fx *f, unsigned n, const char *arch)
{
	const unsigned lanes = gen_of(arch) == 9 ? 64 : 32;
	const uint64_t all = lanes == 64 ? ~0ull : 0xffffffff;
	static const uint64_t execs[] = {~0ull, 0x5a5af0ff12345678ull, 1ull << 17, 0};
	static struct lane_in keep[64];
	unsigned bad = 0;

	now = &tests[n];
	for (unsigned r = 0; r < 8; r++) {
		struct wave w = {.lanes = lanes, .exec = execs[r % 4] & all, .vcc = rnd64() & all};

		for (unsigned i = 0; i < 64; i++) {
			struct lane_in *const v = &lane_in[i];

			*v = (struct lane_in){rnd64(), rnd64(), rnd64(), rnd64()};
			if (now->fn == neg_abs || now->fn == clamped || now->fn == lds_fmax) {
				v->a = bits((float)((int)(rnd64() % 4001) - 2000) / 1000.0f);
				v->b = bits((float)((int)(rnd64() % 4001) - 2000) / 1000.0f);
			}
			if (now->fn == permute)
				v->a = 4 * i ^ 12;
			if (now->fn == lds_cmpswap && i % 2)
				v->b = v->a;
			if ((now->fn == atomic32 || now->fn == atomic64) && i % 3 == 0)
				v->b = v->a;
		}
		memcpy(keep, lane_in, sizeof(keep));
		for (unsigned i = 0; i < lanes; i++)
			w.want[i] = lane_in[i].old;
		if (!asm_launch(f, n, lanes, w.exec, w.vcc, 4096)) {
			ok(false, "%s %s: %s", arch, now->text, f->report.what);
			return;
		}
		memcpy(lane_in, keep, sizeof(keep));
		now->fn(&w);
		for (unsigned i = 0; i < lanes; i++) {
			const uint64_t mask = w.wide ? ~0ull : 0xffffffff;

			if ((lane_out[i].result & mask) != (w.want[i] & mask) && bad++ < 3)
				diag("%s lane %u exec %llx: a %llx b %llx old %llx got %llx want "
				     "%llx",
				     arch, i, (unsigned long long)w.exec,
				     (unsigned long long)keep[i].a, (unsigned long long)keep[i].b,
				     (unsigned long long)keep[i].old,
				     (unsigned long long)lane_out[i].result,
				     (unsigned long long)w.want[i]);
		}
	}
	char line[100];
	snprintf(line, sizeof(line), "%s", now->text);
	for (char *p = line; *p; p++)
		*p = *p == '\n' ? ';' : *p == '#' ? ' ' : *p;
	is(bad, 0, "%s %s", arch, line);
}

static void test_arch(const char *arch, const char *clang)
{
	char src[512];
	const char *path;
	struct fx f;
	FILE *s;

	snprintf(src, sizeof(src), "%s/lanes-%s.s", fx_dir(), arch);
	s = fopen(src, "w");
	if (!s) {
		ok(false, "cannot write %s", src);
		return;
	}
	fprintf(s, ".text\n");
	for (unsigned i = 0; i < N_TESTS; i++)
		if (in_arch(&tests[i], arch))
			asm_kernel(s, arch, i, tests[i].text, false,
				   ".amdhsa_group_segment_fixed_size 4096\n");
	asm_metadata(s, arch, N_TESTS);
	fclose(s);
	path = asm_build(arch, clang, "lanes", src);
	if (!path || !ok(fx_load(&f, arch, path), "%s loads", arch))
		return;
	f.poison = 0;
	seed = 7;
	for (unsigned i = 0; i < N_TESTS; i++)
		if (in_arch(&tests[i], arch))
			check(&f, i, arch);
	fx_close(&f);
}

int main(int argc, char **argv)
{
	return isa_main(argc, argv, "isa_lanes", NULL, test_arch);
}
