#include "formats/hrr/events.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/hrr/events_private.h"

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

const unsigned char *hrr_events_read(struct hrr_events *e, uint64_t off, size_t n, size_t *ret_have)
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
	struct hrr_votes *v = calloc(1, sizeof *v);
	uint64_t off = HRR_UP_FILE_HEADER, last = 0;
	size_t have;
	int rc = 0;

	if (v == NULL)
		return -ENOMEM;
	f->sorted = true;
	for (;;) {
		const unsigned char *p = hrr_events_bytes(e, off, HRR_UP_HEADER, &have);
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
		f->length = hrr_events_length(e, p);
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
			p = hrr_events_bytes(e, off, HRR_UP_TRAILER_SIZE, &have);
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
				hrr_events_vote(v, type, (uint32_t)f->length);
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
		hrr_events_count_votes(f, v);
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
	const unsigned char *p = hrr_events_bytes(e, 0, HRR_UP_FILE_HEADER, &have);
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
