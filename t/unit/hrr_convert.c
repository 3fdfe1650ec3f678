/* Upstream archives built here, and the fixtures cut at every byte: what lines come out. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/hrr/convert.h"
#include "formats/hrr/manifest.h"
#include "formats/hrrr/hrrr.h"
#include "lib/stream/record.h"
#include "lib/store/file.h"
#include "t/unit/tap.h"

static char dir[64];
static char notes[8192];
static struct hrr_buf file, lines;
static int heads, wrong_heads; /* of calls, without parsing */
static int version;
static uint64_t next_seq;

static void note(void *self, const char *text)
{
	size_t n = strlen(notes);

	(void)self;
	snprintf(notes + n, sizeof notes - n, "%s\n", text);
}

static void le(unsigned char *p, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		p[i] = (unsigned char)(v >> (8 * i));
}

static void begin(int v)
{
	unsigned char h[8] = {0};

	file.len = 0;
	version = v;
	next_seq = 1;
	le(h, HRR_UP_MAGIC, 4);
	le(h + 4, (uint64_t)v, 2);
	hrr_buf_add(&file, h, 8);
}

/* A record of len bytes; words are put from offset 32 on, widths in bytes. */
static unsigned char *record(unsigned type, unsigned len)
{
	hrr_buf_reserve(&file, len);
	unsigned char *p = (unsigned char *)file.data + file.len;
	memset(p, 0, len);
	le(p, type, 2);
	le(p + 2, next_seq, 8);
	le(p + 10, 1000 + next_seq * 10, 8);
	next_seq++;
	le(p + 18, 77, 8);
	le(p + 26, len, version == 3 ? 2 : 4);
	file.len += len;
	return p;
}

static void trailer(uint64_t count)
{
	unsigned char *p = record(HRR_UP_TYPE_TRAILER, HRR_UP_TRAILER_SIZE);

	le(p + 32, count, 8);
	le(p + 40, HRR_UP_TRAILER, 4);
}

static void save(const void *data, size_t n)
{
	char path[128];

	snprintf(path, sizeof path, "%s/events.bin", dir);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, data, n) != (ssize_t)n)
		ok(false, "cannot write %s", path);
	close(fd);
}

/* All lines into lines, notes into notes. Every line must be a record. */
static int convert(const char *from)
{
	struct hrr_convert_options o = {-1, false, note, NULL};
	struct hrr_convert *c;
	struct hrr_record rec = {0};
	struct hrr_diag d = {0};
	const char *line;
	size_t len;
	int rc, n = 0;

	notes[0] = '\0';
	lines.len = 0;
	rc = hrr_convert_open(&c, from, &o, &d);
	if (rc < 0) {
		note(NULL, d.what);
		return rc;
	}
	while ((rc = hrr_convert_line(c, &line, &len, &d)) > 0) {
		if (hrr_record_parse(&rec, line, len, &d) < 0) {
			diag("no record: %s: %.*s", d.what, (int)len, line);
			rc = -1000;
			break;
		}
		struct hrr_record head = {0};
		bool call = hrr_convert_head(c, line, &head);
		heads += call;
		if (call != (rec.kind == HRR_REC_CALL) ||
		    (call && (head.p != rec.p || head.seq != rec.seq || head.t != rec.t ||
			      head.dur != rec.dur || head.tid != rec.tid || head.api != rec.api ||
			      head.api_len != rec.api_len))) {
			diag("another head: %.*s", (int)len, line);
			wrong_heads++;
		}
		n++;
		hrr_buf_add(&lines, line, len);
		hrr_buf_addc(&lines, '\n');
	}
	hrr_record_release(&rec);
	hrr_convert_close(c);
	hrr_buf_str(&lines);
	return rc < 0 ? rc : n;
}

static bool has(const char *s)
{
	bool found = lines.data != NULL && strstr(lines.data, s) != NULL;

	if (!found)
		diag("lines: %s", lines.data != NULL ? lines.data : "");
	return found;
}

