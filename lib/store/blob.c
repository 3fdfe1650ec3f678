#include "lib/store/blob.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/idmap.h"
#include "lib/store/file.h"

#define MAP_FROM ((size_t)64 << 10) /* smaller blobs are read */
#define PIECE ((size_t)1 << 20)
#define MAX_CHECKED ((size_t)1 << 20) /* ids remembered as checked: 32 MiB at most */

struct hrr_blobs {
	const struct hrr_blob_provider *provider; /* or dir */
	void *self;
	int dir;
	char *path;
	pthread_mutex_t lock; /* over checked */
	struct hrr_idmap checked;
};

/* --- ids whose file was found good --- */

static bool is_checked(struct hrr_blobs *s, const struct hrr_id *id)
{
	pthread_mutex_lock(&s->lock);
	bool is = hrr_idmap_get(&s->checked, id) != NULL;
	pthread_mutex_unlock(&s->lock);
	return is;
}

/* Only saves work: running out of memory here is no failure. */
static void set_checked(struct hrr_blobs *s, const struct hrr_id *id)
{
	pthread_mutex_lock(&s->lock);
	if (s->checked.n < MAX_CHECKED)
		(void)hrr_idmap_add(&s->checked, id, 0);
	pthread_mutex_unlock(&s->lock);
}

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

static int say(struct hrr_diag *diag, int err, const struct hrr_id *id, const char *what)
{
	char text[HRR_ID_TEXT + 1];

	hrr_id_text(id, text);
	return hrr_diag_set(diag, err, "blob %s %s", text, what);
}

static int say_errno(struct hrr_diag *diag, int err, const struct hrr_id *id, const char *what)
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

static int open_blob(struct hrr_blobs *s, const struct hrr_id *id, struct stat *ret_st)
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
	if (fd >= 0 && fstat(fd, ret_st) == 0 && !S_ISREG(ret_st->st_mode)) {
		close(fd);
		fd = -ELOOP; /* as for a link: something else than a file */
	}
	return fd;
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
	pthread_mutex_init(&s->lock, NULL);
	s->dir = -1;
	s->provider = provider;
	s->self = self;
	*ret = s;
	return 0;
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
	pthread_mutex_init(&s->lock, NULL);
	s->dir = -1;
	if (create && mkdir(dir, 0700) < 0 && errno != EEXIST) {
		rc = hrr_diag_set(diag, -errno, "cannot make blob folder %s: %s", dir,
				  strerror(errno));
		goto fail;
	}
	s->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir < 0) {
		rc = hrr_diag_set(diag, -errno, "cannot open blob folder %s: %s", dir,
				  strerror(errno));
		goto fail;
	}
	s->path = realpath(dir, NULL);
	if (s->path == NULL) {
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
	pthread_mutex_destroy(&s->lock);
	hrr_idmap_release(&s->checked);
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
	int fd = open_blob(s, id, &st), rc = 0;
	char *piece = NULL;

	if (fd < 0)
		return say_errno(diag, fd, id, "cannot be compared");
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
			rc = say_errno(diag, -errno, id, "cannot be compared");
			goto out;
		}
		if (n == 0 || memcmp(piece, data, (size_t)n) != 0)
			goto differs;
		data += n;
		len -= (size_t)n;
	}
	goto out;
differs:
	rc = say(diag, -EEXIST, id, "is there with other bytes: damaged, or a hash collision");
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
		return say_errno(diag, folder, id, "cannot be stored");
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
		return say_errno(diag, rc, id, "cannot be stored");
	return rc;
}

