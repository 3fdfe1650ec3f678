#include "lib/store/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/store/archive.h"
#include "lib/store/file.h"
#include "t/unit/tap.h"

static char dir[] = "/tmp/hrr-unit-XXXXXX";
static struct hrr_diag d;
static struct hrr_source_state st;

static const char *in_dir(const char *name)
{
	static char path[8][4096];
	static int i;
	char *p = path[i++ % 8];

	snprintf(p, 4096, "%s/%s", dir, name);
	return p;
}

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(in_dir(name), "w");

	fputs(text, f);
	fclose(f);
}

/* Lines joined by spaces, each cut to what tells it: kind, number, p. */
static const char *read_all(const char *operand, const struct hrr_source_options *opt)
{
	static struct hrr_buf out;
	struct hrr_source *s;
	struct hrr_record *rec;
	static const char kinds[] = "hcorRe?";
	int rc = hrr_source_open(&s, operand, opt, &d);

	out.len = 0;
	if (rc < 0) {
		hrr_buf_addf(&out, "open %d", rc);
		return hrr_buf_str(&out);
	}
	while ((rc = hrr_source_next(s, &rec, &d)) > 0) {
		uint64_t v = rec->seq;
		if (rec->kind == HRR_REC_REGION) /* told apart by size */
			hrr_json_u64(&rec->json, hrr_json_get(&rec->json, 0, "size"), &v);
		struct hrr_record again = {0};
		if (hrr_record_parse(&again, rec->line, rec->len, NULL) < 0 || again.p != rec->p)
			hrr_buf_adds(&out, "!");
		hrr_record_release(&again);
		hrr_buf_addf(&out, "%c%llu/%u ", kinds[rec->kind], (unsigned long long)v, rec->p);
	}
	if (rc < 0)
		hrr_buf_addf(&out, "%d", rc);
	hrr_source_state(s, &st);
	hrr_source_close(s);
	return hrr_buf_str(&out);
}

#define HEADER(PID, T0)                                                        \
	"{\"hrr\":1,\"pid\":" #PID ",\"image\":0,\"command\":[],\"t0\":\"" #T0 \
	"\",\"realtime\":\"5000\",\"boot\":\"\",\"env\":{},\"blobs\":\"../blobs\"}\n"
#define CALL(SEQ, T) \
	"{\"seq\":" #SEQ ",\"t\":" #T ",\"dur\":1,\"tid\":1,\"api\":\"hipFree\",\"args\":{}}\n"
#define END(T, N)                                          \
	"{\"end\":\"complete\",\"t\":" #T ",\"calls\":" #N \
	",\"outputs\":0,\"regions\":0,\"lost\":0,\"notRecorded\":{},\"realtime\":\"6000\"}\n"
#define ADD(SIZE, T)                                                                   \
	"{\"region\":\"add\",\"kind\":\"segment\",\"base\":\"0x1000\",\"size\":" #SIZE \
	",\"t\":" #T "}\n"

static void check_archive(void)
{
	struct hrr_archive *a;
	struct hrr_archive_manifest m;
	int fd;

	is(hrr_archive_create(&a, in_dir("new.hrr"), &d), 0, "an archive is made");
	is(hrr_archive_create(&a, in_dir("new.hrr"), &d), -EEXIST, "once");
	is(hrr_archive_create(&a, in_dir("no/new.hrr"), &d), -ENOENT, "its parent must be there");
	is(hrr_archive_manifest(in_dir("new.hrr"), &m, &d), 0, "its manifest is read");
	ok(m.running && !m.complete && m.writer == (uint32_t)getpid(), "it is running");
	is_str(read_all(in_dir("new.hrr"), NULL), "", "it has no process yet");
	is_str(hrr_source_word(&st), "running", "running");
	is(hrr_archive_process(a, 42, 1, &fd, &d), 0, "a process's second image");
	ok(write(fd, HEADER(42, 100), strlen(HEADER(42, 100))) > 0, "is written to");
	close(fd);
	is(hrr_archive_process(a, 42, 1, &fd, &d), 0, "again");
	ok(write(fd, CALL(1, 5), strlen(CALL(1, 5))) > 0, "behind what is there");
	close(fd);
	is_str(read_all(in_dir("new.hrr"), NULL), "h0/0 c1/0 ", "is read");
	is_str(hrr_source_word(&st), "running", "still running");
	is(hrr_archive_state(a, "complete", &d), 0, "the state is changed");
	ok(hrr_archive_manifest(in_dir("new.hrr"), &m, &d) == 0 && !m.running && m.complete,
	   "complete now");
	read_all(in_dir("new.hrr"), NULL);
	is_str(hrr_source_word(&st), "cut short",
	       "the stream has no end, whatever the manifest says");
	hrr_archive_close(a);
	write_file("new.hrr/manifest.json", "{\"hrr-archive\":2,\"state\":\"running\"}\n");
	is_str(read_all(in_dir("new.hrr"), NULL), "open -22", "another version is refused");
	is_str(d.what, "archive version 2 is not known: this program reads version 1", "and said");
	/* pid 1 is alive, but not in that boot */
	write_file("new.hrr/manifest.json",
		   "{\"hrr-archive\":1,\"state\":\"running\",\"writer\":1,\"boot\":\"x\"}\n");
	ok(hrr_archive_manifest(in_dir("new.hrr"), &m, &d) == 0 && !m.running, "another boot");
}

