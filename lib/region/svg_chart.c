#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/region/svg_private.h"

/* The chart above the bands: bytes live over time, as steps, a few points per pixel. */
enum { BLOCKS, SEGMENTS, ALLOCATIONS, LINES };

struct change {
	uint64_t t;
	int64_t bytes;
	uint8_t line;
};

static int by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	/* What goes before what comes: a block's place taken again is no peak. */
	return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

static int changes(const struct hrr_map *m, struct hrr_buf *ret)
{
	static const uint8_t lines[] = {[HRR_THING_BLOCK] = BLOCKS,
					[HRR_THING_SEGMENT] = SEGMENTS,
					[HRR_THING_DEVICE] = ALLOCATIONS};
	const struct hrr_map_thing *t = hrr_map_things(m);

	for (size_t i = 0; i < m->n_things; i++) {
		if (!hrr_map_drawn(m, &t[i]))
			continue;
		struct change c = {t[i].from == HRR_NO_TIME ? m->t_begin : t[i].from,
				   (int64_t)t[i].size, lines[t[i].kind]};
		if (hrr_buf_add(ret, &c, sizeof c) < 0)
			return -ENOMEM;
		if (t[i].to == HRR_NO_TIME || t[i].to > m->t_end)
			continue;
		c.t = t[i].to;
		c.bytes = -c.bytes;
		if (hrr_buf_add(ret, &c, sizeof c) < 0)
			return -ENOMEM;
	}
	if (ret->len > 0)
		qsort(ret->data, ret->len / sizeof(struct change), sizeof(struct change), by_time);
	return 0;
}

/* One line's steps; in each pixel column only the lowest, the highest and the last value. */
static int draw(const struct hrr_map *m, struct hrr_buf *b, const struct change *c, size_t n,
		int line, double y, double h, double top)
{
	static const char *const styles[LINES] = {
	    [BLOCKS] = "fill=\"#4c78a8\" fill-opacity=\"0.35\" stroke=\"#4c78a8\"",
	    [SEGMENTS] = "fill=\"none\" stroke=\"#e07b00\" stroke-width=\"1.5\"",
	    [ALLOCATIONS] = "fill=\"none\" stroke=\"#555\" stroke-dasharray=\"4 3\""};
	double base = y + h, last_x = m->left;
	int64_t v = 0, low = 0, high = 0;
	int bad = hrr_buf_addf(b, "<path %s d=\"M%.1f %.1f", styles[line], m->left, base);

	for (size_t i = 0; i < n; i++) {
		if (c[i].line != line)
			continue;
		double x = hrr_map_x(m, c[i].t);
		if (x - last_x >= 0.5) {
			if (low != high)
				bad |= hrr_buf_addf(b, "V%.1fV%.1f", base - h * (double)high / top,
						    base - h * (double)low / top);
			bad |= hrr_buf_addf(b, "V%.1fH%.1f", base - h * (double)v / top, x);
			last_x = x;
			low = high = v;
		}
		v += c[i].bytes;
		/* Nor is a segment that grows a gap: only what a moment ends with counts. */
		if (i + 1 < n && c[i + 1].t == c[i].t && c[i + 1].line == line)
			continue;
		low = v < low ? v : low;
		high = v > high ? v : high;
	}
	bad |= hrr_buf_addf(b, "V%.1fV%.1fH%.1f", base - h * (double)high / top,
			    base - h * (double)v / top, m->right);
	if (line == BLOCKS)
		bad |= hrr_buf_addf(b, "V%.1fZ", base);
	return bad | hrr_buf_adds(b, "\"/>\n");
}

int hrr_map_chart(struct hrr_map *m, struct hrr_buf *b, double y, double h)
{
	static const char *const names[LINES] = {"blocks", "segments", "allocations of HIP"};
	static const char *const colours[LINES] = {"#4c78a8", "#e07b00", "#555"};
	struct hrr_buf list = {0};
	int64_t v[LINES] = {0}, peak[LINES] = {0}, top = 1;
	char text[32];
	int bad = changes(m, &list);
	const struct change *c = (const void *)list.data;
	size_t n = list.len / sizeof *c;

	for (size_t i = 0; bad == 0 && i < n; i++) {
		v[c[i].line] += c[i].bytes;
		if (v[c[i].line] > peak[c[i].line])
			peak[c[i].line] = v[c[i].line];
	}
	for (int i = 0; i < LINES; i++)
		top = peak[i] > top ? peak[i] : top;
	for (int i = 0; i <= 2; i++) {
		double at = y + h - h * i / 2;
		hrr_map_bytes(text, sizeof text, (uint64_t)(top / 2 * i));
		bad |= hrr_buf_addf(b,
				    "<path stroke=\"#ddd\" d=\"M%.1f %.1fH%.1f\"/><text x=\"%.1f\" "
				    "y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
				    m->left, at, m->right, m->left - 6, at + 4, text);
	}
	static const int order[LINES] = {ALLOCATIONS, BLOCKS, SEGMENTS};
	for (int i = 0; bad == 0 && i < LINES; i++)
		if (peak[order[i]] > 0)
			bad |= draw(m, b, c, n, order[i], y, h, (double)top);
	double x = m->left;
	for (int i = 0; i < LINES; i++) {
		if (peak[i] == 0)
			continue;
		hrr_map_bytes(text, sizeof text, (uint64_t)peak[i]);
		bad |=
		    hrr_buf_addf(b,
				 "<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"4\" "
				 "fill=\"%s\"/><text x=\"%.1f\" y=\"%.1f\">%s, at most %s</text>\n",
				 x, y - 12, colours[i], x + 17, y - 6, names[i], text);
		x += 250;
	}
	hrr_buf_release(&list);
	return bad;
}
