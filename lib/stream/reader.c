#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "lib/stream/record.h"

#define CHUNK ((size_t)256 << 10)

/*
 * Bytes lie in data[from..len); scanned says how far no newline was found. The
 * buffer moves its rest to the front when it runs out, and grows only for a line
 * that does not fit, up to the longest line plus a chunk.
 */
struct hrr_reader {
	int fd;
	char *name;
	struct hrr_buf buf, packed;
	size_t from, scanned, packed_from;
	uint64_t lineno;
	ZSTD_DStream *zstd; /* NULL: plain */
	int (*more)(void *self);
	void *self;
	bool begun, eof, torn; /* torn: compression ends inside a frame */
};

struct hrr_reader *hrr_reader_new(int fd, const char *name)
{
	struct hrr_reader *r = calloc(1, sizeof *r);

	if (r == NULL)
		goto fail;
	r->fd = fd;
	r->name = strdup(name);
	if (r->name != NULL)
		return r;
fail:
	close(fd);
	free(r);
	return NULL;
}

void hrr_reader_free(struct hrr_reader *r)
{
	if (r == NULL)
		return;
	ZSTD_freeDStream(r->zstd);
	hrr_buf_release(&r->buf);
	hrr_buf_release(&r->packed);
	free(r->name);
	close(r->fd);
	free(r);
}

static int fail(struct hrr_reader *r, struct hrr_diag *diag, int err, const char *what,
		const char *why)
{
	hrr_diag_at(diag, r->name, r->lineno + 1);
	return hrr_diag_set(diag, err, "%s: %s", what, why);
}

/* Appends up to CHUNK bytes of the file to b. 0 at its end. */
static int more_bytes(struct hrr_reader *r, struct hrr_buf *b, struct hrr_diag *diag)
{
	ssize_t n;
	int again = 0;

	if (hrr_buf_reserve(b, CHUNK) < 0)
		return fail(r, diag, -ENOMEM, "cannot read", "out of memory");
	do
		n = read(r->fd, b->data + b->len, CHUNK);
	while ((n < 0 && errno == EINTR) ||
	       (n == 0 && r->more != NULL && (again = r->more(r->self)) > 0));
	if (n == 0 && again < 0)
		return again;
	if (n < 0) {
		int err = errno;
		return fail(r, diag, err == EISDIR ? -EISDIR : -EIO, "cannot read", strerror(err));
	}
	b->len += (size_t)n;
	return n > 0;
}

static int begin(struct hrr_reader *r, struct hrr_diag *diag)
{
	static const char magic[4] = "\x28\xb5\x2f\xfd";
	int rc = 1;

	while (rc > 0 && r->buf.len < sizeof magic)
		rc = more_bytes(r, &r->buf, diag);
	if (rc < 0)
		return rc;
	r->begun = true;
	r->eof = rc == 0;
	if (r->buf.len < sizeof magic || memcmp(r->buf.data, magic, sizeof magic) != 0)
		return 0;
	r->zstd = ZSTD_createDStream();
	if (r->zstd == NULL)
		return fail(r, diag, -ENOMEM, "cannot read", "out of memory");
	r->packed = r->buf;
	r->buf = (struct hrr_buf){0};
	r->eof = false;
	r->torn = true; /* until a frame ends */
	return 0;
}

static int unpack(struct hrr_reader *r, struct hrr_diag *diag)
{
	size_t before = r->buf.len;

	if (hrr_buf_reserve(&r->buf, CHUNK) < 0)
		return fail(r, diag, -ENOMEM, "cannot read", "out of memory");
	while (r->buf.len == before) {
		ZSTD_inBuffer in = {r->packed.data, r->packed.len, r->packed_from};
		ZSTD_outBuffer out = {r->buf.data + r->buf.len, CHUNK, 0};
		size_t rc = ZSTD_decompressStream(r->zstd, &out, &in);
		if (ZSTD_isError(rc))
			return fail(r, diag, -EINVAL, "damaged compression", ZSTD_getErrorName(rc));
		bool moved = in.pos != r->packed_from || out.pos != 0;
		r->packed_from = in.pos;
		r->buf.len += out.pos;
		if (moved)
			r->torn = rc != 0;
		if (moved && (in.pos < in.size || out.pos == CHUNK))
			continue;
		r->packed.len = r->packed_from = 0;
		int more = more_bytes(r, &r->packed, diag);
		if (more < 0)
			return more;
		if (more == 0) {
			r->eof = true;
			return 0;
		}
	}
	return 0;
}

