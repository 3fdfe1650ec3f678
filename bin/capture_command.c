#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bin/capture.h"
#include "bin/tool.h"
#include "lib/hip/entry.h"
#include "lib/preload/ring.h"
#include "lib/store/file.h"

static volatile sig_atomic_t got_term;
static volatile sig_atomic_t child; /* pid to pass TERM and HUP on to */

static const int caught[] = {SIGTERM, SIGHUP, SIGCHLD, SIGINT, SIGQUIT, SIGPIPE, SIGXFSZ};
#define N_CAUGHT (sizeof caught / sizeof *caught)
static struct sigaction before[N_CAUGHT]; /* as we were started: so is the command */

static void on_signal(int sig)
{
	int err = errno;

	if (sig != SIGCHLD) { /* that one only ends a sleep */
		got_term = sig;
		if (child > 0)
			kill((pid_t)child, sig);
	}
	errno = err;
}

static void on_bus(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (!hrr_collect_torn(info->si_addr))
		signal(sig, SIG_DFL); /* comes again */
}

void capture_shared(void)
{
	struct sigaction handle = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO};

	sigemptyset(&handle.sa_mask);
	sigaction(SIGBUS, &handle, NULL);
}

void capture_signals(void)
{
	struct sigaction handle = {.sa_handler = on_signal}, ignore = {.sa_handler = SIG_IGN};

	sigemptyset(&handle.sa_mask);
	sigemptyset(&ignore.sa_mask);
	for (size_t i = 0; i < N_CAUGHT; i++) {
		sigaction(caught[i], NULL, &before[i]);
		bool passed_on = caught[i] == SIGTERM || caught[i] == SIGHUP;
		if (passed_on && before[i].sa_handler == SIG_IGN)
			continue; /* nohup */
		/* INT and QUIT are the command's: it decides, and we record to its end. */
		sigaction(caught[i], passed_on || caught[i] == SIGCHLD ? &handle : &ignore, NULL);
	}
}

int capture_ended_by(void)
{
	return got_term;
}

/* Adds to a list of paths, in front of what is there or behind. */
static void add_env(const char *name, const char *path, bool front)
{
	const char *old = getenv(name);
	struct hrr_buf b = {0};

	if (old == NULL || old[0] == '\0')
		hrr_buf_adds(&b, path);
	else
		hrr_buf_addf(&b, "%s:%s", front ? path : old, front ? old : path);
	if (hrr_buf_str(&b) == NULL || b.failed || setenv(name, b.data, 1) < 0)
		tool_no_memory();
	hrr_buf_release(&b);
}

static void child_environment(const char *scratch)
{
	char libdir[3072], path[4096];

	if (hrr_libdir(libdir, sizeof libdir) < 0)
		tool_die(NULL, 0, "cannot find the folder of the recording library");
	snprintf(path, sizeof path, "%s/libhrr-preload.so", libdir);
	if (access(path, R_OK) != 0)
		tool_die(path, 0, "cannot be used: %s", strerror(errno));
	if (strpbrk(path, " :") != NULL)
		tool_die(path, 0, "cannot be preloaded: the loader splits at spaces and colons");
	add_env("LD_PRELOAD", path, false); /* a sanitizer's run time must stay first */
	snprintf(path, sizeof path, "%s/libhrr-audit.so", libdir);
	if (capture.audit && access(path, R_OK) == 0) {
		add_env("LD_AUDIT", path, false);
		/* With an audit object glibc lays thread-local memory out before it has seen the
		 * program's libraries: those that want it static need room that is kept for them.
		 */
		const char *have = getenv("GLIBC_TUNABLES");
		if (have == NULL || strstr(have, "optional_static_tls") == NULL)
			add_env("GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=8192", false);
	}
	if (strcmp(capture.device, "emu") == 0) {
		snprintf(path, sizeof path, "%s/emu", libdir);
		if (access(path, R_OK) != 0)
			tool_die(path, 0, "no CPU run time: %s", strerror(errno));
		add_env("LD_LIBRARY_PATH", path, true);
	}
	snprintf(path, sizeof path, "%llx", (unsigned long long)capture.opt.id);
	if (setenv(HRR_ENV_DIR, scratch, 1) < 0 || setenv(HRR_ENV_ID, path, 1) < 0)
		tool_no_memory();
}

static void run_command(int go, int failed)
{
	char path[3584];
	size_t n = 0;

	/* The scratch folder's name, then the command may run. */
	while (n < sizeof path - 1) {
		ssize_t k = read(go, path + n, sizeof path - 1 - n);
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			break;
		n += (size_t)k;
	}
	if (n == 0)
		_exit(OWN_FAILURE);
	path[n] = '\0';
	for (size_t i = 0; i < N_CAUGHT; i++)
		sigaction(caught[i], &before[i], NULL);
	if (capture.stream && dup2(2, 1) < 0)
		_exit(OWN_FAILURE);
	child_environment(path);
	execvp(capture.argv[0], capture.argv);
	int err = errno;
	(void)!write(failed, &err, sizeof err);
	_exit(err == ENOENT ? NOT_FOUND : CANNOT_RUN);
}

struct capture_command capture_start(void)
{
	int go[2], failed[2];
	struct timespec now;
	struct capture_command c;

	clock_gettime(CLOCK_REALTIME, &now);
	capture.opt.id = ((uint64_t)now.tv_sec << 30 | (uint64_t)now.tv_nsec) ^ (uint64_t)getpid()
										    << 40;
	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(failed, O_CLOEXEC) < 0)
		tool_die(NULL, 0, "cannot start: %s", strerror(errno));
	c.pid = fork();
	if (c.pid < 0)
		tool_die(NULL, 0, "cannot start: %s", strerror(errno));
	if (c.pid == 0) {
		close(go[1]);
		run_command(go[0], failed[1]);
	}
	/* Each process that is recorded takes some. */
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	close(go[0]);
	close(failed[1]);
	c.go = go[1];
	c.failed = failed[0];
	child = c.pid;
	return c;
}

int capture_go(struct capture_command *c, const char *scratch)
{
	int err = 0, rc = hrr_write_all(c->go, scratch, strlen(scratch));
	ssize_t n;

	if (rc < 0)
		tool_die(NULL, 0, "cannot start: %s", strerror(-rc));
	close(c->go);
	do
		n = read(c->failed, &err, sizeof err);
	while (n < 0 && errno == EINTR);
	if (n != sizeof err)
		err = 0;
	close(c->failed);
	return err;
}
