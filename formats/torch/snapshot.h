#ifndef HRR_FORMATS_TORCH_SNAPSHOT_H
#define HRR_FORMATS_TORCH_SNAPSHOT_H

#include "formats/torch/pickle.h"

/*
 * A PyTorch memory snapshot as arrays: what was there when it was taken, and the
 * history of each device. See README.md. Nothing is interpreted here.
 */
enum hrr_torch_state { HRR_TORCH_INACTIVE, HRR_TORCH_ACTIVE, HRR_TORCH_PENDING };

struct hrr_torch_piece { /* a segment, or a block that is not free */
	uint64_t base, size;
	uint64_t stream;
	int device;
	int frames; /* node of the list, or -1 */
	uint8_t state;
	bool expandable;
};

enum hrr_torch_action {
	HRR_TORCH_ALLOC,
	HRR_TORCH_FREE_REQUESTED,
	HRR_TORCH_FREE_COMPLETED,
	HRR_TORCH_SEGMENT_ALLOC,
	HRR_TORCH_SEGMENT_FREE,
	HRR_TORCH_SEGMENT_MAP,
	HRR_TORCH_SEGMENT_UNMAP
};

struct hrr_torch_event {
	uint64_t t; /* µs since 1970, never less than the one before on its device */
	uint64_t base, size;
	uint64_t stream;
	int frames;
	uint16_t device;
	uint8_t action;
	bool ends; /* frees: this one ends the block's life; see history.c */
};

struct hrr_torch_snapshot {
	struct hrr_pickle pickle;
	struct hrr_buf segments, blocks; /* of struct hrr_torch_piece */
	struct hrr_buf events;		 /* of struct hrr_torch_event, device by device */
	size_t n_segments, n_blocks, n_events;
	uint64_t devices;  /* histories in it */
	uint64_t backward; /* events stamped before their predecessor: set to its time */
	uint64_t empty;	   /* of size 0: left out */
	uint64_t unknown;  /* events of kinds not known: left out */
	char unknown_name[64];
	bool no_times; /* the history has none: left out */
};

/* Zeroed struct is empty. data has to outlive it. -EINVAL, -E2BIG, -ENOMEM with diag. */
int hrr_torch_read(struct hrr_torch_snapshot *s, const void *data, size_t len,
		   struct hrr_diag *diag);
void hrr_torch_release(struct hrr_torch_snapshot *s);

static inline struct hrr_torch_piece *hrr_torch_segments(const struct hrr_torch_snapshot *s)
{
	return (struct hrr_torch_piece *)(void *)s->segments.data;
}

static inline struct hrr_torch_piece *hrr_torch_blocks(const struct hrr_torch_snapshot *s)
{
	return (struct hrr_torch_piece *)(void *)s->blocks.data;
}

static inline struct hrr_torch_event *hrr_torch_events(const struct hrr_torch_snapshot *s)
{
	return (struct hrr_torch_event *)(void *)s->events.data;
}

#endif
