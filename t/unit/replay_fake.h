#ifndef HRR_T_UNIT_REPLAY_FAKE_H
#define HRR_T_UNIT_REPLAY_FAKE_H

/*
 * A HIP run time of a few pages, for tests of the engine: device memory is host
 * memory with a number of its own, work is queued (late) or done at once, every call is
 * logged. It refuses what real run times refuse: unknown handles, ranges that are not
 * device memory, overlapping registrations when asked to.
 */

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "t/unit/replay_rig.h"

#define FAKE_MAX 256

struct fake_op {
	int what; /* 0 copy, 1 set, 2 kernel: dst[i] = value for n bytes */
	uint64_t dst, src, n;
	int value;
};

struct fake_graph {
	struct fake_op ops[16];
	int n;
	bool exec, dead;
};

static struct fake {
	struct {
		uint64_t at, size;
		unsigned char *bytes;
		bool live;
	} dev[FAKE_MAX];
	int n_dev;
	uint64_t next; /* device number */
	struct {
		uint64_t at, size;
		bool live;
	} reg[FAKE_MAX];
	int n_reg;
	void *pinned[FAKE_MAX];
	int n_pinned;
	struct fake_op queue[FAKE_MAX];
	int n_queue;
	struct fake_graph graphs[64];
	int n_graphs, capturing; /* graph index + 1 */
	bool late, refuse_overlap, stuck;
	bool drops_all; /* an unregister takes every registration at its address */
	int errors;	/* work that touched what it must not */
	char log[1 << 16];
	size_t log_len;
	int handles;
} fake;

static void fake_log(const char *name)
{
	int n = snprintf(fake.log + fake.log_len, sizeof fake.log - fake.log_len, "%s ", name);
	if (n > 0 && fake.log_len + (size_t)n < sizeof fake.log)
		fake.log_len += (size_t)n;
}

static unsigned char *fake_at(uint64_t addr, uint64_t n)
{
	for (int i = 0; i < fake.n_dev; i++)
		if (addr >= fake.dev[i].at && n <= fake.dev[i].size &&
		    addr - fake.dev[i].at <= fake.dev[i].size - n)
			return fake.dev[i].live ? fake.dev[i].bytes + (addr - fake.dev[i].at)
						: NULL;
	return NULL;
}

/* Device memory, or host memory that is really there. */
static unsigned char *fake_any(uint64_t addr, uint64_t n)
{
	unsigned char *p = fake_at(addr, n), vec[1];

	if (p != NULL || n == 0)
		return p;
	if (addr < 4096 || mincore((void *)(uintptr_t)(addr & ~(uint64_t)4095), 1, vec) != 0)
		return NULL;
	return (unsigned char *)(uintptr_t)addr;
}

static void fake_run(const struct fake_op *o)
{
	unsigned char *d = fake_any(o->dst, o->n);
	unsigned char *s = o->what == 0 ? fake_any(o->src, o->n) : NULL;

	if (d == NULL || (o->what == 0 && s == NULL)) {
		fake.errors++;
		return;
	}
	if (o->what == 0)
		memmove(d, s, o->n);
	else
		memset(d, o->value, o->n);
}

static int fake_drain(void)
{
	if (fake.stuck)
		return hipErrorNotReady;
	for (int i = 0; i < fake.n_queue; i++)
		fake_run(&fake.queue[i]);
	fake.n_queue = 0;
	return hipSuccess;
}

static int fake_submit(struct fake_op o)
{
	if (fake.capturing != 0) {
		struct fake_graph *g = &fake.graphs[fake.capturing - 1];
		g->ops[g->n++ & 15] = o;
		return hipSuccess;
	}
	if (!fake.late) {
		fake_run(&o);
		return hipSuccess;
	}
	if (fake.n_queue == FAKE_MAX)
		fake_drain();
	fake.queue[fake.n_queue++] = o;
	return hipSuccess;
}

