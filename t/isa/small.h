/* What kernels need when there are no HIP headers: enough for the tests of the interpreter. */
#ifdef WITH_LIBS
#include <hip/hip_runtime.h>
#define TID_X threadIdx.x
#define TID_Y threadIdx.y
#define TID_Z threadIdx.z
#define BID_X blockIdx.x
#define BID_Y blockIdx.y
#define BID_Z blockIdx.z
#define BDIM_X blockDim.x
#define BDIM_Y blockDim.y
#define GDIM_X gridDim.x
#define SYNC __syncthreads()
#else
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(n) __attribute__((launch_bounds(n)))
#define __noinline__ __attribute__((noinline))
#define TID_X __builtin_amdgcn_workitem_id_x()
#define TID_Y __builtin_amdgcn_workitem_id_y()
#define TID_Z __builtin_amdgcn_workitem_id_z()
#define BID_X __builtin_amdgcn_workgroup_id_x()
#define BID_Y __builtin_amdgcn_workgroup_id_y()
#define BID_Z __builtin_amdgcn_workgroup_id_z()
#define BDIM_X (unsigned)__builtin_amdgcn_workgroup_size_x()
#define BDIM_Y (unsigned)__builtin_amdgcn_workgroup_size_y()
#define GDIM_X (__builtin_amdgcn_grid_size_x() / BDIM_X)
#define SYNC                                                           \
	do {                                                           \
		__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
		__builtin_amdgcn_s_barrier();                          \
		__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); \
	} while (0)
#define atomicAdd(p, v) __hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define atomicMax(p, v) __hip_atomic_fetch_max(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define atomicMin(p, v) __hip_atomic_fetch_min(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define atomicOr(p, v) __hip_atomic_fetch_or(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define atomicXor(p, v) __hip_atomic_fetch_xor(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define atomicExch(p, v) __hip_atomic_exchange(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
static inline __device__ unsigned long long atomicCAS(unsigned long long *p, unsigned long long c,
						      unsigned long long v)
{
	__hip_atomic_compare_exchange_strong(p, &c, v, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
					     __HIP_MEMORY_SCOPE_AGENT);
	return c;
}
#define __clz(x) ((x) == 0 ? 32 : __builtin_clz((unsigned)(x)))
#define __popc(x) __builtin_popcount((unsigned)(x))
#endif
