#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bin/tool.h"
#include "lib/collect/collect.h"
#include "lib/collect/window.h"
#include "lib/hip/entry.h"
#include "lib/preload/ring.h"
#include "lib/stream/select.h"

/* Runs a command with the recording library loaded into it, and writes what its
 * processes did as an archive or a stream. */

static const char usage[] =
    "usage: hrr-capture [-q] [-d DEVICE] [-o DIR] [OPTION ...] [--] COMMAND\n"
    "                   [ARG ...]\n"
    "   or: hrr-capture [-q] [-d DEVICE] -o - [-b DIR] [OPTION ...] [--] COMMAND\n"
    "                   [ARG ...]\n"
    "   or: hrr-capture --recover DIR\n"
    "\n"
    "Records the HIP calls of COMMAND and of every process it starts.\n"
    "\n"
    "  -o DIR            archive to make (default COMMAND.PID.hrr); %p is COMMAND's\n"
    "                    process id, %h the host's name; DIR must not exist\n"
    "  -o -              events to standard output, COMMAND's own output to\n"
    "                    standard error\n"
    "  -b DIR            with -o -: where bytes go (default: a new folder, named\n"
    "                    on standard error)\n"
    "  -d DEVICE         run COMMAND on emu (the CPU run time) or rocm (what it finds\n"
    "                    by itself, the default)\n"
    "  -q                say nothing but errors\n"
    "  --recover DIR     finish an archive whose hrr-capture was killed\n"
    "  --hsa-regions     record HSA pool allocations as regions\n"
    "  --host-memory W   mapped host memory to look at around launches: args (what\n"
    "                    arguments point to, the default), all, off\n"
    "  --host-limit N    leave out mapped ranges of more than N bytes (64M)\n"
    "  --ring-size N     bytes of each thread's ring (1M)\n"
    "  --arena-size N    bytes of each process's memory for big payloads (128M); 0:\n"
    "                    all go through files\n"
    "  --drop            a full ring drops calls instead of waiting\n"
    "  --only EXPR       write only calls that fit EXPR (see hrr(7)), and what they\n"
    "                    bring; the stream is then not one to replay\n"
    "  --profiler-gate   write only calls between hipProfilerStart and Stop\n"
    "  --strict          lost records or bytes make the exit code 125\n"
    "  --max-bytes N     stop recording after N bytes\n"
    "  --min-free N      stop recording when less is free (256M)\n"
    "  --no-audit        do without LD_AUDIT: HIP bound by dlsym or from DEEPBIND\n"
    "                    libraries is not recorded\n"
    "  --window SECONDS  at the end, keep the calls of the last SECONDS and what they\n"
    "                    depend on\n"
    "  -h, --help; --version\n"
    "\n"
    "Exit code: COMMAND's; 128+N when signal N ended it; 125 own failure;\n"
    "126, 127 COMMAND cannot be run, is not found.\n";

enum {
	O_RECOVER = 256,
	O_HSA,
	O_HOST,
	O_HOST_LIMIT,
	O_RING,
	O_ARENA,
	O_DROP,
	O_STRICT,
	O_MAX,
	O_FREE,
	O_NO_AUDIT,
	O_ONLY,
	O_GATE,
	O_WINDOW
};
static const struct option longs[] = {{"recover", required_argument, NULL, O_RECOVER},
				      {"hsa-regions", no_argument, NULL, O_HSA},
				      {"host-memory", required_argument, NULL, O_HOST},
				      {"host-limit", required_argument, NULL, O_HOST_LIMIT},
				      {"ring-size", required_argument, NULL, O_RING},
				      {"arena-size", required_argument, NULL, O_ARENA},
				      {"drop", no_argument, NULL, O_DROP},
				      {"strict", no_argument, NULL, O_STRICT},
				      {"max-bytes", required_argument, NULL, O_MAX},
				      {"min-free", required_argument, NULL, O_FREE},
				      {"no-audit", no_argument, NULL, O_NO_AUDIT},
				      {"profiler-gate", no_argument, NULL, O_GATE},
				      {"window", required_argument, NULL, O_WINDOW},
				      {"only", required_argument, NULL, O_ONLY},
				      {0}};

static bool quiet, strict, audit = true;
static const char *device = "rocm";
static volatile sig_atomic_t got_term, got_child;
static volatile sig_atomic_t child; /* pid to pass TERM and HUP on to */

#define CANNOT_RUN 126
#define NOT_FOUND 127
#define OWN_FAILURE 125

