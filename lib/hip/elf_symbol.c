#include "lib/hip/elf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Sets the strings of a table, cut behind the last NUL so that every offset below str_size is
 * ended. */
static void strings(struct hrr_elf_symtab *t, const unsigned char *str, uint64_t n)
{
	const unsigned char *last = n != 0 ? memrchr(str, 0, (size_t)n) : NULL;

	t->str = (const char *)str;
	t->str_size = last != NULL ? (size_t)(last - str) + 1 : 0;
}

/* Symbols a GNU hash table knows of: the end of the chain that starts last. */
static uint64_t gnu_count(const struct hrr_elf *e, uint64_t vaddr)
{
	const unsigned char *h = hrr_elf_at(e, vaddr, 16);

	if (h == NULL)
		return 0;
	uint64_t n_buckets = hrr_le32(h), first = hrr_le32(h + 4);
	uint64_t buckets = vaddr + 16 + (uint64_t)hrr_le32(h + 8) * 8;
	uint64_t chains = buckets + n_buckets * 4, top = 0;
	const unsigned char *b = hrr_elf_at(e, buckets, n_buckets * 4);
	if (b == NULL)
		return 0;
	for (uint64_t i = 0; i < n_buckets; i++)
		if (top < hrr_le32(b + i * 4))
			top = hrr_le32(b + i * 4);
	if (top < first)
		return first;
	for (;; top++) {
		const unsigned char *c = hrr_elf_at(e, chains + (top - first) * 4, 4);
		if (c == NULL)
			return 0;
		if (hrr_le32(c) & 1)
			return top + 1;
	}
}

/* .dynsym of an object without section headers. */
static int from_dynamic(const struct hrr_elf *e, struct hrr_elf_symtab *ret_tab)
{
	struct hrr_elf_dynamic d;
	struct hrr_elf_symtab t;
	uint64_t n = 0;

	if (hrr_elf_dynamic(e, &d) < 0 || d.symtab == 0)
		return -ENOENT;
	const unsigned char *h = d.hash != 0 ? hrr_elf_at(e, d.hash, 8) : NULL;
	if (h != NULL)
		n = hrr_le32(h + 4);
	else if (d.gnu_hash != 0)
		n = gnu_count(e, d.gnu_hash);
	t.n = (size_t)n;
	t.syms = hrr_elf_at(e, d.symtab, n * HRR_ELF_SYM_SIZE);
	const unsigned char *str = hrr_elf_at(e, d.strtab, d.strsz);
	if (t.syms == NULL || str == NULL)
		return -EINVAL;
	strings(&t, str, d.strsz);
	*ret_tab = t;
	return 0;
}

int hrr_elf_symtab(const struct hrr_elf *e, uint32_t type, struct hrr_elf_symtab *ret_tab)
{
	for (uint32_t i = 1; i < e->shnum; i++) {
		struct hrr_elf_shdr s = hrr_elf_shdr(e, i);
		struct hrr_elf_symtab t;

		if (s.type != type)
			continue;
		if (s.link == 0 || s.link >= e->shnum)
			return -EINVAL;
		struct hrr_elf_shdr l = hrr_elf_shdr(e, s.link);
		const unsigned char *str = hrr_elf_bytes(e, l.offset, l.size);
		t.syms = hrr_elf_bytes(e, s.offset, s.size);
		if (t.syms == NULL || str == NULL || l.type == HRR_ELF_SHT_NOBITS)
			return -EINVAL;
		t.n = (size_t)(s.size / HRR_ELF_SYM_SIZE);
		strings(&t, str, l.size);
		*ret_tab = t;
		return 0;
	}
	return type == HRR_ELF_SHT_DYNSYM ? from_dynamic(e, ret_tab) : -ENOENT;
}

