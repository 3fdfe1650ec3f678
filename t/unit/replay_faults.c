/*
 * Every call the engine makes fails once, at each of its positions in a stream that uses
 * most of the engine; and from then on, for good. The engine has to say so, end in order, and leave
 * nothing behind (under AddressSanitizer: no leak, no touch of what is gone).
 */
#include "t/unit/replay_fake.h"

#include "t/unit/replay_kernel.h"

#define A 0x7f0000001040u
#define D 0x600000000000u
#define S 0x610000000000u
#define LLU(x) ((unsigned long long)(x))

static void play(struct rig *g)
{

	rig_call(g, "hipSetDevice", "\"deviceId\":0}}");
	rig_call(g, "hipMalloc", "\"ptr\":\"0x%llx\",\"size\":65536}}", LLU(D));
	rig_call(g, "hipHostMalloc", "\"ptr\":\"0x7f5500000000\",\"size\":4096,\"flags\":0}}");
	rig_line(
	    g,
	    "{\"region\":\"add\",\"kind\":\"segment\",\"device\":0,\"base\":\"0x%llx\",\"size\":"
	    "8192}",
	    LLU(S));
	rig_call(g, "hipStreamCreate", "\"stream\":\"0x51\"}}");
	rig_call(g, "hipHostRegister", "\"hostPtr\":\"0x%llx\",\"sizeBytes\":4096,\"flags\":0}}",
		 LLU(A));
	rig_call(g, "hipHostRegister", "\"hostPtr\":\"0x%llx\",\"sizeBytes\":9000,\"flags\":0}}",
		 LLU(A));
	rig_call(g, "hipMemcpy",
		 "\"dst\":\"0x%llx\",\"src\":\"0x7f1000000000\",\"sizeBytes\":64,\"kind\":"
		 "\"hipMemcpyHostToDevice\"},\"dir\":\"h2d\",\"blobs\":{\"src\":\"%s\"}}",
		 LLU(S), rig_bytes(g, 9, 64));
	rig_call(g, "hipMemcpyAsync",
		 "\"dst\":\"0x7f5500000000\",\"src\":\"0x%llx\",\"sizeBytes\":64,\"kind\":"
		 "\"hipMemcpyDeviceToHost\",\"stream\":\"0x51\"},\"dir\":\"d2h\"}",
		 LLU(S));
	rig_call(g, "hipStreamSynchronize", "\"stream\":\"0x51\"}}");
	rig_output(g, 0x7f5500000000, 9, 64, 0);
	rig_call(
	    g, "hipLaunchKernel",
	    "\"function_address\":\"0x1\",\"numBlocks\":[1,1,1],\"dimBlocks\":[64,1,1],"
	    "\"sharedMemBytes\":0,\"stream\":\"0x51\"},\"kernel\":{\"name\":\"fill\",\"object\":"
	    "\"%s\",\"grid\":[1,1,1],\"block\":[64,1,1],\"lds\":0,\"args\":[{\"offset\":0,\"size\":"
	    "8,\"hex\":\"0000000000600000\",\"ptr\":[0]},{\"offset\":8,\"size\":8,\"hex\":"
	    "\"4000000033000000\"}]}}",
	    fill_object(g));
	rig_call(g, "hipStreamBeginCapture",
		 "\"stream\":\"0x51\",\"mode\":\"hipStreamCaptureModeGlobal\"}}");
	rig_call(g, "hipMalloc", "\"ptr\":\"0x600000100000\",\"size\":4096}}");
	rig_call(g, "hipMemcpyAsync",
		 "\"dst\":\"0x%llx\",\"src\":\"0x%llx\",\"sizeBytes\":64,\"kind\":"
		 "\"hipMemcpyDeviceToHost\",\"stream\":\"0x51\"},\"dir\":\"d2h\"}",
		 LLU(A), LLU(D));
	rig_call(g, "hipStreamEndCapture", "\"stream\":\"0x51\",\"pGraph\":\"0xa7\"}}");
	rig_call(g, "hipGraphCreate", "\"pGraph\":\"0xa1\",\"flags\":0}}");
	rig_call(g, "hipGraphAddMemcpyNode1D",
		 "\"pGraphNode\":\"0xb1\",\"graph\":\"0xa1\",\"pDependencies\":null,"
		 "\"numDependencies\":0,\"dst\":\"0x7f2000000000\",\"src\":\"0x%llx\",\"count\":64,"
		 "\"kind\":\"hipMemcpyDeviceToHost\"},\"dir\":\"d2h\"}",
		 LLU(D));
	for (int i = 0; i < 2; i++) {
		rig_call(
		    g, "hipGraphInstantiate",
		    "\"pGraphExec\":\"0xc%d\",\"graph\":\"%s\",\"pErrorNode\":null,\"pLogBuffer\":"
		    "null,\"bufferSize\":0}}",
		    i, i == 0 ? "0xa7" : "0xa1");
		rig_call(g, "hipGraphLaunch", "\"graphExec\":\"0xc%d\",\"stream\":\"0x51\"}}", i);
	}
	uint64_t seq = g->seq;
	rig_call(g, "hipHostUnregister", "\"hostPtr\":\"0x%llx\"}}", LLU(A));
	g->seq = seq;
	rig_output(g, 0x7f2000000000, 0x33, 64, 1);
	g->seq = seq + 1;
	rig_line(g, "{\"region\":\"del\",\"kind\":\"segment\",\"device\":0,\"base\":\"0x%llx\"}",
		 LLU(S));
	rig_call(g, "hipFree", "\"ptr\":\"0x%llx\"}}", LLU(D));
	rig_call(g, "hipHostFree", "\"ptr\":\"0x7f5500000000\"}}");
	rig_call(g, "hipStreamDestroy", "\"stream\":\"0x51\"}}");
	rig_call(g, "hipDeviceSynchronize", "}}");
}

