#ifndef HRR_BIN_TOOL_SOURCE_H
#define HRR_BIN_TOOL_SOURCE_H

#include "lib/store/source.h"

/*
 * Says on standard error what of a source is not as it should be: cut short,
 * records lost, a sidecar's clock. Call it once, after hrr_source_next returned
 * 0. Returns false when there was nothing at all: then it has said so, and a
 * program ends with trouble.
 */
bool tool_say_state(const char *operand, const struct hrr_source *src);

#endif
