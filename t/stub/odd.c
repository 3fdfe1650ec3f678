/* odd SUBJECT: what programs do to themselves while they call HIP, for t/52-odd.bats. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hip_proto.h"

hipError_t hipGetDevice(int *device);
hipError_t hipMalloc(void **ptr, size_t size);
hipError_t hipHostFree(void *ptr);
hipError_t hipMemcpy(void *dst, void *src, size_t size, int kind);
hipError_t hipStreamCreate(hipStream_t *stream);
hipError_t hipStreamSynchronize(hipStream_t stream);

static void small(int n)
{
	int d;

	for (int i = 0; i < n; i++)
		if (hipGetDevice(&d) != hipSuccess)
			exit(3);
}

static void copies(int n, size_t size)
{
	char *host = malloc(size);
	void *dev;

	if (hipMalloc(&dev, size) != hipSuccess)
		exit(3);
	memset(host, 'c', size);
	for (int i = 0; i < n; i++)
		if (hipMemcpy(dev, host, size, hipMemcpyHostToDevice) != hipSuccess)
			exit(3);
	free(host);
}

static pthread_barrier_t both;

/* It makes no call that would end it, until the last. */
static void *cancelled(void *ended)
{
	pthread_barrier_wait(&both);
	small(3000);
	copies(5, 100000);
	*(int *)ended = 1;
	pthread_testcancel();
	return NULL;
}

static void clean(void *x)
{
	(void)x;
	small(2);
}

static void *waits(void *stream)
{
	pthread_cleanup_push(clean, NULL);
	pthread_barrier_wait(&both);
	hipStreamSynchronize(stream);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *calls(void *n)
{
	small((int)(intptr_t)n);
	return NULL;
}

static void *paced(void *x)
{
	(void)x;
	for (int i = 0; i < 20; i++) {
		small(1);
		usleep(20000);
	}
	exit(0);
}

static jmp_buf out;

static void jump(int sig)
{
	(void)sig;
	siglongjmp(out, 1);
}

/* Frames over the one that was left. */
static int deeper(int n)
{
	volatile char over[512];

	memset((char *)over, n, sizeof over);
	if (n > 0)
		return deeper(n - 1) + over[3];
	small(2);
	return over[5];
}

static int left(bool frees, bool alone)
{
	struct itimerval soon = {.it_value = {0, 300000}};
	hipStream_t s;

	hipStreamCreate(&s);
	signal(SIGALRM, jump);
	if (sigsetjmp(out, 1) == 0) {
		setitimer(ITIMER_REAL, &soon, NULL);
		if (frees)
			hipHostFree(s);
		else
			hipStreamSynchronize(s);
		return 4;
	}
	if (alone)
		return 0;
	small(1);
	return deeper(3) < 0;
}

/* The frames over the one that was left touch nothing of it. */
__attribute__((noinline)) static int over(int n)
{
	volatile char hole[65536];

	hole[0] = (char)n;
	small(n);
	return hole[0];
}

static volatile int handled;

static void asks(int sig)
{
	(void)sig;
	small(2);
	handled++;
}

/* A signal's handler calls HIP while the thread is in a call: the wait is over then. */
static int handler(void)
{
	hipStream_t s;

	hipStreamCreate(&s);
	signal(SIGALRM, asks);
	alarm(1);
	return hipStreamSynchronize(s) != hipSuccess || handled != 1;
}

/* The same at any moment of very many calls. */
static int handlers(int n)
{
	struct itimerval often = {{0, 1000}, {0, 1000}}, never = {0};

	signal(SIGALRM, asks);
	small(1); /* what a handler calls inside the very first one nobody counts */
	setitimer(ITIMER_REAL, &often, NULL);
	small(n - 1);
	setitimer(ITIMER_REAL, &never, NULL);
	dprintf(1, "%d\n", n + 2 * handled);
	return 0;
}

static int left_deep(void)
{
	hipStream_t s;

	hipStreamCreate(&s);
	signal(SIGALRM, jump);
	if (sigsetjmp(out, 1) == 0) {
		alarm(1);
		hipStreamSynchronize(s);
		return 4;
	}
	return over(2) != 2;
}

static volatile bool stop;

static void *prints(void *x)
{
	(void)x;
	while (!stop)
		for (int fd = 0; fd < 3; fd++)
			(void)!write(fd, "printed into the wrong file", 27);
	return NULL;
}

/* Its standard descriptors are closed, and threads print on. */
static int closed(void)
{
	pthread_t p, th[16];

	for (int fd = 0; fd < 3; fd++)
		close(fd);
	pthread_create(&p, NULL, prints, NULL);
	for (int i = 0; i < 16; i++)
		pthread_create(&th[i], NULL, calls, (void *)20);
	for (int i = 0; i < 16; i++)
		pthread_join(th[i], NULL);
	copies(20, 100000);
	stop = true;
	return pthread_join(p, NULL);
}

static void *churns(void *x)
{
	pthread_t t;

	while (!stop) {
		pthread_create(&t, NULL, calls, (void *)1);
		pthread_join(t, NULL);
	}
	return x;
}

/* Children of a process whose other threads are anywhere. */
static int forks(int n)
{
	pthread_t th[3];
	int status = 0, bad = 0;

	for (int i = 0; i < 3; i++)
		pthread_create(&th[i], NULL, churns, NULL);
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			alarm(10);
			small(1);
			_exit(0);
		}
		bad |= waitpid(pid, &status, 0) != pid || status != 0;
	}
	stop = true;
	for (int i = 0; i < 3; i++)
		pthread_join(th[i], NULL);
	return bad;
}

