#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/store/file.h"
#include "lib/store/source_private.h"

int hrr_source_no_memory(struct hrr_diag *diag)
{
	return hrr_diag_set(diag, -ENOMEM, "out of memory");
}

struct process *hrr_source_process(const struct hrr_source *s, uint32_t p)
{
	return p < s->n_processes ? &((struct process *)(void *)s->processes.data)[p] : NULL;
}

int hrr_source_process_get(struct hrr_source *s, uint32_t p, struct process **ret)
{
	static const struct process none;

	while (s->n_processes <= p) {
		if (hrr_buf_add(&s->processes, &none, sizeof none) < 0)
			return -ENOMEM;
		s->n_processes++;
	}
	*ret = hrr_source_process(s, p);
	return 0;
}

int hrr_source_note_header(struct hrr_source *s, struct feed *f, struct process *p,
			   struct hrr_diag *diag)
{
	const struct hrr_json *j = &f->head.json;
	struct hrr_buf blobs = {0};
	uint64_t pid;
	int rc = 0;

	if (p->header)
		return hrr_diag_set(diag, -EINVAL, "bad stream: a second header for process %u",
				    f->head.p);
	p->header = true;
	p->t0 = hrr_json_decimal(j, "t0");
	p->realtime = hrr_json_decimal(j, "realtime");
	/* Folders were chosen by name; a stream is chosen by what its headers say. */
	if (s->opt.pid >= 0 && f->p < 0 && hrr_json_u64(j, hrr_json_get(j, 0, "pid"), &pid) == 0)
		p->dropped = pid != (uint64_t)s->opt.pid;
	if (hrr_json_str(j, hrr_json_get(j, 0, "blobs"), &blobs) == 0 && blobs.len > 0 &&
	    hrr_buf_str(&blobs) != NULL && memchr(blobs.data, '\0', blobs.len) == NULL) {
		if (blobs.data[0] == '/')
			p->blobs = strdup(blobs.data);
		else if (f->folder != NULL)
			p->blobs = hrr_path_join(f->folder, blobs.data);
		if (p->blobs == NULL && (blobs.data[0] == '/' || f->folder != NULL))
			blobs.failed = true;
		char *real = p->blobs != NULL ? realpath(p->blobs, NULL) : NULL;
		int err = p->blobs != NULL && real == NULL ? errno : 0;
		if (real != NULL) {
			free(p->blobs);
			p->blobs = real;
		}
		/* One that is not there is no trouble until a blob is wanted. */
		if (err == EIO || err == ENOMEM || err == EMFILE || err == ENFILE)
			rc = hrr_diag_set(diag, -err, "cannot open blob folder: %s", strerror(err));
	}
	if (blobs.failed)
		rc = hrr_diag_set(diag, -ENOMEM, "out of memory");
	hrr_buf_release(&blobs);
	return rc;
}

void hrr_source_note_end(const struct hrr_record *rec, struct process *p)
{
	const struct hrr_json *j = &rec->json;
	int how = hrr_json_get(j, 0, "end"), not_recorded = hrr_json_get(j, 0, "notRecorded");
	uint64_t v;

	p->end = true;
	p->filtered = hrr_json_is(j, how, "filtered");
	p->cut = hrr_json_is(j, how, "cut");
	if (hrr_json_u64(j, hrr_json_get(j, 0, "calls"), &v) == 0)
		p->end_calls = v;
	if (hrr_json_u64(j, hrr_json_get(j, 0, "outputs"), &v) == 0)
		p->end_outputs = v;
	if (hrr_json_u64(j, hrr_json_get(j, 0, "lost"), &v) == 0)
		p->lost = v;
	if (not_recorded < 0 || j->nodes[not_recorded].type != HRR_JSON_OBJECT)
		return;
	for (int i = hrr_json_first(j, not_recorded); i >= 0; i = hrr_json_next(j, not_recorded, i))
		if (hrr_json_u64(j, i + 1, &v) == 0)
			p->not_recorded += v;
}
