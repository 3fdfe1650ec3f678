#include "lib/store/export.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/store/archive.h"
#include "lib/store/file.h"
#include "lib/stream/edit.h"

#define FLUSH_AT ((size_t)256 << 10)

struct process {
	bool header;
	uint32_t pid, image;
	struct hrr_buf text;
};

struct hrr_export {
	char *dir, *temporary; /* owned; temporary NULL: nothing to remove */
	struct hrr_archive *archive;
	struct hrr_buf processes; /* of struct process, by p */
	size_t n_processes;
	struct hrr_buf done; /* of struct hrr_id: a table as in the blob store */
	size_t n_done, slots;
	uint64_t bytes;
	struct hrr_record scratch;
	struct hrr_buf line;
};

static int no_memory(struct hrr_diag *diag)
{
	return hrr_diag_set(diag, -ENOMEM, "out of memory");
}

int hrr_export_new(struct hrr_export **ret, const char *dir, struct hrr_diag *diag)
{
	struct hrr_export *x = calloc(1, sizeof *x);
	char name[64], *parent = NULL;
	size_t len = strlen(dir);
	struct stat st;
	int rc = -ENOMEM;

	if (x == NULL)
		return no_memory(diag);
	while (len > 1 && dir[len - 1] == '/')
		len--;
	x->dir = strndup(dir, len);
	if (x->dir == NULL)
		goto fail;
	hrr_diag_at(diag, x->dir, 0);
	if (lstat(x->dir, &st) == 0) {
		rc = hrr_diag_set(diag, -EEXIST, "cannot make archive: it is there already");
		goto fail;
	}
	parent = hrr_path_dir(x->dir);
	do {
		hrr_file_temporary(name, sizeof name);
		free(x->temporary);
		x->temporary = parent != NULL ? hrr_path_join(parent, name) : NULL;
		if (x->temporary == NULL) {
			rc = -ENOMEM;
			goto fail;
		}
		rc = hrr_archive_create(&x->archive, x->temporary, diag);
	} while (rc == -EEXIST);
	if (rc < 0) {
		free(x->temporary);
		x->temporary = NULL;
		goto fail;
	}
	free(parent);
	*ret = x;
	return 0;
fail:
	if (rc == -ENOMEM)
		no_memory(diag);
	free(parent);
	hrr_export_free(x);
	return rc;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	(void)remove(path);
	return 0;
}

