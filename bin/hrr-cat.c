#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bin/tool.h"
#include "bin/tool_source.h"
#include "formats/hrr/export.h"
#include "lib/store/export.h"
#include "lib/stream/edit.h"
#include "lib/stream/filter.h"

static const char usage[] =
    "usage: hrr-cat [-cqx] [-b DIR] [-e EXPR]... [-o DIR] [--first N] [--format NAME]\n"
    "               [--last N] [--pid PID] [--regions FILE]... [--no-sidecars]\n"
    "               [ARCHIVE]\n"
    "\n"
    "Prints the event stream of an archive, of one process's folder or of a file,\n"
    "or of standard input: one JSON object a line.\n"
    "\n"
    "  -b DIR          the blobs are in DIR, whatever the stream says\n"
    "  -c              print only how many calls were selected\n"
    "  -e EXPR         only calls that EXPR selects, with their outputs (hrr(7),\n"
    "                  SELECTORS); more than once: any of them\n"
    "  -o DIR          write an archive instead of printing\n"
    "  -q              no progress\n"
    "  -x              only calls that are not selected\n"
    "  --first N       only the first N calls selected\n"
    "  --format NAME   of the archive -o writes: jsonl, ours (the default), or hrr8,\n"
    "                  upstream HRR version 8; what that cannot hold is said\n"
    "  --last N        only the last N calls selected\n"
    "  --pid PID       only the process PID\n"
    "  --regions FILE  one more sidecar, for the first process\n"
    "  --no-sidecars   leave out the archive's own sidecars\n"
    "  -h, --version   this text; the version\n";

enum { OPT_FIRST = 256, OPT_FORMAT, OPT_LAST, OPT_PID, OPT_REGIONS, OPT_NO_SIDECARS };

static const struct option longs[] = {
    {"first", required_argument, NULL, OPT_FIRST},
    {"format", required_argument, NULL, OPT_FORMAT},
    {"last", required_argument, NULL, OPT_LAST},
    {"pid", required_argument, NULL, OPT_PID},
    {"regions", required_argument, NULL, OPT_REGIONS},
    {"no-sidecars", no_argument, NULL, OPT_NO_SIDECARS},
    {0},
};

/* A line that waits until it is known whether its call is among the last. */
struct waiting {
	enum hrr_record_kind kind;
	uint32_t p;
	uint64_t seq;
	size_t off, len;
};

struct cat {
	struct hrr_source *src;
	struct hrr_filter *filter;
	struct hrr_export *export;
	struct hrr_hrr8 *hrr8; /* or this one */
	bool count, live;
	uint64_t last;
	struct hrr_buf line;	       /* an edited line */
	struct hrr_buf queue, text;    /* --last: struct waiting and their lines */
	size_t queue_from, calls_held; /* first in the queue; calls in it */
	struct hrr_seqs *dropped;
	struct hrr_record again, edited;
};

static struct hrr_diag diag;

/* --- where a line goes --- */

static struct hrr_blobs *blobs_of(void *self, uint32_t p)
{
	return hrr_source_blobs(self, p, NULL);
}

static void say_lost(void *self, const char *text)
{
	tool_say(self, 0, "%s", text);
}

static void put_hrr8(struct cat *c, const struct hrr_record *rec, const char *line, size_t len)
{
	if (line != NULL) { /* it was edited */
		if (hrr_record_parse(&c->edited, line, len, &diag) < 0)
			tool_die_diag(&diag);
		rec = &c->edited;
	}
	if (hrr_hrr8_record(c->hrr8, rec, hrr_source_from_sidecar(c->src), blobs_of, c->src,
			    &diag) < 0) {
		hrr_hrr8_close(c->hrr8);
		tool_die_diag(&diag);
	}
}

static void put(struct cat *c, const struct hrr_record *rec, const char *line, size_t len)
{
	if (c->count)
		return;
	if (c->hrr8 != NULL) {
		put_hrr8(c, rec, line, len);
		return;
	}
	if (c->export != NULL) {
		if (hrr_export_record(c->export, c->src, rec, line, len, &diag) < 0) {
			hrr_export_free(c->export);
			tool_die_diag(&diag);
		}
		return;
	}
	tool_write(line != NULL ? line : rec->line, line != NULL ? len : rec->len);
	tool_write("\n", 1);
}

/* In a pipe a relative path would point from nowhere. */
static void put_header(struct cat *c, const struct hrr_record *rec)
{
	const char *path = hrr_source_blobs_path(c->src, rec->p);
	struct hrr_buf value = {0};

	if (c->export != NULL || c->hrr8 != NULL || path == NULL) {
		put(c, rec, NULL, 0);
		return;
	}
	if (hrr_json_put_str(&value, path, strlen(path)) < 0)
		tool_no_memory();
	const struct hrr_edit e = {"blobs", value.data, value.len, HRR_EDIT_LAST};
	c->line.len = 0;
	if (hrr_record_edit(rec, &e, 1, &c->line) < 0)
		tool_no_memory();
	hrr_buf_release(&value);
	put(c, rec, c->line.data, c->line.len);
}

