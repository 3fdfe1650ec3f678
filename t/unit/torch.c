#include "formats/torch/torch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/region/timeline.h"
#include "lib/store/file.h"
#include "t/unit/tap.h"
#include "t/unit/torch_fixture.h"

#define DATA "t/data/torch/"
#define SHARED "/../shared/data/torch/"
#define START UINT64_C(1795982130000000) /* make.py's, µs since 1970 */

static struct hrr_diag d;
static struct hrr_torch_stats st;
static struct hrr_buf in, out;
static struct hrr_torch_options opt;

static int import(const char *path)
{
	in.len = out.len = 0;
	if (hrr_file_read(AT_FDCWD, path, HRR_TORCH_MAX, &in) < 0) {
		printf("Bail out! cannot read %s: run from the top of the tree\n", path);
		exit(1);
	}
	d.what[0] = '\0';
	return hrr_torch_import(&out, in.data, in.len, &opt, &st, &d);
}

static void no_stream(void)
{
	opt = (struct hrr_torch_options){.end = HRR_NO_TIME, .pid = -1};
}

/* --- what is live when, against what the maker of the file wrote down --- */

static struct hrr_buf state;

static int put_live(void *self, const struct hrr_range *x)
{
	const struct hrr_live_region *r = x->value;

	if (r->device == *(int *)self)
		hrr_buf_addf(&state, "%s %d 0x%" PRIx64 " %" PRIu64 "\n",
			     r->segment ? "segment" : "block", r->device, r->base, r->size);
	return 0;
}

/* The lines of out up to t ns since its t0 (HRR_NO_TIME: those without), in .live's words. */
static const char *live(uint64_t until)
{
	struct hrr_timeline *tl = hrr_timeline_new();
	struct hrr_record rec = {0};
	struct hrr_buf tag = {0};
	struct hrr_region r;

	for (size_t at = 0; at < out.len;) {
		size_t len =
		    (size_t)((char *)memchr(out.data + at, '\n', out.len - at) - out.data) - at;
		if (hrr_record_parse(&rec, out.data + at, len, &d) < 0)
			abort();
		at += len + 1;
		if (rec.kind != HRR_REC_REGION)
			continue;
		if (hrr_region_read(&rec, &r, &tag, &d) < 0)
			abort();
		if (r.t != HRR_NO_TIME && (until == HRR_NO_TIME || r.t > until))
			break;
		if (hrr_timeline_apply(tl, &r, NULL, NULL) != 0)
			hrr_buf_adds(&state, "a del that matches nothing\n");
	}
	state.len = 0;
	for (int kind = 0; kind < 2; kind++)
		for (int device = 0; device < 2; device++)
			hrr_ranges_each(hrr_timeline_ranges(tl, kind == 1), put_live, &device);
	hrr_timeline_free(tl);
	hrr_record_release(&rec);
	hrr_buf_release(&tag);
	return hrr_buf_str(&state);
}

static uint64_t own_zero(void)
{
	struct hrr_record rec = {0};
	size_t len = (size_t)((char *)memchr(out.data, '\n', out.len) - out.data), n;
	uint64_t v = 0;

	if (hrr_record_parse(&rec, out.data, len, &d) < 0)
		abort();
	const char *s = hrr_json_raw(&rec.json, hrr_json_get(&rec.json, 0, "t0"), &n);
	if (s != NULL)
		v = strtoull(s, NULL, 10);
	hrr_record_release(&rec);
	return v;
}

static void against(const char *name, uint64_t zero, uint64_t begin)
{
	char path[256];
	struct hrr_buf truth = {0};

	snprintf(path, sizeof path, DATA "%s.live", name);
	if (hrr_file_read(AT_FDCWD, path, 1 << 20, &truth) < 0 || hrr_buf_str(&truth) == NULL)
		abort();
	for (const char *at = truth.data, *next; *at != '\0'; at = next) {
		const char *lines = strchr(at, '\n') + 1;
		next = strncmp(lines, "T ", 2) == 0 ? lines : strstr(lines, "\nT ");
		next = next == NULL ? strchr(lines, '\0') : next == lines ? next : next + 1;
		struct hrr_buf want = {0};
		hrr_buf_add(&want, lines, (size_t)(next - lines));
		bool before = at[2] == '-';
		uint64_t t = before ? HRR_NO_TIME : strtoull(at + 2, NULL, 10) * 1000 + 999;
		/* What was before a stream is not told, only what it left. */
		bool told = before ? opt.realtime == 0 : t >= begin;
		if (!before)
			t -= zero;
		if (told)
			is_str(live(t), hrr_buf_str(&want), "%s: live at %.*s", name,
			       (int)(lines - at - 3), at + 2);
		hrr_buf_release(&want);
	}
	hrr_buf_release(&truth);
}

