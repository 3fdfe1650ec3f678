#include "t/unit/tap.h"

#include <errno.h>
#include <sys/mman.h>
#include <zlib.h>
#include <zstd.h>

#include "t/unit/codeobj_fixture.h"

#define CCOB "t/data/codeobj/two.ccob" /* what clang 19 writes: version 2, zstd */
#define CCOB3                                                                              \
	"t/data/codeobj/v6.ccob" /* what clang 22 writes: version 3, zstd, code objects v6 \
				  */
#define ELF "t/data/codeobj/gfx90a-v4.co"

/* --- making containers ---------------------------------------------------- */

static void le(struct hrr_buf *b, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++, v >>= 8)
		hrr_buf_addc(b, (char)v);
}

/* A plain bundle of entries with the contents "0", "11", "222" and so on. */
static struct bytes make_plain(const char *const *ids, size_t n)
{
	struct hrr_buf b = {0};
	size_t at = 32, sum = 0;

	for (size_t i = 0; i < n; i++)
		at += 24 + strlen(ids[i]);
	hrr_buf_adds(&b, "__CLANG_OFFLOAD_BUNDLE__");
	le(&b, n, 8);
	for (size_t i = 0; i < n; i++) {
		bool host = strncmp(ids[i], "host", 4) == 0;
		le(&b, at + sum, 8);
		le(&b, host ? 0 : i + 1, 8);
		le(&b, strlen(ids[i]), 8);
		hrr_buf_adds(&b, ids[i]);
		sum += host ? 0 : i + 1;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k <= i && strncmp(ids[i], "host", 4) != 0; k++)
			hrr_buf_addc(&b, (char)('0' + i));
	struct bytes r = bytes_of(b.data, b.len);
	hrr_buf_release(&b);
	return r;
}

enum { WITH_ZLIB, WITH_ZSTD };

/* A compressed bundle of any version; says is the unpacked size in its head. */
static struct bytes make_packed(struct bytes in, unsigned version, unsigned method, uint64_t says)
{
	struct hrr_buf b = {0};
	size_t cap = compressBound(in.n) + ZSTD_compressBound(in.n), n;
	unsigned char *packed = malloc(cap);

	if (method == WITH_ZLIB) {
		uLongf len = cap;
		compress(packed, &len, in.p, in.n);
		n = len;
	} else {
		n = ZSTD_compress(packed, cap, in.p, in.n, 3);
	}
	hrr_buf_adds(&b, "CCOB");
	le(&b, version, 2);
	le(&b, method, 2);
	if (version == 2)
		le(&b, n + 24, 4);
	else if (version >= 3)
		le(&b, n + 32, 8);
	le(&b, says, version >= 3 ? 8 : 4);
	le(&b, 0x1122334455667788, 8);
	hrr_buf_add(&b, packed, n);
	free(packed);
	struct bytes r = bytes_of(b.data, b.len);
	hrr_buf_release(&b);
	return r;
}

/* The plain bundle inside the fixture, as clang-offload-bundler laid it out. */
static struct bytes real_plain(void)
{
	struct bytes c = read_file(CCOB), r = {0};
	struct hrr_bundle b;

	if (hrr_bundle_open(&b, c.p, c.n, NULL) == 0) {
		r = bytes_of(b.unpacked[0].data, b.unpacked[0].len);
		hrr_bundle_close(&b);
	}
	free(c.p);
	return r;
}

/* --- tests ---------------------------------------------------------------- */

static void entry_is(const struct hrr_bundle *b, size_t i, const char *id, const char *data,
		     size_t size)
{
	if (!ok(i < b->n_entries, "entry %zu is there", i))
		return;
	const struct hrr_bundle_entry *e = &b->entries[i];
	ok(e->id_len == strlen(id) && memcmp(e->id, id, e->id_len) == 0, "it is %s", id);
	ok(e->size == size && (data == NULL || memcmp(e->data, data, size) == 0), "with its bytes");
}

