#include "lib/collect/private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/mask.h"
#include "lib/base/proc.h"
#include "lib/store/file.h"

static bool is_locked(int fd)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};

	return fcntl(fd, F_GETLK, &l) == 0 && l.l_type != F_UNLCK;
}

void process_path(const struct process *p, const char *kind, uint32_t n, char *path, size_t size)
{
	if (n == UINT32_MAX)
		snprintf(path, size, "%s/p%u.%s", p->c->opt.scratch, p->index, kind);
	else
		snprintf(path, size, "%s/p%u.%s%u", p->c->opt.scratch, p->index, kind, n);
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
		struct hrr_ctl *ctl = shared_map(fd, sizeof *ctl, PROT_READ | PROT_WRITE);
		if (ctl == NULL) {
			rc = -errno;
		} else {
			if (atomic_load_explicit(&ctl->magic, memory_order_acquire) ==
			    HRR_CTL_MAGIC) {
				p->ctl = ctl;
				p->ctl_fd = fd;
				return 0;
			}
			shared_unmap(ctl, sizeof *ctl);
		}
	}
	close(fd);
	return rc;
}

/* argv and environment of the ctl file as pointers into buf. ret_argc, ret_envc: how many. */
static int read_info(struct process *p, struct hrr_buf *buf, const char ***ret_list,
		     uint32_t *ret_argc, uint32_t *ret_envc)
{
	const uint32_t argc = p->ctl->argc, envc = p->ctl->envc, info = p->ctl->info;
	uint64_t n = (uint64_t)argc + envc, have = 0;

	if (info > (64u << 20) || n > info)
		return -EINVAL;
	if (hrr_buf_reserve(buf, info + 1) < 0)
		return -ENOMEM;
	ssize_t got = pread(p->ctl_fd, buf->data, info, sizeof *p->ctl);
	if (got != (ssize_t)info)
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
	*ret_argc = argc;
	*ret_envc = envc;
	return 0;
}