static uint64_t bytes_option(const char *what, const char *text)
{
	char number[32];
	size_t n = strlen(text);
	unsigned shift = 0;

	if (n > 1 && n < sizeof number) {
		const char *units = "KMGT", *u = strchr(units, text[n - 1]);
		if (u != NULL) {
			shift = 10 * (unsigned)(u - units + 1);
			n--;
		}
	}
	if (n >= sizeof number)
		tool_misuse("%s: not a number: %s", what, text);
	memcpy(number, text, n);
	number[n] = '\0';
	uint64_t v = tool_number(what, number);
	if (v > UINT64_MAX >> shift)
		tool_misuse("%s: too large: %s", what, text);
	return v << shift;
}

/* In ns, at least one. */
static uint64_t seconds_option(const char *what, const char *text)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end != '\0' || !(v > 0) || v > 1e9)
		tool_misuse("%s: not a number of seconds: %s", what, text);
	return v < 1e-9 ? 1 : (uint64_t)(v * 1e9);
}

/* Of several, a call has to fit one. */
static void add_only(struct hrr_buf *b, const char *expr)
{
	struct hrr_select *s = NULL;
	struct hrr_diag diag = {0};

	if (hrr_select_new(&s, expr, &diag) < 0)
		tool_misuse("--only: %s", diag.what);
	hrr_select_free(s);
	hrr_buf_addf(b, "%s(%s)", b->len > 0 ? " or " : "", expr);
	if (hrr_buf_str(b) == NULL)
		tool_no_memory();
	if (b->len >= HRR_ONLY_MAX)
		tool_misuse("--only: too long");
}

static void on_signal(int sig)
{
	int err = errno;

	if (sig == SIGCHLD) {
		got_child = 1;
	} else {
		got_term = sig;
		if (child > 0)
			kill((pid_t)child, sig);
	}
	errno = err;
}

static void set_signals(void)
{
	struct sigaction a = {.sa_handler = on_signal};

	sigemptyset(&a.sa_mask);
	sigaction(SIGTERM, &a, NULL);
	sigaction(SIGHUP, &a, NULL);
	sigaction(SIGCHLD, &a, NULL);
	a.sa_handler = SIG_IGN; /* these are the command's: it decides, and we record to its end */
	sigaction(SIGINT, &a, NULL);
	sigaction(SIGQUIT, &a, NULL);
	sigaction(SIGPIPE, &a, NULL);
}

/* Adds to a list of paths, in front of what is there or behind. */
static void add_env(const char *name, const char *path, bool front)
{
	const char *old = getenv(name);
	struct hrr_buf b = {0};

	if (old == NULL || old[0] == '\0')
		hrr_buf_adds(&b, path);
	else
		hrr_buf_addf(&b, "%s:%s", front ? path : old, front ? old : path);
	if (hrr_buf_str(&b) == NULL)
		tool_no_memory();
	setenv(name, b.data, 1);
	hrr_buf_release(&b);
}

static void child_environment(const char *scratch)
{
	char libdir[3072], path[4096];

	if (hrr_libdir(libdir, sizeof libdir) < 0)
		tool_die(NULL, 0, "cannot find the folder of the recording library");
	snprintf(path, sizeof path, "%s/libhrr-preload.so", libdir);
	if (access(path, R_OK) != 0)
		tool_die(path, 0, "cannot be used: %s", strerror(errno));
	if (strpbrk(path, " :") != NULL)
		tool_die(path, 0, "cannot be preloaded: the loader splits at spaces and colons");
	add_env("LD_PRELOAD", path, false); /* a sanitizer's run time must stay first */
	snprintf(path, sizeof path, "%s/libhrr-audit.so", libdir);
	if (audit && access(path, R_OK) == 0) {
		add_env("LD_AUDIT", path, false);
		/* With an audit object glibc lays thread-local memory out before it has seen the
		 * program's libraries: those that want it static need room that is kept for them.
		 */
		const char *have = getenv("GLIBC_TUNABLES");
		if (have == NULL || strstr(have, "optional_static_tls") == NULL)
			add_env("GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=8192", false);
	}
	if (strcmp(device, "emu") == 0) {
		snprintf(path, sizeof path, "%s/emu", libdir);
		if (access(path, R_OK) != 0)
			tool_die(path, 0, "no CPU run time: %s", strerror(errno));
		add_env("LD_LIBRARY_PATH", path, true);
	}
	setenv(HRR_ENV_DIR, scratch, 1);
}

/* The command, held back until the archive stands. go: closed to hold, a byte to run. */
struct start {
	pid_t pid;
	int go, failed; /* write end; read end that gives errno */
};

