#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bin/capture.h"
#include "bin/tool.h"
#include "lib/preload/ring.h"

/*
 * Processes of COMMAND that run on and have the HIP run time, but made no call of it while it was
 * recorded: a daemon that had not come to it yet. Known by what they were started with.
 */
#define READ_MAX ((size_t)8 << 20)

/* A file of /proc, whose size nobody knows before, with a NUL behind. False: it cannot be read. */
static bool read_all(const char *pid, const char *name, struct hrr_buf *b)
{
	char path[320];
	ssize_t n = -1;

	b->len = 0;
	snprintf(path, sizeof path, "/proc/%s/%s", pid, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	while (b->len < READ_MAX && hrr_buf_reserve(b, 65536) == 0 &&
	       (n = read(fd, b->data + b->len, 65536)) > 0)
		b->len += (size_t)n;
	close(fd);
	return n == 0 && hrr_buf_str(b) != NULL;
}

static bool is_ours(const char *pid, struct hrr_buf *b)
{
	char id[64];

	snprintf(id, sizeof id, HRR_ENV_ID "=%llx", (unsigned long long)capture.opt.id);
	if (!read_all(pid, "environ", b))
		return false;
	for (const char *s = b->data; s < b->data + b->len; s += strlen(s) + 1)
		if (strcmp(s, id) == 0)
			return read_all(pid, "maps", b) && strstr(b->data, "/libamdhip64.so");
	return false;
}

void capture_behind(void)
{
	struct hrr_buf b = {0};
	const struct dirent *e;
	DIR *d = opendir("/proc");
	unsigned long n = 0;
	char first[64] = "";

	while (d != NULL && (e = readdir(d)) != NULL) {
		if (!isdigit((unsigned char)e->d_name[0]) || !is_ours(e->d_name, &b))
			continue;
		if (n++ == 0)
			snprintf(first, sizeof first, "%.*s", 20, e->d_name);
	}
	if (d != NULL)
		closedir(d);
	hrr_buf_release(&b);
	if (n == 1)
		tool_say(NULL, 0,
			 "process %s runs on: HIP calls it makes from here on are not recorded",
			 first);
	else if (n > 1)
		tool_say(NULL, 0,
			 "%lu processes run on (%s and others): HIP calls they make from here on "
			 "are not recorded",
			 n, first);
}
