#include "lib/preload/preload.h"

#include <string.h>
#include <unwind.h>

/*
 * Calls that a thread leaves without returning from them: by longjmp out of a
 * signal handler, or because it was cancelled there. What the thread calls next
 * is not the run time calling itself, and the reader is told that the call
 * whose beginning it knows will not end.
 *
 * A call from the same place of the stack as the first one, or from above it,
 * comes after it. One from below is inside it, unless the first one's frame has
 * been written over, or is none of those that the stack is made of now.
 */
static struct {
	_Unwind_Reason_Code (*_Atomic walk)(_Unwind_Trace_Fn, void *);
	_Unwind_Word (*_Atomic sp)(struct _Unwind_Context *);
	_Unwind_Ptr (*_Atomic pc)(struct _Unwind_Context *);
} unwind;

/* The program's own unwinder, which every C++ program has. */
void hrr_left_init(void)
{
	static const char lib[] = "libgcc_s.so.1";
	void *walk = hrr_loaded(lib, "_Unwind_Backtrace"), *sp = hrr_loaded(lib, "_Unwind_GetCFA"),
	     *pc = hrr_loaded(lib, "_Unwind_GetIP");

	if (walk == NULL || sp == NULL || pc == NULL)
		return;
	unwind.sp = (_Unwind_Word(*)(struct _Unwind_Context *))sp;
	unwind.pc = (_Unwind_Ptr(*)(struct _Unwind_Context *))pc;
	unwind.walk = (_Unwind_Reason_Code(*)(_Unwind_Trace_Fn, void *))walk; /* last */
}

struct look {
	uintptr_t outer;  /* a place in the frame that is looked for */
	uintptr_t sp, pc; /* of the frame before; pc 0: there is none yet */
	bool found, ours;
};

static _Unwind_Reason_Code look_at(struct _Unwind_Context *x, void *self)
{
	struct look *l = self;
	uintptr_t sp = unwind.sp(x);

	/* A frame reaches from its own stack pointer to that of its caller. */
	if (l->pc != 0 && l->sp <= l->outer && l->outer < sp) {
		l->found = true;
		l->ours = hrr_is_ours((const void *)l->pc);
		return _URC_END_OF_STACK;
	}
	l->sp = sp;
	l->pc = unwind.pc(x);
	return _URC_NO_REASON;
}

/* Is the first call's frame certainly not there? Where frames cannot be told that is not certain.
 */
static bool is_gone(const struct hrr_thread *t)
{
	/* Behind its return address that of the shim begins, which called it. */
	struct look l = {.outer = (uintptr_t)t->frame + 2 * sizeof(void *)};

	if (unwind.walk != NULL)
		unwind.walk(look_at, &l);
	return l.found && !l.ours;
}

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

bool hrr_nested_slow(struct hrr_thread *t, const void *frame, const void *from)
{
	/* What is inside another has at least that one's struct and its own above it. */
	bool after = (uintptr_t)frame + sizeof(struct hrr_call) > (uintptr_t)t->frame;

	/* With no outer one this is a signal's handler that came as that began or ended. */
	if ((!after || on_other_stack()) &&
	    (t->outer == NULL || (is_marked(t) && (hrr_in_runtime(from) || !is_gone(t)))))
		return true;
	hrr_left(t);
	return false;
}

void hrr_left(struct hrr_thread *t)
{
	struct hrr_begun b = t->begun;

	t->outer = NULL;
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
