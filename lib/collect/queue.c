#include "lib/collect/private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/store/file.h"

static bool is_there(const struct queue *q, uint64_t pos)
{
	return pos >= (q->spill_end != 0 ? q->spill_from : q->tail);
}

/* The ENTER at pos, which a reader before us had stepped over. */
static void reenter(struct queue *q, uint64_t pos)
{
	const struct hrr_rec *r = NULL;

	if (is_there(q, pos))
		r = queue_at(q, pos);
	if (r != NULL && r->type == HRR_R_ENTER && r->seq == 0) {
		q->entered_at = pos;
		hrr_buf_add(&q->entered, r, r->size);
	}
	q->damaged = false;
}

/* From where on the ring is still needed. A thread inside a call writes little behind its ENTER. */
static uint64_t kept_from(const struct queue *q)
{
	bool kept = q->entered.len != 0 && q->rd - q->entered_at <= q->size / 8 &&
		    is_there(q, q->entered_at);

	return kept ? q->entered_at : q->rd;
}

struct hrr_mark queue_mark(const struct queue *q)
{
	uint64_t from = kept_from(q);

	return (struct hrr_mark){
	    .printed = q->rd, .entered = from != q->rd ? from + 1 : 0, .tid = q->tid};
}

int queue_open(struct queue *q, const char *path, const char *spill_path, int slot)
{
	struct stat st;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || st.st_size < (off_t)(HRR_RING_HEADER + HRR_RING_MIN)) {
		close(fd);
		return -EAGAIN; /* being made */
	}
	struct hrr_ring *r = shared_map(fd, (size_t)st.st_size, PROT_READ | PROT_WRITE);
	close(fd);
	if (r == NULL)
		return -errno;
	if (atomic_load_explicit(&r->magic, memory_order_acquire) != HRR_RING_MAGIC) {
		shared_unmap(r, (size_t)st.st_size);
		return -EAGAIN;
	}
	if (r->version != HRR_RING_VERSION || (r->size & (r->size - 1)) != 0 ||
	    r->size != (uint64_t)st.st_size - HRR_RING_HEADER) {
		shared_unmap(r, (size_t)st.st_size);
		return -EINVAL;
	}
	*q = (struct queue){.ring = r, .size = r->size, .spill_fd = -1};
	const struct hrr_mark mark = slot >= 0 ? r->mark[slot] : (struct hrr_mark){0};
	q->rd = mark.printed;
	q->tid = mark.tid;
	q->tail = slot >= 0 ? atomic_load_explicit(&r->tail, memory_order_relaxed) : 0;
	if (slot >= 0 && r->spilled > q->rd && r->spill_from <= q->rd) {
		int s = open(spill_path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
		size_t n = r->spilled - r->spill_from;
		if (s >= 0 && fstat(s, &st) == 0 && (uint64_t)st.st_size >= n) {
			q->spill = shared_map(s, n, PROT_READ);
			if (q->spill != NULL) {
				q->spill_cap = n;
				q->spill_from = r->spill_from;
				q->spill_end = r->spilled;
			}
		}
		if (s >= 0)
			q->spill_fd = s;
	}
	q->head = q->rd;
	/* Where it stopped has to be in the overflow file, or in the ring. */
	uint64_t on = q->spill_end != 0 ? q->spill_end : q->rd;
	uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);
	if (on - q->tail > q->size)
		q->tail = on;
	if (head - on > q->size || head - q->tail > q->size)
		q->damaged = true;
	if (!q->damaged && mark.entered != 0 && mark.entered <= q->rd)
		reenter(q, mark.entered - 1);
	return 0;
}

void queue_close(struct queue *q)
{
	if (q->ring != NULL)
		shared_unmap(q->ring, HRR_RING_HEADER + q->size);
	if (q->spill != NULL)
		shared_unmap(q->spill, q->spill_cap);
	if (q->spill_fd >= 0)
		close(q->spill_fd);
	hrr_buf_release(&q->entered);
	*q = (struct queue){.spill_fd = -1};
}

