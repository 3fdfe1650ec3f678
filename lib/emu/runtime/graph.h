#ifndef HRR_EMU_GRAPH_H
#define HRR_EMU_GRAPH_H

#include "lib/emu/runtime/sched.h"

/*
 * Graphs: nodes hold ops as data. A graph is edited by handles; instantiating
 * clones it into a plan, which launches share and never change: an update of the
 * executable that meets a plan still in use works on a copy.
 */

enum node_type {
	NODE_KERNEL,
	NODE_COPY,	/* hipMemcpy3DParms */
	NODE_COPY_1D,	/* dst, src, count, kind */
	NODE_COPY_FROM, /* from a symbol */
	NODE_COPY_TO,	/* to a symbol */
	NODE_SET,
	NODE_HOST,
	NODE_CHILD,
	NODE_EMPTY,
	NODE_RECORD,
	NODE_WAIT,
	NODE_ALLOC,
	NODE_FREE
};

struct node {
	struct graph *graph;
	struct node *next;   /* in the order they were added */
	uint64_t id, origin; /* of this node; of the one it was cloned from, 0: none */
	enum node_type type;
	struct op op;	     /* kernel, copy, set, host */
	struct graph *child; /* owned */
	hipEvent_t event;    /* looked up at launch */
	struct node **deps;  /* owned; in the same graph */
	unsigned n_deps, mark;
	bool disabled; /* hipGraphNodeSetEnabled: runs as an empty node */
	/* As the program gave them, for queries. */
	void *func;	      /* stub or hipFunction_t */
	void **kernel_params; /* owned; point into op.u.kernel.args */
	struct hipMemcpy3DParms copy;
	int copy_kind;
	struct hipMemsetParams set;
	struct hipHostNodeParams host;
	struct hipMemAllocNodeParams alloc;
	dim3 grid, block;
};

struct graph {
	struct node *first, **last;
	unsigned n_nodes;
	uint64_t id, origin;
	bool handle;
};

struct plan {
	unsigned refs;
	struct graph *graph; /* owned */
	struct node **order; /* owned: topological */
};

struct exec {
	struct plan *plan; /* a reference */
	uint64_t source;   /* id of the graph */
};

/* All with rt.lock held, but plan_run. */
struct graph *graph_new(void);
void graph_free(struct graph *g);
/* keep: nodes keep ids and origins (a plan's own copy), else origin is the source's id. */
struct graph *graph_clone(const struct graph *g, bool keep);
struct graph *graph_get(hipGraph_t h);
struct node *node_get(hipGraphNode_t h);
/* A node at the end of g, after deps (all in g: else NULL). Its op is empty. */
struct node *node_new(struct graph *g, enum node_type type, struct node *const *deps,
		      size_t n_deps);
void node_free(struct node *n);
int node_add_dep(struct node *n, struct node *on); /* 0, -EEXIST, -ENOMEM */
/* Registers n's handle with the program's view; false: out of memory. */
bool node_publish(struct node *n);
/* Copies type, op and parameters (not edges) of src into dst: 0 or -ENOMEM. */
int node_assign(struct node *dst, const struct node *src);

struct plan *plan_new(struct graph *taken); /* NULL: a cycle, or out of memory; frees it */
struct plan *plan_ref(struct plan *p);
void plan_unref(struct plan *p);
hipError_t plan_run(const struct plan *p, int device);

/* An allocation node took so many bytes of the device, or they went back. Under rt.lock. */
void graph_memory(int device, int64_t bytes);

#endif
