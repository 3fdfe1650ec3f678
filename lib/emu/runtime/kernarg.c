#include "lib/emu/runtime/launch.h"

#include <string.h>

/*
 * Layouts: the AMDGPU usage document (hidden arguments of code objects v3 to
 * v6), the HSA run time's amd_queue_t and hsa_kernel_dispatch_packet_t, and
 * what the device library's barriers over grids count in.
 */

static void put(unsigned char *segment, const struct hrr_kernel *k, const struct hrr_arg *a,
		uint64_t v)
{
	size_t n = a->size < 8 ? a->size : 8;

	if (a->offset <= k->kernarg_size && n <= k->kernarg_size - a->offset)
		memcpy(segment + a->offset, &v, n); /* little endian, like the device */
}

void kernarg_hidden(unsigned char *segment, const struct hrr_kernel *k,
		    const struct kernarg_env *env)
{
	unsigned dims = env->grid[2] > 1 || env->block[2] > 1	? 3
			: env->grid[1] > 1 || env->block[1] > 1 ? 2
								: 1;

	for (uint32_t i = k->n_explicit; i < k->n_args; i++) {
		const struct hrr_arg *a = &k->args[i];
		uint64_t v = 0;
		unsigned d = 0;
		switch (a->hidden) {
		case HRR_HIDDEN_BLOCK_COUNT_X:
		case HRR_HIDDEN_BLOCK_COUNT_Y:
		case HRR_HIDDEN_BLOCK_COUNT_Z:
			d = (unsigned)(a->hidden - HRR_HIDDEN_BLOCK_COUNT_X);
			/* Whole workgroups only; the rest is what remainder is for. */
			v = env->grid[d] / env->block[d];
			break;
		case HRR_HIDDEN_GROUP_SIZE_X:
		case HRR_HIDDEN_GROUP_SIZE_Y:
		case HRR_HIDDEN_GROUP_SIZE_Z:
			v = env->block[a->hidden - HRR_HIDDEN_GROUP_SIZE_X];
			break;
		case HRR_HIDDEN_REMAINDER_X:
		case HRR_HIDDEN_REMAINDER_Y:
		case HRR_HIDDEN_REMAINDER_Z:
			d = (unsigned)(a->hidden - HRR_HIDDEN_REMAINDER_X);
			v = env->grid[d] % env->block[d];
			break;
		case HRR_HIDDEN_GRID_DIMS:
			v = dims;
			break;
		case HRR_HIDDEN_HOSTCALL_BUFFER:
			v = env->hostcall;
			break;
		case HRR_HIDDEN_MULTIGRID_SYNC_ARG:
			v = env->multigrid;
			break;
		case HRR_HIDDEN_HEAP_V1:
			v = env->heap;
			break;
		case HRR_HIDDEN_DYNAMIC_LDS_SIZE:
			v = env->dynamic_lds;
			break;
		case HRR_HIDDEN_PRIVATE_BASE:
			v = 0x20000;
			break;
		case HRR_HIDDEN_SHARED_BASE:
			v = 0x10000;
			break;
		case HRR_HIDDEN_QUEUE_PTR:
			v = env->queue;
			break;
		default:
			break;
		}
		put(segment, k, a, v);
	}
}

static void u16(unsigned char *p, uint32_t v)
{
	p[0] = (unsigned char)v;
	p[1] = (unsigned char)(v >> 8);
}

void kernarg_packet(unsigned char *p, const struct hrr_kernel *k, const struct kernarg_env *env,
		    uint64_t kd, uint64_t segment)
{
	uint32_t group = k->group_size + env->dynamic_lds;

	memset(p, 0, KERNARG_PACKET);
	u16(p, 2);     /* header: kernel dispatch */
	u16(p + 2, 3); /* setup: dimensions, always all three */
	for (unsigned d = 0; d < 3; d++) {
		u16(p + 4 + 2 * d, env->block[d]);
		memcpy(p + 12 + 4 * d, &env->grid[d], 4);
	}
	memcpy(p + 24, &k->private_size, 4);
	memcpy(p + 28, &group, 4);
	memcpy(p + 32, &kd, 8);
	memcpy(p + 40, &segment, 8);
}

void kernarg_queue(unsigned char *q)
{
	const uint32_t shared = 0x10000, private = 0x20000; /* high halves of the apertures */

	memset(q, 0, KERNARG_QUEUE);
	memcpy(q + 64, &shared, 4);
	memcpy(q + 68, &private, 4);
}

void kernarg_grid(unsigned char *p, uint32_t groups)
{
	memset(p, 0,
	       KERNARG_GRID); /* no other grids: the first fields, which tell of them, are 0 */
	memcpy(p + 40, &groups, 4); /* behind two counters at 32 */
}
