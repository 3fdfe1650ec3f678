#ifndef HRR_EMU_ISA_POOL_H
#define HRR_EMU_ISA_POOL_H

#include "lib/emu/isa/internal.h"

/*
 * Threads that help with launches, kept from one to the next, and the state of a
 * thread of a launch, kept too. Whoever launches does the work and waits for no
 * helper to come: those that did are waited for, the others find the job gone.
 * So a launch is right, if slower, where there is no thread to be had (or after fork).
 */
struct isa_job {
	void (*help)(void *self, unsigned index); /* in a helper; index from 0, once each */
	void *self;
	unsigned room; /* helpers it still takes */
	/* of the pool */
	unsigned came, inside;
	bool open;
	struct isa_job *next;
};
/* Lets helpers in, job->room at most. */
void isa_job_open(struct isa_job *job);
/* No more; waits for those inside. Also for a job that was never open. */
void isa_job_close(struct isa_job *job);

/* A thread's state with nothing of an earlier launch in it; NULL: no memory. */
struct isa_thread *isa_thread_get(void);
void isa_thread_put(struct isa_thread *t);

#endif
