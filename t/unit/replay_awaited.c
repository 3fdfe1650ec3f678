/* What the program had waited for decides whose bytes host memory holds: the host's or a copy's. */
#include "t/unit/replay_fake.h"

#define D 0x600000000000u
#define H 0x7f0000000000u
#define LLU(x) ((unsigned long long)(x))

static void stream(struct rig *g, unsigned s, bool apart)
{
	rig_call(g, "hipStreamCreateWithFlags", "\"stream\":\"0x%x\",\"flags\":%d}}", s, apart);
}

static void on(struct rig *g, const char *api, const char *what, unsigned handle)
{
	rig_call(g, api, "\"%s\":\"0x%x\"}}", what, handle);
}

/* D holds 9; nine is copied to H and is there at once, but nobody has waited for it. */
static void begin(struct rig *g, bool apart)
{
	rig_start(g);
	rig_call(g, "hipMalloc", "\"ptr\":\"0x%llx\",\"size\":4096}}", LLU(D));
	rig_call(g, "hipHostMalloc", "\"ptr\":\"0x%llx\",\"size\":4096,\"flags\":0}}", LLU(H));
	stream(g, 0x51, apart);
	stream(g, 0x52, true);
	rig_call(g, "hipEventCreateWithFlags", "\"event\":\"0xe1\",\"flags\":0}}");
	rig_call(g, "hipMemset", "\"dst\":\"0x%llx\",\"value\":9,\"sizeBytes\":64}}", LLU(D));
	rig_call(g, "hipMemcpyAsync",
		 "\"dst\":\"0x%llx\",\"src\":\"0x%llx\",\"sizeBytes\":64,\"kind\":"
		 "\"hipMemcpyDeviceToHost\",\"stream\":\"0x51\"},\"dir\":\"d2h\"}",
		 LLU(H), LLU(D));
}

/* The record says that H held ones when it was uploaded: what H holds then is due. */
static void end_after(struct rig *g, int due, uint64_t exact, const char *what)
{
	rig_call(
	    g, "hipMemcpyAsync",
	    "\"dst\":\"0x%llx\",\"src\":\"0x%llx\",\"sizeBytes\":64,\"kind\":"
	    "\"hipMemcpyHostToDevice\",\"stream\":\"0x52\"},\"dir\":\"h2d\",\"blobs\":{\"src\":"
	    "\"%s\"}}",
	    LLU(D + 1024), LLU(H), rig_bytes(g, 1, 64));
	rig_call(g, "hipDeviceSynchronize", "}}");
	rig_output(g, H, due, 64, 0);
	rig_end(g);
	is(g->v.outcome[HRR_EXACT], exact + 1, "%s: %s", what,
	   due == 1 ? "the host's bytes are put there" : "the copy's bytes stay");
}

static void end(struct rig *g, int due, const char *what)
{
	end_after(g, due, 0, what);
}

static void event(struct rig *g)
{
	rig_call(g, "hipEventRecord", "\"event\":\"0xe1\",\"stream\":\"0x51\"}}");
}

static void plain(void)
{
	struct rig g = {0};

	begin(&g, false);
	end(&g, 9, "nothing was waited for");
	begin(&g, false);
	on(&g, "hipStreamSynchronize", "stream", 0x51);
	end(&g, 1, "the stream was waited for");
	begin(&g, false);
	on(&g, "hipStreamSynchronize", "stream", 0x52);
	end(&g, 9, "another stream was waited for");
	begin(&g, false);
	event(&g);
	on(&g, "hipEventSynchronize", "event", 0xe1);
	end(&g, 1, "an event behind it was waited for");
	begin(&g, true);
	rig_call(&g, "hipDeviceSynchronize", "}}");
	end(&g, 1, "the device was waited for");
	begin(&g, true);
	uint64_t seq = g.seq;
	on(&g, "hipStreamSynchronize", "stream", 0x52); /* behind an event, say */
	uint64_t after = g.seq;
	g.seq = seq;
	rig_output(&g, H, 9, 64, 0);
	g.seq = after;
	end_after(&g, 1, 1, "the record has what it brought");
}

