/* Edges of the rules on host memory and on memory HIP never saw. */
#include "t/unit/replay_fake.h"

#include "t/unit/replay_kernel.h"

#define A 0x7f0000001040u /* recorded host addresses, not aligned to pages */
#define D 0x600000000000u /* recorded device memory */
#define D2 0x620000000000u
#define LLU(x) ((unsigned long long)(x))

static void begin(struct rig *g)
{
	rig_start(g);
	rig_call(g, "hipMalloc", "\"ptr\":\"0x%llx\",\"size\":65536}}", LLU(D));
	rig_call(g, "hipStreamCreate", "\"stream\":\"0x51\"}}");
}
static int reg(struct rig *g, uint64_t addr, size_t n)
{
	return rig_call(g, "hipHostRegister",
			"\"hostPtr\":\"0x%llx\",\"sizeBytes\":%zu,\"flags\":0}}", LLU(addr), n);
}
static int unreg(struct rig *g, uint64_t addr)
{
	return rig_call(g, "hipHostUnregister", "\"hostPtr\":\"0x%llx\"}}", LLU(addr));
}
static void set(struct rig *g, uint64_t at, int value, size_t n)
{
	rig_call(g, "hipMemsetAsync",
		 "\"dst\":\"0x%llx\",\"value\":%d,\"sizeBytes\":%zu,\"stream\":\"0x51\"}}", LLU(at),
		 value, n);
}
static void fetch(struct rig *g, uint64_t to, uint64_t from, size_t n)
{
	rig_call(g, "hipMemcpyAsync",
		 "\"dst\":\"0x%llx\",\"src\":\"0x%llx\",\"sizeBytes\":%zu,\"kind\":"
		 "\"hipMemcpyDeviceToHost\",\"stream\":\"0x51\"},\"dir\":\"d2h\"}",
		 LLU(to), LLU(from), n);
}
static void sync_all(struct rig *g)
{
	rig_call(g, "hipDeviceSynchronize", "}}");
}
static void capture(struct rig *g, bool on)
{
	if (on)
		rig_call(g, "hipStreamBeginCapture",
			 "\"stream\":\"0x51\",\"mode\":\"hipStreamCaptureModeGlobal\"}}");
	else
		rig_call(g, "hipStreamEndCapture", "\"stream\":\"0x51\",\"pGraph\":\"0xa7\"}}");
}

/* The run time keeps what it should have let go: bytes beside and within are registered all the
 * same, in a view of their own, the same one each time. */
static void beside_what_is_stuck(void)
{
	struct rig g = {.opt.keep_going = true};

	hrr_fault_add(&g.faults, "hipHostUnregister:1:hipErrorUnknown", NULL);
	begin(&g);
	fake.refuse_overlap = true;
	reg(&g, A, 8192);
	unreg(&g, A);
	for (int i = 0; i < 3; i++) {
		reg(&g, A + 4096, 1024);
		unreg(&g, A + 4096);
	}
	is(hrr_replay_verdict(g.r)->outcome[HRR_FAILED], 1,
	   "registered inside of what could not be unregistered: %s", g.text);
	ok(fake.reg[1].at == fake.reg[3].at, "  one mapping, however often");
	reg(&g, A + 4096, 1024);
	set(&g, D, 5, 1024);
	fetch(&g, A + 4096, D, 1024);
	sync_all(&g);
	rig_output(&g, A + 4096, 5, 1024, 0);
	rig_end(&g);
	is(g.v.outcome[HRR_EXACT], 1, "  of the same pages");
	is(live_registrations(), 0, "  all are unregistered at the end");
}

/* An unregister is put off while a capture is open: the next registration need not wait for it. */
static void again_in_a_capture(void)
{
	struct rig g = {.opt.keep_going = true};

	begin(&g);
	fake.refuse_overlap = true;
	reg(&g, A, 8192);
	capture(&g, true);
	unreg(&g, A);
	is(reg(&g, A, 8192), 0, "registered again while a capture is open: %s", g.text);
	capture(&g, false);
	rig_end(&g);
	is(g.v.outcome[HRR_FAILED], 0, "  and nothing failed: %s", g.text);
	is(live_registrations(), 0, "  none is left at the end");
}

