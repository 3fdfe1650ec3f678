#include <string.h>

#include "bin/play.h"
#include "bin/tool.h"

/* The command line of hrr-play. */

static const char usage[] =
    "usage: hrr-play [-kq] [-b DIR] [-d DEVICE] [-r FILE] [options] [ARCHIVE | -]\n"
    "\n"
    "Issues the recorded calls again and compares what comes back.\n"
    "\n"
    "  -b DIR               the blobs are in DIR\n"
    "  -d DEVICE            rocm, emu (the CPU), a library, or auto (the default)\n"
    "  -k                   keep going past calls that fail or are refused\n"
    "  -q                   no progress, no summary when all is well\n"
    "  -r FILE              one JSON line per outcome goes to FILE (-: to standard\n"
    "                       output)\n"
    "  --pid PID            only the process PID\n"
    "  --seq A:B            check only outputs of calls A to B, and end after B\n"
    "                       (A: from A on, :B up to B)\n"
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
	OPT_NAME,
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
    {"name", required_argument, NULL, OPT_NAME},
    {"results-fd", required_argument, NULL, OPT_RESULTS_FD},
    {0},
};

#define MAX_DUMP ((uint64_t)1 << 40)

/* A, B or both of A:B may be left out; there is no call 0. */
static void calls(const char *text, uint64_t *first, uint64_t *last)
{
	const char *colon = strchr(text, ':');
	char a[32] = "";

	if (colon == NULL || text[1] == '\0' || (size_t)(colon - text) >= sizeof a)
		tool_misuse("--seq: not A:B, A: or :B: %s", text);
	memcpy(a, text, (size_t)(colon - text));
	*first = a[0] != '\0' ? tool_number("--seq", a) : 1;
	*last = colon[1] != '\0' ? tool_number("--seq", colon + 1) : UINT64_MAX;
	if (*first == 0 || *last < *first)
		tool_misuse("--seq: no calls: %s", text);
}

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
		if (strchr(optarg, '=') == NULL || optarg[0] == '=')
			tool_misuse("--replace-kernel: not NAME=FILE: %s", optarg);
		if (play.opt.n_replace == HRR_REPLAY_MAX_REPLACE)
			tool_misuse("--replace-kernel: more than %d", HRR_REPLAY_MAX_REPLACE);
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
		if (hrr_rules_load(&play.tolerance, optarg, &diag) < 0)
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
	case OPT_NAME:
		play.name = optarg;
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
		if (optarg[0] == '\0')
			tool_misuse("-d: no device");
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
		calls(optarg, &play.opt.seq_first, &play.opt.seq_last);
		break;
	case OPT_STOP_AT:
		play.opt.stop_at = tool_number("--stop-at", optarg);
		if (play.opt.stop_at == 0)
			tool_misuse("--stop-at: the first call is 1: %s", optarg);
		break;
	case OPT_DUMP:
		pair("--dump", optarg, &play.dump_addr, &play.dump_size);
		if (play.dump_size == 0 || play.dump_size > MAX_DUMP)
			tool_misuse("--dump: not a size: %s", optarg);
		break;
	case OPT_REGIONS:
		if (play.n_sidecars == PLAY_SIDECARS)
			tool_misuse("--regions: more than %d", PLAY_SIDECARS);
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
		play.opt.max_host_bytes = tool_size("--max-host-bytes", optarg);
		break;
	case OPT_SYNC:
		play.opt.sync_after_launch = true;
		break;
	case OPT_HASH:
		play.hashes_path = optarg;
		if (strcmp(optarg, "-") == 0)
			tool_misuse("--hash-launches: needs a file, since blobs go beside it");
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
		if (hrr_rules_add(&play.tolerance, text, &diag) < 0)
			tool_misuse("--%s", diag.what); /* it begins with the key */
	}
	if (play.tolerance.n != 0)
		play.opt.tolerance = &play.tolerance;
}

void play_options(int argc, char **argv)
{
	tool_start("hrr-play", usage);
	play.opt.watchdog = HRR_REPLAY_DEFAULT_WATCHDOG;
	for (int o; (o = tool_option(argc, argv, "b:d:kqr:", longs)) != -1;)
		option(o);
	if (optind + 1 < argc)
		tool_misuse("one archive at a time: %s", argv[optind + 1]);
	play.operand = argv[optind];
	play.argv = argv;
	play.n_options = optind;
	if (play.results_path != NULL && strcmp(play.results_path, "-") == 0 && play.dump_size != 0)
		tool_misuse("-r - and --dump both write to standard output");
	tolerance();
}
