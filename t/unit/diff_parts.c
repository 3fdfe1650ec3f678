/* lib/diff: the map, the alignment, ranges of bytes and numbers, each against a slow way. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/diff/align.h"
#include "lib/diff/bytes.h"
#include "lib/diff/map.h"
#include "lib/diff/typed.h"
#include "lib/diff/typed_block.h"
#include "t/unit/tap.h"

static uint32_t random32(void)
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (uint32_t)(x >> 16);
}

static void map(void)
{
	enum { KEYS = 97 };
	struct hrr_map m = {0};
	uint64_t value[KEYS] = {0}, got;
	bool there[KEYS] = {0}, right = true;

	ok(!hrr_map_get(&m, 1, 2, &got) && !hrr_map_del(&m, 1, 2, &got),
	   "an empty map holds nothing");
	for (int i = 0; i < 20000; i++) {
		unsigned k = random32() % KEYS;

		if (random32() % 3 == 0) {
			bool had = hrr_map_del(&m, k % 7, k, &got);

			right &= had == there[k] && (!had || got == value[k]);
			there[k] = false;
		} else {
			value[k] = random32();
			there[k] = true;
			right &= hrr_map_set(&m, k % 7, k, value[k]) == 0;
		}
		k = random32() % KEYS;
		bool has = hrr_map_get(&m, k % 7, k, &got);
		right &= has == there[k] && (!has || got == value[k]);
	}
	ok(right, "20000 random steps give what an array gives");
	hrr_map_release(&m);
}

/* Cost of a list of operations by the rules of align.h, or -1 when it is no path. */
static long cost(const struct hrr_align_key *a, size_t na, const struct hrr_align_key *b, size_t nb,
		 const uint8_t *ops, size_t n)
{
	size_t i = 0, j = 0;
	long c = 0;

	for (size_t k = 0; k < n; k++) {
		if (ops[k] == HRR_ALIGN_BOTH) {
			if (i >= na || j >= nb)
				return -1;
			c += a[i].content == b[j].content ? 0
			     : a[i].shape == b[j].shape	  ? 6
			     : a[i].family == b[j].family ? 7
							  : 1000;
			i++;
			j++;
		} else {
			if (ops[k] == HRR_ALIGN_A ? i >= na : j >= nb)
				return -1;
			c += ops[k] == HRR_ALIGN_A ? a[i++].alone : b[j++].alone;
		}
	}
	return i == na && j == nb ? c : -1;
}

static long best(const struct hrr_align_key *a, size_t na, const struct hrr_align_key *b, size_t nb)
{
	long c = 0;

	for (size_t i = 0; nb == 0 && i < na; i++)
		c += a[i].alone;
	for (size_t i = 0; na == 0 && i < nb; i++)
		c += b[i].alone;
	if (na == 0 || nb == 0)
		return c;
	uint8_t both = HRR_ALIGN_BOTH;
	long x = cost(a, 1, b, 1, &both, 1) + best(a + 1, na - 1, b + 1, nb - 1);
	long y = a->alone + best(a + 1, na - 1, b, nb), z = b->alone + best(a, na, b + 1, nb - 1);

	return x < y ? (x < z ? x : z) : y < z ? y : z;
}

static void align(void)
{
	static struct hrr_align w;
	static struct hrr_align_key k[2][HRR_ALIGN_WINDOW];
	bool right = true;

	for (int round = 0; round < 300; round++) {
		size_t n[2] = {random32() % 7, random32() % 7};

		for (int s = 0; s < 2; s++)
			for (size_t i = 0; i < n[s]; i++) {
				uint64_t f = random32() % 3, h = f * 10 + random32() % 2;

				k[s][i] = (struct hrr_align_key){h * 10 + random32() % 2, h, f,
								 random32() % 3 ? 4 : 1};
			}
		size_t ops = hrr_align(&w, k[0], n[0], k[1], n[1]);
		right &= cost(k[0], n[0], k[1], n[1], w.ops, ops) == best(k[0], n[0], k[1], n[1]);
	}
	ok(right, "alignments are the cheapest there are");
	/* The largest window, nothing in common: no overflow of costs, every call once. */
	for (size_t i = 0; i < HRR_ALIGN_WINDOW; i++) {
		k[0][i] = (struct hrr_align_key){i, i, i, 4};
		k[1][i] = (struct hrr_align_key){i + 1000, i + 1000, i + 1000, 4};
	}
	is(hrr_align(&w, k[0], HRR_ALIGN_WINDOW, k[1], HRR_ALIGN_WINDOW), 2 * HRR_ALIGN_WINDOW,
	   "a window without anything in common");
	memmove(k[1], k[0] + 1, (HRR_ALIGN_WINDOW - 1) * sizeof k[0][0]);
	size_t n = hrr_align(&w, k[0], HRR_ALIGN_WINDOW, k[1], HRR_ALIGN_WINDOW - 1);
	ok(n == HRR_ALIGN_WINDOW && w.ops[0] == HRR_ALIGN_A && w.ops[1] == HRR_ALIGN_BOTH,
	   "one taken out at the beginning is one operation");
}

