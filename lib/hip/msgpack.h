#ifndef HRR_HIP_MSGPACK_H
#define HRR_HIP_MSGPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A pull reader for MessagePack, as much as the metadata note of AMDGPU code
 * objects needs: every type is stepped over, integers, strings and booleans are
 * returned. It allocates nothing and does not recurse, strings stay in the
 * caller's bytes. A container's count is checked against the bytes that are
 * left, since each element takes one at least, so a count can be trusted as a
 * bound for work but not for memory per element.
 */
enum hrr_msgpack_type {
	HRR_MSGPACK_NIL,
	HRR_MSGPACK_BOOL,
	HRR_MSGPACK_UINT, /* not negative */
	HRR_MSGPACK_INT,  /* negative; u holds the two's complement */
	HRR_MSGPACK_STR,
	HRR_MSGPACK_ARRAY,
	HRR_MSGPACK_MAP,
	HRR_MSGPACK_BLOB /* bin, ext and floats: bytes nobody here looks into */
};

struct hrr_msgpack {
	const unsigned char *p, *end; /* borrowed */
};

struct hrr_msgpack_item {
	enum hrr_msgpack_type type;
	uint64_t u;	 /* BOOL, UINT, INT; elements of an ARRAY, pairs of a MAP */
	const char *str; /* STR, BLOB: not NUL-ended */
	size_t len;
};

/* The next item; of a container only its head. -EINVAL at the end or on damage, reader unchanged.
 */
int hrr_msgpack_next(struct hrr_msgpack *r, struct hrr_msgpack_item *ret_item);
/* Steps over what belongs to an item just read: the elements of a container, nothing otherwise. */
int hrr_msgpack_skip(struct hrr_msgpack *r, const struct hrr_msgpack_item *item);

#endif
