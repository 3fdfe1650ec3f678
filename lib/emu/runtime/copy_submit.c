#include "lib/emu/runtime/copy.h"

#include <stdlib.h>
#include <string.h>

#include "lib/emu/runtime/capture.h"
#include "lib/emu/runtime/poison.h"
#include "lib/emu/runtime/range.h"
#include "lib/emu/runtime/va.h"
#include "lib/hip/table.h"

/* Extent of a box from its first byte to behind its last; false: overflows. */
static bool extent(size_t pitch, size_t slice, size_t width, size_t height, size_t depth,
		   uint64_t *ret)
{
	size_t rows, planes, n;

	return !__builtin_mul_overflow(pitch, height - 1, &rows) &&
	       !__builtin_mul_overflow(slice, depth - 1, &planes) &&
	       !__builtin_add_overflow(rows, planes, &n) && !__builtin_add_overflow(n, width, &n) &&
	       (*ret = n, true);
}

/* Whether rows do not lie on one another, nor planes: what a box takes is then no less than its
 * bytes. */
static bool apart(size_t pitch, size_t slice, size_t width, size_t height, size_t depth)
{
	uint64_t plane;

	if (height > 1 && pitch < width)
		return false;
	return depth == 1 || (extent(pitch, 0, width, height, 1, &plane) && slice >= plane);
}

/*
 * One end of a copy. Memory a range knows must hold all of it; a number of ours
 * that no range has (freed) is left to the copy, which reports who owned it;
 * pageable memory is probed at both ends.
 */
static hipError_t check_end(uint64_t addr, uint64_t n, bool must_be_known)
{
	struct range r;

	if (addr == 0 || addr + n < addr)
		return hipErrorInvalidValue;
	if (range_copy(addr, &r)) {
		if (r.kind == RANGE_REGISTERED || range_covers(addr, n))
			return hipSuccess;
		emu_note("%llu bytes at %#llx do not fit their allocation of %llu",
			 (unsigned long long)n, (unsigned long long)addr,
			 (unsigned long long)r.size);
		return hipErrorInvalidValue;
	}
	if (va_owns(addr) || poison_clear(addr) == 0)
		return hipSuccess;
	if (!mem_probe(addr, n)) /* pinned memory that was freed: as numbers of ours */
		return range_freed(addr) ? hipSuccess : hipErrorInvalidValue;
	return must_be_known ? hipErrorInvalidValue : hipSuccess;
}

hipError_t copy_check(const struct copy_op *c, int kind)
{
	uint64_t dst, src;

	if ((kind < hipMemcpyHostToHost || kind > hipMemcpyDefault) &&
	    kind != hipMemcpyDeviceToDeviceNoCU)
		return hipErrorInvalidMemcpyDirection;
	if (c->width == 0 || c->height == 0 || c->depth == 0)
		return hipSuccess;
	if ((c->height > 1 && (c->dpitch < c->width || c->spitch < c->width)))
		return hipErrorInvalidPitchValue;
	if (!apart(c->dpitch, c->dslice, c->width, c->height, c->depth) ||
	    !apart(c->spitch, c->sslice, c->width, c->height, c->depth) ||
	    !extent(c->dpitch, c->dslice, c->width, c->height, c->depth, &dst) ||
	    !extent(c->spitch, c->sslice, c->width, c->height, c->depth, &src))
		return hipErrorInvalidValue;
	hipError_t e = check_end(c->dst, dst, false);
	/* Bytes already taken need no second look. */
	return e != hipSuccess || c->staged != NULL ? e : check_end(c->src, src, false);
}

hipError_t set_check(const struct set_op *s)
{
	uint64_t n;
	size_t width;

	if (s->width == 0 || s->height == 0 || s->depth == 0)
		return hipSuccess;
	if (__builtin_mul_overflow(s->width, (size_t)s->elem, &width) ||
	    !apart(s->pitch, s->slice, width, s->height, s->depth) ||
	    !extent(s->pitch, s->slice, width, s->height, s->depth, &n))
		return hipErrorInvalidValue;
	if (s->dst % s->elem != 0)
		return hipErrorInvalidValue;
	return check_end(s->dst, n, true);
}

/* Takes the source's bytes now, rows packed. */
static hipError_t stage(struct copy_op *c)
{
	uint64_t bad;

	c->staged = malloc(c->width * c->height * c->depth);
	if (c->staged == NULL)
		return hipErrorOutOfMemory;
	for (size_t z = 0; z < c->depth; z++)
		for (size_t y = 0; y < c->height; y++)
			if (mem_read(-1, c->staged + (z * c->height + y) * c->width,
				     c->src + z * c->sslice + y * c->spitch, c->width, &bad) < 0) {
				free(c->staged);
				c->staged = NULL;
				/* The copy itself says who owned it. */
				return range_freed(bad) ? hipSuccess : hipErrorInvalidValue;
			}
	return hipSuccess;
}

/* Sources up to here are taken at the call anyway: one system call instead of two. */
#define SMALL ((size_t)16 << 10)

hipError_t copy_submit(enum hrr_api api, struct stream *s, struct copy_op *c, int kind)
{
	struct op op = {.kind = OP_COPY};
	struct work *w = NULL;

	bool small = c->height == 1 && c->depth == 1 && c->width > 0 && c->width <= SMALL &&
		     s->capture == NULL && kind != hipMemcpyHostToHost;
	hipError_t e = hipSuccess;
	if (small && c->src != 0 && addr_pageable(c->src) && c->src + c->width > c->src &&
	    poison_clear(c->src) >= c->width)
		e = stage(c);
	if (e == hipSuccess)
		e = copy_check(c, kind);
	if (e != hipSuccess || c->width == 0 || c->height == 0 || c->depth == 0) {
		free(c->staged);
		return e;
	}
	bool host = addr_host(c->dst) || addr_host(c->src);
	int sync = hrr_api_table[api].sync;
	bool waits = sync == HRR_SYNC_STREAM || (sync == HRR_SYNC_COPY && host);
	/* The bytes of pageable memory are taken or delivered when the call returns. */
	if (s->capture == NULL && !waits) {
		if (addr_pageable(c->dst))
			waits = true;
		else if (c->staged == NULL && addr_pageable(c->src) && poison_clear(c->src) != 0 &&
			 (rt.mode != SCHED_EAGER || s->head != NULL))
			e = stage(c);
		if (e != hipSuccess)
			return e;
	}
	op.u.copy = *c;
	e = capture_submit(s, &op, &w);
	if (e == hipSuccess && w != NULL && waits)
		e = sched_wait_work(w);
	work_unref(w);
	return e;
}

hipError_t set_submit(enum hrr_api api, struct stream *s, const struct set_op *set)
{
	struct op op = {.kind = OP_SET};
	struct work *w = NULL;

	hipError_t e = set_check(set);
	if (e != hipSuccess || set->width == 0 || set->height == 0 || set->depth == 0)
		return e;
	op.u.set = *set;
	/* A set of host memory by the synchronous call has happened when it returns. */
	bool waits = addr_host(set->dst) && strstr(hrr_api_table[api].name, "Async") == NULL;
	e = capture_submit(s, &op, &w);
	if (e == hipSuccess && w != NULL && waits)
		e = sched_wait_work(w);
	work_unref(w);
	return e;
}
