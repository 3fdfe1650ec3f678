#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bin/tool.h"
#include "bin/tool_source.h"
#include "formats/hrrr/sidecar.h"
#include "formats/torch/torch.h"
#include "lib/region/combine.h"
#include "lib/region/explain.h"
#include "lib/region/lint.h"
#include "lib/region/lives.h"
#include "lib/region/place.h"
#include "lib/region/svg.h"
#include "lib/store/file.h"
#include "lib/region/timeline.h"
#include "lib/store/sidecar.h"
#include "lib/stream/edit.h"
#include "lib/stream/filter.h"

static const char usage[] =
    "usage: hrr-regions add --kind KIND --base ADDRESS --size N [--device N]\n"
    "                   [--t TIME | --at SEQ] [--tag TEXT] [--pid PID]\n"
    "                   [-f NAME] [-a ARCHIVE | STREAM]\n"
    "   or: hrr-regions del --base ADDRESS [--kind KIND] [--device N]\n"
    "                   (--t TIME | --at SEQ) [--pid PID]\n"
    "                   [-f NAME] [-a ARCHIVE | STREAM]\n"
    "   or: hrr-regions ls [--pid PID] [ARCHIVE]\n"
    "   or: hrr-regions check [--pid PID] [ARCHIVE]\n"
    "   or: hrr-regions explain [--at SEQ | --t TIME] [--pid PID] QUESTION [ARCHIVE]\n"
    "   or: hrr-regions import --torch FILE [--frames N] [--pid PID] [-f NAME]\n"
    "                   [-a ARCHIVE]\n"
    "   or: hrr-regions import --hrrr FILE [--pid PID] [-f NAME] [-a ARCHIVE]\n"
    "   or: hrr-regions export --hrrr FILE [--pid PID] [ARCHIVE]\n"
    "   or: hrr-regions merge [-a ARCHIVE] SIDECAR ...\n"
    "   or: hrr-regions clip [--from TIME] [--to TIME] [--base ADDRESS --size N]\n"
    "                   [-a ARCHIVE] SIDECAR ...\n"
    "   or: hrr-regions lint [--confidence PERCENT] [--pid PID] [ARCHIVE]\n"
    "   or: hrr-regions map --svg [--from TIME] [--to TIME] [--pid PID] [ARCHIVE]\n"
    "\n"
    "Tells of device memory that HIP never saw. add and del put one record into a\n"
    "stream on its way from standard input (or STREAM) to standard output, or with\n"
    "-a into a sidecar of ARCHIVE.\n"
    "\n"
    "  -a ARCHIVE      an archive, one process's folder or its events.jsonl\n"
    "  -f NAME         with -a: the sidecar regions/NAME.jsonl (added)\n"
    "  --kind KIND     segment: a whole allocation; block: a part of one\n"
    "  --base ADDRESS  where it starts, like 0x7fbe01400000\n"
    "  --size N        its bytes, 1 to 2^47\n"
    "  --device N      the device it is on (0)\n"
    "  --t TIME        when, in ns since the stream's t0; not given: since before\n"
    "                  the stream\n"
    "  --at SEQ        just before the call SEQ\n"
    "  --tag TEXT      what to call it\n"
    "  --pid PID       the process, where there are several\n"
    "  --torch FILE    a memory snapshot of PyTorch\n"
    "  --hrrr FILE     a sidecar of upstream HIP Record & Replay; export makes it\n"
    "  --frames N      the N innermost frames become the tag (0)\n"
    "  --from, --to    what lives at some moment between them is kept, or drawn\n"
    "  --confidence N  tell what is at least so likely, in percent (40)\n"
    "  --svg           the picture is SVG\n"
    "  -h, --version   this text; the version\n"
    "\n"
    "ls prints kind, device, base, size, from, to and tag of every region. check\n"
    "prints what does not fit and exits with 1 when there is any. explain tells whose\n"
    "an address was and exits with 1 when it was nobody's; QUESTION is an address, a\n"
    "message of hrr-play, or - for such lines on standard input. import writes a\n"
    "sidecar, merge makes one of several, clip leaves out what is elsewhere. lint\n"
    "prints words that look like addresses nobody declared and exits with 1 when\n"
    "there are any. map draws memory over time.\n";

enum {
	OPT_KIND = 256,
	OPT_BASE,
	OPT_SIZE,
	OPT_DEVICE,
	OPT_T,
	OPT_AT,
	OPT_TAG,
	OPT_PID,
	OPT_TORCH,
	OPT_HRRR,
	OPT_FRAMES,
	OPT_FROM,
	OPT_TO,
	OPT_CONFIDENCE,
	OPT_SVG
};