static void bytes(void)
{
	static unsigned char a[10000], b[10000];
	bool right = true;

	for (int round = 0; round < 200; round++) {
		size_t len = random32() % sizeof a, gap = 1 + random32() % 20, want = 0, got = 0;
		size_t last = 0;
		struct hrr_bytes_range x;
		bool first = true;

		memcpy(b, a, sizeof a);
		for (unsigned k = random32() % 30; k > 0 && len; k--)
			b[random32() % len] ^= (unsigned char)(1 + random32() % 3);
		for (size_t i = 0; i < len; i++)
			want += a[i] != b[i];
		for (size_t at = 0; hrr_bytes_next(a, b, len, at, gap, &x); at = x.at + x.size) {
			got += x.differing;
			right &= a[x.at] != b[x.at] && a[x.at + x.size - 1] != b[x.at + x.size - 1];
			right &= x.at + x.size <= len && (first || x.at - last >= gap);
			last = x.at + x.size;
			first = false;
		}
		right &= got == want;
	}
	ok(right, "ranges hold every differing byte and are as far apart as asked");
	struct hrr_bytes_range x;
	ok(!hrr_bytes_next(a, a, sizeof a, 0, 1, &x) && !hrr_bytes_next(a, b, 0, 0, 1, &x),
	   "nothing differs in equal bytes, and in none");
}

static bool same(enum hrr_type t, const void *a, const void *b, double atol, double rtol,
		 uint64_t ulp, bool nan)
{
	struct hrr_tolerance tol = {atol, rtol, ulp, nan};

	return hrr_typed_equal(t, a, b, &tol);
}

static void text_is(enum hrr_type t, const void *p, const char *want)
{
	struct hrr_buf b = {0};

	hrr_typed_put(t, p, &b);
	is_str(hrr_buf_str(&b), want, "%s as text", hrr_type_names[t]);
	hrr_buf_release(&b);
}

