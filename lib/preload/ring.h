#ifndef HRR_PRELOAD_RING_H
#define HRR_PRELOAD_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/hip/table.h"

/*
 * What a recorded program and hrr-capture share: files in one scratch folder,
 * mapped by both. Same machine, same build, so the layout is plain C structs.
 *
 *   hub        made by hrr-capture: options, the count of recorded processes
 *   pI.ctl     process I (the order of first HIP calls): seq, counters, who it is
 *   pI.rN      ring N of process I: records of one thread at a time
 *   pI.a       arena of process I: bytes of big copies and snapshots, as long as they fit
 *   pI.fN      payload file N of process I: bytes of one object, or of what did not fit
 *   pI.sN      ring N's overflow, written by hrr-capture
 *   pI.knownN  what one that goes on after it has to know; one N at a time, the next when it has
 * grown
 *
 * States of a file: it counts from the moment its `magic` is stored (release),
 * which its maker does last; before that a reader takes it as not there yet.
 *
 * A ring has one writer and one reader. Positions are byte counts that only
 * grow; byte p lies at data[p & (size - 1)]. A record never wraps: a PAD fills
 * the end. The writer publishes whole records by a release store of head, so
 * whatever ends the process, every record up to head is complete. The reader
 * gives space back through tail.
 *
 * For hrr-capture --recover: how far lines have been written out stands twice,
 * in mark[i] of each ring and progress[i] of ctl, and ctl's `settled` says
 * which i is good; the other one may be half written. But when progress[i] is about
 * another file than the one that is there (see compact.c), the other one is good.
 */
#define HRR_HUB_MAGIC 0x3130627568727268ull
#define HRR_CTL_MAGIC 0x31306c7463727268ull
#define HRR_RING_MAGIC 0x3130676e69727268ull
#define HRR_ARENA_MAGIC 0x3130616e65726168ull
#define HRR_RING_VERSION 9
#define HRR_ENV_DIR "HRR_CAPTURE_DIR"
#define HRR_ENV_ID \
	"HRR_CAPTURE_ID" /* the hub's, in hex: the folder's name may be another's by now */

#define HRR_RING_HEADER 4096
#define HRR_RING_DEFAULT ((uint64_t)1 << 20) /* data bytes; a power of two */
#define HRR_RING_MIN ((uint64_t)1 << 16)
#define HRR_RING_MAX ((uint64_t)1 << 28)
/* Payload bytes above this go to the arena, or a file of their own. */
#define HRR_INLINE_MAX ((uint64_t)64 << 10)
#define HRR_PIECE ((uint64_t)256 << 10) /* host memory is compared and stored in pieces of this */

enum hrr_hub_option {
	HRR_OPT_DROP = 1,	 /* a full ring drops (and counts) instead of waiting */
	HRR_OPT_HSA_REGIONS = 2, /* HSA pool allocations become region records */
	HRR_OPT_HOST_OFF = 4,	 /* no snapshots of mapped host memory, no outputs of kernels */
	HRR_OPT_HOST_ALL =
	    8,		   /* at each launch all mapped host memory, not only what arguments name */
	HRR_OPT_GATE = 16, /* write only calls between hipProfilerStart and hipProfilerStop */
	HRR_OPT_INSIDE =
	    32 /* kernels may run before their launch returns: it tells that it began */
};

enum hrr_told { HRR_TOLD_NOTHING, HRR_TOLD_LIBRARY, HRR_TOLD_ALL };

enum hrr_ending {		       /* that it is not killed: told before */
		  HRR_ENDING_EXIT = 1, /* exit handlers have begun, or there are to be none */
		  HRR_ENDING_EXEC      /* this pid is to run another program */
};

enum hrr_off {
	HRR_OFF_READER = 1, /* the reader wants no more records */
	HRR_OFF_ALONE = 2   /* a ring was full and no reader lived: what followed is not recorded */
};

#define HRR_ONLY_MAX 4096

#define HRR_UNRECORDED "unrecorded" /* folder in the scratch folder, see process.c */

