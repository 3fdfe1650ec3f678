#ifndef HRR_T_UNIT_CODEOBJ_BUILD_H
#define HRR_T_UNIT_CODEOBJ_BUILD_H

#include "t/unit/codeobj_fixture.h"

/*
 * Makes small code objects of any content: metadata written by the test and any
 * symbols. One segment holds the whole file at address 0.
 */
struct build {
	struct hrr_buf meta; /* MessagePack */
	struct hrr_buf syms; /* ELF symbols behind the null symbol */
	struct hrr_buf strs; /* their names, from offset 1 on */
	struct hrr_buf body; /* what symbols point to */
	unsigned char abiversion;
	bool no_sections; /* only program headers and a dynamic segment */
	bool gnu;	  /* without sections: count symbols by the GNU hash table */
};

static inline void put_le(struct hrr_buf *b, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++, v >>= 8)
		hrr_buf_addc(b, (char)v);
}

static inline void put_pad(struct hrr_buf *b, size_t align)
{
	while (b->len % align != 0)
		hrr_buf_addc(b, 0);
}

static inline void put_be(struct hrr_buf *b, uint64_t v, size_t n)
{
	for (size_t i = n; i-- > 0;)
		hrr_buf_addc(b, (char)(v >> 8 * i));
}

static inline void mp_map(struct hrr_buf *b, size_t n)
{
	put_be(b, 0xdf, 1);
	put_be(b, n, 4);
}

static inline void mp_array(struct hrr_buf *b, size_t n)
{
	put_be(b, 0xdd, 1);
	put_be(b, n, 4);
}

static inline void mp_strn(struct hrr_buf *b, const char *s, size_t n)
{
	if (n < 32)
		put_be(b, 0xa0 | n, 1);
	else
		put_be(b, 0xdb, 1), put_be(b, n, 4);
	hrr_buf_add(b, s, n);
}

static inline void mp_str(struct hrr_buf *b, const char *s)
{
	mp_strn(b, s, strlen(s));
}

static inline void mp_uint(struct hrr_buf *b, uint64_t v)
{
	if (v < 128)
		put_be(b, v, 1);
	else
		put_be(b, 0xcf, 1), put_be(b, v, 8);
}

static inline void mp_pair(struct hrr_buf *b, const char *key, uint64_t v)
{
	mp_str(b, key);
	mp_uint(b, v);
}

static inline void mp_arg(struct hrr_buf *b, uint64_t offset, uint64_t size, const char *kind)
{
	mp_map(b, 3);
	mp_pair(b, ".offset", offset);
	mp_pair(b, ".size", size);
	mp_str(b, ".value_kind");
	mp_str(b, kind);
}

/* A defined symbol of type OBJECT in section 4, the body; value counts from its start. */
static inline void build_symbol(struct build *b, const char *name, uint64_t value, uint64_t size)
{
	put_le(&b->syms, b->strs.len + 1, 4);
	put_le(&b->syms, 0x11, 2); /* global OBJECT */
	put_le(&b->syms, 4, 2);
	put_le(&b->syms, value, 8);
	put_le(&b->syms, size, 8);
	hrr_buf_add(&b->strs, name, strlen(name) + 1);
}

static inline void build_section(struct hrr_buf *f, uint32_t type, uint64_t offset, uint64_t size,
				 uint32_t link)
{
	put_le(f, 0, 4);
	put_le(f, type, 4);
	put_le(f, 2, 8);
	put_le(f, offset, 8);
	put_le(f, offset, 8);
	put_le(f, size, 8);
	put_le(f, link, 4);
	put_le(f, 0, 4 + 8 + 8);
}

static inline void build_segment(struct hrr_buf *f, uint32_t type, uint64_t offset, uint64_t size)
{
	put_le(f, type, 4);
	put_le(f, 4, 4);
	put_le(f, offset, 8);
	put_le(f, offset, 8);
	put_le(f, offset, 8);
	put_le(f, size, 8);
	put_le(f, size, 8);
	put_le(f, 4, 8);
}

