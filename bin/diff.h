#ifndef HRR_BIN_DIFF_H
#define HRR_BIN_DIFF_H

#include "bin/tool.h"
#include "lib/diff/report.h"

/* Private to hrr-diff. diff_files.c: */

/* A file that is no stream and no archive, or a blob's id. */
bool diff_is_bytes(const char *operand);
/* 1 when they differ (then reported), 0 when not; dies on trouble. blobs: of each, or NULL. */
int diff_bytes(struct hrr_report *report, char *const operand[2], const char *const blobs[2]);

#endif
