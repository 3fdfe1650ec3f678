/* calls SUBJECT [N]: HIP calls on the stub, for t/50-capture.bats and the bench. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hip_proto.h"

hipError_t hipInit(unsigned int flags);
hipError_t hipGetDevice(int *device);
hipError_t hipSetDevice(int device);
hipError_t hipMalloc(void **ptr, size_t size);
hipError_t hipFree(void *ptr);
hipError_t hipHostMalloc(void **ptr, size_t size, unsigned int flags);
hipError_t hipHostFree(void *ptr);
hipError_t hipMemcpy(void *dst, void *src, size_t size, int kind);
hipError_t hipMemcpyAsync(void *dst, void *src, size_t size, int kind, hipStream_t stream);
hipError_t hipStreamCreate(hipStream_t *stream);
hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned int flags);
hipError_t hipStreamAddCallback(hipStream_t stream, void *fn, void *data, unsigned int flags);
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned int flags);
hipError_t hipEventCreate(hipEvent_t *event);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipGetMipmappedArrayLevel(void *level, void *array, unsigned int n);

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int small(long n)
{
	int d;

	for (long i = 0; i < n; i++)
		if (hipGetDevice(&d) != hipSuccess)
			return 1;
	return 0;
}

static void *small_thread(void *n)
{
	small((long)(intptr_t)n);
	return NULL;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* ns per call over batches of 100: median and 99th percentile. */
static void *timed_thread(void *arg)
{
	long n = (long)(intptr_t)arg / 100;
	uint64_t *t = calloc((size_t)n, sizeof *t);
	uint64_t clock = now();

	for (int i = 0; i < 1000; i++)
		now();
	clock = (now() - clock) / 1000;
	for (long i = 0; i < n; i++) {
		uint64_t from = now();
		small(100);
		t[i] = now() - from;
		if (getenv("CALLS_PAUSE") != NULL) /* the ring shall not fill */
			usleep(200);
	}
	qsort(t, (size_t)n, sizeof *t, compare);
	printf("median %.1f p99 %.1f ns/call, clock %llu ns\n", (double)t[n / 2] / 100,
	       (double)t[n * 99 / 100] / 100, (unsigned long long)clock);
	free(t);
	return NULL;
}

static int copies(long n, size_t size, int first)
{
	char *host = malloc(size), *back = malloc(size);
	void *dev;

	if (hipMalloc(&dev, size) != hipSuccess)
		return 1;
	for (long i = 0; i < n; i++) {
		memset(host, (int)i + first, size);
		if (hipMemcpy(dev, host, size, hipMemcpyHostToDevice) != hipSuccess ||
		    hipMemcpy(back, dev, size, hipMemcpyDeviceToHost) != hipSuccess ||
		    memcmp(host, back, size) != 0)
			return 1;
	}
	hipFree(dev);
	free(host);
	free(back);
	return 0;
}

