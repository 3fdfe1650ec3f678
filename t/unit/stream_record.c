#include "lib/stream/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "lib/stream/write.h"
#include "t/unit/tap.h"

static struct hrr_record rec;
static struct hrr_diag d;

static int parse(const char *line)
{
	d.what[0] = '\0';
	return hrr_record_parse(&rec, line, strlen(line), &d);
}

static void check_kinds(void)
{
	static const struct {
		const char *line;
		enum hrr_record_kind kind;
	} good[] = {
	    {"{\"hrr\":1,\"pid\":1}", HRR_REC_HEADER},
	    {"{\"seq\":1,\"t\":2,\"dur\":3,\"tid\":4,\"api\":\"hipFree\",\"args\":{}}",
	     HRR_REC_CALL},
	    {"{ \"args\":{}, \"api\":\"hipFree\",\"t\":2,\"seq\":1 }", HRR_REC_CALL},
	    {"{\"output\":1,\"t\":2,\"tid\":1,\"addr\":\"0x10\",\"size\":1,\"blob\":\"x\"}",
	     HRR_REC_OUTPUT},
	    {"{\"output\":1,\"addr\":\"0x10\",\"size\":1,\"unknown\":\"why\"}", HRR_REC_OUTPUT},
	    {"{\"region\":\"del\",\"base\":\"0x10\"}", HRR_REC_REGION},
	    {"{\"runtime\":{}}", HRR_REC_RUNTIME},
	    {"{\"end\":\"complete\"}", HRR_REC_END},
	    {"{\"note\":\"mine\",\"p\":\"anything\"}", HRR_REC_OTHER},
	    {"{}", HRR_REC_OTHER},
	};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		ok(parse(good[i].line) == 0 && rec.kind == good[i].kind, "%s", good[i].line);

	/* A slash may be escaped; the line is then read in the general way, which unescapes it. */
	for (int spaced = 0; spaced < 2; spaced++) {
		const char line[] = " {\"seq\":1,\"t\":2,\"api\":\"a\\/b\",\"args\":{}}";
		ok(parse(line + !spaced) == 0 && rec.api_len == 3 && memcmp(rec.api, "a/b", 3) == 0,
		   "an escaped slash in a name, %s", spaced ? "spaced" : "not spaced");
	}

	static const struct {
		const char *line, *what;
	} bad[] = {
	    {"[1]", "bad record: not an object"},
	    {"{\"hrr\":2}", "stream version 2 is not known: this program reads version 1"},
	    {"{\"hrr\":\"1\"}", "bad record: \"hrr\" is not a whole number of 0 or more"},
	    {"{\"seq\":1,\"output\":1}", "bad record: both \"seq\" and \"output\""},
	    {"{\"seq\":-1,\"t\":2,\"api\":\"hipFree\",\"args\":{}}",
	     "bad record: \"seq\" is not a whole number of 0 or more"},
	    {"{\"seq\":1,\"t\":2,\"args\":{}}", "bad record: no member \"api\""},
	    {"{\"seq\":1,\"t\":2,\"api\":\"a\\\"b\",\"args\":{}}",
	     "bad record: \"api\" is not a name"},
	    {"{\"seq\":1,\"t\":2,\"api\":\"a\",\"args\":[]}",
	     "bad record: \"args\" is not an object"},
	    {"{\"seq\":1,\"t\":2,\"api\":\"a\",\"args\":{},\"ret\":[]}",
	     "bad record: \"ret\" is not a string or a whole number"},
	    {"{\"output\":1,\"addr\":\"10\",\"size\":1,\"blob\":\"x\"}",
	     "bad record: \"addr\" is not an address like \"0x1000\""},
	    {"{\"output\":1,\"addr\":\"0x10\",\"size\":1}",
	     "bad record: an output without \"blob\""},
	    {"{\"region\":\"new\",\"base\":\"0x10\"}",
	     "bad record: \"region\" is neither \"add\" nor \"del\""},
	    {"{\"region\":\"add\",\"base\":\"0x10\"}", "bad record: no member \"size\""},
	    {"{\"seq\":1,\"p\":65536,\"t\":2,\"api\":\"a\",\"args\":{}}",
	     "bad record: \"p\" is not a process index below 65536"},
	    {"{\"end\":5}", "bad record: \"end\" is not a string"},
	    {"{\"seq\":1,\"t\":2,\"api\":\"a\",\"args\":{},\"kernels\":{}}",
	     "bad record: \"kernels\" is not an array"},
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		is(parse(bad[i].line), -EINVAL, "refused: %s", bad[i].line);
		is_str(d.what, bad[i].what, "and said why");
	}

	parse("{\"seq\":12,\"p\":3,\"t\":100,\"dur\":7,\"tid\":9,\"api\":\"hipMalloc\",\"ret\":"
	      "\"hipErrorOutOfMemory\",\"args\":{\"size\":5},\"dir\":\"h2d\"}");
	ok(rec.seq == 12 && rec.p == 3 && rec.t == 100 && rec.dur == 7 && rec.tid == 9, "numbers");
	ok(rec.api_len == 9 && memcmp(rec.api, "hipMalloc", 9) == 0, "api");
	ok(hrr_json_is(&rec.json, rec.ret, "hipErrorOutOfMemory") &&
	       hrr_json_is(&rec.json, rec.dir, "h2d") && rec.kernel == -1,
	   "members");
	parse("{\"output\":5,\"node\":3,\"addr\":\"0x10\",\"size\":1,\"blob\":\"x\"}");
	is(hrr_record_node(&rec), 3, "an output's node");
}

