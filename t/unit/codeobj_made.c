#include "t/unit/tap.h"

#include <errno.h>
#include <time.h>

#include "t/unit/codeobj_build.h"

/* Objects no compiler would write, and bigger ones than fit into fixtures. */

static double ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Metadata of one kernel named k with extra pairs, whose bytes the caller adds. */
static void one_kernel(struct build *b, size_t extra)
{
	mp_map(&b->meta, 1);
	mp_str(&b->meta, "amdhsa.kernels");
	mp_array(&b->meta, 1);
	mp_map(&b->meta, 1 + extra);
	mp_str(&b->meta, ".name");
	mp_str(&b->meta, "k");
}

static int open_and_close(struct build *b, struct hrr_diag *why)
{
	struct bytes f = build_finish(b);
	struct hrr_codeobj co;

	why->what[0] = '\0';
	int rc = hrr_codeobj_open(&co, f.p, f.n, why);
	if (rc == 0)
		hrr_codeobj_close(&co);
	free(f.p);
	return rc;
}

static void refused(struct build *b, const char *reason, const char *what)
{
	struct hrr_diag why;

	is(open_and_close(b, &why), -EINVAL, "%s: refused", what);
	is_str(why.what, reason, "with its reason");
}

static void accepted(struct build *b, const char *what)
{
	struct hrr_diag why;

	if (!is(open_and_close(b, &why), 0, "%s: taken", what))
		diag("%s", why.what);
}

#define M "code object metadata: "

