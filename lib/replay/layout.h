#ifndef HRR_REPLAY_LAYOUT_H
#define HRR_REPLAY_LAYOUT_H

#include "lib/base/diag.h"
#include "lib/hip/bundle.h"
#include "lib/hip/codeobj.h"

/*
 * What arguments a kernel takes, by the metadata of its code object. A run time copies as many
 * bytes from each pointer of kernelParams, and from "extra", as that metadata says, whatever the
 * record holds: so each launch and each kernel node is held against this before it is issued.
 */
struct hrr_code { /* the code objects of one container, opened when a kernel is first asked for */
	struct hrr_bundle bundle;
	struct hrr_codeobj *objects; /* owned */
	size_t n;
	bool opened;
	char why[120]; /* one cannot be read: then no kernel of the container is known */
};

struct hrr_layout {
	bool read;
	uint32_t n;    /* explicit arguments */
	uint32_t most; /* bytes of the largest */
	struct {
		uint32_t offset, size; /* bytes in the kernarg segment */
	} * args;		       /* owned; NULL: not known */
	char why[120];		       /* it is not known */
};

/*
 * Looks the kernel up in all code objects of the container (data, size: borrowed until the code is
 * released), since the archive decides what is in each and the run time which one it takes. Not
 * known is an answer: none has it, one cannot be read, or they differ. -ENOMEM.
 */
int hrr_layout_read(struct hrr_layout *l, struct hrr_code *code, const void *data, size_t size,
		    const char *name);
void hrr_layout_release(struct hrr_layout *l);
void hrr_code_release(struct hrr_code *code);

#endif
