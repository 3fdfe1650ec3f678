#include "lib/base/proc.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATE = 3, THREADS = 20, START = 22 }; /* fields of proc(5), counted from 1 */

bool hrr_proc_stat(int fd, bool *ret_ended, uint64_t *ret_start)
{
	char text[1024];
	ssize_t n = read(fd, text, sizeof text - 1);

	if (n <= 0)
		return false;
	text[n] = '\0';
	char *s = strrchr(text, ')'); /* the name may hold anything */
	if (s == NULL || s[1] != ' ')
		return false;
	char state = s[2];
	long threads = 1;
	for (int field = STATE - 1; s != NULL && field < START; field++) {
		if (field == THREADS)
			threads = strtol(s + 1, NULL, 10);
		s = strchr(s + 1, ' ');
	}
	if (s == NULL)
		return false;
	/* The first thread may end before others. */
	if (ret_ended != NULL)
		*ret_ended = state == 'X' || (state == 'Z' && threads <= 1);
	if (ret_start != NULL)
		*ret_start = strtoull(s + 1, NULL, 10);
	return true;
}

bool hrr_proc_of(uint32_t pid, bool *ret_ended, uint64_t *ret_start)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%u/stat", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool ok = hrr_proc_stat(fd, ret_ended, ret_start);
	close(fd);
	return ok;
}
