/* hrr-regions add and del: one record, into a stream on its way or into a sidecar. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bin/regions.h"
#include "lib/store/file.h"
#include "lib/store/sidecar.h"
#include "lib/stream/edit.h"
#include "lib/stream/filter.h"

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

int regions_filter(struct regions *g)
{
	struct hrr_source *src = regions_open(g, g->operand);
	struct hrr_filter *filter;
	const struct hrr_filter_options every = {0};
	struct hrr_buf line = {0};
	struct hrr_record *rec, region = {.kind = HRR_REC_REGION};
	bool done = false;
	struct stat st;
	bool live = fstat(STDIN_FILENO, &st) == 0 && !S_ISREG(st.st_mode);

	if (hrr_filter_new(&filter, &every, &regions_diag) < 0)
		tool_die_diag(&regions_diag);
	for (uint64_t now = 0;;) {
		if (live && !hrr_source_ready(src))
			tool_flush();
		rec = regions_next(src);
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
				if (hrr_filter_record(filter, &region) < 0)
					tool_no_memory();
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
	while ((!header || !found) && (rec = regions_next(src)) != NULL) {
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

int regions_extend(struct regions *g)
{
	g->opt.no_sidecars = true;
	struct hrr_source *src = regions_open(g, g->archive);
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
		tool_die(folder, 0, "cannot read %s: %s", name.data, hrr_file_why(rc));
	/* The sidecar may have a clock of its own: times are written on it. */
	if (rc == 0 && g->region.t != HRR_NO_TIME) {
		struct hrr_record rec = {0};
		const char *nl = memchr(text.data, '\n', text.len);
		size_t len = nl != NULL ? (size_t)(nl - text.data) : 0, n;
		if (hrr_record_parse(&rec, text.data, len, &regions_diag) < 0)
			tool_die(folder, 0, "cannot extend %s: %s", name.data, regions_diag.what);
		const char *own = hrr_json_raw(&rec.json, hrr_json_get(&rec.json, 0, "t0"), &n);
		char copy[32] = "";
		if (own != NULL && n < sizeof copy)
			memcpy(copy, own, n);
		uint64_t zero = own != NULL ? strtoull(copy, NULL, 10) : t0;
		if (own != NULL && zero != t0 &&
		    hrr_json_is(&rec.json, hrr_json_get(&rec.json, 0, "clock"), "realtime"))
			tool_die(folder, 0, "cannot extend %s: its clock is not the stream's",
				 name.data);
		/* Of one clock, counted from elsewhere. */
		if (zero > t0 && g->region.t < zero - t0)
			tool_die(folder, 0, "cannot extend %s: its clock begins later", name.data);
		g->region.t += t0 - zero;
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
	if (hrr_file_replace(dir, name.data, text.data, text.len, 0600, &regions_diag) < 0)
		tool_die(folder, 0, "%s", regions_diag.what);
	close(dir);
	hrr_source_close(src);
	hrr_buf_release(&text);
	hrr_buf_release(&name);
	return TOOL_YES;
}
