#include "t/unit/tap.h"

#include <errno.h>

#include "lib/hip/codeobj.h"
#include "lib/hip/msgpack.h"
#include "t/unit/codeobj_fixture.h"

/* Bytes as a C string literal with its length. */
#define B(s) s, sizeof(s) - 1

static const struct {
	const char *bytes;
	size_t n;
	enum hrr_msgpack_type type;
	uint64_t u;
	size_t len; /* of STR and BLOB */
	const char *what;
} items[] = {
    {B("\x00"), HRR_MSGPACK_UINT, 0, 0, "the least short number"},
    {B("\x7f"), HRR_MSGPACK_UINT, 127, 0, "the greatest short number"},
    {B("\xff"), HRR_MSGPACK_INT, UINT64_MAX, 0, "-1"},
    {B("\xe0"), HRR_MSGPACK_INT, (uint64_t)-32, 0, "-32"},
    {B("\xcc\xff"), HRR_MSGPACK_UINT, 255, 0, "uint 8"},
    {B("\xcd\x12\x34"), HRR_MSGPACK_UINT, 0x1234, 0, "uint 16"},
    {B("\xce\xff\xff\xff\xff"), HRR_MSGPACK_UINT, 0xffffffff, 0, "uint 32"},
    {B("\xcf\x80\0\0\0\0\0\0\1"), HRR_MSGPACK_UINT, 0x8000000000000001, 0, "uint 64"},
    {B("\xd0\x7f"), HRR_MSGPACK_UINT, 127, 0, "int 8, not negative"},
    {B("\xd0\x80"), HRR_MSGPACK_INT, (uint64_t)-128, 0, "int 8"},
    {B("\xd1\x80\x00"), HRR_MSGPACK_INT, (uint64_t)-32768, 0, "int 16"},
    {B("\xd2\xff\xff\xff\xfe"), HRR_MSGPACK_INT, (uint64_t)-2, 0, "int 32"},
    {B("\xd3\xff\xff\xff\xff\xff\xff\xff\xfe"), HRR_MSGPACK_INT, (uint64_t)-2, 0, "int 64"},
    {B("\xd3\0\0\0\0\0\0\0\5"), HRR_MSGPACK_UINT, 5, 0, "int 64, not negative"},
    {B("\xc0"), HRR_MSGPACK_NIL, 0, 0, "nil"},
    {B("\xc2"), HRR_MSGPACK_BOOL, 0, 0, "false"},
    {B("\xc3"), HRR_MSGPACK_BOOL, 1, 0, "true"},
    {B("\xa0"), HRR_MSGPACK_STR, 0, 0, "the empty string"},
    {B("\xa3xyz"), HRR_MSGPACK_STR, 0, 3, "a short string"},
    {B("\xd9\x03xyz"), HRR_MSGPACK_STR, 0, 3, "str 8"},
    {B("\xda\x00\x03xyz"), HRR_MSGPACK_STR, 0, 3, "str 16"},
    {B("\xdb\0\0\0\3xyz"), HRR_MSGPACK_STR, 0, 3, "str 32"},
    {B("\xc4\2xy"), HRR_MSGPACK_BLOB, 0, 2, "bin 8"},
    {B("\xc5\0\2xy"), HRR_MSGPACK_BLOB, 0, 2, "bin 16"},
    {B("\xc6\0\0\0\2xy"), HRR_MSGPACK_BLOB, 0, 2, "bin 32"},
    {B("\xca\0\0\0\0"), HRR_MSGPACK_BLOB, 0, 4, "float 32"},
    {B("\xcb\0\0\0\0\0\0\0\0"), HRR_MSGPACK_BLOB, 0, 8, "float 64"},
    {B("\xd4\1x"), HRR_MSGPACK_BLOB, 0, 2, "fixext 1"},
    {B("\xd5\1xy"), HRR_MSGPACK_BLOB, 0, 3, "fixext 2"},
    {B("\xd6\1wxyz"), HRR_MSGPACK_BLOB, 0, 5, "fixext 4"},
    {B("\xd7\1stuvwxyz"), HRR_MSGPACK_BLOB, 0, 9, "fixext 8"},
    {B("\xd8\1klmnopqrstuvwxyz"), HRR_MSGPACK_BLOB, 0, 17, "fixext 16"},
    {B("\xc7\2\1xy"), HRR_MSGPACK_BLOB, 0, 3, "ext 8"},
    {B("\xc8\0\2\1xy"), HRR_MSGPACK_BLOB, 0, 3, "ext 16"},
    {B("\xc9\0\0\0\2\1xy"), HRR_MSGPACK_BLOB, 0, 3, "ext 32"},
    {B("\x90"), HRR_MSGPACK_ARRAY, 0, 0, "the empty list"},
    {B("\x80"), HRR_MSGPACK_MAP, 0, 0, "the empty map"},
    {B("\x92\1\2"), HRR_MSGPACK_ARRAY, 2, 0, "a short list"},
    {B("\xdc\0\2\1\2"), HRR_MSGPACK_ARRAY, 2, 0, "array 16"},
    {B("\xdd\0\0\0\2\1\2"), HRR_MSGPACK_ARRAY, 2, 0, "array 32"},
    {B("\x81\1\2"), HRR_MSGPACK_MAP, 1, 0, "a short map"},
    {B("\xde\0\1\1\2"), HRR_MSGPACK_MAP, 1, 0, "map 16"},
    {B("\xdf\0\0\0\1\1\2"), HRR_MSGPACK_MAP, 1, 0, "map 32"},
};

