#include "t/unit/tap.h"

#include <errno.h>

#include "lib/hip/elf.h"
#include "t/unit/codeobj_fixture.h"

/* What the fixtures hold, as llvm-readobj and llvm-dwarfdump of LLVM 19 tell. */
#define GFX90A "t/data/codeobj/gfx90a-v4.co"
#define GFX942 "t/data/codeobj/gfx942-v5.co"
#define GFX1100 "t/data/codeobj/gfx1100-v5.co"

static const struct {
	const char *path, *arch, *target;
	unsigned abi, wave;
	uint32_t saxpy_args, saxpy_kernarg;
} fixtures[] = {
    {GFX90A, "gfx90a", "amdgcn-amd-amdhsa--gfx90a:xnack-", 4, 64, 4, 28},
    {GFX942, "gfx942", "amdgcn-amd-amdhsa--gfx942", 5, 64, 17, 288},
    {GFX1100, "gfx1100", "amdgcn-amd-amdhsa--gfx1100", 5, 32, 17, 288},
};

static void arg_is(const struct hrr_kernel *k, uint32_t i, uint32_t offset, uint32_t size,
		   enum hrr_arg_kind kind, enum hrr_hidden hidden)
{
	if (!ok(k != NULL && i < k->n_args, "argument %u is there", i))
		return;
	const struct hrr_arg *a = &k->args[i];
	ok(a->offset == offset && a->size == size && a->kind == kind && a->hidden == hidden,
	   "%s: argument %u is %u bytes at %u, kind %d, hidden %d", k->name, i, size, offset, kind,
	   hidden);
}

static void facts(void)
{
	for (size_t f = 0; f < sizeof fixtures / sizeof *fixtures; f++) {
		struct bytes b = read_file(fixtures[f].path);
		struct hrr_codeobj co;
		struct hrr_diag why = {0};

		if (!is(hrr_codeobj_open(&co, b.p, b.n, &why), 0, "%s opens", fixtures[f].path))
			diag("%s", why.what);
		is_str(co.arch, fixtures[f].arch, "its processor");
		is_str(co.target, fixtures[f].target, "its target");
		is(co.abi, fixtures[f].abi, "its code object version");
		is(co.n_kernels, 4, "it has 4 kernels");
		is(co.image_size, 0x5000, "its image takes 5 pages");
		const struct hrr_kernel *k = hrr_codeobj_kernel(&co, "saxpy");
		ok(hrr_codeobj_kernel(&co, "saxp") == NULL, "no kernel by a part of a name");
		ok(hrr_codeobj_kernel(&co, "") == NULL, "no kernel by an empty name");
		if (ok(k != NULL, "saxpy is found")) {
			is(k->n_args, fixtures[f].saxpy_args, "its arguments");
			is(k->n_explicit, 4, "4 of them explicit");
			is(k->kernarg_size, fixtures[f].saxpy_kernarg, "its argument segment");
			is(k->kernarg_align, 8, "aligned to 8");
			is(k->wave_size, fixtures[f].wave, "its wave size");
			is(k->max_block, 1024, "its largest block");
			is(hrr_le32(k->descriptor + 8), k->kernarg_size,
			   "the descriptor holds the same size");
			ok(memcmp(k->descriptor, b.p, 64) != 0 && k->kd % 64 == 0,
			   "the descriptor is at a place of its own");
		}
		arg_is(k, 0, 0, 4, HRR_ARG_VALUE, HRR_HIDDEN_NONE);
		arg_is(k, 1, 8, 8, HRR_ARG_POINTER, HRR_HIDDEN_NONE);
		arg_is(k, 2, 16, 8, HRR_ARG_POINTER, HRR_HIDDEN_NONE);
		arg_is(k, 3, 24, 4, HRR_ARG_VALUE, HRR_HIDDEN_NONE);
		k = hrr_codeobj_kernel(&co, "lds");
		if (ok(k != NULL, "lds is found")) {
			is(k->group_size, 128, "its LDS");
			is(k->max_block, 256, "its largest block");
			is(hrr_le32(k->descriptor), 128, "the descriptor holds the same LDS");
		}
		arg_is(k, 0, 0, 1, HRR_ARG_VALUE, HRR_HIDDEN_NONE);
		arg_is(k, 1, 2, 2, HRR_ARG_VALUE, HRR_HIDDEN_NONE);
		arg_is(k, 2, 8, 8, HRR_ARG_VALUE, HRR_HIDDEN_NONE);
		arg_is(k, 3, 16, 8, HRR_ARG_POINTER, HRR_HIDDEN_NONE);
		k = hrr_codeobj_kernel(&co, "_Z10pair_scale4pair");
		arg_is(k, 0, 0, 24, HRR_ARG_VALUE, HRR_HIDDEN_NONE);
		hrr_codeobj_close(&co);
		free(b.p);
	}
}