struct hrr_hub {
	_Atomic uint64_t magic;
	uint32_t version;
	uint32_t reader_pid;
	uint64_t id;
	uint64_t ring_size;
	uint64_t arena_size; /* bytes of data, a multiple of 64; 0: none */
	uint64_t host_limit; /* bytes of mapped host memory looked at per launch or wait */
	uint32_t options;
	_Alignas(64) _Atomic uint32_t processes; /* indices given out */
	_Alignas(64) _Atomic uint32_t wake; /* futex: writers bump it when a ring is half full */
	_Atomic uint32_t sleeping;	    /* the reader waits on it */
	_Alignas(64) _Atomic uint32_t off;  /* enum hrr_off */
	_Atomic uint32_t missed;	    /* a process began when no reader lived */
	_Atomic uint32_t unrecorded;	    /* processes that had no room for their files */
	char only[HRR_ONLY_MAX];	    /* the reader's own: for another one that recovers */
};

/* The reader holds a POSIX write lock on hub's first byte while it lives; so does each recorded
 * process on its ctl file (as long as the program does not close our descriptor). */
struct hrr_progress {
	uint64_t written; /* bytes of events.jsonl */
	uint64_t next;	  /* number of the next call */
	uint64_t calls, outputs, regions;
	uint64_t known;	   /* bytes of pI.knownN */
	uint64_t file;	   /* inode of the events.jsonl that this is about */
	uint32_t filtered; /* calls have been left out */
	uint32_t gate;	   /* inside hipProfilerStart..Stop */
	uint32_t known_n;  /* that N */
	uint32_t group;	   /* ring whose group is not over, + 1; 0: none */
};

struct hrr_ctl {
	_Atomic uint64_t magic;
	uint32_t version;
	uint32_t pid;	   /* as the process sees it */
	uint64_t start;	   /* start time of the process, /proc/PID/stat field 22 */
	uint64_t t0;	   /* CLOCK_MONOTONIC ns */
	uint64_t realtime; /* CLOCK_REALTIME at t0 */
	uint32_t argc,
	    envc;      /* strings behind the struct, each with its NUL: argv, then NAME=VALUE */
	uint32_t info; /* their bytes */
	_Alignas(64) _Atomic uint64_t seq; /* last number given */
	_Alignas(64) _Atomic uint32_t rings;
	_Atomic uint32_t files;
	uint32_t major;		     /* of HIP: which values its enumerators have */
	uint32_t layout;	     /* and how its structures are laid out: hrr_struct_at */
	_Atomic uint32_t told;	     /* enum hrr_told: RUNTIME records that are written */
	_Atomic uint32_t ending;     /* enum hrr_ending */
	_Atomic uint32_t outlived;   /* recording ended while it ran */
	_Atomic uint64_t lost;	     /* records dropped */
	_Atomic uint64_t lost_bytes; /* payload bytes that could not be kept */
	_Alignas(64) _Atomic uint32_t settled;
	struct hrr_progress progress[2];
	_Alignas(64) _Atomic uint64_t not_recorded[HRR_API_COUNT];
};

struct hrr_mark {
	uint64_t printed; /* lines of all before are written */
	uint64_t entered; /* + 1: where the ENTER stands whose LEAVE is to come; 0: none */
	uint32_t tid;	  /* of the records from here on */
};

struct hrr_ring {
	_Atomic uint64_t magic;
	uint32_t version;
	uint32_t index;
	uint64_t size;
	_Alignas(64) _Atomic uint64_t head;
	_Alignas(64) _Atomic uint64_t tail;
	struct hrr_mark mark[2];
	uint64_t spilled; /* the overflow file holds [spill_from, spilled) */
	uint64_t spill_from;
	struct hrr_ring *next; /* the program's own: of those that no thread has */
};

static inline unsigned char *hrr_ring_data(struct hrr_ring *r)
{
	return (unsigned char *)r + HRR_RING_HEADER;
}

/* An extent has a slot; busy is set by the program and cleared by the reader, which then does not
 * look at its bytes again. */
