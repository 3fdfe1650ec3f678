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

uint64_t now_ns(clockid_t clock)
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
	c->hub = shared_map(c->hub_fd, sizeof *c->hub, PROT_READ | PROT_WRITE);
	if (c->hub == NULL) {
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
		h->id = opt->id;
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

void fail_output(struct hrr_collect *c, const struct hrr_diag *diag)
{
	if (!c->dead_output)
		c->failure = *diag;
	c->dead_output = true;
	atomic_store(&c->hub->off, HRR_OFF_READER);
}

void check_torn(struct hrr_collect *c)
{
	struct hrr_diag diag = {0};

	if (!shared_torn() || c->dead_output)
		return;
	hrr_diag_set(&diag, -EIO, "recording stopped: somebody has cut short a file in %s",
		     c->opt.scratch);
	fail_output(c, &diag);
}

void check_limits(struct hrr_collect *c)
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

static void discover(struct hrr_collect *c)
{
	uint32_t n = atomic_load_explicit(&c->hub->processes, memory_order_acquire);

	/* Some of them may never come to have their files; a count far behind the others is none.
	 */
	while (c->n_p < n && c->n_p < (1u << 22) && c->n_p < c->n_started + 4096) {
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
			dead = process_is_dead(p);
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
	check_torn(c);
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
			if (p->q[k].ring != NULL && !p->q[k].damaged &&
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
			c->p[i]->seen_end = c->p[i]->dead = true;
		}
}

unsigned hrr_collect_alive(struct hrr_collect *c)
{
	unsigned n = 0;

	discover(c);
	for (uint32_t i = 0; i < c->n_p; i++)
		n += c->p[i]->started && !c->p[i]->closed && !process_is_dead(c->p[i]);
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
			p->dead = process_is_dead(p);
		all &= p->dead;
		c->left += !p->dead;
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
	*ret = (struct hrr_collect_summary){.bytes = c->bytes,
					    .limit = c->limit,
					    .unrecorded = c->unrecorded,
					    .left = c->left,
					    .reader_gone = c->reader_gone};
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
		if (p->abrupt && !p->seen_end && ret->killed++ == 0)
			ret->first_killed = p->pid;
	}
}

void hrr_collect_close(struct hrr_collect *c)
{
	if (c == NULL)
		return;
	compact_stop(c);
	for (uint32_t i = 0; i < c->n_p; i++) {
		process_free(c->p[i]);
		free(c->p[i]);
	}
	free(c->p);
	free(c->compact);
	bytes_forget(c);
	hrr_select_free(c->only);
	hrr_record_release(&c->judged);
	hrr_buf_release(&c->scratch);
	if (c->hub != NULL)
		shared_unmap(c->hub, sizeof *c->hub);
	if (c->hub_fd >= 0)
		close(c->hub_fd);
	free(c);
}
