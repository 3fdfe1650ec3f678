#include <errno.h>
#include <math.h>
#include <string.h>

#include "lib/diff/bytes.h"
#include "lib/diff/report_private.h"

#define GAP 16	     /* equal bytes that end a range */
#define RANGES 8     /* shown of one pair of blobs */
#define RANGE_HEX 32 /* bytes shown of one range and side */

static bool tolerant(const struct hrr_report *r)
{
	const struct hrr_tolerance *t = &r->opt.tolerance;

	return r->opt.type && (t->atol > 0 || t->rtol > 0 || t->ulp > 0 || t->equal_nan);
}

int hrr_report_differ(const struct hrr_report *r, const void *a, size_t len_a, const void *b,
		      size_t len_b)
{
	size_t whole;

	if (len_a != len_b)
		return 1;
	if (memcmp(a, b, len_a) == 0)
		return 0;
	if (!tolerant(r))
		return 1;
	whole = len_a / hrr_type_size(r->opt.type) * hrr_type_size(r->opt.type);
	if (memcmp((const char *)a + whole, (const char *)b + whole, len_a - whole) != 0)
		return 1;
	return !hrr_typed_within(r->opt.type, a, b, whole, &r->opt.tolerance);
}

static int hex(struct hrr_buf *out, const unsigned char *p, size_t n, size_t max)
{
	int rc = 0;

	for (size_t i = 0; i < n && i < max && rc == 0; i++)
		rc = hrr_buf_addf(out, "%s%02x", i ? " " : "", p[i]);
	return rc == 0 && n > max ? hrr_buf_adds(out, " …") : rc;
}

static int worst(struct hrr_buf *out, const char *name, const struct hrr_typed_worst *w, bool ulp)
{
	if (ulp)
		return hrr_buf_addf(out, ", %s %llu at [%zu]", name, (unsigned long long)w->ulp,
				    w->index);
	return hrr_buf_addf(out, ", %s %.6g at [%zu]", name, w->value, w->index);
}

/* JSON has no infinity: what is that far from 0 is so far from it as text. */
static int worst_json(struct hrr_buf *out, const char *name, const struct hrr_typed_worst *w)
{
	if (isinf(w->value))
		return hrr_buf_addf(out, ",\"%s\":{\"value\":\"inf\",\"index\":%zu}", name,
				    w->index);
	return hrr_buf_addf(out, ",\"%s\":{\"value\":%.17g,\"index\":%zu}", name, w->value,
			    w->index);
}

/* The span of a bin of ulp distances as text. */
static void bin_name(int bin, char *text, size_t size)
{
	uint64_t lo = bin ? (uint64_t)1 << (bin - 1) : 0, hi = bin ? lo * 2 - 1 : 0;

	if (lo == hi)
		snprintf(text, size, "%llu", (unsigned long long)lo);
	else
		snprintf(text, size, "%llu-%llu", (unsigned long long)lo, (unsigned long long)hi);
}

static int typed_text(struct hrr_report *r, const unsigned char *a, const unsigned char *b,
		      size_t len)
{
	struct hrr_buf *out = &r->buf;
	struct hrr_typed t;
	size_t size = hrr_type_size(r->opt.type);
	char name[64];
	int rc;

	hrr_typed_compare(r->opt.type, a, b, len, &r->opt.tolerance, &t);
	rc = hrr_buf_addf(out, "    %s: %zu of %zu differ, %zu within tolerance",
			  hrr_type_names[r->opt.type], t.differing, t.n, t.within);
	if (rc == 0 && t.abs.value > 0 && (rc = worst(out, "worst abs", &t.abs, false)) == 0 &&
	    (rc = worst(out, "rel", &t.rel, false)) == 0)
		rc = worst(out, "ulp", &t.ulp, true);
	if (rc == 0)
		rc = hrr_buf_addf(out, "; NaN %zu | %zu, infinite %zu | %zu\n    ulp", t.nan[0],
				  t.nan[1], t.inf[0], t.inf[1]);
	for (int i = 0; i < HRR_TYPED_BINS && rc == 0; i++)
		if (t.bins[i]) {
			bin_name(i, name, sizeof name);
			rc = hrr_buf_addf(out, " %s:%zu", name, t.bins[i]);
		}
	if (rc == 0)
		rc = hrr_buf_adds(out, "\n");
	for (size_t i = 0, shown = 0; i < t.n && shown < RANGES && rc == 0; i++) {
		if (hrr_typed_equal(r->opt.type, a + i * size, b + i * size, &r->opt.tolerance))
			continue;
		shown++;
		if ((rc = hrr_buf_addf(out, "    [%zu] ", i)) == 0 &&
		    (rc = hrr_typed_put(r->opt.type, a + i * size, out)) == 0 &&
		    (rc = hrr_buf_adds(out, " | ")) == 0 &&
		    (rc = hrr_typed_put(r->opt.type, b + i * size, out)) == 0)
			rc = hrr_buf_adds(out, "\n");
	}
	return rc;
}

