#ifndef HRR_EMU_RT_H
#define HRR_EMU_RT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HRR_EMU_DECLARE
#include "hip_proto.h"
#include "hip_ids.h"

#include "lib/base/buf.h"
#include "lib/base/diag.h"
#include "lib/emu/isa/isa.h"
#include "lib/hip/checker.h"

/*
 * The run time's own state and the manners of every entry point.
 *
 * Locking: rt.lock guards everything below but the range table, which has its
 * own lock (range.h), taken inside rt.lock or alone. Work runs with rt.lock
 * released; rt.running counts what runs, and whoever takes memory away waits for it
 * to be 0 (sched_quiesce).
 */

#define EMU_MAX_DEVICES 16
#define EMU_PAGE 4096u

struct stream;
struct pool;
struct event;
struct graph;
struct module;

enum sched_mode { SCHED_EAGER, SCHED_LATE, SCHED_RANDOM, SCHED_ASYNC };

struct device {
	int index;
	int id;		   /* among the machine's, hidden ones too: PCI bus, node, UUID */
	uint64_t used;	   /* bytes of device memory handed out */
	uint64_t code;	   /* bytes of code objects; bounded alike, and not told to programs */
	hipError_t sticky; /* set by a fault: every later call that works says it */
	struct stream *null_stream; /* legacy default stream, made at first use */
	struct stream *streams;	    /* every stream, the null stream too */
	uint32_t peers;		    /* bit d: kernels here may touch memory of device d */
	struct pool *default_pool, *pool;
	uint64_t graph_used, graph_high[2]; /* bytes of graphs' allocation nodes; the most that
					       were used, and kept: nothing is kept here */
	unsigned flags;
	uint64_t limit[2]; /* printf FIFO, malloc heap */
	int cache_config, shared_config;
	unsigned primary_refs;
};

struct rt {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* some work ended, or something else a waiter may look at */
	int major;		/* of the stand-in that was loaded: 5, 6 or 7 */
	int n_devices; /* that HIP shows: dev[0..]; what only HSA shows stands behind them */
	int n_agents, agents[EMU_MAX_DEVICES]; /* places in dev of HSA's devices, in its order */
	struct device dev[EMU_MAX_DEVICES];
	uint64_t memory; /* bytes per device */
	unsigned threads;
	uint64_t budget; /* wave-instructions per launch; 0: none */
	unsigned char fill;
	bool verbose;
	bool trap_error; /* HRR_EMU_TRAP=error: s_trap is a launch failure, not the end of the
			    program */
	bool reregister; /* registering a range again is accepted */
	unsigned max_reports;
	enum sched_mode mode;
	uint64_t random; /* state of random:SEED */
	unsigned running;
	bool arch_known, arch_fixed; /* fixed: said by the user or by the program's code */
	enum isa_arch arch;
	uint64_t calls; /* entries so far: the clock of "freed N calls ago" */
};
extern struct rt rt;

struct call_config {
	dim3 grid, block;
	size_t shared;
	hipStream_t stream;
};
#define EMU_CONFIG_DEPTH 16

/* Per-thread state. */
struct emu_thread {
	int device;
	hipError_t last; /* what hipGetLastError answers */
	unsigned n_config;
	struct call_config config[EMU_CONFIG_DEPTH];
	struct stream *own[EMU_MAX_DEVICES]; /* per-thread default streams */
	int capture_mode;		     /* hipThreadExchangeStreamCaptureMode */
	bool in_work;			     /* this thread is running a host function */
	struct hrr_emu_origin origin;	     /* of what it calls, or of the work it runs */
	struct {
		int device[8];
		unsigned n;
	} ctx;
};
extern _Thread_local struct emu_thread emu_thread;

/*
 * Every entry point starts with one of these and ends with emu_ret.
 * EMU_ANY: works whatever happened before. EMU_WORK: answers the sticky error of
 * the current device first. EMU_UNSAFE: also refused while a stream capture in
 * global mode is open (allocation, waiting).
 */
enum emu_entry { EMU_ANY, EMU_WORK, EMU_UNSAFE };
hipError_t emu_enter(enum emu_entry kind);
/* Sets the thread's last error the way the major does, returns e. */
hipError_t emu_ret(hipError_t e);
/* hipErrorNotSupported, noted once per name under HRR_EMU_VERBOSE. */
hipError_t emu_not_supported(const char *name);
/* One line on standard error under HRR_EMU_VERBOSE. */
void emu_note(const char *fmt, ...) HRR_PRINTF(1, 2);
/* One line on standard error, always: what the user must know. */
void emu_say(const char *fmt, ...) HRR_PRINTF(1, 2);

#define EMU_ENTER(kind)                              \
	do {                                         \
		hipError_t enter_ = emu_enter(kind); \
		if (enter_ != hipSuccess)            \
			return emu_ret(enter_);      \
	} while (0)

static inline void rt_lock(void)
{
	pthread_mutex_lock(&rt.lock);
}
static inline void rt_unlock(void)
{
	pthread_mutex_unlock(&rt.lock);
}
/* The calling thread's current device. */
static inline struct device *rt_device(void)
{
	return &rt.dev[emu_thread.device];
}
static inline bool rt_device_ok(int d)
{
	return d >= 0 && d < rt.n_devices;
}
/* The architecture all devices have; fixed by the first call (arch.h). */
enum isa_arch rt_arch(void);
/* Settings from the environment; the first call does it. */
void rt_init(void);
/* So many devices, of which the program sees those that the environment leaves it. */
void rt_set_devices(int n);
/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t rt_now(void);
/* Next number of the seeded generator; only under rt.lock. */
uint64_t rt_random(void);
/* errno to hipError_t. */
hipError_t rt_error(int negative_errno);

/* Called by the stand-ins' constructors. */
__attribute__((visibility("default"))) void emu_set_major(int major);

/* --- handles ------------------------------------------------------------- */
/*
 * Whatever a program hands in as a handle is looked up here before it is
 * followed, so that a stale or made-up one is an error. Under rt.lock.
 */
enum handle_kind {
	HANDLE_STREAM = 1,
	HANDLE_EVENT,
	HANDLE_MODULE,
	HANDLE_FUNCTION,
	HANDLE_GRAPH,
	HANDLE_EXEC,
	HANDLE_NODE,
	HANDLE_POOL,
	HANDLE_MEM,
	HANDLE_ARRAY,
	HANDLE_CTX
};
int handle_add(enum handle_kind kind, const void *p); /* 0, -ENOMEM */
bool handle_is(enum handle_kind kind, const void *p);
void handle_del(const void *p);

#endif
