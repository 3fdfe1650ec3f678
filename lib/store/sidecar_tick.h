#ifndef HRR_STORE_SIDECAR_TICK_H
#define HRR_STORE_SIDECAR_TICK_H

#include "lib/store/sidecar.h"

/*
 * A clock of resolution R says only that something happened within R ns. A call of
 * that time that still used a region must find it, and so must one that already
 * uses one: what comes acts at its tick's begin, what goes at its end, unless
 * something comes at its place within the tick. Then the order of the file holds, as
 * it does for more than HRR_TICK_MAX lines in one tick.
 */
#define HRR_TICK_MAX 64

/*
 * Which regions of a sidecar go at their tick's end: a byte for each line behind the
 * header, 1 where it does, appended to late. -ENOMEM, or as hrr_file_open; lines that
 * cannot be read are left to the reader that follows.
 */
int hrr_sidecar_ticks(const char *path, uint64_t resolution, struct hrr_buf *late);

#endif
