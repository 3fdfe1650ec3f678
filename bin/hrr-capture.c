#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bin/capture.h"
#include "bin/tool.h"
#include "lib/collect/window.h"

/* Runs a command with the recording library loaded into it, and writes what its
 * processes did as an archive or a stream. */

/* Takes .recording away, which every process's end has emptied. */
static bool tidy(const char *scratch)
{
	if (rmdir(scratch) == 0 || errno == ENOENT)
		return true;
	tool_say(scratch, 0, "cannot be removed: %s", strerror(errno));
	return false;
}

static int recover(const char *dir)
{
	struct hrr_diag diag = {0};
	struct session s = {0};
	struct hrr_collect_summary sum;

	session_reopen(&s, dir);
	while (hrr_collect_step(s.collect, NULL) > 0)
		;
	int rc = hrr_collect_finish(s.collect, &diag);
	if (rc < 0)
		tool_say_diag(&diag);
	hrr_collect_summary(s.collect, &sum);
	bool untidy = sum.left == 0 && !tidy(s.scratch);
	if (hrr_archive_state(s.archive, sum.cut || sum.unrecorded != 0 ? "cut" : "complete",
			      &diag) < 0)
		tool_die_diag(&diag);
	session_report(&s, &sum);
	hrr_collect_close(s.collect);
	hrr_archive_close(s.archive);
	return tool_finish(rc < 0 || untidy ? OWN_FAILURE : 0);
}

/* At the end; everything stays when that is not one for all. */
static int cut_to_window(const struct session *s, bool whole, bool left, struct hrr_diag *diag)
{
	uint64_t calls = 0;
	char text[64];

	if (!whole || left) {
		tool_say(s->dir, 0, "everything is kept: %s",
			 left ? "a process runs on" : "not all of it could be written");
		return 0;
	}
	int rc = hrr_collect_window(s->dir, capture.window, &calls, diag);
	if (rc < 0)
		tool_say_diag(diag);
	else if (!capture.quiet)
		tool_say(s->dir, 0, "%s kept by --window",
			 session_count(calls, "call", text, sizeof text));
	return rc;
}

static int record(void)
{
	struct hrr_diag diag = {0};
	struct hrr_collect_summary sum;
	struct session s = {0};

	capture_signals();
	struct capture_command command = capture_start();
	session_open(&s, command.pid);
	int err = capture_go(&command, s.scratch);
	int status = session_run(&s, command.pid);
	int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	int rc = hrr_collect_finish(s.collect, &diag);

	hrr_collect_summary(s.collect, &sum);
	s.reader_gone |= sum.reader_gone;
	hrr_collect_close(s.collect);
	/* Who comes as we go may be in it: then it is as if it had been there before. */
	bool untidy = sum.left == 0 && !tidy(s.scratch), left = sum.left != 0 || untidy;
	if (err != 0)
		tool_say(capture.argv[0], 0, "cannot be run: %s", strerror(err));
	bool nothing = sum.processes == 0 && rc >= 0;
	if (nothing) {
		session_report_unrecorded(&sum);
		if (err == 0 && sum.unrecorded == 0 && !capture.quiet)
			tool_say(NULL, 0, "no HIP call was seen: nothing is recorded");
	} else {
		if (capture.window != 0)
			rc = cut_to_window(&s, rc == 0, left, &diag) < 0 ? -1 : rc;
		if (s.archive != NULL &&
		    hrr_archive_state(s.archive,
				      sum.cut || left || sum.unrecorded != 0 ? "cut" : "complete",
				      &diag) < 0)
			tool_die_diag(&diag);
		session_report(&s, &sum);
	}
	if (s.archive != NULL)
		hrr_archive_close(s.archive);
	else
		hrr_blobs_close(s.blobs);
	if (nothing)
		session_remove(&s);
	if (!capture.quiet)
		capture_behind();
	if (rc < 0 && !s.reader_gone)
		code = OWN_FAILURE;
	if (capture.strict &&
	    (untidy || sum.lost != 0 || sum.lost_bytes != 0 || sum.unrecorded != 0))
		code = OWN_FAILURE;
	return tool_finish(code);
}

int main(int argc, char **argv)
{
	capture_options(argc, argv);
	capture_shared();
	return capture.recover != NULL ? recover(capture.recover) : record();
}
