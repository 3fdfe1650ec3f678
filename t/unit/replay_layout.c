/* What a record holds of a kernel's arguments, against what its code object says the kernel takes.
 */
#include "t/unit/replay_fake.h"

#include "t/unit/replay_kernel.h"

#define D 0x600000000000u
#define LLU(x) ((unsigned long long)(x))

/* fill(ptr, BIG bytes): more than the engine has at hand by chance, so that ASan sees it read. */
#define BIG 262144u
static const uint32_t big[] = {8, BIG};

/* As a run time does: each argument's size is the kernel's, whoever gives the pointers. */
static void take(void **params, void **extra)
{
	static unsigned char to[8 + BIG];

	if (params != NULL) {
		memcpy(to, params[0], 8);
		memcpy(to + 8, params[1], BIG);
	} else if (extra != NULL) {
		memcpy(to, extra[1], 8 + BIG);
	}
	diag("taken: %d %d", to[0], to[8 + BIG - 1]);
}

static int b_hipModuleLaunchKernel(hipFunction_t f, unsigned gx, unsigned gy, unsigned gz,
				   unsigned bx, unsigned by, unsigned bz, unsigned lds,
				   hipStream_t s, void **params, void **extra)
{
	(void)f, (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)lds, (void)s;
	fake_log("launch");
	take(params, extra);
	return 0;
}
static int b_hipModuleLaunchCooperativeKernel(hipFunction_t f, unsigned gx, unsigned gy,
					      unsigned gz, unsigned bx, unsigned by, unsigned bz,
					      unsigned lds, hipStream_t s, void **params)
{
	return b_hipModuleLaunchKernel(f, gx, gy, gz, bx, by, bz, lds, s, params, NULL);
}
static int b_hipExtModuleLaunchKernel(hipFunction_t f, uint32_t gx, uint32_t gy, uint32_t gz,
				      uint32_t bx, uint32_t by, uint32_t bz, size_t lds,
				      hipStream_t s, void **params, void **extra, hipEvent_t start,
				      hipEvent_t stop, uint32_t flags)
{
	(void)start, (void)stop, (void)flags;
	return b_hipModuleLaunchKernel(f, gx, gy, gz, bx, by, bz, (unsigned)lds, s, params, extra);
}
static int b_hipGraphAddKernelNode(hipGraphNode_t *n, hipGraph_t g, hipGraphNode_t *deps, size_t nd,
				   struct hipKernelNodeParams *p)
{
	(void)g, (void)deps, (void)nd;
	fake_log("launch");
	take(p->kernelParams, p->extra);
	*n = (hipGraphNode_t)(uintptr_t)77;
	return 0;
}
static int b_hipGraphKernelNodeSetParams(hipGraphNode_t n, struct hipKernelNodeParams *p)
{
	(void)n;
	fake_log("launch");
	take(p->kernelParams, p->extra);
	return 0;
}
static int b_hipGraphExecKernelNodeSetParams(hipGraphExec_t e, hipGraphNode_t n,
					     struct hipKernelNodeParams *p)
{
	(void)e;
	return b_hipGraphKernelNodeSetParams(n, p);
}

static uint64_t refused(const struct rig *g)
{
	return hrr_replay_verdict(g->r)->outcome[HRR_REFUSED];
}

static void begin(struct rig *g)
{
	rig_start(g);
	struct hrr_hip *hip = &g->hip;
	hip->fn[HRR_API_hipModuleLaunchKernel] = (void *)b_hipModuleLaunchKernel;
	hip->fn[HRR_API_hipModuleLaunchCooperativeKernel] =
	    (void *)b_hipModuleLaunchCooperativeKernel;
	hip->fn[HRR_API_hipExtModuleLaunchKernel] = (void *)b_hipExtModuleLaunchKernel;
	hip->fn[HRR_API_hipGraphAddKernelNode] = (void *)b_hipGraphAddKernelNode;
	hip->fn[HRR_API_hipGraphKernelNodeSetParams] = (void *)b_hipGraphKernelNodeSetParams;
	hip->fn[HRR_API_hipGraphExecKernelNodeSetParams] =
	    (void *)b_hipGraphExecKernelNodeSetParams;
	rig_call(g, "hipMalloc", "\"ptr\":\"0x%llx\",\"size\":4096}}", LLU(D));
	rig_call(g, "hipStreamCreate", "\"stream\":\"0x51\"}}");
}

