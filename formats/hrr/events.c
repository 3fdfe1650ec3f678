#include "formats/hrr/events.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW ((size_t)256 << 10)
#define CHUNK 1024 /* records per entry of least[] */

/* A record set aside until its turn. */
struct pending {
	uint64_t seq, offset;
	uint32_t len;
};

struct hrr_events {
	int fd;
	struct hrr_events_facts f;
	uint64_t end; /* of the records kept */
	/* least[i]: smallest sequence number in chunk i and all after it */
	uint64_t *least;
	size_t n_least;
	unsigned char *win; /* WINDOW bytes, or one long record */
	size_t cap, have;
	uint64_t at; /* file offset of win */
	/* reading */
	uint64_t next_off, next_no;
	struct pending *heap; /* by (seq, offset) */
	size_t n_heap, cap_heap;
};

const struct hrr_events_facts *hrr_events_facts(const struct hrr_events *e)
{
	return &e->f;
}

void hrr_events_close(struct hrr_events *e)
{
	if (e == NULL)
		return;
	if (e->fd >= 0)
		close(e->fd);
	free(e->least);
	free(e->win);
	free(e->heap);
	free(e);
}

/* Moves the window to off. */
static const unsigned char *read_at(struct hrr_events *e, uint64_t off, size_t n, size_t *ret_have)
{
	errno = 0;
	size_t want = n > WINDOW ? n : WINDOW;
	if (want > e->cap || (e->cap > WINDOW && want == WINDOW)) {
		/* One long record must not keep its memory for ever. */
		unsigned char *p = realloc(e->win, want);
		if (p == NULL) {
			errno = ENOMEM;
			*ret_have = 0;
			return NULL;
		}
		e->win = p;
		e->cap = want;
	}
	e->at = off;
	e->have = 0;
	while (e->have < want) {
		ssize_t got =
		    pread(e->fd, e->win + e->have, want - e->have, (off_t)(off + e->have));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			break;
		errno = 0;
		if (got == 0)
			break;
		e->have += (size_t)got;
	}
	*ret_have = e->have < n ? e->have : n;
	return e->have >= n ? e->win : NULL;
}

/* n bytes at off, or NULL: *ret_have says how many there are (errno set on trouble). */
static inline const unsigned char *bytes_at(struct hrr_events *e, uint64_t off, size_t n,
					    size_t *ret_have)
{
	if (off >= e->at && off - e->at <= e->have && e->have - (size_t)(off - e->at) >= n)
		return e->win + (off - e->at);
	return read_at(e, off, n, ret_have);
}

static uint32_t record_length(const struct hrr_events *e, const unsigned char *p)
{
	return e->f.version == 3 ? hrr_le16(p + 26) : hrr_le32(p + 26);
}

/* --- which number the compiler's calls begin with ------------------------- */

/* Lengths of the nine, by place; the second of __hipRegisterVar is version 6's. */
static const uint16_t nine[HRR_UP_COMPILER_CALLS][2] = {
    {68, 68}, {76, 76}, {64, 64}, {108, 108}, {76, 76}, {72, 72}, {76, 76}, {84, 349}, {40, 40}};
#define BASE_FIRST 543
#define BASE_NEAR 575 /* above, one kind of record is no evidence */
#define BASE_LAST 767
#define TYPES (BASE_LAST + HRR_UP_COMPILER_CALLS - BASE_FIRST)

static unsigned fits(uint32_t len)
{
	unsigned mask = 0;

	for (int k = 0; k < HRR_UP_COMPILER_CALLS; k++)
		if (len == nine[k][0] || len == nine[k][1])
			mask |= 1u << k;
	return mask;
}

struct votes {
	bool seen[TYPES];
	uint16_t mask[TYPES]; /* places whose length all records of the type have */
};

static void vote(struct votes *v, unsigned type, uint32_t len)
{
	if (type < BASE_FIRST || type - BASE_FIRST >= TYPES)
		return;
	unsigned i = type - BASE_FIRST;
	v->mask[i] = (uint16_t)((v->seen[i] ? v->mask[i] : 0x1ff) & fits(len));
	v->seen[i] = true;
}

