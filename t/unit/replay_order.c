/* Threads, releases that wait, queries, and what cannot be waited for. */
#include <errno.h>

#include "t/unit/replay_fake.h"

#include "t/unit/replay_kernel.h"

#define D 0x600000000000u
#define H 0x7f0000000000u
#define LLU(x) ((unsigned long long)(x))

static void begin(struct rig *g)
{
	rig_start(g);
	rig_call(g, "hipMalloc", "\"ptr\":\"0x%llx\",\"size\":4096}}", LLU(D));
	rig_call(g, "hipStreamCreate", "\"stream\":\"0x51\"}}");
}

static void set_async(struct rig *g, int value)
{
	rig_call(g, "hipMemsetAsync",
		 "\"dst\":\"0x%llx\",\"value\":%d,\"sizeBytes\":64,\"stream\":\"0x51\"}}", LLU(D),
		 value);
}

/* hipFree takes its number when it begins: what lets it return may come later. */
static void deferred(void)
{
	struct rig g = {.opt.watchdog = 1};

	begin(&g);
	fake.late = true;
	set_async(&g, 3);
	fake.stuck = true; /* until a later record */
	rig_call(&g, "hipFree", "\"ptr\":\"0x%llx\"}}", LLU(D));
	is(g.rc, 0, "a release that would wait is put off");
	is(log_count("hipFree"), 0, "  not issued");
	fake.stuck = false;
	rig_call(&g, "hipMalloc", "\"ptr\":\"0x%llx\",\"size\":4096}}", LLU(D));
	is(g.rc, 0, "  its address may be taken again");
	rig_call(&g, "hipDeviceSynchronize", "}}");
	is(log_count("hipFree"), 1, "  and it is issued when the device was waited for");
	rig_end(&g);
	is(fake.errors, 0, "  after the work was done");
	is(g.v.outcome[HRR_FAILED], 0, "  nothing failed");
}

/* An output behind such a release has to wait: the program had. */
static void owed_wait(void)
{
	struct rig g = {.opt.watchdog = 1};

	begin(&g);
	fake.late = true;
	rig_call(&g, "hipHostMalloc", "\"ptr\":\"0x%llx\",\"size\":4096,\"flags\":0}}", LLU(H));
	set_async(&g, 9);
	rig_call(&g, "hipMemcpyAsync",
		 "\"dst\":\"0x%llx\",\"src\":\"0x%llx\",\"sizeBytes\":64,\"kind\":"
		 "\"hipMemcpyDeviceToHost\",\"stream\":\"0x51\"},\"dir\":\"d2h\"}",
		 LLU(H), LLU(D));
	uint64_t seq = g.seq;
	rig_call(&g, "hipFree", "\"ptr\":\"0x%llx\"}}", LLU(D));
	uint64_t after = g.seq;
	g.seq = seq;
	rig_output(&g, H, 9, 64, 0);
	g.seq = after;
	rig_end(&g);
	is(g.v.outcome[HRR_EXACT], 1, "an output after a release that waits is waited for");
}

static void query(const char *ret)
{
	struct rig g = {.opt.watchdog = 1};

	begin(&g);
	fake.late = true;
	set_async(&g, 3);
	g.seq++;
	rig_line(&g,
		 "{\"seq\":%llu,\"t\":1,\"dur\":1,\"tid\":1,\"api\":\"hipStreamQuery\"%s,\"args\":{"
		 "\"stream\":\"0x51\"}}",
		 LLU(g.seq), ret);
	is(g.rc, 0, "a query %s", ret[0] == '\0' ? "recorded as done" : "recorded as not ready");
	is(fake.n_queue, ret[0] == '\0' ? 0 : 1,
	   ret[0] == '\0' ? "  is waited for" : "  is timing");
	rig_end(&g);
}

static void watchdog(void)
{
	struct rig g = {.opt.watchdog = 1};

	begin(&g);
	fake.late = fake.stuck = true;
	set_async(&g, 3);
	rig_call(&g, "hipStreamSynchronize", "\"stream\":\"0x51\"}}");
	is(g.rc, -ETIMEDOUT, "a wait that does not end: %s", g.diag.what);
	rig_end(&g);
	is(log_count("hipFree"), 0, "  nothing is freed");
	is(hrr_verdict_exit(&g.v, false), 2, "  exit code 2");
}

