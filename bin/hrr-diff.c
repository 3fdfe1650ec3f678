/* hrr-diff: compares two recordings by what their calls mean. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bin/diff.h"
#include "bin/tool_source.h"
#include "lib/diff/report.h"
#include "lib/diff/results.h"

static const char usage[] =
    "usage: hrr-diff [-1jlq] [-b DIR] [-n COUNT] [-t TYPE] [--atol X] [--rtol X]\n"
    "                [--ulp N] [--equal-nan] A B\n"
    "\n"
    "  A, B          archive, process folder, stream (- is standard input), results\n"
    "                of hrr-play; or two files or blobs (xxh128:...), byte by byte\n"
    "  -1            print the first difference only\n"
    "  -b DIR        the blobs are there (twice: those of A, then those of B)\n"
    "  -j            JSON, one object per line\n"
    "  -l            list differing bytes as cmp -l does\n"
    "  -n COUNT      print that many differences, count the others (default 10)\n"
    "  -q            print nothing: the exit code tells\n"
    "  -t TYPE       bytes are f16 bf16 f32 f64, i8 u8 i16 u16 i32 u32 i64 or u64\n"
    "  --atol X, --rtol X, --ulp N, --equal-nan\n"
    "                with -t: numbers that near are equal\n"
    "  -h, --version this text; the version\n"
    "\n"
    "exit code: 0 equal, 1 different, 2 trouble\n";

enum { OPT_ATOL = 256, OPT_RTOL, OPT_ULP, OPT_NAN };

static const struct option longs[] = {{"atol", required_argument, NULL, OPT_ATOL},
				      {"rtol", required_argument, NULL, OPT_RTOL},
				      {"ulp", required_argument, NULL, OPT_ULP},
				      {"equal-nan", no_argument, NULL, OPT_NAN},
				      {0}};

static struct hrr_report report;
static const char *blobs[2];
static bool quiet;

static void write_out(const char *data, size_t len)
{
	tool_write(data, len);
}

static void trouble(const struct hrr_diag *diag)
{
	tool_say_diag(diag);
}

static double tolerance(const char *what, const char *text)
{
	char *end;
	double v = strtod(text, &end);

	if (*end || end == text || !(v >= 0) || isinf(v))
		tool_misuse("option %s: %s: not a number of 0 or more", what, text);
	return v;
}

static void options(int argc, char **argv)
{
	struct hrr_report_options *o = &report.opt;
	bool typed = false;

	o->shown = 10;
	for (int c; (c = tool_option(argc, argv, "1b:jln:qt:", longs)) != -1;) {
		switch (c) {
		case '1':
			o->first = true;
			break;
		case 'b':
			if (!blobs[0])
				blobs[0] = optarg;
			else if (!blobs[1])
				blobs[1] = optarg;
			else
				tool_misuse("option -b: given more than twice");
			break;
		case 'j':
			o->json = true;
			break;
		case 'l':
			o->list = true;
			break;
		case 'n':
			o->shown = tool_number("-n", optarg);
			break;
		case 'q':
			quiet = true;
			break;
		case 't':
			o->type = hrr_type_find(optarg);
			if (!o->type)
				tool_misuse("option -t: %s: not a type", optarg);
			break;
		case OPT_ATOL:
			o->tolerance.atol = tolerance("--atol", optarg);
			typed = true;
			break;
		case OPT_RTOL:
			o->tolerance.rtol = tolerance("--rtol", optarg);
			typed = true;
			break;
		case OPT_ULP:
			o->tolerance.ulp = tool_number("--ulp", optarg);
			typed = true;
			break;
		case OPT_NAN:
			o->tolerance.equal_nan = true;
			typed = true;
			break;
		}
	}
	if (typed && !o->type)
		tool_misuse("a tolerance needs -t: nothing says what the bytes are");
	if (o->json && o->list)
		tool_misuse("options -j and -l: one or the other");
	if (quiet) {
		o->shown = 0;
		o->first = true;
		tool_quiet();
	}
	if (blobs[0] && !blobs[1])
		blobs[1] = blobs[0];
}

/* --- two recordings --- */

