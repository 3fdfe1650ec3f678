#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bin/tool.h"
#include "bin/tool_source.h"
#include "lib/emu/runtime/emu.h"
#include "lib/replay/children.h"
#include "lib/replay/fault.h"
#include "lib/replay/replay.h"
#include "lib/stream/edit.h"

static const char usage[] =
    "usage: hrr-play [-kq] [-b DIR] [-d DEVICE] [-r FILE] [options] [ARCHIVE | -]\n"
    "\n"
    "Issues the recorded calls again and compares what comes back.\n"
    "\n"
    "  -b DIR               the blobs are in DIR\n"
    "  -d DEVICE            rocm, emu (the CPU), a library, or auto (the default)\n"
    "  -k                   keep going past calls that fail or are refused\n"
    "  -q                   no progress, no summary when all is well\n"
    "  -r FILE              one JSON line per outcome goes to FILE\n"
    "  --pid PID            only the process PID\n"
    "  --seq A:B            check only outputs of calls A to B, and end after B\n"
    "  --stop-at SEQ        end after call SEQ\n"
    "  --dump ADDR:SIZE     then write these bytes to standard output\n"
    "  --only-kernel GLOB   end after the first launch of a kernel so named\n"
    "  --replace-kernel NAME=FILE\n"
    "                       take kernel NAME from the code object FILE\n"
    "  --type TYPE, --atol X, --rtol X, --ulp N\n"
    "                       how far outputs may be apart (TYPE: f16 bf16 f32 f64\n"
    "                       i8 u8 i16 u16 i32 u32 i64 u64)\n"
    "  --rules FILE         the same by call, kernel or address\n"
    "  --regions FILE       one more sidecar, for the first process\n"
    "  --no-regions         ignore regions\n"
    "  --regions-strict     an access outside every live block is a failure\n"
    "  --no-placement       do not ask for recorded addresses\n"
    "  --fill-byte N        what fresh memory holds (0)\n"
    "  --max-host-bytes N   limit of host memory behind registrations and graphs\n"
    "  --sync-after-launch  wait after each launch: names the guilty one\n"
    "  --hash-launches FILE a stream with a hash of what each launch could write;\n"
    "                       the bytes go to FILE.blobs\n"
    "  --memcheck[=blocks,init]\n"
    "                       check each access of kernels (-d emu): name what is wrong\n"
    "                       and go on; by block, and reads of what nothing wrote\n"
    "  --timing             wait after each launch and print kernel times\n"
    "  --watchdog SECONDS   how long one wait may take (120; 0: for ever)\n"
    "  --require-complete   a stream cut short is a failure\n"
    "  --inject API[:N[-[M]]][:ERROR]\n"
    "                       make calls fail, to test\n"
    "  -h, --version        this text; the version\n";

enum {
	OPT_PID = 256,
	OPT_SEQ,
	OPT_STOP_AT,
	OPT_DUMP,
	OPT_ONLY,
	OPT_REPLACE,
	OPT_TYPE,
	OPT_ATOL,
	OPT_RTOL,
	OPT_ULP,
	OPT_RULES,
	OPT_REGIONS,
	OPT_NO_REGIONS,
	OPT_STRICT,
	OPT_NO_PLACEMENT,
	OPT_FILL,
	OPT_MAX_HOST,
	OPT_SYNC,
	OPT_HASH,
	OPT_TIMING,
	OPT_WATCHDOG,
	OPT_COMPLETE,
	OPT_INJECT,
	OPT_MEMCHECK,
	OPT_CHILD,
	OPT_RESULTS_FD
};

