#ifndef HRR_REPLAY_ENGINE_H
#define HRR_REPLAY_ENGINE_H

/* Private to lib/replay: the engine's state, and what its parts ask of each other. */

#include "lib/replay/copies.h"
#include "lib/replay/graphs.h"
#include "lib/replay/hosts.h"
#include "lib/replay/kernels.h"
#include "lib/replay/memcheck.h"

#define HRR_MAX_WORDS 16 /* parameters of a call */
#define HRR_MAX_CTX 64	 /* on one thread's stack */
#define HRR_MAX_KERNARG ((size_t)1 << 20)
#define HRR_MAX_COUNT 65536 /* elements of an array parameter */
#define HRR_RECENT 4096	    /* calls whose names are remembered for messages */
#define HRR_PAST 256	    /* dead ranges remembered for messages */

/* --- handles (handle.c) --------------------------------------------------- */

struct hrr_held {
	uint64_t recorded; /* 0: free slot */
	uint64_t live;
	void *info;	/* borrowed or owned, by type: see the file that makes them */
	uint64_t owner; /* recorded handle of the graph or module it belongs to; event: key of the
			   stream it was recorded on */
	uint64_t when;	/* stream: seq up to which it was waited for; event: seq it was recorded */
	int device;
	uint32_t extra; /* node: its type, 0 unknown; stream: HRR_STREAM_APART or 0 */
};

struct hrr_held_map {
	struct hrr_held *slot;
	size_t cap, n;
};

/* --- events ---------------------------------------------------------------- */

#define HRR_STREAM_APART 1u /* from the null stream: hipStreamNonBlocking */

#define HRR_NEVER_RETURNED (-1)

struct hrr_thread {
	uint64_t tid;
	int device;		  /* current device as recorded */
	int64_t last_error;	  /* of the replayed calls of this thread */
	int capture_mode;	  /* hipThreadExchangeStreamCaptureMode */
	uint8_t ctx[HRR_MAX_CTX]; /* devices that were current below the contexts on its stack */
	uint8_t n_ctx;
	uint64_t owes; /* seq of its last call, a release that waits for a device; 0: none */
	int owes_device;
	bool owes_late; /* which was put off here */
};

struct hrr_event {
	const struct hrr_record *rec;
	const struct hrr_json *j;
	enum hrr_api api;
	const struct hrr_api_row *row;
	uint64_t seq;
	int recorded; /* hipError_t, or HRR_NEVER_RETURNED */
	struct hrr_thread *th;
	uint64_t w[HRR_MAX_WORDS]; /* recorded values; pointers to scratch for strings and boxes */
	int node[HRR_MAX_WORDS];   /* JSON value, -1 when absent */
	uint64_t live[HRR_MAX_WORDS]; /* what is issued */
};

struct hrr_arena {
	struct hrr_arena_chunk *chunk;
	size_t used, cap;
	unsigned char *base;
};

struct hrr_replay {
	struct hrr_hip *hip;
	struct hrr_replay_options opt;
	struct hrr_blobs *blobs;
	struct hrr_verdict v;
	struct hrr_diag diag; /* what the failing call had to say */
	bool trouble;	      /* the failure is not the recorded call's: replay ends with 2 */
	bool finished, abandoned, timed_out;
	bool late_failure; /* a release that was put off failed since the last record */
	bool no_query;	   /* the run time has no hipStreamQuery */

	int n_devices, device; /* current live device */
	bool used[HRR_MAX_DEVICES];
	struct hrr_thread *threads; /* owned */
	size_t n_threads, cap_threads;
	uint64_t last_tid;
	size_t last_thread;

	struct hrr_ranges *map;	    /* device addresses -> struct hrr_mem */
	struct hrr_ranges *hostmap; /* host addresses HIP knows -> struct hrr_mem */
	struct hrr_mem *dead;
	struct hrr_past past[HRR_PAST];
	size_t n_past;
	struct hrr_timeline *timeline;
	struct hrr_held_map blocked; /* bases of ranges that had region blocks */
	struct hrr_buf tag;
	struct hrr_place *place; /* owned */

	struct hrr_held_map held[HRR_H_COUNT];
	struct hrr_held_map ended;		/* streams that a reset of their device took */
	struct hrr_held_map objects, functions; /* keyed by hashes; module.c */
	struct hrr_managed *managed;
	struct hrr_function *module_functions; /* of modules the program loaded */