/* Bytes under way to pageable memory arrive before it becomes part of something larger. */
static void landing_moves(bool registered)
{
	struct rig g = {.opt.keep_going = true};

	begin(&g);
	fake.late = true;
	set(&g, D, 5, 1024);
	fetch(&g, A, D, 64);
	if (registered)
		reg(&g, A, 4096);
	else
		fetch(&g, A + 32, D, 64);
	sync_all(&g);
	rig_output(&g, A, 5, 64, 0);
	rig_end(&g);
	is(g.v.outcome[HRR_EXACT], 1, "a copy was queued before its destination was %s: %s",
	   registered ? "registered" : "part of another's", g.text);
	is(fake.errors, 0, "  nothing went astray");
}

/* What reaches the host is bounded: a call beyond it is refused, the others go on. */
static void landing_budget(void)
{
	struct rig g = {.opt.keep_going = true, .opt.max_host_bytes = 4096};

	begin(&g);
	fetch(&g, A, D, 4097);
	is(g.rc, 0, "a copy to the host one byte over the budget is a refused call");
	ok(strstr(g.text, "4097") != NULL && strstr(g.text, "4096") != NULL,
	   "  with the numbers: %s", g.text);
	fetch(&g, A, D, 4096);
	sync_all(&g);
	rig_output(&g, A, 0, 4096, 0);
	rig_end(&g);
	is(g.v.outcome[HRR_REFUSED], 1, "  that one");
	is(g.v.outcome[HRR_EXACT], 1, "  what just fits is played");
	is(hrr_verdict_exit(&g.v, false), 1, "  exit code 1");
}

/* hipHostGetDevicePointer told another number: it stands for the host memory, as long as that is.
 */
static void alias(bool registered)
{
	struct rig g = {.opt.keep_going = true};
	const char *what = registered ? "registered" : "pinned";

	begin(&g);
	if (registered)
		reg(&g, A, 4096);
	else
		rig_call(&g, "hipHostMalloc", "\"ptr\":\"0x%llx\",\"size\":4096,\"flags\":0}}",
			 LLU(A));
	rig_call(&g, "hipHostGetDevicePointer",
		 "\"devPtr\":\"0x%llx\",\"hstPtr\":\"0x%llx\",\"flags\":0}}", LLU(D2), LLU(A));
	set(&g, D2 + 4, 5, 64);
	/* What the host held there when it was recorded: that work had not come so far. */
	rig_call(
	    &g, "hipMemcpyAsync",
	    "\"dst\":\"0x%llx\",\"src\":\"0x%llx\",\"sizeBytes\":64,\"kind\":"
	    "\"hipMemcpyHostToDevice\",\"stream\":\"0x51\"},\"dir\":\"h2d\",\"blobs\":{\"src\":"
	    "\"%s\"}}",
	    LLU(D), LLU(A + 4), rig_bytes(&g, 9, 64));
	fetch(&g, A + 1024, D, 64);
	set(&g, D2 + 4096, 5, 1);
	ok(strstr(g.text, "not mapped") != NULL, "%s memory by another number: it has an end: %s",
	   what, g.text);
	sync_all(&g);
	rig_output(&g, A + 1024, 5, 64, 0);
	is(hrr_replay_verdict(g.r)->outcome[HRR_EXACT], 1,
	   "  work queued by that number is minded: %s", g.text);
	if (registered)
		unreg(&g, A);
	else
		rig_call(&g, "hipHostFree", "\"ptr\":\"0x%llx\"}}", LLU(A));
	set(&g, D2 + 4, 5, 64);
	ok(strstr(g.text, "not mapped") != NULL, "  the number goes with the memory: %s", g.text);
	rig_call(&g, "hipMalloc", "\"ptr\":\"0x%llx\",\"size\":4096}}", LLU(D2));
	rig_end(&g);
	is(g.v.outcome[HRR_WARNED], 0, "  and may be something else then: %s", g.text);
	is(fake.errors, 0, "  nothing went astray");
}

