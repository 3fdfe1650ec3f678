#include "lib/emu/runtime/poison.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/range.h"
#include "lib/emu/runtime/emu.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct hrr_ranges *dead; /* value: owned text */
static atomic_size_t n_dead;	/* most programs have none: no lock then */

__attribute__((visibility("default"))) int hrr_emu_poison(const void *addr, uint64_t size,
							  const char *who)
{
	char *text = strdup(who != NULL ? who : "somebody");
	int rc = -ENOMEM;

	if (text == NULL)
		return rc;
	pthread_rwlock_wrlock(&lock);
	if (dead == NULL)
		dead = hrr_ranges_new();
	if (dead != NULL)
		rc = hrr_ranges_add(dead, (uintptr_t)addr, size, text);
	if (rc == 0)
		atomic_fetch_add(&n_dead, 1);
	pthread_rwlock_unlock(&lock);
	if (rc < 0)
		free(text);
	return rc;
}

__attribute__((visibility("default"))) int hrr_emu_unpoison(const void *addr)
{
	int rc = -ENOENT;

	pthread_rwlock_wrlock(&lock);
	const struct hrr_range *x = dead != NULL ? hrr_ranges_at(dead, (uintptr_t)addr) : NULL;
	if (x != NULL) {
		char *text = x->value;
		rc = hrr_ranges_del(dead, (uintptr_t)addr, text);
		free(text);
		atomic_fetch_sub(&n_dead, 1);
	}
	pthread_rwlock_unlock(&lock);
	return rc;
}

uint64_t poison_clear(uint64_t addr)
{
	uint64_t left = UINT64_MAX - addr;

	if (atomic_load_explicit(&n_dead, memory_order_relaxed) == 0)
		return left;
	pthread_rwlock_rdlock(&lock);
	const struct hrr_range *x = hrr_ranges_overlap(dead, addr, left);
	if (x != NULL)
		left = x->base <= addr ? 0 : x->base - addr;
	pthread_rwlock_unlock(&lock);
	return left;
}

int poison_explain(struct hrr_buf *b, uint64_t addr)
{
	int rc = 0;

	pthread_rwlock_rdlock(&lock);
	const struct hrr_range *x = dead != NULL ? hrr_ranges_find(dead, addr) : NULL;
	if (x != NULL) {
		char text[256];
		hrr_mask(text, sizeof text, x->value, strlen(x->value));
		rc = hrr_buf_addf(b, "  at byte %llu of host memory ",
				  (unsigned long long)(addr - x->base));
		if (rc == 0)
			rc = hrr_buf_addx(b, x->base);
		if (rc == 0)
			rc = hrr_buf_addf(b, " +%llu that is no more: %s\n",
					  (unsigned long long)x->size, text);
	}
	pthread_rwlock_unlock(&lock);
	return rc;
}
