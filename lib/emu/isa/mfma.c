/* Matrix instructions. */
#include "lib/emu/isa/table.h"

const isa_fn isa_fns_mfma[] = {NULL};
