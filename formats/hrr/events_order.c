#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/hrr/events_private.h"

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
	const unsigned char *p = hrr_events_bytes(e, e->next_off, HRR_UP_HEADER, &have);

	if (p == NULL)
		return shrank(diag);
	*ret = (struct pending){hrr_le64(p + 2), e->next_off, hrr_events_length(e, p)};
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
	const unsigned char *p = hrr_events_bytes(e, x.offset, x.len, &have);
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
