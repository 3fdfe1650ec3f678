/* The reading half of capture against rings written here by hand: order, groups,
 * calls that never return, overflow, numbers nobody used, damage. */
#include "t/unit/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/collect/collect.h"
#include "lib/preload/ring.h"

static char top[64], dir[128], scratch[192], path[256];

struct fixture {
	struct hrr_archive *archive;
	struct hrr_collect *collect;
	struct hrr_hub *hub;
	struct hrr_ctl *ctl;
	struct hrr_ring *ring[3];
};

static void *map(const char *name, size_t size)
{
	snprintf(path, sizeof path, "%s/%s", scratch, name);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || posix_fallocate(fd, 0, (off_t)size) != 0)
		exit(2);
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return p;
}

/* The process's ctl; pid 0: one that lives (we), else one that is gone. */
static void make_process(struct fixture *f, bool alive, unsigned rings)
{
	f->ctl = map("p0.ctl", sizeof *f->ctl);
	f->ctl->version = HRR_RING_VERSION;
	f->ctl->pid = (uint32_t)getpid();
	f->ctl->start = 1; /* not ours: dead */
	f->ctl->major = 5;
	if (alive) {
		char text[1024];
		int fd = open("/proc/self/stat", O_RDONLY);
		ssize_t n = read(fd, text, sizeof text - 1);
		close(fd);
		text[n > 0 ? n : 0] = '\0';
		char *p = strrchr(text, ')');
		for (int k = 2; k < 22; k++)
			p = strchr(p + 1, ' ');
		f->ctl->start = strtoull(p + 1, NULL, 10);
	}
	for (unsigned i = 0; i < rings; i++) {
		char name[16];
		snprintf(name, sizeof name, "p0.r%u", i);
		f->ring[i] = map(name, HRR_RING_HEADER + HRR_RING_MIN);
		f->ring[i]->version = HRR_RING_VERSION;
		f->ring[i]->index = i;
		f->ring[i]->size = HRR_RING_MIN;
		f->ring[i]->magic = HRR_RING_MAGIC;
	}
	f->ctl->rings = rings;
	f->ctl->magic = HRR_CTL_MAGIC;
	f->hub->processes = 1;
}

static void start(struct fixture *f, const char *name)
{
	struct hrr_diag diag = {0};

	*f = (struct fixture){0};
	snprintf(dir, sizeof dir, "%s/%s", top, name);
	snprintf(scratch, sizeof scratch, "%s/.recording", dir);
	if (hrr_archive_create(&f->archive, dir, &diag) < 0 || mkdir(scratch, 0700) < 0)
		exit(2);
	struct hrr_collect_options opt = {.scratch = scratch,
					  .archive = f->archive,
					  .blobs = hrr_archive_blobs(f->archive),
					  .blobs_name = "../blobs",
					  .ring_size = HRR_RING_MIN};
	if (hrr_collect_open(&f->collect, &opt, false, &diag) < 0) {
		printf("# %s\n", diag.what);
		exit(2);
	}
	f->hub = map("hub", sizeof *f->hub);
}

static void stop(struct fixture *f)
{
	hrr_collect_finish(f->collect, NULL);
	hrr_collect_close(f->collect);
	hrr_archive_close(f->archive);
}

/* Appends a record; hipGetDevice where it is a call. */
static struct hrr_rec *put(struct hrr_ring *r, uint8_t type, uint64_t seq, uint8_t flags,
			   size_t size)
{
	uint64_t off = r->head & (r->size - 1);

	if (off + size > r->size) {
		struct hrr_rec *pad = (struct hrr_rec *)(void *)(hrr_ring_data(r) + off);
		pad->size = (uint32_t)(r->size - off);
		pad->type = HRR_R_PAD;
		r->head += r->size - off;
		off = 0;
	}
	struct hrr_rec *x = (struct hrr_rec *)(void *)(hrr_ring_data(r) + off);
	memset(x, 0, size);
	x->size = (uint32_t)size;
	x->type = type;
	x->seq = seq;
	x->flags = flags;
	x->api = HRR_API_hipDeviceSynchronize; /* no arguments */
	r->head += size;
	return x;
}

