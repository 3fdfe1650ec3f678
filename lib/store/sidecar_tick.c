#include "lib/store/sidecar_tick.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "lib/store/file.h"

struct entry {
	uint64_t tick, base, size; /* size of a del: of what it ends */
	uint64_t device;
	size_t line; /* behind the header, from 0 */
	bool add, segment, known;
};

static void read_entry(const struct hrr_record *rec, uint64_t resolution, size_t line,
		       struct entry *ret)
{
	const struct hrr_json *j = &rec->json;
	int kind = hrr_json_get(j, 0, "kind");

	*ret = (struct entry){.tick = rec->t == HRR_NO_TIME ? 0 : rec->t / resolution,
			      .size = 1,
			      .line = line,
			      .add = hrr_json_is(j, hrr_json_get(j, 0, "region"), "add"),
			      .segment = hrr_json_is(j, kind, "segment"),
			      .known = kind >= 0};
	(void)hrr_json_addr(j, hrr_json_get(j, 0, "base"), &ret->base);
	(void)hrr_json_u64(j, hrr_json_get(j, 0, "size"), &ret->size);
	(void)hrr_json_u64(j, hrr_json_get(j, 0, "device"), &ret->device);
	if (ret->size == 0)
		ret->size = 1;
}

static int by_tick(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->tick != y->tick)
		return x->tick < y->tick ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static int by_place(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->base != y->base)
		return x->base < y->base ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return by_tick(a, b);
}

/* A del gets the size of the add that stood there before it, the largest where kinds are open. */
static void sizes(struct entry *e, size_t n)
{
	qsort(e, n, sizeof *e, by_place);
	uint64_t block = 1, segment = 1;
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || e[i].base != e[i - 1].base || e[i].device != e[i - 1].device)
			block = segment = 1;
		if (e[i].add)
			*(e[i].segment ? &segment : &block) = e[i].size;
		else if (e[i].known)
			e[i].size = e[i].segment ? segment : block;
		else
			e[i].size = segment > block ? segment : block;
	}
}

static bool overlap(const struct entry *a, const struct entry *b)
{
	return a->device == b->device && a->base <= b->base + (b->size - 1) &&
	       b->base <= a->base + (a->size - 1);
}

static void decide(const struct entry *e, size_t n, char *late)
{
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && e[end].tick == e[i].tick; end++)
			;
		if (end - i > HRR_TICK_MAX)
			continue;
		for (size_t k = i; k < end; k++) {
			bool taken = e[k].add;
			for (size_t m = k + 1; !taken && m < end; m++)
				taken = e[m].add && overlap(&e[k], &e[m]);
			late[e[k].line] = !taken;
		}
	}
}

int hrr_sidecar_ticks(const char *path, uint64_t resolution, struct hrr_buf *late)
{
	struct hrr_buf entries = {0};
	struct hrr_record rec = {0};
	const char *line;
	size_t len, lines = 0, before = late->len;
	bool cut = false;
	int rc = 0, fd = hrr_file_open(AT_FDCWD, path, 0);

	if (fd < 0)
		return fd;
	struct hrr_reader *reader = hrr_reader_new(fd, path);
	if (reader == NULL)
		return -ENOMEM;
	while (rc == 0 && hrr_reader_line(reader, &line, &len, &rec.lineno, &cut, NULL) > 0 &&
	       !cut) {
		struct entry e;
		if (lines++ == 0)
			continue; /* the header */
		rc = hrr_buf_addc(late, 0);
		if (rc < 0 || hrr_record_parse(&rec, line, len, NULL) < 0 ||
		    rec.kind != HRR_REC_REGION || late->len - before > HRR_SIDECAR_MAX)
			continue;
		read_entry(&rec, resolution, lines - 2, &e);
		/* One without time was there before all others. */
		if (rec.t == HRR_NO_TIME && !e.add)
			continue;
		rc = hrr_buf_add(&entries, &e, sizeof e);
	}
	hrr_reader_free(reader);
	hrr_record_release(&rec);
	size_t n = entries.len / sizeof(struct entry);
	if (rc == 0 && n > 0) {
		struct entry *e = (void *)entries.data;
		sizes(e, n);
		qsort(e, n, sizeof *e, by_tick);
		decide(e, n, late->data + before);
	}
	hrr_buf_release(&entries);
	return rc;
}
