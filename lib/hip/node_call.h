#ifndef HRR_HIP_NODE_CALL_H
#define HRR_HIP_NODE_CALL_H

#include "lib/hip/table.h"

/*
 * Some calls for graph nodes (hipGraphAddNode) take a hipGraphNodeParams: the type of a node, and
 * behind it what the call for nodes of that type takes. They are those calls.
 */
#define HRR_NODE_PARAMS 256 /* bytes; the layout is of HIP 6 and 7 */

struct hrr_node_call {
	enum hrr_api api;
	uint64_t a[6]; /* its arguments; pointers into the structure that the call was given */
};

/* Whether it is one of these: node=any in hip.api. */
bool hrr_node_generic(enum hrr_api api);

/*
 * The call that api with these arguments is. copy reads n bytes of the program's memory; false:
 * they are not there. False: another call, or a type that has no call of its own.
 */
bool hrr_node_call(enum hrr_api api, const uint64_t *a,
		   bool (*copy)(void *dst, const void *src, size_t n), struct hrr_node_call *ret);

#endif
