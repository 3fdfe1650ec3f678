/*
 * Memory instructions of every width, over lanes that are neighbours, the same,
 * scattered, in groups of each, all on or some; on both sides of 4 GiB; on each x86 level.
 */
#include <sys/mman.h>

#include "lib/emu/isa/internal.h"
#include "t/unit/isa_tools.h"

#define N 256 /* elements */

static uint32_t seed = 1;
static uint32_t rnd(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed >> 8;
}

/* How lanes lie, up to 200 elements. */
static int place(unsigned how, int lane)
{
	switch (how) {
	case 0:
		return lane;
	case 1:
		return 5 + lane;
	case 2:
		return 77;
	case 3:
		return 63 - lane;
	case 4:
		return lane / 16 * 40 + lane % 16;
	case 5:
		return lane / 16 * 7;
	case 6:
		return lane * 3;
	case 7: /* groups of each kind */
		return lane < 16 ? lane : lane < 32 ? 20 : lane < 48 ? 90 - lane : lane + 30;
	default:
		return (int)(rnd() % 200);
	}
}
#define HOWS 10
/* Stores go to different elements, or it is chance who wins. */
static const unsigned to_hows[] = {0, 1, 3, 4, 6, 7};

static uint64_t mask(unsigned how)
{
	static const uint64_t m[] = {~0ull,	 0x00000000ffffffffull, 0xfffffffffffffffeull,
				     1ull << 37, 0xffff0000ffff0000ull, 0x8000000000000001ull};

	return how < 6 ? m[how] : (uint64_t)rnd() << 40 ^ (uint64_t)rnd() << 20 ^ rnd();
}
#define MASKS 8

static unsigned char in[N * 16], out[N * 16], want[N * 16];
static int from[64], to[64];
static uint32_t on[64];

static uint32_t word(const unsigned char *p, int i)
{
	uint32_t v;
	memcpy(&v, p + 4 * i, 4);
	return v;
}

static void expect(const char *kernel, size_t size)
{
	memcpy(want, out, sizeof(want));
	for (int i = 0; i < 64; i++) {
		uint32_t v;
		if (!on[i])
			continue;
		if (!strcmp(kernel, "lds_pair")) {
			v = word(in, from[i]) ^ word(in, from[i] + 3);
			memcpy(want + 4 * to[i], &v, 4);
		} else if (!strcmp(kernel, "scratch")) {
			const int f = from[i] & 63, g = (from[i] + 1) & 63;
			v = (f == 5 ? 7 : word(in, 5) + (uint32_t)i) +
			    (f == g ? 7 : word(in, g) + (uint32_t)i);
			memcpy(want + 4 * to[i], &v, 4);
		} else {
			memcpy(want + size * (size_t)to[i], in + size * (size_t)(from[i] + 3),
			       size);
		}
	}
}

/* Maps host at a device address of our choice. */
static uint64_t map_at(struct fx *f, void *host, size_t size, uint64_t at)
{
	f->span[f->n_spans++] = (struct isa_span){
	    .base = at, .size = size, .host = host, .readable = true, .writable = true};
	return at;
}

static bool one(struct fx *f, const char *kernel, size_t size, bool across)
{
	const uint32_t grid[3] = {64, 1, 1};
	const unsigned keep = f->n_spans;
	uint64_t args[5];
	bool good;

	for (size_t i = 0; i < sizeof(in); i++) {
		in[i] = (unsigned char)rnd();
		out[i] = (unsigned char)rnd();
	}
	expect(kernel, size);
	if (across) { /* the middle lies at a multiple of 4 GiB */
		args[0] = map_at(f, in, sizeof(in), 0x7100000000ull - 40 * size);
		args[1] = map_at(f, out, sizeof(out), 0x7200000000ull - 50 * size);
	} else {
		args[0] = fx_map(f, in, sizeof(in));
		args[1] = fx_map(f, out, sizeof(out));
	}
	args[2] = fx_map(f, from, sizeof(from));
	args[3] = fx_map(f, to, sizeof(to));
	args[4] = fx_map(f, on, sizeof(on));
	good = fx_run(f, kernel, grid, grid, 0, args, sizeof(args));
	f->n_spans = keep;
	if (!good)
		diag("%s: %s", kernel, f->report.what);
	return good && !memcmp(out, want, sizeof(out));
}

