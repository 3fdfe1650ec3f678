/*
 * Vector memory of every width and every atomic, through each address space: the lane's 16 bytes
 * are put there by one wide store, the instruction under test works on them, and its result and
 * what the memory then holds are compared with a reference written here.
 */
#include <math.h>

#include "t/unit/isa_slots.h"
#include "lib/emu/isa/internal.h"
#include "t/unit/isa_values.h"

enum space { GLOBAL, FLAT, SCRATCH, BUFFER, LDS, SPACES };
static const char *const prefix[SPACES] = {"global_", "flat_", "scratch_", "buffer_", "ds_"};

enum kind { LOAD, STORE, ATOMIC };
struct access {
	enum kind kind;
	const char *old, *late; /* names of gfx9 and gfx10, of gfx11 and gfx12 */
	int bytes;		/* of the access; of an atomic 4 or 8 */
	bool sext, d16, hi;
	uint64_t (*fn)(uint64_t m, uint64_t v, uint64_t c, bool wide);
};

static int64_t sx(uint64_t v, bool wide)
{
	return wide ? (int64_t)v : (int32_t)(uint32_t)v;
}
#define AT(name, expr)                                                           \
	static uint64_t at_##name(uint64_t m, uint64_t v, uint64_t c, bool wide) \
	{                                                                        \
		(void)m, (void)c, (void)wide;                                    \
		return (expr);                                                   \
	}
AT(add, m + v)
AT(sub, m - v)
AT(rsub, v - m)
AT(smin, sx(m, wide) < sx(v, wide) ? m : v)
AT(smax, sx(m, wide) > sx(v, wide) ? m : v)
AT(umin, m < v ? m : v)
AT(umax, m > v ? m : v)
AT(and, m &v)
AT(or, m | v)
AT(xor, m ^ v)
AT(inc, m >= v ? 0 : m + 1)
AT(dec, m == 0 || m > v ? v : m - 1)
AT(swap, v)
AT(cmpswap, m == c ? v : m)
AT(mskor, (m & ~v) | c)
static double num(uint64_t v, bool wide)
{
	const uint32_t u = (uint32_t)v;
	float f;
	double d;

	memcpy(&d, &v, 8);
	memcpy(&f, &u, 4);
	return wide ? d : (double)f;
}
static uint64_t pat(double d, bool wide)
{
	const float f = (float)d;
	uint64_t v = 0;

	if (wide)
		memcpy(&v, &d, 8);
	else
		memcpy(&v, &f, 4);
	return v;
}
AT(fadd, pat(num(m, wide) + num(v, wide), wide))
AT(fmin, num(m, wide) < num(v, wide) ? m : v)
AT(fmax, num(m, wide) > num(v, wide) ? m : v)

AT(fcmpswap, num(m, wide) == num(c, wide) ? v : m)
AT(csub, m < v ? 0 : m - v)
AT(cond_sub, m < v ? m : m - v)
/* pairs of halves or bf16; eighths up to 12.5, that both hold exactly, as are their sums */
static double half_num(uint64_t v, bool bf)
{
	const unsigned e = bf ? v >> 7 & 255 : v >> 10 & 31, m = bf ? v & 127 : v & 1023;

	if (!e)
		return 0;
	return (v & 0x8000 ? -1 : 1) * ldexp(1 + ldexp(m, bf ? -7 : -10), (int)e - (bf ? 127 : 15));
}
static uint64_t half_pat(double d, bool bf)
{
	const uint64_t sign = d < 0 ? 0x8000 : 0;
	int e;

	if (d == 0)
		return 0;
	d = frexp(fabs(d), &e) * 2 - 1;
	return sign | (uint64_t)(e - 1 + (bf ? 127 : 15)) << (bf ? 7 : 10) |
	       (uint64_t)ldexp(d, bf ? 7 : 10);
}
static uint64_t pair_sum(uint64_t a, uint64_t b, bool bf)
{
	return half_pat(half_num(a, bf) + half_num(b, bf), bf) |
	       half_pat(half_num(a >> 16, bf) + half_num(b >> 16, bf), bf) << 16;
}
AT(pk_add_f16, pair_sum(m, v, false))
AT(pk_add_bf16, pair_sum(m, v, true))

#define L(old, late, bytes, sext, d16, hi)                  \
	{                                                   \
		LOAD, old, late, bytes, sext, d16, hi, NULL \
	}