/* The finished file; the parts are released. Symbol values are moved to where the body is. */
static inline struct bytes build_finish(struct build *b)
{
	struct hrr_buf f = {0};
	size_t note = 64 + 3 * 56, note_size = 12 + 8 + ((b->meta.len + 3) & ~(size_t)3);
	size_t body = (note + note_size + 63) & ~(size_t)63;
	size_t syms = (body + b->body.len + 7) & ~(size_t)7, n_syms = b->syms.len / 24 + 1;
	size_t strs = syms + n_syms * 24, strs_size = b->strs.len + 1;
	size_t hash = (strs + strs_size + 7) & ~(size_t)7, hash_size = b->gnu ? 36 : 8;
	size_t dyn = (hash + hash_size + 7) & ~(size_t)7, end = dyn + 5 * 16;

	hrr_buf_add(&f, "\177ELF\2\1\1\100", 8);
	put_le(&f, b->abiversion != 0 ? b->abiversion : 3, 8);
	put_le(&f, 3, 2);
	put_le(&f, 224, 2);
	put_le(&f, 1, 4);
	put_le(&f, 0, 8);
	put_le(&f, 64, 8);
	put_le(&f, b->no_sections ? 0 : end, 8);
	put_le(&f, 0x53f, 4); /* gfx90a, features any */
	put_le(&f, 64, 2);
	put_le(&f, 56, 2);
	put_le(&f, 3, 2);
	put_le(&f, 64, 2);
	put_le(&f, b->no_sections ? 0 : 5, 2);
	put_le(&f, 0, 2);
	build_segment(&f, 1, 0, end);
	build_segment(&f, 4, note, note_size);
	build_segment(&f, 2, dyn, 5 * 16);
	put_le(&f, 7, 4);
	put_le(&f, b->meta.len, 4);
	put_le(&f, 32, 4);
	hrr_buf_add(&f, "AMDGPU\0", 8);
	hrr_buf_add(&f, b->meta.data, b->meta.len);
	put_pad(&f, 64);
	hrr_buf_add(&f, b->body.data, b->body.len);
	put_pad(&f, 8);
	put_le(&f, 0, 24);
	for (size_t i = 0; i + 1 < n_syms; i++) {
		uint64_t value;
		memcpy(&value, b->syms.data + i * 24 + 8, 8);
		hrr_buf_add(&f, b->syms.data + i * 24, 8);
		put_le(&f, value + body, 8);
		hrr_buf_add(&f, b->syms.data + i * 24 + 16, 8);
	}
	hrr_buf_addc(&f, 0);
	hrr_buf_add(&f, b->strs.data, b->strs.len);
	put_pad(&f, 8);
	if (b->gnu) { /* one bucket, whose chain is the last symbol: enough to count by */
		put_le(&f, 1, 4);
		put_le(&f, n_syms - 1, 4);
		put_le(&f, 1, 4);
		put_le(&f, 0, 4);
		put_le(&f, 0, 8);
		put_le(&f, n_syms - 1, 4);
		put_le(&f, 1, 4);
		put_le(&f, 0, 4);
	} else {
		put_le(&f, 1, 4);
		put_le(&f, n_syms, 4);
	}
	put_pad(&f, 8);
	const uint64_t words[] = {6,	syms, 5, strs, 10, strs_size, b->gnu ? 0x6ffffef5 : 4,
				  hash, 0,    0};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		put_le(&f, words[i], 8);
	if (!b->no_sections) {
		build_section(&f, 0, 0, 0, 0);
		build_section(&f, 7, note, note_size, 0);
		build_section(&f, 11, syms, n_syms * 24, 3);
		build_section(&f, 3, strs, strs_size, 0);
		build_section(&f, 1, body, b->body.len, 0);
	}
	struct bytes r = bytes_of(f.data, f.len);
	hrr_buf_release(&f);
	hrr_buf_release(&b->meta);
	hrr_buf_release(&b->syms);
	hrr_buf_release(&b->strs);
	hrr_buf_release(&b->body);
	return r;
}

#endif
