#ifndef HRR_T_UNIT_TAP_H
#define HRR_T_UNIT_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/*
 * TAP for the unit tests, one C file each:
 *
 *     int main(void)
 *     {
 *             ok(cond, "what %s", "holds");  -> its truth, so that "if (!ok(...))" works
 *             is(got, want, "name");            integers
 *             is_str(got, want, "name");        strings, NULL allowed
 *             diag("a line of comment");
 *             return done_testing();            exit code 0 when all held, else 1
 *     }
 *
 * plan(n) may be called first instead of leaving the count to done_testing.
 * Every name takes printf arguments.
 */
static struct {
	int run, failed, planned;
} tap;

#if defined(__GNUC__)
#define TAP_PRINTF(f, a) __attribute__((format(printf, f, a), unused))
#else
#define TAP_PRINTF(f, a)
#endif

TAP_PRINTF(1, 2) static void diag(const char *fmt, ...)
{
	va_list ap;

	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

TAP_PRINTF(4, 5)
static bool tap_ok(bool cond, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	tap.run++;
	printf("%s %d - ", cond ? "ok" : "not ok", tap.run);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	if (!cond) {
		tap.failed++;
		diag("failed at %s:%d", file, line);
	}
	fflush(stdout); /* a crash must not take the results with it */
	return cond;
}

#define ok(cond, ...) tap_ok((cond), __FILE__, __LINE__, __VA_ARGS__)

#define is(got, want, ...) is_((long long)(got), (long long)(want), __FILE__, __LINE__, __VA_ARGS__)
#define is_(got, want, file, line, ...)                                                       \
	(tap_ok((got) == (want), file, line, __VA_ARGS__) ||                                  \
	 (diag("got %lld (0x%llx), want %lld (0x%llx)", got, (unsigned long long)(got), want, \
	       (unsigned long long)(want)),                                                   \
	  false))

static inline bool tap_same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}
#define is_str(got, want, ...)                                           \
	(tap_ok(tap_same(got, want), __FILE__, __LINE__, __VA_ARGS__) || \
	 (diag("got  \"%s\"", (got) != NULL ? (got) : "(null)"),         \
	  diag("want \"%s\"", (want) != NULL ? (want) : "(null)"), false))

/* n tests that cannot run here. */
static inline void skip(int n, const char *why)
{
	while (n-- > 0)
		printf("ok %d # SKIP %s\n", ++tap.run, why);
}

static inline void plan(int n)
{
	tap.planned = n;
	printf("1..%d\n", n);
}

static inline int done_testing(void)
{
	if (tap.planned == 0)
		printf("1..%d\n", tap.run);
	else if (tap.planned != tap.run)
		diag("planned %d tests but ran %d", tap.planned, tap.run);
	return tap.failed != 0 || (tap.planned != 0 && tap.planned != tap.run);
}

#endif