static const struct option longs[] = {
    {"kind", required_argument, NULL, OPT_KIND},
    {"base", required_argument, NULL, OPT_BASE},
    {"size", required_argument, NULL, OPT_SIZE},
    {"device", required_argument, NULL, OPT_DEVICE},
    {"t", required_argument, NULL, OPT_T},
    {"at", required_argument, NULL, OPT_AT},
    {"tag", required_argument, NULL, OPT_TAG},
    {"pid", required_argument, NULL, OPT_PID},
    {"torch", required_argument, NULL, OPT_TORCH},
    {"hrrr", required_argument, NULL, OPT_HRRR},
    {"frames", required_argument, NULL, OPT_FRAMES},
    {"from", required_argument, NULL, OPT_FROM},
    {"to", required_argument, NULL, OPT_TO},
    {"confidence", required_argument, NULL, OPT_CONFIDENCE},
    {"svg", no_argument, NULL, OPT_SVG},
    {0},
};

struct regions {
	struct hrr_region region;
	const char *archive, *name, *operand;
	bool has_base, has_size, has_t, has_at;
	uint64_t at;
	struct hrr_source_options opt;
	const char *torch, *hrrr;
	uint64_t frames, from, to, confidence;
	bool svg;
	char **operands; /* of merge and clip */
	size_t n_operands;
};

static struct hrr_diag diag;

static struct hrr_source *open_source(const struct regions *g, const char *operand)
{
	struct hrr_source *src;

	if (hrr_source_open(&src, operand, &g->opt, &diag) < 0)
		tool_die_diag(&diag);
	return src;
}

static struct hrr_record *next(struct hrr_source *src)
{
	struct hrr_record *rec;
	int rc = hrr_source_next(src, &rec, &diag);

	if (rc < 0)
		tool_die_diag(&diag);
	return rc > 0 ? rec : NULL;
}

/* --- add and del in a stream --- */

static void put_region(struct regions *g, bool merged, uint32_t p, uint64_t now)
{
	struct hrr_buf b = {0};

	/* With --at it stands where it acts; its time is that place's. */
	if (g->has_at)
		g->region.t = now;
	if (hrr_write_region(&b, merged ? (int64_t)p : -1, &g->region) < 0)
		tool_no_memory();
	tool_write(b.data, b.len);
	hrr_buf_release(&b);
}

static void put_line(const struct hrr_record *rec, struct hrr_buf *line)
{
	if (line->len > 0)
		tool_write(line->data, line->len);
	else
		tool_write(rec->line, rec->len);
	tool_write("\n", 1);
	line->len = 0;
}

static int filter_stream(struct regions *g)
{
	struct hrr_source *src = open_source(g, g->operand);
	struct hrr_filter *filter;
	const struct hrr_filter_options every = {0};
	struct hrr_buf line = {0};
	struct hrr_record *rec, region = {.kind = HRR_REC_REGION};
	bool done = false;
	struct stat st;
	bool live = fstat(STDIN_FILENO, &st) == 0 && !S_ISREG(st.st_mode);

	if (hrr_filter_new(&filter, &every, &diag) < 0)
		tool_die_diag(&diag);
	for (uint64_t now = 0;;) {
		if (live && !hrr_source_ready(src))
			tool_flush();
		rec = next(src);
		if (rec == NULL)
			break;
		bool merged = hrr_json_get(&rec->json, 0, "p") >= 0;
		bool header = rec->kind == HRR_REC_HEADER;
		if (!done && !header && rec->p == 0 && rec->kind != HRR_REC_OTHER) {
			bool here = g->has_at  ? rec->kind == HRR_REC_CALL && rec->seq == g->at
				    : g->has_t ? rec->t != HRR_NO_TIME && rec->t >= g->region.t
					       : true;
			if (here || rec->kind == HRR_REC_END) {
				if (g->has_at && !here)
					tool_die(g->operand, 0, "no call %" PRIu64 " in it", g->at);
				put_region(g, merged, rec->p,
					   rec->t != HRR_NO_TIME && rec->t > now ? rec->t : now);
				region.p = rec->p;
				(void)hrr_filter_record(filter, &region);
				done = true;
			}
		}
		if (rec->t != HRR_NO_TIME && rec->t > now)
			now = rec->t;
		if (hrr_filter_record(filter, rec) < 0)
			tool_no_memory();
		if (header && hrr_source_blobs_path(src, rec->p) != NULL) {
			struct hrr_buf path = {0};
			const char *p = hrr_source_blobs_path(src, rec->p);
			if (hrr_json_put_str(&path, p, strlen(p)) < 0)
				tool_no_memory();
			const struct hrr_edit e = {"blobs", path.data, path.len, HRR_EDIT_LAST};
			if (hrr_record_edit(rec, &e, 1, &line) < 0)
				tool_no_memory();
			hrr_buf_release(&path);
		} else if (rec->kind == HRR_REC_END && hrr_filter_end(filter, rec, &line) < 0) {
			tool_no_memory();
		}
		put_line(rec, &line);
	}
	bool any = tool_say_state(g->operand, src);
	if (!done && any) {
		if (g->has_at)
			tool_die(g->operand, 0, "no call %" PRIu64 " in it", g->at);
		put_region(g, false, 0, 0);
	}
	hrr_filter_free(filter);
	hrr_source_close(src);
	hrr_buf_release(&line);
	return any ? TOOL_YES : TOOL_TROUBLE;
}

