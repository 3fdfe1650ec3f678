#ifndef HRR_FORMATS_TORCH_TORCH_H
#define HRR_FORMATS_TORCH_TORCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/diag.h"

/*
 * PyTorch's memory snapshot (torch.cuda.memory._dump_snapshot) as a sidecar of
 * regions. README.md has the rules.
 */
#define HRR_TORCH_MAX ((size_t)1 << 30) /* bytes of a file */
#define HRR_TORCH_MAX_FRAMES 16		/* in a tag */
#define HRR_TORCH_MAX_TAG 512		/* bytes */

struct hrr_torch_options {
	/* Of the stream's header (ns). realtime 0: no stream; the sidecar then has a realtime
	 * clock of its own. */
	uint64_t t0, realtime;
	uint64_t end;	 /* the stream's last t, or HRR_NO_TIME: not known */
	int64_t pid;	 /* of the header; -1: left out */
	unsigned frames; /* so many of the innermost frames become the tag; 0: none */
};

struct hrr_torch_stats {
	uint64_t segments, blocks; /* live when the snapshot was taken */
	uint64_t events;	   /* of the history that say something about memory */
	uint64_t devices;
	uint64_t adds, dels; /* lines written */
	uint64_t before; /* events before the stream: only what they left is written, without t */
	uint64_t after;	 /* events past opt->end */
	uint64_t backward, empty; /* events stamped before their predecessor; of size 0 */
	/* What does not fit together: frees of what was not live and allocs of what was; blocks
	 * and segments that the history leaves otherwise than the snapshot has them. */
	uint64_t unmatched, differ;
	uint64_t unknown; /* events of a kind that is not known: left out; one's name */
	char unknown_name[64];
	bool no_times;	    /* PyTorch before 2.1: history left out */
	bool clock_suspect; /* fewer than a tenth of the events fall inside the stream */
};

/*
 * Appends a whole sidecar (header line and regions) to b. data is the file. -EINVAL
 * with diag where the file is damaged or not a snapshot, -E2BIG, -ENOMEM, -ERANGE
 * (times that do not fit 2^53-1 ns from t0). b is as before on failure.
 */
int hrr_torch_import(struct hrr_buf *b, const void *data, size_t len,
		     const struct hrr_torch_options *opt, struct hrr_torch_stats *ret,
		     struct hrr_diag *diag);
/* Appends what a person should know of an import, a line each; nothing where all is well. */
int hrr_torch_warnings(const struct hrr_torch_stats *st, struct hrr_buf *b);

#endif
