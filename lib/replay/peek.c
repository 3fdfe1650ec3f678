#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/replay/engine.h"
#include "lib/stream/write.h"

/* Looking inside: bytes at recorded addresses, and hashes of what launches could write. */

int hrr_replay_peek(struct hrr_replay *r, uint64_t addr, uint64_t size, void *data,
		    struct hrr_diag *diag)
{
	struct hrr_operand op = {"address", addr, size, -1};
	struct hrr_where w = {0};
	struct hrr_landing *l;
	uint64_t live = 0;
	char buf[32];
	int rc = r->captures == 0 ? hrr_wait_all(r) : 0;

	if (rc == 0 && hrr_ranges_find(r->map, addr) != NULL) {
		rc = hrr_translate(r, &op, HRR_END_DEVICE, &w);
		if (rc == 0 && w.mem->host == 0) {
			int64_t e = HRR_CALL(r, hipMemcpy, HRR_P(data), w.live, size,
					     hipMemcpyDeviceToHost);
			if (e != hipSuccess)
				rc = hrr_fail(r, "reading 0x%llx (%llu bytes): %s",
					      (unsigned long long)addr, (unsigned long long)size,
					      hrr_error_text(e, buf));
		} else if (rc == 0) {
			memcpy(data, (void *)(uintptr_t)(w.mem->host + (w.addr - w.mem->base)),
			       size);
		}
	} else if (rc == 0) {
		rc = hrr_host_place(r, &op, &live, &w.mem);
		l = rc == 0 && live == 0 ? hrr_landing_find(r, addr, size) : NULL;
		if (live != 0)
			memcpy(data, (void *)(uintptr_t)live, size);
		else if (l != NULL)
			memcpy(data, l->data + (addr - l->addr), size);
		else if (rc == 0)
			rc = hrr_fail(r, "address 0x%llx (%llu bytes) is not mapped",
				      (unsigned long long)addr, (unsigned long long)size);
	}
	if (rc < 0)
		hrr_diag_set(diag, rc, "%s", r->diag.what);
	return rc;
}

static int hash_mem(struct hrr_replay *r, struct hrr_event *ev, const struct hrr_mem *m,
		    unsigned char *data, struct hrr_buf *b)
{
	int64_t e = hipSuccess;
	char buf[32];

	if (m->host != 0)
		memcpy(data, (void *)(uintptr_t)m->host, m->size);
	else
		e = HRR_CALL(r, hipMemcpy, HRR_P(data), m->live, m->size, hipMemcpyDeviceToHost);
	if (e != hipSuccess)
		return hrr_fail(r, "reading 0x%llx to hash it: %s", (unsigned long long)m->base,
				hrr_error_text(e, buf));
	struct hrr_write_output o = {.p = -1,
				     .seq = ev->seq,
				     .node = -1,
				     .t = ev->rec->t,
				     .tid = ev->rec->tid,
				     .addr = m->base,
				     .size = m->size};
	if (r->opt.hash_blobs == NULL)
		o.blob = hrr_id_of(data, m->size);
	else if (hrr_blobs_put(r->opt.hash_blobs, data, m->size, &o.blob, &r->diag) < 0)
		return hrr_trouble(r, -EIO, "the bytes of a launch cannot be kept");
	return hrr_write_output(b, &o) < 0 ? hrr_trouble(r, -ENOMEM, "out of memory") : 0;
}

/* The launch's own line, then an output line with the hash of each buffer it could write. */
int hrr_hash_launch(struct hrr_replay *r, struct hrr_event *ev, const struct hrr_launch *l)
{
	struct hrr_buf b = {0};
	int rc = hrr_buf_add(&b, ev->rec->line, ev->rec->len);

	r->v.hashed++;
	r->v.hashes += l->n_mems;

	rc = rc < 0 ? rc : hrr_buf_addc(&b, '\n');
	for (size_t i = 0; rc == 0 && i < l->n_mems; i++) {
		const struct hrr_mem *m = l->mems[i];
		unsigned char *data = malloc(m->size);
		rc = data == NULL ? hrr_trouble(r, -ENOMEM, "out of memory")
				  : hash_mem(r, ev, m, data, &b);
		free(data);
	}
	if (rc == 0 && fwrite(b.data, 1, b.len, r->opt.hashes) != b.len)
		rc = hrr_trouble(r, -EIO, "the hashes cannot be written");
	hrr_buf_release(&b);
	return rc;
}
