#include "lib/hip/bundle_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hip/codeobj.h"
#include "lib/hip/elf.h"

enum { MAX_ID = 4096 };

static bool starts(const unsigned char *p, size_t max, const char *magic, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (i >= max || p[i] != (unsigned char)magic[i])
			return false;
	return true;
}

enum hrr_bundle_kind hrr_bundle_kind(const unsigned char *p, size_t max)
{
	if (starts(p, max, HRR_BUNDLE_MAGIC, sizeof HRR_BUNDLE_MAGIC - 1))
		return HRR_BUNDLE_PLAIN;
	if (starts(p, max, "CCOB", 4))
		return HRR_BUNDLE_COMPRESSED;
	return starts(p, max, "\177ELF", 4) ? HRR_BUNDLE_ELF : HRR_BUNDLE_NONE;
}

static int damaged(struct hrr_diag *diag, const char *why)
{
	return hrr_diag_set(diag, -EINVAL, "offload bundle: %s", why);
}

/*
 * Goes through the entries of the plain bundle at p, adding them to a bundle
 * when there is one, and finds its length. Reads the head and, as far as the
 * head counts, entries; never contents.
 */
static int plain(const unsigned char *p, size_t max, struct hrr_buf *entries, size_t *ret_len,
		 struct hrr_diag *diag)
{
	if (max > UINTPTR_MAX - (uintptr_t)p)
		max = UINTPTR_MAX - (uintptr_t)p;
	if (max < HRR_BUNDLE_HEAD)
		return damaged(diag, "cut short");
	uint64_t n = hrr_le64(p + 24);
	size_t at = HRR_BUNDLE_HEAD, end = HRR_BUNDLE_HEAD;
	if (n > HRR_BUNDLE_MAX_ENTRIES)
		return damaged(diag, "too many entries");
	for (; n > 0; n--) {
		if (max - at < HRR_BUNDLE_ENTRY)
			return damaged(diag, "cut short");
		uint64_t offset = hrr_le64(p + at), size = hrr_le64(p + at + 8);
		uint64_t id_len = hrr_le64(p + at + 16);
		at += HRR_BUNDLE_ENTRY;
		if (id_len > MAX_ID)
			return damaged(diag, "entry name too long");
		if (id_len > max - at)
			return damaged(diag, "cut short");
		if (offset > max || size > max - offset)
			return damaged(diag, "an entry reaches out of the bundle");
		struct hrr_bundle_entry e = {(const char *)p + at, (size_t)id_len, p + offset,
					     (size_t)size};
		if (entries != NULL && hrr_buf_add(entries, &e, sizeof e) < 0)
			return -ENOMEM;
		at += (size_t)id_len;
		if (size != 0 && end < offset + size)
			end = (size_t)(offset + size);
	}
	*ret_len = end > at ? end : at;
	return 0;
}

static int length(const unsigned char *p, size_t max, size_t *ret_len, struct hrr_diag *diag)
{
	switch (hrr_bundle_kind(p, max)) {
	case HRR_BUNDLE_PLAIN:
		return plain(p, max, NULL, ret_len, diag);
	case HRR_BUNDLE_COMPRESSED:
		return hrr_bundle_packed_length(p, max, ret_len, diag);
	case HRR_BUNDLE_ELF:
		return hrr_elf_length(p, max, ret_len, diag);
	case HRR_BUNDLE_NONE:
		break;
	}
	return damaged(diag, "neither an offload bundle nor an ELF file");
}

int hrr_bundle_length(const void *data, size_t max, size_t *ret_len, struct hrr_diag *diag)
{
	return length(data, max, ret_len, diag);
}

/* --- opening -------------------------------------------------------------- */

struct reader {
	struct hrr_buf entries;	 /* struct hrr_bundle_entry[] */
	struct hrr_buf unpacked; /* struct hrr_buf[] */
	size_t room;		 /* bytes that may still be unpacked */
	struct hrr_diag *diag;
};