/* Kernels and streams of a call, as "name@stream ". */
static const char *launches(const char *line)
{
	static char text[256];
	const struct hrr_json *j = &rec.json;
	size_t at = 0, len;
	unsigned n = 0;

	if (parse(line) < 0)
		return d.what;
	text[0] = '\0';
	for (int k = -1; (k = hrr_kernel_next(j, rec.kernel, k)) >= 0; n++) {
		int stream = hrr_launch_stream(j, rec.args, n);
		const char *name = hrr_json_raw(j, hrr_json_get(j, k, "name"), &len);
		uint64_t v = 0;
		(void)hrr_json_addr(j, stream, &v);
		at += (size_t)snprintf(text + at, sizeof text - at, "%.*s@%llx ",
				       name != NULL ? (int)len : 1, name != NULL ? name : "?",
				       (unsigned long long)v);
	}
	return hrr_launch_stream(j, rec.args, n) < 0 ? text : "a stream too many";
}

static void check_launches(void)
{
#define CALL(args, rest) "{\"seq\":1,\"t\":2,\"api\":\"a\",\"args\":{" args "}" rest "}"
	is_str(launches(CALL("\"f\":\"0x1\",\"stream\":\"0x7\"", ",\"kernel\":{\"name\":\"k\"}")),
	       "k@7 ", "a launch");
	is_str(launches(CALL("\"config\":{\"hStream\":\"0x8\"},\"f\":\"0x1\"",
			     ",\"kernel\":{\"name\":\"k\"}")),
	       "k@8 ", "a launch by a structure");
	is_str(
	    launches(CALL("\"n\":3,\"list\":[{\"stream\":\"0x7\"},{\"stream\":\"0x8\"},{\"stream\":"
			  "\"0x9\"}]",
			  ",\"kernels\":[{\"name\":\"k\"},{},{\"name\":\"m\"}]")),
	    "k@7 ?@8 m@9 ", "several launches");
	is_str(launches(CALL("", ",\"kernels\":[]")), "", "none");
	is_str(launches(CALL("\"list\":[1,[2],null]", ",\"kernels\":[1,[{}],\"x\",null,{}]")),
	       "?@0 ", "things that are no launch");
#undef CALL
}

static void round_trip(struct hrr_buf *b, enum hrr_record_kind kind, const char *want)
{
	ok(hrr_record_parse(&rec, b->data, b->len - 1, NULL) == 0 && rec.kind == kind,
	   "what is written is read");
	ok(!rec.json.general, "on the fast path");
	hrr_buf_str(b);
	is_str(b->data, want, "in canonical form");
	b->len = 0;
}