static void metadata(void)
{
	struct build b;

#define BUILD(...)             \
	b = (struct build){0}; \
	__VA_ARGS__
	BUILD(mp_map(&b.meta, 0));
	accepted(&b, "no kernels");
	BUILD(one_kernel(&b, 0));
	accepted(&b, "a kernel with nothing but a name");
	BUILD(mp_array(&b.meta, 0));
	refused(&b, M "not a map", "a list at the top");
	BUILD(hrr_buf_adds(&b.meta, "\xc1"));
	refused(&b, M "not a map", "not MessagePack");
	BUILD(mp_map(&b.meta, 1); mp_str(&b.meta, "x"); mp_array(&b.meta, 1); mp_map(&b.meta, 1));
	refused(&b, M "cut short, too deep or not MessagePack", "a value that is cut");
	BUILD(mp_map(&b.meta, 1); mp_uint(&b.meta, 1); mp_uint(&b.meta, 1));
	refused(&b, M "cut short or not MessagePack", "a key that is a number");
	BUILD(mp_map(&b.meta, 1); mp_str(&b.meta, "amdhsa.kernels"); mp_map(&b.meta, 0));
	refused(&b, M "kernels that are no list, or two lists", "kernels in a map");
	BUILD(one_kernel(&b, 0); b.meta.data[4] = 2; mp_str(&b.meta, "amdhsa.kernels");
	      mp_array(&b.meta, 0));
	refused(&b, M "kernels that are no list, or two lists", "two lists of kernels");
	BUILD(mp_map(&b.meta, 1); mp_str(&b.meta, "amdhsa.kernels"); mp_array(&b.meta, 1);
	      mp_uint(&b.meta, 1));
	refused(&b, M "a kernel is not a map", "a kernel that is a number");
	BUILD(mp_map(&b.meta, 1); mp_str(&b.meta, "amdhsa.kernels"); mp_array(&b.meta, 1);
	      mp_map(&b.meta, 1); mp_pair(&b.meta, ".sgpr_count", 1));
	refused(&b, M "a kernel without a name", "a kernel without a name");
	BUILD(one_kernel(&b, 1); mp_str(&b.meta, ".symbol"); mp_str(&b.meta, ""));
	refused(&b, M "bad value of .symbol", "an empty symbol");
	BUILD(one_kernel(&b, 1); mp_str(&b.meta, ".name"); mp_strn(&b.meta, "a\0b", 3));
	refused(&b, M "bad value of .name", "a name with a NUL");
	BUILD(one_kernel(&b, 1); mp_str(&b.meta, ".vgpr_count"); mp_str(&b.meta, "4"));
	refused(&b, M "bad value of .vgpr_count", "a count that is a string");
	BUILD(one_kernel(&b, 1); mp_pair(&b.meta, ".group_segment_fixed_size", (uint64_t)1 << 32));
	refused(&b, M "bad value of .group_segment_fixed_size", "a size over 32 bits");
	BUILD(one_kernel(&b, 1); mp_str(&b.meta, ".sgpr_count"); put_be(&b.meta, 0xff, 1));
	refused(&b, M "bad value of .sgpr_count", "a count of -1");
	BUILD(one_kernel(&b, 1); mp_pair(&b.meta, ".uses_dynamic_stack", 1));
	refused(&b, M "bad value of .uses_dynamic_stack", "a truth that is a number");
	BUILD(one_kernel(&b, 1); mp_str(&b.meta, ".reqd_workgroup_size"); mp_array(&b.meta, 2);
	      mp_uint(&b.meta, 8); mp_uint(&b.meta, 8));
	refused(&b, M "bad value of .reqd_workgroup_size", "a block in two dimensions");
	BUILD(one_kernel(&b, 1); mp_pair(&b.meta, ".wavefront_size", 16));
	refused(&b, M "wavefront size is neither 32 nor 64", "waves of 16");
	BUILD(one_kernel(&b, 1); mp_pair(&b.meta, ".kernarg_segment_align", 24));
	refused(&b, M "impossible kernel argument alignment", "alignment 24");
	BUILD(one_kernel(&b, 1); mp_pair(&b.meta, ".kernarg_segment_size", (1 << 20) + 1));
	refused(&b, M "kernel argument segment too big", "a segment over a MiB");
	BUILD(one_kernel(&b, 1); mp_str(&b.meta, ".args"); mp_map(&b.meta, 0));
	refused(&b, M "arguments that are no list, or two lists", "arguments in a map");
	BUILD(one_kernel(&b, 2); mp_str(&b.meta, ".args"); mp_array(&b.meta, 0);
	      mp_str(&b.meta, ".args"); mp_array(&b.meta, 0));
	refused(&b, M "arguments that are no list, or two lists", "two lists of arguments");
	BUILD(one_kernel(&b, 1); mp_str(&b.meta, ".args"); mp_array(&b.meta, 1); mp_map(&b.meta, 1);
	      mp_pair(&b.meta, ".size", 4));
	refused(&b, M "an argument cannot be read", "an argument without a place");
	BUILD(one_kernel(&b, 2); mp_pair(&b.meta, ".kernarg_segment_size", 8);
	      mp_str(&b.meta, ".args"); mp_array(&b.meta, 1); mp_arg(&b.meta, 4, 8, "by_value"));
	refused(&b, M "an argument reaches out of the argument segment",
		"an argument past the end");
	BUILD(one_kernel(&b, 2); mp_pair(&b.meta, ".kernarg_segment_size", 8);
	      mp_str(&b.meta, ".args"); mp_array(&b.meta, 1);
	      mp_arg(&b.meta, 0xffffffff, 8, "by_value"));
	refused(&b, M "an argument reaches out of the argument segment", "an argument far out");
	BUILD(one_kernel(&b, 1); mp_str(&b.meta, ".args");
	      mp_array(&b.meta, HRR_CODEOBJ_MAX_ARGS + 1);
	      for (int i = 0; i <= HRR_CODEOBJ_MAX_ARGS; i++) mp_arg(&b.meta, 0, 0, "by_value"));
	refused(&b, M "too many arguments", "4097 arguments");
	BUILD(mp_map(&b.meta, 1); mp_str(&b.meta, "amdhsa.kernels");
	      mp_array(&b.meta, HRR_CODEOBJ_MAX_KERNELS + 1);
	      for (int i = 0; i <= HRR_CODEOBJ_MAX_KERNELS; i++) put_be(&b.meta, 0x80, 1));
	refused(&b, M "too many kernels", "262145 kernels");
#undef BUILD
}

