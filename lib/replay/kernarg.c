#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/replay/engine.h"

/* Arguments of a kernel: rebuilt byte by byte, addresses in them translated. */

#define LLU(x) ((unsigned long long)(x))
#define MAX_ARGS 4096
#define USER_BITS 47 /* of an address */

struct arg {
	uint64_t offset, size;
	int hex, ptr;
};

static int read_arg(struct hrr_replay *r, const struct hrr_json *j, uint32_t at, struct arg *a)
{
	int off = -1, size = -1;

	a->hex = a->ptr = -1;
	if (j->nodes[at].type != HRR_JSON_OBJECT)
		return hrr_fail(r, "\"kernel\": an argument is no object");
	for (uint32_t n = at + 1; n < j->nodes[at].next; n = j->nodes[n + 1].next) {
		const char *s = j->text + j->nodes[n].off;
		size_t len = j->nodes[n].len;
		if (len == 6 && memcmp(s, "offset", 6) == 0)
			off = (int)n + 1;
		else if (len == 4 && memcmp(s, "size", 4) == 0)
			size = (int)n + 1;
		else if (len == 3 && memcmp(s, "hex", 3) == 0)
			a->hex = (int)n + 1;
		else if (len == 3 && memcmp(s, "ptr", 3) == 0)
			a->ptr = (int)n + 1;
	}
	if (off < 0 || size < 0 || hrr_json_u64(j, off, &a->offset) < 0 ||
	    hrr_json_u64(j, size, &a->size) < 0)
		return hrr_fail(r, "\"kernel\": an argument needs offset and size");
	if (a->offset > HRR_MAX_KERNARG || a->size > HRR_MAX_KERNARG - a->offset)
		return hrr_fail(
		    r, "\"kernel\": argument at offset %llu with %llu bytes: more than %zu",
		    LLU(a->offset), LLU(a->size), HRR_MAX_KERNARG);
	return 0;
}

static int arg_bytes(struct hrr_replay *r, const struct hrr_json *j, const struct arg *a,
		     unsigned char *to)
{
	size_t len = 0;
	const char *s = a->hex >= 0 ? hrr_json_raw(j, a->hex, &len) : NULL;

	if (s == NULL || len != a->size * 2)
		return hrr_fail(r, "argument at offset %llu: %llu bytes, but %zu hex digits",
				LLU(a->offset), LLU(a->size), len);
	return hrr_hex(s, len, to)
		   ? 0
		   : hrr_fail(r, "argument at offset %llu: no hex digits", LLU(a->offset));
}

int hrr_launch_uses(struct hrr_replay *r, struct hrr_launch *l, struct hrr_mem *m)
{
	if (m == NULL)
		return 0;
	for (size_t i = 0; i < l->n_mems; i++)
		if (l->mems[i] == m)
			return 0;
	if (l->n_mems == l->cap_mems) {
		size_t cap = l->cap_mems == 0 ? 16 : l->cap_mems * 2;
		struct hrr_mem **v = hrr_scratch(r, cap * sizeof(struct hrr_mem *));
		if (v == NULL)
			return hrr_trouble(r, -ENOMEM, "out of memory");
		for (size_t i = 0; i < l->n_mems; i++)
			v[i] = l->mems[i];
		l->mems = v;
		l->cap_mems = cap;
	}
	l->mems[l->n_mems++] = m;
	return 0;
}

static int arg_pointer(struct hrr_replay *r, const struct arg *a, unsigned index, uint64_t at,
		       unsigned char *bytes, struct hrr_launch *l)
{
	struct hrr_where w = {0};
	char what[96];
	uint64_t addr;

	if (at > a->size || a->size - at < 8)
		return hrr_fail(r, "argument %u: an address at byte %llu of %llu", index, LLU(at),
				LLU(a->size));
	memcpy(&addr, bytes + at, 8);
	if (addr == 0)
		return 0;
	/* The usual way, without text. */
	if (r->blocked.n != 0 || !hrr_where_is(r, addr, &w)) {
		if (at == 0 && a->size == 8)
			snprintf(what, sizeof what, "argument %u (offset %llu)", index,
				 LLU(a->offset));
		else
			snprintf(what, sizeof what, "argument %u (offset %llu, byte %llu)", index,
				 LLU(a->offset), LLU(at));
		struct hrr_operand op = {what, addr, 0, -1};
		int rc = hrr_translate(r, &op, HRR_END_DEVICE, &w);
		if (rc == -ENXIO && (hrr_ranges_find(r->map, addr - 1) != NULL ||
				     hrr_timeline_segment(r->timeline, addr - 1) != NULL))
			return 0; /* one past the end: is not translated, and is not an error */
		if (rc == -ENXIO && hrr_memcheck_dead(r, addr)) {
			r->diag.what[0] = '\0';
			return 0; /* the access itself says more than the argument */
		}
		if (rc < 0)
			return rc;
	}
	memcpy(bytes + at, &w.live, 8);
	return hrr_launch_uses(r, l, w.mem);
}

