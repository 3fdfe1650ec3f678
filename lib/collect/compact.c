#include "lib/collect/private.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/collect/cut.h"
#include "lib/store/file.h"

/*
 * --window while it records. From time to time a child cuts down what is written
 * so far into new files beside the streams, and says which blobs only lines that
 * go have named; the reader goes on meanwhile. Then it appends what has been
 * written since, puts the new file in the stream's place, and removes those
 * blobs, unless it has stored them again or may name them again.
 *
 * What a process has alive stays with all it depends on (hrr_slice_live), so what
 * stays in the end is what one cut at the end would leave.
 */
#define LEAST_NS ((uint64_t)500000000)
#define LEAST_BYTES ((uint64_t)1 << 20) /* not for less than this, and half of what stayed */

struct result { /* of one process, by the child */
	uint64_t size, calls, outputs, regions;
	bool done;
};

struct at_fork {
	uint64_t written, calls, outputs, regions;
	bool closed;
};

struct compact {
	pid_t child;		/* 0: none */
	int fd;			/* its answer: bytes kept, a result for each process, ids */
	uint32_t n;		/* processes when it began */
	struct at_fork *then;	/* owned, n */
	uint64_t began, stayed; /* ns; bytes that stayed last time */
	uint64_t bytes;		/* of the collector, then */
	struct hrr_idmap fresh; /* stored since it began */
};

static void temp_path(const struct process *p, char *path, size_t size)
{
	stream_path(p, path, size);
	size_t n = strlen(path);
	snprintf(path + n, size - n, ".cut");
}

void compact_clean(const struct process *p)
{
	char temp[4400];

	temp_path(p, temp, sizeof temp);
	unlink(temp);
}

/* --- the child --- */

static bool is_pending(void *self, uint64_t seq)
{
	return hrr_seqs_has(self, 0, seq);
}

static int cut_process(struct cut *cut, const struct process *p, struct result *ret)
{
	char path[4352], temp[4400];
	struct stat st;
	int rc = 0;

	cut->self = hrr_seqs_new();
	if (cut->self == NULL)
		return -ENOMEM;
	for (const struct pending *x = p->pending; rc == 0 && x != NULL; x = x->next)
		rc = hrr_seqs_add(cut->self, 0, out_seq(p, x->call));
	cut->also = is_pending;
	cut->live = !p->closed;
	stream_path(p, path, sizeof path);
	temp_path(p, temp, sizeof temp);
	unlink(temp);
	uint64_t calls = cut->calls, outputs = cut->outputs, regions = cut->regions;
	if (rc == 0)
		rc = cut_stream(cut, path, p->written, temp);
	if (rc == 0 && stat(temp, &st) == 0)
		*ret = (struct result){.size = (uint64_t)st.st_size,
				       .calls = cut->calls - calls,
				       .outputs = cut->outputs - outputs,
				       .regions = cut->regions - regions,
				       .done = true};
	hrr_seqs_free(cut->self);
	return rc;
}

/* Bytes of the blobs that stay; the ids of the others go to fd. */
static int tell_ids(struct hrr_collect *c, const struct cut *cut, int fd, uint64_t *total)
{
	struct hrr_buf ids = {0};
	struct hrr_id id;
	uint64_t size;
	int rc = 0;

	for (size_t at = 0; (at = hrr_idmap_next(&cut->named, at, &id)) != 0;)
		if (hrr_blobs_size(c->opt.blobs, &id, &size) == 0)
			*total += size;
	for (size_t at = 0; rc == 0 && (at = hrr_idmap_next(cut->gone, at, &id)) != 0;)
		if (hrr_idmap_get(&cut->named, &id) == NULL)
			rc = hrr_buf_add(&ids, &id, sizeof id);
	if (rc == 0 && ids.len > 0 && write(fd, ids.data, ids.len) != (ssize_t)ids.len)
		rc = -EIO;
	hrr_buf_release(&ids);
	return rc;
}

