#ifndef HRR_EMU_ARRAY_H
#define HRR_EMU_ARRAY_H

#include "lib/emu/runtime/rt.h"

/* HIP arrays as pitched device memory: copies work, textures do not. */
struct array {
	uint64_t base;
	size_t width, height, depth; /* as asked for; 0 where there is no such dimension */
	size_t rows;		     /* per plane, at least 1 */
	size_t pitch, elem;	     /* bytes */
	int format;		     /* enum hipArray_Format */
	unsigned channels, flags;
	struct hipChannelFormatDesc desc;
};

/* The array of a handle, or NULL. rt.lock held. */
const struct array *array_get(hipArray_t h);

#endif
