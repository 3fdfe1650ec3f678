#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bin/capture.h"
#include "bin/tool.h"

/* %p and %h of -o. */
static char *expand(const char *name, pid_t pid)
{
	struct hrr_buf b = {0};
	char host[256] = "";

	gethostname(host, sizeof host - 1);
	for (const char *s = name; *s != '\0'; s++) {
		if (s[0] == '%' && s[1] == 'p') {
			hrr_buf_addf(&b, "%ld", (long)pid);
			s++;
		} else if (s[0] == '%' && s[1] == 'h') {
			hrr_buf_adds(&b, host);
			s++;
		} else if (s[0] == '%' && s[1] == '%') {
			hrr_buf_addc(&b, '%');
			s++;
		} else {
			hrr_buf_addc(&b, *s);
		}
	}
	if (hrr_buf_str(&b) == NULL || b.failed)
		tool_no_memory();
	return b.data;
}

static void make_absolute(const char *path, char *abs, size_t size)
{
	char cwd[2048];

	if (path[0] == '/')
		snprintf(abs, size, "%s", path);
	else if (getcwd(cwd, sizeof cwd) == NULL)
		tool_die(NULL, 0, "cannot tell the working folder: %s", strerror(errno));
	else
		snprintf(abs, size, "%s/%s", cwd, path);
}

/* COMMAND.%p.hrr */
static const char *default_name(void)
{
	static char name[512];
	const char *slash = strrchr(capture.argv[0], '/');

	snprintf(name, sizeof name, "%.400s.%%p.hrr", slash != NULL ? slash + 1 : capture.argv[0]);
	return name;
}

static void open_archive(struct session *s, pid_t pid)
{
	struct hrr_diag diag = {0};
	char *name = expand(capture.out != NULL ? capture.out : default_name(), pid);

	make_absolute(name, s->dir, sizeof s->dir);
	free(name);
	if (hrr_archive_create(&s->archive, s->dir, &diag) < 0)
		tool_die_diag(&diag);
	s->blobs = hrr_archive_blobs(s->archive);
	capture.opt.archive = s->archive;
	capture.opt.blobs_name = "../blobs";
	/* a fixed name, which --recover finds */
	snprintf(s->scratch, sizeof s->scratch, "%s/.recording", s->dir);
	if (mkdir(s->scratch, 0700) < 0)
		tool_die(s->scratch, 0, "cannot be made: %s", strerror(errno));
}

static void open_stream(struct session *s)
{
	struct hrr_diag diag = {0};

	if (capture.blobs != NULL) {
		make_absolute(capture.blobs, s->dir, sizeof s->dir);
	} else {
		char name[64];
		snprintf(name, sizeof name, "hrr-blobs-XXXXXX");
		if (mkdtemp(name) == NULL)
			tool_die(NULL, 0, "cannot make a folder for blobs: %s", strerror(errno));
		make_absolute(name, s->dir, sizeof s->dir);
		s->own_blobs = true;
	}
	if (hrr_blobs_open(&s->blobs, s->dir, true, &diag) < 0)
		tool_die_diag(&diag);
	capture.opt.fd = STDOUT_FILENO;
	capture.opt.mask = isatty(STDOUT_FILENO) == 1;
	capture.opt.blobs_name = hrr_blobs_path(s->blobs);
	snprintf(s->scratch, sizeof s->scratch, "%s/.hrr-XXXXXX", s->dir);
	if (mkdtemp(s->scratch) == NULL)
		tool_die(s->scratch, 0, "cannot be made: %s", strerror(errno));
	if (s->own_blobs)
		tool_say(NULL, 0, "blobs go to %s", s->dir);
}

static void collect(struct session *s, bool again)
{
	struct hrr_diag diag = {0};

	capture.opt.blobs = s->blobs;
	capture.opt.scratch = s->scratch;
	if (hrr_collect_open(&s->collect, &capture.opt, again, &diag) < 0)
		tool_die_diag(&diag);
}

void session_open(struct session *s, pid_t pid)
{
	if (capture.stream)
		open_stream(s);
	else
		open_archive(s, pid);
	collect(s, false);
}

void session_reopen(struct session *s, const char *dir)
{
	struct hrr_diag diag = {0};

	make_absolute(dir, s->dir, sizeof s->dir);
	snprintf(s->scratch, sizeof s->scratch, "%s/.recording", s->dir);
	if (access(s->scratch, F_OK) != 0)
		tool_die(dir, 0, "nothing to recover: no unfinished recording here");
	if (hrr_archive_reopen(&s->archive, s->dir, &diag) < 0)
		tool_die_diag(&diag);
	s->blobs = hrr_archive_blobs(s->archive);
	capture.opt =
	    (struct hrr_collect_options){.archive = s->archive, .blobs_name = "../blobs", .fd = -1};
	collect(s, true);
}

