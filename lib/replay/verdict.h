#ifndef HRR_REPLAY_VERDICT_H
#define HRR_REPLAY_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/type.h"
#include "lib/base/buf.h"
#include "lib/base/diag.h"
#include "lib/hip/checker.h"
#include "lib/store/source.h"

/* What became of an output or a call. Never folded together. */
enum hrr_outcome_kind {
	HRR_EXACT,     /* an output, byte for byte */
	HRR_TOLERATED, /* an output, within the rule given for it */
	HRR_DIFFERS,
	HRR_UNCHECKED, /* an output that could not be compared, and why */
	HRR_REFUSED,   /* a call that cannot be replayed, by name */
	HRR_FAILED,    /* a call that went otherwise than recorded */
	HRR_WARNED,    /* something worth saying that does not count */
	HRR_MEMORY,    /* a place in a kernel whose accesses are wrong (--memcheck) */
	HRR_OUTCOMES
};

struct hrr_outcome {
	enum hrr_outcome_kind kind;
	const char *operand; /* set by the program, not by the engine */
	uint64_t line;	     /* of the record */
	uint64_t seq;	     /* of the call, or of the delivering call */
	int64_t node;	     /* call that made the graph's node, or -1 */
	const char *api;     /* call, or delivering call where known; NULL */
	const char *text;    /* "what: why" for messages; NULL for exact ones */
	uint64_t addr, size; /* outputs */
	/* differing and tolerated outputs */
	uint64_t offset;			  /* of the first differing byte, packed */
	uint64_t bytes, ranges;			  /* how many differ, in how many ranges */
	unsigned char recorded[16], replayed[16]; /* around offset, aligned down to 16 */
	uint32_t shown;		 /* how many bytes of the two above hold something */
	double max_abs, max_rel; /* where a type was given */
	uint64_t max_ulp;
	uint64_t writer;	   /* seq of the last launch that could have written there; 0 */
	const char *writer_kernel; /* its kernel, or NULL */
	bool approximate;    /* differs, but no further than approximate instructions may cause */
	const char *members; /* HRR_MEMORY: the access as members of a JSON object, or NULL */
};

const char *hrr_outcome_name(enum hrr_outcome_kind kind); /* "exact", "tolerated", … */
/* One JSON line. p: process index, or -1. */
int hrr_outcome_json(struct hrr_buf *b, const struct hrr_outcome *o, int64_t p);

struct hrr_verdict {
	uint64_t outcome[HRR_OUTCOMES];
	uint64_t outputs;      /* output records met */
	uint64_t calls;	       /* call records met */
	uint64_t issued;       /* of these, issued again with success, or failing as recorded */
	uint64_t no_effect;    /* not issued: nothing here depends on it */
	uint64_t left_out;     /* not issued: never returned, timing, out of memory */
	uint64_t not_reissued; /* recorded failures whose operands could not be had */
	uint64_t launches;
	uint64_t regions, streams; /* region records, from how many sources */
	uint64_t backed;	   /* segments backed */
	uint64_t words; /* of arguments, that nothing but a segment says to be addresses */
	uint64_t stray; /* accesses in a segment outside every live block */
	uint64_t unmatched_del;
	uint64_t placed, not_placed; /* device memory at its recorded address, or elsewhere */
	uint64_t not_placed_first;   /* recorded address of the first that is elsewhere */
	uint64_t not_recorded;	     /* calls the program made that the recorder did not take */
	uint64_t lost;
	uint64_t host_charged;	    /* bytes of host pages charged */
	uint64_t hashed, hashes;    /* --hash-launches: launches and output lines written */
	uint32_t replaced;	    /* --replace-kernel: bit i, the i-th was launched */
	uint64_t approximate;	    /* CPU run time: kinds of approximate instructions used */
	uint64_t emu_refused;	    /* CPU run time: launches it could not execute */
	bool emu;		    /* the CPU run time tells how exact it was */
	struct hrr_emu_stats stats; /* as it told */
	bool stopped;		    /* ended early: a failure, a signal, --stop-at … */
	bool asked;		    /* … because an option asked for it */
	bool trouble;		    /* replay could not be done */
	bool abandoned;		    /* the device could not be waited for */
	bool cut, filtered;	    /* the stream was cut short, or filtered */
};

/*
 * How true the launches of one call were that the CPU run time has executed since the call
 * before: only the counts that changed. line, seq, api: of the call.
 */
struct hrr_launch_fidelity {
	uint64_t line, seq, launches, refused;
	const char *api, *kernel; /* kernel: of a single launch, or NULL */
	uint32_t n;
	struct hrr_emu_approx used[HRR_EMU_MAX_APPROX];
};
/* One JSON line {"launch":…}. p: process index, or -1. */
int hrr_fidelity_json(struct hrr_buf *b, const struct hrr_launch_fidelity *f, int64_t p);

/* 0 matched or no difference found, 1 the answer is no, 2 trouble. */
int hrr_verdict_exit(const struct hrr_verdict *v, bool require_complete);
/* "exact", "approximate" or "refused": how true the CPU run time was. */
const char *hrr_fidelity(const struct hrr_verdict *v);
/* The summary: several lines ended by LF. */
int hrr_verdict_text(struct hrr_buf *b, const struct hrr_verdict *v, bool require_complete);
/* The same as one JSON line {"verdict":…}. */
int hrr_verdict_json(struct hrr_buf *b, const struct hrr_verdict *v, bool require_complete,
		     int64_t p);

/* --- tolerance ---------------------------------------------------------- */

/*
 * A rule: where it applies (empty: everywhere), the type of the elements and how
 * far they may be apart: |a-b| <= atol + rtol*|recorded|, or ulp units in the last place. NaN
 * matches NaN when nan is set, else only bit for bit; infinities match only themselves.
 */
struct hrr_rule {
	char api[64];	     /* shell pattern on the delivering call's name */
	char kernel[256];    /* shell pattern on the last writer's name */
	uint64_t base, size; /* recorded addresses; size 0: any */
	enum hrr_type type;
	double atol, rtol;
	uint64_t ulp;
	bool nan;
};

#define HRR_MAX_RULES 256
struct hrr_rules {
	struct hrr_rule *rules; /* owned; the first that fits is taken */
	size_t n;
};
/*
 * Adds a rule from text: "[api=GLOB] [kernel=GLOB] [addr=0xBASE:SIZE] type=f32 [atol=X] [rtol=X]
 * [ulp=N] [nan=equal]". -EINVAL with diag.
 */
int hrr_rules_add(struct hrr_rules *t, const char *text, struct hrr_diag *diag);
/* Rules from a file, one a line, # comments. */
int hrr_rules_load(struct hrr_rules *t, const char *path, struct hrr_diag *diag);
void hrr_rules_release(struct hrr_rules *t);

#endif
