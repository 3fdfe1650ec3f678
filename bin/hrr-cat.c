#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bin/cat.h"
#include "bin/tool.h"
#include "bin/tool_source.h"
#include "formats/hrr/export.h"
#include "lib/hip/slice.h"
#include "lib/store/export.h"
#include "lib/store/info.h"
#include "lib/store/verify.h"
#include "lib/stream/edit.h"
#include "lib/stream/tail.h"
#include "lib/stream/view.h"

struct cat {
	struct hrr_source *src;
	struct hrr_filter *filter;
	struct hrr_tail *tail; /* --last */
	/* Where records go: one of these, or standard output. */
	struct hrr_export *export;
	struct hrr_hrr8 *hrr8;
	struct hrr_view *view;
	struct hrr_info *info;
	struct hrr_verify *verify;
	bool count, live, repair;
	const char *operand;
	struct hrr_buf line; /* an edited line, or a view's text */
	struct hrr_buf end;  /* an end record with the counts of what is shown */
	struct hrr_record edited;
};

static struct hrr_diag diag;

/* Nothing half-made stays behind. */
static void undo(void *self)
{
	struct cat *c = self;

	hrr_hrr8_close(c->hrr8);
	hrr_export_free(c->export);
}

/* --- where a record goes --- */

/* None when there is no such folder: its blobs are missing then. */
static struct hrr_blobs *blobs_of(void *self, uint32_t p)
{
	struct cat *c = self;
	struct hrr_blobs *store = hrr_source_blobs(c->src, p, &diag);
	const char *path = hrr_source_blobs_path(c->src, p);

	if (store == NULL && path != NULL && access(path, F_OK) == 0)
		tool_die_diag(&diag);
	return store;
}

static void say_lost(void *self, const char *text)
{
	tool_say(self, 0, "%s", text);
}

static void say_repair(void *self, const char *what, const struct hrr_diag *d)
{
	(void)self;
	tool_say(d->operand, d->line, "%s: %s", d->what, what);
}

static void put_hrr8(struct cat *c, const struct hrr_record *rec, const char *line, size_t len)
{
	if (line != NULL) { /* it was edited */
		if (hrr_record_parse(&c->edited, line, len, &diag) < 0)
			tool_die_diag(&diag);
		rec = &c->edited;
	}
	if (hrr_hrr8_record(c->hrr8, rec, hrr_source_from_sidecar(c->src), blobs_of, c, &diag) < 0)
		tool_die_diag(&diag);
}