/* --- add and del in a sidecar --- */

/* t0 and pid of the stream, and the time of the call --at names. */
static void look_up(struct regions *g, struct hrr_source *src, uint64_t *ret_t0, uint64_t *ret_pid)
{
	struct hrr_record *rec;
	uint64_t now = 0;
	bool header = false, found = !g->has_at;

	*ret_pid = 0;
	while ((!header || !found) && (rec = next(src)) != NULL) {
		if (rec->kind == HRR_REC_HEADER) {
			header = true;
			(void)hrr_json_u64(&rec->json, hrr_json_get(&rec->json, 0, "pid"), ret_pid);
		} else if (!header) {
			break;
		}
		if (rec->t != HRR_NO_TIME && rec->t > now)
			now = rec->t;
		if (g->has_at && rec->kind == HRR_REC_CALL && rec->seq == g->at) {
			g->region.t = now;
			found = true;
		}
	}
	if (!header)
		tool_die(g->archive, 0, "no header: whose memory it would be is not known");
	if (!found)
		tool_die(g->archive, 0, "no call %" PRIu64 " in it", g->at);
	*ret_t0 = hrr_source_t0(src, 0);
}

static int extend_sidecar(struct regions *g)
{
	g->opt.no_sidecars = true;
	struct hrr_source *src = open_source(g, g->archive);
	struct hrr_buf text = {0}, name = {0};
	uint64_t t0, pid;

	if (hrr_source_files(src) > 1)
		tool_die(g->archive, 0, "several processes in it: choose one with --pid");
	if (hrr_source_files(src) == 0)
		tool_die(g->archive, 0, "no process in it");
	const char *folder = hrr_source_sidecar_folder(src);
	if (folder == NULL)
		tool_die(g->archive, 0, "not an archive of ours: it takes no sidecar");
	look_up(g, src, &t0, &pid);

	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		tool_die(folder, 0, "cannot make: %s", strerror(errno));
	int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		tool_die(folder, 0, "cannot open: %s", strerror(errno));
	if (hrr_buf_addf(&name, "%s.jsonl", g->name) < 0 || hrr_buf_str(&name) == NULL)
		tool_no_memory();
	int rc = hrr_file_read(dir, name.data, HRR_SIDECAR_MAX, &text);
	if (rc < 0 && rc != -ENOENT)
		tool_die(folder, 0, "cannot read %s: %s", name.data, strerror(-rc));
	/* The sidecar may have a clock of its own: times are written on it. */
	if (rc == 0 && g->region.t != HRR_NO_TIME) {
		struct hrr_record rec = {0};
		const char *nl = memchr(text.data, '\n', text.len);
		size_t len = nl != NULL ? (size_t)(nl - text.data) : 0, n;
		if (hrr_record_parse(&rec, text.data, len, &diag) < 0)
			tool_die(folder, 0, "cannot extend %s: %s", name.data, diag.what);
		const char *own = hrr_json_raw(&rec.json, hrr_json_get(&rec.json, 0, "t0"), &n);
		char copy[32] = "";
		if (own != NULL && n < sizeof copy)
			memcpy(copy, own, n);
		if (own != NULL && strtoull(copy, NULL, 10) != t0)
			tool_die(folder, 0, "cannot extend %s: its clock is not the stream's",
				 name.data);
		hrr_record_release(&rec);
	}
	if (text.len > 0 && text.data[text.len - 1] != '\n') {
		/* A line cut by a crash is left out by every reader; it must not swallow ours. */
		char *last = memrchr(text.data, '\n', text.len);
		text.len = last != NULL ? (size_t)(last - text.data) + 1 : 0;
	}
	if (text.len == 0 &&
	    hrr_buf_addf(&text,
			 "{\"regions\":1,\"clock\":\"monotonic\",\"resolution\":1,\"t0\":\"%" PRIu64
			 "\",\"pid\":%" PRIu64 "}\n",
			 t0, pid) < 0)
		tool_no_memory();
	if (hrr_write_region(&text, -1, &g->region) < 0)
		tool_no_memory();
	if (hrr_file_replace(dir, name.data, text.data, text.len, 0600, &diag) < 0)
		tool_die(folder, 0, "%s", diag.what);
	close(dir);
	hrr_source_close(src);
	hrr_buf_release(&text);
	hrr_buf_release(&name);
	return TOOL_YES;
}

