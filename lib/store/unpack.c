#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <zstd.h>

#include "lib/base/id.h"
#include "lib/store/blob.h"
#include "lib/store/file.h"
#include "lib/store/pack.h"
#include "lib/store/tar.h"

#define PIECE ((size_t)1 << 18)
#define MAX_DEPTH 4
#define MAX_REMARK ((uint64_t)1 << 20) /* bytes of what is skipped */
/* Left on the file system, or a sixteenth of it: little packs hold much. */
#define MIN_FREE ((uint64_t)256 << 20)

struct unpacker {
	int fd, dir;
	ZSTD_DStream *zstd;
	char *in, *piece;
	ZSTD_inBuffer buffer;
	struct hrr_hasher *hasher;
	bool plain; /* not compressed */
};

/* More of the file behind what is in the buffer already: bytes read, 0 at its end. */
static ssize_t fill(struct unpacker *u, struct hrr_diag *diag)
{
	ssize_t n;

	if (u->buffer.pos == u->buffer.size)
		u->buffer = (ZSTD_inBuffer){u->in, 0, 0};
	do
		n = read(u->fd, u->in + u->buffer.size, PIECE - u->buffer.size);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return hrr_diag_set(diag, -errno, "cannot read: %s", strerror(errno));
	u->buffer.size += (size_t)n;
	return n;
}

/* A tar that is not compressed is told by its first header. */
static int look(struct unpacker *u, struct hrr_diag *diag)
{
	char name[256];
	uint64_t size;
	ssize_t n = 1;

	while (n > 0 && u->buffer.size < sizeof(struct hrr_tar_header))
		if ((n = fill(u, diag)) < 0)
			return (int)n;
	u->plain = u->buffer.size >= sizeof(struct hrr_tar_header) &&
		   hrr_tar_read((const void *)u->in, name, &size) == 0;
	return 0;
}

/* What is in the buffer, decoded. diag where it cannot be. */
static int decode(struct unpacker *u, ZSTD_outBuffer *out, struct hrr_diag *diag)
{
	if (u->plain) {
		size_t have = u->buffer.size - u->buffer.pos, room = out->size - out->pos,
		       n = have < room ? have : room;

		memcpy((char *)out->dst + out->pos, u->in + u->buffer.pos, n);
		u->buffer.pos += n;
		out->pos += n;
		return 0;
	}
	size_t rc = ZSTD_decompressStream(u->zstd, out, &u->buffer);
	return ZSTD_isError(rc) ? hrr_diag_set(diag, -EBADMSG, "not a pack, or damaged: %s",
					       ZSTD_getErrorName(rc))
				: 0;
}