static const struct option longs[] = {
    {"pid", required_argument, NULL, OPT_PID},
    {"seq", required_argument, NULL, OPT_SEQ},
    {"stop-at", required_argument, NULL, OPT_STOP_AT},
    {"dump", required_argument, NULL, OPT_DUMP},
    {"only-kernel", required_argument, NULL, OPT_ONLY},
    {"replace-kernel", required_argument, NULL, OPT_REPLACE},
    {"type", required_argument, NULL, OPT_TYPE},
    {"atol", required_argument, NULL, OPT_ATOL},
    {"rtol", required_argument, NULL, OPT_RTOL},
    {"ulp", required_argument, NULL, OPT_ULP},
    {"rules", required_argument, NULL, OPT_RULES},
    {"regions", required_argument, NULL, OPT_REGIONS},
    {"no-regions", no_argument, NULL, OPT_NO_REGIONS},
    {"regions-strict", no_argument, NULL, OPT_STRICT},
    {"no-placement", no_argument, NULL, OPT_NO_PLACEMENT},
    {"fill-byte", required_argument, NULL, OPT_FILL},
    {"max-host-bytes", required_argument, NULL, OPT_MAX_HOST},
    {"sync-after-launch", no_argument, NULL, OPT_SYNC},
    {"hash-launches", required_argument, NULL, OPT_HASH},
    {"timing", no_argument, NULL, OPT_TIMING},
    {"watchdog", required_argument, NULL, OPT_WATCHDOG},
    {"require-complete", no_argument, NULL, OPT_COMPLETE},
    {"inject", required_argument, NULL, OPT_INJECT},
    {"memcheck", optional_argument, NULL, OPT_MEMCHECK},
    /* of the programs that replay one of several processes */
    {"child", required_argument, NULL, OPT_CHILD},
    {"results-fd", required_argument, NULL, OPT_RESULTS_FD},
    {0},
};

#define MAX_SIDECARS 64
#define MAX_TRIES 3 /* starts, for the sake of recorded addresses */
#define GRACE 10    /* seconds a HIP call may take beyond the watchdog's wait */

static volatile sig_atomic_t signalled;
static volatile int interrupt;
static atomic_ullong beats; /* records played: the watchdog's thread looks at it */

static struct play {
	const char *operand, *device, *blobs, *results_path, *hashes_path, *type, *atol, *rtol,
	    *ulp;
	struct hrr_replay_options opt;
	struct hrr_tolerance tolerance;
	struct hrr_faults faults;
	struct hrr_hip hip;
	struct hrr_replay *engine;
	struct hrr_source *src;
	struct hrr_children *children;
	FILE *results;
	int64_t pid, child; /* -1: none */
	int results_fd;
	bool no_regions, require_complete, quiet, own_regions;
	uint64_t dump_addr, dump_size;
	const char *sidecars[MAX_SIDECARS];
	size_t n_sidecars;
	uint32_t p, recorded_pid; /* of the process this program replays */
	bool have_p;
	struct hrr_buf text;
	char **argv;
	int n_options;
} play = {.device = "auto", .pid = -1, .child = -1, .results_fd = -1};

static void on_signal(int sig)
{
	signalled = sig;
	interrupt = 1;
}

static const char *operand(void)
{
	return play.operand != NULL ? play.operand : "-";
}

/* --- outcomes ----------------------------------------------------------------- */

static int64_t process_index(void)
{
	return play.child >= 0 ? play.child : play.children != NULL ? (int64_t)play.p : -1;
}

static void put_result(void)
{
	if (play.results == NULL)
		return;
	if (fwrite(play.text.data, 1, play.text.len, play.results) != play.text.len)
		tool_die(play.results_path, 0, "%s", strerror(errno));
}

#define MEMORY_TOLD 20 /* places printed in full; -r has all */

/* The first line as any message, the others below it. */
static void memory(const struct hrr_outcome *o)
{
	static unsigned told;
	const char *s = o->text, *end = strchr(s, '\n');
	char line[512];

	if (told++ >= MEMORY_TOLD) {
		if (told == MEMORY_TOLD + 1)
			tool_say(operand(), o->line, "more wrong accesses: see -r");
		return;
	}
	tool_say(operand(), o->line, "call %llu%s%s%s: %.*s", (unsigned long long)o->seq,
		 o->api != NULL ? " (" : "", o->api != NULL ? o->api : "",
		 o->api != NULL ? ")" : "", (int)(end != NULL ? end - s : (ptrdiff_t)strlen(s)), s);
	while (end != NULL && end[1] != '\0') {
		s = end + 1;
		end = strchr(s, '\n');
		hrr_mask(line, sizeof line, s, end != NULL ? (size_t)(end - s) : strlen(s));
		fprintf(stderr, "%s\n", line);
	}
}

