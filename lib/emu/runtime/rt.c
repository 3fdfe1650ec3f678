#include "lib/emu/runtime/rt.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/emu/runtime/arch.h"
#include "lib/emu/runtime/capture.h"
#include "lib/emu/runtime/memcheck.h"
#include "lib/emu/runtime/sched.h"
#include "lib/emu/runtime/visible.h"

struct rt rt = {.lock = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER,
		.major = 5,
		.n_devices = 1,
		.max_reports = 8};
_Thread_local struct emu_thread emu_thread;

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Size with an optional K, M, G or T; dflt when unset or not a number. */
static uint64_t env_size(const char *name, uint64_t dflt)
{
	const char *s = getenv(name);
	char *end;

	if (s == NULL || *s == '\0')
		return dflt;
	errno = 0;
	uint64_t v = strtoull(s, &end, 0);
	if (errno != 0 || end == s || *s == '-')
		goto bad;
	unsigned shift = 0;
	if (*end != '\0') {
		const char *unit = strchr("KMGT", *end & ~0x20);
		if (unit == NULL || end[1] != '\0')
			goto bad;
		shift = 10 * (unsigned)(unit - "KMGT" + 1);
	}
	if (v << shift >> shift == v)
		return v << shift;
bad:
	emu_say("%s=%s: not a number, ignored", name, s);
	return dflt;
}

static void init_mode(void)
{
	const char *s = getenv("HRR_EMU_SCHED");

	if (s == NULL || *s == '\0' || strcmp(s, "eager") == 0)
		rt.mode = SCHED_EAGER;
	else if (strcmp(s, "late") == 0)
		rt.mode = SCHED_LATE;
	else if (strcmp(s, "async") == 0)
		rt.mode = SCHED_ASYNC;
	else if (strncmp(s, "random", 6) == 0 && (s[6] == '\0' || s[6] == ':')) {
		rt.mode = SCHED_RANDOM;
		rt.random = s[6] == ':' ? strtoull(s + 7, NULL, 0) : 1;
	} else
		emu_say("HRR_EMU_SCHED=%s: not eager, late, random:SEED or async; taken as eager",
			s);
}

/* Devices that HIP shows come first, then those that only HSA shows. */
void rt_set_devices(int n)
{
	int agents[VISIBLE_MAX], devices[VISIBLE_MAX], place[VISIBLE_MAX];

	_Static_assert(VISIBLE_MAX == EMU_MAX_DEVICES, "the same devices");
	visible_devices(n, agents, &rt.n_agents, devices, &rt.n_devices);
	for (int i = 0; i < n; i++)
		place[i] = -1;
	for (int i = 0; i < rt.n_devices; i++)
		place[rt.dev[i].id = devices[i]] = i;
	for (int i = 0, last = rt.n_devices; i < rt.n_agents; i++) {
		int id = agents[i];
		if (place[id] < 0) {
			place[id] = last;
			rt.dev[last++].id = id;
		}
		rt.agents[i] = place[id];
	}
	if (rt.n_devices < n)
		emu_note("%d of %d devices are visible to HIP, %d to HSA", rt.n_devices, n,
			 rt.n_agents);
}

static void init(void)
{
	const char *s = getenv("HRR_EMU_REREGISTER");

	rt.verbose = env_size("HRR_EMU_VERBOSE", 0) != 0;
	uint64_t n = env_size("HRR_EMU_DEVICES", 1);
	if (n > EMU_MAX_DEVICES) {
		emu_say("HRR_EMU_DEVICES: at most %d", EMU_MAX_DEVICES);
		n = EMU_MAX_DEVICES;
	}
	rt_set_devices((int)n);
	for (int i = 0; i < EMU_MAX_DEVICES; i++) {
		rt.dev[i].index = i;
		rt.dev[i].limit[0] = 4096;
		rt.dev[i].limit[1] = 8 << 20;
	}
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	rt.threads = (unsigned)env_size("HRR_EMU_THREADS", cpus > 0 ? (uint64_t)cpus : 1);
	rt.fill = (unsigned char)env_size("HRR_EMU_FILL", 0);
	rt.budget = env_size("HRR_EMU_BUDGET", 50000000000ull);
	rt.max_reports = (unsigned)env_size("HRR_EMU_REPORTS", 8);
	rt.reregister = s == NULL || strcmp(s, "refuse") != 0;
	if (s != NULL && *s != '\0' && strcmp(s, "refuse") != 0 && strcmp(s, "accept") != 0)
		emu_say("HRR_EMU_REREGISTER=%s: not accept or refuse; taken as accept", s);
	s = getenv("HRR_EMU_TRAP");
	rt.trap_error = s != NULL && strcmp(s, "error") == 0;
	s = getenv("HRR_EMU_ARCH");
	if (s != NULL && *s != '\0') {
		int a = isa_arch_by_name(s);
		if (a < 0)
			emu_say("HRR_EMU_ARCH=%s: unknown, ignored", s);
		else
			arch_set((enum isa_arch)a);
	}
	s = getenv("HRR_EMU_SIMD");
	if (s != NULL && *s != '\0' && isa_limit_simd(s) < 0)
		emu_say("HRR_EMU_SIMD=%s: not base, avx2 or avx512, ignored", s);
	init_mode();
	memcheck_env();
}

void rt_init(void)
{
	pthread_once(&once, init);
}

hipError_t emu_enter(enum emu_entry kind)
{
	rt_init();
	if (rt.n_agents == 0)
		return hipErrorNoDevice;
	rt_lock();
	if (rt.memory == 0)
		rt.memory = env_size("HRR_EMU_MEMORY", arch_memory(rt_arch()));
	if (rt.n_devices == 0) {
		rt_unlock();
		return hipErrorNoDevice;
	}
	rt.calls++;
	hipError_t e = hipSuccess;
	if (kind != EMU_ANY)
		e = rt_device()->sticky;
	if (e == hipSuccess && kind == EMU_UNSAFE && capture_forbids())
		e = hipErrorStreamCaptureUnsupported;
	sched_tick();
	rt_unlock();
	return e;
}

hipError_t emu_ret(hipError_t e)
{
	/* Up to ROCm 6 every call overwrites it, success too; from 7 on it stays until read. */
	if (e != hipSuccess || rt.major < 7)
		emu_thread.last = e;
	return e;
}

HRR_PRINTF(1, 0) static void say(const char *fmt, va_list ap)
{
	char line[1024];
	int n = snprintf(line, sizeof line, "hrr-emu: ");
	int m = vsnprintf(line + n, sizeof line - (size_t)n - 1, fmt, ap);

	if (m < 0)
		return;
	n += m;
	if ((size_t)n > sizeof line - 2)
		n = (int)sizeof line - 2;
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		return; /* nowhere to say it */
}

void emu_note(const char *fmt, ...)
{
	va_list ap;

	if (!rt.verbose)
		return;
	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

void emu_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

void emu_set_major(int major)
{
	rt.major = major;
}

uint64_t rt_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t rt_random(void)
{
	/* splitmix64: any seed will do, 0 too. */
	uint64_t z = rt.random += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

hipError_t rt_error(int e)
{
	switch (-e) {
	case 0:
		return hipSuccess;
	case ENOMEM:
		return hipErrorOutOfMemory;
	case ENOENT:
		return hipErrorNotFound;
	case ENOSYS:
	case ENOTSUP:
		return hipErrorNotSupported;
	default:
		return hipErrorInvalidValue;
	}
}
