/* Host memory behind registrations and graphs: the eight rules. */
#include "t/unit/replay_fake.h"

#define A 0x7f0000001040u /* recorded host addresses, not aligned to pages */
#define D 0x600000000000u /* recorded device memory */

static void alloc(struct rig *g)
{
	rig_call(g, "hipMalloc", "\"ptr\":\"0x%llx\",\"size\":65536}}", (unsigned long long)D);
}

static void set(struct rig *g, int value, size_t n)
{
	rig_call(g, "hipMemset", "\"dst\":\"0x%llx\",\"value\":%d,\"sizeBytes\":%zu}}",
		 (unsigned long long)D, value, n);
}

static int reg(struct rig *g, uint64_t addr, size_t n)
{
	return rig_call(g, "hipHostRegister",
			"\"hostPtr\":\"0x%llx\",\"sizeBytes\":%zu,\"flags\":0}}",
			(unsigned long long)addr, n);
}

static int unreg(struct rig *g, uint64_t addr)
{
	return rig_call(g, "hipHostUnregister", "\"hostPtr\":\"0x%llx\"}}",
			(unsigned long long)addr);
}

static int fetch(struct rig *g, uint64_t addr, size_t n)
{
	return rig_call(g, "hipMemcpy",
			"\"dst\":\"0x%llx\",\"src\":\"0x%llx\",\"sizeBytes\":%zu,\"kind\":"
			"\"hipMemcpyDeviceToHost\"},\"dir\":\"d2h\"}",
			(unsigned long long)addr, (unsigned long long)D, n);
}

/* A graph with one node: n bytes from D to addr. */
static void graph(struct rig *g, uint64_t addr, size_t n)
{
	rig_call(g, "hipGraphCreate", "\"pGraph\":\"0xa1\",\"flags\":0}}");
	rig_call(g, "hipGraphAddMemcpyNode1D",
		 "\"pGraphNode\":\"0xb1\",\"graph\":\"0xa1\",\"pDependencies\":null,"
		 "\"numDependencies\":0,\"dst\":\"0x%llx\",\"src\":\"0x%llx\",\"count\":%zu,"
		 "\"kind\":\"hipMemcpyDeviceToHost\"},\"dir\":\"d2h\"}",
		 (unsigned long long)addr, (unsigned long long)D, n);
	rig_call(
	    g, "hipGraphInstantiate",
	    "\"pGraphExec\":\"0xc1\",\"graph\":\"0xa1\",\"pErrorNode\":null,\"pLogBuffer\":null,"
	    "\"bufferSize\":0}}");
}

static void launch(struct rig *g)
{
	rig_call(g, "hipGraphLaunch", "\"graphExec\":\"0xc1\",\"stream\":\"0x0\"}}");
}

static void sync_all(struct rig *g)
{
	rig_call(g, "hipDeviceSynchronize", "}}");
}

static void graph_node_keeps_its_buffer(bool refuse, bool late)
{
	struct rig g = {0};

	rig_start(&g);
	fake.refuse_overlap = refuse;
	fake.late = late;
	alloc(&g);
	reg(&g, A, 4096);
	graph(&g, A, 4096);
	reg(&g, A, 100000); /* larger: a new mapping; the node holds the old one */
	unreg(&g, A);
	set(&g, 0x5a, 4096);
	launch(&g);
	uint64_t seq = g.seq;
	sync_all(&g);
	g.seq = seq;
	rig_output(&g, A, 0x5a, 4096, 3);
	rig_end(&g);
	is(g.v.outcome[HRR_EXACT], 1, "graph node keeps its buffer (%s, %s): the write is seen",
	   refuse ? "refuse" : "accept", late ? "late" : "eager");
	is(fake.errors, 0, "  and lands in live memory");
	is(g.v.outcome[HRR_FAILED], 0, "  and nothing failed");
	is(live_registrations(), 0, "  and nothing is left registered");
}

static void failed_replace_takes_a_new_block(void)
{
	struct rig g = {.opt.keep_going = true};

	hrr_fault_add(&g.faults, "hipHostUnregister:1:hipErrorUnknown", NULL);
	rig_start(&g);
	fake.refuse_overlap = true;
	alloc(&g);
	reg(&g, A, 4096);
	is(reg(&g, A, 4096), 0, "failed replace takes a new block: the registration goes on");
	is(live_registrations(), 2, "  the old one is still registered");
	ok(fake.reg[0].at != fake.reg[1].at, "  the new one is another mapping");
	set(&g, 7, 4096);
	fetch(&g, A, 4096);
	rig_output(&g, A, 7, 4096, 0);
	ok(*(unsigned char *)(uintptr_t)fake.reg[0].at == 7, "  of the same pages");
	rig_end(&g);
	is(g.v.host_charged, 8192, "  charged once: two pages");
	is(g.v.outcome[HRR_EXACT], 1, "  the output is right");
	is(live_registrations(), 0, "  both are unregistered at the end");
	is(log_count("hipHostUnregister"), 2, "  by one call each");
}

