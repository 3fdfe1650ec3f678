#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/hrr/blobs_private.h"
#include "lib/store/file.h"

#define SCAN_DEPTH 4

void hrr_up_usual_path(const struct hrr_up_blobs *s, const struct hrr_up_blob *x, char *path,
		       size_t size)
{
	char h[HRR_FNV_HEX + 1];

	hrr_fnv_text(x->name, h);
	if (x->path != NULL)
		snprintf(path, size, "%s", x->path);
	else if (x->code)
		snprintf(path, size, "%s/code_objects/%s.hsaco", s->dir, h);
	else
		snprintf(path, size, "%s/blobs/%.2s/%s.blob", s->dir, h, h);
}

int hrr_up_open_file(const char *path, uint64_t *ret_size)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	int rc = fstat(fd, &st) < 0 ? -errno : 0;
	if (rc < 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size > HRR_BLOB_MAX) {
		close(fd);
		return rc < 0 ? rc : -EFBIG;
	}
	*ret_size = (uint64_t)st.st_size;
	return fd;
}

/* No such file, or none that is ours to read; anything else is trouble. */
static bool is_missing(int err)
{
	return err == -ENOENT || err == -ENOTDIR || err == -ELOOP || err == -EFBIG ||
	       err == -EACCES || err == -ENXIO;
}

static ssize_t read_some(int fd, void *to, size_t n)
{
	ssize_t got;

	do
		got = read(fd, to, n);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/* Hashes an open file both ways. */
static int hash_file(struct hrr_up_blobs *s, int fd, struct hrr_up_blob *x)
{
	struct hrr_hasher *h = hrr_hasher_new();
	struct hrr_fnv fnv = hrr_fnv_start();
	ssize_t got;

	if (h == NULL)
		return -ENOMEM;
	x->size = 0;
	while ((got = read_some(fd, s->piece, PIECE)) > 0) {
		hrr_fnv_add(&fnv, s->piece, (size_t)got);
		hrr_hasher_add(h, s->piece, (size_t)got);
		x->size += (uint64_t)got;
	}
	x->id = hrr_hasher_end(h);
	hrr_hasher_free(h);
	if (got < 0)
		return (int)got;
	x->state = hrr_fnv_equal(fnv, x->name) ? HRR_UP_OK : HRR_UP_DAMAGED;
	return 0;
}

/* The name's own bytes, for what has none of its own. */
static void name_id(struct hrr_up_blob *x)
{
	for (int i = 0; i < 8; i++) {
		x->id.b[i] = (unsigned char)(x->name.lo >> (56 - 8 * i));
		x->id.b[8 + i] = (unsigned char)(x->name.hi >> (56 - 8 * i));
	}
}

/* Bytes from the start of a rectangle with pitch to its last one. 0 on overflow. */
static uint64_t footprint(const struct hrr_up_rect *r)
{
	uint64_t rows, planes, n;

	if (r->width == 0 || r->height == 0 || r->depth == 0)
		return 0;
	if (__builtin_mul_overflow(r->height - 1, r->pitch, &rows) ||
	    __builtin_mul_overflow(r->depth - 1, r->slice, &planes) ||
	    __builtin_add_overflow(rows, planes, &n) || __builtin_add_overflow(n, r->width, &n))
		return 0;
	return n;
}

static uint64_t packed(const struct hrr_up_rect *r)
{
	uint64_t n;

	if (__builtin_mul_overflow(r->width, r->height, &n) ||
	    __builtin_mul_overflow(n, r->depth, &n))
		return 0;
	return n;
}

/* Row after row of a file in the program's pitch, through a function. */
static int each_row(int fd, const struct hrr_up_rect *r, void (*row)(void *, const void *, size_t),
		    void *self, unsigned char *piece)
{
	for (uint64_t z = 0; z < r->depth; z++)
		for (uint64_t y = 0; y < r->height; y++) {
			uint64_t off = z * r->slice + y * r->pitch;
			for (uint64_t x = 0; x < r->width;) {
				size_t n = r->width - x < PIECE ? (size_t)(r->width - x) : PIECE;
				ssize_t got = pread(fd, piece, n, (off_t)(off + x));
				if (got < 0 && errno == EINTR)
					continue;
				if (got <= 0)
					return got < 0 ? -errno : -EBADMSG;
				row(self, piece, (size_t)got);
				x += (uint64_t)got;
			}
		}
	return 0;
}

static void row_hash(void *self, const void *data, size_t n)
{
	hrr_hasher_add(self, data, n);
}

static void row_copy(void *self, const void *data, size_t n)
{
	unsigned char **at = self;

	memcpy(*at, data, n);
	*at += n;
}

bool hrr_up_file_name(const char *base, struct hrr_fnv *ret)
{
	return hrr_fnv_parse(base, (size_t)(strrchr(base, '.') - base), ret);
}

/* Every .blob and .hsaco below dir. */
static int scan_dir(struct hrr_up_blobs *s, const char *dir, int depth, hrr_up_file_fn *file)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char path[PATH_MAX];
	int rc = 0;

	if (d == NULL)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	while (rc == 0 && (e = hrr_dir_next(d, &rc)) != NULL) {
		size_t len = strlen(e->d_name);
		struct stat st;
		if (e->d_name[0] == '.' ||
		    snprintf(path, sizeof path, "%s/%s", dir, e->d_name) >= (int)sizeof path)
			continue;
		if (lstat(path, &st) < 0) {
			rc = errno == ENOENT ? 0 : -errno;
			continue;
		}
		if (S_ISDIR(st.st_mode) && depth > 0)
			rc = scan_dir(s, path, depth - 1, file);
		else if (len > 5 && strcmp(e->d_name + len - 5, ".blob") == 0)
			rc = file(s, path, e->d_name, false);
		else if (len > 6 && strcmp(e->d_name + len - 6, ".hsaco") == 0)
			rc = file(s, path, e->d_name, true);
	}
	closedir(d);
	return rc;
}

