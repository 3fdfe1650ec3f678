#include <stdlib.h>
#include <string.h>

#include "lib/stream/shape_private.h"

struct hrr_shapes *hrr_shapes_new(void)
{
	return calloc(1, sizeof(struct hrr_shapes));
}

static void shape_free(struct hrr_shape *x)
{
	if (x == NULL)
		return;
	free(x->parts);
	free(x->containers);
	free(x->nodes);
	free(x->part_of);
	free(x->line);
	free(x->tail);
	free(x->at);
	free(x->now);
	free(x->addresses);
	free(x);
}

void hrr_shapes_free(struct hrr_shapes *s)
{
	if (s == NULL)
		return;
	for (int b = 0; b < HRR_SHAPE_BUCKETS; b++)
		for (unsigned i = 0; i < s->buckets[b].n; i++)
			shape_free(s->buckets[b].list[i]);
	free(s);
}

/* A shape in the making. */
struct draft {
	struct hrr_shape_part parts[HRR_SHAPE_PARTS];
	struct hrr_buf containers, part_of, addresses;
	uint32_t n;
};

static bool take_address(void *self, const struct hrr_address_place *place)
{
	struct hrr_buf *places = self;

	return hrr_buf_add(places, place, sizeof *place) < 0;
}

/* Takes the line apart at every value that may differ. False: too many parts, or no memory. */
static bool take_apart(struct draft *d, const struct hrr_record *rec)
{
	const struct hrr_json *j = &rec->json;
	size_t at = 0;
	int bad = 0;

	for (uint32_t i = 0; i <= j->n; i++) {
		bool last = i == j->n;
		const struct hrr_json_node *v = last ? NULL : &j->nodes[i];
		if (!last)
			bad |= hrr_buf_addc(&d->part_of, (char)d->n);
		if (!last && (v->key || (v->type != HRR_JSON_INT && v->type != HRR_JSON_STRING)))
			continue;
		size_t end = last ? rec->len : v->off;
		if (d->n == HRR_SHAPE_PARTS)
			return false;
		d->parts[d->n++] =
		    (struct hrr_shape_part){.at = (uint32_t)at,
					    .end = last ? i : i + 1,
					    .len = (uint16_t)(end - at),
					    .hole = last		      ? HRR_HOLE_NONE
						    : v->type == HRR_JSON_INT ? HRR_HOLE_NUMBER
									      : HRR_HOLE_STRING};
		at = last ? end : v->off + v->len;
	}
	for (uint32_t i = 0; i < j->n; i++) {
		const struct hrr_json_node *v = &j->nodes[i];
		if (v->type > HRR_JSON_ARRAY || v->len == 2)
			continue;
		struct hrr_shape_container c = {i, 0, v->off + v->len};
		while (c.part + 1 < d->n && d->parts[c.part + 1].at < c.end)
			c.part++;
		bad |= hrr_buf_add(&d->containers, &c, sizeof c);
	}
	(void)hrr_address_places(j, rec->args, rec->kernel, take_address, &d->addresses);
	return bad == 0 && !d->addresses.failed;
}

static void *copy(const void *data, size_t size)
{
	void *p = malloc(size > 0 ? size : 1);

	if (p != NULL && size > 0)
		memcpy(p, data, size);
	return p;
}

/* The first tail to compare with is the line's own, but for strings with escapes, which are no
 * values that fit: they are empty there. */
static void begin_tail(struct hrr_shape *x, const struct hrr_record *rec)
{
	const struct hrr_json *j = &rec->json;
	char *to = x->tail;

	for (uint32_t k = x->n_head; k < x->n_parts; k++) {
		const struct hrr_shape_part *p = &x->parts[k];
		x->at[k] = (uint32_t)(to - x->tail);
		memcpy(to, rec->line + p->at, p->len);
		to += p->len;
		const struct hrr_json_node *v = &j->nodes[p->end - 1];
		if (p->hole == HRR_HOLE_NONE || v->escaped)
			continue;
		memcpy(to, rec->line + v->off, v->len);
		to += v->len;
	}
	x->tail_len = (uint32_t)(to - x->tail);
}

