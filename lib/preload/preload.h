#ifndef HRR_PRELOAD_PRELOAD_H
#define HRR_PRELOAD_PRELOAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "lib/base/range.h"
#include "lib/hip/node_call.h"
#include "lib/hip/table.h"
#include "lib/preload/ring.h"

/*
 * Private to libhrr-preload.so, which runs inside somebody else's program: it
 * never prints, exits, changes errno or waits for a stream, and whatever fails
 * here the program's call goes on to the real run time.
 *
 * process.c  the process: hub, ctl, fork     thread.c  rings and the record builder
 * files.c    our files, unnoticed              left.c    calls that are left without a return
 * away.c     chroot, setuid and the like       outputs.c outputs into records
 * ends.c     _exit and the like               exec.c    other programs: with us in them
 * shim.c     entering and leaving a call     encode.c  arguments into records
 * memory.c   what an address is              copy.c    copies: direction, bytes in, outputs
 * kernel.c   objects, kernels, launches      graph.c   captures and nodes
 * pending.c  outputs known after a wait      host.c    mapped host memory: snapshots, outputs
 * resolve.c  the real entry points           hsa.c     HSA allocations
 * facts.c    run time, version, devices         marker.c  roctx, profiler start and stop
 * payload.c  bytes into records and files       arena.c   the memory big ones go through
 * graph_*.c  parts of graph.c: what nodes touch, captures, launches
 */

/* One page, wiped in a forked child (so gen is 0 there and differs from what its threads hold). */
struct hrr_process {
	_Atomic uint32_t gen;  /* this process's pid once it is decided whether it records */
	_Atomic uint32_t lock; /* of start-up */
	uint32_t index;	       /* in the hub */
	bool recording;
	uint32_t pid; /* whose memory this is, see hrr_process_own */
	struct hrr_hub *hub;
	struct hrr_ctl *ctl;
	char dir[3072];
};
extern struct hrr_process *_Atomic hrr_proc; /* the page, once it is there */

struct hrr_begun { /* a call that is said to have begun, and not yet to be over */
	bool is;
	enum hrr_api api;
	uint64_t t, seq; /* seq 0: it has none yet */
};

struct hrr_thread {
	uint32_t gen; /* of hrr_proc when this was set up */
	int depth;    /* calls of ours on this thread's stack */
	/* Of the first of them, when there are some: where it was entered, what it keeps (NULL:
	 * these are about to be set), the mark it bears. */
	const void *frame;
	const struct hrr_call *outer;
	uint64_t mark;
	struct hrr_begun begun;
	struct hrr_ring *ring; /* NULL: nothing is recorded */
	unsigned char *data;
	uint64_t size, head, tail; /* head: where the record being built starts; tail: last seen */
	unsigned char *start, *p, *end; /* the record being built */
	bool failed;			/* it did not fit, or the reader is gone */
	bool must;			/* wait for room even where a full ring drops */
	uint8_t n_kept;
	uint64_t kept[8]; /* extents of the arena the record names: given back when it is lost */
};
extern __thread struct hrr_thread hrr_self __attribute__((tls_model("initial-exec")));

enum hrr_hook { /* what a call needs beyond its arguments; by row, see hrr_hook_of */
		HRR_HOOK_NONE,
		HRR_HOOK_COPY,
		HRR_HOOK_ALLOC,
		HRR_HOOK_FREE,
		HRR_HOOK_MAP,
		HRR_HOOK_LAUNCH,
		HRR_HOOK_MODULE,
		HRR_HOOK_SYMBOL,
		HRR_HOOK_GRAPH,
		HRR_HOOK_SYNC,
		HRR_HOOK_STREAM, /* streams and events: order of work */
		HRR_HOOK_REGISTER,
		HRR_HOOK_PROC,
		HRR_HOOK_ARRAY,
		HRR_HOOK_SET,
		HRR_HOOK_NODE /* it is another call: hrr_node_call */
};

struct hrr_host_range;
struct hrr_copy_op;

