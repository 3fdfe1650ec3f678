#include "lib/emu/runtime/launch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/emu/runtime/describe.h"
#include "lib/emu/runtime/device.h"
#include "lib/emu/runtime/emu.h"
#include "lib/emu/runtime/fault.h"
#include "lib/emu/runtime/hostcall.h"
#include "lib/emu/runtime/mem.h"
#include "lib/emu/runtime/memcheck.h"

#define MAX_BLOCK 1024u
#define MIN_KERNARG 4096u
#define KERNARG_PIECE 64u

enum { EXTRA_POINTER = 1, EXTRA_SIZE = 2, EXTRA_END = 3 };

static uint32_t explicit_end(const struct hrr_kernel *k)
{
	uint32_t end = 0;

	for (uint32_t i = 0; i < k->n_explicit; i++)
		if (k->args[i].offset + k->args[i].size > end)
			end = k->args[i].offset + k->args[i].size;
	return end;
}

static hipError_t take_args(const struct hrr_kernel *k, void **params, void **extra,
			    unsigned char *to)
{
	if (extra != NULL) {
		const void *from = NULL;
		size_t size = 0;
		for (; (uintptr_t)extra[0] != EXTRA_END; extra += 2)
			if ((uintptr_t)extra[0] == EXTRA_POINTER)
				from = extra[1];
			else if ((uintptr_t)extra[0] == EXTRA_SIZE && extra[1] != NULL)
				memcpy(&size, extra[1], sizeof size);
			else
				return hipErrorInvalidValue;
		if ((from == NULL && size > 0) || size < explicit_end(k))
			return hipErrorInvalidValue;
		if (from != NULL)
			memcpy(to, from, size < k->kernarg_size ? size : k->kernarg_size);
		return hipSuccess;
	}
	if (k->n_explicit > 0 && params == NULL)
		return hipErrorInvalidValue;
	for (uint32_t i = 0; i < k->n_explicit; i++) {
		const struct hrr_arg *a = &k->args[i];
		if (params[i] == NULL)
			return hipErrorInvalidValue;
		memcpy(to + a->offset, params[i], a->size);
	}
	return hipSuccess;
}

hipError_t launch_build(struct function *f, int device, const uint64_t grid[3],
			const uint32_t block[3], size_t shared, void **params, void **extra,
			struct kernel_op *ret_op)
{
	const struct hrr_kernel *k;
	struct image *image;
	struct kernel_op op = {.fn = f};
	uint64_t threads = 1;

	hipError_t e = function_kernel(f, device, &image, &k);
	if (e != hipSuccess)
		return e;
	for (unsigned d = 0; d < 3; d++) {
		if (block[d] == 0 || block[d] > MAX_BLOCK || grid[d] == 0 || grid[d] > UINT32_MAX)
			return hipErrorInvalidConfiguration;
		if (k->reqd_block[d] != 0 && k->reqd_block[d] != block[d])
			return hipErrorInvalidConfiguration;
		threads *= block[d];
		op.grid[d] = (uint32_t)grid[d];
		op.block[d] = block[d];
	}
	if (threads > MAX_BLOCK || (k->max_block != 0 && threads > k->max_block)) {
		emu_note("%s: %llu threads in a block, at most %u", k->name,
			 (unsigned long long)threads, k->max_block);
		return hipErrorInvalidConfiguration;
	}
	if (shared > lds_left(k))
		return hipErrorInvalidValue;
	op.shared = (uint32_t)shared;
	if (explicit_end(k) > k->kernarg_size)
		return hipErrorInvalidImage;
	op.args_size = k->kernarg_size;
	op.args = calloc(1, op.args_size > 0 ? op.args_size : 1);
	if (op.args == NULL)
		return hipErrorOutOfMemory;
	e = take_args(k, params, extra, op.args);
	if (e != hipSuccess)
		free(op.args);
	else
		*ret_op = op;
	return e;
}

int launch_params(const struct kernel_op *op, void ***ret_params)
{
	const struct hrr_kernel *k = NULL;

	for (int d = 0; d < EMU_MAX_DEVICES && k == NULL; d++)
		k = op->fn->kernel[d];
	void **p = calloc((k != NULL ? k->n_explicit : 0) + 1, sizeof *p);
	if (p == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; k != NULL && i < k->n_explicit; i++)
		p[i] = op->args + k->args[i].offset;
	*ret_params = p;
	return 0;
}

/*
 * Memory that a launch needs of ours: packet and queue in one range, the
 * kernarg segment in another whose size is exact, so that reading past the arguments is
 * found, and what a barrier over the grid counts in, when there is one. Kept for the next launch.
 */
struct slot {
	struct slot *next;
	int device;
	struct range *control, *kernarg, *grid;
	uint64_t room; /* storage of kernarg */
};
static struct slot *slots;

static void slot_free(struct slot *s)
{
	if (s->control != NULL)
		mem_delete(s->control, NULL);
	if (s->grid != NULL)
		mem_delete(s->grid, NULL);
	if (s->kernarg != NULL) {
		range_resize(s->kernarg, s->room);
		mem_delete(s->kernarg, NULL);
	}
	free(s);
}

