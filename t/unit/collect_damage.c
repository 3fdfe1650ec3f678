/* The reading half of capture against a program that has written over what it shares with it: each
 * time the rest is written, what is lost is counted, and nothing takes memory or time for it. */
#include "t/unit/rings.h"

#include <sys/resource.h>

/* The first line of the stream that holds text, or "". */
static const char *line_with(const char *text)
{
	static char *line;
	static size_t cap;
	bool found = false;

	snprintf(path, sizeof path, "%s/pid-%d/events.jsonl", dir, getpid());
	FILE *in = fopen(path, "r");
	while (in != NULL && !found && getline(&line, &cap, in) > 0)
		found = strstr(line, text) != NULL;
	if (in != NULL)
		fclose(in);
	return found ? line : "";
}

static struct hrr_collect_summary finish(struct fixture *f)
{
	struct hrr_collect_summary sum;
	int rc = hrr_collect_finish(f->collect, NULL);
	is(rc, 0, "the output is written");
	hrr_collect_summary(f->collect, &sum);
	hrr_collect_close(f->collect);
	hrr_archive_close(f->archive);
	return sum;
}

/* As it comes to the one that lives, or is found when it has ended. */
static struct hrr_collect_summary ended(struct fixture *f)
{
	hrr_collect_step(f->collect, NULL);
	f->ctl->start = 1;
	return finish(f);
}

static void words(void)
{
	struct fixture f;

	start(&f, "words");
	make_process(&f, true, 1);
	/* Up to a record's length before the ring's end. */
	put(f.ring[0], HRR_R_PAD, 0, 0, HRR_RING_MIN - sizeof(struct hrr_rec));
	struct hrr_rec *r = put(f.ring[0], HRR_R_LEAVE, 1, 0, sizeof *r);
	r->api = HRR_API_hipModuleLaunchKernel;
	r->words = 255;
	ok((unsigned char *)(r + 1) == hrr_ring_data(f.ring[0]) + HRR_RING_MIN,
	   "a record at the end of the ring");
	f.ctl->seq = 1;
	struct hrr_collect_summary sum = ended(&f);
	is((int)sum.calls, 1, "a call that says it has arguments");
	ok(strstr(line_with("hipModuleLaunchKernel"), "\"args\":{}") != NULL, "and has none");
}

static void header(void)
{
	static const uint64_t by[] = {(uint64_t)1 << 40, (uint64_t)0 - 4096, HRR_RING_MIN + 8};

	for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
		struct fixture f;
		start_nth(&f, "header", i, true, 2);
		for (uint64_t seq = 1; seq <= 200; seq++)
			call(&f, 0, seq);
		call(&f, 1, 201);
		hrr_collect_step(f.collect, NULL);
		call(&f, 1, 202);
		f.ring[0]->head += by[i];
		f.ring[0]->tail = 77;
		hrr_collect_step(f.collect, NULL);
		ok(f.ring[0]->head - f.ring[0]->tail < HRR_RING_MIN,
		   "a thread whose ring is damaged is not held up");
		struct hrr_collect_summary sum = ended(&f);
		ok(sum.calls == 202 && sum.lost > 0 && sum.cut,
		   "a head that cannot be: %llu calls, lost counted",
		   (unsigned long long)sum.calls);
	}
	struct fixture f;
	start(&f, "tail");
	make_process(&f, true, 1);
	call(&f, 0, 1);
	hrr_collect_step(f.collect, NULL);
	f.ring[0]->tail = (uint64_t)1 << 50;
	call(&f, 0, 2);
	struct hrr_collect_summary sum = ended(&f);
	ok(sum.calls == 2 && sum.lost == 0, "what stands as the tail does not matter");
}

static void numbers(void)
{
	static const uint64_t seqs[] = {(uint64_t)1 << 60, (uint64_t)1 << 63, UINT64_MAX, 1, 0};

	for (size_t i = 0; i < sizeof seqs / sizeof *seqs; i++) {
		struct fixture f;
		start_nth(&f, "seq", i, false, 2);
		call(&f, 0, 1);
		call(&f, 0, 2);
		put(f.ring[0], HRR_R_LEAVE, seqs[i], 0, sizeof(struct hrr_rec));
		call(&f, 1, 3);
		struct hrr_collect_summary sum = finish(&f);
		ok(strcmp(stream(), "1 2 3 cut") == 0 && sum.lost == 1,
		   "a call numbered %llu is lost: %s", (unsigned long long)seqs[i], stream());
	}
	struct fixture f;
	start(&f, "enter");
	make_process(&f, false, 1);
	put(f.ring[0], HRR_R_ENTER, 1, 0, sizeof(struct hrr_rec));
	put(f.ring[0], HRR_R_OUTPUT, 1, 0, sizeof(struct hrr_rec_output));
	f.ctl->seq = 1;
	struct hrr_collect_summary sum = finish(&f);
	ok(sum.calls == 0 && sum.lost == 1, "what follows the begin of a call has to be its end");
}