static void put_end(struct cat *c, const struct hrr_record *rec)
{
	c->line.len = 0;
	if (hrr_filter_end(c->filter, rec, &c->line) < 0)
		tool_no_memory();
	put(c, rec, c->line.data, c->line.len);
}

/* --- --last: lines wait in a queue from the first call that may be among the last --- */

static struct waiting *at(struct cat *c, size_t i)
{
	return &((struct waiting *)(void *)c->queue.data)[i];
}

static size_t queued(const struct cat *c)
{
	return c->queue.len / sizeof(struct waiting);
}

static void put_waiting(struct cat *c, const struct waiting *w)
{
	if (hrr_record_parse(&c->again, c->text.data + w->off, w->len, &diag) < 0)
		tool_die_diag(&diag); /* it was parsed before */
	if (w->kind == HRR_REC_HEADER)
		put_header(c, &c->again);
	else if (w->kind == HRR_REC_END)
		put_end(c, &c->again);
	else
		put(c, &c->again, NULL, 0);
}

static void drop_oldest_call(struct cat *c)
{
	bool dropped = false;

	for (; c->queue_from < queued(c); c->queue_from++) {
		struct waiting *w = at(c, c->queue_from);
		if (w->kind == HRR_REC_CALL) {
			if (dropped)
				break;
			dropped = true;
			c->calls_held--;
			hrr_filter_take_back(c->filter, w->kind, w->p);
			if (hrr_seqs_add(c->dropped, w->p, w->seq) < 0)
				tool_no_memory();
		} else if (w->kind == HRR_REC_OUTPUT && hrr_seqs_has(c->dropped, w->p, w->seq)) {
			hrr_filter_take_back(c->filter, w->kind, w->p);
		} else {
			put_waiting(c, w);
		}
	}
	/* Move what is left to the front when half of the memory is spent. */
	if (c->queue_from > 0 && c->queue_from * 2 >= queued(c)) {
		size_t base = c->queue_from < queued(c) ? at(c, c->queue_from)->off : c->text.len;
		size_t rest = queued(c) - c->queue_from;
		if (rest > 0)
			memmove(at(c, 0), at(c, c->queue_from), rest * sizeof(struct waiting));
		c->queue.len = rest * sizeof(struct waiting);
		memmove(c->text.data, c->text.data + base, c->text.len - base);
		c->text.len -= base;
		for (size_t i = 0; i < rest; i++)
			at(c, i)->off -= base;
		c->queue_from = 0;
	}
}

static void wait_in_line(struct cat *c, const struct hrr_record *rec)
{
	struct waiting w = {
	    .kind = rec->kind, .p = rec->p, .seq = rec->seq, .off = c->text.len, .len = rec->len};

	if (rec->kind == HRR_REC_OUTPUT && hrr_seqs_has(c->dropped, rec->p, rec->seq)) {
		hrr_filter_take_back(c->filter, rec->kind, rec->p);
		return;
	}
	if (hrr_buf_add(&c->text, rec->line, rec->len) < 0 ||
	    hrr_buf_add(&c->queue, &w, sizeof w) < 0)
		tool_no_memory();
	if (rec->kind == HRR_REC_CALL && ++c->calls_held > c->last)
		drop_oldest_call(c);
}

static void end_waiting(struct cat *c)
{
	for (size_t i = c->queue_from; i < queued(c); i++) {
		struct waiting w = *at(c, i);
		if (w.kind == HRR_REC_OUTPUT && hrr_seqs_has(c->dropped, w.p, w.seq))
			continue; /* counted when it was queued: its call went later */
		put_waiting(c, &w);
	}
}

/* Outputs of dropped calls that still wait must not be in the counts of the end records. */
static void settle_waiting(struct cat *c)
{
	for (size_t i = c->queue_from; i < queued(c); i++) {
		struct waiting *w = at(c, i);
		if (w->kind == HRR_REC_OUTPUT && hrr_seqs_has(c->dropped, w->p, w->seq))
			hrr_filter_take_back(c->filter, w->kind, w->p);
	}
}

/* --- the loop --- */

static void cat(struct cat *c)
{
	struct hrr_record *rec;
	int rc;

	for (;;) {
		if (c->live && !hrr_source_ready(c->src))
			tool_flush();
		rc = hrr_source_next(c->src, &rec, &diag);
		if (rc <= 0)
			break;
		int keep = hrr_filter_record(c->filter, rec);
		if (keep < 0)
			tool_no_memory();
		if (keep == 0)
			continue;
		if (c->last > 0)
			wait_in_line(c, rec);
		else if (rec->kind == HRR_REC_HEADER)
			put_header(c, rec);
		else if (rec->kind == HRR_REC_END)
			put_end(c, rec);
		else
			put(c, rec, NULL, 0);
	}
	if (rc < 0) {
		hrr_hrr8_close(c->hrr8);
		hrr_export_free(c->export);
		tool_die_diag(&diag);
	}
	if (c->last > 0) {
		settle_waiting(c);
		end_waiting(c);
	}
}