/* --- ls and check --- */

static void print_time(uint64_t t)
{
	if (t == HRR_NO_TIME)
		tool_print(" -");
	else
		tool_print(" %" PRIu64, t);
}

static int list(struct regions *g)
{
	struct hrr_source *src = open_source(g, g->operand);
	struct hrr_lives *lives = hrr_lives_new();
	struct hrr_record *rec;
	struct hrr_life x;

	if (lives == NULL)
		tool_no_memory();
	while ((rec = next(src)) != NULL)
		if (hrr_lives_record(lives, rec, NULL, NULL, &diag) < 0)
			tool_die(hrr_source_name(src, rec), rec->lineno, "%s", diag.what);
	for (size_t i = 0; i < hrr_lives_count(lives); i++) {
		char tag[1024];
		hrr_lives_at(lives, i, &x);
		tool_print("%s %d 0x%" PRIx64 " %" PRIu64, x.segment ? "segment" : "block",
			   x.device, x.base, x.size);
		print_time(x.from);
		print_time(x.to);
		hrr_mask(tag, sizeof tag, x.tag != NULL ? x.tag : "-",
			 strlen(x.tag != NULL ? x.tag : "-"));
		tool_print(" %s\n", tag);
	}
	bool any = tool_say_state(g->operand, src);
	hrr_lives_free(lives);
	hrr_source_close(src);
	return any ? TOOL_YES : TOOL_TROUBLE;
}

struct checking {
	struct hrr_source *src;
	uint64_t found;
};

static void report(void *self, enum hrr_lives_finding finding, const struct hrr_record *rec,
		   const struct hrr_region *r, const struct hrr_live_region *other)
{
	static const char *const text[] = {
	    [HRR_LIVES_OVERLAP] = "overlaps a live region of its kind",
	    [HRR_LIVES_REPLACED] = "replaces a live region at its base",
	    [HRR_LIVES_NOTHING] = "matches nothing live",
	    [HRR_LIVES_OUTSIDE] = "lies in no live segment and no allocation of HIP",
	    [HRR_LIVES_STRADDLES] = "reaches past the end of what it lies in",
	    [HRR_LIVES_COVERS_HIP] = "covers memory that HIP itself allocated",
	};
	struct checking *c = self;
	char name[512];
	const char *file = hrr_source_name(c->src, rec);

	c->found++;
	hrr_mask(name, sizeof name, file, strlen(file));
	tool_print("%s", name);
	if (rec->lineno > 0)
		tool_print(":%" PRIu64, rec->lineno);
	tool_print(": %s %s 0x%" PRIx64, r->add ? "add" : "del",
		   r->segment ? "segment" : (r->kind_known ? "block" : "region"), r->base);
	if (r->add)
		tool_print(" size %" PRIu64, r->size);
	tool_print(": %s", text[finding]);
	if (other != NULL)
		tool_print(" (0x%" PRIx64 " size %" PRIu64 ")", other->base, other->size);
	tool_print("\n");
}

static int check(struct regions *g)
{
	struct hrr_source *src = open_source(g, g->operand);
	struct hrr_lives *lives = hrr_lives_new();
	struct checking c = {.src = src};
	struct hrr_source_state st;
	struct hrr_record *rec;

	if (lives == NULL)
		tool_no_memory();
	while ((rec = next(src)) != NULL)
		if (hrr_lives_record(lives, rec, report, &c, &diag) < 0) {
			const char *name = hrr_source_name(src, rec);
			if (rec->kind != HRR_REC_REGION)
				tool_die(name, rec->lineno, "%s", diag.what);
			tool_print("%s:%" PRIu64 ": %s\n", name, rec->lineno, diag.what);
			c.found++;
		}
	bool any = tool_say_state(g->operand, src);
	hrr_source_state(src, &st);
	if (st.clock_suspect) {
		tool_print("%s: most regions of a sidecar lie outside the stream: another clock\n",
			   g->operand);
		c.found++;
	}
	hrr_lives_free(lives);
	hrr_source_close(src);
	return !any ? TOOL_TROUBLE : c.found > 0 ? TOOL_NO : TOOL_YES;
}