struct hrr_call {
	uint64_t mark; /* other than that of the thread's calls before */
	enum hrr_api api;
	uint64_t *a;
	const void *from;     /* who calls */
	struct hrr_thread *t; /* NULL: not recorded */
	uint64_t begin, dur;  /* ns since t0; ns */
	uint64_t seq;	      /* 0 until taken */
	uint64_t since;	      /* the last number taken when a wait began; 0: it is none */
	int64_t ret;
	uint8_t flags, dir, hook;
	struct hrr_node_call node; /* what api and a are of, where HRR_HOOK_NODE said so */
	/* kept from entering to leaving */
	uint64_t base, size; /* released memory */
	uint8_t mem;	     /* enum hrr_mem of it */
	struct hrr_host_range *host;
	bool gone;		     /* host has been released */
	struct hrr_snapshots *snaps; /* host pieces read before a launch; owned */
	/* what leaving found out, written behind the record */
	struct hrr_pending *outputs; /* complete now; owned list */
};

/* --- process.c, thread.c ------------------------------------------------- */
/* Ring of the calling thread, set up when needed; NULL: not recorded. */
struct hrr_thread *hrr_thread_slow(struct hrr_thread *t);
bool hrr_process_start(void); /* decides gen; true: recording */
bool hrr_process_own(void);   /* false behind vfork: the memory is the parent's */
/* -ENOENT, -EACCES: there is none for this process. */
int hrr_map_hub(const char *dir, struct hrr_hub **ret);
bool hrr_reader_alive(void);
bool hrr_thread_attach(struct hrr_thread *t); /* a ring for this thread */
/* In a forked child: what is its parent's, whose locks may be held by threads that are not here. */
void hrr_thread_forget(void);
void hrr_spares_forget(void);
/* Path of a file of this process into path (4096 bytes): "…/pI" and suffix. */
void hrr_process_path(char *path, const char *kind, uint32_t n);
uint64_t hrr_now(void); /* CLOCK_MONOTONIC, ns */
/* Copy n bytes from memory that may not be there. False: it was not. */
bool hrr_copy_in(void *dst, const void *src, size_t n);

/* --- ends.c -------------------------------------------------------------- */
/* The process is about to end in this way; returns what it was about before, for hrr_goes_on, which
 * returns -1. */
uint32_t hrr_ending(enum hrr_ending how);
int hrr_goes_on(uint32_t before);
void hrr_next(void *function, const char *name); /* a pointer to the next definition, or NULL */

/* --- files.c ------------------------------------------------------------- */
struct hrr_files { /* as it was before */
	sigset_t mask;
	int cancel;
};
/* Around making and writing our files: over the program's own limit of file size (RLIMIT_FSIZE)
 * they fail, and no signal reaches the program; no thread is cancelled meanwhile. */
void hrr_files_begin(struct hrr_files *f);
void hrr_files_end(const struct hrr_files *f);
/* As open, O_CLOEXEC, and never 0, 1 or 2. */
int hrr_open(const char *path, int flags, mode_t mode);
int hrr_high_fd(int fd);
int hrr_open_ours(const char *path, int flags, mode_t mode);
void hrr_unlink_ours(const char *path);

/* --- away.c -------------------------------------------------------------- */
/* Of the recording's folder, where the process has gone where its path does not lead to it; -1. */
int hrr_away_folder(void);
struct hrr_hub *hrr_away_hub(void); /* mapped before that, or NULL */

/* --- the record builder (thread.c) --------------------------------------- */
void hrr_b_begin(struct hrr_thread *t, enum hrr_rec_type type, enum hrr_api api);
bool hrr_b_room_slow(struct hrr_thread *t, size_t n);
/* Room for n bytes at t->p. False: the record is lost (t->failed). */
static inline bool hrr_b_room(struct hrr_thread *t, size_t n)
{
	return (size_t)(t->end - t->p) >= n || hrr_b_room_slow(t, n);
}
static inline struct hrr_rec *hrr_b_rec(struct hrr_thread *t)
{
	return (struct hrr_rec *)(void *)t->start;
}
/* An attachment of len bytes; returns where they go, or NULL. */
unsigned char *hrr_b_att(struct hrr_thread *t, enum hrr_att_tag tag, unsigned param, size_t len);
/* Publishes. A record that failed is counted as lost instead, false. */
bool hrr_b_commit(struct hrr_thread *t);
void hrr_b_wake(struct hrr_thread *t);

