/* Memory HIP never saw: what backs a segment, what does not, and the timeline. */
#include "t/unit/replay_fake.h"

#include "t/unit/replay_kernel.h"

#define S 0x610000000000u /* segment */
#define D 0x600000000000u /* an allocation */
#define H 0x7f0000000000u /* host memory */
#define LLU(x) ((unsigned long long)(x))

static void segment(struct rig *g, uint64_t base, uint64_t size)
{
	rig_line(g,
		 "{\"region\":\"add\",\"kind\":\"segment\",\"device\":0,\"base\":\"0x%llx\","
		 "\"size\":%llu,\"tag\":\"pool\"}",
		 LLU(base), LLU(size));
}

static void block(struct rig *g, uint64_t base, uint64_t size, const char *tag)
{
	rig_line(
	    g,
	    "{\"region\":\"add\",\"kind\":\"block\",\"device\":0,\"base\":\"0x%llx\",\"size\":%llu,"
	    "\"tag\":\"%s\"}",
	    LLU(base), LLU(size), tag);
}

static void del(struct rig *g, const char *kind, uint64_t base)
{
	rig_line(g, "{\"region\":\"del\",\"kind\":\"%s\",\"device\":0,\"base\":\"0x%llx\"}", kind,
		 LLU(base));
}

static void begin(struct rig *g)
{
	rig_start(g);
	rig_call(g, "hipMalloc", "\"ptr\":\"0x%llx\",\"size\":65536}}", LLU(D));
	rig_call(g, "hipStreamCreate", "\"stream\":\"0x51\"}}");
}

static uint64_t backed(struct rig *g)
{
	return hrr_replay_verdict(g->r)->backed;
}

static int copy(struct rig *g, const char *api, uint64_t dst, uint64_t src, size_t n,
		const char *kind, const char *dir, bool async)
{
	char d[32] = "";

	if (dir != NULL)
		snprintf(d, sizeof d, ",\"dir\":\"%s\"", dir);
	bool from_host = dir != NULL ? dir[0] == 'h' : src >= H;
	char blob[96] = "";
	if (from_host)
		snprintf(blob, sizeof blob, ",\"blobs\":{\"src\":\"%s\"}", rig_bytes(g, 0x44, n));
	return rig_call(
	    g, api,
	    "\"dst\":\"0x%llx\",\"src\":\"0x%llx\",\"sizeBytes\":%zu,\"kind\":\"%s\"%s}%s%s}",
	    LLU(dst), LLU(src), n, kind, async ? ",\"stream\":\"0x51\"" : "", d, blob);
}

/* Each first touch backs the segment, once. */
static void first_touch(const char *what, void (*touch)(struct rig *g))
{
	struct rig g = {0};

	begin(&g);
	segment(&g, S, 8192);
	is(backed(&g), 0, "%s: add allocates nothing", what);
	touch(&g);
	is(g.rc, 0, "  is played: %s", g.text);
	is(backed(&g), 1, "  and backs the segment");
	touch(&g);
	is(backed(&g), 1, "  once");
	rig_end(&g);
	is(g.v.outcome[HRR_FAILED] + g.v.outcome[HRR_REFUSED], 0, "  nothing failed");
	is(fake.errors, 0, "  nothing went astray");
}