static void arguments(void)
{
	/* Out of order, hidden before explicit, kinds that are passed as bytes. */
	struct build b = {0};
	struct hrr_codeobj co;

	one_kernel(&b, 4);
	mp_pair(&b.meta, ".kernarg_segment_size", 64);
	mp_str(&b.meta, ".reqd_workgroup_size");
	mp_array(&b.meta, 3);
	for (uint64_t i = 4; i <= 16; i *= 2)
		mp_uint(&b.meta, i);
	mp_str(&b.meta, ".something.new");
	mp_array(&b.meta, 1);
	mp_map(&b.meta, 1);
	mp_pair(&b.meta, "a", 1);
	mp_str(&b.meta, ".args");
	mp_array(&b.meta, 6);
	mp_arg(&b.meta, 24, 8, "hidden_none");
	mp_arg(&b.meta, 16, 8, "hidden_global_offset_y");
	mp_arg(&b.meta, 12, 4, "dynamic_shared_pointer");
	mp_arg(&b.meta, 0, 8, "image");
	mp_arg(&b.meta, 8, 4, "by_value");
	mp_arg(&b.meta, 32, 8, "hidden_block_count_xyz");
	struct bytes f = build_finish(&b);
	if (!is(hrr_codeobj_open(&co, f.p, f.n, NULL), 0, "arguments in no order"))
		return;
	const struct hrr_kernel *k = hrr_codeobj_kernel(&co, "k");
	static const struct hrr_arg want[] = {{0, 8, HRR_ARG_OPAQUE, HRR_HIDDEN_NONE},
					      {8, 4, HRR_ARG_VALUE, HRR_HIDDEN_NONE},
					      {12, 4, HRR_ARG_LDS, HRR_HIDDEN_NONE},
					      {16, 8, HRR_ARG_HIDDEN, HRR_HIDDEN_GLOBAL_OFFSET_Y},
					      {24, 8, HRR_ARG_HIDDEN, HRR_HIDDEN_OTHER},
					      {32, 8, HRR_ARG_HIDDEN, HRR_HIDDEN_OTHER}};
	ok(k->n_args == 6 && k->n_explicit == 3, "are counted");
	for (uint32_t i = 0; i < 6 && i < k->n_args; i++)
		ok(k->args[i].offset == want[i].offset && k->args[i].size == want[i].size &&
		       k->args[i].kind == want[i].kind && k->args[i].hidden == want[i].hidden,
		   "and put in order, explicit ones first: %u", i);
	ok(k->reqd_block[0] == 4 && k->reqd_block[1] == 8 && k->reqd_block[2] == 16,
	   "the required block");
	ok(k->kd == 0 && k->descriptor == NULL, "no symbol, no descriptor");
	hrr_codeobj_close(&co);
	free(f.p);
}

/* n kernels with args arguments each, named so that they share a long start and come in no order.
 */
static struct bytes many(size_t n, size_t args, bool no_sections, bool gnu)
{
	struct build b = {.no_sections = no_sections, .gnu = gnu};
	char name[128];
	unsigned char kd[64] = {0};

