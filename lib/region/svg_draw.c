#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/region/svg_private.h"

#define CHART_Y 74.0
#define CHART_H 110.0
#define BANDS_Y 232.0

/* Colours of blocks: one per tag. Told apart by people who see red and green alike, too. */
static const char *colour(const char *tag)
{
	static const char *const colours[] = {"#4c78a8", "#72b7b2", "#9d755d", "#b279a2",
					      "#eeca3b", "#54a24b", "#79a7d9", "#d6a5c9",
					      "#6b6ecf", "#a0c4a0"};
	uint32_t h = 2166136261u;

	if (tag == NULL)
		return colours[0];
	for (; *tag != '\0'; tag++)
		h = (h ^ (unsigned char)*tag) * 16777619u;
	return colours[h % (sizeof colours / sizeof *colours)];
}

struct rect {
	double x, y, w, h;
	bool shown;
};

static struct rect place(const struct hrr_map *m, const struct hrr_map_thing *t)
{
	const struct hrr_map_band *band = hrr_map_band(m, t->base);
	struct rect r = {0};

	if (band == NULL || !hrr_map_drawn(m, t))
		return r;
	r.x = hrr_map_x(m, t->from == HRR_NO_TIME ? 0 : t->from);
	r.w = hrr_map_x(m, t->to) - r.x;
	r.y = hrr_map_y(band, t->base);
	r.h = band->h * ((double)t->size / (double)band->size);
	/* Never too thin to be seen. */
	if (r.w < 0.6)
		r.w = 0.6;
	if (r.h < 0.6)
		r.h = 0.6;
	r.shown = true;
	return r;
}

static int put_life(struct hrr_buf *b, const struct hrr_map *m, const struct hrr_map_thing *t)
{
	char size[32], from[32], to[32] = "the end";

	hrr_map_bytes(size, sizeof size, t->size);
	if (t->from == HRR_NO_TIME)
		snprintf(from, sizeof from, "before the stream");
	else
		hrr_map_time(from, sizeof from, t->from);
	if (t->to != HRR_NO_TIME)
		hrr_map_time(to, sizeof to, t->to);
	int bad = hrr_buf_addf(b, "<title>%s 0x%" PRIx64 " + %" PRIu64 " (%s)\n%s to %s",
			       hrr_thing_word(t->kind), t->base, t->size, size, from, to);
	if (t->api != SIZE_MAX)
		bad |= hrr_buf_addf(b, "\ncall %" PRIu64 " %s", t->seq, m->text.data + t->api);
	if (t->tag != SIZE_MAX) {
		bad |= hrr_buf_addc(b, '\n');
		bad |= hrr_map_text(b, m->text.data + t->tag);
	}
	return bad | hrr_buf_adds(b, "</title>");
}

#define LABEL_H 11.0 /* pixels of a rectangle with words in it */
#define LABEL_CHAR 5.2

/* Words in a rectangle with room for them: its tag or the call that made it, and its size. */
static int put_label(struct hrr_buf *b, const struct hrr_map *m, const struct hrr_map_thing *t,
		     const struct rect *r)
{
	char text[256], size[32];
	double room = (r->w - 6) / LABEL_CHAR;
	size_t fits = room < 0 ? 0 : room > 200 ? 200 : (size_t)room;

	hrr_map_bytes(size, sizeof size, t->size);
	if (r->h < LABEL_H || fits < strlen(size))
		return 0;
	if (t->tag != SIZE_MAX)
		snprintf(text, sizeof text, "%.200s, %s", m->text.data + t->tag, size);
	else if (t->api != SIZE_MAX)
		snprintf(text, sizeof text, "%.100s %" PRIu64 ", %s", m->text.data + t->api, t->seq,
			 size);
	else
		snprintf(text, sizeof text, "%s", size);
	if (strlen(text) > fits) {
		/* The size at least; else the words, cut where a character begins. */
		size_t cut = fits > 3 ? fits - 1 : 0;
		while (cut > 0 && ((unsigned char)text[cut] & 0xc0) == 0x80)
			cut--;
		if (cut < 8)
			snprintf(text, sizeof text, "%s", size);
		else
			snprintf(text + cut, sizeof text - cut, "…");
	}
	int bad = hrr_buf_addf(b, "<text class=\"l\" x=\"%.1f\" y=\"%.1f\" fill=\"%s\">", r->x + 3,
			       r->y + (r->h < 24 ? r->h / 2 + 3 : 11),
			       t->kind == HRR_THING_BLOCK ? "#fff" : "#555");
	bad |= hrr_map_text(b, text);
	return bad | hrr_buf_adds(b, "</text>\n");
}