	struct hrr_pages *pages;	/* owned; recorded host pages */
	struct hrr_blocks *blocks;	/* owned */
	struct hrr_registration *stuck; /* the run time would not unregister them */

	/* -> struct hrr_landing: of bytes, disjoint; of rectangles, which may lie within others */
	struct hrr_ranges *landings, *rects;
	size_t landing_bytes, landing_bytes_seen, landings_seen; /* seen: compared by now */
	uint64_t host_bytes;					 /* of pinned and managed memory */
	struct hrr_landing *old_landings;

	struct hrr_staged *staged;
	size_t staged_bytes;
	struct hrr_deferred *deferred, **deferred_end;
	bool owed_wait;	 /* a release that waits was put off: outputs must wait first */
	bool owed_back;	 /* and it had returned: so must what the host wrote then */
	uint64_t epoch;	 /* counts waits for the whole device */
	uint64_t waited; /* seq up to which replay has waited for all devices */
	/* The same of what was recorded: awaited.c. */
	uint64_t null_awaited[HRR_MAX_DEVICES], device_awaited[HRR_MAX_DEVICES];
	struct hrr_held_map gone; /* streams that were destroyed */
	uint64_t n_gone;
	struct hrr_mem anywhere; /* what kernels may write that they are not given */
	struct hrr_early *early; /* outputs before their calls, by seq */
	uint32_t n_early;
	uint64_t seq;	      /* of the call in hand */
	int64_t device_error; /* found while waiting, reported once */

	bool value_waits; /* a stream may wait for a value that only a later record brings */
	size_t captures;  /* open ones */
	struct hrr_writer graph_writer;			   /* the last graph launch */
	uint64_t fill_stream[HRR_MAX_DEVICES], fill_event; /* live; made on first use */
	bool fill_pending; /* a fill is queued that nothing was ordered behind yet */

	uint64_t line; /* of the record in hand */
	const struct hrr_json *j;
	struct hrr_held_map unplayed; /* seqs of calls that were not replayed */
	struct {
		uint32_t seq;
		uint16_t api;
	} recent[HRR_RECENT];
	unsigned char *nowhere; /* addresses nothing maps, for calls recorded as failing */
	struct hrr_arena arena;
	/* lib/emu/runtime/emu.h, where the run time has it */
	int (*emu_describe)(uint64_t live, uint64_t size, uint64_t recorded, const char *tag,
			    int parent);
	int (*emu_undescribe)(uint64_t live, const char *when_freed);
	int (*emu_unwritten)(uint64_t live, uint64_t size);
	int (*emu_report)(struct hrr_emu_stats *ret_stats);
	struct hrr_memcheck *memcheck; /* owned; NULL: no --memcheck */
	struct hrr_emu_stats told;     /* what fidelity was told about */
	struct hrr_buf text;
};

/* errors.c: all set r->diag and return a negative errno. */
int hrr_fail(struct hrr_replay *r, const char *fmt, ...) HRR_PRINTF(2, 3);   /* -EPROTO */
int hrr_refuse(struct hrr_replay *r, const char *fmt, ...) HRR_PRINTF(2, 3); /* -EOPNOTSUPP */
/* Replay cannot go on. err is kept. */
int hrr_trouble(struct hrr_replay *r, int err, const char *fmt, ...) HRR_PRINTF(3, 4);
const char *hrr_error_text(int64_t error, char buf[32]);
void hrr_report(struct hrr_replay *r, struct hrr_outcome *o);
void hrr_warn(struct hrr_replay *r, uint64_t seq, const char *api, const char *fmt, ...)
    HRR_PRINTF(4, 5);

/* arena.c: memory until the next record, zeroed, 16-byte aligned. NULL: out of memory. */
void *hrr_scratch(struct hrr_replay *r, size_t size);
void hrr_scratch_reset(struct hrr_replay *r);
void hrr_scratch_release(struct hrr_replay *r);

/* args.c: fills ev->w and ev->node. */
int hrr_args_read(struct hrr_replay *r, struct hrr_event *ev);
uint64_t hrr_arg_of(const struct hrr_event *ev, const char *name); /* 0 when there is none */
size_t hrr_kind_size(enum hrr_kind_of kind);
/* len hex digits as len / 2 bytes; false: some are none. */
bool hrr_hex(const char *s, size_t len, unsigned char *to);
/* A named field of a struct box. */
uint64_t hrr_field(const struct hrr_struct *st, const void *box, const char *name);
void hrr_field_set(const struct hrr_struct *st, void *box, const char *name, uint64_t v);

