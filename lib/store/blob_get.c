#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/store/blob_private.h"
#include "lib/store/file.h"

/*
 * Blobs are read and not mapped: a store is not trusted, and a file that somebody
 * cuts short or writes to while we look at it would kill us, or be other
 * bytes than those that were hashed.
 */
#define PIECE ((size_t)1 << 20)
/* A larger blob is hashed before memory is taken for it: a name costs nothing, nor does a hole. */
#define CHECK_FIRST ((uint64_t)256 << 20)

int hrr_blobs_size(struct hrr_blobs *s, const struct hrr_id *id, uint64_t *ret_size)
{
	struct stat st;

	if (s->provider != NULL)
		return s->provider->size(s->self, id, ret_size);
	int fd = hrr_blobs_open_file(s, id, &st);
	if (fd < 0)
		return fd == -ENOTDIR || fd == -ELOOP ? -ENOENT : fd;
	close(fd);
	*ret_size = (uint64_t)st.st_size;
	return 0;
}

void hrr_blob_release(struct hrr_blob *b)
{
	free(b->owned);
	*b = (struct hrr_blob){0};
}

static int is_damaged(struct hrr_diag *diag, const struct hrr_id *id, const struct hrr_id *is,
		      uint64_t len)
{
	char text[HRR_ID_TEXT + 1], what[128];

	hrr_id_text(is, text);
	snprintf(what, sizeof what, "is damaged: its %llu bytes hash to %s",
		 (unsigned long long)len, text);
	return hrr_blobs_say(diag, -EBADMSG, id, what);
}

static int got_shorter(struct hrr_diag *diag, const struct hrr_id *id)
{
	return hrr_blobs_say(diag, -EBADMSG, id, "is damaged: it became shorter while it was read");
}

static int open_to_read(struct hrr_blobs *s, const struct hrr_id *id, uint64_t max,
			uint64_t *ret_size, struct hrr_diag *diag)
{
	struct stat st;
	int fd = hrr_blobs_open_file(s, id, &st);

	if (fd == -ENOENT)
		return hrr_blobs_say(diag, -ENOENT, id, "is missing");
	if (fd == -ELOOP || fd == -ENOTDIR)
		return hrr_blobs_say(diag, -EBADMSG, id,
				     "is damaged: a link or folder, not a file");
	if (fd < 0)
		return hrr_blobs_say_errno(diag, fd, id, "cannot be read");
	if ((uint64_t)st.st_size > (max ? max : HRR_BLOB_MAX)) {
		close(fd);
		return hrr_blobs_say(diag, -EFBIG, id, "is larger than it may be here");
	}
	*ret_size = (uint64_t)st.st_size;
	return fd;
}

/* Hashes a file piece by piece; tell is told how far it is. */
static int check_file(int fd, const struct hrr_id *id, uint64_t size, hrr_blobs_tell *tell,
		      void *self, struct hrr_diag *diag)
{
	struct hrr_hasher *h = hrr_hasher_new();
	char *piece = malloc(PIECE);
	uint64_t at = 0;
	int rc = 0;

	if (h == NULL || piece == NULL) {
		rc = hrr_diag_set(diag, -ENOMEM, "out of memory");
		goto out;
	}
	while (at < size) {
		size_t want = size - at < PIECE ? (size_t)(size - at) : PIECE;
		ssize_t n = pread(fd, piece, want, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			rc = n < 0 ? hrr_blobs_say_errno(diag, -errno, id, "cannot be read")
				   : got_shorter(diag, id);
			goto out;
		}
		hrr_hasher_add(h, piece, (size_t)n);
		at += (uint64_t)n;
		if (tell != NULL)
			tell(self, at);
	}
	struct hrr_id is = hrr_hasher_end(h);
	if (!hrr_id_equal(&is, id))
		rc = is_damaged(diag, id, &is, size);
out:
	free(piece);
	hrr_hasher_free(h);
	return rc;
}

int hrr_blobs_check(struct hrr_blobs *s, const struct hrr_id *id, uint64_t *ret_size,
		    hrr_blobs_tell *tell, void *self, struct hrr_diag *diag)
{
	uint64_t size;

	if (s->provider != NULL)
		return s->provider->check(s->self, id, ret_size, diag);
	int fd = open_to_read(s, id, 0, &size, diag);
	if (fd < 0)
		return fd;
	int rc = check_file(fd, id, size, tell, self, diag);
	close(fd);
	if (rc == 0)
		*ret_size = size;
	return rc;
}

/* No blob is read whole that is larger than all of it: holes pack well. */
static uint64_t memory(void)
{
	uint64_t n = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	return n < HRR_BLOB_MAX ? n : HRR_BLOB_MAX;
}

int hrr_blobs_get(struct hrr_blobs *s, const struct hrr_id *id, uint64_t max, struct hrr_blob *ret,
		  struct hrr_diag *diag)
{
	struct hrr_blob b = {0};
	uint64_t size;

	if (max == 0)
		max = memory();
	if (s->provider != NULL)
		return s->provider->get(s->self, id, max, ret, diag);
	int fd = open_to_read(s, id, max, &size, diag), rc = 0;
	if (fd < 0)
		return fd;
	if (size > CHECK_FIRST)
		rc = check_file(fd, id, size, NULL, NULL, diag);
	if (rc < 0)
		goto out;
	b.len = (size_t)size;
	b.owned = malloc(b.len + 1);
	b.data = b.owned;
	if (b.owned == NULL) {
		rc = hrr_diag_set(diag, -ENOMEM, "out of memory");
		goto out;
	}
	rc = hrr_read_exactly(fd, b.owned, b.len);
	if (rc < 0) {
		rc = rc == -ENODATA ? got_shorter(diag, id)
				    : hrr_blobs_say_errno(diag, rc, id, "cannot be read");
		goto out;
	}
	struct hrr_id is = hrr_id_of(b.data, b.len);
	if (!hrr_id_equal(&is, id))
		rc = is_damaged(diag, id, &is, size);
out:
	close(fd);
	if (rc < 0)
		hrr_blob_release(&b);
	else
		*ret = b;
	return rc;
}