static void interrupted(void)
{
	volatile int stop = 0;
	struct rig g = {.opt.interrupt = &stop};

	begin(&g);
	fake.late = true;
	set_async(&g, 3);
	stop = 1;
	rig_call(&g, "hipDeviceSynchronize", "}}");
	is(g.rc, -EINTR, "a signal stops issuing");
	rig_end(&g);
	is(fake.n_queue, 0, "  the device is waited for");
	is(log_count("hipFree"), 1, "  and then memory is freed");
	is(fake.errors, 0, "  in this order");
}

static void default_streams(void)
{
	struct rig g = {0};

	begin(&g);
	int made = fake.handles;
	for (int tid = 1; tid <= 2; tid++)
		for (int k = 0; k < 2; k++)
			rig_line(&g,
				 "{\"seq\":%llu,\"t\":1,\"dur\":1,\"tid\":%d,\"api\":"
				 "\"hipMemsetAsync_spt\","
				 "\"args\":{\"dst\":\"0x%llx\",\"value\":1,\"sizeBytes\":8,"
				 "\"stream\":\"0x0\"}}",
				 LLU(++g.seq), tid, LLU(D));
	is(g.rc, 0, "per-thread default streams: %s", g.text);
	is(fake.handles - made, 2, "  one stream a recorded thread");
	rig_call(&g, "hipMemsetAsync",
		 "\"dst\":\"0x%llx\",\"value\":1,\"sizeBytes\":8,\"stream\":\"0x0\"}}", LLU(D));
	is(fake.handles - made, 2, "  apart from the null stream");
	rig_end(&g);
}

static void refused_in_graph(void)
{
	struct rig g = {.opt.keep_going = true};

	begin(&g);
	rig_call(&g, "hipGraphCreate", "\"pGraph\":\"0xa1\",\"flags\":0}}");
	rig_call(&g, "hipGraphAddHostNode",
		 "\"pGraphNode\":\"0xb1\",\"graph\":\"0xa1\",\"pDependencies\":null,"
		 "\"numDependencies\":0,\"pNodeParams\":{\"fn\":\"0x1\",\"userData\":\"0x2\"}}}");
	ok(strstr(g.text, "host functions") != NULL, "a host node is refused: %s", g.text);
	rig_call(
	    &g, "hipGraphInstantiate",
	    "\"pGraphExec\":\"0xc1\",\"graph\":\"0xa1\",\"pErrorNode\":null,\"pLogBuffer\":null,"
	    "\"bufferSize\":0}}");
	rig_call(&g, "hipGraphLaunch", "\"graphExec\":\"0xc1\",\"stream\":\"0x0\"}}");
	ok(strstr(g.text, "0xa1") != NULL && strstr(g.text, "hipGraphAddHostNode") != NULL,
	   "  its graph is not launched, and named: %s", g.text);
	is(log_count("hipGraphLaunch"), 0, "  not issued");
	rig_output(&g, H, 1, 8, 4);
	rig_end(&g);
	is(g.v.outcome[HRR_REFUSED], 2, "  both are counted");
	is(g.v.outcome[HRR_UNCHECKED], 1, "  what it would deliver is unchecked");
}

static void one_past_the_end(void)
{
	struct rig g = {.opt.keep_going = true};

	begin(&g);
	rig_call(&g, "hipMemset", "\"dst\":\"0x%llx\",\"value\":1,\"sizeBytes\":1}}",
		 LLU(D + 4096));
	ok(strstr(g.text, "not mapped") != NULL, "one past the end does not translate: %s", g.text);
	rig_call(&g, "hipFree", "\"ptr\":\"0x%llx\"}}", LLU(D));
	rig_call(&g, "hipMemset", "\"dst\":\"0x%llx\",\"value\":1,\"sizeBytes\":1}}", LLU(D));
	ok(strstr(g.text, "until call 4") != NULL, "who owned an address before is said: %s",
	   g.text);
	rig_end(&g);
}

/* A copy of 64 bytes on the stream; value: what its source held, -1: it comes from the device. */
static void copy_async(struct rig *g, uint64_t dst, uint64_t src, int value)
{
	char blobs[96] = "";

	if (value >= 0)
		snprintf(blobs, sizeof blobs, ",\"blobs\":{\"src\":\"%s\"}",
			 rig_bytes(g, value, 64));
	rig_call(g, "hipMemcpyAsync",
		 "\"dst\":\"0x%llx\",\"src\":\"0x%llx\",\"sizeBytes\":64,\"kind\":"
		 "\"hipMemcpy%s\",\"stream\":\"0x51\"},\"dir\":\"%s\"%s}",
		 LLU(dst), LLU(src), value >= 0 ? "HostToDevice" : "DeviceToHost",
		 value >= 0 ? "h2d" : "d2h", blobs);
}

