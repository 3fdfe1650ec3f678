#ifndef HRR_EMU_CAPTURE_H
#define HRR_EMU_CAPTURE_H

#include "lib/emu/runtime/graph.h"
#include "lib/emu/runtime/sched.h"

/*
 * Stream capture. A capture belongs to the stream it began on (origin); other streams join by
 * waiting for an event recorded in it. States: ACTIVE -> INVALIDATED (something
 * forbidden happened) ; both end at hipStreamEndCapture.
 */
struct capture {
	struct capture *next;
	struct graph *graph; /* owned until handed out, unless it was there before */
	bool borrowed;
	struct stream *origin;
	struct emu_thread *thread; /* that began it: compared, not followed */
	int mode;		   /* enum hipStreamCaptureMode */
	bool invalid;
	uint64_t id;
	unsigned n_streams;   /* that take part, the origin too */
	struct event *events; /* recorded in it */
};

/* All with rt.lock held. */

/* Whether a call that may not happen during a capture is being made during one. */
bool capture_forbids(void);
/*
 * Queues op, or makes it a node when the stream is being captured. Takes op, on failure
 * too. ret_work: as sched_submit, NULL when captured.
 */
hipError_t capture_submit(struct stream *s, struct op *op, struct work **ret_work);
/* A capture on a stream that the legacy stream of the device waits for. */
struct capture *capture_blocking(int device);
/* Error for a call that waits for or queries this stream; hipSuccess when it may. Invalidates. */
hipError_t capture_wait_check(struct stream *s);
/* hipEventRecord and hipStreamWaitEvent where a capture is concerned; *ret_done says it was. */
hipError_t capture_record(struct event *e, struct stream *s, bool *ret_done);
hipError_t capture_wait(struct stream *s, struct event *e, bool *ret_done);
/* Forget this event's part in a capture. */
void capture_event_reset(struct event *e);
/* Adds a node of any kind after the stream's captured tail (child graphs). */
hipError_t capture_node(struct stream *s, struct node *n);
/* A stream that takes part is destroyed. */
void capture_stream_gone(struct stream *s);

#endif
