#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Loaded by LD_AUDIT beside libhrr-preload.so, for programs that reach HIP
 * where preloading does not: dlsym on the run time's handle, and libraries
 * opened with RTLD_DEEPBIND. Each such binding is given our shim instead. The
 * loader puts us in a namespace of our own, so this uses nothing, not even libc.
 * It acts when a symbol is bound, never when it is called.
 */
#define EXPORT __attribute__((visibility("default")))

EXPORT unsigned int la_version(unsigned int version);
EXPORT unsigned int la_objopen(struct link_map *map, Lmid_t lmid, uintptr_t *cookie);
EXPORT uintptr_t la_symbind64(Elf64_Sym *sym, unsigned int index, uintptr_t *from, uintptr_t *to,
			      unsigned int *flags, const char *name);

enum object { OTHER, SHIMS, RUNTIME };

static struct link_map *shims;

static int same(const char *a, const char *b)
{
	while (*a != '\0' && *a == *b)
		a++, b++;
	return *a == *b;
}

static int starts(const char *s, const char *with)
{
	while (*with != '\0')
		if (*s++ != *with++)
			return 0;
	return 1;
}

static enum object kind_of(const char *path)
{
	const char *name = path;

	for (const char *s = path; *s != '\0'; s++)
		if (*s == '/')
			name = s + 1;
	if (same(name, "libhrr-preload.so"))
		return SHIMS;
	if (starts(name, "libamdhip64.so") || starts(name, "libhiprtc.so") ||
	    starts(name, "libhsa-runtime64.so") || starts(name, "libroctx64.so") ||
	    starts(name, "librocprofiler-sdk-roctx.so"))
		return RUNTIME;
	return OTHER;
}

unsigned int la_version(unsigned int version)
{
	return version < LAV_CURRENT ? version : LAV_CURRENT;
}

unsigned int la_objopen(struct link_map *map, Lmid_t lmid, uintptr_t *cookie)
{
	enum object kind = map->l_name != NULL ? kind_of(map->l_name) : OTHER;

	/* In a namespace of its own it is another run time than ours. */
	*cookie = lmid == LM_ID_BASE ? kind : OTHER;
	if (lmid != LM_ID_BASE)
		return 0;
	if (kind == SHIMS) {
		shims = map;
		return LA_FLG_BINDFROM; /* so that its cookie tells that it is we who ask */
	}
	return kind == RUNTIME ? LA_FLG_BINDTO : LA_FLG_BINDFROM;
}

static uint32_t gnu_hash(const char *s)
{
	uint32_t h = 5381;

	for (; *s != '\0'; s++)
		h = h * 33 + (unsigned char)*s;
	return h;
}

/* The shim of this name, or 0. */
static uintptr_t shim_of(const char *name)
{
	const Elf64_Sym *syms = NULL;
	const char *strings = NULL;
	const uint32_t *table = NULL;

	for (const Elf64_Dyn *d = shims->l_ld; d->d_tag != DT_NULL; d++) {
		uintptr_t p = d->d_un.d_ptr;
		if (p < shims->l_addr)
			p += shims->l_addr; /* not relocated in place by this loader */
		if (d->d_tag == DT_SYMTAB)
			syms = (const Elf64_Sym *)p;
		else if (d->d_tag == DT_STRTAB)
			strings = (const char *)p;
		else if (d->d_tag == DT_GNU_HASH)
			table = (const uint32_t *)p;
	}
	if (syms == NULL || strings == NULL || table == NULL)
		return 0;
	uint32_t n_buckets = table[0], first = table[1], n_bloom = table[2], h = gnu_hash(name);
	const uint32_t *buckets = table + 4 + 2 * n_bloom, *chain = buckets + n_buckets;
	if (n_buckets == 0)
		return 0;
	for (uint32_t i = buckets[h % n_buckets]; i >= first && i != 0; i++) {
		uint32_t have = chain[i - first];
		if ((have | 1) == (h | 1) && syms[i].st_shndx != SHN_UNDEF &&
		    same(strings + syms[i].st_name, name))
			return shims->l_addr + syms[i].st_value;
		if (have & 1)
			break;
	}
	return 0;
}

uintptr_t la_symbind64(Elf64_Sym *sym, unsigned int index, uintptr_t *from, uintptr_t *to,
		       unsigned int *flags, const char *name)
{
	uintptr_t shim = 0;

	(void)index;
	(void)flags;
	/* Our own look-ups want the real one; the run time's calls of itself are not the program's.
	 */
	if (*to == RUNTIME && *from == OTHER && shims != NULL)
		shim = shim_of(name);
	return shim != 0 ? shim : sym->st_value;
}