/* A process that ends in this way, and is not the one that was started. */
static void ends(const char *how, char **argv)
{
	char *none[] = {NULL}, *go[] = {"true", NULL}, *again[] = {argv[0], "one", NULL};

	if (fork() != 0)
		return;
	small(1);
	if (strcmp(how, "exit") == 0)
		exit(0);
	if (strcmp(how, "_exit") == 0)
		_exit(0);
	if (strcmp(how, "_Exit") == 0)
		_Exit(0);
	if (strcmp(how, "quick_exit") == 0)
		quick_exit(0);
	if (strcmp(how, "daemon") == 0)
		_exit(daemon(0, 1));
	if (strcmp(how, "execve") == 0)
		execve("/bin/true", go, none);
	if (strcmp(how, "execv") == 0)
		execv("/bin/true", go);
	if (strcmp(how, "execvp") == 0)
		execvp("true", go);
	if (strcmp(how, "execvpe") == 0)
		execvpe("true", go, none);
	if (strcmp(how, "execl") == 0)
		execl("/bin/sh", "sh", "-c", "exit $1", "x", "0", (char *)NULL);
	if (strcmp(how, "execlp") == 0)
		execlp("sh", "sh", "-c", "exit $1", "x", "0", (char *)NULL);
	if (strcmp(how, "execle") == 0)
		execle("/bin/sh", "sh", "-c", "exit $1", "x", "0", (char *)NULL, none);
	if (strcmp(how, "fexecve") == 0)
		fexecve(open("/bin/true", O_RDONLY | O_CLOEXEC), go, none);
	if (strcmp(how, "execveat") == 0)
		execveat(-1, "/bin/true", go, none, 0);
	if (strcmp(how, "again") == 0)
		execv(argv[0], again);
	if (strcmp(how, "later") == 0) /* what runs now is no matter any more */
		execl("/bin/sh", "sh", "-c", "kill -9 $$", (char *)NULL);
	if (strcmp(how, "no_exec") == 0) { /* and is killed after that */
		execv("/nowhere", go);
		kill(getpid(), SIGKILL);
	}
	if (strcmp(how, "vforked") == 0) { /* a child that shares its memory is not it */
		if (vfork() == 0)
			_exit(0);
		kill(getpid(), SIGKILL);
	}
	if (strcmp(how, "killed") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(how, "abort") == 0)
		abort();
	_exit(9);
}

static pthread_barrier_t all;

static void *calls_with_all(void *x)
{
	small(1);
	pthread_barrier_wait(&all);
	return x;
}

/* Very many threads at once, several times; then how many files there are for them. */
static int bursts(int n)
{
	static pthread_t t[300];
	char rings[4096];

	pthread_barrier_init(&all, NULL, 300);
	while (n-- > 0) {
		for (int i = 0; i < 300; i++)
			if (pthread_create(&t[i], NULL, calls_with_all, NULL) != 0)
				return 6;
		for (int i = 0; i < 300; i++)
			pthread_join(t[i], NULL);
	}
	snprintf(rings, sizeof rings, "ls '%s' | grep -c '^p0\\.r'", getenv("HRR_CAPTURE_DIR"));
	return system(rings);
}

