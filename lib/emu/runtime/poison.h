#ifndef HRR_EMU_POISON_H
#define HRR_EMU_POISON_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"

/*
 * Host memory somebody declared dead (emu.h: hrr_emu_poison) though it may still be
 * mapped: a copy that touches it is a fault. Own lock, taken last.
 */

/* Bytes from addr on that are not poisoned (UINT64_MAX - addr: none in the way); 0: it is. */
uint64_t poison_clear(uint64_t addr);
/* A report line when addr is poisoned. */
int poison_explain(struct hrr_buf *b, uint64_t addr);

#endif
