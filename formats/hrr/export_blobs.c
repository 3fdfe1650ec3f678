#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/hrr/export_private.h"
#include "lib/store/file.h"

static size_t key(const struct hrr_id *id)
{
	size_t h;

	memcpy(&h, id->b, sizeof h);
	return h ^ h >> 17;
}

static struct stored *find(const struct out_process *p, const struct hrr_id *id)
{
	if (p->n_slots == 0)
		return NULL;
	for (size_t i = key(id);; i++) {
		uint32_t at = p->slots[i & (p->n_slots - 1)];
		if (at == 0)
			return NULL;
		if (hrr_id_equal(&p->stored[at - 1].id, id))
			return &p->stored[at - 1];
	}
}

static int add(struct out_process *p, const struct stored *s)
{
	if (p->n_stored == p->cap_stored) {
		size_t cap = p->cap_stored ? 2 * p->cap_stored : 64;
		struct stored *q = realloc(p->stored, cap * sizeof *q);
		if (q == NULL)
			return -ENOMEM;
		p->stored = q;
		p->cap_stored = cap;
	}
	p->stored[p->n_stored++] = *s;
	if (2 * p->n_stored > p->n_slots) {
		size_t n = p->n_slots ? 2 * p->n_slots : 256;
		uint32_t *slots = calloc(n, sizeof *slots);
		if (slots == NULL)
			return -ENOMEM;
		free(p->slots);
		p->slots = slots;
		p->n_slots = n;
		for (size_t i = 0; i + 1 < p->n_stored; i++) {
			size_t at = key(&p->stored[i].id);
			while (slots[at & (n - 1)] != 0)
				at++;
			slots[at & (n - 1)] = (uint32_t)i + 1;
		}
	}
	size_t at = key(&s->id);
	while (p->slots[at & (p->n_slots - 1)] != 0)
		at++;
	p->slots[at & (p->n_slots - 1)] = (uint32_t)p->n_stored;
	return 0;
}

static int make_dir(const char *path)
{
	return mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

static int write_file(struct out_process *p, const struct stored *s, const struct hrr_blob *b,
		      struct hrr_diag *diag)
{
	char dir[PATH_MAX + 32], name[64], h[HRR_FNV_HEX + 1];
	int rc = 0;

	hrr_fnv_text(s->name, h);
	snprintf(dir, sizeof dir, "%s/%s", p->dir, s->code ? "code_objects" : "blobs");
	rc = make_dir(dir);
	if (rc == 0 && !s->code) {
		snprintf(dir, sizeof dir, "%s/blobs/%.2s", p->dir, h);
		rc = make_dir(dir);
	}
	int fd = rc == 0 ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW) : -1;
	if (fd < 0)
		return hrr_diag_set(diag, rc < 0 ? rc : -errno, "cannot make %s: %s", dir,
				    strerror(rc < 0 ? -rc : errno));
	snprintf(name, sizeof name, "%s.%s", h, s->code ? "hsaco" : "blob");
	struct stat st;
	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		/* Upstream's hash is easily made to collide: never two under one name. */
		if ((uint64_t)st.st_size != b->len)
			rc = hrr_diag_set(diag, -EEXIST, "%s is there with other bytes", name);
	} else {
		rc = hrr_file_replace(fd, name, b->data, b->len, 0600, diag);
		p->n_files += rc == 0;
	}
	close(fd);
	return rc;
}

/* A missing blob keeps the 16 bytes of its id as its name: read back it gets the same id. */
static struct hrr_fnv name_of_id(const struct hrr_id *id)
{
	struct hrr_fnv h = {0, 0};

	for (int i = 0; i < 8; i++) {
		h.lo = h.lo << 8 | id->b[i];
		h.hi = h.hi << 8 | id->b[8 + i];
	}
	return h;
}

int hrr_out_blob(struct hrr_hrr8 *x, struct out_process *p, uint32_t index, const struct hrr_id *id,
		 bool code, struct hrr_fnv *ret_name, uint64_t *ret_size, struct hrr_diag *diag)
{
	struct stored *have = find(p, id), s = {.id = *id, .code = code};
	struct hrr_blob b;
	struct hrr_blobs *store;
	int rc;

	if (have != NULL) {
		*ret_name = have->name;
		*ret_size = have->size;
		return 0;
	}
	store = x->blobs != NULL ? x->blobs(x->self, index) : NULL;
	struct hrr_diag why = {0};
	rc = store != NULL ? hrr_blobs_get(store, id, 0, &b, &why) : -ENOENT;
	if (rc < 0 && rc != -ENOENT && rc != -EBADMSG && rc != -EFBIG)
		return hrr_diag_set(diag, rc, "%s", why.what);
	if (rc < 0) {
		s.name = name_of_id(id);
		s.size = UINT64_MAX;
		hrr_lost(x, "blobs that are missing or damaged");
	} else {
		s.name = hrr_fnv_of(b.data, b.len);
		s.size = b.len;
		rc = write_file(p, &s, &b, diag);
		hrr_blob_release(&b);
		if (rc < 0)
			return rc;
	}
	rc = add(p, &s);
	if (rc < 0)
		return rc;
	*ret_name = s.name;
	*ret_size = s.size;
	return 0;
}

int hrr_out_blob_node(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		      int node, bool code, struct hrr_fnv *ret_name, uint64_t *ret_size,
		      struct hrr_diag *diag)
{
	struct hrr_id id;
	size_t len;
	const char *s = node >= 0 ? hrr_json_raw(&rec->json, node, &len) : NULL;

	*ret_name = (struct hrr_fnv){0, 0};
	*ret_size = 0;
	if (s == NULL || hrr_id_parse(s, len, &id) < 0)
		return 0;
	return hrr_out_blob(x, p, rec->p, &id, code, ret_name, ret_size, diag);
}
