/* hrr-regions lint and map: undeclared addresses, and a picture of memory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bin/regions.h"
#include "lib/region/lint.h"
#include "lib/region/svg.h"

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

/* What is kept of each process, by its index; owned. */
struct each {
	void **v;
	size_t n;
};

/* The place of process p. */
static void **of_process(struct each *e, uint32_t p)
{
	if (p >= e->n) {
		void **v = realloc(e->v, ((size_t)p + 1) * sizeof *v);
		if (v == NULL)
			tool_no_memory();
		e->v = v;
		while (e->n <= p)
			e->v[e->n++] = NULL;
	}
	return &e->v[p];
}

int regions_lint(struct regions *g)
{
	struct linting self = {.src = regions_open(g, g->operand)};
	struct hrr_source *src = self.src;
	struct hrr_lint_stats st = {0}, one;
	struct hrr_record *rec;
	struct each all = {0};

	while ((rec = regions_next(src)) != NULL) {
		struct hrr_blobs *blobs = rec->kind == HRR_REC_CALL && rec->blobs >= 0
					      ? hrr_source_blobs(src, rec->p, NULL)
					      : NULL;
		if (rec->kind == HRR_REC_OTHER)
			continue;
		void **l = of_process(&all, rec->p);
		if (*l == NULL &&
		    (*l = hrr_lint_new((int)g->confidence, rec->p, say_finding, &self)) == NULL)
			tool_no_memory();
		if (hrr_lint_record(*l, rec, blobs, &regions_diag) < 0)
			tool_die(hrr_source_name(src, rec), rec->lineno, "%s", regions_diag.what);
	}
	bool any = tool_say_state(g->operand, src);
	for (size_t p = 0; p < all.n; p++) {
		if (all.v[p] == NULL)
			continue;
		hrr_lint_stats(all.v[p], &one);
		st.found += one.found;
		st.unread += one.unread;
		hrr_lint_free(all.v[p]);
	}
	if (st.unread > 0)
		tool_say(g->operand, 0, "warning: %" PRIu64 " payloads could not be read",
			 st.unread);
	free(all.v);
	hrr_buf_release(&self.text);
	hrr_source_close(src);
	return !any ? TOOL_TROUBLE : st.found > 0 ? TOOL_NO : TOOL_YES;
}

/* A picture of each process, one below the other. */
int regions_map(struct regions *g)
{
	struct hrr_source *src = regions_open(g, g->operand);
	struct regions_pids pids = {.n = 0};
	struct hrr_map_stats st;
	struct hrr_record *rec;
	struct hrr_buf b = {0};
	struct each all = {0};

	while ((rec = regions_next(src)) != NULL) {
		if (rec->kind == HRR_REC_OTHER)
			continue;
		regions_pids_note(&pids, rec);
		void **m = of_process(&all, rec->p);
		struct hrr_map_options opt = {
		    .p = rec->p, .from = g->from, .to = g->to == HRR_NO_TIME ? 0 : g->to};
		if (*m == NULL && (*m = hrr_map_new(&opt)) == NULL)
			tool_no_memory();
		if (hrr_map_record(*m, rec, &regions_diag) < 0)
			tool_die(hrr_source_name(src, rec), rec->lineno, "%s", regions_diag.what);
	}
	bool any = tool_say_state(g->operand, src);
	for (size_t p = 0; p < all.n; p++) {
		char title[512];
		hrr_mask(title, sizeof title - 40, g->operand, strlen(g->operand));
		if (pids.n > 1)
			snprintf(title + strlen(title), 40, ": process %" PRIu64,
				 regions_pid(&pids, (uint32_t)p));
		if (all.v[p] != NULL && hrr_map_title(all.v[p], title) < 0)
			tool_no_memory();
	}
	if (any && hrr_map_svg((struct hrr_map **)(void *)all.v, all.n, &b, &st, &regions_diag) < 0)
		tool_die(g->operand, 0, "%s", regions_diag.what);
	tool_write(b.data, b.len);
	for (size_t p = 0; p < all.n; p++)
		hrr_map_free(all.v[p]);
	free(all.v);
	hrr_buf_release(&b);
	hrr_buf_release(&pids.v);
	hrr_source_close(src);
	return any ? TOOL_YES : TOOL_TROUBLE;
}
