#include "lib/hip/bundle_private.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "lib/hip/elf.h"

/*
 * Compressed bundles: "CCOB", u16 version, u16 method (0 zlib, 1 zstd), then
 *   version 1: u32 unpacked size, u64 hash
 *   version 2: u32 file size, u32 unpacked size, u64 hash
 *   version 3: u64 file size, u64 unpacked size, u64 hash
 * and one zlib or zstd stream. The file size counts from the magic on. The hash
 * is not looked at: which one it is depends on the compiler. clang has zstd write
 * no checksum, so a damaged byte may go unnoticed here; a blob store has its own.
 */
enum { ZLIB = 0, ZSTD = 1 };

struct head {
	unsigned method;
	size_t size;	   /* of the head */
	uint64_t file;	   /* bytes from the magic to the end, 0 in version 1 */
	uint64_t unpacked; /* bytes */
};

static int damaged(struct hrr_diag *diag, const char *why)
{
	return hrr_diag_set(diag, -EINVAL, "compressed offload bundle: %s", why);
}

static int head(const unsigned char *p, size_t max, struct head *h, struct hrr_diag *diag)
{
	static const unsigned char sizes[] = {0, 20, 24, 32};

	if (max < 8)
		return damaged(diag, "cut short");
	unsigned version = hrr_le16(p + 4);
	if (version < 1 || version > 3)
		return hrr_diag_set(diag, -EINVAL,
				    "compressed offload bundle: version %u is not one of 1 to 3",
				    version);
	*h = (struct head){.method = hrr_le16(p + 6), .size = sizes[version]};
	if (h->method != ZLIB && h->method != ZSTD)
		return hrr_diag_set(diag, -EINVAL,
				    "compressed offload bundle: unknown compression method %u",
				    h->method);
	if (max < h->size)
		return damaged(diag, "cut short");
	if (version == 1) {
		h->unpacked = hrr_le32(p + 8);
	} else if (version == 2) {
		h->file = hrr_le32(p + 8);
		h->unpacked = hrr_le32(p + 12);
	} else {
		h->file = hrr_le64(p + 8);
		h->unpacked = hrr_le64(p + 16);
	}
	if (version != 1 && h->file < h->size)
		return damaged(diag, "impossible file size");
	if (h->file > max)
		return damaged(diag, "cut short");
	if (h->unpacked > HRR_BUNDLE_MAX_UNPACKED)
		return damaged(diag, "unpacks to more than is allowed");
	return 0;
}

/*
 * Walks the blocks of one zstd frame (RFC 8878, 3.1.1): its length, and the most
 * it can unpack to. Each step reads what the step before it has promised.
 */
static int zstd_frame(const unsigned char *p, size_t max, size_t *ret_len, uint64_t *ret_most)
{
	static const unsigned char id_sizes[] = {0, 1, 2, 4}, content_sizes[] = {0, 2, 4, 8};
	uint64_t most = 0;
	size_t at = 5;
	bool last = false;

	if (max < at || hrr_le32(p) != 0xfd2fb528)
		return -EINVAL;
	unsigned d = p[4];
	bool single = d & 0x20;
	at += !single + id_sizes[d & 3] + content_sizes[d >> 6] + (single && d >> 6 == 0);
	if (max < at)
		return -EINVAL;
	while (!last) {
		if (max - at < 3)
			return -EINVAL;
		uint32_t b = p[at] | (uint32_t)p[at + 1] << 8 | (uint32_t)p[at + 2] << 16;
		unsigned type = b >> 1 & 3;
		size_t size = b >> 3;
		last = b & 1;
		at += 3;
		if (type == 3 || (type == 1 ? 1 : size) > max - at)
			return -EINVAL;
		/* Raw, one byte repeated, or compressed into a block that unpacks to 128 KiB at
		 * most. */
		most += type == 2 ? 128 << 10 : size;
		at += type == 1 ? 1 : size;
	}
	if (d & 4) {
		if (max - at < 4)
			return -EINVAL;
		at += 4;
	}
	*ret_len = at;
	*ret_most = most;
	return 0;
}

/*
 * The length of a zlib stream can only be found by unpacking it. Input is given
 * byte by byte: that the stream has not ended promises one more, but not two.
 */