static int fill(struct hrr_reader *r, struct hrr_diag *diag)
{
	if (r->from > 0) {
		memmove(r->buf.data, r->buf.data + r->from, r->buf.len - r->from);
		r->buf.len -= r->from;
		r->scanned -= r->from;
		r->from = 0;
	}
	if (r->zstd != NULL)
		return unpack(r, diag);
	int rc = more_bytes(r, &r->buf, diag);
	r->eof = rc == 0;
	return rc < 0 ? rc : 0;
}

/* What is no stream, by how it begins: what it is and who reads it; NULL: it may be one. */
static const char *other_format(const struct hrr_reader *r)
{
	static const struct {
		const char *magic, *what;
		size_t at, from; /* from: bytes that must be there */
	} others[] = {
	    {"ustar", "a packed archive: unpack it first (hrr-cat --unpack)", 257, 512},
	    {"EHRR", "an events.bin of upstream HRR: name its archive's folder", 0, 4},
	    {"{\"hrr-archive\"", "the manifest of an archive: name its folder", 0, 14},
	    {"\x1f\x8b", "compressed with gzip: unpack it first (gunzip)", 0, 2},
	    {"HRRR", "a sidecar of upstream HRR: hrr-regions import --hrrr reads it", 0, 4},
	    {"\x80", "a pickle: hrr-regions import --torch reads PyTorch's memory snapshots", 0, 1},
	};

	if (r->lineno > 0 || r->from > 0 || r->buf.len == 0)
		return NULL;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (r->buf.len >= others[i].from &&
		    memcmp(r->buf.data + others[i].at, others[i].magic, strlen(others[i].magic)) ==
			0)
			return others[i].what;
	return NULL;
}

int hrr_reader_line(struct hrr_reader *r, const char **ret_line, size_t *ret_len,
		    uint64_t *ret_lineno, bool *ret_cut, struct hrr_diag *diag)
{
	int rc = r->begun ? 0 : begin(r, diag);

	if (rc < 0)
		return rc;
	for (;;) {
		const char *nl = NULL;
		if (r->scanned < r->buf.len)
			nl = memchr(r->buf.data + r->scanned, '\n', r->buf.len - r->scanned);
		size_t end = nl != NULL ? (size_t)(nl - r->buf.data) : r->buf.len;
		const char *other = other_format(r);
		if (other != NULL) {
			hrr_diag_at(diag, r->name, 0);
			return hrr_diag_set(diag, -EINVAL, "%s", other);
		}
		if (end - r->from > HRR_JSON_MAX_LINE) {
			hrr_diag_at(diag, r->name, r->lineno + 1);
			return hrr_diag_set(diag, -E2BIG, "line too long: the limit is %zu bytes",
					    HRR_JSON_MAX_LINE);
		}
		if (nl != NULL || r->eof) {
			if (nl == NULL && end == r->from && !r->torn)
				return 0;
			*ret_line = r->buf.data != NULL ? r->buf.data + r->from : "";
			*ret_len = end - r->from;
			*ret_lineno = ++r->lineno;
			*ret_cut = nl == NULL;
			r->from = r->scanned = nl != NULL ? end + 1 : end;
			if (nl == NULL)
				r->torn = false;
			return 1;
		}
		r->scanned = r->buf.len;
		rc = fill(r, diag);
		if (rc < 0)
			return rc;
	}
}

bool hrr_reader_ready(const struct hrr_reader *r)
{
	return r->eof || (r->scanned < r->buf.len &&
			  memchr(r->buf.data + r->scanned, '\n', r->buf.len - r->scanned) != NULL);
}

void hrr_reader_follow(struct hrr_reader *r, int (*more)(void *self), void *self)
{
	r->more = more;
	r->self = self;
}