static void real_ones(void)
{
	struct bytes c = read_file(CCOB), e = read_file(ELF);
	struct hrr_bundle b;
	struct hrr_diag why = {0};
	char arch[8];
	size_t len;

	if (!is(hrr_bundle_open(&b, c.p, c.n, &why), 0, "a bundle compressed by clang opens"))
		diag("%s", why.what);
	is(b.n_entries, 3, "with 3 entries");
	entry_is(&b, 0, "host-x86_64-unknown-linux--", NULL, 0);
	entry_is(&b, 1, "hipv4-amdgcn-amd-amdhsa--gfx1030", NULL, 9184);
	entry_is(&b, 2, "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+", NULL, 9696);
	is(exercise_object(b.entries[1].data, b.entries[1].size), 0, "a code object inside opens");
	is(exercise_object(b.entries[2].data, b.entries[2].size), 0, "the other one too");
	is(hrr_bundle_arch(&b.entries[0], arch, sizeof arch), -ENOENT, "a host has no processor");
	is(hrr_bundle_arch(&b.entries[1], arch, sizeof arch), 0, "an entry has one");
	is_str(arch, "gfx1030", "which is without features");
	is(hrr_bundle_arch(&b.entries[2], arch, sizeof arch), 0, "the other one too");
	is_str(arch, "gfx90a", "which is without features");
	is(hrr_bundle_arch(&b.entries[2], arch, 6), -ENOENT, "there must be room for all of it");
	hrr_bundle_close(&b);
	ok(b.entries == NULL && b.unpacked == NULL, "closing empties it");

	free(c.p);
	c = read_file(CCOB3);
	is(hrr_bundle_open(&b, c.p, c.n, NULL), 0, "one of a newer clang opens");
	is(b.n_entries, 3, "with 3 entries");
	entry_is(&b, 1, "hipv4-amdgcn-amd-amdhsa--gfx11-generic", NULL, b.entries[1].size);
	entry_is(&b, 2, "hipv4-amdgcn-amd-amdhsa--gfx950", NULL, b.entries[2].size);
	for (size_t i = 1; i < b.n_entries; i++) {
		struct hrr_codeobj co;
		if (!is(hrr_codeobj_open(&co, b.entries[i].data, b.entries[i].size, NULL), 0,
			"entry %zu is a code object", i))
			continue;
		is(co.abi, 6, "of version 6");
		is_str(co.arch, i == 1 ? "gfx11-generic" : "gfx950", "its processor");
		is(co.n_kernels, 4, "it has 4 kernels");
		is(exercise_object(b.entries[i].data, b.entries[i].size), 0, "and all can be read");
		hrr_codeobj_close(&co);
	}
	hrr_bundle_close(&b);

	is(hrr_bundle_length(e.p, e.n, &len, NULL), 0, "a bare ELF has a length");
	is(len, e.n, "which is all of it");
	is(hrr_bundle_open(&b, e.p, e.n, NULL), 0, "a bare ELF opens");
	is(b.n_entries, 1, "as a bundle of one");
	entry_is(&b, 0, "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-", (char *)e.p, e.n);
	hrr_bundle_close(&b);
	free(c.p);
	free(e.p);
}

