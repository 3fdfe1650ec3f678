#include "lib/collect/window.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/idmap.h"
#include "lib/hip/slice.h"
#include "lib/store/file.h"
#include "lib/stream/filter.h"

struct window {
	const char *dir;
	struct hrr_record rec;
	uint64_t t0;  /* of the stream that is read */
	uint64_t end; /* CLOCK_MONOTONIC: the last call's return */
	uint64_t from;
	uint64_t calls;
	struct hrr_slice *slice;
	struct hrr_filter *filter;
	struct hrr_buf out;
	int fd;
	const char *name; /* of fd */
	struct hrr_idmap named;
	struct hrr_diag *diag;
};

typedef int (*each_record)(struct window *w);

static int no_memory(struct window *w)
{
	return hrr_diag_set(w->diag, -ENOMEM, "out of memory");
}

/* Of every record of a stream in turn. */
static int read_stream(struct window *w, const char *path, each_record each)
{
	const char *line;
	size_t len;
	uint64_t lineno, t0;
	bool cut;
	int rc, fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return hrr_diag_set(w->diag, -errno, "cannot open %s: %s", path, strerror(errno));
	struct hrr_reader *r = hrr_reader_new(fd, path);
	if (r == NULL) {
		close(fd);
		return no_memory(w);
	}
	w->t0 = 0;
	while ((rc = hrr_reader_line(r, &line, &len, &lineno, &cut, w->diag)) > 0) {
		if (cut)
			continue; /* half a line: nothing that counts */
		rc = hrr_record_parse(&w->rec, line, len, w->diag);
		if (rc < 0)
			break;
		if (w->rec.kind == HRR_REC_HEADER) {
			struct hrr_buf b = {0};
			int node = hrr_json_get(&w->rec.json, 0, "t0");
			t0 = 0;
			if (node >= 0 && hrr_json_str(&w->rec.json, node, &b) == 0 &&
			    hrr_buf_str(&b) != NULL)
				t0 = strtoull(b.data, NULL, 10);
			hrr_buf_release(&b);
			w->t0 = t0;
		}
		rc = each(w);
		if (rc < 0)
			break;
	}
	hrr_reader_free(r);
	return rc < 0 ? rc : 0;
}

static uint64_t returned(const struct window *w)
{
	return w->rec.t == HRR_NO_TIME ? w->t0 : w->t0 + w->rec.t + w->rec.dur;
}

static int find_end(struct window *w)
{
	if (w->rec.kind == HRR_REC_CALL && returned(w) > w->end)
		w->end = returned(w);
	return 0;
}

static int gather(struct window *w)
{
	bool in = w->rec.kind == HRR_REC_CALL && returned(w) >= w->from;

	return hrr_slice_gather(w->slice, &w->rec, in) < 0 ? no_memory(w) : 0;
}

static bool keeps(void *self, const struct hrr_record *rec)
{
	return hrr_slice_keeps(self, rec);
}

/* Every blob a line that stays names. */
static int note_blobs(struct window *w)
{
	static const char mark[] = "xxh128:";
	const char *s = w->rec.line, *end = s + w->rec.len;
	struct hrr_id id;

	while ((s = memmem(s, (size_t)(end - s), mark, sizeof mark - 1)) != NULL) {
		if ((size_t)(end - s) >= HRR_ID_TEXT && hrr_id_parse(s, HRR_ID_TEXT, &id) == 0 &&
		    hrr_idmap_add(&w->named, &id, 1) < 0)
			return no_memory(w);
		s += sizeof mark - 1;
	}
	return 0;
}

