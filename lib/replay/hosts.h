#ifndef HRR_REPLAY_HOSTS_H
#define HRR_REPLAY_HOSTS_H

#include "lib/replay/block.h"
#include "lib/replay/memory.h"

/* Private to lib/replay: host memory of the recorded program, what landed in it, releases that
 * wait. */

struct hrr_event;
struct hrr_launch;
struct hrr_replay;

struct hrr_rows {
	uint64_t width, height, depth, pitch, slice; /* height 0: plain bytes */
};

struct hrr_landing {
	uint64_t addr, size; /* recorded host address; from the first byte to the last */
	unsigned char *data; /* owned */
	size_t cap;
	uint64_t epoch;	      /* r->epoch at the last delivery */
	uint64_t queued;      /* seq of the last copy that did not wait; 0: none */
	uint64_t stream;      /* its key */
	bool several;	      /* such copies were queued on several streams */
	struct hrr_rows rows; /* of a rectangle, stored packed */
	bool compared;
	struct hrr_writer writer;
	struct hrr_landing *next; /* in r->old_landings */
};

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

struct hrr_registration {
	uint64_t base, size; /* recorded */
	uint64_t live;	     /* host address that was registered */
	uint64_t flags;
	struct hrr_block *block; /* NULL: of memory that is no block's */
	int device;
	bool undone;		       /* not recorded: made by a call that should have failed */
	struct hrr_registration *next; /* in r->stuck */
};

/* host.c */
int hrr_do_register(struct hrr_replay *r, struct hrr_event *ev);
int hrr_do_unregister(struct hrr_replay *r, struct hrr_event *ev);
int hrr_unregister_now(struct hrr_replay *r, struct hrr_registration *g);
/* It is with the run time no more: frees g. */
void hrr_registration_gone(struct hrr_registration *g);
void hrr_stuck_del(struct hrr_replay *r, struct hrr_registration *g);
/* Waits where an unregister of these bytes was put off. */
int hrr_unregister_deferred(struct hrr_replay *r, uint64_t addr, uint64_t size);

/* host_failed.c */
/* What else is registered at g's mapping, which was unregistered, is registered still. */
void hrr_registrations_keep(struct hrr_replay *r, const struct hrr_registration *g);
/* A register or unregister recorded as failing, its operands in ev->live. 1: left out. */
int hrr_failing_registration(struct hrr_replay *r, struct hrr_event *ev);
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
/*
 * host_bytes.c: what the host held, size bytes for live memory m (or NULL) at its recorded addr.
 * What queued work may write there is left to it.
 */
int hrr_host_write(struct hrr_replay *r, struct hrr_mem *m, uint64_t addr, uint64_t live,
		   const unsigned char *from, uint64_t size);
/* The record says, by the blob that node names, from byte at on, what m holds there. */
void hrr_host_told(struct hrr_mem *m, uint64_t addr, uint64_t size, const struct hrr_json *j,
		   int node, uint64_t at);
/*
 * "host" of a record: bytes the host held when the call began. l: of a launch; memory that is
 * looked at without being given to it is reached in another way. NULL: of another call.
 */
int hrr_host_bytes(struct hrr_replay *r, struct hrr_event *ev, const struct hrr_launch *l);
void hrr_host_changed(struct hrr_replay *r, uint64_t base, uint64_t size);

/* landing.c */
int hrr_landing_get(struct hrr_replay *r, uint64_t addr, uint64_t size, struct hrr_landing **ret);
/* The same for a rectangle, which is apart from all others. */
int hrr_landing_rect(struct hrr_replay *r, uint64_t addr, uint64_t size,
		     const struct hrr_rows *rows, struct hrr_landing **ret);
/* The newest rectangle at addr with so many bytes, or NULL. */
struct hrr_landing *hrr_landing_find_rect(struct hrr_replay *r, uint64_t addr, uint64_t bytes);
/* A copy that does not wait was queued into it, on a stream by its key. */
void hrr_landing_queued(struct hrr_replay *r, struct hrr_landing *l, uint64_t seq, uint64_t key);
/* What a destroyed stream brings is known by another key. Whether it brings anything. */
bool hrr_landings_follow(struct hrr_replay *r, uint64_t key, uint64_t to);
/* What is queued into it arrives, since its bytes are to be moved. */
int hrr_landing_arrived(struct hrr_replay *r, struct hrr_landing *l);
/* Its bytes were compared: it may go when there is too much. */
void hrr_landing_seen(struct hrr_replay *r, struct hrr_landing *l);
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

#endif