static uint64_t used(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/*
 * Big copies to the device beside as many plain ones, each with time for the reader. Medians in ns:
 * plain copy, call, and the same in time of the processor (others may have it in between).
 */
static int payload(long n, size_t size)
{
	char *host = malloc(size), *to = malloc(size);
	uint64_t *t[4];
	void *dev;

	for (int k = 0; k < 4; k++)
		t[k] = calloc((size_t)n, sizeof *t[k]);
	if (hipMalloc(&dev, size) != hipSuccess)
		return 1;
	memset(host, 1, size);
	memset(to, 1, size);
	for (long i = 0; i < n; i++) {
		memset(host, (int)i, 64); /* each has other bytes */
		uint64_t from = now(), cpu = used();
		memcpy(to, host, size);
		t[2][i] = used() - cpu;
		t[0][i] = now() - from;
		from = now();
		cpu = used();
		if (hipMemcpy(dev, host, size, hipMemcpyHostToDevice) != hipSuccess)
			return 1;
		t[3][i] = used() - cpu;
		t[1][i] = now() - from;
		usleep((useconds_t)(size / 100)); /* the reader keeps up with 0.1 GB/s */
	}
	for (int k = 0; k < 4; k++) {
		qsort(t[k], (size_t)n, sizeof *t[k], compare);
		printf("%llu ", (unsigned long long)t[k][n / 2]);
	}
	printf("\n");
	hipFree(dev);
	return 0;
}

/* Copies to the device; each that has returned is a line "N DST" by one write(2). */
struct logged {
	long n;
	size_t size;
	int index;
};

static void *logged_thread(void *arg)
{
	struct logged *x = arg;
	char path[4096], line[64];
	void *dev;

	snprintf(path, sizeof path, "%s.%d", getenv("CALLS_LOG"), x->index);
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	char *host = malloc(x->size);
	if (fd < 0 || host == NULL || hipMalloc(&dev, x->size) != hipSuccess)
		exit(3);
	for (long i = 0; i < x->n; i++) {
		memset(host, (int)i + x->index, x->size < 64 ? x->size : 64);
		if (hipMemcpy(dev, host, x->size, hipMemcpyHostToDevice) != hipSuccess)
			exit(3);
		int n =
		    snprintf(line, sizeof line, "%ld 0x%lx\n", i, (unsigned long)(uintptr_t)dev);
		if (write(fd, line, (size_t)n) != n)
			exit(3);
	}
	return NULL;
}

static void at_exit(void)
{
	small(1);
}

__attribute__((constructor(101))) static void before_main(void)
{
	if (getenv("CALLS_EARLY") != NULL)
		small(1);
}

__attribute__((destructor(101))) static void after_main(void)
{
	if (getenv("CALLS_EARLY") != NULL)
		small(1);
}

static pthread_key_t key;

static void thread_end(void *x)
{
	(void)x;
	small(1); /* after other keys' destructors, ours may have run */
}

static void *short_thread(void *x)
{
	pthread_setspecific(key, x);
	small(1);
	return NULL;
}

static void output(bool waits)
{
	void *p, *d;
	hipStream_t s;

	hipStreamCreate(&s);
	hipHostMalloc(&p, 64, 0);
	hipMalloc(&d, 64);
	hipMemcpyAsync(p, d, 64, hipMemcpyDeviceToHost, s);
	if (waits)
		hipStreamSynchronize(s);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "small";
	long n = argc > 2 ? atol(argv[2]) : 10;
	pthread_t th[64];

	if (strcmp(what, "small") == 0)
		return small(n);
	if (strcmp(what, "nothing") == 0)
		return 0;
	if (strcmp(what, "timed") == 0) {
		small(1000);
		timed_thread((void *)(intptr_t)n);
		return 0;
	}
	if (strcmp(what, "timed2") == 0) {
		small(1000);
		for (int i = 0; i < 2; i++)
			pthread_create(&th[i], NULL, timed_thread, (void *)(intptr_t)n);
		for (int i = 0; i < 2; i++)
			pthread_join(th[i], NULL);
		return 0;
	}
	if (strcmp(what, "threads") == 0) {
		for (int i = 0; i < 64; i++)
			pthread_create(&th[i], NULL, small_thread, (void *)(intptr_t)n);
		for (int i = 0; i < 64; i++)
			pthread_join(th[i], NULL);
		return 0;
	}
	if (strcmp(what, "logged") == 0) {
		static struct logged x[4];
		for (int i = 0; i < 4; i++) {
			x[i] = (struct logged){n, argc > 3 ? (size_t)atol(argv[3]) : 4096, i};
			pthread_create(&th[i], NULL, logged_thread, &x[i]);
		}
		for (int i = 0; i < 4; i++)
			pthread_join(th[i], NULL);
		return 0;
	}
	if (strcmp(what, "paced") == 0 || strcmp(what, "pinned_paced") == 0) {
		if (what[1] == 'i') /* with an output nobody waits for */
			output(false);
		for (long i = 0; i < n; i++) {
			small(1);
			usleep(5000);
		}
		return 0;
	}
	if (strcmp(what, "copies") == 0)
		return copies(n, argc > 3 ? (size_t)atol(argv[3]) : 4096, 1);
	if (strcmp(what, "forkcopies") == 0) { /* parent, then both */
		copies(1, (size_t)atol(argv[3]), 1);
		pid_t pid = fork();
		int status = 1,
		    mine = copies(n - (pid != 0), (size_t)atol(argv[3]), pid == 0 ? 101 : 2);
		if (pid == 0)
			_exit(mine);
		return waitpid(pid, &status, 0) != pid || status != 0 || mine != 0;
	}
	if (strcmp(what, "payload") == 0)
		return payload(n, argc > 3 ? (size_t)atol(argv[3]) : 1 << 24);
	if (strcmp(what, "exit") == 0) {
		small(1);
		return (int)n;
	}
	if (strcmp(what, "signal") == 0) {
		small(1);
		kill(getpid(), (int)n);
		return 0;
	}
	if (strcmp(what, "hang") == 0) { /* with STUB_HANG: a call that never returns */
		hipStream_t s;
		hipStreamCreate(&s);
		alarm(1);
		return (int)hipStreamSynchronize(s);
	}
	if (strcmp(what, "mipmap") == 0)
		return hipGetMipmappedArrayLevel(NULL, NULL, 0) == hipErrorNotSupported ? 0 : 1;
	if (strcmp(what, "fork") == 0) { /* parent and child, each calls */
		small(2);
		pid_t pid = fork();
		if (pid == 0) {
			small(3);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		return small(1);
	}
	if (strcmp(what, "edges") == 0) { /* with CALLS_EARLY: calls before main and after exit */
		atexit(at_exit);
		return small(1);
	}
	if (strcmp(what, "short") == 0) { /* many threads, one after the other */
		pthread_key_create(&key, thread_end);
		for (long i = 0; i < n; i++) {
			pthread_create(&th[0], NULL, short_thread, &key);
			pthread_join(th[0], NULL);
		}
		return 0;
	}
	if (strcmp(what, "daemon") == 0) { /* goes on when its parent has ended */
		small(1);
		if (fork() == 0) {
			setsid();
			small(1);
			usleep(500000);
			small(2);
			_exit(0);
		}
		usleep(200000);
		return 5;
	}
	if (strcmp(what, "vfork") == 0) {
		small(1);
		pid_t pid = vfork();
		if (pid == 0) {
			execl(argv[0], argv[0], "small", "2", (char *)NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
		return small(1);
	}
	if (strcmp(what, "sibling") == 0) { /* a child is killed while its parent goes on */
		small(1);
		pid_t pid = fork();
		if (pid == 0) {
			small(2);
			kill(getpid(), SIGKILL);
		}
		waitpid(pid, NULL, 0);
		return small(4);
	}
	if (strcmp(what, "exec") == 0) { /* a second image of one pid */
		small(2);
		execl(argv[0], argv[0], "small", "3", (char *)NULL);
		return 1;
	}
	if (strcmp(what, "pinned") == 0) {
		output(n > 1);
		return 0;
	}
	if (strcmp(what, "window") == 0) { /* much, a pause, a little */
		static char bytes[100];
		void *a, *b;
		hipMalloc(&a, 100);
		hipMalloc(&b, 100);
		for (long i = 0; i < n; i++) {
			memset(bytes, (int)i, sizeof bytes);
			hipMemcpy(a, bytes, 100, hipMemcpyHostToDevice);
		}
		usleep(1500000);
		memset(bytes, 'b', sizeof bytes);
		hipMemcpy(b, bytes, 100, hipMemcpyHostToDevice);
		hipMemcpy(bytes, b, 100, hipMemcpyDeviceToHost);
		return 0;
	}
	if (strcmp(what, "rolling") ==
	    0) { /* until the file STOP is there; what is old is needed last */
		static unsigned bytes[50000];
		unsigned pause = argc > 3 ? (unsigned)atoi(argv[3]) : 2000; /* us */
		void *old, *d;
		pid_t child = -1;
		if (argc > 4) { /* and so does a child */
			hipMalloc(&old, sizeof bytes);
			hipFree(old);
			child = fork();
		}
		hipMalloc(&old, sizeof bytes);
		memset(bytes, 'o', sizeof bytes);
		hipMemcpy(old, bytes, sizeof bytes, hipMemcpyHostToDevice);
		for (unsigned i = 0; access(argv[2], F_OK) != 0; i++) {
			for (int k = 0; k < 50000; k += 1000)
				bytes[k] = i;
			hipMalloc(&d, sizeof bytes);
			hipMemcpy(d, bytes, sizeof bytes, hipMemcpyHostToDevice);
			hipMemcpy(bytes, d, sizeof bytes, hipMemcpyDeviceToHost);
			hipFree(d);
			usleep(pause);
		}
		hipMemcpy(bytes, old, sizeof bytes, hipMemcpyDeviceToHost);
		if (child > 0)
			waitpid(child, NULL, 0);
		return 0;
	}
	if (strcmp(what, "hostfn") == 0) { /* copies from memory that a host function may write */
		static char pageable[64];
		void *p, *d;
		hipStream_t s, other;
		hipEvent_t e;
		hipStreamCreateWithFlags(&s, 1);
		hipStreamCreateWithFlags(&other, 1);
		hipEventCreate(&e);
		hipHostMalloc(&p, 64, 0);
		hipMalloc(&d, 64);
		hipMemcpyAsync(d, p, 64, hipMemcpyHostToDevice, s); /* known: none before it */
		hipStreamAddCallback(s, NULL, NULL, 0);
		hipMemcpyAsync(d, p, 64, hipMemcpyHostToDevice, s);	/* not known */
		hipMemcpyAsync(d, p, 64, hipMemcpyHostToDevice, other); /* known: not behind it */
		hipMemcpyAsync(d, pageable, 64, hipMemcpyHostToDevice, s); /* known: is read now */
		hipEventRecord(e, s);
		hipStreamWaitEvent(other, e, 0);
		hipMemcpyAsync(d, p, 64, hipMemcpyHostToDevice, other); /* not known */
		hipStreamSynchronize(s);
		hipMemcpyAsync(d, p, 64, hipMemcpyHostToDevice, s);	/* known again */
		hipMemcpyAsync(d, p, 64, hipMemcpyHostToDevice, other); /* known again */
		return 0;
	}
	return 2;
}
