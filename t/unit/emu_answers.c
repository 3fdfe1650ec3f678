#include "t/unit/emu_fixture.h"

/* Answers that the public tests of HIP look for. */

static uint64_t graph_bytes(int attribute)
{
	uint64_t v = 77;

	is(HIP(hipDeviceGetGraphMemAttribute, 0, attribute, &v), hipSuccess, "attribute %d",
	   attribute);
	return v;
}

static void graph_memory(void)
{
	uint64_t zero = 0, one = 1;
	hipGraph_t g;
	hipGraphExec_t x;
	hipGraphNode_t n;
	struct hipMemAllocNodeParams p = {
	    .poolProps = {.allocType = hipMemAllocationTypePinned,
			  .location = {.type = hipMemLocationTypeDevice}},
	    .bytesize = 5000};

	is(HIP(hipGraphCreate, &g, 0), hipSuccess, "graph");
	is(HIP(hipGraphAddMemAllocNode, &n, g, NULL, 0, &p), hipSuccess, "allocation node");
	is(HIP(hipGraphInstantiate, &x, g, NULL, NULL, 0), hipSuccess, "instance");
	is(graph_bytes(hipGraphMemAttrUsedMemCurrent), 0, "nothing before the launch");
	is(HIP(hipGraphLaunch, x, NULL), hipSuccess, "launch");
	is(HIP(hipDeviceSynchronize), hipSuccess, "wait");
	is(graph_bytes(hipGraphMemAttrUsedMemCurrent), 5000, "what the node took");
	is(graph_bytes(hipGraphMemAttrReservedMemCurrent), 5000, "is kept");
	is(HIP(hipFree, p.dptr), hipSuccess, "free");
	is(graph_bytes(hipGraphMemAttrUsedMemCurrent), 0, "back");
	is(graph_bytes(hipGraphMemAttrUsedMemHigh), 5000, "the most");
	is(HIP(hipDeviceSetGraphMemAttribute, 0, hipGraphMemAttrUsedMemHigh, &zero), hipSuccess,
	   "begin anew");
	is(graph_bytes(hipGraphMemAttrUsedMemHigh), 0, "the most since");
	is(graph_bytes(hipGraphMemAttrReservedMemHigh), 5000, "of the other nothing was said");
	is(HIP(hipDeviceSetGraphMemAttribute, 0, hipGraphMemAttrUsedMemHigh, &one),
	   hipErrorInvalidValue, "only 0 can be set");
	is(HIP(hipDeviceSetGraphMemAttribute, 0, hipGraphMemAttrUsedMemCurrent,
	       (void *)(uintptr_t)-1),
	   hipErrorInvalidValue, "what is used cannot, wherever the value is");
	is(HIP(hipDeviceGetGraphMemAttribute, 0, 4, &one), hipErrorInvalidValue, "no attribute");
	is(HIP(hipDeviceGetGraphMemAttribute, 1, 0, &one), hipErrorInvalidDevice, "no device");
	is(HIP(hipDeviceGraphMemTrim, 0), hipSuccess, "trim");
	is(HIP(hipDeviceGraphMemTrim, 1), hipErrorInvalidDevice, "of no device");
	p.poolProps.location.id = 1;
	is(HIP(hipGraphAddMemAllocNode, &n, g, NULL, 0, &p), hipErrorInvalidValue,
	   "memory of no device");
	HIP(hipGraphExecDestroy, x);
	HIP(hipGraphDestroy, g);
}

static void nap(void *unused)
{
	(void)unused;
	usleep(3000);
}

static void graph_events(void)
{
	struct hipHostNodeParams host = {.fn = nap};
	hipEvent_t a, b;
	hipGraph_t g;
	hipGraphExec_t x;
	hipGraphNode_t first, between, last;
	float ms = -1;

	HIP(hipEventCreate, &a);
	HIP(hipEventCreate, &b);
	is(HIP(hipGraphCreate, &g, 0), hipSuccess, "graph");
	is(HIP(hipGraphAddEventRecordNode, &first, g, NULL, 0, a), hipSuccess, "event");
	is(HIP(hipGraphAddHostNode, &between, g, &first, 1, &host), hipSuccess,
	   "three milliseconds");
	is(HIP(hipGraphAddEventRecordNode, &last, g, &between, 1, b), hipSuccess, "event");
	is(HIP(hipGraphInstantiate, &x, g, NULL, NULL, 0), hipSuccess, "instance");
	is(HIP(hipGraphLaunch, x, NULL), hipSuccess, "launch");
	is(HIP(hipEventSynchronize, b), hipSuccess, "wait");
	is(HIP(hipEventElapsedTime, &ms, a, b), hipSuccess, "time between");
	ok(ms >= 3 && ms < 3000, "two nodes of one graph: %f ms", (double)ms);
	is(HIP(hipEventRecord, b, NULL), hipSuccess, "recorded again, outside");
	usleep(1000);
	is(HIP(hipEventRecord, a, NULL), hipSuccess, "the other later");
	is(HIP(hipEventElapsedTime, &ms, b, a), hipSuccess, "time between");
	ok(ms >= 1 && ms < 3000, "%f ms", (double)ms);
	HIP(hipEventDestroy, a);
	HIP(hipEventDestroy, b);
	HIP(hipGraphExecDestroy, x);
	HIP(hipGraphDestroy, g);
}

