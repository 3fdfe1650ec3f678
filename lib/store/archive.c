#include "lib/store/archive.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/json.h"
#include "lib/base/proc.h"
#include "lib/store/file.h"

#define MANIFEST "manifest.json"
#define MANIFEST_MAX ((size_t)64 << 10)

struct hrr_archive {
	int dir;
	char *path;
	struct hrr_blobs *blobs;
	uint64_t start;
	char boot[64];
};

void hrr_boot_id(char *text, size_t size)
{
	struct hrr_buf b = {0};
	size_t n = 0;

	if (hrr_file_read(AT_FDCWD, "/proc/sys/kernel/random/boot_id", 256, &b) == 0)
		while (n < b.len && n + 1 < size && b.data[n] != '\n')
			n++;
	if (n > 0)
		memcpy(text, b.data, n);
	text[n] = '\0';
	hrr_buf_release(&b);
}

static int write_manifest(struct hrr_archive *a, const char *state, struct hrr_diag *diag)
{
	struct hrr_buf b = {0};
	int bad = hrr_buf_adds(&b, "{\"hrr-archive\":1,\"state\":");

	bad |= hrr_json_put_str(&b, state, strlen(state));
	if (strcmp(state, "running") == 0) { /* what is done is the same whoever did it */
		bad |=
		    hrr_buf_addf(&b, ",\"writer\":%ld,\"start\":\"%llu\",\"boot\":", (long)getpid(),
				 (unsigned long long)a->start);
		bad |= hrr_json_put_str(&b, a->boot, strlen(a->boot));
	}
	bad |= hrr_buf_adds(&b, "}\n");
	int rc = bad ? hrr_diag_set(diag, -ENOMEM, "out of memory")
		     : hrr_file_replace(a->dir, MANIFEST, b.data, b.len, 0600, diag);
	hrr_buf_release(&b);
	return rc;
}

