#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/hip/bundle.h"
#include "lib/replay/engine.h"

/*
 * Code objects that the program registered (fat binaries), and the kernels and variables in
 * them: each is loaded from its blob as a module when it is first needed, once a device.
 */

#define REPLACE_MAX ((off_t)1 << 32)

static uint64_t mix(uint64_t h, const char *s, size_t n)
{
	uint64_t w;

	for (; n >= 8; s += 8, n -= 8) {
		memcpy(&w, s, 8);
		h = (h ^ w) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	w = n;
	for (size_t i = 0; i < n; i++)
		w = w << 8 | (unsigned char)s[i];
	h = (h ^ w) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 32;
}

/* --- loading ------------------------------------------------------------------ */

static int load_entries(struct hrr_replay *r, const struct hrr_blob *blob, const char *id,
			int64_t first, uint64_t *ret)
{
	struct hrr_bundle b = {0};
	struct hrr_buf archs = {0};
	int64_t e = first;
	char buf[32], arch[64];
	size_t len;

	if (hrr_bundle_open(&b, blob->data, blob->len, NULL) == 0) {
		for (size_t i = 0; i < b.n_entries && e != hipSuccess; i++) {
			if (hrr_bundle_arch(&b.entries[i], arch, sizeof arch) < 0)
				continue;
			hrr_buf_addf(&archs, "%s%s", archs.len != 0 ? ", " : "", arch);
			if (hrr_bundle_length(b.entries[i].data, b.entries[i].size, &len, NULL) < 0)
				continue;
			e = HRR_CALL(r, hipModuleLoadData, HRR_P(ret), HRR_P(b.entries[i].data));
		}
		hrr_bundle_close(&b);
	}
	if (e == hipSuccess) {
		hrr_buf_release(&archs);
		return 0;
	}
	const char *list = hrr_buf_str(&archs);
	int rc = hrr_fail(r, "object %s cannot be loaded on device %d: %s%s%s%s", id, r->device,
			  hrr_error_text(first, buf), archs.len != 0 ? " (it has code for " : "",
			  archs.len != 0 && list != NULL ? list : "", archs.len != 0 ? ")" : "");
	hrr_buf_release(&archs);
	return rc;
}

/* A container as the program had it; old run times want compressed or mixed ones unpacked. */
int hrr_load_image(struct hrr_replay *r, const struct hrr_blob *blob, const char *id, uint64_t *ret)
{
	struct hrr_diag d = {0};
	int saved, rc = 0;
	size_t len;

	/* HIP is told no length: it believes the headers, which may say more than there is. */
	if (hrr_bundle_length(blob->data, blob->len, &len, &d) < 0)
		return hrr_fail(r, "object %s is no code object: %s", id, d.what);
	hrr_relax(r, &saved);
	int64_t e = HRR_CALL(r, hipModuleLoadData, HRR_P(ret), HRR_P(blob->data));
	if (e != hipSuccess)
		rc = load_entries(r, blob, id, e, ret);
	hrr_unrelax(r, saved);
	return rc;
}

static int read_file(struct hrr_replay *r, const char *path, struct hrr_blob *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	struct stat st;
	unsigned char *p = NULL;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > REPLACE_MAX) {
		rc = hrr_trouble(r, -ENOENT, "%s: cannot be read", path);
		goto out;
	}
	p = malloc((size_t)st.st_size + 1);
	if (p == NULL) {
		rc = hrr_trouble(r, -ENOMEM, "out of memory");
		goto out;
	}
	for (size_t at = 0; at < (size_t)st.st_size;) {
		ssize_t n = read(fd, p + at, (size_t)st.st_size - at);
		if (n <= 0) {
			rc = hrr_trouble(r, -EIO, "%s: cannot be read", path);
			goto out;
		}
		at += (size_t)n;
	}
	*ret = (struct hrr_blob){.data = p, .len = (size_t)st.st_size, .owned = p};
	p = NULL;
out:
	free(p);
	if (fd >= 0)
		close(fd);
	return rc;
}

