/*
 * Code nobody's compiler wrote: random instructions of every encoding, their register fields at
 * the ends of the files more often than not, on every arch. Each runs alone, as a kernel of a
 * code object made here; whatever it is, the launch ends with a status, and nothing but the
 * wave's own registers and the one span there is is touched (make check-asan sees the rest).
 * HRR_T_HOSTILE: how many per arch.
 */
#include "lib/emu/isa/internal.h"
#include "t/unit/isa_tools.h"

#define KD 64
#define SLOT 128 /* descriptor, then code */
#define SPAN 4096
#define GUARD 4096

static uint64_t state;
static uint32_t rnd(void)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(state >> 33) ^ (uint32_t)(state >> 13);
}

static unsigned char memory[GUARD + SPAN + GUARD];

static int find(void *self, uint64_t addr, struct isa_span *ret)
{
	(void)self;
	if (addr < FX_BASE || addr - FX_BASE >= SPAN)
		return -14;
	*ret = (struct isa_span){.base = FX_BASE,
				 .size = SPAN,
				 .host = memory + GUARD,
				 .readable = true,
				 .writable = true};
	return 0;
}

/* First dword: what tells the encoding (from the ISA documents' tables of them), random below. */
static const uint32_t gfx9[] = {0x00000000, 0x40000000, 0x7e000000, 0x7c000000, 0xd0000000,
				0xd1000000, 0xd3800000, 0xd3c00000, 0xbe800000, 0x80000000,
				0xb0000000, 0xbf000000, 0xbf800000, 0xc0000000, 0xd8000000,
				0xd9000000, 0xdc000000, 0xdd000000, 0xe0000000, 0xe1000000};
static const uint32_t rdna[] = {
    0x00000000, 0x40000000, 0x7e000000, 0x7c000000, 0xd4000000, 0xd5000000, 0xd6000000,
    0xd7000000, 0xcc000000, 0xcc400000, 0xc8000000, 0xca000000, 0xbe800000, 0x80000000,
    0xb0000000, 0xbf000000, 0xbf800000, 0xf4000000, 0xd8000000, 0xd9000000, 0xdc000000,
    0xdd000000, 0xe0000000, 0xe1000000, 0xc4000000, 0xec000000, 0xed000000, 0xee000000};

static uint32_t edges(void) /* a dword of register numbers, mostly the first and last ones */
{
	static const uint8_t ends[] = {0, 255, 254, 1, 128, 106, 107, 124, 125, 126, 127, 104};
	uint32_t v = 0;

	for (int i = 0; i < 4; i++)
		v = v << 8 | (rnd() % 3 ? ends[rnd() % sizeof(ends)] : rnd() & 255);
	return v;
}

static size_t code(uint32_t *to, unsigned gen)
{
	const uint32_t first =
	    gen == 9 ? gfx9[rnd() % (sizeof(gfx9) / 4)] : rdna[rnd() % (sizeof(rdna) / 4)];
	const unsigned open = first >> 24 == 0xc8 || first >> 24 == 0xca || !first	   ? 24
			      : first == 0x40000000					   ? 29
			      : first >> 31 && (first >> 24 < 0xb0 || first == 0x80000000) ? 30
											   : 24;
	size_t n = 0;

	/* M0 is anything (its number differs by generation, as does the opcode of s_mov_b32) */
	to[n++] = gen == 9 ? 0xbefc00ff : gen == 10 ? 0xbefc03ff : 0xbefd00ff;
	to[n++] = rnd() % 2 ? rnd() & 0x3ff : rnd();
	for (int i = 0; i < 2; i++) {
		to[n++] = first | ((rnd() % 4 ? edges() : rnd()) & ((1u << open) - 1));
		to[n++] = rnd() % 4 ? edges() : rnd();
		if (first < 0xc0000000u) /* one dword, or a literal behind it */
			break;
	}
	to[n++] = gen >= 11 ? 0xbfb00000 : 0xbf810000; /* s_endpgm */
	return n;
}

static void test_arch(const char *arch, const char *clang)
{
	const char *const many = getenv("HRR_T_HOSTILE");
	const unsigned n = many ? (unsigned)strtoul(many, NULL, 0) : 12000;
	const enum isa_arch a = (enum isa_arch)isa_arch_by_name(arch);
	const unsigned gen = a <= ISA_GFX950	? 9
			     : a == ISA_GFX1030 ? 10
			     : a == ISA_GFX1100 ? 11
						: 12;
	unsigned count[ISA_NOMEM + 1] = {0}, outside = 0;
	unsigned char *const image = calloc(n, SLOT);
	struct isa_program *prog = NULL;
	struct hrr_diag said;
	struct isa_report report;

	(void)clang;
	state = 0x1234567 + a;
	memset(memory, 0x5a, sizeof(memory));
	for (unsigned i = 0; i < n; i++) {
		unsigned char *const kd = image + (size_t)i * SLOT;
		const uint32_t lds = 1024, scratch = 64, rsrc1 = 0x3f | 0xf << 16 | 1 << 21;
		const uint32_t rsrc2 = 2 << 1 | 1 << 7;
		const uint16_t properties = 1 << 3 | (gen == 9 ? 0 : 1 << 10);
		const int64_t entry = KD;

		memcpy(kd, &lds, 4);
		memcpy(kd + 4, &scratch, 4);
		memcpy(kd + 16, &entry, 8);
		memcpy(kd + 48, &rsrc1, 4);
		memcpy(kd + 52, &rsrc2, 4);
		memcpy(kd + 56, &properties, 2);
		code((uint32_t *)(void *)(kd + KD), gen);
	}
	if (isa_program_new(a, image, (size_t)n * SLOT, FX_BASE * 2, &prog, &said)) {
		/* gfx950 wants a later LLVM than the rest */
		if (a == ISA_GFX950)
			skip(1, said.what);
		else
			ok(false, "%s: %s", arch, said.what);
		free(image);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		const struct isa_launch l = {.prog = prog,
					     .kd = FX_BASE * 2 + (uint64_t)i * SLOT,
					     .grid = {64, 1, 1},
					     .block = {64, 1, 1},
					     .kernarg = FX_BASE + 64 * (i % 8),
					     .lds = 1024,
					     .scratch = 64,
					     .budget = 64,
					     .go_on = i % 2,
					     .mem = {NULL, find}};

		if (isa_run(&l, &report) || report.status > ISA_NOMEM) {
			ok(false, "%s %u ends", arch, i);
			continue;
		}
		count[report.status]++;
	}
	for (unsigned i = 0; i < GUARD; i++)
		outside += memory[i] != 0x5a || memory[GUARD + SPAN + i] != 0x5a;
	diag("%s: done %u, fault %u, refused %u, budget %u, trap %u", arch, count[ISA_DONE],
	     count[ISA_FAULT], count[ISA_UNIMPLEMENTED], count[ISA_BUDGET], count[ISA_TRAP]);
	ok(count[ISA_DONE] > n / 30, "%s: many of %u random kernels run to their end", arch, n);
	ok(count[ISA_FAULT] > n / 400, "%s: some fault", arch);
	is(count[ISA_NOMEM] + count[ISA_BAD_LAUNCH], 0, "%s: all are launched", arch);
	is(outside, 0, "%s: nothing beside the span is written", arch);
	isa_program_free(prog);
	free(image);
}

int main(int argc, char **argv)
{
	return isa_main(argc, argv, NULL, NULL, test_arch);
}