static void t_h2d(struct rig *g)
{
	copy(g, "hipMemcpy", S + 16, H, 100, "hipMemcpyHostToDevice", "h2d", false);
}
static void t_h2d_foreign(struct rig *g)
{
	copy(g, "hipMemcpy", S + 16, H, 100, "hipMemcpyDefault", NULL, false);
}
static void t_d2h(struct rig *g)
{
	copy(g, "hipMemcpyAsync", H, S, 100, "hipMemcpyDefault", "d2h", true);
}
static void t_d2d_dst(struct rig *g)
{
	copy(g, "hipMemcpy", S, D, 100, "hipMemcpyDeviceToDevice", "d2d", false);
}
static void t_d2d_src(struct rig *g)
{
	copy(g, "hipMemcpy", D, S, 100, "hipMemcpyDeviceToDevice", "d2d", false);
}
static void t_set(struct rig *g)
{
	rig_call(g, "hipMemset", "\"dst\":\"0x%llx\",\"value\":1,\"sizeBytes\":8192}}", LLU(S));
}
static void t_set_async(struct rig *g)
{
	rig_call(g, "hipMemsetAsync",
		 "\"dst\":\"0x%llx\",\"value\":1,\"sizeBytes\":10,\"stream\":\"0x51\"}}",
		 LLU(S + 8000));
}
static void hex8(char *to, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		snprintf(to + 2 * i, 3, "%02x", (unsigned)(v >> (8 * i) & 255));
}
/* "kernel" of a call: fill(p, 64, 0x33), its arguments apart or in one structure. */
static const char *kernel(struct rig *g, uint64_t p, bool in_struct)
{
	static char text[512];
	char hex[17];

	hex8(hex, p);
	snprintf(
	    text, sizeof text,
	    "{\"name\":\"fill\",\"object\":\"%s\",\"grid\":[1,1,1],\"block\":[64,1,1],\"lds\":0,"
	    "\"args\":[{\"offset\":0,\"size\":%d,\"hex\":\"%s%s]}",
	    fill_object(g), in_struct ? 16 : 8, hex,
	    in_struct
		? "4000000033000000\",\"ptr\":[0]}"
		: "\",\"ptr\":[0]},{\"offset\":8,\"size\":4,\"hex\":\"40000000\"},{\"offset\":"
		  "12,\"size\":4,\"hex\":\"33000000\"}");
	return text;
}
static void launch(struct rig *g, uint64_t p, bool in_struct)
{
	rig_call(g, "hipLaunchKernel",
		 "\"function_address\":\"0x1\",\"numBlocks\":[1,1,1],\"dimBlocks\":[64,1,1],"
		 "\"sharedMemBytes\":0,\"stream\":\"0x0\"},\"kernel\":%s}",
		 kernel(g, p, in_struct));
}
static void t_cooperative(struct rig *g)
{
	rig_call(g, "hipLaunchCooperativeKernel",
		 "\"f\":\"0x1\",\"gridDim\":[1,1,1],\"blockDimX\":[64,1,1],\"sharedMemBytes\":0,"
		 "\"stream\":\"0x0\"},\"kernel\":%s}",
		 kernel(g, S + 64, false));
}
static void t_ext(struct rig *g)
{
	rig_call(g, "hipExtLaunchKernel",
		 "\"function_address\":\"0x1\",\"numBlocks\":[1,1,1],\"dimBlocks\":[64,1,1],"
		 "\"sharedMemBytes\":0,\"stream\":\"0x51\",\"startEvent\":null,\"stopEvent\":null,"
		 "\"flags\":0},\"kernel\":%s}",
		 kernel(g, S + 64, false));
}
static void t_ext_module(struct rig *g)
{
	rig_call(g, "hipExtModuleLaunchKernel",
		 "\"f\":\"0x0\",\"globalWorkSizeX\":64,\"globalWorkSizeY\":1,\"globalWorkSizeZ\":1,"
		 "\"localWorkSizeX\":64,\"localWorkSizeY\":1,\"localWorkSizeZ\":1,"
		 "\"sharedMemBytes\":0,\"hStream\":\"0x51\",\"startEvent\":null,\"stopEvent\":null,"
		 "\"flags\":0},\"kernel\":%s}",
		 kernel(g, S + 64, true));
}
static void t_per_thread(struct rig *g)
{
	rig_call(g, "hipLaunchKernel_spt",
		 "\"function_address\":\"0x1\",\"numBlocks\":[1,1,1],\"dimBlocks\":[64,1,1],"
		 "\"sharedMemBytes\":0,\"stream\":\"0x0\"},\"kernel\":%s}",
		 kernel(g, S + 64, false));
}
static void t_graph_kernel(struct rig *g)
{
	rig_call(g, "hipGraphCreate", "\"pGraph\":\"0xa1\",\"flags\":0}}");
	rig_call(g, "hipGraphAddKernelNode",
		 "\"pGraphNode\":\"0xb1\",\"graph\":\"0xa1\",\"pDependencies\":null,"
		 "\"numDependencies\":0,\"pNodeParams\":{\"func\":\"0x1\",\"gridDim\":[1,1,1],"
		 "\"blockDim\":[64,1,1],\"sharedMemBytes\":0}},\"kernel\":%s}",
		 kernel(g, S + 64, false));
}
static void t_captured_kernel(struct rig *g)
{
	rig_call(g, "hipStreamBeginCapture",
		 "\"stream\":\"0x51\",\"mode\":\"hipStreamCaptureModeGlobal\"}}");
	rig_call(g, "hipLaunchKernel",
		 "\"function_address\":\"0x1\",\"numBlocks\":[1,1,1],\"dimBlocks\":[64,1,1],"
		 "\"sharedMemBytes\":0,\"stream\":\"0x51\"},\"kernel\":%s}",
		 kernel(g, S + 64, false));
	rig_call(g, "hipStreamEndCapture", "\"stream\":\"0x51\",\"pGraph\":\"0xa7\"}}");
}
static void t_arg(struct rig *g)
{
	launch(g, S + 64, false);
}
static void t_arg_struct(struct rig *g)
{
	launch(g, S + 64, true);
}
static void t_graph_memcpy(struct rig *g)
{
	rig_call(g, "hipGraphCreate", "\"pGraph\":\"0xa1\",\"flags\":0}}");
	rig_call(
	    g, "hipGraphAddMemcpyNode1D",
	    "\"pGraphNode\":\"0xb1\",\"graph\":\"0xa1\",\"pDependencies\":null,"
	    "\"numDependencies\":0,\"dst\":\"0x%llx\",\"src\":\"0x%llx\",\"count\":64,\"kind\":"
	    "\"hipMemcpyDeviceToHost\"},\"dir\":\"d2h\"}",
	    LLU(H), LLU(S));
}
static void t_graph_memset(struct rig *g)
{
	rig_call(g, "hipGraphCreate", "\"pGraph\":\"0xa1\",\"flags\":0}}");
	rig_call(g, "hipGraphAddMemsetNode",
		 "\"pGraphNode\":\"0xb1\",\"graph\":\"0xa1\",\"pDependencies\":null,"
		 "\"numDependencies\":0,\"pMemsetParams\":{\"dst\":\"0x%llx\",\"elementSize\":4,"
		 "\"height\":1,\"pitch\":0,\"value\":0,\"width\":16}}}",
		 LLU(S));
}
static void t_in_capture(struct rig *g)
{
	rig_call(g, "hipStreamBeginCapture",
		 "\"stream\":\"0x51\",\"mode\":\"hipStreamCaptureModeGlobal\"}}");
	copy(g, "hipMemcpyAsync", S, H, 100, "hipMemcpyHostToDevice", "h2d", true);
	rig_call(g, "hipStreamEndCapture", "\"stream\":\"0x51\",\"pGraph\":\"0xa7\"}}");
}

