#include "lib/collect/private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Ids stored lately, so that the same small bytes again and again are not the same system calls
 * again and again. */
#define SEEN 8192

static struct hrr_id *seen_slot(struct hrr_collect *c, const struct hrr_id *id)
{
	uint32_t h;

	if (c->seen == NULL)
		c->seen = calloc(SEEN, sizeof *c->seen);
	if (c->seen == NULL)
		return NULL;
	memcpy(&h, id->b, sizeof h);
	return &c->seen[h % SEEN];
}

static void payload_path(const struct process *p, const struct hrr_bytes *x, char *path,
			 size_t size)
{
	process_path(p, "f", (uint32_t)(x->file - 1), path, size);
}

void remove_payloads(struct process *p)
{
	char path[4352];

	for (size_t i = 0; i + 8 <= p->payloads.len; i += 8) {
		struct hrr_bytes x = {0};
		memcpy(&x.file, p->payloads.data + i, 8);
		payload_path(p, &x, path, sizeof path);
		unlink(path);
	}
	p->payloads.len = 0;
}

void drop_bytes(struct process *p, const struct hrr_bytes *x)
{
	if (x->file != 0 && x->file != HRR_NO_FILE)
		hrr_buf_add(&p->payloads, &x->file, 8);
}

bool store_bytes(struct process *p, const struct hrr_bytes *x, const void *inline_data,
		 struct hrr_id *ret)
{
	struct hrr_collect *c = p->c;
	struct hrr_diag diag = {0};
	char path[4352];

	if (p->bare)
		return false;
	drop_bytes(p, x);
	if (x->file == HRR_NO_FILE || c->dead_output)
		return false;
	if (x->file == 0) {
		struct hrr_id id = hrr_id_of(inline_data, x->size);
		struct hrr_id *slot = seen_slot(c, &id);
		if (slot != NULL && hrr_id_equal(slot, &id)) {
			*ret = id;
			return true;
		}
		if (hrr_blobs_put(c->opt.blobs, inline_data, x->size, ret, &diag) < 0) {
			fail_output(c, &diag);
			return false;
		}
		if (slot != NULL)
			*slot = *ret;
		c->bytes += x->size;
		return true;
	}
	payload_path(p, x, path, sizeof path);
	int rc = hrr_blobs_put_file(c->opt.blobs, path, ret, &diag);
	if (rc < 0) {
		fail_output(c, &diag);
		return false;
	}
	c->bytes += x->size;
	return true;
}