void session_remove(const struct session *s)
{
	char path[4096];

	if (s->archive != NULL) { /* nothing but what we put there */
		snprintf(path, sizeof path, "%s/manifest.json", s->dir);
		unlink(path);
		snprintf(path, sizeof path, "%s/blobs", s->dir);
		rmdir(path);
		rmdir(s->dir);
	} else if (s->own_blobs) {
		rmdir(s->dir);
	}
}

int session_run(struct session *s, pid_t pid)
{
	struct hrr_diag diag;
	int status = 0;
	bool running = true, told = false;
	unsigned idle = 0;

	hrr_collect_command(s->collect, pid);
	for (;;) {
		int rc = hrr_collect_step(s->collect, &diag);
		struct hrr_collect_summary sum;
		hrr_collect_summary(s->collect, &sum);
		if (rc < 0 && !told) {
			told = true;
			s->reader_gone = sum.reader_gone;
			if (!s->reader_gone)
				tool_say_diag(&diag);
			else if (!capture.quiet)
				tool_say(NULL, 0,
					 "recording stopped, the program runs on: nobody reads "
					 "standard output");
		}
		if (sum.limit != NULL && !told) {
			told = true;
			tool_say(NULL, 0, "recording stopped, the program runs on: %s", sum.limit);
		}
		if (running && waitpid(pid, &status, WNOHANG) == pid) {
			running = false;
			hrr_collect_step(s->collect, NULL); /* to know its processes */
			hrr_collect_ended(s->collect, pid, WIFSIGNALED(status));
			continue;
		}
		if (!running && (hrr_collect_alive(s->collect) == 0 || capture_ended_by() != 0))
			break;
		if (rc > 0) {
			idle = 0;
			continue;
		}
		/* Short while records come, longer when nothing happens: half a full ring wakes us
		 * anyway. */
		idle++;
		hrr_collect_wait(s->collect, rc < 0 ? 50 : idle < 4 ? 1 : idle < 100 ? 5 : 20);
	}
	return status;
}

const char *session_count(uint64_t n, const char *what, char *buf, size_t size)
{
	snprintf(buf, size, "%llu %s%s", (unsigned long long)n, what, n == 1 ? "" : "s");
	return buf;
}

static const char *processes(uint32_t n, char *buf, size_t size)
{
	buf[0] = '\0';
	if (n > 1)
		snprintf(buf, size, ", from %u processes", n);
	return buf;
}

void session_report_unrecorded(const struct hrr_collect_summary *sum)
{
	if (sum->unrecorded != 0)
		tool_say(
		    NULL, 0,
		    "lost: %s not recorded: no descriptor, memory, room or right was left for it",
		    sum->unrecorded == 1 ? "a process is" : "processes are");
}

void session_report(const struct session *s, const struct hrr_collect_summary *sum)
{
	const char *where = capture.stream ? NULL : s->dir;
	char a[64], b[64], d[64];

	if (s->reader_gone)
		return; /* what it took nobody knows */
	if (!capture.quiet)
		tool_say(where, 0, "%s and %s recorded%s",
			 session_count(sum->calls, "call", a, sizeof a),
			 session_count(sum->outputs, "output", b, sizeof b),
			 processes(sum->processes, d, sizeof d));
	if (sum->lost != 0 || sum->lost_bytes != 0)
		tool_say(where, 0, "lost: %llu records, %llu bytes", (unsigned long long)sum->lost,
			 (unsigned long long)sum->lost_bytes);
	session_report_unrecorded(sum);
	if (sum->killed == 1 && !capture.quiet)
		tool_say(where, 0, "process %u did not end in order: its stream is cut",
			 sum->first_killed);
	else if (sum->killed > 1 && !capture.quiet)
		tool_say(where, 0,
			 "%u processes (%u and others) did not end in order: their streams are cut",
			 sum->killed, sum->first_killed);
	if (sum->not_recorded != 0 && !capture.quiet)
		tool_say(where, 0, "%s %s not recorded: see the end record",
			 session_count(sum->not_recorded, "call", a, sizeof a),
			 sum->not_recorded == 1 ? "is" : "are");
}
