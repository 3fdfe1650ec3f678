#include "lib/hip/msgpack.h"

#include <errno.h>

#include "lib/hip/codeobj.h"

/* Unsigned big-endian number of n bytes. */
static uint64_t be(const unsigned char *p, size_t n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v = v << 8 | p[i];
	return v;
}

static int number(struct hrr_msgpack *r, struct hrr_msgpack_item *it, size_t n, bool is_signed)
{
	if ((size_t)(r->end - r->p) < 1 + n)
		return -EINVAL;
	it->u = be(r->p + 1, n);
	it->type = HRR_MSGPACK_UINT;
	if (is_signed && it->u >> (8 * n - 1) != 0) {
		it->type = HRR_MSGPACK_INT;
		if (n < 8)
			it->u |= ~(uint64_t)0 << (8 * n);
	}
	r->p += 1 + n;
	return 0;
}

/* Bytes whose length is a number of n bytes behind the tag, after which extra bytes come. */
static int bytes(struct hrr_msgpack *r, struct hrr_msgpack_item *it, size_t n, size_t extra)
{
	size_t left = (size_t)(r->end - r->p);

	if (left < 1 + n)
		return -EINVAL;
	uint64_t len = be(r->p + 1, n);
	if (len > left - 1 - n || extra > left - 1 - n - len)
		return -EINVAL;
	it->len = (size_t)len + extra;
	it->str = (const char *)r->p + 1 + n;
	r->p += 1 + n + it->len;
	return 0;
}

static int fixed(struct hrr_msgpack *r, struct hrr_msgpack_item *it, size_t len)
{
	if ((size_t)(r->end - r->p) < 1 + len)
		return -EINVAL;
	it->len = len;
	it->str = (const char *)r->p + 1;
	r->p += 1 + len;
	return 0;
}

static int container(struct hrr_msgpack *r, struct hrr_msgpack_item *it, size_t n)
{
	size_t left = (size_t)(r->end - r->p);

	if (left < 1 + n)
		return -EINVAL;
	it->u = n != 0 ? be(r->p + 1, n) : *r->p & 15;
	left -= 1 + n;
	if (it->u > (it->type == HRR_MSGPACK_MAP ? left / 2 : left))
		return -EINVAL;
	r->p += 1 + n;
	return 0;
}

int hrr_msgpack_any(struct hrr_msgpack *r, struct hrr_msgpack_item *ret_item)
{
	struct hrr_msgpack_item it = {0};
	int rc = 0;

	if (r->p == r->end)
		return -EINVAL;
	unsigned char t = *r->p;
	if (t < 0x80 || t >= 0xe0) {
		it.type = t < 0x80 ? HRR_MSGPACK_UINT : HRR_MSGPACK_INT;
		it.u = t < 0x80 ? t : t | ~(uint64_t)0xff;
		r->p++;
	} else if (t < 0xa0) {
		it.type = t < 0x90 ? HRR_MSGPACK_MAP : HRR_MSGPACK_ARRAY;
		rc = container(r, &it, 0);
	} else if (t < 0xc0) {
		it.type = HRR_MSGPACK_STR;
		rc = fixed(r, &it, t & 31);
	} else {
		it.type = HRR_MSGPACK_BLOB;
		switch (t) {
		case 0xc0:
			it.type = HRR_MSGPACK_NIL;
			r->p++;
			break;
		case 0xc2:
		case 0xc3:
			it.type = HRR_MSGPACK_BOOL;
			it.u = t & 1;
			r->p++;
			break;
		case 0xc4:
		case 0xc5:
		case 0xc6: /* bin 8, 16, 32 */
			rc = bytes(r, &it, (size_t)1 << (t - 0xc4), 0);
			break;
		case 0xc7:
		case 0xc8:
		case 0xc9: /* ext 8, 16, 32: the type byte is not counted in the length */
			rc = bytes(r, &it, (size_t)1 << (t - 0xc7), 1);
			break;
		case 0xca:
		case 0xcb: /* float 32, 64 */
			rc = fixed(r, &it, t == 0xca ? 4 : 8);
			break;
		case 0xcc:
		case 0xcd:
		case 0xce:
		case 0xcf:
			rc = number(r, &it, (size_t)1 << (t - 0xcc), false);
			break;
		case 0xd0:
		case 0xd1:
		case 0xd2:
		case 0xd3:
			rc = number(r, &it, (size_t)1 << (t - 0xd0), true);
			break;
		case 0xd4:
		case 0xd5:
		case 0xd6:
		case 0xd7:
		case 0xd8: /* fixext 1 to 16 */
			rc = fixed(r, &it, 1 + ((size_t)1 << (t - 0xd4)));
			break;
		case 0xd9:
		case 0xda:
		case 0xdb:
			it.type = HRR_MSGPACK_STR;
			rc = bytes(r, &it, (size_t)1 << (t - 0xd9), 0);
			break;
		case 0xdc:
		case 0xdd:
			it.type = HRR_MSGPACK_ARRAY;
			rc = container(r, &it, t == 0xdc ? 2 : 4);
			break;
		case 0xde:
		case 0xdf:
			it.type = HRR_MSGPACK_MAP;
			rc = container(r, &it, t == 0xde ? 2 : 4);
			break;
		default: /* 0xc1 is never used */
			rc = -EINVAL;
		}
	}
	if (rc == 0)
		*ret_item = it;
	return rc;
}

/* Items that follow directly below a container's head. */
static uint64_t children(const struct hrr_msgpack_item *it)
{
	if (it->type == HRR_MSGPACK_ARRAY)
		return it->u;
	return it->type == HRR_MSGPACK_MAP ? it->u * 2 : 0;
}

int hrr_msgpack_skip(struct hrr_msgpack *r, const struct hrr_msgpack_item *item)
{
	uint64_t left[HRR_MSGPACK_MAX_DEPTH];
	size_t depth = 0;
	uint64_t n = children(item);

	for (;;) {
		struct hrr_msgpack_item it;

		if (n == 0) {
			if (depth == 0)
				return 0;
			n = left[--depth];
			continue;
		}
		n--;
		int rc = hrr_msgpack_next(r, &it);
		if (rc < 0)
			return rc;
		uint64_t below = children(&it);
		if (below != 0) {
			if (depth == HRR_MSGPACK_MAX_DEPTH)
				return -EINVAL;
			left[depth++] = n;
			n = below;
		}
	}
}