#define S(old, late, bytes, hi)                                 \
	{                                                       \
		STORE, old, late, bytes, false, false, hi, NULL \
	}
#define A2(old, late, fn)                                                                    \
	{ATOMIC, "atomic_" old, "atomic_" late "32", 4, false, false, false, fn},            \
	{                                                                                    \
		ATOMIC, "atomic_" old "_x2", "atomic_" late "64", 8, false, false, false, fn \
	}
#define DA(op, t, late, lt, bytes, fn)                                                \
	{ATOMIC, op "_" t, late "_" lt, bytes, false, false, false, fn},              \
	{                                                                             \
		ATOMIC, op "_rtn_" t, late "_rtn_" lt, bytes, false, false, false, fn \
	}
#define DA2(op, t, late, fn) \
	DA(op, t "32", late, t "32", 4, fn), DA(op, t "64", late, t "64", 8, fn)

static const struct access vector[] = {
    L("load_ubyte", "load_u8", 1, false, false, false),
    L("load_sbyte", "load_i8", 1, true, false, false),
    L("load_ushort", "load_u16", 2, false, false, false),
    L("load_sshort", "load_i16", 2, true, false, false),
    L("load_ubyte_d16", "load_d16_u8", 1, false, true, false),
    L("load_ubyte_d16_hi", "load_d16_hi_u8", 1, false, true, true),
    L("load_sbyte_d16", "load_d16_i8", 1, true, true, false),
    L("load_sbyte_d16_hi", "load_d16_hi_i8", 1, true, true, true),
    L("load_short_d16", "load_d16_b16", 2, false, true, false),
    L("load_short_d16_hi", "load_d16_hi_b16", 2, false, true, true),
    L("load_dword", "load_b32", 4, false, false, false),
    L("load_dwordx2", "load_b64", 8, false, false, false),
    L("load_dwordx3", "load_b96", 12, false, false, false),
    L("load_dwordx4", "load_b128", 16, false, false, false),
    S("store_byte", "store_b8", 1, false),
    S("store_short", "store_b16", 2, false),
    S("store_byte_d16_hi", "store_d16_hi_b8", 1, true),
    S("store_short_d16_hi", "store_d16_hi_b16", 2, true),
    S("store_dword", "store_b32", 4, false),
    S("store_dwordx2", "store_b64", 8, false),
    S("store_dwordx3", "store_b96", 12, false),
    S("store_dwordx4", "store_b128", 16, false),
    A2("add", "add_u", at_add),
    A2("sub", "sub_u", at_sub),
    A2("smin", "min_i", at_smin),
    A2("smax", "max_i", at_smax),
    A2("umin", "min_u", at_umin),
    A2("umax", "max_u", at_umax),
    A2("and", "and_b", at_and),
    A2("or", "or_b", at_or),
    A2("xor", "xor_b", at_xor),
    A2("inc", "inc_u", at_inc),
    A2("dec", "dec_u", at_dec),
    A2("swap", "swap_b", at_swap),
    A2("cmpswap", "cmpswap_b", at_cmpswap),
    {ATOMIC, "atomic_add_f32", "atomic_add_f32", 4, false, false, false, at_fadd},
    {ATOMIC, "atomic_add_f64", "-", 8, false, false, false, at_fadd},
    {ATOMIC, "atomic_min_f64", "-", 8, false, false, false, at_fmin},
    {ATOMIC, "atomic_max_f64", "-", 8, false, false, false, at_fmax},
    {ATOMIC, "atomic_fmin", "atomic_min_f32", 4, false, false, false, at_fmin},
    {ATOMIC, "atomic_fmax", "atomic_max_f32", 4, false, false, false, at_fmax},
    {ATOMIC, "-", "atomic_min_num_f32", 4, false, false, false, at_fmin},
    {ATOMIC, "-", "atomic_max_num_f32", 4, false, false, false, at_fmax},
    {ATOMIC, "atomic_fmin_x2", "-", 8, false, false, false, at_fmin},
    {ATOMIC, "atomic_fmax_x2", "-", 8, false, false, false, at_fmax},
    {ATOMIC, "atomic_fcmpswap", "atomic_cmpswap_f32", 4, false, false, false, at_fcmpswap},
    {ATOMIC, "atomic_fcmpswap_x2", "-", 8, false, false, false, at_fcmpswap},
    {ATOMIC, "atomic_csub", "atomic_csub_u32", 4, false, false, false, at_csub},
    {ATOMIC, "-", "atomic_sub_clamp_u32", 4, false, false, false, at_csub},
    {ATOMIC, "-", "atomic_cond_sub_u32", 4, false, false, false, at_cond_sub},
    {ATOMIC, "atomic_pk_add_f16", "atomic_pk_add_f16", 4, false, false, false, at_pk_add_f16},
    {ATOMIC, "atomic_pk_add_bf16", "atomic_pk_add_bf16", 4, false, false, false, at_pk_add_bf16},
};
static const struct access lds[] = {
    L("read_u8", "load_u8", 1, false, false, false),
    L("read_i8", "load_i8", 1, true, false, false),
    L("read_u16", "load_u16", 2, false, false, false),
    L("read_i16", "load_i16", 2, true, false, false),
    L("read_u8_d16", "load_u8_d16", 1, false, true, false),
    L("read_u8_d16_hi", "load_u8_d16_hi", 1, false, true, true),
    L("read_i8_d16", "load_i8_d16", 1, true, true, false),
    L("read_i8_d16_hi", "load_i8_d16_hi", 1, true, true, true),
    L("read_u16_d16", "load_u16_d16", 2, false, true, false),
    L("read_u16_d16_hi", "load_u16_d16_hi", 2, false, true, true),
    L("read_b32", "load_b32", 4, false, false, false),
    L("read_b64", "load_b64", 8, false, false, false),
    L("read_b96", "load_b96", 12, false, false, false),
    L("read_b128", "load_b128", 16, false, false, false),
    S("write_b8", "store_b8", 1, false),
    S("write_b16", "store_b16", 2, false),
    S("write_b8_d16_hi", "store_b8_d16_hi", 1, true),
    S("write_b16_d16_hi", "store_b16_d16_hi", 2, true),
    S("write_b32", "store_b32", 4, false),
    S("write_b64", "store_b64", 8, false),
    S("write_b96", "store_b96", 12, false),
    S("write_b128", "store_b128", 16, false),
    DA2("add", "u", "add", at_add),
    DA2("sub", "u", "sub", at_sub),
    DA2("rsub", "u", "rsub", at_rsub),
    DA2("inc", "u", "inc", at_inc),
    DA2("dec", "u", "dec", at_dec),
    DA2("min", "i", "min", at_smin),
    DA2("max", "i", "max", at_smax),
    DA2("min", "u", "min", at_umin),
    DA2("max", "u", "max", at_umax),
    DA2("and", "b", "and", at_and),
    DA2("or", "b", "or", at_or),
    DA2("xor", "b", "xor", at_xor),
    DA2("mskor", "b", "mskor", at_mskor),
    DA2("cmpst", "b", "cmpstore", at_cmpswap),
    DA2("add", "f", "add", at_fadd),
    DA2("min", "f", "min", at_fmin),
    DA2("max", "f", "max", at_fmax),
    DA2("min_num", "f", "min_num", at_fmin),
    DA2("max_num", "f", "max_num", at_fmax),
    DA2("cmpst", "f", "cmpstore", at_fcmpswap),
    DA("pk_add", "f16", "pk_add", "f16", 4, at_pk_add_f16),
    DA("pk_add", "bf16", "pk_add", "bf16", 4, at_pk_add_bf16),
    DA("sub_clamp", "u32", "sub_clamp", "u32", 4, at_csub),
    DA("cond_sub", "u32", "cond_sub", "u32", 4, at_cond_sub),
    {ATOMIC, "wrxchg_rtn_b32", "storexchg_rtn_b32", 4, false, false, false, at_swap},
    {ATOMIC, "wrxchg_rtn_b64", "storexchg_rtn_b64", 8, false, false, false, at_swap},
};

