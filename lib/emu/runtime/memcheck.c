#include "lib/emu/runtime/memcheck.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/base/range.h"
#include "lib/emu/runtime/emu.h"
#include "lib/emu/runtime/range.h"
#include "lib/emu/runtime/rt.h"

#define KNOWN (HRR_EMU_CHECK_BLOCKS | HRR_EMU_CHECK_INIT | HRR_EMU_GO_ON)

static atomic_uint flags;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
/* By host address; value: one byte for each, mapped (fresh pages cost nothing). */
static struct hrr_ranges *shadows;

unsigned memcheck_flags(void)
{
	return atomic_load_explicit(&flags, memory_order_relaxed);
}

__attribute__((visibility("default"))) int hrr_emu_memcheck(unsigned want)
{
	if ((want & ~KNOWN) != 0)
		return -ENOTSUP;
	atomic_store(&flags, want);
	return 0;
}

void memcheck_env(void)
{
	static const struct {
		const char *name;
		unsigned flag;
	} words[] = {{"blocks", HRR_EMU_CHECK_BLOCKS},
		     {"init", HRR_EMU_CHECK_INIT},
		     {"continue", HRR_EMU_GO_ON}};
	const char *s = getenv("HRR_EMU_MEMCHECK");

	while (s != NULL && *s != '\0') {
		size_t n = strcspn(s, ","), i = 0;
		while (i < 3 && (strlen(words[i].name) != n || memcmp(words[i].name, s, n) != 0))
			i++;
		if (i < 3)
			atomic_fetch_or(&flags, words[i].flag);
		else
			emu_say("HRR_EMU_MEMCHECK: %.*s: not blocks, init or continue, ignored",
				(int)n, s);
		s += n + (s[n] == ',');
	}
}

static bool on(void)
{
	return (memcheck_flags() & HRR_EMU_CHECK_INIT) != 0;
}

void written_new(const void *host, uint64_t size)
{
	if (!on() || host == NULL || size == 0)
		return;
	unsigned char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return; /* rather unchecked than wrong */
	pthread_rwlock_wrlock(&lock);
	if (shadows == NULL)
		shadows = hrr_ranges_new();
	bool in = shadows != NULL && hrr_ranges_add(shadows, (uintptr_t)host, size, p) == 0;
	pthread_rwlock_unlock(&lock);
	if (!in)
		munmap(p, size);
}

void written_gone(const void *host)
{
	if (shadows == NULL || host == NULL)
		return;
	pthread_rwlock_wrlock(&lock);
	const struct hrr_range *x = hrr_ranges_at(shadows, (uintptr_t)host);
	if (x != NULL) {
		unsigned char *p = x->value;
		uint64_t size = x->size;
		hrr_ranges_del(shadows, (uintptr_t)host, p);
		munmap(p, size);
	}
	pthread_rwlock_unlock(&lock);
}

unsigned char *written_at(const void *host, uint64_t n)
{
	unsigned char *p = NULL;

	if (shadows == NULL || !on())
		return NULL;
	pthread_rwlock_rdlock(&lock);
	const struct hrr_range *x = hrr_ranges_find(shadows, (uintptr_t)host);
	if (x != NULL && n <= x->size - ((uintptr_t)host - x->base))
		p = (unsigned char *)x->value + ((uintptr_t)host - x->base);
	pthread_rwlock_unlock(&lock);
	return p;
}

void written_note(const void *host, uint64_t n)
{
	unsigned char *p = written_at(host, n);

	if (p != NULL)
		memset(p, 1, n);
}

void written_copy(const void *to, const void *from, uint64_t n)
{
	unsigned char *d = written_at(to, n), *s = d != NULL ? written_at(from, n) : NULL;

	if (s != NULL)
		memmove(d, s, n);
	else if (d != NULL)
		memset(d, 1, n);
}

__attribute__((visibility("default"))) int hrr_emu_unwritten(uint64_t addr, uint64_t size)
{
	struct range r;

	if (size == 0 || addr + size < addr)
		return -EINVAL;
	if (!range_copy(addr, &r) || size > r.size - (addr - r.base))
		return -ENOENT;
	unsigned char *p = written_at(r.host + (addr - r.base), size);
	if (p != NULL)
		memset(p, 0, size);
	return 0;
}