static void typed(void)
{
	float one = 1, next = nextafterf(1, 2), zero = 0, minus = -zero, nan = NAN, inf = INFINITY;
	double tiny = 5e-324;
	uint16_t half = 0x3c01, half_small = 1, half_inf = 0x7c00, brain = 0x3f80;
	uint64_t big = UINT64_MAX;
	int8_t minus_one = -1, low = -128, high = 127;
	struct hrr_typed t;
	struct hrr_tolerance none = {0};

	text_is(HRR_TYPE_F32, &next, "1.00000012");
	text_is(HRR_TYPE_F64, &tiny, "4.9406564584124654e-324");
	text_is(HRR_TYPE_F16, &half, "1.001");
	text_is(HRR_TYPE_F16, &half_small, "5.9605e-08");
	text_is(HRR_TYPE_F16, &half_inf, "inf");
	text_is(HRR_TYPE_BF16, &brain, "1");
	text_is(HRR_TYPE_U64, &big, "18446744073709551615");
	text_is(HRR_TYPE_I8, &minus_one, "-1");
	text_is(HRR_TYPE_U8, &minus_one, "255");
	ok(!same(HRR_TYPE_F32, &one, &next, 0, 0, 0, false) &&
	       same(HRR_TYPE_F32, &one, &next, 0, 0, 1, false),
	   "neighbours are one ulp apart");
	ok(same(HRR_TYPE_F32, &zero, &minus, 0, 0, 0, false), "-0 is 0");
	ok(!same(HRR_TYPE_F32, &inf, &one, 1e30, 1e30, UINT32_MAX, true),
	   "infinity is near no number");
	ok(!same(HRR_TYPE_F32, &nan, &one, 1e30, 0, UINT32_MAX, true), "NaN is near no number");
	uint32_t other_nan = 0x7fc00001;
	ok(!same(HRR_TYPE_F32, &nan, &other_nan, 1, 1, 9, false) &&
	       same(HRR_TYPE_F32, &nan, &other_nan, 0, 0, 0, true),
	   "NaN is NaN when asked");
	ok(same(HRR_TYPE_I8, &low, &high, 255, 0, 0, false) &&
	       !same(HRR_TYPE_I8, &low, &high, 254, 0, 0, false),
	   "integers by absolute difference");
	uint64_t u[2] = {0, UINT64_MAX};
	hrr_typed_compare(HRR_TYPE_U64, &u[0], &u[1], 8, &none, &t);
	ok(t.ulp.ulp == UINT64_MAX && t.bins[64] == 1, "the widest distance there is");

	float a[6] = {1, 2, NAN, INFINITY, -4, 0}, b[6] = {1, 3, NAN, -INFINITY, -4.5f, 0};
	hrr_typed_compare(HRR_TYPE_F32, a, b, sizeof a + 3, &none, &t);
	ok(t.n == 6 && t.exact == 3 && t.differing == 3 && t.within == 0 && t.first == 1,
	   "counts of a mixed array");
	ok(t.nan[0] == 1 && t.nan[1] == 1 && t.inf[0] == 1 && t.inf[1] == 1, "NaN and infinity");
	ok(t.abs.index == 1 && t.abs.value == 1 && t.rel.index == 1 && t.rel.value == 0.5 &&
	       t.ulp.index == 1 && t.ulp.ulp == 0x400000,
	   "the worst by three measures");
	size_t bins = 0;
	for (int i = 0; i < HRR_TYPED_BINS; i++)
		bins += t.bins[i];
	is(bins, 4, "the histogram holds the finite pairs");
	is(hrr_type_find("f32"), HRR_TYPE_F32, "types by name");
	is(hrr_type_find("none"), HRR_TYPE_NONE, "and none by none");
}

/* Blocks of equal bits take another way: it has to count the same. */
static void typed_blocks(void)
{
	enum { N = 5000 };
	static float a[N], b[N];
	struct hrr_tolerance tol = {.rtol = 1e-6};
	struct hrr_typed whole, part;
	size_t exact = 0, nan = 0, inf = 0, zero_bin = 0, within = 0, differing = 0;

	for (int i = 0; i < N; i++)
		a[i] = b[i] = i % 97 == 0 ? NAN : i % 89 == 0 ? -INFINITY : (float)i;
	b[3000] = nextafterf(b[3000], 9e9f);
	b[4999] = -1;
	hrr_typed_compare(HRR_TYPE_F32, a, b, sizeof a, &tol, &whole);
	for (int i = 0; i < N; i++) {
		hrr_typed_compare(HRR_TYPE_F32, a + i, b + i, sizeof *a, &tol, &part);
		exact += part.exact;
		within += part.within;
		differing += part.differing;
		nan += part.nan[0];
		inf += part.inf[1];
		zero_bin += part.bins[0];
	}
	ok(whole.exact == exact && whole.within == within && whole.differing == differing &&
	       whole.nan[0] == nan && whole.inf[1] == inf && whole.bins[0] == zero_bin,
	   "blocks give what single elements give");
	ok(whole.first == 4999 && whole.within == 1 && whole.differing == 1 && nan > 50 && inf > 50,
	   "and that is what was put there");
	ok(!hrr_typed_within(HRR_TYPE_F32, a, b, sizeof a, &tol), "the answer alone: no");
	b[4999] = a[4999];
	ok(hrr_typed_within(HRR_TYPE_F32, a, b, sizeof a, &tol), "the answer alone: yes");
	b[89] = INFINITY; /* where a holds -infinity */
	tol.atol = 1e300;
	tol.rtol = 1;
	ok(!hrr_typed_within(HRR_TYPE_F32, a, b, sizeof a, &tol), "no tolerance reaches infinity");
	is(whole.rel.index, 4999, "the worst relative difference");
}

