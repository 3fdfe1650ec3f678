#ifndef HRR_REPLAY_ENGINE_H
#define HRR_REPLAY_ENGINE_H

/* Private to lib/replay: the engine's state, and what its parts ask of each other. */

#include "lib/base/range.h"
#include "lib/region/timeline.h"
#include "lib/replay/block.h"
#include "lib/replay/layout.h"
#include "lib/replay/replay.h"

#define HRR_MAX_WORDS 16   /* parameters of a call */
#define HRR_MAX_DEVICES 32 /* of one run time */
#define HRR_MAX_CTX 64	   /* on one thread's stack */
#define HRR_MAX_KERNARG ((size_t)1 << 20)
#define HRR_MAX_COUNT 65536 /* elements of an array parameter */
#define HRR_RECENT 4096	    /* calls whose names are remembered for messages */
#define HRR_PAST 256	    /* dead ranges remembered for messages */

/* --- memory (mem.c, translate.c) ----------------------------------------- */

enum hrr_mem_kind {
	HRR_MEM_DEVICE,
	HRR_MEM_MANAGED,
	HRR_MEM_PINNED,
	HRR_MEM_REGISTERED,
	HRR_MEM_ALIAS,	/* another device address of host memory; a variable of a module */
	HRR_MEM_SEGMENT /* HIP never saw it: backed on first touch */
};

/* How the storage goes back. */
enum hrr_mem_free {
	HRR_FREE_NONE,
	HRR_FREE_DEVICE, /* hipFree */
	HRR_FREE_HOST,	 /* hipHostFree */
	HRR_FREE_PLACED, /* place.c */
	HRR_FREE_GRAPH	 /* a node's: its graph makes and frees it at every launch */
};

struct hrr_function;

struct hrr_writer {
	uint64_t seq; /* 0: none known */
	const struct hrr_function *fn;
};

/* Device work queued that writes host memory, until it was waited for. */
struct hrr_pending {
	uint64_t base, size; /* recorded */
	uint64_t seq;	     /* of the call that queued it; 0: none */
	uint64_t stream;     /* key; 0: any */
};
#define HRR_PENDING 1024 /* ranges of one memory; what is more is taken together */

struct hrr_mem {
	enum hrr_mem_kind kind;
	enum hrr_mem_free how;
	uint64_t base, size; /* recorded */
	uint64_t live;	     /* what device operands get */
	uint64_t host;	     /* live host address, 0 when the host cannot see it */
	int device;
	uint64_t seq;		     /* call that made it; 0: a segment */
	struct hrr_writer writer;    /* last launch that could have written here */
	struct hrr_pending *pending; /* owned; host memory */
	uint32_t n_pending, cap_pending;
	struct hrr_pending pending_rest; /* what did not fit */
	uint32_t graph_refs;		 /* graphs and executables that use it */
	uint64_t freed_seq, freed_line;	 /* record that took it out of the map */
	bool dead;			 /* out of the map; storage may still be there */
	bool described;			 /* to the CPU run time */
	bool host_counted;		 /* in host_bytes */
	struct hrr_registration *reg;	 /* registered: which */
	uint64_t owner;			 /* alias: recorded module it belongs to, or host address */
	struct hrr_live_region *region;	 /* segment: whose storage this is, while it lives */
	struct hrr_mem *next;		 /* in r->dead */
};

struct hrr_past {
	uint64_t base, size, seq; /* seq of the call (or 0: region record) that ended it */
	uint64_t line;
	enum hrr_mem_kind kind;
};

/* What kind of address an operand is. Only a device operand may cause backing. */
enum hrr_end { HRR_END_DEVICE, HRR_END_HOST };

struct hrr_where {
	uint64_t live;	     /* the operand in this process: a device or a host address, as asked */
	struct hrr_mem *mem; /* NULL for null pointers */
};

/* --- handles (handle.c) --------------------------------------------------- */

struct hrr_held {
	uint64_t recorded; /* 0: free slot */
	uint64_t live;
	void *info;	/* borrowed or owned, by type: see the file that makes them */
	uint64_t owner; /* recorded handle of the graph or module it belongs to; event: key of the
			   stream it was recorded on */
	uint64_t when;	/* stream: seq up to which it was waited for; event: seq it was recorded */
	int device;
	uint32_t extra; /* node: its type, 0 unknown */
};

struct hrr_held_map {
	struct hrr_held *slot;
	size_t cap, n;
};

/* --- events ---------------------------------------------------------------- */