static bool noted(const char *s)
{
	bool found = strstr(notes, s) != NULL;

	if (!found)
		diag("notes: %s", notes);
	return found;
}

static void versions(void)
{
	for (int v = 3; v <= 8; v++) {
		unsigned char *p;
		begin(v);
		p = record((unsigned)hrr_wire_id(v, 544, HRR_API_hipMalloc), 52);
		le(p + 36, 0x7f0000001000, 8);
		le(p + 44, 4096, 8);
		p = record((unsigned)hrr_wire_id(v, 544, HRR_API_hipMemset), 56);
		le(p + 36, 0x7f0000001000, 8);
		le(p + 44, 7, 4);
		le(p + 48, 4096, 8);
		trailer(2);
		save(file.data, file.len);
		is(convert(dir), 4, "version %d: header, two calls, end", v);
		ok(has("\"api\":\"hipMalloc\",\"args\":{\"ptr\":\"0x7f0000001000\",\"size\":4096}"),
		   "version %d: hipMalloc", v);
		ok(has("\"api\":\"hipMemset\",\"args\":{\"dst\":\"0x7f0000001000\",\"value\":7,"
		       "\"sizeBytes\":4096}"),
		   "version %d: hipMemset", v);
		is_str(notes, "", "version %d: nothing to complain of", v);
	}
}

static void refused(void)
{
	static const unsigned char bad[8] = {1, 2, 3, 4, 8, 0, 0, 0};

	save("EHRR", 4);
	ok(convert(dir) < 0 && noted("too short: 4 bytes"), "a file of 4 bytes");
	save(bad, 8);
	ok(convert(dir) < 0 && noted("bad magic 0x04030201 (expected 0x52524845)"), "bad magic");
	begin(9);
	save(file.data, file.len);
	ok(convert(dir) < 0 && noted("archive version 9 is not known"), "version 9");
	begin(2);
	save(file.data, file.len);
	ok(convert(dir) < 0 && noted("archive version 2 is not known"), "version 2");
}

static void strangers(void)
{
	unsigned char *p;

	begin(8);
	p = record(700, 40);
	le(p + 32, 0x1122334455667788, 8);
	record((unsigned)hrr_wire_id(8, 544, HRR_API_hipMalloc), 40);
	trailer(2);
	save(file.data, file.len);
	is(convert(dir), 4, "an unknown id and a short record pass");
	ok(has("{\"foreign\":{\"type\":700,\"seq\":1,\"why\":\"unknown id\",\"raw\":\"bc02"),
	   "the bytes of the unknown one");
	ok(has("8877665544332211\"},\"t\":0,\"tid\":77}"), "to the last");
	ok(has("\"api\":\"hipMalloc\",\"seq\":2,\"why\":\"payload too small\""), "the short one");
	ok(noted("event 1 (UNKNOWN, type 700, 40 bytes at offset 8): unknown id"), "said");
	ok(noted("event 2 (hipMalloc, type 215, 40 bytes at offset 48): payload too small"),
	   "said");
	ok(has("\"calls\":0"), "they count as no calls");

	begin(3);
	record((unsigned)hrr_wire_row(HRR_API_hipMalloc)->id3, 60);
	save(file.data, file.len);
	convert(dir);
	ok(noted("its length is another call's"), "version 3: a length that does not fit its id");
}

static void order(void)
{
	begin(8);
	for (int i = 0; i < 5000; i++) { /* pairs the wrong way round, and one far away */
		unsigned char *p = record((unsigned)hrr_wire_id(8, 544, HRR_API_hipSetDevice), 40);
		le(p + 2, i == 0 ? 4999 : i == 4999 ? 0 : (uint64_t)(i ^ 1), 8);
		le(p + 36, hrr_le64(p + 2), 4);
	}
	save(file.data, file.len);
	is(convert(dir), 5001, "5000 calls out of order");
	int want = 0, wrong = 0;
	for (char *at = strchr(lines.data, '\n'); at != NULL && at[1] != '\0';
	     at = strchr(at + 1, '\n')) {
		const char *d = strstr(at, "\"deviceId\":");
		wrong += d == NULL || atoi(d + 11) != want;
		want++;
	}
	is(wrong, 2, "in sequence order (0 and 4999 are there twice, 1 and 4998 are not)");
	ok(noted("no clean-shutdown trailer"), "and no trailer");
}

