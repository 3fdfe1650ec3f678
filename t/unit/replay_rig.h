#ifndef HRR_T_UNIT_REPLAY_RIG_H
#define HRR_T_UNIT_REPLAY_RIG_H

/*
 * A replay driven line by line, on a run time that the test gives: it defines
 * rig_hip before it includes this, and rig_gone for what is left when a replay is over.
 */

#include <stdlib.h>
#include <unistd.h>

#include "lib/replay/fault.h"
#include "lib/replay/replay.h"
#include "t/unit/tap.h"

static void rig_hip(struct hrr_hip *hip);
static void rig_gone(void);

struct rig {
	struct hrr_hip hip;
	struct hrr_replay_options opt;
	struct hrr_replay *r;
	struct hrr_blobs *blobs;
	struct hrr_record rec;
	struct hrr_diag diag;
	struct hrr_faults faults;
	char dir[64];
	char text[1024]; /* of the last outcome that had any */
	uint64_t seq, line;
	int rc; /* of the last record */
	struct hrr_verdict v;
};

static void rig_outcome(void *self, const struct hrr_outcome *o)
{
	struct rig *g = self;

	if (o->text != NULL)
		snprintf(g->text, sizeof g->text, "%s", o->text);
}

/* Options may be set in g->opt and faults in g->faults before; the rest is made anew. */
static inline void rig_start(struct rig *g)
{
	rig_hip(&g->hip);
	snprintf(g->dir, sizeof g->dir, "/tmp/hrr-replay-XXXXXX");
	if (mkdtemp(g->dir) == NULL || hrr_blobs_open(&g->blobs, g->dir, true, &g->diag) < 0)
		exit(1);
	g->opt.outcome = rig_outcome;
	g->opt.self = g;
	g->seq = g->line = 0;
	g->text[0] = '\0';
	hrr_fault_install(&g->faults, &g->hip);
	if (hrr_replay_new(&g->r, &g->hip, &g->opt, g->blobs, &g->diag) < 0)
		g->r = NULL;
}

static inline const char *rig_blob(struct rig *g, const void *data, size_t n)
{
	static char text[4][HRR_ID_TEXT + 1];
	static int at;
	struct hrr_id id;

	at = (at + 1) & 3;
	if (hrr_blobs_put(g->blobs, data, n, &id, &g->diag) < 0)
		exit(1);
	hrr_id_text(&id, text[at]);
	return text[at];
}

static inline const char *rig_bytes(struct rig *g, int value, size_t n)
{
	unsigned char *p = malloc(n);

	memset(p, value, n);
	const char *s = rig_blob(g, p, n);
	free(p);
	return s;
}

TAP_PRINTF(2, 3) static int rig_line(struct rig *g, const char *fmt, ...)
{
	char line[4096];
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	g->line++;
	if (hrr_record_parse(&g->rec, line, (size_t)n, &g->diag) < 0) {
		diag("bad test line: %s: %s", line, g->diag.what);
		exit(1);
	}
	g->rec.lineno = g->line;
	g->diag.what[0] = '\0';
	return g->rc = hrr_replay_record(g->r, &g->rec, &g->diag);
}

/* {"seq":N,"tid":1,"api":API,"args":{ARGS} MORE}; MORE begins with a comma. */
TAP_PRINTF(3, 4) static int rig_call(struct rig *g, const char *api, const char *fmt, ...)
{
	char rest[3072];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(rest, sizeof rest, fmt, ap);
	va_end(ap);
	g->seq++;
	return rig_line(g,
			"{\"seq\":%llu,\"t\":%llu,\"dur\":1,\"tid\":1,\"api\":\"%s\",\"args\":{%s",
			(unsigned long long)g->seq, (unsigned long long)g->seq * 10, api, rest);
}

/* An output of the last call: n bytes of value at addr. node 0: none. */
static inline int rig_output(struct rig *g, uint64_t addr, int value, size_t n, unsigned node)
{
	char extra[32] = "";

	if (node != 0)
		snprintf(extra, sizeof extra, "\"node\":%u,", node);
	return rig_line(g,
			"{\"output\":%llu,%s\"t\":1,\"tid\":1,\"addr\":\"0x%llx\",\"size\":%zu,"
			"\"blob\":\"%s\"}",
			(unsigned long long)g->seq, extra, (unsigned long long)addr, n,
			rig_bytes(g, value, n));
}

static inline void rig_end(struct rig *g)
{
	char cmd[128];

	if (g->r != NULL) {
		hrr_replay_finish(g->r, &g->diag);
		g->v = *hrr_replay_verdict(g->r);
		hrr_replay_free(g->r);
		g->r = NULL;
	}
	hrr_record_release(&g->rec);
	rig_gone();
	hrr_blobs_close(g->blobs);
	snprintf(cmd, sizeof cmd, "rm -rf %s", g->dir);
	if (system(cmd) != 0)
		diag("%s is left", g->dir);
}

#endif