/*
 * What the host held counts where no queued work writes: beside such work in the same buffer, too.
 * Where it does write, the bytes come from it, in its order.
 */
static void staging(void)
{
	struct rig g = {.opt.watchdog = 1};
	uint64_t up = D + 1024;

	begin(&g);
	fake.late = true;
	rig_call(&g, "hipHostMalloc", "\"ptr\":\"0x%llx\",\"size\":65536,\"flags\":0}}", LLU(H));
	set_async(&g, 7);
	for (int i = 0; i < 20; i++)
		copy_async(&g, H + 128 * (uint64_t)i, D, -1);
	copy_async(&g, up, H + 64, 9);
	copy_async(&g, up + 64, H + 128 * 18 + 64, 10);
	copy_async(&g, up + 128, H + 128, 11); /* was there before the copy to it was done */
	rig_call(&g, "hipStreamBeginCapture",
		 "\"stream\":\"0x51\",\"mode\":\"hipStreamCaptureModeGlobal\"}}");
	copy_async(&g, H + 32768, D, -1);
	rig_call(&g, "hipStreamEndCapture", "\"stream\":\"0x51\",\"pGraph\":\"0xa7\"}}");
	copy_async(&g, up + 192, H + 32768, 12);
	rig_call(&g, "hipDeviceSynchronize", "}}");
	static const int want[] = {9, 10, 7, 12};
	for (uint64_t i = 0; i < 4; i++) {
		copy_async(&g, H + 40000 + 64 * i, up + 64 * i, -1);
		rig_call(&g, "hipDeviceSynchronize", "}}");
		g.seq--;
		rig_output(&g, H + 40000 + 64 * i, want[i], 64, 0);
		g.seq++;
	}
	rig_end(&g);
	is(g.v.outcome[HRR_EXACT], 4, "uploads from a buffer that downloads are queued into: %s",
	   g.text);
}

/* fill(H + at, 64, value), and what the host held: ones, and 5 in 64 bytes from on (0: nowhere). */
static void launch_over(struct rig *g, unsigned at, unsigned value, size_t from)
{
	unsigned char bytes[4096];

	memset(bytes, 1, sizeof bytes);
	if (from != 0)
		memset(bytes + from, 5, 64);
	rig_call(g, "hipLaunchKernel",
		 "\"function_address\":\"0x1\",\"numBlocks\":[1,1,1],\"dimBlocks\":[64,1,1],"
		 "\"sharedMemBytes\":0,\"stream\":\"0x51\"},\"host\":[{\"addr\":\"0x%llx\","
		 "\"size\":4096,\"blob\":\"%s\"}],\"kernel\":{\"name\":\"fill\",\"object\":\"%s\","
		 "\"grid\":[1,1,1],\"block\":[64,1,1],\"lds\":0,\"args\":[{\"offset\":0,\"size\":8,"
		 "\"hex\":\"00%02x0000007f0000\",\"ptr\":[0]},{\"offset\":8,\"size\":8,\"hex\":"
		 "\"40000000%02x000000\"}]}}",
		 LLU(H), rig_blob(g, bytes, sizeof bytes), fill_object(g), at >> 8, value);
}

/*
 * A kernel may write anywhere in what it was given. What differs from what the record said
 * last is the host's all the same; what does not is left to the kernel, which may not have been
 * there yet when it was recorded.
 */
static void mapped(void)
{
	struct rig g = {.opt.watchdog = 1};
	static const struct {
		unsigned at;
		int value;
	} want[] = {{0, 0x33}, {1024, 0x44}, {2048, 5}, {3000, 1}};

	begin(&g);
	fake.late = true;
	rig_call(&g, "hipHostMalloc", "\"ptr\":\"0x%llx\",\"size\":4096,\"flags\":0}}", LLU(H));
	launch_over(&g, 0, 0x33, 0);
	launch_over(&g, 1024, 0x44, 2048);
	is(g.rc, 0, "two launches on one buffer: %s", g.text);
	rig_call(&g, "hipDeviceSynchronize", "}}");
	for (int i = 0; i < 4; i++)
		rig_output(&g, H + want[i].at, want[i].value, 64, 0);
	rig_end(&g);
	is(g.v.outcome[HRR_EXACT], 4, "  both wrote, and so did the host in between: %s", g.text);
}

