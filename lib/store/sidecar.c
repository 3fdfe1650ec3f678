#include "lib/store/sidecar.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lib/store/file.h"
#include "lib/store/sidecar_tick.h"

static int no_memory(struct hrr_diag *diag)
{
	return hrr_diag_set(diag, -ENOMEM, "out of memory");
}

/* How a sidecar's times become the stream's. */
struct times {
	int64_t shift; /* what is added */
	uint64_t resolution;
	struct hrr_buf late; /* a byte for each line behind the header: it acts at its tick's end */
	size_t line;
};

static int read_header(const struct hrr_json *j, const struct hrr_sidecar_clock *clock,
		       struct times *ret, struct hrr_diag *diag)
{
	uint64_t version, zero = clock->t0;
	int resolution = hrr_json_get(j, 0, "resolution");
	int name = hrr_json_get(j, 0, "clock");

	if (hrr_json_u64(j, hrr_json_get(j, 0, "regions"), &version) < 0)
		return hrr_diag_set(diag, -EINVAL,
				    "not a sidecar: its first line has no member \"regions\"");
	if (version != 1)
		return hrr_diag_set(
		    diag, -EINVAL,
		    "sidecar version %llu is not known: this program reads version 1",
		    (unsigned long long)version);
	if (hrr_json_is(j, name, "realtime"))
		zero = clock->realtime;
	else if (name >= 0 && !hrr_json_is(j, name, "monotonic"))
		return hrr_diag_set(
		    diag, -EINVAL,
		    "bad sidecar: \"clock\" is neither \"monotonic\" nor \"realtime\"");
	ret->resolution = 1;
	if (resolution >= 0 && (hrr_json_u64(j, resolution, &ret->resolution) < 0 ||
				ret->resolution == 0 || ret->resolution > HRR_SIDECAR_TICK_MAX))
		return hrr_diag_set(diag, -EINVAL,
				    "bad sidecar: \"resolution\" is not from 1 to %llu ns",
				    (unsigned long long)HRR_SIDECAR_TICK_MAX);
	uint64_t t0 = hrr_json_decimal(j, "t0");
	ret->shift = t0 == 0 || zero == 0 ? 0 : (int64_t)(t0 - zero);
	return 0;
}

/* Appends the line with its t replaced. */
static int add_line(struct hrr_sidecars *s, const struct hrr_record *rec, struct times *times)
{
	const struct hrr_json *j = &rec->json;
	struct hrr_sidecar_line line = {.stamped = rec->t != HRR_NO_TIME, .off = s->text.len};
	int bad;

	if (line.stamped) {
		int64_t t;
		uint64_t at = rec->t;
		if (times->line < times->late.len && times->late.data[times->line])
			at = at - at % times->resolution + (times->resolution - 1);
		if (at > INT64_MAX || __builtin_add_overflow((int64_t)at, times->shift, &t))
			return -EINVAL;
		line.t = t < 0 ? 0 : (uint64_t)t;
	}
	if (line.stamped && line.t != rec->t) {
		const struct hrr_json_node *n = &j->nodes[hrr_json_get(j, 0, "t")];
		bad = hrr_buf_add(&s->text, j->text, n->off);
		bad |= hrr_buf_addu(&s->text, line.t);
		bad |= hrr_buf_add(&s->text, j->text + n->off + n->len, j->len - n->off - n->len);
	} else {
		bad = hrr_buf_add(&s->text, rec->line, rec->len);
	}
	line.len = s->text.len - line.off;
	if (bad || hrr_buf_add(&s->lines, &line, sizeof line) < 0)
		return -ENOMEM;
	s->n++;
	return 0;
}