static int zlib_length(const unsigned char *p, size_t max, uint64_t unpacked, size_t *ret_len)
{
	unsigned char out[16 << 10];
	z_stream z = {0};
	size_t at = 0;
	uint64_t total = 0;
	int zrc = Z_OK;

	if (inflateInit(&z) != Z_OK)
		return -ENOMEM;
	while (zrc == Z_OK && total <= unpacked && (z.avail_in != 0 || at < max)) {
		if (z.avail_in == 0) {
			z.next_in = (Bytef *)(uintptr_t)(p + at++);
			z.avail_in = 1;
		}
		do {
			z.next_out = out;
			z.avail_out = sizeof out;
			zrc = inflate(&z, Z_NO_FLUSH);
			total += sizeof out - z.avail_out;
		} while (zrc == Z_OK && z.avail_out == 0 && total <= unpacked);
		if (zrc == Z_BUF_ERROR)
			zrc = Z_OK;
	}
	inflateEnd(&z);
	if (zrc == Z_MEM_ERROR)
		return -ENOMEM;
	if (zrc != Z_STREAM_END || total != unpacked)
		return -EINVAL;
	*ret_len = at;
	return 0;
}

int hrr_bundle_packed_length(const unsigned char *p, size_t max, size_t *ret_len,
			     struct hrr_diag *diag)
{
	struct head h;
	uint64_t most;
	size_t n = 0;

	if (max > UINTPTR_MAX - (uintptr_t)p)
		max = UINTPTR_MAX - (uintptr_t)p;
	int rc = head(p, max, &h, diag);
	if (rc < 0)
		return rc;
	if (h.file != 0) {
		*ret_len = (size_t)h.file;
		return 0;
	}
	if (h.method == ZSTD)
		rc = zstd_frame(p + h.size, max - h.size, &n, &most);
	else
		rc = zlib_length(p + h.size, max - h.size, h.unpacked, &n);
	if (rc == -EINVAL)
		return damaged(diag, "cut short or damaged");
	if (rc == 0)
		*ret_len = h.size + n;
	return rc;
}

static int unpack_zlib(const unsigned char *p, size_t n, char *out, size_t size)
{
	z_stream z = {.next_out = (Bytef *)out, .avail_out = (uInt)size};
	int zrc = Z_OK;

	if (inflateInit(&z) != Z_OK)
		return -ENOMEM;
	while (zrc == Z_OK && n > 0) {
		size_t step = n < 1 << 30 ? n : 1 << 30;
		z.next_in = (Bytef *)(uintptr_t)p;
		z.avail_in = (uInt)step;
		zrc = inflate(&z, Z_NO_FLUSH);
		if (z.avail_in == step) /* no room to write, and there should be */
			break;
		p += step - z.avail_in;
		n -= step - z.avail_in;
	}
	inflateEnd(&z);
	if (zrc == Z_MEM_ERROR)
		return -ENOMEM;
	return zrc == Z_STREAM_END && z.avail_out == 0 ? 0 : -EINVAL;
}

int hrr_bundle_unpack(const unsigned char *p, size_t len, size_t max, struct hrr_buf *out,
		      struct hrr_diag *diag)
{
	struct head h;
	uint64_t most;
	size_t n;

	int rc = head(p, len, &h, diag);
	if (rc < 0)
		return rc;
	if (h.unpacked > max)
		return damaged(diag, "unpacks to more than is allowed");
	if (h.unpacked == 0)
		return damaged(diag, "holds nothing");
	p += h.size;
	len = (h.file != 0 ? (size_t)h.file : len) - h.size;
	/* Memory is taken for what the packed bytes can hold, whatever the head says. */
	if (h.method == ZLIB)
		most = (uint64_t)len * 1032;
	else if (zstd_frame(p, len, &n, &most) < 0)
		return damaged(diag, "not a zstd frame, or cut short");
	if (h.unpacked > most)
		return damaged(diag, "does not hold what its head says");
	if (hrr_buf_reserve(out, (size_t)h.unpacked) < 0)
		return -ENOMEM;
	if (h.method == ZLIB) {
		rc = unpack_zlib(p, len, out->data + out->len, (size_t)h.unpacked);
	} else {
		size_t got = ZSTD_decompress(out->data + out->len, (size_t)h.unpacked, p, n);
		rc = ZSTD_isError(got) || got != h.unpacked ? -EINVAL : 0;
		if (ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation)
			rc = -ENOMEM;
	}
	if (rc == -EINVAL)
		return damaged(diag, "damaged contents");
	if (rc == 0)
		out->len += (size_t)h.unpacked;
	return rc;
}