static void null_stream(void)
{
	struct rig g = {0};

	begin(&g, false);
	on(&g, "hipStreamSynchronize", "stream", 0);
	end(&g, 1, "the null stream was waited for, the copy's is not apart");
	begin(&g, true);
	on(&g, "hipStreamSynchronize", "stream", 0);
	end(&g, 9, "the null stream was waited for, the copy's is apart");
}

/* Replay waits on its own account, to register memory anew: the program had not. */
static void waits_of_replay(void)
{
	struct rig g = {0};

	begin(&g, true);
	for (int i = 0; i < 2; i++)
		rig_call(&g, "hipHostRegister",
			 "\"hostPtr\":\"0x%llx\",\"sizeBytes\":4096,\"flags\":0}}",
			 LLU(H + 0x100000));
	end(&g, 9, "replay waited, the program had not");
}

static void destroyed(void)
{
	struct rig g = {0};

	begin(&g, true);
	on(&g, "hipStreamDestroy", "stream", 0x51);
	end(&g, 9, "the stream is gone");
	begin(&g, true);
	on(&g, "hipStreamSynchronize", "stream", 0x51);
	on(&g, "hipStreamDestroy", "stream", 0x51);
	end(&g, 1, "the stream was waited for and is gone");
	begin(&g, true);
	event(&g);
	on(&g, "hipStreamDestroy", "stream", 0x51);
	on(&g, "hipEventSynchronize", "event", 0xe1);
	end(&g, 1, "an event in a stream that is gone was waited for");
	begin(&g, true);
	on(&g, "hipStreamDestroy", "stream", 0x51);
	stream(&g, 0x51, true);
	on(&g, "hipStreamSynchronize", "stream", 0x51);
	end(&g, 9, "another stream with its number was waited for");
	begin(&g, false);
	on(&g, "hipStreamDestroy", "stream", 0x51);
	on(&g, "hipStreamSynchronize", "stream", 0);
	end(&g, 1, "the null stream was waited for when the copy's was gone");
	begin(&g, true);
	on(&g, "hipStreamDestroy", "stream", 0x51);
	rig_call(&g, "hipDeviceSynchronize", "}}");
	end(&g, 1, "the device was waited for when the stream was gone");
}

/* hipFree waits for the device, and stands where it began; replay puts it off while that is busy.
 */
static void released(void)
{
	struct rig g = {0};

	for (int late = 0; late < 2; late++) {
		begin(&g, true);
		rig_call(&g, "hipMalloc", "\"ptr\":\"0x%llx\",\"size\":4096}}", LLU(D + 0x10000));
		fake.late = late;
		rig_call(&g, "hipMemcpyAsync",
			 "\"dst\":\"0x%llx\",\"src\":\"0x%llx\",\"sizeBytes\":64,\"kind\":"
			 "\"hipMemcpyDeviceToHost\",\"stream\":\"0x51\"},\"dir\":\"d2h\"}",
			 LLU(H), LLU(D));
		fake.stuck = late;
		rig_call(&g, "hipFree", "\"ptr\":\"0x%llx\"}}", LLU(D + 0x10000));
		fake.stuck = false;
		end(&g, 1,
		    late ? "a release had waited, which was put off" : "a release had waited");
	}
	/* Another thread's call comes before it returns. */
	begin(&g, true);
	rig_line(&g,
		 "{\"seq\":%llu,\"t\":1,\"dur\":9,\"tid\":2,\"api\":\"hipFree\",\"args\":{\"ptr\":"
		 "\"0x0\"}}",
		 LLU(++g.seq));
	end(&g, 9, "a release waits on another thread");
}