static void call(struct fixture *f, unsigned ring, uint64_t seq)
{
	put(f->ring[ring], HRR_R_LEAVE, seq, 0, sizeof(struct hrr_rec));
	if (f->ctl->seq < seq)
		f->ctl->seq = seq;
}

static void output(struct fixture *f, unsigned ring, uint64_t of)
{
	struct hrr_rec_output *o =
	    (struct hrr_rec_output *)(void *)put(f->ring[ring], HRR_R_OUTPUT, 0, 0, sizeof *o + 8);
	o->call = of;
	o->b = (struct hrr_bytes){0x1000, 4, 0};
	memcpy(o + 1, "abcd", 4);
}

/* The stream as a word: "1 2 o2 3 end". */
static const char *stream(void)
{
	static char word[1 << 20];
	size_t cap = 0, at = 0;
	char *line = NULL;

	snprintf(path, sizeof path, "%s/pid-%d/events.jsonl", dir, getpid());
	FILE *in = fopen(path, "r");
	word[0] = '\0';
	for (ssize_t n; in != NULL && (n = getline(&line, &cap, in)) > 0;) {
		unsigned long long v;
		char how[32];
		const char *none = strstr(line, "\"ret\":\"none\"") ? "?" : "";
		if (sscanf(line, "{\"seq\":%llu", &v) == 1)
			at += (size_t)snprintf(word + at, sizeof word - at, "%llu%s ", v, none);
		else if (sscanf(line, "{\"output\":%llu", &v) == 1)
			at += (size_t)snprintf(word + at, sizeof word - at, "o%llu ", v);
		else if (sscanf(line, "{\"end\":\"%31[a-z]", how) == 1)
			at += (size_t)snprintf(word + at, sizeof word - at, "%s", how);
	}
	free(line);
	if (in != NULL)
		fclose(in);
	return word;
}

static void order(void)
{
	struct fixture f;

	start(&f, "order");
	make_process(&f, true, 2);
	call(&f, 1, 2);
	hrr_collect_step(f.collect, NULL);
	is_str(stream(), "", "the second call waits for the first");
	call(&f, 0, 1);
	call(&f, 0, 4);
	call(&f, 1, 3);
	hrr_collect_step(f.collect, NULL);
	is_str(stream(), "1 2 3 4 ", "rings are merged by number");
	is((int)(f.ring[0]->head - f.ring[0]->tail), 0, "what is written is given back");
	f.ctl->start = 1;
	stop(&f);
	is_str(stream(), "1 2 3 4 complete", "an end when the process has ended");
}

static void group(void)
{
	struct fixture f;

	start(&f, "group");
	make_process(&f, true, 2);
	call(&f, 0, 1);
	put(f.ring[0], HRR_R_LEAVE, 2, HRR_F_MORE, sizeof(struct hrr_rec));
	output(&f, 0, 1);
	f.ctl->seq = 2;
	call(&f, 1, 3);
	hrr_collect_step(f.collect, NULL);
	is_str(stream(), "1 2 o1 ", "a group is not over before its END");
	output(&f, 0, 2);
	put(f.ring[0], HRR_R_END, 0, 0, sizeof(struct hrr_rec));
	hrr_collect_step(f.collect, NULL);
	is_str(stream(), "1 2 o1 o2 3 ", "then others go on");
	f.ctl->start = 1;
	stop(&f);
}

