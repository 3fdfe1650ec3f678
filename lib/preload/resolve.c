#include "lib/preload/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The real entry points: the next definition in the loader's order, else one
 * in a run time that somebody loaded RTLD_LOCAL. Nothing is loaded by us: a
 * program without HIP stays without.
 */
void *hrr_real[HRR_API_COUNT];
struct runtime {
	uint64_t from, to; /* its text */
	char path[4096];
};
static struct runtime *_Atomic runtime;

static const char *const hip_names[] = {
    "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so",
    "libhiprtc.so.7",	"libhiprtc.so.6",   "libhiprtc.so.5",	NULL};
static const char *const hsa_names[] = {"libhsa-runtime64.so.1", "libhsa-runtime64.so", NULL};

bool hrr_is_ours(const void *p)
{
	Dl_info ours, its;

	return dladdr((const void *)(uintptr_t)hrr_resolve_name, &ours) != 0 &&
	       dladdr(p, &its) != 0 && ours.dli_fbase == its.dli_fbase;
}

void *hrr_loaded(const char *library, const char *name)
{
	void *lib = dlopen(library, RTLD_LAZY | RTLD_NOLOAD), *p = NULL;

	if (lib != NULL) {
		p = dlsym(lib, name);
		dlclose(lib); /* only the reference RTLD_NOLOAD took */
	}
	return p;
}

void *hrr_resolve_name(const char *name, bool hsa)
{
	int err = errno;
	void *p = dlsym(RTLD_NEXT, name);

	for (const char *const *n = hsa ? hsa_names : hip_names; p == NULL && *n != NULL; n++)
		p = hrr_loaded(*n, name);
	if (p != NULL && hrr_is_ours(p))
		p = NULL;
	errno = err;
	return p;
}

static int find_text(struct dl_phdr_info *info, size_t size, void *self)
{
	struct runtime *r = self;
	uint64_t pc = r->from, lo = UINT64_MAX, hi = 0;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		if (ph->p_type != PT_LOAD)
			continue;
		uint64_t from = info->dlpi_addr + ph->p_vaddr;
		lo = from < lo ? from : lo;
		hi = from + ph->p_memsz > hi ? from + ph->p_memsz : hi;
	}
	if (pc < lo || pc >= hi)
		return 0;
	r->from = lo;
	r->to = hi;
	return 1;
}

/*
 * Of the first call that was found. Threads may come here at once, and none may wait for another:
 * it may hold the loader's lock. Each finds out by itself, the first to be done is believed.
 */
static void note_runtime(void *p)
{
	struct runtime *r = calloc(1, sizeof *r), *none = NULL;
	Dl_info info;

	if (r == NULL)
		return;
	r->from = (uintptr_t)p;
	if (dl_iterate_phdr(find_text, r) == 0)
		r->from = 0;
	if (dladdr(p, &info) != 0 && info.dli_fname != NULL)
		snprintf(r->path, sizeof r->path, "%s", info.dli_fname);
	hrr_left_init();
	if (!atomic_compare_exchange_strong(&runtime, &none, r))
		free(r);
}

void *hrr_resolve(enum hrr_api api)
{
	void *p = hrr_resolve_name(hrr_api_table[api].symbol, false);

	/* Compilation has a library of its own. */
	if (p != NULL && atomic_load_explicit(&runtime, memory_order_acquire) == NULL &&
	    strncmp(hrr_api_table[api].symbol, "hiprtc", 6) != 0)
		note_runtime(p);
	/* Last: who finds it here asks no more. */
	__atomic_store_n(&hrr_real[api], p, __ATOMIC_RELEASE);
	return p;
}

bool hrr_in_runtime(const void *pc)
{
	const struct runtime *r = atomic_load_explicit(&runtime, memory_order_acquire);

	return r != NULL && (uintptr_t)pc >= r->from && (uintptr_t)pc < r->to;
}

const char *hrr_runtime_path(void)
{
	const struct runtime *r = atomic_load_explicit(&runtime, memory_order_acquire);

	return r != NULL ? r->path : "";
}

/* By the file's name, as libraries of one ROCm carry it; the version call would be one of ours. */
int hrr_runtime_major(void)
{
	const char *so = strstr(hrr_runtime_path(), ".so.");

	return so != NULL && so[4] >= '5' && so[4] <= '7' ? so[4] - '0' : 5;
}

int hrr_runtime_layout(void)
{
	int major = hrr_runtime_major();

	if (major != 5)
		return 10 * major;
	/* 5.3 has calls that 5.2 has not; the CPU run time has them too, as of 5.2. */
	return hrr_resolve(HRR_API_hipUserObjectCreate) != NULL &&
		       hrr_resolve_name("emu_set_major", false) == NULL
		   ? 53
		   : 52;
}

void *hrr_shim_of(const char *symbol)
{
	static void *self;
	Dl_info info;

	if (self == NULL) {
		if (dladdr((const void *)(uintptr_t)hrr_resolve_name, &info) == 0)
			return NULL;
		self = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
		if (self == NULL)
			return NULL;
	}
	void *p = dlsym(self, symbol);
	return p != NULL && hrr_is_ours(p) ? p : NULL;
}