void write_header(struct process *p)
{
	struct hrr_buf info = {0};
	const char **v = NULL;
	uint32_t argc = 0, envc = 0;

	(void)read_info(p, &info, &v, &argc, &envc); /* without it there is none */
	struct hrr_write_header h = {.p = p->p,
				     .pid = p->pid,
				     .image = p->image,
				     .argc = argc,
				     .argv = v,
				     .t0 = p->ctl->t0,
				     .realtime = p->ctl->realtime,
				     .boot = p->c->boot,
				     .n_env = envc,
				     .env = v != NULL ? v + argc : NULL,
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
			/* Its lock is gone: this pid runs another program now. A pid of another
			 * namespace may be the same and have begun with it. */
			if (c->p[i]->ctl != NULL && c->p[i]->ctl->start == p->ctl->start &&
			    !is_locked(c->p[i]->ctl_fd))
				c->p[i]->dead = c->p[i]->replaced = true;
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
	c->n_started++;
	write_header(p);
	return 0;
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
				  .regions = p->regions - p->dropped_regions,
				  .known = p->known_written,
				  .known_n = p->known_n,
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

	check_torn(p->c);
	if (p->c->opt.mask && p->out.len > 0 && hrr_mask_from(&p->out, 0) < 0)
		p->out.failed = true;
	if (p->out.len > 0 && !p->c->dead_output) {
		/* Without memory a line may lack a part. */
		int rc = p->out.failed ? -ENOMEM : hrr_write_all(p->fd, p->out.data, p->out.len);
		if (rc < 0) {
			hrr_diag_set(&diag, rc, "cannot write events: %s", strerror(-rc));
			fail_output(p->c, &diag);
			p->c->reader_gone = rc == -EPIPE;
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
	known_settle(p);
	for (uint32_t i = 0; i < p->n_q; i++)
		if (p->q[i].ring != NULL)
			queue_settle(&p->q[i]);
	if (p->payloads.len > 0)
		remove_payloads(p);
	check_limits(p->c);
}

/*
 * Dead: no process with this pid and start time (or a zombie), and nobody holds
 * the lock. Either alone may mislead: pids of other namespaces are not ours, a
 * program may close our descriptor, a leader may end before its threads.
 */
bool process_is_dead(const struct process *p)
{
	bool ended;
	uint64_t start;

	if (is_locked(p->ctl_fd))
		return false;
	return !hrr_proc_of(p->pid, &ended, &start) || ended ||
	       (start != p->ctl->start && p->ctl->start != 0); /* 0: it had no /proc */
}

void process_free(struct process *p)
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
		shared_unmap(p->ctl, sizeof *p->ctl);
	p->ctl = NULL;
	if (p->ctl_fd >= 0)
		close(p->ctl_fd);
	p->ctl_fd = -1;
}

static void remove_files(const struct process *p)
{
	const struct dirent *e;
	char mine[16];

	/* By their names: how many there are the program may have written over. */
	int n = snprintf(mine, sizeof mine, "p%u.", p->index);
	DIR *d = opendir(p->c->opt.scratch);
	while (d != NULL && (e = readdir(d)) != NULL)
		if (strncmp(e->d_name, mine, (size_t)n) == 0)
			unlinkat(dirfd(d), e->d_name, 0);
	if (d != NULL)
		closedir(d);
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
				  .regions = p->regions - p->dropped_regions,
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

/* The last lines of a stream, not marked as written. */
static void write_last(struct process *p)
{
	struct hrr_diag diag = {0};
	int rc = p->out.failed ? -ENOMEM : hrr_write_all(p->fd, p->out.data, p->out.len);

	if (rc < 0) {
		hrr_diag_set(&diag, rc, "cannot write events: %s", strerror(-rc));
		if (!p->c->dead_output)
			fail_output(p->c, &diag);
		(void)!ftruncate(p->fd, (off_t)p->written);
		p->failed = true;
	}
	p->out.len = 0;
}

/* By a signal, as far as anybody can tell. */
static bool ended_abruptly(const struct process *p)
{
	uint32_t ending = atomic_load(&p->ctl->ending);

	if (p->replaced || ending == HRR_ENDING_EXEC)
		return false; /* whatever became of the other program */
	return p->seen_end ? p->killed : ending == 0;
}

void process_end(struct process *p, bool keep)
{
	bool dead = p->dead;
	char path[4352];

	/* That may be what the program died of, before we came to see it. */
	process_path(p, "a", UINT32_MAX, path, sizeof path);
	shared_look(path, p->arena);
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
	if (keep)
		process_flush(p); /* what follows is not marked: who recovers writes it again */
	for (const struct pending *y = p->pending; y != NULL; y = y->next)
		print_unknown(p, y,
			      dead ? "the program ended before it waited"
				   : "recording ended before the program waited");
	if (!keep)
		process_flush(p); /* whether all of it is written decides what its end says */
	for (uint32_t i = 0; i < p->n_q; i++)
		p->cut |= p->q[i].damaged;
	if ((p->c->opt.options & HRR_OPT_DROP) == 0)
		p->cut |= atomic_load(&p->ctl->lost) != 0;
	if (p->c->recover) /* how it ended nobody saw: without exit handlers it was no exit */
		p->cut |= p->c->alone || atomic_load(&p->ctl->ending) == 0 ||
			  atomic_load(&p->ctl->outlived) != 0;
	else
		p->abrupt = dead && ended_abruptly(p);
	if (!dead)
		atomic_store(&p->ctl->outlived, 1);
	p->cut |= p->abrupt || !dead || p->c->limit != NULL || p->c->dead_output;
	if (p->failed) { /* what was drained since went nowhere */
		const struct hrr_progress *x = &p->ctl->progress[p->slot];
		p->calls = x->calls;
		p->outputs = x->outputs;
		p->dropped_calls = p->dropped_outputs = p->dropped_regions = 0;
		p->regions = x->regions;
	}
	if (p->failed)
		hrr_buf_release(&p->out);
	write_end(p, p->cut);
	/* Where the output is dead the line that says so may still fit. */
	bool apart = p->fd >= 0 && p->c->opt.archive != NULL;
	if (apart && (keep || p->c->dead_output))
		write_last(p);
	if (!apart || !keep)
		process_flush(p);
	p->cut |= p->failed;
	p->closed = true;
	if (!keep)
		remove_files(p);
	process_free(p);
}
