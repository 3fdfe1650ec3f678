#ifndef HRR_FORMATS_HRR_EXPORT_PRIVATE_H
#define HRR_FORMATS_HRR_EXPORT_PRIVATE_H

#include <limits.h>
#include <string.h>

#include "formats/hrr/export.h"
#include "formats/hrr/hash.h"
#include "formats/hrr/wire.h"
#include "formats/hrrr/hrrr.h"
#include "lib/base/json.h"
#include "lib/base/range.h"

#define EXPORT_VERSION 8
#define LOST_KINDS 256

/* A field whose value comes later in the stream: where it lies in the file. */
struct later {
	struct later *next;
	uint64_t seq;	  /* of our call */
	uint64_t offset;  /* of 16 bytes of hash */
	uint64_t records; /* written when it was made */
};

/* A registered fat binary: its bytes are known with the first kernel or symbol. */
struct fatbin {
	struct fatbin *next;
	uint64_t offset; /* of the hash, then the size */
	bool known;
};

struct stored {
	struct hrr_id id;
	struct hrr_fnv name;
	uint64_t size;
	bool code; /* among the code objects */
};

struct out_process {
	bool begun, ended, complete, dropped, foreign;
	uint32_t pid, image;
	int64_t parent;
	char dir[PATH_MAX];
	int fd;
	struct hrr_buf buf; /* not yet in the file */
	uint64_t written;   /* bytes in the file */
	uint64_t t0, t, t_end;
	uint64_t count;	    /* events */
	uint64_t snapshots; /* of pinned memory */
	int base, major;
	uint32_t modules;
	struct later *later[64];	    /* by seq */
	struct hrr_ranges *fatbins, *stubs; /* by handle; by address of a shadow (value: fatbin) */
	struct fatbin *all_fatbins;
	struct hrr_ranges *host; /* pinned allocations */
	struct hrr_rrr_list regions;
	struct hrr_buf runtime;	     /* the runtime record's line */
	struct hrr_buf not_recorded; /* "a", "b" */
	struct stored *stored;
	size_t n_stored, cap_stored, n_files;
	uint32_t *slots;
	size_t n_slots;
};

struct hrr_hrr8 {
	char dir[PATH_MAX]; /* temporary, beside where it goes; removed unless finished */
	char final[PATH_MAX];
	bool made;
	struct hrr_hrr8_options opt;
	struct out_process *p; /* owned; by index */
	size_t n;
	struct {
		char text[160];
		uint64_t n;
	} lost[LOST_KINDS];
	size_t n_lost;
	struct hrr_buf rec, tmp;
	/* during one record */
	struct hrr_blobs *(*blobs)(void *self, uint32_t p);
	void *self;
};

static inline void set_le(unsigned char *p, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		p[i] = (unsigned char)(v >> (8 * i));
}

/* One more of a kind of thing that format has no place for (told at the end): the text is the kind.
 */
void hrr_lost(struct hrr_hrr8 *x, const char *fmt, ...) HRR_PRINTF(2, 3);

/* export_process.c: one process's folder. */

/* The process of that index, made when it is new; pointers of before are void. -E2BIG. */
int hrr_out_process(struct hrr_hrr8 *x, uint32_t index, struct out_process **ret);
/* Makes its folder and events.bin with the file's header. p->fd stays -1, and that is told, where
 * there is a folder of that pid already. */
int hrr_out_begin(struct hrr_hrr8 *x, struct out_process *p, struct hrr_diag *diag);
/* One event: sets number, time and length in the record's header and appends it. 1: too long for
 * that format (told). */
int hrr_out_event(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		  unsigned type, unsigned char *data, size_t len, uint64_t *ret_offset,
		  struct hrr_diag *diag);
/* Overwrites bytes already written. */
int hrr_out_patch(struct out_process *p, uint64_t offset, const void *data, size_t n,
		  struct hrr_diag *diag);
