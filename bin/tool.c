#include "bin/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "formats/hrr/source.h"
#include "lib/base/mask.h"
#include "lib/hip/table.h"
#include "lib/store/file.h"
#include "lib/stream/select.h"

#define FLUSH_AT ((size_t)256 << 10)
#define OPTION_VERSION 255

static struct {
	const char *prog, *usage, *version;
	int trouble;
	int out; /* where tool_write goes */
	const char *out_name;
	int terminal; /* is that one? -1: not asked yet */
	struct hrr_buf buf;
	bool quiet, dying, progress_shown;
	void (*undo)(void *self);
	void *undo_self;
} tool = {
    .trouble = TOOL_TROUBLE, .out = STDOUT_FILENO, .out_name = "standard output", .terminal = -1};

/* What is wrong with somebody else's archive: it is read as far as it goes. */
static void say_foreign(const char *operand, const char *text)
{
	tool_say(operand, 0, "%s", text);
}

/* The table has families beside those that selectors know by name. */
static int class_of(const char *api, size_t len)
{
	int row = hrr_api_find(api, len);

	return row < 0 ? -1 : hrr_api_table[row].cls;
}

void tool_start(const char *prog, const char *usage)
{
	tool.prog = prog;
	tool.usage = usage;
	tool.version =
	    "reads event streams 1, archives 1, blobs 1, regions 1, HRR archives 3 to 8\n";
	signal(SIGPIPE, SIG_DFL);
	hrr_upstream_register(say_foreign);
	hrr_select_classes(hrr_class_names, HRR_CLASS_COUNT, class_of);
	/* A closed one stays unusable: reads, and writes to output, fail with EBADF. */
	static const int mode[] = {O_WRONLY, O_RDONLY, O_WRONLY};
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", mode[fd]) != fd)
			_exit(TOOL_TROUBLE);
}

void tool_set_trouble(int code)
{
	tool.trouble = code;
}

void tool_set_version(const char *text)
{
	tool.version = text;
}

/* --- messages --- */

static void clear_progress(void)
{
	if (tool.progress_shown)
		fputs("\r\033[K", stderr);
	tool.progress_shown = false;
}

HRR_PRINTF(3, 0)
static void say(const char *operand, uint64_t line, const char *fmt, va_list ap)
{
	char raw[2048], what[4096], where[512] = "";

	clear_progress();
	vsnprintf(raw, sizeof raw, fmt, ap);
	hrr_mask(what, sizeof what, raw, strlen(raw));
	if (operand != NULL && operand[0] != '\0') {
		size_t n = hrr_mask(where, sizeof where - 32, operand, strlen(operand));
		if (line > 0)
			n += (size_t)snprintf(where + n, sizeof where - n, ":%llu",
					      (unsigned long long)line);
		memcpy(where + n, ": ", 3);
	}
	/* One write, so that the lines of a pipeline's programs do not mix. */
	char whole[5120];
	int n = snprintf(whole, sizeof whole, "%s: %s%s\n", tool.prog, where, what);
	if (n > (int)sizeof whole - 1)
		n = (int)sizeof whole - 1;
	if (write(STDERR_FILENO, whole, (size_t)n) < 0)
		return; /* nowhere left to say it */
}

void tool_say(const char *operand, uint64_t line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(operand, line, fmt, ap);
	va_end(ap);
}

void tool_say_diag(const struct hrr_diag *diag)
{
	tool_say(diag->operand, diag->line, "%s", diag->what);
}

/* What was written before the trouble still goes out. */
static _Noreturn void die(void)
{
	if (!tool.dying) {
		tool.dying = true;
		if (tool.buf.len > 0)
			(void)hrr_write_all(tool.out, tool.buf.data, tool.buf.len);
		fflush(stdout);
	}
	if (tool.undo != NULL) {
		void (*undo)(void *self) = tool.undo;
		tool.undo = NULL; /* it may die itself */
		undo(tool.undo_self);
	}
	_exit(tool.trouble);
}

void tool_die(const char *operand, uint64_t line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(operand, line, fmt, ap);
	va_end(ap);
	die();
}

void tool_before_death(void (*undo)(void *self), void *self)
{
	tool.undo = undo;
	tool.undo_self = self;
}

void tool_die_diag(const struct hrr_diag *diag)
{
	tool_say_diag(diag);
	die();
}

void tool_no_memory(void)
{
	tool_die(NULL, 0, "out of memory");
}

void tool_misuse(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(NULL, 0, fmt, ap);
	va_end(ap);
	tool_say(NULL, 0, "-h shows how it is used");
	die();
}

/* --- options --- */

