/* One run of hrr-play: a process of its own, or a fork of one that has all libraries loaded. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t/fuzz/play.h"

static void die(const char *what)
{
	fprintf(stderr, "play: %s: %s\n", what, strerror(errno));
	exit(2);
}

void fuzz_child_begin(const char *err)
{
	struct rlimit none = {0, 0}, file = {1 << 30, 1 << 30};

	setpgid(0, 0);
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_FSIZE, &file);
	int fd = open(err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
		_exit(126);
	close(fd);
}

/* Words of a program are not changed by it, though execv does not say so. */
static char *const *as_argv(const char *const *words)
{
	return (char *const *)(uintptr_t)words;
}

static int start(const char *prog, const char *lib, const char *const *argv)
{
	int fd[2];
	char text[16];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) < 0)
		die("socketpair");
	fcntl(fd[0], F_SETFD, FD_CLOEXEC);
	pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		snprintf(text, sizeof text, "%d", fd[1]);
		if (setenv("PLAY_SERVER_FD", text, 1) == 0 && setenv("LD_PRELOAD", lib, 1) == 0)
			execv(prog, as_argv(argv));
		_exit(127);
	}
	close(fd[1]);
	return fd[0];
}

/* A whole one; signals come between. */
static void hear(int fd, struct fuzz_reply *r)
{
	size_t n = 0;

	while (n < sizeof *r) {
		ssize_t k = read(fd, (char *)r + n, sizeof *r - n);
		if (k == 0 || (k < 0 && errno != EINTR)) {
			errno = k == 0 ? EPIPE : errno;
			die("the server of hrr-play");
		}
		n += k > 0 ? (size_t)k : 0;
	}
}

static struct fuzz_reply ask(const char *prog, const char *lib, const char *const *argv,
			     const char *err, volatile sig_atomic_t *child)
{
	static struct fuzz_order o;
	static int fd = -1;
	struct fuzz_reply r;
	size_t at = 0;

	for (int i = 1; i < FUZZ_WORDS; i++) {
		size_t len = strlen(argv[i]) + 1;
		if (len > sizeof o.words - at) {
			errno = ENAMETOOLONG;
			die(argv[i]);
		}
		memcpy(o.words + at, argv[i], len);
		at += len;
	}
	snprintf(o.err, sizeof o.err, "%s", err);
	if (fd < 0)
		fd = start(prog, lib, argv);
	if (send(fd, &o, sizeof o, MSG_NOSIGNAL) != (ssize_t)sizeof o)
		die("the server of hrr-play");
	hear(fd, &r);
	*child = r.pid;
	hear(fd, &r);
	*child = 0;
	return r;
}

struct fuzz_reply fuzz_run(const char *prog, const char *lib, const char *const words[FUZZ_WORDS],
			   const char *err, volatile sig_atomic_t *child)
{
	const char *argv[FUZZ_WORDS + 1] = {NULL};
	struct fuzz_reply r = {0};
	struct rusage use;

	memcpy(argv, words, FUZZ_WORDS * sizeof *words);
	if (lib != NULL)
		return ask(prog, lib, argv, err, child);
	r.pid = fork();
	if (r.pid == 0) {
		fuzz_child_begin(err);
		execv(prog, as_argv(argv));
		_exit(127);
	}
	if (r.pid < 0)
		die("fork");
	setpgid(r.pid, r.pid);
	*child = r.pid;
	while (wait4(r.pid, &r.status, 0, &use) < 0)
		if (errno != EINTR)
			die("wait4");
	*child = 0;
	r.kib = use.ru_maxrss;
	return r;
}