static void every_form(void)
{
	static const char *const ids[] = {"host-x86_64-unknown-linux-gnu-",
					  "hipv4-amdgcn-amd-amdhsa--gfx906",
					  "hip-amdgcn-amd-amdhsa-gfx908"};
	struct bytes plain = make_plain(ids, 3);

	for (unsigned version = 0; version <= 3; version++) {
		for (unsigned method = 0; method < (version == 0 ? 1 : 2); method++) {
			struct bytes in = version == 0
					      ? bytes_of(plain.p, plain.n)
					      : make_packed(plain, version, method, plain.n);
			struct hrr_bundle b;
			struct hrr_diag why = {0};
			size_t len = 0, opened = 0, silent = 0;

			if (!is(hrr_bundle_open(&b, in.p, in.n, &why), 0,
				"version %u (0: plain), method %u opens", version, method))
				diag("%s", why.what);
			is(b.n_entries, 3, "with 3 entries");
			entry_is(&b, 0, ids[0], "", 0);
			entry_is(&b, 1, ids[1], "11", 2);
			entry_is(&b, 2, ids[2], "222", 3);
			hrr_bundle_close(&b);
			is(hrr_bundle_length(in.p, in.n, &len, NULL), 0, "it has a length");
			is(len, in.n, "which is all of it");
			for (size_t n = 0; n < in.n; n++) {
				struct bytes part = bytes_of(in.p, n);
				why.what[0] = '\0';
				if (hrr_bundle_length(part.p, n, &len, &why) == 0)
					opened++;
				silent += why.what[0] == '\0';
				why.what[0] = '\0';
				if (hrr_bundle_open(&b, part.p, n, &why) == 0) {
					hrr_bundle_close(&b);
					opened++;
				}
				silent += why.what[0] == '\0';
				free(part.p);
			}
			is(opened, 0, "cut at any byte it neither opens nor has a length");
			is(silent, 0, "and the reason is told");
			free(in.p);
		}
	}
	free(plain.p);
}

/* As in a running program: the length is not known and what lies behind may not be read. */
static void at_the_edge(void)
{
	struct bytes plain = real_plain(), elf = read_file(ELF);
	struct bytes in[] = {bytes_of(plain.p, plain.n),
			     bytes_of(elf.p, elf.n),
			     make_packed(plain, 1, WITH_ZLIB, plain.n),
			     make_packed(plain, 1, WITH_ZSTD, plain.n),
			     make_packed(plain, 2, WITH_ZLIB, plain.n),
			     make_packed(plain, 2, WITH_ZSTD, plain.n),
			     make_packed(plain, 3, WITH_ZLIB, plain.n),
			     make_packed(plain, 3, WITH_ZSTD, plain.n)};

	for (size_t i = 0; i < sizeof in / sizeof *in; i++) {
		size_t room = (in[i].n + 4095) & ~(size_t)4095, len = 0;
		unsigned char *m = mmap(NULL, room + 4096, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		struct hrr_diag why = {0};
		if (m == MAP_FAILED || mprotect(m + room, 4096, PROT_NONE) != 0) {
			skip(2, "no memory with a guard page");
			continue;
		}
		unsigned char *p = m + room - in[i].n;
		memcpy(p, in[i].p, in[i].n);
		if (!is(hrr_bundle_length(p, SIZE_MAX, &len, &why), 0,
			"form %zu before a page that may not be read: it has a length", i))
			diag("%s", why.what);
		is(len, in[i].n, "the right one");
		/* A name that starts alike and ends with the page. */
		static const char *const starts[] = {"__CLANG_OFFLOAD", "CCO", "\177EL", ""};
		bool refused = true;
		for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
			unsigned char *q = m + room - strlen(starts[k]) - 1;
			memcpy(q, starts[k], strlen(starts[k]));
			m[room - 1] = '!';
			refused = refused && hrr_bundle_length(q, SIZE_MAX, &len, NULL) == -EINVAL;
		}
		ok(refused, "things that only start like a container are refused");
		munmap(m, room + 4096);
		free(in[i].p);
	}
	free(plain.p);
	free(elf.p);
}

static void one_behind_the_other(void)
{
	static const char *const first[] = {"hipv4-amdgcn-amd-amdhsa--gfx906"};
	static const char *const second[] = {"hipv4-amdgcn-amd-amdhsa--gfx908"};
	struct bytes a = make_plain(first, 1), c = make_plain(second, 1);
	struct bytes packed = make_packed(c, 3, WITH_ZSTD, c.n), elf = read_file(ELF);
	struct hrr_buf all = {0};
	struct hrr_bundle b;
	size_t len;

	hrr_buf_add(&all, a.p, a.n);
	le(&all, 0, 7);
	hrr_buf_add(&all, packed.p, packed.n);
	hrr_buf_add(&all, elf.p, elf.n);
	le(&all, 0, 4096);
	size_t whole = all.len;
	hrr_buf_adds(&all, "something else");

	is(hrr_bundle_length(all.data, all.len, &len, NULL), 0,
	   "of several the first has a length");
	is(len, a.n, "its own");
	for (int i = 0; i < 2; i++) {
		is(hrr_bundle_open(&b, all.data, i == 0 ? whole : all.len, NULL), 0,
		   i == 0 ? "all of them open" : "what else lies behind does not matter");
		is(b.n_entries, 3, "as one");
		entry_is(&b, 0, first[0], "0", 1);
		entry_is(&b, 1, second[0], "0", 1);
		entry_is(&b, 2, "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-", (char *)elf.p, elf.n);
		hrr_bundle_close(&b);
	}
	is(hrr_bundle_open(&b, all.data, a.n + 7 + packed.n - 1, NULL), -EINVAL,
	   "a second one that is damaged is not passed over");
	hrr_buf_release(&all);
	free(a.p);
	free(c.p);
	free(packed.p);
	free(elf.p);
}