static void failed_unregister_keeps_the_mark(void)
{
	struct rig g = {.opt.keep_going = true};

	hrr_fault_add(&g.faults, "hipHostUnregister:1:hipErrorUnknown", NULL);
	rig_start(&g);
	reg(&g, A, 4096);
	unreg(&g, A);
	is(g.v.outcome[HRR_FAILED], 0, "unregister that fails: told below");
	is(live_registrations(), 1, "  the run time still has it");
	ok(strstr(g.text, "0x7f0000001040") != NULL, "  the message names the address: %s", g.text);
	rig_end(&g);
	is(g.v.outcome[HRR_FAILED], 1, "  it is counted as a failure");
	is(live_registrations(), 0, "  it was marked, and the end unregisters it");
}

static void reuse_and_growth(void)
{
	struct rig g = {0};

	rig_start(&g);
	alloc(&g);
	reg(&g, A, 4000);
	unreg(&g, A);
	reg(&g, A, 4000);
	unreg(&g, A);
	reg(&g, A, 100);
	unreg(&g, A);
	ok(fake.reg[0].at == fake.reg[1].at && fake.reg[1].at == fake.reg[2].at,
	   "reuse while it fits: one mapping");
	ok((fake.reg[0].at & 0xfff) == (A & 0xfff), "alignment: the offset in the page is kept");
	unsigned char *old = (unsigned char *)(uintptr_t)fake.reg[0].at;
	memset(old, 0x31, 4000);
	reg(&g, A, 50000);
	ok(fake.reg[3].at != fake.reg[0].at, "growth maps a larger block");
	unsigned char *grown = (unsigned char *)(uintptr_t)fake.reg[3].at;
	ok(grown[0] == 0x31 && grown[3999] == 0x31, "  that shows the same bytes");
	grown[17] = 0x99;
	is(old[17], 0x99, "  and the old mapping is kept, and shows them too");
	rig_end(&g);
	is(g.v.host_charged, 13 * 4096, "  each page is charged once");
}

static void interior_and_overlapping(void)
{
	struct rig g = {0};

	rig_start(&g);
	fake.refuse_overlap = true;
	alloc(&g);
	reg(&g, A, 20000);
	is(reg(&g, A + 8192, 4096), 0, "interior registration is taken where overlaps are refused");
	is(reg(&g, A + 16384, 20000), 0, "overlapping, too");
	is(live_registrations(), 3, "  three registrations");
	set(&g, 0x11, 20000);
	fetch(&g, A, 20000);
	is(((unsigned char *)(uintptr_t)fake.reg[1].at)[5], 0x11,
	   "  what goes to one is in the other");
	is(((unsigned char *)(uintptr_t)fake.reg[2].at)[5], 0x11, "  and in the third");
	unreg(&g, A + 8192);
	unreg(&g, A);
	rig_end(&g);
	is(g.v.host_charged, 9 * 4096, "  one charge a page");
	is(g.v.outcome[HRR_FAILED], 0, "  no call failed");
	is(live_registrations(), 0, "  none is left");
}

static void two_in_one_page(void)
{
	struct rig g = {0};

	rig_start(&g);
	fake.refuse_overlap = true;
	reg(&g, A, 64);
	reg(&g, A + 512, 64);
	is(fake.reg[1].at - fake.reg[0].at, 512, "two registrations in one page: one memory");
	unreg(&g, A);
	is(live_registrations(), 1, "  the other stays registered");
	rig_end(&g);
	is(g.v.host_charged, 4096, "  one page");
}

static void landing_then_registration(void)
{
	struct rig g = {0};

	rig_start(&g);
	alloc(&g);
	set(&g, 3, 64);
	fetch(&g, A, 64); /* pageable: a landing buffer */
	rig_output(&g, A, 3, 64, 0);
	reg(&g, A - 0x40, 8192); /* larger, around it */
	is(((unsigned char *)(uintptr_t)fake.reg[0].at)[0x40], 3,
	   "landing buffer before a larger registration: its bytes are in there");
	rig_end(&g);
	is(g.v.outcome[HRR_EXACT], 1, "  and it was compared");
}

