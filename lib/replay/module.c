#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/hip/bundle.h"
#include "lib/replay/engine.h"

/*
 * Code objects and the kernels and variables in them. An object that the program
 * registered (fat binaries) is loaded from its blob as a module when it is first needed, once a
 * device; modules the program loaded itself keep their own state.
 */

#define LLU(x) ((unsigned long long)(x))
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
static int load_image(struct hrr_replay *r, const struct hrr_blob *blob, const char *id,
		      uint64_t *ret)
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

/* Memory of a managed variable, as the object says it begins. */
static int init_managed(struct hrr_replay *r, const struct hrr_managed *m, uint64_t module,
			uint64_t live)
{
	char name[512];
	uint64_t init = 0;
	size_t size = 0;

	snprintf(name, sizeof name, "%s.managed", m->name);
	if (HRR_CALL(r, hipModuleGetGlobal, HRR_P(&init), HRR_P(&size), module, HRR_P(name)) ==
		hipSuccess &&
	    size <= m->size)
		HRR_CALL(r, hipMemcpyDtoH, live, init, size);
	return 0;
}

/* A run time that gives modules managed memory itself answers with that: ours moves there. */
static bool is_managed(struct hrr_replay *r, uint64_t at)
{
	struct {
		struct hipPointerAttribute_t a;
		unsigned char more[256];
	} x = {0};

	return HRR_CALL(r, hipPointerGetAttributes, HRR_P(&x), at) == hipSuccess &&
	       x.a.isManaged != 0;
}

static void move_managed(struct hrr_replay *r, const struct hrr_managed *v, struct hrr_mem *m,
			 uint64_t at)
{
	uint64_t old = m->live;

	if (v->filled)
		memcpy((void *)(uintptr_t)at, (const void *)(uintptr_t)old, v->size);
	m->live = m->host = at;
	if (m->how == HRR_FREE_DEVICE)
		HRR_CALL(r, hipFree, old);
	m->how = HRR_FREE_NONE;
}

/* What was entered when it was registered, as long as it is there. */
static struct hrr_mem *managed_mem(const struct hrr_replay *r, const struct hrr_managed *v)
{
	const struct hrr_range *x = v->base != 0 ? hrr_ranges_at(r->hostmap, v->base) : NULL;
	struct hrr_mem *m = x != NULL ? x->value : NULL;

	return m != NULL && m->kind == HRR_MEM_MANAGED && m->size == v->size ? m : NULL;
}

/*
 * A managed variable is a pointer in the object. Run times set it for registered
 * objects, not all of them for modules: there it gets the memory its registration got.
 */
static int fill_managed(struct hrr_replay *r, uint64_t module)
{
	size_t size;
	uint64_t at, p;

	for (struct hrr_managed *m = r->managed; m != NULL; m = m->next) {
		struct hrr_mem *mem = managed_mem(r, m);
		at = p = size = 0;
		if (HRR_CALL(r, hipModuleGetGlobal, HRR_P(&at), HRR_P(&size), module,
			     HRR_P(m->name)) != hipSuccess)
			continue;
		if (size == m->size && is_managed(r, at)) {
			if (mem != NULL && mem->live != at)
				move_managed(r, m, mem, at);
			continue;
		}
		if (size < 8 || HRR_CALL(r, hipMemcpyDtoH, HRR_P(&p), at, 8) != hipSuccess)
			continue;
		if (mem != NULL) {
			p = mem->live;
			if (!m->filled)
				init_managed(r, m, module, p);
			m->filled = true;
		} else if (p != 0) {
			continue;
		} else {
			if (HRR_CALL(r, hipMallocManaged, HRR_P(&p), m->size, 1) != hipSuccess)
				return hrr_fail(r, "no memory for managed variable %s", m->name);
			memset((void *)(uintptr_t)p, 0, m->size);
			init_managed(r, m, module, p);
		}
		if (HRR_CALL(r, hipMemcpyHtoD, at, HRR_P(&p), 8) != hipSuccess)
			return hrr_fail(r, "managed variable %s cannot be set", m->name);
	}
	return 0;
}

int hrr_do_managed_var(struct hrr_replay *r, struct hrr_event *ev)
{
	const char *name = (const char *)(uintptr_t)hrr_arg_of(ev, "name");
	uint64_t size = hrr_arg_of(ev, "size"), base = hrr_arg_of(ev, "pointer");
	int rc = 0;

	if (name == NULL || size == 0 || size > (uint64_t)1 << 40)
		return hrr_fail(r, "its name and size were not recorded");
	struct hrr_managed *m = calloc(1, sizeof *m);
	if (m == NULL || (m->name = strdup(name)) == NULL) {
		free(m);
		return hrr_trouble(r, -ENOMEM, "out of memory");
	}
	m->size = size;
	m->next = r->managed;
	r->managed = m;
	/* A foreign stream has the address of the pointer, not what was put there. */
	if (base != 0 && hrr_json_get(ev->j, 0, "foreign") < 0)
		rc = hrr_managed_new(r, m->base = base, size);
	m->filled = m->base != 0 && ev->rec->host >= 0;
	return rc == 0 && m->filled ? hrr_host_bytes(r, ev) : rc;
}

