#include "lib/preload/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

/*
 * Marks a program sets for profilers: roctx ranges, and where hipProfilerStart and
 * Stop are called. They go on to the real library, and become records where the
 * process is recorded already: a mark alone is no HIP call that would begin it.
 */
#define HRR_EXPORT __attribute__((visibility("default")))
#define TEXT_MAX 4096

/* A roctx is ours to forward to, not to load: programs that have none go without. */
static void *real(const char *name, void **cache)
{
	static const char *const libs[] = {"librocprofiler-sdk-roctx.so.1",
					   "librocprofiler-sdk-roctx.so.0", "libroctx64.so.4",
					   "libroctx64.so"};
	void *p = __atomic_load_n(cache, __ATOMIC_ACQUIRE);
	int err = errno;

	if (p == NULL)
		p = dlsym(RTLD_NEXT, name);
	for (size_t i = 0; p == NULL && i < sizeof libs / sizeof *libs; i++) {
		void *lib = dlopen(libs[i], RTLD_LAZY | RTLD_NOLOAD);
		if (lib == NULL)
			continue;
		p = dlsym(lib, name);
		dlclose(lib);
	}
	__atomic_store_n(cache, p, __ATOMIC_RELEASE);
	errno = err;
	return p;
}

void hrr_marker(struct hrr_thread *t, enum hrr_marker what, uint64_t id, const char *text)
{
	struct hrr_rec_marker x = {.id = id};
	size_t n = text != NULL ? strnlen(text, TEXT_MAX) : 0, room = (n + 7) & ~(size_t)7;
	size_t head = sizeof x - sizeof x.r;

	x.len = (uint32_t)n;
	hrr_b_begin(t, HRR_R_MARKER, 0);
	if (hrr_b_room(t, head + room)) {
		memcpy(t->p, (unsigned char *)&x + sizeof x.r, head);
		t->p += head;
		if (room != 0) {
			memset(t->p + room - 8, 0, 8);
			memcpy(t->p, text, n);
		}
		t->p += room;
		hrr_b_rec(t)->t = hrr_now() - hrr_proc->ctl->t0;
		hrr_b_rec(t)->words = (uint8_t)what;
	}
	hrr_b_commit(t);
}

static void mark(enum hrr_marker what, uint64_t id, const char *text, const void *from)
{
	struct hrr_thread *t = &hrr_self;
	int err = errno;

	if (!hrr_nested(t, __builtin_frame_address(0), from) && hrr_proc->gen != 0 &&
	    hrr_proc->recording) {
		hrr_inside(t, __builtin_frame_address(0));
		if (t->gen != hrr_proc->gen)
			hrr_thread_slow(t);
		if (t->ring != NULL && hrr_proc->hub->off == 0)
			hrr_marker(t, what, id, text);
		hrr_outside(t);
	}
	errno = err;
}

HRR_EXPORT void roctxMarkA(const char *text);
HRR_EXPORT int roctxRangePushA(const char *text);
HRR_EXPORT int roctxRangePop(void);
HRR_EXPORT uint64_t roctxRangeStartA(const char *text);
HRR_EXPORT void roctxRangeStop(uint64_t id);

void roctxMarkA(const char *text)
{
	static void *cache;
	void (*fn)(const char *) = (void (*)(const char *))real("roctxMarkA", &cache);

	if (fn != NULL)
		fn(text);
	mark(HRR_MARK, 0, text, __builtin_return_address(0));
}

int roctxRangePushA(const char *text)
{
	static void *cache;
	int (*fn)(const char *) = (int (*)(const char *))real("roctxRangePushA", &cache);
	int level = fn != NULL ? fn(text) : -1;

	mark(HRR_MARK_PUSH, 0, text, __builtin_return_address(0));
	return level;
}

int roctxRangePop(void)
{
	static void *cache;
	int (*fn)(void) = (int (*)(void))real("roctxRangePop", &cache);
	int level = fn != NULL ? fn() : -1;

	mark(HRR_MARK_POP, 0, NULL, __builtin_return_address(0));
	return level;
}

uint64_t roctxRangeStartA(const char *text)
{
	static void *cache;
	uint64_t (*fn)(const char *) = (uint64_t(*)(const char *))real("roctxRangeStartA", &cache);
	uint64_t id = fn != NULL ? fn(text) : 0;

	mark(HRR_MARK_START, id, text, __builtin_return_address(0));
	return id;
}

void roctxRangeStop(uint64_t id)
{
	static void *cache;
	void (*fn)(uint64_t) = (void (*)(uint64_t))real("roctxRangeStop", &cache);

	if (fn != NULL)
		fn(id);
	mark(HRR_MARK_STOP, id, NULL, __builtin_return_address(0));
}
