#include "lib/preload/preload.h"

#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Ends that run no exit handler: a process goes at once, or becomes another
 * program. hrr-capture does not see how its grandchildren end, so that one which
 * says nothing was killed. May be called where nothing else may, in signal
 * handlers and behind vfork: what is next was looked up before.
 */
#define SHIM __attribute__((visibility("default")))

typedef char *const *strings;
static void (*next_exit)(int);
static void (*next_quick_exit)(int);
static int (*next_daemon)(int, int);
static int (*next_execve)(const char *, strings, strings);
static int (*next_execv)(const char *, strings);
static int (*next_execvp)(const char *, strings);
static int (*next_execvpe)(const char *, strings, strings);
static int (*next_fexecve)(int, strings, strings);
static int (*next_execveat)(int, const char *, strings, strings, int);

static void find(void *function, const char *name)
{
	void *p = dlsym(RTLD_NEXT, name);

	memcpy(function, &p, sizeof p);
}

__attribute__((constructor)) static void look_up(void)
{
	find(&next_exit, "_exit");
	find(&next_quick_exit, "quick_exit");
	find(&next_daemon, "daemon");
	find(&next_execve, "execve");
	find(&next_execv, "execv");
	find(&next_execvp, "execvp");
	find(&next_execvpe, "execvpe");
	find(&next_fexecve, "fexecve");
	find(&next_execveat, "execveat");
}

/* Is this the recorded process, and not a child that still shares its memory? */
static bool is_recorded(void)
{
	return hrr_proc->recording && hrr_proc->gen == (uint32_t)getpid();
}

static uint32_t ending(enum hrr_ending how)
{
	return is_recorded() ? atomic_exchange(&hrr_proc->ctl->ending, how) : 0;
}

/* It goes on. */
static int failed(uint32_t before)
{
	if (is_recorded())
		atomic_store(&hrr_proc->ctl->ending, before);
	return -1;
}

SHIM void _exit(int status)
{
	ending(HRR_ENDING_EXIT);
	if (next_exit != NULL)
		next_exit(status);
	for (;;)
		syscall(SYS_exit_group, status);
}

SHIM void _Exit(int status)
{
	_exit(status);
}

SHIM void quick_exit(int status)
{
	ending(HRR_ENDING_EXIT);
	if (next_quick_exit != NULL)
		next_quick_exit(status);
	_exit(status);
}

/* The parent ends inside it. */
SHIM int daemon(int nochdir, int noclose)
{
	uint32_t before = ending(HRR_ENDING_EXIT);
	int rc = next_daemon != NULL ? next_daemon(nochdir, noclose) : -1;

	return rc == 0 ? 0 : failed(before);
}

#define EXEC(name, params, ...)                            \
	SHIM int name params                               \
	{                                                  \
		if (next_##name == NULL)                   \
			look_up();                         \
		uint32_t before = ending(HRR_ENDING_EXEC); \
		errno = ENOSYS;                            \
		if (next_##name != NULL)                   \
			next_##name(__VA_ARGS__);          \
		return failed(before);                     \
	}

EXEC(execve, (const char *path, strings argv, strings envp), path, argv, envp)
EXEC(execv, (const char *path, strings argv), path, argv)
EXEC(execvp, (const char *file, strings argv), file, argv)
EXEC(execvpe, (const char *file, strings argv, strings envp), file, argv, envp)
EXEC(fexecve, (int fd, strings argv, strings envp), fd, argv, envp)
EXEC(execveat, (int fd, const char *path, strings argv, strings envp, int flags), fd, path, argv,
     envp, flags)

static size_t count(const char *arg, va_list ap)
{
	size_t n = 1;

	for (; arg != NULL; arg = va_arg(ap, const char *))
		n++;
	return n;
}

/* A list up to its NULL as an array; what stands behind it can be read on from ap. */
#define LIST(v, arg, ap)                                                                     \
	va_start(ap, arg);                                                                   \
	char **v = alloca(count(arg, ap) * sizeof *v);                                       \
	va_end(ap);                                                                          \
	va_start(ap, arg);                                                                   \
	size_t n_##v = 0;                                                                    \
	for (v[0] = (char *)(uintptr_t)arg; v[n_##v] != NULL; v[n_##v] = va_arg(ap, char *)) \
	n_##v++

SHIM int execl(const char *path, const char *arg, ...)
{
	va_list ap;
	LIST(v, arg, ap);
	va_end(ap);
	return execv(path, v);
}

SHIM int execlp(const char *file, const char *arg, ...)
{
	va_list ap;
	LIST(v, arg, ap);
	va_end(ap);
	return execvp(file, v);
}

SHIM int execle(const char *path, const char *arg, ...)
{
	va_list ap;
	LIST(v, arg, ap);
	strings envp = va_arg(ap, strings);
	va_end(ap);
	return execve(path, v, envp);
}