/* Goes where the recording is not to be found, before its first call. */
static int away(const char *how, const char *where)
{
	pthread_t t;
	int status;

	if (strcmp(how, "root") == 0 && (chroot(where) != 0 || chdir("/") != 0))
		return 6;
	/* A daemon, which waits for nobody. */
	if (strcmp(how, "daemon") == 0 && (fork() != 0 || setuid(65534) != 0))
		return wait(&status) < 0 || status != 0;
	if (strcmp(how, "user") == 0 && setuid(65534) != 0)
		return 6;
	if (strcmp(how, "vforked") == 0) { /* who goes away is the child */
		if (vfork() == 0)
			_exit(setuid(65534) != 0);
		if (wait(&status) < 0 || status != 0)
			return 8;
	}
	small(1);
	copies(3, 100000);
	if (strcmp(how, "root") == 0)
		copies(1, 9 << 20);
	if (fork() == 0) {
		small(1);
		_exit(0);
	}
	if (wait(&status) < 0 || status != 0)
		return 7;
	pthread_create(&t, NULL, calls, (void *)2);
	return pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	hipStream_t s;
	int ended = 0;
	pthread_t t;

	pthread_barrier_init(&both, NULL, 2);
	alarm(30);
	if (strcmp(what, "cancelled") == 0) {
		pthread_create(&t, NULL, cancelled, &ended);
		pthread_cancel(t);
		/* A wait at a barrier is not where a thread ends. */
		pthread_barrier_wait(&both);
		pthread_join(t, NULL);
		small(1);
		return ended ? 0 : 5;
	}
	if (strcmp(what, "cleanup") == 0) {
		hipStreamCreate(&s);
		pthread_create(&t, NULL, waits, s);
		pthread_barrier_wait(&both);
		usleep(100000);
		pthread_cancel(t);
		pthread_join(t, NULL);
		pthread_create(&t, NULL, calls, (void *)2);
		return pthread_join(t, NULL);
	}
	if (strcmp(what, "left") == 0)
		return left(false, false);
	if (strcmp(what, "left_free") == 0)
		return left(true, false);
	if (strcmp(what, "left_last") == 0)
		return left(false, true);
	if (strcmp(what, "handler") == 0)
		return handler();
	if (strcmp(what, "handlers") == 0)
		return handlers(atoi(argv[2]));
	if (strcmp(what, "left_deep") == 0)
		return left_deep();
	if (strcmp(what, "one") == 0) {
		small(1);
		return 0;
	}
	if (strcmp(what, "ends") == 0) {
		ends(argv[2], argv);
		return wait(&ended) < 0 || (WIFEXITED(ended) && WEXITSTATUS(ended) != 0);
	}
	if (strcmp(what, "becomes") == 0) { /* one that is killed */
		small(1);
		execl("/bin/sh", "sh", "-c", "kill -9 $$", (char *)NULL);
	}
	if (strcmp(what, "drops") == 0) { /* with nobody who reads meanwhile */
		kill(getppid(), SIGSTOP);
		for (int i = 0; i < 3000; i++)
			if (hipStreamSynchronize(NULL) != hipSuccess)
				return 1;
		kill(getppid(), SIGCONT);
		return 0;
	}
	if (strcmp(what, "away") == 0)
		return away(argv[2], argv[3]);
	if (strcmp(what, "bursts") == 0)
		return bursts(atoi(argv[2]));
	if (strcmp(what, "spawn") == 0) {
		char *one[] = {argv[0], "one", NULL};
		pid_t pid;
		unsetenv("LD_PRELOAD");
		bool bad = posix_spawn(&pid, argv[0], NULL, NULL, one, environ) != 0 ||
			   wait(&ended) != pid || ended != 0;
		setenv("LD_PRELOAD", "", 1);
		return bad || posix_spawnp(&pid, argv[0], NULL, NULL, one, environ) != 0 ||
		       wait(&ended) != pid || ended != 0;
	}
	if (strcmp(what, "closed") == 0)
		return closed();
	if (strcmp(what, "leader") ==
	    0) { /* its first thread ends first, and no descriptor is left */
		small(1);
		for (int fd = 3; fd < 1000; fd++)
			close(fd);
		pthread_create(&t, NULL, paced, NULL);
		pthread_exit(NULL);
	}
	if (strcmp(what, "late") == 0) { /* a daemon that comes to HIP when all others have ended */
		if (fork() == 0) {
			setsid();
			for (int fd = 3; fd < 100; fd++) /* who waits for one of them need not */
				close(fd);
			sleep(5);
			small(1);
		}
		return 0;
	}
	if (strcmp(what, "forks") == 0)
		return forks(atoi(argv[2]));
	return 2;
}