/* The record being built names this extent (any other number: nothing to do). */
static inline void hrr_kept(struct hrr_thread *t, uint64_t file)
{
	if (hrr_in_arena(file) && t->n_kept < sizeof t->kept / sizeof *t->kept)
		t->kept[t->n_kept++] = file;
}

/* --- payload.c ----------------------------------------------------------- */
struct hrr_rect { /* rows of width bytes; planes of height rows */
	uint64_t width, height, depth, pitch, slice; /* height, depth from 1 */
};
uint64_t hrr_rect_bytes(const struct hrr_rect *r); /* 0 on overflow */
uint64_t hrr_rect_span(const struct hrr_rect *r);  /* from its first byte to its last */
/*
 * Bytes at addr (a rectangle of them, packed) for a record: small ones go inline as the data of the
 * attachment or the rest of the record, big ones to the arena or a file. trusted: memory is known
 * to be there.
 */
bool hrr_bytes_att(struct hrr_thread *t, enum hrr_att_tag tag, unsigned param, const void *addr,
		   const struct hrr_rect *r, bool trusted);
/* Behind a fixed record (output, object) whose struct hrr_bytes lies at offset off. */
void hrr_bytes_rec(struct hrr_thread *t, size_t off, const void *addr, const struct hrr_rect *r,
		   bool trusted);
uint64_t hrr_bytes_file(const void *addr,
			const struct hrr_rect *r); /* number + 1, or HRR_NO_FILE */
/* The same in the arena where they fit: for what the reader is told of soon. */
uint64_t hrr_bytes_big(const void *addr, const struct hrr_rect *r, bool trusted);
uint64_t hrr_bytes_file_copy(const char *path, uint64_t *ret_size);

/* --- arena.c ------------------------------------------------------------- */
/* Room for n bytes until the reader or hrr_arena_give ends it; NULL: there is none. */
unsigned char *hrr_arena_take(uint64_t n, uint64_t *ret_number);
void hrr_arena_give(uint64_t number);
void hrr_arena_prepare(void); /* made now, while it can be */
void hrr_arena_forget(void);
bool hrr_readable(const void *addr, uint64_t n);
bool hrr_still_readable(const void *addr, uint64_t n);

/* --- shim.c, encode.c ---------------------------------------------------- */
extern uint8_t hrr_hook_of[HRR_API_COUNT];
extern bool hrr_per_thread[HRR_API_COUNT]; /* _spt: its null stream is the thread's own */
static inline uint64_t hrr_stream_of(enum hrr_api api, uint64_t stream)
{
	return stream == 0 && hrr_per_thread[api] ? 2 : stream; /* hipStreamPerThread */
}
void hrr_tables_init(void);
void hrr_encode_args(struct hrr_thread *t, const struct hrr_call *c, bool left);
/* Size of one element of a parameter's pointee; 0: not followed. */
size_t hrr_elem_size(const struct hrr_param *p);
uint64_t hrr_take_seq(void);

/* --- left.c -------------------------------------------------------------- */
void hrr_left_init(void);
bool hrr_nested_slow(struct hrr_thread *t, const void *frame, const void *from);
/* Is a call made from this frame one inside another of ours? from: where in the program or the run
 * time. */
static inline bool hrr_nested(struct hrr_thread *t, const void *frame, const void *from)
{
	return __builtin_expect(t->depth != 0, 0) && hrr_nested_slow(t, frame, from);
}
/* Around what writes records: handlers of signals call HIP too. Only where there is no call of
 * ours on the stack. */