int hrr_up_scan_both(struct hrr_up_blobs *s, hrr_up_file_fn *file)
{
	static const char *const below[] = {"blobs", "code_objects"};
	char dir[PATH_MAX + 16];

	for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
		snprintf(dir, sizeof dir, "%s/%s", s->dir, below[i]);
		int rc = scan_dir(s, dir, SCAN_DEPTH, file);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* A file met in the folder: remembered where it is, when that is not where it should be. */
static int list_file(struct hrr_up_blobs *s, const char *path, const char *base, bool code)
{
	struct hrr_up_blob x = {.code = code};
	char usual[PATH_MAX + 64];

	if (!hrr_up_file_name(base, &x.name))
		return 0;
	hrr_up_usual_path(s, &x, usual, sizeof usual);
	if (strcmp(usual, path) == 0)
		return 0;
	struct odd *p = realloc(s->odd, (s->n_odd + 1) * sizeof *p);
	if (p == NULL)
		return -ENOMEM;
	s->odd = p;
	char *copy = strdup(path);
	if (copy == NULL)
		return -ENOMEM;
	s->odd[s->n_odd++] = (struct odd){x.name, copy, code};
	return 0;
}

int hrr_up_load(struct hrr_up_blobs *s, struct hrr_up_blob *x)
{
	char path[PATH_MAX + 64];
	uint64_t size;
	int fd = -ENOENT, rc = 0;

	for (int i = 0; i < 2 && (fd == -ENOENT || fd == -ENOTDIR); i++) {
		x->code = i;
		hrr_up_usual_path(s, x, path, sizeof path);
		fd = hrr_up_open_file(path, &size);
	}
	if (fd == -ENOENT || fd == -ENOTDIR) {
		if (!s->listed && (rc = hrr_up_scan_both(s, list_file)) < 0)
			return rc;
		s->listed = true;
		for (size_t i = 0; i < s->n_odd && fd < 0; i++)
			if (hrr_fnv_equal(s->odd[i].name, x->name)) {
				x->code = s->odd[i].code;
				x->path = strdup(s->odd[i].path);
				if (x->path == NULL)
					return -ENOMEM;
				fd = hrr_up_open_file(x->path, &size);
			}
	}
	if (fd < 0) {
		x->state = HRR_UP_MISSING;
		name_id(x);
		return is_missing(fd) ? 0 : fd;
	}
	rc = hash_file(s, fd, x);
	if (rc == 0 && x->state == HRR_UP_OK && x->rect.width > 0) {
		struct hrr_hasher *h = hrr_hasher_new();
		uint64_t need = footprint(&x->rect);
		rc = h == NULL ? -ENOMEM : 0;
		if (rc == 0 && (need == 0 || need > x->size || packed(&x->rect) == 0))
			x->state = HRR_UP_DAMAGED; /* the rectangle runs past its blob */
		else if (rc == 0)
			rc = each_row(fd, &x->rect, row_hash, h, s->piece);
		if (rc == 0 && x->state == HRR_UP_OK) {
			x->id = hrr_hasher_end(h);
			x->size = packed(&x->rect);
		}
		hrr_hasher_free(h);
	}
	close(fd);
	if (x->state == HRR_UP_DAMAGED)
		name_id(x);
	return rc;
}

int hrr_up_take(int fd, uint64_t size, struct hrr_blob *ret)
{
	unsigned char *p = malloc(size > 0 ? (size_t)size : 1);

	if (p == NULL)
		return -ENOMEM;
	int rc = hrr_read_exactly(fd, p, (size_t)size);
	if (rc < 0) {
		free(p);
		return rc == -ENODATA ? -EBADMSG : rc;
	}
	*ret = (struct hrr_blob){.data = p, .len = (size_t)size, .owned = p};
	return 0;
}

int hrr_up_take_rect(struct hrr_up_blobs *s, int fd, const struct hrr_up_blob *x,
		     struct hrr_blob *ret)
{
	unsigned char *p = malloc((size_t)x->size), *at = p;

	if (p == NULL)
		return -ENOMEM;
	int rc = each_row(fd, &x->rect, row_copy, &at, s->piece);
	if (rc < 0) {
		free(p);
		return rc;
	}
	*ret = (struct hrr_blob){.data = p, .len = (size_t)x->size, .owned = p};
	return 0;
}