/* Work of a stream that is gone has not ended: what it brings to pageable memory is waited for. */
static void landing(void)
{
	struct rig g = {0};

	begin(&g, true);
	fake.late = true;
	rig_call(&g, "hipMemcpyAsync",
		 "\"dst\":\"0x%llx\",\"src\":\"0x%llx\",\"sizeBytes\":64,\"kind\":"
		 "\"hipMemcpyDeviceToHost\",\"stream\":\"0x51\"},\"dir\":\"d2h\"}",
		 LLU(H + 0x100000), LLU(D));
	uint64_t seq = g.seq;
	on(&g, "hipStreamDestroy", "stream", 0x51);
	is(log_count("hipStreamDestroy"), 0, "a busy stream is not destroyed yet");
	stream(&g, 0x51, true);
	on(&g, "hipStreamSynchronize", "stream", 0x52);
	rig_call(&g, "hipHostRegister", "\"hostPtr\":\"0x%llx\",\"sizeBytes\":4096,\"flags\":0}}",
		 LLU(H + 0x100000));
	g.seq = seq;
	rig_output(&g, H + 0x100000, 9, 64, 0);
	g.seq += 10;
	rig_end(&g);
	is(g.v.outcome[HRR_EXACT], 1, "  what it brings is waited for: %s", g.text);
	is(log_count("hipStreamDestroy"), 4, "  and it is destroyed in the end");
}

/* A thread that waits is told of another one's call, whose line comes behind. */
static void before_its_call(void)
{
	struct rig g = {.opt.keep_going = true};

	begin(&g, true);
	for (int gone = 0; gone < 2; gone++) {
		g.seq += 1 + (uint64_t)gone;
		rig_output(&g, H + 128, 9, 64, 0);
		g.seq -= gone == 0;
		fake.late = true;
		rig_call(&g, "hipMemcpyAsync",
			 "\"dst\":\"0x%llx\",\"src\":\"0x%llx\",\"sizeBytes\":64,\"kind\":"
			 "\"hipMemcpyDeviceToHost\",\"stream\":\"0x51\"},\"dir\":\"d2h\"}",
			 LLU(H + 128), LLU(D));
	}
	is(hrr_replay_verdict(g.r)->outcome[HRR_EXACT], 2,
	   "outputs before their calls are compared behind them: %s", g.text);
	g.seq += 10;
	rig_output(&g, H + 128, 9, 64, 0);
	rig_end(&g);
	is(g.v.outcome[HRR_EXACT], 3, "  and one without a call at the end: %s", g.text);
	is(g.v.outcome[HRR_DIFFERS], 0, "  none differs");
}

/* Numbers of streams are the archive's: one may look like those that replay gives itself. */
static void strange_numbers(void)
{
	static const uint64_t handles[] = {0xfffd00000000ffff, 0xfffd000000000020,
					   0xfffd000000000000, 0xfffc000000000001};
	struct rig g = {0};

	for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) {
		begin(&g, true);
		rig_call(&g, "hipStreamCreate", "\"stream\":\"0x%llx\"}}", LLU(handles[i]));
		rig_call(&g, "hipMemcpyAsync",
			 "\"dst\":\"0x%llx\",\"src\":\"0x%llx\",\"sizeBytes\":64,\"kind\":"
			 "\"hipMemcpyDeviceToHost\",\"stream\":\"0x%llx\"},\"dir\":\"d2h\"}",
			 LLU(H), LLU(D), LLU(handles[i]));
		rig_call(&g, "hipStreamSynchronize", "\"stream\":\"0x%llx\"}}", LLU(handles[i]));
		rig_call(&g, "hipStreamDestroy", "\"stream\":\"0x%llx\"}}", LLU(handles[i]));
		rig_output(&g, H, 9, 64, 0);
		rig_end(&g);
		is(g.v.outcome[HRR_EXACT], 1, "stream 0x%llx: %s", LLU(handles[i]), g.text);
	}
}

/* So many outputs before their calls are held, the others compared where they stand. */
static void too_many(void)
{
	struct rig g = {.opt.keep_going = true};

	begin(&g, true);
	rig_call(&g, "hipDeviceSynchronize", "}}");
	uint64_t seq = g.seq;
	for (int i = 0; i < 2000; i++) {
		g.seq = seq + 100000;
		rig_output(&g, H, 9, 64, 0);
	}
	is(hrr_replay_verdict(g.r)->outcome[HRR_EXACT] +
	       hrr_replay_verdict(g.r)->outcome[HRR_UNCHECKED],
	   976, "of 2000 early outputs 1024 are held");
	g.seq = seq;
	rig_end(&g);
}

int main(void)
{
	strange_numbers();
	too_many();
	before_its_call();
	plain();
	null_stream();
	waits_of_replay();
	destroyed();
	released();
	landing();
	return done_testing();
}