static void hidden_arguments(void)
{
	struct bytes b = read_file(GFX942);
	struct hrr_codeobj co;

	is(hrr_codeobj_open(&co, b.p, b.n, NULL), 0, "v5: opens without a diagnosis too");
	const struct hrr_kernel *k = hrr_codeobj_kernel(&co, "calls");
	is(k->n_args, 20, "v5: 19 hidden arguments behind the one");
	ok(k->dynamic_stack, "v5: calls through a pointer need a stack of unknown depth");
	arg_is(k, 0, 0, 8, HRR_ARG_POINTER, HRR_HIDDEN_NONE);
	arg_is(k, 1, 8, 4, HRR_ARG_HIDDEN, HRR_HIDDEN_BLOCK_COUNT_X);
	arg_is(k, 2, 12, 4, HRR_ARG_HIDDEN, HRR_HIDDEN_BLOCK_COUNT_Y);
	arg_is(k, 3, 16, 4, HRR_ARG_HIDDEN, HRR_HIDDEN_BLOCK_COUNT_Z);
	arg_is(k, 4, 20, 2, HRR_ARG_HIDDEN, HRR_HIDDEN_GROUP_SIZE_X);
	arg_is(k, 9, 30, 2, HRR_ARG_HIDDEN, HRR_HIDDEN_REMAINDER_Z);
	arg_is(k, 10, 48, 8, HRR_ARG_HIDDEN, HRR_HIDDEN_GLOBAL_OFFSET_X);
	arg_is(k, 13, 72, 2, HRR_ARG_HIDDEN, HRR_HIDDEN_GRID_DIMS);
	arg_is(k, 14, 88, 8, HRR_ARG_HIDDEN, HRR_HIDDEN_HOSTCALL_BUFFER);
	arg_is(k, 15, 96, 8, HRR_ARG_HIDDEN, HRR_HIDDEN_MULTIGRID_SYNC_ARG);
	arg_is(k, 16, 104, 8, HRR_ARG_HIDDEN, HRR_HIDDEN_HEAP_V1);
	arg_is(k, 17, 112, 8, HRR_ARG_HIDDEN, HRR_HIDDEN_DEFAULT_QUEUE);
	arg_is(k, 18, 120, 8, HRR_ARG_HIDDEN, HRR_HIDDEN_COMPLETION_ACTION);
	arg_is(k, 19, 208, 8, HRR_ARG_HIDDEN, HRR_HIDDEN_QUEUE_PTR);
	hrr_codeobj_close(&co);
	free(b.p);
}

static void symbols(void)
{
	struct bytes b = read_file(GFX942);
	struct hrr_codeobj co;
	struct hrr_symbol s, untouched = {.name = "x"};

	is(hrr_codeobj_open(&co, b.p, b.n, NULL), 0, "opens");
	is(hrr_codeobj_symbol(&co, "weights", &s), 0, "a variable is found");
	ok(strcmp(s.name, "weights") == 0 && s.size == 16 && s.type == 1, "its size and type");
	is(hrr_codeobj_symbol(&co, "calls", &s), 0, "a function is found");
	is(s.type, 2, "its type");
	is(hrr_codeobj_symbol(&co, "_Z5twicef", &s), 0, "a local function is found");
	ok(s.size == 12 && s.value != 0, "its size");
	s = untouched;
	is(hrr_codeobj_symbol(&co, "weight", &s), -ENOENT, "no symbol by a part of its name");
	is(hrr_codeobj_symbol(&co, "", &s), -ENOENT, "no symbol without a name");
	is_str(s.name, "x", "a result is untouched when there is none");
	hrr_codeobj_close(&co);
	free(b.p);
}

