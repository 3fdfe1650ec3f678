#ifndef HRR_DIFF_RESULTS_H
#define HRR_DIFF_RESULTS_H

#include <stdbool.h>

/*
 * The results of hrr-play -r as a source: each line of such a file becomes a
 * record {"result":LINE}. Call it before a source is opened. -ENOSPC.
 */
int hrr_results_register(void);
/* Whether path is such a file, by its first line. */
bool hrr_results_probe(const char *path);

#endif
