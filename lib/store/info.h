#ifndef HRR_STORE_INFO_H
#define HRR_STORE_INFO_H

#include "lib/store/source.h"

/* What is in a stream, gathered record by record, as text for people. */
struct hrr_info;
struct hrr_info *hrr_info_new(void);
void hrr_info_free(struct hrr_info *x);
int hrr_info_record(struct hrr_info *x, const struct hrr_record *rec); /* -ENOMEM */
/*
 * Appends the text, once src is at its end. demangle (may be NULL) appends a
 * kernel's name for people, or returns negative. -ENOMEM.
 */
int hrr_info_text(struct hrr_info *x, const struct hrr_source *src, const char *operand,
		  int (*demangle)(void *self, const char *name, size_t len, struct hrr_buf *b),
		  void *self, struct hrr_buf *b);

#endif