/* A registration within another ends sooner, the memory does not: all of it can be reached. */
static void nested(void)
{
	struct rig g = {.opt.keep_going = true};

	begin(&g);
	fake.refuse_overlap = true;
	reg(&g, A, 8192);
	reg(&g, A + 4096, 1024);
	set(&g, A + 4096 + 16, 5, 4080);
	is(g.rc, 0, "a set over the end of a registration within another: %s", g.text);
	fetch(&g, A + 4096 + 32, A + 4096 + 16, 4064);
	sync_all(&g);
	rig_output(&g, A + 4096 + 32, 5, 4064, 0);
	set(&g, A + 4096 + 16, 5, 4081);
	ok(strstr(g.text, "4081") != NULL && strstr(g.text, "4080") != NULL,
	   "  the outer one has an end: %s", g.text);
	rig_end(&g);
	is(g.v.outcome[HRR_EXACT], 1, "  and is read and written there");
	is(g.v.outcome[HRR_FAILED], 1, "  one byte more fails");
}

static void region(struct rig *g, const char *op, const char *kind, uint64_t base, uint64_t size)
{
	rig_line(g,
		 "{\"region\":\"%s\",\"kind\":\"%s\",\"device\":0,\"base\":\"0x%llx\","
		 "\"size\":%llu}",
		 op, kind, LLU(base), LLU(size));
}
static uint64_t strays(struct rig *g)
{
	return hrr_replay_verdict(g->r)->stray;
}

/* Blocks bound the memory they were told of: not what is at its address next, and also where they
 * are told before their segment. */
static void blocks_and_their_memory(void)
{
	struct rig g = {.opt.keep_going = true};

	begin(&g);
	region(&g, "add", "block", D, 4096);
	set(&g, D + 4095, 1, 1);
	is(strays(&g), 0, "blocks in an allocation: inside");
	set(&g, D + 4095, 1, 2);
	is(strays(&g), 1, "  outside");
	rig_call(&g, "hipFree", "\"ptr\":\"0x%llx\"}}", LLU(D));
	region(&g, "del", "block", D, 0);
	rig_call(&g, "hipMalloc", "\"ptr\":\"0x%llx\",\"size\":65536}}", LLU(D));
	set(&g, D + 4096, 1, 1);
	is(strays(&g), 1, "  other memory at its address has none: %s", g.text);
	region(&g, "add", "block", D2, 4096);
	region(&g, "add", "segment", D2, 8192);
	set(&g, D2, 1, 4096);
	is(strays(&g), 1, "a block told before its segment: inside");
	set(&g, D2 + 4096, 1, 1);
	is(strays(&g), 2, "  outside");
	region(&g, "del", "block", D2, 0);
	set(&g, D2, 1, 1);
	is(strays(&g), 3, "  and when it is gone, too");
	region(&g, "del", "segment", D2, 0);
	region(&g, "add", "segment", D2, 8192);
	set(&g, D2, 1, 1);
	is(strays(&g), 3, "  the next segment there has none: %s", g.text);
	rig_end(&g);
	is(g.v.outcome[HRR_FAILED], 0, "  none of it failed");
}

static void put8(char *to, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		snprintf(to + 2 * i, 3, "%02x", (unsigned)(v >> (8 * i) & 255));
}

/* A kernel gets the end of a segment before its begin: the end is no address in it. */
static void end_before_begin(void)
{
	struct rig g = {.opt.keep_going = true};
	static const uint32_t sizes[] = {8, 8, 8};
	struct bytes o = kernel_object("fill", sizes, 3);
	char end[17], first[17];

	begin(&g);
	region(&g, "add", "segment", D2, 4096);
	put8(end, D2 + 4096);
	put8(first, D2);
	for (int i = 0; i < 2; i++) {
		rig_call(
		    &g, "hipLaunchKernel",
		    "\"function_address\":\"0x1\",\"numBlocks\":[1,1,1],\"dimBlocks\":[64,1,1],"
		    "\"sharedMemBytes\":0,\"stream\":\"0x0\"},\"kernel\":{\"name\":\"fill\","
		    "\"object\":\"%s\",\"grid\":[1,1,1],\"block\":[64,1,1],\"lds\":0,\"args\":["
		    "{\"offset\":0,\"size\":8,\"hex\":\"0000000000000000\"},"
		    "{\"offset\":8,\"size\":8,\"hex\":\"%s\",\"ptr\":[0]},"
		    "{\"offset\":16,\"size\":8,\"hex\":\"%s\",\"ptr\":[0]}]}}",
		    rig_blob(&g, o.p, o.n), end, i == 0 ? end : first);
		is(g.rc, 0, "a kernel gets a segment's end%s: %s", i == 0 ? " alone" : " and it",
		   g.text);
		is(hrr_replay_verdict(g.r)->backed, i, "  which %s it",
		   i == 0 ? "backs not" : "backs");
	}
	free(o.p);
	rig_end(&g);
	is(g.v.outcome[HRR_FAILED], 0, "  nothing failed");
	is(fake.errors, 0, "  nothing went astray");
}

