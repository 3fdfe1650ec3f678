#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bin/play.h"
#include "bin/tool.h"
#include "bin/tool_source.h"

/* Replays a recording: see play_*.c for options, start, processes, and what is told and written. */

struct play play = {.device = "auto", .pid = -1, .child = -1, .results_fd = -1};

const char *play_where(void)
{
	const char *s = play.name != NULL ? play.name : play.reading;

	return s != NULL ? s : play.operand != NULL ? play.operand : "-";
}

int64_t play_index(void)
{
	return play.child >= 0 ? play.child : play.children != NULL ? (int64_t)play.p : -1;
}

bool play_is_pipe(void)
{
	return play.operand == NULL || strcmp(play.operand, "-") == 0;
}

static void read_header(const struct hrr_record *rec)
{
	uint64_t pid = 0;
	int n = hrr_json_get(&rec->json, 0, "pid");

	if (n >= 0 && hrr_json_u64(&rec->json, n, &pid) == 0)
		play.recorded_pid = (uint32_t)pid;
	if (play.opt.hashes != NULL)
		play_hash_header(rec);
}

/* Where the record is from: another program may have read it for this one. */
static void note_place(struct hrr_record *rec)
{
	uint64_t line;

	if (play.child < 0)
		play.reading =
		    hrr_source_files(play.src) > 1 ? hrr_source_name(play.src, rec) : NULL;
	else if (hrr_json_u64(&rec->json, hrr_json_get(&rec->json, 0, "line"), &line) == 0)
		rec->lineno = line;
}

/* 0: to the end; 1: ended early as asked or after a failure; negative: trouble, said. */
static int play_all(void)
{
	struct hrr_diag diag = {0};
	struct hrr_record *rec;
	bool done = false, have_blobs = false;
	uint64_t n = 0;
	int rc;

	while ((rc = hrr_source_next(play.src, &rec, &diag)) > 0) {
		play_beat(rec);
		if ((++n & 0xfff) == 0)
			tool_progress("records", n, 0);
		if (play_handed_on(rec) || done)
			continue;
		note_place(rec);
		if (rec->kind == HRR_REC_HEADER)
			read_header(rec);
		if (rec->kind == HRR_REC_REGION && play.no_regions)
			continue;
		if (rec->kind == HRR_REC_REGION && !hrr_source_from_sidecar(play.src))
			play.own_regions = true;
		if (!have_blobs && (rec->blobs >= 0 || rec->kernel >= 0 || rec->host >= 0 ||
				    rec->symbol >= 0 || rec->kind == HRR_REC_OUTPUT)) {
			/* A missing folder is an error only when a blob is asked for. */
			hrr_replay_set_blobs(play.engine,
					     hrr_source_blobs(play.src, rec->p, &diag));
			have_blobs = true;
		}
		rc = hrr_replay_record(play.engine, rec, &diag);
		if (rc < 0) {
			tool_say(play_where(), rec->lineno, "%.*s%s%s",
				 (int)(rec->kind == HRR_REC_CALL ? rec->api_len : 0),
				 rec->kind == HRR_REC_CALL ? rec->api : "",
				 rec->kind == HRR_REC_CALL ? ": " : "", diag.what);
			return rc;
		}
		done = rc > 0;
		if (done && hrr_source_files(play.src) <= 1 && play.children == NULL &&
		    !play_is_pipe())
			return 1;
	}
	if (rc < 0)
		tool_say_diag(&diag);
	return rc < 0 ? rc : done;
}

static bool dump(void)
{
	struct hrr_diag diag = {0};
	unsigned char *data = malloc(play.dump_size + 1);
	int rc;

	if (data == NULL)
		tool_no_memory();
	rc = hrr_replay_peek(play.engine, play.dump_addr, play.dump_size, data, &diag);
	if (rc < 0)
		tool_say(play_where(), 0, "--dump: %s", diag.what);
	else
		tool_write(data, play.dump_size);
	free(data);
	return rc == 0;
}

/* An option named a place that the stream does not have: what was asked for was not done. */
static bool missed(const struct hrr_verdict *v)
{
	const struct hrr_replay_options *o = &play.opt;

	if (v->asked || v->stopped || (o->stop_at == 0 && o->only_kernel == NULL))
		return false;
	if (o->only_kernel != NULL)
		tool_say(play_where(), 0, "--only-kernel: no kernel %s was launched",
			 o->only_kernel);
	else
		tool_say(play_where(), 0, "--stop-at: there is no call %llu",
			 (unsigned long long)o->stop_at);
	return true;
}

static void unused_options(const struct hrr_verdict *v)
{
	for (size_t i = 0; i < play.opt.n_replace; i++)
		if ((v->replaced >> i & 1) == 0)
			tool_say(play_where(), 0, "warning: --replace-kernel: not launched: %.*s",
				 (int)strcspn(play.opt.replace[i], "="), play.opt.replace[i]);
	if (play.faults.n != 0 && play.faults.injected == 0)
		tool_say(play_where(), 0, "warning: --inject: no call failed: they did not come");
}

static void state(struct hrr_verdict *v)
{
	struct hrr_source_state st;

	hrr_source_state(play.src, &st);
	v->cut = st.cut_line || !st.has_end || st.ended_cut || (!st.counts_fit && !st.filtered);
	v->filtered = st.filtered;
	v->not_recorded = st.not_recorded;
	v->lost = st.lost;
	v->streams = st.sidecars + (play.own_regions ? 1 : 0);
}

int main(int argc, char **argv)
{
	struct hrr_diag diag = {0};

	play_options(argc, argv);
	play_open_outputs();
	struct hrr_place *p = play_place();
	play.src = play_open_source();
	play_load();
	play_start_engine(p);

	int rc = play_all();
	play.reading = NULL;
	bool nothing = rc >= 0 && play.dump_size != 0 && !dump();
	if (play.opt.timing)
		play_times();
	play_beat(NULL);
	if (hrr_replay_finish(play.engine, &diag) < 0)
		tool_say(play_where(), 0, "%s", diag.what);
	struct hrr_verdict v = *hrr_replay_verdict(play.engine);
	if (rc == 0 && play.child < 0 && !tool_say_state(play.operand, play.src))
		nothing = true;
	else if (rc == 0)
		nothing = missed(&v) || nothing;
	if (!play.quiet)
		unused_options(&v);
	if (rc >= 0)
		state(&v);
	v.cut = v.cut && rc == 0;
	v.trouble = v.trouble || rc < 0 || nothing;
	play_fidelity(&v);
	int code = hrr_verdict_exit(&v, play.require_complete);
	play_summary(&v, code);
	if (v.abandoned) { /* exit handlers of the run time might wait for the device, too */
		if (play.children != NULL)
			hrr_children_end(play.children, SIGTERM);
		tool_flush();
		_exit(code);
	}
	hrr_replay_free(play.engine);
	hrr_source_close(play.src);
	if (play.children != NULL) {
		int worst = hrr_children_end(play.children, play_signalled());
		code = worst > code ? worst : code;
	}
	play_close_hashes(&v);
	hrr_rules_release(&play.tolerance);
	hrr_buf_release(&play.text);
	return tool_finish(code);
}
