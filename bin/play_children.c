#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bin/play.h"
#include "bin/tool.h"

/* Several recorded processes: the first is replayed here, each other by a program of its own. */

static void start_child(const struct hrr_record *rec)
{
	char exe[4096], p[32], fd[32], name[] = "--name";
	const char *blobs = hrr_source_blobs_path(play.src, rec->p);
	struct hrr_diag diag = {0};
	char *from = strdup(play_is_pipe() ? "-" : hrr_source_name(play.src, rec));
	char **argv = calloc((size_t)play.n_options + 14, sizeof *argv);
	int n = 0;

	if (play.opt.stop_at != 0 || play.opt.seq_last != 0 || play.dump_size != 0 ||
	    play.hashes_path != NULL)
		tool_die(play_where(), 0,
			 "several processes: --seq, --stop-at, --dump and --hash-launches are of "
			 "one, see --pid");
	ssize_t len = readlink("/proc/self/exe", exe, sizeof exe - 1);
	if (argv == NULL || from == NULL || len < 0)
		tool_no_memory();
	exe[len] = '\0';
	if (play.children == NULL && (play.children = hrr_children_new()) == NULL)
		tool_no_memory();
	argv[n++] = exe;
	for (int i = 1; i < play.n_options; i++)
		if (strcmp(play.argv[i], "--") != 0)
			argv[n++] = play.argv[i];
	snprintf(p, sizeof p, "--child=%u", rec->p);
	argv[n++] = p;
	argv[n++] = name;
	argv[n++] = from;
	if (play.results_fd >= 0) {
		snprintf(fd, sizeof fd, "--results-fd=%d", play.results_fd);
		argv[n++] = fd;
	}
	char b[] = "-b", dash[] = "-", device[] = "-d";
	char *dir = blobs != NULL ? strdup(blobs) : NULL, *dev = strdup(play.device);
	if (dir != NULL) {
		argv[n++] = b;
		argv[n++] = dir;
	}
	argv[n++] = device;
	argv[n++] = dev;
	argv[n++] = dash;
	if (hrr_children_start(play.children, rec->p, argv, &diag) < 0)
		tool_die(play_where(), 0, "%s", diag.what);
	free(from);
	free(dir);
	free(dev);
	free(argv);
}

/* Whether the record belongs to another process than ours; then it is handed on. */
bool play_handed_on(const struct hrr_record *rec)
{
	struct hrr_diag diag = {0};

	if (!play.have_p) {
		play.p = rec->p;
		play.have_p = true;
	}
	if (rec->p == play.p || play.child >= 0)
		return false;
	if (rec->kind == HRR_REC_HEADER)
		start_child(rec);
	if (play.children == NULL)
		tool_die(hrr_source_name(play.src, rec), rec->lineno, "process %u has no header",
			 rec->p);
	if (hrr_children_line(play.children, rec->p, rec->line, rec->len,
			      hrr_source_from_sidecar(play.src) ? 0 : rec->lineno, &diag) < 0)
		tool_die(hrr_source_name(play.src, rec), rec->lineno, "%s", diag.what);
	return true;
}