static struct start start_command(char **argv, bool streaming)
{
	int go[2], failed[2];
	struct start s;

	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(failed, O_CLOEXEC) < 0)
		tool_die(NULL, 0, "cannot start: %s", strerror(errno));
	s.pid = fork();
	if (s.pid < 0)
		tool_die(NULL, 0, "cannot start: %s", strerror(errno));
	if (s.pid == 0) {
		struct sigaction dfl = {.sa_handler = SIG_DFL};
		char path[3584], c;
		ssize_t n = 0;
		close(go[1]);
		/* The scratch folder's name, then the command may run. */
		while ((size_t)n < sizeof path - 1) {
			ssize_t k = read(go[0], path + n, sizeof path - 1 - (size_t)n);
			if (k <= 0)
				break;
			n += k;
		}
		(void)c;
		if (n == 0)
			_exit(OWN_FAILURE);
		path[n] = '\0';
		for (int sig = 1; sig < 32; sig++)
			if (sig == SIGTERM || sig == SIGHUP || sig == SIGCHLD || sig == SIGINT ||
			    sig == SIGQUIT || sig == SIGPIPE)
				sigaction(sig, &dfl, NULL);
		if (streaming && dup2(2, 1) < 0)
			_exit(OWN_FAILURE);
		child_environment(path);
		execvp(argv[0], argv);
		int err = errno;
		(void)!write(failed[1], &err, sizeof err);
		_exit(err == ENOENT ? NOT_FOUND : CANNOT_RUN);
	}
	close(go[0]);
	close(failed[1]);
	s.go = go[1];
	s.failed = failed[0];
	return s;
}

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
	if (hrr_buf_str(&b) == NULL)
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

struct session {
	struct hrr_archive *archive;
	struct hrr_blobs *blobs;
	struct hrr_collect *collect;
	char dir[3072]; /* archive, or the blobs' folder of a stream; absolute */
	char scratch[3200];
	bool own_blobs; /* we made the blobs' folder */
};

static void open_outputs(struct session *s, struct hrr_collect_options *opt, const char *out,
			 const char *blobs)
{
	struct hrr_diag diag = {0};

	if (out != NULL) {
		make_absolute(out, s->dir, sizeof s->dir);
		if (hrr_archive_create(&s->archive, s->dir, &diag) < 0)
			tool_die_diag(&diag);
		s->blobs = hrr_archive_blobs(s->archive);
		opt->archive = s->archive;
		opt->blobs_name = "../blobs";
	} else {
		if (blobs != NULL) {
			make_absolute(blobs, s->dir, sizeof s->dir);
		} else {
			char name[64];
			snprintf(name, sizeof name, "hrr-blobs-XXXXXX");
			if (mkdtemp(name) == NULL)
				tool_die(NULL, 0, "cannot make a folder for blobs: %s",
					 strerror(errno));
			make_absolute(name, s->dir, sizeof s->dir);
			s->own_blobs = true;
		}
		if (hrr_blobs_open(&s->blobs, s->dir, true, &diag) < 0)
			tool_die_diag(&diag);
		opt->fd = STDOUT_FILENO;
		opt->blobs_name = hrr_blobs_path(s->blobs);
	}
	opt->blobs = s->blobs;
	snprintf(s->scratch, sizeof s->scratch, "%s/.hrr-XXXXXX", s->dir);
	if (out != NULL) /* a fixed name, which --recover finds */
		snprintf(s->scratch, sizeof s->scratch, "%s/.recording", s->dir);
	if (out != NULL ? mkdir(s->scratch, 0700) < 0 : mkdtemp(s->scratch) == NULL)
		tool_die(s->scratch, 0, "cannot be made: %s", strerror(errno));
	opt->scratch = s->scratch;
	if (hrr_collect_open(&s->collect, opt, false, &diag) < 0)
		tool_die_diag(&diag);
}

/* A folder that holds nothing but what we put there. */
static void remove_archive(const char *dir)
{
	char path[4096];

	snprintf(path, sizeof path, "%s/manifest.json", dir);
	unlink(path);
	snprintf(path, sizeof path, "%s/blobs", dir);
	rmdir(path);
	rmdir(dir);
}

