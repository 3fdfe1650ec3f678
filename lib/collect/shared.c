#include "lib/collect/private.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The files a recorded program has mapped too. Who cuts one of them short makes
 * every look at what is gone a SIGBUS. A page of zeros takes its place then, and
 * recording ends with the last line that is written: what was read since may be
 * anything.
 */
static struct mapping {
	uintptr_t at;
	size_t size;
} * maps;
static size_t n_maps, cap_maps, page;
static bool torn;

void *shared_map(int fd, size_t size, int protection)
{
	if (n_maps == cap_maps) {
		size_t cap = cap_maps != 0 ? cap_maps * 2 : 16;
		struct mapping *m = realloc(maps, cap * sizeof *m);
		if (m == NULL) {
			errno = ENOMEM;
			return NULL;
		}
		maps = m;
		cap_maps = cap;
	}
	void *p = mmap(NULL, size, protection, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return NULL;
	page = (size_t)sysconf(_SC_PAGESIZE);
	maps[n_maps++] = (struct mapping){(uintptr_t)p, size};
	return p;
}

void shared_unmap(void *p, size_t size)
{
	int err = errno;

	for (size_t i = 0; i < n_maps; i++)
		if (maps[i].at == (uintptr_t)p) {
			maps[i] = maps[--n_maps];
			break;
		}
	if (n_maps == 0) {
		free(maps);
		maps = NULL;
		cap_maps = 0;
	}
	munmap(p, size);
	errno = err;
}

void shared_look(const char *path, const void *mapping)
{
	struct stat st;

	for (size_t i = 0; i < n_maps; i++)
		if (maps[i].at == (uintptr_t)mapping && stat(path, &st) == 0 &&
		    (uint64_t)st.st_size < maps[i].size)
			torn = true;
}

bool shared_torn(void)
{
	return *(volatile bool *)&torn;
}

bool hrr_collect_torn(const void *addr)
{
	for (size_t i = 0; i < n_maps; i++) {
		if ((uintptr_t)addr - maps[i].at >= maps[i].size)
			continue;
		torn = true;
		return mmap((void *)((uintptr_t)addr & ~(page - 1)), page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
	}
	return false;
}
