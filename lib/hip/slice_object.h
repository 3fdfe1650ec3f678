#ifndef HRR_HIP_SLICE_OBJECT_H
#define HRR_HIP_SLICE_OBJECT_H

#include "lib/hip/slice_private.h"
#include "lib/hip/table.h"

/*
 * What calls create, use and write: memory, handles, variables of code objects. For slice*.c only.
 * Objects are numbers in hrr_slice.objects, NOBODY is none and may be given everywhere but to
 * add_writer and lives. Out of memory is noted in bad.
 */

/* A record at hand, in the first reading. */
struct slice_gather {
	struct hrr_slice *s;
	struct slice_world *w;
	const struct hrr_record *rec;
	const struct hrr_api_row *row; /* NULL: a call the table does not know */
	uint32_t call;
	bool releasing; /* the parameter at hand is what the call releases */
	int bad;	/* 0 or -errno */
};

/* A call nobody knows does nothing that has a name. */
static inline enum hrr_does slice_does(const struct slice_gather *g)
{
	return g->row != NULL ? (enum hrr_does)g->row->does : HRR_DOES_NOTHING;
}

/* The things of process p. NULL: no memory. */
struct slice_world *slice_world_of(struct hrr_slice *s, uint32_t p);
/* creator: a call, or NOBODY. */
uint32_t slice_new_object(struct slice_gather *g, uint32_t creator);
/* That a call may have written an object; calls come in ascending order. */
void slice_add_writer(struct slice_gather *g, uint32_t object, uint32_t call);
/* That the call at hand uses an object, and may write it. */
void slice_use_object(struct slice_gather *g, uint32_t object, bool writes);
/* Whether it has not been released: nodes go with the graph that owns them. */
bool slice_lives(const struct hrr_slice *s, uint32_t object);

/* What goes by a handle of a type (HRR_H_...). */
uint32_t slice_handle(const struct slice_gather *g, unsigned type, uint64_t value);
/* A new object by that handle, whatever went by it before. */
uint32_t slice_new_handle(struct slice_gather *g, unsigned type, uint64_t value);

/* The memory an address lies in. */
uint32_t slice_memory_at(const struct slice_gather *g, uint64_t addr);
/* That an object is the memory of size bytes at base. */
void slice_new_range(struct slice_gather *g, uint64_t base, uint64_t size, uint32_t object);
/*
 * The variables of a code object, whose id stands at a node of the record's text: what copies to
 * symbols write and kernels may read and write.
 */
uint32_t slice_variables(struct slice_gather *g, int node);

/* That a launch of a graph, or what a module's kernels do, touches an object. */
void slice_touch(struct slice_gather *g, uint32_t graph, uint32_t object);
/* That it touches all that another one touches. */
void slice_touch_all(struct slice_gather *g, uint32_t to, uint32_t from);
/* A launch of a graph uses whatever its nodes were given. */
void slice_use_touched(struct slice_gather *g, uint32_t object);

/* slice_create.c: what stands at a node of the record's text for an out parameter is made: one
 * thing, or an array of them. What it is made of has been used before. */
void slice_create(struct slice_gather *g, const struct hrr_param *p, int node);
/* slice_create.c: what the call maps or unmaps. */
void slice_mapping(struct slice_gather *g);
/* slice_create.c: bytes of what it allocates. */
uint64_t slice_size(const struct slice_gather *g);

#endif