static const char *regs(int at, int dwords)
{
	static char text[4][32];
	static unsigned n;
	char *const t = text[n++ % 4];

	if (dwords > 1)
		snprintf(t, sizeof(text[0]), "v[%d:%d]", at, at + dwords - 1);
	else
		snprintf(t, sizeof(text[0]), "v%d", at);
	return t;
}

static bool late12; /* gfx12 has no constant there */

/* An access with its data; the address of the space in front of or behind it. */
static void put(char *out, size_t size, enum space s, const char *name, const char *dst,
		const char *data, const char *more)
{
	const char *const addr = s == FLAT ? "v[16:17]" : s == SCRATCH ? "v16" : "v11";
	const char *const d = dst && dst[0] ? dst : NULL;
	const size_t at = strlen(out);

	if (s == BUFFER)
		snprintf(out + at, size - at, "%s %s, v11, s[36:39], %s offen%s\n", name,
			 data ? data : dst, late12 ? "null" : "0", more);
	else
		snprintf(out + at, size - at, "%s %s%s%s%s%s%s%s\n", name, d ? d : "",
			 d ? ", " : "", addr, data ? ", " : "", data ? data : "",
			 s == GLOBAL	? ", s[12:13]"
			 : s == SCRATCH ? ", off"
					: "",
			 more);
}

