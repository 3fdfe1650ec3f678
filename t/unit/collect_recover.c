/* A reader that is killed, and another that goes on where it was. */
#include "t/unit/rings.h"

#include "lib/hip/codeobj.h"

static void killed(struct fixture *f)
{
	hrr_collect_close(f->collect);
	hrr_archive_close(f->archive);
}

static void go_on(struct fixture *f)
{
	struct hrr_diag diag = {0};

	if (hrr_archive_reopen(&f->archive, dir, &diag) < 0) {
		printf("# %s\n", diag.what);
		exit(2);
	}
	struct hrr_collect_options opt = {.scratch = scratch,
					  .archive = f->archive,
					  .blobs = hrr_archive_blobs(f->archive),
					  .blobs_name = "../blobs"};
	if (hrr_collect_open(&f->collect, &opt, true, &diag) < 0) {
		printf("# %s\n", diag.what);
		exit(2);
	}
	while (hrr_collect_step(f->collect, NULL) > 0)
		;
}

static void thread(struct fixture *f, unsigned ring, uint32_t tid)
{
	put(f->ring[ring], HRR_R_TID, 0, 0, sizeof(struct hrr_rec))->ret = tid;
}

/* A call whose output is on its way. */
static void pending(struct fixture *f, unsigned ring, uint64_t seq, uint64_t addr)
{
	struct hrr_rec *r = put(f->ring[ring], HRR_R_LEAVE, seq, HRR_F_PENDING,
				sizeof *r + sizeof(struct hrr_att) + 24);
	struct hrr_att *a = (struct hrr_att *)(void *)(r + 1);

	a->tag = HRR_A_PENDING;
	a->len = 24;
	memcpy(a + 1, (const uint64_t[3]){0, addr, 4}, 24);
	if (f->ctl->seq < seq)
		f->ctl->seq = seq;
}

/* How many lines of the stream hold text. */
static int lines_with(const char *text)
{
	char *line = NULL;
	size_t cap = 0;
	int n = 0;

	snprintf(path, sizeof path, "%s/pid-%d/events.jsonl", dir, getpid());
	FILE *in = fopen(path, "r");
	while (in != NULL && getline(&line, &cap, in) > 0)
		n += strstr(line, text) != NULL;
	free(line);
	if (in != NULL)
		fclose(in);
	return n;
}

static void group(void)
{
	struct fixture f;

	start(&f, "group");
	make_process(&f, true, 1);
	thread(&f, 0, 77);
	call(&f, 0, 1);
	put(f.ring[0], HRR_R_LEAVE, 2, HRR_F_MORE, sizeof(struct hrr_rec));
	f.ctl->seq = 2;
	hrr_collect_step(f.collect, NULL);
	is_str(stream(), "1 2 ", "a call is written, its output is still to come");
	killed(&f);
	output(&f, 0, 2);
	put(f.ring[0], HRR_R_END, 0, 0, sizeof(struct hrr_rec));
	call(&f, 0, 3);
	f.ctl->start = 1;
	go_on(&f);
	stop(&f);
	is_str(stream(), "1 2 o2 3 cut", "it comes when another reader goes on");
	is(lines_with("\"tid\":77"), 4, "and each line has its thread");
}

static void inside(void)
{
	struct fixture f;

	start(&f, "inside");
	make_process(&f, true, 2);
	thread(&f, 0, 77);
	put(f.ring[0], HRR_R_ENTER, 0, 0, sizeof(struct hrr_rec));
	thread(&f, 1, 78);
	call(&f, 1, 1);
	hrr_collect_step(f.collect, NULL);
	call(&f, 1, 2);
	hrr_collect_step(f.collect, NULL);
	is_str(stream(), "1 2 ", "one thread is inside a call");
	killed(&f);
	f.ctl->start = 1;
	go_on(&f);
	stop(&f);
	is_str(stream(), "1 2 3? cut", "that it never returned from is said by the next reader");
}

static void on_its_way(void)
{
	struct fixture f;

	start(&f, "pending");
	make_process(&f, true, 1);
	pending(&f, 0, 1, 0x1000);
	pending(&f, 0, 2, 0x2000);
	put(f.ring[0], HRR_R_LEAVE, 3, HRR_F_MORE, sizeof(struct hrr_rec));
	output(&f, 0, 1);
	put(f.ring[0], HRR_R_END, 0, 0, sizeof(struct hrr_rec));
	f.ctl->seq = 3;
	hrr_collect_step(f.collect, NULL);
	is_str(stream(), "1 2 3 o1 ", "one of two outputs has come");
	killed(&f);
	f.ctl->start = 1;
	go_on(&f);
	stop(&f);
	is_str(stream(), "1 2 3 o1 o2 cut",
	       "the other one is said to be unknown by the next reader");
	is(lines_with("\"unknown\""), 1, "and only that");
}

/* What the first reader learned behind the place it is sure of must not count before its time. */
static void known(void)
{
	struct fixture f;
	char name[300];
	struct stat st;

	start(&f, "known");
	make_process(&f, true, 1);
	pending(&f, 0, 1, 0x1000);
	hrr_collect_step(f.collect, NULL);
	uint32_t settled = f.ctl->settled;
	pending(&f, 0, 2, 0x2000);
	hrr_collect_step(f.collect, NULL);
	f.ctl->settled = settled; /* as if the kill had come before it was sure */
	killed(&f);
	f.ctl->start = 1;
	snprintf(name, sizeof name, "%s/p0.known0", scratch);
	ok(stat(name, &st) == 0 && st.st_size > 0, "there is a file of what it knew");
	go_on(&f);
	stop(&f);
	is_str(stream(), "1 2 o1 o2 cut", "each output is unknown once");
}