	mp_map(&b.meta, 1);
	mp_str(&b.meta, "amdhsa.kernels");
	mp_array(&b.meta, n);
	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof name,
			 "_ZN7rocprim6detail12some_kernelILi256ELi8EfEEvPKT_%zuT0_.kd",
			 i * 7919 % n);
		mp_map(&b.meta, 17);
		mp_pair(&b.meta, ".agpr_count", 0);
		mp_str(&b.meta, ".args");
		mp_array(&b.meta, args);
		for (size_t k = 0; k < args; k++) {
			mp_map(&b.meta, 4);
			mp_str(&b.meta, ".address_space");
			mp_str(&b.meta, "global");
			mp_pair(&b.meta, ".offset", k * 8);
			mp_pair(&b.meta, ".size", 8);
			mp_str(&b.meta, ".value_kind");
			mp_str(&b.meta, k < 5 ? "global_buffer" : "hidden_remainder_z");
		}
		mp_pair(&b.meta, ".group_segment_fixed_size", i);
		mp_pair(&b.meta, ".kernarg_segment_align", 8);
		mp_pair(&b.meta, ".kernarg_segment_size", args * 8);
		mp_str(&b.meta, ".language");
		mp_str(&b.meta, "OpenCL C");
		mp_str(&b.meta, ".language_version");
		mp_array(&b.meta, 2);
		put_be(&b.meta, 0x0200, 2);
		mp_pair(&b.meta, ".max_flat_workgroup_size", 256);
		mp_str(&b.meta, ".name");
		mp_strn(&b.meta, name, strlen(name) - 3);
		mp_pair(&b.meta, ".private_segment_fixed_size", 0);
		mp_pair(&b.meta, ".sgpr_count", 10);
		mp_pair(&b.meta, ".sgpr_spill_count", 0);
		mp_str(&b.meta, ".symbol");
		mp_str(&b.meta, name);
		mp_str(&b.meta, ".uses_dynamic_stack");
		put_be(&b.meta, 0xc2, 1);
		mp_pair(&b.meta, ".vgpr_count", 4);
		mp_pair(&b.meta, ".vgpr_spill_count", 0);
		mp_pair(&b.meta, ".wavefront_size", 64);
		build_symbol(&b, name, i * 64, 64);
		name[strlen(name) - 3] = '\0';
		build_symbol(&b, name, i * 64, 64);
		kd[0] = (unsigned char)i;
		hrr_buf_add(&b.body, kd, sizeof kd);
	}
	return build_finish(&b);
}

static void check_many(size_t n, size_t args, bool no_sections, bool gnu, const char *what)
{
	struct bytes f = many(n, args, no_sections, gnu);
	struct hrr_codeobj co;
	struct hrr_diag why = {0};
	size_t good = 0;
	double start = ms();

	if (!is(hrr_codeobj_open(&co, f.p, f.n, &why), 0, "%zu kernels, %s: opens", n, what)) {
		diag("%s", why.what);
		return;
	}
	double opened = ms();
	for (size_t i = 0; i < co.n_kernels; i++) {
		const struct hrr_kernel *k = &co.kernels[i];
		struct hrr_symbol s;
		good += (i == 0 || strcmp(k[-1].name, k->name) < 0) && k->n_args == args &&
			k->kd != 0 && k->descriptor[0] == (k->group_size & 255) &&
			hrr_codeobj_kernel(&co, k->name) == k &&
			hrr_codeobj_symbol(&co, k->name, &s) == 0 && s.value == k->kd;
	}
	is(good, n, "each is found and leads to its own descriptor");
	diag("%zu bytes: opened in %.1f ms, all looked up in %.1f ms", f.n, opened - start,
	     ms() - opened);
	hrr_codeobj_close(&co);
	free(f.p);
}

static void symbols(void)
{
	struct build b = {0};
	struct hrr_codeobj co;
	struct hrr_symbol s;

	/* Two of a name, one outside of the image, one that ends with it. */
	mp_map(&b.meta, 0);
	hrr_buf_adds(&b.body, "12345678");
	build_symbol(&b, "twice", 0, 4);
	build_symbol(&b, "twice", 4, 4);
	build_symbol(&b, "outside", 0, (uint64_t)1 << 40);
	build_symbol(&b, "far", UINT64_MAX - 4096, 4);
	build_symbol(&b, "good", 2, 4);
	struct bytes f = build_finish(&b);
	if (is(hrr_codeobj_open(&co, f.p, f.n, NULL), 0, "odd symbols: opens")) {
		is(hrr_codeobj_symbol(&co, "twice", &s), 0, "one of two is found");
		is(hrr_codeobj_symbol(&co, "outside", &s), -ENOENT, "one too big is not");
		is(hrr_codeobj_symbol(&co, "far", &s), -ENOENT, "one outside is not");
		is(hrr_codeobj_symbol(&co, "good", &s), 0, "a good one is");
		is(s.size, 4, "with its size");
		hrr_codeobj_close(&co);
	}
	free(f.p);

	/* Many symbols that all use one long name would be much work from few bytes. */
	b = (struct build){0};
	mp_map(&b.meta, 0);
	char *name = malloc(60001);
	memset(name, 'n', 60000);
	name[60000] = '\0';
	build_symbol(&b, name, 0, 0);
	char sym[24];
	memcpy(sym, b.syms.data, sizeof sym);
	for (int i = 0; i < 1000; i++)
		hrr_buf_add(&b.syms, sym, sizeof sym);
	refused(&b, "code object: symbol names overlap", "a name used a thousand times");
	free(name);
	b = (struct build){0};
	mp_map(&b.meta, 0);
	name = malloc(70001);
	memset(name, 'n', 70000);
	name[70000] = '\0';
	build_symbol(&b, name, 0, 0);
	refused(&b, "code object: symbol name of more than 65535 bytes", "a name of 70000 bytes");
	free(name);
}

