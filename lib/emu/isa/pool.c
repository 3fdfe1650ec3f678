#include "lib/emu/isa/pool.h"

#include <signal.h>
#include <stdlib.h>

#include "lib/emu/isa/group.h"

#define MAX_HELPERS 255

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of everything here */
static pthread_cond_t work = PTHREAD_COND_INITIALIZER, left = PTHREAD_COND_INITIALIZER;
static struct isa_job *jobs; /* open ones that take more */
static unsigned n_helpers, n_idle;
static struct isa_thread *kept;

/* --- helpers ------------------------------------------------------------------------ */

static void unlink_job(struct isa_job *job)
{
	struct isa_job **p = &jobs;

	while (*p != job)
		p = &(*p)->next;
	*p = job->next;
	job->open = false;
}

static void *helper(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	for (;;) {
		struct isa_job *const job = jobs;

		if (!job) {
			n_idle++;
			pthread_cond_wait(&work, &lock);
			n_idle--;
			continue;
		}
		const unsigned index = job->came++;

		job->inside++;
		if (--job->room == 0)
			unlink_job(job);
		pthread_mutex_unlock(&lock);
		job->help(job->self, index);
		pthread_mutex_lock(&lock);
		if (--job->inside == 0)
			pthread_cond_broadcast(&left);
	}
	return NULL;
}

/* Signals are for the program's own threads. */
static void start_helper(void)
{
	sigset_t all, old;
	pthread_attr_t attr;
	pthread_t id;

	if (n_helpers == MAX_HELPERS || pthread_attr_init(&attr))
		return;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (!pthread_create(&id, &attr, helper, NULL))
		n_helpers++;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
}

void isa_job_open(struct isa_job *job)
{
	pthread_mutex_lock(&lock);
	job->open = true;
	job->next = jobs;
	jobs = job;
	for (unsigned i = 0; i < job->room; i++) {
		if (i < n_idle)
			pthread_cond_signal(&work);
		else
			start_helper();
	}
	pthread_mutex_unlock(&lock);
}

void isa_job_close(struct isa_job *job)
{
	pthread_mutex_lock(&lock);
	if (job->open)
		unlink_job(job);
	while (job->inside)
		pthread_cond_wait(&left, &lock);
	pthread_mutex_unlock(&lock);
}

/* --- state of threads --------------------------------------------------------------- */

static void thread_free(struct isa_thread *t)
{
	isa_groups_trim(t, true);
	free(t->approx);
	free(t);
}

struct isa_thread *isa_thread_get(void)
{
	struct isa_thread *t;

	pthread_mutex_lock(&lock);
	t = kept;
	if (t)
		kept = t->next;
	pthread_mutex_unlock(&lock);
	if (!t) {
		t = aligned_alloc(alignof(struct isa_thread), sizeof(*t));
		if (!t)
			return NULL;
		memset(t, 0, sizeof(*t));
		t->approx = calloc(isa_op_count(), sizeof(*t->approx));
		if (!t->approx) {
			thread_free(t);
			return NULL;
		}
	}
	return t;
}

/* What the next launch must not see: spans, counts, faults. */
void isa_thread_put(struct isa_thread *t)
{
	const u32 n = isa_code_count(t->code);
	const u16 *rows;
	const unsigned n_rows = isa_approx_rows(&rows);

	memset(t->cache, 0, (n < ISA_CACHE ? n : ISA_CACHE) * sizeof(t->cache[0]));
	for (unsigned i = 0; i < n_rows; i++)
		t->approx[rows[i]] = 0;
	if (t->report.n_faults || t->report.status)
		memset(&t->report, 0, sizeof(t->report));
	if (t->final.n_faults || t->final.status)
		memset(&t->final, 0, sizeof(t->final));
	t->report.fault_count = 0;
	t->instructions = t->waves = t->groups = t->counted = 0;
	isa_groups_trim(t, false);
	pthread_mutex_lock(&lock);
	t->next = kept;
	kept = t;
	pthread_mutex_unlock(&lock);
}