static bool atomic_is_two(const struct access *a)
{
	return a->fn == at_cmpswap || a->fn == at_fcmpswap || a->fn == at_mskor;
}

/* rtn: whether a vector atomic returns the old value; LDS names say so themselves. */
static void emit(char *out, size_t size, const char *arch, enum space s, const struct access *a,
		 const char *name, bool rtn)
{
	const unsigned gen = gen_of(arch);
	const bool late = gen >= 11;
	const int n = a->bytes < 4 ? 1 : a->bytes / 4;
	char wide_store[64], wide_load[64];
	const char *const addu = gen == 9 ? "v_add_u32" : "v_add_nc_u32";

	snprintf(wide_store, sizeof(wide_store), "%s%s", prefix[s],
		 s == LDS ? late ? "store_b128" : "write_b128"
		 : late	  ? "store_b128"
			  : "store_dwordx4");
	snprintf(wide_load, sizeof(wide_load), "%s%s", prefix[s],
		 s == LDS ? late ? "load_b128" : "read_b128"
		 : late	  ? "load_b128"
			  : "load_dwordx4");
	out[0] = '\0';
	if (s == FLAT)
		snprintf(out, size, "%s v16, s12, v11\nv_mov_b32 v17, s13\n", addu);
	else if (s == SCRATCH)
		snprintf(out, size, "v_mov_b32 v16, 16\n");
	else if (s == BUFFER)
		snprintf(out, size,
			 "s_mov_b32 s36, s12\ns_mov_b32 s37, s13\ns_movk_i32 s38, 0x2000\n"
			 "s_mov_b32 s39, 0x27000\n");
	put(out, size, s, wide_store, NULL, "v[2:5]", "");
	snprintf(out + strlen(out), size - strlen(out),
		 "v_mov_b32 v12, v8\nv_mov_b32 v13, v9\nv_mov_b32 v14, 0\nv_mov_b32 v15, 0\n");
	if (a->kind == LOAD) {
		put(out, size, s, name, regs(12, n), NULL, "");
	} else if (a->kind == STORE) {
		put(out, size, s, name, NULL, regs(6, n), ""); /* c, old */
	} else {
		const bool two = atomic_is_two(a);
		const int data = two && s != LDS ? n == 1 ? 14 : 12 : 6;
		char pair[80];
		const char *text = regs(data, two && s != LDS ? 2 * n : n);

		if (two && s == LDS) {
			/* comparand first before gfx11; mskor: mask, then bits */
			const bool swap = a->fn != at_mskor && gen < 11;
			snprintf(pair, sizeof(pair), "%s, %s", regs(swap ? 8 : 6, n),
				 regs(swap ? 6 : 8, n));
			text = pair;
		} else if (two) {
			snprintf(out + strlen(out), size - strlen(out),
				 n == 1
				     ? "v_mov_b32 v14, v6\nv_mov_b32 v15, v8\n"
				     : "v_mov_b32 v12, v6\nv_mov_b32 v13, v7\nv_mov_b32 v14, v8\n"
				       "v_mov_b32 v15, v9\n");
		} else if (rtn && s == BUFFER) { /* data and result are the same registers */
			snprintf(out + strlen(out), size - strlen(out),
				 "v_mov_b32 v12, v6\nv_mov_b32 v13, v7\n");
			text = regs(12, n);
		}
		put(out, size, s, name, rtn ? two && s == BUFFER ? NULL : regs(12, n) : NULL, text,
		    rtn && s != LDS ? gen == 12 ? " th:TH_ATOMIC_RETURN"
				      : strstr(arch, "gfx94") || !strcmp(arch, "gfx950") ? " sc0"
											 : " glc"
				    : "");
		if (rtn && two && s == BUFFER && n == 1)
			snprintf(out + strlen(out), size - strlen(out), "v_mov_b32 v12, v14\n");
		if (!rtn)
			snprintf(out + strlen(out), size - strlen(out),
				 "v_mov_b32 v12, v8\nv_mov_b32 v13, v9\n");
	}
	/* for loads all four dwords, else what the memory holds now */
	if (a->kind == LOAD) {
		snprintf(
		    out + strlen(out), size - strlen(out),
		    "v_mov_b32 v18, v14\nv_mov_b32 v19, v15\nv_mov_b32 v8, v12\nv_mov_b32 v9, v13");
	} else if (a->kind == ATOMIC) {
		snprintf(out + strlen(out), size - strlen(out),
			 "v_mov_b32 v8, v12\nv_mov_b32 v9, v13\n");
		put(out, size, s, wide_load, "v[12:15]", NULL, "");
		snprintf(out + strlen(out), size - strlen(out),
			 "v_mov_b32 v18, v12\nv_mov_b32 v19, v13");
	} else {
		put(out, size, s, wide_load, "v[12:15]", NULL, "");
		snprintf(
		    out + strlen(out), size - strlen(out),
		    "v_mov_b32 v18, v14\nv_mov_b32 v19, v15\nv_mov_b32 v8, v12\nv_mov_b32 v9, v13");
	}
}