static void histories(void)
{
	static const char *const names[] = {"plain", "before", "two", "grows", "grows2"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char path[256];
		snprintf(path, sizeof path, DATA "%s.pickle", names[i]);
		no_stream();
		is(import(path), 0, "%s is read", names[i]);
		ok(st.unmatched == 0 && st.differ == 0 && st.unknown == 0 && st.backward == 0,
		   "%s fits together", names[i]);
		against(names[i], own_zero(), own_zero());
		/* A stream that begins amid the history: what came before is only its result. */
		opt = (struct hrr_torch_options){.t0 = 7000, .end = HRR_NO_TIME, .pid = 42};
		opt.realtime = own_zero() + 25500;
		is(import(path), 0, "%s again, a stream begins amid it", names[i]);
		ok(st.before > 0, "some of it was before");
		static const char head[] =
		    "{\"regions\":1,\"clock\":\"monotonic\",\"resolution\":1000,"
		    "\"t0\":\"6500\",\"pid\":42}\n"; /* a tick's begin */
		ok(strncmp(hrr_buf_str(&out), head, sizeof head - 1) == 0,
		   "it has the stream's clock");
		against(names[i], opt.realtime - 500, opt.realtime);
	}
}

/* --- single rules --- */

static const char *lines_of(const char *name)
{
	char path[256];

	snprintf(path, sizeof path, DATA "%s.pickle", name);
	if (import(path) < 0)
		return d.what;
	return hrr_buf_str(&out);
}

#define HEAD(T0) "{\"regions\":1,\"clock\":\"realtime\",\"resolution\":1000,\"t0\":\"" T0 "\"}\n"
#define SEG(T)                                                                                \
	"{\"region\":\"add\",\"kind\":\"segment\",\"device\":0,\"base\":\"0x1000\",\"size\":" \
	"4096" T "}\n"
#define ADD(BASE, SIZE, T)                                                     \
	"{\"region\":\"add\",\"kind\":\"block\",\"device\":0,\"base\":\"" BASE \
	"\",\"size\":" SIZE T "}\n"
#define DEL(BASE, T) \
	"{\"region\":\"del\",\"kind\":\"block\",\"device\":0,\"base\":\"" BASE "\"" T "}\n"

static void ticks(void)
{
	no_stream();
	is_str(
	    lines_of("tick"),
	    HEAD("1795982130000005000") SEG(",\"t\":0") ADD("0x1000", "512", ",\"t\":0")
		ADD("0x1200", "512", ",\"t\":0") DEL("0x1000", ",\"t\":2000")
		    ADD("0x1000", "512", ",\"t\":2000") ADD("0x1400", "512", ",\"t\":2000")
			DEL("0x1200", ",\"t\":2999"),
	    "within a microsecond: adds first, dels last, but where one takes the other's place");
	is(st.adds * 100 + st.dels, 502, "counted");
	opt = (struct hrr_torch_options){
	    .t0 = 5000, .realtime = (START + 7) * 1000 + 500, .end = 600, .pid = -1};
	lines_of("tick");
	is(st.before, 3, "a tick that ends before the stream is before it");
	ok(strstr(out.data, DEL("0x1200", ",\"t\":999")) != NULL &&
	       strstr(out.data, ADD("0x1400", "512", ",\"t\":0")) != NULL,
	   "one that reaches into it is not");
	ok(!st.clock_suspect, "its clock fits");
	opt.realtime = START * 1000 - 1000000;
	opt.end = 1005999;
	lines_of("tick");
	is(st.after, 4, "a tick past the stream's end");
	opt.end = 2000;
	lines_of("tick");
	ok(st.after == 7 && st.clock_suspect, "all of them: another clock");
	opt.realtime = START * 2000;
	lines_of("tick");
	ok(st.before == 7 && st.clock_suspect && st.dels == 0, "all of them before: the same");
	opt.realtime = 1;
	is_str(lines_of("tick"),
	       "the history runs more than 2^53 ns past the stream's begin: it is not of this run",
	       "times past 2^53-1 are refused");
}

