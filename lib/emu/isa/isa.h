#ifndef HRR_EMU_ISA_H
#define HRR_EMU_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/diag.h"

/*
 * The AMDGPU instruction set on the CPU: the narrow interface between the run
 * time (lib/emu/runtime) and the interpreter. Everything below
 * speaks *device addresses*: numbers of the emulated address space, looked up
 * through struct isa_mem on every access, never dereferenced as they are.
 */

enum isa_arch {
	ISA_GFX90A,
	ISA_GFX942,
	ISA_GFX950,
	ISA_GFX1030,
	ISA_GFX1100,
	ISA_GFX1201,
	ISA_ARCH_COUNT
};

/* "gfx90a" (target features after ':' ignored) to enum isa_arch; -EINVAL when unknown. */
int isa_arch_by_name(const char *name);
const char *isa_arch_name(enum isa_arch arch);
/* Lanes per wave by default: 64 on gfx9, 32 on gfx10 and later. */
unsigned isa_arch_wave_size(enum isa_arch arch);

/*
 * The x86 vectors to use at most: "base", "avx2", "avx512"; otherwise the best the
 * machine has. Results are the same. Before the first program. -EINVAL: none of these.
 */
int isa_limit_simd(const char *name);

/* A piece of emulated memory. host is where its first byte lives now. */
struct isa_span {
	uint64_t base, size; /* device address, bytes */
	unsigned char *host; /* borrowed; valid while the launch runs */
	bool readable, writable;
	void *cookie; /* the run time's own range, handed back in faults */
	/* NULL, or one byte for each byte of the span: not 0 when something wrote it. Stores set
	 * it, loads of bytes that have 0 are reported (and done). */
	unsigned char *written;
	/* There, but not for this launch: a fault like any other; when the launch goes on, the
	 * access is done all the same. */
	bool forbidden;
};

/*
 * Memory as the run time gives it. find is called from several threads at once
 * and answers for the whole launch the same: spans do not move or go while a
 * launch runs. 0, or -EFAULT where nothing lies at addr.
 * gap (when find says -EFAULT) is not needed: the run time makes its own report.
 */
struct isa_mem {
	void *self;
	int (*find)(void *self, uint64_t addr, struct isa_span *ret_span);
};

/*
 * Decoded code of one loaded code object. Code is decoded once, lazily, by
 * kernel and by branch target. image is the loaded (relocated) object: borrowed
 * for the life of the program, read only; base its device address.
 * The first call loads the LLVM disassembler (dlopen); errors: -ENOENT no such
 * library, -ENOMEM, -EINVAL unknown arch.
 */
struct isa_program;
int isa_program_new(enum isa_arch arch, const void *image, size_t size, uint64_t base,
		    struct isa_program **ret_prog, struct hrr_diag *diag);
void isa_program_free(struct isa_program *prog);

enum isa_status {
	ISA_DONE = 0,
	ISA_FAULT, /* memory access outside any span, or not permitted, LDS/scratch overrun */
	ISA_UNIMPLEMENTED, /* an instruction, mode or message we do not have: what says which */
	ISA_BUDGET,	   /* instruction budget used up: a hang, or too long */
	ISA_TRAP,	   /* s_trap: abort, assert */
	ISA_BAD_LAUNCH,	   /* descriptor and launch do not fit each other */
	ISA_NOMEM
};

enum isa_access { ISA_LOAD, ISA_STORE, ISA_ATOMIC, ISA_FETCH };
enum isa_space { ISA_GLOBAL, ISA_LDS, ISA_SCRATCH, ISA_CONSTANT, ISA_FLAT };