static inline void hrr_inside(struct hrr_thread *t, const void *frame)
{
	t->frame = frame;
	atomic_signal_fence(memory_order_seq_cst);
	t->depth = 1;
	atomic_signal_fence(memory_order_seq_cst);
	t->frame = frame; /* a handler's came between */
	atomic_signal_fence(memory_order_seq_cst);
}
static inline void hrr_outside(struct hrr_thread *t)
{
	t->outer = NULL;
	atomic_signal_fence(memory_order_seq_cst);
	t->depth = 0;
}
/* There is none of ours on the stack any more, whatever has begun. */
void hrr_left(struct hrr_thread *t);
/* The call's number, taken now when it has none: for what must name the call before its record is
 * out. */
static inline uint64_t hrr_seq(struct hrr_call *c)
{
	if (c->seq == 0)
		c->seq = hrr_take_seq();
	return c->seq;
}
static inline bool hrr_ok(const struct hrr_call *c)
{
	return c->ret == 0;
}

/* --- resolve.c ----------------------------------------------------------- */
extern void *hrr_real[HRR_API_COUNT];
void *hrr_resolve(enum hrr_api api); /* NULL: the run time lacks it */
void *hrr_resolve_name(const char *name, bool hsa);
void *hrr_shim_of(const char *symbol);			 /* our own export, or NULL */
bool hrr_in_runtime(const void *pc);			 /* an address inside the HIP library */
bool hrr_is_ours(const void *pc);			 /* inside this one */
void *hrr_loaded(const char *library, const char *name); /* NULL: it is not, or has no such name */
const char *hrr_runtime_path(void);
int hrr_runtime_major(void);
int hrr_runtime_layout(void); /* hrr_struct_at */

/* --- facts.c ------------------------------------------------------------- */
/* After a call with success, until all is told: what is known of the run time, as records. */
void hrr_runtime_told(const struct hrr_call *c);

/* --- marker.c ------------------------------------------------------------ */
void hrr_marker(struct hrr_thread *t, enum hrr_marker what, uint64_t id, const char *text);

/* --- memory.c ------------------------------------------------------------ */
struct hrr_where {
	enum hrr_mem mem;
	uint64_t base, size;
	struct hrr_host_range *host;
};
struct hrr_where hrr_where_is(uint64_t addr);
void hrr_memory_add(uint64_t base, uint64_t size, enum hrr_mem mem, struct hrr_host_range *host);
struct hrr_where hrr_memory_del(uint64_t base); /* of exactly this base; mem NONE: not there */
void hrr_memory_forget(void);
void hrr_memory_reset(struct hrr_call *c); /* the device was reset: nothing is mapped any more */
static inline bool hrr_mem_device(enum hrr_mem m)
{
	return m == HRR_MEM_DEVICE || m == HRR_MEM_MANAGED || m == HRR_MEM_ALIAS ||
	       m == HRR_MEM_HSA;
}
void hrr_range_att(struct hrr_thread *t, uint64_t base, uint64_t size, enum hrr_mem mem, bool add);
void hrr_variable_known(struct hrr_call *c, uint64_t base, uint64_t size);
/* A managed variable, known from here on; a reference, or NULL. */
struct hrr_host_range *hrr_managed_known(struct hrr_call *c, uint64_t base, uint64_t size);
void hrr_managed_gone(uint64_t base);
void hrr_alloc_leave(struct hrr_call *c);
void hrr_free_enter(struct hrr_call *c);
void hrr_free_leave(struct hrr_call *c);
void hrr_map_enter(struct hrr_call *c);
void hrr_map_leave(struct hrr_call *c);

/* --- copy.c -------------------------------------------------------------- */
struct hrr_copy_op {
	uint64_t dst, src;
	struct hrr_rect drect, srect;
	uint64_t stream;
	int kind;		      /* hipMemcpyKind or -1 */
	bool async, dst_dev, src_dev; /* _dev: by the call's own types */
	bool unknown; /* an end is an array of which nothing is known: not followed */
	uint8_t dst_param, src_param;
};
bool hrr_copy_describe(enum hrr_api api, const uint64_t *a, struct hrr_copy_op *op);
enum hrr_dir hrr_copy_dir(const struct hrr_copy_op *op);
void hrr_copy_leave(struct hrr_call *c);

