#include "lib/emu/runtime/copy.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/emu/runtime/describe.h"
#include "lib/emu/runtime/fault.h"
#include "lib/emu/runtime/memcheck.h"
#include "lib/emu/runtime/poison.h"
#include "lib/emu/runtime/range.h"
#include "lib/emu/runtime/va.h"

static pid_t self; /* getpid is a system call each time */

static void forked(void)
{
	self = getpid();
}

static void learn_self(void)
{
	forked();
	pthread_atfork(NULL, NULL, forked);
}

static pid_t own_pid(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, learn_self);
	return self;
}

bool mem_probe(uint64_t addr, uint64_t n)
{
	char bytes[2];
	struct iovec to = {bytes, 2}, from[] = {{(void *)(uintptr_t)addr, 1},
						{(void *)(uintptr_t)(addr + n - 1), 1}};
	ssize_t got = process_vm_readv(own_pid(), &to, 1, from, 2, 0);

	return got == 2 || (got < 0 && (errno == ENOSYS || errno == EPERM));
}

/* Bytes of pageable host memory through the kernel, which answers EFAULT instead of a signal. */
static int raw_move(uint64_t dst, uint64_t src, uint64_t n, uint64_t *ret_bad)
{
	while (n > 0) {
		/* The kernel moves at most 2 GiB a call. */
		size_t len = n < (size_t)1 << 30 ? n : (size_t)1 << 30;
		struct iovec to = {(void *)(uintptr_t)dst, len},
			     from = {(void *)(uintptr_t)src, len};
		ssize_t got = process_vm_readv(own_pid(), &to, 1, &from, 1, 0);
		if (got < 0 && (errno == ENOSYS || errno == EPERM)) {
			/* A sandbox forbids it: the bytes still have to move. */
			memmove(to.iov_base, from.iov_base, len);
			got = (ssize_t)len;
		}
		if (got <= 0) {
			*ret_bad = src;
			return -EFAULT;
		}
		dst += (uint64_t)got;
		src += (uint64_t)got;
		n -= (uint64_t)got;
	}
	return 0;
}

/* Where addr lives: how many bytes from there on, direct: may be followed without asking. */
struct end {
	uint64_t host, left;
	bool direct, known;
};

static struct end resolve(uint64_t addr, int device)
{
	struct range r;

	if (range_copy(addr, &r)) {
		uint64_t at = addr - r.base;
		/* HSA's grants hold for copy engines too; the number itself has no access. */
		if (r.kind == RANGE_HSA && device >= 0 && !range_allows(&r, device))
			return (struct end){addr, r.size - at, false, false};
		return (struct end){(uintptr_t)r.host + at, r.size - at, r.kind != RANGE_REGISTERED,
				    true};
	}
	/* Up to the next range, which may be pinned memory. */
	struct range *next = range_overlap(addr, UINT64_MAX - addr);
	uint64_t left = next != NULL ? next->base - addr : UINT64_MAX - addr;
	uint64_t clear = poison_clear(addr);
	if (clear == 0)
		return (struct end){0, left, false, false}; /* address 0 answers EFAULT */
	return (struct end){addr, clear < left ? clear : left, false, false};
}

int mem_move(int device, uint64_t dst, uint64_t src, uint64_t n, uint64_t *ret_bad)
{
	while (n > 0) {
		struct end d = resolve(dst, device), s = resolve(src, device);
		uint64_t len = n < d.left ? n : d.left;
		if (len > s.left)
			len = s.left;
		if (d.direct && s.direct)
			memmove((void *)(uintptr_t)d.host, (const void *)(uintptr_t)s.host, len);
		else if (raw_move(d.host, s.host, len, ret_bad) < 0) {
			/* Which of the two: ask for the source alone. */
			*ret_bad = mem_probe(s.host, 1) ? dst : src;
			return -EFAULT;
		}
		written_copy((void *)(uintptr_t)d.host, (void *)(uintptr_t)s.host, len);
		dst += len;
		src += len;
		n -= len;
	}
	return 0;
}

int mem_read(int device, void *to, uint64_t src, uint64_t n, uint64_t *ret_bad)
{
	for (uint64_t at = 0; at < n;) {
		struct end s = resolve(src + at, device);
		uint64_t len = n - at < s.left ? n - at : s.left;
		if (s.direct)
			memcpy((char *)to + at, (const void *)(uintptr_t)s.host, len);
		else if (raw_move((uintptr_t)to + at, s.host, len, ret_bad) < 0) {
			*ret_bad = src + at;
			return -EFAULT;
		}
		at += len;
	}
	return 0;
}

int mem_write(int device, uint64_t dst, const void *from, uint64_t n, uint64_t *ret_bad)
{
	for (uint64_t at = 0; at < n;) {
		struct end d = resolve(dst + at, device);
		uint64_t len = n - at < d.left ? n - at : d.left;
		if (d.direct)
			memcpy((void *)(uintptr_t)d.host, (const char *)from + at, len);
		else if (raw_move(d.host, (uintptr_t)from + at, len, ret_bad) < 0) {
			*ret_bad = dst + at;
			return -EFAULT;
		}
		written_note((void *)(uintptr_t)d.host, len);
		at += len;
	}
	return 0;
}

bool addr_pageable(uint64_t addr)
{
	struct range r;

	return !range_copy(addr, &r) && !va_owns(addr);
}

