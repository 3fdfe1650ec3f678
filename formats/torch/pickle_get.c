/* What was read of a pickle, looked up. */
#include <errno.h>
#include <string.h>

#include "formats/torch/pickle.h"

uint32_t hrr_pickle_count(const struct hrr_pickle *p)
{
	return (uint32_t)(p->nodes.len / sizeof(struct hrr_pickle_node));
}

const struct hrr_pickle_node *hrr_pickle_at(const struct hrr_pickle *p, int node)
{
	return (const struct hrr_pickle_node *)(const void *)p->nodes.data + node;
}

int hrr_pickle_if(const struct hrr_pickle *p, int node, enum hrr_pickle_type type)
{
	return node >= 0 && hrr_pickle_at(p, node)->type == type ? node : -1;
}

uint32_t hrr_pickle_first(const struct hrr_pickle *p, int node)
{
	if (node < 0 || hrr_pickle_at(p, node)->type < HRR_PICKLE_LIST)
		return 0;
	return (uint32_t)hrr_pickle_at(p, node)->v;
}

uint32_t hrr_pickle_next(const struct hrr_pickle *p, uint32_t cell)
{
	return ((const struct hrr_pickle_cell *)(const void *)p->cells.data)[cell].next;
}

int hrr_pickle_item(const struct hrr_pickle *p, uint32_t cell)
{
	return (int)((const struct hrr_pickle_cell *)(const void *)p->cells.data)[cell].value;
}

const char *hrr_pickle_str(const struct hrr_pickle *p, int node, size_t *ret_len)
{
	if (hrr_pickle_if(p, node, HRR_PICKLE_STR) < 0)
		return NULL;
	*ret_len = hrr_pickle_at(p, node)->len;
	return p->data + hrr_pickle_at(p, node)->v;
}

bool hrr_pickle_is(const struct hrr_pickle *p, int node, const char *text)
{
	size_t len;
	const char *s = hrr_pickle_str(p, node, &len);

	return s != NULL && len == strlen(text) && memcmp(s, text, len) == 0;
}

int hrr_pickle_get(const struct hrr_pickle *p, int dict, const char *key)
{
	int found = -1;

	if (hrr_pickle_if(p, dict, HRR_PICKLE_DICT) < 0)
		return -1;
	for (uint32_t c = hrr_pickle_first(p, dict); c != 0; c = hrr_pickle_next(p, c)) {
		bool is = hrr_pickle_is(p, hrr_pickle_item(p, c), key);
		c = hrr_pickle_next(p, c);
		if (is)
			found = hrr_pickle_item(p, c);
	}
	return found;
}

int hrr_pickle_u64(const struct hrr_pickle *p, int node, uint64_t *ret)
{
	if (hrr_pickle_if(p, node, HRR_PICKLE_INT) < 0 || hrr_pickle_at(p, node)->negative ||
	    hrr_pickle_at(p, node)->wide)
		return -EINVAL;
	*ret = hrr_pickle_at(p, node)->v;
	return 0;
}
