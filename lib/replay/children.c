#include "lib/replay/children.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/buf.h"

extern char **environ;

#define CHILD_BUFFER ((size_t)64 << 10)

struct child {
	uint32_t p;
	pid_t pid;
	int fd; /* -1: it reads no more */
	struct hrr_buf out;
};

struct hrr_children {
	struct hrr_buf all; /* struct child */
};

static struct child *children(const struct hrr_children *c, size_t *ret_n)
{
	*ret_n = c->all.len / sizeof(struct child);
	return (struct child *)(void *)c->all.data;
}

struct hrr_children *hrr_children_new(void)
{
	return calloc(1, sizeof(struct hrr_children));
}

int hrr_children_start(struct hrr_children *c, uint32_t p, char *const argv[],
		       struct hrr_diag *diag)
{
	struct child x = {.p = p, .fd = -1};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, pipes;
	int fd[2];

	if (pipe2(fd, O_CLOEXEC) < 0) {
		int e = -errno;
		return hrr_diag_set(diag, e, "process %u: no pipe: %s", p, strerror(-e));
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fd[0], 0);
	posix_spawnattr_init(&attr);
	sigemptyset(&none);
	sigemptyset(&pipes);
	sigaddset(&pipes, SIGPIPE);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &pipes);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	int e = posix_spawn(&x.pid, argv[0], &actions, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	close(fd[0]);
	if (e == 0) {
		x.fd = fd[1];
		if (hrr_buf_add(&c->all, &x, sizeof x) == 0)
			return 0;
		e = ENOMEM;
	}
	close(fd[1]);
	return hrr_diag_set(diag, -e, "process %u: cannot start %s: %s", p, argv[0], strerror(e));
}

/* 1: the child is gone. */
static int flush(struct child *x)
{
	for (size_t at = 0; x->fd >= 0 && at < x->out.len;) {
		ssize_t n = write(x->fd, x->out.data + at, x->out.len - at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			close(x->fd);
			x->fd = -1;
			break;
		}
		at += (size_t)n;
	}
	x->out.len = 0;
	return x->fd < 0;
}

/* The line with one more member. */
static int put(struct hrr_buf *b, const char *line, size_t len, uint64_t lineno)
{
	if (len < 3 || line[len - 1] != '}' || line[1] == '}')
		return hrr_buf_add(b, line, len) | hrr_buf_addc(b, '\n');
	return hrr_buf_add(b, line, len - 1) | hrr_buf_adds(b, ",\"line\":") |
	       hrr_buf_addu(b, lineno) | hrr_buf_adds(b, "}\n");
}

int hrr_children_line(struct hrr_children *c, uint32_t p, const char *line, size_t len,
		      uint64_t lineno, struct hrr_diag *diag)
{
	size_t n;
	struct child *v = children(c, &n);

	for (size_t i = 0; i < n; i++) {
		if (v[i].p != p)
			continue;
		if (v[i].fd < 0)
			return 1;
		if (put(&v[i].out, line, len, lineno) != 0)
			return hrr_diag_set(diag, -ENOMEM, "out of memory");
		return v[i].out.len >= CHILD_BUFFER ? flush(&v[i]) : 0;
	}
	return hrr_diag_set(diag, -ENOENT, "process %u has no header", p);
}

int hrr_children_end(struct hrr_children *c, int sig)
{
	size_t n;
	struct child *v = children(c, &n);
	int worst = 0;

	for (size_t i = 0; i < n; i++) {
		if (sig == 0)
			flush(&v[i]);
		else
			kill(v[i].pid, sig);
		if (v[i].fd >= 0)
			close(v[i].fd);
	}
	for (size_t i = 0; i < n; i++) {
		int status = 0;
		while (waitpid(v[i].pid, &status, 0) < 0 && errno == EINTR)
			;
		int code = WIFEXITED(status) ? WEXITSTATUS(status) : 2;
		worst = code > worst ? code : worst;
		hrr_buf_release(&v[i].out);
	}
	hrr_buf_release(&c->all);
	free(c);
	return worst;
}
