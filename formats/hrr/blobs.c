#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/hrr/blobs_private.h"

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
	hrr_buf_release(&s->stray);
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

static int read_file(struct hrr_up_blobs *s, const char *path, const char *base, bool code)
{
	static const struct hrr_up_rect none;
	struct hrr_up_blob x = {.code = code};

	if (!hrr_up_file_name(base, &x.name)) {
		path += strlen(s->dir) + 1;
		return hrr_buf_add(&s->stray, path, strlen(path) + 1);
	}
	if (find_name(s, x.name, &none) != NULL)
		return 0;
	int rc = hrr_up_load(s, &x);
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
	return hrr_up_scan_both(s, read_file);
}

/* --- asked ----------------------------------------------------------------- */

int hrr_up_blobs_find(struct hrr_up_blobs *s, struct hrr_fnv name, const struct hrr_up_rect *rect,
		      const struct hrr_up_blob **ret, struct hrr_diag *diag)
{
	static const struct hrr_up_rect none;
	struct hrr_up_blob *x = find_name(s, name, rect != NULL ? rect : &none);

	if (x == NULL) {
		struct hrr_up_blob new = {.name = name, .rect = rect != NULL ? *rect : none};
		int rc = hrr_up_load(s, &new);
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
	hrr_up_usual_path(s, x, path, sizeof path);
	int fd = hrr_up_open_file(path, &size);
	if (fd < 0)
		return hrr_diag_set(diag, fd, "blob %s.%s: %s", h, end, strerror(-fd));
	rc = x->rect.width > 0 ? hrr_up_take_rect(s, fd, x, ret) : hrr_up_take(fd, size, ret);
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
		hrr_up_usual_path(s, x, path, sizeof path);
		rc = found(to, path + strlen(s->dir) + 1);
		if (rc < 0)
			return rc;
	}
	for (size_t at = 0; rc == 0 && at < s->stray.len; at += strlen(s->stray.data + at) + 1)
		rc = found(to, s->stray.data + at);
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
	hrr_up_usual_path(self, x, path, size);
	return 0;
}