static void odd(void)
{
	no_stream();
	is_str(lines_of("odd"),
	       HEAD("1795982130000009000") SEG("") ADD("0x1200", "64", "") ADD("0x1800", "512", "")
		   ADD("0x1000", "512", ",\"t\":0") DEL("0x1200", ",\"t\":999")
		       ADD("0x1600", "64", ",\"t\":1000"),
	       "what does not fit");
	ok(st.backward == 1 && st.empty == 1 && st.unknown == 1 && st.unmatched == 1 &&
	       st.differ == 1,
	   "is counted");
	is_str(st.unknown_name, "fly", "and named");
	is_str(lines_of("list"),
	       "{\"regions\":1,\"clock\":\"realtime\",\"resolution\":1000}\n"
	       "{\"region\":\"add\",\"kind\":\"segment\",\"device\":0,\"base\":\"0x1000\",\"size\":"
	       "2048}\n" ADD("0x1000", "500", "") ADD("0x1400", "1024", ""),
	       "a list of segments, blocks without address");
	is_str(
	    lines_of("past47"),
	    "bad snapshot: segments[0]: \"total_size\" is not a number from 0 to 140737488355328",
	    "a segment past 2^47");
	is_str(lines_of("twice"), "bad snapshot: segments[1]: it stands in the file twice",
	       "a segment twice");
	is_str(lines_of("bytes"),
	       "pickle refused: opcode SHORT_BINBYTES at byte 24 has no place in a file of data",
	       "bytes");
	is_str(lines_of("object"),
	       "pickle refused: opcode STACK_GLOBAL at byte 49 has no place in a file of data",
	       "an object");
	is_str(lines_of("old"), "not a pickle of protocol 2 or later: no PROTO at its start",
	       "protocol 1");
}

static void frames(void)
{
	no_stream();
	opt.frames = 1;
	ok(strstr(lines_of("frames"), "\"tag\":\"forwärd net.py:7\"}") != NULL,
	   "the innermost frame with a source is the tag");
	opt.frames = 2;
	ok(strstr(lines_of("frames"), "\"tag\":\"forwärd net.py:7 < main main.py:1\"}") != NULL,
	   "or two");
	const char *s = strstr(lines_of("frames"), "\"tag\":\"ää");
	size_t n = s != NULL ? (size_t)(strchr(s + 7, '"') - s - 7) : 0;
	is(n, HRR_TORCH_MAX_TAG, "a long one is cut");
	opt.frames = 3;
	ok(strstr(lines_of("frames"), "yyy") == NULL, "a frame that would be cut is left out");
	opt.frames = 0;
	ok(strstr(lines_of("frames"), "tag") == NULL, "no tag when none is asked for");
}

static void cut(void)
{
	static const char *const names[] = {"before", "two", "grows", "frames", "odd"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char path[256];
		size_t taken = 0;
		snprintf(path, sizeof path, DATA "%s.pickle", names[i]);
		no_stream();
		import(path);
		struct hrr_buf whole = in;
		in = (struct hrr_buf){0};
		for (size_t n = 0; n < whole.len; n++)
			if (exercise_snapshot(whole.data, n, &d) != -EINVAL)
				taken++;
		is(taken, 0, "%s cut at any byte is refused", names[i]);
		is(exercise_snapshot(whole.data, whole.len, &d), 0, "and whole it is read");
		/* Any byte changed: never more than a refusal. */
		for (size_t n = 0; n < whole.len; n++) {
			char old = whole.data[n];
			whole.data[n] = (char)(old ^ (1 << (n % 8)));
			exercise_snapshot(whole.data, whole.len, &d);
			whole.data[n] = old;
		}
		hrr_buf_release(&whole);
	}
}

/* What PyTorch itself wrote, when it is here. */
static void real(void)
{
	static const struct {
		const char *name;
		uint64_t segments, blocks, events, adds, dels;
	} t[] = {{"small", 4, 12, 18, 18, 2},
		 {"train", 7, 88, 1060, 418, 323},
		 {"expandable", 1, 16, 56, 40, 23},
		 {"train-p2", 7, 88, 49, 120, 25}};
	char path[4096];

	if (getcwd(path, sizeof path - 64) == NULL)
		abort();
	size_t n = strlen(path);
	no_stream();
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		snprintf(path + n, sizeof path - n, SHARED "%s.pickle", t[i].name);
		if (access(path, R_OK) != 0) {
			skip(4, "no ../shared/data/torch here");
			continue;
		}
		is(import(path), 0, "%s", t[i].name);
		ok(st.segments == t[i].segments && st.blocks == t[i].blocks &&
		       st.events == t[i].events,
		   "holds what Python sees in it");
		ok(st.adds == t[i].adds && st.dels == t[i].dels, "its regions");
		ok(st.unmatched == 0 && st.differ == 0 && st.unknown == 0, "all of it fits");
	}
}

int main(void)
{
	histories();
	ticks();
	odd();
	frames();
	cut();
	real();
	hrr_buf_release(&in);
	hrr_buf_release(&out);
	hrr_buf_release(&state);
	return done_testing();
}
