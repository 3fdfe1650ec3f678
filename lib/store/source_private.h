#ifndef HRR_STORE_SOURCE_PRIVATE_H
#define HRR_STORE_SOURCE_PRIVATE_H

#include "lib/store/sidecar.h"
#include "lib/store/source.h"
#include "lib/stream/shape.h"

/* A process as its records tell; indexed by p. */
struct process {
	bool met, header, end, filtered, cut, dropped; /* dropped: --pid names another */
	uint64_t t0, realtime;
	uint64_t calls, outputs, end_calls, end_outputs;
	uint64_t not_recorded, lost;
	uint64_t stamped, inside; /* sidecar regions with a time; those within the stream */
	char *blobs;		  /* owned: absolute folder, or NULL */
	struct hrr_blobs *store;  /* borrowed from the source's list */
};

/*
 * One stream of lines. head is the record that comes next; pending says there is
 * one. t is the largest time met so far. Regions of sidecars come before the
 * first record whose time is theirs or later, and before the end record.
 */
struct feed {
	struct hrr_reader *reader; /* or foreign */
	uint32_t pid, image;	   /* of an archive's process, by its folder */
	const struct hrr_source_format *format;
	void *foreign;
	char *name;	   /* owned: for messages */
	char *folder;	   /* owned: what a relative blobs path starts from; NULL: nothing */
	char *sidecars_in; /* owned: folder of sidecars, NULL: none */
	int64_t p;	   /* forced index, -1: as the records say */
	bool insert;	   /* put p into the lines */
	struct hrr_record head, region;
	struct hrr_buf line, region_line; /* with p put in */
	bool pending, eof, begun, first_out, cut;
	uint64_t t, t_first;
	struct hrr_sidecars side; /* regions of process side_p */
	uint32_t side_p;
	bool side_insert;
	size_t side_next;
};

struct hrr_source {
	struct hrr_source_options opt;
	char *blobs; /* owned: -b, absolute */
	struct feed *feeds;
	size_t n_feeds;
	struct hrr_buf processes; /* of struct process */
	size_t n_processes;
	struct hrr_buf stores;	 /* of struct hrr_blobs *: each folder opened once */
	struct feed *last;	 /* whose record was returned */
	bool last_region;	 /* and it came out of a sidecar */
	bool running, last_look; /* last_look: follow found it ended; what came meanwhile is read */
	bool grows;	/* more processes may come; none is waited for while another has records */
	unsigned given; /* records since they were looked for */
	struct hrr_shapes *shapes; /* owned */
	bool heads_only, looked_at;
	bool sidecar;		    /* the one file is a sidecar */
	char *archive;		    /* owned: folder with the manifest, or NULL */
	const struct feed *reading; /* while a line is read */
	uint64_t calls, outputs, regions, sidecars;
};

/* source_follow.c: makes the feeds wait at their ends. */
void hrr_source_follow(struct hrr_source *s);
/* Of an archive that grows: 1 when its feeds are to be asked again, 0 when nothing more comes. */
int hrr_source_wait(struct hrr_source *s, bool idle, struct hrr_diag *diag);
/* Adds feeds for processes that have come since; how many. */
int hrr_source_find_new(struct hrr_source *s, struct hrr_diag *diag);

/* Fills feeds from an operand. */
int hrr_source_find(struct hrr_source *s, const char *operand, struct hrr_diag *diag);
void hrr_source_feed_release(struct feed *f);
/* Reads the next record of a feed into its head; eof is set at its end. */
int hrr_source_fetch(struct hrr_source *s, struct feed *f, struct hrr_diag *diag);
/* Puts ,"p":N behind the first member of rec's line and reads it anew. */
int hrr_source_insert_p(struct hrr_record *rec, struct hrr_buf *b, uint32_t p,
			struct hrr_diag *diag);

/* Process p, or NULL where it was not met. */
struct process *hrr_source_process(const struct hrr_source *s, uint32_t p);
/* Makes room up to p. -ENOMEM. */
int hrr_source_process_get(struct hrr_source *s, uint32_t p, struct process **ret);
/* What the feed's head, a header, and an end record say of their process. */
int hrr_source_note_header(struct hrr_source *s, struct feed *f, struct process *p,
			   struct hrr_diag *diag);
void hrr_source_note_end(const struct hrr_record *rec, struct process *p);
int hrr_source_no_memory(struct hrr_diag *diag);

#endif