static void check(struct slots *s, unsigned slot, const struct access *a, const char *name,
		  bool rtn)
{
	static const uint64_t execs[] = {~0ull, 0x5a5af0ff12345679ull, 1ull << 17, 0};
	const uint64_t all = s->lanes == 64 ? ~0ull : 0xffffffff;
	const bool real =
	    a->fn == at_fadd || a->fn == at_fmin || a->fn == at_fmax || a->fn == at_fcmpswap;
	const bool bf = a->fn == at_pk_add_bf16, pairs = bf || a->fn == at_pk_add_f16;
	const bool wide = a->bytes == 8;
	unsigned bad = 0;

	for (unsigned r = 0; r < 4; r++) {
		slot_ctl[r] = (struct slot_ctl){execs[r] & all, 0};
		for (unsigned i = 0; i < s->lanes; i++) {
			struct lane_in *const v = &slot_in[r][i];

			*v = (struct lane_in){rnd64(), rnd64(), rnd64(), rnd64()};
			if (real) {
				v->a = pat((double)((int64_t)(rnd64() % 4001) - 2000) / 8, wide);
				v->c = pat((double)((int64_t)(rnd64() % 4001) - 2000) / 8, wide);
				if (i % 3 == 0) /* the comparand, of fcmpswap */
					v->old = v->a;
			} else if (pairs) {
				v->a = half_pat((double)(rnd64() % 201) / 8 - 12.5, bf) |
				       half_pat((double)(rnd64() % 100) / 8, bf) << 16;
				v->c = half_pat((double)(rnd64() % 100) / 8 - 12.5, bf) |
				       half_pat((double)(rnd64() % 201) / 8 - 12.5, bf) << 16;
			} else if (a->kind == ATOMIC && i % 3 == 0) {
				v->c = v->a;
				v->old = i % 2 ? v->a : v->old;
			} else if (a->kind == ATOMIC && i % 3 == 1) {
				v->old = v->a;
				v->a = i % 4 ? v->a : 0;
			}
		}
	}
	if (!slots_run(s, slot, 4, 0x3f0)) {
		ok(false, "%s %s runs: %s", s->arch, name, s->fx.report.what);
		return;
	}
	for (unsigned r = 0; r < 4; r++)
		for (unsigned i = 0; i < s->lanes; i++) {
			const struct lane_in *const v = &slot_in[r][i];
			const struct slot_out *const o = &slot_out[r][i];
			const uint64_t low = wide ? ~0ull : 0xffffffff;
			unsigned char mem[16], want[16] = {0};
			uint64_t lo, hi;

			if (!(execs[r] >> i & 1)) {
				bad += o->result != v->old;
				continue;
			}
			memcpy(mem, &v->a, 8);
			memcpy(mem + 8, &v->b, 8);
			if (a->kind == LOAD) {
				memcpy(want, &v->old, 8);
				if (a->bytes >= 4) {
					memcpy(want, mem, (size_t)a->bytes);
				} else {
					uint32_t x =
					    mem[0] | (a->bytes == 2 ? (uint32_t)mem[1] << 8 : 0);
					const uint32_t top = a->bytes == 1 ? 0x80 : 0x8000;

					if (a->sext && x & top)
						x -= 2 * top;
					if (a->d16)
						memcpy(want + (a->hi ? 2 : 0), &x, 2);
					else
						memcpy(want, &x, 4);
				}
			} else if (a->kind == STORE) {
				memcpy(want, mem, 16);
				memcpy(want, (const unsigned char *)&v->c + (a->hi ? 2 : 0),
				       a->bytes > 8 ? 8 : (size_t)a->bytes);
				if (a->bytes > 8)
					memcpy(want + 8, &v->old, (size_t)a->bytes - 8);
			} else {
				const uint64_t now =
				    a->fn(v->a & low, v->c & low, v->old & low, wide);
				const uint64_t got = o->second & low, old = o->result & low;

				if ((now & low) != got || (rtn && old != (v->a & low))) {
					if (bad++ < 2)
						diag("%s lane %u: m %llx v %llx c %llx: old %llx, "
						     "now %llx want %llx",
						     name, i, (unsigned long long)v->a,
						     (unsigned long long)v->c,
						     (unsigned long long)v->old,
						     (unsigned long long)old,
						     (unsigned long long)got,
						     (unsigned long long)(now & low));
				}
				continue;
			}
			memcpy(&lo, want, 8);
			memcpy(&hi, want + 8, 8);
			if ((lo != o->result || hi != o->second) && bad++ < 2)
				diag("%s lane %u: m %llx %llx: got %llx %llx want %llx %llx", name,
				     i, (unsigned long long)v->a, (unsigned long long)v->b,
				     (unsigned long long)o->result, (unsigned long long)o->second,
				     (unsigned long long)lo, (unsigned long long)hi);
		}
	is(bad, 0, "%s %s%s", s->arch, name, rtn ? " with the old value" : "");
}