static int flush(struct window *w)
{
	for (size_t at = 0; at < w->out.len;) {
		ssize_t n = write(w->fd, w->out.data + at, w->out.len - at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return hrr_diag_set(w->diag, n < 0 ? -errno : -EIO, "cannot write %s: %s",
					    w->name, strerror(n < 0 ? errno : EIO));
		at += (size_t)n;
	}
	w->out.len = 0;
	return 0;
}

static int write_kept(struct window *w)
{
	int rc = hrr_filter_record(w->filter, &w->rec);

	if (rc <= 0)
		return rc < 0 ? no_memory(w) : 0;
	w->calls += w->rec.kind == HRR_REC_CALL;
	rc = w->rec.kind == HRR_REC_END ? hrr_filter_end(w->filter, &w->rec, &w->out)
					: hrr_buf_add(&w->out, w->rec.line, w->rec.len);
	if (rc < 0 || hrr_buf_addc(&w->out, '\n') < 0)
		return no_memory(w);
	rc = note_blobs(w);
	return rc < 0 || w->out.len < (1u << 20) ? rc : flush(w);
}

static int cut_stream(struct window *w, const char *path)
{
	char temp[4400];
	int rc;

	snprintf(temp, sizeof temp, "%s.window", path);
	w->name = temp;
	w->slice = hrr_slice_new();
	struct hrr_filter_options opt = {.keep = keeps, .self = w->slice};
	w->fd = -1;
	rc = w->slice == NULL ? no_memory(w) : hrr_filter_new(&w->filter, &opt, w->diag);
	if (rc == 0)
		rc = read_stream(w, path, gather);
	if (rc == 0 && hrr_slice_solve(w->slice) < 0)
		rc = no_memory(w);
	if (rc == 0) {
		w->fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (w->fd < 0)
			rc = hrr_diag_set(w->diag, -errno, "cannot make %s: %s", temp,
					  strerror(errno));
	}
	if (rc == 0)
		rc = read_stream(w, path, write_kept);
	if (rc == 0)
		rc = flush(w);
	bool made = w->fd >= 0;
	if (made && close(w->fd) < 0 && rc == 0)
		rc = hrr_diag_set(w->diag, -errno, "cannot write %s: %s", temp, strerror(errno));
	if (rc == 0 && rename(temp, path) < 0)
		rc = hrr_diag_set(w->diag, -errno, "cannot replace %s: %s", path, strerror(errno));
	if (rc < 0 && made)
		unlink(temp);
	w->out.len = 0;
	hrr_filter_free(w->filter);
	w->filter = NULL;
	hrr_slice_free(w->slice);
	w->slice = NULL;
	return rc;
}

/* Calls f with the stream of every process of the archive. */
static int each_stream(struct window *w, int (*f)(struct window *w, const char *path))
{
	char path[4352];
	struct dirent *e;
	DIR *d = opendir(w->dir);
	int rc = 0;

	if (d == NULL)
		return hrr_diag_set(w->diag, -errno, "cannot read %s: %s", w->dir, strerror(errno));
	while (rc == 0 && (e = hrr_dir_next(d, &rc)) != NULL) {
		if (strncmp(e->d_name, "pid-", 4) != 0)
			continue;
		snprintf(path, sizeof path, "%s/%s/events.jsonl", w->dir, e->d_name);
		rc = f(w, path);
	}
	closedir(d);
	return rc;
}

static int end_of(struct window *w, const char *path)
{
	return read_stream(w, path, find_end);
}

/* Blobs lie two deep: blobs/ab/abcdef…. What is no blob stays. */
static void remove_blobs(struct window *w)
{
	char path[4352], text[HRR_ID_TEXT + 1];
	struct dirent *e, *b;
	struct hrr_id id;

	snprintf(path, sizeof path, "%s/blobs", w->dir);
	DIR *d = opendir(path);
	while (d != NULL && (e = readdir(d)) != NULL) {
		if (strlen(e->d_name) != 2 || e->d_name[0] == '.')
			continue;
		int fd =
		    openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		DIR *sub = fd >= 0 ? fdopendir(fd) : NULL;
		if (sub == NULL) {
			if (fd >= 0)
				close(fd);
			continue;
		}
		while ((b = readdir(sub)) != NULL) {
			if (strlen(b->d_name) != 32)
				continue;
			snprintf(text, sizeof text, "xxh128:%.32s", b->d_name);
			if (hrr_id_parse(text, HRR_ID_TEXT, &id) == 0 &&
			    hrr_idmap_get(&w->named, &id) == NULL)
				unlinkat(fd, b->d_name, 0);
		}
		closedir(sub);
		unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR); /* when nothing is left in it */
	}
	if (d != NULL)
		closedir(d);
}

int hrr_collect_window(const char *dir, uint64_t ns, uint64_t *ret_calls, struct hrr_diag *diag)
{
	struct window w = {.dir = dir, .fd = -1, .diag = diag};
	int rc = each_stream(&w, end_of);

	w.from = w.end > ns ? w.end - ns : 0;
	if (rc == 0)
		rc = each_stream(&w, cut_stream);
	if (rc == 0)
		remove_blobs(&w);
	*ret_calls = w.calls;
	hrr_buf_release(&w.out);
	hrr_idmap_release(&w.named);
	hrr_record_release(&w.rec);
	return rc;
}