static void bases(void)
{
	static const int base[] = {543, 544, 546, 600};

	for (size_t i = 0; i < 4; i++) {
		begin(8);
		record((unsigned)base[i] + 2, 64);
		record((unsigned)base[i] + 3, 108);
		record((unsigned)base[i] + 8, 40);
		trailer(3);
		save(file.data, file.len);
		convert(dir);
		ok(has("\"api\":\"__hipRegisterFatBinary\"") &&
		       has("\"api\":\"__hipRegisterFunction\"") &&
		       has("\"api\":\"__hipUnregisterFatBinary\""),
		   "compiler calls from %d on", base[i]);
	}
	begin(8);
	record(548, 76);
	save(file.data, file.len);
	convert(dir);
	ok(noted("the compiler's calls may begin at id"), "one record fits two bases: said");
}

/* Rectangles in the program's pitch (no flag): what the stream names is packed. */
static void pitched(void)
{
	unsigned char blob[64], packed[12], *p;
	char path[160], hex[HRR_FNV_HEX + 1], text[HRR_ID_TEXT + 1];
	struct hrr_fnv h;
	struct hrr_id id;

	for (int i = 0; i < 64; i++)
		blob[i] = (unsigned char)i;
	for (int y = 0; y < 3; y++)
		memcpy(packed + 4 * y, blob + 16 * y, 4);
	h = hrr_fnv_of(blob, sizeof blob);
	hrr_fnv_text(h, hex);
	snprintf(path, sizeof path, "mkdir -p %s/blobs/%.2s", dir, hex);
	if (system(path) != 0)
		ok(false, "mkdir");
	snprintf(path, sizeof path, "%s/blobs/%.2s/%s.blob", dir, hex, hex);
	FILE *f = fopen(path, "w");
	fwrite(blob, 1, sizeof blob, f);
	fclose(f);
	begin(5);
	p = record((unsigned)hrr_wire_id(5, 544, HRR_API_hipMemcpy2D), 120);
	le(p + 36, 0x7f0000001000, 8);
	le(p + 44, 256, 8);
	le(p + 52, 0x1000, 8);
	le(p + 60, 16, 8);
	le(p + 68, 4, 8);
	le(p + 76, 3, 8);
	le(p + 84, 1, 4);
	le(p + 88, h.lo, 8);
	le(p + 96, h.hi, 8);
	trailer(1);
	save(file.data, file.len);
	convert(dir);
	id = hrr_id_of(packed, sizeof packed);
	hrr_id_text(&id, text);
	ok(has(text), "a pitched blob of version 5 gets the id of its packed rows");

	struct hrr_up_blobs *s;
	struct hrr_blob b;
	const struct hrr_up_blob *x;
	struct hrr_up_rect r = {4, 3, 1, 16, 48}, far = {4, 9, 1, 16, 48};
	if (ok(hrr_up_blobs_open(&s, dir, NULL) == 0 && hrr_up_blobs_find(s, h, &r, &x, NULL) == 0,
	       "found")) {
		ok(hrr_up_blobs_get(s, &id, 0, &b, NULL) == 0 && b.len == 12 &&
		       memcmp(b.data, packed, 12) == 0,
		   "and its bytes");
		hrr_blob_release(&b);
		ok(hrr_up_blobs_find(s, h, &far, &x, NULL) == 0 && x->state == HRR_UP_DAMAGED,
		   "a rectangle that runs past its blob is damage");
	}
	hrr_up_blobs_close(s);
}

