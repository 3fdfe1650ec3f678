#ifndef HRR_DIFF_OBJECT_H
#define HRR_DIFF_OBJECT_H

#include "lib/base/range.h"
#include "lib/diff/map.h"
#include "lib/hip/table.h"

/*
 * What addresses and handles of one recording stand for, at the place of the
 * stream that was read last. An object is one life of an allocation, a
 * registration, a stream, an event, …; its number is stable while something
 * refers to it. Objects of two recordings are the same when the calls that made
 * them were aligned; hrr_objects_pair says so.
 */
#define HRR_OBJECT_MEMORY 0x80 /* type; below it: a handle type, HRR_H_… */
#define HRR_OBJECT_STUB 0x81   /* shadow of a kernel or a variable in the program */
#define HRR_OBJECT_PLACE 0x82  /* what was recorded into an event last */
#define HRR_OBJECT_TYPES 0x83
#define HRR_OBJECT_NONE 0u
#define HRR_OBJECT_LOST UINT32_MAX /* pair of an object whose partner is gone */

struct hrr_object {
	uint32_t p;
	uint8_t type;
	uint32_t refs;	 /* from the maps and from calls that wait; 0: free slot */
	uint32_t pair;	 /* object of the other recording, NONE or LOST */
	uint32_t number; /* n-th of its type in its recording, for people */
	uint64_t seq;	 /* of the call that made it; 0: an annotation */
	uint64_t origin; /* hash of what made it: only like pairs with like */
	uint64_t base, size;
};

struct hrr_objects {
	struct hrr_object *v; /* owned; [0] is not used */
	uint32_t n, cap;
	uint32_t free; /* list through seq */
	struct hrr_map handles;
	struct hrr_ranges **memory; /* per process; owned */
	uint32_t processes;
	uint32_t made[HRR_OBJECT_TYPES];
	struct hrr_objects *other; /* borrowed: the other recording */
};

void hrr_objects_release(struct hrr_objects *o);
struct hrr_object *hrr_objects_get(struct hrr_objects *o, uint32_t id);
/*
 * A new object with value as handle or base; one that stood there before is
 * released. size is 0 for handles. -ENOMEM, -ERANGE (a range that wraps).
 */
int hrr_objects_make(struct hrr_objects *o, const struct hrr_object *like, uint64_t value,
		     uint32_t *ret_id);
/* NONE when nothing is known of it. */
uint32_t hrr_objects_handle(struct hrr_objects *o, uint32_t p, uint8_t type, uint64_t value);
uint32_t hrr_objects_address(struct hrr_objects *o, uint32_t p, uint64_t addr,
			     uint64_t *ret_offset);
void hrr_objects_drop_handle(struct hrr_objects *o, uint32_t p, uint8_t type, uint64_t value);
void hrr_objects_drop_memory(struct hrr_objects *o, uint32_t p, uint64_t base);
/* All of one process but what registration made (hipDeviceReset). */
void hrr_objects_drop_all(struct hrr_objects *o, uint32_t p);
void hrr_objects_ref(struct hrr_objects *o, uint32_t id);
void hrr_objects_unref(struct hrr_objects *o, uint32_t id);
/* Whether a (here) and b (in o->other) are the same; pairs them when neither has a partner and
 * they come from the same kind of call. */
bool hrr_objects_pair(struct hrr_objects *o, uint32_t a, uint32_t b);

#endif