/*
 * The recorder marks what it knew to be addresses. Of memory that only annotations know it could
 * not: a word at any byte, not marked, that lies in a live segment is taken for one, and counted.
 */
static int arg_words(struct hrr_replay *r, const struct arg *a, unsigned index,
		     unsigned char *bytes, const unsigned char *marked, struct hrr_launch *l)
{
	uint64_t word;

	for (uint64_t at = 0; a->size >= 8 && at <= a->size - 8; at++) {
		memcpy(&word, bytes + at, 8);
		if (word == 0 || word >> USER_BITS != 0 ||
		    hrr_timeline_segment(r->timeline, word) == NULL)
			continue;
		if (memchr(marked + at, 1, 8) != NULL) /* part of one that is known */
			continue;
		int rc = arg_pointer(r, a, index, at, bytes, l);
		if (rc < 0)
			return rc;
		r->v.words++;
		at += 7;
	}
	return 0;
}

/*
 * The one place where what the record holds meets what the kernel takes: each argument of its
 * layout has to lie in one of the record's, all n of them as a is. l->params becomes as the layout
 * says. Nothing is made up for what is missing: the kernel would run on it.
 */
static int hold_args(struct hrr_replay *r, const struct arg *a, size_t n, struct hrr_launch *l)
{
	const struct hrr_layout *k = &l->fn->layout;
	size_t at = 0;

	if (k->args == NULL)
		return hrr_refuse(r, "what arguments it takes is not known: %s", k->why);
	for (uint32_t i = 0; i < k->n; i++) {
		uint64_t from = k->args[i].offset, end = from + k->args[i].size;
		size_t tries = 0;
		/* Both are in order as a rule: the next is where the last one was, or behind it. */
		while (tries < n && (a[at].offset > from || a[at].offset + a[at].size < end)) {
			at = at + 1 < n ? at + 1 : 0;
			tries++;
		}
		if (tries == n)
			return hrr_refuse(r,
					  "it takes %u arguments, and number %u (offset %llu, %u "
					  "bytes) is not in the record, which holds %zu",
					  k->n, i, LLU(from), k->args[i].size, n);
		l->params[i] = l->buf + from;
	}
	return 0;
}

int hrr_kernarg_read(struct hrr_replay *r, const struct hrr_json *j, int node, struct hrr_launch *l)
{
	const struct hrr_layout *layout = &l->fn->layout;
	bool words = hrr_ranges_count(hrr_timeline_ranges(r->timeline, true)) != 0;
	unsigned char *marked = NULL; /* bytes of addresses that are known */
	struct arg a, *all;
	size_t n = 0, size = 0;
	int rc = 0;

	if (node < 0 || j->nodes[node].type != HRR_JSON_ARRAY)
		return hrr_fail(r, "\"kernel\": args is missing");
	for (uint32_t k = (uint32_t)node + 1; k < j->nodes[node].next; k = j->nodes[k].next, n++) {
		rc = read_arg(r, j, k, &a);
		if (rc < 0)
			return rc;
		if (a.offset + a.size > size)
			size = a.offset + a.size;
	}
	if (n > MAX_ARGS)
		return hrr_fail(r, "\"kernel\": %zu arguments, more than %d", n, MAX_ARGS);
	/* Whatever order a run time has them in, none reaches out of it. */
	l->buf = hrr_scratch(r, size + 8 + layout->most);
	l->params = hrr_scratch(r, (layout->n + 1u) * sizeof *l->params);
	all = hrr_scratch(r, (n + 1) * sizeof *all);
	if (words)
		marked = hrr_scratch(r, size + 1);
	if (l->buf == NULL || l->params == NULL || all == NULL || (words && marked == NULL))
		return hrr_trouble(r, -ENOMEM, "out of memory");
	l->size = size;
	n = 0;
	for (uint32_t k = (uint32_t)node + 1; k < j->nodes[node].next; k = j->nodes[k].next, n++) {
		rc = read_arg(r, j, k, &a);
		if (rc == 0)
			rc = arg_bytes(r, j, &a, l->buf + a.offset);
		if (rc < 0)
			return rc;
		all[n] = a;
		if (words)
			memset(marked, 0, a.size);
		for (uint32_t p = a.ptr >= 0 ? (uint32_t)a.ptr + 1 : 0;
		     a.ptr >= 0 && p < j->nodes[a.ptr].next; p = j->nodes[p].next) {
			uint64_t at;
			if (hrr_json_u64(j, (int)p, &at) < 0)
				return hrr_fail(r, "\"kernel\": ptr holds no byte offsets");
			rc = arg_pointer(r, &a, (unsigned)n, at, l->buf + a.offset, l);
			if (rc < 0)
				return rc;
			if (words)
				memset(marked + at, 1, 8);
		}
		rc = words ? arg_words(r, &a, (unsigned)n, l->buf + a.offset, marked, l) : 0;
		if (rc < 0)
			return rc;
	}
	return hold_args(r, all, n, l);
}
