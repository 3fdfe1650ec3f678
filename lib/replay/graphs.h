#ifndef HRR_REPLAY_GRAPHS_H
#define HRR_REPLAY_GRAPHS_H

#include "lib/replay/memory.h"

/* Private to lib/replay: what graphs, executables and open captures use, and how they end. */

struct hrr_event;
struct hrr_function;
struct hrr_replay;

struct hrr_host_node { /* a memcpy node with a host end */
	uint64_t node_live;
	uint64_t addr, size;	  /* recorded host end */
	uint64_t dst, src, count; /* live operands, for refreshing */
	int kind;
	bool one_d;
	bool stale; /* a registration changed under it */
};

struct hrr_graph {	       /* of a graph, an executable, or an open capture */
	struct hrr_mem **mems; /* memory its nodes use */
	size_t n_mems, cap_mems;
	struct hrr_host_node *hosts;
	size_t n_hosts, cap_hosts;
	const struct hrr_function **fns; /* kernels, for who wrote last */
	size_t n_fns, cap_fns;
	uint32_t devices; /* whose memory and kernels its nodes use: a bit each */
	char bad[160];	  /* a node that could not be rebuilt; "" none */
	uint64_t origin;  /* open capture: recorded stream it began on */
	uint64_t origin_tid;
	uint64_t number;      /* and its recorded graph, once the program asked for that */
	bool into;	      /* of a graph that was there before */
	uint64_t exec_source; /* executable: recorded graph it came from */
};

/* graph.c, for launches, copies and sets. */
int hrr_graph_use(struct hrr_replay *r, struct hrr_graph *g, struct hrr_mem *m);
int hrr_graph_host(struct hrr_replay *r, struct hrr_graph *g, const struct hrr_host_node *h);
int hrr_graph_fn(struct hrr_replay *r, struct hrr_graph *g, const struct hrr_function *fn);
int hrr_graph_merge(struct hrr_replay *r, struct hrr_graph *to, const struct hrr_graph *from);
struct hrr_graph *hrr_graph_of(struct hrr_replay *r, uint64_t recorded);
void hrr_graph_bad(struct hrr_graph *g, const char *why);
void hrr_graph_free(struct hrr_replay *r, struct hrr_graph *g);
/* It uses nothing any more. */
void hrr_graph_let_go(struct hrr_graph *g);
/* The capture is over: no stream and no event belongs to it any more. */
void hrr_graph_leave(struct hrr_replay *r, const struct hrr_graph *g);
void hrr_graph_forget_nodes(struct hrr_replay *r, uint64_t graph);

/* graph_end.c */
#define HRR_ALL_DEVICES (-1)
/* Open captures begun on streams of the device: it cannot be waited for before they end. */
void hrr_graph_end_captures(struct hrr_replay *r, int device);
void hrr_graph_reset(struct hrr_replay *r, int device);
/* Destroys every executable and graph; not idle: only forgets them. */
void hrr_graph_end(struct hrr_replay *r, bool idle);

#endif
