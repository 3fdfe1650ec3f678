#ifndef HRR_STREAM_SELECT_PRIVATE_H
#define HRR_STREAM_SELECT_PRIVATE_H

#include "lib/stream/select.h"

enum key {
	KEY_API,
	KEY_KERNEL,
	KEY_RET,
	KEY_DIR,
	KEY_SEQ,
	KEY_T,
	KEY_DUR,
	KEY_TID,
	KEY_P,
	KEY_SIZE,
	KEY_STREAM,
	KEY_ADDR,
	KEY_FAMILY, /* first is its index in hrr_select_families */
	KEY_CLASS,  /* a family of hrr_select_classes: first is its index */
	KEY_COUNT
};

/* A value: a glob, or numbers from first to last every step. */
struct item {
	const char *glob; /* in the selector's text */
	size_t len;
	bool plain; /* means itself alone */
	uint64_t first, last, step;
	/* Of times with a step: how many steps were met, and the call that stands for the last. */
	uint64_t met, seq, t;
	uint32_t p;
};

enum node_type { NODE_OR, NODE_AND, NODE_NOT, NODE_TERM };

struct node {
	unsigned char type, key;
	bool negate;
	bool samples;  /* it, or what is in it, is a time with a step */
	uint32_t a, b; /* operands; for terms the items [a, b) */
};

/* The families a call belongs to: bit i for hrr_select_families[i], whose index is an enum
 * hrr_family. */
uint32_t hrr_select_families_of(const char *api, size_t len);

/* Set by hrr_select_classes. */
extern const char *const *hrr_class_list;
extern int hrr_class_list_n;
extern int (*hrr_class_of)(const char *api, size_t len);

/* Nodes in the order they were completed: the last one is the root. */
struct hrr_select {
	char *text; /* owned copy */
	struct hrr_buf nodes, items;
	uint32_t root;
	bool head_only;
};

#endif
