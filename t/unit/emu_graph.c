#include "t/unit/emu_fixture.h"

/* Graphs: explicit nodes, capture, updates, clones. */

static char *dev, *host;

static hipGraphNode_t set_node(hipGraph_t g, hipGraphNode_t after, void *at, int value)
{
	struct hipMemsetParams p = {
	    .dst = at, .elementSize = 1, .height = 1, .value = (uint32_t)value, .width = 16};
	hipGraphNode_t n = NULL;

	is(HIP(hipGraphAddMemsetNode, &n, g, &after, after != NULL, &p), hipSuccess, "memset node");
	return n;
}

static hipGraphNode_t copy_node(hipGraph_t g, hipGraphNode_t after, void *to, void *from)
{
	hipGraphNode_t n = NULL;

	is(HIP(hipGraphAddMemcpyNode1D, &n, g, &after, after != NULL, to, from, 16,
	       hipMemcpyDefault),
	   hipSuccess, "memcpy node");
	return n;
}

static void run(hipGraphExec_t x, int expect, const char *what)
{
	memset(host, 0, 64);
	is(HIP(hipGraphLaunch, x, NULL), hipSuccess, "launch");
	is(HIP(hipDeviceSynchronize), hipSuccess, "synchronize");
	is(host[15], expect, "%s", what);
}

static void explicit_nodes(void)
{
	hipGraph_t g = NULL, clone = NULL;
	hipGraphExec_t x = NULL, y = NULL;
	hipGraphNode_t list[4], n = NULL, bad = NULL;
	size_t count = 0;
	int type = 0, result = 9;
	struct hipMemsetParams p;

	is(HIP(hipGraphCreate, &g, 0), hipSuccess, "graph");
	hipGraphNode_t set = set_node(g, NULL, dev, 1), copy = copy_node(g, set, host, dev);
	is(HIP(hipGraphGetNodes, g, NULL, &count), hipSuccess, "count");
	is(count, 2, "two nodes");
	count = 4;
	is(HIP(hipGraphGetRootNodes, g, list, &count), hipSuccess, "roots");
	ok(count == 1 && list[0] == set && list[1] == NULL, "one, the set");
	is(HIP(hipGraphNodeGetType, copy, &type), hipSuccess, "type");
	is(type, 9, "memcpy 1D, as ROCm 5 counts");
	count = 4;
	is(HIP(hipGraphNodeGetDependencies, copy, list, &count), hipSuccess, "dependencies");
	ok(count == 1 && list[0] == set, "the set");
	is(HIP(hipGraphAddDependencies, g, &copy, &set, 1), hipSuccess, "an edge back");
	is(HIP(hipGraphInstantiate, &x, g, NULL, NULL, 0), hipErrorInvalidValue, "is a cycle");
	is(HIP(hipGraphRemoveDependencies, g, &copy, &set, 1), hipSuccess, "taken out");
	is(HIP(hipGraphInstantiate, &x, g, NULL, NULL, 0), hipSuccess, "instantiate");
	run(x, 1, "runs");
	run(x, 1, "and runs again");

	is(HIP(hipGraphMemsetNodeGetParams, set, &p), hipSuccess, "parameters");
	p.value = 2;
	is(HIP(hipGraphMemsetNodeSetParams, set, &p), hipSuccess, "of the graph's node");
	run(x, 1, "do not change what was instantiated");
	is(HIP(hipGraphInstantiate, &y, g, NULL, NULL, 0), hipSuccess, "but what comes after");
	run(y, 2, "has them");
	p.value = 3;
	is(HIP(hipGraphExecMemsetNodeSetParams, x, set, &p), hipSuccess, "of the executable");
	run(x, 3, "do");
	is(HIP(hipGraphExecMemcpyNodeSetParams1D, x, copy, host + 16, dev, 16, hipMemcpyDefault),
	   hipSuccess, "another destination");
	run(x, 0, "the old one stays");
	is(host[31], 3, "the new one is written");
	is(HIP(hipGraphExecUpdate, x, g, &bad, &result), hipSuccess, "update as a whole");
	is(result, hipGraphExecUpdateSuccess, "says so");
	run(x, 2, "has the graph's parameters");

	is(HIP(hipGraphClone, &clone, g), hipSuccess, "clone");
	is(HIP(hipGraphNodeFindInClone, &n, set, clone), hipSuccess, "its node");
	ok(n != NULL && n != set, "is another");
	is(HIP(hipGraphMemsetNodeGetParams, n, &p), hipSuccess, "with the parameters");
	is(p.value, 2, "of the original");
	set_node(clone, n, dev + 32, 4);
	is(HIP(hipGraphExecUpdate, x, clone, &bad, &result), hipErrorGraphExecUpdateFailure,
	   "another shape");
	is(result, hipGraphExecUpdateErrorTopologyChanged, "is no update");
	is(HIP(hipGraphDestroy, g), hipSuccess, "destroy the graph");
	is(HIP(hipGraphDestroy, g), hipErrorInvalidValue, "once");
	run(x, 2, "the executable lives on");
	is(HIP(hipGraphExecDestroy, x), hipSuccess, "executable");
	is(HIP(hipGraphLaunch, x, NULL), hipErrorInvalidValue, "gone");
	is(HIP(hipGraphExecDestroy, y), hipSuccess, "the other");

	/* A child runs its nodes, in its own order. */
	hipGraph_t parent = NULL;
	is(HIP(hipGraphCreate, &parent, 0), hipSuccess, "graph");
	is(HIP(hipGraphAddChildGraphNode, &n, parent, NULL, 0, clone), hipSuccess, "child");
	copy_node(parent, n, host, dev + 32);
	is(HIP(hipGraphInstantiate, &x, parent, NULL, NULL, 0), hipSuccess, "instantiate");
	run(x, 4, "the child ran before the copy");
	is(HIP(hipGraphDestroy, clone), hipSuccess, "graph");
	is(HIP(hipGraphDestroy, parent), hipSuccess, "graph");
	is(HIP(hipGraphExecDestroy, x), hipSuccess, "executable");
}