static uint64_t word(const struct hrr_codeobj *co, const unsigned char *image, const char *name,
		     uint64_t at)
{
	struct hrr_symbol s = {0};

	ok(hrr_codeobj_symbol(co, name, &s) == 0 && at + 8 <= s.size, "%s is there", name);
	return hrr_le64(image + s.value + at);
}

static uint64_t place(const struct hrr_codeobj *co, const char *name)
{
	struct hrr_symbol s = {0};

	hrr_codeobj_symbol(co, name, &s);
	return s.value;
}

static void loading(void)
{
	const uint64_t base = 0x7fbe01400000;

	for (size_t f = 0; f < sizeof fixtures / sizeof *fixtures; f++) {
		struct bytes b = read_file(fixtures[f].path);
		struct hrr_codeobj co;

		is(hrr_codeobj_open(&co, b.p, b.n, NULL), 0, "%s opens", fixtures[f].path);
		unsigned char *im = malloc(co.image_size);
		memset(im, 0xee, co.image_size);
		is(hrr_codeobj_load(&co, im, base, NULL), 0, "and loads");
		is(word(&co, im, "functions", 0), base + place(&co, "_Z5twicef"),
		   "a pointer to a function is relocated");
		is(word(&co, im, "functions", 8), base + place(&co, "_Z6thricef"), "another one");
		is(word(&co, im, "where", 0), base + place(&co, "counter") + 12,
		   "a pointer into a variable, with its addend");
		is(hrr_le32(im + place(&co, "counter")), 7, "a variable has its value");
		is(word(&co, im, "table", 56), 0, "one without a value is zero");
		const struct hrr_kernel *k = hrr_codeobj_kernel(&co, "saxpy");
		ok(memcmp(im + k->kd, k->descriptor, 64) == 0, "descriptors are in the image");
		is(k->kd + hrr_le64(k->descriptor + 16), place(&co, "saxpy"),
		   "and lead to the code");
		free(im);
		hrr_codeobj_close(&co);
		free(b.p);
	}
}

/* Overwrites the first relocation of a fixture and loads it. */
static int load_with(uint64_t offset, uint32_t sym, uint32_t type, uint64_t addend, uint64_t base,
		     uint64_t at, uint64_t *ret_word)
{
	struct bytes b = read_file(GFX942);
	struct hrr_elf e;
	struct hrr_elf_shdr s;
	struct hrr_codeobj co;
	struct hrr_diag why = {0};

	if (hrr_elf_open(&e, b.p, b.n, NULL) < 0 || hrr_elf_section(&e, ".rela.dyn", &s) < 0)
		return -ENOENT;
	uint64_t words[3] = {offset, (uint64_t)sym << 32 | type, addend};
	for (int i = 0; i < 24; i++)
		b.p[s.offset + (uint64_t)i] = (unsigned char)(words[i / 8] >> 8 * (i % 8));
	int rc = hrr_codeobj_open(&co, b.p, b.n, &why);
	if (rc == 0) {
		unsigned char *im = malloc(co.image_size);
		rc = hrr_codeobj_load(&co, im, base, &why);
		if (rc == 0)
			*ret_word = hrr_le64(im + at);
		else if (why.what[0] == '\0')
			rc = 1; /* failures have a reason */
		free(im);
		hrr_codeobj_close(&co);
	}
	free(b.p);
	return rc;
}

/* The number in .dynsym of a symbol. */
static uint32_t number(const char *name)
{
	struct bytes b = read_file(GFX942);
	struct hrr_elf e;
	struct hrr_elf_symtab t;
	uint32_t found = 0;

	if (hrr_elf_open(&e, b.p, b.n, NULL) == 0 &&
	    hrr_elf_symtab(&e, HRR_ELF_SHT_DYNSYM, &t) == 0)
		for (uint32_t i = 0; i < t.n; i++)
			if (strcmp(t.str + hrr_le32(t.syms + i * 24), name) == 0)
				found = i;
	free(b.p);
	return found;
}

