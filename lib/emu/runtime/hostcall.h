#ifndef HRR_EMU_HOSTCALL_H
#define HRR_EMU_HOSTCALL_H

#include "lib/emu/runtime/rt.h"

/*
 * What kernels ask of the host: printf and assert's message. The device
 * library fills a packet of a shared buffer, puts it on a stack and rings.
 */
struct hostcall;

/* The device's, made at first use; NULL: out of memory. rt.lock held. */
struct hostcall *hostcall_get(int device);
uint64_t hostcall_address(const struct hostcall *h);
/* isa_launch.hostcall; self is a struct hostcall. From any thread that runs a kernel. */
void hostcall_ring(void *self, uint32_t message);

/* Whether somebody else than the program takes what kernels print (hrr_emu_on_print). */
bool hostcall_heard(void);

/* Appends what printf would make of a packed format and arguments; for tests too. */
int hostcall_format(struct hrr_buf *out, const uint64_t *words, size_t n);

#endif
