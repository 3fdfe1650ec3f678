#ifndef HRR_COLLECT_WINDOW_H
#define HRR_COLLECT_WINDOW_H

#include <stdint.h>

#include "lib/base/diag.h"

/*
 * Cuts a recorded archive down to the calls that returned in its last ns
 * nanoseconds, of all its processes together, and what they depend on
 * (lib/hip/slice.h). The last recorded call's return is the end of that time. Streams are
 * replaced whole or not at all; then the blobs that no stream names any more are
 * removed. On an error the archive is what it was, or some of its streams are cut down already.
 */
int hrr_collect_window(const char *dir, uint64_t ns, uint64_t *ret_calls, struct hrr_diag *diag);

#endif
