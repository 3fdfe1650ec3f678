#include "lib/store/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int hrr_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len > 0) {
		ssize_t n = write(fd, p, len < (size_t)1 << 30 ? len : (size_t)1 << 30);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EIO;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int hrr_read_exactly(int fd, void *data, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t n = pread(fd, (char *)data + at, len - at, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENODATA;
		at += (size_t)n;
	}
	return 0;
}

void hrr_file_temporary(char *name, size_t size)
{
	static atomic_uint counter;

	snprintf(name, size, ".tmp-%ld-%u", (long)getpid(), atomic_fetch_add(&counter, 1));
}

int hrr_file_replace(int dirfd, const char *name, const void *data, size_t len, mode_t mode,
		     struct hrr_diag *diag)
{
	char tmp[64];
	int fd, rc;

	/* A crash may have left a temporary of our process number. */
	do {
		hrr_file_temporary(tmp, sizeof tmp);
		fd = openat(dirfd, tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	} while (fd < 0 && errno == EEXIST);
	if (fd < 0)
		return hrr_diag_set(diag, -errno, "cannot write %s: %s", name, strerror(errno));
	rc = hrr_write_all(fd, data, len);
	/* Without it a crash of the machine could leave the new name with no bytes. */
	if (rc == 0 && fsync(fd) < 0 && errno != EINVAL && errno != EROFS)
		rc = -errno;
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	if (rc == 0 && renameat(dirfd, tmp, dirfd, name) < 0)
		rc = -errno;
	if (rc < 0) {
		unlinkat(dirfd, tmp, 0);
		return hrr_diag_set(diag, rc, "cannot write %s: %s", name, strerror(-rc));
	}
	return 0;
}

int hrr_file_open(int dirfd, const char *name, int flags)
{
	struct stat st;
	int fd = openat(dirfd, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags), rc = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		rc = -errno;
	else if (!S_ISREG(st.st_mode))
		rc = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	if (rc < 0)
		close(fd);
	return rc < 0 ? rc : fd;
}

const char *hrr_file_why(int rc)
{
	return rc == -EINVAL ? "it is not a plain file" : strerror(-rc);
}

static int read_all(int fd, size_t max, struct hrr_buf *b)
{
	size_t before = b->len;
	int rc = 0;

	if (fd < 0)
		return fd;
	for (;;) {
		rc = hrr_buf_reserve(b, 65536);
		if (rc < 0)
			break;
		ssize_t n = read(fd, b->data + b->len, 65536);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			rc = n < 0 ? -errno : 0;
			break;
		}
		b->len += (size_t)n;
		if (b->len - before > max) {
			rc = -EFBIG;
			break;
		}
	}
	close(fd);
	if (rc < 0)
		b->len = before;
	return rc;
}

int hrr_file_read(int dirfd, const char *name, size_t max, struct hrr_buf *b)
{
	return read_all(hrr_file_open(dirfd, name, 0), max, b);
}

int hrr_file_read_plain(const char *path, size_t max, struct hrr_buf *b)
{
	return read_all(hrr_file_open(AT_FDCWD, path, O_NOFOLLOW), max, b);
}

int hrr_operand_read(const char *path, size_t max, struct hrr_buf *b)
{
	int fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
					: open(path, O_RDONLY | O_CLOEXEC);

	return read_all(fd < 0 ? -errno : fd, max, b);
}

struct dirent *hrr_dir_next(DIR *d, int *rc)
{
	errno = 0;
	struct dirent *e = readdir(d);
	if (e == NULL && errno != 0)
		*rc = -errno;
	return e;
}

char *hrr_path_join(const char *dir, const char *name)
{
	size_t n = strlen(dir), m = strlen(name);
	char *path = malloc(n + m + 2);

	if (path == NULL)
		return NULL;
	memcpy(path, dir, n);
	if (n > 0 && dir[n - 1] != '/')
		path[n++] = '/';
	memcpy(path + n, name, m + 1);
	return path;
}

char *hrr_path_dir(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}
