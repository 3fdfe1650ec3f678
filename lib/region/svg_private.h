#ifndef HRR_REGION_SVG_PRIVATE_H
#define HRR_REGION_SVG_PRIVATE_H

#include "lib/region/svg.h"

/* What is gathered of a stream, and where it goes on the picture. */
struct hrr_map_thing {
	uint64_t base, size, from, to;
	size_t tag, api; /* offsets in text, SIZE_MAX: none */
	uint64_t seq;
	uint8_t kind;
	int device;
};

struct hrr_map_mark {
	uint64_t t, addr, seq;
	size_t text;
};

struct hrr_map_band {
	uint64_t base, size;
	double y, h;
	uint32_t things; /* that lived in it */
	uint32_t parts;	 /* ranges with gaps between them that share it */
};

struct hrr_map {
	struct hrr_world *world;
	struct hrr_map_options opt;
	char *title;			    /* owned, or NULL */
	struct hrr_buf things, marks, text; /* the latter of strings ended by NUL */
	struct hrr_buf open; /* of size_t: index in things by number of the living thing */
	size_t n_things, n_marks;
	uint64_t last, marks_left_out;
	bool failed;
	/* while drawing */
	struct hrr_buf bands;
	size_t n_bands;
	double left, right, top, width, height;
	uint64_t t_begin, t_end;
};

static inline struct hrr_map_thing *hrr_map_things(const struct hrr_map *m)
{
	return (struct hrr_map_thing *)(void *)m->things.data;
}

static inline struct hrr_map_band *hrr_map_bands(const struct hrr_map *m)
{
	return (struct hrr_map_band *)(void *)m->bands.data;
}

/* Bands of all things and their place below y; -ENOMEM. */
int hrr_map_layout(struct hrr_map *m, double y);
/* Lives in the time that is drawn, and has a place on a device. */
bool hrr_map_drawn(const struct hrr_map *m, const struct hrr_map_thing *t);
/* The band that holds addr, or NULL. */
const struct hrr_map_band *hrr_map_band(const struct hrr_map *m, uint64_t addr);
double hrr_map_x(const struct hrr_map *m, uint64_t t);
double hrr_map_y(const struct hrr_map_band *band, uint64_t addr);
/* Escaped for XML, control characters masked. */
int hrr_map_text(struct hrr_buf *b, const char *s);
/* "12.5 MiB", "340 µs". */
void hrr_map_bytes(char *text, size_t size, uint64_t bytes);
void hrr_map_time(char *text, size_t size, uint64_t ns);
/* Live bytes over time, between y and y + h. */
int hrr_map_chart(struct hrr_map *m, struct hrr_buf *b, double y, double h);

#endif
