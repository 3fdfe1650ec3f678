#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/store/archive.h"
#include "lib/store/file.h"
#include "lib/store/source_private.h"

static const struct hrr_source_format *formats[HRR_SOURCE_MAX_FORMATS];
static size_t n_formats;

int hrr_source_add_format(const struct hrr_source_format *format)
{
	if (n_formats == HRR_SOURCE_MAX_FORMATS)
		return -ENOSPC;
	formats[n_formats++] = format;
	return 0;
}

struct found {
	uint32_t pid, image;
};

/* "pid-N" or "pid-N.M", as our writers name them. */
static bool process_name(const char *name, struct found *ret)
{
	char back[64];
	unsigned pid, image = 0;
	int n = 0;

	if (sscanf(name, "pid-%9u%n", &pid, &n) != 1)
		return false;
	if (name[n] == '.' && sscanf(name + n, ".%9u", &image) != 1)
		return false;
	if (image == 0)
		snprintf(back, sizeof back, "pid-%u", pid);
	else
		snprintf(back, sizeof back, "pid-%u.%u", pid, image);
	*ret = (struct found){pid, image};
	return strcmp(back, name) == 0;
}

static int by_process(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->image < y->image ? -1 : x->image > y->image;
}

static int no_memory(struct hrr_diag *diag)
{
	return hrr_diag_set(diag, -ENOMEM, "out of memory");
}

static int make_feeds(struct hrr_source *s, size_t n)
{
	s->feeds = calloc(n > 0 ? n : 1, sizeof *s->feeds);
	if (s->feeds == NULL)
		return -ENOMEM;
	s->n_feeds = n;
	for (size_t i = 0; i < n; i++)
		s->feeds[i].p = -1;
	return 0;
}

void hrr_source_feed_release(struct feed *f)
{
	if (f->format != NULL && f->foreign != NULL)
		f->format->close(f->foreign);
	hrr_reader_free(f->reader);
	hrr_record_release(&f->head);
	hrr_record_release(&f->region);
	hrr_buf_release(&f->line);
	hrr_buf_release(&f->region_line);
	hrr_sidecars_release(&f->side);
	free(f->name);
	free(f->folder);
	free(f->sidecars_in);
	*f = (struct feed){0};
}

/* A file of lines, and the folder it lies in. One that the user named may be a pipe. */
static int feed_file(struct feed *f, const char *path, bool named, struct hrr_diag *diag)
{
	int rc = 0,
	    fd = named ? open(path, O_RDONLY | O_CLOEXEC) : hrr_file_open(AT_FDCWD, path, 0);

	hrr_diag_at(diag, path, 0);
	if (fd < 0) {
		rc = named ? -errno : fd;
		return hrr_diag_set(diag, rc, "cannot open: %s", hrr_file_why(rc));
	}
	f->reader = hrr_reader_new(fd, path);
	f->name = strdup(path);
	char *dir = hrr_path_dir(path);
	if (dir != NULL) {
		f->folder = realpath(dir, NULL);
		rc = f->folder == NULL ? -errno : 0;
		f->sidecars_in = hrr_path_join(dir, "regions");
	}
	free(dir);
	if (rc < 0)
		return hrr_diag_set(diag, rc, "cannot open its folder: %s", strerror(-rc));
	if (f->reader == NULL || f->name == NULL || f->sidecars_in == NULL)
		return no_memory(diag);
	return 0;
}

/* Is dir, the folder around a process's, an archive that still grows? */
static bool is_running(const char *dir)
{
	struct hrr_archive_manifest m;

	return hrr_archive_manifest(dir, &m, NULL) == 0 && m.running;
}

static int find_file(struct hrr_source *s, const char *path, bool named, struct hrr_diag *diag)
{
	int rc = make_feeds(s, 1);

	if (rc < 0)
		return no_memory(diag);
	rc = feed_file(&s->feeds[0], path, named, diag);
	if (rc < 0 || s->feeds[0].folder == NULL)
		return rc;
	char *up = hrr_path_join(s->feeds[0].folder, "..");
	if (up == NULL)
		return no_memory(diag);
	s->running = is_running(up);
	s->archive = up;
	return 0;
}

static int choose(const struct hrr_source *s, struct found *list, size_t *n, const char *operand,
		  struct hrr_diag *diag)
{
	char have[256] = "";
	size_t keep = 0, len = 0;

	if (s->opt.pid < 0)
		return 0;
	for (size_t i = 0; i < *n; i++) {
		if (list[i].pid == s->opt.pid)
			list[keep++] = list[i];
		if (len < sizeof have - 16 && (i == 0 || list[i].pid != list[i - 1].pid))
			len += (size_t)snprintf(have + len, sizeof have - len, "%s%u",
						i > 0 ? " " : "", list[i].pid);
	}
	if (keep == 0) {
		hrr_diag_at(diag, operand, 0);
		return hrr_diag_set(diag, -ENOENT, "no process %lld in it: it has %s",
				    (long long)s->opt.pid, *n > 0 ? have : "none");
	}
	*n = keep;
	return 0;
}

static int list_processes(const char *dir, struct hrr_buf *list, size_t *ret_n)
{
	DIR *d = opendir(dir);
	struct found f;
	int rc = 0;

	*ret_n = 0;
	if (d == NULL)
		return -errno;
	for (struct dirent *e; rc == 0 && (e = hrr_dir_next(d, &rc)) != NULL;) {
		if (!process_name(e->d_name, &f))
			continue;
		rc = *ret_n == HRR_STREAM_MAX_PROCESSES ? -E2BIG : hrr_buf_add(list, &f, sizeof f);
		*ret_n += rc == 0;
	}
	closedir(d);
	if (rc == 0 && *ret_n > 0)
		qsort(list->data, *ret_n, sizeof f, by_process);
	return rc;
}

