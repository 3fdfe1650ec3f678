#include "formats/hrr/source.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/hrr/convert.h"
#include "lib/store/file.h"
#include "lib/store/source.h"

#define MAX_PROCESSES 4096

static void (*say)(const char *operand, const char *text);

struct proc {
	char *dir; /* owned */
	unsigned pid;
	struct hrr_convert *c;
	struct hrr_blobs *blobs;
	const char *line; /* the next one; borrowed from c */
	size_t len;
	int have; /* 1: line; 0: at the end; -1: to be fetched */
};

struct up {
	struct proc *p; /* owned */
	size_t n;
	struct proc *last; /* whose line was given */
	uint64_t lineno;
	char operand[PATH_MAX];
};

static bool file_in(const char *dir, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	return snprintf(path, sizeof path, "%s/%s", dir, name) < (int)sizeof path &&
	       lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Length of the folder's part of a path to an events.bin, or -1. */
static int of_events_file(const char *path)
{
	const char *base = strrchr(path, '/');

	base = base != NULL ? base + 1 : path;
	if (strcmp(base, "events.bin") != 0)
		return -1;
	return base == path ? 0 : (int)(base - path - 1);
}

static bool pid_folder(const char *name, unsigned *ret_pid)
{
	char back[32];
	unsigned pid;

	if (sscanf(name, "pid-%9u", &pid) != 1)
		return false;
	snprintf(back, sizeof back, "pid-%u", pid);
	*ret_pid = pid;
	return strcmp(back, name) == 0;
}

static bool probe(const char *path)
{
	struct stat st;
	bool found = false;
	unsigned pid;

	if (stat(path, &st) < 0)
		return false;
	if (S_ISREG(st.st_mode))
		return of_events_file(path) >= 0;
	if (!S_ISDIR(st.st_mode))
		return false;
	if (file_in(path, "events.bin"))
		return true;
	DIR *d = opendir(path);
	for (struct dirent *e; d != NULL && !found && (e = readdir(d)) != NULL;) {
		char sub[PATH_MAX];
		found = pid_folder(e->d_name, &pid) &&
			snprintf(sub, sizeof sub, "%s/%s", path, e->d_name) < (int)sizeof sub &&
			file_in(sub, "events.bin");
	}
	if (d != NULL)
		closedir(d);
	return found;
}

/* --- blobs ------------------------------------------------------------------ */

static void keep(void *self)
{
	(void)self; /* the conversion owns them */
}

static void close_own(void *self)
{
	hrr_up_blobs_close(self);
}

static const struct hrr_blob_provider of_conversion = {hrr_up_blobs_get,     hrr_up_blobs_size,
						       hrr_up_blobs_file,    hrr_up_blobs_check,
						       hrr_up_blobs_orphans, keep};
static const struct hrr_blob_provider of_folder = {hrr_up_blobs_get,	 hrr_up_blobs_size,
						   hrr_up_blobs_file,	 hrr_up_blobs_check,
						   hrr_up_blobs_orphans, close_own};

/* A stream in a pipe names the process's folder. */
static int open_blobs(struct hrr_blobs **ret, const char *dir, struct hrr_diag *diag)
{
	struct hrr_up_blobs *b;

	if (!file_in(dir, "events.bin"))
		return 0;
	int rc = hrr_up_blobs_open(&b, dir, diag);
	if (rc == 0 && (rc = hrr_blobs_provide(ret, dir, &of_folder, b)) < 0)
		hrr_up_blobs_close(b);
	return rc < 0 ? rc : 1;
}

/* --- processes ----------------------------------------------------------- */

static int add(struct up *u, const char *dir, unsigned pid, struct hrr_diag *diag)
{
	if (u->n == MAX_PROCESSES)
		return hrr_diag_set(diag, -E2BIG, "more than %d processes", MAX_PROCESSES);
	struct proc *p = realloc(u->p, (u->n + 1) * sizeof *p);
	if (p == NULL)
		return -ENOMEM;
	u->p = p;
	p[u->n] = (struct proc){.dir = strdup(dir), .pid = pid, .have = -1};
	if (p[u->n].dir == NULL)
		return -ENOMEM;
	u->n++;
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	const struct proc *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static int list(struct up *u, const char *path, struct hrr_diag *diag)
{
	char dir[PATH_MAX];
	int len = of_events_file(path), rc = 0;
	unsigned pid;

	if (len >= 0) {
		snprintf(dir, sizeof dir, "%.*s", len > 0 ? len : 1, len > 0 ? path : ".");
		return add(u, dir, 0, diag);
	}
	if (file_in(path, "events.bin")) {
		rc = add(u, path, 0, diag); /* a process's folder, or the old flat layout */
		if (rc < 0)
			return rc;
	}
	DIR *d = opendir(path);
	if (d == NULL)
		return hrr_diag_set(diag, -errno, "cannot list: %s", strerror(errno));
	for (struct dirent *e; rc == 0 && (e = hrr_dir_next(d, &rc)) != NULL;)
		if (pid_folder(e->d_name, &pid) &&
		    snprintf(dir, sizeof dir, "%s/%s", path, e->d_name) < (int)sizeof dir &&
		    file_in(dir, "events.bin"))
			rc = add(u, dir, pid, diag);
	closedir(d);
	if (rc < 0)
		hrr_diag_set(diag, rc, "cannot list: %s", strerror(-rc));
	if (rc == 0 && u->n > 1)
		qsort(u->p, u->n, sizeof *u->p, by_pid);
	return rc;
}

static void note(void *self, const char *text)
{
	if (say != NULL)
		say(self, text);
}

static void up_close(void *self)
{
	struct up *u = self;

	for (size_t i = 0; i < u->n; i++) {
		hrr_blobs_close(u->p[i].blobs);
		hrr_convert_close(u->p[i].c);
		free(u->p[i].dir);
	}
	free(u->p);
	free(u);
}

/* Opens process i; with what it says of itself its pid is known. */
static int begin(struct up *u, size_t i, int64_t index, const struct hrr_source_options *opt,
		 struct hrr_diag *diag)
{
	struct hrr_convert_options o = {index, opt->no_sidecars, note, u->p[i].dir};
	int rc = hrr_convert_open(&u->p[i].c, u->p[i].dir, &o, diag);

	if (rc < 0)
		return rc;
	u->p[i].pid = hrr_convert_pid(u->p[i].c);
	return hrr_blobs_provide(&u->p[i].blobs, hrr_up_blobs_path(hrr_convert_blobs(u->p[i].c)),
				 &of_conversion, hrr_convert_blobs(u->p[i].c));
}

/* --pid: all others go. A lone process's id may be known only from its manifest. */
static int choose(struct up *u, int64_t pid, struct hrr_diag *diag)
{
	char have[256] = "";
	size_t keep_n = 0, len = 0;

	for (size_t i = 0; i < u->n; i++) {
		if (u->p[i].pid == 0) {
			struct hrr_convert *c;
			struct hrr_convert_options o = {.p = -1, .no_regions = true};
			int rc = hrr_convert_open(&c, u->p[i].dir, &o, diag);
			if (rc < 0)
				return rc;
			u->p[i].pid = hrr_convert_pid(c);
			hrr_convert_close(c);
		}
		if (len < sizeof have - 16)
			len += (size_t)snprintf(have + len, sizeof have - len, "%s%u",
						i > 0 ? " " : "", u->p[i].pid);
	}
	for (size_t i = 0; i < u->n; i++) {
		if (u->p[i].pid == pid)
			u->p[keep_n++] = u->p[i];
		else
			free(u->p[i].dir);
	}
	u->n = keep_n;
	if (keep_n > 0)
		return 0;
	hrr_diag_at(diag, u->operand, 0);
	return hrr_diag_set(diag, -ENOENT, "no process %lld in it: it has %s", (long long)pid,
			    have);
}

static int up_open(void **ret_self, const char *path, const struct hrr_source_options *opt,
		   struct hrr_diag *diag)
{
	struct up *u = calloc(1, sizeof *u);
	int rc;

	hrr_diag_at(diag, path, 0);
	if (u == NULL)
		return hrr_diag_set(diag, -ENOMEM, "out of memory");
	snprintf(u->operand, sizeof u->operand, "%s", path);
	for (size_t n = strlen(u->operand); n > 1 && u->operand[n - 1] == '/'; n--)
		u->operand[n - 1] = '\0'; /* no "//" in messages */
	rc = list(u, u->operand, diag);
	if (rc == 0 && opt->pid >= 0)
		rc = choose(u, opt->pid, diag);
	for (size_t i = 0; rc == 0 && i < u->n; i++)
		rc = begin(u, i, u->n > 1 ? (int64_t)i : -1, opt, diag);
	if (rc < 0) {
		if (rc == -ENOMEM)
			hrr_diag_set(diag, rc, "out of memory");
		up_close(u);
		return rc;
	}
	*ret_self = u;
	return 0;
}

static int up_line(void *self, const char **ret_line, size_t *ret_len, uint64_t *ret_lineno,
		   bool *ret_cut, struct hrr_diag *diag)
{
	struct up *u = self;
	struct proc *best = NULL;

	if (u->last != NULL)
		u->last->have = -1;
	u->last = NULL;
	for (size_t i = 0; i < u->n; i++) {
		struct proc *p = &u->p[i];
		if (p->have < 0) {
			int rc = hrr_convert_line(p->c, &p->line, &p->len, diag);
			if (rc < 0)
				return rc;
			p->have = rc;
		}
		if (p->have > 0 &&
		    (best == NULL || hrr_convert_time(p->c) < hrr_convert_time(best->c)))
			best = p;
	}
	if (best == NULL)
		return 0;
	u->last = best;
	*ret_line = best->line;
	*ret_len = best->len;
	*ret_lineno = ++u->lineno;
	*ret_cut = false;
	return 1;
}

static bool up_head(void *self, struct hrr_record *rec)
{
	const struct up *u = self;

	return u->last != NULL && hrr_convert_head(u->last->c, u->last->line, rec);
}

static struct hrr_blobs *up_blobs(void *self, uint32_t p, struct hrr_diag *diag)
{
	struct up *u = self;

	if (p < u->n)
		return u->p[p].blobs;
	hrr_diag_set(diag, -ENOENT, "no process %u", p);
	return NULL;
}

static const struct hrr_source_format format = {"hrr",	 probe,	   up_open, up_line,
						up_head, up_blobs, up_close};

void hrr_upstream_register(void (*f)(const char *operand, const char *text))
{
	say = f;
	if (hrr_source_add_format(&format) == 0)
		hrr_blobs_set_opener(open_blobs);
}