int hrr_archive_create(struct hrr_archive **ret, const char *dir, struct hrr_diag *diag)
{
	struct hrr_archive *a = calloc(1, sizeof *a);
	char *blobs = NULL;
	struct timespec now;
	int rc = -ENOMEM;

	if (a == NULL)
		return hrr_diag_set(diag, -ENOMEM, "out of memory");
	a->dir = -1;
	if (mkdir(dir, 0700) < 0) {
		rc = hrr_diag_set(diag, -errno, "cannot make archive %s: %s", dir,
				  errno == EEXIST ? "it is there already" : strerror(errno));
		hrr_archive_close(a);
		return rc;
	}
	a->path = strdup(dir);
	blobs = hrr_path_join(dir, "blobs");
	if (a->path == NULL || blobs == NULL)
		goto fail;
	a->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (a->dir < 0) {
		rc = hrr_diag_set(diag, -errno, "cannot open archive %s: %s", dir, strerror(errno));
		goto fail;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	a->start = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	hrr_boot_id(a->boot, sizeof a->boot);
	rc = hrr_blobs_open(&a->blobs, blobs, true, diag);
	if (rc == 0)
		rc = write_manifest(a, "running", diag);
	if (rc < 0)
		goto fail;
	free(blobs);
	*ret = a;
	return 0;
fail:
	if (rc == -ENOMEM)
		hrr_diag_set(diag, rc, "out of memory");
	if (blobs != NULL)
		rmdir(blobs);
	rmdir(dir); /* nothing of it was used */
	free(blobs);
	hrr_archive_close(a);
	return rc;
}

/* Of what is written again nothing may lie elsewhere. */
static int refuse_links(const char *dir, int fd, struct hrr_diag *diag)
{
	int rc = 0, copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	DIR *d = copy >= 0 ? fdopendir(copy) : NULL;

	if (d == NULL) {
		rc = -errno;
		if (copy >= 0)
			close(copy);
	}
	for (struct dirent *e; rc == 0 && (e = hrr_dir_next(d, &rc)) != NULL;) {
		struct stat st;
		if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
			rc = hrr_diag_set(diag, -ELOOP, "%s: %s is a link", dir, e->d_name);
	}
	if (d != NULL)
		closedir(d);
	return rc < 0 && rc != -ELOOP
		   ? hrr_diag_set(diag, rc, "cannot list %s: %s", dir, strerror(-rc))
		   : rc;
}

int hrr_archive_reopen(struct hrr_archive **ret, const char *dir, struct hrr_diag *diag)
{
	struct hrr_archive_manifest have;
	struct timespec now;
	int rc = hrr_archive_manifest(dir, &have, diag);

	if (rc < 0)
		return rc == -ENOENT ? hrr_diag_set(diag, rc, "%s: not an archive", dir) : rc;
	if (have.running)
		return hrr_diag_set(diag, -EBUSY, "%s: its hrr-capture (process %u) lives", dir,
				    have.writer);
	struct hrr_archive *a = calloc(1, sizeof *a);
	char *blobs = hrr_path_join(dir, "blobs");
	if (a == NULL || blobs == NULL || (a->path = strdup(dir)) == NULL) {
		free(a);
		free(blobs);
		return hrr_diag_set(diag, -ENOMEM, "out of memory");
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	a->start = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	hrr_boot_id(a->boot, sizeof a->boot);
	a->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rc = a->dir < 0
		 ? hrr_diag_set(diag, -errno, "cannot open archive %s: %s", dir, strerror(errno))
		 : refuse_links(dir, a->dir, diag);
	if (rc == 0)
		rc = hrr_blobs_open(&a->blobs, blobs, false, diag);
	free(blobs);
	if (rc < 0) {
		hrr_archive_close(a);
		return rc;
	}
	*ret = a;
	return 0;
}

struct hrr_blobs *hrr_archive_blobs(struct hrr_archive *a)
{
	return a->blobs;
}

int hrr_archive_process(struct hrr_archive *a, uint32_t pid, uint32_t image, int *ret_fd,
			struct hrr_diag *diag)
{
	char name[64];
	int fd = -1;

	if (image == 0)
		snprintf(name, sizeof name, "pid-%u", pid);
	else
		snprintf(name, sizeof name, "pid-%u.%u", pid, image);
	if (mkdirat(a->dir, name, 0700) < 0 && errno != EEXIST)
		return hrr_diag_set(diag, -errno, "cannot make %s: %s", name, strerror(errno));
	int folder = openat(a->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder >= 0) {
		fd = openat(folder, "events.jsonl",
			    O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
		int err = errno;
		close(folder);
		errno = err;
	}
	if (fd < 0)
		return hrr_diag_set(diag, -errno, "cannot make %s/events.jsonl: %s", name,
				    strerror(errno));
	*ret_fd = fd;
	return 0;
}

int hrr_archive_state(struct hrr_archive *a, const char *state, struct hrr_diag *diag)
{
	return write_manifest(a, state, diag);
}

void hrr_archive_close(struct hrr_archive *a)
{
	if (a == NULL)
		return;
	hrr_blobs_close(a->blobs);
	if (a->dir >= 0)
		close(a->dir);
	free(a->path);
	free(a);
}

/*
 * Its writer has not ended, and is no other process that was given the number since: one that
 * records holds the lock of the hub as long as there is one.
 */
static bool writer_lives(const char *dir, pid_t writer)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	char path[4096];
	struct stat st;
	bool ended, lives;

	if (hrr_proc_of((uint32_t)writer, &ended, NULL))
		lives = !ended;
	else /* EPERM: alive, somebody else's */
		lives = kill(writer, 0) == 0 || errno == EPERM;
	snprintf(path, sizeof path, "%s/.recording/hub", dir);
	/* Not its own: who closes a file gives its locks up. */
	if (!lives || writer == getpid() || lstat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return lives;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return lives;
	lives = fcntl(fd, F_GETLK, &l) < 0 || l.l_type != F_UNLCK;
	close(fd);
	return lives;
}

int hrr_archive_manifest(const char *dir, struct hrr_archive_manifest *ret, struct hrr_diag *diag)
{
	char *path = hrr_path_join(dir, MANIFEST);
	struct hrr_archive_manifest m = {0};
	struct hrr_buf text = {0}, word = {0};
	struct hrr_json j = {0};
	uint64_t v;
	int rc = path == NULL ? -ENOMEM : hrr_file_read(AT_FDCWD, path, MANIFEST_MAX, &text);

	if (rc == -ENOENT || rc == -ENOMEM)
		goto out;
	hrr_diag_at(diag, path, 0);
	if (rc < 0) {
		hrr_diag_set(diag, rc, "cannot read: %s", hrr_file_why(rc));
		goto out;
	}
	while (text.len > 0 && text.data[text.len - 1] == '\n')
		text.len--;
	rc = hrr_json_parse(&j, text.data, text.len, diag);
	if (rc < 0)
		goto out;
	if (hrr_json_u64(&j, hrr_json_get(&j, 0, "hrr-archive"), &v) < 0) {
		rc = hrr_diag_set(diag, -EINVAL, "bad manifest: no member \"hrr-archive\"");
		goto out;
	}
	if (v != 1) {
		rc = hrr_diag_set(diag, -EINVAL,
				  "archive version %llu is not known: this program reads version 1",
				  (unsigned long long)v);
		goto out;
	}
	int state = hrr_json_get(&j, 0, "state");
	m.complete = hrr_json_is(&j, state, "complete");
	bool running = hrr_json_is(&j, state, "running");
	if (!m.complete && !running && !hrr_json_is(&j, state, "cut")) {
		rc = hrr_diag_set(diag, -EINVAL, "bad manifest: state is not known");
		goto out;
	}
	if (hrr_json_u64(&j, hrr_json_get(&j, 0, "writer"), &v) == 0 && v > 0 && v <= INT32_MAX)
		m.writer = (uint32_t)v;
	if (hrr_json_str(&j, hrr_json_get(&j, 0, "boot"), &word) == 0 && hrr_buf_str(&word) != NULL)
		snprintf(m.boot, sizeof m.boot, "%s", word.data);
	char boot[64];
	hrr_boot_id(boot, sizeof boot);
	m.running = running && m.writer > 0 && strcmp(boot, m.boot) == 0 &&
		    writer_lives(dir, (pid_t)m.writer);
	*ret = m;
	rc = 0;
out:
	hrr_json_release(&j);
	hrr_buf_release(&word);
	hrr_buf_release(&text);
	free(path);
	return rc;
}