#define HRR_ARENA_SLOTS 4096
#define HRR_ARENA_HEADER 8192
#define HRR_ARENA_DEFAULT ((uint64_t)128 << 20)
#define HRR_ARENA_MAX ((uint64_t)1 << 40)
struct hrr_arena {
	_Atomic uint64_t magic;
	uint64_t size;
	_Alignas(64) _Atomic uint8_t busy[HRR_ARENA_SLOTS];
};

static inline unsigned char *hrr_arena_data(struct hrr_arena *a)
{
	return (unsigned char *)a + HRR_ARENA_HEADER;
}

/* --- records ------------------------------------------------------------- */
enum hrr_rec_type {
	HRR_R_PAD,     /* only size is meaningful; smaller than a header when 8 */
	HRR_R_TID,     /* the thread that writes from here on: ret is its tid */
	HRR_R_ENTER,   /* a call that releases (seq set) or may block (seq 0) has begun */
	HRR_R_LEAVE,   /* a call has returned; seq 0: the one of the ENTER before, and it is lost */
	HRR_R_OUTPUT,  /* struct hrr_rec_output */
	HRR_R_OBJECT,  /* struct hrr_rec_object */
	HRR_R_KERNEL,  /* struct hrr_rec_kernel */
	HRR_R_REGION,  /* struct hrr_rec_region */
	HRR_R_RANGE,   /* struct hrr_rec_range */
	HRR_R_RUNTIME, /* struct hrr_rec_runtime */
	HRR_R_MARKER,  /* struct hrr_rec_marker */
	HRR_R_END      /* of a group that HRR_F_MORE began */
};

enum hrr_rec_flag {
	HRR_F_MORE = 1, /* records follow up to an END that belong to the same place in the order */
	HRR_F_ENTERED = 2,  /* LEAVE of a call whose seq stands in its ENTER */
	HRR_F_PENDING = 4,  /* LEAVE: outputs of this call will come when the program has waited */
	HRR_F_CAPTURED = 8, /* LEAVE: the call went into a stream capture */
	HRR_F_LEFT = 16 /* LEAVE, of no arguments: the call of the ENTER before will not return */
};

enum hrr_dir { HRR_DIR_NONE, HRR_DIR_H2D, HRR_DIR_D2H, HRR_DIR_D2D, HRR_DIR_H2H };

struct hrr_rec {
	uint32_t size;			 /* whole record, a multiple of 8 */
	uint8_t type, flags, dir, words; /* words: argument words behind the header */
	uint64_t
	    seq; /* the call's; OBJECT to RUNTIME: the last one given before, which it follows */
	uint64_t t, dur; /* ns since t0; ns */
	int64_t ret;
	uint16_t api;
	uint8_t pad[6];
};

/* Behind the words of ENTER and LEAVE: attachments, each padded to 8. */
enum hrr_att_tag {
	HRR_A_VALUE,   /* what parameter `param` points to (strings without NUL) */
	HRR_A_SRC,     /* struct hrr_bytes and, when file is 0, the bytes: the copy's source */
	HRR_A_HOST,    /* struct hrr_bytes and bytes: host memory when the call began */
	HRR_A_KERNEL,  /* struct hrr_att_kernel and kernarg bytes */
	HRR_A_SYMBOL,  /* u64 object, u64 size, name */
	HRR_A_IMAGE,   /* u64 object */
	HRR_A_PENDING, /* u64 node (seq, 0: none), address, size: an output that is still on its way
			*/
	HRR_A_RET,     /* the string returned */
	HRR_A_RANGE,   /* struct hrr_rec_range's tail: memory this call made known (u64 base, size,
			  kind) */
	HRR_A_DIRS,    /* enum hrr_dir of each copy of a list, a byte each */
	HRR_A_FIELD    /* what field `field` of the structure that `param` points to points to */
};
struct hrr_att {
	uint32_t len; /* bytes behind this header, unpadded */
	uint8_t tag, param;
	uint16_t field;
};

