#include "lib/region/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/region/combine.h"
#include "lib/region/lint.h"
#include "lib/region/svg.h"
#include "t/unit/tap.h"

static struct hrr_diag d;
static struct hrr_buf out;

/* A little run: an allocation, a segment with two blocks that come and go, launches. */
#define ARG(HEX, PTR) "{\"offset\":0,\"size\":8,\"hex\":\"" HEX "\"" PTR "}"
#define LAUNCH(SEQ, T, ARGS)                                                        \
	"{\"seq\":" SEQ ",\"t\":" T                                                 \
	",\"dur\":5,\"tid\":1,\"api\":\"hipLaunchKernel\",\"args\":{},\"kernel\":{" \
	"\"name\":\"k<&>\",\"object\":\"\",\"grid\":[1,1,1],\"block\":[1,1,1],"     \
	"\"lds\":0,\"args\":[" ARGS "]}}"
static const char *const run[] = {
    "{\"hrr\":1,\"pid\":1}",
    "{\"region\":\"add\",\"kind\":\"segment\",\"base\":\"0x7f0000100000\",\"size\":4096,\"tag\":"
    "\"pool\"}",
    "{\"region\":\"add\",\"kind\":\"block\",\"base\":\"0x7f0000100000\",\"size\":256}",
    "{\"seq\":1,\"t\":10,\"dur\":5,\"tid\":1,\"api\":\"hipMalloc\",\"args\":{\"ptr\":"
    "\"0x7f0000000000\",\"size\":65536}}",
    "{\"region\":\"add\",\"kind\":\"block\",\"base\":\"0x7f0000100200\",\"size\":512,\"t\":20,"
    "\"tag\":\"b\"}",
    "{\"seq\":2,\"t\":30,\"dur\":5,\"tid\":1,\"api\":\"hipMemset\",\"args\":{\"dst\":"
    "\"0x7f0000100200\",\"value\":0,\"sizeBytes\":600}}",
    "{\"region\":\"del\",\"kind\":\"block\",\"base\":\"0x7f0000100200\",\"t\":40}",
    LAUNCH("3", "50", ARG("10021000007f0000", ",\"ptr\":[0]")),
    "{\"seq\":4,\"t\":60,\"dur\":5,\"tid\":1,\"api\":\"hipFree\",\"args\":{\"ptr\":"
    "\"0x7f0000000000\"}}",
    LAUNCH("5", "70",
	   ARG("08000000007f0000", ",\"ptr\":[0]") ",{\"offset\":8,\"size\":16,\"hex\":"
						   "\"00000000000000000001100000"
						   "7f0000\"}"),
    "{\"region\":\"add\",\"kind\":\"block\",\"base\":\"0x7f0000100180\",\"size\":1024,\"t\":80}",
    LAUNCH("6", "90", ARG("000090aaaa7f0000", ",\"ptr\":[0]")),
    "{\"end\":\"complete\",\"t\":100,\"calls\":6,\"outputs\":0}",
};
#define LINES (sizeof run / sizeof *run)

/* Feeds the run to one of them. */
typedef int feed(void *self, const struct hrr_record *rec);
static int each_record(feed *f, void *self)
{
	struct hrr_record rec = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < LINES; i++) {
		if (hrr_record_parse(&rec, run[i], strlen(run[i]), &d) < 0) {
			printf("Bail out! %s: %s\n", run[i], d.what);
			exit(1);
		}
		rec.lineno = i + 1;
		rc = f(self, &rec);
	}
	hrr_record_release(&rec);
	return rc;
}

static int feed_explain(void *self, const struct hrr_record *rec)
{
	return hrr_explain_record(self, rec, false, &d);
}

static int answer(struct hrr_question q)
{
	q.p = -1;
	struct hrr_explain *e = hrr_explain_new(&q);

	out.len = 0;
	int rc = each_record(feed_explain, e);
	if (rc == 0)
		rc = hrr_explain_answer(e, &out, &d);
	hrr_explain_free(e);
	hrr_buf_str(&out);
	return rc;
}

