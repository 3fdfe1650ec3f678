#include "lib/store/pack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "lib/store/file.h"
#include "lib/store/tar.h"

#define PIECE ((size_t)1 << 18)
#define MAX_DEPTH 4

struct packer {
	ZSTD_CStream *zstd;
	char *in, *out; /* PIECE and ZSTD_CStreamOutSize bytes */
	size_t out_size;
	int fd, out_rc;
	struct hrr_buf names; /* char *: owned, relative */
	size_t n;
};

static int no_memory(struct hrr_diag *diag)
{
	return hrr_diag_set(diag, -ENOMEM, "out of memory");
}

/* out_rc tells what cannot be written from what cannot be read. */
static int put(struct packer *p, const void *data, size_t len, ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = {data, len, 0};
	size_t left;

	do {
		ZSTD_outBuffer out = {p->out, p->out_size, 0};
		left = ZSTD_compressStream2(p->zstd, &out, &in, how);
		if (ZSTD_isError(left))
			return -EIO;
		p->out_rc = hrr_write_all(p->fd, p->out, out.pos);
		if (p->out_rc < 0)
			return p->out_rc;
	} while (in.pos < in.size || (how == ZSTD_e_end && left != 0));
	return 0;
}

/* Files below dir/relative. What the pack could not hold is an error, with diag. */
static int collect(struct packer *p, const char *dir, const char *relative, int depth,
		   struct hrr_diag *diag)
{
	char *path = relative[0] != '\0' ? hrr_path_join(dir, relative) : strdup(dir);
	DIR *d = path != NULL ? opendir(path) : NULL;
	int rc = path == NULL ? -ENOMEM : d == NULL ? -errno : 0;

	for (struct dirent *e; rc == 0 && (e = hrr_dir_next(d, &rc)) != NULL;) {
		struct stat st;
		if (e->d_name[0] == '.')
			continue;
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
			/* A recorder at work takes files away. */
			rc = errno == ENOENT ? 0 : -errno;
			continue;
		}
		char *name =
		    relative[0] != '\0' ? hrr_path_join(relative, e->d_name) : strdup(e->d_name);
		if (name == NULL) {
			rc = -ENOMEM;
		} else if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH) {
			rc = collect(p, dir, name, depth + 1, diag);
			free(name);
		} else if (S_ISREG(st.st_mode) && hrr_buf_add(&p->names, &name, sizeof name) == 0) {
			p->n++;
		} else {
			rc = S_ISREG(st.st_mode)
				 ? -ENOMEM
				 : hrr_diag_set(diag, -EINVAL, "cannot pack %s: %s", name,
						S_ISDIR(st.st_mode) ? "folders too deep"
								    : hrr_file_why(-EINVAL));
			free(name);
		}
	}
	if (d != NULL)
		closedir(d);
	free(path);
	return rc;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int pack_file(struct packer *p, const char *dir, const char *top, const char *name,
		     struct hrr_diag *diag)
{
	char *path = hrr_path_join(dir, name), *full = hrr_path_join(top, name);
	struct hrr_tar_header h;
	struct stat st;
	int fd = -1, rc = path == NULL || full == NULL ? -ENOMEM : 0;

	if (rc == 0) {
		fd = hrr_file_open(AT_FDCWD, path, O_NOFOLLOW);
		rc = fd < 0 ? fd : fstat(fd, &st) < 0 ? -errno : 0;
	}
	if (rc == 0)
		rc = hrr_tar_make(&h, full, (uint64_t)st.st_size, st.st_mode & 0777);
	if (rc == 0)
		rc = put(p, &h, sizeof h, ZSTD_e_continue);
	/* A file that grows is packed as long as it was; one that shrinks cannot be. */
	uint64_t left = rc == 0 ? (uint64_t)st.st_size : 0;
	while (rc == 0 && left > 0) {
		ssize_t n = read(fd, p->in, left < PIECE ? (size_t)left : PIECE);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			rc = n < 0 ? -errno : -EIO;
			break;
		}
		rc = put(p, p->in, (size_t)n, ZSTD_e_continue);
		left -= (uint64_t)n;
	}
	static const char zeros[HRR_TAR_BLOCK];
	if (rc == 0 && st.st_size % HRR_TAR_BLOCK != 0)
		rc = put(p, zeros, (size_t)(HRR_TAR_BLOCK - st.st_size % HRR_TAR_BLOCK),
			 ZSTD_e_continue);
	if (fd >= 0)
		close(fd);
	if (rc < 0 && p->out_rc == 0) {
		hrr_diag_at(diag, path != NULL ? path : name, 0);
		hrr_diag_set(diag, rc, "cannot pack: %s", hrr_file_why(rc));
	}
	free(path);
	free(full);
	return rc;
}

int hrr_pack(const char *dir, int fd, const struct hrr_pack_progress *progress,
	     struct hrr_diag *diag)
{
	struct packer p = {.fd = fd, .out_size = ZSTD_CStreamOutSize()};
	char *real = realpath(dir, NULL);
	int rc;

	hrr_diag_at(diag, dir, 0);
	if (real == NULL)
		return hrr_diag_set(diag, -errno, "cannot open: %s", strerror(errno));
	const char *top = strrchr(real, '/') + 1;
	p.zstd = ZSTD_createCStream();
	p.in = malloc(PIECE);
	p.out = malloc(p.out_size);
	if (p.zstd == NULL || p.in == NULL || p.out == NULL) {
		rc = no_memory(diag);
		goto out;
	}
	rc = collect(&p, real, "", 1, diag);
	if (rc < 0) {
		if (rc != -EINVAL)
			hrr_diag_set(diag, rc, "cannot list: %s", strerror(-rc));
		goto out;
	}
	char **names = (void *)p.names.data;
	if (p.n > 0)
		qsort(names, p.n, sizeof *names, by_name);
	bool archive = false; /* what has no manifest could not be unpacked again */
	for (size_t i = 0; i < p.n; i++)
		archive = archive || strcmp(names[i], "manifest.json") == 0;
	if (!archive)
		rc = hrr_diag_set(diag, -EINVAL, "cannot pack: not an archive: no manifest.json");
	for (size_t i = 0; rc == 0 && i < p.n; i++) {
		rc = pack_file(&p, real, top[0] != '\0' ? top : "archive", names[i], diag);
		if (progress != NULL)
			progress->progress(progress->self, i + 1, p.n);
	}
	if (rc == 0) {
		static const char end[2 * HRR_TAR_BLOCK];
		rc = put(&p, end, sizeof end, ZSTD_e_end);
	}
	if (p.out_rc < 0) {
		hrr_diag_at(diag, NULL, 0);
		hrr_diag_set(diag, rc, "cannot write: %s", strerror(-rc));
	}
out:
	for (size_t i = 0; i < p.n; i++)
		free(((char **)(void *)p.names.data)[i]);
	hrr_buf_release(&p.names);
	ZSTD_freeCStream(p.zstd);
	free(p.in);
	free(p.out);
	free(real);
	return rc;
}