/* handle.c */
struct hrr_held *hrr_held_find(const struct hrr_held_map *m, uint64_t recorded);
/* Replaces what was there. NULL: out of memory. Pointers are good until the next add or del. */
struct hrr_held *hrr_held_add(struct hrr_held_map *m, uint64_t recorded, uint64_t live);
void hrr_held_del(struct hrr_held_map *m, uint64_t recorded);
void hrr_held_release(struct hrr_held_map *m);
/* The live handle. Null stays null; unknown ones fail and say what may be missing. */
int hrr_handle(struct hrr_replay *r, const struct hrr_event *ev, enum hrr_handle type,
	       uint64_t recorded, uint64_t *ret);
/* Streams: null, legacy and per-thread ones too; spt: null means the thread's. */
int hrr_stream(struct hrr_replay *r, const struct hrr_event *ev, uint64_t recorded, bool spt,
	       uint64_t *ret);
/* What a recorded stream is held under: per-thread ones have a number of their own, 0 is null. */
uint64_t hrr_stream_key(const struct hrr_event *ev, uint64_t recorded, bool spt);
/* The open capture a stream belongs to, or NULL. */
struct hrr_graph *hrr_capture_of(struct hrr_replay *r, uint64_t stream_key);

/* call.c: the one way engine parts reach the run time. */
int64_t hrr_call(struct hrr_replay *r, enum hrr_api api, const uint64_t *args);
#define HRR_CALL(r, api, ...) hrr_call(r, HRR_API_##api, (const uint64_t[]){__VA_ARGS__})
#define HRR_P(p) ((uint64_t)(uintptr_t)(p))
int hrr_set_device(struct hrr_replay *r, int device);
int hrr_runtime_record(struct hrr_replay *r, const struct hrr_record *rec);
/* Issues the recorded call with ev->live and settles it. */
int hrr_issue(struct hrr_replay *r, struct hrr_event *ev);
/* Compares what came back with what was recorded. */
int hrr_settle(struct hrr_replay *r, struct hrr_event *ev, int64_t got);
struct hrr_thread *hrr_thread(struct hrr_replay *r, uint64_t tid);
/* Brackets the engine's own calls while a capture is open. */
void hrr_relax(struct hrr_replay *r, int *saved);
void hrr_unrelax(struct hrr_replay *r, int saved);

/* wait.c: 0, -EINPROGRESS (idle only: busy), -ETIMEDOUT or -EINTR (trouble), -EPROTO device error
 */
int hrr_wait_stream(struct hrr_replay *r, uint64_t live);
/* After a launch, because an option asks for it: gives up quietly where the wait might need a later
 * record. */
int hrr_wait_launch(struct hrr_replay *r, uint64_t live);
int hrr_wait_event(struct hrr_replay *r, uint64_t live);
int hrr_wait_all(struct hrr_replay *r);
int hrr_wait_queued(struct hrr_replay *r); /* the same, and nothing put off is done then */
/* Whether everything queued is done, without waiting; false while a capture is open. */
bool hrr_idle(struct hrr_replay *r);
/* Everything was waited for: deferred releases run, staging goes. */
int hrr_settled(struct hrr_replay *r);
/* Runs what was put off, when the device happens to be idle. */
int hrr_settle_if_idle(struct hrr_replay *r);
/*
 * awaited.c: what the recorded program had waited for. Work has a key: that of its stream, of the
 * null streams (0) one by device.
 */
uint64_t hrr_work_key(const struct hrr_replay *r, uint64_t key);
/* Of work that is not a null stream's, destroyed streams too; NULL. */
const struct hrr_held *hrr_work_stream(const struct hrr_replay *r, uint64_t key);
/* A recorded wait for a stream up to seq, for the current device. */
void hrr_note_wait(struct hrr_replay *r, uint64_t key, uint64_t seq);
void hrr_note_device_wait(struct hrr_replay *r, int device, uint64_t seq);
/* Seq up to which the work of a key (0, or unknown: all work) was waited for. */
uint64_t hrr_awaited(const struct hrr_replay *r, uint64_t key);
/* A thread comes with its next call: what it waited for when it released something is done. */
void hrr_note_return(struct hrr_replay *r, struct hrr_thread *th);
/* Does what the program had waited for then, and replay had put off. */
int hrr_wait_owed(struct hrr_replay *r);
/* A stream is destroyed; busy: not done here, and waited for under its live handle. */
int hrr_stream_gone(struct hrr_replay *r, const struct hrr_held *stream, bool busy);
/*
 * pending.c: device work was queued that writes here, on a stream by its key; exact: all of it, as
 * a copy does, else anywhere in it, as a kernel may. Nothing for device memory.
 */
