/*
 * hrr-play on damaged archives:
 *
 *     play HRR-PLAY FOLDER SEED RUNS SECONDS ARCHIVE...
 *
 * makes RUNS archives (as far as SECONDS allow), each from its own seed, and plays them on the
 * CPU run time with bounded instructions, memory and time. What has to come out is 0, 1 or 2: a
 * signal, a sanitizer's report, too much memory or too much time is a failure; FOLDER/SEED.hrr and
 * SEED.err keep it, and the exit code is 1. RUNS of 1 plays a failure again.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "t/fuzz/play.h"

#define LIMIT_SECONDS 30	 /* a run of a damaged archive, on a machine that is busy */
#define LIMIT_KIB (1024L * 1024) /* resident; what the run time may have is a quarter of it */

static void die(const char *what)
{
	fprintf(stderr, "play: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void load(const char *path, struct hrr_buf *b)
{
	char chunk[65536];
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die(path);
	while ((n = read(fd, chunk, sizeof chunk)) > 0)
		if (hrr_buf_add(b, chunk, (size_t)n) < 0)
			die(path);
	close(fd);
}

static void save(const char *path, const struct hrr_buf *b)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, b->data, b->len) != (ssize_t)b->len)
		die(path);
	close(fd);
}

static void path_to(char *path, const char *dir, const char *name)
{
	if (snprintf(path, PATH_MAX, "%s/%s", dir, name) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		die(dir);
	}
}

/* Every file below dir: events.jsonl, and what is named like a blob. */
static void load_folder(struct fuzz_archive *a, const char *dir)
{
	DIR *d = opendir(dir);
	char path[PATH_MAX];

	if (d == NULL)
		die(dir);
	for (struct dirent *e; (e = readdir(d)) != NULL;) {
		struct stat st;
		path_to(path, dir, e->d_name);
		if (e->d_name[0] == '.' || lstat(path, &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode)) {
			load_folder(a, path);
		} else if (strcmp(e->d_name, "events.jsonl") == 0) {
			load(path, &a->events);
		} else if (strlen(e->d_name) == HRR_ID_HEX) {
			a->blobs = realloc(a->blobs, (a->n + 1) * sizeof *a->blobs);
			if (a->blobs == NULL)
				die(dir);
			struct fuzz_blob *b = &a->blobs[a->n++];
			memset(b, 0, sizeof *b);
			snprintf(b->name, sizeof b->name, "xxh128:%.32s", e->d_name);
			load(path, &b->data);
		}
	}
	closedir(d);
}

static void blob_path(char *path, const char *dir, const char *name, bool make)
{
	char sub[16];

	snprintf(sub, sizeof sub, "blobs/%.2s", name + 7);
	path_to(path, dir, "blobs");
	if (make)
		mkdir(path, 0700);
	path_to(path, dir, sub);
	if (make)
		mkdir(path, 0700);
	size_t len = strlen(path);
	snprintf(path + len, PATH_MAX - len, "/%s", name + 7);
}

static void put_blob(const char *dir, const struct fuzz_blob *b)
{
	char path[PATH_MAX];

	blob_path(path, dir, b->name, true);
	save(path, &b->data);
}

struct outcome {
	struct fuzz_reply run;
	double seconds;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static volatile sig_atomic_t child, stop;

static void on_term(int sig)
{
	(void)sig;
	stop = 1;
}

static void on_alarm(int sig)
{
	(void)sig;
	if (child > 0)
		kill(-child, SIGKILL);
}

static struct outcome play(const char *prog, const char *dir, const char *err)
{
	const char *seconds = getenv("FUZZ_WATCHDOG"), *server = getenv("FUZZ_SERVER");
	char watchdog[64];
	struct outcome o = {0};

