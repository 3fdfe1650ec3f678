#include "lib/preload/preload.h"

#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Becoming another program, and starting one. Scripts set LD_PRELOAD for a
 * program, or take it away, and do not mean us: as long as the new environment
 * says where the recording is, this library is added to it. All of it on the
 * stack: behind vfork the memory is the parent's.
 */
#define SHIM __attribute__((visibility("default")))
#define PRELOAD "LD_PRELOAD="

typedef char *const *strings;
static int (*next_execve)(const char *, strings, strings);
static int (*next_execvpe)(const char *, strings, strings);
static int (*next_fexecve)(int, strings, strings);
static int (*next_execveat)(int, const char *, strings, strings, int);
static int (*next_posix_spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *,
			       const posix_spawnattr_t *, strings, strings);
static int (*next_posix_spawnp)(pid_t *, const char *, const posix_spawn_file_actions_t *,
				const posix_spawnattr_t *, strings, strings);
static const char *ours; /* this library's file */
static size_t ours_len;

__attribute__((constructor)) static void look_up(void)
{
	Dl_info self;

	hrr_next(&next_execve, "execve");
	hrr_next(&next_execvpe, "execvpe");
	hrr_next(&next_fexecve, "fexecve");
	hrr_next(&next_execveat, "execveat");
	hrr_next(&next_posix_spawn, "posix_spawn");
	hrr_next(&next_posix_spawnp, "posix_spawnp");
	if (dladdr((const void *)(uintptr_t)look_up, &self) != 0 && self.dli_fname[0] == '/') {
		ours_len = strlen(self.dli_fname);
		ours = self.dli_fname;
	}
}

/* What an environment lacks. */
struct lack {
	size_t n, at;	 /* strings; the one that is LD_PRELOAD, or n */
	size_t list_len; /* of what it says */
	bool is;
};

static struct lack look_for(strings env)
{
	struct lack l = {0};
	bool wanted = false, found = false;

	for (; env != NULL && env[l.n] != NULL; l.n++) {
		if (strncmp(env[l.n], PRELOAD, strlen(PRELOAD)) == 0 && !found) {
			found = true;
			l.at = l.n;
		}
		wanted |= strncmp(env[l.n], HRR_ENV_DIR "=", strlen(HRR_ENV_DIR "=")) == 0;
	}
	if (!found)
		l.at = l.n;
	const char *list = found ? env[l.at] + strlen(PRELOAD) : "";
	l.list_len = strlen(list);
	l.is = wanted && ours != NULL && strstr(list, ours) == NULL;
	return l;
}

/* v: room for two strings more than env has. text: for what LD_PRELOAD will be. */
static void supply(char **v, char *text, strings env, const struct lack *l)
{
	char *to = stpcpy(text, PRELOAD);

	if (l->list_len > 0) {
		to = mempcpy(to, env[l->at] + strlen(PRELOAD), l->list_len);
		*to++ = ':';
	}
	memcpy(to, ours, ours_len + 1);
	memcpy(v, env, l->n * sizeof *v);
	v[l->n] = NULL;
	if (l->at == l->n)
		v[l->n + 1] = NULL;
	v[l->at] = text;
}

/* env becomes one that has us in it; for as long as the function runs. */
#define KEEP_US(env)                                                                           \
	struct lack lack = look_for(env);                                                      \
	if (lack.is) {                                                                         \
		char **v = alloca((lack.n + 2) * sizeof *v);                                   \
		supply(v, alloca(strlen(PRELOAD) + lack.list_len + ours_len + 2), env, &lack); \
		env = v;                                                                       \
	}

#define EXEC(name, params, ...)                                \
	SHIM int name params                                   \
	{                                                      \
		if (next_##name == NULL)                       \
			look_up();                             \
		KEEP_US(envp)                                  \
		uint32_t before = hrr_ending(HRR_ENDING_EXEC); \
		errno = ENOSYS;                                \
		if (next_##name != NULL)                       \
			next_##name(__VA_ARGS__);              \
		return hrr_goes_on(before);                    \
	}

EXEC(execve, (const char *path, strings argv, strings envp), path, argv, envp)
EXEC(execvpe, (const char *file, strings argv, strings envp), file, argv, envp)
EXEC(fexecve, (int fd, strings argv, strings envp), fd, argv, envp)
EXEC(execveat, (int fd, const char *path, strings argv, strings envp, int flags), fd, path, argv,
     envp, flags)

SHIM int execv(const char *path, strings argv)
{
	return execve(path, argv, environ);
}

SHIM int execvp(const char *file, strings argv)
{
	return execvpe(file, argv, environ);
}

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
	return execve(path, v, environ);
}

SHIM int execlp(const char *file, const char *arg, ...)
{
	va_list ap;
	LIST(v, arg, ap);
	va_end(ap);
	return execvpe(file, v, environ);
}

SHIM int execle(const char *path, const char *arg, ...)
{
	va_list ap;
	LIST(v, arg, ap);
	strings envp = va_arg(ap, strings);
	va_end(ap);
	return execve(path, v, envp);
}

SHIM int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		     const posix_spawnattr_t *attr, strings argv, strings envp)
{
	KEEP_US(envp)
	return next_posix_spawn != NULL ? next_posix_spawn(pid, path, actions, attr, argv, envp)
					: ENOSYS;
}

SHIM int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
		      const posix_spawnattr_t *attr, strings argv, strings envp)
{
	KEEP_US(envp)
	return next_posix_spawnp != NULL ? next_posix_spawnp(pid, file, actions, attr, argv, envp)
					 : ENOSYS;
}