/* Trailer when the stream was whole, the rest of events.bin, the sidecar of its regions. */
int hrr_out_finish(struct hrr_hrr8 *x, struct out_process *p, struct hrr_diag *diag);
void hrr_out_release(struct out_process *p);

/* export_call.c: records of calls. 0 also where a record is not held (told). */

int hrr_out_call(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		 struct hrr_diag *diag);
/* An output record: the hash goes into the record of the call that copied. */
int hrr_out_output(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		   struct hrr_diag *diag);

/* export_other.c: what is no call. 0 also where a record is not held (told). */

/* The first record of a process: begins it (hrr_out_begin). */
int hrr_out_header(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		   struct hrr_diag *diag);
int hrr_out_runtime(struct out_process *p, const struct hrr_record *rec);
/* Into p->regions; a region of a sidecar has no time but its own. */
int hrr_out_region(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		   bool from_sidecar, struct hrr_diag *diag);
/* A record that some reader did not understand, as it was. */
int hrr_out_raw(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		struct hrr_diag *diag);
int hrr_out_end(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec);

/* export_track.c: what later records refer to. */

/* A call's argument that is a number or an address; 0. */
uint64_t hrr_out_arg(const struct hrr_record *rec, const char *name);
/* After the call's record (data, at offset in the file) is out: fat binaries by what they
 * registered, pinned memory. */
int hrr_out_track(struct out_process *p, const struct hrr_record *rec, enum hrr_api api,
		  const struct hrr_layout *l, uint64_t offset, const unsigned char *data);
/* The bytes of a fat binary come to light with its first kernel or symbol: its record gets them.
 * kernel: which, or -1; nth: which of the call's launches. */
int hrr_out_reveal(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		   int kernel, unsigned nth, struct hrr_diag *diag);

/* export_blobs.c, export_args.c, export_bytes.c, export_launch.c, export_manifest.c. */

/* Stores a blob of the stream: its upstream name and size (UINT64_MAX: missing). */
int hrr_out_blob(struct hrr_hrr8 *x, struct out_process *p, uint32_t index, const struct hrr_id *id,
		 bool code, struct hrr_fnv *ret_name, uint64_t *ret_size, struct hrr_diag *diag);
/* The same from a string node; none when node is negative. */
int hrr_out_blob_node(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		      int node, bool code, struct hrr_fnv *ret_name, uint64_t *ret_size,
		      struct hrr_diag *diag);
/* Parameter i of a call whose record has no place for it: lost, when the call has it. */
void hrr_out_no_place(struct hrr_hrr8 *x, const struct hrr_record *rec,
		      const struct hrr_api_row *row, int i);
/* Fills the fixed part from args. */
int hrr_out_args(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		 enum hrr_api api, const struct hrr_layout *l, unsigned char *data,
		 struct hrr_diag *diag);
int hrr_out_struct(struct out_process *p, const struct hrr_json *j, int node,
		   const struct hrr_struct *st, unsigned char *data);
/* Appends a launch record (of the n-th kernel of a call) or node tail to x->rec. 1: cannot be held
 * (told). */
int hrr_out_launch(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		   int kernel, unsigned n, struct hrr_diag *diag);
int hrr_out_node(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		 struct hrr_diag *diag);
/* Reads a string of hex digits of at most max bytes into b (appended). */
int hrr_out_hex(const struct hrr_json *j, int node, size_t max, struct hrr_buf *b);
uint64_t hrr_out_word(const struct hrr_record *rec, const char *name); /* of foreign.words; 0 */
bool hrr_out_has_word(const struct hrr_record *rec, const char *name);
int hrr_out_manifests(struct hrr_hrr8 *x, struct hrr_diag *diag);
int hrr_out_bytes(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		  enum hrr_api api, const struct hrr_layout *l, unsigned char *data,
		  uint16_t *ret_later, struct hrr_diag *diag);

#endif