int hrr_blobs_put_file(struct hrr_blobs *s, const char *path, struct hrr_id *ret_id,
		       struct hrr_diag *diag)
{
	char name[NAME_SIZE];
	struct stat st;
	void *data = NULL;
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
	size_t len = (size_t)st.st_size;
	if (len > 0) {
		data = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
		if (data == MAP_FAILED) {
			data = NULL;
			rc =
			    hrr_diag_set(diag, -errno, "cannot read %s: %s", path, strerror(errno));
			goto out;
		}
	}
	struct hrr_id id = hrr_id_of(data, len);
	name_of(&id, name);
	folder = open_folder(s, name, true);
	if (folder < 0) {
		rc = say_errno(diag, folder, &id, "cannot be stored");
		goto out;
	}
	/* The open file and not the path is linked: it is the one that was hashed. */
	char self[64];
	snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, self, folder, name + 3, AT_SYMLINK_FOLLOW) == 0) {
		(void)fchmod(fd, 0400); /* mode is a courtesy */
		*ret_id = id;
	} else if (errno == EEXIST) {
		rc = compare(s, &id, data, len, diag);
		if (rc == 0)
			*ret_id = id;
	} else {
		rc = hrr_blobs_put(s, data, len, ret_id, diag);
	}
out:
	if (data != NULL)
		munmap(data, len);
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

/* --- get --- */

int hrr_blobs_size(struct hrr_blobs *s, const struct hrr_id *id, uint64_t *ret_size)
{
	struct stat st;

	if (s->provider != NULL)
		return s->provider->size(s->self, id, ret_size);
	int fd = open_blob(s, id, &st);
	if (fd < 0)
		return fd == -ENOTDIR || fd == -ELOOP ? -ENOENT : fd;
	close(fd);
	*ret_size = (uint64_t)st.st_size;
	return 0;
}

static int read_blob(int fd, char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = read(fd, data, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EBADMSG;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

int hrr_blobs_get(struct hrr_blobs *s, const struct hrr_id *id, uint64_t max, struct hrr_blob *ret,
		  struct hrr_diag *diag)
{
	struct hrr_blob b = {0};
	struct stat st;

	if (s->provider != NULL)
		return s->provider->get(s->self, id, max, ret, diag);
	int fd = open_blob(s, id, &st), rc = 0;
	if (fd == -ENOENT)
		return say(diag, -ENOENT, id, "is missing");
	if (fd == -ELOOP || fd == -ENOTDIR)
		return say(diag, -EBADMSG, id, "is damaged: a link or folder, not a file");
	if (fd < 0)
		return say_errno(diag, fd, id, "cannot be read");
	if ((uint64_t)st.st_size > (max ? max : HRR_BLOB_MAX)) {
		rc = say(diag, -EFBIG, id, "is larger than it may be here");
		goto out;
	}
	b.len = (size_t)st.st_size;
	if (b.len >= MAP_FROM) {
		void *p = mmap(NULL, b.len, PROT_READ, MAP_PRIVATE, fd, 0);
		if (p != MAP_FAILED) {
			b.data = b.owned = p;
			b.mapped = true;
		}
	}
	if (!b.mapped) {
		b.data = b.owned = malloc(b.len + 1);
		if (b.owned == NULL) {
			rc = hrr_diag_set(diag, -ENOMEM, "out of memory");
			goto out;
		}
		rc = read_blob(fd, b.owned, b.len);
		if (rc < 0) {
			rc = say_errno(diag, rc, id, "cannot be read");
			goto out;
		}
	}
	if (!is_checked(s, id)) {
		struct hrr_id is = hrr_id_of(b.data, b.len);
		if (!hrr_id_equal(&is, id)) {
			char text[HRR_ID_TEXT + 1], what[128];
			hrr_id_text(&is, text);
			snprintf(what, sizeof what, "is damaged: its %zu bytes hash to %s", b.len,
				 text);
			rc = say(diag, -EBADMSG, id, what);
			goto out;
		}
		set_checked(s, id);
	}
out:
	close(fd);
	if (rc < 0)
		hrr_blob_release(&b);
	else
		*ret = b;
	return rc;
}

void hrr_blob_release(struct hrr_blob *b)
{
	if (b->mapped)
		munmap(b->owned, b->len);
	else
		free(b->owned);
	*b = (struct hrr_blob){0};
}
