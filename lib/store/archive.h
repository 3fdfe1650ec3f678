#ifndef HRR_STORE_ARCHIVE_H
#define HRR_STORE_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/store/blob.h"

/* Writing an archive folder. Layout and states: formats/events/README.md, "Archive". */
struct hrr_archive;

/* Makes DIR (0700; -EEXIST when it is there), DIR/blobs and DIR/manifest.json (state "running"). */
int hrr_archive_create(struct hrr_archive **ret, const char *dir, struct hrr_diag *diag);
/* An archive whose writer is gone, to be finished (hrr-capture --recover). -ENOENT: no archive. */
int hrr_archive_reopen(struct hrr_archive **ret, const char *dir, struct hrr_diag *diag);
struct hrr_blobs *hrr_archive_blobs(struct hrr_archive *a);
/* DIR/pid-PID or DIR/pid-PID.IMAGE with events.jsonl, made on first use; the returned fd (O_APPEND,
 * 0600) is the caller's. */
int hrr_archive_process(struct hrr_archive *a, uint32_t pid, uint32_t image, int *ret_fd,
			struct hrr_diag *diag);
/* Rewrites manifest.json (whole or not at all). state: "running", "complete", "cut". */
int hrr_archive_state(struct hrr_archive *a, const char *state, struct hrr_diag *diag);
void hrr_archive_close(struct hrr_archive *a);

/* Reading: what manifest.json says. -ENOENT without diag when there is none. */
struct hrr_archive_manifest {
	bool complete; /* every process's stream has its end */
	bool running;  /* says running, and its writer is alive in this boot */
	uint32_t writer;
	char boot[64];
};
int hrr_archive_manifest(const char *dir, struct hrr_archive_manifest *ret, struct hrr_diag *diag);
/* This boot's id (text, ended by NUL; "" when unknown). */
void hrr_boot_id(char *text, size_t size);

#endif
