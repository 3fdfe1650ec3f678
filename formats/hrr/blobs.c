#include "formats/hrr/blobs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/store/file.h"

#define SCAN_DEPTH 4

struct hrr_up_blobs {
	char dir[PATH_MAX];
	struct hrr_up_blob *b; /* in order of meeting */
	size_t n, cap;
	uint32_t *by_name, *by_id; /* open addressing: index + 1 */
	size_t slots;
	bool scanned; /* every file was looked at */
	bool listed;  /* odd is complete */
	struct odd {  /* files that are not at their usual place */
		struct hrr_fnv name;
		char *path;
		bool code;
	} * odd;
	size_t n_odd;
	unsigned char *piece;
};

#define PIECE ((size_t)256 << 10)

const char *hrr_up_blobs_path(const struct hrr_up_blobs *s)
{
	return s->dir;
}

int hrr_up_blobs_open(struct hrr_up_blobs **ret, const char *dir, struct hrr_diag *diag)
{
	struct hrr_up_blobs *s = calloc(1, sizeof *s);

	if (s == NULL)
		return -ENOMEM;
	if (strlen(dir) >= sizeof s->dir - 300) {
		free(s);
		return hrr_diag_set(diag, -ENAMETOOLONG, "path too long");
	}
	strcpy(s->dir, dir);
	s->piece = malloc(PIECE);
	if (s->piece == NULL) {
		free(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

void hrr_up_blobs_close(struct hrr_up_blobs *s)
{
	if (s == NULL)
		return;
	for (size_t i = 0; i < s->n; i++)
		free(s->b[i].path);
	for (size_t i = 0; i < s->n_odd; i++)
		free(s->odd[i].path);
	free(s->odd);
	free(s->b);
	free(s->by_name);
	free(s->by_id);
	free(s->piece);
	free(s);
}

/* --- the two indexes ---------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= UINT64_C(0x9e3779b97f4a7c15);
	return x ^ x >> 29;
}

static uint64_t id_key(const struct hrr_id *id)
{
	uint64_t x;

	memcpy(&x, id->b, sizeof x);
	return mix(x);
}

static bool same_rect(const struct hrr_up_rect *a, const struct hrr_up_rect *b)
{
	return a->width == b->width && a->height == b->height && a->depth == b->depth &&
	       a->pitch == b->pitch && a->slice == b->slice;
}

static int grow(struct hrr_up_blobs *s)
{
	size_t slots = s->slots ? 2 * s->slots : 256;
	uint32_t *a = calloc(slots, sizeof *a), *b = calloc(slots, sizeof *b);

	if (a == NULL || b == NULL || s->n >= UINT32_MAX / 4) {
		free(a);
		free(b);
		return -ENOMEM;
	}
	for (size_t i = 0; i < s->n; i++) {
		size_t x = (size_t)mix(s->b[i].name.lo), y = (size_t)id_key(&s->b[i].id);
		while (a[x & (slots - 1)] != 0)
			x++;
		a[x & (slots - 1)] = (uint32_t)i + 1;
		while (b[y & (slots - 1)] != 0)
			y++;
		b[y & (slots - 1)] = (uint32_t)i + 1;
	}
	free(s->by_name);
	free(s->by_id);
	s->by_name = a;
	s->by_id = b;
	s->slots = slots;
	return 0;
}

static int add(struct hrr_up_blobs *s, const struct hrr_up_blob *x)
{
	if (s->n == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 64;
		struct hrr_up_blob *p = realloc(s->b, cap * sizeof *p);
		if (p == NULL)
			return -ENOMEM;
		s->b = p;
		s->cap = cap;
	}
	if (2 * (s->n + 1) > s->slots) {
		int rc = grow(s);
		if (rc < 0)
			return rc;
	}
	size_t i = (size_t)mix(x->name.lo), j = (size_t)id_key(&x->id), m = s->slots - 1;
	while (s->by_name[i & m] != 0)
		i++;
	while (s->by_id[j & m] != 0)
		j++;
	s->b[s->n++] = *x;
	s->by_name[i & m] = s->by_id[j & m] = (uint32_t)s->n;
	return 0;
}

static struct hrr_up_blob *find_name(struct hrr_up_blobs *s, struct hrr_fnv name,
				     const struct hrr_up_rect *rect)
{
	if (s->slots == 0)
		return NULL;
	for (size_t i = (size_t)mix(name.lo);; i++) {
		uint32_t at = s->by_name[i & (s->slots - 1)];
		if (at == 0)
			return NULL;
		if (hrr_fnv_equal(s->b[at - 1].name, name) && same_rect(&s->b[at - 1].rect, rect))
			return &s->b[at - 1];
	}
}

static struct hrr_up_blob *find_id(struct hrr_up_blobs *s, const struct hrr_id *id)
{
	if (s->slots == 0)
		return NULL;
	for (size_t i = (size_t)id_key(id);; i++) {
		uint32_t at = s->by_id[i & (s->slots - 1)];
		if (at == 0)
			return NULL;
		if (hrr_id_equal(&s->b[at - 1].id, id))
			return &s->b[at - 1];
	}
}

/* --- files --------------------------------------------------------------- */

static void usual_path(const struct hrr_up_blobs *s, const struct hrr_up_blob *x, char *path,
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

static int open_file(const char *path, uint64_t *ret_size)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size > HRR_BLOB_MAX) {
		close(fd);
		return -EFBIG;
	}
	*ret_size = (uint64_t)st.st_size;
	return fd;
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

typedef int file_fn(struct hrr_up_blobs *s, const char *path, const char *base, bool code);

/* Every .blob and .hsaco below dir. */
static int scan_dir(struct hrr_up_blobs *s, const char *dir, int depth, file_fn *file)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char path[PATH_MAX];
	int rc = 0;

	if (d == NULL)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	while (rc == 0 && (e = readdir(d)) != NULL) {
		size_t len = strlen(e->d_name);
		struct stat st;
		if (e->d_name[0] == '.' ||
		    snprintf(path, sizeof path, "%s/%s", dir, e->d_name) >= (int)sizeof path ||
		    lstat(path, &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode) && depth > 0)
			rc = scan_dir(s, path, depth - 1, file);
		else if (len == HRR_FNV_HEX + 5 && strcmp(e->d_name + HRR_FNV_HEX, ".blob") == 0)
			rc = file(s, path, e->d_name, false);
		else if (len == HRR_FNV_HEX + 6 && strcmp(e->d_name + HRR_FNV_HEX, ".hsaco") == 0)
			rc = file(s, path, e->d_name, true);
	}
	closedir(d);
	return rc;
}

static int scan_both(struct hrr_up_blobs *s, file_fn *file)
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

	if (!hrr_fnv_parse(base, HRR_FNV_HEX, &x.name))
		return 0;
	usual_path(s, &x, usual, sizeof usual);
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

/* x->name is set: finds and reads the file. */
static int load(struct hrr_up_blobs *s, struct hrr_up_blob *x)
{
	char path[PATH_MAX + 64];
	uint64_t size;
	int fd = -ENOENT, rc = 0;

	for (int i = 0; i < 2 && (fd == -ENOENT || fd == -ENOTDIR); i++) {
		x->code = i;
		usual_path(s, x, path, sizeof path);
		fd = open_file(path, &size);
	}
	if (fd == -ENOENT || fd == -ENOTDIR) {
		if (!s->listed && (rc = scan_both(s, list_file)) < 0)
			return rc;
		s->listed = true;
		for (size_t i = 0; i < s->n_odd && fd < 0; i++)
			if (hrr_fnv_equal(s->odd[i].name, x->name)) {
				x->code = s->odd[i].code;
				x->path = strdup(s->odd[i].path);
				if (x->path == NULL)
					return -ENOMEM;
				fd = open_file(x->path, &size);
			}
	}
	if (fd < 0) {
		x->state = HRR_UP_MISSING;
		name_id(x);
		return fd == -ENOMEM || fd == -EMFILE || fd == -ENFILE ? fd : 0;
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

static int read_file(struct hrr_up_blobs *s, const char *path, const char *base, bool code)
{
	static const struct hrr_up_rect none;
	struct hrr_up_blob x = {.code = code};

	(void)path;
	if (!hrr_fnv_parse(base, HRR_FNV_HEX, &x.name) || find_name(s, x.name, &none) != NULL)
		return 0;
	int rc = load(s, &x);
	if (rc == 0)
		rc = add(s, &x);
	if (rc < 0)
		free(x.path);
	return rc;
}

static int scan_all(struct hrr_up_blobs *s)
{
	if (s->scanned)
		return 0;
	s->scanned = true;
	return scan_both(s, read_file);
}

/* --- asked ----------------------------------------------------------------- */

int hrr_up_blobs_find(struct hrr_up_blobs *s, struct hrr_fnv name, const struct hrr_up_rect *rect,
		      const struct hrr_up_blob **ret, struct hrr_diag *diag)
{
	static const struct hrr_up_rect none;
	struct hrr_up_blob *x = find_name(s, name, rect != NULL ? rect : &none);

	if (x == NULL) {
		struct hrr_up_blob new = {.name = name, .rect = rect != NULL ? *rect : none};
		int rc = load(s, &new);
		if (rc == 0)
			rc = add(s, &new);
		if (rc < 0) {
			free(new.path);
			char h[HRR_FNV_HEX + 1];
			hrr_fnv_text(name, h);
			return hrr_diag_set(diag, rc, "cannot read blob %s: %s", h, strerror(-rc));
		}
		x = &s->b[s->n - 1];
	}
	x->used = true;
	*ret = x;
	return 0;
}

int hrr_up_blobs_each(struct hrr_up_blobs *s, size_t i, const struct hrr_up_blob **ret,
		      struct hrr_diag *diag)
{
	int rc = scan_all(s);

	if (rc < 0)
		return hrr_diag_set(diag, rc, "cannot read the blobs: %s", strerror(-rc));
	if (i >= s->n)
		return 0;
	*ret = &s->b[i];
	return 1;
}

static int look_up(struct hrr_up_blobs *s, const struct hrr_id *id, struct hrr_up_blob **ret)
{
	*ret = find_id(s, id);
	if (*ret == NULL) {
		int rc = scan_all(s);
		if (rc < 0)
			return rc;
		*ret = find_id(s, id);
	}
	return *ret == NULL ? -ENOENT : 0;
}

/* All of an open file into memory. */
static int take(int fd, uint64_t size, struct hrr_blob *ret)
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

static int take_rect(struct hrr_up_blobs *s, int fd, const struct hrr_up_blob *x,
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

static int is_there(const struct hrr_up_blob *x, struct hrr_diag *diag)
{
	char h[HRR_FNV_HEX + 1];

	hrr_fnv_text(x->name, h);
	if (x->state == HRR_UP_MISSING)
		return hrr_diag_set(diag, -ENOENT, "blob %s.blob is missing", h);
	if (x->state == HRR_UP_DAMAGED)
		return hrr_diag_set(diag, -EBADMSG,
				    "blob %s.%s is damaged: its bytes are not what its name says",
				    h, x->code ? "hsaco" : "blob");
	return 0;
}

int hrr_up_blobs_get(void *self, const struct hrr_id *id, uint64_t max, struct hrr_blob *ret,
		     struct hrr_diag *diag)
{
	struct hrr_up_blobs *s = self;
	struct hrr_up_blob *x;
	char path[PATH_MAX + 64], text[HRR_ID_TEXT + 1], h[HRR_FNV_HEX + 1];
	uint64_t size;
	int rc = look_up(s, id, &x);

	hrr_id_text(id, text);
	if (rc < 0)
		return hrr_diag_set(diag, rc, "blob %s is missing", text);
	hrr_fnv_text(x->name, h);
	const char *end = x->code ? "hsaco" : "blob";
	rc = is_there(x, diag);
	if (rc < 0)
		return rc;
	if (x->size > (max != 0 ? max : HRR_BLOB_MAX))
		return hrr_diag_set(diag, -EFBIG, "blob %s.%s has %llu bytes, more than %llu", h,
				    end, (unsigned long long)x->size, (unsigned long long)max);
	usual_path(s, x, path, sizeof path);
	int fd = open_file(path, &size);
	if (fd < 0)
		return hrr_diag_set(diag, fd, "blob %s.%s: %s", h, end, strerror(-fd));
	rc = x->rect.width > 0 ? take_rect(s, fd, x, ret) : take(fd, size, ret);
	close(fd);
	if (rc < 0)
		return hrr_diag_set(diag, rc, "blob %s.%s: %s", h, end, strerror(-rc));
	struct hrr_id now = hrr_id_of(ret->data, ret->len);
	if (!hrr_id_equal(&now, id)) {
		hrr_blob_release(ret);
		return hrr_diag_set(diag, -EBADMSG, "blob %s.%s is damaged: it changed", h, end);
	}
	return 0;
}

/* Its file was read when its name was met: what was found then holds. */
int hrr_up_blobs_check(void *self, const struct hrr_id *id, uint64_t *ret_size,
		       struct hrr_diag *diag)
{
	struct hrr_up_blob *x;
	int rc = look_up(self, id, &x);

	if (rc < 0)
		return hrr_diag_set(diag, rc, "blob is missing");
	rc = is_there(x, diag);
	if (rc == 0)
		*ret_size = x->size;
	return rc;
}

int hrr_up_blobs_orphans(void *self, int (*found)(void *to, const char *name), void *to,
			 struct hrr_diag *diag)
{
	struct hrr_up_blobs *s = self;
	const struct hrr_up_blob *x = NULL;
	int rc;

	for (size_t i = 0; (rc = hrr_up_blobs_each(s, i, &x, diag)) > 0; i++) {
		char path[PATH_MAX + 64];
		if (x->used)
			continue;
		usual_path(s, x, path, sizeof path);
		rc = found(to, path + strlen(s->dir) + 1);
		if (rc < 0)
			return rc;
	}
	return rc;
}

int hrr_up_blobs_size(void *self, const struct hrr_id *id, uint64_t *ret_size)
{
	struct hrr_up_blob *x;
	int rc = look_up(self, id, &x);

	if (rc < 0 || x->state == HRR_UP_MISSING)
		return -ENOENT;
	*ret_size = x->size;
	return 0;
}

int hrr_up_blobs_file(void *self, const struct hrr_id *id, char *path, size_t size)
{
	struct hrr_up_blob *x;
	int rc = look_up(self, id, &x);

	if (rc < 0 || x->state == HRR_UP_MISSING)
		return -ENOENT;
	if (x->state == HRR_UP_DAMAGED || x->rect.width > 0)
		return -ENOTSUP; /* no file holds just these bytes */
	usual_path(self, x, path, size);
	return 0;
}
