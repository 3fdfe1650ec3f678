#include "lib/preload/preload.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Big payloads in memory that both sides have mapped: a copy into pages that are
 * there costs what memcpy does; a file costs its pages anew each time. Extents
 * are given out from the lowest free address on, so that few pages serve a
 * program whose reader keeps up. What lies where is known here only; shared is
 * one byte for each extent, which the reader clears when its line is written.
 *
 * Nothing waits for room: what does not fit goes to a file.
 */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif
#define STEP ((uint64_t)1 << 20) /* pages are made ready in steps of this */

struct extent {
	uint64_t at, size;
	uint32_t slot;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hrr_arena *shared;
static _Atomic bool none;    /* there cannot be one */
static uint64_t size, ready; /* bytes of data; of them with pages */
static struct extent extents[HRR_ARENA_SLOTS];
static uint32_t n_extents, last_slot;

void hrr_arena_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	shared = NULL; /* the parent's: not mapped here */
	none = false;
	size = ready = 0;
	n_extents = last_slot = 0;
}

static struct hrr_arena *make(void)
{
	char path[4096];
	uint64_t whole = HRR_ARENA_HEADER + hrr_proc->hub->arena_size;
	struct hrr_arena *a = MAP_FAILED;

	if (hrr_proc->hub->arena_size == 0)
		return NULL;
	hrr_process_path(path, "a", UINT32_MAX);
	int fd = hrr_open_ours(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0)
		return NULL;
	/* Where space cannot be had at once there is none: no write later may fail in memcpy. */
	if (fallocate(fd, 0, 0, (off_t)whole) == 0)
		a = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (a == MAP_FAILED) {
		hrr_unlink_ours(path);
		return NULL;
	}
	madvise(a, whole, MADV_DONTFORK);
	a->size = size = hrr_proc->hub->arena_size;
	atomic_store_explicit(&a->magic, HRR_ARENA_MAGIC, memory_order_release);
	return a;
}

/* Pages up to end exist and are mapped. */
static bool make_ready(uint64_t end)
{
	if (end <= ready)
		return true;
	uint64_t to = (end + STEP - 1) & ~(STEP - 1);
	if (to > size)
		to = size;
	if (madvise(hrr_arena_data(shared) + ready, to - ready, MADV_POPULATE_WRITE) != 0 &&
	    errno != EINVAL) /* before Linux 5.14: they come one by one */
		return false;
	ready = to;
	return true;
}

/* Drops extents the reader has cleared; the first gap of n bytes, and its place in the list. */
static uint64_t find_gap(uint64_t n, uint32_t *ret_index)
{
	uint64_t end = 0, gap = UINT64_MAX;
	uint32_t k = 0;

	for (uint32_t i = 0; i < n_extents; i++) {
		struct extent x = extents[i];
		if (atomic_load_explicit(&shared->busy[x.slot], memory_order_acquire) == 0)
			continue;
		if (gap == UINT64_MAX && x.at - end >= n) {
			gap = end;
			*ret_index = k;
		}
		end = x.at + x.size;
		extents[k++] = x;
	}
	n_extents = k;
	if (gap == UINT64_MAX && size - end >= n) {
		gap = end;
		*ret_index = k;
	}
	return gap;
}

/* Under the lock. */
static void prepare(void)
{
	struct hrr_files old;

	if (shared != NULL || none)
		return;
	hrr_files_begin(&old);
	shared = make();
	hrr_files_end(&old);
	none = shared == NULL;
}

void hrr_arena_prepare(void)
{
	pthread_mutex_lock(&lock);
	prepare();
	pthread_mutex_unlock(&lock);
}

unsigned char *hrr_arena_take(uint64_t n, uint64_t *ret_number)
{
	uint64_t whole = (n + 63) & ~(uint64_t)63, at;
	unsigned char *to = NULL;
	uint32_t i = 0;

	if (none || n == 0 || n > hrr_proc->hub->arena_size)
		return NULL;
	pthread_mutex_lock(&lock);
	prepare();
	if (shared == NULL)
		goto out;
	at = find_gap(whole, &i);
	if (at == UINT64_MAX || n_extents == HRR_ARENA_SLOTS || !make_ready(at + whole))
		goto out;
	uint32_t slot = last_slot;
	do
		slot = (slot + 1) % HRR_ARENA_SLOTS;
	while (atomic_load_explicit(&shared->busy[slot], memory_order_relaxed) != 0);
	last_slot = slot;
	memmove(&extents[i + 1], &extents[i], (n_extents - i) * sizeof *extents);
	extents[i] = (struct extent){at, whole, slot};
	n_extents++;
	atomic_store_explicit(&shared->busy[slot], 1, memory_order_relaxed);
	to = hrr_arena_data(shared) + at;
	*ret_number = hrr_arena_number(slot, at);
out:
	pthread_mutex_unlock(&lock);
	return to;
}

void hrr_arena_give(uint64_t number)
{
	if (shared != NULL && hrr_in_arena(number))
		atomic_store_explicit(&shared->busy[hrr_arena_slot(number)], 0,
				      memory_order_release);
}

/* Where the system cannot say (before Linux 5.14) it is taken to be. */
bool hrr_still_readable(const void *addr, uint64_t n)
{
	static _Atomic int can_say = -1;
	static char here;

	if (can_say < 0)
		can_say = hrr_readable(&here, 1) || errno != EINVAL;
	return can_say == 0 || hrr_readable(addr, n);
}

/* Is all of it there to be read? Pages not touched yet are made. */
bool hrr_readable(const void *addr, uint64_t n)
{
	uint64_t from = (uintptr_t)addr & ~(uint64_t)4095;

	return n != 0 && (uintptr_t)addr + n > (uintptr_t)addr &&
	       madvise((void *)(uintptr_t)from, (uintptr_t)addr + n - from, MADV_POPULATE_READ) ==
		   0;
}
