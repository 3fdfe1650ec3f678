#ifndef HRR_STORE_VERIFY_PRIVATE_H
#define HRR_STORE_VERIFY_PRIVATE_H

#include "lib/store/verify.h"

enum { HRR_VERIFY_WHOLE, HRR_VERIFY_MISSING, HRR_VERIFY_DAMAGED };

/* The files of one blob folder of ours, and what is known of them. */
struct hrr_verify_folder;

/* Lists the folder; with opt->all reads every file, by as many threads as there are processors. */
int hrr_verify_folder_new(struct hrr_verify_folder **ret, struct hrr_blobs *store,
			  const struct hrr_verify_options *opt, struct hrr_diag *diag);
void hrr_verify_folder_free(struct hrr_verify_folder *f);
const char *hrr_verify_folder_path(const struct hrr_verify_folder *f);
/* Was the blob read? Then its state, and its size when it is whole. */
bool hrr_verify_folder_knows(const struct hrr_verify_folder *f, const struct hrr_id *id,
			     uint64_t *ret_state, uint64_t *ret_size);
/* Every file that has the name of a blob, in order of names; stops at what is not 0. */
int hrr_verify_folder_each(struct hrr_verify_folder *f,
			   int (*each)(void *self, const struct hrr_id *id), void *self);

#endif