static int object_module(struct hrr_replay *r, struct hrr_object *o, const struct hrr_json *j,
			 int node, uint64_t *ret)
{
	int rc = 0;

	if (o->module[r->device] == 0 && o->blob.data == NULL)
		rc = o->path != NULL ? read_file(r, o->path, &o->blob)
				     : hrr_blob_of(r, j, node, "code object", &o->blob);
	if (rc == 0 && o->module[r->device] == 0) {
		rc = hrr_load_image(r, &o->blob, o->path != NULL ? o->path : o->id,
				    &o->module[r->device]);
		if (rc == 0 && r->managed != NULL && r->captures == 0)
			rc = hrr_managed_fill(r, o->module[r->device]);
	}
	*ret = o->module[r->device];
	if (rc < 0 && o->path != NULL)
		r->trouble = true; /* the user's file, not the recording's call */
	return rc;
}

static int object_get(struct hrr_replay *r, const char *id, size_t len, const char *path,
		      struct hrr_object **ret)
{
	uint64_t key = mix(path != NULL ? 7 : 3, id, len);

	if (path == NULL && len != HRR_ID_TEXT)
		return hrr_trouble(r, -EINVAL, "code object: no blob id");
	for (;; key++) {
		struct hrr_held *h = hrr_held_find(&r->objects, key | 1);
		if (h == NULL)
			break;
		struct hrr_object *o = h->info;
		if (path != NULL ? o->path != NULL && strcmp(o->path, path) == 0
				 : o->path == NULL && memcmp(o->id, id, len) == 0) {
			*ret = o;
			return 0;
		}
	}
	struct hrr_object *o = calloc(1, sizeof *o);
	struct hrr_held *h = o != NULL ? hrr_held_add(&r->objects, key | 1, 0) : NULL;
	if (h == NULL) {
		free(o);
		return hrr_trouble(r, -ENOMEM, "out of memory");
	}
	if (path == NULL)
		memcpy(o->id, id, len);
	o->path = path;
	h->info = o;
	*ret = o;
	return 0;
}

/* --- kernels ------------------------------------------------------------------- */

const char *hrr_replaced(struct hrr_replay *r, const char *name, size_t len)
{
	for (size_t i = 0; i < r->opt.n_replace; i++) {
		const char *s = r->opt.replace[i];
		if (strncmp(s, name, len) == 0 && s[len] == '=') {
			r->v.replaced |= (uint32_t)1 << i;
			return s + len + 1;
		}
	}
	return NULL;
}

int hrr_function_layout(struct hrr_replay *r, struct hrr_function *f, struct hrr_code *code,
			const struct hrr_blob *blob)
{
	hrr_layout_release(&f->layout);
	return hrr_layout_read(&f->layout, code, blob->data, blob->len, f->name) < 0
		   ? hrr_trouble(r, -ENOMEM, "out of memory")
		   : 0;
}

void hrr_function_free(struct hrr_function *f)
{
	hrr_layout_release(&f->layout);
	free(f->name);
	free(f);
}

static int function_get(struct hrr_replay *r, const char *name, size_t len, const char *id,
			size_t id_len, const char *path, struct hrr_function **ret)
{
	uint64_t key = mix(mix(5, name, len), id, id_len);
	struct hrr_object *o;

	if (path == NULL && id_len != HRR_ID_TEXT)
		return hrr_trouble(r, -EINVAL, "code object: no blob id");
	for (;; key++) {
		struct hrr_held *h = hrr_held_find(&r->functions, key | 1);
		if (h == NULL)
			break;
		struct hrr_function *f = h->info;
		if (strncmp(f->name, name, len) == 0 && f->name[len] == '\0' &&
		    (path != NULL
			 ? f->object->path == path
			 : f->object->path == NULL && memcmp(f->object->id, id, id_len) == 0)) {
			*ret = f;
			return 0;
		}
	}
	int rc = object_get(r, id, id_len, path, &o);
	if (rc < 0)
		return rc;
	struct hrr_function *f = calloc(1, sizeof *f);
	if (f == NULL || (f->name = malloc(len + 16)) == NULL) {
		free(f);
		return hrr_trouble(r, -ENOMEM, "out of memory");
	}
	memset(f->name, 0, len + 16);
	memcpy(f->name, name, len);
	f->object = o;
	struct hrr_held *h = hrr_held_add(&r->functions, key | 1, 0);
	if (h == NULL) {
		free(f->name);
		free(f);
		return hrr_trouble(r, -ENOMEM, "out of memory");
	}
	h->info = f;
	*ret = f;
	return 0;
}

