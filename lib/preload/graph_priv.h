#ifndef HRR_PRELOAD_GRAPH_PRIV_H
#define HRR_PRELOAD_GRAPH_PRIV_H

#include "lib/preload/preload.h"

/*
 * Which host memory a graph's nodes read and write, so that a launch can record
 * what they find and deliver. A node is known by the call that made it (its
 * seq), whether a stream capture or hipGraphAdd… did.
 */
#define HRR_GRAPH_HOSTS 6

struct hrr_graph_item {
	uint64_t node; /* handle; 0: captured */
	uint64_t seq;
	bool copy, function;
	enum hrr_dir dir;
	struct hrr_copy_op op;
	unsigned n_hosts; /* kernels: mapped host ranges its arguments name */
	uint64_t hosts[HRR_GRAPH_HOSTS];
};

struct hrr_graph_items {
	struct hrr_graph_item *v;
	size_t n, cap;
};

/* HRR_IS_CHILD: what a child graph's node has of its own, until the program asks for that graph. */
enum hrr_graph_which { HRR_IS_GRAPH, HRR_IS_EXEC, HRR_IS_CAPTURE, HRR_IS_CHILD };
struct hrr_graph_entry {
	struct hrr_graph_entry *next;
	enum hrr_graph_which which;
	uint64_t handle; /* graph, exec, the capture's first stream, or the child's node */
	uint64_t parent; /* graph it goes with, 0: none */
	struct hrr_graph_items items;
	uint64_t members[32]; /* HRR_IS_CAPTURE: streams, and events (bit 63) recorded in them */
	unsigned n_members;
};

/* graph_items.c: graphs, executables and open captures. hrr_graph_lock is held over all of these
 * and whatever they gave. */
extern pthread_mutex_t hrr_graph_lock;
extern struct hrr_graph_entry *hrr_graph_entries;
struct hrr_graph_entry *hrr_graph_find(enum hrr_graph_which which, uint64_t handle);
/* New, or the one of a handle that is used again, emptied; NULL: no memory. */
struct hrr_graph_entry *hrr_graph_make(enum hrr_graph_which which, uint64_t handle);
void hrr_graph_drop(struct hrr_graph_entry *e); /* NULL: nothing */
/* What goes with a graph that is destroyed. */
void hrr_graph_drop_children(uint64_t parent);
/* One more, all zero; NULL: no memory. Pointers to the others are void. */
struct hrr_graph_item *hrr_graph_add(struct hrr_graph_items *x);
void hrr_graph_append(struct hrr_graph_items *to, const struct hrr_graph_items *from);
/* The open capture a stream (as hrr_graph_member names it) or event belongs to; NULL. */
struct hrr_graph_entry *hrr_graph_capture_of(uint64_t which);
void hrr_graph_join(struct hrr_graph_entry *e, uint64_t which);
/* A stream as a member of a capture: the thread's own has one handle for all threads. */
uint64_t hrr_graph_member(uint64_t stream);

/* graph.c */
bool hrr_graph_is_kernel(enum hrr_api api); /* its parameters describe a kernel node */
/* The mapped host ranges that a launch's arguments name go into x. */
void hrr_graph_kernel(struct hrr_call *c, const struct hrr_launch_args *l,
		      struct hrr_graph_item *x);

/* graph_launch.c: inside the launch's record */
void hrr_graph_launched(struct hrr_call *c);

#endif
