#ifndef HRR_BASE_JSON_H
#define HRR_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/diag.h"

/*
 * One JSON text as a flat array of nodes. The fast path scans what our writers
 * print (no spaces); anything else goes through jansson (duplicates refused),
 * is printed compactly in its own key order and scanned again, so that both
 * paths give the same nodes. Strings must be UTF-8; \u0000 is refused.
 */
enum hrr_json_type {
	HRR_JSON_OBJECT,
	HRR_JSON_ARRAY,
	HRR_JSON_STRING,
	HRR_JSON_INT,
	HRR_JSON_REAL,
	HRR_JSON_TRUE,
	HRR_JSON_FALSE,
	HRR_JSON_NULL
};

struct hrr_json_node {
	uint8_t type;
	bool escaped; /* string with backslashes */
	bool key;     /* an object's key; its value is the next node */
	uint32_t off,
	    len; /* in text; strings without their quotes, objects and arrays with their brackets */
	uint32_t next; /* index of the node after this one's subtree */
};

#define HRR_JSON_MAX_LINE ((size_t)16 << 20) /* bytes of one line, without its newline */
#define HRR_JSON_MAX_DEPTH 32
#define HRR_JSON_MAX_NODES 4194304

/* Zeroed struct is empty; reuse it for line after line, release at the end. */
struct hrr_json {
	const char *text; /* what offsets refer to: the input (borrowed), or own copy when the
			     general path was taken */
	size_t len;
	struct hrr_json_node *nodes; /* owned */
	uint32_t n, cap;
	bool general; /* the last parse took the general path */
	struct hrr_buf own;
	struct hrr_buf mem; /* backs nodes */
};

void hrr_json_release(struct hrr_json *j);
/* The root is node 0. -EINVAL with "what" in diag (offset named), -E2BIG over a limit, -ENOMEM. */
int hrr_json_parse(struct hrr_json *j, const char *text, size_t len, struct hrr_diag *diag);
/* Room for n nodes, their contents undefined: for who fills them by other means. -ENOMEM, -E2BIG.
 */
int hrr_json_room(struct hrr_json *j, uint32_t n);
/* For tests: the fast path alone. -EAGAIN where it would hand over to the general one. */
int hrr_json_scan(struct hrr_json *j, const char *text, size_t len);

/* Value of a key of an object node, or -1. */
int hrr_json_get(const struct hrr_json *j, int object, const char *key);
/* First child (key or element) or -1; next sibling: hrr_json_next, or -1 at the end of parent. */
int hrr_json_first(const struct hrr_json *j, int parent);
int hrr_json_next(const struct hrr_json *j, int parent, int node);
uint32_t hrr_json_count(const struct hrr_json *j, int parent); /* elements, or members */
bool hrr_json_is(const struct hrr_json *j, int node, const char *string);
/* Integers in range; -EINVAL for another type, a fraction, or out of range. */
int hrr_json_u64(const struct hrr_json *j, int node, uint64_t *ret);
int hrr_json_i64(const struct hrr_json *j, int node, int64_t *ret);
int hrr_json_f64(const struct hrr_json *j, int node, double *ret);
/* A number of 64 bits that is a string, member key of the root ("t0"). 0: none, or too large. */
uint64_t hrr_json_decimal(const struct hrr_json *j, const char *key);
/* "0x…" (1 to 16 hex digits, any case) as a string; integers are taken too. */
int hrr_json_addr(const struct hrr_json *j, int node, uint64_t *ret);
/* The same of the text of an integer, and of a string without its quotes. */
int hrr_json_text_u64(const char *s, size_t len, uint64_t *ret);
int hrr_json_text_addr(const char *s, size_t len, uint64_t *ret);
/* Appends the bytes of a string of hex digits (any case) to b. -EINVAL. */
int hrr_json_hex(const struct hrr_json *j, int node, struct hrr_buf *b);
/* Appends the decoded string ("…" or {"hex":"…"}) to b. */
int hrr_json_str(const struct hrr_json *j, int node, struct hrr_buf *b);
/* Raw text of a string node when it has no escapes, else NULL; *ret_len set. */
const char *hrr_json_raw(const struct hrr_json *j, int node, size_t *ret_len);

/* Writing. Appends a quoted, escaped string; {"hex":"…"} when the bytes are not UTF-8 or hold NUL.
 */
int hrr_json_put_str(struct hrr_buf *b, const char *s, size_t len);
int hrr_json_put_hex(struct hrr_buf *b, const void *data, size_t len); /* "…" digits in quotes */
int hrr_json_put_addr(struct hrr_buf *b, uint64_t v);		       /* "0x…" in quotes */

#endif
