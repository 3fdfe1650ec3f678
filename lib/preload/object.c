#include "lib/preload/kernel_priv.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

pthread_mutex_t hrr_kernel_lock = PTHREAD_MUTEX_INITIALIZER;
static struct hrr_object *objects;
static _Atomic uint64_t ids;

struct hrr_object *hrr_object_add(uint64_t handle, const void *image, bool module)
{
	struct hrr_object *o = calloc(1, sizeof *o);

	if (o == NULL)
		return NULL;
	o->handle = handle;
	o->image = image;
	o->module = module;
	o->next = objects;
	objects = o;
	return o;
}

struct hrr_object *hrr_object_find(uint64_t handle, bool module)
{
	for (struct hrr_object *o = objects; o != NULL; o = o->next)
		if (o->handle == handle && o->module == module)
			return o;
	return NULL;
}

/* The struct itself stays: a launch on another thread may be looking at it. */
void hrr_object_del(struct hrr_object *o)
{
	for (struct hrr_object **p = &objects; *p != NULL; p = &(*p)->next)
		if (*p == o) {
			*p = o->next;
			break;
		}
	for (size_t i = 0; o->objs != NULL && i < o->bundle.n_entries; i++)
		if (o->objs[i].data != NULL)
			hrr_codeobj_close(&o->objs[i]);
	free(o->objs);
	o->objs = NULL;
	hrr_bundle_close(&o->bundle);
	o->bundle = (struct hrr_bundle){0};
	free(o->copy);
	o->copy = NULL;
}

void hrr_object_parse(struct hrr_object *o, const void *image)
{
	size_t len;

	if (o->parsed || image == NULL)
		return;
	o->parsed = true;
	if (o->size == 0 && hrr_bundle_length(image, SIZE_MAX, &len, NULL) == 0)
		o->size = len;
	if (o->size == 0 || hrr_bundle_open(&o->bundle, image, o->size, NULL) < 0)
		return;
	o->objs = calloc(o->bundle.n_entries + 1, sizeof *o->objs);
	if (o->objs == NULL)
		o->bundle.n_entries = 0;
}

bool hrr_object_write(struct hrr_thread *t, struct hrr_object *o)
{
	if (o->id != 0)
		return true;
	hrr_b_begin(t, HRR_R_OBJECT, 0);
	if (!hrr_b_room(t, sizeof(struct hrr_rec_object) - sizeof(struct hrr_rec)))
		return hrr_b_commit(t);
	uint64_t id = atomic_fetch_add(&ids, 1) + 1;
	struct hrr_rec_object *r = (struct hrr_rec_object *)(void *)t->start;
	t->p = t->start + sizeof *r;
	r->object = id;
	if (o->module) {
		r->b = (struct hrr_bytes){0, o->size, o->file};
	} else {
		struct hrr_rect rect = {o->size, 1, 1, o->size, o->size};
		r->b = (struct hrr_bytes){(uintptr_t)o->image, o->size,
					  hrr_bytes_file(o->image, &rect)};
	}
	if (!hrr_b_commit(t))
		return false;
	o->id = id;
	return true;
}

static const struct hrr_kernel *in_entry(struct hrr_object *o, size_t i, const char *name)
{
	struct hrr_codeobj *co = &o->objs[i];

	if (co->data == NULL) {
		if (co->size != 0 || hrr_codeobj_open(co, o->bundle.entries[i].data,
						      o->bundle.entries[i].size, NULL) < 0) {
			*co = (struct hrr_codeobj){.size = 1};
			return NULL;
		}
	}
	return hrr_codeobj_kernel(co, name);
}

/*
 * The layout of explicit arguments is the same for every processor of one
 * source, so the first processor's objects are looked at first, all others after.
 */
const struct hrr_kernel *hrr_object_kernel(struct hrr_object *o, const char *name)
{
	char arch[64] = "", have[64];

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < o->bundle.n_entries && o->objs != NULL; i++) {
			if (hrr_bundle_arch(&o->bundle.entries[i], have, sizeof have) < 0)
				continue;
			if (arch[0] == '\0')
				strcpy(arch, have);
			if ((strcmp(arch, have) == 0) != (pass == 0))
				continue;
			const struct hrr_kernel *k = in_entry(o, i, name);
			if (k != NULL)
				return k;
		}
	return NULL;
}

void hrr_objects_forget(void)
{
	/* Registered containers are the child's too; what its parent has written is not. */
	for (struct hrr_object *o = objects; o != NULL; o = o->next)
		o->id = 0;
}

void hrr_object_copy(struct hrr_object *o, const void *image)
{
	size_t len;

	if (hrr_bundle_length(image, SIZE_MAX, &len, NULL) < 0)
		return;
	o->size = len;
	o->copy = malloc(len);
	if (o->copy == NULL)
		return;
	memcpy(o->copy, image, len);
	hrr_object_parse(o, o->copy);
}

/* A module's file, for the layout; it may be gone or changed later. */
void hrr_object_map_file(struct hrr_object *o, const char *path)
{
	struct hrr_files old;
	struct stat st;

	hrr_files_begin(&old);
	int fd = hrr_open(path, O_RDONLY, 0);
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
		/* Read, not mapped: a file cut short under a mapping is a SIGBUS in the program. */
		char *p = malloc((size_t)st.st_size);
		size_t n = 0;
		for (ssize_t k; p != NULL && n < (size_t)st.st_size; n += (size_t)k) {
			k = read(fd, p + n, (size_t)st.st_size - n);
			if (k <= 0)
				break;
		}
		if (p != NULL && n == (size_t)st.st_size) {
			o->size = n;
			o->copy = p;
			hrr_object_parse(o, p);
		} else {
			free(p);
		}
	}
	if (fd >= 0)
		close(fd);
	hrr_files_end(&old);
}
