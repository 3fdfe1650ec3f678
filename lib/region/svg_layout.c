#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/region/svg_private.h"

/* Where things go: addresses that were never used take no room. */

#define LOW 20.0   /* pixels of the smallest band */
#define MORE 150.0 /* and so many more for the largest */
#define ROOM 800.0 /* for all of them */
#define GAP 10.0

static int by_base(const void *a, const void *b)
{
	const struct hrr_map_band *x = a, *y = b;

	return x->base < y->base ? -1 : x->base > y->base;
}

bool hrr_map_drawn(const struct hrr_map *m, const struct hrr_map_thing *t)
{
	return t->kind != HRR_THING_HOST && t->to >= m->t_begin &&
	       (t->from == HRR_NO_TIME || t->from <= m->t_end);
}

/* Things that ever overlapped share a band. */
static int join(struct hrr_map *m)
{
	const struct hrr_map_thing *t = hrr_map_things(m);

	for (size_t i = 0; i < m->n_things; i++) {
		struct hrr_map_band x = {
		    .base = t[i].base, .size = t[i].size, .things = 1, .parts = 1};
		if (hrr_map_drawn(m, &t[i]) && hrr_buf_add(&m->bands, &x, sizeof x) < 0)
			return -ENOMEM;
	}
	struct hrr_map_band *b = hrr_map_bands(m);
	size_t n = m->bands.len / sizeof *b, k = 0;
	if (n == 0)
		return 0;
	qsort(b, n, sizeof *b, by_base);
	for (size_t i = 1; i < n; i++) {
		uint64_t end = b[k].base + (b[k].size - 1), last = b[i].base + (b[i].size - 1);
		if (b[i].base > end) {
			b[++k] = b[i];
			continue;
		}
		b[k].size = (last > end ? last : end) - b[k].base + 1;
		b[k].things++;
	}
	m->n_bands = k + 1;
	return 0;
}

static int by_gap(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t gap_before(const struct hrr_map_band *b)
{
	return b->base - (b[-1].base + (b[-1].size - 1));
}

/* Where there are more than can be shown, those nearest to each other share one, gaps and all. */
static int share(struct hrr_map *m)
{
	struct hrr_map_band *b = hrr_map_bands(m);
	size_t n = m->n_bands, more = n - HRR_MAP_MAX_BANDS, k = 0;

	if (n <= HRR_MAP_MAX_BANDS)
		return 0;
	uint64_t *gaps = calloc(n, sizeof *gaps);
	if (gaps == NULL)
		return -ENOMEM;
	for (size_t i = 1; i < n; i++)
		gaps[i - 1] = gap_before(&b[i]);
	qsort(gaps, n - 1, sizeof *gaps, by_gap);
	/* Gaps of like size go together: one of some like ranges does not stand apart. */
	uint64_t widest = gaps[more - 1] < UINT64_MAX / 4 ? gaps[more - 1] * 4 : UINT64_MAX;
	free(gaps);
	uint64_t end = b[0].base + (b[0].size - 1);
	for (size_t i = 1; i < n; i++) {
		uint64_t gap = b[i].base - end, last = b[i].base + (b[i].size - 1);

		end = last;
		if (gap <= widest) {
			b[k].size = last - b[k].base + 1;
			b[k].things += b[i].things;
			b[k].parts += b[i].parts;
		} else {
			b[++k] = b[i];
		}
	}
	m->n_bands = k + 1;
	return 0;
}

int hrr_map_layout(struct hrr_map *m, double y)
{
	int rc = join(m);

	if (rc == 0)
		rc = share(m);
	struct hrr_map_band *b = hrr_map_bands(m);
	if (rc < 0 || m->n_bands == 0)
		return rc;
	double largest = 1, busiest = 1, sum = 0;
	for (size_t i = 0; i < m->n_bands; i++) {
		largest = fmax(largest, (double)b[i].size);
		busiest = fmax(busiest, b[i].things);
	}
	for (size_t i = 0; i < m->n_bands; i++) {
		/* Room where there is much to see, more than where there are many bytes. */
		b[i].h = MORE * (1 + log10(b[i].parts)) *
			 (0.3 * sqrt((double)b[i].size / largest) +
			  0.7 * log(b[i].things) / log(1 + busiest));
		sum += b[i].h;
	}
	double scale = sum > ROOM ? ROOM / sum : 1;
	for (size_t i = 0; i < m->n_bands; i++) {
		b[i].h = LOW + b[i].h * scale;
		b[i].y = y;
		y += b[i].h + GAP;
	}
	m->height = y;
	return 0;
}

const struct hrr_map_band *hrr_map_band(const struct hrr_map *m, uint64_t addr)
{
	const struct hrr_map_band *b = hrr_map_bands(m);
	size_t low = 0, high = m->n_bands;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (addr < b[mid].base)
			high = mid;
		else if (addr - b[mid].base >= b[mid].size)
			low = mid + 1;
		else
			return &b[mid];
	}
	return NULL;
}

double hrr_map_x(const struct hrr_map *m, uint64_t t)
{
	double span = (double)(m->t_end - m->t_begin);

	if (t == HRR_NO_TIME || t > m->t_end)
		t = m->t_end;
	if (t < m->t_begin)
		t = m->t_begin;
	return m->left + (m->right - m->left) * ((double)(t - m->t_begin) / span);
}

double hrr_map_y(const struct hrr_map_band *band, uint64_t addr)
{
	return band->y + band->h * ((double)(addr - band->base) / (double)band->size);
}

int hrr_map_text(struct hrr_buf *b, const char *s)
{
	char text[1024];
	int bad = 0;

	hrr_mask(text, sizeof text, s, strlen(s));
	for (const char *c = text; *c != '\0'; c++)
		switch (*c) {
		case '&':
			bad |= hrr_buf_adds(b, "&amp;");
			break;
		case '<':
			bad |= hrr_buf_adds(b, "&lt;");
			break;
		case '>':
			bad |= hrr_buf_adds(b, "&gt;");
			break;
		default:
			bad |= hrr_buf_addc(b, *c);
		}
	return bad;
}

static void with_unit(char *text, size_t size, double v, double step, const char *const *units,
		      size_t n)
{
	size_t i = 0;

	while (i + 1 < n && v >= step) {
		v /= step;
		i++;
	}
	/* 4.25, 12.5, 340: what three digits tell. */
	int digits = v >= 100 || v == floor(v) ? 0 : v >= 10 ? 1 : 2;
	char number[32];
	snprintf(number, sizeof number, "%.*f", digits, v);
	for (size_t end = strlen(number); digits > 0 && end > 1; end--) { /* 1.20 is 1.2 */
		if (number[end - 1] != '0' && number[end - 1] != '.')
			break;
		bool point = number[end - 1] == '.';
		number[end - 1] = '\0';
		if (point)
			break;
	}
	snprintf(text, size, "%s %s", number, units[i]);
}

void hrr_map_bytes(char *text, size_t size, uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};

	with_unit(text, size, (double)bytes, 1024, units, 5);
}

void hrr_map_time(char *text, size_t size, uint64_t ns)
{
	static const char *const units[] = {"ns", "µs", "ms", "s"};

	if (ns == 0)
		snprintf(text, size, "0");
	else
		with_unit(text, size, (double)ns, 1000, units, 4);
}
