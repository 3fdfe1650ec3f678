#include <errno.h>
#include <stdlib.h>

#include "formats/hrr/convert_private.h"

static uint64_t arg_at(const struct prog *p, const struct hrr_event *ev, int i)
{
	return i < 0 || p->l.width[i] == 0 ? 0 : word(ev->data + p->l.at[i], p->l.width[i]);
}

static uint64_t arg_of(const struct prog *p, const struct hrr_event *ev, const char *name)
{
	return arg_at(p, ev, hrr_api_param(p->api, name, strlen(name)));
}

/* -EINVAL (an archive may say anything) is not our trouble; no memory is. */
static int range_add(struct hrr_ranges *r, uint64_t base, uint64_t size, void *value)
{
	int rc = base != 0 && size != 0 ? hrr_ranges_add(r, base, size, value) : 0;

	return rc == -EINVAL ? 0 : rc;
}

static int add_module(struct hrr_convert *c, uint64_t handle, struct hrr_fnv object)
{
	struct known_module *m = calloc(1, sizeof *m);

	if (m == NULL)
		return -ENOMEM;
	*m = (struct known_module){c->mods, object};
	c->mods = m;
	return range_add(c->by_handle, handle, 1, m);
}

static int add_var(struct hrr_convert *c, const struct prog *p, const struct hrr_event *ev)
{
	const struct hrr_range *r = hrr_ranges_at(c->by_handle, arg_of(p, ev, "modules"));
	struct known_var *v;

	if (c->f.version < 6 || p->l.extra[0] == 0 || ev->data[p->l.extra[0] + 256] == 0)
		return 0; /* its name is not recorded */
	v = calloc(1, sizeof *v);
	if (v == NULL)
		return -ENOMEM;
	memcpy(v->name, ev->data + p->l.extra[0], 256);
	if (r != NULL)
		v->object = ((const struct known_module *)r->value)->object;
	v->size = arg_of(p, ev, "size");
	v->next = c->vars;
	c->vars = v;
	return range_add(c->by_var, arg_of(p, ev, "var"), 1, v);
}

static void capture(struct hrr_convert *c, uint64_t stream, bool begin)
{
	for (unsigned i = 0; i < c->n_capturing; i++)
		if (c->capturing[i] == stream) {
			if (!begin)
				c->capturing[i] = c->capturing[--c->n_capturing];
			return;
		}
	if (begin && c->n_capturing < MAX_CAPTURES)
		c->capturing[c->n_capturing++] = stream;
}

int hrr_track(struct hrr_convert *c, const struct prog *p, const struct hrr_event *ev)
{
	uint64_t size;

	switch (p->row->cls) {
	case HRR_CLASS_ALLOC:
		if (p->made < 0)
			return 0;
		size = arg_at(p, ev, p->made_size);
		if (hrr_api_param(p->api, "pitch", 5) >= 0 &&
		    __builtin_mul_overflow(arg_of(p, ev, "pitch"), arg_of(p, ev, "height"), &size))
			return 0;
		return range_add(c->dev, arg_at(p, ev, p->made), size, NULL);
	case HRR_CLASS_FREE:
		if (p->gone >= 0)
			hrr_ranges_del(c->dev, arg_at(p, ev, p->gone), NULL);
		return 0;
	case HRR_CLASS_VMM:
		if (p->api == HRR_API_hipMemAddressReserve)
			return range_add(c->dev, arg_of(p, ev, "ptr"), arg_of(p, ev, "size"), NULL);
		if (p->api == HRR_API_hipMemAddressFree)
			hrr_ranges_del(c->dev, arg_of(p, ev, "devPtr"), NULL);
		return 0;
	case HRR_CLASS_REGISTER:
		if (p->api == HRR_API___hipRegisterFatBinary)
			return add_module(c, hrr_le64(ev->data + p->l.ret),
					  (struct hrr_fnv){hrr_le64(ev->data + p->hash),
							   hrr_le64(ev->data + p->hash + 8)});
		return p->api == HRR_API___hipRegisterVar ? add_var(c, p, ev) : 0;
	case HRR_CLASS_MODULE:
		if (p->co != 0)
			return add_module(c, arg_of(p, ev, "module"),
					  (struct hrr_fnv){hrr_le64(ev->data + p->co),
							   hrr_le64(ev->data + p->co + 8)});
		return 0;
	case HRR_CLASS_GRAPH:
		if (p->api == HRR_API_hipStreamBeginCapture ||
		    p->api == HRR_API_hipStreamBeginCapture_spt)
			capture(c, arg_of(p, ev, "stream"), true);
		if (p->api == HRR_API_hipStreamEndCapture ||
		    p->api == HRR_API_hipStreamEndCapture_spt)
			capture(c, arg_of(p, ev, "stream"), false);
		return 0;
	default:
		return 0;
	}
}

void hrr_track_release(struct hrr_convert *c)
{
	for (struct known_var *v = c->vars, *next; v != NULL; v = next) {
		next = v->next;
		free(v);
	}
	for (struct known_module *m = c->mods, *next; m != NULL; m = next) {
		next = m->next;
		free(m);
	}
	hrr_ranges_free(c->dev);
	hrr_ranges_free(c->by_var);
	hrr_ranges_free(c->by_handle);
}
