#include "lib/collect/private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
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

static bool arena_open(struct process *p)
{
	char path[4352];
	struct stat st;

	if (p->arena != NULL)
		return true;
	process_path(p, "a", UINT32_MAX, path, sizeof path);
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && st.st_size > HRR_ARENA_HEADER) {
		p->arena = shared_map(fd, (size_t)st.st_size, PROT_READ | PROT_WRITE);
		p->arena_size = (uint64_t)st.st_size - HRR_ARENA_HEADER;
	}
	close(fd);
	return p->arena != NULL;
}

void arena_close(struct process *p)
{
	if (p->arena != NULL)
		shared_unmap(p->arena, HRR_ARENA_HEADER + p->arena_size);
	p->arena = NULL;
}

/* NULL: what the record says cannot be. */
static const unsigned char *arena_data(struct process *p, const struct hrr_bytes *x)
{
	uint64_t at = hrr_arena_offset(x->file);

	if (!arena_open(p) || at > p->arena_size || x->size > p->arena_size - at)
		return NULL;
	return hrr_arena_data(p->arena) + at;
}

void remove_payloads(struct process *p)
{
	char path[4352];

	for (size_t i = 0; i + 8 <= p->payloads.len; i += 8) {
		struct hrr_bytes x = {0};
		memcpy(&x.file, p->payloads.data + i, 8);
		if (hrr_in_arena(x.file)) {
			if (arena_open(p))
				atomic_store_explicit(&p->arena->busy[hrr_arena_slot(x.file)], 0,
						      memory_order_release);
			continue;
		}
		payload_path(p, &x, path, sizeof path);
		unlink(path);
	}
	p->payloads.len = 0;
	p->held = 0;
}

void drop_bytes(struct process *p, const struct hrr_bytes *x)
{
	if (x->file == 0 || x->file == HRR_NO_FILE)
		return;
	hrr_buf_add(&p->payloads, &x->file, 8);
	p->held += hrr_in_arena(x->file) ? x->size : 0;
}

static bool store(struct process *p, const struct hrr_bytes *x, const void *inline_data,
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
	const void *data = hrr_in_arena(x->file) ? arena_data(p, x)
			   : x->file == 0	 ? inline_data
						 : NULL;
	if (data != NULL) {
		struct hrr_id id = hrr_id_of(data, x->size);
		struct hrr_id *slot = seen_slot(c, &id);
		if (slot != NULL && hrr_id_equal(slot, &id)) {
			*ret = id;
			return true;
		}
		if (hrr_blobs_put_as(c->opt.blobs, data, x->size, &id, &diag) < 0) {
			fail_output(c, &diag);
			return false;
		}
		if (slot != NULL)
			*slot = id;
		*ret = id;
		c->bytes += x->size;
		return true;
	}
	payload_path(p, x, path, sizeof path);
	/* It cannot be opened, or has no such place; or the file is none of ours. */
	if (hrr_in_arena(x->file) || access(path, F_OK) < 0) {
		atomic_fetch_add(&p->ctl->lost, 1);
		atomic_fetch_add(&p->ctl->lost_bytes, x->size);
		return false;
	}
	int rc = hrr_blobs_put_file(c->opt.blobs, path, ret, &diag);
	if (rc < 0) {
		fail_output(c, &diag);
		return false;
	}
	c->bytes += x->size;
	return true;
}

bool store_bytes(struct process *p, const struct hrr_bytes *x, const void *inline_data,
		 struct hrr_id *ret)
{
	bool stored = store(p, x, inline_data, ret);

	if (stored)
		compact_stored(p->c, ret);
	return stored;
}

void bytes_forget(struct hrr_collect *c)
{
	free(c->seen);
	c->seen = NULL;
}