/* Memory that the bundle owns from now on; NULL when out of memory. */
static struct hrr_buf *own(struct reader *r)
{
	struct hrr_buf empty = {0};

	if (hrr_buf_add(&r->unpacked, &empty, sizeof empty) < 0)
		return NULL;
	return (struct hrr_buf *)(void *)(r->unpacked.data + r->unpacked.len) - 1;
}

static int add_elf(struct reader *r, const unsigned char *p, size_t len)
{
	struct hrr_elf elf;
	char features[32], id[96];
	struct hrr_buf *b;

	int rc = hrr_elf_open(&elf, p, len, r->diag);
	if (rc < 0)
		return rc;
	const char *name = hrr_elf_processor(elf.flags);
	hrr_elf_features(elf.flags, elf.abiversion, features, sizeof features);
	if (name == NULL)
		snprintf(id, sizeof id, "hipv4-amdgcn-amd-amdhsa--unknown-0x%x", elf.flags & 0xff);
	else
		snprintf(id, sizeof id, "hipv4-amdgcn-amd-amdhsa--%s%s", name, features);
	if ((b = own(r)) == NULL || hrr_buf_adds(b, id) < 0)
		return -ENOMEM;
	struct hrr_bundle_entry e = {b->data, b->len, p, len};
	return hrr_buf_add(&r->entries, &e, sizeof e);
}

static int add_packed(struct reader *r, const unsigned char *p, size_t len)
{
	struct hrr_buf *b = own(r);
	size_t inner;

	if (b == NULL)
		return -ENOMEM;
	int rc = hrr_bundle_unpack(p, len, r->room, b, r->diag);
	if (rc < 0)
		return rc;
	r->room -= b->len;
	const unsigned char *q = (const unsigned char *)b->data;
	if (hrr_bundle_kind(q, b->len) != HRR_BUNDLE_PLAIN)
		return damaged(r->diag, "no bundle inside the compressed one");
	return plain(q, b->len, &r->entries, &inner, r->diag);
}

int hrr_bundle_open(struct hrr_bundle *b, const void *data, size_t size, struct hrr_diag *diag)
{
	struct reader r = {.room = HRR_BUNDLE_MAX_UNPACKED, .diag = diag};
	int rc = 0;

	*b = (struct hrr_bundle){0};
	if (size == 0) /* data may be NULL */
		return damaged(diag, "empty");
	const unsigned char *p = data, *end = p + size;
	do {
		size_t len = 0;

		rc = length(p, (size_t)(end - p), &len, diag);
		if (rc < 0)
			break;
		enum hrr_bundle_kind kind = hrr_bundle_kind(p, len);
		if (kind == HRR_BUNDLE_PLAIN)
			rc = plain(p, (size_t)(end - p), &r.entries, &len, diag);
		else if (kind == HRR_BUNDLE_ELF)
			rc = add_elf(&r, p, len);
		else
			rc = add_packed(&r, p, len);
		if (rc == 0 && r.entries.len / sizeof *b->entries > HRR_BUNDLE_MAX_ENTRIES)
			rc = damaged(diag, "too many entries");
		/* Bundles of a fat binary are aligned, with zeros in between. */
		for (p += len; p < end && *p == 0;)
			p++;
		/* What the first container is followed by is no concern of a loader. */
	} while (rc == 0 && hrr_bundle_kind(p, (size_t)(end - p)) != HRR_BUNDLE_NONE);
	b->entries = (struct hrr_bundle_entry *)(void *)r.entries.data;
	b->n_entries = r.entries.len / sizeof *b->entries;
	b->unpacked = (struct hrr_buf *)(void *)r.unpacked.data;
	b->n_unpacked = r.unpacked.len / sizeof *b->unpacked;
	if (rc < 0)
		hrr_bundle_close(b);
	return rc;
}

void hrr_bundle_close(struct hrr_bundle *b)
{
	for (size_t i = 0; i < b->n_unpacked; i++)
		hrr_buf_release(&b->unpacked[i]);
	free(b->unpacked);
	free(b->entries);
	*b = (struct hrr_bundle){0};
}
