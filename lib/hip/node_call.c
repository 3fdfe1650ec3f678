#include "lib/hip/node_call.h"

#include <string.h>

bool hrr_node_generic(enum hrr_api api)
{
	for (const struct hrr_node_type *t = hrr_node_types; t->api != HRR_API_COUNT; t++)
		if (t->api == api)
			return t->type == HRR_NODE_ANY;
	return false;
}

/* Whether one does to nodes what the other does: adds one, changes one of a graph, or of an
 * executable. They begin with the same parameters, before what tells of the node. */
static bool does_the_same(const struct hrr_api_row *generic, const struct hrr_api_row *x)
{
	const unsigned n = generic->n_params - 1u;

	if (x->n_params < n || x->n_params > n + 1)
		return false;
	for (unsigned i = 0; i < n; i++)
		if (x->params[i].handle != generic->params[i].handle ||
		    x->params[i].flow != generic->params[i].flow)
			return false;
	return true;
}

bool hrr_node_call(enum hrr_api api, const uint64_t *a,
		   bool (*copy)(void *dst, const void *src, size_t n), struct hrr_node_call *ret)
{
	unsigned char params[HRR_NODE_PARAMS];
	const unsigned n = hrr_api_table[api].n_params - 1u; /* the last one is the structure */
	int type;

	if (!hrr_node_generic(api) || a[n] == 0 ||
	    !copy(params, (const void *)(uintptr_t)a[n], sizeof params))
		return false;
	memcpy(&type, params, sizeof type);
	for (const struct hrr_node_type *t = hrr_node_types; t->api != HRR_API_COUNT; t++) {
		const struct hrr_api_row *row = &hrr_api_table[t->api];
		if (t->type == HRR_NODE_ANY || t->type != type ||
		    !does_the_same(&hrr_api_table[api], row))
			continue;
		ret->api = (enum hrr_api)t->api;
		memcpy(ret->a, a, n * sizeof *a);
		ret->a[n] = 0;
		if (row->n_params == n + 1 && row->params[n].kind == HRR_K_STRUCT)
			ret->a[n] = a[n] + t->at;
		else if (row->n_params == n + 1)
			memcpy(&ret->a[n], params + t->at, sizeof ret->a[n]);
		return true;
	}
	return false;
}