#define HRR_NEVER_RETURNED (-1)

struct hrr_thread {
	uint64_t tid;
	int device;		  /* current device as recorded */
	int64_t last_error;	  /* of the replayed calls of this thread */
	int capture_mode;	  /* hipThreadExchangeStreamCaptureMode */
	uint8_t ctx[HRR_MAX_CTX]; /* devices that were current below the contexts on its stack */
	uint8_t n_ctx;
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

/* --- kernels (launch.c, module.c) ------------------------------------------ */

struct hrr_object {			  /* a code object by its blob, loaded where it is needed */
	char id[HRR_ID_TEXT + 1];	  /* or "" and path: a replacement */
	const char *path;		  /* borrowed */
	struct hrr_blob blob;		  /* run times may look at it as long as it is loaded */
	struct hrr_code code;		  /* of blob */
	uint64_t module[HRR_MAX_DEVICES]; /* live modules; 0: not loaded */
};

struct hrr_managed { /* a __managed__ variable that was registered */
	char *name;
	uint64_t size;
	uint64_t base; /* recorded; 0: not known, it gets memory when its object is loaded */
	bool filled;   /* with what the program had put there */
	struct hrr_managed *next;
};

struct hrr_module { /* loaded by the recorded program */
	struct hrr_blob blob;
	struct hrr_code code; /* of blob */
};

struct hrr_function {
	char *name;
	struct hrr_object *object; /* NULL: of a module the program loaded */
	struct hrr_layout layout;
	uint64_t live[HRR_MAX_DEVICES];
	uint64_t launches, total, min, max; /* --timing */
	struct hrr_function *next;	    /* in r->module_functions */
};

/* --- graphs (graph.c) ------------------------------------------------------ */

struct hrr_host_node { /* a memcpy node with a host end */
	uint64_t node_live;
	uint64_t addr, size;	  /* recorded host end */
	uint64_t dst, src, count; /* live operands, for refreshing */
	int kind;
	bool one_d;
	bool stale; /* a registration changed under it */
};

struct hrr_graph {	       /* of a graph, an executable, or an open capture */
	struct hrr_mem **mems; /* memory its nodes use */
	size_t n_mems, cap_mems;
	struct hrr_host_node *hosts;
	size_t n_hosts, cap_hosts;
	const struct hrr_function **fns; /* kernels, for who wrote last */
	size_t n_fns, cap_fns;
	uint32_t devices; /* whose memory and kernels its nodes use: a bit each */
	char bad[160];	  /* a node that could not be rebuilt; "" none */
	uint64_t origin;  /* open capture: recorded stream it began on */
	uint64_t origin_tid;
	bool into;	      /* of a graph that was there before */
	uint64_t exec_source; /* executable: recorded graph it came from */
};

/* --- landing buffers (landing.c) ------------------------------------------- */

struct hrr_landing {
	uint64_t addr, size; /* recorded host address; size in packed bytes */
	uint64_t seq;	     /* last call that delivered */
	unsigned char *data; /* owned */
	size_t cap;
	uint64_t epoch; /* r->epoch at the last delivery */
	bool packed;	/* a rectangle, stored packed */
	bool compared;
	struct hrr_writer writer;
	struct hrr_landing *next; /* in r->old_landings */
};

/* --- deferred releases (release.c) ------------------------------------------ */

enum hrr_deferred_kind { HRR_DEFER_UNREGISTER, HRR_DEFER_MODULE, HRR_DEFER_STREAM };
struct hrr_deferred {
	enum hrr_deferred_kind kind;
	uint64_t seq, line, recorded, live;
	struct hrr_registration *reg;
	struct hrr_deferred *next;
};

struct hrr_staged { /* host bytes an asynchronous copy may still read */
	struct hrr_blob blob;
	uint64_t epoch;
	struct hrr_staged *next;
};

/* --- registrations (host.c) -------------------------------------------------- */

struct hrr_registration {
	uint64_t base, size; /* recorded */
	uint64_t live;	     /* host address that was registered */
	uint64_t flags;
	struct hrr_block *block;
	int device;
	struct hrr_registration *next; /* in r->stuck */
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
	struct hrr_held_map objects, functions; /* keyed by hashes; module.c */
	struct hrr_managed *managed;
	struct hrr_function *module_functions; /* of modules the program loaded */

	struct hrr_pages *pages;	/* owned; recorded host pages */
	struct hrr_blocks *blocks;	/* owned */
	struct hrr_registration *stuck; /* the run time would not unregister them */

