/*
 * A preloaded library that makes one call of the system fail: t/faults.sh loops over which.
 *
 *   FAIL_PROG    only in the program of this name
 *   FAIL_LIB     only calls out of the shared object whose path has this in it
 *   FAIL_CALL    open mkdir read write mmap close sync rename size stat link list path start
 *                memory: the kind of call
 *   FAIL_AT      the how many-th of them
 *   FAIL_ON      1: and all after it
 *   FAIL_HOW     an errno, or "short" (a part is read or written) or "intr" (EINTR)
 *   FAIL_LOG     gets a line when it happened
 *
 * What goes to standard error never fails. What libc calls inside itself is not seen.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *call, *how, *log_path;
static unsigned long at;
static bool on, active, reached;
static atomic_ulong count;
static const char *lib;
/* Not in memory that is made on first use: malloc is one of ours. */
static __thread void *caller __attribute__((tls_model("initial-exec")));
#define CALLER (caller = __builtin_return_address(0))

static bool from_lib(void)
{
	Dl_info i;

	return lib == NULL ||
	       (dladdr(caller, &i) != 0 && i.dli_fname != NULL && strstr(i.dli_fname, lib) != NULL);
}

__attribute__((constructor(101))) static void begin(void)
{
	const char *prog = getenv("FAIL_PROG"), *n = getenv("FAIL_AT");

	call = getenv("FAIL_CALL");
	how = getenv("FAIL_HOW");
	lib = getenv("FAIL_LIB");
	log_path = getenv("FAIL_LOG");
	at = n != NULL ? strtoul(n, NULL, 10) : 0;
	on = getenv("FAIL_ON") != NULL;
	active = call != NULL && how != NULL && at > 0 &&
		 (prog == NULL || strcmp(prog, program_invocation_short_name) == 0);
}

