/* hrr-regions ls and check: every region of a recording, and what does not fit together. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "bin/regions.h"
#include "lib/region/lives.h"

static void print_time(uint64_t t)
{
	if (t == HRR_NO_TIME)
		tool_print(" -");
	else
		tool_print(" %" PRIu64, t);
}

int regions_list(struct regions *g)
{
	struct hrr_source *src = regions_open(g, g->operand);
	struct hrr_lives *lives = hrr_lives_new();
	struct regions_pids pids = {.n = 0};
	struct hrr_record *rec;
	struct hrr_life x;

	if (lives == NULL)
		tool_no_memory();
	while ((rec = regions_next(src)) != NULL) {
		regions_pids_note(&pids, rec);
		if (hrr_lives_record(lives, rec, NULL, NULL, &regions_diag) < 0)
			tool_die(hrr_source_name(src, rec), rec->lineno, "%s", regions_diag.what);
	}
	for (size_t i = 0; i < hrr_lives_count(lives); i++) {
		char tag[1024];
		hrr_lives_at(lives, i, &x);
		if (pids.n > 1)
			tool_print("%" PRIu64 " ", regions_pid(&pids, x.p));
		tool_print("%s %d 0x%" PRIx64 " %" PRIu64, x.segment ? "segment" : "block",
			   x.device, x.base, x.size);
		print_time(x.from);
		print_time(x.to);
		hrr_mask(tag, sizeof tag, x.tag != NULL ? x.tag : "-",
			 strlen(x.tag != NULL ? x.tag : "-"));
		tool_print(" %s\n", tag);
	}
	bool any = tool_say_state(g->operand, src);
	hrr_buf_release(&pids.v);
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

int regions_check(struct regions *g)
{
	struct hrr_source *src = regions_open(g, g->operand);
	struct hrr_lives *lives = hrr_lives_new();
	struct checking c = {.src = src};
	struct hrr_source_state st;
	struct hrr_record *rec;

	if (lives == NULL)
		tool_no_memory();
	while ((rec = regions_next(src)) != NULL) {
		int rc = hrr_lives_record(lives, rec, report, &c, &regions_diag);
		if (rc == -ENOMEM)
			tool_no_memory();
		if (rc < 0) {
			const char *name = hrr_source_name(src, rec);
			if (rec->kind != HRR_REC_REGION)
				tool_die(name, rec->lineno, "%s", regions_diag.what);
			tool_print("%s:%" PRIu64 ": %s\n", name, rec->lineno, regions_diag.what);
			c.found++;
		}
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