static int list_text(struct hrr_report *r, const unsigned char *a, const unsigned char *b,
		     size_t len)
{
	struct hrr_bytes_range x;
	int rc = 0;

	for (size_t at = 0; rc == 0 && hrr_bytes_next(a, b, len, at, 1, &x); at = x.at + x.size) {
		for (size_t i = x.at; i < x.at + x.size && rc == 0; i++) {
			rc = hrr_buf_addf(&r->buf, "%zu %3o %3o\n", i + 1, a[i], b[i]);
			if (r->buf.len > 65536)
				hrr_report_flush(r);
		}
	}
	return rc;
}

/* Number of differing bytes and of ranges. */
static size_t totals(const void *a, const void *b, size_t len, size_t *ret_ranges)
{
	struct hrr_bytes_range x;
	size_t n = 0;

	*ret_ranges = 0;
	for (size_t at = 0; hrr_bytes_next(a, b, len, at, GAP, &x); at = x.at + x.size) {
		n += x.differing;
		(*ret_ranges)++;
	}
	return n;
}

static int ranges_text(struct hrr_report *r, const unsigned char *a, const unsigned char *b,
		       size_t len, size_t n_ranges)
{
	struct hrr_bytes_range x;
	size_t shown = 0;
	int rc = 0;

	for (size_t at = 0; rc == 0 && shown < RANGES && hrr_bytes_next(a, b, len, at, GAP, &x);
	     at = x.at + x.size, shown++)
		if ((rc = hrr_buf_addf(&r->buf, "    0x%zx..0x%zx: ", x.at, x.at + x.size)) == 0 &&
		    (rc = hex(&r->buf, a + x.at, x.size, RANGE_HEX)) == 0 &&
		    (rc = hrr_buf_adds(&r->buf, " | ")) == 0 &&
		    (rc = hex(&r->buf, b + x.at, x.size, RANGE_HEX)) == 0)
			rc = hrr_buf_adds(&r->buf, "\n");
	if (rc == 0 && n_ranges > shown)
		rc = hrr_buf_addf(&r->buf, "    and %zu more ranges\n", n_ranges - shown);
	return rc;
}

static int put_bytes_text(struct hrr_report *r, const char *path, const unsigned char *a,
			  size_t len_a, const unsigned char *b, size_t len_b)
{
	size_t len = len_a < len_b ? len_a : len_b, ranges, n;
	int rc;

	if (r->opt.list)
		return list_text(r, a, b, len);
	n = totals(a, b, len, &ranges);
	rc = len_a == len_b
		 ? hrr_buf_addf(&r->buf, "  %s: %zu of %zu bytes differ in %zu range%s\n", path, n,
				len, ranges, ranges == 1 ? "" : "s")
		 : hrr_buf_addf(&r->buf,
				"  %s: %zu | %zu bytes; of the first %zu, %zu differ in %zu "
				"range%s\n",
				path, len_a, len_b, len, n, ranges, ranges == 1 ? "" : "s");
	if (rc == 0 && n)
		rc = r->opt.type ? typed_text(r, a, b, len) : ranges_text(r, a, b, len, ranges);
	return rc;
}