static void on_outcome(void *self, const struct hrr_outcome *o)
{
	(void)self;
	if (play.results != NULL) {
		play.text.len = 0;
		if (hrr_outcome_json(&play.text, o, process_index()) < 0)
			tool_no_memory();
		put_result();
	}
	if (o->kind == HRR_EXACT || o->kind == HRR_TOLERATED)
		return;
	if (o->kind == HRR_UNCHECKED) {
		if (!play.quiet)
			tool_say(operand(), o->line,
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
		tool_say(operand(), o->line, "%s: %s", o->api, o->text);
	else
		tool_say(operand(), o->line, "%s%s", o->kind == HRR_WARNED ? "warning: " : "",
			 o->text);
}

static void on_fidelity(void *self, const struct hrr_launch_fidelity *f)
{
	(void)self;
	play.text.len = 0;
	if (hrr_fidelity_json(&play.text, f, process_index()) < 0)
		tool_no_memory();
	put_result();
}

/* --- options -------------------------------------------------------------------- */

static void pair(const char *what, const char *text, uint64_t *a, uint64_t *b)
{
	const char *colon = strchr(text, ':');
	char first[32];

	if (colon == NULL || colon == text || (size_t)(colon - text) >= sizeof first)
		tool_misuse("%s: not two numbers with a colon between: %s", what, text);
	memcpy(first, text, (size_t)(colon - text));
	first[colon - text] = '\0';
	*a = tool_number(what, first);
	*b = tool_number(what, colon + 1);
}

static void more_options(int o)
{
	struct hrr_diag diag = {0};
	uint64_t n;

	switch (o) {
	case OPT_ONLY:
		play.opt.only_kernel = optarg;
		break;
	case OPT_REPLACE:
		if (strchr(optarg, '=') == NULL || play.opt.n_replace == HRR_REPLAY_MAX_REPLACE)
			tool_misuse("--replace-kernel: not NAME=FILE, or too many: %s", optarg);
		play.opt.replace[play.opt.n_replace++] = optarg;
		break;
	case OPT_TYPE:
		play.type = optarg;
		break;
	case OPT_ATOL:
		play.atol = optarg;
		break;
	case OPT_RTOL:
		play.rtol = optarg;
		break;
	case OPT_ULP:
		play.ulp = optarg;
		break;
	case OPT_RULES:
		if (hrr_tolerance_load(&play.tolerance, optarg, &diag) < 0)
			tool_die_diag(&diag);
		break;
	case OPT_FILL:
		n = tool_number("--fill-byte", optarg);
		if (n > 255)
			tool_misuse("--fill-byte: not a byte: %s", optarg);
		play.opt.fill_byte = (int)n;
		break;
	case OPT_WATCHDOG:
		n = tool_number("--watchdog", optarg);
		if (n > 1000000)
			tool_misuse("--watchdog: too long: %s", optarg);
		play.opt.watchdog = (unsigned)n;
		break;
	case OPT_INJECT:
		if (hrr_fault_add(&play.faults, optarg, &diag) < 0)
			tool_misuse("--inject: %s", diag.what);
		break;
	case OPT_MEMCHECK:
		if (hrr_memcheck_parse(optarg, &play.opt.memcheck) < 0)
			tool_misuse("--memcheck: not blocks, init or both: %s", optarg);
		break;
	case OPT_CHILD:
		play.child = (int64_t)tool_number("--child", optarg);
		break;
	case OPT_RESULTS_FD:
		play.results_fd = (int)tool_number("--results-fd", optarg);
		break;
	default:
		break;
	}
}

static void option(int o)
{
	switch (o) {
	case 'b':
		play.blobs = optarg;
		break;
	case 'd':
		play.device = optarg;
		break;
	case 'k':
		play.opt.keep_going = true;
		break;
	case 'q':
		play.quiet = true;
		tool_quiet();
		break;
	case 'r':
		play.results_path = optarg;
		break;
	case OPT_PID:
		play.pid = (int64_t)tool_number("--pid", optarg);
		break;
	case OPT_SEQ:
		pair("--seq", optarg, &play.opt.seq_first, &play.opt.seq_last);
		break;
	case OPT_STOP_AT:
		play.opt.stop_at = tool_number("--stop-at", optarg);
		break;
	case OPT_DUMP:
		pair("--dump", optarg, &play.dump_addr, &play.dump_size);
		break;
	case OPT_REGIONS:
		if (play.n_sidecars == MAX_SIDECARS)
			tool_misuse("--regions: more than %d", MAX_SIDECARS);
		play.sidecars[play.n_sidecars++] = optarg;
		break;
	case OPT_NO_REGIONS:
		play.no_regions = true;
		break;
	case OPT_STRICT:
		play.opt.strict_regions = true;
		break;
	case OPT_NO_PLACEMENT:
		play.opt.no_placement = true;
		break;
	case OPT_MAX_HOST:
		play.opt.max_host_bytes = tool_number("--max-host-bytes", optarg);
		break;
	case OPT_SYNC:
		play.opt.sync_after_launch = true;
		break;
	case OPT_HASH:
		play.hashes_path = optarg;
		break;
	case OPT_TIMING:
		play.opt.timing = true;
		break;
	case OPT_COMPLETE:
		play.require_complete = true;
		break;
	default:
		more_options(o);
		break;
	}
}

/* --type and its companions are one rule for everything, behind those of --rules. */
static void tolerance(void)
{
	struct hrr_diag diag = {0};
	char text[256];

	if (play.type == NULL) {
		if (play.atol != NULL || play.rtol != NULL || play.ulp != NULL)
			tool_misuse("--atol, --rtol and --ulp need --type");
	} else {
		int n = snprintf(text, sizeof text, "type=%s nan=equal atol=%s rtol=%s ulp=%s",
				 play.type, play.atol != NULL ? play.atol : "0",
				 play.rtol != NULL ? play.rtol : "0",
				 play.ulp != NULL ? play.ulp : "0");
		if (n < 0 || (size_t)n >= sizeof text)
			tool_misuse("--type and its companions: too long");
		if (hrr_tolerance_add(&play.tolerance, text, &diag) < 0)
			tool_misuse("%s", diag.what);
	}
	if (play.tolerance.n != 0)
		play.opt.tolerance = &play.tolerance;
}

/* --- starting ------------------------------------------------------------------- */

static struct hrr_source *open_source(void)
{
	struct hrr_source_options so = {.pid = play.pid, .blobs = play.blobs};
	struct hrr_source *src;
	struct hrr_diag diag = {0};

	so.no_sidecars = play.no_regions || play.child >= 0;
	if (!play.no_regions && play.child < 0) {
		so.n_sidecars = play.n_sidecars;
		so.sidecars = play.sidecars;
	}
	if (hrr_source_open(&src, play.operand, &so, &diag) < 0)
		tool_die_diag(&diag);
	return src;
}

static bool is_pipe(void)
{
	return play.operand == NULL || strcmp(play.operand, "-") == 0;
}

/* Something of our own is where memory should go: another draw of addresses may miss it. */
static void start_again(void)
{
	const char *tries = getenv("HRR_PLAY_TRIES");
	int n = tries != NULL ? atoi(tries) : 0;
	char text[16];

	if (n >= MAX_TRIES)
		return;
	snprintf(text, sizeof text, "%d", n + 1);
	setenv("HRR_PLAY_TRIES", text, 1);
	execv("/proc/self/exe", play.argv);
}

/* Reserves the addresses the archive will want, before anything else takes them. */
static struct hrr_place *place(void)
{
	struct hrr_place *p = hrr_place_new();
	struct hrr_diag diag = {0};
	struct hrr_record *rec;
	int rc = 0;

	if (p == NULL)
		tool_no_memory();
	if (is_pipe() || play.opt.no_placement)
		return p;
	struct hrr_source *src = open_source();
	uint32_t first = UINT32_MAX;
	while ((rc = hrr_source_next(src, &rec, &diag)) > 0) {
		if (first == UINT32_MAX)
			first = rec->p;
		if (rec->p == first && hrr_place_scan(p, rec) < 0)
			tool_no_memory();
	}
	hrr_source_close(src); /* what is wrong with it is said when it is played */
	if (hrr_place_reserve(p) > 0)
		start_again();
	return p;
}

static void load(void)
{
	struct hrr_diag diag = {0};
	char libdir[4096];
	int n, rc;

	if (hrr_libdir(libdir, sizeof libdir) < 0)
		libdir[0] = '\0';
	bool automatic = strcmp(play.device, "auto") == 0;
	if (automatic) {
		if (hrr_hip_load(&play.hip, "rocm", libdir, &diag) == 0 &&
		    hrr_hip_devices(&play.hip, &n, &diag) == 0) {
			play.device = "rocm";
			tool_say(NULL, 0, "device rocm: %s", play.hip.path);
			return;
		}
		play.device = "emu";
		if (!play.quiet && play.child < 0)
			tool_say(NULL, 0, "device emu: no GPU answers, the CPU run time is used");
	}
	diag = (struct hrr_diag){0};
	rc = hrr_hip_load(&play.hip, play.device, libdir, &diag);
	if (rc < 0)
		tool_die(NULL, 0, "%s", diag.what);
}

/* A HIP call that never comes back cannot be ended in order: say so and leave. */
static void *watch(void *self)
{
	unsigned long long last = 0;
	unsigned same = 0;

	(void)self;
	for (;;) {
		sleep(1);
		unsigned long long now = atomic_load(&beats);
		same = now == last ? same + 1 : 0;
		last = now;
		if (now != 0 && same > play.opt.watchdog + GRACE) {
			static const char text[] =
			    "hrr-play: watchdog: a HIP call does not return; what the device may "
			    "still write is left alone\n";
			ssize_t n = write(2, text, sizeof text - 1);
			(void)n;
			_exit(TOOL_TROUBLE);
		}
	}
	return NULL;
}

static void start_engine(struct hrr_place *p)
{
	struct hrr_diag diag = {0};
	struct sigaction sa = {.sa_handler = on_signal};
	pthread_t t;

	if (play.faults.n != 0)
		hrr_fault_install(&play.faults, &play.hip);
	play.opt.interrupt = &interrupt;
	play.opt.outcome = on_outcome;
	play.opt.fidelity = play.results != NULL ? on_fidelity : NULL;
	if (hrr_replay_new(&play.engine, &play.hip, &play.opt, NULL, &diag) < 0)
		tool_die(NULL, 0, "%s", diag.what);
	hrr_replay_set_place(play.engine, p);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	if (play.opt.watchdog != 0 && pthread_create(&t, NULL, watch, NULL) == 0)
		pthread_detach(t);
}

/* --- several processes ------------------------------------------------------------ */

static void start_child(const struct hrr_record *rec)
{
	char exe[4096], p[32], fd[32];
	const char *blobs = hrr_source_blobs_path(play.src, rec->p);
	struct hrr_diag diag = {0};
	char **argv = calloc((size_t)play.n_options + 12, sizeof *argv);
	int n = 0;

	if (play.opt.stop_at != 0 || play.opt.seq_last != 0 || play.dump_size != 0 ||
	    play.hashes_path != NULL)
		tool_die(operand(), 0,
			 "several processes: --seq, --stop-at, --dump and --hash-launches are of "
			 "one, see --pid");
	ssize_t len = readlink("/proc/self/exe", exe, sizeof exe - 1);
	if (argv == NULL || len < 0)
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
		tool_die(operand(), 0, "%s", diag.what);
	free(dir);
	free(dev);
	free(argv);
}

/* Whether the record belongs to another process than ours; then it is handed on. */
static bool handed_on(const struct hrr_record *rec)
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
	if (hrr_children_line(play.children, rec->p, rec->line, rec->len, &diag) < 0)
		tool_die(hrr_source_name(play.src, rec), rec->lineno, "%s", diag.what);
	return true;
}

/* --- playing ------------------------------------------------------------------------ */

/* The stream of hashes has the recorded header, but blobs of its own. */
static void put_hash_header(const struct hrr_record *rec)
{
	const char *path = hrr_blobs_path(play.opt.hash_blobs);
	struct hrr_buf value = {0}, line = {0};

	if (hrr_json_put_str(&value, path, strlen(path)) < 0)
		tool_no_memory();
	const struct hrr_edit e = {"blobs", value.data, value.len, HRR_EDIT_LAST};
	if (hrr_record_edit(rec, &e, 1, &line) < 0 || hrr_buf_addc(&line, '\n') < 0)
		tool_no_memory();
	fwrite(line.data, 1, line.len, play.opt.hashes);
	hrr_buf_release(&value);
	hrr_buf_release(&line);
}

static void read_header(const struct hrr_record *rec)
{
	uint64_t pid = 0;
	int n = hrr_json_get(&rec->json, 0, "pid");

	if (n >= 0 && hrr_json_u64(&rec->json, n, &pid) == 0)
		play.recorded_pid = (uint32_t)pid;
	if (play.opt.hashes != NULL)
		put_hash_header(rec);
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
		atomic_fetch_add(&beats, 1);
		if ((++n & 0xfff) == 0)
			tool_progress("records", n, 0);
		if (handed_on(rec) || done)
			continue;
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
			tool_say(hrr_source_name(play.src, rec), rec->lineno, "%.*s%s%s",
				 (int)(rec->kind == HRR_REC_CALL ? rec->api_len : 0),
				 rec->kind == HRR_REC_CALL ? rec->api : "",
				 rec->kind == HRR_REC_CALL ? ": " : "", diag.what);
			return rc;
		}
		done = rc > 0;
		if (done && hrr_source_files(play.src) <= 1 && play.children == NULL && !is_pipe())
			return 1;
	}
	if (rc < 0)
		tool_say_diag(&diag);
	return rc < 0 ? rc : done;
}

