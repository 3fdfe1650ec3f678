#ifndef HRR_BIN_TOOL_H
#define HRR_BIN_TOOL_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/diag.h"

/*
 * What every program does alike: options, messages, standard output, exit codes.
 *
 *     int main(int argc, char **argv)
 *     {
 *             tool_start("hrr-x", usage);
 *             for (int o; (o = tool_option(argc, argv, "ab:", longs)) != -1;)
 *                     switch (o) { case 'a': … case 'b': use(optarg); … }
 *             … argv[optind] is the first operand …
 *             … on a failed library call: tool_die_diag(&diag);
 *             return tool_finish(TOOL_YES);
 *     }
 */
enum {
	TOOL_YES = 0,	 /* done, equal, matched */
	TOOL_NO = 1,	 /* the answer is no */
	TOOL_TROUBLE = 2 /* usage, input, I/O, no device */
};

/*
 * prog: the program's name. usage: the text of -h, which begins with
 * "usage: PROG …" (further forms on lines "   or: PROG …"), then an empty line
 * and the options; at most 80 columns. Both borrowed for good.
 * Sets SIGPIPE to its default and sees to it that files 0, 1 and 2 are open, so
 * that nothing else gets their numbers.
 */
void tool_start(const char *prog, const char *usage);
/* Exit code of trouble other than 2 (hrr-capture: 125). */
void tool_set_trouble(int code);
/* What --version says behind the version, one line ended by newline, instead of the usual one. */
void tool_set_version(const char *text);
/*
 * getopt_long with our messages: returns the option or -1. Knows -h and
 * --version itself; an unknown option or a missing argument is misuse. shorts
 * may begin with '+'; longs (may be NULL) ends with {0}; values of long options without a
 * short form: 256 and up.
 */
int tool_option(int argc, char **argv, const char *shorts, const struct option *longs);

/* --- messages: PROG: OPERAND:LINE: what: why --- */

/* operand NULL and line 0: left out. */
void tool_say(const char *operand, uint64_t line, const char *fmt, ...) HRR_PRINTF(3, 4);
void tool_say_diag(const struct hrr_diag *diag);
/* The same and exit with trouble. Standard output is flushed before. */
_Noreturn void tool_die(const char *operand, uint64_t line, const char *fmt, ...) HRR_PRINTF(3, 4);
/* What was begun and is not to stay: called once before such an end. */
void tool_before_death(void (*undo)(void *self), void *self);
_Noreturn void tool_die_diag(const struct hrr_diag *diag);
_Noreturn void tool_no_memory(void);
/* Wrong command line: message, a hint at -h, exit with trouble. */
_Noreturn void tool_misuse(const char *fmt, ...) HRR_PRINTF(1, 2);

/* --- arguments; what names the option or operand in the misuse message --- */

uint64_t tool_number(const char *what, const char *text);  /* decimal or 0x…, up to 2^64-1 */
uint64_t tool_size(const char *what, const char *text);	   /* as selectors have it: 64K */
uint64_t tool_time(const char *what, const char *text);	   /* the same: 1.5us */
uint64_t tool_address(const char *what, const char *text); /* 0x… hex digits */

/* --- standard output, buffered: only data goes there --- */

/* Dies on a failed write. What goes to a terminal is masked (hrr_mask) but for ends of lines and
 * tabs. */
void tool_write(const void *data, size_t len);
void tool_print(const char *fmt, ...) HRR_PRINTF(1, 2);
void tool_flush(void);
/* Of another output (file or pipe); the descriptor stays the caller's. fd -1: standard output. */
void tool_output(int fd, const char *name);
/* Flushes (stdio's stdout too), closes and checks. Returns code, or dies. */
int tool_finish(int code);

/* --- progress on standard error, when that is a terminal --- */

void tool_quiet(void); /* -q */
/* At most some times a second; total 0: not known. Cleared by messages and tool_finish. */
void tool_progress(const char *what, uint64_t done, uint64_t total);

#endif