void hrr_export_free(struct hrr_export *x)
{
	if (x == NULL)
		return;
	struct process *p = (void *)x->processes.data;
	for (size_t i = 0; i < x->n_processes; i++)
		hrr_buf_release(&p[i].text);
	hrr_buf_release(&x->processes);
	hrr_buf_release(&x->done);
	hrr_buf_release(&x->line);
	hrr_record_release(&x->scratch);
	hrr_archive_close(x->archive);
	if (x->temporary != NULL)
		(void)nftw(x->temporary, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(x->temporary);
	free(x->dir);
	free(x);
}

static int process_get(struct hrr_export *x, uint32_t p, struct process **ret)
{
	static const struct process none;

	while (x->n_processes <= p) {
		if (hrr_buf_add(&x->processes, &none, sizeof none) < 0)
			return -ENOMEM;
		x->n_processes++;
	}
	*ret = &((struct process *)(void *)x->processes.data)[p];
	return 0;
}

static int flush(struct hrr_export *x, struct process *p, struct hrr_diag *diag)
{
	int fd, rc = hrr_archive_process(x->archive, p->pid, p->image, &fd, diag);

	if (rc < 0)
		return rc;
	rc = hrr_write_all(fd, p->text.data, p->text.len);
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	if (rc < 0) {
		hrr_diag_at(diag, x->dir, 0);
		return hrr_diag_set(diag, rc, "cannot write: %s", strerror(-rc));
	}
	p->text.len = 0;
	return 0;
}

static int begin(struct hrr_export *x, struct process *p, const struct hrr_record *rec,
		 struct hrr_diag *diag)
{
	const struct hrr_json *j = &rec->json;
	const struct process *all = (const void *)x->processes.data;
	uint64_t pid, image = 0;

	if (hrr_json_u64(j, hrr_json_get(j, 0, "pid"), &pid) < 0 || pid > INT32_MAX)
		return hrr_diag_set(diag, -EINVAL, "bad header: \"pid\" is not a process number");
	(void)hrr_json_u64(j, hrr_json_get(j, 0, "image"), &image);
	for (size_t i = 0; i < x->n_processes; i++)
		if (all[i].header && all[i].pid == pid && all[i].image == image)
			return hrr_diag_set(diag, -EINVAL,
					    "process %llu image %llu is there twice: choose one",
					    (unsigned long long)pid, (unsigned long long)image);
	p->pid = (uint32_t)pid;
	p->image = image > 999999999 ? 0 : (uint32_t)image;
	p->header = true;
	return 0;
}

static struct hrr_id *slot(struct hrr_id *table, size_t slots, const struct hrr_id *id)
{
	static const struct hrr_id none;
	size_t h;

	memcpy(&h, id->b, sizeof h);
	for (h &= slots - 1; !hrr_id_equal(&table[h], &none) && !hrr_id_equal(&table[h], id);)
		h = (h + 1) & (slots - 1);
	return &table[h];
}

/* 1 when id is new, 0 when it was there. */
static int note(struct hrr_export *x, const struct hrr_id *id)
{
	if (x->n_done * 2 >= x->slots) {
		struct hrr_buf grown = {0};
		size_t slots = x->slots ? x->slots * 2 : 1024;
		static const struct hrr_id none;
		if (hrr_buf_reserve(&grown, slots * sizeof *id) < 0)
			return -ENOMEM;
		memset(grown.data, 0, slots * sizeof *id);
		const struct hrr_id *old = (void *)x->done.data;
		for (size_t i = 0; i < x->slots; i++)
			if (!hrr_id_equal(&old[i], &none))
				*slot((void *)grown.data, slots, &old[i]) = old[i];
		hrr_buf_release(&x->done);
		x->done = grown;
		x->slots = slots;
	}
	struct hrr_id *at = slot((void *)x->done.data, x->slots, id);
	if (hrr_id_equal(at, id))
		return 0;
	*at = *id;
	x->n_done++;
	return 1;
}

static int take_blob(struct hrr_export *x, struct hrr_source *src, uint32_t p,
		     const struct hrr_id *id, struct hrr_diag *diag)
{
	struct hrr_blobs *from, *to = hrr_archive_blobs(x->archive);
	struct hrr_blob b;
	struct hrr_id got;
	char path[4096];
	int rc = note(x, id);

	if (rc <= 0)
		return rc < 0 ? no_memory(diag) : 0;
	from = hrr_source_blobs(src, p, diag);
	if (from == NULL)
		return -ENOENT;
	rc = hrr_blobs_get(from, id, 0, &b, diag); /* the hash is checked here */
	if (rc < 0)
		return rc;
	x->bytes += b.len;
	if (hrr_blobs_file(from, id, path, sizeof path) == 0 && hrr_blobs_link(to, path, id) == 0)
		rc = 0;
	else
		rc = hrr_blobs_put(to, b.data, b.len, &got, diag);
	hrr_blob_release(&b);
	return rc;
}

int hrr_export_record(struct hrr_export *x, struct hrr_source *src, const struct hrr_record *rec,
		      const char *line, size_t len, struct hrr_diag *diag)
{
	struct process *p;
	int rc;

	hrr_diag_at(diag, hrr_source_name(src, rec), rec->lineno);
	if (process_get(x, rec->p, &p) < 0)
		return no_memory(diag);
	if (rec->kind == HRR_REC_HEADER) {
		rc = begin(x, p, rec, diag);
		if (rc < 0)
			return rc;
	}
	if (!p->header)
		return hrr_diag_set(diag, -EINVAL,
				    "no header: an archive cannot be made of this stream");
	if (line != NULL) {
		rc = hrr_record_parse(&x->scratch, line, len, diag);
		if (rc < 0)
			return rc;
		rec = &x->scratch;
	}
	const struct hrr_json *j = &rec->json;
	for (uint32_t i = 0; i < j->n; i++) {
		struct hrr_id id;
		if (j->nodes[i].type != HRR_JSON_STRING || j->nodes[i].len != HRR_ID_TEXT ||
		    hrr_id_parse(j->text + j->nodes[i].off, j->nodes[i].len, &id) < 0)
			continue;
		rc = take_blob(x, src, rec->p, &id, diag);
		if (rc < 0)
			return rc;
	}
	const struct hrr_edit edits[] = {
	    {.key = "p", .value = NULL},
	    {.key = "blobs",
	     .value = "\"../blobs\"",
	     .len = sizeof "\"../blobs\"" - 1,
	     .missing = HRR_EDIT_LAST},
	};
	if (rec->kind == HRR_REC_HEADER)
		rc = hrr_record_edit(rec, edits, 2, &p->text);
	else if (rec->kind != HRR_REC_OTHER && hrr_json_get(j, 0, "p") >= 0)
		rc = hrr_record_edit(rec, edits, 1, &p->text);
	else
		rc = hrr_buf_add(&p->text, rec->line, rec->len);
	if (rc < 0 || hrr_buf_addc(&p->text, '\n') < 0)
		return no_memory(diag);
	return p->text.len >= FLUSH_AT ? flush(x, p, diag) : 0;
}

int hrr_export_finish(struct hrr_export *x, const char *state, struct hrr_diag *diag)
{
	struct process *p = (void *)x->processes.data;

	for (size_t i = 0; i < x->n_processes; i++) {
		if (p[i].header) {
			int rc = flush(x, &p[i], diag);
			if (rc < 0)
				return rc;
		}
	}
	int rc = hrr_archive_state(x->archive, state, diag);
	if (rc < 0)
		return rc;
	if (renameat2(AT_FDCWD, x->temporary, AT_FDCWD, x->dir, RENAME_NOREPLACE) < 0) {
		hrr_diag_at(diag, x->dir, 0);
		return hrr_diag_set(diag, -errno, "cannot make archive: %s",
				    errno == EEXIST ? "it is there already" : strerror(errno));
	}
	free(x->temporary);
	x->temporary = NULL;
	return 0;
}

void hrr_export_blobs(const struct hrr_export *x, uint64_t *ret_count, uint64_t *ret_bytes)
{
	*ret_count = x->n_done;
	*ret_bytes = x->bytes;
}