/* Exactly len bytes. -EBADMSG: the file ends before. */
static int get(struct unpacker *u, void *data, size_t len, struct hrr_diag *diag)
{
	ZSTD_outBuffer out = {data, len, 0};

	while (out.pos < out.size) {
		size_t before = out.pos;
		ssize_t n = 1;
		if (u->buffer.pos == u->buffer.size && (n = fill(u, diag)) < 0)
			return (int)n;
		int rc = decode(u, &out, diag);
		if (n == 0 && out.pos == before) /* nor was anything left in the decoder */
			return hrr_diag_set(diag, -EBADMSG,
					    "cut short: the pack ends in the middle");
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Path below the top folder, or NULL when it is not one of ours. */
static const char *safe_path(const char *name)
{
	int depth = 0;

	while (name[0] == '.' && name[1] == '/')
		name += 2;
	const char *path = strchr(name, '/');
	if (path == NULL || path == name || strncmp(name, "../", 3) == 0)
		return NULL;
	path++;
	for (const char *s = path;;) {
		size_t n = strcspn(s, "/");
		if (n == 0 || s[0] == '.' || ++depth > MAX_DEPTH)
			return NULL;
		for (size_t i = 0; i < n; i++)
			if ((unsigned char)s[i] < 0x21 || s[i] == 0x7f)
				return NULL;
		if (s[n] == '\0')
			return path;
		s += n + 1;
	}
}

/* Opens the folder of path below u->dir, making it; *ret_name is the last component. */
static int make_folders(struct unpacker *u, const char *path, const char **ret_name)
{
	int at = fcntl(u->dir, F_DUPFD_CLOEXEC, 3);

	for (const char *slash; at >= 0 && (slash = strchr(path, '/')) != NULL; path = slash + 1) {
		char part[256];
		size_t n = (size_t)(slash - path);
		memcpy(part, path, n); /* names have at most 255 bytes */
		part[n] = '\0';
		if (mkdirat(at, part, 0700) < 0 && errno != EEXIST) {
			int err = errno;
			close(at);
			return -err;
		}
		int next = openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		int err = errno;
		close(at);
		errno = err;
		at = next;
	}
	*ret_name = path;
	return at < 0 ? -errno : at;
}

/* The id a blob's path names. */
static bool blob_path(const char *path, struct hrr_id *ret)
{
	char text[HRR_ID_TEXT + 1] = "xxh128:";

	if (strncmp(path, "blobs/", 6) != 0 || strlen(path) != 6 + 3 + HRR_ID_HEX ||
	    path[8] != '/' || memcmp(path + 6, path + 9, 2) != 0)
		return false;
	memcpy(text + 7, path + 9, HRR_ID_HEX + 1);
	return hrr_id_parse(text, HRR_ID_TEXT, ret) == 0;
}

/* A file of this size goes in, and the file system is not full then. */
static int room_for(struct unpacker *u, const char *path, uint64_t size, struct hrr_diag *diag)
{
	struct statvfs fs;

	if (fstatvfs(u->dir, &fs) < 0)
		return 0;
	uint64_t avail = (uint64_t)fs.f_bavail * fs.f_frsize,
		 keep = (uint64_t)fs.f_blocks * fs.f_frsize / 16;
	keep = keep < MIN_FREE ? keep : MIN_FREE;
	if (avail >= keep && size <= avail - keep)
		return 0;
	return hrr_diag_set(diag, -ENOSPC, "cannot make %s: %llu bytes, but %llu are free", path,
			    (unsigned long long)size, (unsigned long long)avail);
}

static int unpack_file(struct unpacker *u, const char *path, uint64_t size, struct hrr_diag *diag)
{
	struct hrr_id want;
	bool blob = blob_path(path, &want);
	const char *name = path;
	uint64_t left = size;
	int rc = room_for(u, path, size, diag);

	if (rc < 0)
		return rc;
	int fd, folder = make_folders(u, path, &name);
	if (folder < 0)
		return hrr_diag_set(diag, folder, "cannot make %s: %s", path, strerror(-folder));
	fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    blob ? 0400 : 0600);
	rc = fd < 0 ? -errno : 0;
	close(folder);
	if (rc < 0)
		return hrr_diag_set(diag, rc, "cannot make %s: %s", path,
				    rc == -EEXIST ? "it is in the pack twice" : strerror(-rc));
	while (rc == 0 && left > 0) {
		size_t n = left < PIECE ? (size_t)left : PIECE;
		rc = get(u, u->piece, n, diag);
		if (rc < 0)
			break;
		if (blob)
			hrr_hasher_add(u->hasher, u->piece, n);
		rc = hrr_write_all(fd, u->piece, n);
		if (rc < 0)
			hrr_diag_set(diag, rc, "cannot write %s: %s", path, strerror(-rc));
		left -= n;
	}
	if (close(fd) < 0 && rc == 0)
		rc = hrr_diag_set(diag, -errno, "cannot write %s: %s", path, strerror(errno));
	if (rc == 0 && blob) {
		struct hrr_id is = hrr_hasher_end(u->hasher);
		if (!hrr_id_equal(&is, &want))
			rc = hrr_diag_set(diag, -EBADMSG,
					  "%s is damaged: its bytes hash to another name", path);
	}
	if (rc == 0 && size % HRR_TAR_BLOCK != 0)
		rc = get(u, u->piece, (size_t)(HRR_TAR_BLOCK - size % HRR_TAR_BLOCK), diag);
	return rc;
}

static int skip(struct unpacker *u, uint64_t size, struct hrr_diag *diag)
{
	uint64_t left = (size + HRR_TAR_BLOCK - 1) / HRR_TAR_BLOCK * HRR_TAR_BLOCK;
	int rc = 0;

	for (; rc == 0 && left > 0; left -= left < PIECE ? left : PIECE)
		rc = get(u, u->piece, left < PIECE ? (size_t)left : PIECE, diag);
	return rc;
}

static int unpack_all(struct unpacker *u, const struct hrr_pack_progress *progress,
		      struct hrr_diag *diag)
{
	static const struct hrr_tar_header none;
	struct hrr_tar_header h;
	char name[256];
	uint64_t size, files = 0;

	for (;;) {
		int rc = get(u, &h, sizeof h, diag);
		if (rc < 0)
			return rc;
		if (memcmp(&h, &none, sizeof h) == 0)
			break;
		if (hrr_tar_read(&h, name, &size) < 0)
			return hrr_diag_set(diag, -EBADMSG,
					    "not a pack, or damaged: no tar header");
		if (size > HRR_BLOB_MAX)
			return hrr_diag_set(diag, -EFBIG, "%s: more than 2^40 bytes", name);
		if (h.type == '5')
			continue; /* folders come with their files */
		if ((h.type == 'x' || h.type == 'g') && size <= MAX_REMARK) {
			rc = skip(u, size, diag);
			if (rc < 0)
				return rc;
			continue;
		}
		const char *path = safe_path(name);
		if ((h.type != '0' && h.type != '\0') || path == NULL)
			return hrr_diag_set(diag, -EINVAL,
					    "%s: refused: not a plain file of an archive", name);
		rc = unpack_file(u, path, size, diag);
		if (rc < 0)
			return rc;
		if (progress != NULL)
			progress->progress(progress->self, ++files, 0);
	}
	struct stat st;
	if (fstatat(u->dir, "manifest.json", &st, 0) < 0)
		return hrr_diag_set(diag, -EINVAL, "not a packed archive: no manifest.json in it");
	return 0;
}

int hrr_unpack(int fd, const char *dir, const struct hrr_pack_progress *progress,
	       struct hrr_diag *diag)
{
	struct unpacker u = {.fd = fd, .dir = -1};
	char *temporary = NULL;
	int rc = hrr_folder_begin(dir, &temporary, diag);

	if (rc < 0)
		return rc;
	hrr_diag_at(diag, NULL, 0); /* from here on it is the pack */
	u.zstd = ZSTD_createDStream();
	u.in = malloc(PIECE);
	u.piece = malloc(PIECE);
	u.hasher = hrr_hasher_new();
	u.dir = open(temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (u.zstd == NULL || u.in == NULL || u.piece == NULL || u.hasher == NULL)
		rc = hrr_diag_set(diag, -ENOMEM, "out of memory");
	else if (u.dir < 0)
		rc = hrr_diag_set(diag, -errno, "cannot open: %s", strerror(errno));
	else
		rc = look(&u, diag);
	if (rc == 0)
		rc = unpack_all(&u, progress, diag);
	if (rc == 0)
		rc = hrr_folder_end(temporary, dir, diag);
	if (rc < 0)
		hrr_folder_remove(temporary);
	if (u.dir >= 0)
		close(u.dir);
	hrr_hasher_free(u.hasher);
	ZSTD_freeDStream(u.zstd);
	free(u.in);
	free(u.piece);
	free(temporary);
	return rc;
}