static void explaining(void)
{
	is(answer((struct hrr_question){.addr = 0x7f0000100210, .at = HRR_WHEN_SEQ, .when = 2}), 1,
	   "before call 2 a block has it");
	is_str(out.data,
	       "0x7f0000100210 at call 2 hipMemset (t 30)\n"
	       "block 0x7f0000100200 + 512, tag \"b\", since t 20\n"
	       "  offset 16, 496 bytes from there to its end\n"
	       "segment 0x7f0000100000 + 4096, tag \"pool\", since before the stream\n"
	       "  offset 528, 3568 bytes from there to its end\n"
	       "  it begins 256 bytes behind block 0x7f0000100000 + 256, since before the stream\n"
	       "later there:\n"
	       "  block 0x7f0000100180 + 1024, since t 80\n",
	       "block, segment, neighbour, who comes later");
	is(answer((struct hrr_question){
	       .addr = 0x7f0000100210, .size = 8, .at = HRR_WHEN_LINE, .when = 8}),
	   0, "at the line of call 3 none has it");
	is_str(out.data,
	       "0x7f0000100210 + 8 at call 3 hipLaunchKernel (t 50)\n"
	       "segment 0x7f0000100000 + 4096, tag \"pool\", since before the stream\n"
	       "  offset 528, 3568 bytes from there to its end\n"
	       "in no live block of that segment: out of bounds or stale\n"
	       "  272 bytes past the end of block 0x7f0000100000 + 256, since before the stream\n"
	       "freed there last:\n"
	       "  block 0x7f0000100200 + 512, tag \"b\", since t 20, until t 40\n"
	       "    it was at offset 16 there\n"
	       "later there:\n"
	       "  block 0x7f0000100180 + 1024, since t 80\n",
	       "who had it last");
	is(answer((struct hrr_question){.addr = 0x7f0000000008, .at = HRR_WHEN_TIME, .when = 59}),
	   1, "HIP's own allocation at t 59");
	ok(strstr(out.data,
		  "allocation 0x7f0000000000 + 65536, by call 1 hipMalloc at t 10\n  offset "
		  "8, 65528 bytes") != NULL,
	   "with the call that made it");
	is(answer((struct hrr_question){.addr = 0x7f0000000008}), 0, "freed at the end");
	ok(strstr(out.data, "at the end of the stream\nnothing that lives holds it\n") != NULL &&
	       strstr(out.data, "by call 1 hipMalloc at t 10, until call 4 hipFree at t 60\n") !=
		   NULL,
	   "by the call that freed it");
	is(answer((struct hrr_question){
	       .addr = 0x7f0000100200, .size = 600, .at = HRR_WHEN_SEQ, .when = 2}),
	   0, "600 bytes do not fit");
	ok(strstr(out.data, "512 bytes from there to its end: 600 bytes run 88 past it\n") != NULL,
	   "by how many is said");
	is(answer((struct hrr_question){.addr = 1, .at = HRR_WHEN_SEQ, .when = 77}), -ENOENT,
	   "no such call");
	is_str(d.what, "no call 77 in it", "is said");
}

static void questions(void)
{
	static const struct {
		const char *text;
		int rc;
		struct hrr_question q;
	} t[] = {
	    {"0x7fbe01400000", 0, {.addr = 0x7fbe01400000}},
	    {"  0x7fbe01400000+64", 0, {.addr = 0x7fbe01400000, .size = 64}},
	    {"hrr-play: run.hrr:4: hipMemcpy: destination 0x7fbe01400000 (262144 bytes, blob "
	     "262144) is "
	     "not mapped: no allocation, no live segment\n",
	     0,
	     {.addr = 0x7fbe01400000, .size = 262144, .at = HRR_WHEN_LINE, .when = 4}},
	    {"hrr-play: a0x5:b/0x9:17: warning: argument 0x10 lies in 0x1 + 5 but in no live block",
	     0,
	     {.addr = 0x10, .at = HRR_WHEN_LINE, .when = 17}},
	    {"{\"seq\":7,\"addr\":\"0x55\",\"size\":8,\"p\":2}",
	     0,
	     {.addr = 0x55, .size = 8, .at = HRR_WHEN_SEQ, .when = 7, .p = 2}},
	    {"{\"seq\":7}", -EINVAL, {0}},
	    {"{\"seq\":", -EINVAL, {0}},
	    {"nothing", -EINVAL, {0}},
	    {"0x", -EINVAL, {0}},
	    {"0xfffffffffffffffff", -EINVAL, {0}},
	};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct hrr_question q = {0};
		if (!is(hrr_question_read(&q, t[i].text, &d), t[i].rc, "question %zu", i))
			continue;
		if (t[i].rc == 0)
			ok(q.addr == t[i].q.addr && q.size == t[i].q.size && q.at == t[i].q.at &&
			       q.when == t[i].q.when && q.p == t[i].q.p,
			   "is read");
	}
	struct hrr_question q = {.at = HRR_WHEN_SEQ, .when = 9};
	hrr_question_read(&q, "x:4: 0x10", &d);
	ok(q.at == HRR_WHEN_SEQ && q.when == 9, "a moment that was given stays");
}

