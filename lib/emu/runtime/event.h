#ifndef HRR_EMU_EVENT_H
#define HRR_EMU_EVENT_H

#include "lib/emu/runtime/sched.h"

/* Both with rt.lock held. The first never looks at captures. */
hipError_t event_record(struct event *e, struct stream *s);
hipError_t event_record_handle(hipEvent_t event, struct stream *s);
/* A graph's node that records it has run. Without rt.lock. */
void event_node_ran(hipEvent_t h);

#endif