static void note(const char *name, const char *detail)
{
	char line[512];

	if (log_path == NULL || reached)
		return;
	reached = true;
	int n = snprintf(line, sizeof line, "%s %s\n", name, detail);
	long fd = syscall(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (fd >= 0) {
		syscall(SYS_write, fd, line, (size_t)n);
		syscall(SYS_close, fd);
	}
}

/* Is it this one's turn? Sets errno. */
static bool hit(const char *kind, const char *name, const char *detail)
{
	if (!active || strcmp(kind, call) != 0 || !from_lib())
		return false;
	unsigned long n = atomic_fetch_add(&count, 1) + 1;
	if (on ? n < at : n != at)
		return false;
	note(name, detail != NULL ? detail : "");
	errno = strcmp(how, "intr") == 0 ? EINTR : atoi(how);
	return true;
}

static bool hit_fd(const char *kind, const char *name, int fd)
{
	char text[16];

	if (fd == 2)
		return false;
	snprintf(text, sizeof text, "%d", fd);
	return hit(kind, name, text);
}

/* How much of n is transferred: all, a part, or -1. */
static ssize_t part(const char *kind, const char *name, int fd, size_t n)
{
	if (!hit_fd(kind, name, fd))
		return (ssize_t)n;
	if (strcmp(how, "short") == 0)
		return (ssize_t)(n > 1 ? (n + 1) / 2 : n);
	return -1;
}

/* --- files -------------------------------------------------------------------- */

#define MODE(flags)                                 \
	int mode = 0;                               \
	if ((flags & (O_CREAT | O_TMPFILE)) != 0) { \
		va_list ap;                         \
		va_start(ap, flags);                \
		mode = va_arg(ap, int);             \
		va_end(ap);                         \
	}

int open(const char *path, int flags, ...)
{
	CALLER;
	MODE(flags)
	return hit("open", "open", path) ? -1
					 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	CALLER;
	MODE(flags)
	return hit("open", "openat", path) ? -1 : (int)syscall(SYS_openat, dir, path, flags, mode);
}

int fcntl(int fd, int cmd, ...)
{
	CALLER;
	va_list ap;

	va_start(ap, cmd);
	void *arg = va_arg(ap, void *);
	va_end(ap);
	if ((cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC) && hit_fd("open", "fcntl", fd))
		return -1;
	return (int)syscall(SYS_fcntl, fd, cmd, arg);
}

ssize_t read(int fd, void *data, size_t n)
{
	CALLER;
	ssize_t k = part("read", "read", fd, n);

	return k < 0 ? -1 : syscall(SYS_read, fd, data, (size_t)k);
}

ssize_t pread(int fd, void *data, size_t n, off_t off)
{
	CALLER;
	ssize_t k = part("read", "pread", fd, n);

	return k < 0 ? -1 : syscall(SYS_pread64, fd, data, (size_t)k, off);
}

ssize_t write(int fd, const void *data, size_t n)
{
	CALLER;
	ssize_t k = part("write", "write", fd, n);

	return k < 0 ? -1 : syscall(SYS_write, fd, data, (size_t)k);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t off)
{
	CALLER;
	ssize_t k = part("write", "pwrite", fd, n);

	return k < 0 ? -1 : syscall(SYS_pwrite64, fd, data, (size_t)k, off);
}

ssize_t writev(int fd, const struct iovec *v, int n)
{
	CALLER;
	ssize_t k = part("write", "writev", fd, 2);

	if (k < 0)
		return -1;
	return k == 1 && v[0].iov_len > 0
		   ? syscall(SYS_write, fd, v[0].iov_base, (v[0].iov_len + 1) / 2)
		   : syscall(SYS_writev, fd, v, n);
}

int close(int fd)
{
	CALLER;
	bool fails = hit_fd("close", "close", fd);
	int err = errno, rc = (int)syscall(SYS_close, fd);

	if (fails)
		errno = err;
	return fails ? -1 : rc;
}

int fsync(int fd)
{
	CALLER;
	return hit_fd("sync", "fsync", fd) ? -1 : (int)syscall(SYS_fsync, fd);
}

int ftruncate(int fd, off_t size)
{
	CALLER;
	return hit_fd("size", "ftruncate", fd) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int posix_fallocate(int fd, off_t off, off_t len)
{
	CALLER;
	if (hit_fd("size", "posix_fallocate", fd))
		return errno;
	return syscall(SYS_fallocate, fd, 0, off, len) < 0 ? errno : 0;
}

int memfd_create(const char *name, unsigned flags)
{
	CALLER;
	return hit("open", "memfd_create", name) ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}

void *mmap(void *addr, size_t n, int prot, int flags, int fd, off_t off)
{
	CALLER;
	if (hit_fd("mmap", "mmap", fd))
		return MAP_FAILED;
	return (void *)syscall(SYS_mmap, addr, n, prot, flags, fd, off);
}

/* --- names -------------------------------------------------------------------- */

int mkdir(const char *path, mode_t mode)
{
	CALLER;
	return hit("mkdir", "mkdir", path) ? -1 : (int)syscall(SYS_mkdir, path, mode);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
	CALLER;
	return hit("mkdir", "mkdirat", path) ? -1 : (int)syscall(SYS_mkdirat, dir, path, mode);
}

int rename(const char *from, const char *to)
{
	CALLER;
	return hit("rename", "rename", to) ? -1 : (int)syscall(SYS_rename, from, to);
}

int renameat(int a, const char *from, int b, const char *to)
{
	CALLER;
	return hit("rename", "renameat", to) ? -1 : (int)syscall(SYS_renameat, a, from, b, to);
}

int renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
	CALLER;
	return hit("rename", "renameat2", to) ? -1
					      : (int)syscall(SYS_renameat2, a, from, b, to, flags);
}

int linkat(int a, const char *from, int b, const char *to, int flags)
{
	CALLER;
	return hit("link", "linkat", to) ? -1 : (int)syscall(SYS_linkat, a, from, b, to, flags);
}

int stat(const char *path, struct stat *st)
{
	CALLER;
	return hit("stat", "stat", path) ? -1 : (int)syscall(SYS_newfstatat, AT_FDCWD, path, st, 0);
}

int lstat(const char *path, struct stat *st)
{
	CALLER;
	return hit("stat", "lstat", path)
		   ? -1
		   : (int)syscall(SYS_newfstatat, AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

int fstatat(int dir, const char *path, struct stat *st, int flags)
{
	CALLER;
	return hit("stat", "fstatat", path) ? -1
					    : (int)syscall(SYS_newfstatat, dir, path, st, flags);
}

int fstat(int fd, struct stat *st)
{
	CALLER;
	return hit_fd("stat", "fstat", fd) ? -1 : (int)syscall(SYS_fstat, fd, st);
}

/* --- what is more than a system call ------------------------------------------------ */

#define NEXT(f) __typeof__(f) *next = (__typeof__(f) *)dlsym(RTLD_NEXT, #f)

DIR *opendir(const char *path)
{
	CALLER;
	NEXT(opendir);
	return hit("list", "opendir", path) ? NULL : next(path);
}

DIR *fdopendir(int fd)
{
	CALLER;
	NEXT(fdopendir);
	return hit_fd("list", "fdopendir", fd) ? NULL : next(fd);
}

struct dirent *readdir(DIR *d)
{
	CALLER;
	static __typeof__(readdir) *next;

	if (next == NULL)
		next = (__typeof__(readdir) *)dlsym(RTLD_NEXT, "readdir");
	return hit("list", "readdir", "") ? NULL : next(d);
}

char *realpath(const char *path, char *out)
{
	CALLER;
	NEXT(realpath);
	return hit("path", "realpath", path) ? NULL : next(path, out);
}

char *mkdtemp(char *name)
{
	CALLER;
	NEXT(mkdtemp);
	return hit("mkdir", "mkdtemp", name) ? NULL : next(name);
}

char *getcwd(char *out, size_t size)
{
	CALLER;
	NEXT(getcwd);
	return hit("path", "getcwd", "") ? NULL : next(out, size);
}

int pipe2(int fd[2], int flags)
{
	CALLER;
	return hit("start", "pipe2", "") ? -1 : (int)syscall(SYS_pipe2, fd, flags);
}

pid_t fork(void)
{
	CALLER;
	NEXT(fork);
	return hit("start", "fork", "") ? -1 : next();
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *acts,
		const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	CALLER;
	NEXT(posix_spawn);
	return hit("start", "posix_spawn", path) ? errno : next(pid, path, acts, attr, argv, envp);
}

/* Streams: over our own read and write. */
static ssize_t cookie_read(void *c, char *data, size_t n)
{
	return read((int)(long)c, data, n);
}

static ssize_t cookie_write(void *c, const char *data, size_t n)
{
	size_t done = 0;

	while (done < n) { /* a file's own would go on after a short write, too */
		ssize_t k = write((int)(long)c, data + done, n - done);
		if (k < 0)
			break;
		done += (size_t)k;
	}
	return (ssize_t)done;
}

static int cookie_close(void *c)
{
	return close((int)(long)c);
}

FILE *fdopen(int fd, const char *mode)
{
	CALLER;
	const cookie_io_functions_t io = {cookie_read, cookie_write, NULL, cookie_close};

	return fopencookie((void *)(long)fd, mode, io);
}

FILE *fopen(const char *path, const char *mode)
{
	CALLER;
	int flags = mode[0] == 'r'   ? O_RDONLY
		    : mode[0] == 'w' ? O_WRONLY | O_CREAT | O_TRUNC
				     : O_WRONLY | O_CREAT | O_APPEND;
	int fd = open(path, flags | O_CLOEXEC, 0666);

	return fd < 0 ? NULL : fdopen(fd, mode);
}

/* --- memory ------------------------------------------------------------------- */

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

#ifndef FAIL_NO_MEMORY
void *malloc(size_t n)
{
	CALLER;
	return hit("memory", "malloc", "") ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	CALLER;
	return hit("memory", "calloc", "") ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	CALLER;
	return hit("memory", "realloc", "") ? NULL : __libc_realloc(p, n);
}
#endif