/* The fast answer must be that of one pair, at the edge of the tolerance too. */
static void typed_fast(void)
{
	enum { N = 256 };
	float a[N], b[N];
	bool right = true;
	int yes = 0, no = 0;

	for (int round = 0; round < 20000; round++) {
		struct hrr_tolerance tol = {.rtol = round % 3 ? 1e-5 : 0,
					    .atol = round % 2 ? 1e-3 : 0};
		uint32_t bits = random32();
		float x, y;

		if (round % 5 == 0)
			bits &= 0x80ffffff; /* small, mostly not normal */
		memcpy(&x, &bits, sizeof x);
		double limit = tol.atol + tol.rtol * fabs((double)x);
		y = (float)((double)x + limit * (0.9999999 + 2e-7 * (random32() % 3) - 1e-7));
		for (int i = 0; i < N; i++) {
			a[i] = x;
			b[i] = y;
		}
		bool want = hrr_typed_equal(HRR_TYPE_F32, &x, &y, &tol);

		right &= hrr_typed_within(HRR_TYPE_F32, a, b, sizeof a, &tol) == want;
		yes += want;
		no += !want;
	}
	ok(right && yes > 1000 && no > 1000, "20000 pairs at the edge: %d yes, %d no", yes, no);
}

static void fill(enum hrr_type type, unsigned char *a, unsigned char *b, size_t n)
{
	static const uint64_t special[] = {0,	       0x7c00, 0x7c01, 0x7f80,	    0x7f800000,
					   0x7f800001, 0x3c00, 1,      0xffc00000u, 0x80000000u};
	size_t size = hrr_type_size(type);
	unsigned kind = random32() % 5;

	for (size_t i = 0; i < n; i++) {
		uint64_t x = (uint64_t)random32() << 32 | random32(), y = x;
		unsigned how = kind == 4 ? random32() % 4 : kind;

		if (random32() % 16 == 0)
			x = y = special[random32() % 10] << (size == 8 && random32() % 2 ? 32 : 0);
		if (random32() % 16 == 0)
			x ^= (uint64_t)1 << (size * 8 - 1);
		if (how == 1)
			y = x + random32() % 5 - 2;
		else if (how == 2)
			y = x + random32() % 100000;
		else if (how == 3)
			y = (uint64_t)random32() << 32 | random32();
		memcpy(a + i * size, &x, size);
		memcpy(b + i * size, &y, size);
	}
}

/* Vectors of the machine find what comparing pair by pair does, to the last bit. */
static void typed_vectors(void)
{
	enum { N = 3 * 256 + 17 };
	static unsigned char a[N * 8], b[N * 8];

	for (int t = 1; t < HRR_TYPE_COUNT; t++) {
		enum hrr_type type = (enum hrr_type)t;
		size_t size = hrr_type_size(type);
		bool right = true;

		for (int round = 0; round < 60; round++) {
			struct hrr_tolerance tol = {.rtol = round % 3 ? 1e-3 : 0,
						    .atol = round % 4 == 1 ? 1e-3 : 0,
						    .ulp = round % 5 == 2 ? 3 : 0,
						    .equal_nan = round % 2};
			struct hrr_typed whole, part, sum = {.n = N, .first = N};

			fill(type, a, b, N);
			hrr_typed_compare(type, a, b, N * size, &tol, &whole);
			for (size_t i = 0; i < N; i++) {
				hrr_typed_compare(type, a + i * size, b + i * size, size, &tol,
						  &part);
				sum.exact += part.exact;
				sum.within += part.within;
				if (part.differing && sum.differing++ == 0)
					sum.first = i;
				for (int k = 0; k < 2; k++) {
					sum.nan[k] += part.nan[k];
					sum.inf[k] += part.inf[k];
				}
				for (int k = 0; k < HRR_TYPED_BINS; k++)
					sum.bins[k] += part.bins[k];
				part.abs.index = part.rel.index = part.ulp.index = i;
				if (part.abs.value > sum.abs.value)
					sum.abs = part.abs;
				if (part.ulp.ulp > sum.ulp.ulp)
					sum.ulp = part.ulp;
			}
			right &=
			    sum.exact == whole.exact && sum.within == whole.within &&
			    sum.differing == whole.differing && sum.first == whole.first &&
			    memcmp(sum.nan, whole.nan, sizeof sum.nan) == 0 &&
			    memcmp(sum.inf, whole.inf, sizeof sum.inf) == 0 &&
			    memcmp(sum.bins, whole.bins, sizeof sum.bins) == 0 &&
			    sum.abs.value == whole.abs.value && sum.abs.index == whole.abs.index &&
			    sum.ulp.ulp == whole.ulp.ulp && sum.ulp.index == whole.ulp.index &&
			    (whole.differing == 0) == hrr_typed_within(type, a, b, N * size, &tol);
			/* The worst relative one, found by its place. */
			hrr_typed_compare(type, a + whole.rel.index * size,
					  b + whole.rel.index * size, size, &tol, &part);
			right &= part.rel.value == whole.rel.value;
			for (size_t i = 0; i < N; i++) {
				hrr_typed_compare(type, a + i * size, b + i * size, size, &tol,
						  &part);
				/* a quotient is rounded, the comparison of products is not */
				right &= part.rel.value <= whole.rel.value * (1 + 1e-15);
			}
		}
		ok(right, "%s: vectors and single pairs give the same", hrr_type_names[t]);
	}
}