static int f_hipInit(unsigned f)
{
	(void)f;
	return 0;
}
static int f_hipGetDeviceCount(int *n)
{
	*n = 1;
	return 0;
}
static int f_hipMalloc(void **p, size_t n)
{
	fake_log("hipMalloc");
	if (fake.n_dev == FAKE_MAX || n > (size_t)1 << 30)
		return hipErrorOutOfMemory;
	if (fake.next == 0)
		fake.next = 0x500000000000;
	fake.dev[fake.n_dev].at = fake.next;
	fake.dev[fake.n_dev].size = n;
	fake.dev[fake.n_dev].live = true;
	fake.dev[fake.n_dev].bytes = malloc(n);
	memset(fake.dev[fake.n_dev].bytes, 0xcd, n);
	fake.next += (n + 0xfff) & ~(uint64_t)0xfff;
	*p = (void *)(uintptr_t)fake.dev[fake.n_dev++].at;
	return 0;
}
static int f_hipFree(void *p)
{
	fake_log("hipFree");
	fake_drain();
	for (int i = 0; i < fake.n_dev; i++)
		if (fake.dev[i].at == (uintptr_t)p && fake.dev[i].live) {
			fake.dev[i].live = false;
			free(fake.dev[i].bytes);
			return 0;
		}
	return hipErrorInvalidValue;
}
static int f_hipHostMalloc(void **p, size_t n, unsigned f)
{
	(void)f;
	fake_log("hipHostMalloc");
	*p = aligned_alloc(4096, (n + 4095) & ~(size_t)4095);
	fake.pinned[fake.n_pinned++ % FAKE_MAX] = *p;
	return *p != NULL ? 0 : hipErrorOutOfMemory;
}
static int f_hipHostFree(void *p)
{
	fake_log("hipHostFree");
	fake_drain();
	for (int i = 0; i < FAKE_MAX; i++)
		if (fake.pinned[i] == p)
			fake.pinned[i] = NULL;
	free(p);
	return 0;
}
static int f_hipHostRegister(void *p, size_t n, unsigned f)
{
	uint64_t at = (uintptr_t)p;

	(void)f;
	fake_log("hipHostRegister");
	for (int i = 0; i < fake.n_reg; i++)
		if (fake.reg[i].live && fake.refuse_overlap &&
		    at < fake.reg[i].at + fake.reg[i].size && fake.reg[i].at < at + n)
			return hipErrorHostMemoryAlreadyRegistered;
	/* What nothing may read cannot be pinned. */
	char byte;
	struct iovec to = {&byte, 1}, from = {p, 1};
	if (fake_any(at, n) == NULL || fake.n_reg == FAKE_MAX ||
	    process_vm_readv(getpid(), &to, 1, &from, 1, 0) != 1)
		return hipErrorInvalidValue;
	fake.reg[fake.n_reg].at = at;
	fake.reg[fake.n_reg].size = n;
	fake.reg[fake.n_reg++].live = true;
	return 0;
}
static int f_hipHostUnregister(void *p)
{
	fake_log("hipHostUnregister");
	fake_drain();
	int e = hipErrorHostMemoryNotRegistered;
	for (int i = fake.n_reg - 1; i >= 0; i--)
		if (fake.reg[i].live && fake.reg[i].at == (uintptr_t)p) {
			fake.reg[i].live = false;
			e = 0;
			if (!fake.drops_all)
				break;
		}
	return e;
}
static int f_hipHostGetDevicePointer(void **d, void *h, unsigned f)
{
	(void)f;
	*d = h;
	for (int i = 0; i < FAKE_MAX; i++) {
		uint64_t off = (uintptr_t)h - fake.reg[i].at;
		if (fake.pinned[i] == h || (fake.reg[i].live && off < fake.reg[i].size))
			return 0;
	}
	return hipErrorInvalidValue;
}
static int f_hipMemcpy(void *d, void *s, size_t n, int kind)
{
	(void)kind;
	fake_log("hipMemcpy");
	fake_drain();
	if (fake_any((uintptr_t)d, n) == NULL || fake_any((uintptr_t)s, n) == NULL)
		return n == 0 ? 0 : hipErrorInvalidValue;
	fake_run(&(struct fake_op){0, (uintptr_t)d, (uintptr_t)s, n, 0});
	return 0;
}
static int f_hipMemcpyAsync(void *d, void *s, size_t n, int kind, hipStream_t st)
{
	(void)kind;
	(void)st;
	fake_log("hipMemcpyAsync");
	return fake_submit((struct fake_op){0, (uintptr_t)d, (uintptr_t)s, n, 0});
}
static int f_hipMemcpy2DAsync(void *d, size_t dp, void *s, size_t sp, size_t w, size_t h, int kind,
			      hipStream_t st)
{
	for (size_t i = 0; i < h; i++)
		f_hipMemcpyAsync((char *)d + i * dp, (char *)s + i * sp, w, kind, st);
	return 0;
}
static int f_hipMemset(void *d, int v, size_t n)
{
	fake_log("hipMemset");
	if (fake_at((uintptr_t)d, n) == NULL)
		return hipErrorInvalidValue;
	return fake_submit((struct fake_op){1, (uintptr_t)d, 0, n, v});
}
static int f_hipMemsetAsync(void *d, int v, size_t n, hipStream_t s)
{
	fake_log("hipMemsetAsync");
	if (fake_any((uintptr_t)d, n) == NULL)
		return hipErrorInvalidValue;
	struct fake_op o = {1, (uintptr_t)d, 0, n, v};
	if (s == (hipStream_t)(uintptr_t)1000) { /* the first stream made: the engine's own */
		fake_run(&o);
		return 0;
	}
	return fake_submit(o);
}
static int f_hipStreamCreateWithFlags(hipStream_t *s, unsigned f)
{
	(void)f;
	*s = (hipStream_t)(uintptr_t)(1000 + fake.handles++);
	return 0;
}
static int f_hipStreamCreate(hipStream_t *s)
{
	return f_hipStreamCreateWithFlags(s, 0);
}
static int f_hipStreamDestroy(hipStream_t s)
{
	(void)s;
	fake_log("hipStreamDestroy");
	return 0;
}
/* Asking lets one step run, so that polling ends. */
static int f_hipStreamQuery(hipStream_t s)
{
	(void)s;
	if (fake.stuck || fake.n_queue == 0)
		return fake.stuck ? hipErrorNotReady : hipSuccess;
	fake_run(&fake.queue[0]);
	memmove(&fake.queue[0], &fake.queue[1], (size_t)--fake.n_queue * sizeof fake.queue[0]);
	return hipErrorNotReady;
}
static int f_hipStreamSynchronize(hipStream_t s)
{
	(void)s;
	return fake_drain();
}
static int f_hipDeviceSynchronize(void)
{
	fake_log("hipDeviceSynchronize");
	return fake_drain();
}
static int f_hipStreamBeginCapture(hipStream_t s, int m)
{
	(void)s;
	(void)m;
	fake.capturing = ++fake.n_graphs;
	return 0;
}
static int f_hipStreamEndCapture(hipStream_t s, hipGraph_t *g)
{
	(void)s;
	*g = (hipGraph_t)(uintptr_t)fake.capturing;
	fake.capturing = 0;
	return 0;
}
static int f_hipThreadExchangeStreamCaptureMode(int *m)
{
	*m = 0;
	return 0;
}
static int f_hipGraphCreate(hipGraph_t *g, unsigned f)
{
	(void)f;
	*g = (hipGraph_t)(uintptr_t)++fake.n_graphs;
	return 0;
}
static int f_hipGraphAddMemcpyNode1D(hipGraphNode_t *n, hipGraph_t g, hipGraphNode_t *deps,
				     size_t nd, void *d, void *s, size_t c, int kind)
{
	struct fake_graph *x = &fake.graphs[(uintptr_t)g - 1];

	(void)deps;
	(void)nd;
	(void)kind;
	fake_log("hipGraphAddMemcpyNode1D");
	x->ops[x->n & 15] = (struct fake_op){0, (uintptr_t)d, (uintptr_t)s, c, 0};
	*n = (hipGraphNode_t)(uintptr_t)((uintptr_t)g * 100 + (uintptr_t)x->n++);
	return 0;
}
static int f_hipGraphAddMemsetNode(hipGraphNode_t *n, hipGraph_t g, hipGraphNode_t *deps, size_t nd,
				   struct hipMemsetParams *p)
{
	struct fake_graph *x = &fake.graphs[(uintptr_t)g - 1];