static void put(struct cat *c, const struct hrr_record *rec, const char *line, size_t len)
{
	if (c->hrr8 != NULL) {
		put_hrr8(c, rec, line, len);
		return;
	}
	if (c->export != NULL) {
		if (hrr_export_record(c->export, c->src, rec, line, len, &diag) < 0)
			tool_die_diag(&diag);
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

/* Of an end record: what it says of that which was selected. */
static const struct hrr_record *end_of(struct cat *c, const struct hrr_record *rec)
{
	c->end.len = 0;
	if (hrr_filter_end(c->filter, rec, &c->end) < 0)
		tool_no_memory();
	if (hrr_record_parse(&c->edited, c->end.data, c->end.len, &diag) < 0)
		tool_die_diag(&diag);
	c->edited.p = rec->p;
	c->edited.lineno = rec->lineno;
	return &c->edited;
}

static int put_record(void *self, const struct hrr_record *rec)
{
	struct cat *c = self;
	int rc = 0;

	if (c->count)
		return 0;
	c->line.len = 0;
	if (rec->kind == HRR_REC_END && (c->info != NULL || c->view != NULL))
		rec = end_of(c, rec);
	if (c->info != NULL) {
		rc = hrr_info_record(c->info, rec);
	} else if (c->view != NULL || c->verify != NULL) {
		rc = c->view != NULL ? hrr_view_record(c->view, rec, &c->line)
				     : hrr_verify_record(c->verify, c->src, rec, &c->line, &diag);
		if (rc < 0 && c->verify != NULL)
			tool_die_diag(&diag);
		tool_write(c->line.data, c->line.len);
	} else if (rec->kind == HRR_REC_HEADER) {
		put_header(c, rec);
	} else if (rec->kind == HRR_REC_END) {
		rc = hrr_filter_end(c->filter, rec, &c->line);
		if (rc == 0)
			put(c, rec, c->line.data, c->line.len);
	} else {
		put(c, rec, NULL, 0);
	}
	if (rc == -ENOMEM)
		tool_no_memory();
	return rc;
}

/* --- the loop --- */

static void end_view(struct cat *c)
{
	c->line.len = 0;
	if (hrr_view_end(c->view, &c->line) < 0)
		tool_no_memory();
	tool_write(c->line.data, c->line.len);
}

static void cat(struct cat *c)
{
	struct hrr_record *rec;
	uint64_t n = 0;
	bool any = false;
	int rc;

	for (;;) {
		if (c->live && !hrr_source_ready(c->src))
			tool_flush();
		rc = hrr_source_next(c->src, &rec, &diag);
		if (rc == -EINVAL && c->repair) {
			hrr_export_repaired(c->export, "a line was left out", &diag);
			continue;
		}
		if (rc <= 0)
			break;
		any = true;
		if (c->verify != NULL && ++n % 4096 == 0)
			tool_progress("records", n, 0);
		int keep = hrr_filter_record(c->filter, rec);
		if (keep < 0)
			tool_no_memory();
		if (keep == 0)
			continue;
		rc = c->tail != NULL ? hrr_tail_record(c->tail, rec) : put_record(c, rec);
		if (rc == -ENOMEM)
			tool_no_memory();
	}
	if (rc < 0) {
		/* What was shown up to there stays readable: a timeline is one JSON value. */
		if (c->view != NULL && any)
			end_view(c);
		tool_die_diag(&diag);
	}
	if (c->tail != NULL && hrr_tail_end(c->tail) < 0)
		tool_no_memory();
}

static bool in_slice(void *self, const struct hrr_record *rec)
{
	return hrr_slice_keeps(self, rec);
}

static void show_bytes(void *self, uint64_t bytes, uint64_t of)
{
	(void)self;
	tool_progress("MiB of blobs", bytes >> 20, of >> 20);
}

/* --- what remains at the end --- */

static int end_verify(struct cat *c, bool whole_stream)
{
	struct hrr_verify_sum sum;
	struct hrr_source_state st;

	c->line.len = 0;
	if (whole_stream && hrr_verify_orphans(c->verify, c->src, &c->line, &diag) < 0)
		tool_die_diag(&diag);
	tool_write(c->line.data, c->line.len);
	hrr_verify_sum(c->verify, &sum);
	hrr_source_state(c->src, &st);
	tool_print("%llu blobs, %llu bytes: %llu missing, %llu damaged, %llu orphaned, "
		   "%llu records broken; stream %s\n",
		   (unsigned long long)sum.blobs, (unsigned long long)sum.bytes,
		   (unsigned long long)sum.missing, (unsigned long long)sum.damaged,
		   (unsigned long long)sum.orphaned, (unsigned long long)sum.uses,
		   hrr_source_word(&st));
	bool whole = st.has_end && st.counts_fit && !st.cut_line && !st.ended_cut;
	return sum.missing || sum.damaged || sum.orphaned || !whole ? TOOL_NO : TOOL_YES;
}

static void end_export(struct cat *c, const struct cat_options *o)
{
	struct hrr_source_state st;

	hrr_source_state(c->src, &st);
	bool whole = st.has_end && !st.ended_cut && !st.cut_line;
	cat_arch_end(&o->arch);
	if (hrr_export_finish(c->export, whole ? "complete" : "cut", &diag) < 0)
		tool_die_diag(&diag);
	if (o->export.redact)
		tool_say(
		    NULL, 0,
		    "payloads are replaced; the archive still tells: command lines and "
		    "environment, process and thread numbers, times, names and code of kernels, "
		    "kernel arguments and other values, addresses, sizes, which payloads are "
		    "equal, tags of regions");
}

static int end(struct cat *c, const struct cat_options *o, bool whole_stream)
{
	bool any = tool_say_state(c->operand, c->src);
	int code = any ? TOOL_YES : TOOL_TROUBLE;

	if (c->count)
		tool_print("%llu\n",
			   (unsigned long long)(c->tail != NULL ? hrr_tail_calls(c->tail)
								: hrr_filter_calls(c->filter)));
	if (c->view != NULL && any)
		end_view(c);
	if (c->verify != NULL && any)
		code = end_verify(c, whole_stream);
	if (c->hrr8 != NULL && any && hrr_hrr8_finish(c->hrr8, &diag) < 0)
		tool_die_diag(&diag);
	if (c->export != NULL && any)
		end_export(c, o);
	return code;
}

int main(int argc, char **argv)
{
	struct cat_options o;
	struct cat c = {0};
	struct stat st;

	cat_options(argc, argv, &o);
	if (o.mode == CAT_PACK || o.mode == CAT_UNPACK) {
		int code = o.mode == CAT_PACK ? cat_pack(o.operand) : cat_unpack(o.operand, o.out);

		cat_options_release(&o);
		return tool_finish(code);
	}
	c.operand = o.operand;
	c.count = o.count;
	c.repair = o.export.repair;
	o.export.report = say_repair;
	if (o.arch.name != NULL) {
		o.export.code = cat_code_for;
		o.export.code_self = &o.arch;
	}

	const struct hrr_view_options view = {.to = UINT64_MAX,
					      .mask = isatty(STDOUT_FILENO) == 1,
					      .demangle = o.names ? cat_demangle : NULL};
	if (o.mode == CAT_INFO && (c.info = hrr_info_new()) == NULL)
		tool_no_memory();
	const bool whole_stream = o.filter.n_selectors == 0 && o.filter.first == 0 && o.last == 0 &&
				  o.n_slices == 0 && o.source.pid < 0;
	const struct hrr_verify_options verify = {.all = whole_stream, .progress = show_bytes};
	if (o.mode == CAT_VERIFY && (c.verify = hrr_verify_new(&verify)) == NULL)
		tool_no_memory();
	if (o.mode == CAT_TEXT || o.mode == CAT_CSV || o.mode == CAT_TIMELINE) {
		c.view = hrr_view_new(o.mode == CAT_TEXT  ? HRR_VIEW_TEXT
				      : o.mode == CAT_CSV ? HRR_VIEW_CSV
							  : HRR_VIEW_TIMELINE,
				      &view);
		if (c.view == NULL)
			tool_no_memory();
	}
	struct hrr_slice *sliced = NULL;
	if (o.n_slices > 0) {
		sliced = cat_slice(&o);
		o.last = o.filter.first = 0; /* of what was sliced by */
		o.filter.keep = in_slice;
		o.filter.self = sliced;
	}
	if (hrr_filter_new(&c.filter, &o.filter, &diag) < 0)
		tool_die(NULL, 0, "%s", diag.what);
	if (o.last > 0 && hrr_tail_new(&c.tail, o.last, c.filter, put_record, &c) < 0)
		tool_no_memory();
	if (hrr_source_open(&c.src, c.operand, &o.source, &diag) < 0)
		tool_die_diag(&diag);
	tool_before_death(undo, &c);
	struct hrr_hrr8_options lost = {say_lost, (void *)(uintptr_t)c.operand};
	if (o.hrr8 && hrr_hrr8_open(&c.hrr8, o.out, &lost, &diag) < 0)
		tool_die_diag(&diag);
	if (o.out != NULL && !o.hrr8 &&
	    (hrr_export_new(&c.export, o.out, &diag) < 0 ||
	     hrr_export_set(c.export, &o.export, &diag) < 0))
		tool_die_diag(&diag);
	/* A pipe may be the live end of a recording: what came is handed on before we wait. */
	c.live = strcmp(c.operand, "-") == 0
		     ? fstat(STDIN_FILENO, &st) < 0 || !S_ISREG(st.st_mode)
		     : o.source.follow || (stat(c.operand, &st) == 0 && S_ISFIFO(st.st_mode));
	/* Printed or counted, a call's members are looked at by nobody but a selector. */
	if (c.export == NULL && c.hrr8 == NULL && c.view == NULL && c.info == NULL &&
	    c.verify == NULL)
		hrr_source_heads_only(c.src, !hrr_filter_heads_only(c.filter));
	cat(&c);

	int code = end(&c, &o, whole_stream);
	if (c.info != NULL) {
		c.line.len = 0;
		if (hrr_info_text(c.info, c.src, c.operand, view.demangle, NULL, &c.line) < 0)
			tool_no_memory();
		tool_write(c.line.data, c.line.len);
	}
	tool_before_death(NULL, NULL);
	hrr_export_free(c.export);
	hrr_hrr8_close(c.hrr8);
	hrr_view_free(c.view);
	hrr_info_free(c.info);
	hrr_verify_free(c.verify);
	hrr_tail_free(c.tail);
	hrr_slice_free(sliced);
	hrr_filter_free(c.filter);
	hrr_source_close(c.src);
	hrr_record_release(&c.edited);
	hrr_buf_release(&c.line);
	hrr_buf_release(&c.end);
	cat_options_release(&o);
	return tool_finish(code);
}