struct job {
	const struct access *a;
	char name[64];
	unsigned slot;
	bool rtn;
};

static void test_arch(const char *arch, const char *clang)
{
	static struct job jobs[1024];
	const int id = isa_arch_by_name(arch);
	const bool late = gen_of(arch) >= 11;
	unsigned n = 0;
	struct slots s;

	slots_init(&s, arch);
	late12 = gen_of(arch) == 12;
	for (enum space sp = 0; sp < SPACES; sp++) {
		const struct access *const list = sp == LDS ? lds : vector;
		const size_t count =
		    sp == LDS ? sizeof(lds) / sizeof(lds[0]) : sizeof(vector) / sizeof(vector[0]);

		for (size_t i = 0; i < count; i++)
			for (int rtn = 0; rtn < 2; rtn++) {
				const struct access *const a = &list[i];
				struct job *const j = &jobs[n];
				char text[1200];
				int row;

				snprintf(j->name, sizeof(j->name), "%s%s", prefix[sp],
					 late ? a->late : a->old);
				row = isa_op_find(j->name, strlen(j->name));
				if (row < 0 || !(isa_op_at((unsigned)row)->archs >> id & 1))
					continue;
				if (rtn && (a->kind != ATOMIC || sp == LDS))
					continue;
				j->a = a;
				j->rtn = sp == LDS ? strstr(j->name, "_rtn_") != NULL : rtn;
				emit(text, sizeof(text), arch, sp, a, j->name, j->rtn);
				j->slot = slots_add(&s, text);
				n++;
			}
	}
	if (slots_build(&s, "memory", clang)) {
		seed = 3;
		for (unsigned i = 0; i < n; i++)
			if (!s.why[jobs[i].slot])
				check(&s, jobs[i].slot, jobs[i].a, jobs[i].name, jobs[i].rtn);
			else
				ok(false, "%s has %s: %s", arch, jobs[i].name, s.why[jobs[i].slot]);
	}
	slots_release(&s);
}

int main(int argc, char **argv)
{
	return isa_main(argc, argv, "isa_memory", NULL, test_arch);
}