static bool run(struct rig *g, bool late)
{
	rig_start(g);
	if (g->r == NULL) { /* no device: that is the answer */
		rig_end(g);
		return true;
	}
	fake.late = late;
	play(g);
	rig_end(g);
	return hrr_verdict_exit(&g->v, false) != 0;
}

/* What may fail without changing what replay can say. */
static bool is_optional(enum hrr_api api)
{
	switch (api) {
	case HRR_API_hipHostGetDevicePointer:		 /* the same number is tried */
	case HRR_API_hipThreadExchangeStreamCaptureMode: /* this run time forbids nothing */
	case HRR_API_hipEventDestroy:
	case HRR_API_hipStreamDestroy:
	case HRR_API_hipModuleUnload:
	case HRR_API_hipGraphDestroy:
	case HRR_API_hipGraphExecDestroy: /* engine's own, at the end */
	case HRR_API_hipEventCreateWithFlags:
	case HRR_API_hipEventRecord:
	case HRR_API_hipStreamWaitEvent: /* order of fills, where nothing runs ahead */
	case HRR_API_hipStreamCreateWithFlags:
	case HRR_API_hipSetDevice:
	case HRR_API_hipStreamSynchronize:
	case HRR_API_hipStreamQuery: /* the wait itself follows, and has the last word */
		return true;
	default:
		return false;
	}
}

/* Once out of memory: what was put off is freed and it is tried again. An old registration that
 * would not go is set aside, and goes at the end. A container that is not taken is tried object by
 * object. */
static bool recovers(const struct rig *g)
{
	const struct hrr_fault *f = &g->faults.v[0];

	return f->first == f->last &&
	       ((f->api == HRR_API_hipMalloc && f->error == hipErrorOutOfMemory) ||
		(f->api == HRR_API_hipHostUnregister && f->first == 1) ||
		(f->api == HRR_API_hipModuleLoadData && f->first == 1));
}

int main(void)
{
	struct rig clean = {.opt.watchdog = 1};
	int runs = 0, silent = 0, stray = 0;

	ok(!run(&clean, false), "the stream replays: %s", clean.text);
	is(clean.v.outcome[HRR_EXACT], 2, "  with both outputs exact");
	is(clean.v.outcome[HRR_FAILED], 0, "  and no failure");
	is(fake.errors, 0, "  and nothing astray");
	for (int late = 0; late < 2; late++)
		for (int api = 0; api < HRR_API_COUNT; api++)
			for (uint64_t n = 1; n <= clean.faults.calls[api]; n++)
				for (int forever = 0; forever < 2; forever++) {
					struct rig g = {.opt.keep_going = true, .opt.watchdog = 1};
					g.faults.n = 1;
					g.faults.v[0] = (struct hrr_fault){
					    (enum hrr_api)api, n, forever ? UINT64_MAX : n,
					    n % 2 ? hipErrorUnknown : hipErrorOutOfMemory, false};
					bool said = run(&g, late);
					runs++;
					if (!said && g.faults.injected != 0 &&
					    !is_optional((enum hrr_api)api) && !recovers(&g) &&
					    g.v.outcome[HRR_WARNED] == 0 && g.v.not_reissued == 0) {
						silent++;
						diag("%s, call %d%s: nothing was said",
						     hrr_api_table[api].name, (int)n,
						     forever ? " and on" : "");
					}
					if (fake.errors != 0 && g.v.outcome[HRR_FAILED] == 0) {
						stray++;
						diag("%s, call %d: work went astray",
						     hrr_api_table[api].name, (int)n);
					}
				}
	ok(runs > 100, "%d runs with a fault", runs);
	is(silent, 0, "each is said");
	is(stray, 0, "none makes work touch what is gone");
	return done_testing();
}