static void kernels(void)
{
	struct fixture f;
	struct rusage before, after;
	struct hrr_rec_kernel *k;

	start(&f, "kernels");
	make_process(&f, false, 1);
	getrusage(RUSAGE_SELF, &before);
	for (uint64_t n = (uint64_t)1 << 24; n > 1 << 20; n--) {
		k = (struct hrr_rec_kernel *)(void *)put(f.ring[0], HRR_R_KERNEL, 0, 0, sizeof *k);
		k->kernel = n;
		n -= n / 3;
	}
	struct hrr_rec_object *o =
	    (struct hrr_rec_object *)(void *)put(f.ring[0], HRR_R_OBJECT, 0, 0, sizeof *o);
	o->object = (uint64_t)1 << 24;
	call(&f, 0, 1);
	struct hrr_collect_summary sum = finish(&f);
	is((int)sum.calls, 1, "kernels and objects with numbers that cannot be");
	getrusage(RUSAGE_SELF, &after);
	ok(after.ru_maxrss - before.ru_maxrss < 64 << 10, "take no memory: %ld KiB",
	   after.ru_maxrss - before.ru_maxrss);
}

static void files(void)
{
	struct fixture f;
	struct hrr_rec_output *o;

	start(&f, "files");
	make_process(&f, false, 1);
	put(f.ring[0], HRR_R_LEAVE, 1, HRR_F_MORE, sizeof(struct hrr_rec));
	o = (struct hrr_rec_output *)(void *)put(f.ring[0], HRR_R_OUTPUT, 0, 0, sizeof *o);
	o->call = 1;
	o->b = (struct hrr_bytes){0x1000, 4, 78}; /* there is no such file */
	put(f.ring[0], HRR_R_END, 0, 0, sizeof(struct hrr_rec));
	call(&f, 0, 2);
	f.ctl->files = UINT32_MAX; /* to be removed at the end */
	f.ctl->argc = UINT32_MAX;
	f.ctl->envc = 2;
	f.ctl->info = 16;
	f.hub->processes = UINT32_MAX;
	struct hrr_collect_summary sum = finish(&f);
	is_str(stream(), "1 o1 2 cut", "bytes in a file that is not there are lost, and no more");
	ok(sum.lost == 1 && sum.processes == 1, "lost is counted, and who is there");
	ok(strstr(line_with("\"output\""), "\"unknown\":\"") != NULL, "an output says so");
	ok(strstr(line_with("\"hrr\""), "\"command\":[]") != NULL, "nor is there a command");
	snprintf(path, sizeof path, "%s/p0.ctl", scratch);
	ok(access(path, F_OK) < 0, "its files are gone");
}

/* A reader that goes on, where the marks have been written over. */
static void marks(void)
{
	static const struct {
		uint64_t printed, from, to;
	} wrong[] = {{1 << 30, 0, 0}, {48, 4096, 96}, {48, 96, 4096}, {48, 0, (uint64_t)1 << 40}};

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct fixture f;
		struct hrr_diag diag = {0};
		char name[16];
		snprintf(name, sizeof name, "marks%zu", i);
		start(&f, name);
		make_process(&f, true, 2);
		call(&f, 0, 1);
		call(&f, 0, 2);
		hrr_collect_step(f.collect, NULL);
		hrr_collect_close(f.collect);
		hrr_archive_close(f.archive);
		call(&f, 1, 3);
		for (int k = 0; k < 2; k++)
			f.ring[0]->mark[k].printed = wrong[i].printed;
		f.ring[0]->spill_from = wrong[i].from;
		f.ring[0]->spilled = wrong[i].to;
		if (wrong[i].to != 0)
			(void)map("p0.s0", 8192);
		struct hrr_collect_options opt = {.scratch = scratch, .blobs_name = "../blobs"};
		if (hrr_archive_reopen(&f.archive, dir, &diag) < 0)
			exit(2);
		opt.archive = f.archive;
		opt.blobs = hrr_archive_blobs(f.archive);
		if (hrr_collect_open(&f.collect, &opt, true, &diag) < 0)
			exit(2);
		struct hrr_collect_summary sum = ended(&f);
		ok(strcmp(stream(), "1 2 3 cut") == 0 && sum.lost > 0,
		   "marks that cannot be end their ring: %s", stream());
	}
}

int main(void)
{
	alarm(120); /* for loops that a number asks for */
	rings_begin();
	words();
	header();
	numbers();
	kernels();
	files();
	marks();
	rings_end();
	return done_testing();
}