int hrr_module_function(struct hrr_replay *r, const char *name, size_t name_len, int object_node,
			const struct hrr_json *j, struct hrr_function **ret_fn, uint64_t *ret_live)
{
	size_t id_len = 0;
	const char *id = object_node >= 0 ? hrr_json_raw(j, object_node, &id_len) : NULL;
	const char *path = r->opt.n_replace != 0 ? hrr_replaced(r, name, name_len) : NULL;
	struct hrr_function *f = NULL;
	uint64_t module;
	char buf[32];

	if (id == NULL && path == NULL)
		return hrr_fail(r, "kernel %.*s: its code object was not recorded",
				(int)(name_len > 200 ? 200 : name_len), name);
	if (id == NULL) {
		id = "";
		id_len = 0;
	}
	int rc = function_get(r, name, name_len, id, path != NULL ? 0 : id_len, path, &f);
	if (rc < 0)
		return rc;
	*ret_fn = f;
	if (f->live[r->device] == 0) {
		rc = object_module(r, f->object, j, object_node, &module);
		if (rc < 0)
			return rc;
		int64_t e = HRR_CALL(r, hipModuleGetFunction, HRR_P(&f->live[r->device]), module,
				     HRR_P(f->name));
		if (e != hipSuccess && path != NULL)
			return hrr_trouble(r, -EINVAL, "kernel %s is not in %s: %s", f->name, path,
					   hrr_error_text(e, buf));
		if (e != hipSuccess)
			return hrr_fail(r, "kernel %s is not in object %s: %s", f->name,
					f->object->id, hrr_error_text(e, buf));
	}
	if (!f->layout.read &&
	    (rc = hrr_function_layout(r, f, &f->object->code, &f->object->blob)) < 0)
		return rc;
	*ret_live = f->live[r->device];
	return 0;
}

/* --- variables ------------------------------------------------------------------ */

int hrr_symbol(struct hrr_replay *r, struct hrr_event *ev, uint64_t *ret_live, uint64_t *ret_size)
{
	int at = ev->rec->symbol, n = at >= 0 ? hrr_json_get(ev->j, at, "name") : -1;
	int on = at >= 0 ? hrr_json_get(ev->j, at, "object") : -1;
	size_t len = 0, id_len = 0, size = 0;
	const char *name = n >= 0 ? hrr_json_raw(ev->j, n, &len) : NULL;
	const char *id = on >= 0 ? hrr_json_raw(ev->j, on, &id_len) : NULL;
	struct hrr_object *o;
	uint64_t module, live = 0;
	char buf[32];

	if (name == NULL || id == NULL)
		return hrr_fail(r, "its variable was not recorded");
	int rc = object_get(r, id, id_len, NULL, &o);
	if (rc == 0)
		rc = object_module(r, o, ev->j, on, &module);
	if (rc < 0)
		return rc;
	char *z = hrr_scratch(r, len + 1);
	if (z == NULL)
		return hrr_trouble(r, -ENOMEM, "out of memory");
	memcpy(z, name, len);
	int64_t e = HRR_CALL(r, hipModuleGetGlobal, HRR_P(&live), HRR_P(&size), module, HRR_P(z));
	if (e != hipSuccess)
		return hrr_fail(r, "variable %s is not in object %s: %s", z, o->id,
				hrr_error_text(e, buf));
	*ret_live = live;
	*ret_size = size;
	return 0;
}

void hrr_objects_end(struct hrr_replay *r)
{
	for (size_t i = 0; i < r->functions.cap; i++)
		if (r->functions.slot[i].recorded != 0)
			hrr_function_free(r->functions.slot[i].info);
	for (size_t i = 0; i < r->objects.cap; i++) {
		struct hrr_object *o = r->objects.slot[i].info;
		if (r->objects.slot[i].recorded == 0)
			continue;
		for (int d = 0; d < HRR_MAX_DEVICES && !r->abandoned; d++)
			if (o->module[d] != 0)
				HRR_CALL(r, hipModuleUnload, o->module[d]);
		hrr_code_release(&o->code);
		hrr_blob_release(&o->blob);
		free(o);
	}
	hrr_held_release(&r->objects);
	hrr_held_release(&r->functions);
}
