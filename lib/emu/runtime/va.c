#include "lib/emu/runtime/va.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/range.h"
#include "lib/emu/runtime/memcheck.h"
#include "lib/emu/runtime/rt.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/*
 * Chunks of address space are reserved from the kernel and carved up. The
 * first ones lie at a fixed place well below where Linux puts mappings, so that
 * the same program gets the same numbers run after run.
 */
#define CHUNK ((uint64_t)16 << 30)
/* Storage of at least this size comes from mmap and starts as untouched zero pages. */
#define BIG ((uint64_t)64 << 10)

/* owned is asked by reports from any thread; both change under rt.lock. */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct hrr_ranges *owned, *used;
static uint64_t at, end; /* what is left of the newest chunk */
static uint64_t next_chunk = VA_FIRST;

static int init(void)
{
	if (owned == NULL)
		owned = hrr_ranges_new();
	if (used == NULL)
		used = hrr_ranges_new();
	return owned != NULL && used != NULL ? 0 : -ENOMEM;
}

/* Reserves at addr exactly (fixed), or anywhere. 0: no. */
static uint64_t reserve(uint64_t addr, uint64_t size, bool fixed)
{
	/* The bare call: a sanitizer has no say in numbers that are never followed. */
	void *p = (void *)syscall(
	    SYS_mmap, addr, size, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (fixed ? MAP_FIXED_NOREPLACE : 0), -1, 0);

	if (p == MAP_FAILED)
		return 0;
	/* A kernel before 4.17 takes the flag for a hint. */
	if (fixed && (uintptr_t)p != addr) {
		munmap(p, size);
		return 0;
	}
	pthread_rwlock_wrlock(&lock);
	int rc = hrr_ranges_add(owned, (uintptr_t)p, size, NULL);
	pthread_rwlock_unlock(&lock);
	if (rc < 0) {
		munmap(p, size);
		return 0;
	}
	return (uintptr_t)p;
}

static int new_chunk(uint64_t need)
{
	uint64_t size = need > CHUNK ? (need + CHUNK - 1) / CHUNK * CHUNK : CHUNK;

	while (next_chunk + size <= VA_LAST) {
		uint64_t a = reserve(next_chunk, size, true);
		next_chunk += size;
		if (a != 0) {
			at = a;
			end = a + size;
			return 0;
		}
	}
	/* A tight address-space limit may still allow less. */
	for (;; size /= 4) {
		uint64_t a = size >= need ? reserve(0, size, false) : 0;
		if (a != 0) {
			at = a;
			end = a + size;
			return 0;
		}
		if (size / 4 < need)
			break;
	}
	uint64_t a = reserve(0, need, false);
	if (a == 0)
		return -ENOMEM;
	at = a;
	end = a + need;
	return 0;
}

int va_alloc(uint64_t size, uint64_t align, uint64_t *ret_addr)
{
	if (size == 0 || size > (uint64_t)1 << 46 || align > (uint64_t)1 << 40)
		return -ENOMEM;
	uint64_t total = ((size + EMU_PAGE - 1) & ~(uint64_t)(EMU_PAGE - 1)) + EMU_PAGE;

	if (align < EMU_PAGE)
		align = EMU_PAGE;
	int rc = init();
	while (rc == 0) {
		uint64_t a = (at + align - 1) & ~(align - 1);
		/* The first page of a chunk is left out: a negative index is seen there too. */
		if (a != 0 && a == at && !hrr_ranges_find(used, a - 1))
			a += align;
		if (end != 0 && a + total <= end) {
			const struct hrr_range *taken = hrr_ranges_overlap(used, a, total);
			if (taken == NULL) {
				rc = hrr_ranges_add(used, a, total, NULL);
				if (rc < 0)
					return rc;
				at = a + total;
				*ret_addr = a;
				return 0;
			}
			at = taken->base + taken->size;
		} else {
			rc = new_chunk(total + align);
		}
	}
	return rc;
}

int va_reserve(uint64_t addr, uint64_t size)
{
	int rc = init();
	uint64_t mine[64];
	unsigned n = 0;

	if (rc < 0)
		return rc;
	if (size == 0 || addr == 0 || addr + size < addr || ((addr | size) & (EMU_PAGE - 1)) != 0)
		return -EINVAL;
	if (hrr_ranges_overlap(used, addr, size) != NULL)
		return -EEXIST;
	/* What is not ours yet must be free in the process. */
	for (uint64_t a = addr; a < addr + size;) {
		const struct hrr_range *o = hrr_ranges_overlap(owned, a, addr + size - a);
		uint64_t to = o == NULL ? addr + size : o->base;
		if (to > a) {
			if (n == sizeof mine / sizeof *mine || reserve(a, to - a, true) == 0) {
				rc = -EEXIST;
				break;
			}
			mine[n++] = a;
		}
		if (o == NULL)
			break;
		o = hrr_ranges_overlap(owned, to, addr + size - to);
		a = o->base + o->size;
	}
	if (rc == 0)
		rc = hrr_ranges_add(used, addr, size, NULL);
	for (; rc < 0 && n > 0; n--) {
		pthread_rwlock_wrlock(&lock);
		const struct hrr_range *o = hrr_ranges_at(owned, mine[n - 1]);
		munmap((void *)(uintptr_t)o->base, o->size);
		hrr_ranges_del(owned, mine[n - 1], NULL);
		pthread_rwlock_unlock(&lock);
	}
	return rc;
}

void va_free(uint64_t addr)
{
	hrr_ranges_del(used, addr, NULL);
}

bool va_owns(uint64_t addr)
{
	pthread_rwlock_rdlock(&lock);
	bool yes = owned != NULL && hrr_ranges_find(owned, addr) != NULL;
	pthread_rwlock_unlock(&lock);
	return yes;
}

static void *take(uint64_t size, int fill)
{
	void *p;

	if (size >= BIG) {
		p = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p == MAP_FAILED)
			return NULL;
		if (fill != 0)
			memset(p, fill, size);
		return p;
	}
	p = aligned_alloc(64, (size + 63) & ~(uint64_t)63);
	if (p != NULL)
		memset(p, fill, size);
	return p;
}

void *storage_new(uint64_t size, int fill)
{
	void *p = take(size, fill);

	written_new(p, size);
	return p;
}

void storage_free(void *p, uint64_t size)
{
	written_gone(p);
	if (p != NULL && size >= BIG)
		munmap(p, size);
	else
		free(p);
}
