#ifndef HRR_STORE_BLOB_H
#define HRR_STORE_BLOB_H

#include "lib/base/buf.h"
#include "lib/base/diag.h"
#include "lib/base/id.h"

/* A blob directory: DIR/ab/abcdef…. Format: formats/blobs/README.md. Thread-safe for put and get.
 */
struct hrr_blobs;

#define HRR_BLOB_MAX ((uint64_t)1 << 40)

/* Opens DIR (create: makes it, 0700), or the blobs of the archive that DIR is. -ENOENT, -ENOTDIR, …
 * with diag. Links in the last component are not followed below DIR. */
int hrr_blobs_open(struct hrr_blobs **ret, const char *dir, bool create, struct hrr_diag *diag);
/* The absolute path of a folder of blobs, or of those of the archive that dir is: owned by the
 * caller. NULL with errno. */
char *hrr_blobs_folder(const char *dir);
void hrr_blobs_close(struct hrr_blobs *s);
const char *hrr_blobs_path(const struct hrr_blobs *s); /* absolute */
/* Stores bytes under their id; the name exists already: size and bytes are compared, -EEXIST on a
 * collision. */
int hrr_blobs_put(struct hrr_blobs *s, const void *data, size_t len, struct hrr_id *ret_id,
		  struct hrr_diag *diag);
/* The same where the caller has hashed the bytes already. */
int hrr_blobs_put_as(struct hrr_blobs *s, const void *data, size_t len, const struct hrr_id *id,
		     struct hrr_diag *diag);
/*
 * Takes over an existing file (path) whose bytes hash to *id, by link, else by
 * copy; the file at path stays. For payload files written elsewhere on the same file system.
 */
int hrr_blobs_put_file(struct hrr_blobs *s, const char *path, struct hrr_id *ret_id,
		       struct hrr_diag *diag);

/* Links a file whose hash was checked under its id; the name being there already is success.
 * Negative errno where it cannot be linked (another file system). */
int hrr_blobs_link(struct hrr_blobs *s, const char *path, const struct hrr_id *id);

struct hrr_blob {
	const void *data; /* len bytes, those that were hashed whatever becomes of the file */
	size_t len;
	void *owned;
};
/*
 * Reads a blob and checks its hash. -ENOENT missing ("blob xxh128:… is missing"),
 * -EBADMSG damaged, -EFBIG over max. max 0: the
 * machine's memory, HRR_BLOB_MAX at most.
 */
int hrr_blobs_get(struct hrr_blobs *s, const struct hrr_id *id, uint64_t max, struct hrr_blob *ret,
		  struct hrr_diag *diag);
void hrr_blob_release(struct hrr_blob *b);
/*
 * Checks a blob's hash and gives its size, without taking memory for it. As hrr_blobs_get.
 * tell (may be NULL) is told how many bytes were read so far.
 */
typedef void hrr_blobs_tell(void *self, uint64_t bytes);
int hrr_blobs_check(struct hrr_blobs *s, const struct hrr_id *id, uint64_t *ret_size,
		    hrr_blobs_tell *tell, void *self, struct hrr_diag *diag);
/* Size of a blob file, not read. -ENOENT. */
int hrr_blobs_size(struct hrr_blobs *s, const struct hrr_id *id, uint64_t *ret_size);
/* Path of a blob's file inside the store into path (size bytes). */
int hrr_blobs_file(const struct hrr_blobs *s, const struct hrr_id *id, char *path, size_t size);

/*
 * A store in another format, to read from: get, size and file as above (self is
 * passed on; get checks the bytes, its blobs are released by hrr_blob_release). Nothing is put
 * there
 * (-EROFS). Not thread-safe unless the provider is.
 */
struct hrr_blob_provider {
	int (*get)(void *self, const struct hrr_id *id, uint64_t max, struct hrr_blob *ret,
		   struct hrr_diag *diag);
	int (*size)(void *self, const struct hrr_id *id, uint64_t *ret_size);
	int (*file)(void *self, const struct hrr_id *id, char *path, size_t size);
	int (*check)(void *self, const struct hrr_id *id, uint64_t *ret_size,
		     struct hrr_diag *diag);
	/* Tells found every file that was not met under any id: its name in that format. */
	int (*orphans)(void *self, int (*found)(void *to, const char *name), void *to,
		       struct hrr_diag *diag);
	void (*close)(void *self);
};
/* Is it a store in another format? */
bool hrr_blobs_is_foreign(const struct hrr_blobs *s);
/* Of a store in another format: hrr_blob_provider's orphans. Ours: -ENOSYS. */
int hrr_blobs_orphans(struct hrr_blobs *s, int (*found)(void *to, const char *name), void *to,
		      struct hrr_diag *diag);
/* path: absolute, for hrr_blobs_path; copied. provider borrowed, self taken. */
int hrr_blobs_provide(struct hrr_blobs **ret, const char *path,
		      const struct hrr_blob_provider *provider, void *self);
/*
 * What hrr_blobs_open asks before it takes dir for one of ours: 1 and a store, 0 not
 * mine, negative. One per program, set before anything is opened.
 */
void hrr_blobs_set_opener(int (*opener)(struct hrr_blobs **ret, const char *dir,
					struct hrr_diag *diag));

#endif
