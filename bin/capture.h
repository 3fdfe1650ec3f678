#ifndef HRR_BIN_CAPTURE_H
#define HRR_BIN_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/collect/collect.h"

/* Private to hrr-capture: its command line, and what its parts do for each other. All die on
 * trouble. */

#define CANNOT_RUN 126
#define NOT_FOUND 127
#define OWN_FAILURE 125

struct capture {
	const char *out; /* as given; NULL: by the command's name */
	const char *blobs, *device, *recover;
	bool stream; /* -o - */
	bool quiet, strict, audit;
	uint64_t window; /* ns; 0: all */
	struct hrr_collect_options opt;
	char **argv; /* the command */
};
extern struct capture capture;

/* capture_options.c */
void capture_options(int argc, char **argv);

/* capture_command.c: the command, held back until the archive stands. */
struct capture_command {
	pid_t pid;
	int go, failed; /* write end; read end that gives errno */
};
void capture_signals(void);
/* A file shared with the program that somebody cuts short is the end of recording, not of us. */
void capture_shared(void);
int capture_ended_by(void); /* the signal that came, or 0 */
struct capture_command capture_start(void);
/* The scratch folder is there: the command runs. The errno of execvp, or 0. */
int capture_go(struct capture_command *c, const char *scratch);

/* capture_behind.c: says which processes are left that may call HIP, unrecorded. */
void capture_behind(void);

/* capture_session.c: archive or stream, and the rounds of recording. */
struct session {
	struct hrr_archive *archive;
	struct hrr_blobs *blobs;
	struct hrr_collect *collect;
	char dir[3072]; /* archive, or the blobs' folder of a stream; absolute */
	char scratch[3200];
	bool own_blobs;	  /* we made the blobs' folder */
	bool reader_gone; /* of a stream */
};
void session_open(struct session *s, pid_t pid);
void session_reopen(struct session *s, const char *dir); /* of a killed hrr-capture */
/* Until the command and every recorded process have ended, or TERM came twice: its status. */
int session_run(struct session *s, pid_t pid);
/* Did the output fail because the stream's reader went away? */
void session_remove(const struct session *s); /* an archive that holds nothing */
void session_report(const struct session *s, const struct hrr_collect_summary *sum);
void session_report_unrecorded(const struct hrr_collect_summary *sum);
/* "3 calls" */
const char *session_count(uint64_t n, const char *what, char *buf, size_t size);

#endif
