/* hrr-regions import, export, merge and clip: whole sidecars, ours and others'. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bin/regions.h"
#include "formats/hrrr/sidecar.h"
#include "formats/torch/torch.h"
#include "lib/region/combine.h"
#include "lib/region/place.h"
#include "lib/store/file.h"
#include "lib/store/sidecar.h"

static struct hrr_sidecar_place place_of(const struct regions *g)
{
	struct hrr_sidecar_place p;

	if (hrr_sidecar_place(&p, g->archive, &g->opt, &regions_diag) < 0)
		tool_die_diag(&regions_diag);
	return p;
}

/* Lines of regions, to standard output or into the archive; releases both. */
static void deliver(const struct regions *g, const char *name, struct hrr_sidecar_place *place,
		    struct hrr_buf *lines)
{
	if (g->archive == NULL)
		tool_write(lines->data, lines->len);
	else if (hrr_sidecar_put(place, g->name != NULL ? g->name : name, lines, &regions_diag) < 0)
		tool_die_diag(&regions_diag);
	hrr_sidecar_place_release(place);
	hrr_buf_release(lines);
}

static int import_torch(struct regions *g)
{
	struct hrr_torch_options opt = {
	    .end = HRR_NO_TIME, .pid = -1, .frames = (unsigned)g->frames};
	struct hrr_sidecar_place place = {0};
	struct hrr_buf in = {0}, out = {0};
	struct hrr_torch_stats st;
	int rc = hrr_operand_read(g->torch, HRR_TORCH_MAX, &in);

	if (rc < 0)
		tool_die(g->torch, 0, "cannot read: %s", strerror(-rc));
	if (g->archive != NULL) {
		place = place_of(g);
		opt.t0 = place.t0;
		opt.realtime = place.realtime;
		opt.end = place.end;
		opt.pid = (int64_t)place.pid;
	}
	if (hrr_torch_import(&out, in.data, in.len, &opt, &st, &regions_diag) < 0)
		tool_die(g->torch, 0, "%s", regions_diag.what);
	in.len = 0;
	if (hrr_torch_warnings(&st, &in) < 0 || hrr_buf_str(&in) == NULL)
		tool_no_memory();
	for (char *line = strtok(in.data, "\n"); line != NULL; line = strtok(NULL, "\n"))
		tool_say(g->torch, 0, "warning: %s", line);
	deliver(g, "torch", &place, &out);
	hrr_buf_release(&in);
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
	int rc = hrr_operand_read(g->hrrr, HRR_SIDECAR_MAX, &in);

	if (rc < 0)
		tool_die(g->hrrr, 0, "cannot read: %s", strerror(-rc));
	if (g->archive != NULL)
		place = place_of(g);
	if (hrr_rrr_import(&out, in.data, in.len, place.t0,
			   g->archive != NULL ? (int64_t)place.pid : -1, &st, &regions_diag) < 0)
		tool_die(g->hrrr, 0, "%s", regions_diag.what);
	say_hrrr(g, &st);
	deliver(g, "hrrr", &place, &out);
	hrr_buf_release(&in);
	return TOOL_YES;
}

int regions_import(struct regions *g)
{
	return g->torch != NULL ? import_torch(g) : import_hrrr(g);
}

/* Regions of a stream, as they act, on the clock of its header. */
int regions_export(struct regions *g)
{
	struct hrr_source *src = regions_open(g, g->operand);
	struct hrr_rrr_writer w = {0};
	struct hrr_buf out = {0}, tag = {0};
	struct hrr_record *rec;
	struct hrr_region r;
	uint64_t p = UINT64_MAX, t = 0;

	while ((rec = regions_next(src)) != NULL) {
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
			if (tag.failed)
				tool_no_memory();
		}
		if (rec->t != HRR_NO_TIME && rec->t > t)
			t = rec->t;
		if (rec->kind != HRR_REC_REGION)
			continue;
		tag.len = 0;
		if (hrr_region_read(rec, &r, &tag, &regions_diag) < 0)
			tool_die(hrr_source_name(src, rec), rec->lineno, "%s", regions_diag.what);
		if (r.t == HRR_NO_TIME && t > 0 && !hrr_source_from_sidecar(src))
			r.t = t; /* where it stands is when it acts */
		if (hrr_rrr_export_add(&w, &r) < 0)
			tool_no_memory();
	}
	bool any = tool_say_state(g->operand, src);
	say_hrrr(g, &w.stats);
	if (hrr_rrr_export_end(&w, &out) < 0)
		tool_no_memory();
	if (any && strcmp(g->hrrr, "-") == 0)
		tool_write(out.data, out.len);
	else if (any &&
		 hrr_file_replace(AT_FDCWD, g->hrrr, out.data, out.len, 0600, &regions_diag) < 0)
		tool_die_diag(&regions_diag);
	hrr_source_close(src);
	hrr_buf_release(&out);
	hrr_buf_release(&tag);
	return any ? TOOL_YES : TOOL_TROUBLE;
}

int regions_combine(struct regions *g)
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
				 &regions_diag) < 0)
		tool_die_diag(&regions_diag);
	if (st.cut)
		tool_say(NULL, 0, "a sidecar's last line is cut: left out");
	tool_write(out.data, out.len);
	hrr_buf_release(&out);
	return TOOL_YES;
}
