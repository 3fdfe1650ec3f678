#ifndef HRR_PRELOAD_KERNEL_PRIV_H
#define HRR_PRELOAD_KERNEL_PRIV_H

#include "lib/hip/bundle.h"
#include "lib/hip/codeobj.h"
#include "lib/preload/preload.h"

/* A container of code objects: registered by the program's start-up code, or loaded as a module.
 * Shared between object.c (what it holds) and kernel.c (who launches it). */
struct hrr_object {
	struct hrr_object *next;
	uint64_t handle;   /* hipFatBinary_t or hipModule_t */
	const void *image; /* registered container, there as long as its library; NULL: module */
	uint64_t size;
	uint64_t id;   /* given once its OBJECT record is written; 0: not yet */
	uint64_t file; /* payload of a module, until the record is written */
	bool module, parsed;
	void *copy; /* owned: a module's bytes, which the program may free once it is loaded */
	struct hrr_bundle bundle;
	struct hrr_codeobj *objs; /* by entry; data NULL: not opened, size 1: cannot be */
};

struct hrr_symbol_info {
	struct hrr_symbol_info *next;
	uint64_t address; /* of the host's shadow */
	const char *name;
	uint64_t size;
	struct hrr_object *object;
};

extern pthread_mutex_t
    hrr_kernel_lock; /* over everything here; never held while a call of HIP runs */
struct hrr_object *hrr_object_add(uint64_t handle, const void *image, bool module);
struct hrr_object *hrr_object_find(uint64_t handle, bool module);
void hrr_object_del(struct hrr_object *o);
/* Of a module being loaded: its bytes are copied. */
void hrr_object_copy(struct hrr_object *o, const void *image);
void hrr_object_parse(struct hrr_object *o, const void *image);
/* Writes the OBJECT record unless it is out. Gives o->id. */
bool hrr_object_write(struct hrr_thread *t, struct hrr_object *o);
const struct hrr_kernel *hrr_object_kernel(struct hrr_object *o, const char *name);
void hrr_objects_forget(void);
void hrr_object_map_file(struct hrr_object *o, const char *path);

struct hrr_kernel_info *hrr_kernel_new(struct hrr_object *o, const char *name);
void hrr_kernel_put(uint64_t handle, struct hrr_kernel_info *k);
/* handle stands for the kernel another handle (a stub) stands for. */
void hrr_kernel_alias(uint64_t handle, uint64_t other);
void hrr_kernels_drop(const struct hrr_object *o);

#endif
