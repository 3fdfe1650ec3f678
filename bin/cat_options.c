#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bin/cat.h"
#include "bin/tool.h"

/* The command line of hrr-cat. */

static const char usage[] =
    "usage: hrr-cat [-cq] [-b DIR] [[-x] -e EXPR... | --slice EXPR...]\n"
    "               [--first N | --last N] [--pid PID] [--regions FILE]...\n"
    "               [--no-sidecars] [--follow] [--demangle]\n"
    "               [--info | --text | --csv | --timeline | --verify] [ARCHIVE]\n"
    "   or: hrr-cat -o DIR [-q] [-b DIR] [[-x] -e EXPR... | --slice EXPR...]\n"
    "               [--first N | --last N] [--pid PID] [--regions FILE]...\n"
    "               [--no-sidecars] [--follow] [--format NAME] [--redact]\n"
    "               [--repair] [--arch ARCH] [ARCHIVE]\n"
    "   or: hrr-cat --pack [-q] ARCHIVE\n"
    "   or: hrr-cat --unpack [-q] -o DIR [FILE]\n"
    "\n"
    "Prints the event stream of an archive, of one process's folder or of a file,\n"
    "or of standard input: one JSON object a line.\n"
    "\n"
    "  -b DIR          the blobs are in DIR, whatever the stream says\n"
    "  -c              print only how many calls were selected\n"
    "  -e EXPR         only calls that EXPR selects, with their outputs (hrr(7),\n"
    "                  SELECTORS); more than once: any of them\n"
    "  -o DIR          write an archive instead of printing\n"
    "  -q              no progress\n"
    "  -x              only calls that are not selected\n"
    "  --first N       only the first N calls selected\n"
    "  --last N        only the last N calls selected\n"
    "  --pid PID       only the process PID\n"
    "  --slice EXPR    the calls EXPR selects (of them the first or last N) and all\n"
    "                  they depend on; not from a pipe; more than once: any of them\n"
    "  --regions FILE  one more sidecar, for the first process\n"
    "  --no-sidecars   leave out the archive's own sidecars\n"
    "  --follow        wait for more while the recorder is running\n"
    "  --demangle      kernels by their name in C++ (--info --text --csv --timeline)\n"
    "  --info          what is in it, for people\n"
    "  --text          a line per record, for people\n"
    "  --csv           calls and outputs as a table\n"
    "  --timeline      Chrome's trace format, for Perfetto\n"
    "  --verify        check every blob: which are missing, damaged or orphaned and\n"
    "                  which calls that breaks; exit 1 when there are any\n"
    "  --format NAME   of the archive -o writes: jsonl, ours (the default), or hrr8,\n"
    "                  upstream HRR version 8; what that cannot hold is said\n"
    "  --redact        payloads replaced; what the archive still tells is said\n"
    "  --repair        leave out bad lines and bad blobs, add a missing end\n"
    "  --arch ARCH     of code objects only what runs on ARCH (gfx90a)\n"
    "  --pack          the archive as one file (tar, zstd) to standard output\n"
    "  --unpack        the archive out of such a file\n"
    "  -h, --version   this text; the version\n";

enum {
	OPT_ARCH = 256,
	OPT_FIRST,
	OPT_FORMAT,
	OPT_LAST,
	OPT_PID,
	OPT_REGIONS,
	OPT_SLICE,
	OPT_NO_SIDECARS,
	OPT_FOLLOW,
	OPT_DEMANGLE,
	OPT_REDACT,
	OPT_REPAIR
};

static const struct option longs[] = {
    {"arch", required_argument, NULL, OPT_ARCH},
    {"first", required_argument, NULL, OPT_FIRST},
    {"format", required_argument, NULL, OPT_FORMAT},
    {"last", required_argument, NULL, OPT_LAST},
    {"pid", required_argument, NULL, OPT_PID},
    {"regions", required_argument, NULL, OPT_REGIONS},
    {"slice", required_argument, NULL, OPT_SLICE},
    {"no-sidecars", no_argument, NULL, OPT_NO_SIDECARS},
    {"follow", no_argument, NULL, OPT_FOLLOW},
    {"demangle", no_argument, NULL, OPT_DEMANGLE},
    {"info", no_argument, NULL, CAT_INFO},
    {"text", no_argument, NULL, CAT_TEXT},
    {"csv", no_argument, NULL, CAT_CSV},
    {"timeline", no_argument, NULL, CAT_TIMELINE},
    {"verify", no_argument, NULL, CAT_VERIFY},
    {"redact", no_argument, NULL, OPT_REDACT},
    {"repair", no_argument, NULL, OPT_REPAIR},
    {"pack", no_argument, NULL, CAT_PACK},
    {"unpack", no_argument, NULL, CAT_UNPACK},
    {0},
};

static uint64_t above_zero(const char *what, const char *text)
{
	uint64_t v = tool_number(what, text);

	if (v == 0)
		tool_misuse("%s: not a number above 0: %s", what, text);
	return v;
}

