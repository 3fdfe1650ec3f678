#ifndef HRR_EMU_LAUNCH_H
#define HRR_EMU_LAUNCH_H

#include "lib/emu/runtime/module.h"
#include "lib/emu/runtime/sched.h"

/*
 * Makes a kernel op: checks the shape, copies the arguments by the kernel's own
 * metadata (kernelParams, or the buffer of extra). grid: work-items in all. rt.lock held.
 */
hipError_t launch_build(struct function *f, int device, const uint64_t grid[3],
			const uint32_t block[3], size_t shared, void **params, void **extra,
			struct kernel_op *ret_op);
/* Whether all blocks of a cooperative launch are on the device at once; rt.lock not held. */
hipError_t launch_fits(const void *f, dim3 grid, dim3 block, size_t shared);
/* kernelParams of an op: owned array of pointers into its argument bytes. 0, -ENOMEM. */
int launch_params(const struct kernel_op *k, void ***ret_params);
/* Runs it; without rt.lock. */
hipError_t launch_run(const struct kernel_op *k, int device);

/* What hidden arguments are made from. */
struct kernarg_env {
	const uint32_t *grid, *block; /* work-items in all, per workgroup */
	uint32_t dynamic_lds;
	uint64_t queue, hostcall, multigrid, heap;
};
/* Fills the hidden arguments of a kernarg segment of k->kernarg_size bytes. */
void kernarg_hidden(unsigned char *segment, const struct hrr_kernel *k,
		    const struct kernarg_env *env);
/* Writes a 64-byte AQL dispatch packet. */
void kernarg_packet(unsigned char *packet, const struct hrr_kernel *k,
		    const struct kernarg_env *env, uint64_t kd, uint64_t segment);
/* Writes the part of an amd_queue_t that kernels read (KERNARG_QUEUE bytes). */
#define KERNARG_PACKET 64u
#define KERNARG_QUEUE 256u
void kernarg_queue(unsigned char *queue);
/* Writes what workgroups count in at a barrier over the grid (KERNARG_GRID bytes). */
#define KERNARG_GRID 64u
void kernarg_grid(unsigned char *grid, uint32_t groups);

#endif