static void register_then_graph_landing(void)
{
	struct rig g = {0};

	rig_start(&g);
	alloc(&g);
	reg(&g, A, 4096);
	graph(&g, A, 4096);
	unreg(&g, A);
	set(&g, 0x21, 4096);
	launch(&g);
	rig_output(&g, A, 0x21, 4096, 4);
	graph(&g, A, 4096); /* again, now as a landing buffer */
	launch(&g);
	rig_end(&g);
	is(g.v.host_charged, 2 * 4096, "register and graph landing at one address: one charge");
	is(g.v.outcome[HRR_EXACT], 1, "  the output is right");
}

static void budget(void)
{
	struct rig g = {.opt.keep_going = true, .opt.max_host_bytes = 8192};

	rig_start(&g);
	reg(&g, A, 4096);
	is(log_count("hipHostRegister"), 1, "budget: two pages are within");
	reg(&g, A + 0x10000, 4096);
	is(log_count("hipHostRegister"), 1, "  a third is refused before the run time is asked");
	ok(strstr(g.text, "8192") != NULL && strstr(g.text, "--max-host-bytes") != NULL,
	   "  with the numbers: %s", g.text);
	unreg(&g, A);
	reg(&g, A + 0x10000, 4096);
	is(log_count("hipHostRegister"), 1, "  removing a mapping gives nothing back");
	reg(&g, A, 4096);
	is(log_count("hipHostRegister"), 2, "  what has storage is registered again");
	rig_end(&g);
	is(g.v.outcome[HRR_REFUSED], 2, "  each is a refused call");
	is(g.v.outcome[HRR_FAILED], 0, "  and none failed");
	is(g.v.host_charged, 8192, "  the charge stands");
}

static void recorded_failures_change_nothing(void)
{
	struct rig g = {0};

	rig_start(&g);
	fake.refuse_overlap = true;
	alloc(&g);
	reg(&g, A, 4096);
	g.seq++;
	rig_line(&g,
		 "{\"seq\":%llu,\"t\":1,\"dur\":1,\"tid\":1,\"api\":\"hipHostRegister\",\"ret\":"
		 "\"hipErrorHostMemoryAlreadyRegistered\",\"args\":{\"hostPtr\":\"0x%llx\","
		 "\"sizeBytes\":4096,\"flags\":0}}",
		 (unsigned long long)g.seq, (unsigned long long)A);
	is(g.rc, 0, "a recorded failing register is issued again");
	is(log_count("hipHostRegister"), 2, "  as it was");
	is(log_count("hipHostUnregister"), 0, "  without unregistering first");
	g.seq++;
	rig_line(&g,
		 "{\"seq\":%llu,\"t\":1,\"dur\":1,\"tid\":1,\"api\":\"hipHostUnregister\",\"ret\":"
		 "\"hipErrorHostMemoryNotRegistered\",\"args\":{\"hostPtr\":\"0x%llx\"}}",
		 (unsigned long long)g.seq, (unsigned long long)A + 64);
	is(g.rc, 0, "a recorded failing unregister, too");
	is(live_registrations(), 1, "  both change nothing");
	set(&g, 9, 4096);
	fetch(&g, A, 4096);
	rig_output(&g, A, 9, 4096, 0);
	rig_end(&g);
	is(g.v.outcome[HRR_EXACT], 1, "  the registration is still good");
	is(g.v.outcome[HRR_FAILED], 0, "  nothing failed");
}

/* A register (n above 0) or unregister that the program saw fail. */
static int failing(struct rig *g, const char *ret, uint64_t addr, size_t n)
{
	char more[80] = "";

	g->seq++;
	if (n != 0)
		snprintf(more, sizeof more, ",\"sizeBytes\":%zu,\"flags\":0", n);
	return rig_line(g,
			"{\"seq\":%llu,\"t\":1,\"dur\":1,\"tid\":1,\"api\":\"%s\",\"ret\":"
			"\"%s\",\"args\":{\"hostPtr\":\"0x%llx\"%s}}",
			(unsigned long long)g->seq,
			n != 0 ? "hipHostRegister" : "hipHostUnregister", ret,
			(unsigned long long)addr, more);
}

#define ALREADY "hipErrorHostMemoryAlreadyRegistered"
#define NOT "hipErrorHostMemoryNotRegistered"