/* --- whose is it --- */

#define MAX_QUESTIONS 64

static void ask(struct regions *g, struct hrr_question *q, const char *text)
{
	*q = (struct hrr_question){.p = -1};
	if (g->has_at || g->has_t) {
		q->at = g->has_at ? HRR_WHEN_SEQ : HRR_WHEN_TIME;
		q->when = g->has_at ? g->at : g->region.t;
	}
	if (hrr_question_read(q, text, &diag) < 0)
		tool_misuse("%s", diag.what);
}

/* The lines of standard input that ask something. */
static size_t ask_lines(struct regions *g, struct hrr_question *q)
{
	char *line = NULL;
	size_t cap = 0, n = 0;

	while (n < MAX_QUESTIONS && getline(&line, &cap, stdin) > 0)
		if (strstr(line, "0x") != NULL) {
			ask(g, &q[n++], line);
			q[n - 1].p = -1;
		}
	free(line);
	if (n == 0)
		tool_die("-", 0, "no address in any line of it");
	return n;
}

static int explain(struct regions *g)
{
	struct hrr_question q[MAX_QUESTIONS];
	struct hrr_explain *x[MAX_QUESTIONS];
	bool many = strcmp(g->operands[0], "-") == 0, all = true;
	size_t n = 1;

	if (many)
		n = ask_lines(g, q);
	else
		ask(g, &q[0], g->operands[0]);
	for (size_t i = 0; i < n; i++)
		if ((x[i] = hrr_explain_new(&q[i])) == NULL)
			tool_no_memory();
	struct hrr_source *src = open_source(g, g->operand);
	struct hrr_buf b = {0};
	struct hrr_record *rec;
	while ((rec = next(src)) != NULL)
		for (size_t i = 0; i < n; i++)
			if (hrr_explain_record(x[i], rec, hrr_source_from_sidecar(src), &diag) < 0)
				tool_die(hrr_source_name(src, rec), rec->lineno, "%s", diag.what);
	bool any = tool_say_state(g->operand, src);
	for (size_t i = 0; i < n; i++) {
		int rc = any ? hrr_explain_answer(x[i], &b, &diag) : 0;
		if (rc < 0)
			tool_die(g->operand, 0, "%s", diag.what);
		all = all && rc > 0;
		tool_write(b.data, b.len);
		b.len = 0;
		hrr_explain_free(x[i]);
	}
	hrr_source_close(src);
	hrr_buf_release(&b);
	return !any ? TOOL_TROUBLE : all ? TOOL_YES : TOOL_NO;
}

/* --- sidecars of others, and parts of sidecars --- */

static struct hrr_sidecar_place place_of(const struct regions *g)
{
	struct hrr_sidecar_place p;

	if (hrr_sidecar_place(&p, g->archive, &g->opt, &diag) < 0)
		tool_die_diag(&diag);
	return p;
}

static int import(struct regions *g)
{
	struct hrr_torch_options opt = {
	    .end = HRR_NO_TIME, .pid = -1, .frames = (unsigned)g->frames};
	struct hrr_sidecar_place place = {0};
	struct hrr_buf in = {0}, out = {0};
	struct hrr_torch_stats st;
	int rc = hrr_file_read(AT_FDCWD, g->torch, HRR_TORCH_MAX, &in);

	if (rc < 0)
		tool_die(g->torch, 0, "cannot read: %s", strerror(-rc));
	if (g->archive != NULL) {
		place = place_of(g);
		opt.t0 = place.t0;
		opt.realtime = place.realtime;
		opt.end = place.end;
		opt.pid = (int64_t)place.pid;
	}
	if (hrr_torch_import(&out, in.data, in.len, &opt, &st, &diag) < 0)
		tool_die(g->torch, 0, "%s", diag.what);
	in.len = 0;
	if (hrr_torch_warnings(&st, &in) < 0 || hrr_buf_str(&in) == NULL)
		tool_no_memory();
	for (char *line = strtok(in.data, "\n"); line != NULL; line = strtok(NULL, "\n"))
		tool_say(g->torch, 0, "warning: %s", line);
	if (g->archive == NULL)
		tool_write(out.data, out.len);
	else if (hrr_sidecar_put(&place, g->name != NULL ? g->name : "torch", &out, &diag) < 0)
		tool_die_diag(&diag);
	hrr_sidecar_place_release(&place);
	hrr_buf_release(&in);
	hrr_buf_release(&out);
	return TOOL_YES;
}