static uint64_t hash_name(const char *s, size_t n)
{
	uint64_t h = n * 0x9e3779b97f4a7c15u, w;

	for (; n >= 8; s += 8, n -= 8) {
		memcpy(&w, s, 8);
		h = (h ^ w) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	w = 0;
	memcpy(&w, s, n);
	h = (h ^ w) * 0xc4ceb9fe1a85ec53u;
	return h ^ h >> 29;
}

static int by_hash(const void *va, const void *vb)
{
	const struct hrr_elf_symref *a = va, *b = vb;

	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Whether a symbol is one to find, and its name. */
static bool wanted(const struct hrr_elf *e, const struct hrr_elf_symtab *t, const unsigned char *s,
		   const char **ret_name)
{
	uint32_t name = hrr_le32(s), type = s[4] & 15, section = hrr_le16(s + 6);
	uint64_t value = hrr_le64(s + 8), size = hrr_le64(s + 16);

	/* 0 is undefined; from 0xff00 on are special ones, of which 0xffff is a real section
	 * elsewhere. */
	if (section == 0 || (section >= 0xff00 && section != 0xffff) ||
	    type == HRR_ELF_STT_SECTION || type == HRR_ELF_STT_FILE)
		return false;
	if (name == 0 || name >= t->str_size || value > e->memory || size > e->memory - value)
		return false;
	*ret_name = t->str + name;
	return true;
}

/*
 * Names may share bytes in the file (a suffix of another), but honest tables do
 * that rarely. Adding up what is hashed keeps a small file from making us
 * hash a long name once for each of very many symbols.
 */
static int collect(struct hrr_elf_index *ix, const struct hrr_elf *e,
		   const struct hrr_elf_symtab *t, struct hrr_diag *diag)
{
	uint64_t budget = (uint64_t)t->str_size * 16 + 65536;

	for (size_t i = 0; i < t->n; i++) {
		const unsigned char *s = t->syms + i * HRR_ELF_SYM_SIZE;
		const char *name;

		if (!wanted(e, t, s, &name))
			continue;
		size_t len = strnlen(name, HRR_ELF_MAX_NAME + 1);
		if (len > HRR_ELF_MAX_NAME)
			return hrr_diag_set(diag, -EINVAL,
					    "code object: symbol name of more than %zu bytes",
					    HRR_ELF_MAX_NAME);
		if (len > budget)
			return hrr_diag_set(diag, -EINVAL, "code object: symbol names overlap");
		budget -= len;
		ix->refs[ix->n++] = (struct hrr_elf_symref){hash_name(name, len), name, s};
	}
	return 0;
}

/* Nearly all buckets hold a few; what many can only be made up, and qsort bounds that. */
static void sort(struct hrr_elf_symref *refs, size_t n)
{
	if (n > 8) {
		qsort(refs, n, sizeof *refs, by_hash);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		struct hrr_elf_symref r = refs[i];
		size_t k = i;

		for (; k > 0 && by_hash(&r, &refs[k - 1]) < 0; k--)
			refs[k] = refs[k - 1];
		refs[k] = r;
	}
}

/* Orders refs by bucket, the high bits of the hash, and by hash and name inside each. */
static int arrange(struct hrr_elf_index *ix)
{
	while (ix->bits < 20 && (size_t)1 << ix->bits < ix->n)
		ix->bits++;
	size_t n_buckets = (size_t)1 << ix->bits;
	unsigned shift = 63 - ix->bits;
	struct hrr_elf_symref *sorted = malloc((ix->n + 1) * sizeof *sorted);
	ix->start = calloc(n_buckets + 1, sizeof *ix->start);
	if (sorted == NULL || ix->start == NULL) {
		free(sorted);
		return -ENOMEM;
	}
	/* Counts, then the end of each bucket, which filling from behind makes its start. */
	for (size_t i = 0; i < ix->n; i++)
		ix->start[ix->refs[i].hash >> 1 >> shift]++;
	for (size_t i = 1; i <= n_buckets; i++)
		ix->start[i] += ix->start[i - 1];
	for (size_t i = ix->n; i-- > 0;)
		sorted[--ix->start[ix->refs[i].hash >> 1 >> shift]] = ix->refs[i];
	free(ix->refs);
	ix->refs = sorted;
	for (size_t i = 0; i < n_buckets; i++)
		sort(sorted + ix->start[i], ix->start[i + 1] - ix->start[i]);
	return 0;
}

int hrr_elf_index_init(struct hrr_elf_index *ix, const struct hrr_elf *e,
		       const struct hrr_elf_symtab *tab, struct hrr_diag *diag)
{
	*ix = (struct hrr_elf_index){0};
	if (tab->n > UINT32_MAX / 2)
		return hrr_diag_set(diag, -EINVAL, "code object: too many symbols");
	/* Each symbol takes as much in the file as here. */
	ix->refs = malloc((tab->n + 1) * sizeof *ix->refs);
	int rc = ix->refs != NULL ? collect(ix, e, tab, diag) : -ENOMEM;
	if (rc == 0)
		rc = arrange(ix);
	if (rc < 0)
		hrr_elf_index_release(ix);
	return rc;
}

void hrr_elf_index_release(struct hrr_elf_index *ix)
{
	free(ix->refs);
	free(ix->start);
	*ix = (struct hrr_elf_index){0};
}

const struct hrr_elf_symref *hrr_elf_index_find(const struct hrr_elf_index *ix, const char *name)
{
	size_t len = strlen(name);
	uint64_t hash = hash_name(name, len);

	if (ix->n == 0)
		return NULL;
	size_t bucket = (size_t)(hash >> 1 >> (63 - ix->bits));
	size_t lo = ix->start[bucket], hi = ix->start[bucket + 1], end = hi;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct hrr_elf_symref *r = &ix->refs[mid];

		if (r->hash < hash || (r->hash == hash && strcmp(r->name, name) < 0))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == end || ix->refs[lo].hash != hash || strcmp(ix->refs[lo].name, name) != 0)
		return NULL;
	return &ix->refs[lo];
}