/* A kernel that does not end may be waiting for the host: its bytes come, and that is said. */
static void mapped_and_running(void)
{
	struct rig g = {.opt.watchdog = 10};

	begin(&g);
	fake.late = true;
	rig_call(&g, "hipHostMalloc", "\"ptr\":\"0x%llx\",\"size\":4096,\"flags\":0}}", LLU(H));
	launch_over(&g, 0, 0x33, 0);
	fake.stuck = true;
	g.text[0] = '\0';
	launch_over(&g, 1024, 0x44, 2048);
	ok(strstr(g.text, "0x7f0000000000 after call 4 was queued") != NULL &&
	       strstr(g.text, "still running after 2 seconds") != NULL,
	   "the host wrote while a kernel runs for long: %s", g.text);
	is(hrr_replay_verdict(g.r)->outcome[HRR_WARNED], 1, "  which is said once");
	fake.stuck = false;
	rig_call(&g, "hipDeviceSynchronize", "}}");
	rig_output(&g, H + 2048, 5, 64, 0);
	rig_output(&g, H, 0x33, 64, 0);
	rig_output(&g, H + 1024, 0x44, 64, 0);
	rig_end(&g);
	is(g.v.outcome[HRR_EXACT], 3, "  what it wrote is there, and what kernels wrote: %s",
	   g.text);
}

/* The record told of two pieces; an upload takes some of both, changed since, while a kernel runs.
 */
static void mapped_in_pieces(void)
{
	struct rig g = {.opt.watchdog = 1};

	begin(&g);
	fake.late = true;
	rig_call(&g, "hipHostMalloc", "\"ptr\":\"0x%llx\",\"size\":8192,\"flags\":0}}", LLU(H));
	launch_over(&g, 0, 0x33, 0);
	rig_call(
	    &g, "hipLaunchKernel",
	    "\"function_address\":\"0x1\",\"numBlocks\":[1,1,1],\"dimBlocks\":[64,1,1],"
	    "\"sharedMemBytes\":0,\"stream\":\"0x51\"},\"host\":[{\"addr\":\"0x%llx\","
	    "\"size\":4096,\"blob\":\"%s\"}],\"kernel\":{\"name\":\"fill\",\"object\":\"%s\","
	    "\"grid\":[1,1,1],\"block\":[64,1,1],\"lds\":0,\"args\":[{\"offset\":0,\"size\":16,"
	    "\"hex\":\"00000000000000000000000000000000\"}]}}",
	    LLU(H + 4096), rig_bytes(&g, 1, 4096), fill_object(&g));
	is(g.rc, 0, "a launch that only tells: %s", g.text);
	copy_async(&g, D + 64, H + 4096 - 32, 9);
	copy_async(&g, H + 1024, D + 64, -1);
	rig_call(&g, "hipDeviceSynchronize", "}}");
	rig_output(&g, H + 1024, 9, 64, 0);
	rig_end(&g);
	is(g.v.outcome[HRR_EXACT], 1, "what the host wrote over two pieces is there: %s", g.text);
}

/* The host changed it for an upload and back: the upload is what the record said last. */
static void mapped_and_uploaded(void)
{
	struct rig g = {.opt.watchdog = 1};

	begin(&g);
	fake.late = true;
	rig_call(&g, "hipHostMalloc", "\"ptr\":\"0x%llx\",\"size\":4096,\"flags\":0}}", LLU(H));
	launch_over(&g, 0, 0x33, 0);
	copy_async(&g, D + 1024, H + 2048, 9);
	launch_over(&g, 1024, 0x44, 0);
	copy_async(&g, H + 3072, D + 1024, -1);
	rig_call(&g, "hipDeviceSynchronize", "}}");
	g.seq--;
	rig_output(&g, H + 3072, 9, 64, 0);
	rig_output(&g, H + 2048, 1, 64, 0);
	rig_end(&g);
	is(g.v.outcome[HRR_EXACT], 2, "changed for an upload and back, beside kernels: %s", g.text);
}

int main(void)
{
	mapped_and_uploaded();
	mapped_and_running();
	mapped_in_pieces();
	staging();
	mapped();
	deferred();
	owed_wait();
	query("");
	query(",\"ret\":\"hipErrorNotReady\"");
	watchdog();
	interrupted();
	default_streams();
	refused_in_graph();
	one_past_the_end();
	return done_testing();
}