static void check_merge(void)
{
	struct hrr_source_options opt = {.pid = -1};

	mkdir(in_dir("m"), 0700);
	is_str(read_all(in_dir("m"), NULL), "open -22", "any folder is no archive");
	mkdir(in_dir("m/pid-7"), 0700);
	mkdir(in_dir("m/pid-9"), 0700);
	mkdir(in_dir("m/pid-09"), 0700);
	mkdir(in_dir("m/pid-9x"), 0700);
	write_file("m/pid-7/events.jsonl", HEADER(7, 1000) CALL(1, 10) CALL(2, 300) END(400, 2));
	write_file("m/pid-9/events.jsonl", HEADER(9, 1100) CALL(1, 10) CALL(2, 50) END(100, 2));
	is_str(read_all(in_dir("m"), NULL), "h0/0 c1/0 h0/1 c1/1 c2/1 e0/1 c2/0 e0/0 ",
	       "two processes by time");
	is_str(hrr_source_word(&st), "complete", "both complete");
	is(st.processes, 2, "two of them");
	opt.pid = 9;
	is_str(read_all(in_dir("m"), &opt), "h0/0 c1/0 c2/0 e0/0 ", "one of them");
	opt.pid = 8;
	is_str(read_all(in_dir("m"), &opt), "open -2", "none of them");
	is_str(d.what, "no process 8 in it: it has 7 9", "which is said");
	is_str(read_all(in_dir("m/pid-7"), NULL), "h0/0 c1/0 c2/0 e0/0 ", "a process's folder");
	is_str(read_all(in_dir("m/pid-7/events.jsonl"), NULL), "h0/0 c1/0 c2/0 e0/0 ", "a file");

	/* A merged stream, and one process of it. */
	write_file("merged", "{\"hrr\":1,\"p\":0,\"pid\":7}\n{\"hrr\":1,\"p\":1,\"pid\":9}\n"
			     "{\"seq\":1,\"p\":1,\"t\":1,\"api\":\"a\",\"args\":{}}\n"
			     "{\"seq\":4,\"p\":0,\"t\":1,\"api\":\"a\",\"args\":{}}\n");
	opt.pid = -1;
	is_str(read_all(in_dir("merged"), &opt), "h0/0 h0/1 c1/1 c4/0 ", "a merged stream");
	opt.pid = 9;
	is_str(read_all(in_dir("merged"), &opt), "h0/1 c1/1 ", "one process of it");
	opt.pid = 8;
	is_str(read_all(in_dir("merged"), &opt), "-2", "none of it");
	opt.pid = -1;

	write_file("m/pid-9/events.jsonl", HEADER(9, 1100) CALL(1, 10) "{\"seq\":");
	is_str(read_all(in_dir("m"), NULL), "h0/0 c1/0 h0/1 c1/1 c2/0 e0/0 ", "one is cut");
	is_str(hrr_source_word(&st), "cut short", "which shows");
	ok(st.cut_line, "as a cut line");
	write_file("m/pid-9/events.jsonl", "");
	is_str(read_all(in_dir("m"), NULL), "h0/0 c1/0 c2/0 e0/0 ", "one is empty");
	is_str(hrr_source_word(&st), "cut short", "which shows too");
	write_file("m/pid-9/events.jsonl", HEADER(9, 1100) CALL(1, 10) "{\"seq\":}\n" END(1, 1));
	is_str(read_all(in_dir("m"), NULL), "h0/0 c1/0 h0/1 c1/1 -22", "one has a bad line");
	ok(d.line == 3 && strstr(d.operand, "pid-9/events.jsonl") != NULL, "named: %s:%d",
	   d.operand, (int)d.line);
	write_file("m/pid-9/events.jsonl", HEADER(9, 1100) END(1, 0) CALL(1, 10));
	read_all(in_dir("m"), NULL);
	is_str(d.what, "bad stream: a record behind the end", "nothing comes behind the end");
	write_file("m/pid-9/events.jsonl", HEADER(9, 1100) HEADER(9, 1100));
	read_all(in_dir("m"), NULL);
	is_str(d.what, "bad stream: a second header for process 1", "nor a second header");
	write_file("m/pid-9/events.jsonl", HEADER(9, 1100) CALL(1, 10) END(100, 2));
	read_all(in_dir("m"), NULL);
	is_str(hrr_source_word(&st), "cut short", "counts that do not fit show");
}