/* --- lint --- */

static void found(void *self, const struct hrr_lint_finding *f)
{
	(void)self;
	hrr_lint_text(f, &out);
	hrr_buf_addc(&out, '\n');
}

static int feed_lint(void *self, const struct hrr_record *rec)
{
	return hrr_lint_record(self, rec, NULL, &d);
}

static void linting(void)
{
	struct hrr_lint *l = hrr_lint_new(0, -1, found, NULL);
	struct hrr_lint_stats st;

	out.len = 0;
	is(each_record(feed_lint, l), 0, "lint reads the run");
	is_str(
	    hrr_buf_str(&out),
	    "90% stale: call 5 hipLaunchKernel of k<&>: argument 0 byte 0: 0x7f0000000008 points "
	    "to "
	    "memory that was given back\n"
	    "70% hidden: call 5 hipLaunchKernel of k<&>: argument 1 byte 8: 0x7f0000100100 is no "
	    "declared pointer, but an address in segment 0x7f0000100000 + 4096\n"
	    "90% unknown: call 6 hipLaunchKernel of k<&>: argument 0 byte 0: 0x7faaaa900000 points "
	    "to memory that nobody declared\n",
	    "a stale, a hidden and an unknown one");
	hrr_lint_stats(l, &st);
	ok(st.launches == 3 && st.found == 3 && st.payloads == 0, "counted");
	hrr_lint_free(l);
	l = hrr_lint_new(80, -1, found, NULL);
	each_record(feed_lint, l);
	hrr_lint_stats(l, &st);
	is(st.found, 2, "those less likely are left out");
	hrr_lint_free(l);
}

/* --- map --- */

static int feed_map(void *self, const struct hrr_record *rec)
{
	return hrr_map_record(self, rec, &d);
}

static size_t count(const char *what)
{
	size_t n = 0;

	for (const char *s = out.data; (s = strstr(s, what)) != NULL; s += strlen(what))
		n++;
	return n;
}

static void mapping(void)
{
	struct hrr_map_options opt = {.p = -1};
	struct hrr_map *m = hrr_map_new(&opt);
	struct hrr_map_stats st;

	out.len = 0;
	is(hrr_map_title(m, "a <b> & c"), 0, "map takes a title");
	is(each_record(feed_map, m), 0, "and reads the run");
	is(hrr_map_svg(&m, 1, &out, &st, &d), 0, "and draws it");
	hrr_buf_str(&out);
	is(st.things, 5, "two wholes, three blocks");
	is(st.marks, 4, "four uses are wrong");
	is(count("class=\"x\""), 5, "drawn, and one in the legend");
	ok(strstr(out.data, "call 2 hipMemset: destination 0x7f0000100200: runs past the end by 88 "
			    "bytes") != NULL &&
	       strstr(out.data,
		      "call 3 hipLaunchKernel: argument 0x7f0000100210: in no live block") !=
		   NULL &&
	       strstr(out.data, "0x7faaaa900000: nothing lives there") != NULL,
	   "what is wrong is said");
	ok(strstr(out.data, "a &lt;b&gt; &amp; c") != NULL, "text is escaped");
	ok(strstr(out.data, ">hipMalloc 1, 64 KiB</text>") != NULL &&
	       strstr(out.data, ">pool, 4 KiB</text>") != NULL && count("class=\"l\"") == 4,
	   "what there is room for is labelled");
	ok(count("<rect") > 5 && count("<svg") == 1 && count("</svg>") == 1, "it is a picture");
	hrr_map_free(m);
	opt.from = 55;
	opt.to = 75;
	m = hrr_map_new(&opt);
	each_record(feed_map, m);
	out.len = 0;
	hrr_map_svg(&m, 1, &out, &st, &d);
	hrr_buf_str(&out);
	ok(strstr(out.data, "0x7f0000100180") == NULL && strstr(out.data, "tag \"b\"") == NULL &&
	       count("<title>block") == 1,
	   "a window of time leaves out what lived elsewhere");
	hrr_map_free(m);
	m = hrr_map_new(&opt);
	is(hrr_map_svg(&m, 1, &out, &st, &d), -ENODATA, "nothing to draw");
	hrr_map_free(m);
}

/* --- merge and clip --- */

static char dir[] = "/tmp/hrr-unit-XXXXXX";

static const char *file(const char *name, const char *text)
{
	static char path[4][64];
	static int i;
	char *p = path[i++ % 4];

	snprintf(p, sizeof path[0], "%s/%s", dir, name);
	FILE *f = fopen(p, "w");
	fputs(text, f);
	fclose(f);
	return p;
}

