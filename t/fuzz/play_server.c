/*
 * Preloaded into hrr-play by play.sh: most of a short replay's time is the loading of the
 * disassembler, so one process loads it, and before main forks a child for each archive it is
 * told of on PLAY_SERVER_FD (a socket; struct fuzz_order in, two struct fuzz_reply out: that it
 * runs, and what came of it). The child goes on to main with the arguments of the order.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t/fuzz/play.h"

/* The caller's words are those of the order from now on. */
static void take(struct fuzz_order *o, int argc, char **argv)
{
	char *at = o->words, *end = o->words + sizeof o->words;

	o->words[sizeof o->words - 1] = '\0';
	for (int i = 1; i < argc && at < end; i++) {
		argv[i] = at;
		at += strlen(at) + 1;
	}
}

static void child(struct fuzz_order *o, int fd, int argc, char **argv)
{
	close(fd);
	unsetenv("PLAY_SERVER_FD");
	unsetenv("LD_PRELOAD");
	take(o, argc, argv);
	fuzz_child_begin(o->err);
}

__attribute__((constructor)) static void serve(int argc, char **argv)
{
	static const char *const libs[] = {"libLLVM-19.so.1", "libLLVM.so.19.1"};
	static struct fuzz_order o;
	const char *env = getenv("PLAY_SERVER_FD");

	if (env == NULL)
		return;
	int fd = atoi(env);
	for (size_t i = 0; i < sizeof libs / sizeof *libs; i++)
		if (dlopen(libs[i], RTLD_NOW | RTLD_LOCAL) != NULL)
			break;
	while (read(fd, &o, sizeof o) == (ssize_t)sizeof o) {
		struct fuzz_reply r = {.pid = fork()};
		struct rusage use;
		if (r.pid == 0) {
			child(&o, fd, argc, argv);
			return;
		}
		if (r.pid < 0)
			_exit(126);
		setpgid(r.pid, r.pid);
		if (write(fd, &r, sizeof r) != (ssize_t)sizeof r ||
		    wait4(r.pid, &r.status, 0, &use) < 0)
			_exit(126);
		r.kib = use.ru_maxrss;
		if (write(fd, &r, sizeof r) != (ssize_t)sizeof r)
			_exit(126);
	}
	_exit(0);
}