static void versions(void)
{
	for (unsigned char v = 1; v <= 4; v++) {
		struct build b = {.abiversion = v};
		struct hrr_codeobj co;

		mp_map(&b.meta, 0);
		struct bytes f = build_finish(&b);
		is(hrr_codeobj_open(&co, f.p, f.n, NULL), 0, "ABI version %u opens", v);
		is(co.abi, v + 2, "as code object v%u", v + 2);
		/* 0x500: in v3 XNACK on, later any XNACK and any SRAM ECC */
		is_str(co.target,
		       v == 1 ? "amdgcn-amd-amdhsa--gfx90a:xnack+" : "amdgcn-amd-amdhsa--gfx90a",
		       "its target");
		hrr_codeobj_close(&co);
		free(f.p);
	}
	/* A processor newer than our table: the metadata names it. */
	for (int i = 0; i < 2; i++) {
		struct build b = {0};
		struct hrr_codeobj co;
		struct hrr_diag why = {0};

		mp_map(&b.meta, 1);
		mp_str(&b.meta, i == 0 ? "amdhsa.target" : "other");
		mp_str(&b.meta, "amdgcn-amd-amdhsa--gfx9999:sramecc+:xnack-");
		struct bytes f = build_finish(&b);
		f.p[48] = 0xfe;
		int rc = hrr_codeobj_open(&co, f.p, f.n, &why);
		if (i == 0) {
			is(rc, 0, "an unknown processor with a target opens");
			is_str(co.arch, "gfx9999", "its processor");
			is_str(co.target, "amdgcn-amd-amdhsa--gfx9999:sramecc+:xnack-",
			       "its target");
			hrr_codeobj_close(&co);
		} else {
			is(rc, -EINVAL, "an unknown processor without one does not");
			is_str(why.what, "code object: unknown processor 0xfe", "with its reason");
		}
		free(f.p);
	}
}

static void cut_and_flip(void)
{
	struct bytes f = many(3, 7, true, true);
	size_t opened = 0, refused_flips = 0;

	for (size_t n = 0; n < f.n; n++) {
		struct bytes part = bytes_of(f.p, n);
		opened += exercise_object(part.p, n) == 0;
		free(part.p);
	}
	is(opened, 0, "without sections, cut at any byte: refused");
	for (size_t n = 0; n < f.n; n++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			f.p[n] ^= 1U << bit;
			refused_flips += exercise_object(f.p, f.n) < 0;
			f.p[n] ^= 1U << bit;
		}
	}
	ok(refused_flips > 1000, "every bit flipped: %zu of %zu refused", refused_flips, f.n * 8);
	free(f.p);
}

int main(void)
{
	metadata();
	arguments();
	symbols();
	versions();
	check_many(100, 9, true, false, "without sections, counted by the hash table");
	check_many(100, 9, true, true, "without sections, counted by the GNU hash table");
	check_many(10000, 20, false, false, "20 arguments each");
	cut_and_flip();
	return done_testing();
}
