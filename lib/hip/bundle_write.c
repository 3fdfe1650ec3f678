#include "lib/hip/bundle_private.h"

#include <errno.h>
#include <string.h>

/* Containers begin, and code objects in them, at pages, as clang puts them. */
#define PAGE 4096
/* Loaders expect an entry for the host first; it is empty. */
static const char host[] = "host-x86_64-unknown-linux--";

static int add_u64(struct hrr_buf *b, uint64_t v)
{
	unsigned char le[8];

	for (unsigned i = 0; i < sizeof le; i++)
		le[i] = (unsigned char)(v >> 8 * i);
	return hrr_buf_add(b, le, sizeof le);
}

static int pad(struct hrr_buf *b)
{
	static const char zeros[PAGE];

	return hrr_buf_add(b, zeros, (PAGE - b->len % PAGE) % PAGE);
}

static int entry(struct hrr_buf *b, uint64_t offset, uint64_t size, const char *id, size_t len)
{
	return add_u64(b, offset) | add_u64(b, size) | add_u64(b, len) | hrr_buf_add(b, id, len);
}

/* Offsets count from the beginning of the container, which is at a page. */
static int add_bundle(struct hrr_buf *b, const struct hrr_bundle_entry *e)
{
	size_t ends = HRR_BUNDLE_HEAD + 2 * HRR_BUNDLE_ENTRY + sizeof host - 1 + e->id_len;
	size_t at = (ends + PAGE - 1) / PAGE * PAGE;
	int bad = pad(b);

	bad |= hrr_buf_adds(b, HRR_BUNDLE_MAGIC) | add_u64(b, 2);
	bad |= entry(b, at, 0, host, sizeof host - 1);
	bad |= entry(b, at, e->size, e->id, e->id_len);
	bad |= pad(b) | hrr_buf_add(b, e->data, e->size);
	return bad != 0 ? -ENOMEM : 0;
}

int hrr_bundle_only(const struct hrr_bundle *b, const char *arch, struct hrr_buf *out)
{
	size_t before = out->len;
	bool any = false;

	for (size_t i = 0; i < b->n_entries; i++) {
		if (!hrr_bundle_fits(&b->entries[i], arch))
			continue;
		any = true;
		if (add_bundle(out, &b->entries[i]) < 0) {
			out->len = before;
			return -ENOMEM;
		}
	}
	return any ? 0 : -ENOENT;
}
