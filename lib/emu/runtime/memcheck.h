#ifndef HRR_EMU_MEMCHECK_H
#define HRR_EMU_MEMCHECK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Which stricter checks are on (HRR_EMU_CHECK_*), and what is known about bytes of
 * emulated memory that were written. Own locks, taken last.
 */
unsigned memcheck_flags(void);
/* HRR_EMU_MEMCHECK of the environment: once, before there is memory. */
void memcheck_env(void);

/* Storage came (nothing wrote it yet) and went. */
void written_new(const void *host, uint64_t size);
void written_gone(const void *host);
/* [host, host + n) was written; storage made before the check was on is nobody's business. */
void written_note(const void *host, uint64_t n);
/* n bytes were copied inside storage: what nothing wrote stays so. */
void written_copy(const void *to, const void *from, uint64_t n);
/* The bytes that stand for [host, host + n), or NULL. Good as long as the storage. */
unsigned char *written_at(const void *host, uint64_t n);

#endif
