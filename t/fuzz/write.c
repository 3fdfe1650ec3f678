/*
 * libFuzzer over the writers: whatever bytes and numbers they are given, the line is a
 * record that says the same, also after an edit. See run.sh.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/stream/edit.h"
#include "lib/stream/write.h"

#define CHECK(x)                 \
	do {                     \
		if (!(x))        \
			abort(); \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *in;
static size_t left;

static uint64_t number(void)
{
	uint64_t v = 0;
	size_t n = left < 8 ? left : 8;

	memcpy(&v, in, n);
	in += n;
	left -= n;
	return v;
}

/* What the general reader can hold. */
static uint64_t positive(void)
{
	return number() >> 1;
}

/* A string member holds just these bytes. */
static void is_text(const struct hrr_json *j, int node, const char *s, size_t len)
{
	struct hrr_buf b = {0};

	CHECK(node >= 0 && hrr_json_str(j, node, &b) == 0);
	CHECK(b.len == len && (len == 0 || memcmp(b.data, s, len) == 0));
	hrr_buf_release(&b);
}

static void parse(struct hrr_record *rec, const struct hrr_buf *b, enum hrr_record_kind kind)
{
	struct hrr_diag d = {0};

	CHECK(b->len > 0 && b->data[b->len - 1] == '\n');
	CHECK(memchr(b->data, '\n', b->len) == b->data + b->len - 1);
	CHECK(hrr_record_parse(rec, b->data, b->len - 1, &d) == 0 && rec->kind == kind);
}

static void values(const char *s, size_t len)
{
	struct hrr_buf b = {0}, got = {0};
	struct hrr_json j = {0};
	uint64_t addr = number(), back;

	CHECK(hrr_buf_addc(&b, '[') == 0 && hrr_json_put_str(&b, s, len) == 0);
	CHECK(hrr_buf_addc(&b, ',') == 0 && hrr_json_put_addr(&b, addr) == 0);
	CHECK(hrr_buf_addc(&b, ',') == 0 && hrr_json_put_hex(&b, s, len) == 0);
	CHECK(hrr_buf_addc(&b, ']') == 0);
	CHECK(hrr_json_parse(&j, b.data, b.len, NULL) == 0 && hrr_json_count(&j, 0) == 3);
	int node = hrr_json_first(&j, 0);
	is_text(&j, node, s, len);
	node = hrr_json_next(&j, 0, node);
	CHECK(hrr_json_addr(&j, node, &back) == 0 && back == addr);
	node = hrr_json_next(&j, 0, node);
	CHECK(hrr_json_hex(&j, node, &got) == 0 && got.len == len);
	CHECK(len == 0 || memcmp(got.data, s, len) == 0);
	hrr_json_release(&j);
	hrr_buf_release(&b);
	hrr_buf_release(&got);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hrr_record rec;
	struct hrr_buf b = {0};

	in = data;
	left = size;
	struct hrr_write_call c = {.p = (int64_t)(number() % 65537) - 1,
				   .seq = positive(),
				   .t = positive(),
				   .dur = positive(),
				   .tid = positive()};
	uint64_t at = positive(), bytes = positive(), base = number();
	values((const char *)in, left);
	/* From here on names: they end at a NUL. */
	char *text = strndup((const char *)in, left);
	CHECK(text != NULL);
	size_t len = strlen(text);

	const char *const argv[] = {text, "-x", text};
	struct hrr_write_header h = {
	    .p = c.p, .pid = 7, .argc = 3, .argv = argv, .t0 = number(), .boot = "", .blobs = text};
	CHECK(hrr_write_header(&b, &h) == 0);
	parse(&rec, &b, HRR_REC_HEADER);
	is_text(&rec.json, hrr_json_get(&rec.json, 0, "blobs"), text, len);

	b.len = 0;
	c.api = "hipMalloc";
	CHECK(hrr_write_call(&b, &c) == 0 && hrr_buf_adds(&b, "\"name\":") == 0);
	CHECK(hrr_json_put_str(&b, text, len) == 0 && hrr_buf_addc(&b, '}') == 0);
	CHECK(hrr_write_call_end(&b) == 0);
	parse(&rec, &b, HRR_REC_CALL);
	CHECK(rec.p == (c.p < 0 ? 0 : (uint32_t)c.p) && rec.seq == c.seq && rec.t == c.t);
	CHECK(rec.dur == c.dur && rec.tid == c.tid && rec.api_len == 9);
	is_text(&rec.json, hrr_json_get(&rec.json, rec.args, "name"), text, len);

	const struct hrr_edit edits[] = {
	    {"dur", "17", 2, HRR_EDIT_LAST}, {"p", "3", 1, HRR_EDIT_SECOND}, {"tid", NULL, 0, 0}};
	struct hrr_buf edited = {0};
	CHECK(hrr_record_edit(&rec, edits, 3, &edited) == 0 && hrr_buf_addc(&edited, '\n') == 0);
	parse(&rec, &edited, HRR_REC_CALL);
	CHECK(rec.p == 3 && rec.seq == c.seq && rec.t == c.t && rec.dur == 17);
	is_text(&rec.json, hrr_json_get(&rec.json, rec.args, "name"), text, len);
	hrr_buf_release(&edited);

	b.len = 0;
	struct hrr_region r = {.add = at & 1,
			       .segment = at & 2,
			       .kind_known = true,
			       .base = base,
			       .size = bytes,
			       .t = c.t,
			       .tag = text,
			       .tag_len = len};
	CHECK(hrr_write_region(&b, c.p, &r) == 0);
	parse(&rec, &b, HRR_REC_REGION);
	CHECK(rec.t == c.t);

	b.len = 0;
	struct hrr_write_output o = {.p = c.p,
				     .seq = c.seq,
				     .node = -1,
				     .t = c.t,
				     .tid = c.tid,
				     .addr = base,
				     .size = bytes,
				     .unknown = at & 1,
				     .reason = "\"why\""}; /* always a text of ours */
	CHECK(hrr_write_output(&b, &o) == 0);
	parse(&rec, &b, HRR_REC_OUTPUT);
	CHECK(rec.seq == c.seq && rec.t == c.t && rec.tid == c.tid);

	b.len = 0;
	const char *const missing[] = {text};
	struct hrr_write_end e = {.p = c.p,
				  .how = "cut",
				  .t = c.t,
				  .calls = at,
				  .n_not_recorded = 1,
				  .not_recorded = missing,
				  .not_recorded_count = &bytes};
	CHECK(hrr_write_end(&b, &e) == 0);
	/* A name that is no text would not be a key; the table has none. */
	if (len == 0 ||
	    strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") == len)
		parse(&rec, &b, HRR_REC_END);
	free(text);
	hrr_buf_release(&b);
	return 0;
}