/* --- array.c ------------------------------------------------------------- */
void hrr_array_leave(struct hrr_call *c);   /* made or freed */
uint64_t hrr_array_element(uint64_t array); /* bytes; 0: not known */
void hrr_array_forget(void);

/* --- kernel.c ------------------------------------------------------------ */
struct hrr_kernel_arg {
	uint32_t offset, size, kind;
};
struct hrr_kernel_info {
	_Atomic uint64_t id; /* given once its record is written */
	uint32_t n_args, kernarg;
	const struct hrr_kernel_arg *args;
	struct hrr_object *object;
	char *name;
	_Atomic int state; /* 0 not looked at, 1 known, -1 not to be had */
};
/* Kernel behind a stub or function handle; writes its records when they are new. NULL: unknown. */
struct hrr_kernel_info *hrr_kernel_of(struct hrr_thread *t, uint64_t handle);
/* Registrations are kept and written when (and if) the process makes its first call. */
void hrr_register_leave(enum hrr_api api, const uint64_t *a, int64_t ret);
void hrr_register_replay(struct hrr_thread *t);
/* Of a managed variable: what it holds, in the record of its registration. */
void hrr_managed_att(struct hrr_call *c);
/* Managed variables of a kernel's code: it needs no argument to get at them. */
void hrr_managed_each(const struct hrr_object *o,
		      void (*each)(void *self, struct hrr_host_range *h), void *self);
void hrr_module_leave(struct hrr_call *c); /* before its record */
void hrr_module_att(struct hrr_call *c);   /* inside its record */
void hrr_launch_enter(struct hrr_call *c);
void hrr_launch_begun(struct hrr_call *c); /* inside its ENTER */
void hrr_launch_leave(struct hrr_call *c);
void hrr_kernel_forget(void);
void hrr_symbol_att(struct hrr_call *c, int param);
void hrr_symbol_prepare(struct hrr_call *c);
uint64_t hrr_symbol_size(uint64_t address); /* 0: not registered */

struct hrr_launch_args {
	const uint64_t *params; /* kernelParams, or NULL */
	const uint64_t *extra;
	uint32_t grid[3], block[3];
	uint64_t lds, stub, stream;
};
bool hrr_launch_describe(enum hrr_api api, const uint64_t *a, struct hrr_launch_args *l);
#define HRR_LAUNCHES_MAX 64 /* of one call: more than there are devices in a machine */
/* The n-th launch (from 0) a call makes, where it is a launch. False: there is none. */
bool hrr_launch_nth(enum hrr_api api, const uint64_t *a, unsigned n, struct hrr_launch_args *l);
/* Kernarg bytes into buf (kernarg rounded up), zero between arguments. */
size_t hrr_launch_bytes(const struct hrr_kernel_info *k, const struct hrr_launch_args *l,
			unsigned char *buf, size_t cap);
void hrr_kernel_att(struct hrr_call *c, const struct hrr_launch_args *l, unsigned n);
/* Calls each for every mapped host range that the arguments' words fall into. */
void hrr_launch_hosts(const struct hrr_kernel_info *k, const struct hrr_launch_args *l,
		      void (*each)(void *self, struct hrr_host_range *h), void *self);

/* --- pending.c ----------------------------------------------------------- */
struct hrr_pending {
	struct hrr_pending *next;
	uint64_t call, node; /* seq */
	uint64_t addr;
	struct hrr_rect rect;
	struct hrr_host_range *host; /* the mapped range it goes to, a reference; NULL: none */
	bool function; /* a host function, which may write anywhere; no output comes of it */
	bool kernel;   /* a kernel may have written the range: what changed is the output */
	unsigned n_cover;
	uint64_t cover[14]; /* streams and events whose end implies this one's */
};
extern _Atomic unsigned hrr_n_pending;
void hrr_pending_add(uint64_t call, uint64_t node, uint64_t addr, const struct hrr_rect *r,
		     struct hrr_host_range *host, bool kernel, uint64_t stream);
