#include "lib/store/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/store/export_private.h"
#include "lib/store/file.h"
#include "lib/stream/edit.h"
#include "lib/stream/write.h"

#define FLUSH_AT ((size_t)256 << 10)

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

int hrr_export_set(struct hrr_export *x, const struct hrr_export_options *opt,
		   struct hrr_diag *diag)
{
	x->opt = *opt;
	if (opt->redact && getrandom(x->key, sizeof x->key, 0) != sizeof x->key)
		return hrr_diag_set(diag, -EIO, "no random bytes: %s", strerror(errno));
	return 0;
}

void hrr_export_repaired(struct hrr_export *x, const char *what, const struct hrr_diag *diag)
{
	x->repairs++;
	if (x->opt.report != NULL)
		x->opt.report(x->opt.self, what, diag);
}

uint64_t hrr_export_repairs(const struct hrr_export *x)
{
	return x->repairs;
}

void hrr_export_free(struct hrr_export *x)
{
	if (x == NULL)
		return;
	struct export_process *p = (void *)x->processes.data;
	for (size_t i = 0; i < x->n_processes; i++)
		hrr_buf_release(&p[i].text);
	hrr_buf_release(&x->processes);
	for (int i = 0; i < EXPORT_WAYS; i++)
		hrr_idmap_release(&x->done[i]);
	hrr_buf_release(&x->new_ids);
	hrr_buf_release(&x->line);
	hrr_buf_release(&x->changed);
	hrr_record_release(&x->scratch);
	hrr_archive_close(x->archive);
	if (x->temporary != NULL)
		hrr_folder_remove(x->temporary);
	free(x->temporary);
	free(x->dir);
	free(x);
}

static int process_get(struct hrr_export *x, uint32_t p, struct export_process **ret)
{
	static const struct export_process none;

	while (x->n_processes <= p) {
		if (hrr_buf_add(&x->processes, &none, sizeof none) < 0)
			return -ENOMEM;
		x->n_processes++;
	}
	*ret = &((struct export_process *)(void *)x->processes.data)[p];
	return 0;
}

static int flush(struct hrr_export *x, struct export_process *p, struct hrr_diag *diag)
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

static int begin(struct hrr_export *x, struct export_process *p, const struct hrr_record *rec,
		 struct hrr_diag *diag)
{
	const struct hrr_json *j = &rec->json;
	const struct export_process *all = (const void *)x->processes.data;
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

static void count(struct export_process *p, const struct hrr_record *rec)
{
	p->calls += rec->kind == HRR_REC_CALL;
	p->outputs += rec->kind == HRR_REC_OUTPUT;
	p->regions += rec->kind == HRR_REC_REGION;
	p->end = p->end || rec->kind == HRR_REC_END;
	if (rec->t != HRR_NO_TIME && rec->t > p->t)
		p->t = rec->t;
}

int hrr_export_record(struct hrr_export *x, struct hrr_source *src, const struct hrr_record *rec,
		      const char *line, size_t len, struct hrr_diag *diag)
{
	struct export_process *p;
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
	rc = hrr_export_take_blobs(x, src, rec, diag);
	if (rc < 0)
		return rc;
	if (x->line.len > 0) {
		/* The parsed text has to stay while scratch is used; line is for the next record.
		 */
		struct hrr_buf swap = x->changed;
		x->changed = x->line;
		x->line = swap;
		rc = hrr_record_parse(&x->scratch, x->changed.data, x->changed.len, diag);
		if (rc < 0)
			return rc;
		rec = &x->scratch;
	}
	const struct hrr_json *j = &rec->json;
	count(p, rec);
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
	struct export_process *p = (void *)x->processes.data;

	for (size_t i = 0; i < x->n_processes; i++) {
		if (p[i].header) {
			if (x->opt.repair && !p[i].end) {
				const struct hrr_write_end end = {.p = -1,
								  .how = "cut",
								  .t = p[i].t,
								  .calls = p[i].calls,
								  .outputs = p[i].outputs,
								  .regions = p[i].regions};
				if (hrr_write_end(&p[i].text, &end) < 0)
					return no_memory(diag);
				hrr_diag_at(diag, x->dir, 0);
				hrr_diag_set(diag, 0, "process %u had no end", p[i].pid);
				hrr_export_repaired(x, "an end record was added", diag);
			}
			int rc = flush(x, &p[i], diag);
			if (rc < 0)
				return rc;
		}
	}
	int rc = hrr_archive_state(x->archive, state, diag);
	if (rc < 0)
		return rc;
	rc = hrr_folder_end(x->temporary, x->dir, diag);
	if (rc < 0)
		return rc;
	free(x->temporary);
	x->temporary = NULL;
	return 0;
}

void hrr_export_blobs(const struct hrr_export *x, uint64_t *ret_count, uint64_t *ret_bytes)
{
	*ret_count = 0;
	for (int i = 0; i < EXPORT_WAYS; i++)
		*ret_count += x->done[i].n;
	*ret_bytes = x->bytes;
}
