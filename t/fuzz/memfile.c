#include "t/fuzz/memfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES 8
#define FIRST_FD (1 << 24) /* the system gives none so high */

static struct {
	char name[64]; /* with MEM */
	const char *data;
	size_t size;
} files[FILES];
static int n_files;

static struct {
	int file; /* and 1; 0: free */
	size_t at;
} fds[16];

static struct {
	char name[64];
	int next;
	struct dirent e;
} dir;

#define WRAPPED(ret, name, ...)         \
	ret __real_##name(__VA_ARGS__); \
	ret __wrap_##name(__VA_ARGS__)
WRAPPED(int, open, const char *path, int flags, ...);
WRAPPED(int, openat, int at, const char *path, int flags, ...);
WRAPPED(ssize_t, read, int fd, void *data, size_t n);
WRAPPED(ssize_t, pread, int fd, void *data, size_t n, off_t off);
WRAPPED(int, fstat, int fd, struct stat *st);
WRAPPED(int, stat, const char *path, struct stat *st);
WRAPPED(int, lstat, const char *path, struct stat *st);
WRAPPED(int, close, int fd);
WRAPPED(DIR *, opendir, const char *path);
WRAPPED(struct dirent *, readdir, DIR *d);
WRAPPED(int, closedir, DIR *d);
WRAPPED(char *, realpath, const char *path, char *out);
int __wrap_kill(pid_t pid, int sig);

static bool in_memory(const char *path)
{
	return strncmp(path, MEM, sizeof MEM - 1) == 0;
}

void memfile_set(const char *name, const void *data, size_t size)
{
	char path[64] = MEM "/";
	int i = 0;

	strncat(path, name, sizeof path - sizeof MEM - 1);
	while (i < n_files && strcmp(files[i].name, path) != 0)
		i++;
	if (i == FILES)
		abort();
	n_files += i == n_files;
	memcpy(files[i].name, path, sizeof path);
	files[i].data = data;
	files[i].size = size;
}

void memfile_clear(void)
{
	n_files = 0;
}

static int find(const char *path)
{
	for (int i = 0; i < n_files; i++)
		if (strcmp(files[i].name, path) == 0)
			return i;
	errno = ENOENT;
	return -1;
}

/* Is it the beginning of a file's name? */
static bool is_folder(const char *path)
{
	size_t n = strlen(path);

	for (int i = 0; i < n_files; i++)
		if (strncmp(files[i].name, path, n) == 0 && files[i].name[n] == '/')
			return true;
	return strcmp(path, MEM) == 0;
}

static int open_file(const char *path)
{
	int file = find(path);

	for (int i = 0; file >= 0 && i < 16; i++)
		if (fds[i].file == 0) {
			fds[i].file = file + 1;
			fds[i].at = 0;
			return FIRST_FD + i;
		}
	return -1;
}

int __wrap_open(const char *path, int flags, ...)
{
	va_list ap;

	if (in_memory(path))
		return open_file(path);
	va_start(ap, flags);
	int mode = va_arg(ap, int);
	va_end(ap);
	return __real_open(path, flags, mode);
}

int __wrap_openat(int at, const char *path, int flags, ...)
{
	va_list ap;

	if (in_memory(path))
		return open_file(path);
	va_start(ap, flags);
	int mode = va_arg(ap, int);
	va_end(ap);
	return __real_openat(at, path, flags, mode);
}

static ssize_t read_at(int fd, void *data, size_t n, size_t off)
{
	size_t size = files[fds[fd - FIRST_FD].file - 1].size;

	if (off >= size)
		return 0;
	n = n < size - off ? n : size - off;
	memcpy(data, files[fds[fd - FIRST_FD].file - 1].data + off, n);
	return (ssize_t)n;
}

ssize_t __wrap_read(int fd, void *data, size_t n)
{
	if (fd < FIRST_FD)
		return __real_read(fd, data, n);
	ssize_t got = read_at(fd, data, n, fds[fd - FIRST_FD].at);
	fds[fd - FIRST_FD].at += (size_t)got;
	return got;
}

ssize_t __wrap_pread(int fd, void *data, size_t n, off_t off)
{
	return fd < FIRST_FD ? __real_pread(fd, data, n, off) : read_at(fd, data, n, (size_t)off);
}

int __wrap_fstat(int fd, struct stat *st)
{
	if (fd < FIRST_FD)
		return __real_fstat(fd, st);
	*st = (struct stat){.st_mode = S_IFREG | 0600,
			    .st_size = (off_t)files[fds[fd - FIRST_FD].file - 1].size};
	return 0;
}

static int stat_name(const char *path, struct stat *st)
{
	int file = find(path);

	if (file < 0 && !is_folder(path))
		return -1;
	*st = (struct stat){.st_mode = (file < 0 ? S_IFDIR : S_IFREG) | 0700,
			    .st_size = file < 0 ? 0 : (off_t)files[file].size};
	return 0;
}

int __wrap_stat(const char *path, struct stat *st)
{
	return in_memory(path) ? stat_name(path, st) : __real_stat(path, st);
}

int __wrap_lstat(const char *path, struct stat *st)
{
	return in_memory(path) ? stat_name(path, st) : __real_lstat(path, st);
}

int __wrap_close(int fd)
{
	if (fd < FIRST_FD)
		return __real_close(fd);
	fds[fd - FIRST_FD].file = 0;
	return 0;
}

/* One folder is open at a time. */
DIR *__wrap_opendir(const char *path)
{
	if (!in_memory(path))
		return __real_opendir(path);
	if (!is_folder(path)) {
		errno = ENOENT;
		return NULL;
	}
	strncpy(dir.name, path, sizeof dir.name - 1);
	dir.next = 0;
	return (DIR *)(void *)&dir;
}

struct dirent *__wrap_readdir(DIR *d)
{
	size_t n = strlen(dir.name);

	if ((void *)d != (void *)&dir)
		return __real_readdir(d);
	while (dir.next < n_files) {
		const char *name = files[dir.next++].name;
		if (strncmp(name, dir.name, n) != 0 || name[n] != '/' ||
		    strchr(name + n + 1, '/') != NULL)
			continue;
		strncpy(dir.e.d_name, name + n + 1, 63);
		return &dir.e;
	}
	return NULL;
}

int __wrap_closedir(DIR *d)
{
	return (void *)d == (void *)&dir ? 0 : __real_closedir(d);
}

char *__wrap_realpath(const char *path, char *out)
{
	if (!in_memory(path))
		return __real_realpath(path, out);
	return out != NULL ? strcpy(out, path) : strdup(path);
}

/* A manifest names a process, which is asked whether it lives. */
int __wrap_kill(pid_t pid, int sig)
{
	(void)sig;
	errno = ESRCH;
	return pid % 2 == 0 ? 0 : -1;
}