static const char *object_of(struct rig *g, const char *name, const uint32_t *sizes, size_t n)
{
	struct bytes o = kernel_object(name, sizes, n);
	const char *id = rig_blob(g, o.p, o.n);

	free(o.p);
	return id;
}

/* "kernel" with these arguments; id: its code object. */
static const char *kernel(const char *id, const char *args)
{
	static char text[1024];

	snprintf(text, sizeof text,
		 "{\"name\":\"fill\",\"object\":\"%s\",\"grid\":[1,1,1],\"block\":[64,1,1],"
		 "\"lds\":0,\"args\":[%s]}",
		 id, args);
	return text;
}
#define PTR "{\"offset\":0,\"size\":8,\"hex\":\"0000000000600000\",\"ptr\":[0]}"
#define FOUR ",{\"offset\":8,\"size\":4,\"hex\":\"40000000\"}"
#define VALUE ",{\"offset\":12,\"size\":4,\"hex\":\"33000000\"}"

static void launch(struct rig *g, const char *k)
{
	rig_call(g, "hipLaunchKernel",
		 "\"function_address\":\"0x1\",\"numBlocks\":[1,1,1],\"dimBlocks\":[64,1,1],"
		 "\"sharedMemBytes\":0,\"stream\":\"0x51\"},\"kernel\":%s}",
		 k);
}
static void cooperative(struct rig *g, const char *k)
{
	rig_call(g, "hipLaunchCooperativeKernel",
		 "\"f\":\"0x1\",\"gridDim\":[1,1,1],\"blockDimX\":[64,1,1],\"sharedMemBytes\":0,"
		 "\"stream\":\"0x51\"},\"kernel\":%s}",
		 k);
}
static void ext(struct rig *g, const char *k)
{
	rig_call(g, "hipExtModuleLaunchKernel",
		 "\"f\":\"0x0\",\"globalWorkSizeX\":64,\"globalWorkSizeY\":1,\"globalWorkSizeZ\":1,"
		 "\"localWorkSizeX\":64,\"localWorkSizeY\":1,\"localWorkSizeZ\":1,"
		 "\"sharedMemBytes\":0,\"hStream\":\"0x51\",\"startEvent\":null,\"stopEvent\":null,"
		 "\"flags\":0},\"kernel\":%s}",
		 k);
}
static void module(struct rig *g, const char *k)
{
	rig_call(g, "hipModuleLoadData", "\"module\":\"0x31\"},\"blobs\":{\"image\":\"%s\"}}",
		 object_of(g, "fill", big, 2));
	rig_call(g, "hipModuleGetFunction",
		 "\"function\":\"0x41\",\"module\":\"0x31\",\"kname\":\"fill\"}}");
	rig_call(g, "hipModuleLaunchCooperativeKernel",
		 "\"f\":\"0x41\",\"gridDimX\":1,\"gridDimY\":1,\"gridDimZ\":1,\"blockDimX\":64,"
		 "\"blockDimY\":1,\"blockDimZ\":1,\"sharedMemBytes\":0,\"stream\":\"0x51\"},"
		 "\"kernel\":%s}",
		 k);
}
#define NODE                                                                           \
	"\"pNodeParams\":{\"func\":\"0x1\",\"gridDim\":[1,1,1],\"blockDim\":[64,1,1]," \
	"\"sharedMemBytes\":0}},\"kernel\":%s}"