static int put_rect(struct hrr_buf *b, const struct hrr_map *m, const struct hrr_map_thing *t)
{
	struct rect r = place(m, t);
	int bad;

	if (t->kind == HRR_THING_BLOCK) {
		/* A white edge parts neighbours, where there is room for one. */
		bool edge = r.h > 3 && r.w > 3;
		bad = hrr_buf_addf(
		    b, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"%s>",
		    r.x, r.y, r.w, r.h, colour(t->tag != SIZE_MAX ? m->text.data + t->tag : NULL),
		    edge ? " stroke=\"#fff\" stroke-width=\"0.6\"" : "");
	} else {
		bad = hrr_buf_addf(b,
				   "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" %s>",
				   r.x, r.y, r.w, r.h,
				   t->kind == HRR_THING_SEGMENT
				       ? "fill=\"#fbe3c8\" stroke=\"#e07b00\" stroke-width=\"0.8\""
				       : "fill=\"#e6e6e6\" stroke=\"#999\" stroke-width=\"0.8\"");
	}
	bad |= put_life(b, m, t);
	bad |= hrr_buf_adds(b, "</rect>\n");
	return bad | put_label(b, m, t, &r);
}

static int by_area(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x > y ? -1 : x < y;
}

/* The least area that is drawn when there are more than can be. */
static int threshold(const struct hrr_map *m, double *ret)
{
	size_t n = 0;

	*ret = 0;
	if (m->n_things <= HRR_MAP_MAX_RECTS)
		return 0;
	double *area = calloc(m->n_things, sizeof *area);
	if (area == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < m->n_things; i++) {
		struct rect r = place(m, &hrr_map_things(m)[i]);
		if (r.shown)
			area[n++] = r.w * r.h;
	}
	qsort(area, n, sizeof *area, by_area);
	if (n > HRR_MAP_MAX_RECTS)
		*ret = area[HRR_MAP_MAX_RECTS];
	free(area);
	return 0;
}

static int put_things(struct hrr_map *m, struct hrr_buf *b, struct hrr_map_stats *stats)
{
	/* Wholes below, parts above. */
	static const uint8_t order[] = {HRR_THING_DEVICE, HRR_THING_SEGMENT, HRR_THING_BLOCK};
	uint64_t drawn = 0;
	double least;
	int bad = threshold(m, &least);

	for (size_t k = 0; k < sizeof order; k++)
		for (size_t i = 0; bad == 0 && i < m->n_things; i++) {
			const struct hrr_map_thing *t = &hrr_map_things(m)[i];
			if (t->kind != order[k])
				continue;
			struct rect r = place(m, t);
			if (!r.shown)
				continue;
			if (r.w * r.h < least || drawn >= HRR_MAP_MAX_RECTS) {
				stats->rects_left_out++;
				continue;
			}
			drawn++;
			bad = put_rect(b, m, t);
		}
	return bad;
}

static int put_bands(struct hrr_map *m, struct hrr_buf *b)
{
	const struct hrr_map_band *x = hrr_map_bands(m);
	char size[32];
	int bad = 0;

	for (size_t i = 0; i < m->n_bands; i++) {
		hrr_map_bytes(size, sizeof size, x[i].size);
		bad |= hrr_buf_addf(b,
				    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
				    "fill=\"#fafafa\"/>\n<text x=\"%.1f\" y=\"%.1f\" "
				    "text-anchor=\"end\" class=\"m\">0x%" PRIx64 "</text>\n",
				    m->left, x[i].y, m->right - m->left, x[i].h, m->left - 6,
				    x[i].y + 9, x[i].base);
		bad |=
		    hrr_buf_addf(b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
				 m->left - 6, x[i].y + 20, size);
		if (x[i].parts > 1)
			bad |= hrr_buf_addf(b,
					    "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" "
					    "class=\"s\">%" PRIu32 " with gaps</text>\n",
					    m->left - 6, x[i].y + 31, x[i].parts);
	}
	return bad;
}

