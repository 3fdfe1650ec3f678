#include "lib/collect/private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static bool lock_file(int fd)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};

	return fcntl(fd, F_SETLK, &l) == 0;
}

static bool is_locked(int fd)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};

	return fcntl(fd, F_GETLK, &l) == 0 && l.l_type != F_UNLCK;
}

/* No process may take a good part of what is free. */
static uint64_t arena_size(const struct hrr_collect_options *opt)
{
	struct statvfs fs;
	uint64_t free_bytes = 0, n = opt->arena_size & ~(uint64_t)63;

	if (n > 0 && statvfs(opt->scratch, &fs) == 0)
		free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	return free_bytes > opt->min_free && (free_bytes - opt->min_free) / 8 >= n ? n : 0;
}

int hrr_collect_open(struct hrr_collect **ret, const struct hrr_collect_options *opt, bool recover,
		     struct hrr_diag *diag)
{
	struct hrr_collect *c = calloc(1, sizeof *c);
	char path[4352];
	struct stat st;
	int rc;

	if (c == NULL)
		return hrr_diag_set(diag, -ENOMEM, "out of memory");
	c->opt = *opt;
	c->recover = recover;
	c->hub_fd = -1;
	hrr_boot_id(c->boot, sizeof c->boot);
	snprintf(path, sizeof path, "%s/hub", opt->scratch);
	c->hub_fd =
	    open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (recover ? 0 : O_CREAT | O_EXCL), 0600);
	if (c->hub_fd < 0) {
		rc = hrr_diag_set(diag, -errno, "cannot open %s: %s", path, strerror(errno));
		goto fail;
	}
	if (!lock_file(c->hub_fd)) {
		rc = hrr_diag_set(diag, -EBUSY, "%s is being recorded", opt->scratch);
		goto fail;
	}
	rc = recover ? 0 : -posix_fallocate(c->hub_fd, 0, sizeof *c->hub);
	if (rc < 0) {
		hrr_diag_set(diag, rc, "cannot write %s: %s", path, strerror(-rc));
		goto fail;
	}
	if (fstat(c->hub_fd, &st) < 0 || st.st_size < (off_t)sizeof *c->hub) {
		rc = hrr_diag_set(diag, -EINVAL, "%s: not a hub of this version", path);
		goto fail;
	}
	c->hub = mmap(NULL, sizeof *c->hub, PROT_READ | PROT_WRITE, MAP_SHARED, c->hub_fd, 0);
	if (c->hub == MAP_FAILED) {
		c->hub = NULL;
		rc = hrr_diag_set(diag, -errno, "cannot map %s: %s", path, strerror(errno));
		goto fail;
	}
	struct hrr_hub *h = c->hub;
	if (recover) {
		if (h->magic != HRR_HUB_MAGIC || h->version != HRR_RING_VERSION) {
			rc = hrr_diag_set(diag, -EINVAL, "%s: not a hub of this version", path);
			goto fail;
		}
		h->only[sizeof h->only - 1] = '\0';
		c->opt.only = h->only[0] != '\0' ? h->only : NULL;
		c->alone = atomic_exchange(&h->off, HRR_OFF_READER) == HRR_OFF_ALONE ||
			   atomic_load(&h->missed) != 0;
	} else {
		h->version = HRR_RING_VERSION;
		h->reader_pid = (uint32_t)getpid();
		h->ring_size = opt->ring_size;
		h->arena_size = arena_size(opt);
		h->host_limit = opt->host_limit;
		h->options = opt->options;
		if (opt->only != NULL)
			snprintf(h->only, sizeof h->only, "%s", opt->only);
		atomic_store_explicit(&h->magic, HRR_HUB_MAGIC, memory_order_release);
	}
	if (c->opt.only != NULL && (rc = hrr_select_new(&c->only, c->opt.only, diag)) < 0)
		goto fail;
	*ret = c;
	return 0;
fail:
	hrr_collect_close(c);
	return rc;
}