/* Bytes inline, in the arena or in a payload file. */
struct hrr_bytes {
	uint64_t addr, size;
	uint64_t file; /* number + 1; 0: inline; HRR_NO_FILE: could not be read or kept;
			  else as hrr_arena_number has it */
};
#define HRR_NO_FILE UINT64_MAX
#define HRR_IN_ARENA ((uint64_t)1 << 63)

/* at: offset in the arena's data, a multiple of 64. */
static inline uint64_t hrr_arena_number(uint32_t slot, uint64_t at)
{
	return HRR_IN_ARENA | (uint64_t)slot << 40 | at / 64;
}
static inline bool hrr_in_arena(uint64_t file)
{
	return file != HRR_NO_FILE && (file & HRR_IN_ARENA) != 0;
}
static inline uint32_t hrr_arena_slot(uint64_t file)
{
	return (uint32_t)(file >> 40) & (HRR_ARENA_SLOTS - 1);
}
static inline uint64_t hrr_arena_offset(uint64_t file)
{
	return (file & (((uint64_t)1 << 40) - 1)) * 64;
}

struct hrr_att_kernel {
	uint64_t kernel; /* number given by a KERNEL record, or 0: not known */
	uint32_t grid[3], block[3];
	uint64_t lds;
	uint32_t size; /* kernarg bytes behind */
	uint32_t file; /* payload file + 1 when they did not fit */
};

struct hrr_rec_output {
	struct hrr_rec r;
	uint64_t call;				     /* seq that delivered */
	uint64_t node;				     /* seq that made the node; 0: none */
	uint64_t width, height, depth, pitch, slice; /* height 0: not a rectangle */
	struct hrr_bytes b;			     /* inline bytes behind */
};

struct hrr_rec_object {
	struct hrr_rec r;
	uint64_t object; /* from 1 */
	struct hrr_bytes b;
};

struct hrr_rec_arg {
	uint32_t offset, size, kind; /* enum hrr_arg_kind */
};
struct hrr_rec_kernel {
	struct hrr_rec r;	 /* ret -1: the layout of its arguments could not be read */
	uint64_t kernel, object; /* from 1; object 0: its bytes are not known */
	uint32_t n_args, name_len;
	/* n_args struct hrr_rec_arg, then the name */
};

struct hrr_rec_region {
	struct hrr_rec r; /* ret: device; flags: HRR_F_MORE; words: 1 add, 0 del */
	uint64_t base, size;
};

struct hrr_rec_device {
	uint64_t memory;
	char name[128], arch[128]; /* with a NUL */
};
struct hrr_rec_runtime {
	struct hrr_rec r; /* ret: major */
	int32_t version;  /* 0: not asked */
	uint32_t n_devices;
	uint32_t path; /* bytes of the library's name behind, padded with NUL; then the devices */
	uint32_t pad;
};

enum hrr_marker { /* words of a MARKER */
		  HRR_MARK,
		  HRR_MARK_PUSH,
		  HRR_MARK_POP,
		  HRR_MARK_START,
		  HRR_MARK_STOP,
		  HRR_MARK_PROFILER_START,
		  HRR_MARK_PROFILER_STOP
};
struct hrr_rec_marker {
	struct hrr_rec r;
	uint64_t id;  /* of START and STOP */
	uint32_t len; /* bytes of text behind */
	uint32_t pad;
};

enum hrr_mem { /* what an address is */
	       HRR_MEM_NONE,
	       HRR_MEM_DEVICE,
	       HRR_MEM_MANAGED,
	       HRR_MEM_PINNED,
	       HRR_MEM_REGISTERED,
	       HRR_MEM_ALIAS, /* device address of pinned or registered memory */
	       HRR_MEM_HSA,   /* device memory HIP never saw */
	       HRR_MEM_HSA_HOST
};
/* Memory that became known or unknown outside a recorded call's own arguments. */
struct hrr_rec_range {
	struct hrr_rec r; /* words: 1 add, 0 del */
	uint64_t base, size, kind;
};

_Static_assert(sizeof(struct hrr_rec) == 48, "record header");
_Static_assert(sizeof(struct hrr_arena) <= HRR_ARENA_HEADER, "arena header");

#endif