static void count_votes(struct hrr_events_facts *f, const struct votes *v)
{
	int best = 0;

	f->base = f->base_other = -1;
	for (int b = BASE_FIRST; b <= BASE_LAST; b++) {
		int score = 0;
		for (int k = 0; k < HRR_UP_COMPILER_CALLS && score >= 0; k++) {
			int i = b + k - BASE_FIRST;
			if (v->seen[i])
				score = v->mask[i] >> k & 1 ? score + 1 : -1;
		}
		if (b > BASE_NEAR && score < 2)
			continue; /* one record alone may be anything */
		if (score > best) {
			best = score;
			f->base = b;
			f->base_other = -1;
		} else if (score > 0 && score == best && f->base_other < 0) {
			f->base_other = b;
		}
	}
	/* Where several fit, the base of the released builds goes first. */
	if (f->base_other == HRR_UP_COMPILER_BASE) {
		f->base_other = f->base;
		f->base = HRR_UP_COMPILER_BASE;
	}
}

/* --- the first pass --------------------------------------------------------- */

static int note_least(struct hrr_events *e, uint64_t no, uint64_t seq)
{
	size_t i = (size_t)(no / CHUNK);

	if (i == e->n_least) {
		if ((i & (i - 1)) == 0) { /* a power of two is full */
			size_t cap = i ? 2 * i : 1;
			uint64_t *p = realloc(e->least, cap * sizeof *p);
			if (p == NULL)
				return -ENOMEM;
			e->least = p;
		}
		e->least[e->n_least++] = seq;
	} else if (seq < e->least[i]) {
		e->least[i] = seq;
	}
	return 0;
}

static int scan(struct hrr_events *e, struct hrr_diag *diag)
{
	struct hrr_events_facts *f = &e->f;
	struct votes *v = calloc(1, sizeof *v);
	uint64_t off = HRR_UP_FILE_HEADER, last = 0;
	size_t have;
	int rc = 0;

	if (v == NULL)
		return -ENOMEM;
	f->sorted = true;
	for (;;) {
		const unsigned char *p = bytes_at(e, off, HRR_UP_HEADER, &have);
		if (p == NULL && errno != 0) {
			rc = hrr_diag_set(diag, -errno, "cannot read: %s", strerror(errno));
			break;
		}
		if (p == NULL) {
			f->have = have;
			f->torn = have > 0 ? HRR_UP_TORN_HEADER : HRR_UP_WHOLE;
			f->length = HRR_UP_HEADER;
			break;
		}
		unsigned type = hrr_le16(p);
		uint64_t seq = hrr_le64(p + 2), t = hrr_le64(p + 10);
		f->length = record_length(e, p);
		if (f->length < HRR_UP_HEADER || f->length > HRR_UP_MAX_RECORD) {
			f->torn =
			    f->length < HRR_UP_HEADER ? HRR_UP_TORN_SHORT : HRR_UP_TORN_LENGTH;
			break;
		}
		if (f->length > f->file_size - off) {
			f->torn = HRR_UP_TORN_PAYLOAD;
			f->have = f->file_size - off;
			break;
		}
		bool trailer = false;
		if (type == HRR_UP_TYPE_TRAILER && f->length == HRR_UP_TRAILER_SIZE) {
			p = bytes_at(e, off, HRR_UP_TRAILER_SIZE, &have);
			if (p == NULL) {
				rc = hrr_diag_set(diag, -EIO, "cannot read: the file shrank");
				break;
			}
			trailer = hrr_le32(p + 40) == HRR_UP_TRAILER;
		}
		if (f->trailer) {
			f->after++;
		} else if (trailer) {
			f->trailer = true;
			f->trailer_count = hrr_le64(p + 32);
			f->seq_trailer = seq;
			f->t_trailer = t;
			e->end = off;
		} else {
			if (f->version >= 5)
				vote(v, type, (uint32_t)f->length);
			if (f->count == 0 || t < f->t_min)
				f->t_min = t;
			if (f->count == 0 || t > f->t_max)
				f->t_max = t;
			if (f->count > 0 && seq < last)
				f->sorted = false;
			last = seq;
			if (f->count == 0 || seq > f->max_seq)
				f->max_seq = seq;
			rc = note_least(e, f->count, seq);
			if (rc < 0)
				break;
			f->count++;
		}
		off += f->length;
	}
	if (!f->trailer)
		e->end = off;
	for (size_t i = e->n_least; i-- > 1;)
		if (e->least[i] < e->least[i - 1])
			e->least[i - 1] = e->least[i];
	if (f->version >= 5)
		count_votes(f, v);
	else
		f->base_other = -1;
	f->complete = f->trailer && f->trailer_count == f->count;
	free(v);
	return rc;
}

