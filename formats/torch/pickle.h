#ifndef HRR_FORMATS_TORCH_PICKLE_H
#define HRR_FORMATS_TORCH_PICKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/diag.h"

/*
 * Pickles that hold nothing but data: numbers, strings, lists, tuples and dicts,
 * protocols 2 to 5. Opcodes that name, call or build an object are refused by
 * name; nothing is ever executed. What is read is a flat array of nodes that
 * refer to each other, at most one per byte of the file.
 */
#define HRR_PICKLE_MAX ((size_t)1 << 30) /* bytes of a file */

enum hrr_pickle_type {
	HRR_PICKLE_NONE,
	HRR_PICKLE_BOOL,
	HRR_PICKLE_INT,
	HRR_PICKLE_FLOAT, /* its value is not kept */
	HRR_PICKLE_STR,
	HRR_PICKLE_LIST,
	HRR_PICKLE_TUPLE,
	HRR_PICKLE_DICT
};

struct hrr_pickle_node {
	uint8_t type;
	bool negative; /* int below 0 */
	bool wide;     /* int that needs more than 64 bits: v means nothing */
	uint32_t len;  /* bytes of a string; items of a list or tuple; keys and values of a dict */
	uint64_t v;    /* int, bool; offset of a string; first and last cell of what holds items */
};

struct hrr_pickle_cell {      /* an item of what holds items */
	uint32_t value, next; /* node; cell, 0: the last */
};

/* Zeroed struct is empty. A failed read leaves it empty, too. */
struct hrr_pickle {
	const char *data; /* borrowed; strings are in it */
	size_t len;
	struct hrr_buf nodes, cells; /* of the structures above */
	uint32_t root;
};

void hrr_pickle_release(struct hrr_pickle *p);
/* -EINVAL with diag ("…at byte N"), -E2BIG over HRR_PICKLE_MAX, -ENOMEM. data has to outlive p. */
int hrr_pickle_read(struct hrr_pickle *p, const void *data, size_t len, struct hrr_diag *diag);

const struct hrr_pickle_node *hrr_pickle_at(const struct hrr_pickle *p, int node);
/* -1 where it is no node or no such type; so that look-ups can be chained. */
int hrr_pickle_if(const struct hrr_pickle *p, int node, enum hrr_pickle_type type);
/* Value of a key (a string) of a dict, the last one where there are several; or -1. */
int hrr_pickle_get(const struct hrr_pickle *p, int dict, const char *key);
/* Bytes of a string, not ended by NUL; NULL when it is none. */
const char *hrr_pickle_str(const struct hrr_pickle *p, int node, size_t *ret_len);
bool hrr_pickle_is(const struct hrr_pickle *p, int node, const char *text);
/* An int from 0 to 2^64-1, or -EINVAL. */
int hrr_pickle_u64(const struct hrr_pickle *p, int node, uint64_t *ret);
/* Items of a list or tuple, keys and values of a dict: cells from first on, 0 at the end. */
uint32_t hrr_pickle_first(const struct hrr_pickle *p, int node);
uint32_t hrr_pickle_next(const struct hrr_pickle *p, uint32_t cell);
int hrr_pickle_item(const struct hrr_pickle *p, uint32_t cell);
uint32_t hrr_pickle_count(const struct hrr_pickle *p); /* nodes */

#endif