static void say_hrrr(const struct regions *g, const struct hrr_rrr_stats *st)
{
	if (st->cut)
		tool_say(g->hrrr, 0,
			 "warning: a batch is cut: its %" PRIu64 " records are left out", st->torn);
	if (st->ignored > 0)
		tool_say(g->hrrr, 0, "warning: %" PRIu64 " records of unknown kind are ignored",
			 st->ignored);
	if (st->refused > 0)
		tool_say(g->hrrr, 0, "warning: %" PRIu64 " records are left out: size or device",
			 st->refused);
	if (st->tags > 0)
		tool_say(g->hrrr, 0, "warning: %" PRIu64 " tags are lost: the format has numbers",
			 st->tags);
}

static int import_hrrr(struct regions *g)
{
	struct hrr_sidecar_place place = {0};
	struct hrr_buf in = {0}, out = {0};
	struct hrr_rrr_stats st;
	int rc = hrr_file_read(AT_FDCWD, g->hrrr, HRR_SIDECAR_MAX, &in);

	if (rc < 0)
		tool_die(g->hrrr, 0, "cannot read: %s", strerror(-rc));
	if (g->archive != NULL)
		place = place_of(g);
	if (hrr_rrr_import(&out, in.data, in.len, place.t0,
			   g->archive != NULL ? (int64_t)place.pid : -1, &st, &diag) < 0)
		tool_die(g->hrrr, 0, "%s", diag.what);
	say_hrrr(g, &st);
	if (g->archive == NULL)
		tool_write(out.data, out.len);
	else if (hrr_sidecar_put(&place, g->name != NULL ? g->name : "hrrr", &out, &diag) < 0)
		tool_die_diag(&diag);
	hrr_sidecar_place_release(&place);
	hrr_buf_release(&in);
	hrr_buf_release(&out);
	return TOOL_YES;
}

/* Regions of a stream, as they act, on the clock of its header. */
static int export_hrrr(struct regions *g)
{
	struct hrr_source *src = open_source(g, g->operand);
	struct hrr_rrr_writer w = {0};
	struct hrr_buf out = {0}, tag = {0};
	struct hrr_record *rec;
	struct hrr_region r;
	uint64_t p = UINT64_MAX, t = 0;

	while ((rec = next(src)) != NULL) {
		if (p == UINT64_MAX)
			p = rec->p;
		if (rec->p != p)
			tool_die(g->operand, 0, "several processes: choose one with --pid");
		if (rec->kind == HRR_REC_HEADER) {
			int n = hrr_json_get(&rec->json, 0, "t0");
			tag.len = 0;
			if (n >= 0 && hrr_json_str(&rec->json, n, &tag) == 0 &&
			    hrr_buf_str(&tag) != NULL)
				w.t0 = strtoull(tag.data, NULL, 10);
		}
		if (rec->t != HRR_NO_TIME && rec->t > t)
			t = rec->t;
		if (rec->kind != HRR_REC_REGION)
			continue;
		tag.len = 0;
		if (hrr_region_read(rec, &r, &tag, &diag) < 0)
			tool_die(hrr_source_name(src, rec), rec->lineno, "%s", diag.what);
		if (r.t == HRR_NO_TIME && t > 0 && !hrr_source_from_sidecar(src))
			r.t = t; /* where it stands is when it acts */
		if (hrr_rrr_export_add(&w, &r) < 0)
			tool_no_memory();
	}
	bool any = tool_say_state(g->operand, src);
	say_hrrr(g, &w.stats);
	if (hrr_rrr_export_end(&w, &out) < 0)
		tool_no_memory();
	if (any && hrr_file_replace(AT_FDCWD, g->hrrr, out.data, out.len, 0600, &diag) < 0)
		tool_die_diag(&diag);
	hrr_source_close(src);
	hrr_buf_release(&out);
	hrr_buf_release(&tag);
	return any ? TOOL_YES : TOOL_TROUBLE;
}

static int combine(struct regions *g)
{
	struct hrr_combine_options opt = {
	    .from = g->from, .to = g->to, .base = g->region.base, .size = g->region.size};
	struct hrr_combine_stats st;
	struct hrr_buf out = {0};

	if (g->archive != NULL) {
		struct hrr_sidecar_place p = place_of(g);
		opt.clock = (struct hrr_sidecar_clock){p.t0, p.realtime};
		hrr_sidecar_place_release(&p);
	}
	if (hrr_sidecars_combine(&out, g->n_operands, (const char *const *)g->operands, &opt, &st,
				 &diag) < 0)
		tool_die_diag(&diag);
	if (st.cut)
		tool_say(NULL, 0, "a sidecar's last line is cut: left out");
	tool_write(out.data, out.len);
	hrr_buf_release(&out);
	return TOOL_YES;
}