static void capture(void)
{
	hipStream_t s = NULL, t = NULL, blocking = NULL;
	hipEvent_t fork = NULL, join = NULL;
	hipGraph_t g = NULL;
	hipGraphExec_t x = NULL;
	size_t count = 0;
	int status = 9;
	void *p = NULL;

	is(HIP(hipStreamCreateWithFlags, &s, 1), hipSuccess, "stream");
	is(HIP(hipStreamCreateWithFlags, &t, 1), hipSuccess, "stream");
	is(HIP(hipEventCreate, &fork), hipSuccess, "event");
	is(HIP(hipEventCreate, &join), hipSuccess, "event");
	is(HIP(hipStreamBeginCapture, NULL, 0), hipErrorStreamCaptureUnsupported,
	   "the null stream is not captured");
	is(HIP(hipStreamBeginCapture, s, 0), hipSuccess, "begin");
	is(HIP(hipMemsetAsync, dev, 5, 16, s), hipSuccess, "set");
	is(HIP(hipEventRecord, fork, s), hipSuccess, "fork");
	is(HIP(hipStreamWaitEvent, t, fork, 0), hipSuccess, "t joins");
	is(HIP(hipStreamIsCapturing, t, &status), hipSuccess, "status");
	is(status, hipStreamCaptureStatusActive, "of t: active");
	is(HIP(hipMemsetAsync, dev + 16, 6, 16, t), hipSuccess, "set on t");
	is(HIP(hipEventRecord, join, t), hipSuccess, "join");
	is(HIP(hipStreamWaitEvent, s, join, 0), hipSuccess, "s waits");
	is(HIP(hipMemcpyAsync, host, dev, 32, hipMemcpyDeviceToHost, s), hipSuccess, "copy");
	is(HIP(hipMalloc, &p, 16), hipErrorStreamCaptureUnsupported, "no hipMalloc meanwhile");
	is(HIP(hipStreamEndCapture, t, &g), hipErrorStreamCaptureUnmatched, "t did not begin it");
	is(HIP(hipStreamEndCapture, s, &g), hipSuccess, "end");
	is(HIP(hipStreamIsCapturing, t, &status), hipSuccess, "status");
	is(status, hipStreamCaptureStatusNone, "of t: none");
	is(HIP(hipGraphGetNodes, g, NULL, &count), hipSuccess, "nodes");
	is(count, 3, "three");
	count = 0;
	is(HIP(hipGraphGetEdges, g, NULL, NULL, &count), hipSuccess, "edges");
	is(count, 3, "three");
	memset(host, 0, 64);
	is(HIP(hipDeviceSynchronize), hipSuccess, "nothing ran");
	is(host[0], 0, "by itself");
	is(HIP(hipGraphInstantiate, &x, g, NULL, NULL, 0), hipSuccess, "instantiate");
	run(x, 5, "runs");
	is(host[31], 6, "both branches");
	is(HIP(hipGraphExecDestroy, x), hipSuccess, "executable");
	is(HIP(hipGraphDestroy, g), hipSuccess, "graph");

	is(HIP(hipStreamBeginCapture, s, 0), hipSuccess, "begin");
	is(HIP(hipMemsetAsync, dev, 5, 16, s), hipSuccess, "set");
	is(HIP(hipEventRecord, fork, s), hipSuccess, "fork");
	is(HIP(hipStreamWaitEvent, t, fork, 0), hipSuccess, "t joins");
	is(HIP(hipMemsetAsync, dev + 16, 6, 16, t), hipSuccess, "set on t");
	is(HIP(hipStreamEndCapture, s, &g), hipErrorStreamCaptureUnjoined, "without a join");
	ok(g == NULL, "no graph");
	is(HIP(hipStreamIsCapturing, t, &status), hipSuccess, "status");
	is(status, hipStreamCaptureStatusNone, "all ended");

	is(HIP(hipStreamBeginCapture, s, 0), hipSuccess, "begin");
	is(HIP(hipStreamSynchronize, s), hipErrorStreamCaptureUnsupported, "waiting for it");
	is(HIP(hipMemsetAsync, dev, 5, 16, s), hipErrorStreamCaptureInvalidated, "spoils it");
	is(HIP(hipStreamEndCapture, s, &g), hipErrorStreamCaptureInvalidated, "end");
	is(HIP(hipStreamEndCapture, s, &g), hipErrorIllegalState, "once");

	is(HIP(hipStreamCreate, &blocking), hipSuccess, "a blocking stream");
	is(HIP(hipStreamBeginCapture, blocking, 2), hipSuccess, "begin, relaxed");
	is(HIP(hipMalloc, &p, 16), hipSuccess, "hipMalloc may");
	is(HIP(hipMemset, p, 0, 16), hipErrorStreamCaptureImplicit,
	   "the null stream may not depend on it");
	is(HIP(hipStreamEndCapture, blocking, &g), hipErrorStreamCaptureInvalidated, "end");
	is(HIP(hipFree, p), hipSuccess, "hipFree");
}

