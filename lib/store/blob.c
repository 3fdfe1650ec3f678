#include "lib/store/blob_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/store/file.h"

#define PIECE ((size_t)1 << 20)

/* --- names --- */

/* "ab/abcdef…" */
#define NAME_SIZE (3 + HRR_ID_HEX + 1)
static void name_of(const struct hrr_id *id, char name[NAME_SIZE])
{
	char text[HRR_ID_TEXT + 1];

	hrr_id_text(id, text);
	memcpy(name, text + 7, 2);
	name[2] = '/';
	memcpy(name + 3, text + 7, HRR_ID_HEX + 1);
}

int hrr_blobs_say(struct hrr_diag *diag, int err, const struct hrr_id *id, const char *what)
{
	char text[HRR_ID_TEXT + 1];

	hrr_id_text(id, text);
	return hrr_diag_set(diag, err, "blob %s %s", text, what);
}

int hrr_blobs_say_errno(struct hrr_diag *diag, int err, const struct hrr_id *id, const char *what)
{
	char text[HRR_ID_TEXT + 1];

	hrr_id_text(id, text);
	return hrr_diag_set(diag, err, "blob %s %s: %s", text, what, strerror(-err));
}

/* The folder of a name; links are not followed. Negative errno. */
static int open_folder(struct hrr_blobs *s, const char *name, bool create)
{
	char two[3] = {name[0], name[1], '\0'};

	if (create && mkdirat(s->dir, two, 0700) < 0 && errno != EEXIST)
		return -errno;
	int fd = openat(s->dir, two, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int hrr_blobs_open_file(struct hrr_blobs *s, const struct hrr_id *id, struct stat *ret_st)
{
	char name[NAME_SIZE];
	int folder, fd;

	name_of(id, name);
	folder = open_folder(s, name, false);
	if (folder < 0)
		return folder;
	/* O_NONBLOCK: a FIFO under a blob's name must not hang us. */
	fd = openat(folder, name + 3, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	close(folder);
	int rc = fd < 0 || fstat(fd, ret_st) == 0 ? 0 : -errno;
	if (fd >= 0 && rc == 0 && !S_ISREG(ret_st->st_mode))
		rc = -ELOOP; /* as for a link: something else than a file */
	if (rc < 0)
		close(fd);
	return rc < 0 ? rc : fd;
}

static int (*opener)(struct hrr_blobs **ret, const char *dir, struct hrr_diag *diag);

void hrr_blobs_set_opener(int (*f)(struct hrr_blobs **ret, const char *dir, struct hrr_diag *diag))
{
	opener = f;
}

int hrr_blobs_provide(struct hrr_blobs **ret, const char *path,
		      const struct hrr_blob_provider *provider, void *self)
{
	struct hrr_blobs *s = calloc(1, sizeof *s);

	if (s == NULL || (s->path = strdup(path)) == NULL) {
		free(s);
		return -ENOMEM;
	}
	s->dir = -1;
	s->provider = provider;
	s->self = self;
	*ret = s;
	return 0;
}

bool hrr_blobs_is_foreign(const struct hrr_blobs *s)
{
	return s->provider != NULL;
}

int hrr_blobs_orphans(struct hrr_blobs *s, int (*found)(void *to, const char *name), void *to,
		      struct hrr_diag *diag)
{
	return s->provider != NULL ? s->provider->orphans(s->self, found, to, diag) : -ENOSYS;
}

static bool is_at(const char *dir, const char *name, mode_t type)
{
	struct stat st;
	char *path = hrr_path_join(dir, name);
	bool is = path != NULL && lstat(path, &st) == 0 && (st.st_mode & S_IFMT) == type;

	free(path);
	return is;
}

/* Upstream's folders have both names, too, and an opener of their own. */
static bool is_archive(const char *dir)
{
	return is_at(dir, "manifest.json", S_IFREG) && is_at(dir, "blobs", S_IFDIR) &&
	       !is_at(dir, "events.bin", S_IFREG);
}

char *hrr_blobs_folder(const char *dir)
{
	char *path = realpath(dir, NULL);

	if (path == NULL || !is_archive(path))
		return path;
	char *inner = hrr_path_join(path, "blobs");
	free(path);
	if (inner == NULL)
		errno = ENOMEM;
	return inner;
}

int hrr_blobs_open(struct hrr_blobs **ret, const char *dir, bool create, struct hrr_diag *diag)
{
	struct hrr_blobs *s;
	int rc = opener != NULL && !create ? opener(ret, dir, diag) : 0;

	if (rc != 0)
		return rc < 0 ? rc : 0;
	s = calloc(1, sizeof *s);

	if (s == NULL)
		return hrr_diag_set(diag, -ENOMEM, "out of memory");
	s->dir = -1;
	if (create && mkdir(dir, 0700) < 0 && errno != EEXIST) {
		rc = hrr_diag_set(diag, -errno, "cannot make blob folder %s: %s", dir,
				  strerror(errno));
		goto fail;
	}
	s->path = create ? realpath(dir, NULL) : hrr_blobs_folder(dir);
	if (s->path != NULL)
		s->dir = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir < 0) {
		rc = hrr_diag_set(diag, -errno, "cannot open blob folder %s: %s", dir,
				  strerror(errno));
		goto fail;
	}
	*ret = s;
	return 0;
fail:
	hrr_blobs_close(s);
	return rc;
}

void hrr_blobs_close(struct hrr_blobs *s)
{
	if (s == NULL)
		return;
	if (s->provider != NULL)
		s->provider->close(s->self);
	if (s->dir >= 0)
		close(s->dir);
	free(s->path);
	free(s);
}

const char *hrr_blobs_path(const struct hrr_blobs *s)
{
	return s->path;
}

int hrr_blobs_file(const struct hrr_blobs *s, const struct hrr_id *id, char *path, size_t size)
{
	char name[NAME_SIZE];

	if (s->provider != NULL)
		return s->provider->file(s->self, id, path, size);
	name_of(id, name);
	int n = snprintf(path, size, "%s/%s", s->path, name);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

/* --- put --- */

/* The file under id's name must hold these bytes. */
static int compare(struct hrr_blobs *s, const struct hrr_id *id, const char *data, size_t len,
		   struct hrr_diag *diag)
{
	struct stat st;
	int fd = hrr_blobs_open_file(s, id, &st), rc = 0;
	char *piece = NULL;

	if (fd < 0)
		return hrr_blobs_say_errno(diag, fd, id, "cannot be compared");
	if ((uint64_t)st.st_size != len)
		goto differs;
	piece = malloc(len < PIECE ? len + 1 : PIECE);
	if (piece == NULL) {
		rc = hrr_diag_set(diag, -ENOMEM, "out of memory");
		goto out;
	}
	while (len > 0) {
		ssize_t n = read(fd, piece, len < PIECE ? len : PIECE);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			rc = hrr_blobs_say_errno(diag, -errno, id, "cannot be compared");
			goto out;
		}
		if (n == 0 || memcmp(piece, data, (size_t)n) != 0)
			goto differs;
		data += n;
		len -= (size_t)n;
	}
	goto out;
differs:
	rc = hrr_blobs_say(diag, -EEXIST, id,
			   "is there with other bytes: damaged, or a hash collision");
out:
	free(piece);
	close(fd);
	return rc;
}

static bool exists(int folder, const char *name)
{
	struct stat st;

	return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Gives the temporary its name unless that is taken (-EEXIST). */
static int settle(int folder, const char *tmp, const char *name)
{
	if (linkat(folder, tmp, folder, name, 0) == 0) {
		unlinkat(folder, tmp, 0);
		return 0;
	}
	/* File systems without hard links. */
	if ((errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS) &&
	    renameat2(folder, tmp, folder, name, RENAME_NOREPLACE) == 0)
		return 0;
	int err = errno;
	unlinkat(folder, tmp, 0);
	return -err;
}

int hrr_blobs_put(struct hrr_blobs *s, const void *data, size_t len, struct hrr_id *ret_id,
		  struct hrr_diag *diag)
{
	struct hrr_id id = hrr_id_of(data, len);
	int rc = hrr_blobs_put_as(s, data, len, &id, diag);

	if (rc == 0)
		*ret_id = id;
	return rc;
}

int hrr_blobs_put_as(struct hrr_blobs *s, const void *data, size_t len, const struct hrr_id *id,
		     struct hrr_diag *diag)
{
	char name[NAME_SIZE], tmp[64];
	int folder, fd = -1, rc;

	if (s->provider != NULL)
		return hrr_diag_set(diag, -EROFS, "blobs can only be read from %s", s->path);
	if (len > HRR_BLOB_MAX)
		return hrr_diag_set(diag, -EFBIG, "blob too large: the limit is 2^40 bytes");
	name_of(id, name);
	folder = open_folder(s, name, true);
	if (folder < 0)
		return hrr_blobs_say_errno(diag, folder, id, "cannot be stored");
	rc = -EEXIST;
	if (!exists(folder, name + 3)) {
		do {
			hrr_file_temporary(tmp, sizeof tmp);
			fd = openat(folder, tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400);
		} while (fd < 0 && errno == EEXIST);
		rc = fd < 0 ? -errno : hrr_write_all(fd, data, len);
		if (fd >= 0 && close(fd) < 0 && rc == 0)
			rc = -errno;
		if (rc == 0)
			rc = settle(folder, tmp, name + 3);
		else if (fd >= 0)
			unlinkat(folder, tmp, 0);
	}
	close(folder);
	if (rc == -EEXIST)
		rc = compare(s, id, data, len, diag);
	else if (rc < 0)
		return hrr_blobs_say_errno(diag, rc, id, "cannot be stored");
	return rc;
}

static int hash_file(int fd, struct hrr_id *ret)
{
	struct hrr_hasher *h = hrr_hasher_new();
	char *piece = malloc(PIECE);
	off_t at = 0;
	ssize_t n = h == NULL || piece == NULL ? -1 : 1;

	errno = ENOMEM;
	while (n > 0 || (n < 0 && errno == EINTR)) {
		n = pread(fd, piece, PIECE, at);
		if (n > 0) {
			hrr_hasher_add(h, piece, (size_t)n);
			at += n;
		}
	}
	int rc = n < 0 ? -errno : 0;
	if (rc == 0)
		*ret = hrr_hasher_end(h);
	free(piece);
	hrr_hasher_free(h);
	return rc;
}

int hrr_blobs_put_file(struct hrr_blobs *s, const char *path, struct hrr_id *ret_id,
		       struct hrr_diag *diag)
{
	char name[NAME_SIZE];
	struct stat st;
	struct hrr_id id;
	char *data = NULL;
	int fd, folder = -1, rc = 0;

	if (s->provider != NULL)
		return hrr_diag_set(diag, -EROFS, "blobs can only be read from %s", s->path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0) {
		rc = hrr_diag_set(diag, -errno, "cannot read %s: %s", path, strerror(errno));
		goto out;
	}
	if (!S_ISREG(st.st_mode)) {
		rc = hrr_diag_set(diag, -EINVAL, "cannot take over %s: not a file", path);
		goto out;
	}
	rc = hash_file(fd, &id);
	if (rc < 0) {
		rc = hrr_diag_set(diag, rc, "cannot read %s: %s", path, strerror(-rc));
		goto out;
	}
	name_of(&id, name);
	folder = open_folder(s, name, true);
	if (folder < 0) {
		rc = hrr_blobs_say_errno(diag, folder, &id, "cannot be stored");
		goto out;
	}
	/* The open file and not the path is linked: it is the one that was hashed. */
	char self[64];
	snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, self, folder, name + 3, AT_SYMLINK_FOLLOW) == 0) {
		(void)fchmod(fd, 0400); /* mode is a courtesy */
		*ret_id = id;
		goto out;
	}
	/* It is there already, and put compares; or another file system. */
	data = malloc((size_t)st.st_size + 1);
	rc = data == NULL ? -ENOMEM : hrr_read_exactly(fd, data, (size_t)st.st_size);
	if (rc < 0)
		rc = hrr_diag_set(diag, rc, "cannot read %s: %s", path, strerror(-rc));
	else
		rc = hrr_blobs_put(s, data, (size_t)st.st_size, ret_id, diag);
out:
	free(data);
	if (folder >= 0)
		close(folder);
	if (fd >= 0)
		close(fd);
	return rc;
}

int hrr_blobs_link(struct hrr_blobs *s, const char *path, const struct hrr_id *id)
{
	char name[NAME_SIZE];
	int folder, rc = 0;

	name_of(id, name);
	folder = open_folder(s, name, true);
	if (folder < 0)
		return folder;
	if (linkat(AT_FDCWD, path, folder, name + 3, 0) < 0 && errno != EEXIST)
		rc = -errno;
	close(folder);
	return rc;
}
