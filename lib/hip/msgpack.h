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

/* hrr_msgpack_next for every kind of item. */
int hrr_msgpack_any(struct hrr_msgpack *r, struct hrr_msgpack_item *ret_item);

/*
 * The next item; of a container only its head. -EINVAL at the end or on damage,
 * nothing changed. Short strings and numbers, which nearly all are in metadata,
 * are read in place: big libraries have millions.
 */
static inline int hrr_msgpack_next(struct hrr_msgpack *r, struct hrr_msgpack_item *ret_item)
{
	if (r->p != r->end) {
		unsigned char t = *r->p;
		size_t len = t & 31;

		if (t < 0x80) {
			*ret_item = (struct hrr_msgpack_item){HRR_MSGPACK_UINT, t, NULL, 0};
			r->p++;
			return 0;
		}
		if ((t & 0xe0) == 0xa0 && (size_t)(r->end - r->p) > len) {
			const char *str = (const char *)r->p + 1;
			*ret_item = (struct hrr_msgpack_item){HRR_MSGPACK_STR, 0, str, len};
			r->p += 1 + len;
			return 0;
		}
	}
	return hrr_msgpack_any(r, ret_item);
}

/* Steps over what belongs to an item just read: the elements of a container, nothing otherwise. */
int hrr_msgpack_skip(struct hrr_msgpack *r, const struct hrr_msgpack_item *item);

#endif