static void streams(void)
{
	hipStream_t s, gone = (hipStream_t)0x1234;
	hipEvent_t e;
	hipGraph_t g;
	unsigned flags = 0;
	uint32_t mask[5] = {1, 1, 1, 1, 1};
	int status = 9;
	uint64_t id = 0;
	struct hipIpcEventHandle_st ipc;

	HIP(hipEventCreate, &e);
	is(HIP(hipStreamQuery, gone), hipErrorContextIsDestroyed, "ask a stream that is not there");
	is(HIP(hipEventRecord, e, gone), hipErrorContextIsDestroyed, "record on it");
	is(HIP(hipStreamWaitEvent, gone, e, 0), hipErrorInvalidHandle, "have it wait");
	is(HIP(hipStreamGetFlags, NULL, &flags), hipErrorInvalidValue, "flags of the null stream");
	is(HIP(hipExtStreamGetCUMask, NULL, 5, mask), hipSuccess, "CUs of the null stream");
	ok(mask[2] == UINT32_MAX && mask[3] == 0xff && mask[4] == 0, "104: %x %x %x", mask[2],
	   mask[3], mask[4]);
	is(HIP(hipExtStreamGetCUMask, NULL, 3, mask), hipErrorInvalidValue, "no room for them");
	is(HIP(hipEventCreateWithFlags, &e, 4), hipErrorInvalidValue,
	   "shared events have no times");
	is(HIP(hipEventCreateWithFlags, &e, 4 | 2), hipSuccess, "one that could be shared");
	is(HIP(hipEventRecord, e, NULL), hipSuccess, "is an event");
	is(HIP(hipIpcGetEventHandle, &ipc, e), hipErrorNotSupported, "but not shared");
	is(HIP(hipEventDestroy, e), hipSuccess, "destroy");

	is(HIP(hipStreamCreate, &s), hipSuccess, "stream");
	is(HIP(hipStreamBeginCapture, s, hipStreamCaptureModeGlobal), hipSuccess, "capture");
	is(HIP(hipStreamGetCaptureInfo, NULL, &status, &id), hipErrorStreamCaptureImplicit,
	   "ask the null stream");
	is(HIP(hipStreamIsCapturing, s, &status), hipSuccess, "ask it");
	is(status, 1, "the capture goes on");
	is(HIP(hipStreamEndCapture, s, &g), hipSuccess, "end");
	HIP(hipGraphDestroy, g);
	HIP(hipStreamDestroy, s);
}

static void memory(void)
{
	uint64_t *signal = NULL, v = 5;
	char *a = NULL, *b = NULL;
	int large = 9, clock = 0;

	is(HIP(hipDeviceGetAttribute, &large, hipDeviceAttributeIsLargeBar, 0), hipSuccess, "bar");
	is(large, 0, "the host cannot follow device addresses");
	is(HIP(hipDeviceGetAttribute, &clock, hipDeviceAttributeWallClockRate, 0), hipSuccess,
	   "clock");
	is(clock, 100000, "kHz");
	is(HIP(hipDeviceGetAttribute, &clock, hipDeviceAttributeVirtualMemoryManagementSupported,
	       0),
	   hipSuccess, "virtual memory");
	is(clock, 1, "can be managed");
	is(HIP(hipDeviceGetAttribute, &clock, hipDeviceAttributeMemoryPoolSupportedHandleTypes, 0),
	   hipSuccess, "handles of pools");
	is(clock, 0, "are not handed out");
	is(HIP(hipExtMallocWithFlags, (void **)&signal, 16, 2), hipErrorInvalidValue,
	   "a signal has 8 bytes");
	is(HIP(hipExtMallocWithFlags, (void **)&signal, 8, 2), hipSuccess, "signal");
	*signal = 3;
	is(HIP(hipStreamWriteValue64, NULL, signal, 7, 0), hipSuccess, "the stream writes it");
	is(HIP(hipDeviceSynchronize), hipSuccess, "wait");
	is(*signal, 7, "the host sees it");
	is(HIP(hipFree, signal), hipSuccess, "free");
	is(HIP(hipMalloc, (void **)&a, 8), hipSuccess, "memory");
	is(HIP(hipMalloc, (void **)&b, 8), hipSuccess, "memory");
	is(HIP(hipMemcpy, a, &v, 8, hipMemcpyHostToDevice), hipSuccess, "fill");
	is(HIP(hipMemcpy, b, a, 8, hipMemcpyDeviceToDeviceNoCU), hipSuccess, "copy without a CU");
	v = 0;
	is(HIP(hipMemcpy, &v, b, 8, hipMemcpyDeviceToHost), hipSuccess, "read");
	is(v, 5, "the same");
	is(HIP(hipMemcpy, b, a, 8, 5), hipErrorInvalidMemcpyDirection, "no such direction");
	is(HIP(hipFreeArray, NULL), hipErrorInvalidValue, "no array");
	is(HIP(hipDrvPointerGetAttributes, 0, &v, &v, a), hipErrorInvalidValue, "no attribute");
	HIP(hipFree, a);
	HIP(hipFree, b);
}

int main(void)
{
	if (!emu_open())
		return done_testing();
	graph_memory();
	graph_events();
	streams();
	memory();
	return done_testing();
}
