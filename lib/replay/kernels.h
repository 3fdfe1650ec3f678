#ifndef HRR_REPLAY_KERNELS_H
#define HRR_REPLAY_KERNELS_H

#include "lib/replay/layout.h"
#include "lib/replay/memory.h"

/* Private to lib/replay: code objects, kernels and variables in them, launches. */

struct hrr_event;
struct hrr_replay;

struct hrr_object {			  /* a code object by its blob, loaded where it is needed */
	char id[HRR_ID_TEXT + 1];	  /* or "" and path: a replacement */
	const char *path;		  /* borrowed */
	struct hrr_blob blob;		  /* run times may look at it as long as it is loaded */
	struct hrr_code code;		  /* of blob */
	uint64_t module[HRR_MAX_DEVICES]; /* live modules; 0: not loaded */
};

struct hrr_managed { /* a __managed__ variable that was registered */
	char *name;
	uint64_t size;
	uint64_t base; /* recorded; 0: not known, it gets memory when its object is loaded */
	bool filled;   /* with what the program had put there */
	struct hrr_managed *next;
};

struct hrr_module { /* loaded by the recorded program */
	struct hrr_blob blob;
	struct hrr_code code; /* of blob */
};

struct hrr_function {
	char *name;
	struct hrr_object *object; /* NULL: of a module the program loaded */
	struct hrr_layout layout;
	uint64_t live[HRR_MAX_DEVICES];
	uint64_t launches, total, min, max; /* --timing */
	struct hrr_function *next;	    /* in r->module_functions */
};

/* launch.c, module.c, object.c */
struct hrr_launch {
	struct hrr_function *fn;
	uint64_t live_fn;
	unsigned char *buf; /* kernarg bytes, translated */
	size_t size;	    /* of them; all that fn->layout asks for is there */
	void **params;	    /* one for each argument of the layout */
	uint32_t grid[3], block[3], lds;
	struct hrr_mem **mems; /* memory its arguments point to; of the record in hand */
	size_t n_mems, cap_mems;
};
/* Whether --replace-kernel names this kernel: its FILE, or NULL. */
const char *hrr_replaced(struct hrr_replay *r, const char *name, size_t len);
/* Reads a "kernel" of a record (hrr_kernel_next; -1: it has none) and translates its arguments. */
int hrr_kernel_read(struct hrr_replay *r, struct hrr_event *ev, int kernel, uint64_t function,
		    struct hrr_launch *l);
/* kernarg.c: args of a "kernel" into l->buf and l->params, by the layout of l->fn. */
int hrr_kernarg_read(struct hrr_replay *r, const struct hrr_json *j, int node,
		     struct hrr_launch *l);
int hrr_launch_uses(struct hrr_replay *r, struct hrr_launch *l, struct hrr_mem *m);
/* It was launched in a stream: what it was given it may have written. */
void hrr_launch_wrote(struct hrr_replay *r, struct hrr_event *ev, const struct hrr_launch *l,
		      uint64_t key);
/* Kernels were queued: they may write what they reach without an argument. */
void hrr_kernels_queued(struct hrr_replay *r, const struct hrr_writer *w, uint64_t key);
int hrr_do_launches(struct hrr_replay *r, struct hrr_event *ev); /* launch_multi.c */
int hrr_module_function(struct hrr_replay *r, const char *name, size_t name_len, int object_node,
			const struct hrr_json *j, struct hrr_function **ret_fn, uint64_t *ret_live);
int hrr_symbol(struct hrr_replay *r, struct hrr_event *ev, uint64_t *ret_live, uint64_t *ret_size);
int hrr_do_module_load(struct hrr_replay *r, struct hrr_event *ev);
int hrr_do_module_unload(struct hrr_replay *r, struct hrr_event *ev);
int hrr_do_get_function(struct hrr_replay *r, struct hrr_event *ev);
int hrr_do_get_global(struct hrr_replay *r, struct hrr_event *ev);
int hrr_do_symbol_address(struct hrr_replay *r, struct hrr_event *ev);
void hrr_module_end(struct hrr_replay *r);

/* object.c: a container as the program had it; id is for messages. */
int hrr_load_image(struct hrr_replay *r, const struct hrr_blob *blob, const char *id,
		   uint64_t *ret);
int hrr_function_layout(struct hrr_replay *r, struct hrr_function *f, struct hrr_code *code,
			const struct hrr_blob *blob);
void hrr_function_free(struct hrr_function *f);
void hrr_objects_end(struct hrr_replay *r);

/* managed.c: gives the variables of a live module the memory their registrations got. */
int hrr_managed_fill(struct hrr_replay *r, uint64_t module);
void hrr_managed_end(struct hrr_replay *r);
int hrr_hash_launch(struct hrr_replay *r, struct hrr_event *ev, const struct hrr_launch *l);

#endif
