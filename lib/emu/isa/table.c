/* The instruction table: built once from the .def files, looked up by name. */
#include <stdio.h>

#include "lib/emu/isa/mem.h"
#include "lib/emu/isa/mfma.h"
#include "lib/emu/isa/table.h"

#define MAX_ROWS 4096
#define HASH_SIZE 8192
#define POOL_SIZE 65536

static struct isa_op rows[MAX_ROWS];
static unsigned n_rows;
static u16 hash_slot[HASH_SIZE]; /* row + 1 */
static char pool[POOL_SIZE];	 /* names put together here */
static size_t pool_used;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic u8 met[ISA_ARCH_COUNT][MAX_ROWS];
static unsigned variant;
static int row_prep, row_sgpr, row_dual;
static u16 approx_rows[MAX_ROWS];
static unsigned n_approx_rows;

enum { M_SEXT = 1, M_D16 = 2, M_HI = 4, M_RTN = 8, M_LDS = 16 };
enum { P_G = 1, P_F = 2, P_S = 4, P_B = 8 };

static const char *const arch_names[ISA_ARCH_COUNT] = {"gfx90a",  "gfx942",  "gfx950",
						       "gfx1030", "gfx1100", "gfx1201"};

int isa_arch_by_name(const char *name)
{
	const size_t len = strcspn(name, ":");

	for (int i = 0; i < ISA_ARCH_COUNT; i++)
		if (strlen(arch_names[i]) == len && !memcmp(arch_names[i], name, len))
			return i;
	return -22; /* EINVAL */
}

const char *isa_arch_name(enum isa_arch arch)
{
	return (unsigned)arch < ISA_ARCH_COUNT ? arch_names[arch] : "?";
}

unsigned isa_arch_wave_size(enum isa_arch arch)
{
	return arch <= ISA_GFX950 ? 64 : 32;
}

static u32 hash(const char *s, size_t len)
{
	u32 h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (u8)s[i]) * 16777619u;
	return h;
}

static const char *keep(const char *a, const char *b)
{
	char *const s = pool + pool_used;
	const int n = snprintf(s, POOL_SIZE - pool_used, "%s%s", a, b);

	if (n < 0 || (size_t)n >= POOL_SIZE - pool_used)
		return "?"; /* the pool is sized for the table; a test counts the names */
	pool_used += (size_t)n + 1;
	return s;
}

static struct isa_op *add(const char *name, const char *spec, u32 flags, unsigned archs, u8 cls,
			  unsigned index)
{
	struct isa_op *const r = &rows[n_rows < MAX_ROWS ? n_rows : MAX_ROWS - 1];
	u32 h = hash(name, strlen(name)) % HASH_SIZE;

	*r = (struct isa_op){.name = name,
			     .spec = spec,
			     .flags = flags,
			     .archs = (u16)archs,
			     .cls = cls,
			     .index = (u16)index,
			     .canonical = (u16)n_rows};
	while (hash_slot[h])
		h = (h + 1) % HASH_SIZE;
	hash_slot[h] = (u16)++n_rows;
	return r;
}

static int find(const char *name, size_t len)
{
	u32 h = hash(name, len) % HASH_SIZE;

	for (; hash_slot[h]; h = (h + 1) % HASH_SIZE) {
		const struct isa_op *const r = &rows[hash_slot[h] - 1];
		if (strlen(r->name) == len && !memcmp(r->name, name, len))
			return hash_slot[h] - 1;
	}
	return -1;
}

static void alias(const char *name, const char *canonical, unsigned archs)
{
	const int c = find(canonical, strlen(canonical));
	struct isa_op *r;

	if (c < 0)
		return;
	r = add(name, rows[c].spec, rows[c].flags, archs, rows[c].cls, rows[c].index);
	r->canonical = (u16)c;
}