static int typed_json(struct hrr_report *r, const unsigned char *a, const unsigned char *b,
		      size_t len)
{
	struct hrr_typed t;
	int rc, comma = 0;

	hrr_typed_compare(r->opt.type, a, b, len, &r->opt.tolerance, &t);
	rc = hrr_buf_addf(&r->buf,
			  ",\"typed\":{\"type\":\"%s\",\"n\":%zu,\"exact\":%zu,\"within\":%zu,"
			  "\"differing\":%zu,\"nan\":[%zu,%zu],\"inf\":[%zu,%zu]",
			  hrr_type_names[r->opt.type], t.n, t.exact, t.within, t.differing,
			  t.nan[0], t.nan[1], t.inf[0], t.inf[1]);
	if (rc == 0 && t.differing)
		rc = hrr_buf_addf(&r->buf, ",\"first\":%zu", t.first);
	if (rc == 0 && t.abs.value > 0)
		rc = worst_json(&r->buf, "abs", &t.abs);
	if (rc == 0 && t.rel.value > 0)
		rc = worst_json(&r->buf, "rel", &t.rel);
	if (rc == 0 && t.ulp.ulp)
		rc = hrr_buf_addf(&r->buf, ",\"ulp\":{\"value\":\"0x%llx\",\"index\":%zu}",
				  (unsigned long long)t.ulp.ulp, t.ulp.index);
	if (rc == 0)
		rc = hrr_buf_adds(&r->buf, ",\"ulps\":{");
	for (int i = 0; i < HRR_TYPED_BINS && rc == 0; i++)
		if (t.bins[i]) {
			char name[64];

			bin_name(i, name, sizeof name);
			rc = hrr_buf_addf(&r->buf, "%s\"%s\":%zu", comma++ ? "," : "", name,
					  t.bins[i]);
		}
	return rc == 0 ? hrr_buf_adds(&r->buf, "}}") : rc;
}

static int put_bytes_json(struct hrr_report *r, const unsigned char *a, size_t len_a,
			  const unsigned char *b, size_t len_b)
{
	size_t len = len_a < len_b ? len_a : len_b, ranges, n = totals(a, b, len, &ranges), i = 0;
	struct hrr_bytes_range x;
	int rc = hrr_buf_addf(&r->buf,
			      ",\"size\":[%zu,%zu],\"differing\":%zu,\"nranges\":%zu,\"ranges\":[",
			      len_a, len_b, n, ranges);

	for (size_t at = 0; rc == 0 && i < RANGES && hrr_bytes_next(a, b, len, at, GAP, &x);
	     at = x.at + x.size, i++) {
		size_t show = x.size < RANGE_HEX ? x.size : RANGE_HEX;

		if ((rc = hrr_buf_addf(&r->buf, "%s{\"at\":%zu,\"size\":%zu,\"a\":", i ? "," : "",
				       x.at, x.size)) == 0 &&
		    (rc = hrr_json_put_hex(&r->buf, a + x.at, show)) == 0 &&
		    (rc = hrr_buf_adds(&r->buf, ",\"b\":")) == 0 &&
		    (rc = hrr_json_put_hex(&r->buf, b + x.at, show)) == 0)
			rc = hrr_buf_adds(&r->buf, "}");
	}
	if (rc == 0)
		rc = hrr_buf_adds(&r->buf, "]");
	if (rc == 0 && r->opt.type)
		rc = typed_json(r, a, b, len);
	return rc;
}

int hrr_report_put_bytes(struct hrr_report *r, const char *path, const void *a, size_t len_a,
			 const void *b, size_t len_b)
{
	return r->opt.json ? put_bytes_json(r, a, len_a, b, len_b)
			   : put_bytes_text(r, path, a, len_a, b, len_b);
}

int hrr_report_bytes(struct hrr_report *r, const char *path, const void *a, size_t len_a,
		     const void *b, size_t len_b)
{
	int rc, differ = hrr_report_differ(r, a, len_a, b, len_b);

	if (!differ) {
		r->tolerated += len_a && memcmp(a, b, len_a) != 0;
		return 0;
	}
	r->differ++;
	if (r->opt.shown == 0)
		return 1;
	if (!r->opt.json) {
		rc = hrr_report_put_bytes(r, path, a, len_a, b, len_b);
	} else if ((rc = hrr_buf_adds(&r->buf, "{\"diff\":\"bytes\",\"a\":")) == 0 &&
		   (rc = hrr_json_put_str(&r->buf, r->name[0], strlen(r->name[0]))) == 0 &&
		   (rc = hrr_buf_adds(&r->buf, ",\"b\":")) == 0 &&
		   (rc = hrr_json_put_str(&r->buf, r->name[1], strlen(r->name[1]))) == 0 &&
		   (rc = hrr_report_put_bytes(r, path, a, len_a, b, len_b)) == 0) {
		rc = hrr_buf_adds(&r->buf, "}\n");
	}
	hrr_report_flush(r);
	return rc < 0 ? rc : 1;
}