	(void)deps;
	(void)nd;
	x->ops[x->n & 15] =
	    (struct fake_op){1, (uintptr_t)p->dst, 0, p->width * p->elementSize, (int)p->value};
	*n = (hipGraphNode_t)(uintptr_t)((uintptr_t)g * 100 + (uintptr_t)x->n++);
	return 0;
}
static int f_hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t e, hipGraphNode_t n, void *d, void *s,
					       size_t c, int kind)
{
	(void)n;
	(void)kind;
	fake_log("hipGraphExecMemcpyNodeSetParams1D");
	fake.graphs[(uintptr_t)e - 1].ops[(uintptr_t)n % 100] =
	    (struct fake_op){0, (uintptr_t)d, (uintptr_t)s, c, 0};
	return 0;
}
static int f_hipGraphInstantiate(hipGraphExec_t *e, hipGraph_t g, hipGraphNode_t *n, char *l,
				 size_t s)
{
	(void)n;
	(void)l;
	(void)s;
	fake_log("hipGraphInstantiate");
	fake.graphs[fake.n_graphs] = fake.graphs[(uintptr_t)g - 1];
	*e = (hipGraphExec_t)(uintptr_t)++fake.n_graphs;
	return 0;
}
static int f_hipGraphLaunch(hipGraphExec_t e, hipStream_t s)
{
	struct fake_graph *g = &fake.graphs[(uintptr_t)e - 1];

	(void)s;
	fake_log("hipGraphLaunch");
	for (int i = 0; i < g->n; i++)
		fake_submit(g->ops[i]);
	return 0;
}
static int f_hipGraphDestroy(hipGraph_t g)
{
	(void)g;
	fake_log("hipGraphDestroy");
	return 0;
}
static int f_hipGraphExecDestroy(hipGraphExec_t g)
{
	(void)g;
	fake_log("hipGraphExecDestroy");
	return 0;
}
static int f_hipModuleLoadData(hipModule_t *m, void *image)
{
	(void)image;
	fake_log("hipModuleLoadData");
	*m = (hipModule_t)(uintptr_t)(5000 + fake.handles++);
	return 0;
}
static int f_hipModuleUnload(hipModule_t m)
{
	(void)m;
	fake_log("hipModuleUnload");
	return 0;
}
static int f_hipModuleGetFunction(hipFunction_t *f, hipModule_t m, const char *name)
{
	(void)m;
	*f = (hipFunction_t)(uintptr_t)(name[0] == 'f' ? 1 : 2);
	return 0;
}
/* The kernel: (ptr, u32 n, u32 value), little endian, one behind the other. */
static int f_hipModuleLaunchKernel(hipFunction_t f, unsigned gx, unsigned gy, unsigned gz,
				   unsigned bx, unsigned by, unsigned bz, unsigned lds,
				   hipStream_t s, void **params, void **extra)
{
	uint64_t p;
	uint32_t n, v;

	(void)f, (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)lds, (void)s;
	fake_log("hipModuleLaunchKernel");
	const unsigned char *a = params == NULL ? extra[1] : params[0];
	memcpy(&p, a, 8);
	memcpy(&n, a + 8, 4);
	memcpy(&v, a + 12, 4);
	if (p == 0)
		return 0;
	return fake_submit((struct fake_op){2, p, 0, n, (int)v});
}
static int f_hipModuleLaunchCooperativeKernel(hipFunction_t f, unsigned gx, unsigned gy,
					      unsigned gz, unsigned bx, unsigned by, unsigned bz,
					      unsigned lds, hipStream_t s, void **params)
{
	return f_hipModuleLaunchKernel(f, gx, gy, gz, bx, by, bz, lds, s, params, NULL);
}
static int f_hipExtModuleLaunchKernel(hipFunction_t f, uint32_t gx, uint32_t gy, uint32_t gz,
				      uint32_t bx, uint32_t by, uint32_t bz, size_t lds,
				      hipStream_t s, void **params, void **extra, hipEvent_t start,
				      hipEvent_t stop, uint32_t flags)
{
	(void)start, (void)stop, (void)flags, (void)params;
	return f_hipModuleLaunchKernel(f, gx, gy, gz, bx, by, bz, (unsigned)lds, s, NULL, extra);
}
static int f_hipGraphAddKernelNode(hipGraphNode_t *n, hipGraph_t g, hipGraphNode_t *deps, size_t nd,
				   struct hipKernelNodeParams *p)
{
	int was = fake.capturing;