/* A host end whose number lies in a live segment backs nothing. */
static void host_end(const char *what, uint64_t dst, uint64_t src, const char *kind,
		     const char *dir)
{
	struct rig g = {0};

	begin(&g);
	segment(&g, S, 8192);
	copy(&g, "hipMemcpy", dst, src, 100, kind, dir, false);
	is(g.rc, 0, "%s: host end in a segment is host memory: %s", what, g.text);
	is(backed(&g), 0, "  and backs nothing");
	rig_end(&g);
}

static void host_ends(void)
{
	host_end("h2d source", D, S + 16, "hipMemcpyHostToDevice", "h2d");
	host_end("d2h destination", S + 16, D, "hipMemcpyDeviceToHost", "d2h");
	host_end("h2h both", S + 16, S + 4096, "hipMemcpyHostToHost", "h2h");
	host_end("default, h2d source", D, S + 16, "hipMemcpyDefault", "h2d");
	host_end("default, d2h destination", S + 16, D, "hipMemcpyDefault", "d2h");
	host_end("kind says device, dir says host", D, S, "hipMemcpyDeviceToDevice", "h2d");
}

static void over_the_end(void)
{
	struct rig g = {.opt.keep_going = true};

	begin(&g);
	segment(&g, S, 8192);
	copy(&g, "hipMemcpy", S + 8000, H, 193, "hipMemcpyHostToDevice", "h2d", false);
	ok(strstr(g.text, "193") != NULL && strstr(g.text, "192") != NULL,
	   "a copy past the end is refused with both numbers: %s", g.text);
	is(log_count("hipMemcpy"), 0, "  and not issued");
	copy(&g, "hipMemcpy", S + 8000, H, 192, "hipMemcpyHostToDevice", "h2d", false);
	is(log_count("hipMemcpy"), 1, "  up to the end it is");
	copy(&g, "hipMemcpy", S + 8192, H, 1, "hipMemcpyHostToDevice", "h2d", false);
	ok(strstr(g.text, "not mapped") != NULL, "one past the end is not mapped: %s", g.text);
	rig_end(&g);
}