/* Pairs of 16 bits that matter: NaN with payloads, infinities, denormals, both zeros, ties. */
static void fill_odd(unsigned char *a, unsigned char *b, size_t bytes)
{
	static const uint16_t odd[] = {0x7c01, 0xfe55, 0x7e00, 0x7c00, 0xfc00, 1,
				       0x8001, 0x03ff, 0x0400, 0,      0x8000, 0x3c00,
				       0x3c01, 0x7bff, 0x7f80, 0xff80, 0x7f81, 0xffc3,
				       0x007f, 0x3f80, 0x7fff, 0xffff, 0x8080, 0x7f7f};
	unsigned from = random32() % 24, count = 1 + random32() % (24 - from);

	for (size_t i = 0; i + 2 <= bytes; i += 2) {
		memcpy(a + i, &odd[from + random32() % count], 2);
		memcpy(b + i, &odd[from + random32() % count], 2);
	}
}

/* Whatever the machine has, the figures are those of the portable way: all of them, to the bit. */
static void typed_levels(void)
{
	enum { BYTES = 5 * 256 * 8 };
	static unsigned char a[BYTES + 8], b[BYTES + 8];
	static const double tolerances[] = {0, 1, 0.5, 1e-3, 0.01, 1e-9, 1e300};
	enum hrr_typed_level best = hrr_typed_limit(HRR_TYPED_AVX512);

	for (int l = (int)best; l > (int)HRR_TYPED_PORTABLE; l--)
		for (int t = 1; t < HRR_TYPE_COUNT; t++) {
			enum hrr_type type = (enum hrr_type)t;
			size_t size = hrr_type_size(type);
			bool right = true;

			for (int round = 0; round < 300; round++) {
				struct hrr_tolerance tol = {.rtol = tolerances[random32() % 7],
							    .atol = tolerances[random32() % 7],
							    .ulp =
								random32() % 3 ? 0 : random32() % 9,
							    .equal_nan = round % 2};
				size_t from = random32() % 8, len = random32() % BYTES;
				struct hrr_typed x, y;

				memset(&x, 0, sizeof x);
				memset(&y, 0, sizeof y);
				if (round % 3)
					fill(type, a, b, BYTES / size);
				else
					fill_odd(a, b, BYTES);
				if (round % 7 == 0) /* all of a block tie */
					for (size_t i = size; i < BYTES; i++) {
						a[i] = a[i - size];
						b[i] = b[i - size];
					}
				hrr_typed_limit((enum hrr_typed_level)l);
				hrr_typed_compare(type, a + from, b + from, len, &tol, &x);
				bool near = hrr_typed_within(type, a + from, b + from, len, &tol);
				hrr_typed_limit(HRR_TYPED_PORTABLE);
				hrr_typed_compare(type, a + from, b + from, len, &tol, &y);
				right &=
				    memcmp(&x, &y, sizeof x) == 0 && near == (x.differing == 0) &&
				    near == hrr_typed_within(type, a + from, b + from, len, &tol);
			}
			ok(right, "%s: level %d and the portable way give the same",
			   hrr_type_names[t], l);
		}
	hrr_typed_limit(HRR_TYPED_AVX512);
	if (best == HRR_TYPED_PORTABLE)
		ok(true, "this machine has the portable way only");
}

