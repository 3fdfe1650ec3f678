#include "lib/collect/window.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/collect/cut.h"
#include "lib/store/file.h"

/* Calls f with the stream of every process of the archive. */
static int each_stream(struct cut *w, const char *dir, int (*f)(struct cut *w, const char *path))
{
	char path[4352];
	struct dirent *e;
	DIR *d = opendir(dir);
	int rc = 0;

	if (d == NULL)
		return hrr_diag_set(w->diag, -errno, "cannot read %s: %s", dir, strerror(errno));
	while (rc == 0 && (e = hrr_dir_next(d, &rc)) != NULL) {
		if (strncmp(e->d_name, "pid-", 4) != 0)
			continue;
		snprintf(path, sizeof path, "%s/%s/events.jsonl", dir, e->d_name);
		rc = f(w, path);
	}
	closedir(d);
	return rc;
}

static int end_of(struct cut *w, const char *path)
{
	return cut_find_end(w, path, UINT64_MAX);
}

static int replace(struct cut *w, const char *path)
{
	char temp[4400];

	snprintf(temp, sizeof temp, "%s.window", path);
	unlink(temp); /* of one that was killed */
	int rc = cut_stream(w, path, UINT64_MAX, temp);
	if (rc == 0 && rename(temp, path) < 0) {
		rc = hrr_diag_set(w->diag, -errno, "cannot replace %s: %s", path, strerror(errno));
		unlink(temp);
	}
	return rc;
}

/* Blobs lie two deep: blobs/ab/abcdef…. What is no blob stays. */
static int remove_blobs(const char *dir, const struct hrr_idmap *named, struct hrr_diag *diag)
{
	char path[4352], text[HRR_ID_TEXT + 1];
	struct dirent *e, *b;
	struct hrr_id id;
	int rc = 0;

	snprintf(path, sizeof path, "%s/blobs", dir);
	DIR *d = opendir(path);
	if (d == NULL)
		rc = -errno;
	while (rc == 0 && (e = hrr_dir_next(d, &rc)) != NULL) {
		if (strlen(e->d_name) != 2 || e->d_name[0] == '.')
			continue;
		int fd =
		    openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		DIR *sub = fd >= 0 ? fdopendir(fd) : NULL;
		if (sub == NULL) {
			rc = errno == ENOTDIR || errno == ELOOP ? 0 : -errno;
			if (fd >= 0)
				close(fd);
			continue;
		}
		while (rc == 0 && (b = hrr_dir_next(sub, &rc)) != NULL) {
			if (strlen(b->d_name) != 32)
				continue;
			snprintf(text, sizeof text, "xxh128:%.32s", b->d_name);
			if (hrr_id_parse(text, HRR_ID_TEXT, &id) == 0 &&
			    hrr_idmap_get(named, &id) == NULL && unlinkat(fd, b->d_name, 0) < 0)
				rc = -errno;
		}
		closedir(sub);
		unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR); /* when nothing is left in it */
	}
	if (d != NULL)
		closedir(d);
	return rc < 0 ? hrr_diag_set(diag, rc, "cannot remove bytes that no call has any more: %s",
				     strerror(-rc))
		      : 0;
}

int hrr_collect_window(const char *dir, uint64_t ns, uint64_t *ret_calls, struct hrr_diag *diag)
{
	struct cut w = {.fd = -1, .diag = diag};
	int rc = each_stream(&w, dir, end_of);

	w.from = w.end > ns ? w.end - ns : 0;
	if (rc == 0)
		rc = each_stream(&w, dir, replace);
	if (rc == 0)
		rc = remove_blobs(dir, &w.named, diag);
	*ret_calls = w.calls;
	cut_release(&w);
	return rc;
}
