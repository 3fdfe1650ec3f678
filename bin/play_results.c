#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bin/play.h"
#include "bin/tool.h"
#include "lib/store/file.h"
#include "lib/stream/edit.h"

/* What hrr-play writes: results (-r) and the stream of hashes (--hash-launches). */

static _Noreturn void results_failed(int err)
{
	const char *path = play.results_path != NULL ? play.results_path : "results";

	tool_die(path, 0, "cannot write: %s", strerror(err));
}

/* A write for each line: replays of several processes put theirs into one file. */
void play_put_result(void)
{
	if (play.results_fd < 0)
		return;
	int rc = hrr_write_all(play.results_fd, play.text.data, play.text.len);
	if (rc < 0)
		results_failed(-rc);
}

void play_close_results(void)
{
	if (play.results_fd >= 0 && close(play.results_fd) < 0)
		results_failed(errno);
	play.results_fd = -1;
}

void play_on_fidelity(void *self, const struct hrr_launch_fidelity *f)
{
	(void)self;
	play.text.len = 0;
	if (hrr_fidelity_json(&play.text, f, play_index()) < 0)
		tool_no_memory();
	play_put_result();
}

void play_open_outputs(void)
{
	if (play.hashes_path != NULL) {
		play.opt.hashes = fopen(play.hashes_path, "we");
		if (play.opt.hashes == NULL)
			tool_die(play.hashes_path, 0, "%s", strerror(errno));
		struct hrr_diag diag = {0};
		char dir[4096];
		int n = snprintf(dir, sizeof dir, "%s.blobs", play.hashes_path);
		if (n < 0 || (size_t)n >= sizeof dir)
			tool_die(play.hashes_path, 0, "too long");
		if (hrr_blobs_open(&play.opt.hash_blobs, dir, true, &diag) < 0)
			tool_die(dir, 0, "%s", diag.what);
	}
	if (play.results_fd < 0 && play.results_path != NULL &&
	    strcmp(play.results_path, "-") == 0) {
		play.results_fd = dup(1);
		if (play.results_fd < 0)
			tool_die(NULL, 0, "standard output: %s", strerror(errno));
	}
	if (play.results_fd < 0 && play.results_path != NULL) {
		play.results_fd =
		    open(play.results_path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);
		if (play.results_fd < 0)
			tool_die(play.results_path, 0, "%s", strerror(errno));
	}
}

/* The stream of hashes has the recorded header, but blobs of its own. */
void play_hash_header(const struct hrr_record *rec)
{
	const char *path = hrr_blobs_path(play.opt.hash_blobs);
	struct hrr_buf value = {0}, line = {0};

	if (hrr_json_put_str(&value, path, strlen(path)) < 0)
		tool_no_memory();
	const struct hrr_edit e = {"blobs", value.data, value.len, HRR_EDIT_LAST};
	if (hrr_record_edit(rec, &e, 1, &line) < 0 || hrr_buf_addc(&line, '\n') < 0)
		tool_no_memory();
	fwrite(line.data, 1, line.len, play.opt.hashes);
	hrr_buf_release(&value);
	hrr_buf_release(&line);
}

void play_close_hashes(const struct hrr_verdict *v)
{
	FILE *f = play.opt.hashes;

	if (f != NULL) {
		fprintf(f,
			"{\"end\":\"filtered\",\"t\":0,\"calls\":%llu,\"outputs\":%llu,"
			"\"regions\":0,\"lost\":0,\"notRecorded\":{}}\n",
			(unsigned long long)v->hashed, (unsigned long long)v->hashes);
		/* An error of an earlier write is remembered, its number is not. */
		int err = fflush(f) != 0 ? errno : ferror(f) ? EIO : 0;
		if (fclose(f) != 0 && err == 0)
			err = errno;
		if (err != 0)
			tool_die(play.hashes_path, 0, "cannot write: %s", strerror(err));
	}
	if (play.opt.hash_blobs != NULL)
		hrr_blobs_close(play.opt.hash_blobs);
}
