#ifndef HRR_REPLAY_FAULT_H
#define HRR_REPLAY_FAULT_H

#include "lib/hip/entry.h"

/*
 * A layer over the entry points that makes calls fail on purpose: any call, from
 * its n-th time on, with any error. It also counts calls. Install it before the engine is made.
 */
#define HRR_FAULT_MAX 16

struct hrr_fault {
	enum hrr_api api;
	uint64_t first, last; /* which of its calls, counted from 1; both included */
	int error;
	bool after; /* the call is made, and then said to have failed */
};

struct hrr_faults {
	struct hrr_fault v[HRR_FAULT_MAX];
	size_t n;
	uint64_t calls[HRR_API_COUNT];
	uint64_t injected;
	void (*seen)(void *self, enum hrr_api api, const uint64_t *args); /* each call; NULL */
	void *self;
};

/* "API[:N[-[M]]][:ERROR]": default the first, hipErrorUnknown. N-: from then on. -EINVAL. */
int hrr_fault_add(struct hrr_faults *f, const char *text, struct hrr_diag *diag);
void hrr_fault_install(struct hrr_faults *f, struct hrr_hip *hip);

#endif