bool addr_host(uint64_t addr)
{
	struct range r;

	if (!range_copy(addr, &r))
		return !va_owns(addr);
	return r.kind == RANGE_PINNED || r.kind == RANGE_REGISTERED || r.kind == RANGE_HSA_HOST;
}

/*
 * Whether a box of n bytes from dst on stays in the block it begins in (describe_room); else that
 * is told. hipSuccess: to be done, as the memory is there and only told of (HRR_EMU_GO_ON).
 */
static hipError_t in_block(const char *what, uint64_t dst, uint64_t n, uint64_t row, int device)
{
	const uint64_t room = describe_room(dst, n);

	if (room == n)
		return hipSuccess;
	fault_copy(what, true, dst + room, row < n - room ? row : n - room, device);
	return (memcheck_flags() & HRR_EMU_GO_ON) != 0 ? hipSuccess : hipErrorIllegalAddress;
}

hipError_t copy_run(const struct copy_op *c, int device)
{
	uint64_t bad = 0;

	if (c->width == 0 || c->height == 0 || c->depth == 0)
		return hipSuccess;
	hipError_t e = in_block("copy", c->dst,
				(c->depth - 1) * c->dslice + (c->height - 1) * c->dpitch + c->width,
				c->width, device);
	if (e != hipSuccess)
		return e;

	for (size_t z = 0; z < c->depth; z++)
		for (size_t y = 0; y < c->height; y++) {
			uint64_t dst = c->dst + z * c->dslice + y * c->dpitch;
			int rc;
			if (c->staged != NULL)
				rc = mem_write(device, dst,
					       c->staged + (z * c->height + y) * c->width, c->width,
					       &bad);
			else
				rc = mem_move(device, dst, c->src + z * c->sslice + y * c->spitch,
					      c->width, &bad);
			if (rc < 0) {
				fault_copy("copy", bad == dst || c->staged != NULL, bad, c->width,
					   device);
				return hipErrorIllegalAddress;
			}
		}
	return hipSuccess;
}

static void fill_pattern(unsigned char *to, uint64_t phase, uint64_t n, const struct set_op *s)
{
	if (s->elem == 1) {
		memset(to, (int)(s->value & 0xff), n);
		return;
	}
	unsigned char pattern[4];
	for (unsigned i = 0; i < 4; i++)
		pattern[i] = (unsigned char)(s->value >> 8 * (i % s->elem));
	for (uint64_t i = 0; i < n; i++)
		to[i] = pattern[(phase + i) & (s->elem - 1)];
}

static int set_row(int device, uint64_t dst, uint64_t n, const struct set_op *s, uint64_t *ret_bad)
{
	for (uint64_t at = 0; at < n;) {
		struct end d = resolve(dst + at, device);
		uint64_t len = n - at < d.left ? n - at : d.left;
		if (d.direct) {
			fill_pattern((unsigned char *)(uintptr_t)d.host, at, len, s);
		} else {
			unsigned char piece[4096];
			if (len > sizeof piece)
				len = sizeof piece;
			fill_pattern(piece, at, len, s);
			/* A set never writes memory no range knows. */
			if (!d.known || raw_move(d.host, (uintptr_t)piece, len, ret_bad) < 0) {
				*ret_bad = dst + at;
				return -EFAULT;
			}
		}
		written_note((void *)(uintptr_t)d.host, len);
		at += len;
	}
	return 0;
}

hipError_t set_run(const struct set_op *s, int device)
{
	uint64_t bad = 0;

	if (s->width == 0 || s->height == 0 || s->depth == 0)
		return hipSuccess;
	const uint64_t row = s->width * s->elem;
	hipError_t e =
	    in_block("set", s->dst, (s->depth - 1) * s->slice + (s->height - 1) * s->pitch + row,
		     row, device);
	if (e != hipSuccess)
		return e;

	for (size_t z = 0; z < s->depth; z++)
		for (size_t y = 0; y < s->height; y++)
			if (set_row(device, s->dst + z * s->slice + y * s->pitch,
				    s->width * s->elem, s, &bad) < 0) {
				fault_copy("set", true, bad, s->width * s->elem, device);
				return hipErrorIllegalAddress;
			}
	return hipSuccess;
}

hipError_t value_write(const struct op *op, int device)
{
	uint64_t bad = 0;

	if (mem_write(device, op->u.value.addr, &op->u.value.value, op->u.value.size, &bad) == 0)
		return hipSuccess;
	fault_copy("stream write value", true, bad, op->u.value.size, device);
	return hipErrorIllegalAddress;
}

bool value_satisfied(const struct op *op)
{
	enum { GEQ, EQ, AND, NOR };
	uint64_t v = 0, bad, mask = op->u.value.mask, want = op->u.value.value & mask;

	if (mem_read(-1, &v, op->u.value.addr, op->u.value.size, &bad) < 0)
		return true; /* running it reports the fault */
	v &= mask;
	switch (op->u.value.flags) {
	case GEQ:
		return op->u.value.size == 4 ? (int32_t)(v - want) >= 0 : (int64_t)(v - want) >= 0;
	case EQ:
		return v == want;
	case AND:
		return (v & want) != 0;
	case NOR:
		return (~(v | want) & mask) != 0;
	}
	return true;
}
