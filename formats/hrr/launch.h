#ifndef HRR_FORMATS_HRR_LAUNCH_H
#define HRR_FORMATS_HRR_LAUNCH_H

#include "formats/hrr/events.h"
#include "formats/hrr/hash.h"

/* A launch record, or the tail of a kernel node, taken apart. Pointers into the record. */
#define HRR_UP_LAUNCH_FIXED 90 /* bytes of a launch without name and arguments */
#define HRR_UP_SNAPSHOT 41
#define HRR_UP_KIND_PLAIN 0
#define HRR_UP_KIND_POINTER 1
#define HRR_UP_KIND_HIDDEN 2
#define HRR_UP_KIND_STRUCT 3

struct hrr_launch {
	uint64_t stream;
	const char *name;
	uint32_t name_len;
	struct hrr_fnv object;
	uint32_t grid[3], block[3], lds;
	uint32_t n_args, n_snapshots, n_attrs, stride;
	const unsigned char *args;  /* see hrr_launch_arg */
	const unsigned char *attrs; /* n_attrs of stride bytes */
	const unsigned char *snapshots;
};

struct hrr_launch_arg {
	unsigned kind, n_ptrs;
	uint32_t size;
	const unsigned char *data, *ptrs; /* ptrs: n_ptrs u16 */
};

/* 0, or -EINVAL and *ret_why: everything that follows is then inside the record. */
int hrr_launch_read(const struct hrr_event *ev, int version, struct hrr_launch *ret,
		    const char **ret_why);
/* The tail of a kernel node, at its offset. */
int hrr_node_read(const struct hrr_event *ev, uint32_t at, struct hrr_launch *ret,
		  const char **ret_why);
/* What a launch record keeps of a call's parameters: not which function, nor events and flags. */
enum hrr_launch_param {
	HRR_UP_LP_NONE,
	HRR_UP_LP_LDS,
	HRR_UP_LP_AXIS, /* of the grid, then of the block */
	HRR_UP_LP_STREAM,
	HRR_UP_LP_CONFIG,
	HRR_UP_LP_BOX /* dim3: the grid, then the block */
};
enum hrr_launch_param hrr_launch_param(const struct hrr_param *x);
/* The argument at p; returns where the next one begins. */
const unsigned char *hrr_launch_arg(const unsigned char *p, struct hrr_launch_arg *ret);

#endif
