#ifndef HRR_EMU_COPY_H
#define HRR_EMU_COPY_H

#include "lib/emu/runtime/sched.h"

/*
 * Moving bytes. Every end of a copy is looked up when the bytes move: emulated
 * memory where a range holds it, otherwise pageable host memory, reached
 * through the kernel (process_vm_readv) so that a bad pointer is an error.
 * device: whose engine copies (for HSA's access grants), or -1. None of these needs rt.lock.
 */

/* 0, or -EFAULT and the first address that could not be reached. */
int mem_move(int device, uint64_t dst, uint64_t src, uint64_t n, uint64_t *ret_bad);
int mem_read(int device, void *to, uint64_t src, uint64_t n, uint64_t *ret_bad);
int mem_write(int device, uint64_t dst, const void *from, uint64_t n, uint64_t *ret_bad);

/* Whether the first and last byte of [addr, addr + n) of the host can be read. n > 0. */
bool mem_probe(uint64_t addr, uint64_t n);

/* Runs; a fault is reported and is what becomes sticky. */
hipError_t copy_run(const struct copy_op *c, int device);
hipError_t set_run(const struct set_op *s, int device);
hipError_t value_write(const struct op *op, int device);
/* Whether the memory of an OP_WAIT_VALUE says go (also when it cannot be read). */
bool value_satisfied(const struct op *op);

/* Whether [addr, ...) is host memory that no range knows. */
bool addr_pageable(uint64_t addr);
/* Whether the end is memory of the host, known or not (pinned, registered, pageable). */
bool addr_host(uint64_t addr);

/*
 * Queues a copy on a stream (or records it into the stream's open capture) and
 * waits as `api` says. Checks both ends first: hipErrorInvalidValue. rt.lock held.
 */
hipError_t copy_submit(enum hrr_api api, struct stream *s, struct copy_op *c, int kind);
hipError_t set_submit(enum hrr_api api, struct stream *s, const struct set_op *set);

/* The same on a stream by its handle (spt: the thread's, when it is NULL), and takes rt.lock. */
hipError_t copy_call(enum hrr_api api, struct copy_op c, int kind, hipStream_t stream, bool spt);

/* Checks a box without running it: 0 or the error of a call that names it. */
hipError_t copy_check(const struct copy_op *c, int kind);
hipError_t set_check(const struct set_op *s);

/* hipMemcpy3DParms as a box. rt.lock held. */
hipError_t copy_from_3d(const struct hipMemcpy3DParms *p, struct copy_op *ret_op);
/* The device address of size bytes at offset in a symbol. rt.lock held. */
hipError_t copy_symbol(const void *symbol, size_t offset, size_t size, int device,
		       uint64_t *ret_addr);

static inline struct copy_op copy_linear(uint64_t dst, uint64_t src, size_t n)
{
	return (struct copy_op){.dst = dst, .src = src, .width = n, .height = 1, .depth = 1};
}

#endif