static void lies(void)
{
	static const char *const ids[] = {"hipv4-amdgcn-amd-amdhsa--gfx906"};
	static const struct {
		unsigned version, method;
		int64_t more; /* than is true, in the unpacked size of the head */
		const char *what;
	} cases[] = {
	    {2, WITH_ZSTD, 1, "damaged contents"},
	    {2, WITH_ZSTD, -1, "damaged contents"},
	    {2, WITH_ZLIB, 1, "damaged contents"},
	    {2, WITH_ZLIB, -1, "damaged contents"},
	    {2, WITH_ZSTD, 1 << 30, "does not hold what its head says"},
	    {2, WITH_ZLIB, 1 << 30, "does not hold what its head says"},
	    {3, WITH_ZSTD, (int64_t)1 << 40, "unpacks to more than is allowed"},
	    {3, WITH_ZLIB, INT64_MAX - 4096, "unpacks to more than is allowed"},
	    {1, WITH_ZSTD, 1, "damaged contents"},
	    {1, WITH_ZLIB, 1, "cut short or damaged"},
	    {1, WITH_ZLIB, -1, "cut short or damaged"},
	};
	struct bytes plain = make_plain(ids, 1);
	struct hrr_bundle b;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct bytes in = make_packed(plain, cases[i].version, cases[i].method,
					      plain.n + (uint64_t)cases[i].more);
		struct hrr_diag why = {0};
		char want[128];

		snprintf(want, sizeof want, "compressed offload bundle: %s", cases[i].what);
		is(hrr_bundle_open(&b, in.p, in.n, &why), -EINVAL,
		   "version %u, method %u, %lld more than there is: refused", cases[i].version,
		   cases[i].method, (long long)cases[i].more);
		is_str(why.what, want, "with its reason");
		ok(b.entries == NULL && b.n_entries == 0, "and leaves nothing behind");
		free(in.p);
	}
	static const struct {
		size_t at;
		unsigned char byte;
		const char *what;
	} heads[] = {
	    {4, 0, "compressed offload bundle: version 0 is not one of 1 to 3"},
	    {4, 4, "compressed offload bundle: version 4 is not one of 1 to 3"},
	    {6, 2, "compressed offload bundle: unknown compression method 2"},
	    {8, 31, "compressed offload bundle: impossible file size"},
	    {15, 1, "compressed offload bundle: cut short"},
	    {24, 0, "offload bundle: no bundle inside the compressed one"},
	};
	struct bytes text = bytes_of("not a bundle, but long enough to be one for all we know", 55);
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
		struct bytes in = make_packed(heads[i].at == 24 ? text : plain, 3, WITH_ZSTD,
					      heads[i].at == 24 ? text.n : plain.n);
		struct hrr_diag why = {0};

		in.p[heads[i].at] = heads[i].byte;
		is(hrr_bundle_open(&b, in.p, in.n, &why), -EINVAL, "byte %zu = %u is refused",
		   heads[i].at, heads[i].byte);
		is_str(why.what, heads[i].what, "with its reason");
		free(in.p);
	}
	/* In a plain one: the count, an offset, a size and an id length, each far too big. */
	static const char *const reasons[] = {"offload bundle: too many entries",
					      "offload bundle: an entry reaches out of the bundle",
					      "offload bundle: an entry reaches out of the bundle",
					      "offload bundle: entry name too long"};
	for (size_t i = 0; i < 4; i++) {
		struct bytes in = bytes_of(plain.p, plain.n);
		struct hrr_diag why = {0};

		memset(in.p + 24 + i * 8, 0xff, 8);
		is(hrr_bundle_open(&b, in.p, in.n, &why), -EINVAL,
		   "word %zu of all ones is refused", i);
		is_str(why.what, reasons[i], "with its reason");
		free(in.p);
	}
	free(text.p);
	free(plain.p);
}

