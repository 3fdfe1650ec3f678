#ifndef HRR_HIP_ARRAY_FORMAT_H
#define HRR_HIP_ARRAY_FORMAT_H

#include "lib/hip/table.h"

/* Bytes of one channel of an array's element; 0: no format we know. */
static inline uint32_t hrr_array_format_bytes(int format)
{
	switch (format) {
	case HIP_AD_FORMAT_UNSIGNED_INT8:
	case HIP_AD_FORMAT_SIGNED_INT8:
		return 1;
	case HIP_AD_FORMAT_UNSIGNED_INT16:
	case HIP_AD_FORMAT_SIGNED_INT16:
	case HIP_AD_FORMAT_HALF:
		return 2;
	case HIP_AD_FORMAT_UNSIGNED_INT32:
	case HIP_AD_FORMAT_SIGNED_INT32:
	case HIP_AD_FORMAT_FLOAT:
		return 4;
	default:
		return 0;
	}
}

#endif