static void graph(struct rig *g)
{
	rig_call(g, "hipGraphCreate", "\"pGraph\":\"0xa1\",\"flags\":0}}");
}
static void add_node(struct rig *g, const char *k)
{
	graph(g);
	rig_call(g, "hipGraphAddKernelNode",
		 "\"pGraphNode\":\"0xb1\",\"graph\":\"0xa1\",\"pDependencies\":null,"
		 "\"numDependencies\":0," NODE,
		 k);
}
static void some_node(struct rig *g)
{
	graph(g);
	rig_call(g, "hipGraphAddMemcpyNode1D",
		 "\"pGraphNode\":\"0xb1\",\"graph\":\"0xa1\",\"pDependencies\":null,"
		 "\"numDependencies\":0,\"dst\":\"0x%llx\",\"src\":\"0x%llx\",\"count\":64,"
		 "\"kind\":\"hipMemcpyDeviceToDevice\"},\"dir\":\"d2d\"}",
		 LLU(D), LLU(D + 64));
}
static void set_node(struct rig *g, const char *k)
{
	some_node(g);
	rig_call(g, "hipGraphKernelNodeSetParams", "\"node\":\"0xb1\"," NODE, k);
}
static void set_exec(struct rig *g, const char *k)
{
	some_node(g);
	rig_call(g, "hipGraphInstantiate", "\"pGraphExec\":\"0xc1\",\"graph\":\"0xa1\"}}");
	rig_call(g, "hipGraphExecKernelNodeSetParams",
		 "\"hGraphExec\":\"0xc1\",\"node\":\"0xb1\"," NODE, k);
}

/* The kernel takes 8 and BIG bytes: less than that is refused and never reaches the run time. */
static void way(const char *title, void (*issue)(struct rig *g, const char *k))
{
	static const char *const args[] = {"", PTR, PTR FOUR};
	static const int missing[] = {0, 1, 1};
	char want[128];

	for (int i = 0; i < 3; i++) {
		struct rig g = {0};
		begin(&g);
		issue(&g, kernel(object_of(&g, "fill", big, 2), args[i]));
		is(refused(&g), 1, "%s with %s: refused", title,
		   i == 0   ? "no argument"
		   : i == 1 ? "one argument of two"
			    : "an argument too short");
		snprintf(want, sizeof want,
			 "kernel fill: it takes 2 arguments, and number %d (offset %d, %u bytes) "
			 "is not in the record, which holds %d",
			 missing[i], 8 * missing[i], missing[i] == 0 ? 8 : BIG, i);
		ok(strstr(g.text, want) != NULL, "  by name: %s", g.text);
		is(log_count("launch"), 0, "  and not issued");
		rig_end(&g);
	}
}

/* Whatever way the record cuts its bytes, all that the kernel takes has to be there. */
static void cuts(void)
{
	static const uint32_t sizes[] = {8, 4, 4};
	static const struct {
		const char *args, *what;
		uint64_t refused;
	} cases[] = {
	    {PTR FOUR VALUE, "each by itself", 0},
	    {PTR VALUE FOUR, "in another order", 0},
	    {PTR FOUR VALUE ",{\"offset\":16,\"size\":4,\"hex\":\"00000000\"}", "one more", 0},
	    {PTR ",{\"offset\":8,\"size\":8,\"hex\":\"4000000033000000\"}", "two as one", 0},
	    {PTR VALUE, "one between missing", 1},
	    {PTR FOUR ",{\"offset\":14,\"size\":4,\"hex\":\"33000000\"}", "half a one missing", 1},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct rig g = {0};
		rig_start(&g);
		rig_call(&g, "hipMalloc", "\"ptr\":\"0x%llx\",\"size\":4096}}", LLU(D));
		rig_call(&g, "hipStreamCreate", "\"stream\":\"0x51\"}}");
		cooperative(&g, kernel(object_of(&g, "fill", sizes, 3), cases[i].args));
		is(refused(&g), cases[i].refused, "arguments %s: %s", cases[i].what,
		   cases[i].refused == 0 ? "launched" : "refused");
		rig_end(&g);
		is(fake.errors, 0, "  with what the record says");
	}
}