static int object_module(struct hrr_replay *r, struct hrr_object *o, const struct hrr_json *j,
			 int node, uint64_t *ret)
{
	int rc = 0;

	if (o->module[r->device] == 0 && o->blob.data == NULL)
		rc = o->path != NULL ? read_file(r, o->path, &o->blob)
				     : hrr_blob_of(r, j, node, "code object", &o->blob);
	if (rc == 0 && o->module[r->device] == 0) {
		rc = load_image(r, &o->blob, o->path != NULL ? o->path : o->id,
				&o->module[r->device]);
		if (rc == 0 && r->managed != NULL && r->captures == 0)
			rc = fill_managed(r, o->module[r->device]);
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

static int read_layout(struct hrr_replay *r, struct hrr_function *f, struct hrr_code *code,
		       const struct hrr_blob *blob)
{
	hrr_layout_release(&f->layout);
	return hrr_layout_read(&f->layout, code, blob->data, blob->len, f->name) < 0
		   ? hrr_trouble(r, -ENOMEM, "out of memory")
		   : 0;
}

static void function_free(struct hrr_function *f)
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
	if (!f->layout.read && (rc = read_layout(r, f, &f->object->code, &f->object->blob)) < 0)
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

/* A variable's recorded address becomes another name of its live one. */
static int enter_alias(struct hrr_replay *r, uint64_t recorded, uint64_t size, uint64_t live,
		       uint64_t owner)
{
	const struct hrr_range *x = hrr_ranges_at(r->map, recorded);

	if (recorded == 0 || size == 0)
		return 0;
	if (x != NULL) {
		struct hrr_mem *m = x->value;
		if (m->kind == HRR_MEM_ALIAS) {
			if (m->live == live && m->size == size)
				return 0;
			hrr_mem_drop(r, m, r->seq);
		}
	}
	struct hrr_mem *m = hrr_mem_new(r, HRR_MEM_ALIAS, recorded, size);
	if (m == NULL)
		return -ENOMEM;
	m->live = live;
	m->owner = owner;
	int rc = hrr_mem_enter(r, m);
	if (rc < 0)
		free(m);
	return rc;
}

int hrr_do_symbol_address(struct hrr_replay *r, struct hrr_event *ev)
{
	uint64_t live, size;
	int rc = hrr_symbol(r, ev, &live, &size);

	return rc < 0 ? rc : enter_alias(r, hrr_arg_of(ev, "devPtr"), size, live, 0);
}

int hrr_do_get_global(struct hrr_replay *r, struct hrr_event *ev)
{
	uint64_t module, live = 0;
	size_t size = 0;
	int rc = hrr_handle(r, ev, HRR_H_MODULE, hrr_arg_of(ev, "hmod"), &module);

	if (rc < 0)
		return rc;
	ev->live[0] = HRR_P(&live);
	ev->live[1] = HRR_P(&size);
	ev->live[2] = module;
	ev->live[3] = hrr_arg_of(ev, "name");
	if (ev->live[3] == 0)
		return hrr_fail(r, "its name was not recorded");
	rc = hrr_issue(r, ev);
	if (rc < 0)
		return rc;
	return enter_alias(r, hrr_arg_of(ev, "dptr"), size, live, hrr_arg_of(ev, "hmod"));
}

/* --- modules of the program -------------------------------------------------------- */

int hrr_do_module_load(struct hrr_replay *r, struct hrr_event *ev)
{
	int blobs = ev->rec->blobs, n = blobs >= 0 ? hrr_json_get(ev->j, blobs, "image") : -1;
	size_t len = 0;
	uint64_t live = 0;

	if (n < 0)
		return hrr_refuse(r, "the code object was not recorded, and files named by an "
				     "archive are never opened");
	const char *id = hrr_json_raw(ev->j, n, &len);
	struct hrr_module *m = calloc(1, sizeof *m);
	if (m == NULL)
		return hrr_trouble(r, -ENOMEM, "out of memory");
	int rc = hrr_blob_get(r, n, "code object", &m->blob);
	char text[HRR_ID_TEXT + 1] = "";
	if (rc == 0) {
		memcpy(text, id, len < HRR_ID_TEXT ? len : HRR_ID_TEXT);
		rc = load_image(r, &m->blob, text, &live);
	}
	struct hrr_held *h =
	    rc == 0 ? hrr_held_add(&r->held[HRR_H_MODULE], hrr_arg_of(ev, "module"), live) : NULL;
	if (h == NULL) {
		hrr_blob_release(&m->blob);
		free(m);
		return rc < 0 ? rc : hrr_fail(r, "its handle was not recorded");
	}
	h->info = m;
	h->device = r->device;
	return 0;
}

int hrr_do_get_function(struct hrr_replay *r, struct hrr_event *ev)
{
	uint64_t live = 0, module;
	const char *name = (const char *)(uintptr_t)hrr_arg_of(ev, "kname");
	int rc = hrr_handle(r, ev, HRR_H_MODULE, hrr_arg_of(ev, "module"), &module);

	if (rc < 0)
		return rc;
	/* Foreign launches name their kernel themselves: the handle is not needed. */
	if (name == NULL && hrr_json_get(ev->j, 0, "foreign") >= 0)
		return hrr_do_ignored(r, ev);
	if (name == NULL)
		return hrr_fail(r, "its name was not recorded");
	ev->live[0] = HRR_P(&live);
	ev->live[1] = module;
	ev->live[2] = HRR_P(name);
	rc = hrr_issue(r, ev);
	if (rc < 0)
		return rc;
	struct hrr_held *h = hrr_held_find(&r->held[HRR_H_FUNCTION], ev->w[0]);
	struct hrr_function *f = h != NULL ? h->info : NULL;
	if (f == NULL || strcmp(f->name, name) != 0) {
		f = calloc(1, sizeof *f);
		if (f == NULL || (f->name = strdup(name)) == NULL) {
			free(f);
			return hrr_trouble(r, -ENOMEM, "out of memory");
		}
		f->next = r->module_functions; /* writers may name it until the end */
		r->module_functions = f;
	}
	/* Read each time: the same number may be of another module by now. */
	const struct hrr_held *of = hrr_held_find(&r->held[HRR_H_MODULE], hrr_arg_of(ev, "module"));
	if (of == NULL || of->info == NULL)
		return hrr_fail(r, "its module is null");
	struct hrr_module *m = of->info;
	rc = read_layout(r, f, &m->code, &m->blob);
	if (rc < 0)
		return rc;
	h = hrr_held_add(&r->held[HRR_H_FUNCTION], ev->w[0], live);
	if (h == NULL)
		return hrr_fail(r, "its handle was not recorded");
	h->info = f;
	h->owner = hrr_arg_of(ev, "module");
	return 0;
}

struct owned {
	uint64_t owner;
	struct hrr_mem *found;
};

static int find_owned(void *self, const struct hrr_range *x)
{
	struct owned *o = self;
	struct hrr_mem *m = x->value;

	if (m->kind != HRR_MEM_ALIAS || m->owner != o->owner)
		return 0;
	o->found = m;
	return 1;
}

int hrr_do_module_unload(struct hrr_replay *r, struct hrr_event *ev)
{
	uint64_t recorded = ev->w[0], live;
	int rc = hrr_handle(r, ev, HRR_H_MODULE, recorded, &live);

	if (rc < 0)
		return rc;
	struct hrr_held *h = hrr_held_find(&r->held[HRR_H_MODULE], recorded);
	if (h == NULL)
		return hrr_fail(r, "its module is null");
	struct hrr_module *m = h->info;
	struct owned o = {.owner = recorded};
	while (o.found = NULL, hrr_ranges_each(r->map, find_owned, &o) != 0)
		hrr_mem_drop(r, o.found, r->seq);
	struct hrr_held_map *fns = &r->held[HRR_H_FUNCTION];
	for (size_t i = 0; i < fns->cap; i++)
		while (fns->slot[i].recorded != 0 && fns->slot[i].owner == recorded)
			hrr_held_del(fns, fns->slot[i].recorded);
	hrr_held_del(&r->held[HRR_H_MODULE], recorded);
	/* The image stays with what was loaded from it until the end: unloading may be late. */
	if (m != NULL) {
		hrr_code_release(&m->code);
		rc = hrr_stage(r, &m->blob);
		free(m);
	}
	if (rc < 0)
		return rc;
	rc = hrr_defer(r, HRR_DEFER_MODULE, ev, recorded, live, NULL);
	r->owed_wait = true;
	return rc < 0 ? rc : hrr_settle_if_idle(r);
}

void hrr_module_end(struct hrr_replay *r)
{
	struct hrr_held_map *m = &r->held[HRR_H_MODULE];

	for (size_t i = 0; i < m->cap; i++) {
		struct hrr_module *x = m->slot[i].info;
		if (m->slot[i].recorded == 0 || x == NULL)
			continue;
		if (!r->abandoned)
			HRR_CALL(r, hipModuleUnload, m->slot[i].live);
		hrr_code_release(&x->code);
		hrr_blob_release(&x->blob);
		free(x);
	}
	for (size_t i = 0; i < r->functions.cap; i++)
		if (r->functions.slot[i].recorded != 0) {
			function_free(r->functions.slot[i].info);
		}
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
	while (r->module_functions != NULL) {
		struct hrr_function *f = r->module_functions;
		r->module_functions = f->next;
		function_free(f);
	}
	while (r->managed != NULL) {
		struct hrr_managed *next = r->managed->next;
		free(r->managed->name);
		free(r->managed);
		r->managed = next;
	}
	hrr_held_release(&r->objects);
	hrr_held_release(&r->functions);
}
