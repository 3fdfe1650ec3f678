#include "lib/region/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/store/file.h"

static void read_header(struct hrr_sidecar_place *p, const struct hrr_record *rec)
{
	const struct hrr_json *j = &rec->json;
	char text[24] = "";
	size_t len;
	const char *v = hrr_json_raw(j, hrr_json_get(j, 0, "realtime"), &len);

	if (v != NULL && len < sizeof text)
		memcpy(text, v, len);
	p->realtime = strtoull(text, NULL, 10);
	(void)hrr_json_u64(j, hrr_json_get(j, 0, "pid"), &p->pid);
}

int hrr_sidecar_place(struct hrr_sidecar_place *ret, const char *operand,
		      const struct hrr_source_options *opt, struct hrr_diag *diag)
{
	struct hrr_source_options own = *opt;
	struct hrr_sidecar_place p = {0};
	struct hrr_source *src;
	struct hrr_record *rec;

	own.no_sidecars = true;
	int rc = hrr_source_open(&src, operand, &own, diag);
	if (rc < 0)
		return rc;
	if (hrr_source_files(src) > 1) {
		hrr_diag_at(diag, operand, 0);
		rc = hrr_diag_set(diag, -EINVAL, "several processes in it: choose one with --pid");
	}
	while (rc == 0 && (rc = hrr_source_next(src, &rec, diag)) > 0) {
		rc = 0;
		if (rec->kind == HRR_REC_HEADER)
			read_header(&p, rec);
		if (rec->kind == HRR_REC_HEADER)
			p.t0 = hrr_source_t0(src, rec->p);
		if (rec->t != HRR_NO_TIME && rec->t > p.end)
			p.end = rec->t;
	}
	const char *folder = hrr_source_sidecar_folder(src);
	if (rc == 0 && p.realtime == 0) {
		hrr_diag_at(diag, operand, 0);
		rc = hrr_diag_set(diag, -EINVAL, "no header with a clock in it");
	}
	if (rc == 0 && folder != NULL && (p.folder = strdup(folder)) == NULL)
		rc = hrr_diag_set(diag, -ENOMEM, "out of memory");
	hrr_source_close(src);
	if (rc == 0)
		*ret = p;
	return rc;
}

int hrr_sidecar_put(const struct hrr_sidecar_place *p, const char *name, const struct hrr_buf *text,
		    struct hrr_diag *diag)
{
	struct hrr_buf file = {0};
	int rc = 0, dir;

	if (p->folder == NULL)
		return hrr_diag_set(diag, -EROFS, "not an archive of ours: it takes no sidecar");
	hrr_diag_at(diag, p->folder, 0);
	if (mkdir(p->folder, 0700) < 0 && errno != EEXIST)
		return hrr_diag_set(diag, -errno, "cannot make: %s", strerror(errno));
	dir = open(p->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return hrr_diag_set(diag, -errno, "cannot open: %s", strerror(errno));
	if (hrr_buf_addf(&file, "%s.jsonl", name) < 0 || hrr_buf_str(&file) == NULL)
		rc = hrr_diag_set(diag, -ENOMEM, "out of memory");
	if (rc == 0)
		rc = hrr_file_replace(dir, file.data, text->data, text->len, 0600, diag);
	hrr_buf_release(&file);
	close(dir);
	return rc;
}

void hrr_sidecar_place_release(struct hrr_sidecar_place *p)
{
	free(p->folder);
	*p = (struct hrr_sidecar_place){0};
}