static void summary(void)
{
	const struct hrr_diff_stats *s = hrr_diff_get_stats(report.diff);
	unsigned long long outputs = s->outputs_equal + report.outputs + report.tolerated;

	if (report.differ)
		tool_say(NULL, 0,
			 "different: %llu calls equal, %llu changed, %llu only in the first, %llu "
			 "only in the second; %llu outputs equal, %llu differ",
			 (unsigned long long)s->equal, (unsigned long long)report.changed,
			 (unsigned long long)report.only[0], (unsigned long long)report.only[1],
			 (unsigned long long)s->outputs_equal,
			 (unsigned long long)(report.outputs + report.outputs_only[0] +
					      report.outputs_only[1]));
	else if (report.troubles)
		tool_say(NULL, 0, "no difference was found, but not all was compared");
	else if (s->results[0])
		tool_say(NULL, 0, "equal: %llu results", (unsigned long long)s->equal);
	else
		tool_say(NULL, 0, "equal: %llu calls, %llu outputs",
			 (unsigned long long)(s->equal + report.tolerated), outputs);
	if (report.tolerated)
		tool_say(NULL, 0, "%llu pairs of blobs are equal within tolerance only",
			 (unsigned long long)report.tolerated);
	if (s->outputs_unknown)
		tool_say(NULL, 0, "%llu outputs were not compared: their bytes were not recorded",
			 (unsigned long long)s->outputs_unknown);
	if (s->outputs_late)
		tool_say(NULL, 0, "%llu outputs were not compared: too far from their calls",
			 (unsigned long long)s->outputs_late);
	if (s->undeclared)
		tool_say(NULL, 0,
			 "%llu pairs of device addresses that nothing declares were taken as equal",
			 (unsigned long long)s->undeclared);
	if (s->unheld)
		tool_say(
		    NULL, 0,
		    "%llu members, calls and outputs were not compared: one of the formats has no "
		    "place for them",
		    (unsigned long long)s->unheld);
	if (s->annotations[0] + s->annotations[1])
		tool_say(NULL, 0, "%llu annotations are in the first only, %llu in the second only",
			 (unsigned long long)s->annotations[0],
			 (unsigned long long)s->annotations[1]);
	if (s->given_up)
		tool_say(NULL, 0, "%llu calls waited too long for a counterpart and count as alone",
			 (unsigned long long)s->given_up);
	if (report.differ > report.opt.shown && !report.opt.first)
		tool_say(NULL, 0, "%llu more differences are not shown (-n 1000 shows more)",
			 (unsigned long long)(report.differ - report.opt.shown));
}

static int compare_recordings(char *const operand[2])
{
	struct hrr_diag diag = {0};

	for (int i = 0; i < 2; i++) {
		struct hrr_source_options opt = {.pid = -1, .blobs = blobs[i]};

		if (hrr_source_open(&report.source[i], operand[i], &opt, &diag) < 0)
			tool_die_diag(&diag);
	}
	if (hrr_diff_new(&report.diff, report.source[0], report.source[1], hrr_report_event,
			 &report) < 0)
		tool_no_memory();
	int rc = hrr_diff_run(report.diff, &diag);
	if (rc == -ENOMEM)
		tool_no_memory();
	if (rc < 0)
		tool_die_diag(&diag);
	hrr_report_flush(&report);
	if (report.opt.json && !quiet && hrr_report_end(&report) < 0)
		tool_no_memory();
	/* A run that was stopped early has not seen the end of either. */
	if (!(report.opt.first && report.differ))
		for (int i = 0; i < 2; i++)
			if (!hrr_diff_get_stats(report.diff)->results[i] &&
			    !tool_say_state(report.name[i], report.source[i]))
				report.troubles++;
	if (!quiet)
		summary();
	hrr_diff_free(report.diff);
	for (int i = 0; i < 2; i++)
		hrr_source_close(report.source[i]);
	return report.differ > 0;
}

int main(int argc, char **argv)
{
	bool bytes[2];
	int different;

	tool_start("hrr-diff", usage);
	if (hrr_results_register() < 0)
		tool_die(NULL, 0, "too many formats of archives");
	options(argc, argv);
	if (argc - optind != 2)
		tool_misuse("two operands are needed, there are %d", argc - optind);
	char *const *operand = argv + optind;
	if (strcmp(operand[0], "-") == 0 && strcmp(operand[1], "-") == 0)
		tool_misuse("only one operand can be standard input");
	for (int i = 0; i < 2; i++) {
		report.name[i] = operand[i];
		bytes[i] = diff_is_bytes(operand[i]);
	}
	if (bytes[0] != bytes[1])
		tool_die(operand[bytes[0] ? 0 : 1], 0,
			 "not a recording, and %s is one: nothing to compare",
			 operand[bytes[0] ? 1 : 0]);
	report.write = write_out;
	report.trouble = trouble;
	different = bytes[0] ? diff_bytes(&report, operand, blobs) : compare_recordings(operand);
	hrr_report_release(&report);
	if (report.troubles)
		return tool_finish(TOOL_TROUBLE);
	return tool_finish(different ? TOOL_NO : TOOL_YES);
}