static void relocations(void)
{
	const uint64_t base = 0x7fbe01400000;
	struct bytes b = read_file(GFX942);
	struct hrr_codeobj co;
	uint64_t v = 0;

	hrr_codeobj_open(&co, b.p, b.n, NULL);
	uint64_t at = place(&co, "table"), s = base + place(&co, "weights");
	uint32_t w = number("weights");
	ok(w != 0, "weights has a number");
	is(load_with(at, w, 3, 5, base, at, &v), 0, "ABS64 loads");
	is(v, s + 5, "ABS64 is S + A");
	is(load_with(at, w, 1, 5, base, at, &v), 0, "ABS32_LO loads");
	is(v, (s + 5) & 0xffffffff, "ABS32_LO is the low half and no more");
	is(load_with(at, w, 2, 5, base, at, &v), 0, "ABS32_HI loads");
	is(v, (s + 5) >> 32, "ABS32_HI is the high half");
	is(load_with(at, w, 6, 5, base, at, &v), -EINVAL, "ABS32 of a far address is refused");
	is(load_with(at, w, 6, 5, 0x10000, at, &v), 0, "ABS32 of a near one loads");
	is(v, s - base + 0x10000 + 5, "ABS32 is S + A");
	is(load_with(at, w, 5, 5, base, at, &v), 0, "REL64 loads");
	is(v, s + 5 - base - at, "REL64 is S + A - P");
	is(load_with(at, w, 4, 5, base, at, &v), 0, "REL32 loads");
	is(v, (s + 5 - base - at) & 0xffffffff, "REL32 is the low half of it");
	is(load_with(at, w, 11, 0, base, at, &v), 0, "REL32_HI loads");
	is(v, (s - base - at) >> 32, "REL32_HI is the high half");
	is(load_with(at, w, 0, 5, base, at, &v), 0, "NONE loads");
	is(v, 0, "NONE does nothing");
	is(load_with(at, 0, 13, 5, base, at, &v), 0, "RELATIVE64 loads");
	is(v, base + 5, "RELATIVE64 is B + A");
	is(load_with(at, w, 12, 5, base, at, &v), -EINVAL, "an unknown type is refused");
	is(load_with(at, 100, 3, 5, base, at, &v), -EINVAL, "so is a symbol out of the table");
	is(load_with(UINT64_MAX - 3, w, 3, 5, base, at, &v), -EINVAL, "so is a place far outside");
	struct hrr_elf e;
	hrr_elf_open(&e, b.p, b.n, NULL);
	is(load_with(e.memory - 8, w, 3, 5, base, at, &v), 0, "the last 8 bytes are fine");
	is(load_with(e.memory - 7, w, 3, 5, base, at, &v), -EINVAL,
	   "one byte farther reaches outside");
	hrr_codeobj_close(&co);
	free(b.p);
}

static void lines(void)
{
	static const struct {
		const char *path, *file;
	} with[] = {{GFX90A, "kernels.hip"}, {GFX1100, "/src/kernels.hip"}};
	char file[64], small[4];
	unsigned line = 99;

	for (size_t i = 0; i < 2; i++) {
		struct bytes b = read_file(with[i].path);
		struct hrr_codeobj co;

		is(hrr_codeobj_open(&co, b.p, b.n, NULL), 0, "%s opens", with[i].path);
		uint64_t at = place(&co, "_Z6thricef");
		is(hrr_codeobj_line(&co, at, file, sizeof file, &line), 0, "a line is found");
		is_str(file, with[i].file, "in the file");
		is(line, 26, "where thrice starts");
		is(hrr_codeobj_line(&co, at + 11, small, sizeof small, &line), 0,
		   "a line inside an instruction, with little room");
		is_str(small, i == 0 ? "ker" : "/sr", "the file is cut");
		is(hrr_codeobj_line(&co, place(&co, "saxpy"), file, sizeof file, &line), 0,
		   "another one");
		is(line, 33, "where saxpy starts");
		line = 99;
		is(hrr_codeobj_line(&co, 0x10, file, sizeof file, &line), -ENOENT,
		   "none outside of code");
		is(line, 99, "and then the result is untouched");
		hrr_codeobj_close(&co);
		free(b.p);
	}
	struct bytes b = read_file(GFX942);
	struct hrr_codeobj co;
	hrr_codeobj_open(&co, b.p, b.n, NULL);
	is(hrr_codeobj_line(&co, place(&co, "saxpy"), file, sizeof file, &line), -ENOENT,
	   "none without line tables");
	hrr_codeobj_close(&co);
	free(b.p);
}

