#include "lib/emu/runtime/graph_params.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/emu/runtime/copy.h"
#include "lib/emu/runtime/launch.h"

static void *handle_of(const struct function *f)
{
	return f->stub != NULL ? (void *)(uintptr_t)f->stub : (void *)(uintptr_t)f;
}

static void describe_copy(struct node *n)
{
	const struct copy_op *c = &n->op.u.copy;

	n->copy = (struct hipMemcpy3DParms){
	    .srcPtr = {(void *)(uintptr_t)c->src, c->spitch != 0 ? c->spitch : c->width, c->width,
		       c->height},
	    .dstPtr = {(void *)(uintptr_t)c->dst, c->dpitch != 0 ? c->dpitch : c->width, c->width,
		       c->height},
	    .extent = {c->width, c->height, c->depth},
	    .kind = n->copy_kind};
	if (c->spitch != 0 && c->sslice != 0)
		n->copy.srcPtr.ysize = c->sslice / c->spitch;
	if (c->dpitch != 0 && c->dslice != 0)
		n->copy.dstPtr.ysize = c->dslice / c->dpitch;
}

int node_describe(struct node *n)
{
	if (n->op.kind == OP_KERNEL) {
		const struct kernel_op *k = &n->op.u.kernel;
		n->func = handle_of(k->fn);
		n->block = (dim3){k->block[0], k->block[1], k->block[2]};
		n->grid = (dim3){(k->grid[0] + k->block[0] - 1) / k->block[0],
				 (k->grid[1] + k->block[1] - 1) / k->block[1],
				 (k->grid[2] + k->block[2] - 1) / k->block[2]};
		return launch_params(k, &n->kernel_params);
	}
	if (n->op.kind == OP_COPY) {
		n->copy_kind = hipMemcpyDefault;
		describe_copy(n);
	} else if (n->op.kind == OP_HOST) {
		__builtin_memcpy(&n->host.fn, &n->op.u.host.fn, sizeof n->host.fn);
		n->host.userData = n->op.u.host.data;
	} else if (n->op.kind == OP_SET) {
		const struct set_op *s = &n->op.u.set;
		n->set = (struct hipMemsetParams){.dst = (void *)(uintptr_t)s->dst,
						  .elementSize = s->elem,
						  .height = s->height,
						  .pitch = s->pitch,
						  .value = s->value,
						  .width = s->width};
	}
	return 0;
}

hipError_t params_kernel(struct node *n, const struct hipKernelNodeParams *p)
{
	struct op op = {.kind = OP_KERNEL};
	void **params = NULL;

	if (p == NULL || p->func == NULL)
		return hipErrorInvalidValue;
	struct function *f = function_find(p->func);
	if (f == NULL)
		return hipErrorInvalidDeviceFunction;
	const uint64_t grid[] = {(uint64_t)p->gridDim.x * p->blockDim.x,
				 (uint64_t)p->gridDim.y * p->blockDim.y,
				 (uint64_t)p->gridDim.z * p->blockDim.z};
	const uint32_t block[] = {p->blockDim.x, p->blockDim.y, p->blockDim.z};
	hipError_t e = launch_build(f, emu_thread.device, grid, block, p->sharedMemBytes,
				    p->kernelParams, p->extra, &op.u.kernel);
	if (e != hipSuccess)
		return e;
	if (launch_params(&op.u.kernel, &params) < 0) {
		op_release(&op);
		return hipErrorOutOfMemory;
	}
	op_release(&n->op);
	free(n->kernel_params);
	n->op = op;
	n->kernel_params = params;
	n->func = p->func;
	n->grid = p->gridDim;
	n->block = p->blockDim;
	return hipSuccess;
}

hipError_t params_copy(struct node *n, const struct hipMemcpy3DParms *p)
{
	struct op op = {.kind = OP_COPY};

	if (p == NULL)
		return hipErrorInvalidValue;
	hipError_t e = copy_from_3d(p, &op.u.copy);
	if (e == hipSuccess)
		e = copy_check(&op.u.copy, p->kind);
	if (e != hipSuccess)
		return e;
	n->type = NODE_COPY;
	n->op = op;
	n->copy = *p;
	n->copy_kind = p->kind;
	return hipSuccess;
}

hipError_t params_copy_1d(struct node *n, enum node_type type, const void *dst, const void *src,
			  size_t count, int kind)
{
	struct op op = {.kind = OP_COPY};

	if (dst == NULL || src == NULL || count == 0)
		return hipErrorInvalidValue;
	op.u.copy = copy_linear((uintptr_t)dst, (uintptr_t)src, count);
	hipError_t e = copy_check(&op.u.copy, kind);
	if (e != hipSuccess)
		return e;
	n->type = type;
	n->op = op;
	n->copy_kind = kind;
	describe_copy(n);
	return hipSuccess;
}

hipError_t params_symbol(struct node *n, bool to, const void *symbol, void *other, size_t count,
			 size_t offset, int kind)
{
	uint64_t addr;

	hipError_t e = copy_symbol(symbol, offset, count, emu_thread.device, &addr);
	if (e != hipSuccess)
		return e;
	void *at = (void *)(uintptr_t)addr;
	return params_copy_1d(n, to ? NODE_COPY_TO : NODE_COPY_FROM, to ? at : other,
			      to ? other : at, count, kind);
}

hipError_t params_memset(struct node *n, const struct hipMemsetParams *p)
{
	struct op op = {.kind = OP_SET};

	if (p == NULL || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4) ||
	    p->width == 0 || p->height == 0)
		return hipErrorInvalidValue;
	op.u.set = (struct set_op){.dst = (uintptr_t)p->dst,
				   .pitch = p->pitch,
				   .value = p->value,
				   .elem = p->elementSize,
				   .width = p->width,
				   .height = p->height,
				   .depth = 1};
	hipError_t e = set_check(&op.u.set);
	if (e != hipSuccess)
		return e;
	n->op = op;
	n->set = *p;
	return hipSuccess;
}

hipError_t params_host(struct node *n, const struct hipHostNodeParams *p)
{
	struct op op = {.kind = OP_HOST};

	if (p == NULL || p->fn == NULL)
		return hipErrorInvalidValue;
	__builtin_memcpy(&op.u.host.fn, &p->fn, sizeof op.u.host.fn);
	op.u.host.data = p->userData;
	n->op = op;
	n->host = *p;
	return hipSuccess;
}
