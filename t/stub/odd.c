/* odd SUBJECT: what programs do to themselves while they call HIP, for t/52-odd.bats. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <stdint.h>
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