	snprintf(watchdog, sizeof watchdog, "--watchdog=%.20s", seconds != NULL ? seconds : "10");
	bool go_on = fuzz_rand(2) == 0, unplaced = fuzz_rand(4) == 0, checked = fuzz_rand(4) == 0;
	/* As many words each time: what is not chosen says the same once more. */
	const char *const words[FUZZ_WORDS] = {
	    prog,
	    "-d",
	    "emu",
	    watchdog,
	    "--max-host-bytes",
	    "268435456",
	    go_on ? "-k" : watchdog,
	    unplaced ? "--no-placement" : watchdog,
	    checked ? "--memcheck=blocks,init" : watchdog,
	    "--",
	    dir,
	};
	double start = now();
	alarm(LIMIT_SECONDS);
	o.run =
	    fuzz_run(prog, server != NULL && server[0] != '\0' ? server : NULL, words, err, &child);
	alarm(0);
	o.seconds = now() - start;
	return o;
}

static const char *wrong(const struct outcome *o)
{
	static char why[64];

	if (WIFSIGNALED(o->run.status) && o->seconds >= LIMIT_SECONDS)
		return "took too long";
	if (WIFSIGNALED(o->run.status))
		snprintf(why, sizeof why, "signal %d", WTERMSIG(o->run.status));
	else if (WEXITSTATUS(o->run.status) > 2)
		snprintf(why, sizeof why, "exit code %d", WEXITSTATUS(o->run.status));
	else if (o->run.kib > LIMIT_KIB)
		snprintf(why, sizeof why, "%ld KiB", o->run.kib);
	else
		return NULL;
	return why;
}

int main(int argc, char **argv)
{
	if (argc < 7) {
		fprintf(stderr, "usage: play HRR-PLAY FOLDER SEED RUNS SECONDS ARCHIVE...\n");
		return 2;
	}
	const char *prog = argv[1], *folder = argv[2];
	uint64_t seed = strtoull(argv[3], NULL, 10), runs = strtoull(argv[4], NULL, 10);
	double end = now() + strtod(argv[5], NULL);
	int n = argc - 6, failures = 0;
	unsigned long codes[3] = {0};
	struct fuzz_archive *a = calloc((size_t)n, sizeof *a);
	struct hrr_buf events = {0};
	struct fuzz_blob blob = {.name = ""};
	char dir[PATH_MAX], sub[PATH_MAX], path[PATH_MAX], err[PATH_MAX], name[64];

	if (a == NULL)
		die("memory");
	/* Bounds of the run time; whoever runs this may set others. */
	setenv("HRR_EMU_BUDGET", "3000000", 0);
	setenv("HRR_EMU_MEMORY", "268435456", 0);
	setenv("HRR_EMU_THREADS", "1", 0);
	setenv("ASAN_OPTIONS",
	       "exitcode=99:allocator_may_return_null=1:max_allocation_size_mb=1024", 0);
	setenv("UBSAN_OPTIONS", "print_stacktrace=1:exitcode=99", 0);
	struct sigaction sa = {.sa_handler = on_alarm};
	sigaction(SIGALRM, &sa, NULL);
	sa.sa_handler = on_term; /* ends with the figures so far */
	sigaction(SIGTERM, &sa, NULL);
	mkdir(folder, 0700);
	path_to(err, folder, "run.err");
	for (int i = 0; i < n; i++) {
		load_folder(&a[i], argv[6 + i]);
		snprintf(name, sizeof name, "a%d.hrr", i);
		path_to(dir, folder, name);
		mkdir(dir, 0700);
		path_to(sub, dir, "pid-1");
		mkdir(sub, 0700);
		for (size_t k = 0; k < a[i].n; k++)
			put_blob(dir, &a[i].blobs[k]);
	}
	uint64_t done = 0;
	for (; done < runs && now() < end && !stop; done++, seed++) {
		fuzz_seed(seed);
		size_t which = fuzz_rand((uint64_t)n);
		fuzz_mutate(&a[which], &events, &blob);
		snprintf(name, sizeof name, "a%zu.hrr", which);
		path_to(dir, folder, name);
		path_to(path, dir, "pid-1/events.jsonl");
		save(path, &events);
		if (blob.name[0] != '\0')
			put_blob(dir, &blob);
		struct outcome o = play(prog, dir, err);
		const char *why = wrong(&o);
		if (why != NULL) {
			fprintf(stderr, "play: seed %llu: %s\n", (unsigned long long)seed, why);
			failures++;
			snprintf(name, sizeof name, "%llu.err", (unsigned long long)seed);
			path_to(path, folder, name);
			rename(err, path);
			snprintf(name, sizeof name, "%llu.jsonl", (unsigned long long)seed);
			path_to(path, folder, name);
			save(path, &events);
		} else {
			codes[WEXITSTATUS(o.run.status)]++;
		}
		if (blob.name[0] != '\0') {
			blob_path(path, dir, blob.name, false);
			bool own = false;
			for (size_t k = 0; k < a[which].n; k++)
				own |= strcmp(a[which].blobs[k].name, blob.name) == 0;
			if (!own && why == NULL)
				unlink(path);
		}
	}
	printf("play: %llu archives: %lu matched, %lu diverged, %lu refused, %d wrong\n",
	       (unsigned long long)done, codes[0], codes[1], codes[2], failures);
	return failures > 0;
}
