#ifndef HRR_REPLAY_MEMORY_H
#define HRR_REPLAY_MEMORY_H

#include "lib/base/range.h"
#include "lib/region/timeline.h"
#include "lib/replay/replay.h"

/* Private to lib/replay: device memory and the map of it, the one translation, backing and
 * placement. */

struct hrr_event;
struct hrr_function;
struct hrr_registration;
struct hrr_replay;

#define HRR_MAX_DEVICES 32 /* of one run time */

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

struct hrr_writer {
	uint64_t seq; /* 0: none known */
	const struct hrr_function *fn;
};

/* Device work queued that writes host memory, until it was waited for. */
struct hrr_pending {
	uint64_t base, size; /* recorded */
	uint64_t seq;	     /* of the call that queued it; 0: none */
	uint64_t stream;     /* key; 0: any */
	bool exact;	     /* writes all of it; else somewhere in it */
};
#define HRR_PENDING 1024 /* ranges of one memory; what is more is taken together */

/* Bytes of host memory as a record had them last. */
struct hrr_told {
	uint64_t base, size; /* recorded */
	uint64_t at;	     /* where in the blob */
	struct hrr_id id;
};
#define HRR_TOLD 4096 /* of one memory; the oldest make room */

struct hrr_mem {
	/* What translation reads stands in one cache line. */
	enum hrr_mem_kind kind;
	enum hrr_mem_free how;
	uint64_t base, size; /* recorded */
	uint64_t live;	     /* what device operands get */
	uint64_t host;	     /* live host address, 0 when the host cannot see it */
	struct hrr_mem *of;  /* alias of host memory: that */
	int device;
	uint64_t seq;		     /* call that made it; 0: a segment */
	struct hrr_writer writer;    /* last launch that could have written here */
	struct hrr_pending *pending; /* owned; host memory */
	uint32_t n_pending, cap_pending;
	struct hrr_pending pending_rest; /* what did not fit */
	struct hrr_told *told;		 /* owned; host memory: what the record said it held */
	uint32_t n_told, cap_told;
	uint32_t graph_refs;		/* graphs and executables that use it */
	uint64_t freed_seq, freed_line; /* record that took it out of the map */
	bool dead;			/* out of the map; storage may still be there */
	bool described;			/* to the CPU run time */
	bool host_counted;		/* in host_bytes */
	bool reached;			/* host memory: by kernels that are not given its address */
	struct hrr_registration *reg;	/* registered: which */
	uint64_t owner;			/* alias of a variable: recorded module it belongs to */
	uint32_t n_aliases;		/* whose of this is */
	struct hrr_live_region *region; /* segment: whose storage this is, while it lives */
	struct hrr_mem *next;		/* in r->dead */
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
	uint64_t addr;	     /* recorded address in mem: of an alias, where it is in host memory */
	struct hrr_mem *mem; /* NULL for null pointers */
};

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
/*
 * What holds a recorded address in one of the maps: the tightest range; of registrations, which
 * show one memory, the one that goes on longest. NULL.
 */
struct hrr_mem *hrr_mem_at(const struct hrr_ranges *in, uint64_t addr);
/* Its look-up alone: what a recorded device address is in, where there is something. */
bool hrr_where_is(const struct hrr_replay *r, uint64_t addr, struct hrr_where *ret);
/* Text about an unmapped address: who owned it, what is nearest. Appends to b. */
void hrr_explain(struct hrr_replay *r, uint64_t addr, struct hrr_buf *b);
bool hrr_is_device(struct hrr_replay *r, uint64_t addr); /* for streams without dir */

/* segment.c */
int hrr_region_record(struct hrr_replay *r, const struct hrr_record *rec);
/* Backs the live segment that holds addr; 1 when it did, 0 when there is none. */
int hrr_segment_back(struct hrr_replay *r, uint64_t addr);
/* m goes: what is at its base next has bounds of its own. */
void hrr_blocks_forget(struct hrr_replay *r, const struct hrr_mem *m);
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

#endif
