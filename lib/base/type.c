#include "lib/base/type.h"

#include <stdint.h>
#include <string.h>

#include "lib/base/half.h"

const char *const hrr_type_names[HRR_TYPE_COUNT] = {"none", "f16", "bf16", "f32", "f64", "i8", "u8",
						    "i16",  "u16", "i32",  "u32", "i64", "u64"};

enum hrr_type hrr_type_find(const char *name)
{
	for (int t = 1; t < HRR_TYPE_COUNT; t++)
		if (strcmp(hrr_type_names[t], name) == 0)
			return (enum hrr_type)t;
	return HRR_TYPE_NONE;
}

double hrr_type_value(enum hrr_type type, const void *p)
{
	uint64_t bits = 0;
	double d;

	memcpy(&bits, p, hrr_type_size(type));
	switch (type) {
	case HRR_TYPE_F16:
		return (double)hrr_of_half((uint16_t)bits);
	case HRR_TYPE_BF16:
		return (double)hrr_of_bfloat16((uint16_t)bits);
	case HRR_TYPE_F32:
		return (double)hrr_float_of_bits((uint32_t)bits);
	case HRR_TYPE_F64:
		memcpy(&d, &bits, sizeof d);
		return d;
	case HRR_TYPE_I8:
		return (int8_t)bits;
	case HRR_TYPE_I16:
		return (int16_t)bits;
	case HRR_TYPE_I32:
		return (int32_t)bits;
	case HRR_TYPE_I64:
		return (double)(int64_t)bits;
	case HRR_TYPE_U8:
	case HRR_TYPE_U16:
	case HRR_TYPE_U32:
	case HRR_TYPE_U64:
		return (double)bits;
	case HRR_TYPE_NONE:
	case HRR_TYPE_COUNT:
		break;
	}
	return 0;
}