static void blocked(void)
{
	struct fixture f;
	uint64_t seq = 1;

	start(&f, "blocked");
	make_process(&f, true, 2);
	/* A hipFree that has begun and does not return; another thread goes on for many rings'
	 * worth. */
	put(f.ring[0], HRR_R_ENTER, 1, 0, sizeof(struct hrr_rec));
	for (int round = 0; round < 40; round++) {
		for (int i = 0; i < 1000; i++)
			if (f.ring[1]->head - f.ring[1]->tail + 2 * sizeof(struct hrr_rec) <
			    HRR_RING_MIN)
				call(&f, 1, ++seq);
		hrr_collect_step(f.collect, NULL);
	}
	ok(seq > 5 * HRR_RING_MIN / sizeof(struct hrr_rec), "%llu calls got past the blocked one",
	   (unsigned long long)seq);
	is_str(stream(), "", "and none is written before it");
	put(f.ring[0], HRR_R_LEAVE, 1, HRR_F_ENTERED, sizeof(struct hrr_rec));
	hrr_collect_step(f.collect, NULL);
	f.ctl->start = 1;
	stop(&f);
	const char *s = stream();
	uint64_t n = 0;
	char *end;
	for (unsigned long long v; (v = strtoull(s, &end, 10)) == n + 1; s = end)
		n++;
	ok(n == seq && strcmp(s, " complete") == 0, "all come in order: %llu of %llu, then '%.20s'",
	   (unsigned long long)n, (unsigned long long)seq, s);
}

static void killed(void)
{
	struct fixture f;

	start(&f, "killed");
	make_process(&f, false, 3);
	call(&f, 0, 1);
	/* 2 was taken by a call that died before its record; 3 and 4 were written by others. */
	call(&f, 1, 3);
	put(f.ring[2], HRR_R_LEAVE, 4, HRR_F_MORE, sizeof(struct hrr_rec));
	output(&f, 2, 3);
	put(f.ring[0], HRR_R_ENTER, 0, 0, sizeof(struct hrr_rec));
	f.ctl->seq = 4;
	stop(&f);
	is_str(stream(), "1 2 3 o2 4? cut",
	       "no gap where a number was not used, and the call that never returned is last");
}

static void damaged(void)
{
	uint32_t sizes[] = {0, 4, 7, 12, 40, 0x7fffffff, 0xfffffff8};

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct fixture f;
		struct hrr_collect_summary sum;
		char name[32];
		snprintf(name, sizeof name, "damaged%zu", i);
		start(&f, name);
		make_process(&f, false, 1);
		call(&f, 0, 1);
		struct hrr_rec *r = put(f.ring[0], HRR_R_LEAVE, 2, 0, sizeof *r);
		r->size = sizes[i];
		f.ctl->seq = 2;
		hrr_collect_finish(f.collect, NULL);
		hrr_collect_summary(f.collect, &sum);
		hrr_collect_close(f.collect);
		hrr_archive_close(f.archive);
		ok(strcmp(stream(), "1 cut") == 0 && sum.calls == 1 && sum.lost > 0,
		   "a record of size %u ends its ring, and is counted: '%s'", sizes[i], stream());
	}
}

static void attachments(void)
{
	struct fixture f;
	struct hrr_collect_summary sum;

	/* Lengths that leave the record: what came before counts, nothing is read behind it. */
	start(&f, "attachments");
	make_process(&f, false, 1);
	for (uint64_t seq = 1; seq <= 8; seq++) {
		struct hrr_rec *r = put(f.ring[0], HRR_R_LEAVE, seq, 0, sizeof *r + 32);
		struct hrr_att *a = (struct hrr_att *)(void *)(r + 1);
		r->words = seq % 2 ? 0 : 255;
		a->tag = (uint8_t)(seq % 8);
		a->param = (uint8_t)(seq * 37);
		a->len = seq % 3 ? 0xffffffffu : 16;
	}
	f.ctl->seq = 8;
	hrr_collect_finish(f.collect, NULL);
	hrr_collect_summary(f.collect, &sum);
	is((int)sum.calls, 8, "attachments that lie do no harm");
	hrr_collect_close(f.collect);
	hrr_archive_close(f.archive);
}

int main(void)
{
	snprintf(top, sizeof top, "/tmp/hrr-collect-XXXXXX");
	if (mkdtemp(top) == NULL)
		return 2;
	order();
	group();
	blocked();
	killed();
	damaged();
	attachments();
	char cmd[128];
	snprintf(cmd, sizeof cmd, "rm -rf '%s'", top);
	if (system(cmd) != 0)
		return 2;
	return done_testing();
}
