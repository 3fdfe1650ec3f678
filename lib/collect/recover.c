#include "lib/collect/private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/store/file.h"

/*
 * Going on where another hrr-capture was killed. Three things tell where that
 * is: the mark in each ring (or its overflow file), the length of
 * events.jsonl, and pI.knownN, which has what the records up to there have taught.
 *
 * What is taught is forgotten again: memory is given back, outputs come. So when most of a file is
 * of the past the next one begins with what is known now. A mark names its file, and the one before
 * goes when that mark counts.
 */
#define KNOWN_LEAST ((uint64_t)1 << 20)

static void add(struct hrr_buf *b, const struct saved *note, size_t behind)
{
	struct saved s = *note;

	s.size = (uint32_t)(sizeof s + behind);
	hrr_buf_add(b, &s, sizeof s);
}

void known_note(struct process *p, const struct saved *note)
{
	if (!p->restoring && !p->known_lost)
		add(&p->known, note, 0);
}

static void add_kernel(struct hrr_buf *b, uint64_t number, const struct kernel *x)
{
	static const char zero[8];
	size_t args = x->n_args * sizeof *x->args, n = args + x->head.len, pad = (0 - n) & 7;

	add(b,
	    &(struct saved){.what = SAVED_KERNEL,
			    .u.kernel = {.number = number,
					 .object = x->object,
					 .n_args = x->n_args,
					 .layout = x->layout,
					 .head = x->head.len}},
	    n + pad);
	hrr_buf_add(b, x->args, args);
	hrr_buf_add(b, x->head.data, x->head.len);
	hrr_buf_add(b, zero, pad);
}

void known_note_kernel(struct process *p, uint64_t number)
{
	if (!p->restoring && !p->known_lost)
		add_kernel(&p->known, number, &p->kernels[number]);
}

static int add_range(void *self, const struct hrr_range *x)
{
	add(self,
	    &(struct saved){.what = SAVED_RANGE,
			    .u.range = {x->base, x->size, (uintptr_t)x->value, 1}},
	    0);
	return 0;
}

/* All that is known now. */
static void add_all(const struct process *p, struct hrr_buf *b)
{
	for (uint64_t i = 0; i < p->n_objects; i++)
		if (p->objects[i].known)
			add(b,
			    &(struct saved){.what = SAVED_OBJECT,
					    .u.object = {.number = i, .id = p->objects[i].id}},
			    0);
	for (uint64_t i = 0; i < p->n_kernels; i++)
		if (p->kernels[i].known)
			add_kernel(b, i, &p->kernels[i]);
	if (p->ranges != NULL)
		(void)hrr_ranges_each(p->ranges, add_range, b);
	for (const struct pending *x = p->pending; x != NULL; x = x->next)
		add(b,
		    &(struct saved){
			.what = SAVED_PENDING,
			.u.pending = {x->call, x->node, x->addr, x->size, x->t, x->tid}},
		    0);
	for (size_t i = 0; i < p->n_gaps; i++)
		add(b, &(struct saved){.what = SAVED_GAP, .u.gap = p->gaps[i]}, 0);
}

static int open_known(const struct process *p, uint32_t n, int flags)
{
	char path[4352];

	process_path(p, "known", n, path, sizeof path);
	return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
}

/* The next file. False: the one that is there goes on. */
static bool begin_anew(struct process *p)
{
	struct hrr_buf b = {0};
	int fd = open_known(p, p->known_n + 1, O_TRUNC);

	if (fd < 0)
		return false;
	add_all(p, &b);
	bool ok = !b.failed && hrr_write_all(fd, b.data, b.len) == 0;
	if (ok) {
		if (p->known_fd >= 0)
			close(p->known_fd);
		p->known_fd = fd;
		p->known_old = ++p->known_n; /* the one before, + 1 */
		p->known_written = p->known_base = b.len;
		p->known.len = 0; /* it is in there */
	} else {
		close(fd);
	}
	hrr_buf_release(&b);
	return ok;
}

void known_save(struct process *p)
{
	if (p->known.len == 0 || p->known_lost)
		return;
	/* Twice what it began with, so that writing anew costs no more than what was written. */
	if (p->known_written > KNOWN_LEAST && p->known_written / 2 > p->known_base &&
	    p->known_old == 0 && begin_anew(p))
		return;
	if (p->known_fd < 0)
		p->known_fd = open_known(p, p->known_n, 0);
	/* A help for recovery only: what does not fit is not missed otherwise. */
	if (p->known_fd >= 0 &&
	    write(p->known_fd, p->known.data, p->known.len) == (ssize_t)p->known.len)
		p->known_written += p->known.len;
	else
		p->known_lost = true;
	p->known.len = 0;
}

void known_settle(struct process *p)
{
	char path[4352];

	if (p->known_old == 0)
		return;
	process_path(p, "known", p->known_old - 1, path, sizeof path);
	unlink(path);
	p->known_old = 0;
}

/* Of what is remembered of one process; a recording of days takes some MiB. */
#define KNOWN_MAX ((uint64_t)1 << 30)

