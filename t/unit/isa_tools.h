#ifndef HRR_T_UNIT_ISA_TOOLS_H
#define HRR_T_UNIT_ISA_TOOLS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "t/unit/isa_fixture.h"
#include "t/unit/tap.h"

/*
 * Whether a compiler is there for what is to be tried. If not, that is one skipped test;
 * under HRR_T_STRICT a failed one, if `make deps` always installs that compiler (clang-22 it
 * installs only where a suite has it).
 */
static inline bool isa_has(const char *clang, const char *what)
{
	const char *const strict = getenv("HRR_T_STRICT");
	char text[256];

	snprintf(text, sizeof(text), "command -v %s >/dev/null 2>&1", clang);
	if (!system(text))
		return true;
	if (strict && !strcmp(strict, "1") && !strstr(clang, "-22"))
		return ok(false, "%s: %s is there (HRR_T_STRICT)", what, clang);
	snprintf(text, sizeof(text), "%s: no %s", what, clang);
	skip(1, text);
	return false;
}

#define DIM(x, y, z) ((const uint32_t[3]){x, y, z})

/* Says why a kernel did not run. */
static inline bool isa_ran(struct fx *f, const char *kernel, bool good)
{
	if (!good)
		diag("%s: status %d: %s", kernel, f->report.status, f->report.what);
	return ok(good, "%s runs", kernel);
}

/* Compiles t/isa/NAME.hip and loads it. False when it cannot be: a skipped or a failed test. */
static inline bool isa_load(struct fx *f, const char *name, const char *arch, const char *clang,
			    const char *flags)
{
	const char *path;
	char what[128];

	snprintf(what, sizeof(what), "%s %s %s %s", name, arch, clang, flags);
	if (!isa_has(clang, what))
		return false;
	path = fx_compile(name, arch, clang, flags);
	return ok(path && fx_load(f, arch, path), "%s loads", what);
}

/*
 * main of a test that does the same for each arch: for the arch and assembler its arguments
 * name, else for all of archs (NULL: every one). With a name, the names met are left for
 * isa_coverage.
 */
static inline int isa_main(int argc, char **argv, const char *name, const char *archs,
			   void (*test)(const char *arch, const char *clang))
{
	static const char *const all[][2] = {{"gfx90a", "clang-19"},  {"gfx942", "clang-19"},
					     {"gfx1030", "clang-19"}, {"gfx1100", "clang-19"},
					     {"gfx1201", "clang-19"}, {"gfx950", "clang-22"}};

	if (argc > 2) {
		test(argv[1], argv[2]);
		return done_testing();
	}
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!archs || strstr(archs, all[i][0]))
			test(all[i][0], all[i][1]);
	if (name)
		fx_met(name);
	return done_testing();
}

#endif