static struct hrr_shape *finish(const struct draft *d, const struct hrr_record *rec, unsigned form,
				size_t *ret_memory)
{
	const struct hrr_json *j = &rec->json;
	struct hrr_shape *x = calloc(1, sizeof *x);

	if (x == NULL)
		return NULL;
	x->n_parts = d->n;
	x->form = form;
	x->n_head = hrr_head_parts(form);
	x->n_nodes = j->n;
	x->n_containers = (uint32_t)(d->containers.len / sizeof *x->containers);
	x->parts = copy(d->parts, d->n * sizeof *x->parts);
	x->containers = copy(d->containers.data, d->containers.len);
	x->nodes = copy(j->nodes, j->n * sizeof *x->nodes);
	x->part_of = copy(d->part_of.data, d->part_of.len);
	x->addresses = copy(d->addresses.data, d->addresses.len);
	x->n_addresses = (uint32_t)(d->addresses.len / sizeof *x->addresses);
	hrr_size_places(j, rec->args, &x->size);
	x->line = copy(rec->line, rec->len);
	x->json = (struct hrr_json){
	    .text = x->line, .len = rec->len, .nodes = x->nodes, .n = j->n, .cap = j->n};
	x->tail_cap = (uint32_t)rec->len;
	x->tail = malloc(x->tail_cap);
	x->at = calloc(d->n, sizeof *x->at);
	x->now = calloc(j->n, sizeof *x->now);
	x->stale = true;
	/* A string that fits has no escapes, whatever the one learned had. */
	for (uint32_t i = 0; x->nodes != NULL && i < j->n; i++)
		x->nodes[i].escaped = x->nodes[i].escaped && x->nodes[i].key;
	x->args = rec->args;
	x->ret = rec->ret;
	x->dir = rec->dir;
	x->blobs = rec->blobs;
	x->kernel = rec->kernel;
	x->host = rec->host;
	x->symbol = rec->symbol;
	*ret_memory = sizeof *x + d->n * (sizeof *x->parts + sizeof *x->at) + d->containers.len +
		      d->addresses.len + j->n * (2 * sizeof *x->nodes + 1) + rec->len + x->tail_cap;
	if (x->parts == NULL || x->addresses == NULL || x->containers == NULL || x->nodes == NULL ||
	    x->part_of == NULL || x->line == NULL || x->tail == NULL || x->at == NULL ||
	    x->now == NULL) {
		shape_free(x);
		return NULL;
	}
	begin_tail(x, rec);
	return x;
}

void hrr_shapes_learn(struct hrr_shapes *s, const struct hrr_record *rec)
{
	struct hrr_record again = {0};
	struct draft d = {.n = 0};
	uint32_t at[HRR_HEAD_PARTS];
	unsigned form;
	size_t memory;

	if (rec->kind != HRR_REC_CALL || rec->json.general || rec->len > HRR_SHAPE_MAX_LINE)
		return;
	size_t end = hrr_shape_head(&again, rec->line, rec->len, at, &form);
	/* seq and p are the first two members of a head, each a key and a value. */
	int p = hrr_json_get(&rec->json, 0, "p");
	unsigned b = hrr_shape_bucket(rec->api, rec->api_len);
	/* seq, p, t and the others have to be its own, at the top, as the head has them. */
	if (end == 0 || (p >= 0 && p != 4) || again.seq != rec->seq || again.t != rec->t ||
	    again.p != rec->p || again.tid != rec->tid || again.dur != rec->dur ||
	    again.api != rec->api || s->buckets[b].n == HRR_SHAPE_PER_BUCKET ||
	    s->memory >= HRR_SHAPE_MEMORY)
		return;
	if (take_apart(&d, rec)) {
		struct hrr_shape *x = finish(&d, rec, form, &memory);
		if (x != NULL) {
			s->buckets[b].list[s->buckets[b].n++] = x;
			s->memory += memory;
		}
	}
	hrr_buf_release(&d.containers);
	hrr_buf_release(&d.part_of);
	hrr_buf_release(&d.addresses);
}
