/* Sizes and addresses of graph nodes come from the archive: what does not fit is never built. */
#include "t/unit/replay_fake.h"

#define D 0x600000000000u /* an allocation of 65536 bytes */
#define LLU(x) ((unsigned long long)(x))

static int f_hipGraphAddMemcpyNode(hipGraphNode_t *n, hipGraph_t g, hipGraphNode_t *deps, size_t nd,
				   struct hipMemcpy3DParms *p)
{
	(void)n, (void)g, (void)deps, (void)nd, (void)p;
	fake_log("node");
	return 0;
}
static int f_hipGraphAddMemAllocNode(hipGraphNode_t *n, hipGraph_t g, hipGraphNode_t *deps,
				     size_t nd, struct hipMemAllocNodeParams *p)
{
	(void)n, (void)g, (void)deps, (void)nd, (void)p;
	fake_log("node");
	return 0;
}
static int f_hipGraphAddMemFreeNode(hipGraphNode_t *n, hipGraph_t g, hipGraphNode_t *deps,
				    size_t nd, void *p)
{
	(void)n, (void)g, (void)deps, (void)nd, (void)p;
	fake_log("node");
	return 0;
}

#define SET                                                                                     \
	"\"pMemsetParams\":{\"dst\":\"0x%llx\",\"elementSize\":%llu,\"height\":%llu,\"pitch\":" \
	"%llu,\"value\":1,\"width\":%llu}}}"
#define COPY1D                                                           \
	"\"dst\":\"0x%llx\",\"src\":\"0x%llx\",\"count\":%llu,\"kind\":" \
	"\"hipMemcpyDeviceToDevice\"},\"dir\":\"d2d\"}"
#define BOX                                                                                       \
	"\"pCopyParams\":{\"srcPtr.ptr\":\"0x%llx\",\"srcPtr.pitch\":%llu,\"srcPtr.ysize\":%llu," \
	"\"dstPtr.ptr\":\"0x600000008000\",\"dstPtr.pitch\":16,\"dstPtr.ysize\":4,"               \
	"\"extent.width\":16,\"extent.height\":4,\"extent.depth\":%llu,\"kind\":"                 \
	"\"hipMemcpyDeviceToDevice\"}},\"dir\":\"d2d\"}"

/* One node; why: what is said of it, NULL: it is built. */
TAP_PRINTF(4, 5)
static void node(const char *title, const char *why, const char *api, const char *fmt, ...)
{
	struct rig g = {.opt.keep_going = true};
	char rest[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(rest, sizeof rest, fmt, ap);
	va_end(ap);
	rig_start(&g);
	g.hip.fn[HRR_API_hipGraphAddMemcpyNode] = (void *)f_hipGraphAddMemcpyNode;
	g.hip.fn[HRR_API_hipGraphAddMemAllocNode] = (void *)f_hipGraphAddMemAllocNode;
	g.hip.fn[HRR_API_hipGraphAddMemFreeNode] = (void *)f_hipGraphAddMemFreeNode;
	rig_call(&g, "hipMalloc", "\"ptr\":\"0x%llx\",\"size\":65536}}", LLU(D));
	rig_call(&g, "hipGraphCreate", "\"pGraph\":\"0xa1\",\"flags\":0}}");
	rig_call(&g, api,
		 "\"pGraphNode\":\"0xb1\",\"graph\":\"0xa1\",\"pDependencies\":null,"
		 "\"numDependencies\":0,%s",
		 rest);
	int built = fake.graphs[0].n + log_count("node");
	uint64_t failed = hrr_replay_verdict(g.r)->outcome[HRR_FAILED];
	if (why == NULL) {
		ok(failed == 0 && built == 1, "%s: built: %s", title, g.text);
	} else {
		ok(failed == 1 && strstr(g.text, why) != NULL, "%s: %s", title, g.text);
		is(built, 0, "  not built");
		g.text[0] = '\0';
		rig_call(&g, "hipGraphInstantiate", "\"pGraphExec\":\"0xc1\",\"graph\":\"0xa1\"}}");
		rig_call(&g, "hipGraphLaunch", "\"graphExec\":\"0xc1\",\"stream\":\"0x0\"}}");
		ok(strstr(g.text, "could not be rebuilt") != NULL &&
		       log_count("hipGraphLaunch") == 0,
		   "  its graph is not launched: %s", g.text);
	}
	rig_end(&g);
}

static void sets(void)
{
	const char *api = "hipGraphAddMemsetNode";

	node("set to the last byte", NULL, api, SET, LLU(D), LLU(4), LLU(4), LLU(16384), LLU(4096));
	node("set one byte further", "runs past the end", api, SET, LLU(D + 1), LLU(4), LLU(4),
	     LLU(16384), LLU(4096));
	node("set of odd elements", "elements of 3 bytes", api, SET, LLU(D), LLU(3), LLU(1), LLU(0),
	     LLU(4));
	node("set wider than memory", "larger than memory", api, SET, LLU(D), LLU(4), LLU(1),
	     LLU(0), LLU(1) << 62);
	node("set higher than memory", "larger than memory", api, SET, LLU(D), LLU(1), LLU(1) << 40,
	     LLU(1) << 40, LLU(4));
	node("set of rows over each other", "are 8 bytes apart", api, SET, LLU(D), LLU(1), LLU(2),
	     LLU(8), LLU(16));
	node("set at a null pointer", "null pointer", api, SET, LLU(0), LLU(1), LLU(1), LLU(0),
	     LLU(4));
}

static void copies(void)
{
	const char *api = "hipGraphAddMemcpyNode1D";

	node("copy to the last byte", NULL, api, COPY1D, LLU(D), LLU(D + 32768), LLU(32768));
	node("copy one byte further", "runs past the end", api, COPY1D, LLU(D), LLU(D + 32768),
	     LLU(32769));
	node("copy around the end of addresses", "wraps around", api, COPY1D,
	     LLU(0xfffffffffffff000), LLU(D), LLU(8192));
	api = "hipGraphAddMemcpyNode";
	node("box", NULL, api, BOX, LLU(D), LLU(16), LLU(4), LLU(2));
	node("box past the end", "runs past the end", api, BOX, LLU(D + 65536 - 64), LLU(16),
	     LLU(4), LLU(2));
	node("box whose planes overflow", "larger than memory", api, BOX, LLU(D), LLU(1) << 40,
	     LLU(1) << 40, LLU(2));
	node("box of more planes than memory", "larger than memory", api, BOX, LLU(D), LLU(1) << 20,
	     LLU(1) << 20, LLU(1) << 40);
}

static void memory(void)
{
	const char *alloc = "hipGraphAddMemAllocNode", *gone = "hipGraphAddMemFreeNode";
	static const char params[] = "\"pNodeParams\":{\"accessDescs\":[],\"accessDescCount\":%llu,"
				     "\"bytesize\":%llu,\"dptr\":\"0x%llx\"}}}";

	node("memory at no address", "not recorded", alloc, params, LLU(0), LLU(64), LLU(0));
	node("memory around the end of addresses", "not recorded", alloc, params, LLU(0), LLU(8192),
	     LLU(0xfffffffffffff000));
	node("release of nothing", "null", gone, "\"dev_ptr\":\"0x0\"}}");
	node("release of unknown memory", "not mapped", gone, "\"dev_ptr\":\"0x1000\"}}");
}

int main(void)
{
	sets();
	copies();
	memory();
	return done_testing();
}