void hrr_note_pending(struct hrr_replay *r, struct hrr_mem *m, uint64_t addr, uint64_t size,
		      uint64_t seq, uint64_t key, bool exact);
/* Whether such work may still be queued for any of these bytes. */
bool hrr_pending(struct hrr_replay *r, const struct hrr_mem *m, uint64_t addr, uint64_t size);
/* Some that is not exact, behind another (NULL: the first), or NULL. */
const struct hrr_pending *hrr_pending_anywhere(struct hrr_replay *r, const struct hrr_mem *m,
					       uint64_t addr, uint64_t size,
					       const struct hrr_pending *after);
/* The record has what the call of seq wrote in m: it was waited for. */
void hrr_pending_told(struct hrr_replay *r, const struct hrr_mem *m, uint64_t seq);
/* Work of a destroyed stream is known by another key. Whether there is any. */
bool hrr_pending_follows(struct hrr_replay *r, uint64_t key, uint64_t to);
/* Whether addr is written for certain; *n, bytes from there, is cut to where the answer holds. */
bool hrr_pending_exactly(struct hrr_replay *r, const struct hrr_mem *m, uint64_t addr, uint64_t *n);

/* Fills queued while a capture is open come before what is issued on this stream. */
void hrr_order_fills(struct hrr_replay *r, uint64_t live_stream);
void hrr_flush_fills(struct hrr_replay *r);

/* alloc.c, copy.c, set.c, stream.c, graph.c, generic.c: handlers by api. */
typedef int hrr_handler(struct hrr_replay *r, struct hrr_event *ev);
hrr_handler hrr_do_alloc, hrr_do_host_alloc, hrr_do_free, hrr_do_host_free, hrr_do_copy,
    hrr_do_copy_param, hrr_do_symbol_copy, hrr_do_set, hrr_do_generic, hrr_do_sync, hrr_do_query,
    hrr_do_stream_create, hrr_do_stream_destroy, hrr_do_event_create, hrr_do_event_record,
    hrr_do_stream_wait, hrr_do_set_device, hrr_do_last_error, hrr_do_device_reset, hrr_do_ignored,
    hrr_do_begin_capture, hrr_do_end_capture, hrr_do_capture_mode, hrr_do_graph_create,
    hrr_do_graph_destroy, hrr_do_graph_node, hrr_do_graph_update, hrr_do_graph_instantiate,
    hrr_do_graph_launch, hrr_do_graph_clone, hrr_do_graph_exec_destroy, hrr_do_graph_exec_update,
    hrr_do_graph_nodes, hrr_do_host_pointer, hrr_do_managed, hrr_do_peer, hrr_do_vmm,
    hrr_do_mem_create, hrr_do_free_async, hrr_do_value, hrr_do_graph_find, hrr_do_refused,
    hrr_do_managed_var, hrr_do_find_in_clone, hrr_do_child_graph, hrr_do_ctx, hrr_do_get_device,
    hrr_do_launch, hrr_do_array, hrr_do_batch, hrr_do_batch_value, hrr_do_capture_info;
hrr_handler *hrr_handler_of(enum hrr_api api); /* NULL: refused */
/* Reissue of a call recorded as failing: lenient about operands, changes nothing. */
int hrr_reissue_failed(struct hrr_replay *r, struct hrr_event *ev);
int hrr_generic_words(struct hrr_replay *r, struct hrr_event *ev, bool addresses);
int hrr_generic_made(struct hrr_replay *r, struct hrr_event *ev);

/* check.c */
int hrr_output(struct hrr_replay *r, const struct hrr_record *rec);
/* The same, and what cannot be compared is told as unchecked. */
int hrr_output_told(struct hrr_replay *r, const struct hrr_record *rec);
/* early.c: outputs that stand before their call; compared when seq was played. */
bool hrr_output_is_early(const struct hrr_replay *r, const struct hrr_record *rec);
int hrr_output_hold(struct hrr_replay *r, const struct hrr_record *rec);
int hrr_outputs_due(struct hrr_replay *r, uint64_t seq);
void hrr_early_release(struct hrr_replay *r);
/* Name of a call by its seq, while it is remembered; NULL. */
const char *hrr_recent(const struct hrr_replay *r, uint64_t seq);

#endif