static void damage(void)
{
	for (size_t f = 0; f < sizeof fixtures / sizeof *fixtures; f++) {
		struct bytes b = read_file(fixtures[f].path);
		size_t opened = 0, silent = 0;

		for (size_t n = 0; n < b.n; n++) {
			struct bytes part = bytes_of(b.p, n);
			struct hrr_codeobj co;
			struct hrr_diag why = {0};

			if (hrr_codeobj_open(&co, part.p, n, &why) == 0) {
				hrr_codeobj_close(&co);
				opened++;
			} else if (why.what[0] == '\0') {
				silent++;
			}
			free(part.p);
		}
		is(opened, 0, "%s: cut at any byte it does not open", fixtures[f].path);
		is(silent, 0, "and the reason is told");
		free(b.p);
	}
	/* Some flips are harmless and some not; that nothing crashes or lies is what counts. */
	static const unsigned char flips[] = {0x01, 0x80, 0xff};
	struct bytes b = read_file(GFX1100);
	size_t refused = 0;
	for (size_t n = 0; n < b.n; n++) {
		for (size_t i = 0; i < sizeof flips; i++) {
			b.p[n] ^= flips[i];
			refused += exercise_object(b.p, b.n) < 0;
			b.p[n] ^= flips[i];
		}
	}
	ok(refused > 100 && refused < b.n * 3, "every byte flipped: %zu of %zu refused", refused,
	   b.n * 3);
	is(exercise_object(b.p, b.n), 0, "and unharmed it opens again");
	free(b.p);
}

/* Other files, each refused with its own words. */
static void refusals(void)
{
	static const struct {
		size_t at;
		unsigned char byte;
		const char *what;
	} cases[] = {
	    {0, 'X', "code object: not an ELF file"},
	    {4, 1, "code object: not a 64-bit little-endian ELF file"},
	    {5, 2, "code object: not a 64-bit little-endian ELF file"},
	    {7, 0, "code object: not a shared object for AMD HSA"},
	    {8, 0, "code object: version 2 is not one of 3 to 6"},
	    {8, 9, "code object: version 11 is not one of 3 to 6"},
	    {16, 1, "code object: a relocatable object that was never linked"},
	    {16, 2, "code object: not a shared object for AMD HSA"},
	    {18, 62, "code object: machine 62 is not AMDGPU"},
	    {54, 32, "code object: program headers of 32 bytes, not 56"},
	    {58, 40, "code object: section headers of 40 bytes, not 64"},
	    {39, 1, "code object: program headers outside the file"},
	    {47, 1, "code object: section headers outside the file"},
	    {56, 0, "code object: no segment to load"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct bytes b = read_file(GFX90A);
		struct hrr_codeobj co;
		struct hrr_diag why = {0};

		b.p[cases[i].at] = cases[i].byte;
		is(hrr_codeobj_open(&co, b.p, b.n, &why), -EINVAL, "byte %zu = %u is refused",
		   cases[i].at, cases[i].byte);
		is_str(why.what, cases[i].what, "with its reason");
		ok(co.owned == NULL && co.kernels == NULL, "and leaves nothing behind");
		free(b.p);
	}
}

int main(void)
{
	facts();
	hidden_arguments();
	symbols();
	loading();
	relocations();
	lines();
	refusals();
	damage();
	return done_testing();
}