int tool_option(int argc, char **argv, const char *shorts, const struct option *longs)
{
	static struct option *all; /* both for good */
	static char *text;

	if (all == NULL) {
		size_t n = 0, room = strlen(shorts) + sizeof "+:h";
		while (longs != NULL && longs[n].name != NULL)
			n++;
		all = calloc(n + 3, sizeof *all);
		text = malloc(room);
		if (all == NULL || text == NULL)
			tool_no_memory();
		if (n > 0)
			memcpy(all, longs, n * sizeof *all);
		all[n++] = (struct option){"version", no_argument, NULL, OPTION_VERSION};
		all[n++] = (struct option){"help", no_argument, NULL, 'h'};
		/* '+' first, then ':' so that a missing argument is told from an unknown option. */
		bool plus = shorts[0] == '+';
		snprintf(text, room, "%s:h%s", plus ? "+" : "", shorts + plus);
		opterr = 0;
	}
	int at = optind;
	int o = getopt_long(argc, argv, text, all, NULL);
	const char *shown = at < argc ? argv[at] : "";
	switch (o) {
	case 'h':
		tool_print("%s", tool.usage);
		exit(tool_finish(TOOL_YES));
	case OPTION_VERSION:
		tool_print("%s %s\n%s", tool.prog, HRR_VERSION, tool.version);
		exit(tool_finish(TOOL_YES));
	case ':':
		if (optopt > 0 && optopt < OPTION_VERSION)
			tool_misuse("option -%c: an argument is missing", optopt);
		tool_misuse("option %s: an argument is missing", argv[optind - 1]);
	case '?':
		if (optopt > 0 && optopt < OPTION_VERSION && shown[1] != '-')
			tool_misuse("option -%c: unknown", optopt);
		tool_misuse("option %s: unknown, ambiguous or with an argument it does not take",
			    argv[optind - 1]);
	default:
		return o;
	}
}

static bool parse_number(const char *text, uint64_t *ret)
{
	int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
	const char *p = base == 16 ? text + 2 : text;
	char *end;

	/* strtoull takes blanks and signs. */
	if (strspn(p, base == 16 ? "0123456789abcdefABCDEF" : "0123456789") != strlen(p) ||
	    p[0] == '\0')
		return false;
	errno = 0;
	*ret = strtoull(p, &end, base);
	return errno == 0 && *end == '\0';
}

uint64_t tool_number(const char *what, const char *text)
{
	uint64_t v;

	if (!parse_number(text, &v))
		tool_misuse("%s: not a number: %s", what, text);
	return v;
}

uint64_t tool_size(const char *what, const char *text)
{
	uint64_t v;

	if (!hrr_select_size(text, &v))
		tool_misuse("%s: not a size like 4096 or 4K: %s", what, text);
	return v;
}

uint64_t tool_time(const char *what, const char *text)
{
	uint64_t v;

	if (!hrr_select_time(text, &v))
		tool_misuse("%s: not a time like 1500 or 1.5us: %s", what, text);
	return v;
}

uint64_t tool_address(const char *what, const char *text)
{
	uint64_t v;

	if (text[0] != '0' || text[1] != 'x' || !parse_number(text, &v))
		tool_misuse("%s: not an address like 0x7f0000001000: %s", what, text);
	return v;
}

/* --- output --- */

static _Noreturn void write_failed(int err)
{
	tool.dying = true;
	tool_die(tool.out_name, 0, "cannot write: %s", strerror(err));
}

void tool_flush(void)
{
	int rc = hrr_write_all(tool.out, tool.buf.data, tool.buf.len);

	if (rc < 0)
		write_failed(-rc);
	tool.buf.len = 0;
}

void tool_write(const void *data, size_t len)
{
	if (tool.terminal < 0)
		tool.terminal = isatty(tool.out) == 1;
	if (len >= FLUSH_AT && !tool.terminal) {
		tool_flush();
		int rc = hrr_write_all(tool.out, data, len);
		if (rc < 0)
			write_failed(-rc);
		return;
	}
	if ((tool.terminal ? hrr_mask_lines(&tool.buf, data, len)
			   : hrr_buf_add(&tool.buf, data, len)) < 0)
		tool_no_memory();
	if (tool.buf.len >= FLUSH_AT)
		tool_flush();
}

void tool_print(const char *fmt, ...)
{
	char small[1024];
	va_list ap, again;

	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(small, sizeof small, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof small) {
		tool_write(small, (size_t)n);
	} else if (n >= 0) {
		char *large = malloc((size_t)n + 1);
		if (large == NULL)
			tool_no_memory();
		vsnprintf(large, (size_t)n + 1, fmt, again);
		tool_write(large, (size_t)n);
		free(large);
	}
	va_end(again);
}

void tool_output(int fd, const char *name)
{
	tool_flush();
	tool.terminal = -1;
	tool.out = fd < 0 ? STDOUT_FILENO : fd;
	tool.out_name = fd < 0 ? "standard output" : name;
}

int tool_finish(int code)
{
	clear_progress();
	tool_flush();
	hrr_buf_release(&tool.buf);
	tool.out_name = "standard output";
	errno = 0;
	if (fflush(stdout) != 0 || ferror(stdout))
		write_failed(errno ? errno : EIO);
	/* Network file systems tell a full disk only here. */
	if (close(STDOUT_FILENO) < 0 && errno != EBADF)
		write_failed(errno);
	return code;
}

/* --- progress --- */

void tool_quiet(void)
{
	tool.quiet = true;
}

void tool_progress(const char *what, uint64_t done, uint64_t total)
{
	static int terminal = -1;
	static struct timespec last;
	struct timespec now;

	if (terminal < 0)
		terminal = isatty(STDERR_FILENO);
	if (!terminal || tool.quiet)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	int64_t ns = (now.tv_sec - last.tv_sec) * 1000000000 + now.tv_nsec - last.tv_nsec;
	if (last.tv_sec != 0 && ns < 200000000)
		return;
	last = now;
	if (total > 0)
		fprintf(stderr, "\r%s: %s %llu of %llu (%d %%)\033[K", tool.prog, what,
			(unsigned long long)done, (unsigned long long)total,
			(int)((double)done * 100.0 / (double)total));
	else
		fprintf(stderr, "\r%s: %s %llu\033[K", tool.prog, what, (unsigned long long)done);
	tool.progress_shown = true;
}