static void run_child(struct hrr_collect *c, struct compact *k, pid_t parent)
{
	struct hrr_idmap gone = {0};
	struct hrr_diag diag;
	struct cut cut = {.fd = -1, .gone = &gone, .diag = &diag};
	struct result *r = calloc(k->n, sizeof *r);
	uint64_t total = 0;
	sigset_t all;
	size_t len = k->n * sizeof *r;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL); /* what is sent to all is not for us */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || r == NULL)
		_exit(1);
	setpriority(PRIO_PROCESS, 0, 10);
	cut.from = c->newest > c->opt.window ? c->newest - c->opt.window : 0;
	for (uint32_t i = 0; i < k->n; i++) {
		if (c->p[i]->written == 0 || c->p[i]->failed)
			continue;
		if (cut_process(&cut, c->p[i], &r[i]) < 0)
			_exit(1);
		total += r[i].size;
	}
	if (lseek(k->fd, (off_t)(sizeof total + len), SEEK_SET) < 0 ||
	    tell_ids(c, &cut, k->fd, &total) < 0 ||
	    pwrite(k->fd, &total, sizeof total, 0) != (ssize_t)sizeof total ||
	    pwrite(k->fd, r, len, sizeof total) != (ssize_t)len)
		_exit(1);
	_exit(0);
}

/* --- the reader --- */

static void forget(struct compact *k)
{
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
	free(k->then);
	k->then = NULL;
	k->child = 0;
	hrr_idmap_release(&k->fresh);
	k->fresh = (struct hrr_idmap){0};
}

static void remove_temps(struct hrr_collect *c, const struct compact *k)
{
	for (uint32_t i = 0; i < k->n; i++)
		if (c->p[i]->started)
			compact_clean(c->p[i]);
}

static void begin(struct hrr_collect *c, struct compact *k)
{
	char path[4352];
	pid_t parent = getpid();

	k->n = c->n_p;
	k->then = calloc(k->n + 1, sizeof *k->then);
	snprintf(path, sizeof path, "%s/cut", c->opt.scratch);
	k->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	unlink(path);
	if (k->then == NULL || k->fd < 0) {
		forget(k);
		return;
	}
	for (uint32_t i = 0; i < k->n; i++) {
		struct process *p = c->p[i];
		if (p->started && !p->closed)
			process_flush(p);
		k->then[i] = (struct at_fork){p->written, p->calls - p->dropped_calls,
					      p->outputs - p->dropped_outputs,
					      p->regions - p->dropped_regions, p->closed};
	}
	k->bytes = c->bytes;
	k->child = fork();
	if (k->child == 0)
		run_child(c, k, parent);
	if (k->child < 0)
		forget(k);
}

/* Copies path's [from, to) to the end of fd. */
static int copy_tail(const char *path, uint64_t from, uint64_t to, int fd)
{
	char buf[65536];
	int rc = 0, in = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (in < 0)
		return -errno;
	while (rc == 0 && from < to) {
		size_t want = to - from < sizeof buf ? to - from : sizeof buf;
		ssize_t n = pread(in, buf, want, (off_t)from);
		if (n < 0 && errno == EINTR)
			continue;
		rc = n <= 0 ? -EIO : hrr_write_all(fd, buf, (size_t)n);
		from += n > 0 ? (uint64_t)n : 0;
	}
	close(in);
	return rc;
}

static void count_dropped(struct process *p, const struct at_fork *then, const struct result *r)
{
	p->dropped_calls += then->calls - r->calls;
	p->dropped_outputs += then->outputs - r->outputs;
	p->dropped_regions += then->regions - r->regions;
	p->filtered |= then->calls != r->calls || then->outputs != r->outputs;
}