	(void)deps, (void)nd;
	fake.capturing = (int)(uintptr_t)g; /* its operation becomes a node */
	*n = (hipGraphNode_t)(uintptr_t)((uintptr_t)g * 100 +
					 (uintptr_t)fake.graphs[(uintptr_t)g - 1].n);
	int e = f_hipModuleLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, p->kernelParams, NULL);
	fake.capturing = was;
	return e;
}
static int f_hipEventCreateWithFlags(hipEvent_t *e, unsigned f)
{
	(void)f;
	*e = (hipEvent_t)(uintptr_t)(9000 + fake.handles++);
	return 0;
}
static int f_hipEventRecord(hipEvent_t e, hipStream_t s)
{
	(void)e;
	(void)s;
	return 0;
}
static int f_hipEventSynchronize(hipEvent_t e)
{
	(void)e;
	return fake_drain();
}
static int f_hipEventDestroy(hipEvent_t e)
{
	(void)e;
	return 0;
}
static int f_hipStreamWaitEvent(hipStream_t s, hipEvent_t e, unsigned f)
{
	(void)s;
	(void)e;
	(void)f;
	fake_log("hipStreamWaitEvent");
	return 0;
}
static int f_hipGetLastError(void)
{
	return 0;
}

#define FAKE_FN(x) hip->fn[HRR_API_##x] = (void *)f_##x
static void rig_hip(struct hrr_hip *hip)
{
	for (int i = 0; i < fake.n_dev; i++)
		if (fake.dev[i].live)
			free(fake.dev[i].bytes);
	memset(&fake, 0, sizeof fake);
	memset(hip, 0, sizeof *hip);
	hip->major = 5;
	FAKE_FN(hipInit);
	FAKE_FN(hipGetDeviceCount);
	FAKE_FN(hipMalloc);
	FAKE_FN(hipFree);
	FAKE_FN(hipHostMalloc);
	FAKE_FN(hipHostFree);
	FAKE_FN(hipHostRegister);
	FAKE_FN(hipHostUnregister);
	FAKE_FN(hipHostGetDevicePointer);
	FAKE_FN(hipMemcpy);
	FAKE_FN(hipMemcpyAsync);
	FAKE_FN(hipMemcpy2DAsync);
	FAKE_FN(hipMemset);
	FAKE_FN(hipMemsetAsync);
	FAKE_FN(hipStreamCreate);
	FAKE_FN(hipStreamCreateWithFlags);
	FAKE_FN(hipStreamDestroy);
	FAKE_FN(hipStreamQuery);
	FAKE_FN(hipStreamSynchronize);
	FAKE_FN(hipDeviceSynchronize);
	FAKE_FN(hipStreamBeginCapture);
	FAKE_FN(hipStreamEndCapture);
	FAKE_FN(hipThreadExchangeStreamCaptureMode);
	FAKE_FN(hipGraphCreate);
	FAKE_FN(hipGraphAddMemcpyNode1D);
	FAKE_FN(hipGraphAddMemsetNode);
	FAKE_FN(hipGraphExecMemcpyNodeSetParams1D);
	FAKE_FN(hipGraphInstantiate);
	FAKE_FN(hipGraphLaunch);
	FAKE_FN(hipGraphDestroy);
	FAKE_FN(hipGraphExecDestroy);
	FAKE_FN(hipModuleLoadData);
	FAKE_FN(hipModuleUnload);
	FAKE_FN(hipModuleGetFunction);
	FAKE_FN(hipModuleLaunchKernel);
	FAKE_FN(hipModuleLaunchCooperativeKernel);
	FAKE_FN(hipExtModuleLaunchKernel);
	FAKE_FN(hipGraphAddKernelNode);
	FAKE_FN(hipEventCreateWithFlags);
	FAKE_FN(hipEventRecord);
	FAKE_FN(hipEventSynchronize);
	FAKE_FN(hipEventDestroy);
	FAKE_FN(hipStreamWaitEvent);
	FAKE_FN(hipGetLastError);
}

static void rig_gone(void)
{
	for (int i = 0; i < FAKE_MAX; i++) /* what a fault kept from being freed */
		free(fake.pinned[i]);
	memset(fake.pinned, 0, sizeof fake.pinned);
}

static inline int log_count(const char *name)
{
	int n = 0;
	size_t len = strlen(name);

	for (const char *s = fake.log; (s = strstr(s, name)) != NULL; s += len)
		n += s[len] == ' ' && (s == fake.log || s[-1] == ' ');
	return n;
}

static inline int live_registrations(void)
{
	int n = 0;

	for (int i = 0; i < fake.n_reg; i++)
		n += fake.reg[i].live;
	return n;
}

#endif
