/*
 * What the engine adds to the calls it issues, on the CPU run time. As a test: that the engine does
 * what the plain program beside it does. With "bench": the times of both, for t/bench/replay.sh.
 */
#include <fcntl.h>
#include <time.h>

#include "lib/replay/engine.h"
#include "t/unit/emu_fixture.h"
#include "t/unit/replay_rig.h"

#define D 0x7c0000000000u
#define H 0x7f0000000000u
#define LIVE 10000 /* allocations */
#define APART 65536
#define FEW 3000 /* scans */
#define LLU(x) ((unsigned long long)(x))

static bool bench;

static void rig_hip(struct hrr_hip *to)
{
	*to = hip;
}

static void rig_gone(void)
{
}

/* Processor time of the whole process: others on the machine do not count. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint32_t next_random(uint32_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 17;
	return *x ^= *x << 5;
}

/* --- small events ------------------------------------------------------------ */

static void write_stream(const char *path, unsigned n)
{
	FILE *f = fopen(path, "w");

	if (f == NULL)
		exit(1);
	fprintf(f,
		"{\"hrr\":1,\"pid\":1,\"command\":[],\"t0\":\"1\",\"blobs\":\"/nowhere\"}\n"
		"{\"seq\":1,\"t\":1,\"dur\":1,\"tid\":1,\"api\":\"hipMalloc\",\"args\":{\"ptr\":"
		"\"0x%llx\","
		"\"size\":4096}}\n"
		"{\"seq\":2,\"t\":1,\"dur\":1,\"tid\":1,\"api\":\"hipStreamCreate\",\"args\":{"
		"\"stream\":"
		"\"0x51\"}}\n",
		LLU(D));
	for (unsigned i = 0; i < n; i++)
		fprintf(f,
			"{\"seq\":%u,\"t\":%u,\"dur\":210,\"tid\":1,\"api\":\"hipMemsetAsync\","
			"\"args\":{"
			"\"dst\":\"0x%llx\",\"value\":%u,\"sizeBytes\":64,\"stream\":\"0x51\"}}\n",
			i + 3, i * 10, LLU(D + i % 63 * 64), i & 255);
	if (fclose(f) != 0)
		exit(1);
}

/* Seconds for the n sets, and what they leave. */
static double by_engine(const char *path, unsigned char out[4096])
{
	struct rig g = {.opt.watchdog = 0};
	struct hrr_source *src;
	struct hrr_record *rec;
	double t0 = now(), t = 0;
	unsigned i = 0;

	rig_start(&g);
	if (hrr_source_open(&src, path, NULL, &g.diag) < 0)
		exit(1);
	while (hrr_source_next(src, &rec, &g.diag) > 0) {
		if (++i == 4)
			t0 = now();
		if (hrr_replay_record(g.r, rec, &g.diag) != 0)
			exit(1);
	}
	t = now() - t0;
	if (hrr_replay_peek(g.r, D, 4096, out, &g.diag) < 0)
		exit(1);
	hrr_source_close(src);
	rig_end(&g);
	return t;
}

static double by_program(unsigned n, unsigned char out[4096])
{
	hipStream_t s;
	void *p;

	if (HIP(hipMalloc, &p, 4096) != hipSuccess || HIP(hipStreamCreate, &s) != hipSuccess ||
	    HIP(hipMemset, p, 0, 4096) != hipSuccess)
		exit(1);
	double t0 = now();
	for (unsigned i = 0; i < n; i++)
		if (HIP(hipMemsetAsync, (char *)p + i % 63 * 64, (int)(i & 255), 64, s) !=
		    hipSuccess)
			exit(1);
	double t = now() - t0;
	HIP(hipMemcpy, out, p, 4096, hipMemcpyDeviceToHost);
	HIP(hipStreamDestroy, s);
	HIP(hipFree, p);
	return t;
}

static void small_events(void)
{
	static unsigned char a[4096], b[4096];
	unsigned n = bench ? 300000 : 2000;
	char path[] = "/tmp/hrr-cost-XXXXXX";
	int fd = mkstemp(path);
	double ours = 1e9, theirs = 1e9;

	if (fd < 0)
		exit(1);
	close(fd);
	write_stream(path, n);
	for (int i = 0; i < (bench ? 5 : 1); i++) {
		double e = by_engine(path, a), p = by_program(n, b);
		ours = e < ours ? e : ours;
		theirs = p < theirs ? p : theirs;
	}
	unlink(path);
	ok(memcmp(a, b, sizeof a) == 0, "%u small events leave what the program's calls leave", n);
	if (bench)
		printf("small events: %.2f us each by the engine from a stream, %.2f us by a C "
		       "program: %.2f us added\n",
		       ours / n * 1e6, theirs / n * 1e6, (ours - theirs) / n * 1e6);
}

/* --- translation ---------------------------------------------------------------- */

static struct {
	uint64_t base, size;
	struct hrr_mem *mem;
} list[LIVE];

static struct hrr_mem *scan(uint64_t addr)
{
	for (unsigned i = 0; i < LIVE; i++)
		if (addr - list[i].base < list[i].size)
			return list[i].mem;
	return NULL;
}