	struct hrr_ranges *landings; /* -> struct hrr_landing */
	size_t landing_bytes;
	uint64_t host_bytes; /* of pinned and managed memory */
	struct hrr_landing *old_landings;

	struct hrr_staged *staged;
	size_t staged_bytes;
	struct hrr_deferred *deferred, **deferred_end;
	bool owed_wait;	      /* a release that waits was put off: outputs must wait first */
	uint64_t epoch;	      /* counts waits for the whole device */
	uint64_t waited;      /* seq up to which the whole device was waited for */
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
/* Whether everything queued is done, without waiting; false while a capture is open. */
bool hrr_idle(struct hrr_replay *r);
/* Everything was waited for: deferred releases run, staging goes. */
int hrr_settled(struct hrr_replay *r);
/* Runs what was put off, when the device happens to be idle. */
int hrr_settle_if_idle(struct hrr_replay *r);
/* A recorded wait for a stream (key; 0: null) up to seq. */
void hrr_note_wait(struct hrr_replay *r, uint64_t key, uint64_t seq);
/* Device work was queued that writes here, on a stream by its key; nothing for device memory. */
void hrr_note_pending(struct hrr_replay *r, struct hrr_mem *m, uint64_t addr, uint64_t size,
		      uint64_t seq, uint64_t key);
/* Whether such work may still be queued for any of these bytes. */
bool hrr_pending(struct hrr_replay *r, const struct hrr_mem *m, uint64_t addr, uint64_t size);
/* Fills queued while a capture is open come before what is issued on this stream. */
void hrr_order_fills(struct hrr_replay *r, uint64_t live_stream);
void hrr_flush_fills(struct hrr_replay *r);

/* alloc.c: managed memory for a variable, entered under its recorded address. */
int hrr_managed_new(struct hrr_replay *r, uint64_t base, uint64_t size);
/* alloc.c: memory that a graph's node makes, under its recorded address. */
int hrr_graph_memory(struct hrr_replay *r, uint64_t base, uint64_t size, uint64_t live,
		     struct hrr_mem **ret);

/* mem.c */
struct hrr_mem *hrr_mem_new(struct hrr_replay *r, enum hrr_mem_kind kind, uint64_t base,
			    uint64_t size);
/* Enters it (host: into the map of host addresses too when mem->host is set). Takes mem. */
int hrr_mem_enter(struct hrr_replay *r, struct hrr_mem *m);
/* Leaves the map at once; the storage goes when the device is idle. */
void hrr_mem_drop(struct hrr_replay *r, struct hrr_mem *m, uint64_t seq);
/* Frees what is dead and unused. Only when the device is idle. */
int hrr_mem_reap(struct hrr_replay *r);
/*
 * Is there room for host memory that is filled as soon as it is there? What an archive says is no
 * reason to take more than --max-host-bytes, or than the machine has. -EOPNOTSUPP.
 */
int hrr_host_room(struct hrr_replay *r, uint64_t size);
/* Storage for [base, size): placed where possible, filled; sets live, how, device. */
int hrr_mem_back(struct hrr_replay *r, struct hrr_mem *m, uint64_t stream);
int hrr_mem_fill(struct hrr_replay *r, uint64_t live, uint64_t size, uint64_t stream);
/* It is done on return, while a capture is open too. */
int hrr_mem_fill_now(struct hrr_replay *r, uint64_t live, uint64_t size);
void hrr_mem_discard(struct hrr_mem *m); /* what is here of it, not its storage */
void hrr_mem_end(struct hrr_replay *r);	 /* frees everything; the device is idle */
const char *hrr_mem_kind_name(enum hrr_mem_kind kind);

/*
 * The one translation: look-up, then backing, then look-up. need bytes from addr
 * must lie in one range (0: a pointer of unknown extent). -ENXIO not mapped, -ERANGE past the
 * end, both with r->diag naming what and addr; others: backing failed.
 */
struct hrr_operand {
	const char *what; /* "destination", "argument 2" */
	uint64_t addr, need;
	int64_t blob; /* size of the blob that goes with it, or -1 */
};
int hrr_translate(struct hrr_replay *r, const struct hrr_operand *op, enum hrr_end end,
		  struct hrr_where *ret);
/* Text about an unmapped address: who owned it, what is nearest. Appends to b. */
void hrr_explain(struct hrr_replay *r, uint64_t addr, struct hrr_buf *b);
bool hrr_is_device(struct hrr_replay *r, uint64_t addr); /* for streams without dir */

/* segment.c */
int hrr_region_record(struct hrr_replay *r, const struct hrr_record *rec);
/* Backs the live segment that holds addr; 1 when it did, 0 when there is none. */
int hrr_segment_back(struct hrr_replay *r, uint64_t addr);
/* Reports an access outside every live block. */
int hrr_block_check(struct hrr_replay *r, const char *what, uint64_t addr, uint64_t need,
		    const struct hrr_mem *m);

/* place.c */
/* 1: placed, m->live == m->base. 0: could not. Negative: out of memory or such. */
int hrr_place_alloc(struct hrr_replay *r, struct hrr_mem *m);
void hrr_place_release(struct hrr_replay *r, struct hrr_mem *m);
void hrr_place_end(struct hrr_replay *r);
/* Whether [base, size) lies in a span held for placement (recorded address reservations). */
bool hrr_place_covers(struct hrr_replay *r, uint64_t base, uint64_t size);
int hrr_place_peer(struct hrr_replay *r, int owner, int user);

/* host.c */
int hrr_do_register(struct hrr_replay *r, struct hrr_event *ev);
int hrr_do_unregister(struct hrr_replay *r, struct hrr_event *ev);
int hrr_unregister_now(struct hrr_replay *r, struct hrr_registration *g);
void hrr_host_end(struct hrr_replay *r, bool idle);
/*
 * Where a host operand lives: memory HIP knows, a block, or else a landing buffer
 * (land) or nothing (*ret_live 0). rect_bytes: from first to last byte.
 */
int hrr_host_place(struct hrr_replay *r, const struct hrr_operand *op, uint64_t *ret_live,
		   struct hrr_mem **ret_mem);
/* A block for a range; what landed in its pages before is in it. */
int hrr_block_for(struct hrr_replay *r, uint64_t addr, uint64_t size, bool fresh,
		  struct hrr_block **ret);
/* "host" of a record: bytes the host held when the call began. */
int hrr_host_bytes(struct hrr_replay *r, struct hrr_event *ev);
void hrr_host_changed(struct hrr_replay *r, uint64_t base, uint64_t size);

/* landing.c */
struct hrr_landing *hrr_landing_get(struct hrr_replay *r, uint64_t addr, uint64_t size,
				    bool packed);
struct hrr_landing *hrr_landing_find(struct hrr_replay *r, uint64_t addr, uint64_t size);
void hrr_landing_retire(struct hrr_replay *r, struct hrr_landing *l);
void hrr_landing_trim(struct hrr_replay *r);
void hrr_landing_end(struct hrr_replay *r, bool leak);
/* Bytes of blob for a copy's source, kept until the device was waited for. */
int hrr_blob_get(struct hrr_replay *r, int node, const char *what, struct hrr_blob *ret);
int hrr_blob_of(struct hrr_replay *r, const struct hrr_json *j, int node, const char *what,
		struct hrr_blob *ret);
int hrr_stage(struct hrr_replay *r, struct hrr_blob *blob); /* takes blob */
int hrr_stage_trim(struct hrr_replay *r);

/* release.c */
int hrr_defer(struct hrr_replay *r, enum hrr_deferred_kind kind, struct hrr_event *ev,
	      uint64_t recorded, uint64_t live, struct hrr_registration *reg);
int hrr_run_deferred(struct hrr_replay *r);
void hrr_late_failure(struct hrr_replay *r, const char *api, uint64_t seq, uint64_t line);

/* launch.c, module.c */
int hrr_do_launch(struct hrr_replay *r, struct hrr_event *ev);
struct hrr_launch {
	struct hrr_function *fn;
	uint64_t live_fn;
	unsigned char *buf; /* kernarg bytes, translated */
	size_t size;	    /* of them; all that fn->layout asks for is there */
	void **params;	    /* one for each argument of the layout */
	uint32_t grid[3], block[3], lds;
	size_t n_mems;
	bool more_mems;		  /* more than fit below */
	struct hrr_mem *mems[64]; /* memory its arguments point to; last: not cleared */
};
/* Whether --replace-kernel names this kernel: its FILE, or NULL. */
const char *hrr_replaced(struct hrr_replay *r, const char *name, size_t len);
/* Reads a "kernel" of a record (hrr_kernel_next; -1: it has none) and translates its arguments. */
int hrr_kernel_read(struct hrr_replay *r, struct hrr_event *ev, int kernel, uint64_t function,
		    struct hrr_launch *l);
void hrr_launch_uses(struct hrr_launch *l, struct hrr_mem *m);
/* It was launched in a stream: what it was given it may have written. */
void hrr_launch_wrote(struct hrr_replay *r, struct hrr_event *ev, const struct hrr_launch *l,
		      uint64_t key);
int hrr_do_launches(struct hrr_replay *r, struct hrr_event *ev); /* launch_multi.c */
int hrr_module_function(struct hrr_replay *r, const char *name, size_t name_len, int object_node,
			const struct hrr_json *j, struct hrr_function **ret_fn, uint64_t *ret_live);
int hrr_symbol(struct hrr_replay *r, struct hrr_event *ev, uint64_t *ret_live, uint64_t *ret_size);
int hrr_do_module_load(struct hrr_replay *r, struct hrr_event *ev);
int hrr_do_module_unload(struct hrr_replay *r, struct hrr_event *ev);
int hrr_do_get_function(struct hrr_replay *r, struct hrr_event *ev);
int hrr_do_get_global(struct hrr_replay *r, struct hrr_event *ev);
int hrr_do_symbol_address(struct hrr_replay *r, struct hrr_event *ev);
void hrr_module_end(struct hrr_replay *r);
int hrr_hash_launch(struct hrr_replay *r, struct hrr_event *ev, const struct hrr_launch *l);

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
    hrr_do_managed_var, hrr_do_find_in_clone, hrr_do_child_graph, hrr_do_ctx, hrr_do_get_device;
hrr_handler *hrr_handler_of(enum hrr_api api); /* NULL: refused */
/* Reissue of a call recorded as failing: lenient about operands, changes nothing. */
int hrr_reissue_failed(struct hrr_replay *r, struct hrr_event *ev);
int hrr_generic_words(struct hrr_replay *r, struct hrr_event *ev, bool addresses);
int hrr_generic_made(struct hrr_replay *r, struct hrr_event *ev);

/* graph.c, for launches, copies and sets. */
int hrr_graph_use(struct hrr_replay *r, struct hrr_graph *g, struct hrr_mem *m);
int hrr_graph_host(struct hrr_replay *r, struct hrr_graph *g, const struct hrr_host_node *h);
int hrr_graph_fn(struct hrr_replay *r, struct hrr_graph *g, const struct hrr_function *fn);
int hrr_graph_merge(struct hrr_replay *r, struct hrr_graph *to, const struct hrr_graph *from);
struct hrr_graph *hrr_graph_of(struct hrr_replay *r, uint64_t recorded);
void hrr_graph_bad(struct hrr_graph *g, const char *why);
void hrr_graph_free(struct hrr_replay *r, struct hrr_graph *g);
/* It uses nothing any more. */
void hrr_graph_let_go(struct hrr_graph *g);
/* The capture is over: no stream and no event belongs to it any more. */
void hrr_graph_leave(struct hrr_replay *r, const struct hrr_graph *g);
void hrr_graph_forget_nodes(struct hrr_replay *r, uint64_t graph);

/* graph_end.c */
#define HRR_ALL_DEVICES (-1)
/* Open captures begun on streams of the device: it cannot be waited for before they end. */
void hrr_graph_end_captures(struct hrr_replay *r, int device);
void hrr_graph_reset(struct hrr_replay *r, int device);
/* Destroys every executable and graph; not idle: only forgets them. */
void hrr_graph_end(struct hrr_replay *r, bool idle);

/* copy.c, rect.c */
struct hrr_copy {	   /* any copy, normalised; all in bytes */
	uint64_t dst, src; /* recorded addresses of the first byte moved */
	uint64_t width, height, depth;
	uint64_t dpitch, dslice, spitch, sslice; /* bytes between rows and planes */
	bool has_dir, dev_dst, dev_src;
	bool dst_typed, src_typed; /* by the call itself: a role, or a memory type; dev_* says it */
	uint64_t key, stream;	   /* held key and live stream */
	bool async;		   /* its source must stay good after the call */
	/* Live arrays: such an end has no address. element: bytes, where a box counts in them. */
	uint64_t dst_array, src_array, element;
};
struct hrr_copy_ends {		  /* live operands */
	uint64_t dst, src, total; /* total: packed bytes */
	uint64_t dspan;		  /* from the destination's first byte to its last */
	uint64_t dpitch, dslice, spitch, sslice;
	struct hrr_mem *dmem, *smem;
	struct hrr_landing *landing;
	struct hrr_blob blob;	       /* held: release or stage it (hrr_copy_done) */
	uint64_t host_addr, host_size; /* recorded host end, 0: none */
	int kind;
};
/* What the record says about direction. */
void hrr_copy_dir(struct hrr_replay *r, struct hrr_event *ev, struct hrr_copy *c);
/* Resolves both ends. graph: operands live as long as it does (landing in blocks). */
int hrr_copy_resolve(struct hrr_replay *r, struct hrr_event *ev, struct hrr_copy *c,
		     struct hrr_graph *graph, struct hrr_copy_ends *e);
/* The same for a copy whose direction is known; src: the node that names its source's bytes, -1. */
int hrr_copy_resolve_as(struct hrr_replay *r, struct hrr_copy *c, int src, struct hrr_graph *graph,
			struct hrr_copy_ends *e);
/* After the call: keeps or releases the source's bytes, notes who wrote what. */
int hrr_copy_done(struct hrr_replay *r, struct hrr_event *ev, const struct hrr_copy *c,
		  struct hrr_graph *graph, struct hrr_copy_ends *e, int rc);
int hrr_copy_read3d(struct hrr_replay *r, struct hrr_event *ev, const struct hipMemcpy3DParms *p,
		    struct hrr_copy *c);
void hrr_copy_box3d(struct hipMemcpy3DParms *p, const struct hrr_copy *c,
		    const struct hrr_copy_ends *e);
/* A copy with a variable (live, size) as one end. */
int hrr_variable_copy(struct hrr_replay *r, struct hrr_event *ev, struct hrr_copy *c,
		      struct hrr_graph *g, struct hrr_copy_ends *e, uint64_t live, uint64_t size,
		      uint64_t offset, bool to);
/* Bytes from first to last. */
int hrr_span(struct hrr_replay *r, const char *what, uint64_t width, uint64_t height,
	     uint64_t depth, uint64_t pitch, uint64_t slice, uint64_t *ret);
void hrr_copy_rows(void *dst, uint64_t dpitch, uint64_t dslice, const void *src, uint64_t spitch,
		   uint64_t sslice, uint64_t width, uint64_t height, uint64_t depth);
uint64_t hrr_arg_of(const struct hrr_event *ev, const char *name); /* 0 when there is none */

/* array.c: the live array of a recorded one (0: none) as an end of c. */
int hrr_array_end_of(struct hrr_replay *r, struct hrr_event *ev, const void *recorded, bool dst,
		     struct hrr_copy *c);
void hrr_arrays_end(struct hrr_replay *r);
int hrr_do_batch(struct hrr_replay *r, struct hrr_event *ev);	     /* batch.c: lists of copies */
int hrr_do_batch_value(struct hrr_replay *r, struct hrr_event *ev);  /* of waits and writes */
int hrr_do_capture_info(struct hrr_replay *r, struct hrr_event *ev); /* graph.c */
int hrr_do_array(struct hrr_replay *r, struct hrr_event *ev);	     /* makes or frees one */

/* memcheck.c: what the CPU run time is told about blocks, and what it tells about accesses. */
int hrr_memcheck_start(struct hrr_replay *r, struct hrr_diag *diag);
void hrr_memcheck_end(struct hrr_replay *r);
/* The call in hand, for what is found in its work. */
void hrr_memcheck_call(struct hrr_replay *r, const char *api);
/* A block came (fresh: just now) or goes. */
void hrr_memcheck_block(struct hrr_replay *r, struct hrr_live_region *x, bool fresh);
void hrr_memcheck_block_gone(struct hrr_replay *r, struct hrr_live_region *x);
/* Memory came or goes: it and the live blocks inside. */
void hrr_memcheck_mem(struct hrr_replay *r, struct hrr_mem *m);
void hrr_memcheck_mem_gone(struct hrr_replay *r, struct hrr_mem *m);
/* Faults met since the last call become outcomes. */
void hrr_memcheck_tell(struct hrr_replay *r);
/*
 * Whether a recorded address that is not mapped can go to a kernel as it is: with --memcheck, and
 * when nothing lives under that number here, so that touching it is a fault that names the lane.
 */
bool hrr_memcheck_dead(struct hrr_replay *r, uint64_t addr);
/* Tells of launches that were less than exact, as the record in hand brought them about. */
void hrr_fidelity_tell(struct hrr_replay *r, const struct hrr_record *rec);
/* check.c */
int hrr_output(struct hrr_replay *r, const struct hrr_record *rec);
/* Name of a call by its seq, while it is remembered; NULL. */
const char *hrr_recent(const struct hrr_replay *r, uint64_t seq);

#endif
