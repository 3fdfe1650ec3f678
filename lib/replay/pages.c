#include "lib/replay/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define VET_STEP ((uint64_t)64 << 20)	/* bytes between looks at what is free */
#define KEEP_FREE ((uint64_t)256 << 20) /* left to everybody else */

struct hrr_pages *hrr_pages_new(uint64_t limit)
{
	struct hrr_pages *p = calloc(1, sizeof *p);

	if (p == NULL)
		return NULL;
	p->fd = memfd_create("hrr-host-pages", MFD_CLOEXEC);
	p->limit = limit;
	p->extents = hrr_ranges_new();
	if (p->fd < 0 || p->extents == NULL) {
		hrr_pages_free(p);
		return NULL;
	}
	return p;
}

void hrr_pages_free(struct hrr_pages *p)
{
	if (p == NULL)
		return;
	if (p->fd >= 0)
		close(p->fd);
	hrr_ranges_free(p->extents);
	free(p);
}

uint64_t hrr_pages_charged(const struct hrr_pages *p)
{
	return p->charged;
}

void hrr_pages_fail(struct hrr_pages *p, unsigned nth)
{
	p->fail = nth;
}

int hrr_page_range(uint64_t addr, uint64_t size, uint64_t *ret_first, uint64_t *ret_end,
		   struct hrr_diag *diag)
{
	uint64_t end;

	if (size == 0)
		return hrr_diag_set(diag, -EINVAL, "host range at 0x%llx is empty",
				    (unsigned long long)addr);
	if (__builtin_add_overflow(addr, size, &end) ||
	    __builtin_add_overflow(end, HRR_PAGE - 1, &end))
		return hrr_diag_set(diag, -EINVAL, "host range 0x%llx + %llu wraps around",
				    (unsigned long long)addr, (unsigned long long)size);
	*ret_first = addr & ~(HRR_PAGE - 1);
	*ret_end = end & ~(HRR_PAGE - 1);
	return 0;
}

/* Bytes the machine could give without taking them from somebody; UINT64_MAX: it does not say. */
static uint64_t machine_free(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	unsigned long long k = UINT64_MAX >> 10;
	char line[128];

	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "MemAvailable: %llu kB", &k) == 1)
			break;
	if (f != NULL)
		fclose(f);
	return (uint64_t)k << 10;
}

/* Whether size more bytes are within the budget, or without one within what the machine has. */
static int pages_room(struct hrr_pages *p, uint64_t first, uint64_t size, struct hrr_diag *diag)
{
	if (p->limit != 0 && (size > p->limit || p->charged > p->limit - size))
		return hrr_diag_set(diag, -EDQUOT,
				    "host memory: %llu more bytes at 0x%llx, %llu in use: over "
				    "--max-host-bytes %llu",
				    (unsigned long long)size, (unsigned long long)first,
				    (unsigned long long)p->charged, (unsigned long long)p->limit);
	if (p->limit != 0 || (p->charged <= p->vetted && size <= p->vetted - p->charged))
		return 0;
	uint64_t room = machine_free();
	if (room < KEEP_FREE || size > room - KEEP_FREE)
		return hrr_diag_set(diag, -EDQUOT,
				    "host memory: %llu more bytes at 0x%llx, %llu in use: the "
				    "machine has %llu left",
				    (unsigned long long)size, (unsigned long long)first,
				    (unsigned long long)p->charged, (unsigned long long)room);
	p->vetted = p->charged + size + VET_STEP;
	return 0;
}

/* Storage for one run of pages that has none. */
static int pages_grow(struct hrr_pages *p, uint64_t first, uint64_t size, struct hrr_diag *diag)
{
	int e = 0, rc = pages_room(p, first, size, diag);

	if (rc < 0)
		return rc;
	if (size > (uint64_t)INT64_MAX - p->length)
		return hrr_diag_set(diag, -ENOMEM, "host memory: %llu bytes at 0x%llx: too much",
				    (unsigned long long)size, (unsigned long long)first);
	p->charged += size;
	if (p->fail != 0 && --p->fail == 0)
		e = ENOMEM;
	/* Backed now, not at the first touch: a full /dev/shm must not be a SIGBUS later. */
	if (e == 0)
		e = posix_fallocate(p->fd, (off_t)p->length, (off_t)size);
	if (e == 0 && hrr_ranges_add(p->extents, first, size, (void *)(uintptr_t)p->length) < 0) {
		if (ftruncate(p->fd, (off_t)p->length) != 0)
			p->length += size; /* lost in the file, but never handed out */
		e = ENOMEM;
	}
	if (e != 0) {
		p->charged -= size;
		return hrr_diag_set(diag, -ENOMEM,
				    "host memory: out of memory for %llu bytes at 0x%llx",
				    (unsigned long long)size, (unsigned long long)first);
	}
	p->length += size;
	return 0;
}

int hrr_pages_get(struct hrr_pages *p, uint64_t addr, uint64_t size, struct hrr_diag *diag)
{
	uint64_t first = 0, end = 0;
	int rc = hrr_page_range(addr, size, &first, &end, diag);

	while (rc == 0 && first < end) {
		const struct hrr_range *x = hrr_ranges_overlap(p->extents, first, end - first);
		if (x != NULL && x->base <= first) {
			first = x->base + x->size;
			continue;
		}
		uint64_t stop = x != NULL ? x->base : end;
		rc = pages_grow(p, first, stop - first, diag);
		first = stop;
	}
	return rc;
}

int hrr_pages_map(struct hrr_pages *p, uint64_t first, uint64_t size, unsigned char *at,
		  struct hrr_diag *diag)
{
	uint64_t end = first + size;

	while (first < end) {
		const struct hrr_range *x = hrr_ranges_find(p->extents, first);
		if (x == NULL)
			return hrr_diag_set(diag, -ENXIO, "host page 0x%llx has no storage",
					    (unsigned long long)first);
		uint64_t stop = x->base + x->size < end ? x->base + x->size : end;
		uint64_t off = (uint64_t)(uintptr_t)x->value + (first - x->base);
		if (mmap(at, stop - first, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, p->fd,
			 (off_t)off) == MAP_FAILED)
			return hrr_diag_set(
			    diag, -ENOMEM, "host memory: cannot map %llu bytes at 0x%llx",
			    (unsigned long long)(stop - first), (unsigned long long)first);
		at += stop - first;
		first = stop;
	}
	return 0;
}