static void check_writing(void)
{
	struct hrr_buf b = {0};
	const char *argv[] = {"./a b", "\xff\x41", "\"q\""};
	const char *env[] = {"HIP_X=1", "HSA_Y=a=b"};
	struct hrr_write_header h = {.p = -1,
				     .pid = 42,
				     .image = 1,
				     .argc = 3,
				     .argv = argv,
				     .t0 = 18446744073709551615u,
				     .realtime = 5,
				     .boot = "f3",
				     .n_env = 2,
				     .env = env,
				     .blobs = "../blobs"};

	hrr_write_header(&b, &h);
	round_trip(&b, HRR_REC_HEADER,
		   "{\"hrr\":1,\"pid\":42,\"image\":1,\"command\":[\"./a "
		   "b\",{\"hex\":\"ff41\"},\"\\\"q\\\"\"],\"t0\":\"18446744073709551615\","
		   "\"realtime\":\"5\",\"boot\":\"f3\",\"env\":{\"HIP_X\":\"1\",\"HSA_Y\":\"a=b\"},"
		   "\"blobs\":\"../blobs\"}\n");

	struct hrr_write_call c = {
	    .p = 2, .seq = 7, .t = 8, .dur = 9, .tid = 10, .api = "hipFree", .ret = "hipErrorX"};
	hrr_write_call(&b, &c);
	hrr_buf_adds(&b, "\"ptr\":\"0x1\"},\"dir\":\"h2d\"");
	hrr_write_call_end(&b);
	round_trip(&b, HRR_REC_CALL,
		   "{\"seq\":7,\"p\":2,\"t\":8,\"dur\":9,\"tid\":10,\"api\":\"hipFree\",\"ret\":"
		   "\"hipErrorX\",\"args\":{\"ptr\":\"0x1\"},\"dir\":\"h2d\"}\n");
	c.ret = "1234";
	c.p = -1;
	hrr_write_call(&b, &c);
	hrr_buf_adds(&b, "}");
	hrr_write_call_end(&b);
	round_trip(&b, HRR_REC_CALL,
		   "{\"seq\":7,\"t\":8,\"dur\":9,\"tid\":10,\"api\":\"hipFree\",\"ret\":1234,"
		   "\"args\":{}}\n");

	struct hrr_write_output o = {.p = -1,
				     .seq = 3,
				     .node = 2,
				     .t = 4,
				     .tid = 5,
				     .addr = 0xabc,
				     .size = 96,
				     .width = 24,
				     .height = 4,
				     .depth = 1,
				     .pitch = 64,
				     .slice = 256,
				     .blob = hrr_id_of("", 0)};
	hrr_write_output(&b, &o);
	round_trip(&b, HRR_REC_OUTPUT,
		   "{\"output\":3,\"node\":2,\"t\":4,\"tid\":5,\"addr\":\"0xabc\",\"size\":96,"
		   "\"width\":24,\"height\":4,\"depth\":1,\"pitch\":64,\"slice\":256,\"blob\":"
		   "\"xxh128:99aa06d3014798d86001c324468d497f\"}\n");
	o = (struct hrr_write_output){
	    .p = 0, .seq = 3, .node = -1, .addr = 1, .size = 1, .unknown = true, .reason = "gone"};
	hrr_write_output(&b, &o);
	round_trip(&b, HRR_REC_OUTPUT,
		   "{\"output\":3,\"p\":0,\"t\":0,\"tid\":0,\"addr\":\"0x1\",\"size\":1,"
		   "\"unknown\":\"gone\"}\n");

	struct hrr_region r = {.add = true,
			       .segment = true,
			       .kind_known = true,
			       .base = 0x7f00,
			       .size = 16,
			       .t = 9,
			       .tag = "x",
			       .tag_len = 1};
	hrr_write_region(&b, -1, &r);
	round_trip(&b, HRR_REC_REGION,
		   "{\"region\":\"add\",\"kind\":\"segment\",\"device\":0,\"base\":\"0x7f00\","
		   "\"size\":16,\"t\":9,\"tag\":\"x\"}\n");
	r = (struct hrr_region){.base = 0x7f00, .device = 1, .t = HRR_NO_TIME};
	hrr_write_region(&b, 1, &r);
	round_trip(&b, HRR_REC_REGION,
		   "{\"region\":\"del\",\"p\":1,\"device\":1,\"base\":\"0x7f00\"}\n");

	const char *names[] = {"hipFoo", "hipBar"};
	const uint64_t counts[] = {2, 3};
	struct hrr_write_end e = {.p = -1,
				  .how = "complete",
				  .t = 1,
				  .calls = 2,
				  .outputs = 3,
				  .regions = 4,
				  .lost = 5,
				  .n_not_recorded = 2,
				  .not_recorded = names,
				  .not_recorded_count = counts,
				  .realtime = 6};
	hrr_write_end(&b, &e);
	round_trip(&b, HRR_REC_END,
		   "{\"end\":\"complete\",\"t\":1,\"calls\":2,\"outputs\":3,\"regions\":4,\"lost\":"
		   "5,\"notRecorded\":{\"hipFoo\":2,\"hipBar\":3},\"realtime\":\"6\"}\n");
	hrr_buf_release(&b);
}

