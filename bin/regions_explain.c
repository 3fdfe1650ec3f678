/* hrr-regions explain: whose an address was. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bin/regions.h"
#include "lib/region/explain.h"

#define MAX_QUESTIONS 64

/* One question; every process of the recording may have an answer. */
struct asked {
	struct hrr_question q;
	char *text;		   /* owned */
	struct hrr_explain **by_p; /* owned; of each process, or NULL */
	size_t n;
	int64_t meant; /* the process that a message names by its file, or -1 */
};

static void ask(const struct regions *g, struct asked *a, const char *text)
{
	*a = (struct asked){.q = {.p = -1}, .meant = -1};
	if (g->has_at || g->has_t) {
		a->q.at = g->has_at ? HRR_WHEN_SEQ : HRR_WHEN_TIME;
		a->q.when = g->has_at ? g->at : g->region.t;
	}
	if (hrr_question_read(&a->q, text, &regions_diag) < 0)
		tool_misuse("%s", regions_diag.what);
	a->text = strdup(text);
	if (a->text == NULL)
		tool_no_memory();
}

/* The lines of standard input that ask something. One that is indented goes on with the message
 * above it, which says where it is about. */
static size_t ask_lines(const struct regions *g, struct asked *v)
{
	char *line = NULL;
	struct hrr_buf text = {0};
	size_t cap = 0, n = 0, more = 0, place = 0;

	while (getline(&line, &cap, stdin) > 0) {
		const bool on = line[0] == ' ';

		text.len = on ? place : 0;
		if (!on)
			place = hrr_question_place(line);
		if (hrr_buf_adds(&text, line) < 0 || hrr_buf_str(&text) == NULL)
			tool_no_memory();
		/* Where in the code a kernel was is no memory. */
		if (strstr(line, "0x") == NULL || strncmp(line, "  pc 0x", 7) == 0)
			continue;
		if (n < MAX_QUESTIONS)
			ask(g, &v[n++], text.data);
		else
			more++;
	}
	free(line);
	hrr_buf_release(&text);
	if (n == 0)
		tool_die("-", 0, "no address in any line of it");
	if (more > 0)
		tool_say("-", 0, "warning: %zu more lines ask something: the limit is %d", more,
			 MAX_QUESTIONS);
	return n;
}

static struct hrr_explain *of_process(struct asked *a, uint32_t p)
{
	struct hrr_question q = a->q;

	if (p >= a->n) {
		struct hrr_explain **v = realloc(a->by_p, ((size_t)p + 1) * sizeof(*v));
		if (v == NULL)
			tool_no_memory();
		a->by_p = v;
		while (a->n <= p)
			a->by_p[a->n++] = NULL;
	}
	q.p = p;
	if (a->by_p[p] == NULL && (a->by_p[p] = hrr_explain_new(&q)) == NULL)
		tool_no_memory();
	return a->by_p[p];
}

static void record(struct asked *a, const struct hrr_source *src, const struct hrr_record *rec)
{
	const char *name = hrr_source_name(src, rec), *at;
	bool sidecar = hrr_source_from_sidecar(src);

	if (rec->kind == HRR_REC_OTHER || (a->q.p >= 0 && a->q.p != (int64_t)rec->p))
		return;
	/* FILE:LINE: of a message, where each process has a file of its own. */
	if (a->q.at == HRR_WHEN_LINE && a->meant < 0 && !sidecar && rec->lineno == a->q.when &&
	    (at = strstr(a->text, name)) != NULL && at[strlen(name)] == ':')
		a->meant = rec->p;
	if (hrr_explain_record(of_process(a, rec->p), rec, sidecar, &regions_diag) < 0)
		tool_die(name, rec->lineno, "%s", regions_diag.what);
}

/* Whether something holds the address: of the processes that have an answer those where something
 * does, else all. */
static bool answer(const struct regions *g, struct asked *a, const struct regions_pids *pids)
{
	struct hrr_buf text[2] = {{0}}; /* held, not */
	bool none = true;

	for (size_t p = 0; p < a->n; p++) {
		struct hrr_buf one = {0};
		if (a->by_p[p] == NULL || (a->meant >= 0 && a->meant != (int64_t)p))
			continue;
		int rc = hrr_explain_answer(a->by_p[p], &one, &regions_diag);
		if (rc == -ENOENT)
			continue; /* another process made that call */
		if (rc < 0)
			tool_die(g->operand, 0, "%s", regions_diag.what);
		none = false;
		int bad = 0;
		if (pids->n > 1)
			bad = hrr_buf_addf(&text[rc == 0], "process %" PRIu64 ": ",
					   regions_pid(pids, (uint32_t)p));
		if (bad != 0 || hrr_buf_add(&text[rc == 0], one.data, one.len) < 0)
			tool_no_memory();
		hrr_buf_release(&one);
	}
	if (none)
		tool_die(g->operand, 0, "%s", regions_diag.what);
	bool held = text[0].len > 0;
	tool_write(text[!held].data, text[!held].len);
	hrr_buf_release(&text[0]);
	hrr_buf_release(&text[1]);
	return held;
}

int regions_explain(struct regions *g)
{
	struct asked v[MAX_QUESTIONS];
	struct regions_pids pids = {.n = 0};
	bool all = true;
	size_t n = 1;

	if (strcmp(g->operands[0], "-") == 0)
		n = ask_lines(g, v);
	else
		ask(g, &v[0], g->operands[0]);
	struct hrr_source *src = regions_open(g, g->operand);
	struct hrr_record *rec;
	while ((rec = regions_next(src)) != NULL) {
		regions_pids_note(&pids, rec);
		for (size_t i = 0; i < n; i++)
			record(&v[i], src, rec);
	}
	bool any = tool_say_state(g->operand, src);
	for (size_t i = 0; i < n; i++) {
		if (any && !answer(g, &v[i], &pids))
			all = false;
		for (size_t p = 0; p < v[i].n; p++)
			hrr_explain_free(v[i].by_p[p]);
		free(v[i].by_p);
		free(v[i].text);
	}
	hrr_source_close(src);
	hrr_buf_release(&pids.v);
	return !any ? TOOL_TROUBLE : all ? TOOL_YES : TOOL_NO;
}
