#ifndef HRR_FORMATS_HRR_MANIFEST_H
#define HRR_FORMATS_HRR_MANIFEST_H

#include <stdbool.h>

#include "lib/base/buf.h"
#include "lib/base/diag.h"

/* manifest.json of one process: a summary, never trusted over the events themselves. */
#define HRR_UP_MAX_MANIFEST ((size_t)4 << 20) /* bytes; upstream caps its metadata at 128 KiB */
#define HRR_UP_MAX_DEVICES 64
#define HRR_UP_MAX_UNREPLAYABLE 4096

struct hrr_up_device {
	char name[128], arch[128]; /* as they came: mask before printing */
	uint64_t memory;
};

struct hrr_up_manifest {
	bool there;
	int64_t pid, parent_pid, event_count, blob_count; /* -1: not said */
	int complete;					  /* -1: not said */
	int major, minor, patch;			  /* of HIP; -1: not said */
	size_t n_devices;
	struct hrr_up_device *devices; /* owned */
	size_t n_unreplayable;
	char **unreplayable; /* owned, each too */
};

/*
 * dir: the process's folder. A missing file is no error (there is false). -EINVAL
 * when it is none of JSON, -EFBIG, -EIO, -ENOMEM; *m is empty then.
 */
int hrr_up_manifest_read(struct hrr_up_manifest *m, const char *dir, struct hrr_diag *diag);
void hrr_up_manifest_release(struct hrr_up_manifest *m);

#endif