/* --- lint and map --- */

struct linting {
	struct hrr_source *src;
	struct hrr_buf text;
};

static void say_finding(void *self, const struct hrr_lint_finding *f)
{
	struct linting *l = self;
	const char *name = hrr_source_name(l->src, f->rec);
	char file[512];

	hrr_mask(file, sizeof file, name, strlen(name));
	l->text.len = 0;
	if (hrr_lint_text(f, &l->text) < 0)
		tool_no_memory();
	tool_print("%s:%" PRIu64 ": %.*s\n", file, f->rec->lineno, (int)l->text.len, l->text.data);
}

static int lint(struct regions *g)
{
	struct linting self = {.src = open_source(g, g->operand)};
	struct hrr_source *src = self.src;
	struct hrr_lint *l = hrr_lint_new((int)g->confidence, -1, say_finding, &self);
	struct hrr_lint_stats st;
	struct hrr_record *rec;

	if (l == NULL)
		tool_no_memory();
	while ((rec = next(src)) != NULL) {
		struct hrr_blobs *blobs = rec->kind == HRR_REC_CALL && rec->blobs >= 0
					      ? hrr_source_blobs(src, rec->p, NULL)
					      : NULL;
		if (hrr_lint_record(l, rec, blobs, &diag) < 0)
			tool_die(hrr_source_name(src, rec), rec->lineno, "%s", diag.what);
	}
	bool any = tool_say_state(g->operand, src);
	hrr_lint_stats(l, &st);
	if (st.unread > 0)
		tool_say(g->operand, 0, "warning: %" PRIu64 " payloads could not be read",
			 st.unread);
	hrr_lint_free(l);
	hrr_buf_release(&self.text);
	hrr_source_close(src);
	return !any ? TOOL_TROUBLE : st.found > 0 ? TOOL_NO : TOOL_YES;
}

static int map(struct regions *g)
{
	struct hrr_source *src = open_source(g, g->operand);
	struct hrr_map_options opt = {
	    .title = g->operand, .p = -1, .from = g->from, .to = g->to == HRR_NO_TIME ? 0 : g->to};
	struct hrr_map *m = hrr_map_new(&opt);
	struct hrr_map_stats st;
	struct hrr_record *rec;
	struct hrr_buf b = {0};

	if (m == NULL)
		tool_no_memory();
	while ((rec = next(src)) != NULL)
		if (hrr_map_record(m, rec, &diag) < 0)
			tool_die(hrr_source_name(src, rec), rec->lineno, "%s", diag.what);
	bool any = tool_say_state(g->operand, src);
	if (any && hrr_map_svg(m, &b, &st, &diag) < 0)
		tool_die(g->operand, 0, "%s", diag.what);
	tool_write(b.data, b.len);
	hrr_map_free(m);
	hrr_buf_release(&b);
	hrr_source_close(src);
	return any ? TOOL_YES : TOOL_TROUBLE;
}

/* --- command line --- */