void queue_look(struct queue *q)
{
	uint64_t head = atomic_load_explicit(&q->ring->head, memory_order_acquire);

	if (head - q->tail > q->size || head - q->tail < q->head - q->tail)
		q->damaged = true;
	if (!q->damaged) {
		q->head = head;
		return;
	}
	q->tail = head;
	atomic_store_explicit(&q->ring->tail, head, memory_order_release);
}

const struct hrr_rec *queue_at(struct queue *q, uint64_t pos)
{
	const unsigned char *at;
	uint64_t room;

	if (pos >= q->head || q->damaged)
		return NULL;
	if (pos < q->spill_end) {
		at = (const unsigned char *)q->spill + (pos - q->spill_from);
		room = q->spill_end - pos;
	} else {
		at = hrr_ring_data(q->ring) + (pos & (q->size - 1));
		room = q->size - (pos & (q->size - 1));
	}
	const struct hrr_rec *r = (const struct hrr_rec *)(const void *)at;
	uint64_t n = r->size;
	/* The program can write into its rings: never believe a size. */
	if (n < 8 || n % 8 != 0 || n > room || n > q->head - pos ||
	    (r->type != HRR_R_PAD && n < sizeof *r)) {
		q->damaged = true;
		return NULL;
	}
	return r;
}

const struct hrr_rec *queue_peek(struct queue *q)
{
	for (;;) {
		const struct hrr_rec *r = queue_at(q, q->rd);
		if (r == NULL)
			return NULL;
		if (r->type == HRR_R_TID) {
			q->tid = (uint32_t)r->ret;
		} else if (r->type == HRR_R_ENTER && r->seq == 0) {
			q->entered.len = 0;
			q->entered_at = q->rd;
			hrr_buf_add(&q->entered, r, r->size);
		} else if (r->type == HRR_R_LEAVE && r->seq == 0 && r->size == sizeof *r &&
			   q->entered.len != 0) {
			q->entered.len = 0;
		} else if (r->type != HRR_R_PAD) {
			return r;
		}
		q->rd += r->size;
	}
}

void queue_next(struct queue *q, const struct hrr_rec *r)
{
	q->rd += r->size;
	if (q->spill_end != 0 && q->rd >= q->spill_end) {
		if (q->spill != NULL)
			shared_unmap(q->spill, q->spill_cap);
		q->spill = NULL;
		q->spill_end = 0;
		/* The file is emptied by queue_settle, once what it held is written. */
	}
}

int queue_spill(struct queue *q, const char *path)
{
	uint64_t from = q->spill_end != 0 ? q->spill_end : kept_from(q);
	uint64_t n = q->head - from;

	if (n == 0 || q->damaged)
		return 0;
	if (q->spill_fd < 0)
		q->spill_fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (q->spill_fd < 0)
		return -errno;
	if (q->spill_end == 0) {
		if (ftruncate(q->spill_fd, 0) < 0 || lseek(q->spill_fd, 0, SEEK_SET) < 0)
			return -errno;
		q->spill_from = from;
		q->ring->spill_from = from;
	}
	const unsigned char *data = hrr_ring_data(q->ring);
	uint64_t off = from & (q->size - 1), first = q->size - off < n ? q->size - off : n;
	int rc = hrr_write_all(q->spill_fd, data + off, first);
	if (rc == 0 && first < n)
		rc = hrr_write_all(q->spill_fd, data, n - first);
	if (rc < 0)
		return rc;
	size_t whole = q->head - q->spill_from;
	if (q->spill != NULL)
		shared_unmap(q->spill, q->spill_cap);
	q->spill = shared_map(q->spill_fd, whole, PROT_READ);
	if (q->spill == NULL) {
		q->damaged = true; /* what is in the file can still be recovered */
		return -ENOMEM;
	}
	q->spill_cap = whole;
	q->spill_end = q->head;
	q->ring->spilled = q->head;
	q->tail = q->head;
	atomic_store_explicit(&q->ring->tail, q->tail, memory_order_release);
	return 0;
}

void queue_settle(struct queue *q)
{
	if (q->spill_end != 0 || q->damaged)
		return;
	q->tail = kept_from(q);
	atomic_store_explicit(&q->ring->tail, q->tail, memory_order_release);
}