/* Recorded as failing, it succeeds here: that is told, and everything is as it was before. */
static void failing_register_that_succeeds(bool drops_all)
{
	struct rig g = {.opt.keep_going = true};

	rig_start(&g);
	fake.drops_all = drops_all;
	alloc(&g);
	reg(&g, A, 8192);
	failing(&g, ALREADY, A, 8192);
	ok(strstr(g.text, "recorded as " ALREADY) != NULL,
	   "a failing register that succeeds (an unregister takes %s): %s",
	   drops_all ? "all" : "one", g.text);
	is(live_registrations(), 1, "  is undone");
	ok(fake.reg[0].live || fake.reg[2].live, "  and what it was made over is there");
	failing(&g, ALREADY, A + 4096, 100);
	is(live_registrations(), 1, "  so is one inside");
	set(&g, 6, 4096);
	fetch(&g, A, 4096);
	rig_output(&g, A, 6, 4096, 0);
	is(unreg(&g, A), 0, "  the registration is unregistered as recorded");
	is(live_registrations(), 0, "  then");
	rig_end(&g);
	is(g.v.outcome[HRR_FAILED], 2, "  both are failed calls");
	is(g.v.outcome[HRR_EXACT], 1, "  and the bytes are right");
	is(g.v.host_charged, 3 * 4096, "  nothing is charged for them");
}

static void failing_unregister_that_succeeds(void)
{
	struct rig g = {.opt.keep_going = true};

	rig_start(&g);
	reg(&g, A, 8192);
	failing(&g, "hipErrorUnknown", A, 0);
	ok(strstr(g.text, "recorded as hipErrorUnknown") != NULL,
	   "a failing unregister that succeeds: %s", g.text);
	is(live_registrations(), 1, "  it is registered again");
	ok(fake.reg[1].live && fake.reg[1].at == fake.reg[0].at && fake.reg[1].size == 8192,
	   "  where it was");
	unreg(&g, A);
	is(live_registrations(), 0, "  until the recorded unregister");
	rig_end(&g);
	is(g.v.outcome[HRR_FAILED], 1, "  a failed call");
}

/* The first unregister had waited for the device, when the second one failed. */
static void failing_calls_behind_work(void)
{
	struct rig g = {0};

	rig_start(&g);
	fake.refuse_overlap = fake.late = true;
	alloc(&g);
	reg(&g, A, 4096);
	set(&g, 1, 64);
	unreg(&g, A);
	is(failing(&g, NOT, A, 0), 0, "unregistered twice, while the device is busy: %s", g.text);
	rig_end(&g);
	is(g.v.outcome[HRR_FAILED], 0, "  nothing failed");

	g = (struct rig){.opt.keep_going = true, .opt.watchdog = 1};
	rig_start(&g);
	fake.late = true;
	alloc(&g);
	reg(&g, A, 4096);
	set(&g, 1, 64);
	fake.stuck = true; /* until a later record */
	is(failing(&g, ALREADY, A, 4096), 0, "a failing register that succeeds, device busy");
	is(log_count("hipHostUnregister"), 0, "  is not undone yet");
	fake.stuck = false;
	sync_all(&g);
	is(log_count("hipHostUnregister"), 1, "  but as soon as it is idle");
	is(live_registrations(), 1, "  and the one it was made over stays");
	rig_end(&g);
	is(live_registrations(), 0, "  to the end");
}

/* Memory that replay has none of, or less of than the call took: it cannot fail for that. */
static void failing_register_of_unknown(void)
{
	struct rig g = {0};

	rig_start(&g);
	fake.refuse_overlap = true;
	reg(&g, A, 4096);
	is(failing(&g, ALREADY, A - 8192, 16384), 0, "a failing register that began before: %s",
	   g.text);
	is(failing(&g, ALREADY, A + 0x100000, 4096), 0, "and one of memory nobody registered: %s",
	   g.text);
	is(log_count("hipHostRegister"), 1, "  are left out");
	is(failing(&g, "hipErrorInvalidValue", A + 0x100000, 4096), 0,
	   "one that failed for another reason is issued: %s", g.text);
	is(log_count("hipHostRegister"), 2, "  where nothing is");
	rig_end(&g);
	is(g.v.not_reissued, 2, "  and counted");
	is(g.v.host_charged, 8192, "  nothing is charged for them");
}

/* Run times find a registration by any address in it. */
static void unregister_inside(void)
{
	struct rig g = {0};

	rig_start(&g);
	fake.refuse_overlap = true;
	alloc(&g);
	reg(&g, A, 20000);
	reg(&g, A + 8192, 4096);
	is(unreg(&g, A + 8192 + 64), 0, "an unregister inside a registration: %s", g.text);
	ok(fake.reg[0].live && !fake.reg[1].live, "  takes the one it is in");
	is(unreg(&g, A + 16384), 0, "  and the wider one, then: %s", g.text);
	is(live_registrations(), 0, "  nothing is left");
	is(reg(&g, A, 20000), 0, "  it can be registered again");
	rig_end(&g);
	is(g.v.outcome[HRR_FAILED], 0, "  nothing failed");
}