int main(int argc, char **argv)
{
	struct regions g = {
	    .opt = {.pid = -1}, .region = {.t = HRR_NO_TIME}, .to = HRR_NO_TIME, .confidence = 40};

	tool_start("hrr-regions", usage);
	for (int o; (o = tool_option(argc, argv, "a:f:", longs)) != -1;)
		switch (o) {
		case 'a':
			g.archive = optarg;
			break;
		case 'f':
			g.name = optarg;
			if (strchr(optarg, '/') != NULL || optarg[0] == '.' || optarg[0] == '\0')
				tool_misuse("-f: not a plain name: %s", optarg);
			break;
		case OPT_KIND:
			g.region.segment = strcmp(optarg, "segment") == 0;
			g.region.kind_known = true;
			if (!g.region.segment && strcmp(optarg, "block") != 0)
				tool_misuse("--kind: neither segment nor block: %s", optarg);
			break;
		case OPT_BASE:
			g.region.base = tool_address("--base", optarg);
			g.has_base = true;
			break;
		case OPT_SIZE:
			g.region.size = tool_number("--size", optarg);
			g.has_size = true;
			break;
		case OPT_DEVICE: {
			uint64_t v = tool_number("--device", optarg);
			if (v > HRR_REGION_MAX_DEVICE)
				tool_misuse("--device: above %d: %s", HRR_REGION_MAX_DEVICE,
					    optarg);
			g.region.device = (int)v;
			break;
		}
		case OPT_T:
			g.region.t = tool_number("--t", optarg);
			g.has_t = true;
			break;
		case OPT_AT:
			g.at = tool_number("--at", optarg);
			g.has_at = true;
			break;
		case OPT_TAG:
			g.region.tag = optarg;
			g.region.tag_len = strlen(optarg);
			break;
		case OPT_PID:
			g.opt.pid = (int64_t)(tool_number("--pid", optarg) & INT64_MAX);
			break;
		case OPT_TORCH:
			g.torch = optarg;
			break;
		case OPT_HRRR:
			g.hrrr = optarg;
			break;
		case OPT_FRAMES:
			g.frames = tool_number("--frames", optarg);
			if (g.frames > HRR_TORCH_MAX_FRAMES)
				tool_misuse("--frames: above %d: %s", HRR_TORCH_MAX_FRAMES, optarg);
			break;
		case OPT_FROM:
			g.from = tool_number("--from", optarg);
			break;
		case OPT_TO:
			g.to = tool_number("--to", optarg);
			break;
		case OPT_CONFIDENCE:
			g.confidence = tool_number("--confidence", optarg);
			if (g.confidence > 100)
				tool_misuse("--confidence: above 100: %s", optarg);
			break;
		case OPT_SVG:
			g.svg = true;
			break;
		}
	if (optind >= argc)
		tool_misuse("what to do is missing: add, del, ls, check, explain, import, export, "
			    "merge, clip, lint or map");
	const char *command = argv[optind++];
	g.operands = argv + optind;
	g.n_operands = (size_t)(argc - optind);
	g.operand = g.archive != NULL ? g.archive : "-";
	if (strcmp(command, "merge") == 0 || strcmp(command, "clip") == 0) {
		if (g.n_operands == 0)
			tool_misuse("%s needs a sidecar", command);
		if (g.has_base != g.has_size || (g.has_size && g.region.size == 0))
			tool_misuse("--base and --size go together");
		return tool_finish(combine(&g));
	}
	if (strcmp(command, "import") == 0) {
		if ((g.torch == NULL) == (g.hrrr == NULL) || g.n_operands > 0)
			tool_misuse("import takes --torch FILE or --hrrr FILE, and nothing else");
		return tool_finish(g.torch != NULL ? import(&g) : import_hrrr(&g));
	}
	if (strcmp(command, "explain") == 0) {
		if (g.n_operands == 0 || g.n_operands > 2)
			tool_misuse("explain takes a question and an archive");
		if (g.n_operands == 2)
			g.operand = g.operands[1];
		if (strcmp(g.operands[0], "-") == 0 && strcmp(g.operand, "-") == 0)
			tool_misuse("questions and stream cannot both be standard input");
		return tool_finish(explain(&g));
	}
	if (argc - optind > (g.archive != NULL ? 0 : 1))
		tool_misuse("too many operands");
	if (optind < argc)
		g.operand = argv[optind];
	if (strcmp(command, "lint") == 0)
		return tool_finish(lint(&g));
	if (strcmp(command, "map") == 0) {
		if (!g.svg)
			tool_misuse("map needs --svg");
		return tool_finish(map(&g));
	}
	if (strcmp(command, "export") == 0) {
		if (g.hrrr == NULL)
			tool_misuse("export needs --hrrr FILE");
		return tool_finish(export_hrrr(&g));
	}
	if (strcmp(command, "ls") == 0 || strcmp(command, "check") == 0) {
		return tool_finish(command[0] == 'l' ? list(&g) : check(&g));
	}
	if (g.archive != NULL)
		g.operand = "-";
	if (g.name == NULL)
		g.name = "added";
	g.region.add = strcmp(command, "add") == 0;
	if (!g.region.add && strcmp(command, "del") != 0)
		tool_misuse("no such thing to do: %s", command);
	if (!g.has_base || (g.region.add && (!g.has_size || !g.region.kind_known)))
		tool_misuse(g.region.add ? "add needs --kind, --base and --size"
					 : "del needs --base");
	if (!g.region.add && !g.has_t && !g.has_at)
		tool_misuse("del needs --t or --at");
	if (g.has_t && g.has_at)
		tool_misuse("--t and --at exclude each other");
	if (g.region.add && (g.region.size == 0 || g.region.size > HRR_REGION_MAX ||
			     g.region.base > UINT64_MAX - (g.region.size - 1)))
		tool_misuse("--size: not from 1 to 2^47, or past the end of the address space");
	return tool_finish(g.archive != NULL ? extend_sidecar(&g) : filter_stream(&g));
}