/* Times at round numbers, some eight of them. */
static int put_axis(const struct hrr_map *m, struct hrr_buf *b)
{
	uint64_t span = m->t_end - m->t_begin, step = 1;
	char text[32];
	int bad = 0;

	while (span / step > 10 && step <= UINT64_MAX / 10) {
		if (span / (step * 2) <= 10)
			step *= 2;
		else if (span / (step * 5) <= 10)
			step *= 5;
		else
			step *= 10;
	}
	for (uint64_t t = m->t_begin - m->t_begin % step; t <= m->t_end; t += step) {
		if (t < m->t_begin)
			continue;
		double x = hrr_map_x(m, t);
		hrr_map_time(text, sizeof text, t);
		bad |= hrr_buf_addf(b,
				    "<path stroke=\"#ddd\" d=\"M%.1f %.1fV%.1f\"/><text x=\"%.1f\" "
				    "y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
				    x, CHART_Y, m->height, x, m->height + 14, text);
		if (t > UINT64_MAX - step)
			break;
	}
	return bad;
}

static int put_marks(struct hrr_map *m, struct hrr_buf *b, struct hrr_map_stats *stats)
{
	const struct hrr_map_mark *x = (const void *)m->marks.data;
	uint64_t elsewhere = 0;
	int bad = 0;

	for (size_t i = 0; i < m->n_marks; i++) {
		const struct hrr_map_band *band = hrr_map_band(m, x[i].addr);
		/* One past a band's end is still seen at its edge. */
		if (band == NULL && x[i].addr > 0)
			band = hrr_map_band(m, x[i].addr - 1);
		double at = hrr_map_x(m, x[i].t), y;
		if (x[i].t < m->t_begin || x[i].t > m->t_end)
			continue;
		if (band != NULL) {
			y = hrr_map_y(band, x[i].addr);
		} else {
			elsewhere++;
			y = m->height + 30;
		}
		bad |= hrr_buf_addf(b, "<path class=\"x\" d=\"M%.1f %.1fl8 8m-8 0l8 -8\"><title>",
				    at - 4, y - 4);
		if (x[i].text != SIZE_MAX)
			bad |= hrr_map_text(b, m->text.data + x[i].text);
		bad |= hrr_buf_adds(b, "</title></path>\n");
	}
	if (elsewhere > 0)
		bad |= hrr_buf_addf(b,
				    "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" "
				    "fill=\"#d00\">elsewhere</text>\n",
				    m->left - 6, m->height + 34);
	stats->marks = m->n_marks + m->marks_left_out;
	stats->marks_left_out = m->marks_left_out;
	return bad;
}

static bool there_is(const struct hrr_map *m, uint8_t kind)
{
	const struct hrr_map_thing *t = hrr_map_things(m);

	for (size_t i = 0; i < m->n_things; i++)
		if (t[i].kind == kind && hrr_map_drawn(m, &t[i]))
			return true;
	return false;
}

static int put_legend(const struct hrr_map *m, struct hrr_buf *b, const struct hrr_map_stats *st)
{
	double x = m->left, y = BANDS_Y - 16;
	int bad = 0;
	static const struct {
		uint8_t kind;
		const char *shape, *name;
	} keys[] = {
	    {HRR_THING_DEVICE, "fill=\"#e6e6e6\" stroke=\"#999\"", "allocated by HIP"},
	    {HRR_THING_SEGMENT, "fill=\"#fbe3c8\" stroke=\"#e07b00\"", "segment"},
	    {HRR_THING_BLOCK, "fill=\"#4c78a8\"", "block (a colour per tag)"},
	};

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		if (!there_is(m, keys[i].kind))
			continue;
		bad |= hrr_buf_addf(b,
				    "<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"10\" "
				    "%s/><text x=\"%.1f\" y=\"%.1f\">%s</text>\n",
				    x, y - 9, keys[i].shape, x + 17, y, keys[i].name);
		x += 170;
	}
	bad |= hrr_buf_addf(b,
			    "<path class=\"x\" d=\"M%.1f %.1fl8 8m-8 0l8 -8\"/><text x=\"%.1f\" "
			    "y=\"%.1f\">used, but out of bounds or stale: %" PRIu64 "</text>\n",
			    x + 2, y - 8, x + 17, y, st->marks);
	return bad;
}

static int put_head(const struct hrr_map *m, struct hrr_buf *b, double y, double height)
{
	int bad = hrr_buf_addf(
	    b,
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" "
	    "viewBox=\"0 0 %.0f %.0f\" font-family=\"DejaVu Sans, Helvetica, sans-serif\" "
	    "font-size=\"11\">\n<style>.m{font-family:DejaVu Sans Mono,monospace;font-size:10px}"
	    ".l{font-size:9px;pointer-events:none}.x{stroke:#d00;stroke-width:1.8;fill:none}.s{"
	    "font-size:10px;fill:#555}</style>\n"
	    "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
	    y, m->width, height, m->width, height);

	bad |= hrr_buf_addf(b, "<text x=\"%.1f\" y=\"24\" font-size=\"15\">", m->left);
	bad |= hrr_map_text(b, m->title != NULL ? m->title : "device memory over time");
	return bad | hrr_buf_adds(b, "</text>\n");
}