/* A node keeps looking its operands up: registration may come and go. */
static void registration(void)
{
	char *page = aligned_alloc(4096, 4096);
	hipGraph_t g = NULL;
	hipGraphExec_t x = NULL;

	memset(page, 0, 4096);
	is(HIP(hipGraphCreate, &g, 0), hipSuccess, "graph");
	is(HIP(hipHostRegister, page, 4096, 0), hipSuccess, "register");
	hipGraphNode_t set = set_node(g, NULL, dev, 8);
	copy_node(g, set, page, dev);
	is(HIP(hipGraphInstantiate, &x, g, NULL, NULL, 0), hipSuccess, "instantiate");
	is(HIP(hipHostUnregister, page), hipSuccess, "unregister");
	is(HIP(hipGraphLaunch, x, NULL), hipSuccess, "launch");
	is(HIP(hipDeviceSynchronize), hipSuccess, "an ordinary copy");
	is(page[15], 8, "that lands");
	is(HIP(hipGraphExecDestroy, x), hipSuccess, "executable");
	is(HIP(hipGraphDestroy, g), hipSuccess, "graph");
	free(page);
}

static void memory_nodes(void)
{
	struct hipMemAllocNodeParams a = {0};
	hipGraph_t g = NULL;
	hipGraphExec_t x = NULL;
	hipGraphNode_t n = NULL, f = NULL;

	a.poolProps.allocType = hipMemAllocationTypePinned;
	a.poolProps.location.type = hipMemLocationTypeDevice;
	a.bytesize = 64;
	is(HIP(hipGraphCreate, &g, 0), hipSuccess, "graph");
	is(HIP(hipGraphAddMemAllocNode, &n, g, NULL, 0, &a), hipSuccess, "allocation node");
	ok(a.dptr != NULL, "says where");
	hipGraphNode_t set = set_node(g, n, a.dptr, 3), copy = copy_node(g, set, host, a.dptr);
	is(HIP(hipGraphAddMemFreeNode, &f, g, &copy, 1, a.dptr), hipSuccess, "free node");
	is(HIP(hipGraphInstantiate, &x, g, NULL, NULL, 0), hipSuccess, "instantiate");
	run(x, 3, "memory of the graph");
	run(x, 3, "and again");
	is(HIP(hipGraphExecDestroy, x), hipSuccess, "executable");
	is(HIP(hipGraphDestroy, g), hipSuccess, "graph");
}

int main(void)
{
	if (emu_open() && ok(HIP(hipMalloc, (void **)&dev, 64) == hipSuccess &&
				 HIP(hipHostMalloc, (void **)&host, 64, 0) == hipSuccess,
			     "memory")) {
		explicit_nodes();
		capture();
		registration();
		memory_nodes();
	}
	return done_testing();
}