#define HEAD(CLOCK, T0, RES)                                                         \
	"{\"regions\":1,\"clock\":\"" CLOCK "\",\"resolution\":" RES ",\"t0\":\"" T0 \
	"\",\"pid\":7}\n"
#define ADD(BASE, T)                                                                              \
	"{\"region\":\"add\",\"kind\":\"block\",\"device\":0,\"base\":\"" BASE "\",\"size\":16" T \
	"}\n"
#define DEL(BASE, T) \
	"{\"region\":\"del\",\"kind\":\"block\",\"device\":0,\"base\":\"" BASE "\"" T "}\n"

static const char *combine(const char *const *paths, size_t n, struct hrr_combine_options opt)
{
	struct hrr_combine_stats st;

	out.len = 0;
	if (hrr_sidecars_combine(&out, n, paths, &opt, &st, &d) < 0)
		return d.what;
	return hrr_buf_str(&out);
}

static void combining(void)
{
	if (mkdtemp(dir) == NULL)
		return;
	const char *a = file("a", HEAD("monotonic", "1000", "1") ADD("0x10", "")
				      ADD("0x20", ",\"t\":50") DEL("0x10", ",\"t\":100"));
	const char *b = file("b", HEAD("monotonic", "900", "1000") ADD("0x30", ",\"t\":150")
				      DEL("0x30", ",\"t\":160"));
	const char *two[] = {a, b};
	const struct hrr_combine_options all = HRR_COMBINE_ALL;
	is_str(combine(two, 2, all),
	       HEAD("monotonic", "900", "1") ADD("0x10", "") ADD("0x20", ",\"t\":150")
		   ADD("0x30", ",\"t\":150") DEL("0x10", ",\"t\":200") DEL("0x30", ",\"t\":999"),
	       "merged on the earlier clock, by the time each acts at and path");
	struct hrr_combine_options o = all;
	o.clock = (struct hrr_sidecar_clock){800, 5000};
	ok(strncmp(combine(two, 2, o), HEAD("monotonic", "800", "1"), 67) == 0 &&
	       strstr(out.data, ADD("0x20", ",\"t\":250")) != NULL,
	   "or on the stream's");
	const char *mixed[] = {a, file("c", HEAD("realtime", "5100", "1") ADD("0x40", ",\"t\":5"))};
	ok(strstr(combine(mixed, 2, all), "its clock cannot be compared with that of") != NULL,
	   "two kinds of clock need the stream");
	ok(strstr(combine(mixed, 2, o), ADD("0x40", ",\"t\":105")) != NULL, "and have it");
	o = all;
	o.to = 120;
	is_str(combine(two, 1, o),
	       HEAD("monotonic", "1000", "1") ADD("0x10", "") ADD("0x20", ",\"t\":50")
		   DEL("0x10", ",\"t\":100"),
	       "clip to before what there is");
	o.to = 60;
	is_str(combine(two, 1, o),
	       HEAD("monotonic", "1000", "1") ADD("0x10", "") ADD("0x20", ",\"t\":50"),
	       "an end past the window is left out");
	o.to = HRR_NO_TIME;
	o.from = 101;
	is_str(combine(two, 1, o), HEAD("monotonic", "1000", "1") ADD("0x20", ",\"t\":50"),
	       "what ended before it, too; what lives keeps its time");
	o.from = 0;
	o.base = 0x1f;
	o.size = 2;
	is_str(combine(two, 1, o),
	       HEAD("monotonic", "1000", "1") ADD("0x10", "") ADD("0x20", ",\"t\":50")
		   DEL("0x10", ",\"t\":100"),
	       "by address: both touch it");
	o.base = 0x20;
	is_str(combine(two, 1, o), HEAD("monotonic", "1000", "1") ADD("0x20", ",\"t\":50"),
	       "one does");
	const char *none[] = {file("d", "")};
	ok(strstr(combine(none, 1, all), "not a sidecar: it is empty") != NULL, "an empty file");
	const char *no[] = {"/nonexistent"};
	ok(strstr(combine(no, 1, all), "cannot open sidecar") != NULL, "none");
	for (size_t i = 0; i < 4; i++) {
		char path[64];
		snprintf(path, sizeof path, "%s/%c", dir, (char)('a' + i));
		unlink(path);
	}
	rmdir(dir);
}

int main(void)
{
	explaining();
	questions();
	linting();
	mapping();
	combining();
	hrr_buf_release(&out);
	return done_testing();
}
