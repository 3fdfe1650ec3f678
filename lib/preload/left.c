#include "lib/preload/preload.h"

/*
 * Calls that a thread leaves without returning from them: by longjmp out of a
 * signal handler, or because it was cancelled there. What the thread calls next
 * is not the run time calling itself, and the reader is told that the call
 * whose beginning it knows will not end.
 *
 * A call from the same place of the stack as the first one, or from above it,
 * comes after it. One from below is inside it, unless the first one's frame has
 * been written over.
 */
static bool on_other_stack(void)
{
	stack_t s;

	return sigaltstack(NULL, &s) == 0 && (s.ss_flags & SS_ONSTACK) != 0;
}

/* The frame may be gone. */
__attribute__((no_sanitize("address", "thread"))) static bool is_marked(const struct hrr_thread *t)
{
	return *(const volatile uint64_t *)&t->outer->mark == t->mark;
}

bool hrr_nested_slow(struct hrr_thread *t, const void *frame)
{
	/* What is inside another has at least that one's struct and its own above it. */
	bool after = (uintptr_t)frame + sizeof(struct hrr_call) > (uintptr_t)t->frame;

	if ((!after || on_other_stack()) && is_marked(t))
		return true;
	hrr_left(t);
	return false;
}

void hrr_left(struct hrr_thread *t)
{
	struct hrr_begun b = t->begun;

	t->depth = 0;
	t->begun.is = false;
	if (!b.is || t->ring == NULL || t->gen != hrr_proc->gen ||
	    atomic_load_explicit(&hrr_proc->hub->off, memory_order_relaxed) != 0)
		return;
	t->must = true; /* its number is taken */
	hrr_b_begin(t, HRR_R_LEAVE, b.api);
	if (!t->failed) {
		struct hrr_rec *r = hrr_b_rec(t);
		r->flags = HRR_F_LEFT;
		r->t = b.t;
		r->seq = b.seq != 0 ? b.seq : hrr_take_seq();
	}
	t->must = false;
	hrr_b_commit(t);
}