#define MANY 100

/* fill(D, 64, 0x33) with MANY more addresses behind, all in one structure. */
static void many_arguments(void)
{
	struct rig g = {.opt.keep_going = true};
	static const uint32_t sizes[] = {16 + 8 * MANY};
	struct bytes o = kernel_object("fill", sizes, 1);
	char hex[2 * (16 + 8 * MANY) + 1], ptr[8 * MANY] = "0";

	begin(&g);
	put8(hex, D);
	put8(hex + 16, (uint64_t)0x33 << 32 | 64);
	for (int i = 0; i < MANY; i++) {
		uint64_t at = D2 + 0x10000 * (uint64_t)i;
		rig_call(&g, "hipMalloc", "\"ptr\":\"0x%llx\",\"size\":64}}", LLU(at));
		put8(hex + 32 + 16 * i, at);
		snprintf(ptr + strlen(ptr), 8, ",%d", 16 + 8 * i);
	}
	rig_call(&g, "hipGraphCreate", "\"pGraph\":\"0xa1\",\"flags\":0}}");
	rig_call(&g, "hipGraphAddKernelNode",
		 "\"pGraphNode\":\"0xb1\",\"graph\":\"0xa1\",\"pDependencies\":null,"
		 "\"numDependencies\":0,\"pNodeParams\":{\"func\":\"0x1\",\"gridDim\":[1,1,1],"
		 "\"blockDim\":[64,1,1],\"sharedMemBytes\":0}},\"kernel\":{\"name\":\"fill\","
		 "\"object\":\"%s\",\"grid\":[1,1,1],\"block\":[64,1,1],\"lds\":0,\"args\":["
		 "{\"offset\":0,\"size\":%u,\"hex\":\"%s\",\"ptr\":[%s]}]}}",
		 rig_blob(&g, o.p, o.n), sizes[0], hex, ptr);
	is(g.rc, 0, "a node with %d addresses: %s", MANY + 1, g.text);
	for (int i = 0; i < MANY; i++)
		rig_call(&g, "hipFree", "\"ptr\":\"0x%llx\"}}", LLU(D2 + 0x10000 * (uint64_t)i));
	is(log_count("hipFree"), 0, "  all of that memory stays while the graph uses it");
	rig_call(&g, "hipGraphDestroy", "\"graph\":\"0xa1\"}}");
	is(log_count("hipFree"), MANY, "  and goes with it");
	free(o.p);
	rig_end(&g);
	is(g.v.outcome[HRR_FAILED], 0, "  nothing failed");
}

/* A program destroys its stream after the reset that took it; used, it is named. */
static void stream_after_reset(void)
{
	struct rig g = {.opt.keep_going = true};

	begin(&g);
	rig_call(&g, "hipDeviceReset", "}}");
	is(log_count("hipStreamDestroy"), 1, "a reset takes the stream");
	rig_call(&g, "hipStreamSynchronize", "\"stream\":\"0x51\"}}");
	ok(strstr(g.text, "0x51 ended when device 0 was reset") != NULL,
	   "  to wait for it fails: %s", g.text);
	rig_call(&g, "hipStreamDestroy", "\"stream\":\"0x51\"}}");
	is(hrr_replay_verdict(g.r)->outcome[HRR_FAILED], 1, "  to destroy it does not: %s", g.text);
	rig_call(&g, "hipStreamDestroy", "\"stream\":\"0x51\"}}");
	is(hrr_replay_verdict(g.r)->outcome[HRR_FAILED], 2, "  but once: %s", g.text);
	is(log_count("hipStreamDestroy"), 1, "  the run time is asked once");
	rig_end(&g);
}