/* What goes together; anything else would be passed over without a word. */
static void check(const struct cat_options *o, int operands)
{
	const bool whole = o->mode == CAT_PACK || o->mode == CAT_UNPACK,
		   cut = o->filter.first > 0 || o->last > 0,
		   chosen = o->filter.n_selectors > 0 || o->n_slices > 0 || cut;
	struct stat st;

	if (operands > 1)
		tool_misuse("one archive or stream at a time");
	if (o->filter.exclude && o->filter.n_selectors == 0)
		tool_misuse("-x needs -e");
	if (o->filter.first > 0 && o->last > 0)
		tool_misuse("--first and --last exclude each other");
	if (o->formatted && o->out == NULL)
		tool_misuse("--format needs -o");
	if ((o->export.redact || o->export.repair || o->arch.name != NULL) &&
	    (o->out == NULL || o->hrr8))
		tool_misuse("--redact, --repair and --arch need -o, and our own format");
	if (o->mode == CAT_UNPACK && o->out == NULL)
		tool_misuse("--unpack needs -o");
	if (o->mode != CAT_UNPACK && o->mode != CAT_LINES && o->out != NULL)
		tool_misuse("-o writes an archive: nothing is printed with it");
	if (o->count && (o->out != NULL || o->mode != CAT_LINES))
		tool_misuse("-c goes with nothing else that is printed or written");
	if (o->names && (o->mode < CAT_INFO || o->mode > CAT_TIMELINE))
		tool_misuse("--demangle needs --info, --text, --csv or --timeline");
	if (whole && (chosen || o->source.pid >= 0 || o->source.blobs != NULL ||
		      o->source.n_sidecars > 0 || o->source.no_sidecars || o->source.follow ||
		      o->formatted || o->export.redact || o->export.repair || o->arch.name != NULL))
		tool_misuse("--pack and --unpack take an archive as it is: no choice and no "
			    "change goes with them");
	if (o->n_slices > 0 && (o->filter.n_selectors > 0 || o->source.follow))
		tool_misuse("--slice goes with neither -e nor --follow");
	if (o->n_slices > 0 &&
	    (strcmp(o->operand, "-") == 0 || (stat(o->operand, &st) == 0 && S_ISFIFO(st.st_mode))))
		tool_misuse("--slice reads twice: an archive or a file is needed, no pipe");
	if (o->mode == CAT_PACK && strcmp(o->operand, "-") == 0)
		tool_misuse("--pack needs an archive");
}

void cat_options(int argc, char **argv, struct cat_options *o)
{
	*o = (struct cat_options){.source = {.pid = -1}};
	tool_start("hrr-cat", usage);
	o->selectors = calloc((size_t)argc, sizeof *o->selectors);
	o->slices = calloc((size_t)argc, sizeof *o->slices);
	o->sidecars = calloc((size_t)argc, sizeof *o->sidecars);
	if (o->selectors == NULL || o->slices == NULL || o->sidecars == NULL)
		tool_no_memory();
	o->filter.selectors = o->selectors;
	o->source.sidecars = o->sidecars;
	for (int x; (x = tool_option(argc, argv, "b:ce:o:qx", longs)) != -1;)
		switch (x) {
		case 'b':
			o->source.blobs = optarg;
			break;
		case 'c':
			o->count = true;
			break;
		case 'e':
			o->selectors[o->filter.n_selectors++] = optarg;
			break;
		case 'o':
			o->out = optarg;
			break;
		case 'q':
			tool_quiet();
			break;
		case 'x':
			o->filter.exclude = true;
			break;
		case OPT_ARCH:
			o->arch.name = optarg;
			break;
		case OPT_FIRST:
			o->filter.first = above_zero("--first", optarg);
			break;
		case OPT_FORMAT:
			o->formatted = true;
			o->hrr8 = strcmp(optarg, "hrr8") == 0;
			if (!o->hrr8 && strcmp(optarg, "jsonl") != 0)
				tool_misuse("--format: neither jsonl nor hrr8: %s", optarg);
			break;
		case OPT_LAST:
			o->last = above_zero("--last", optarg);
			break;
		case OPT_PID:
			o->source.pid = (int64_t)(tool_number("--pid", optarg) & INT64_MAX);
			break;
		case OPT_REGIONS:
			o->sidecars[o->source.n_sidecars++] = optarg;
			break;
		case OPT_SLICE:
			o->slices[o->n_slices++] = optarg;
			break;
		case OPT_NO_SIDECARS:
			o->source.no_sidecars = true;
			break;
		case OPT_FOLLOW:
			o->source.follow = true;
			break;
		case OPT_DEMANGLE:
			o->names = true;
			break;
		case OPT_REDACT:
			o->export.redact = true;
			break;
		case OPT_REPAIR:
			o->export.repair = true;
			break;
		default:
			if (o->mode != CAT_LINES && o->mode != (enum cat_mode)x)
				tool_misuse(
				    "--info, --text, --csv, --timeline, --verify, --pack and "
				    "--unpack exclude each other");
			o->mode = (enum cat_mode)x;
		}
	o->operand = argc > optind ? argv[optind] : "-";
	check(o, argc - optind);
}

void cat_options_release(struct cat_options *o)
{
	free(o->selectors);
	free(o->slices);
	free(o->sidecars);
}