static int file_of(const void *data, size_t len)
{
	char name[] = "/tmp/hrr-unit-XXXXXX";
	int fd = mkstemp(name);

	unlink(name);
	if (write(fd, data, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET) != 0)
		return -1;
	return fd;
}

/* All lines joined by '|', '!' behind a cut one, then the result when it is negative. */
static char *read_all(const void *data, size_t len)
{
	static struct hrr_buf out;
	struct hrr_reader *r = hrr_reader_new(file_of(data, len), "file");
	const char *line;
	size_t n;
	uint64_t lineno, want = 0;
	bool cut;
	int rc;

	out.len = 0;
	while ((rc = hrr_reader_line(r, &line, &n, &lineno, &cut, &d)) == 1) {
		if (lineno != ++want)
			hrr_buf_adds(&out, "?");
		hrr_buf_add(&out, line, n);
		hrr_buf_adds(&out, cut ? "!" : "|");
	}
	if (rc < 0)
		hrr_buf_addf(&out, "%d", rc);
	hrr_reader_free(r);
	return hrr_buf_str(&out);
}

static void check_reader(void)
{
	is_str(read_all("", 0), "", "an empty file");
	is_str(read_all("a\nbc\n", 5), "a|bc|", "two lines");
	is_str(read_all("a\n\nbc", 5), "a||bc!", "an empty line, and a cut one");

	size_t len = 3000000;
	char *big = malloc(2 * HRR_JSON_MAX_LINE), *packed = malloc(len);
	for (size_t i = 0; i < len; i++)
		big[i] = i % 1013 == 1012 ? '\n' : (char)('a' + i % 26);
	char *want = strdup(read_all(big, len));
	size_t n = ZSTD_compress(packed, len, big, len, 3);
	ok(strcmp(read_all(packed, n), want) == 0, "a compressed stream has the same lines");
	memcpy(packed + n, packed, n);
	size_t double_len = strlen(read_all(packed, 2 * n));
	ok(double_len > 2 * strlen(want) - 2000, "two frames one behind the other");
	bool good = true;
	for (size_t cut = 4; cut < n; cut += 97) {
		char *got = read_all(packed, cut);
		good = good && strlen(got) < strlen(want) && got[strlen(got) - 1] == '!';
	}
	ok(good, "a compressed stream that is cut says so, wherever");
	packed[n / 2] ^= 0x55;
	packed[n / 2 + 1] ^= 0x55;
	char *got = read_all(packed, n);
	ok(strstr(got, "-22") != NULL || strcmp(got, want) != 0, "damage is an error");
	free(want);

	memset(big, 'x', 2 * HRR_JSON_MAX_LINE);
	big[0] = '\n';
	big[HRR_JSON_MAX_LINE + 1] = '\n';
	got = read_all(big, HRR_JSON_MAX_LINE + 2);
	is(strlen(got), HRR_JSON_MAX_LINE + 2, "a line at the limit is read");
	big[HRR_JSON_MAX_LINE + 1] = 'x';
	got = read_all(big, 2 * HRR_JSON_MAX_LINE);
	is_str(got, "|-7", "a longer one is not");
	is_str(d.what, "line too long: the limit is 16777216 bytes", "which is said");
	ok(d.line == 2 && strcmp(d.operand, "file") == 0, "with file and line");
	free(big);
	free(packed);
}

int main(void)
{
	check_kinds();
	check_launches();
	check_writing();
	check_reader();
	hrr_record_release(&rec);
	return done_testing();
}
