/* State that follows the recorded thread, while replay has one thread for all: on the CPU run time.
 */
#include "lib/replay/engine.h"
#include "t/unit/emu_fixture.h"
#include "t/unit/replay_rig.h"

#define LLU(x) ((unsigned long long)(x))

static void rig_hip(struct hrr_hip *to)
{
	*to = hip;
}

static void rig_gone(void)
{
}

/* A call of thread tid. */
TAP_PRINTF(4, 5)
static int by(struct rig *g, int tid, const char *api, const char *fmt, ...)
{
	char rest[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(rest, sizeof rest, fmt, ap);
	va_end(ap);
	return rig_line(g,
			"{\"seq\":%llu,\"t\":1,\"dur\":1,\"tid\":%d,\"api\":\"%s\",\"args\":{%s}}",
			LLU(++g->seq), tid, api, rest);
}

/* On which device an allocation of thread tid comes out; checked with the run time. */
static int allocates_on(struct rig *g, int tid)
{
	uint64_t at = 0x7c0000000000 + ++g->line * 65536;
	struct hrr_where w;
	struct hrr_operand op = {"it", at, 1, -1};
	struct hipPointerAttribute_t a = {0};

	if (by(g, tid, "hipMalloc", "\"ptr\":\"0x%llx\",\"size\":4096", LLU(at)) != 0 ||
	    hrr_translate(g->r, &op, HRR_END_DEVICE, &w) < 0 ||
	    HIP(hipPointerGetAttributes, &a, (void *)(uintptr_t)w.live) != hipSuccess)
		return -1;
	return a.device;
}

static void devices(void)
{
	struct rig g = {0};

	rig_start(&g);
	by(&g, 1, "hipSetDevice", "\"deviceId\":1");
	is(allocates_on(&g, 1), 1, "hipSetDevice of a thread counts there");
	is(allocates_on(&g, 2), 0, "  and not in another");
	by(&g, 2, "hipGetDevice", "\"deviceId\":1");
	is(allocates_on(&g, 2), 1, "what the run time told is believed");
	is(allocates_on(&g, 3), 0, "  of that thread");
	rig_end(&g);
}

static void contexts(void)
{
	struct rig g = {0};

	rig_start(&g);
	by(&g, 1, "hipCtxCreate", "\"ctx\":\"0xc1\",\"flags\":0,\"device\":1");
	is(allocates_on(&g, 2), 0, "a new context is not current in another thread");
	is(allocates_on(&g, 1), 1, "  but in its own");
	by(&g, 2, "hipCtxCreate", "\"ctx\":\"0xc0\",\"flags\":0,\"device\":0");
	by(&g, 2, "hipCtxPushCurrent", "\"ctx\":\"0xc1\"");
	is(allocates_on(&g, 2), 1, "a pushed context");
	is(allocates_on(&g, 1), 1, "  the other thread keeps its own");
	by(&g, 1, "hipCtxPopCurrent", "\"ctx\":\"0xc1\"");
	is(allocates_on(&g, 1), 0, "popped: what was below, in this thread");
	is(allocates_on(&g, 2), 1, "  not in the other");
	by(&g, 2, "hipCtxSetCurrent", "\"ctx\":\"0xc0\"");
	by(&g, 2, "hipCtxSetCurrent", "\"ctx\":\"0xc0\"");
	is(allocates_on(&g, 1), 0, "set in another thread: as it was");
	is(allocates_on(&g, 2), 0, "  what is set is current");
	by(&g, 2, "hipCtxDestroy", "\"ctx\":\"0xc1\"");
	is(g.rc, 0, "destroyed: %s", g.text);
	is(allocates_on(&g, 2), 0, "  one that is not current changes nothing");
	by(&g, 3, "hipDevicePrimaryCtxRetain", "\"pctx\":\"0xc5\",\"dev\":1");
	is(allocates_on(&g, 3), 0, "retaining changes nothing");
	by(&g, 3, "hipCtxSetCurrent", "\"ctx\":\"0xc5\"");
	is(allocates_on(&g, 3), 1, "  until it is set");
	by(&g, 3, "hipCtxSetCurrent", "\"ctx\":\"0xdead\"");
	ok(strstr(g.text, "0xdead") != NULL, "one nobody made is named: %s", g.text);
	rig_end(&g);
}

static bool mapped(struct rig *g, uint64_t at)
{
	return hrr_ranges_find(g->r->map, at) != NULL;
}

static void reset(void)
{
	struct rig g = {0};

	rig_start(&g);
	by(&g, 1, "hipMalloc", "\"ptr\":\"0x7c0000000000\",\"size\":4096");
	by(&g, 1, "hipSetDevice", "\"deviceId\":1");
	by(&g, 1, "hipMalloc", "\"ptr\":\"0x7c0000100000\",\"size\":4096");
	by(&g, 2, "hipDevicePrimaryCtxReset", "\"dev\":1");
	ok(!mapped(&g, 0x7c0000100000), "reset of a named device: its memory goes");
	ok(mapped(&g, 0x7c0000000000), "  that of the current device stays");
	by(&g, 2, "hipDeviceReset", "%s", "");
	ok(!mapped(&g, 0x7c0000000000), "reset of the current device");
	rig_end(&g);
}

/* A graph 0xa1 + i that sets 64 bytes at the address, and its executable 0xc1 + i. */
static void graph(struct rig *g, int tid, unsigned i, uint64_t at)
{
	by(g, tid, "hipGraphCreate", "\"pGraph\":\"0x%x\",\"flags\":0", 0xa1 + i);
	by(g, tid, "hipGraphAddMemsetNode",
	   "\"pGraphNode\":\"0x%x\",\"graph\":\"0x%x\",\"pDependencies\":null,"
	   "\"numDependencies\":0,\"pMemsetParams\":{\"dst\":\"0x%llx\",\"elementSize\":1,"
	   "\"height\":1,\"pitch\":64,\"value\":%u,\"width\":64}",
	   0xb1 + i, 0xa1 + i, LLU(at), i + 1);
	by(g, tid, "hipGraphInstantiate", "\"pGraphExec\":\"0x%x\",\"graph\":\"0x%x\"", 0xc1 + i,
	   0xa1 + i);
	is(g->rc, 0, "graph %u", i);
}

static int launch_graph(struct rig *g, int tid, unsigned i)
{
	uint64_t refused = hrr_replay_verdict(g->r)->outcome[HRR_REFUSED];

	g->text[0] = '\0';
	by(g, tid, "hipGraphLaunch", "\"graphExec\":\"0x%x\",\"stream\":\"0x0\"", 0xc1 + i);
	return hrr_replay_verdict(g->r)->outcome[HRR_REFUSED] != refused ? -1 : g->rc;
}

/* A reset ends graphs that use the device's memory, whoever made them, and no others. */
static void reset_graphs(void)
{
	struct rig g = {.opt.keep_going = true};
	unsigned char got = 0;

	rig_start(&g);
	by(&g, 1, "hipMalloc", "\"ptr\":\"0x7c0000000000\",\"size\":4096");
	graph(&g, 1, 0, 0x7c0000000000);
	by(&g, 2, "hipSetDevice", "\"deviceId\":1");
	by(&g, 2, "hipMalloc", "\"ptr\":\"0x7c0000100000\",\"size\":4096");
	graph(&g, 2, 1, 0x7c0000100000);
	graph(&g, 1, 2, 0x7c0000100000);
	by(&g, 2, "hipStreamCreate", "\"stream\":\"0x51\"");
	by(&g, 2, "hipStreamBeginCapture",
	   "\"stream\":\"0x51\",\"mode\":\"hipStreamCaptureModeRelaxed\"");
	by(&g, 1, "hipDeviceReset", "%s", "");
	is(g.rc, 0, "a device is reset");
	by(&g, 2, "hipMemsetAsync",
	   "\"dst\":\"0x7c0000100040\",\"value\":9,\"sizeBytes\":64,\"stream\":\"0x51\"");
	by(&g, 2, "hipStreamEndCapture", "\"stream\":\"0x51\",\"pGraph\":\"0xa4\"");
	is(g.rc, 0, "  a capture on the other goes on: %s", g.text);
	is(launch_graph(&g, 2, 1), 0, "  a graph of the other is launched: %s", g.text);
	struct hrr_operand op = {"it", 0x7c0000100000, 1, -1};
	struct hrr_where w = {0};
	by(&g, 2, "hipDeviceSynchronize", "%s", "");
	if (hrr_translate(g.r, &op, HRR_END_DEVICE, &w) == 0)
		HIP(hipMemcpy, &got, (void *)(uintptr_t)w.live, 1, hipMemcpyDeviceToHost);
	is(got, 2, "  and does its work");
	is(launch_graph(&g, 2, 2), 0, "  and one made while the other was current: %s", g.text);
	is(launch_graph(&g, 1, 0), -1, "  one that uses its memory is refused");
	ok(strstr(g.text, "graph 0xa1 (executable 0xc1) is not launched: it uses memory or kernels "
			  "of device 0, which was reset") != NULL,
	   "  by name: %s", g.text);
	by(&g, 1, "hipGraphAddEmptyNode",
	   "\"pGraphNode\":\"0xb9\",\"graph\":\"0xa1\",\"pDependencies\":null,"
	   "\"numDependencies\":0");
	ok(strstr(g.text, "it uses memory or kernels of device 0") != NULL,
	   "  and gets no further node: %s", g.text);
	is(hrr_replay_verdict(g.r)->outcome[HRR_FAILED], 0, "  nothing failed");
	by(&g, 1, "hipGraphExecDestroy", "\"graphExec\":\"0xc1\"");
	is(g.rc, 0, "  but may be destroyed");
	by(&g, 1, "hipGraphDestroy", "\"graph\":\"0xa1\"");
	is(g.rc, 0, "  as its graph");
	by(&g, 2, "hipDeviceReset", "%s", "");
	is(launch_graph(&g, 1, 2), -1, "reset of the device whose memory it uses");
	is(hrr_replay_verdict(g.r)->outcome[HRR_FAILED], 0, "  nothing failed");
	rig_end(&g);
}

/* hipMemCreate is refused, and ends the capture, unless its thread relaxed. */
static void capture_mode(const char *relaxed, bool goes)
{
	struct rig g = {.opt.keep_going = true};

	rig_start(&g);
	by(&g, 1, "hipStreamCreate", "\"stream\":\"0x51\"");
	by(&g, 1, "hipStreamBeginCapture",
	   "\"stream\":\"0x51\",\"mode\":\"hipStreamCaptureModeGlobal\"");
	by(&g, 1, "hipThreadExchangeStreamCaptureMode", "\"mode\":\"%s\"", relaxed);
	by(&g, 1, "hipMemCreate",
	   "\"handle\":\"0xa1\",\"size\":65536,\"prop\":{\"type\":\"hipMemAllocationTypePinned\","
	   "\"location.type\":\"hipMemLocationTypeDevice\",\"location.id\":0},\"flags\":0");
	is(hrr_replay_verdict(g.r)->outcome[HRR_FAILED], goes ? 0 : 1, "%s: an unsafe call %s",
	   relaxed, goes ? "goes beside the capture" : "fails as on hardware");
	by(&g, 1, "hipThreadExchangeStreamCaptureMode", "\"mode\":\"hipStreamCaptureModeGlobal\"");
	by(&g, 1, "hipStreamEndCapture", "\"stream\":\"0x51\",\"pGraph\":\"0x61\"");
	ok(!goes || g.rc == 0, "  the capture ends: %s", g.text);
	by(&g, 1, "hipMemRelease", "\"handle\":\"0xa1\"");
	rig_end(&g);
}

/* Another thread's calls never end a capture of this one. */
static void capture_of_another(void)
{
	struct rig g = {.opt.keep_going = true};

	rig_start(&g);
	by(&g, 1, "hipStreamCreate", "\"stream\":\"0x51\"");
	by(&g, 1, "hipStreamBeginCapture",
	   "\"stream\":\"0x51\",\"mode\":\"hipStreamCaptureModeThreadLocal\"");
	by(&g, 2, "hipMemCreate",
	   "\"handle\":\"0xa1\",\"size\":65536,\"prop\":{\"type\":\"hipMemAllocationTypePinned\","
	   "\"location.type\":\"hipMemLocationTypeDevice\",\"location.id\":0},\"flags\":0");
	is(g.rc, 0, "a call of another thread beside a capture");
	by(&g, 2, "hipMemRelease", "\"handle\":\"0xa1\"");
	by(&g, 1, "hipStreamEndCapture", "\"stream\":\"0x51\",\"pGraph\":\"0x61\"");
	is(hrr_replay_verdict(g.r)->outcome[HRR_FAILED], 0, "  which ends well: %s", g.text);
	rig_end(&g);
}

int main(void)
{
	setenv("HRR_EMU_DEVICES", "2", 1);
	if (!emu_open())
		return done_testing();
	devices();
	contexts();
	reset();
	reset_graphs();
	capture_mode("hipStreamCaptureModeRelaxed", true);
	capture_mode("hipStreamCaptureModeGlobal", false);
	capture_of_another();
	return done_testing();
}
