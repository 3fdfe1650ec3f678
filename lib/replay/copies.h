#ifndef HRR_REPLAY_COPIES_H
#define HRR_REPLAY_COPIES_H

#include "lib/replay/graphs.h"

/* Private to lib/replay: any copy as a box of bytes. */

struct hipMemcpy3DParms;
struct hrr_event;
struct hrr_landing;
struct hrr_replay;

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
	uint64_t daddr;		  /* its recorded address in dmem */
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
/* Its host end as a node of a graph has it; node_live is left to the caller. */
struct hrr_host_node hrr_copy_host_node(const struct hrr_copy *c, const struct hrr_copy_ends *e);
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

/* array.c: the live array of a recorded one (0: none) as an end of c. */
int hrr_array_end_of(struct hrr_replay *r, struct hrr_event *ev, const void *recorded, bool dst,
		     struct hrr_copy *c);
void hrr_arrays_end(struct hrr_replay *r);

#endif
