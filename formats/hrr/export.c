#include "formats/hrr/export.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/hrr/export_private.h"

void hrr_lost(struct hrr_hrr8 *x, const char *fmt, ...)
{
	char text[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < x->n_lost; i++)
		if (strcmp(x->lost[i].text, text) == 0) {
			x->lost[i].n++;
			return;
		}
	if (x->n_lost == LOST_KINDS - 1)
		snprintf(text, sizeof text, "other things");
	if (x->n_lost == LOST_KINDS) {
		x->lost[LOST_KINDS - 1].n++;
		return;
	}
	snprintf(x->lost[x->n_lost].text, sizeof x->lost[0].text, "%s", text);
	x->lost[x->n_lost++].n = 1;
}

int hrr_hrr8_open(struct hrr_hrr8 **ret, const char *dir, const struct hrr_hrr8_options *opt,
		  struct hrr_diag *diag)
{
	struct hrr_hrr8 *x = calloc(1, sizeof *x);
	int rc;

	hrr_diag_at(diag, dir, 0);
	if (x == NULL)
		return hrr_diag_set(diag, -ENOMEM, "out of memory");
	x->opt = *opt;
	struct stat st;
	size_t len = strlen(dir);
	while (len > 1 && dir[len - 1] == '/')
		len--;
	rc = lstat(dir, &st) == 0 ? -EEXIST : 0;
	if (rc == 0 &&
	    (snprintf(x->final, sizeof x->final, "%.*s", (int)len, dir) >= (int)sizeof x->final ||
	     snprintf(x->dir, sizeof x->dir, "%.*s.tmp-%ld", (int)len, dir, (long)getpid()) >=
		 (int)sizeof x->dir))
		rc = -ENAMETOOLONG;
	if (rc == 0 && mkdir(x->dir, 0700) < 0)
		rc = -errno;
	if (rc < 0) {
		free(x);
		return hrr_diag_set(diag, rc, "cannot make: %s", strerror(-rc));
	}
	x->made = true;
	*ret = x;
	return 0;
}

int hrr_hrr8_record(struct hrr_hrr8 *x, const struct hrr_record *rec, bool from_sidecar,
		    struct hrr_blobs *(*blobs)(void *self, uint32_t p), void *self,
		    struct hrr_diag *diag)
{
	struct out_process *p;
	int rc = hrr_out_process(x, rec->p, &p);

	x->blobs = blobs;
	x->self = self;
	if (rc == 0 && !p->begun)
		rc = rec->kind == HRR_REC_HEADER ? hrr_out_header(x, p, rec, diag)
						 : hrr_out_begin(x, p, diag);
	else if (rc == 0 && rec->kind == HRR_REC_HEADER)
		rc = hrr_out_header(x, p, rec, diag);
	if (rc < 0 || p->fd < 0)
		goto out;
	switch (rec->kind) {
	case HRR_REC_HEADER:
		break;
	case HRR_REC_RUNTIME:
		rc = hrr_out_runtime(p, rec);
		break;
	case HRR_REC_CALL:
		if (rec->dur > 0)
			hrr_lost(x, "how long a call took");
		rc = hrr_out_call(x, p, rec, diag);
		break;
	case HRR_REC_OUTPUT:
		rc = hrr_out_output(x, p, rec, diag);
		break;
	case HRR_REC_REGION:
		rc = hrr_out_region(x, p, rec, from_sidecar, diag);
		break;
	case HRR_REC_END:
		rc = hrr_out_end(x, p, rec);
		break;
	default:
		rc = hrr_out_raw(x, p, rec, diag);
		break;
	}
out:
	/* Some members are read as far as they make sense. */
	if (rc == 0 && (x->tmp.failed || x->rec.failed))
		rc = -ENOMEM;
	return rc == -ENOMEM ? hrr_diag_set(diag, rc, "out of memory") : rc;
}

int hrr_hrr8_finish(struct hrr_hrr8 *x, struct hrr_diag *diag)
{
	char text[256];
	int rc = 0;

	hrr_diag_at(diag, x->final, 0);
	for (size_t i = 0; i < x->n && rc == 0; i++)
		if (x->p[i].fd >= 0)
			rc = hrr_out_finish(x, &x->p[i], diag);
	if (rc == 0)
		rc = hrr_out_manifests(x, diag);
	if (rc == 0 && renameat2(AT_FDCWD, x->dir, AT_FDCWD, x->final, RENAME_NOREPLACE) < 0)
		rc = hrr_diag_set(diag, -errno, "cannot make: %s", strerror(errno));
	if (rc == 0)
		x->made = false;
	for (size_t i = 0; i < x->n_lost && rc == 0 && x->opt.lost != NULL; i++) {
		if (x->lost[i].n > 1)
			snprintf(text, sizeof text, "not held: %s (%llu times)", x->lost[i].text,
				 (unsigned long long)x->lost[i].n);
		else
			snprintf(text, sizeof text, "not held: %s", x->lost[i].text);
		x->opt.lost(x->opt.self, text);
	}
	return rc;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	(void)remove(path);
	return 0;
}

void hrr_hrr8_close(struct hrr_hrr8 *x)
{
	if (x == NULL)
		return;
	if (x->made)
		(void)nftw(x->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	for (size_t i = 0; i < x->n; i++)
		hrr_out_release(&x->p[i]);
	free(x->p);
	hrr_buf_release(&x->rec);
	hrr_buf_release(&x->tmp);
	free(x);
}