static void deleted_and_added(void)
{
	struct rig g = {.opt.keep_going = true, .opt.fill_byte = 0x77};

	begin(&g);
	fake.late = true;
	segment(&g, S, 8192);
	t_set(&g);
	int mallocs = log_count("hipMalloc"), frees = log_count("hipFree");
	rig_call(&g, "hipMemsetAsync",
		 "\"dst\":\"0x%llx\",\"value\":1,\"sizeBytes\":10,\"stream\":\"0x51\"}}", LLU(S));
	del(&g, "segment", S);
	copy(&g, "hipMemcpy", H, S, 10, "hipMemcpyDeviceToHost", "d2h", false);
	ok(strstr(g.text, "not mapped") != NULL && strstr(g.text, "segment") != NULL,
	   "a deleted segment is out of the map at once: %s", g.text);
	segment(&g, S, 4096);
	copy(&g, "hipMemcpy", H, S, 64, "hipMemcpyDeviceToHost", "d2h", false);
	rig_output(&g, H, 0x77, 64, 0);
	is(log_count("hipMalloc"), mallocs + 1, "  added again it gets storage of its own");
	is(backed(&g), 2, "  counted again");
	rig_call(&g, "hipDeviceSynchronize", "}}");
	is(log_count("hipFree"), frees + 1,
	   "  the old storage goes when the device was waited for");
	copy(&g, "hipMemcpy", H, S, 8192, "hipMemcpyDeviceToHost", "d2h", false);
	ok(strstr(g.text, "4096") != NULL, "  its new size counts: %s", g.text);
	rig_end(&g);
	is(g.v.outcome[HRR_EXACT], 1, "  and it is filled");
	is(fake.errors, 0, "  work queued before wrote what was still there");
}

static void kept_by_a_graph(void)
{
	struct rig g = {0};

	begin(&g);
	segment(&g, S, 8192);
	t_graph_memset(&g);
	rig_call(
	    &g, "hipGraphInstantiate",
	    "\"pGraphExec\":\"0xc1\",\"graph\":\"0xa1\",\"pErrorNode\":null,\"pLogBuffer\":null,"
	    "\"bufferSize\":0}}");
	del(&g, "segment", S);
	rig_call(&g, "hipDeviceSynchronize", "}}");
	is(log_count("hipFree"), 0, "storage a graph refers to stays");
	rig_call(&g, "hipGraphLaunch", "\"graphExec\":\"0xc1\",\"stream\":\"0x0\"}}");
	is(fake.errors, 0, "  and can be written");
	rig_call(&g, "hipGraphExecDestroy", "\"graphExec\":\"0xc1\"}}");
	rig_call(&g, "hipGraphDestroy", "\"graph\":\"0xa1\"}}");
	is(log_count("hipFree"), 1, "  until the last graph is destroyed");
	rig_end(&g);
}

