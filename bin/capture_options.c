#include <stdlib.h>
#include <string.h>

#include "bin/capture.h"
#include "bin/tool.h"
#include "lib/preload/ring.h"
#include "lib/stream/select.h"

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
    "  --window SECONDS  keep the calls of the last SECONDS and what they depend on\n"
    "  -h, --version     this text; the version\n"
    "\n"
    "exit code: COMMAND's; 128+N when signal N ended it; 125 own failure;\n"
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

struct capture capture = {.device = "rocm",
			  .audit = true,
			  .opt = {.fd = -1,
				  .ring_size = HRR_RING_DEFAULT,
				  .arena_size = HRR_ARENA_DEFAULT,
				  .host_limit = (uint64_t)64 << 20,
				  .min_free = (uint64_t)256 << 20}};

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
	if (hrr_buf_str(b) == NULL || b->failed)
		tool_no_memory();
	if (b->len >= HRR_ONLY_MAX)
		tool_misuse("--only: too long");
}

static bool is_set(const char *name)
{
	const char *s = getenv(name);

	return s != NULL && atoi(s) != 0;
}

void capture_options(int argc, char **argv)
{
	static struct hrr_buf only; /* what the options point to */
	struct hrr_collect_options *opt = &capture.opt;

	tool_start("hrr-capture", usage);
	tool_set_trouble(OWN_FAILURE);
	for (int o; (o = tool_option(argc, argv, "+o:b:d:q", longs)) != -1;)
		switch (o) {
		case 'o':
			capture.out = optarg;
			break;
		case 'b':
			capture.blobs = optarg;
			break;
		case 'd':
			capture.device = optarg;
			break;
		case 'q':
			capture.quiet = true;
			tool_quiet();
			break;
		case O_RECOVER:
			capture.recover = optarg;
			break;
		case O_HSA:
			opt->options |= HRR_OPT_HSA_REGIONS;
			break;
		case O_HOST:
			opt->options &= ~(uint32_t)(HRR_OPT_HOST_OFF | HRR_OPT_HOST_ALL);
			if (strcmp(optarg, "off") == 0)
				opt->options |= HRR_OPT_HOST_OFF;
			else if (strcmp(optarg, "all") == 0)
				opt->options |= HRR_OPT_HOST_ALL;
			else if (strcmp(optarg, "args") != 0)
				tool_misuse("--host-memory: args, all or off, not %s", optarg);
			break;
		case O_HOST_LIMIT:
			opt->host_limit = tool_size("--host-limit", optarg);
			break;
		case O_RING:
			opt->ring_size = tool_size("--ring-size", optarg);
			if (opt->ring_size < HRR_RING_MIN || opt->ring_size > HRR_RING_MAX ||
			    (opt->ring_size & (opt->ring_size - 1)) != 0)
				tool_misuse("--ring-size: a power of two from 64K to 256M");
			break;
		case O_ARENA:
			opt->arena_size = tool_size("--arena-size", optarg);
			if (opt->arena_size > HRR_ARENA_MAX)
				tool_misuse("--arena-size: too large");
			break;
		case O_DROP:
			opt->options |= HRR_OPT_DROP;
			break;
		case O_STRICT:
			capture.strict = true;
			break;
		case O_MAX:
			opt->max_bytes = tool_size("--max-bytes", optarg);
			break;
		case O_WINDOW:
			capture.window = opt->window = seconds_option("--window", optarg);
			break;
		case O_GATE:
			opt->options |= HRR_OPT_GATE;
			break;
		case O_ONLY:
			add_only(&only, optarg);
			opt->only = only.data;
			break;
		case O_NO_AUDIT:
			capture.audit = false;
			break;
		case O_FREE:
			opt->min_free = tool_size("--min-free", optarg);
			break;
		}
	if (capture.recover != NULL) {
		if (argv[optind] != NULL)
			tool_misuse("--recover takes no command");
		return;
	}
	if (argv[optind] == NULL)
		tool_misuse("no command given");
	if (strcmp(capture.device, "emu") != 0 && strcmp(capture.device, "rocm") != 0)
		tool_misuse("-d: emu or rocm, not %s", capture.device);
	if (capture.out != NULL && capture.out[0] == '\0')
		tool_misuse("-o: no name");
	capture.stream = capture.out != NULL && strcmp(capture.out, "-") == 0;
	if (capture.window != 0 && capture.stream)
		tool_misuse("--window needs an archive: what stays is known at the end");
	if (capture.window != 0 && (opt->only != NULL || (opt->options & HRR_OPT_GATE) != 0))
		tool_misuse("--window does not go with --only or --profiler-gate");
	if (capture.blobs != NULL && !capture.stream)
		tool_misuse("-b goes with -o -");
	if (strcmp(capture.device, "emu") == 0 || is_set("AMD_SERIALIZE_KERNEL") ||
	    is_set("HIP_LAUNCH_BLOCKING"))
		opt->options |= HRR_OPT_INSIDE;
	capture.argv = argv + optind;
}