/* From the first to the last time that something has. */
static void span(struct hrr_map *m)
{
	const struct hrr_map_thing *t = hrr_map_things(m);

	m->t_begin = HRR_NO_TIME;
	m->t_end = m->last;
	for (size_t i = 0; i < m->n_things; i++) {
		uint64_t from = t[i].from == HRR_NO_TIME ? 0 : t[i].from;
		if (from < m->t_begin)
			m->t_begin = from;
		if (t[i].to != HRR_NO_TIME && t[i].to > m->t_end)
			m->t_end = t[i].to;
		if (from > m->t_end)
			m->t_end = from;
	}
	if (m->t_begin == HRR_NO_TIME)
		m->t_begin = 0;
	if (m->opt.from > m->t_begin && m->opt.from < m->t_end)
		m->t_begin = m->opt.from;
	if (m->opt.to != 0 && m->opt.to < m->t_end)
		m->t_end = m->opt.to;
	if (m->t_end <= m->t_begin)
		m->t_end = m->t_begin + 1;
}

/* One of them, y pixels below the top. 1: nothing to draw. */
static int draw(struct hrr_map *m, struct hrr_buf *b, double y, struct hrr_map_stats *ret,
		double *ret_height)
{
	struct hrr_map_stats st = {.things = m->n_things, .marks = m->n_marks + m->marks_left_out};

	m->width = m->opt.width != 0 ? m->opt.width : HRR_MAP_WIDTH;
	m->left = 130;
	m->right = m->width - 30;
	m->bands.len = 0;
	m->n_bands = 0;
	span(m);
	int bad = hrr_map_layout(m, BANDS_Y);
	if (bad == 0 && m->n_bands == 0)
		return 1;
	double height = m->height + 60;
	bad |= put_head(m, b, y, height);
	bad |= put_bands(m, b);
	bad |= put_axis(m, b);
	bad |= hrr_map_chart(m, b, CHART_Y, CHART_H);
	bad |= put_things(m, b, &st);
	bad |= put_marks(m, b, &st);
	bad |= put_legend(m, b, &st);
	if (st.rects_left_out + st.marks_left_out > 0)
		bad |= hrr_buf_addf(b,
				    "<text class=\"s\" x=\"%.1f\" y=\"%.1f\">left out: %" PRIu64
				    " smaller regions, %" PRIu64 " marks</text>\n",
				    m->left, height - 8, st.rects_left_out, st.marks_left_out);
	bad |= hrr_buf_adds(b, "</svg>\n");
	ret->things += st.things;
	ret->marks += st.marks;
	ret->rects_left_out += st.rects_left_out;
	ret->marks_left_out += st.marks_left_out;
	*ret_height = height;
	return bad != 0 ? -ENOMEM : 0;
}

int hrr_map_svg(struct hrr_map *const *m, size_t n, struct hrr_buf *b, struct hrr_map_stats *ret,
		struct hrr_diag *diag)
{
	struct hrr_map_stats st = {0};
	struct hrr_buf all = {0};
	double y = 0, height = 0, width = 0;
	int bad = 0;
	size_t drawn = 0;

	for (size_t i = 0; bad == 0 && i < n; i++) {
		int rc = m[i] != NULL ? draw(m[i], &all, y, &st, &height) : 1;
		if (rc != 0) {
			bad = rc < 0;
			continue;
		}
		drawn++;
		y += height;
		width = m[i]->width > width ? m[i]->width : width;
	}
	if (bad == 0 && drawn == 0)
		return hrr_diag_set(diag, -ENODATA, "no device memory in it: nothing to draw");
	if (drawn > 1)
		bad |= hrr_buf_addf(
		    b,
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\">\n",
		    width, y);
	bad |= hrr_buf_add(b, all.data, all.len);
	if (drawn > 1)
		bad |= hrr_buf_adds(b, "</svg>\n");
	hrr_buf_release(&all);
	if (bad != 0)
		return hrr_diag_set(diag, -ENOMEM, "out of memory");
	*ret = st;
	return 0;
}