/* The first access of one (kernel, pc) that went wrong. All numbers are plain data. */
struct isa_fault {
	enum isa_access access;
	enum isa_space space;
	uint64_t address; /* device address; LDS and scratch: byte offset */
	uint32_t size;	  /* bytes per lane */
	uint64_t pc;	  /* device address of the instruction */
	char text[96];	  /* the instruction as disassembled */
	uint32_t workgroup[3];
	uint32_t wave, lane;
	uint32_t workitem[3]; /* id in its workgroup */
	uint64_t lanes;	      /* which lanes of the wave did the same */
	const char *why;      /* static: what is wrong, or NULL: no memory there for that */
	uint64_t limit;	      /* LDS and scratch: bytes there are */
	uint64_t count;	      /* lanes in all that did this at this pc */
	uint64_t order;	      /* number of the workgroup: x fastest */
	bool ends;	      /* the launch ended there */
};

struct isa_approx {
	const char *mnemonic; /* static */
	uint64_t count;	      /* wave-instructions */
};

#define ISA_MAX_APPROX 32
#define ISA_MAX_FAULTS 8

struct isa_report {
	enum isa_status status;
	char what[160];	       /* for every status but ISA_DONE: one line, no full stop */
	uint64_t pc;	       /* of the instruction that ended it where no access did, or 0 */
	uint32_t workgroup[3]; /* and whose it was */
	uint64_t instructions; /* wave-instructions issued */
	uint64_t waves;
	uint64_t fault_count; /* all faults met; only the first ISA_MAX_FAULTS sites are kept */
	unsigned n_faults;
	struct isa_fault faults[ISA_MAX_FAULTS];
	unsigned n_approx;
	struct isa_approx
	    approx[ISA_MAX_APPROX]; /* instructions whose result hardware approximates */
};

/*
 * One kernel launch. Everything is borrowed for the call.
 *
 * kd		device address of the 64-byte kernel descriptor, inside the image
 * grid, block	work-items in all, and per workgroup (grid need not be a multiple of block)
 * kernarg	device address of the kernarg segment, hidden arguments filled in by the run time
 * packet	device address of a 64-byte AQL dispatch packet, or 0
 * queue	device address of an amd_queue_t image (apertures, scratch), or 0
 * lds		bytes of LDS per workgroup: static and dynamic
 * scratch	bytes of scratch per work-item (private segment, dynamic stack included)
 * room		bytes that scratch and LDS of all workgroups in flight may take; 0 is no limit
 * budget	wave-instructions in all; 0 is no limit
 * threads	CPU threads that may be used over workgroups; 0 or 1: the caller's only
 * poison_lds	LDS and scratch start as this byte
 * hostcall	NULL or the service for printf and assert (s_sendmsg interrupt): called by the
 *		wave that rang, with the message number
 *
 * Workgroups may wait for one another: waves are resumable and all resident ones make progress.
 */
struct isa_launch {
	struct isa_program *prog;
	uint64_t kd;
	uint32_t grid[3], block[3];
	uint64_t kernarg, packet, queue;
	uint32_t lds, scratch;
	uint64_t room;
	uint64_t budget;
	unsigned threads;
	unsigned char poison_lds;
	bool cooperative; /* all workgroups are resident at once */
	/* Wrong accesses do not end the launch: stores are left out, loads give 0, the report has
	 * the first fault of each pc and status stays ISA_DONE. */
	bool go_on;
	/* Loads from LDS and scratch that nothing in the group (in the wave) wrote are reported,
	 * and done; as spans with written are. */
	bool watch_own;
	struct isa_mem mem;
	void (*hostcall)(void *self, uint32_t message);
	void *hostcall_self;
};

/*
 * Runs a launch to its end. Returns 0 when the report is filled in (whatever
 * its status), or -ENOMEM. A fault ends the launch (unless go_on); memory written before it stays.
 */
int isa_run(const struct isa_launch *launch, struct isa_report *ret_report);

/*
 * For `make isa-coverage`: names of the instruction table of an arch, and
 * whether isa_run met them in this process. index from 0; NULL ends the list.
 */
const char *isa_table_name(enum isa_arch arch, unsigned index);
bool isa_table_met(enum isa_arch arch, unsigned index);

#endif