static void unknown(struct rig *g, const char *id, const char *why)
{
	char want[256];

	launch(g, kernel(id, PTR FOUR VALUE));
	is(refused(g), 1, "%s: refused", why);
	snprintf(want, sizeof want, "kernel fill: what arguments it takes is not known: %s", why);
	ok(strstr(g->text, want) != NULL, "  and said: %s", g->text);
	is(log_count("hipModuleLaunchKernel"), 0, "  and not issued");
	rig_end(g);
}

static void begin_unknown(struct rig *g)
{
	*g = (struct rig){0};
	rig_start(g);
	rig_call(g, "hipMalloc", "\"ptr\":\"0x%llx\",\"size\":4096}}", LLU(D));
	rig_call(g, "hipStreamCreate", "\"stream\":\"0x51\"}}");
}

/* Two objects, one behind the other: a container may hold several. */
static const char *two(struct rig *g, struct bytes a, struct bytes b)
{
	struct hrr_buf all = {0};

	hrr_buf_add(&all, a.p, a.n);
	hrr_buf_add(&all, b.p, b.n);
	const char *id = rig_blob(g, all.data, all.len);
	hrr_buf_release(&all);
	free(a.p);
	free(b.p);
	return id;
}

static void not_known(void)
{
	static const uint32_t sizes[] = {8, 4, 4}, more[] = {8, 4, 8};
	struct rig g;

	begin_unknown(&g);
	unknown(&g, object_of(&g, "other", sizes, 3), "no code object has its metadata");
	begin_unknown(&g);
	unknown(&g, two(&g, kernel_object("fill", sizes, 3), kernel_object("fill", more, 3)),
		"its container has them in two ways");
	begin_unknown(&g);
	struct bytes bad = kernel_object("fill", sizes, 3);
	for (size_t i = 0; i + 14 < bad.n; i++) /* the key of the list */
		if (memcmp(bad.p + i, "amdhsa.kernels", 14) == 0)
			bad.p[i + 14] = 0xc0;
	unknown(&g, two(&g, kernel_object("fill", sizes, 3), bad),
		"code object metadata: kernels that are no list, or two lists");
}

/* A function's number comes again from another module: it is that one's kernel that is asked. */
static void handle_again(void)
{
	static const uint32_t one[] = {8};
	struct rig g = {0};

	begin(&g);
	rig_call(&g, "hipModuleLoadData", "\"module\":\"0x31\"},\"blobs\":{\"image\":\"%s\"}}",
		 object_of(&g, "fill", one, 1));
	rig_call(&g, "hipModuleGetFunction",
		 "\"function\":\"0x41\",\"module\":\"0x31\",\"kname\":\"fill\"}}");
	rig_call(&g, "hipModuleLoadData", "\"module\":\"0x32\"},\"blobs\":{\"image\":\"%s\"}}",
		 object_of(&g, "fill", big, 2));
	rig_call(&g, "hipModuleGetFunction",
		 "\"function\":\"0x41\",\"module\":\"0x32\",\"kname\":\"fill\"}}");
	rig_call(&g, "hipModuleLaunchCooperativeKernel",
		 "\"f\":\"0x41\",\"gridDimX\":1,\"gridDimY\":1,\"gridDimZ\":1,\"blockDimX\":64,"
		 "\"blockDimY\":1,\"blockDimZ\":1,\"sharedMemBytes\":0,\"stream\":\"0x51\"},"
		 "\"kernel\":%s}",
		 kernel(object_of(&g, "fill", one, 1), PTR));
	is(refused(&g), 1, "a handle that another module gave last: its kernel counts");
	rig_end(&g);
}

int main(void)
{
	way("a launch", launch);
	way("a cooperative launch", cooperative);
	way("a launch by work items", ext);
	way("a launch of a module's kernel", module);
	way("a kernel node", add_node);
	way("a kernel node set in its graph", set_node);
	way("a kernel node set in an executable", set_exec);
	cuts();
	not_known();
	handle_again();
	return done_testing();
}
