#include "formats/hrrr/hrrr.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/store/file.h"

#define BATCH_TYPE 0xfffdu

static uint16_t le16(const unsigned char *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t le32(const unsigned char *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t le64(const unsigned char *p)
{
	return le32(p) | (uint64_t)le32(p + 4) << 32;
}

void hrr_rrr_release(struct hrr_rrr_list *l)
{
	free(l->r);
	*l = (struct hrr_rrr_list){0};
}

static int append(struct hrr_rrr_list *l, const unsigned char *p)
{
	struct hrr_rrr x = {p[0],	 p[1],	      p[2],	    p[3],
			    le32(p + 4), le64(p + 8), le64(p + 16), (int64_t)le64(p + 24)};

	if (x.op > 1 || x.kind > 1 || (x.op == 0 && x.size == 0)) {
		l->ignored++;
		return 0;
	}
	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 256;
		if (cap > HRR_RRR_MAX_RECORDS && l->n >= HRR_RRR_MAX_RECORDS)
			return -E2BIG;
		struct hrr_rrr *r = realloc(l->r, cap * sizeof *r);
		if (r == NULL)
			return -ENOMEM;
		l->r = r;
		l->cap = cap;
	}
	l->r[l->n++] = x;
	return 0;
}

int hrr_rrr_parse(struct hrr_rrr_list *l, const void *data, size_t len, struct hrr_diag *diag)
{
	const unsigned char *p = data;
	size_t off = HRR_RRR_FILE_HEADER;
	int torn = 0;

	if (len < HRR_RRR_FILE_HEADER)
		return hrr_diag_set(diag, -EINVAL, "too short: %zu bytes, the file header has %d",
				    len, HRR_RRR_FILE_HEADER);
	if (le32(p) != HRR_RRR_MAGIC)
		return hrr_diag_set(diag, -EINVAL, "bad magic 0x%08x (expected 0x%08x)", le32(p),
				    HRR_RRR_MAGIC);
	if (le16(p + 4) != HRR_RRR_VERSION)
		return hrr_diag_set(
		    diag, -EINVAL, "sidecar version %u is not known: this program reads version %d",
		    le16(p + 4), HRR_RRR_VERSION);
	l->files++;
	while (off < len) {
		size_t left = len - off;
		uint32_t length = left >= 32 ? le32(p + off + 26) : 0;
		if (left < 32 || length < 32 || length > HRR_RRR_MAX_BATCH || length > left) {
			torn = 1;
			if (left >= HRR_RRR_BATCH && le16(p + off) == BATCH_TYPE)
				l->torn_records += (left - HRR_RRR_BATCH) / HRR_RRR_RECORD;
			break;
		}
		if (length >= HRR_RRR_BATCH && le16(p + off) == BATCH_TYPE) {
			size_t n = le32(p + off + 32),
			       fit = (length - HRR_RRR_BATCH) / HRR_RRR_RECORD;
			for (size_t i = 0; i < n && i < fit; i++) {
				int rc = append(l, p + off + HRR_RRR_BATCH + i * HRR_RRR_RECORD);
				if (rc < 0)
					return hrr_diag_set(diag, rc, "%s",
							    rc == -E2BIG ? "too many records"
									 : "out of memory");
			}
		}
		off += length;
	}
	l->torn_files += (unsigned)torn;
	return torn;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int one_file(struct hrr_rrr_list *l, const char *dir, const char *name,
		    void (*note)(void *self, const char *text), void *self)
{
	char path[PATH_MAX], text[1200];
	struct hrr_buf b = {0};
	struct hrr_diag d = {0};
	uint64_t before = l->torn_records;
	size_t had = l->n;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	int rc =
	    hrr_file_read_plain(path, HRR_RRR_MAX_RECORDS * (HRR_RRR_RECORD + HRR_RRR_BATCH), &b);
	if (rc < 0 && rc != -ENOMEM)
		snprintf(d.what, sizeof d.what, "%s", hrr_file_why(rc));
	else if (rc == 0)
		rc = hrr_rrr_parse(l, b.len > 0 ? b.data : "", b.len, &d);
	hrr_buf_release(&b);
	if (rc == -ENOMEM)
		return rc;
	text[0] = '\0';
	if (rc < 0)
		snprintf(text, sizeof text, "regions/%.200s: %s: skipped", name, d.what);
	else if (rc > 0)
		snprintf(text, sizeof text,
			 "regions/%.200s: torn tail: kept %zu records, the batch that is cut "
			 "held %llu more",
			 name, l->n - had, (unsigned long long)(l->torn_records - before));
	if (text[0] != '\0' && note != NULL)
		note(self, text);
	return 0;
}

int hrr_rrr_folder(struct hrr_rrr_list *l, const char *dir,
		   void (*note)(void *self, const char *text), void *self, struct hrr_diag *diag)
{
	DIR *d = opendir(dir);
	char **names = NULL;
	size_t n = 0;
	struct dirent *e;
	int rc = 0;

	if (d == NULL)
		return errno == ENOENT || errno == ENOTDIR
			   ? 0
			   : hrr_diag_set(diag, -errno, "regions: %s", strerror(errno));
	while (rc == 0 && (e = hrr_dir_next(d, &rc)) != NULL) {
		size_t len = strlen(e->d_name);
		if (len < 6 || strcmp(e->d_name + len - 5, ".hrrr") != 0)
			continue;
		char **p = realloc(names, (n + 1) * sizeof *p);
		char *name = p != NULL ? strdup(e->d_name) : NULL;
		if (p != NULL)
			names = p;
		if (name == NULL) {
			rc = -ENOMEM;
			break;
		}
		names[n++] = name;
	}
	closedir(d);
	if (n > 1)
		qsort(names, n, sizeof *names, by_name);
	for (size_t i = 0; i < n; i++) {
		if (rc == 0)
			rc = one_file(l, dir, names[i], note, self);
		free(names[i]);
	}
	free(names);
	return rc;
}

/* Merge sort: the records of one time keep their order. */
int hrr_rrr_sort(struct hrr_rrr_list *l)
{
	bool sorted = true;

	for (size_t i = 1; i < l->n && sorted; i++)
		sorted = l->r[i - 1].t <= l->r[i].t;
	if (sorted)
		return 0;
	struct hrr_rrr *from = l->r, *to = malloc(l->n * sizeof *to);
	if (to == NULL)
		return -ENOMEM;
	for (size_t w = 1; w < l->n; w *= 2) {
		for (size_t i = 0; i < l->n; i += 2 * w) {
			size_t a = i, m = i + w < l->n ? i + w : l->n, b = m,
			       end = i + 2 * w < l->n ? i + 2 * w : l->n;
			for (size_t o = i; o < end; o++)
				to[o] = b >= end || (a < m && from[a].t <= from[b].t) ? from[a++]
										      : from[b++];
		}
		struct hrr_rrr *x = from;
		from = to;
		to = x;
	}
	l->r = from;
	l->cap = l->n;
	free(to);
	return 0;
}

static void put(unsigned char *p, uint64_t v, int n)
{
	for (int i = 0; i < n; i++)
		p[i] = (unsigned char)(v >> (8 * i));
}

int hrr_rrr_put_header(struct hrr_buf *b)
{
	unsigned char h[HRR_RRR_FILE_HEADER] = {0};

	put(h, HRR_RRR_MAGIC, 4);
	put(h + 4, HRR_RRR_VERSION, 2);
	return hrr_buf_add(b, h, sizeof h);
}

int hrr_rrr_put_batch(struct hrr_buf *b, const struct hrr_rrr *r, size_t n, uint64_t t)
{
	size_t max = (HRR_RRR_MAX_BATCH - HRR_RRR_BATCH) / HRR_RRR_RECORD;

	while (n > 0) {
		size_t now = n < max ? n : max, bytes = HRR_RRR_BATCH + now * HRR_RRR_RECORD;
		if (hrr_buf_reserve(b, bytes) < 0)
			return -ENOMEM;
		unsigned char *p = (unsigned char *)b->data + b->len;
		memset(p, 0, HRR_RRR_BATCH);
		put(p, BATCH_TYPE, 2);
		put(p + 10, t, 8);
		put(p + 26, bytes, 4);
		put(p + 32, now, 4);
		p += HRR_RRR_BATCH;
		for (size_t i = 0; i < now; i++, r++, p += HRR_RRR_RECORD) {
			p[0] = r->op;
			p[1] = r->kind;
			p[2] = r->device;
			p[3] = r->flags;
			put(p + 4, r->tag, 4);
			put(p + 8, r->base, 8);
			put(p + 16, r->size, 8);
			put(p + 24, (uint64_t)r->t, 8);
		}
		b->len += bytes;
		n -= now;
	}
	return 0;
}