static void empty(void)
{
	struct bytes nothing = bytes_of("", 0);
	struct hrr_diag why = {0};
	struct hrr_bundle b;
	size_t len;

	is(hrr_bundle_open(&b, NULL, 0, &why), -EINVAL, "no bytes are refused");
	is_str(why.what, "offload bundle: empty", "with the reason");
	is(hrr_bundle_length(nothing.p, 0, &len, NULL), -EINVAL, "and have no length");
	for (unsigned method = 0; method < 2; method++) {
		struct bytes in = make_packed(nothing, 2, method, 0);
		is(hrr_bundle_open(&b, in.p, in.n, &why), -EINVAL, "nothing compressed is refused");
		is_str(why.what, "compressed offload bundle: holds nothing", "with the reason");
		free(in.p);
	}
	struct bytes in = make_plain(NULL, 0);
	is(hrr_bundle_open(&b, in.p, in.n, NULL), 0, "a bundle of no entries opens");
	is(b.n_entries, 0, "with none");
	hrr_bundle_close(&b);
	free(in.p);
	free(nothing.p);
}

static void flips(void)
{
	struct bytes c = read_file(CCOB), plain = real_plain();
	size_t refused = 0, head = 256;

	for (size_t n = 0; n < c.n; n++) {
		c.p[n] ^= 0xff;
		refused += exercise_bundle(c.p, c.n) < 0;
		c.p[n] ^= 0xff;
	}
	/* clang has zstd write no checksum: many flips end up in the code. */
	ok(refused > 100, "of a compressed one every byte flipped: %zu of %zu refused", refused,
	   c.n);
	refused = 0;
	for (size_t n = 0; n < head; n++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			plain.p[n] ^= 1U << bit;
			refused += exercise_bundle(plain.p, plain.n) < 0;
			plain.p[n] ^= 1U << bit;
		}
	}
	ok(refused > 24 * 8, "of a plain head every bit flipped: %zu of %zu refused", refused,
	   head * 8);
	free(c.p);
	free(plain.p);
}