/* Its release was filtered out: what is loaded under the same number takes its place. */
static void module_again(void)
{
	struct rig g = {.opt.keep_going = true};

	begin(&g);
	for (int i = 0; i < 2; i++)
		rig_call(&g, "hipModuleLoadData",
			 "\"module\":\"0x71\",\"image\":\"0x1\"},\"blobs\":{\"image\":\"%s\"}}",
			 fill_object(&g));
	ok(strstr(g.text, "module 0x71 is still there") != NULL, "a module loaded twice: %s",
	   g.text);
	sync_all(&g);
	is(log_count("hipModuleUnload"), 1, "  the first one is unloaded");
	rig_call(&g, "hipModuleUnload", "\"module\":\"0x71\"}}");
	is(log_count("hipModuleUnload"), 2, "  and the second by its release");
	rig_call(&g, "hipModuleLoadData",
		 "\"module\":\"0x0\",\"image\":\"0x1\"},\"blobs\":{\"image\":\"%s\"}}",
		 fill_object(&g));
	is(log_count("hipModuleUnload"), 3, "  one that has no number is let go: %s", g.text);
	rig_end(&g);
	is(g.v.outcome[HRR_FAILED], 1, "  which fails, nothing else does");
	is(log_count("hipModuleUnload"), 3, "  none is left for the end");
}

/* What has reached the host waits for its output, however much of it there is. */
static void landings_wait(size_t n, size_t size)
{
	struct rig g = {.opt.keep_going = true};

	begin(&g);
	rig_call(&g, "hipMalloc", "\"ptr\":\"0x%llx\",\"size\":%zu}}", LLU(D2), size);
	fake.late = true;
	set(&g, D2, 5, size);
	for (size_t i = 0; i < n; i++)
		fetch(&g, A + i * (size + 64), D2, size);
	for (int i = 0; i < 3; i++) {
		rig_call(&g, "hipFree", "\"ptr\":\"0x%llx\"}}", LLU(D));
		rig_call(&g, "hipMalloc", "\"ptr\":\"0x%llx\",\"size\":64}}", LLU(D));
		sync_all(&g);
	}
	for (size_t i = 0; i < n; i++)
		rig_output(&g, A + i * (size + 64), 5, size, 0);
	is(hrr_replay_verdict(g.r)->outcome[HRR_EXACT], n,
	   "%zu times %zu bytes on the host are compared: %s", n, size, g.text);
	sync_all(&g);
	rig_output(&g, A, 5, size, 0);
	is(hrr_replay_verdict(g.r)->outcome[HRR_UNCHECKED], 1, "  and then let go");
	rig_end(&g);
}

/* rows of 16 bytes, 64 apart, to pageable memory */
static void fetch_rows(struct rig *g, uint64_t to, uint64_t from)
{
	rig_call(g, "hipMemcpy2DAsync",
		 "\"dst\":\"0x%llx\",\"dpitch\":64,\"src\":\"0x%llx\",\"spitch\":16,\"width\":16,"
		 "\"height\":8,\"kind\":\"hipMemcpyDeviceToHost\",\"stream\":\"0x51\"},"
		 "\"dir\":\"d2h\"}",
		 LLU(to), LLU(from));
}
static void rows_output(struct rig *g, uint64_t at, int value)
{
	rig_line(g,
		 "{\"output\":%llu,\"t\":1,\"tid\":1,\"addr\":\"0x%llx\",\"size\":128,\"width\":16,"
		 "\"height\":8,\"depth\":1,\"pitch\":64,\"slice\":512,\"blob\":\"%s\"}",
		 LLU(g->seq), LLU(at), rig_bytes(g, value, 128));
}

