#ifndef HRR_BASE_TYPE_H
#define HRR_BASE_TYPE_H

#include <stddef.h>

/* Types of numbers that bytes may be looked at as; little endian, as devices and hosts here are. */
enum hrr_type {
	HRR_TYPE_NONE,
	HRR_TYPE_F16,
	HRR_TYPE_BF16,
	HRR_TYPE_F32,
	HRR_TYPE_F64,
	HRR_TYPE_I8,
	HRR_TYPE_U8,
	HRR_TYPE_I16,
	HRR_TYPE_U16,
	HRR_TYPE_I32,
	HRR_TYPE_U32,
	HRR_TYPE_I64,
	HRR_TYPE_U64,
	HRR_TYPE_COUNT
};

extern const char *const hrr_type_names[HRR_TYPE_COUNT];
enum hrr_type hrr_type_find(const char *name); /* NONE when it is none */

/* Bytes; of NONE 1. Here, so that loops made for one type have a constant. */
static inline size_t hrr_type_size(enum hrr_type type)
{
	static const unsigned char sizes[HRR_TYPE_COUNT] = {1, 2, 2, 4, 8, 1, 1, 2, 2, 4, 4, 8, 8};

	return sizes[type];
}

/* The number at p, which need not be aligned; of 64-bit integers the nearest double. NONE: 0. */
double hrr_type_value(enum hrr_type type, const void *p);

#endif