int hrr_events_open(struct hrr_events **ret, const char *path, enum hrr_up_refused *ret_refused,
		    struct hrr_diag *diag)
{
	struct hrr_events *e = calloc(1, sizeof *e);
	struct stat st;
	size_t have;
	int rc;

	hrr_diag_at(diag, path, 0);
	*ret_refused = HRR_UP_OPENS;
	if (e == NULL)
		return -ENOMEM;
	e->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (e->fd < 0 || fstat(e->fd, &st) < 0) {
		*ret_refused = HRR_UP_NO_FILE;
		rc = hrr_diag_set(diag, -errno, "cannot open: %s", strerror(errno));
		goto out;
	}
	if (!S_ISREG(st.st_mode)) {
		*ret_refused = HRR_UP_NO_FILE;
		rc = hrr_diag_set(diag, -EINVAL, "cannot open: not a regular file");
		goto out;
	}
	e->f.file_size = (uint64_t)st.st_size;
	const unsigned char *p = bytes_at(e, 0, HRR_UP_FILE_HEADER, &have);
	if (p == NULL) {
		*ret_refused = HRR_UP_SHORT;
		rc = errno != 0 ? hrr_diag_set(diag, -errno, "cannot read: %s", strerror(errno))
				: hrr_diag_set(diag, -EINVAL,
					       "too short: %zu bytes, the file header has %d", have,
					       HRR_UP_FILE_HEADER);
		goto out;
	}
	if (hrr_le32(p) != HRR_UP_MAGIC) {
		*ret_refused = HRR_UP_MAGIC_BAD;
		rc = hrr_diag_set(diag, -EINVAL, "bad magic 0x%08x (expected 0x%08x)", hrr_le32(p),
				  HRR_UP_MAGIC);
		goto out;
	}
	e->f.version = hrr_le16(p + 4);
	e->f.flags = e->f.version >= 7 ? hrr_le16(p + 6) : 0;
	if (e->f.version < HRR_UP_VERSION_MIN || e->f.version > HRR_UP_VERSION_MAX) {
		*ret_refused = HRR_UP_VERSION_BAD;
		rc = hrr_diag_set(
		    diag, -EINVAL,
		    "archive version %d is not known: this program reads versions %d to %d",
		    e->f.version, HRR_UP_VERSION_MIN, HRR_UP_VERSION_MAX);
		goto out;
	}
	rc = scan(e, diag);
	if (rc < 0)
		goto out;
	hrr_events_rewind(e);
	*ret = e;
	return 0;
out:
	hrr_events_close(e);
	return rc;
}

/* --- reading in order ------------------------------------------------------- */

void hrr_events_rewind(struct hrr_events *e)
{
	e->next_off = HRR_UP_FILE_HEADER;
	e->next_no = 0;
	e->n_heap = 0;
}

static bool before(const struct pending *a, const struct pending *b)
{
	return a->seq != b->seq ? a->seq < b->seq : a->offset < b->offset;
}

static int push(struct hrr_events *e, struct pending x)
{
	if (e->n_heap == e->cap_heap) {
		size_t cap = e->cap_heap ? 2 * e->cap_heap : CHUNK;
		struct pending *p = realloc(e->heap, cap * sizeof *p);
		if (p == NULL)
			return -ENOMEM;
		e->heap = p;
		e->cap_heap = cap;
	}
	size_t i = e->n_heap++;
	for (; i > 0 && before(&x, &e->heap[(i - 1) / 2]); i = (i - 1) / 2)
		e->heap[i] = e->heap[(i - 1) / 2];
	e->heap[i] = x;
	return 0;
}

static struct pending pop(struct hrr_events *e)
{
	struct pending top = e->heap[0], x = e->heap[--e->n_heap];
	size_t i = 0;

	for (size_t c; (c = 2 * i + 1) < e->n_heap; i = c) {
		if (c + 1 < e->n_heap && before(&e->heap[c + 1], &e->heap[c]))
			c++;
		if (!before(&e->heap[c], &x))
			break;
		e->heap[i] = e->heap[c];
	}
	e->heap[i] = x;
	return top;
}

static int shrank(struct hrr_diag *diag)
{
	int err = errno;

	return err != 0
		   ? hrr_diag_set(diag, -err, "cannot read: %s", strerror(err))
		   : hrr_diag_set(diag, -EIO, "cannot read: the file changed while it was read");
}

