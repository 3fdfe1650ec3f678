#include "lib/emu/runtime/sched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/emu/runtime/copy.h"
#include "lib/emu/runtime/graph.h"
#include "lib/emu/runtime/launch.h"
#include "lib/emu/runtime/mem.h"

static unsigned char *dup_bytes(const unsigned char *p, size_t n)
{
	unsigned char *q = malloc(n > 0 ? n : 1);

	if (q != NULL && n > 0)
		memcpy(q, p, n);
	return q;
}

int op_copy(struct op *dst, const struct op *src)
{
	*dst = *src;
	if (src->kind == OP_KERNEL) {
		dst->u.kernel.args = dup_bytes(src->u.kernel.args, src->u.kernel.args_size);
		if (dst->u.kernel.args == NULL)
			goto nomem;
	} else if (src->kind == OP_COPY && src->u.copy.staged != NULL) {
		const struct copy_op *c = &src->u.copy;
		dst->u.copy.staged = dup_bytes(c->staged, c->width * c->height * c->depth);
		if (dst->u.copy.staged == NULL)
			goto nomem;
	} else if (src->kind == OP_GRAPH) {
		plan_ref(src->u.graph.plan);
	}
	return 0;
nomem:
	*dst = (struct op){.kind = OP_NONE};
	return -ENOMEM;
}

void op_release(struct op *op)
{
	if (op->kind == OP_KERNEL)
		free(op->u.kernel.args);
	else if (op->kind == OP_COPY)
		free(op->u.copy.staged);
	else if (op->kind == OP_GRAPH)
		plan_unref(op->u.graph.plan);
	*op = (struct op){.kind = OP_NONE};
}

hipError_t op_run(const struct op *op, int device)
{
	switch (op->kind) {
	case OP_NONE:
		break;
	case OP_KERNEL:
		return launch_run(&op->u.kernel, device);
	case OP_COPY:
		return copy_run(&op->u.copy, device);
	case OP_SET:
		return set_run(&op->u.set, device);
	case OP_HOST:
		if (op->u.host.callback != NULL)
			op->u.host.callback(op->u.host.stream, rt.dev[device].sticky,
					    op->u.host.data);
		else
			op->u.host.fn(op->u.host.data);
		break;
	case OP_WRITE_VALUE:
		return value_write(op, device);
	case OP_WAIT_VALUE: {
		uint64_t v, bad = 0;
		if (mem_read(device, &v, op->u.value.addr, op->u.value.size, &bad) < 0)
			return hipErrorIllegalAddress;
		break;
	}
	case OP_ALLOC:
		return mem_alloc_now(op->u.memory.addr, op->u.memory.size, device);
	case OP_RELEASE:
		mem_release_now(op->u.memory.addr);
		break;
	case OP_GRAPH:
		return plan_run(op->u.graph.plan, device);
	}
	return hipSuccess;
}