void process_path(const struct process *p, const char *kind, uint32_t n, char *path, size_t size)
{
	if (n == UINT32_MAX)
		snprintf(path, size, "%s/p%u.%s", p->c->opt.scratch, p->index, kind);
	else
		snprintf(path, size, "%s/p%u.%s%u", p->c->opt.scratch, p->index, kind, n);
}

void fail_output(struct hrr_collect *c, const struct hrr_diag *diag)
{
	if (!c->dead_output)
		c->failure = *diag;
	c->dead_output = true;
	atomic_store(&c->hub->off, HRR_OFF_READER);
}

/* -EAGAIN: it is not there yet. */
static int map_ctl(struct process *p)
{
	char path[4352];
	struct stat st;

	process_path(p, "ctl", UINT32_MAX, path, sizeof path);
	int rc = -EAGAIN, fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno == ENOENT ? -EAGAIN : -errno;
	if (fstat(fd, &st) == 0 && st.st_size >= (off_t)sizeof *p->ctl) {
		struct hrr_ctl *ctl =
		    mmap(NULL, sizeof *ctl, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (ctl == MAP_FAILED) {
			rc = -errno;
		} else {
			if (atomic_load_explicit(&ctl->magic, memory_order_acquire) ==
			    HRR_CTL_MAGIC) {
				p->ctl = ctl;
				p->ctl_fd = fd;
				return 0;
			}
			munmap(ctl, sizeof *ctl);
		}
	}
	close(fd);
	return rc;
}

/* argv and environment of the ctl file as pointers into buf. */
static int read_info(struct process *p, struct hrr_buf *buf, const char ***ret_list)
{
	uint32_t n = p->ctl->argc + p->ctl->envc, have = 0;

	if (p->ctl->info > (64u << 20) || n > p->ctl->info)
		return -EINVAL;
	if (hrr_buf_reserve(buf, p->ctl->info + 1) < 0)
		return -ENOMEM;
	ssize_t got = pread(p->ctl_fd, buf->data, p->ctl->info, sizeof *p->ctl);
	if (got != (ssize_t)p->ctl->info)
		return -EIO;
	buf->data[got] = '\0';
	const char **v = calloc(n + 1, sizeof *v);
	if (v == NULL)
		return -ENOMEM;
	for (char *s = buf->data; s < buf->data + got && have < n; s += strlen(s) + 1)
		v[have++] = s;
	while (have < n)
		v[have++] = "";
	*ret_list = v;
	return 0;
}

void write_header(struct process *p)
{
	struct hrr_buf info = {0};
	const char **v = NULL;

	if (read_info(p, &info, &v) < 0)
		v = NULL;
	struct hrr_write_header h = {.p = p->p,
				     .pid = p->pid,
				     .image = p->image,
				     .argc = v != NULL ? p->ctl->argc : 0,
				     .argv = v,
				     .t0 = p->ctl->t0,
				     .realtime = p->ctl->realtime,
				     .boot = p->c->boot,
				     .n_env = v != NULL ? p->ctl->envc : 0,
				     .env = v != NULL ? v + p->ctl->argc : NULL,
				     .blobs = p->c->opt.blobs_name};
	hrr_write_header(&p->out, &h);
	free(v);
	hrr_buf_release(&info);
}

int process_start(struct process *p)
{
	struct hrr_collect *c = p->c;
	struct hrr_diag diag = {0};

	int rc = p->ctl == NULL ? map_ctl(p) : 0;
	if (rc < 0) {
		if (rc != -EAGAIN) {
			hrr_diag_set(&diag, rc, "cannot take up a process: %s", strerror(-rc));
			fail_output(c, &diag);
		}
		return -EAGAIN;
	}
	p->pid = p->ctl->pid;
	p->pending_last = &p->pending;
	p->next = 1;
	for (uint32_t i = 0; i < p->index; i++)
		if (c->p[i]->started && c->p[i]->pid == p->pid) {
			p->image++;
			if (c->p[i]->ctl != NULL && c->p[i]->ctl->start == p->ctl->start)
				c->p[i]->dead = true; /* this pid runs another program now */
		}
	p->p = c->opt.archive == NULL && p->index > 0 ? (int64_t)p->index : -1;
	p->fd = c->opt.fd;
	if (c->recover)
		return recover_stream(p);
	if (c->opt.archive != NULL &&
	    hrr_archive_process(c->opt.archive, p->pid, p->image, &p->fd, &diag) < 0) {
		p->fd = -1;
		p->failed = true;
		fail_output(c, &diag);
	}
	struct stat st;
	if (p->fd >= 0 && fstat(p->fd, &st) == 0)
		p->file = st.st_ino;
	p->started = true;
	write_header(p);
	return 0;
}

static int write_all(int fd, const char *s, size_t n)
{
	while (n > 0) {
		ssize_t w = write(fd, s, n);
		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			return w < 0 ? -errno : -EIO;
		s += w;
		n -= (size_t)w;
	}
	return 0;
}

static void check_limits(struct hrr_collect *c)
{
	struct statvfs fs;

	if (c->limit != NULL)
		return;
	if (c->opt.max_bytes != 0 && c->bytes > c->opt.max_bytes)
		c->limit = "--max-bytes is reached";
	uint64_t now = now_ns(CLOCK_MONOTONIC);
	if (c->opt.min_free != 0 && now - c->checked_free > 500000000u) {
		c->checked_free = now;
		if (statvfs(c->opt.scratch, &fs) == 0 &&
		    (uint64_t)fs.f_bavail * fs.f_frsize < c->opt.min_free)
			c->limit = "the file system has no more room to spare";
	}
	if (c->limit != NULL)
		atomic_store(&c->hub->off, HRR_OFF_READER);
}

void process_mark(struct process *p)
{
	uint32_t slot = 1 - p->slot;

	for (uint32_t i = 0; i < p->n_q; i++)
		if (p->q[i].ring != NULL)
			p->q[i].ring->mark[slot] = queue_mark(&p->q[i]);
	p->ctl->progress[slot] =
	    (struct hrr_progress){.written = p->written,
				  .next = p->next,
				  .calls = p->calls - p->dropped_calls,
				  .outputs = p->outputs - p->dropped_outputs,
				  .regions = p->regions,
				  .known = p->known_written,
				  .file = p->file,
				  .filtered = p->filtered,
				  .gate = p->gate,
				  .group = p->group != NULL ? (uint32_t)(p->group - p->q) + 1 : 0};
}

void process_settle(struct process *p)
{
	p->slot = 1 - p->slot;
	atomic_store_explicit(&p->ctl->settled, p->slot, memory_order_release);
}

void process_flush(struct process *p)
{
	struct hrr_diag diag = {0};

	if (p->out.len > 0 && !p->c->dead_output) {
		/* Without memory a line may lack a part. */
		int rc = p->out.failed ? -ENOMEM : write_all(p->fd, p->out.data, p->out.len);
		if (rc < 0) {
			hrr_diag_set(&diag, rc, "cannot write events: %s", strerror(-rc));
			fail_output(p->c, &diag);
			/* No half line; in a pipe nothing can be taken back. */
			(void)!ftruncate(p->fd, (off_t)p->written);
			p->failed = true;
		} else {
			p->c->bytes += p->out.len;
			p->written += p->out.len;
		}
	} else if (p->out.len > 0) {
		p->failed = true; /* another one's stream could not be written: no more of any */
	}
	p->out.len = 0;
	if (p->failed)
		return; /* counts and positions stay those of what is written */
	known_save(p);
	process_mark(p);
	process_settle(p);
	for (uint32_t i = 0; i < p->n_q; i++)
		if (p->q[i].ring != NULL)
			queue_settle(&p->q[i]);
	if (p->payloads.len > 0)
		remove_payloads(p);
	check_limits(p->c);
}

static void discover(struct hrr_collect *c)
{
	uint32_t n = atomic_load_explicit(&c->hub->processes, memory_order_acquire);

	while (c->n_p < n && n < (1u << 22)) {
		if ((c->n_p & (c->n_p - 1)) == 0) {
			struct process **v = realloc(c->p, (c->n_p ? c->n_p * 2 : 1) * sizeof *v);
			if (v == NULL)
				return;
			c->p = v;
		}
		struct process *p = calloc(1, sizeof *p);
		if (p == NULL)
			return;
		p->c = c;
		p->index = c->n_p;
		p->fd = p->ctl_fd = p->known_fd = -1;
		c->p[c->n_p++] = p;
	}
}

/* State letter and start time of a pid as we see it; false: there is none. */
static bool proc_stat(uint32_t pid, char *ret_state, uint64_t *ret_start)
{
	char path[64], text[1024];

	snprintf(path, sizeof path, "/proc/%u/stat", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t n = read(fd, text, sizeof text - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	char *s = strrchr(text, ')');
	if (s == NULL || s[1] != ' ')
		return false;
	*ret_state = s[2];
	for (int field = 2; s != NULL && field < 22; field++)
		s = strchr(s + 1, ' ');
	if (s == NULL)
		return false;
	*ret_start = strtoull(s + 1, NULL, 10);
	return true;
}

/*
 * Dead: no process with this pid and start time (or a zombie), and nobody holds
 * the lock. Either alone may mislead: pids of other namespaces are not ours, a
 * program may close our descriptor, a leader may end before its threads.
 */
static bool is_dead(const struct process *p)
{
	char state;
	uint64_t start;

	if (is_locked(p->ctl_fd))
		return false;
	return !proc_stat(p->pid, &state, &start) || start != p->ctl->start || state == 'Z' ||
	       state == 'X';
}

static void free_process(struct process *p)
{
	for (uint32_t i = 0; i < p->n_q; i++)
		queue_close(&p->q[i]);
	free(p->q);
	p->q = NULL;
	p->n_q = p->cap_q = 0;
	known_release(p);
	arena_close(p);
	while (p->pending != NULL) {
		struct pending *y = p->pending;
		p->pending = y->next;
		free(y);
	}
	free(p->gaps);
	p->gaps = NULL;
	hrr_seqs_free(p->wanted);
	p->wanted = NULL;
	hrr_buf_release(&p->out);
	hrr_buf_release(&p->known);
	hrr_buf_release(&p->payloads);
	if (p->known_fd >= 0)
		close(p->known_fd);
	p->known_fd = -1;
	if (p->c->opt.archive != NULL && p->fd >= 0)
		close(p->fd);
	p->fd = -1;
	if (p->ctl != NULL)
		munmap(p->ctl, sizeof *p->ctl);
	p->ctl = NULL;
	if (p->ctl_fd >= 0)
		close(p->ctl_fd);
	p->ctl_fd = -1;
}

static void remove_files(const struct process *p)
{
	char path[4352];

	for (uint32_t i = 0; i < p->n_q; i++) {
		process_path(p, "r", i, path, sizeof path);
		unlink(path);
		process_path(p, "s", i, path, sizeof path);
		unlink(path);
	}
	uint32_t files = atomic_load(&p->ctl->files);
	for (uint32_t i = 0; i < files; i++) { /* of calls that did not get to their record */
		process_path(p, "f", i, path, sizeof path);
		unlink(path);
	}
	process_path(p, "a", UINT32_MAX, path, sizeof path);
	unlink(path);
	process_path(p, "known", UINT32_MAX, path, sizeof path);
	unlink(path);
	process_path(p, "ctl", UINT32_MAX, path, sizeof path);
	unlink(path);
}

static void write_end(struct process *p, bool cut)
{
	const char *names[HRR_API_COUNT];
	uint64_t counts[HRR_API_COUNT];
	size_t n = 0, aside = HRR_API_COUNT; /* aside ones from the end */

	for (int i = HRR_API_COUNT - 1; i >= 0; i--) {
		uint64_t k = atomic_load(&p->ctl->not_recorded[i]);
		if (k == 0 || !hrr_api_table[i].aside)
			continue;
		names[--aside] = hrr_api_table[i].name;
		counts[aside] = k;
	}
	for (int i = 0; i < HRR_API_COUNT; i++) {
		uint64_t k = atomic_load(&p->ctl->not_recorded[i]);
		if (k == 0 || hrr_api_table[i].aside)
			continue;
		names[n] = hrr_api_table[i].name;
		counts[n++] = k;
		p->not_recorded += k;
	}
	p->lost = atomic_load(&p->ctl->lost);
	p->lost_bytes = atomic_load(&p->ctl->lost_bytes);
	for (uint32_t i = 0; i < p->n_q; i++)
		p->lost += p->q[i].damaged;
	struct hrr_write_end e = {.p = p->p,
				  .how = cut ? "cut" : only_how(p),
				  .t = now_ns(CLOCK_MONOTONIC) - p->ctl->t0,
				  .calls = p->calls - p->dropped_calls,
				  .outputs = p->outputs - p->dropped_outputs,
				  .regions = p->regions,
				  .realtime = now_ns(CLOCK_REALTIME),
				  .n_not_recorded = n,
				  .not_recorded = names,
				  .not_recorded_count = counts,
				  .n_aside = HRR_API_COUNT - aside,
				  .aside = names + aside,
				  .aside_count = counts + aside,
				  .lost = p->lost};
	hrr_write_end(&p->out, &e);
}

static void process_end(struct process *p, bool keep)
{
	bool dead = p->dead;

	while (process_drain(p, dead))
		;
	for (uint32_t i = 0; i < p->n_q && dead; i++) {
		struct queue *q = &p->q[i];
		if (q->entered.len == 0)
			continue;
		print_call(p, q, (const struct hrr_rec *)(const void *)q->entered.data, false);
		p->next++;
		p->cut = true;
	}
	for (const struct pending *y = p->pending; y != NULL; y = y->next)
		print_unknown(p, y,
			      dead ? "the program ended before it waited"
				   : "recording ended before the program waited");
	process_flush(p); /* whether all of it is written decides what its end says */
	for (uint32_t i = 0; i < p->n_q; i++)
		p->cut |= p->q[i].damaged;
	if ((p->c->opt.options & HRR_OPT_DROP) == 0)
		p->cut |= atomic_load(&p->ctl->lost) != 0;
	if (p->c->recover) /* how it ended nobody saw: without exit handlers it was no exit */
		p->cut |= p->c->alone || atomic_load(&p->ctl->exiting) == 0;
	p->cut |= p->killed || !dead || p->c->limit != NULL || p->c->dead_output;
	if (p->failed) { /* what was drained since went nowhere */
		const struct hrr_progress *x = &p->ctl->progress[p->slot];
		p->calls = x->calls;
		p->outputs = x->outputs;
		p->dropped_calls = p->dropped_outputs = 0;
		p->regions = x->regions;
	}
	if (p->failed)
		hrr_buf_release(&p->out);
	write_end(p, p->cut);
	if (p->c->dead_output && p->fd >= 0 && p->c->opt.archive != NULL) {
		/* The line that says so may still fit. */
		if (!p->out.failed && write_all(p->fd, p->out.data, p->out.len) < 0)
			(void)!ftruncate(p->fd, (off_t)p->written);
		p->out.len = 0;
	}
	process_flush(p);
	p->cut |= p->failed;
	p->closed = true;
	if (!keep)
		remove_files(p);
	free_process(p);
}

int hrr_collect_step(struct hrr_collect *c, struct hrr_diag *diag)
{
	int moved = 0;

	discover(c);
	for (uint32_t i = 0; i < c->n_p; i++) {
		struct process *p = c->p[i];
		if (p->closed)
			continue;
		if (!p->started && process_start(p) < 0)
			continue;
		/* Dead first, then drained: nothing can come in between. */
		bool dead = p->dead;
		if (!dead && p->quiet >= 2 && p->pid != c->command) {
			dead = is_dead(p);
			p->quiet = 0;
		}
		if (dead) {
			p->dead = true;
			process_end(p, false);
			moved = 1;
		} else if (process_drain(p, false)) {
			moved = 1;
			p->quiet = 0;
		} else {
			p->quiet++;
		}
	}
	compact_step(c);
	if (c->dead_output && diag != NULL)
		*diag = c->failure;
	return c->dead_output ? -EIO : moved;
}

void hrr_collect_wait(struct hrr_collect *c, unsigned milliseconds)
{
	struct timespec ts = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
	uint32_t wake = atomic_load(&c->hub->wake);

	atomic_store(&c->hub->sleeping, 1);
	for (uint32_t i = 0; i < c->n_p;
	     i++) { /* not asleep over a ring that filled up meanwhile */
		struct process *p = c->p[i];
		for (uint32_t k = 0; !p->closed && k < p->n_q; k++)
			if (p->q[k].ring != NULL &&
			    atomic_load(&p->q[k].ring->head) - p->q[k].rd > p->q[k].size / 2)
				ts = (struct timespec){0, 0};
	}
	syscall(SYS_futex, &c->hub->wake, FUTEX_WAIT, wake, &ts, NULL, 0);
	atomic_store(&c->hub->sleeping, 0);
}

void hrr_collect_command(struct hrr_collect *c, pid_t pid)
{
	c->command = (uint32_t)pid;
}

void hrr_collect_ended(struct hrr_collect *c, pid_t pid, bool killed)
{
	c->command = 0;
	for (uint32_t i = 0; i < c->n_p; i++)
		if (!c->p[i]->closed && c->p[i]->started && c->p[i]->pid == (uint32_t)pid) {
			c->p[i]->killed = killed;
			c->p[i]->dead = true;
		}
}

unsigned hrr_collect_alive(struct hrr_collect *c)
{
	unsigned n = 0;

	discover(c);
	for (uint32_t i = 0; i < c->n_p; i++)
		n += c->p[i]->started && !c->p[i]->closed && !is_dead(c->p[i]);
	return n;
}

void hrr_collect_stop(struct hrr_collect *c)
{
	atomic_store(&c->hub->off, HRR_OFF_READER);
}

int hrr_collect_finish(struct hrr_collect *c, struct hrr_diag *diag)
{
	char path[4352];
	bool all = true;

	hrr_collect_stop(c);
	compact_stop(c);
	discover(c);
	for (uint32_t i = 0; i < c->n_p; i++) {
		struct process *p = c->p[i];
		if (p->closed || (!p->started && process_start(p) < 0))
			continue;
		if (!p->dead)
			p->dead = is_dead(p);
		all &= p->dead;
		process_end(p, !p->dead);
	}
	/* A process that could not even open the hub says so by a folder: that takes neither memory
	 * nor a descriptor. */
	snprintf(path, sizeof path, "%s/" HRR_UNRECORDED, c->opt.scratch);
	c->unrecorded = atomic_load(&c->hub->unrecorded);
	if (access(path, F_OK) == 0) {
		c->unrecorded++;
		rmdir(path);
	}
	if (all) {
		snprintf(path, sizeof path, "%s/hub", c->opt.scratch);
		unlink(path);
	}
	/* Else a program still has it mapped and looks at `off`; the files go with the folder. */
	if (c->dead_output) {
		if (diag != NULL)
			*diag = c->failure;
		return -EIO;
	}
	return 0;
}

void hrr_collect_summary(const struct hrr_collect *c, struct hrr_collect_summary *ret)
{
	*ret = (struct hrr_collect_summary){
	    .bytes = c->bytes, .limit = c->limit, .unrecorded = c->unrecorded};
	for (uint32_t i = 0; i < c->n_p; i++) {
		const struct process *p = c->p[i];
		if (!p->started)
			continue;
		ret->processes++;
		ret->calls += p->calls;
		ret->outputs += p->outputs;
		ret->regions += p->regions;
		ret->lost += p->lost;
		ret->lost_bytes += p->lost_bytes;
		ret->not_recorded += p->not_recorded;
		ret->cut |= p->cut;
	}
}

void hrr_collect_close(struct hrr_collect *c)
{
	if (c == NULL)
		return;
	compact_stop(c);
	for (uint32_t i = 0; i < c->n_p; i++) {
		free_process(c->p[i]);
		free(c->p[i]);
	}
	free(c->p);
	free(c->compact);
	bytes_forget(c);
	hrr_select_free(c->only);
	hrr_record_release(&c->judged);
	hrr_buf_release(&c->scratch);
	if (c->hub != NULL)
		munmap(c->hub, sizeof *c->hub);
	if (c->hub_fd >= 0)
		close(c->hub_fd);
	free(c);
}