/* Header of the next record in file order. */
static int peek(struct hrr_events *e, struct pending *ret, struct hrr_diag *diag)
{
	size_t have;
	const unsigned char *p = bytes_at(e, e->next_off, HRR_UP_HEADER, &have);

	if (p == NULL)
		return shrank(diag);
	*ret = (struct pending){hrr_le64(p + 2), e->next_off, record_length(e, p)};
	if (ret->len < HRR_UP_HEADER || ret->len > e->end - e->next_off) {
		errno = 0;
		return shrank(diag);
	}
	return 0;
}

int hrr_events_next(struct hrr_events *e, struct hrr_event *ret, struct hrr_diag *diag)
{
	struct pending x;
	size_t have;
	int rc;

	if (e->f.sorted) {
		if (e->next_no >= e->f.count)
			return 0;
		rc = peek(e, &x, diag);
		if (rc < 0)
			return rc;
		e->next_off += x.len;
		e->next_no++;
	} else {
		/* Take in whole chunks until none that follows can hold a smaller number. */
		while (
		    e->next_no < e->f.count &&
		    (e->n_heap == 0 || e->heap[0].seq > e->least[(size_t)(e->next_no / CHUNK)])) {
			do {
				rc = peek(e, &x, diag);
				if (rc < 0 || (rc = push(e, x)) < 0)
					return rc;
				e->next_off += x.len;
			} while (++e->next_no % CHUNK != 0 && e->next_no < e->f.count);
		}
		if (e->n_heap == 0)
			return 0;
		x = pop(e);
	}
	const unsigned char *p = bytes_at(e, x.offset, x.len, &have);
	if (p == NULL)
		return shrank(diag);
	*ret = (struct hrr_event){.type = hrr_le16(p),
				  .seq = x.seq,
				  .t = hrr_le64(p + 10),
				  .tid = hrr_le64(p + 18),
				  .offset = x.offset,
				  .len = x.len,
				  .data = p};
	return 1;
}

int hrr_events_damage(const struct hrr_events *e, int i, struct hrr_buf *b)
{
	const struct hrr_events_facts *f = &e->f;
	unsigned long long have = f->have, length = f->length, n = f->count;
	int rc = 0;

	b->len = 0;
	if (f->torn != HRR_UP_WHOLE && i-- == 0) {
		switch (f->torn) {
		case HRR_UP_TORN_HEADER:
			rc = hrr_buf_addf(b, "truncated event header (%llu/32 bytes) at the end",
					  have);
			break;
		case HRR_UP_TORN_PAYLOAD:
			rc = hrr_buf_addf(b,
					  "truncated event payload (expected %llu bytes, %llu are "
					  "there) at the end",
					  length, have);
			break;
		case HRR_UP_TORN_SHORT:
			rc = hrr_buf_addf(b, "torn record: its length %llu is below 32", length);
			break;
		default:
			rc = hrr_buf_addf(
			    b, "implausible record length %llu (max %u): treated as torn", length,
			    HRR_UP_MAX_RECORD);
			break;
		}
		if (rc == 0 && !f->trailer)
			rc = hrr_buf_addf(b, "; recovered %llu events before it", n);
		return rc < 0 ? rc : 1;
	}
	if (!f->trailer && i-- == 0) {
		rc = hrr_buf_addf(b,
				  "no clean-shutdown trailer (capture likely crashed): recovered "
				  "%llu events",
				  n);
		return rc < 0 ? rc : 1;
	}
	if (f->trailer && f->trailer_count != f->count && i-- == 0) {
		rc = hrr_buf_addf(b,
				  "clean-shutdown trailer counts %llu events but %llu precede it: "
				  "not treated as complete",
				  (unsigned long long)f->trailer_count, n);
		return rc < 0 ? rc : 1;
	}
	if (f->after > 0 && i-- == 0) {
		rc = hrr_buf_addf(b, "ignored %llu records after the clean-shutdown trailer",
				  (unsigned long long)f->after);
		return rc < 0 ? rc : 1;
	}
	if (f->base_other >= 0 && i-- == 0) {
		rc =
		    hrr_buf_addf(b, "the compiler's calls may begin at id %d or at %d: %d is taken",
				 f->base, f->base_other, f->base);
		return rc < 0 ? rc : 1;
	}
	return 0;
}