static void blocks(bool strict)
{
	struct rig g = {.opt.strict_regions = strict};

	begin(&g);
	segment(&g, S, 65536);
	copy(&g, "hipMemcpy", S, H, 16, "hipMemcpyHostToDevice", "h2d", false);
	is(hrr_replay_verdict(g.r)->stray, 0, "no blocks known: no bounds are checked");
	block(&g, S + 4096, 512, "weights");
	copy(&g, "hipMemcpy", S + 4096, H, 512, "hipMemcpyHostToDevice", "h2d", false);
	is(hrr_replay_verdict(g.r)->stray, 0, "inside a block");
	copy(&g, "hipMemcpy", S + 4096 + 640, H, 16, "hipMemcpyHostToDevice", "h2d", false);
	is(hrr_replay_verdict(g.r)->stray, 1, "outside every block: %s", g.text);
	ok(strstr(g.text, "weights") != NULL && strstr(g.text, "128 bytes before") != NULL,
	   "  with the nearest block, its tag and the distance");
	copy(&g, "hipMemcpy", S + 4096 + 500, H, 16, "hipMemcpyHostToDevice", "h2d", false);
	is(hrr_replay_verdict(g.r)->stray, 2, "past a block's end");
	del(&g, "block", S + 4096);
	copy(&g, "hipMemcpy", S + 4096, H, 512, "hipMemcpyHostToDevice", "h2d", false);
	is(hrr_replay_verdict(g.r)->stray, 3, "stale");
	rig_end(&g);
	is(hrr_verdict_exit(&g.v, false), strict ? 1 : 0, "  counts only when strict");
	is(g.v.backed, 1, "  blocks back nothing");
}

static void same_base(void)
{
	struct rig g = {0};

	begin(&g);
	segment(&g, S, 8192);
	block(&g, S, 4096, "first");
	copy(&g, "hipMemcpy", S, H, 16, "hipMemcpyHostToDevice", "h2d", false);
	is(backed(&g), 1, "segment and block with one base");
	rig_line(&g, "{\"region\":\"del\",\"device\":0,\"base\":\"0x%llx\"}", LLU(S));
	copy(&g, "hipMemcpy", H, S, 8192, "hipMemcpyDeviceToHost", "d2h", false);
	is(g.rc, 0, "  del without kind takes the block");
	rig_line(&g, "{\"region\":\"del\",\"device\":0,\"base\":\"0x%llx\"}", LLU(S + 64));
	is(hrr_replay_verdict(g.r)->unmatched_del, 1, "  del that matches nothing is counted");
	rig_end(&g);
	is(g.v.outcome[HRR_FAILED], 0, "  and harmless");
}

static void in_capture_does_not_join(void)
{
	struct rig g = {0};

	begin(&g);
	segment(&g, S, 8192);
	rig_call(&g, "hipStreamBeginCapture",
		 "\"stream\":\"0x51\",\"mode\":\"hipStreamCaptureModeGlobal\"}}");
	int waits = log_count("hipDeviceSynchronize");
	rig_call(&g, "hipMemsetAsync",
		 "\"dst\":\"0x%llx\",\"value\":5,\"sizeBytes\":64,\"stream\":\"0x51\"}}", LLU(S));
	is(backed(&g), 1, "backing inside an open capture");
	is(fake.graphs[0].n, 1, "  the capture holds the recorded set and nothing of the engine's");
	is(log_count("hipDeviceSynchronize"), waits, "  and nothing was waited for");
	rig_call(&g, "hipStreamEndCapture", "\"stream\":\"0x51\",\"pGraph\":\"0xa7\"}}");
	is(g.rc, 0, "  it ends well");
	rig_end(&g);
}

int main(void)
{
	first_touch("copy to the device", t_h2d);
	first_touch("copy without dir", t_h2d_foreign);
	first_touch("copy to the host", t_d2h);
	first_touch("copy on the device, destination", t_d2d_dst);
	first_touch("copy on the device, source", t_d2d_src);
	first_touch("set", t_set);
	first_touch("set in a stream", t_set_async);
	first_touch("kernel argument", t_arg);
	first_touch("kernel argument inside a struct", t_arg_struct);
	first_touch("argument of a cooperative launch", t_cooperative);
	first_touch("argument of a launch with events", t_ext);
	first_touch("argument of a launch by work items", t_ext_module);
	first_touch("argument of a launch on the thread's stream", t_per_thread);
	first_touch("argument of a captured kernel", t_captured_kernel);
	first_touch("argument of a graph kernel node", t_graph_kernel);
	first_touch("graph memcpy node", t_graph_memcpy);
	first_touch("graph memset node", t_graph_memset);
	first_touch("captured copy", t_in_capture);
	host_ends();
	over_the_end();
	deleted_and_added();
	kept_by_a_graph();
	blocks(false);
	blocks(true);
	same_base();
	in_capture_does_not_join();
	return done_testing();
}