static void check_sidecars(void)
{
	struct hrr_source_options opt = {.pid = -1};
	char *extra = strdup(in_dir("extra"));

	mkdir(in_dir("s"), 0700);
	mkdir(in_dir("s/regions"), 0700);
	write_file("s/events.jsonl",
		   HEADER(7, 1000) CALL(1, 10) CALL(2, 300) CALL(3, 200) CALL(4, 400) END(500, 4));
	write_file("s/regions/b.jsonl",
		   "{\"regions\":1,\"clock\":\"monotonic\",\"t0\":\"900\"}\n" ADD(2, 400)
		       ADD(1, 110) ADD(3, 5000)
			   ADD(4, 50) "{\"region\":\"add\",\"base\":\"0x1\",\"size\":9}\n");
	write_file("s/regions/a.jsonl", "{\"regions\":1}\n" ADD(5, 300) "{\"region\":\"de");
	is_str(read_all(in_dir("s"), NULL),
	       "h0/0 r9/0 r4/0 r1/0 c1/0 r5/0 r2/0 c2/0 c3/0 c4/0 r3/0 e0/0 ",
	       "sidecars are merged by time, moved to the stream's clock");
	ok(st.cut_sidecar && !st.cut_line && st.sidecars == 6 && st.regions == 0, "and counted");
	ok(!st.clock_suspect, "their clock fits");
	opt.no_sidecars = true;
	is_str(read_all(in_dir("s"), &opt), "h0/0 c1/0 c2/0 c3/0 c4/0 e0/0 ", "unless unwanted");
	write_file("extra", "{\"regions\":1,\"clock\":\"realtime\",\"t0\":\"5350\"}\n" ADD(8, 10));
	opt.n_sidecars = 1;
	opt.sidecars = (const char *const *)&extra;
	is_str(read_all(in_dir("s"), &opt), "h0/0 c1/0 c2/0 c3/0 r8/0 c4/0 e0/0 ",
	       "one named by hand, on the other clock");
	opt.no_sidecars = false;
	write_file("s/regions/a.jsonl", ADD(5, 300));
	is_str(read_all(in_dir("s"), NULL), "-22", "a sidecar needs its first line");
	write_file("s/regions/a.jsonl", "{\"regions\":1}\n" ADD(5, 300) CALL(1, 1));
	is_str(read_all(in_dir("s"), NULL), "-22", "and nothing but regions");
	ok(d.line == 3 && strcmp(d.what, "bad sidecar: not a region") == 0, "which is said");
	write_file("s/regions/a.jsonl", "{\"regions\":1,\"clock\":\"sundial\"}\n");
	is_str(read_all(in_dir("s"), NULL), "-22", "a clock must be known");
	unlink(in_dir("s/regions/a.jsonl"));
	write_file("s/regions/b.jsonl",
		   "{\"regions\":1,\"t0\":\"90000000\"}\n" ADD(2, 400) ADD(1, 110));
	read_all(in_dir("s"), NULL);
	ok(st.clock_suspect, "a clock far away is suspect");
	free(extra);
}

int main(void)
{
	char command[4200];

	if (mkdtemp(dir) == NULL)
		return 1;
	check_archive();
	check_merge();
	check_sidecars();
	is_str(read_all(in_dir("nothing"), NULL), "open -2", "what is not there");
	snprintf(command, sizeof command, "rm -rf %s", dir);
	return system(command) != 0 || done_testing();
}