/* The first length bytes of a file, or what there is of them; the file is cut to them. */
static int read_known(const char *path, uint64_t length, struct hrr_buf *b)
{
	struct stat st;
	int fd = hrr_file_open(AT_FDCWD, path, O_NOFOLLOW), rc = fd < 0 ? fd : 0;

	if (rc == 0 && fstat(fd, &st) < 0)
		rc = -errno;
	if (rc == 0 && (uint64_t)st.st_size < length)
		length = (uint64_t)st.st_size;
	if (rc == 0 && length > KNOWN_MAX)
		rc = -EFBIG;
	if (rc == 0)
		rc = hrr_buf_reserve(b, length);
	if (rc == 0)
		rc = hrr_read_exactly(fd, b->data, length);
	if (rc == 0 && truncate(path, (off_t)length) < 0)
		rc = -errno;
	if (fd >= 0)
		close(fd);
	if (rc == 0)
		b->len = length;
	return rc;
}

/* behind: s->size - sizeof *s bytes. */
static void restore_kernel(struct process *p, const struct saved *s, const char *behind)
{
	struct kernel x = {.object = s->u.kernel.object,
			   .n_args = s->u.kernel.n_args,
			   .layout = s->u.kernel.layout != 0};
	uint64_t room = s->size - sizeof *s, args = (uint64_t)x.n_args * sizeof *x.args;

	if (args > room || s->u.kernel.head > room - args)
		return;
	x.args = (struct hrr_rec_arg *)(uintptr_t)behind;
	x.head.data = (char *)(uintptr_t)behind + args;
	x.head.len = s->u.kernel.head;
	known_kernel(p, s->u.kernel.number, &x);
}

static void restore(struct process *p, const struct saved *s, const char *behind)
{
	switch (s->what) {
	case SAVED_OBJECT:
		known_object(p, s->u.object.number, &s->u.object.id);
		break;
	case SAVED_KERNEL:
		restore_kernel(p, s, behind);
		break;
	case SAVED_RANGE:
		learn_range(p, s->u.range.base, s->u.range.bytes, s->u.range.kind,
			    s->u.range.add != 0);
		break;
	case SAVED_PENDING:
		pending_add(p, &(struct pending){.call = s->u.pending.call,
						 .node = s->u.pending.node,
						 .addr = s->u.pending.addr,
						 .size = s->u.pending.size,
						 .t = s->u.pending.t,
						 .tid = s->u.pending.tid});
		break;
	case SAVED_RESOLVED:
		pending_del(p, s->u.pending.call, s->u.pending.node, s->u.pending.addr);
		break;
	case SAVED_GAP:
		add_gap(p, s->u.gap);
		break;
	default:
		break;
	}
}

/* What stands behind the length that goes with the marks comes again, with its records. */
static void restore_known(struct process *p, uint64_t length)
{
	struct hrr_buf b = {0};
	char path[4352];
	struct saved s;

	process_path(p, "known", p->known_n, path, sizeof path);
	(void)read_known(path, length, &b);
	p->known_written = b.len;
	p->known_lost = b.len != length;
	p->restoring = true;
	for (size_t at = 0; at + sizeof s <= b.len; at += s.size) {
		memcpy(&s, b.data + at, sizeof s);
		if (s.size < sizeof s || s.size % 8 != 0 || s.size > b.len - at)
			break;
		restore(p, &s, b.data + at + sizeof s);
	}
	p->restoring = false;
	hrr_buf_release(&b);
}

/* Cuts the stream to what is known to be written, and goes on from there. */
static int resume(struct process *p, const char *path)
{
	int fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	p->slot = atomic_load(&p->ctl->settled) & 1;
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0) {
		close(fd);
		return -EINVAL;
	}
	if (p->ctl->progress[p->slot].file != st.st_ino &&
	    p->ctl->progress[1 - p->slot].file == st.st_ino)
		p->slot = 1 - p->slot;
	const struct hrr_progress *x = &p->ctl->progress[p->slot];
	if ((uint64_t)st.st_size < x->written || ftruncate(fd, (off_t)x->written) < 0) {
		close(fd);
		return -EINVAL;
	}
	p->file = st.st_ino;
	p->filtered = x->filtered != 0;
	p->fd = fd;
	p->written = x->written;
	p->known_n = x->known_n;
	p->next = x->next != 0 ? x->next : 1;
	p->calls = x->calls;
	p->outputs = x->outputs;
	p->regions = x->regions;
	p->gate = x->gate != 0;
	p->regroup = x->group;
	return 0;
}

void stream_path(const struct process *p, char *path, size_t size)
{
	const char *scratch = p->c->opt.scratch, *slash = strrchr(scratch, '/');
	int n = snprintf(path, size, "%.*s/pid-%u", (int)(slash - scratch), scratch, p->pid);

	if (p->image != 0)
		n += snprintf(path + n, size - (size_t)n, ".%u", p->image);
	snprintf(path + n, size - (size_t)n, "/events.jsonl");
}

int recover_stream(struct process *p)
{
	struct hrr_collect *c = p->c;
	struct hrr_diag diag = {0};
	char path[4352];

	stream_path(p, path, sizeof path);
	compact_clean(p);
	int rc = resume(p, path);
	if (rc == 0)
		rc = only_restore(p);
	p->started = true;
	c->n_started++;
	if (rc == -ENOENT) {
		struct stat st;
		rc = hrr_archive_process(c->opt.archive, p->pid, p->image, &p->fd, &diag);
		if (rc == 0 && fstat(p->fd, &st) == 0)
			p->file = st.st_ino;
		if (rc == 0)
			write_header(p);
	} else if (rc == 0 && p->written == 0) {
		write_header(p);
	}
	if (rc < 0) {
		if (diag.what[0] == '\0')
			hrr_diag_set(&diag, rc, "cannot go on with %s: %s", path, strerror(-rc));
		fail_output(c, &diag);
	}
	restore_known(p, p->ctl->progress[p->slot].known);
	return 0;
}
