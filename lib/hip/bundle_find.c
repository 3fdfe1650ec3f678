#include "lib/hip/bundle_private.h"

#include <errno.h>
#include <string.h>

/* A target like "gfx90a:sramecc+:xnack-": the processor and what it says of each feature. */
struct target {
	const char *name;
	size_t len;
	char xnack, sramecc; /* '+', '-', or 0 when not said */
	bool other;	     /* some feature we do not know */
};

/*
 * Families with one code object for all of their members, in the text of the
 * AMDGPU backend's guide; a member's own code object is preferred.
 */
static const struct {
	const char *generic, *members;
} families[] = {
    {"gfx9-generic", " gfx900 gfx902 gfx904 gfx906 gfx909 gfx90c "},
    {"gfx9-4-generic", " gfx940 gfx941 gfx942 gfx950 "},
    {"gfx10-1-generic", " gfx1010 gfx1011 gfx1012 gfx1013 "},
    {"gfx10-3-generic", " gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036 "},
    {"gfx11-generic", " gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153 "},
    {"gfx12-generic", " gfx1200 gfx1201 "},
};

static struct target parse(const char *s, size_t n)
{
	struct target t = {.name = s};

	while (t.len < n && s[t.len] != ':' && s[t.len] != '\0')
		t.len++;
	for (size_t at = t.len; at < n && s[at] == ':';) {
		const char *f = s + ++at;
		size_t len = 0;
		while (at < n && s[at] != ':' && s[at] != '\0')
			at++, len++;
		char sign = len != 0 ? f[len - 1] : 0;
		if (sign != '+' && sign != '-')
			t.other = true;
		else if (len == 6 && memcmp(f, "xnack", 5) == 0)
			t.xnack = sign;
		else if (len == 8 && memcmp(f, "sramecc", 7) == 0)
			t.sramecc = sign;
		else
			t.other = true;
	}
	return t;
}

/* Where the processor starts in an id: "KIND-TRIPLE--gfx90a:xnack-", or one dash in old ones. */
static int entry_target(const struct hrr_bundle_entry *e, struct target *ret_t)
{
	const char *gfx = e->id_len > 4 ? memmem(e->id, e->id_len, "-gfx", 4) : NULL;

	if (gfx == NULL || memmem(e->id, (size_t)(gfx - e->id), "amdgcn", 6) == NULL)
		return -ENOENT;
	gfx++;
	*ret_t = parse(gfx, e->id_len - (size_t)(gfx - e->id));
	return 0;
}

static bool member(const struct target *generic, const struct target *t)
{
	for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
		if (strlen(families[i].generic) != generic->len ||
		    memcmp(families[i].generic, generic->name, generic->len) != 0)
			continue;
		for (const char *m = families[i].members; m[1] != '\0'; m = strchr(m + 1, ' '))
			if (strncmp(m + 1, t->name, t->len) == 0 && m[1 + t->len] == ' ')
				return true;
	}
	return false;
}

/*
 * A feature of an entry against the same of the device: 0 when they exclude
 * each other, else more for the better fit. usual is what machines have that do not say.
 */
static unsigned feature(char entry, char device, char usual)
{
	if (entry != 0 && device != 0)
		return entry == device ? 3 : 0;
	if (entry == 0)
		return device != 0 ? 2 : 3;
	return entry == usual ? 2 : 1;
}

/* 0 when an entry does not fit. */
static unsigned fit(const struct target *e, const struct target *t)
{
	bool same = e->len == t->len && memcmp(e->name, t->name, t->len) == 0;

	if (e->other || (!same && !member(e, t)))
		return 0;
	unsigned x = feature(e->xnack, t->xnack, '-');
	unsigned s = feature(e->sramecc, t->sramecc, '+');
	return x != 0 && s != 0 ? same * 16U + x * 4 + s : 0;
}

bool hrr_bundle_fits(const struct hrr_bundle_entry *e, const char *arch)
{
	struct target t = parse(arch, strlen(arch)), x;

	return e->size != 0 && entry_target(e, &x) == 0 && fit(&x, &t) != 0;
}

int hrr_bundle_find(const struct hrr_bundle *b, const char *arch,
		    const struct hrr_bundle_entry **ret_entry)
{
	struct target t = parse(arch, strlen(arch)), e;
	unsigned best = 0;

	for (size_t i = 0; i < b->n_entries; i++) {
		if (b->entries[i].size == 0 || entry_target(&b->entries[i], &e) < 0)
			continue;
		unsigned f = fit(&e, &t);
		if (f > best) {
			best = f;
			*ret_entry = &b->entries[i];
		}
	}
	return best != 0 ? 0 : -ENOENT;
}

int hrr_bundle_arch(const struct hrr_bundle_entry *e, char *name, size_t size)
{
	struct target t;

	if (entry_target(e, &t) < 0 || t.len >= size)
		return -ENOENT;
	memcpy(name, t.name, t.len);
	name[t.len] = '\0';
	return 0;
}