static int exit_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Until the command and every recorded process have ended, or TERM came twice. */
static int run(struct session *s, pid_t pid)
{
	struct hrr_diag diag;
	int status = 0;
	bool running = true, told = false;
	unsigned idle = 0;

	hrr_collect_command(s->collect, pid);
	for (;;) {
		int rc = hrr_collect_step(s->collect, &diag);
		if (rc < 0 && !told) {
			told = true;
			if (strstr(diag.what, "Broken pipe") == NULL)
				tool_say_diag(&diag);
		}
		struct hrr_collect_summary sum;
		hrr_collect_summary(s->collect, &sum);
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
		if (!running && (hrr_collect_alive(s->collect) == 0 || got_term != 0))
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

static const char *count(uint64_t n, const char *what, char *buf, size_t size)
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

static void report(const struct session *s, const struct hrr_collect_summary *sum, bool stream)
{
	char a[64], b[64], d[64];

	if (!quiet)
		tool_say(stream ? NULL : s->dir, 0, "%s and %s recorded%s",
			 count(sum->calls, "call", a, sizeof a),
			 count(sum->outputs, "output", b, sizeof b),
			 processes(sum->processes, d, sizeof d));
	if (sum->lost != 0 || sum->lost_bytes != 0)
		tool_say(stream ? NULL : s->dir, 0, "lost: %llu records, %llu bytes",
			 (unsigned long long)sum->lost, (unsigned long long)sum->lost_bytes);
	if (sum->not_recorded != 0 && !quiet)
		tool_say(stream ? NULL : s->dir, 0,
			 "%s of functions that are not recorded: see the end record",
			 count(sum->not_recorded, "call", a, sizeof a));
}

static int recover(const char *dir)
{
	struct hrr_diag diag = {0};
	struct session s = {0};
	struct hrr_collect_summary sum;

	make_absolute(dir, s.dir, sizeof s.dir);
	snprintf(s.scratch, sizeof s.scratch, "%s/.recording", s.dir);
	if (access(s.scratch, F_OK) != 0)
		tool_die(dir, 0, "nothing to recover: no unfinished recording here");
	if (hrr_archive_reopen(&s.archive, s.dir, &diag) < 0)
		tool_die_diag(&diag);
	s.blobs = hrr_archive_blobs(s.archive);
	struct hrr_collect_options opt = {
	    .scratch = s.scratch, .archive = s.archive, .blobs = s.blobs, .blobs_name = "../blobs"};
	if (hrr_collect_open(&s.collect, &opt, true, &diag) < 0)
		tool_die_diag(&diag);
	while (hrr_collect_step(s.collect, NULL) > 0)
		;
	int rc = hrr_collect_finish(s.collect, &diag);
	if (rc < 0)
		tool_say_diag(&diag);
	hrr_collect_summary(s.collect, &sum);
	if (hrr_collect_alive(s.collect) == 0)
		rmdir(s.scratch);
	if (hrr_archive_state(s.archive, sum.cut ? "cut" : "complete", &diag) < 0)
		tool_die_diag(&diag);
	report(&s, &sum, false);
	return tool_finish(rc < 0 ? OWN_FAILURE : 0);
}

int main(int argc, char **argv)
{
	const char *out = NULL, *blobs = NULL, *recovered = NULL;
	struct hrr_buf only = {0};
	uint64_t window = 0; /* ns; 0: all */
	struct hrr_collect_options opt = {.fd = -1,
					  .ring_size = HRR_RING_DEFAULT,
					  .arena_size = HRR_ARENA_DEFAULT,
					  .host_limit = (uint64_t)64 << 20,
					  .min_free = (uint64_t)256 << 20};

	tool_start("hrr-capture", usage);
	tool_set_trouble(OWN_FAILURE);
	for (int o; (o = tool_option(argc, argv, "+o:b:d:q", longs)) != -1;)
		switch (o) {
		case 'o':
			out = optarg;
			break;
		case 'b':
			blobs = optarg;
			break;
		case 'd':
			device = optarg;
			break;
		case 'q':
			quiet = true;
			tool_quiet();
			break;
		case O_RECOVER:
			recovered = optarg;
			break;
		case O_HSA:
			opt.options |= HRR_OPT_HSA_REGIONS;
			break;
		case O_HOST:
			opt.options &= ~(uint32_t)(HRR_OPT_HOST_OFF | HRR_OPT_HOST_ALL);
			if (strcmp(optarg, "off") == 0)
				opt.options |= HRR_OPT_HOST_OFF;
			else if (strcmp(optarg, "all") == 0)
				opt.options |= HRR_OPT_HOST_ALL;
			else if (strcmp(optarg, "args") != 0)
				tool_misuse("--host-memory: args, all or off, not %s", optarg);
			break;
		case O_HOST_LIMIT:
			opt.host_limit = bytes_option("--host-limit", optarg);
			break;
		case O_RING:
			opt.ring_size = bytes_option("--ring-size", optarg);
			if (opt.ring_size < HRR_RING_MIN || opt.ring_size > HRR_RING_MAX ||
			    (opt.ring_size & (opt.ring_size - 1)) != 0)
				tool_misuse("--ring-size: a power of two from 64K to 256M");
			break;
		case O_ARENA:
			opt.arena_size = bytes_option("--arena-size", optarg);
			if (opt.arena_size > HRR_ARENA_MAX)
				tool_misuse("--arena-size: too large");
			break;
		case O_DROP:
			opt.options |= HRR_OPT_DROP;
			break;
		case O_STRICT:
			strict = true;
			break;
		case O_MAX:
			opt.max_bytes = bytes_option("--max-bytes", optarg);
			break;
		case O_WINDOW:
			window = seconds_option("--window", optarg);
			break;
		case O_GATE:
			opt.options |= HRR_OPT_GATE;
			break;
		case O_ONLY:
			add_only(&only, optarg);
			opt.only = only.data;
			break;
		case O_NO_AUDIT:
			audit = false;
			break;
		case O_FREE:
			opt.min_free = bytes_option("--min-free", optarg);
			break;
		}
	if (recovered != NULL) {
		if (argv[optind] != NULL)
			tool_misuse("--recover takes no command");
		return recover(recovered);
	}
	if (argv[optind] == NULL)
		tool_misuse("no command given");
	if (strcmp(device, "emu") != 0 && strcmp(device, "rocm") != 0)
		tool_misuse("-d: emu or rocm, not %s", device);
	bool stream = out != NULL && strcmp(out, "-") == 0;
	if (window != 0 && stream)
		tool_misuse("--window needs an archive: what stays is known at the end");
	if (window != 0 && (opt.only != NULL || (opt.options & HRR_OPT_GATE) != 0))
		tool_misuse("--window does not go with --only or --profiler-gate");
	if (blobs != NULL && !stream)
		tool_misuse("-b goes with -o -");

	struct session s = {0};
	set_signals();
	struct start st = start_command(argv + optind, stream);
	child = st.pid;
	char def[512];
	if (out == NULL) {
		const char *slash = strrchr(argv[optind], '/');
		snprintf(def, sizeof def, "%.400s.%%p.hrr",
			 slash != NULL ? slash + 1 : argv[optind]);
		out = def;
	}
	open_outputs(&s, &opt, stream ? NULL : expand(out, st.pid), blobs);
	if (stream && s.own_blobs)
		tool_say(NULL, 0, "blobs go to %s", s.dir);
	if (write(st.go, s.scratch, strlen(s.scratch)) != (ssize_t)strlen(s.scratch))
		tool_die(NULL, 0, "cannot start: %s", strerror(errno));
	close(st.go);
	int err = 0;
	bool failed = read(st.failed, &err, sizeof err) == sizeof err;
	close(st.failed);

	struct hrr_diag diag = {0};
	int status = run(&s, st.pid), code = exit_code(status);
	int rc = hrr_collect_finish(s.collect, &diag);
	struct hrr_collect_summary sum;
	hrr_collect_summary(s.collect, &sum);
	hrr_collect_close(s.collect);
	uint64_t windowed = 0;
	char text[64];
	bool left = rmdir(s.scratch) != 0 && errno != ENOENT;
	if (failed)
		tool_say(argv[optind], 0, "cannot be run: %s", strerror(err));
	if (sum.processes == 0 && !stream) {
		hrr_archive_close(s.archive);
		remove_archive(s.dir);
		if (!failed && !quiet)
			tool_say(NULL, 0, "no HIP call was made: nothing is recorded");
		return tool_finish(code);
	}
	if (sum.processes == 0 && s.own_blobs)
		rmdir(s.dir);
	if (window != 0 && (left || rc < 0)) {
		tool_say(s.dir, 0, "everything is kept: %s",
			 left ? "a process runs on" : "not all of it could be written");
	} else if (window != 0) {
		rc = hrr_collect_window(s.dir, window, &windowed, &diag);
		if (rc < 0)
			tool_say_diag(&diag);
		else if (!quiet)
			tool_say(s.dir, 0, "%s kept by --window",
				 count(windowed, "call", text, sizeof text));
	}
	if (s.archive != NULL &&
	    hrr_archive_state(s.archive, sum.cut || left ? "cut" : "complete", &diag) < 0)
		tool_die_diag(&diag);
	report(&s, &sum, stream);
	if (rc < 0 && strstr(diag.what, "Broken pipe") == NULL)
		code = OWN_FAILURE;
	if (strict && (sum.lost != 0 || sum.lost_bytes != 0))
		code = OWN_FAILURE;
	return tool_finish(code);
}
