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
 * events.jsonl, and pI.known, which has what the records up to there have taught.
 */
void known_note(struct process *p, const struct saved *note, const struct hrr_rec *r)
{
	struct saved s = *note;

	if (p->restoring || p->known_lost)
		return;
	s.size = sizeof s + (r != NULL ? r->size : 0);
	hrr_buf_add(&p->known, &s, sizeof s);
	if (r != NULL)
		hrr_buf_add(&p->known, r, r->size);
}

void known_save(struct process *p)
{
	char path[4352];

	if (p->known.len == 0)
		return;
	if (p->known_fd < 0) {
		process_path(p, "known", UINT32_MAX, path, sizeof path);
		p->known_fd =
		    open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	}
	/* A help for recovery only: what does not fit is not missed otherwise. */
	if (p->known_fd >= 0 &&
	    write(p->known_fd, p->known.data, p->known.len) == (ssize_t)p->known.len)
		p->known_written += p->known.len;
	else
		p->known_lost = true;
	p->known.len = 0;
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

static void restore(struct process *p, const struct saved *s, const struct hrr_rec *r)
{
	switch (s->what) {
	case SAVED_OBJECT:
		known_object(p, s->u.object.number, &s->u.object.id);
		break;
	case SAVED_KERNEL:
		if (s->size >= sizeof *s + sizeof(struct hrr_rec_kernel) &&
		    r->size == s->size - sizeof *s)
			learn_kernel(p, r);
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

	process_path(p, "known", UINT32_MAX, path, sizeof path);
	(void)read_known(path, length, &b);
	p->known_written = b.len;
	p->known_lost = b.len != length;
	p->restoring = true;
	for (size_t at = 0; at + sizeof s <= b.len; at += s.size) {
		memcpy(&s, b.data + at, sizeof s);
		if (s.size < sizeof s || s.size % 8 != 0 || s.size > b.len - at)
			break;
		restore(p, &s, (const struct hrr_rec *)(const void *)(b.data + at + sizeof s));
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