static void find(void)
{
#define T "hipv4-amdgcn-amd-amdhsa--"
	static const struct {
		const char *ids[5], *arch, *want; /* want NULL: none fits */
	} cases[] = {
	    {{T "gfx906", T "gfx90a"}, "gfx90a", T "gfx90a"},
	    {{T "gfx906", T "gfx90a"}, "gfx908", NULL},
	    {{T "gfx90a"}, "gfx90", NULL},
	    {{T "gfx90"}, "gfx90a", NULL},
	    {{T "gfx90a"}, "", NULL},
	    {{T "gfx90a"}, "gfx90a:sramecc+:xnack-", T "gfx90a"},
	    {{T "gfx90a:xnack+", T "gfx90a:xnack-"}, "gfx90a:sramecc+:xnack-", T "gfx90a:xnack-"},
	    {{T "gfx90a:xnack+", T "gfx90a:xnack-"}, "gfx90a:xnack+", T "gfx90a:xnack+"},
	    {{T "gfx90a:xnack+", T "gfx90a:xnack-"}, "gfx90a", T "gfx90a:xnack-"},
	    {{T "gfx90a:xnack+"}, "gfx90a", T "gfx90a:xnack+"},
	    {{T "gfx90a:xnack+"}, "gfx90a:xnack-", NULL},
	    {{T "gfx90a:xnack-", T "gfx90a"}, "gfx90a", T "gfx90a"},
	    {{T "gfx90a", T "gfx90a:xnack-"}, "gfx90a:xnack-", T "gfx90a:xnack-"},
	    {{T "gfx90a:sramecc-", T "gfx90a:sramecc+"}, "gfx90a", T "gfx90a:sramecc+"},
	    {{T "gfx90a:sramecc-"}, "gfx90a:sramecc+:xnack-", NULL},
	    {{T "gfx90a:sramecc+:xnack+", T "gfx90a:sramecc+:xnack-"},
	     "gfx90a:sramecc+:xnack-",
	     T "gfx90a:sramecc+:xnack-"},
	    {{T "gfx90a:new+"}, "gfx90a", NULL},
	    {{"hip-amdgcn-amd-amdhsa-gfx906"}, "gfx906", "hip-amdgcn-amd-amdhsa-gfx906"},
	    {{"hipv4-amdgcn-amd-amdhsa-unknown-gfx942"},
	     "gfx942",
	     "hipv4-amdgcn-amd-amdhsa-unknown-gfx942"},
	    {{"host-x86_64-unknown-linux-gnu-gfx906"}, "gfx906", NULL},
	    {{"hip-spirv64-amd-amdhsa-unknown-amdgcnspirv"}, "gfx906", NULL},
	    {{T "gfx11-generic", T "gfx1100"}, "gfx1100", T "gfx1100"},
	    {{T "gfx11-generic", T "gfx1100"}, "gfx1101", T "gfx11-generic"},
	    {{T "gfx9-generic", T "gfx9-4-generic"}, "gfx942", T "gfx9-4-generic"},
	    {{T "gfx9-generic"}, "gfx90a", NULL},
	    {{T "gfx9-4-generic:xnack+"}, "gfx942:xnack-", NULL},
	    {{T "gfx10-3-generic"}, "gfx103", NULL},
	    {{T}, "gfx906", NULL},
	};
#undef T

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct hrr_bundle_entry *e = NULL;
		struct hrr_bundle b;
		size_t n = 0;

		while (n < 5 && cases[i].ids[n] != NULL)
			n++;
		struct bytes in = make_plain(cases[i].ids, n);
		is(hrr_bundle_open(&b, in.p, in.n, NULL), 0, "opens");
		int rc = hrr_bundle_find(&b, cases[i].arch, &e);
		if (cases[i].want == NULL)
			ok(rc == -ENOENT && e == NULL, "none of %s ... fits %s", cases[i].ids[0],
			   cases[i].arch);
		else
			ok(rc == 0 && e->id_len == strlen(cases[i].want) &&
			       memcmp(e->id, cases[i].want, e->id_len) == 0,
			   "%s fits %s", cases[i].want, cases[i].arch);
		hrr_bundle_close(&b);
		free(in.p);
	}
}