static void add_valu(void)
{
	unsigned n;

#define U(name, spec, flags, archs, expr) add(#name, spec, flags, archs, cls, n++);
#define S(name, spec, flags, archs, expr) add(#name, spec, flags, archs, cls, n++);
#define F(name, spec, flags, archs, expr) add(#name, spec, flags, archs, cls, n++);
#define H(name, spec, flags, archs, expr) add(#name, spec, flags, archs, cls, n++);
#define Q(name, spec, flags, archs, expr) add(#name, spec, flags, archs, cls, n++);
#define D(name, spec, flags, archs, expr) add(#name, spec, flags, archs, cls, n++);
#define X(name, spec, flags, archs) add(#name, spec, flags, archs, cls, n++);
#define M(name, spec, flags, archs, expr)       \
	add(#name, spec, flags, archs, cls, n); \
	add(keep("v_cmpx", &(#name)[5]), spec, (flags) | F_CMPX, archs, cls, n++);
	{
		const u8 cls = CLASS_INT;
		n = 0;
#include "lib/emu/isa/valu_int.def"
	}
	{
		const u8 cls = CLASS_F32;
		n = 0;
#include "lib/emu/isa/valu_f32.def"
	}
	{
		const u8 cls = CLASS_F64;
		n = 0;
#include "lib/emu/isa/valu_f64.def"
	}
	{
		const u8 cls = CLASS_F16;
		n = 0;
#include "lib/emu/isa/valu_f16.def"
	}
	{
		const u8 cls = CLASS_CMP;
		n = 0;
#include "lib/emu/isa/valu_cmp.def"
	}
	{
		const u8 cls = CLASS_CROSS;
		n = 0;
#include "lib/emu/isa/cross.def"
	}
	{
		const u8 cls = CLASS_MFMA;
		n = 0;
#include "lib/emu/isa/mfma.def"
	}
#undef X
#define X(name, spec, archs) add(#name, spec, 0, archs, CLASS_SCALE, 0);
#include "lib/emu/isa/scale.def"
#undef U
#undef S
#undef F
#undef H
#undef Q
#undef D
#undef X
#undef M
}

static void add_salu(void)
{
	unsigned n = 0;
	const u8 cls = CLASS_SALU;

#define SU(name, spec, archs, expr) add(#name, spec, 0, archs, cls, n++);
#define SA(name, spec, archs, expr) add(#name, spec, F_APPROX, archs, cls, n++);
#define SI(name, spec, archs, expr) add(#name, spec, F_FP32, archs, cls, n++);
#define SF(name, spec, archs, expr) add(#name, spec, F_FP32, archs, cls, n++);
#define SH(name, spec, archs, expr) add(#name, spec, F_FP64, archs, cls, n++);
#define SUZ(name, spec, archs, expr) add(#name, spec, 0, archs, cls, n++);
#define SUC(name, spec, archs, expr, scc) add(#name, spec, 0, archs, cls, n++);
#define SQ(name, spec, archs, expr) add(#name, spec, 0, archs, cls, n++);
#define SQZ(name, spec, archs, expr) add(#name, spec, 0, archs, cls, n++);
#define SC(name, spec, archs, cond) add(#name, spec, 0, archs, cls, n++);
#define SAVE(name, archs, expr)                       \
	add(#name "_b64", "U:U", 0, archs, cls, n++); \
	add(#name "_b32", "u:u", 0, (archs)&RDNA, cls, n++);
#define WREX(name, archs, expr)                       \
	add(#name "_b64", "U:U", 0, archs, cls, n++); \
	add(#name "_b32", "u:u", 0, (archs)&RDNA, cls, n++);
#define SX(name, spec, archs) add(#name, spec, 0, archs, cls, n++);
#include "lib/emu/isa/salu.def"
}

static void add_memory(const char *name, unsigned archs, u8 cls, u8 kind, u8 op, u8 size, u8 dwords,
		       u8 atomic, unsigned flags, u8 space, unsigned unit)
{
	struct isa_op *const r = add(name, NULL, 0, archs, cls, 0);

	r->kind = kind;
	r->unit = (u16)unit;
	r->m = (struct isa_minfo){.op = op,
				  .size = size,
				  .dwords = dwords,
				  .atomic = atomic,
				  .sext = flags & M_SEXT,
				  .d16 = flags & M_D16,
				  .d16_hi = flags & M_HI,
				  .rtn = flags & M_RTN,
				  .to_lds = flags & M_LDS,
				  .space = space};
}

static void add_prefixed(unsigned prefixes, const char *old, const char *later, unsigned archs,
			 u8 op, u8 size, u8 dwords, u8 atomic, unsigned flags)
{
	static const struct {
		const char *name;
		unsigned bit;
		u8 kind, space;
	} p[] = {{"global_", P_G, MEM_FN_GLOBAL, ISA_GLOBAL},
		 {"flat_", P_F, MEM_FN_FLAT, ISA_FLAT},
		 {"scratch_", P_S, MEM_FN_SCRATCH, ISA_SCRATCH},
		 {"buffer_", P_B, MEM_FN_BUFFER, ISA_GLOBAL}};
	const bool same = !strcmp(old, later);

	for (unsigned i = 0; i < sizeof(p) / sizeof(p[0]); i++) {
		if (!(prefixes & p[i].bit))
			continue;
		if (same || (archs & (GFX9 | G10)))
			add_memory(keep(p[i].name, old), same ? archs : archs & (GFX9 | G10),
				   CLASS_MEM, p[i].kind, op, size, dwords, atomic, flags,
				   p[i].space, 0);
		if (!same && (archs & (G11 | G12)))
			add_memory(keep(p[i].name, later), archs & (G11 | G12), CLASS_MEM,
				   p[i].kind, op, size, dwords, atomic, flags, p[i].space, 0);
	}
}

static void add_two(const char *old, const char *later, unsigned archs, u8 cls, u8 op, u8 size,
		    u8 dwords, u8 atomic, unsigned flags, u8 space, unsigned unit)
{
	const bool same = !strcmp(old, later);
	const u8 kind = unit ? MEM_FN_DS2 : MEM_FN_DS;

	if (same || (archs & (GFX9 | G10)))
		add_memory(old, same ? archs : archs & (GFX9 | G10), cls, kind, op, size, dwords,
			   atomic, flags, space, unit);
	if (!same && (archs & (G11 | G12)))
		add_memory(later, archs & (G11 | G12), cls, kind, op, size, dwords, atomic, flags,
			   space, unit);
}

static void add_mem(void)
{
	enum { GFSB = P_G | P_F | P_S | P_B, GFB = P_G | P_F | P_B };
#define MEM(prefixes, old, later, archs, op, size, dwords, atomic, flags) \
	add_prefixed(prefixes, old, later, archs, op, size, dwords, atomic, flags);
#define DS(old, later, archs, op, size, dwords, atomic, flags, unit) \
	add_two(old, later, archs, CLASS_MEM, op, size, dwords, atomic, flags, ISA_LDS, unit);
#define SM(old, later, archs, dwords, size, flags) \
	add_two(old, later, archs, CLASS_SMEM, MEM_LOAD, size, dwords, 0, flags, ISA_CONSTANT, 0);
#include "lib/emu/isa/mem.def"
#undef MEM
#undef DS
#undef DSA
#undef SM
}

static unsigned best_variant(void)
{
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
	    __builtin_cpu_supports("avx512cd"))
		return 2;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
	    __builtin_cpu_supports("bmi2"))
		return 1;
#endif
	return 0;
}

static void build(void)
{
	add_valu();
	add_salu();
	add_mem();
#define ALIAS(name, canonical, archs) alias(#name, #canonical, archs);
#include "lib/emu/isa/alias.def"
#undef ALIAS
	for (unsigned i = 0; i < n_rows; i++)
		if (rows[i].flags & F_APPROX)
			approx_rows[n_approx_rows++] = (u16)i;
	row_prep = find("run_prep", 8);
	row_sgpr = find("run_sgpr", 8);
	row_dual = find("run_dual", 8);
	variant = best_variant();
}

unsigned isa_variant(void)
{
	pthread_once(&once, build);
	return variant;
}

void isa_set_variant(unsigned v)
{
	const unsigned best = best_variant();

	pthread_once(&once, build);
	variant = v < best ? v : best;
}

int isa_limit_simd(const char *name)
{
	static const char *const names[] = {"base", "avx2", "avx512"};

	for (unsigned i = 0; i < 3; i++)
		if (!strcmp(name, names[i])) {
			isa_set_variant(i);
			return 0;
		}
	return -22; /* EINVAL */
}

const struct isa_op *isa_op_at(unsigned index)
{
	return &rows[index];
}

unsigned isa_op_count(void)
{
	pthread_once(&once, build);
	return n_rows;
}

unsigned isa_approx_rows(const u16 **ret_rows)
{
	pthread_once(&once, build);
	*ret_rows = approx_rows;
	return n_approx_rows;
}

int isa_op_find(const char *name, size_t len)
{
	pthread_once(&once, build);
	return find(name, len);
}

isa_fn isa_op_fn(unsigned index)
{
	const struct isa_op *const r = &rows[index];

	switch (r->cls) {
	case CLASS_INT:
		return isa_fns_int[variant][r->index];
	case CLASS_F32:
		return isa_fns_f32[variant][r->index];
	case CLASS_F64:
		return isa_fns_f64[variant][r->index];
	case CLASS_F16:
		return isa_fns_f16[variant][r->index];
	case CLASS_CMP:
		return isa_fns_cmp[variant][r->index];
	case CLASS_CROSS:
		return isa_fns_cross[variant][r->index];
	case CLASS_SALU:
		return isa_fns_salu[r->index];
	case CLASS_MFMA:
		return isa_fns_matrix[variant][0];
	case CLASS_SCALE:
		return isa_scale_fn();
	case CLASS_MEM:
		return isa_fns_mem[variant][r->kind];
	default:
		return NULL;
	}
}

isa_fn isa_run_prep_fn(void)
{
	return isa_op_fn((unsigned)row_prep);
}
isa_fn isa_run_sgpr_fn(void)
{
	return isa_op_fn((unsigned)row_sgpr);
}
isa_fn isa_run_dual_fn(void)
{
	return isa_op_fn((unsigned)row_dual);
}

/* --- coverage ---------------------------------------------------------------------- */

void isa_table_mark(enum isa_arch arch, unsigned index)
{
	if (!atomic_load_explicit(&met[arch][index], memory_order_relaxed))
		atomic_store_explicit(&met[arch][index], 1, memory_order_relaxed);
}

static int nth(enum isa_arch arch, unsigned index)
{
	pthread_once(&once, build);
	for (unsigned i = 0; i < n_rows; i++)
		if ((rows[i].archs >> arch & 1) && index-- == 0)
			return (int)i;
	return -1;
}

const char *isa_table_name(enum isa_arch arch, unsigned index)
{
	const int i = nth(arch, index);

	return i < 0 ? NULL : rows[i].name;
}

bool isa_table_met(enum isa_arch arch, unsigned index)
{
	const int i = nth(arch, index);

	return i >= 0 && atomic_load_explicit(&met[arch][i], memory_order_relaxed);
}