static void every(struct fx *f, const char *arch, unsigned variant)
{
	static const struct {
		const char *name;
		size_t size;
	} kinds[] = {{"u8", 1},	 {"s8", 1},   {"u16", 2},  {"u32", 4},
		     {"u64", 8}, {"u96", 12}, {"u128", 16}};
	char kernel[32];

	for (unsigned k = 0; k < 16; k++) {
		const bool pair = k == 14, scratch = k == 15;
		const size_t size = pair || scratch ? 4 : kinds[k / 2].size;
		unsigned wrong = 0;

		snprintf(kernel, sizeof(kernel), "%s%s",
			 pair	   ? "lds_pair"
			 : scratch ? "scratch"
			 : k % 2   ? "lds_"
				   : "global_",
			 pair || scratch ? "" : kinds[k / 2].name);
		for (unsigned h = 0; h < HOWS; h++)
			for (unsigned t = 0; t < 6; t++)
				for (unsigned m = 0; m < MASKS; m++) {
					const uint64_t bits = mask(m);
					for (int i = 0; i < 64; i++) {
						from[i] = place(h, i);
						to[i] = place(to_hows[t], i);
						on[i] = bits >> i & 1;
					}
					if (!one(f, kernel, size, (h + t + m) % 2) && wrong++ == 0)
						diag("%s: from %u, to %u, mask %u", kernel, h, t,
						     m);
				}
		ok(wrong == 0, "%s on %s, level %u", kernel, arch, variant);
	}
}

/* One span of more than 4 GiB: the low half of an address does not say enough. */
static void apart(struct fx *f, const char *arch, unsigned variant)
{
	const uint32_t grid[3] = {64, 1, 1};
	const unsigned keep = f->n_spans;
	const size_t size = (size_t)5 << 30;
	uint32_t *const big = mmap(NULL, size, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint64_t args[5];
	bool good = big != MAP_FAILED;

	for (int i = 0; good && i < 64; i++) {
		from[i] = i + (i % 3 ? 1 << 30 : 0);
		big[from[i] + 3] = (uint32_t)i * 3 + 1;
		to[i] = i;
		on[i] = i != 5;
	}
	if (good) {
		args[0] = fx_map(f, big, size);
		args[1] = fx_map(f, out, sizeof(out));
		args[2] = fx_map(f, from, sizeof(from));
		args[3] = fx_map(f, to, sizeof(to));
		args[4] = fx_map(f, on, sizeof(on));
		good = fx_run(f, "global_u32", grid, grid, 0, args, sizeof(args));
		munmap(big, size);
	}
	f->n_spans = keep;
	for (int i = 0; good && i < 64; i++)
		good = i == 5 || word(out, i) == (uint32_t)i * 3 + 1;
	ok(good, "lanes 4 GiB apart on %s, level %u", arch, variant);
}

int main(void)
{
	static const struct {
		const char *arch, *clang;
	} on_arch[] = {{"gfx90a", "clang++-15"}, {"gfx1100", "clang++-19"}};

	for (unsigned a = 0; a < 2; a++)
		for (unsigned v = 0; v < 3; v++) {
			struct fx f;

			isa_set_variant(v);
			if (isa_variant() != v) {
				skip(17, "the machine has no such x86 level");
				continue;
			}
			if (!isa_load(&f, "rows", on_arch[a].arch, on_arch[a].clang, "-O2"))
				continue;
			every(&f, on_arch[a].arch, v);
			apart(&f, on_arch[a].arch, v);
			fx_close(&f);
		}
	return done_testing();
}
