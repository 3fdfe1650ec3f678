#ifndef HRR_EMU_EMU_H
#define HRR_EMU_EMU_H

#include "lib/hip/checker.h"

/*
 * What the CPU run time tells beyond the HIP ABI. The functions are exported by
 * libhrr-emu.so and found with dlsym in the loaded libamdhip64 stand-in's
 * process (dlsym(RTLD_DEFAULT) or a handle of the stand-in), so that a program
 * that uses them runs against any HIP run time. Nothing else may be linked from
 * that library.
 */

/*
 * Settings, read from the environment at the first call (sizes may end in K, M, G, T):
 *   HRR_EMU_ARCH=gfx90a    what the devices are; otherwise the first architecture of the
 *			    program's first fat binary that most of its others have code
 *			    for, too, or the first of the first module
 *   HRR_EMU_DEVICES=1	    0 to 16
 *   HRR_EMU_MEMORY=N	    bytes per device; otherwise what a product of that kind has
 *   HRR_EMU_THREADS=N	    CPU threads per launch; otherwise all CPUs
 *   HRR_EMU_SIMD=base	    or avx2, avx512: x86 vectors to use at most; results are the same
 *   HRR_EMU_SCHED=eager    or late, random:SEED, async: when queued work runs (sched.h)
 *   HRR_EMU_FILL=0	    byte that fresh memory, LDS and scratch hold
 *   HRR_EMU_BUDGET=50000000000  wave-instructions per launch, 0: no limit
 *   HRR_EMU_REPORTS=8	    places of faults printed; all are counted
 *   HRR_EMU_REREGISTER=accept	or refuse: registering registered host memory again
 *   HRR_EMU_TRAP=abort	    or error: what assert and abort in a kernel do
 *   HRR_EMU_MEMCHECK=	    blocks,init,continue: stricter checks, see hrr_emu_memcheck
 *   HRR_EMU_VERBOSE=0	    1: also says what was refused, and calls not supported, once each
 */

/*
 * What the devices of a recording were: an arch ("gfx90a", features left out) and their number
 * stand where HRR_EMU_ARCH and HRR_EMU_DEVICES say nothing. An arch that is not emulated changes
 * nothing. -EBUSY: memory, streams or code are there already, nothing is changed.
 */
int hrr_emu_devices(const char *arch, unsigned count);

/* 0, or -EINVAL when size is too small to mean anything. */
int hrr_emu_report(struct hrr_emu_stats *ret_stats);

/*
 * Calls fn for each fault as it is reported, from the thread that ran the work;
 * NULL ends it. quiet: nothing is printed on standard error then.
 */
void hrr_emu_on_fault(void (*fn)(void *self, const struct hrr_emu_fault *fault), void *self,
		      int quiet);

/*
 * What kernels print (printf, assert's message) goes to fn, n bytes of text as they are (they may
 * come from an archive), meant for standard error or output; NULL: it goes there. With fn, assert
 * and abort in a kernel are errors of the launch and end nothing.
 */
void hrr_emu_on_print(void (*fn)(void *self, const char *text, size_t n, int error), void *self);

/*
 * What this thread calls from here on is work of that call (copied): faults of the work say so,
 * whenever it runs and in whichever thread.
 */
void hrr_emu_origin(const struct hrr_emu_origin *origin);

/*
 * Describes a part of emulated memory for reports: [live, live + size) is what
 * the recorded program knew as [recorded, recorded + size), with a tag (copied;
 * may be NULL). parent: non-zero for a whole allocation, 0 for a block in one.
 * Newer descriptions win. -EINVAL: empty or wrapping; -ENOMEM.
 */
int hrr_emu_describe(uint64_t live, uint64_t size, uint64_t recorded, const char *tag, int parent);
/*
 * Stricter checking of kernels. HRR_EMU_CHECK_BLOCKS: inside an allocation whose
 * blocks are described, an access must hit a block that the launch's arguments
 * point to (directly, or from within such a block); and what a copy or set writes must end in the
 * block it begins in. 0 takes it back. -ENOTSUP: a
 * flag this library does not have.
 * HRR_EMU_CHECK_INIT: reads of device memory, LDS and scratch that nothing wrote are reported (and
 * done): memory made after this call; host memory, which the program writes unseen, is not watched.
 * HRR_EMU_GO_ON: wrong accesses of kernels are reported and left out (loads give 0), and nothing
 * fails.
 */
int hrr_emu_memcheck(unsigned flags);
/*
 * For HRR_EMU_CHECK_INIT: what was written there is nothing any more (a pool gave out the
 * block anew). -EINVAL; -ENOENT: not inside one allocation.
 */
int hrr_emu_unwritten(uint64_t addr, uint64_t size);
/* Takes the description that starts at live back; when_freed is shown in reports. -ENOENT. */
int hrr_emu_undescribe(uint64_t live, const char *when_freed);

/*
 * Declares [addr, addr + size) of host memory dead, mapped or not: a copy, set or
 * graph node that touches it is a fault which says who (copied) took it. For
 * tools that keep storage a program has given up. -EINVAL, -ENOMEM. unpoison by the
 * same address: -ENOENT when it was not.
 */
int hrr_emu_poison(const void *addr, uint64_t size, const char *who);
int hrr_emu_unpoison(const void *addr);

#endif
