#ifndef HRR_T_UNIT_RINGS_H
#define HRR_T_UNIT_RINGS_H

/* Rings written by hand, for tests of the reading half of capture. */
#include "t/unit/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/proc.h"
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

static inline void *map(const char *name, size_t size)
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
static inline void make_process(struct fixture *f, bool alive, unsigned rings)
{
	f->ctl = map("p0.ctl", sizeof *f->ctl);
	f->ctl->version = HRR_RING_VERSION;
	f->ctl->pid = (uint32_t)getpid();
	f->ctl->start = 1; /* not ours: dead */
	f->ctl->major = 5;
	if (alive && !hrr_proc_of((uint32_t)getpid(), NULL, &f->ctl->start))
		exit(2);
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

static inline void start(struct fixture *f, const char *name)
{
	struct hrr_diag diag = {0};

	*f = (struct fixture){0};
	snprintf(dir, sizeof dir, "%s/%s", top, name);
	snprintf(scratch, sizeof scratch, "%s/.recording", dir);
	/* Made by somebody who has gone, so that it can be reopened. */
	pid_t maker = fork();
	if (maker == 0)
		_exit(hrr_archive_create(&f->archive, dir, &diag) < 0);
	int status;
	if (waitpid(maker, &status, 0) != maker || status != 0 ||
	    hrr_archive_reopen(&f->archive, dir, &diag) < 0 || mkdir(scratch, 0700) < 0)
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

/* One of several of a name, with its process. */
static inline void start_nth(struct fixture *f, const char *name, size_t i, bool alive,
			     unsigned rings)
{
	char one[32];

	snprintf(one, sizeof one, "%s%zu", name, i);
	start(f, one);
	make_process(f, alive, rings);
}

static inline void stop(struct fixture *f)
{
	hrr_collect_finish(f->collect, NULL);
	hrr_collect_close(f->collect);
	hrr_archive_close(f->archive);
}

/* Appends a record; hipGetDevice where it is a call. */
static inline struct hrr_rec *put(struct hrr_ring *r, uint8_t type, uint64_t seq, uint8_t flags,
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

static inline void call(struct fixture *f, unsigned ring, uint64_t seq)
{
	put(f->ring[ring], HRR_R_LEAVE, seq, 0, sizeof(struct hrr_rec));
	if (f->ctl->seq < seq)
		f->ctl->seq = seq;
}

static inline void output(struct fixture *f, unsigned ring, uint64_t of)
{
	struct hrr_rec_output *o =
	    (struct hrr_rec_output *)(void *)put(f->ring[ring], HRR_R_OUTPUT, 0, 0, sizeof *o + 8);
	o->call = of;
	o->b = (struct hrr_bytes){0x1000, 4, 0};
	memcpy(o + 1, "abcd", 4);
}

/* The stream as a word: "1 2 o2 3 end". */
static inline const char *stream(void)
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

static inline void rings_begin(void)
{
	snprintf(top, sizeof top, "/tmp/hrr-collect-XXXXXX");
	if (mkdtemp(top) == NULL)
		exit(2);
}

static inline void rings_end(void)
{
	char cmd[128];

	snprintf(cmd, sizeof cmd, "rm -rf '%s'", top);
	if (system(cmd) != 0)
		exit(2);
}

#endif
