#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "bin/cat.h"
#include "bin/tool.h"
#include "lib/store/pack.h"

static void show_progress(void *self, uint64_t files, uint64_t of)
{
	tool_progress(self, files, of);
}

int cat_unpack(const char *operand, const char *out)
{
	const struct hrr_pack_progress p = {show_progress, (void *)(uintptr_t) "files"};
	struct hrr_diag diag = {0};
	int fd = STDIN_FILENO;

	if (strcmp(operand, "-") != 0) {
		fd = open(operand, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			tool_die(operand, 0, "cannot open: %s", strerror(errno));
	}
	if (hrr_unpack(fd, out, &p, &diag) < 0)
		tool_die(diag.operand[0] != '\0' ? diag.operand : operand, 0, "%s", diag.what);
	return TOOL_YES;
}

int cat_pack(const char *operand)
{
	const struct hrr_pack_progress p = {show_progress, (void *)(uintptr_t) "files"};
	struct hrr_diag diag = {0};

	if (isatty(STDOUT_FILENO))
		tool_die(NULL, 0, "--pack: not to a terminal");
	if (hrr_pack(operand, STDOUT_FILENO, &p, &diag) < 0)
		tool_die(diag.operand[0] != '\0' ? diag.operand : "standard output", diag.line,
			 "%s", diag.what);
	return TOOL_YES;
}
