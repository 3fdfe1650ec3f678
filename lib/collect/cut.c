#include "lib/collect/cut.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/store/file.h"

typedef int (*each_record)(struct cut *c);

static int no_memory(struct cut *c)
{
	return hrr_diag_set(c->diag, -ENOMEM, "out of memory");
}

/* Of every record of a stream in turn. */
static int read_stream(struct cut *c, const char *path, uint64_t limit, each_record each)
{
	const char *line;
	size_t len;
	uint64_t lineno;
	bool cut;
	int rc, fd = hrr_file_open(AT_FDCWD, path, O_NOFOLLOW);

	if (fd < 0)
		return hrr_diag_set(c->diag, fd, "cannot open %s: %s", path, hrr_file_why(fd));
	struct hrr_reader *r = hrr_reader_new(fd, path);
	if (r == NULL) {
		close(fd);
		return no_memory(c);
	}
	c->t0 = 0;
	while ((rc = hrr_reader_line(r, &line, &len, &lineno, &cut, c->diag)) > 0) {
		if (cut || len >= limit)
			break; /* half a line: nothing that counts */
		limit -= len + 1;
		rc = hrr_record_parse(&c->rec, line, len, c->diag);
		if (rc < 0)
			break;
		if (c->rec.kind == HRR_REC_HEADER)
			c->t0 = hrr_json_decimal(&c->rec.json, "t0");
		rc = each(c);
		if (rc < 0)
			break;
	}
	hrr_reader_free(r);
	return rc < 0 ? rc : 0;
}

static uint64_t returned(const struct cut *c)
{
	return c->rec.t == HRR_NO_TIME ? c->t0 : c->t0 + c->rec.t + c->rec.dur;
}

static int find_end(struct cut *c)
{
	if (c->rec.kind == HRR_REC_CALL && returned(c) > c->end)
		c->end = returned(c);
	return 0;
}

/* A marker of before the window. */
static bool is_old_mark(const struct cut *c)
{
	uint64_t t;

	return cut_is_mark(&c->rec, &t) && c->t0 + t < c->from;
}

static int gather(struct cut *c)
{
	if (is_old_mark(c))
		return cut_mark_old(&c->marks, &c->rec) < 0 ? no_memory(c) : 0;
	bool in = c->rec.kind == HRR_REC_CALL &&
		  (returned(c) >= c->from || (c->also != NULL && c->also(c->self, c->rec.seq)));

	return hrr_slice_gather(c->slice, &c->rec, in) < 0 ? no_memory(c) : 0;
}

static bool keeps(void *self, const struct hrr_record *rec)
{
	return hrr_slice_keeps(self, rec);
}

/* Every blob the line names. */
static int note_blobs(struct cut *c, struct hrr_idmap *to)
{
	static const char mark[] = "xxh128:";
	const char *s = c->rec.line, *end = s + c->rec.len;
	struct hrr_id id;

	while ((s = memmem(s, (size_t)(end - s), mark, sizeof mark - 1)) != NULL) {
		if ((size_t)(end - s) >= HRR_ID_TEXT && hrr_id_parse(s, HRR_ID_TEXT, &id) == 0 &&
		    hrr_idmap_add(to, &id, 1) < 0)
			return no_memory(c);
		s += sizeof mark - 1;
	}
	return 0;
}

static int flush(struct cut *c)
{
	for (size_t at = 0; at < c->out.len;) {
		ssize_t n = write(c->fd, c->out.data + at, c->out.len - at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return hrr_diag_set(c->diag, n < 0 ? -errno : -EIO, "cannot write %s: %s",
					    c->name, strerror(n < 0 ? errno : EIO));
		at += (size_t)n;
	}
	c->out.len = 0;
	return 0;
}

/* Neither calls nor outputs: those the filter asks the slice about. */
static bool other_stays(struct cut *c)
{
	if (is_old_mark(c))
		return cut_mark_stays(&c->marks);
	return c->rec.kind != HRR_REC_REGION || hrr_slice_keeps_region(c->slice, &c->rec);
}

static int write_kept(struct cut *c)
{
	int rc = other_stays(c) ? hrr_filter_record(c->filter, &c->rec) : 0;

	if (rc < 0)
		return no_memory(c);
	if (rc == 0)
		return c->gone != NULL ? note_blobs(c, c->gone) : 0;
	c->calls += c->rec.kind == HRR_REC_CALL;
	c->outputs += c->rec.kind == HRR_REC_OUTPUT;
	c->regions += c->rec.kind == HRR_REC_REGION;
	rc = c->rec.kind == HRR_REC_END ? hrr_filter_end(c->filter, &c->rec, &c->out)
					: hrr_buf_add(&c->out, c->rec.line, c->rec.len);
	if (rc < 0 || hrr_buf_addc(&c->out, '\n') < 0)
		return no_memory(c);
	rc = note_blobs(c, &c->named);
	return rc < 0 || c->out.len < (1u << 20) ? rc : flush(c);
}

int cut_find_end(struct cut *c, const char *path, uint64_t limit)
{
	return read_stream(c, path, limit, find_end);
}

int cut_stream(struct cut *c, const char *path, uint64_t limit, const char *temp)
{
	int rc;

	c->name = temp;
	c->slice = hrr_slice_new();
	struct hrr_filter_options opt = {.keep = keeps, .self = c->slice};
	c->fd = -1;
	rc = c->slice == NULL ? no_memory(c) : hrr_filter_new(&c->filter, &opt, c->diag);
	if (rc == 0)
		rc = read_stream(c, path, limit, gather);
	if (rc == 0 && c->live)
		hrr_slice_live(c->slice);
	if (rc == 0 && hrr_slice_solve(c->slice) < 0)
		rc = no_memory(c);
	if (rc == 0) {
		c->fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (c->fd < 0)
			rc = hrr_diag_set(c->diag, -errno, "cannot make %s: %s", temp,
					  strerror(errno));
	}
	if (rc == 0)
		rc = read_stream(c, path, limit, write_kept);
	if (rc == 0)
		rc = flush(c);
	bool made = c->fd >= 0;
	if (made && close(c->fd) < 0 && rc == 0)
		rc = hrr_diag_set(c->diag, -errno, "cannot write %s: %s", temp, strerror(errno));
	if (rc < 0 && made)
		unlink(temp);
	c->out.len = 0;
	hrr_filter_free(c->filter);
	c->filter = NULL;
	hrr_slice_free(c->slice);
	c->slice = NULL;
	cut_marks_release(&c->marks);
	return rc;
}

void cut_release(struct cut *c)
{
	hrr_buf_release(&c->out);
	hrr_idmap_release(&c->named);
	hrr_record_release(&c->rec);
}
