#include "lib/base/type.h"

#include <string.h>

const char *const hrr_type_names[HRR_TYPE_COUNT] = {"none", "f16", "bf16", "f32", "f64", "i8", "u8",
						    "i16",  "u16", "i32",  "u32", "i64", "u64"};

enum hrr_type hrr_type_find(const char *name)
{
	for (int t = 1; t < HRR_TYPE_COUNT; t++)
		if (strcmp(hrr_type_names[t], name) == 0)
			return (enum hrr_type)t;
	return HRR_TYPE_NONE;
}