/* The new stream in the old one's place. False: the old one stays. */
static bool take_over(struct process *p, const struct at_fork *then, const struct result *r)
{
	char path[4352], temp[4400];
	struct stat st;

	stream_path(p, path, sizeof path);
	temp_path(p, temp, sizeof temp);
	if (p->closed) /* one that ended meanwhile has counts in its end that would be wrong */
		return then->closed && rename(temp, path) == 0;
	process_flush(p);
	int fd = open(temp, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return false;
	if (p->failed || copy_tail(path, then->written, p->written, fd) < 0 || fstat(fd, &st) < 0) {
		close(fd);
		return false;
	}
	/* A reader that goes on after us takes the mark that goes with the file it finds. */
	const struct process old = *p;
	count_dropped(p, then, r);
	p->written = (uint64_t)st.st_size;
	p->file = st.st_ino;
	process_mark(p);
	if (rename(temp, path) < 0) {
		*p = old;
		close(fd);
		return false;
	}
	process_settle(p);
	close(p->fd);
	p->fd = fd;
	return true;
}

/* Launches to come name their code objects. */
static int keep_objects(struct hrr_collect *c, struct compact *k)
{
	for (uint32_t i = 0; i < c->n_p; i++)
		for (uint64_t o = 0; o < c->p[i]->n_objects; o++)
			if (c->p[i]->objects[o].known &&
			    hrr_idmap_add(&k->fresh, &c->p[i]->objects[o].id, 1) < 0)
				return -ENOMEM;
	return 0;
}

static void remove_gone(struct hrr_collect *c, struct compact *k, off_t at)
{
	char path[4352];
	struct hrr_id id;

	if (keep_objects(c, k) < 0)
		return;
	for (; pread(k->fd, &id, sizeof id, at) == (ssize_t)sizeof id; at += sizeof id)
		if (hrr_idmap_get(&k->fresh, &id) == NULL &&
		    hrr_blobs_file(c->opt.blobs, &id, path, sizeof path) == 0)
			unlink(path);
	bytes_forget(c);
}

static void take(struct hrr_collect *c, struct compact *k)
{
	struct result r;
	uint64_t total = 0;
	off_t at = sizeof total;
	bool all = pread(k->fd, &total, sizeof total, 0) == (ssize_t)sizeof total;

	for (uint32_t i = 0; i < k->n; i++, at += sizeof r) {
		if (pread(k->fd, &r, sizeof r, at) != (ssize_t)sizeof r)
			all = false;
		else if (r.done)
			all &= take_over(c->p[i], &k->then[i], &r);
	}
	remove_temps(c, k);
	/* Else a stream that stayed as it was may name them. */
	if (all) {
		remove_gone(c, k, at);
		c->bytes = total + (c->bytes - k->bytes);
		k->stayed = total;
	}
}

void compact_step(struct hrr_collect *c)
{
	struct timespec ts;
	int status;

	if (c->opt.window == 0 || c->recover || c->dead_output)
		return;
	if (c->compact == NULL) {
		c->compact = calloc(1, sizeof *c->compact);
		if (c->compact == NULL)
			return;
		c->compact->fd = -1;
	}
	struct compact *k = c->compact;
	if (k->child != 0) {
		if (waitpid(k->child, &status, WNOHANG) != k->child)
			return;
		if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
			take(c, k);
		else
			remove_temps(c, k);
		forget(k);
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &ts);
	uint64_t now = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	uint64_t least = c->opt.window / 2 > LEAST_NS ? c->opt.window / 2 : LEAST_NS;
	uint64_t grown = k->stayed / 2 > LEAST_BYTES ? k->stayed / 2 : LEAST_BYTES;
	if (now - k->began < least || c->bytes < k->stayed + grown)
		return;
	k->began = now;
	begin(c, k);
}

void compact_stored(struct hrr_collect *c, const struct hrr_id *id)
{
	struct compact *k = c->compact;

	/* Without memory for it nothing is removed. */
	if (k != NULL && k->child != 0 && hrr_idmap_add(&k->fresh, id, 1) < 0)
		compact_stop(c);
}

void compact_stop(struct hrr_collect *c)
{
	struct compact *k = c->compact;

	if (k == NULL || k->child == 0)
		return;
	kill(k->child, SIGKILL);
	waitpid(k->child, NULL, 0);
	remove_temps(c, k);
	forget(k);
}