/* fd is taken; negative: why there is none. */
static int add(struct hrr_sidecars *s, int fd, const char *path,
	       const struct hrr_sidecar_clock *clock, struct hrr_diag *diag)
{
	struct hrr_record rec = {0};
	struct hrr_reader *reader = NULL;
	const char *line;
	size_t len;
	bool cut = false, header = false;
	struct times times = {.resolution = 1};
	int rc;

	if (fd < 0) {
		hrr_diag_at(diag, path, 0);
		return hrr_diag_set(diag, fd, "cannot open sidecar: %s", hrr_file_why(fd));
	}
	reader = hrr_reader_new(fd, path);
	if (reader == NULL)
		return no_memory(diag);
	while ((rc = hrr_reader_line(reader, &line, &len, &rec.lineno, &cut, diag)) > 0) {
		if (cut) {
			s->cut = true;
			break;
		}
		hrr_diag_at(diag, path, rec.lineno);
		rc = hrr_record_parse(&rec, line, len, diag);
		if (rc < 0)
			break;
		if (!header) {
			rc = read_header(&rec.json, clock, &times, diag);
			if (rc == 0 && times.resolution > 1) {
				rc = hrr_sidecar_ticks(path, times.resolution, &times.late);
				if (rc == -ENOMEM)
					no_memory(diag);
				else if (rc < 0)
					hrr_diag_set(diag, rc,
						     "cannot open sidecar: with a resolution it is "
						     "read twice: %s",
						     hrr_file_why(rc));
			}
			if (rc < 0)
				break;
			header = true;
			continue;
		}
		if (rec.kind == HRR_REC_OTHER) {
			times.line++;
			continue; /* a remark: nothing that acts on the stream */
		}
		if (rec.kind != HRR_REC_REGION) {
			rc = hrr_diag_set(diag, -EINVAL, "bad sidecar: not a region");
			break;
		}
		if (s->text.len > HRR_SIDECAR_MAX) {
			rc =
			    hrr_diag_set(diag, -E2BIG, "sidecars too large: the limit is %zu bytes",
					 HRR_SIDECAR_MAX);
			break;
		}
		rc = add_line(s, &rec, &times);
		times.line++;
		if (rc == -EINVAL)
			hrr_diag_set(diag, rc, "bad sidecar: \"t\" is out of range");
		else if (rc < 0)
			no_memory(diag);
		if (rc < 0)
			break;
	}
	hrr_reader_free(reader);
	hrr_record_release(&rec);
	hrr_buf_release(&times.late);
	return rc < 0 ? rc : 0;
}

int hrr_sidecars_add(struct hrr_sidecars *s, const char *path,
		     const struct hrr_sidecar_clock *clock, struct hrr_diag *diag)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return add(s, fd < 0 ? -errno : fd, path, clock, diag);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int hrr_sidecars_add_folder(struct hrr_sidecars *s, const char *dir,
			    const struct hrr_sidecar_clock *clock, struct hrr_diag *diag)
{
	struct hrr_buf names = {0};
	size_t n = 0;
	int rc = 0;
	DIR *d = opendir(dir);

	if (d == NULL) {
		rc = -errno;
		if (rc == -ENOENT || rc == -ENOTDIR)
			return 0;
		hrr_diag_at(diag, dir, 0);
		return hrr_diag_set(diag, rc, "cannot open: %s", strerror(-rc));
	}
	for (struct dirent *e; rc == 0 && (e = hrr_dir_next(d, &rc)) != NULL;) {
		size_t len = strlen(e->d_name);
		if (e->d_name[0] == '.' || len < 7 || strcmp(e->d_name + len - 6, ".jsonl") != 0)
			continue;
		char *path = hrr_path_join(dir, e->d_name);
		rc = path == NULL ? -ENOMEM : hrr_buf_add(&names, &path, sizeof path);
		if (rc == 0)
			n++;
		else
			free(path);
	}
	closedir(d);
	char **list = (void *)names.data;
	if (rc < 0) {
		hrr_diag_at(diag, dir, 0);
		hrr_diag_set(diag, rc, "cannot list: %s", strerror(-rc));
	} else if (n > 0) {
		qsort(list, n, sizeof *list, by_name);
	}
	for (size_t i = 0; i < n; i++) {
		if (rc == 0)
			rc = add(s, hrr_file_open(AT_FDCWD, list[i], 0), list[i], clock, diag);
		free(list[i]);
	}
	hrr_buf_release(&names);
	return rc;
}

/* Lines were appended in order, so their offset breaks ties. */
static int by_time(const void *a, const void *b)
{
	const struct hrr_sidecar_line *x = a, *y = b;

	if (x->stamped != y->stamped) /* before the stream is before its first nanosecond */
		return x->stamped ? 1 : -1;
	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	return x->off < y->off ? -1 : x->off > y->off;
}

void hrr_sidecars_sort(struct hrr_sidecars *s)
{
	if (s->n > 0)
		qsort(s->lines.data, s->n, sizeof(struct hrr_sidecar_line), by_time);
}

const struct hrr_sidecar_line *hrr_sidecars_at(const struct hrr_sidecars *s, size_t i)
{
	return &((const struct hrr_sidecar_line *)(const void *)s->lines.data)[i];
}

void hrr_sidecars_release(struct hrr_sidecars *s)
{
	hrr_buf_release(&s->text);
	hrr_buf_release(&s->lines);
	*s = (struct hrr_sidecars){0};
}
