/*
 * What a cooperative kernel is told of its grid where no instruction counts workgroups: a record
 * with two counters (at 32) and the number of workgroups (at 40); what tells of other grids is 0.
 */
#include "small.h"

struct told {
	unsigned others[8], counter[2], groups;
};

static inline __device__ struct told *told(void)
{
	return ((struct told **)__builtin_amdgcn_implicitarg_ptr())[11];
}

extern "C" __global__ void grid_told(unsigned *out)
{
	struct told *t = told();

	out[0] = t != 0;
	for (int i = 0; t && i < 8; i++)
		out[1] |= t->others[i];
	out[2] = t ? t->groups : 0;
}

/* Each workgroup adds one to a number that the next round begins with. */
extern "C" __global__ void grid_counts(unsigned *number, unsigned *wrong, unsigned rounds)
{
	struct told *t = told();

	for (unsigned r = 0; r < rounds && TID_X == 0; r++) {
		atomicAdd(number, 1u);
		unsigned come = atomicAdd(&t->counter[0], 1u) + 1;
		while (__hip_atomic_load(&t->counter[0], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) <
		       (come + t->groups - 1) / t->groups * t->groups)
			__builtin_amdgcn_s_sleep(1);
		if (__hip_atomic_load(number, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) <
		    (r + 1) * t->groups)
			atomicAdd(wrong, 1u);
	}
}