/* One of an archive's processes; p: its records say whose they are. */
static int feed_process(struct hrr_source *s, size_t i, const struct found *x, bool p,
			struct hrr_diag *diag)
{
	struct feed *f = &s->feeds[i];
	char name[64];

	if (x->image == 0)
		snprintf(name, sizeof name, "pid-%u/events.jsonl", x->pid);
	else
		snprintf(name, sizeof name, "pid-%u.%u/events.jsonl", x->pid, x->image);
	char *path = hrr_path_join(s->archive, name);
	int rc = path == NULL ? no_memory(diag) : feed_file(f, path, false, diag);
	f->pid = x->pid;
	f->image = x->image;
	f->p = p ? (int64_t)i : -1;
	f->insert = p;
	free(path);
	return rc;
}

static bool is_fed(const struct hrr_source *s, const struct found *x)
{
	for (size_t i = 0; i < s->n_feeds; i++)
		if (s->feeds[i].pid == x->pid && s->feeds[i].image == x->image)
			return true;
	return false;
}

int hrr_source_find_new(struct hrr_source *s, struct hrr_diag *diag)
{
	struct hrr_buf buf = {0};
	size_t n;
	int added = 0, rc = list_processes(s->archive, &buf, &n);
	const struct found *list = (const void *)buf.data;

	if (rc < 0) {
		hrr_diag_at(diag, s->archive, 0);
		hrr_diag_set(diag, rc, "cannot list: %s", strerror(-rc));
	}
	for (size_t i = 0; rc == 0 && i < n; i++) {
		if (is_fed(s, &list[i]))
			continue;
		struct feed *v = realloc(s->feeds, (s->n_feeds + 1) * sizeof *v);
		if (v == NULL) {
			rc = no_memory(diag);
			break;
		}
		s->feeds = v;
		s->feeds[s->n_feeds] = (struct feed){0};
		rc = feed_process(s, s->n_feeds, &list[i], true, diag);
		if (rc == -ENOENT) { /* its folder is there, its events are not yet */
			hrr_source_feed_release(&s->feeds[s->n_feeds]);
			rc = 0;
			continue;
		}
		s->n_feeds++;
		added++;
	}
	hrr_buf_release(&buf);
	return rc < 0 ? rc : added;
}

static int find_archive(struct hrr_source *s, const char *dir, struct hrr_diag *diag)
{
	struct hrr_archive_manifest m;
	struct hrr_buf buf = {0};
	size_t n;
	int rc = hrr_archive_manifest(dir, &m, diag);

	if (rc == 0)
		s->running = m.running;
	else if (rc != -ENOENT)
		return rc;
	bool manifest = rc == 0;
	s->archive = strdup(dir);
	if (s->archive == NULL)
		return no_memory(diag);
	rc = list_processes(dir, &buf, &n);
	hrr_diag_at(diag, dir, 0);
	if (rc < 0) {
		rc = hrr_diag_set(diag, rc, "cannot list: %s", strerror(-rc));
		goto out;
	}
	if (n == 0 && !manifest) {
		rc = hrr_diag_set(diag, -EINVAL,
				  "not an archive: no manifest.json, no process folder");
		goto out;
	}
	struct found *list = (void *)buf.data;
	s->grows = s->opt.follow && s->running && s->opt.pid < 0;
	if (s->grows) { /* as if all came later */
		rc = hrr_source_find_new(s, diag);
		goto out;
	}
	rc = choose(s, list, &n, dir, diag);
	s->opt.pid = -1; /* chosen */
	if (rc == 0 && make_feeds(s, n) < 0)
		rc = no_memory(diag);
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = feed_process(s, i, &list[i], n > 1, diag);
out:
	hrr_buf_release(&buf);
	return rc;
}

static int find_folder(struct hrr_source *s, const char *dir, struct hrr_diag *diag)
{
	char *events = hrr_path_join(dir, "events.jsonl");
	struct stat st;

	if (events == NULL)
		return no_memory(diag);
	int rc =
	    stat(events, &st) == 0 ? find_file(s, events, false, diag) : find_archive(s, dir, diag);
	free(events);
	return rc;
}

int hrr_source_find(struct hrr_source *s, const char *operand, struct hrr_diag *diag)
{
	struct stat st;

	if (operand == NULL || strcmp(operand, "-") == 0) {
		int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
		hrr_diag_at(diag, "-", 0);
		if (fd < 0)
			return hrr_diag_set(diag, -errno, "cannot read standard input: %s",
					    strerror(errno));
		if (make_feeds(s, 1) < 0) {
			close(fd);
			return no_memory(diag);
		}
		s->feeds[0].reader = hrr_reader_new(fd, "-");
		s->feeds[0].name = strdup("-");
		if (s->feeds[0].reader == NULL || s->feeds[0].name == NULL)
			return no_memory(diag);
		return 0;
	}
	hrr_diag_at(diag, operand, 0);
	if (stat(operand, &st) < 0)
		return hrr_diag_set(diag, -errno, "cannot open: %s", strerror(errno));
	for (size_t i = 0; i < n_formats; i++) {
		if (!formats[i]->probe(operand))
			continue;
		if (make_feeds(s, 1) < 0)
			return no_memory(diag);
		s->feeds[0].format = formats[i];
		s->feeds[0].name = strdup(operand);
		if (s->feeds[0].name == NULL)
			return no_memory(diag);
		return formats[i]->open(&s->feeds[0].foreign, operand, &s->opt, diag);
	}
	if (S_ISDIR(st.st_mode))
		return find_folder(s, operand, diag);
	return find_file(s, operand, true, diag);
}