static void sidecars(void)
{
	struct hrr_rrr r[3] = {{0, 1, 0, 0, 5, 0x1000, 4096, 0},
			       {0, 0, 1, 2, 0, 0x1000, 64, 50},
			       {1, 0, 1, 0, 0, 0x1000, 0, 20}};
	struct hrr_rrr_list l = {0};
	struct hrr_buf b = {0};
	struct hrr_diag d = {0};

	ok(hrr_rrr_put_header(&b) == 0 && hrr_rrr_put_batch(&b, r, 3, 9) == 0, "written");
	is(b.len, 8 + 40 + 3 * 32, "bytes of a sidecar");
	is(hrr_rrr_parse(&l, b.data, b.len, &d), 0, "read back");
	ok(l.n == 3 && memcmp(&l.r[1], &r[1], sizeof r[1]) == 0, "the same records");
	ok(hrr_rrr_sort(&l) == 0 && l.r[1].t == 20 && l.r[2].t == 50, "sorted by time");
	hrr_rrr_release(&l);
	for (size_t n = 0; n < b.len; n++) {
		int rc = hrr_rrr_parse(&l, b.data, n, &d);
		if (n < 8 ? rc >= 0 : rc != (n > 8) || l.n != 0)
			ok(false, "cut at %zu: %d", n, rc);
		if (n == 8 + 40 + 64)
			is(l.torn_records, 2, "whole records in the batch that is cut");
		hrr_rrr_release(&l);
	}
	le((unsigned char *)b.data + 8 + 32, 1000, 4);
	is(hrr_rrr_parse(&l, b.data, b.len, &d), 0, "a count past the batch");
	is(l.n, 3, "is held to what is there");
	hrr_rrr_release(&l);
	hrr_buf_release(&b);
}

/* No cut and no flipped byte of an archive brings anything down, or a line that is none. */
static void everywhere(const char *from)
{
	char path[256];
	struct hrr_buf whole = {0};
	int bad = 0;

	snprintf(path, sizeof path, "rm -rf %s/blobs && cp -r %s/blobs %s/", dir, from, dir);
	if (system(path) != 0)
		diag("no blobs");
	snprintf(path, sizeof path, "%s/events.bin", from);
	if (hrr_file_read_plain(path, 1 << 24, &whole) < 0) {
		ok(false, "cannot read %s", path);
		return;
	}
	for (size_t n = 0; n < whole.len; n++) {
		save(whole.data, n);
		int rc = convert(dir);
		bad += n < 8 ? rc >= 0 : rc < 1 || strstr(notes, "no clean-shutdown") == NULL;
	}
	is(bad, 0, "%s: cut at each of %zu bytes", from, whole.len);
	bad = 0;
	for (size_t n = 8; n < whole.len; n++) {
		static const char flips[] = {(char)0xff, 1, (char)0x80};
		for (int k = 0; k < 3; k++) {
			char keep = whole.data[n];
			whole.data[n] ^= flips[k];
			save(whole.data, whole.len);
			bad += convert(dir) < 1;
			whole.data[n] = keep;
		}
	}
	is(bad, 0, "%s: each byte changed", from);
	hrr_buf_release(&whole);
}

int main(int argc, char **argv)
{
	strcpy(dir, "/dev/shm/hrr-convert-XXXXXX"); /* thousands of files: in memory */
	if (mkdtemp(dir) == NULL) {
		strcpy(dir, "/tmp/hrr-convert-XXXXXX");
		if (mkdtemp(dir) == NULL)
			return 1;
	}
	versions();
	refused();
	strangers();
	order();
	bases();
	pitched();
	sidecars();
	if (argc > 1) {
		for (int i = 1; i < argc; i++)
			everywhere(argv[i]);
	} else {
		everywhere("t/data/hrr/saxpy/pid-4711");
		everywhere("t/data/hrr/pinned/pid-9009");
	}
	char rm[64];
	snprintf(rm, sizeof rm, "rm -rf %s", dir);
	if (system(rm) != 0)
		diag("%s stays", dir);
	hrr_buf_release(&file);
	hrr_buf_release(&lines);
	ok(heads > 0 && wrong_heads == 0, "%d heads of calls are what parsing gives", heads);
	return done_testing();
}