/* Bytes of pI.knownN, of whatever N there is; ret_files: how many. */
static long known_bytes(int *ret_files)
{
	struct stat st;
	long sum = 0;

	*ret_files = 0;
	for (int n = 0; n < 1000; n++) {
		snprintf(path, sizeof path, "%s/p0.known%d", scratch, n);
		if (stat(path, &st) == 0) {
			sum += st.st_size;
			++*ret_files;
		}
	}
	return sum;
}

/* A long run whose outputs all come: what is of the past takes no room. */
static void long_run(void)
{
	struct fixture f;
	char word[64];
	int files;
	uint64_t seq = 2;

	start(&f, "long");
	make_process(&f, true, 1);
	struct hrr_rec_kernel *k =
	    (struct hrr_rec_kernel *)(void *)put(f.ring[0], HRR_R_KERNEL, 0, 0, sizeof *k + 24);
	k->kernel = 3;
	k->n_args = 1;
	k->name_len = 6;
	memcpy(k + 1, (const uint32_t[3]){0, 4, HRR_ARG_VALUE}, 12);
	memcpy((char *)(k + 1) + 12, "kernel", 6);
	pending(&f, 0, 1, 0x7000);
	for (int round = 0; round < 400; round++) {
		for (int i = 0; i < 100; i++, seq += 2) {
			pending(&f, 0, seq, 0x1000);
			put(f.ring[0], HRR_R_LEAVE, seq + 1, HRR_F_MORE, sizeof(struct hrr_rec));
			f.ctl->seq = seq + 1;
			output(&f, 0, seq);
			put(f.ring[0], HRR_R_END, 0, 0, sizeof(struct hrr_rec));
		}
		hrr_collect_step(f.collect, NULL);
	}
	long bytes = known_bytes(&files);
	ok(bytes < 3 << 20 && files == 1, "%llu calls: %ld bytes of what is known in %d file",
	   (unsigned long long)seq, bytes, files);
	snprintf(path, sizeof path, "%s/p0.known0", scratch);
	ok(access(path, F_OK) < 0, "which is not the first one");
	killed(&f);
	struct hrr_rec *r =
	    put(f.ring[0], HRR_R_LEAVE, seq, 0,
		sizeof *r + sizeof(struct hrr_att) + sizeof(struct hrr_att_kernel) + 8);
	struct hrr_att *a = (struct hrr_att *)(void *)(r + 1);
	struct hrr_att_kernel x = {.kernel = 3, .size = 4};
	r->api = HRR_API_hipLaunchKernel;
	a->tag = HRR_A_KERNEL;
	a->len = sizeof x + 4;
	memcpy(a + 1, &x, sizeof x);
	memcpy((char *)(a + 1) + sizeof x, "abcd", 4);
	f.ctl->seq = seq;
	f.ctl->start = 1;
	go_on(&f);
	stop(&f);
	is(lines_with(
	       "\"kernel\":{\"name\":\"kernel\",\"grid\":[0,0,0],\"block\":[0,0,0],\"lds\":0,"
	       "\"args\":[{\"offset\":0,\"size\":4,\"hex\":\"61626364\"}]}"),
	   1, "the next reader knows the kernel");
	is(lines_with("\"unknown\""), 1, "and the one output that did not come");
	snprintf(word, sizeof word, "\"calls\":%llu,\"outputs\":%llu,", (unsigned long long)seq,
		 (unsigned long long)seq / 2);
	is(lines_with(word), 1, "%s", word);
}

/* A kill between another file in the stream's place and the mark that goes with it. */
static void other_file(void)
{
	struct fixture f;
	char name[300], other[310], text[4096];
	struct stat st;

	start(&f, "file");
	make_process(&f, true, 1);
	call(&f, 0, 1);
	hrr_collect_step(f.collect, NULL);
	struct hrr_progress progress = f.ctl->progress[f.ctl->settled];
	struct hrr_mark mark = f.ring[0]->mark[f.ctl->settled];
	call(&f, 0, 2);
	hrr_collect_step(f.collect, NULL);
	is_str(stream(), "1 2 ", "two calls are written");
	killed(&f);
	snprintf(name, sizeof name, "%s/pid-%d/events.jsonl", dir, getpid());
	snprintf(other, sizeof other, "%s.cut", name);
	FILE *from = fopen(name, "r"), *to = fopen(other, "w");
	size_t n = from != NULL ? fread(text, 1, progress.written, from) : 0;
	ok(n == progress.written && to != NULL && fwrite(text, 1, n, to) == n, "a file of one");
	if (from == NULL || to == NULL || fclose(from) != 0 || fclose(to) != 0 ||
	    rename(other, name) != 0 || stat(name, &st) != 0)
		exit(2);
	progress.file = st.st_ino;
	f.ctl->progress[1 - f.ctl->settled] = progress;
	f.ring[0]->mark[1 - f.ctl->settled] = mark;
	f.ctl->start = 1;
	go_on(&f);
	stop(&f);
	is_str(stream(), "1 2 cut", "the mark that goes with the file counts");
}

int main(void)
{
	rings_begin();
	group();
	inside();
	on_its_way();
	known();
	long_run();
	other_file();
	rings_end();
	return done_testing();
}