/* Rectangles that lie within each other's rows are apart. */
static void rectangles(void)
{
	struct rig g = {.opt.keep_going = true};

	begin(&g);
	fake.late = true;
	for (int i = 0; i < 4; i++) {
		set(&g, D, 5 + i, 128);
		fetch_rows(&g, A + 16 * (uint64_t)i, D);
	}
	sync_all(&g);
	for (int i = 0; i < 4; i++)
		rows_output(&g, A + 16 * (uint64_t)i, 5 + i);
	is(hrr_replay_verdict(g.r)->outcome[HRR_EXACT], 4, "four rectangles side by side: %s",
	   g.text);
	rig_end(&g);
	is(fake.errors, 0, "  nothing went astray");
}

/* What a rectangle brought is in memory that is registered then, and what comes later, too. */
static void rectangle_then_registration(void)
{
	struct rig g = {.opt.keep_going = true};

	begin(&g);
	fake.late = true;
	set(&g, D, 5, 128);
	fetch_rows(&g, A, D);
	reg(&g, A, 4096);
	sync_all(&g);
	rows_output(&g, A, 5);
	is(hrr_replay_verdict(g.r)->outcome[HRR_EXACT], 1,
	   "a rectangle was queued before its destination was registered: %s", g.text);
	set(&g, D, 6, 128);
	fetch_rows(&g, A, D);
	sync_all(&g);
	rows_output(&g, A, 6);
	is(hrr_replay_verdict(g.r)->outcome[HRR_EXACT], 2, "  and another behind that: %s", g.text);
	rig_end(&g);
}

/* Copies that each share a page with the next: one registration takes in all that follow. */
static void landing_chain(void)
{
	struct rig g = {.opt.keep_going = true};
	const uint64_t n = 20000;

	begin(&g);
	set(&g, D, 5, 4096);
	for (uint64_t i = 0; i < n; i++)
		fetch(&g, A + 4096 * i, D, 4096);
	sync_all(&g);
	is(reg(&g, A + 4096 * (n - 1), 64), 0, "a registration where %llu copies lie: %s", LLU(n),
	   g.text);
	rig_output(&g, A, 5, 4096, 0);
	rig_end(&g);
	is(g.v.host_charged, (n + 1) * 4096, "  all have their pages now");
	is(g.v.outcome[HRR_EXACT], 1, "  and their bytes");
}

/* A small rectangle whose place lies in a large one's, both under way; and the end of all
 * addresses. */
static void rectangle_in_rectangle(void)
{
	struct rig g = {.opt.keep_going = true};
	const uint64_t last = 0xffffffffffffe800u;

	begin(&g);
	fake.late = true;
	set(&g, D, 5, 128);
	fetch_rows(&g, A, D);
	rig_call(&g, "hipMemcpy2DAsync",
		 "\"dst\":\"0x%llx\",\"dpitch\":64,\"src\":\"0x%llx\",\"spitch\":16,\"width\":16,"
		 "\"height\":2,\"kind\":\"hipMemcpyDeviceToHost\",\"stream\":\"0x51\"},"
		 "\"dir\":\"d2h\"}",
		 LLU(A + 16), LLU(D));
	reg(&g, A, 4096);
	sync_all(&g);
	rig_output(&g, A + 16, 5, 16, 0);
	rig_output(&g, A + 80, 5, 16, 0);
	rows_output(&g, A, 5);
	is(hrr_replay_verdict(g.r)->outcome[HRR_EXACT], 3, "a rectangle within another: %s",
	   g.text);
	fetch(&g, last, D, 0x17f0);
	reg(&g, last - 0x800, 64);
	ok(strstr(g.text, "no range of addresses") != NULL,
	   "a copy to the last page there is, and a registration before it: %s", g.text);
	rig_end(&g);
	is(g.v.outcome[HRR_FAILED], 1, "  which fails");
	is(fake.errors, 0, "  nothing went astray");
}

int main(void)
{
	rectangle_in_rectangle();
	landing_chain();
	rectangles();
	rectangle_then_registration();
	landings_wait(2, (size_t)40 << 20);
	landings_wait(5000, 16);
	module_again();
	stream_after_reset();
	many_arguments();
	blocks_and_their_memory();
	end_before_begin();
	nested();
	alias(false);
	alias(true);
	landing_moves(true);
	landing_moves(false);
	landing_budget();
	beside_what_is_stuck();
	again_in_a_capture();
	return done_testing();
}
