#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "bin/play.h"
#include "bin/tool.h"
#include "lib/emu/runtime/emu.h"

/* What hrr-play tells on standard error: outcomes as they come, and the summary. */

#define MEMORY_TOLD 20 /* places printed in full; -r has all */

/* The first line as any message, the others below it. */
static void memory(const struct hrr_outcome *o)
{
	static unsigned told;
	const char *s = o->text, *end = strchr(s, '\n');
	char line[512];

	if (told++ >= MEMORY_TOLD) {
		if (told == MEMORY_TOLD + 1)
			tool_say(play_where(), o->line, "more wrong accesses: see -r");
		return;
	}
	tool_say(play_where(), o->line, "call %llu%s%s%s: %.*s", (unsigned long long)o->seq,
		 o->api != NULL ? " (" : "", o->api != NULL ? o->api : "",
		 o->api != NULL ? ")" : "", (int)(end != NULL ? end - s : (ptrdiff_t)strlen(s)), s);
	while (end != NULL && end[1] != '\0') {
		s = end + 1;
		end = strchr(s, '\n');
		hrr_mask(line, sizeof line, s, end != NULL ? (size_t)(end - s) : strlen(s));
		fprintf(stderr, "%s\n", line);
	}
}

void play_on_outcome(void *self, const struct hrr_outcome *o)
{
	(void)self;
	if (play.results_fd >= 0) {
		play.text.len = 0;
		if (hrr_outcome_json(&play.text, o, play_index()) < 0)
			tool_no_memory();
		play_put_result();
	}
	if (o->kind == HRR_EXACT || o->kind == HRR_TOLERATED)
		return;
	if (o->kind == HRR_UNCHECKED) {
		if (!play.quiet)
			tool_say(play_where(), o->line,
				 "output 0x%llx (%llu bytes) of call %llu is not checked: %s",
				 (unsigned long long)o->addr, (unsigned long long)o->size,
				 (unsigned long long)o->seq, o->text);
		return;
	}
	if (o->kind == HRR_MEMORY) {
		memory(o);
		return;
	}
	if (o->api != NULL && o->kind != HRR_DIFFERS)
		tool_say(play_where(), o->line, "%s: %s", o->api, o->text);
	else
		tool_say(play_where(), o->line, "%s%s", o->kind == HRR_WARNED ? "warning: " : "",
			 o->text);
}

/* Text of a recorded kernel: it is no result, and nothing a terminal may obey. */
static void on_print(void *self, const char *text, size_t n, int error)
{
	(void)self;
	(void)error;
	while (n > 0) {
		const char *const end = memchr(text, '\n', n);
		const size_t line = end != NULL ? (size_t)(end - text) : n;
		const size_t piece = line < 1024 ? line : 1024;
		char shown[4 * 1024 + 1];

		hrr_mask(shown, sizeof shown, text, piece);
		fputs(shown, stderr);
		if (piece == line && end != NULL)
			fputc('\n', stderr);
		text += piece + (piece == line && end != NULL);
		n -= piece + (piece == line && end != NULL);
	}
	fflush(stderr);
}

void play_listen(void)
{
	void (*listen)(void (*fn)(void *, const char *, size_t, int), void *self);

	if (play.hip.lib == NULL)
		return;
	*(void **)&listen = dlsym(play.hip.lib, "hrr_emu_on_print");
	if (listen != NULL)
		listen(on_print, NULL);
}

/* What the CPU run time has to say about how exact it was. */
void play_fidelity(struct hrr_verdict *v)
{
	int (*report)(struct hrr_emu_stats * ret_stats);
	struct hrr_emu_stats s = {.size = sizeof s};

	*(void **)&report = dlsym(play.hip.lib, "hrr_emu_report");
	if (report == NULL || report(&s) != 0)
		return;
	v->emu_refused = s.refused;
	v->approximate = s.n_approx;
	v->emu = true;
	v->stats = s;
	if (play.quiet)
		return;
	if (play.opt.timing && s.nanoseconds != 0)
		tool_say(NULL, 0,
			 "device: %llu wave-instructions in kernels, %.1f million a second",
			 (unsigned long long)s.instructions,
			 (double)s.instructions * 1e3 / (double)s.nanoseconds);
}

void play_times(void)
{
	struct hrr_kernel_time t;

	for (size_t i = 0; hrr_replay_time(play.engine, i, &t) == 0; i++)
		tool_say(NULL, 0, "time: %s: %llu launch%s, %.3f ms, %.3f to %.3f us each", t.name,
			 (unsigned long long)t.launches, t.launches == 1 ? "" : "es",
			 (double)t.total / 1e6, (double)t.min / 1e3, (double)t.max / 1e3);
}

void play_summary(const struct hrr_verdict *v, int code)
{
	play.text.len = 0;
	if (play.results_fd >= 0) {
		if (hrr_verdict_json(&play.text, v, play.require_complete, play_index()) < 0)
			tool_no_memory();
		play_put_result();
		play_close_results();
	}
	/* Of what never began, the message said all. */
	if ((play.quiet && code == 0) || (code == TOOL_TROUBLE && v->calls + v->outputs == 0))
		return;
	play.text.len = 0;
	if (play_index() >= 0 && hrr_buf_addf(&play.text, "Process : %lld (pid %u)\n",
					      (long long)play_index(), play.recorded_pid) < 0)
		tool_no_memory();
	if (hrr_verdict_text(&play.text, v, play.require_complete) < 0)
		tool_no_memory();
	tool_progress(NULL, 0, 0);
	fwrite(play.text.data, 1, play.text.len, stderr);
}