static void end_in_order(bool stuck, bool fatal)
{
	struct rig g = {.opt.watchdog = stuck ? 1 : 0};

	rig_start(&g);
	fake.late = true;
	alloc(&g);
	reg(&g, A, 4096);
	graph(&g, A, 4096);
	launch(&g);
	fake.stuck = stuck;
	if (fatal)
		rig_call(&g, "hipMemcpy",
			 "\"dst\":\"0x%llx\",\"src\":\"0x1000\",\"sizeBytes\":16,\"kind\":"
			 "\"hipMemcpyHostToDevice\"},\"dir\":\"h2d\",\"blobs\":{\"src\":"
			 "\"xxh128:00000000000000000000000000000000\"}}",
			 (unsigned long long)D);
	ok(!fatal || g.rc < 0, "a missing blob ends replay: %s", g.diag.what);
	fake.log_len = 0;
	memset(fake.log, 0, sizeof fake.log);
	rig_end(&g);
	if (stuck) {
		is(log_count("hipFree") + log_count("hipHostUnregister") +
		       log_count("hipGraphExecDestroy"),
		   0, "a device that cannot be waited for: nothing it may write is freed");
		ok(g.v.abandoned, "  and it is said");
		is(hrr_verdict_exit(&g.v, false), 2, "  exit code 2");
		fake.stuck = false;
		fake_drain(); /* the device gets to it at last */
		is(fake.errors, 0, "  what it writes then is still there");
		return;
	}
	const char *x = strstr(fake.log, "hipGraphExecDestroy"),
		   *u = strstr(fake.log, "hipHostUnregister"), *f = strstr(fake.log, "hipFree");
	ok(x != NULL && u != NULL && f != NULL && x < u && u < f,
	   "the end (%s): executables, registrations, memory, in this order",
	   fatal ? "fatal" : "plain");
	is(fake.n_queue, 0, "  after the work was done");
	is(fake.errors, 0, "  which touched nothing that was gone");
}

static void refresh(void)
{
	struct rig g = {.opt.bakes_host = true};

	rig_start(&g);
	alloc(&g);
	reg(&g, A, 4096);
	graph(&g, A, 4096);
	launch(&g);
	is(log_count("hipGraphExecMemcpyNodeSetParams1D"), 0, "baked mappings: none changed yet");
	unreg(&g, A);
	launch(&g);
	is(log_count("hipGraphExecMemcpyNodeSetParams1D"), 1, "  refreshed after an unregister");
	launch(&g);
	is(log_count("hipGraphExecMemcpyNodeSetParams1D"), 1, "  once");
	rig_end(&g);
	is(fake.errors, 0, "  and right");
}

static void sizes_are_checked(void)
{
	struct rig g = {.opt.keep_going = true};

	rig_start(&g);
	alloc(&g);
	reg(&g, A, 4096);
	graph(&g, A, 70000);
	is(log_count("hipGraphAddMemcpyNode1D"), 0, "a node larger than its memory is not built");
	ok(strstr(g.text, "runs past the end") != NULL || strstr(g.text, "rebuilt") != NULL,
	   "  and says why: %s", g.text);
	launch(&g);
	is(log_count("hipGraphLaunch"), 0, "  its graph is not launched");
	ok(strstr(g.text, "call 4") != NULL, "  and named: %s", g.text);
	rig_call(&g, "hipHostRegister",
		 "\"hostPtr\":\"0xffffffffffffff00\",\"sizeBytes\":4096,\"flags\":0}}");
	ok(strstr(g.text, "no range") != NULL, "a range that wraps is refused: %s", g.text);
	rig_end(&g);
	is(g.v.outcome[HRR_REFUSED], 1, "  refused is counted");
}

int main(void)
{
	for (int i = 0; i < 4; i++)
		graph_node_keeps_its_buffer((i & 1) != 0, (i & 2) != 0);
	failed_replace_takes_a_new_block();
	failed_unregister_keeps_the_mark();
	reuse_and_growth();
	interior_and_overlapping();
	two_in_one_page();
	landing_then_registration();
	register_then_graph_landing();
	budget();
	recorded_failures_change_nothing();
	failing_register_that_succeeds(false);
	failing_register_that_succeeds(true);
	failing_unregister_that_succeeds();
	failing_calls_behind_work();
	failing_register_of_unknown();
	unregister_inside();
	end_in_order(false, false);
	end_in_order(false, true);
	end_in_order(true, false);
	refresh();
	sizes_are_checked();
	return done_testing();
}