static void translation(void)
{
	struct rig g = {0};
	uint32_t x = 7;
	unsigned n = 100000, wrong = 0;
	uint64_t sum = 0;

	rig_start(&g);
	for (unsigned i = 0; i < LIVE; i++) {
		/* in no order */
		uint64_t at = D + (uint64_t)(i * 7919u % LIVE) * APART, size = 256 + i % 4000;
		rig_call(&g, "hipMalloc", "\"ptr\":\"0x%llx\",\"size\":%llu}}", LLU(at), LLU(size));
		const struct hrr_range *r = hrr_ranges_find(g.r->map, at);
		list[i].base = at;
		list[i].size = size;
		list[i].mem = r != NULL ? r->value : NULL;
	}
	for (unsigned i = 0; i < FEW; i++) {
		uint64_t at = D + next_random(&x) % LIVE * (uint64_t)APART + next_random(&x) % 5000;
		struct hrr_operand op = {"it", at, 1, -1};
		struct hrr_where w = {0};
		struct hrr_mem *m = scan(at);
		int rc = hrr_translate(g.r, &op, HRR_END_DEVICE, &w);
		wrong += rc == 0 ? w.mem != m || w.live != m->live + (at - m->base) : m != NULL;
	}
	is(wrong, 0, "%d live allocations: what a scan of all finds", LIVE);
	if (!bench) {
		rig_end(&g);
		return;
	}
	double ours = 1e9, theirs = 1e9;
	for (int round = 0; round < 20; round++) {
		double t0 = now();
		for (unsigned i = 0; i < n; i++) {
			struct hrr_operand op = {
			    "it", D + next_random(&x) % LIVE * (uint64_t)APART + 128, 64, -1};
			struct hrr_where w;
			hrr_translate(g.r, &op, HRR_END_DEVICE, &w);
			sum += w.live;
		}
		double t = (now() - t0) / n;
		ours = t < ours ? t : ours;
		t0 = now();
		for (unsigned i = 0; i < FEW; i++)
			sum += scan(D + next_random(&x) % LIVE * (uint64_t)APART + 128)->live;
		t = (now() - t0) / FEW;
		theirs = t < theirs ? t : theirs;
	}
	printf("translation, %d live allocations: %.0f ns, a linear scan %.0f ns%s\n", LIVE,
	       ours * 1e9, theirs * 1e9, sum == 1 ? " " : "");
	rig_end(&g);
}

/* --- outputs ---------------------------------------------------------------------- */

/* Seconds for one output of n bytes of 7, compared with a recorded one. */
static double output(struct rig *g, const char *id, size_t n, double *ret_read)
{
	struct hrr_blob blob;
	struct hrr_id i;

	double t0 = now();
	if (hrr_id_parse(id, strlen(id), &i) < 0 ||
	    hrr_blobs_get(g->blobs, &i, n, &blob, &g->diag) < 0)
		exit(1);
	hrr_blob_release(&blob);
	*ret_read = now() - t0;
	t0 = now();
	rig_line(
	    g,
	    "{\"output\":%llu,\"t\":1,\"tid\":1,\"addr\":\"0x%llx\",\"size\":%zu,\"blob\":\"%s\"}",
	    LLU(g->seq), LLU(H), n, id);
	return now() - t0;
}

static void outputs(void)
{
	struct rig g = {.opt.keep_going = true};
	size_t n = bench ? (size_t)64 << 20 : 100000;
	unsigned char *a = malloc(n), *b = malloc(n);
	char same[HRR_ID_TEXT + 1], other[HRR_ID_TEXT + 1];

	if (a == NULL || b == NULL)
		exit(1);
	rig_start(&g);
	rig_call(&g, "hipMalloc", "\"ptr\":\"0x%llx\",\"size\":%zu}}", LLU(D), n);
	rig_call(&g, "hipMemset", "\"dst\":\"0x%llx\",\"value\":7,\"sizeBytes\":%zu}}", LLU(D), n);
	rig_call(&g, "hipMemcpy",
		 "\"dst\":\"0x%llx\",\"src\":\"0x%llx\",\"sizeBytes\":%zu,\"kind\":"
		 "\"hipMemcpyDeviceToHost\"},\"dir\":\"d2h\"}",
		 LLU(H), LLU(D), n);
	memset(a, 7, n);
	memset(b, 7, n);
	snprintf(same, sizeof same, "%s", rig_blob(&g, a, n));
	a[100] = 8;
	a[n - 5] = 9;
	snprintf(other, sizeof other, "%s", rig_blob(&g, a, n));
	a[100] = a[n - 5] = 7;
	double best[3] = {1e9, 1e9, 1e9}, read[2] = {1e9, 1e9}, r;
	for (int i = 0; i < (bench ? 7 : 1); i++) {
		double t = output(&g, same, n, &r);
		best[0] = t < best[0] ? t : best[0];
		read[0] = r < read[0] ? r : read[0];
		t = output(&g, other, n, &r);
		best[1] = t < best[1] ? t : best[1];
		read[1] = r < read[1] ? r : read[1];
		double t0 = now();
		bool equal = memcmp(a, b, n) == 0;
		t = now() - t0;
		best[2] = equal && t < best[2] ? t : best[2];
	}
	ok(strstr(g.text, "2 of") != NULL && strstr(g.text, "in 2 ranges") != NULL,
	   "both bytes that differ are found: %s", g.text);
	rig_end(&g);
	is(g.v.outcome[HRR_EXACT], bench ? 7 : 1, "equal ones are exact");
	is(g.v.outcome[HRR_DIFFERS], bench ? 7 : 1, "others differ");
	if (bench) {
		double gb = (double)n / 1e9;
		printf(
		    "outputs of 64 MiB: memcmp %.1f GB/s; compared %.1f GB/s when equal, %.1f when "
		    "two bytes differ; with reading and hashing the recorded ones %.1f GB/s\n",
		    gb / best[2], gb / (best[0] - read[0]), gb / (best[1] - read[1]), gb / best[0]);
	}
	free(a);
	free(b);
}

int main(int argc, char **argv)
{
	bench = argc > 1 && strcmp(argv[1], "bench") == 0;
	if (!emu_open())
		return done_testing();
	small_events();
	translation();
	outputs();
	return done_testing();
}