static void every_item(void)
{
	for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
		struct bytes b = bytes_of(items[i].bytes, items[i].n);
		struct hrr_msgpack r = {b.p, b.p + b.n};
		struct hrr_msgpack_item it = {0};

		is(hrr_msgpack_next(&r, &it), 0, "%s is read", items[i].what);
		ok(it.type == items[i].type && it.u == items[i].u && it.len == items[i].len,
		   "as what it is");
		if (it.type == HRR_MSGPACK_STR && it.len != 0)
			ok(memcmp(it.str, "xyz", 3) == 0, "with its bytes");
		ok(hrr_msgpack_skip(&r, &it) == 0 && r.p == r.end, "and stepped over");
		free(b.p);
		size_t read = 0, moved = 0;
		for (size_t n = 0; n < items[i].n; n++) {
			b = bytes_of(items[i].bytes, n);
			r = (struct hrr_msgpack){b.p, b.p + n};
			if (hrr_msgpack_next(&r, &it) == 0)
				read++;
			else
				moved += r.p != b.p;
			free(b.p);
		}
		ok(read == 0 && moved == 0, "cut at any byte it is refused");
	}
	static const unsigned char unused[] = {0xc1};
	struct hrr_msgpack r = {unused, unused + 1};
	struct hrr_msgpack_item it;
	is(hrr_msgpack_next(&r, &it), -EINVAL, "0xc1 is nothing");
}

/* depth lists in each other, the innermost empty. */
static int skip_nested(size_t depth)
{
	struct hrr_msgpack_item it;
	unsigned char *p = malloc(depth);

	memset(p, 0x91, depth);
	p[depth - 1] = 0x90;
	struct hrr_msgpack r = {p, p + depth};
	int rc = hrr_msgpack_next(&r, &it);
	if (rc == 0)
		rc = hrr_msgpack_skip(&r, &it);
	if (rc == 0 && r.p != r.end)
		rc = 1;
	free(p);
	return rc;
}

static void nesting(void)
{
	is(skip_nested(1), 0, "an empty list");
	is(skip_nested(HRR_MSGPACK_MAX_DEPTH + 2), 0, "lists as deep as allowed are stepped over");
	is(skip_nested(HRR_MSGPACK_MAX_DEPTH + 3), -EINVAL, "one deeper is refused");
	is(skip_nested(1 << 20), -EINVAL, "a million deep too");

	/* {1: [2, {3: 4, 5: "x"}], 6: [[], []]} and then 7. */
	static const char mixed[] = "\x82\1\x92\2\x82\3\4\5\xa1x\6\x92\x90\x90\7";
	struct bytes b = bytes_of(mixed, sizeof mixed - 1);
	struct hrr_msgpack r = {b.p, b.p + b.n};
	struct hrr_msgpack_item it;
	is(hrr_msgpack_next(&r, &it), 0, "a map of maps and lists");
	is(hrr_msgpack_skip(&r, &it), 0, "is stepped over");
	ok(hrr_msgpack_next(&r, &it) == 0 && it.u == 7, "up to what lies behind");
	free(b.p);
}

static void lying_counts(void)
{
	static const struct {
		const char *bytes;
		size_t n;
	} lies[] = {{B("\x93\1\2")},
		    {B("\x82\1\2\3")},
		    {B("\xdd\xff\xff\xff\xff\1")},
		    {B("\xdf\xff\xff\xff\xff\1")},
		    {B("\xdf\x80\0\0\0\1")},
		    {B("\xdb\xff\xff\xff\xff\1")},
		    {B("\xc9\xff\xff\xff\xff\1")},
		    {B("\xc6\xff\xff\xff\xff\1")}};

	for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
		struct bytes b = bytes_of(lies[i].bytes, lies[i].n);
		struct hrr_msgpack r = {b.p, b.p + b.n};
		struct hrr_msgpack_item it;

		is(hrr_msgpack_next(&r, &it), -EINVAL, "a count of more than there is: lie %zu", i);
		free(b.p);
	}
}

int main(void)
{
	every_item();
	nesting();
	lying_counts();
	return done_testing();
}