static void dump(void)
{
	struct hrr_diag diag = {0};
	unsigned char *data = malloc(play.dump_size + 1);

	if (data == NULL)
		tool_no_memory();
	if (hrr_replay_peek(play.engine, play.dump_addr, play.dump_size, data, &diag) < 0)
		tool_die(operand(), 0, "--dump: %s", diag.what);
	tool_write(data, play.dump_size);
	free(data);
}

/* What the CPU run time has to say about how exact it was. */
static void fidelity(struct hrr_verdict *v)
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

static void times(void)
{
	struct hrr_kernel_time t;

	for (size_t i = 0; hrr_replay_time(play.engine, i, &t) == 0; i++)
		tool_say(NULL, 0, "time: %s: %llu launches, %.3f ms, %.3f to %.3f us each", t.name,
			 (unsigned long long)t.launches, (double)t.total / 1e6, (double)t.min / 1e3,
			 (double)t.max / 1e3);
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

static void summary(const struct hrr_verdict *v, int code)
{
	play.text.len = 0;
	if (play.results != NULL) {
		if (hrr_verdict_json(&play.text, v, play.require_complete, process_index()) < 0)
			tool_no_memory();
		put_result();
		if (fflush(play.results) != 0)
			tool_die(play.results_path, 0, "%s", strerror(errno));
	}
	if (play.quiet && code == 0)
		return;
	play.text.len = 0;
	if (process_index() >= 0 && hrr_buf_addf(&play.text, "Process : %lld (pid %u)\n",
						 (long long)process_index(), play.recorded_pid) < 0)
		tool_no_memory();
	if (hrr_verdict_text(&play.text, v, play.require_complete) < 0)
		tool_no_memory();
	tool_progress(NULL, 0, 0);
	fwrite(play.text.data, 1, play.text.len, stderr);
}

static void open_outputs(void)
{
	if (play.hashes_path != NULL) {
		play.opt.hashes = fopen(play.hashes_path, "we");
		if (play.opt.hashes == NULL)
			tool_die(play.hashes_path, 0, "%s", strerror(errno));
		struct hrr_diag diag = {0};
		char dir[4096];
		int n = snprintf(dir, sizeof dir, "%s.blobs", play.hashes_path);
		if (n < 0 || (size_t)n >= sizeof dir)
			tool_die(play.hashes_path, 0, "too long");
		if (hrr_blobs_open(&play.opt.hash_blobs, dir, true, &diag) < 0)
			tool_die(dir, 0, "%s", diag.what);
	}
	if (play.results_fd < 0 && play.results_path != NULL) {
		play.results_fd =
		    open(play.results_path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);
		if (play.results_fd < 0)
			tool_die(play.results_path, 0, "%s", strerror(errno));
	}
	if (play.results_fd >= 0) {
		play.results = fdopen(play.results_fd, "a");
		if (play.results == NULL)
			tool_die(play.results_path, 0, "%s", strerror(errno));
		setvbuf(play.results, NULL, _IOLBF, 1 << 16);
	}
}

int main(int argc, char **argv)
{
	struct hrr_diag diag = {0};

	tool_start("hrr-play", usage);
	play.opt.watchdog = HRR_REPLAY_DEFAULT_WATCHDOG;
	for (int o; (o = tool_option(argc, argv, "b:d:kqr:", longs)) != -1;)
		option(o);
	if (optind + 1 < argc)
		tool_misuse("one archive at a time: %s", argv[optind + 1]);
	play.operand = argv[optind];
	play.argv = argv;
	play.n_options = optind;
	if (play.dump_size != 0 && play.dump_size > (uint64_t)1 << 40)
		tool_misuse("--dump: too much");
	tolerance();
	open_outputs();
	struct hrr_place *p = place();
	play.src = open_source();
	load();
	start_engine(p);

	int rc = play_all();
	if (rc >= 0 && play.dump_size != 0)
		dump();
	if (play.opt.timing)
		times();
	atomic_fetch_add(&beats, 1);
	if (hrr_replay_finish(play.engine, &diag) < 0)
		tool_say(operand(), 0, "%s", diag.what);
	struct hrr_verdict v = *hrr_replay_verdict(play.engine);
	bool nothing = false;
	if (rc == 0)
		nothing = play.child < 0 ? !tool_say_state(play.operand, play.src) : false;
	if (rc >= 0)
		state(&v);
	v.cut = v.cut && rc == 0;
	v.trouble = v.trouble || rc < 0 || nothing;
	fidelity(&v);
	int code = hrr_verdict_exit(&v, play.require_complete);
	summary(&v, code);
	if (v.abandoned) { /* exit handlers of the run time might wait for the device, too */
		if (play.children != NULL)
			hrr_children_end(play.children, SIGTERM);
		tool_flush();
		_exit(code);
	}
	hrr_replay_free(play.engine);
	hrr_source_close(play.src);
	if (play.children != NULL) {
		int worst = hrr_children_end(play.children, signalled);
		code = worst > code ? worst : code;
	}
	if (play.opt.hashes != NULL)
		fprintf(play.opt.hashes,
			"{\"end\":\"filtered\",\"t\":0,\"calls\":%llu,\"outputs\":%llu,"
			"\"regions\":0,\"lost\":0,\"notRecorded\":{}}\n",
			(unsigned long long)v.hashed, (unsigned long long)v.hashes);
	if (play.opt.hashes != NULL && fclose(play.opt.hashes) != 0)
		tool_die(play.hashes_path, 0, "%s", strerror(errno));
	if (play.opt.hash_blobs != NULL)
		hrr_blobs_close(play.opt.hash_blobs);
	hrr_tolerance_release(&play.tolerance);
	hrr_buf_release(&play.text);
	return tool_finish(code);
}
