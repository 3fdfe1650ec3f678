#ifndef HRR_HIP_CHECKER_H
#define HRR_HIP_CHECKER_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/type.h"

/*
 * What a run time that checks memory tells those who drive it, as plain data: the CPU run
 * time fills it in, replay and programs read it. How to get it: lib/emu/runtime/emu.h.
 */

/* Stricter checks (hrr_emu_memcheck). */
#define HRR_EMU_CHECK_BLOCKS 1u
#define HRR_EMU_CHECK_INIT 2u
#define HRR_EMU_GO_ON 4u

#define HRR_EMU_MAX_APPROX 64

struct hrr_emu_approx {
	const char *mnemonic; /* static */
	uint64_t count;	      /* wave-instructions */
};

/* What an instruction's error is measured by. */
enum hrr_emu_error_of {
	HRR_EMU_OF_RESULT, /* the result itself */
	HRR_EMU_OF_ONE,	   /* 1, as results lie within [-1, 1] */
	HRR_EMU_OF_TERMS   /* the sum of what is added, signs left out */
};

/* How far from the exact result an instruction's may lie on hardware: bound times what it is of. */
struct hrr_emu_error {
	double bound;
	uint32_t of;   /* enum hrr_emu_error_of */
	uint32_t type; /* enum hrr_type of the result, NONE: another */
};

/*
 * Counts since the process started. size is set by the caller to sizeof the
 * structure it knows; fields beyond what the library knows are left as they are.
 */
struct hrr_emu_stats {
	size_t size;
	uint64_t launches;	/* kernels begun */
	uint64_t waves;		/* waves run */
	uint64_t instructions;	/* wave-instructions issued */
	uint64_t nanoseconds;	/* spent inside kernels, wall clock, summed over launches */
	uint64_t refused;	/* launches ended by something not implemented */
	uint64_t faults;	/* accesses found wrong: kernels, copies and sets */
	uint64_t budget;	/* launches ended by the instruction budget */
	uint64_t traps;		/* launches ended by s_trap (abort, assert) */
	uint64_t not_supported; /* calls answered hipErrorNotSupported */
	uint32_t n_approx;
	struct hrr_emu_approx approx[HRR_EMU_MAX_APPROX];
	struct hrr_emu_error error[HRR_EMU_MAX_APPROX]; /* of approx[i] */
};

/* The call that work came from, as whoever drives the run time said (hrr_emu_origin). */
struct hrr_emu_origin {
	uint64_t seq, line; /* seq 0: nobody said */
	const char *api;    /* static, or NULL */
};

/*
 * One fault as data. text is the whole report as printed on standard error
 * (lines ended by LF), borrowed for the call.
 */
struct hrr_emu_fault {
	const char *kernel; /* symbol, or NULL: a copy or a set */
	uint64_t pc;	    /* device address, 0 when not a kernel's */
	uint64_t address;
	uint32_t size;	 /* bytes per lane */
	uint32_t access; /* enum isa_access: load, store, atomic, instruction fetch */
	const char *text;
	/* The rest by number and name; strings borrowed for the call, NULL: does not apply. */
	uint32_t space;		 /* enum isa_space: global, LDS, scratch, constant, flat */
	const char *why;	 /* what is wrong beyond "no memory there", or NULL */
	const char *instruction; /* as disassembled */
	const char *file;	 /* source, where the object has line numbers */
	uint32_t line;
	uint32_t workgroup[3], workitem[3];
	uint32_t wave, lane;
	uint64_t lanes;	   /* that did this at this pc in this launch */
	uint64_t recorded; /* address as somebody described it (hrr_emu_describe), 0: unknown */
	/* Described blocks: the one it lies in, the nearest before and after; size 0: none. */
	struct hrr_emu_block {
		uint64_t recorded, size, distance; /* distance: into it, or in between, bytes */
		const char *tag;
		int freed; /* of block: it is gone */
	} block, before, after;
	struct hrr_emu_origin origin;
};

#endif
