#ifndef HRR_EMU_GRAPH_PARAMS_H
#define HRR_EMU_GRAPH_PARAMS_H

#include "lib/emu/runtime/graph.h"

/*
 * A node's parameters, between the program's structures and ops. All with
 * rt.lock held. A failing set leaves the node as it was.
 */
hipError_t params_kernel(struct node *n, const struct hipKernelNodeParams *p);
hipError_t params_copy(struct node *n, const struct hipMemcpy3DParms *p);
hipError_t params_copy_1d(struct node *n, enum node_type type, const void *dst, const void *src,
			  size_t count, int kind);
/* Between a symbol of the thread's device and other: to it, or from it. */
hipError_t params_symbol(struct node *n, bool to, const void *symbol, void *other, size_t count,
			 size_t offset, int kind);
hipError_t params_memset(struct node *n, const struct hipMemsetParams *p);
hipError_t params_host(struct node *n, const struct hipHostNodeParams *p);
/* Fills what queries answer from an op that a capture put there. 0, -ENOMEM. */
int node_describe(struct node *n);

#endif