void hrr_stream_leave(struct hrr_call *c); /* streams and events: what implies what */
void hrr_sync_leave(struct hrr_call *c);   /* waits: takes what is complete into c->outputs */
void hrr_pending_device(struct hrr_call *c);
void hrr_pending_stream(struct hrr_call *c, uint64_t stream);
bool hrr_pending_overlaps(uint64_t addr, uint64_t size);
/* A host function was put into a stream; is one still to run before work put there now? */
void hrr_pending_function(uint64_t stream);
bool hrr_pending_function_before(uint64_t stream);
void hrr_pending_work(uint64_t stream); /* work was put into a stream */
/* An output of this call that is on its way, said in its record. */
void hrr_pending_att(struct hrr_call *c, uint64_t node, uint64_t addr, uint64_t size);
void hrr_pending_forget(void);
/* Writes c->outputs behind the call's record. */
void hrr_outputs_write(struct hrr_call *c);

/* --- host.c -------------------------------------------------------------- */
struct hrr_host_range {
	uint64_t base, size, alias; /* alias: device address, or 0 */
	enum hrr_mem mem;
	uint64_t n_pieces;
	uint64_t *known; /* hash of each piece as last recorded; 0: never */
	_Atomic uint32_t refs;
	_Atomic bool gone;  /* the run time no longer knows it */
	_Atomic bool freed; /* nor is the memory there any more: never touched again */
	pthread_mutex_t lock;
};
struct hrr_snapshots;
extern _Atomic unsigned hrr_n_hosts; /* mapped ranges there are */
bool hrr_host_wanted(void);	     /* there are some, and they are to be looked at */
void hrr_host_each(void (*each)(void *self, struct hrr_host_range *h), void *self);
struct hrr_host_range *hrr_host_new(uint64_t base, uint64_t size, enum hrr_mem mem);
void hrr_hosts_forget(void);
void hrr_host_ref(struct hrr_host_range *h);
void hrr_host_unref(struct hrr_host_range *h);
void hrr_host_gone(struct hrr_host_range *h); /* freed or unregistered */
/* Reads the pieces of [addr, addr + size) of h that changed since they were last recorded. */
void hrr_host_snapshot(struct hrr_snapshots **s, struct hrr_host_range *h, uint64_t addr,
		       uint64_t size);
/* The same of ordinary host memory (graph operands): always. */
void hrr_host_snapshot_plain(struct hrr_snapshots **s, uint64_t addr, const struct hrr_rect *r);
void hrr_snapshots_att(struct hrr_thread *t, struct hrr_snapshots *s);
/* written: their record is out; else the arena has its bytes back. */
void hrr_snapshots_free(struct hrr_snapshots *s, bool written);
/* Bytes of a range are recorded already by a copy: not to be recorded again as changed. */
void hrr_host_settle(struct hrr_host_range *h, uint64_t addr, uint64_t size);
/* They are recorded as a copy's source; plain: without gaps. */
void hrr_host_sourced(struct hrr_host_range *h, uint64_t addr, uint64_t size, bool plain);
/* Each changed piece of h: calls each; marks it known. */
void hrr_host_changed(struct hrr_host_range *h,
		      void (*each)(void *self, uint64_t addr, uint64_t size), void *self);

/* --- graph*.c ------------------------------------------------------------ */
extern _Atomic unsigned hrr_n_captures;
bool hrr_capturing(uint64_t stream);
/* A copy or launch that went into a capture. seq is known when its record is written. */
void hrr_capture_copy(struct hrr_call *c, const struct hrr_copy_op *op, enum hrr_dir dir);
void hrr_capture_launch(struct hrr_call *c, const struct hrr_launch_args *l);
bool hrr_graph_launches(enum hrr_api api);
void hrr_graph_enter(struct hrr_call *c);
void hrr_graph_att(struct hrr_call *c); /* inside its record */
void hrr_graph_event(uint64_t event, uint64_t stream, bool wait);
void hrr_capture_function(uint64_t stream);
void hrr_graph_forget(void);

/* --- proc.c -------------------------------------------------------------- */
void hrr_proc_leave(struct hrr_call *c);

#endif
