#ifndef HRR_FORMATS_HRR_SOURCE_H
#define HRR_FORMATS_HRR_SOURCE_H

/*
 * Makes every program take upstream archives: a root with one or more pid-N
 * folders, one such folder, or an events.bin. note (may be NULL) is told what is
 * wrong with an archive, a message at a time, while it is read. Call once, before
 * anything is opened.
 */
void hrr_upstream_register(void (*note)(const char *operand, const char *text));

#endif