static hipError_t slot_get(int device, uint64_t size, struct slot **ret)
{
	for (struct slot **p = &slots; *p != NULL; p = &(*p)->next)
		if ((*p)->device == device && (*p)->room >= size) {
			*ret = *p;
			*p = (*p)->next;
			return hipSuccess;
		}
	struct slot *s = calloc(1, sizeof *s);
	if (s == NULL)
		return hipErrorOutOfMemory;
	s->device = device;
	s->room = size > MIN_KERNARG ? size : MIN_KERNARG;
	hipError_t e =
	    mem_new(RANGE_LAUNCH, device, KERNARG_PACKET + KERNARG_QUEUE, 0, NULL, &s->control);
	if (e == hipSuccess)
		e = mem_new(RANGE_LAUNCH, device, s->room, 0, NULL, &s->kernarg);
	if (e != hipSuccess) {
		slot_free(s);
		return e;
	}
	s->control->writable = false;
	kernarg_queue(s->control->host + KERNARG_PACKET);
	*ret = s;
	return hipSuccess;
}

/*
 * What a cooperative kernel's device library is told: where to count workgroups at the barrier
 * over the grid, or, where an instruction does that, only that there is one.
 */
static hipError_t grid_sync(struct slot *s, const struct kernel_op *op, uint64_t *ret_value)
{
	uint64_t groups = 1;

	*ret_value = 1;
	if (rt.arch == ISA_GFX90A || rt.arch == ISA_GFX1030)
		return hipSuccess;
	if (s->grid == NULL) {
		hipError_t e = mem_new(RANGE_LAUNCH, s->device, KERNARG_GRID, 0, NULL, &s->grid);
		if (e != hipSuccess)
			return e;
	}
	for (unsigned d = 0; d < 3; d++)
		groups *= (op->grid[d] - 1) / op->block[d] + 1;
	kernarg_grid(s->grid->host, (uint32_t)groups);
	*ret_value = s->grid->base;
	return hipSuccess;
}

static bool wants(const struct hrr_kernel *k, enum hrr_hidden hidden)
{
	for (uint32_t i = k->n_explicit; i < k->n_args; i++)
		if (k->args[i].hidden == hidden)
			return true;
	return false;
}

hipError_t launch_run(const struct kernel_op *op, int device)
{
	const struct hrr_kernel *k;
	struct isa_program *prog;
	struct image *image;
	struct slot *s = NULL;
	struct isa_report *report = NULL;
	struct hostcall *host = NULL;
	uint64_t multigrid = 0;

	rt_lock();
	hipError_t e = function_kernel(op->fn, device, &image, &k);
	if (e == hipSuccess)
		e = image_program(image, &prog);
	if (e == hipSuccess)
		e = slot_get(device, k->kernarg_size + KERNARG_PIECE, &s);
	if (e == hipSuccess && wants(k, HRR_HIDDEN_HOSTCALL_BUFFER) &&
	    (host = hostcall_get(device)) == NULL)
		e = hipErrorOutOfMemory;
	if (e == hipSuccess && op->cooperative && wants(k, HRR_HIDDEN_MULTIGRID_SYNC_ARG))
		e = grid_sync(s, op, &multigrid);
	rt_unlock();
	if (e == hipSuccess && (report = calloc(1, sizeof *report)) == NULL)
		e = hipErrorOutOfMemory;
	if (e != hipSuccess)
		goto out;

	uint64_t kd = image->range->base + k->kd;
	struct kernarg_env env = {.grid = op->grid,
				  .block = op->block,
				  .dynamic_lds = op->shared,
				  .queue = s->control->base + KERNARG_PACKET,
				  .multigrid = multigrid,
				  .hostcall = host != NULL ? hostcall_address(host) : 0};
	/* Compilers read whole aligned pieces: the segment ends where its last one does. */
	range_resize(s->kernarg, k->kernarg_size == 0 ? 1
						      : (k->kernarg_size + KERNARG_PIECE - 1) /
							    KERNARG_PIECE * KERNARG_PIECE);
	memset(s->kernarg->host, 0, s->kernarg->size);
	memcpy(s->kernarg->host, op->args,
	       op->args_size < k->kernarg_size ? op->args_size : k->kernarg_size);
	kernarg_hidden(s->kernarg->host, k, &env);
	kernarg_packet(s->control->host, k, &env, kd, s->kernarg->base);

	struct launch_view view;
	view_init(&view, device, op->args, op->args_size);
	struct isa_launch launch = {
	    .prog = prog,
	    .kd = kd,
	    .grid = {op->grid[0], op->grid[1], op->grid[2]},
	    .block = {op->block[0], op->block[1], op->block[2]},
	    .kernarg = s->kernarg->base,
	    .packet = s->control->base,
	    .queue = s->control->base + KERNARG_PACKET,
	    .lds = k->group_size + op->shared,
	    /* A kernel with a dynamic stack says only what is static. */
	    .scratch = k->dynamic_stack && k->private_size < UINT32_MAX - 16384
			   ? k->private_size + 16384
			   : k->private_size,
	    .room = rt.memory,
	    .budget = rt.budget,
	    .threads = rt.threads,
	    .poison_lds = rt.fill,
	    .cooperative = op->cooperative,
	    .go_on = (memcheck_flags() & HRR_EMU_GO_ON) != 0,
	    .watch_own = (memcheck_flags() & HRR_EMU_CHECK_INIT) != 0,
	    .hostcall = host != NULL ? hostcall_ring : NULL,
	    .hostcall_self = host,
	    .mem = {&view, view_isa_find},
	};
	uint64_t start = rt_now();
	int rc = isa_run(&launch, report);
	if (rc < 0)
		e = rt_error(rc);
	else
		e = fault_launch(report, k, image, &view, rt_now() - start);
	view_release(&view);
out:
	free(report);
	if (s != NULL) {
		rt_lock();
		s->next = slots;
		slots = s;
		rt_unlock();
	}
	return e;
}
