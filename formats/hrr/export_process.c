#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/hrr/export_private.h"
#include "lib/store/file.h"
#include "lib/stream/write.h"

#define FLUSH_AT ((size_t)256 << 10)
#define MAX_PROCESSES 4096

int hrr_out_process(struct hrr_hrr8 *x, uint32_t index, struct out_process **ret)
{
	if (index >= MAX_PROCESSES)
		return -E2BIG;
	if (index >= x->n) {
		struct out_process *p = realloc(x->p, (index + 1) * sizeof *p);
		if (p == NULL)
			return -ENOMEM;
		x->p = p;
		for (; x->n <= index; x->n++)
			p[x->n] = (struct out_process){.fd = -1, .parent = -1};
	}
	*ret = &x->p[index];
	return 0;
}

static int flush(struct out_process *p, struct hrr_diag *diag)
{
	int rc = hrr_write_all(p->fd, p->buf.data, p->buf.len);

	if (rc < 0)
		return hrr_diag_set(diag, rc, "cannot write events.bin: %s", strerror(-rc));
	p->written += p->buf.len;
	p->buf.len = 0;
	return 0;
}

static int append(struct out_process *p, const void *data, size_t n, struct hrr_diag *diag)
{
	if (hrr_buf_add(&p->buf, data, n) < 0)
		return hrr_diag_set(diag, -ENOMEM, "out of memory");
	return p->buf.len >= FLUSH_AT ? flush(p, diag) : 0;
}

int hrr_out_patch(struct out_process *p, uint64_t offset, const void *data, size_t n,
		  struct hrr_diag *diag)
{
	if (offset >= p->written) {
		memcpy(p->buf.data + (offset - p->written), data, n);
		return 0;
	}
	if (offset + n > p->written) { /* across what is in the file and what is not */
		int rc = flush(p, diag);
		if (rc < 0)
			return rc;
	}
	ssize_t got = pwrite(p->fd, data, n, (off_t)offset);
	return got == (ssize_t)n
		   ? 0
		   : hrr_diag_set(diag, got < 0 ? -errno : -EIO, "cannot write events.bin: %s",
				  strerror(got < 0 ? errno : EIO));
}

int hrr_out_event(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		  unsigned type, unsigned char *data, size_t len, uint64_t *ret_offset,
		  struct hrr_diag *diag)
{
	if (len > HRR_UP_MAX_RECORD) {
		hrr_lost(x, "records of more than 64 MiB");
		p->dropped = true;
		return 1;
	}
	if (rec->t != HRR_NO_TIME && rec->t > p->t)
		p->t = rec->t;
	set_le(data, type, 2);
	set_le(data + 2, p->count, 8);
	set_le(data + 10, p->t0 + (rec->t != HRR_NO_TIME ? rec->t : p->t), 8);
	set_le(data + 18, rec->tid, 8);
	set_le(data + 26, len, 4);
	set_le(data + 30, 0, 2);
	if (ret_offset != NULL)
		*ret_offset = p->written + p->buf.len;
	p->count++;
	return append(p, data, len, diag);
}

int hrr_out_begin(struct hrr_hrr8 *x, struct out_process *p, struct hrr_diag *diag)
{
	unsigned char h[HRR_UP_FILE_HEADER] = {0};
	char path[PATH_MAX + 16];

	p->begun = true;
	p->base = p->base != 0 ? p->base : HRR_UP_COMPILER_BASE;
	p->major = p->major != 0 ? p->major : 5;
	p->fatbins = hrr_ranges_new();
	p->stubs = hrr_ranges_new();
	p->host = hrr_ranges_new();
	if (p->fatbins == NULL || p->stubs == NULL || p->host == NULL)
		return hrr_diag_set(diag, -ENOMEM, "out of memory");
	if (snprintf(p->dir, sizeof p->dir, "%s/pid-%u", x->dir, p->pid) >= (int)sizeof p->dir)
		return hrr_diag_set(diag, -ENAMETOOLONG, "path too long");
	if (mkdir(p->dir, 0700) < 0) {
		if (errno != EEXIST)
			return hrr_diag_set(diag, -errno, "cannot make %s: %s", p->dir,
					    strerror(errno));
		/* a second image of one pid, or two processes of one number */
		p->dropped = true;
		hrr_lost(x, "process %u, image %u: one folder per pid", p->pid, p->image);
		return 0;
	}
	snprintf(path, sizeof path, "%s/events.bin", p->dir);
	p->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (p->fd < 0)
		return hrr_diag_set(diag, -errno, "cannot make %s: %s", path, strerror(errno));
	set_le(h, HRR_UP_MAGIC, 4);
	set_le(h + 4, EXPORT_VERSION, 2);
	set_le(h + 6, HRR_UP_PACKED_RECTS, 2);
	return append(p, h, sizeof h, diag);
}

int hrr_out_finish(struct hrr_hrr8 *x, struct out_process *p, struct hrr_diag *diag)
{
	unsigned char t[HRR_UP_TRAILER_SIZE] = {0};
	int rc = 0;

	for (int i = 0; i < 64; i++)
		for (struct later *l = p->later[i]; l != NULL; l = l->next)
			hrr_lost(x, "a copy to the host whose bytes the stream does not hold");
	p->complete = p->complete && !p->dropped;
	if (p->complete) {
		set_le(t, HRR_UP_TYPE_TRAILER, 2);
		set_le(t + 2, p->count, 8);
		set_le(t + 10, p->t0 + p->t_end, 8);
		set_le(t + 18, p->pid, 8);
		set_le(t + 26, sizeof t, 4);
		set_le(t + 32, p->count, 8);
		set_le(t + 40, HRR_UP_TRAILER, 4);
		rc = append(p, t, sizeof t, diag);
	}
	if (rc == 0)
		rc = flush(p, diag);
	if (rc == 0 && close(p->fd) < 0)
		rc = hrr_diag_set(diag, -errno, "cannot write events.bin: %s", strerror(errno));
	p->fd = -1;
	if (rc < 0 || p->regions.n == 0)
		return rc;
	char path[PATH_MAX + 16];
	snprintf(path, sizeof path, "%s/regions", p->dir);
	x->rec.len = 0;
	if (mkdir(path, 0700) < 0)
		return hrr_diag_set(diag, -errno, "cannot make %s: %s", path, strerror(errno));
	if (hrr_rrr_put_header(&x->rec) < 0 ||
	    hrr_rrr_put_batch(&x->rec, p->regions.r, p->regions.n, p->t0) < 0)
		return hrr_diag_set(diag, -ENOMEM, "out of memory");
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return hrr_diag_set(diag, -errno, "cannot open %s: %s", path, strerror(errno));
	rc = hrr_file_replace(fd, "hrr.hrrr", x->rec.data, x->rec.len, 0600, diag);
	close(fd);
	return rc;
}

void hrr_out_release(struct out_process *p)
{
	if (p->fd >= 0)
		close(p->fd);
	for (int k = 0; k < 64; k++)
		for (struct later *l = p->later[k], *next; l != NULL; l = next) {
			next = l->next;
			free(l);
		}
	for (struct fatbin *f = p->all_fatbins, *next; f != NULL; f = next) {
		next = f->next;
		free(f);
	}
	hrr_ranges_free(p->fatbins);
	hrr_ranges_free(p->stubs);
	hrr_ranges_free(p->host);
	hrr_rrr_release(&p->regions);
	hrr_buf_release(&p->buf);
	hrr_buf_release(&p->runtime);
	hrr_buf_release(&p->not_recorded);
	free(p->stored);
	free(p->slots);
}