/* Numbers that no double holds apart. */
static void wide_integers(void)
{
	enum { N = 600 };
	static int64_t a[N], b[N];
	struct hrr_tolerance none = {0}, one = {.atol = 1};
	struct hrr_typed t;

	for (int i = 0; i < N; i++)
		a[i] = b[i] = (int64_t)1 << 60;
	b[3]++;
	b[599] -= 2;
	hrr_typed_compare(HRR_TYPE_I64, a, b, sizeof a, &none, &t);
	ok(t.differing == 2 && t.within == 0 && t.first == 3 && t.abs.value == 2 &&
	       t.abs.index == 599,
	   "2^60 and 2^60 + 1 are two numbers");
	hrr_typed_compare(HRR_TYPE_I64, a, b, sizeof a, &one, &t);
	ok(t.differing == 1 && t.within == 1 && t.first == 599, "and 1 apart");
	ok(!same(HRR_TYPE_U64, &a[3], &b[3], 0, 0, 0, false), "as a pair too");
}

/* The first of the greatest quotients is told, whatever comes later. */
static void worst_of_ties(void)
{
	enum { N = 1024 };
	static float a[N], b[N];
	struct hrr_tolerance none = {0};
	struct hrr_typed t;
	bool right = true;

	for (int k = 1; k < 400; k++) {
		for (int i = 0; i < N; i++) {
			a[i] = (float)k;
			b[i] = (float)k + 1;
		}
		b[0] = a[0];
		hrr_typed_compare(HRR_TYPE_F32, a, b, sizeof a, &none, &t);
		right &= t.rel.index == 1 && t.rel.value == 1.0 / k && t.abs.index == 1 &&
			 t.ulp.index == 1;
	}
	ok(right, "of equal ones the first is the worst");
}

/* Gigabytes per second, of both operands together; they are in the cache. */
static void speed(enum hrr_type type, const char *what, unsigned spread, bool answer_only)
{
	enum { BYTES = 128 << 10 };
	static unsigned char a[BYTES], b[BYTES];
	size_t size = hrr_type_size(type);
	struct hrr_tolerance tol = {.rtol = 1e-2, .ulp = 8};
	struct hrr_typed t;
	struct timespec from, to;
	double best = 0;
	bool all = true;

	for (size_t i = 0; i < BYTES / size; i++) {
		double v = ((double)random32() / 4294967296.0 - 0.5) * 1000;
		float f = (float)v;
		uint64_t x = 0x3c00 + random32() % 3000, y;

		if (type == HRR_TYPE_F32)
			memcpy(&x, &f, sizeof f);
		if (type == HRR_TYPE_F64)
			memcpy(&x, &v, sizeof v);
		y = spread ? x + random32() % spread : x;
		memcpy(a + i * size, &x, size);
		memcpy(b + i * size, &y, size);
	}
	for (int round = 0; round < 30; round++) {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
		for (int k = 0; k < 20; k++) {
			if (answer_only)
				all &= hrr_typed_within(type, a, b, BYTES, &tol);
			else
				hrr_typed_compare(type, a, b, BYTES, &tol, &t);
		}
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
		double s =
		    (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
		if (40.0 * BYTES / s > best)
			best = 40.0 * BYTES / s;
	}
	printf("%s, %s, %s: %.1f GB/s%s\n", hrr_type_names[type], what,
	       answer_only ? "the answer alone" : "all figures", best / 1e9, all ? "" : " (no)");
}

static int bench(void)
{
	for (int t = 1; t < HRR_TYPE_COUNT; t++) {
		speed((enum hrr_type)t, "some steps apart", t <= HRR_TYPE_BF16 ? 2 : 8, true);
		speed((enum hrr_type)t, "equal bits", 0, false);
		speed((enum hrr_type)t, "some steps apart", 8, false);
		speed((enum hrr_type)t, "many steps apart", 1 << 13, false);
	}
	return 0;
}

/* "bench" as argument: speeds instead of tests. */
int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "bench") == 0)
		return bench();
	map();
	align();
	bytes();
	typed();
	typed_blocks();
	typed_vectors();
	typed_levels();
	wide_integers();
	worst_of_ties();
	typed_fast();
	return done_testing();
}
