#ifndef HRR_HIP_SLICE_PRIVATE_H
#define HRR_HIP_SLICE_PRIVATE_H

#include "lib/base/idmap.h"
#include "lib/base/range.h"
#include "lib/hip/slice.h"

#define NOBODY UINT32_MAX

/* A call of the stream, in order of reading. */
struct slice_call {
	uint64_t seq;
	uint32_t p;
	uint32_t uses, n_uses; /* in hrr_slice.uses */
	uint32_t device;       /* the call that made its thread's device current, or NOBODY */
	uint32_t seen_by;      /* the call behind which its first output stands, or NOBODY */
	bool selected, kept, always, waits, waits_value, launch, to_host, outputs;
	bool work, captured,
	    starts_graph; /* a launch, copy or set; in a capture; a graph's launch */
	bool wanted;	  /* kept for the sake of a selected one */
	bool current;	  /* it set the device that is its thread's still */
};

struct slice_use {
	uint32_t object;
	bool writes, releases; /* released: only its making matters */
};

/* What calls use: an allocation, a handle, the variables of a code object. */
struct slice_object {
	uint32_t creator, releaser; /* calls, or NOBODY */
	uint32_t owner;		    /* of a node: the graph it is in, or NOBODY */
	uint8_t handle;		    /* HRR_H_..., 0: none */
	uint64_t size;		    /* of memory */
	bool memory, variables, variables_used;
	bool used;		/* by a kept call; solve says so */
	uint32_t region;	/* its record's place among the regions + 1; 0: none */
	struct hrr_buf writers; /* uint32_t: calls, ascending */
	size_t done;		/* writers looked at by solve */
	/* Of graphs: writers looked at for selected ones; there are some that were not launched
	 * yet; and some that were captured. */
	size_t looked;
	bool wanted, whole;
	struct hrr_buf touches; /* graphs: uint32_t objects that its nodes use */
	uint32_t touched_by;	/* the object whose touches it was last put into + 1; 0: none */
};

/* A region record, in order of reading: of what; NOBODY: it stays whatever is kept. */
struct slice_region {
	uint32_t object;
	bool gone; /* it came and went */
};

/* Things live in a process. */
struct slice_world {
	struct hrr_ranges *memory;  /* value: object number plus 1, as a pointer */
	struct hrr_ranges *maps;    /* what is mapped where addresses were reserved; as memory */
	struct hrr_idmap handles;   /* by value and type */
	struct hrr_idmap variables; /* by code object */
	struct hrr_idmap devices;   /* by thread: the call that set its device */
	uint32_t capture_from, captures; /* first call and number of open stream captures */
	uint32_t last;			 /* the newest call */
};

struct hrr_slice {
	struct hrr_buf calls, uses, objects, worlds;
	uint32_t n_calls, n_uses, n_objects, n_worlds;
	struct hrr_buf regions; /* struct slice_region */
	uint32_t n_regions;
	uint32_t next, next_region; /* second reading: what comes next */
	struct hrr_buf work;	    /* calls whose needs are to be followed */
	struct hrr_seqs *outputs;   /* calls whose outputs stay */
	uint64_t selected, kept;
	bool live; /* what lives at the end is kept */
};

/* Selects the launches of graphs that selected calls are part of. */
void slice_select_graphs(struct hrr_slice *s);

static inline struct slice_call *slice_calls(const struct hrr_slice *s)
{
	return (struct slice_call *)(void *)s->calls.data;
}
static inline struct slice_use *slice_uses(const struct hrr_slice *s)
{
	return (struct slice_use *)(void *)s->uses.data;
}
static inline struct slice_object *slice_objects(const struct hrr_slice *s)
{
	return (struct slice_object *)(void *)s->objects.data;
}

#endif