int main(int argc, char **argv)
{
	struct hrr_source_options opt = {.pid = -1};
	struct hrr_filter_options filter = {0};
	struct cat c = {0};
	const char **selectors = calloc((size_t)argc, sizeof *selectors);
	const char **sidecars = calloc((size_t)argc, sizeof *sidecars);
	const char *out = NULL;
	bool hrr8 = false;
	struct stat st;

	tool_start("hrr-cat", usage);
	if (selectors == NULL || sidecars == NULL)
		tool_no_memory();
	filter.selectors = selectors;
	opt.sidecars = sidecars;
	for (int o; (o = tool_option(argc, argv, "b:ce:o:qx", longs)) != -1;)
		switch (o) {
		case 'b':
			opt.blobs = optarg;
			break;
		case 'c':
			c.count = true;
			break;
		case 'e':
			selectors[filter.n_selectors++] = optarg;
			break;
		case 'o':
			out = optarg;
			break;
		case 'q':
			tool_quiet();
			break;
		case 'x':
			filter.exclude = true;
			break;
		case OPT_FIRST:
			filter.first = tool_number("--first", optarg);
			if (filter.first == 0)
				tool_misuse("--first: not a number above 0: %s", optarg);
			break;
		case OPT_FORMAT:
			hrr8 = strcmp(optarg, "hrr8") == 0;
			if (!hrr8 && strcmp(optarg, "jsonl") != 0)
				tool_misuse("--format: neither jsonl nor hrr8: %s", optarg);
			break;
		case OPT_LAST:
			c.last = tool_number("--last", optarg);
			if (c.last == 0)
				tool_misuse("--last: not a number above 0: %s", optarg);
			break;
		case OPT_PID:
			opt.pid = (int64_t)(tool_number("--pid", optarg) & INT64_MAX);
			break;
		case OPT_REGIONS:
			sidecars[opt.n_sidecars++] = optarg;
			break;
		case OPT_NO_SIDECARS:
			opt.no_sidecars = true;
			break;
		}
	if (argc - optind > 1)
		tool_misuse("one archive or stream at a time");
	if (filter.exclude && filter.n_selectors == 0)
		tool_misuse("-x needs -e");
	if (filter.first > 0 && c.last > 0)
		tool_misuse("--first and --last exclude each other");
	if (hrr8 && out == NULL)
		tool_misuse("--format needs -o");
	if (c.count && out != NULL)
		tool_misuse("-c and -o exclude each other");
	const char *operand = argc > optind ? argv[optind] : "-";

	if (hrr_filter_new(&c.filter, &filter, &diag) < 0)
		tool_die(NULL, 0, "%s", diag.what);
	c.dropped = hrr_seqs_new();
	if (c.dropped == NULL)
		tool_no_memory();
	if (hrr_source_open(&c.src, operand, &opt, &diag) < 0)
		tool_die_diag(&diag);
	struct hrr_hrr8_options lost = {say_lost, (void *)(uintptr_t)operand};
	if (hrr8 && hrr_hrr8_open(&c.hrr8, out, &lost, &diag) < 0)
		tool_die_diag(&diag);
	if (out != NULL && !hrr8 && hrr_export_new(&c.export, out, &diag) < 0)
		tool_die_diag(&diag);
	/* A pipe may be the live end of a recording: what came is handed on before we wait. */
	c.live = strcmp(operand, "-") == 0 ? fstat(STDIN_FILENO, &st) < 0 || !S_ISREG(st.st_mode)
					   : stat(operand, &st) == 0 && S_ISFIFO(st.st_mode);
	cat(&c);

	bool any = tool_say_state(operand, c.src);
	if (c.count)
		tool_print("%llu\n", (unsigned long long)(c.last > 0 ? c.calls_held
								     : hrr_filter_calls(c.filter)));
	if (c.hrr8 != NULL && any && hrr_hrr8_finish(c.hrr8, &diag) < 0) {
		hrr_hrr8_close(c.hrr8);
		tool_die_diag(&diag);
	}
	if (c.export != NULL && any) {
		struct hrr_source_state state;
		hrr_source_state(c.src, &state);
		bool whole = state.has_end && !state.ended_cut && !state.cut_line;
		if (hrr_export_finish(c.export, whole ? "complete" : "cut", &diag) < 0) {
			hrr_export_free(c.export);
			tool_die_diag(&diag);
		}
	}
	hrr_export_free(c.export);
	hrr_hrr8_close(c.hrr8);
	hrr_filter_free(c.filter);
	hrr_seqs_free(c.dropped);
	hrr_source_close(c.src);
	hrr_record_release(&c.again);
	hrr_record_release(&c.edited);
	hrr_buf_release(&c.line);
	hrr_buf_release(&c.queue);
	hrr_buf_release(&c.text);
	free(selectors);
	free(sidecars);
	return tool_finish(any ? TOOL_YES : TOOL_TROUBLE);
}