/* The source of the fixtures through the compilers that are here. */
static void compilers(void)
{
#define SOURCE "t/data/codeobj/kernels.hip"
#define BUNDLER "/usr/lib/llvm-19/bin/clang-offload-bundler" /* of clang-tools-19 */
	static const struct {
		const char *name, *command; /* the file to write is put behind */
		const char *tool;	    /* that has to be here */
		size_t entries;
		const char *arch;
	} cases[] = {
	    {"hipcc", "hipcc --genco --offload-arch=gfx90a " SOURCE " -o", "hipcc", 2, "gfx90a"},
	    {"clang-15",
	     "clang-15 -x hip --cuda-device-only --gpu-bundle-output -nogpulib -nogpuinc "
	     "--offload-arch=gfx90a --offload-arch=gfx1100 -g " SOURCE " -o",
	     "clang-15", 3, "gfx1100"},
	    {"clang-19",
	     "clang-19 -x hip --cuda-device-only --gpu-bundle-output -nogpulib -nogpuinc "
	     "--offload-compress --offload-arch=gfx942 --offload-arch=gfx1100 -g " SOURCE " -o",
	     BUNDLER, 3, "gfx1100"},
	};
	char dir[] = "/tmp/hrr-bundle-XXXXXX", file[64], command[512];
	const char *env = getenv("HRR_T_STRICT");
	bool strict = env != NULL && strcmp(env, "1") == 0;

	if (mkdtemp(dir) == NULL) {
		skip(1, "no folder in /tmp");
		return;
	}
	snprintf(file, sizeof file, "%s/out", dir);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct hrr_bundle b;
		struct hrr_codeobj co;
		const struct hrr_bundle_entry *e;

		/* Recorded programs may be run with a sanitizer loaded first; compilers not. */
		snprintf(command, sizeof command, "unset LD_PRELOAD; %s %s >/dev/null 2>&1",
			 cases[i].command, file);
		if (system(command) != 0) {
			/* What is here, or `make deps` installs, compiles. */
			snprintf(command, sizeof command, "command -v %s >/dev/null",
				 cases[i].tool);
			if ((strict && strcmp(cases[i].tool, BUNDLER) != 0) || system(command) == 0)
				ok(false, "%s compiles for %s", cases[i].name, cases[i].arch);
			else
				skip(1, cases[i].tool);
			continue;
		}
		struct bytes in = read_file(file);
		if (is(hrr_bundle_open(&b, in.p, in.n, NULL), 0, "what %s writes opens",
		       cases[i].name)) {
			is(b.n_entries, cases[i].entries, "with its entries");
			is(hrr_bundle_find(&b, cases[i].arch, &e), 0, "%s is found", cases[i].arch);
			is(hrr_codeobj_open(&co, e->data, e->size, NULL), 0, "and opens");
			is(co.n_kernels, 4, "with 4 kernels");
			is(exercise_object(e->data, e->size), 0, "that can be read");
			hrr_codeobj_close(&co);
			hrr_bundle_close(&b);
		}
		free(in.p);
		remove(file);
	}
	remove(dir);
}

/* A container of what fits one arch. */
static void only(void)
{
	static const char *const ids[] = {
	    "host-x86_64-unknown-linux--", "hipv4-amdgcn-amd-amdhsa--gfx906",
	    "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-", "hipv4-amdgcn-amd-amdhsa--gfx908",
	    "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+"};
	struct bytes in = make_plain(ids, 5);
	struct hrr_buf out = {0};
	struct hrr_bundle b, few;

	is(hrr_bundle_open(&b, in.p, in.n, NULL), 0, "five entries");
	hrr_buf_adds(&out, "x");
	is(hrr_bundle_only(&b, "gfx1100", &out), -ENOENT, "nothing fits gfx1100");
	is(out.len, 1, "and nothing is added");
	out.len = 0;
	is(hrr_bundle_only(&b, "gfx90a", &out), 0, "two fit gfx90a");
	is(hrr_bundle_open(&few, out.data, out.len, NULL), 0, "what is made of them opens");
	is(few.n_entries, 4, "each behind an empty entry for the host");
	is(few.entries[0].size + few.entries[2].size, 0, "that holds nothing");
	entry_is(&few, 1, ids[2], "222", 3);
	entry_is(&few, 3, ids[4], "44444", 5);
	for (size_t i = 1; i < few.n_entries; i += 2)
		is((size_t)(few.entries[i].data - (unsigned char *)out.data) % 4096, 0,
		   "at a page");
	hrr_bundle_close(&few);
	out.len = 0;
	is(hrr_bundle_only(&b, "gfx90a:sramecc+:xnack-", &out), 0, "one fits a device whole");
	is(hrr_bundle_open(&few, out.data, out.len, NULL), 0, "and opens");
	is(few.n_entries, 2, "alone");
	entry_is(&few, 1, ids[2], "222", 3);
	hrr_bundle_close(&few);
	hrr_bundle_close(&b);
	hrr_buf_release(&out);
	free(in.p);
}

int main(void)
{
	real_ones();
	every_form();
	at_the_edge();
	one_behind_the_other();
	lies();
	empty();
	flips();
	find();
	only();
	compilers();
	return done_testing();
}
