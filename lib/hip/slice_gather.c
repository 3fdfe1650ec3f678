#include <errno.h>
#include <string.h>

#include "lib/hip/slice_object.h"

#define LOOK_BACK 1000000 /* calls between a copy and the wait behind which its output stands */

/* The first reading: what a call uses and writes. */

/* A copy with a place it goes to besides the symbol reads the symbol. */
static bool reads_symbol(const struct hrr_api_row *row)
{
	return row != NULL && hrr_api_param((enum hrr_api)(row - hrr_api_table), "dst", 3) >= 0;
}

/* Does the call change what a handle of this type stands for? A call nobody knows may. */
static bool alters(const struct slice_gather *g, unsigned type)
{
	if (g->row == NULL)
		return true;
	for (int i = 0; i < g->row->n_params; i++)
		if ((g->row->alters >> i & 1) != 0 && g->row->params[i].handle == type)
			return true;
	return false;
}

/* Every address in a value: arguments that are structures or arrays, and plain ones. */
static void use_addresses(struct slice_gather *g, int node, bool writes)
{
	const struct hrr_json *j = &g->rec->json;
	uint64_t v;

	for (int i = node; i < (int)j->nodes[node].next; i++)
		if (!j->nodes[i].key && j->nodes[i].type == HRR_JSON_STRING &&
		    hrr_json_addr(j, i, &v) == 0) {
			slice_use_object(g, slice_memory_at(g, v), writes);
			for (unsigned type = 1; type < HRR_H_COUNT; type++)
				slice_use_object(g, slice_handle(g, type, v), alters(g, type));
		}
}

static void parameter(struct slice_gather *g, int at, int node)
{
	const struct hrr_param *p = &g->row->params[at];
	const struct hrr_json *j = &g->rec->json;
	bool reads = strncmp(p->name, "src", 3) == 0;
	uint64_t v;

	if (p->flow == HRR_FLOW_OUT)
		return; /* made when everything it may be made of is known */
	if (p->kind != HRR_K_HANDLE) {
		use_addresses(g, node, !reads);
		return;
	}
	for (int i = node; i < (int)j->nodes[node].next; i++)
		if (hrr_json_addr(j, i, &v) == 0 && v != 0)
			slice_use_object(g, slice_handle(g, p->handle, v),
					 (g->row->alters >> at & 1) != 0);
}

static void kernel(struct slice_gather *g, int kernel)
{
	const struct hrr_json *j = &g->rec->json;
	int args = hrr_json_get(j, kernel, "args");
	struct hrr_buf bytes = {0};

	slice_use_object(g, slice_variables(g, hrr_json_get(j, kernel, "object")), true);
	if (args < 0 || j->nodes[args].type != HRR_JSON_ARRAY)
		return;
	for (int a = hrr_json_first(j, args); a >= 0; a = hrr_json_next(j, args, a)) {
		int ptr = hrr_json_get(j, a, "ptr");
		bytes.len = 0;
		if (ptr < 0 || j->nodes[ptr].type != HRR_JSON_ARRAY ||
		    hrr_json_hex(j, hrr_json_get(j, a, "hex"), &bytes) < 0)
			continue;
		for (int o = hrr_json_first(j, ptr); o >= 0; o = hrr_json_next(j, ptr, o)) {
			uint64_t at, v;
			if (hrr_json_u64(j, o, &at) < 0 || at > bytes.len || bytes.len - at < 8)
				continue;
			memcpy(&v, bytes.data + at, sizeof v); /* little endian, as we are */
			slice_use_object(g, slice_memory_at(g, v), true);
		}
	}
	hrr_buf_release(&bytes);
}

/* What a writing use is given by use k of the same call. */
static void pass_on(struct slice_gather *g, uint32_t to, uint32_t k)
{
	const uint32_t other = slice_uses(g->s)[k].object;
	const struct slice_object *o = &slice_objects(g->s)[other];
	const uint32_t owner = slice_objects(g->s)[to].owner;

	if (o->memory || o->variables) {
		slice_touch(g, to, other);
		slice_touch(g, owner, other);
	} else if (other != owner) {
		/* A child, or what an executable graph is now like. */
		slice_touch_all(g, to, other);
	}
}

/* Nodes added to a graph, parameters changed in it: it touches what they were given. Of thousands
 * of nodes few are given anything. */
static void pass_on_touches(struct slice_gather *g)
{
	const uint32_t from = slice_calls(g->s)[g->call].uses, n = g->s->n_uses;
	struct hrr_buf given = {0};

	for (uint32_t k = from; k < n; k++) {
		const struct slice_object *o = &slice_objects(g->s)[slice_uses(g->s)[k].object];
		if ((o->memory || o->variables || o->handle == HRR_H_GRAPH) &&
		    hrr_buf_add(&given, &k, sizeof k) < 0)
			g->bad = -ENOMEM;
	}
	const uint32_t *all = (const void *)given.data;
	for (uint32_t i = from; i < n; i++) {
		const struct slice_use u = slice_uses(g->s)[i];
		const struct slice_object *to = &slice_objects(g->s)[u.object];
		if (!u.writes || to->memory || to->variables)
			continue;
		for (size_t k = 0; k < given.len / sizeof *all; k++)
			pass_on(g, u.object, all[k]);
	}
	hrr_buf_release(&given);
}

static void arguments(struct slice_gather *g)
{
	const struct hrr_json *j = &g->rec->json;
	const struct hrr_record *rec = g->rec;
	bool graph = g->row != NULL && (g->row->cls == HRR_CLASS_GRAPH);

	for (int i = hrr_json_first(j, rec->args); i >= 0; i = hrr_json_next(j, rec->args, i)) {
		int p = g->row == NULL ? -1
				       : hrr_api_param((enum hrr_api)(g->row - hrr_api_table),
						       j->text + j->nodes[i].off, j->nodes[i].len);
		if (p < 0)
			use_addresses(g, i + 1, true);
		else {
			g->releasing = p == g->row->release;
			parameter(g, p, i + 1);
			g->releasing = false;
		}
	}
	for (int k = -1; (k = hrr_kernel_next(j, rec->kernel, k)) >= 0;)
		kernel(g, k);
	if (rec->symbol >= 0) {
		uint32_t object = slice_variables(g, hrr_json_get(j, rec->symbol, "object"));
		if (object != NOBODY)
			slice_objects(g->s)[object].variables_used = true;
		slice_use_object(g, object, !reads_symbol(g->row));
	}
	if (rec->host >= 0)
		use_addresses(g, rec->host, false);
	if (slice_does(g) == HRR_DOES_LAUNCH) {
		uint32_t from = slice_calls(g->s)[g->call].uses, n = g->s->n_uses;
		for (uint32_t i = from; i < n; i++)
			slice_use_touched(g, slice_uses(g->s)[i].object);
	} else if (graph) {
		pass_on_touches(g);
	}
	if (g->row == NULL)
		return;
	slice_mapping(g);
	for (int i = hrr_json_first(j, rec->args); i >= 0; i = hrr_json_next(j, rec->args, i)) {
		int p = hrr_api_param((enum hrr_api)(g->row - hrr_api_table),
				      j->text + j->nodes[i].off, j->nodes[i].len);
		if (p >= 0 && g->row->params[p].flow == HRR_FLOW_OUT)
			slice_create(g, &g->row->params[p], i + 1);
		if (p >= 0 && p == g->row->release && g->row->takes != HRR_GIVES_MAP) {
			/* The newest use of what it releases. */
			uint64_t v;
			if (hrr_json_addr(j, i + 1, &v) < 0)
				continue;
			uint32_t object = g->row->params[p].kind == HRR_K_HANDLE
					      ? slice_handle(g, g->row->params[p].handle, v)
					      : slice_memory_at(g, v);
			if (object != NOBODY)
				slice_objects(g->s)[object].releaser = g->call;
		}
	}
	/* Host memory that the program allocated itself and tells HIP of: an address it gives. */
	const struct hrr_gives *gives = &g->row->gives;
	uint64_t base;
	if (gives->kind == HRR_GIVES_ALLOC && g->row->params[gives->param].flow == HRR_FLOW_IN &&
	    hrr_json_addr(j, hrr_json_get(j, rec->args, gives->addr), &base) == 0)
		slice_new_range(g, base, slice_size(g), slice_new_object(g, g->call));
}

static bool failed(const struct hrr_record *rec)
{
	size_t len;
	const char *name = hrr_json_raw(&rec->json, rec->ret, &len);

	return name != NULL && len > 8 && memcmp(name, "hipError", 8) == 0;
}

static int call(struct hrr_slice *s, struct slice_world *w, const struct hrr_record *rec,
		bool selected)
{
	int row = hrr_api_find(rec->api, rec->api_len);
	struct slice_gather g = {
	    .s = s, .w = w, .rec = rec, .row = row < 0 ? NULL : &hrr_api_table[row]};
	struct slice_call c = {.seq = rec->seq,
			       .p = rec->p,
			       .uses = s->n_uses,
			       .device = NOBODY,
			       .seen_by = NOBODY,
			       .selected = selected,
			       .launch = rec->kernel >= 0 || slice_does(&g) == HRR_DOES_LAUNCH,
			       .starts_graph = slice_does(&g) == HRR_DOES_LAUNCH,
			       .to_host = hrr_json_is(&rec->json, rec->dir, "d2h")};
	struct hrr_id thread = hrr_id_of(&rec->tid, sizeof rec->tid);

	if (s->n_calls >= NOBODY - 1)
		return -E2BIG;
	c.work = rec->kernel >= 0 ||
		 (g.row != NULL && (g.row->cls == HRR_CLASS_COPY || g.row->cls == HRR_CLASS_SET));
	c.always = slice_does(&g) == HRR_DOES_INIT;
	c.waits_value = slice_does(&g) == HRR_DOES_WAITVALUE;
	c.waits =
	    g.row != NULL && (g.row->sync == HRR_SYNC_DEVICE || g.row->sync == HRR_SYNC_STREAM ||
			      g.row->sync == HRR_SYNC_EVENT);
	const uint64_t *device = hrr_idmap_get(&w->devices, &thread);
	if (device != NULL)
		c.device = (uint32_t)*device;
	if (hrr_buf_add(&s->calls, &c, sizeof c) < 0)
		return -ENOMEM;
	g.call = s->n_calls++;
	s->selected += selected;
	w->last = g.call;
	if (slice_does(&g) == HRR_DOES_CURRENT) {
		int rc = hrr_idmap_add(&w->devices, &thread, g.call);
		if (rc < 0)
			return rc;
		if (rc == 0)
			*hrr_idmap_get(&w->devices, &thread) = g.call;
		if (c.device != NOBODY)
			slice_calls(s)[c.device].current = false;
		slice_calls(s)[g.call].current = true;
	}
	if (slice_does(&g) == HRR_DOES_CAPTURE && !failed(rec) && w->captures++ == 0)
		w->capture_from = g.call;
	/* A call that failed changed nothing; it is kept only when it is asked for. */
	if (!failed(rec))
		arguments(&g);
	slice_calls(s)[g.call].n_uses = s->n_uses - c.uses;
	return g.bad;
}

/* Segments are memory, as what calls allocate is. */
static int region(struct hrr_slice *s, struct slice_world *w, const struct hrr_record *rec)
{
	const struct hrr_json *j = &rec->json;
	struct slice_gather g = {.s = s, .w = w, .rec = rec};
	struct slice_region x = {.object = NOBODY};
	struct slice_region *all = (struct slice_region *)(void *)s->regions.data;
	uint64_t base, size;
	bool known = hrr_json_addr(j, hrr_json_get(j, 0, "base"), &base) == 0;

	if (known && hrr_json_is(j, hrr_json_get(j, 0, "region"), "add") &&
	    hrr_json_is(j, hrr_json_get(j, 0, "kind"), "segment") &&
	    hrr_json_u64(j, hrr_json_get(j, 0, "size"), &size) == 0) {
		x.object = slice_new_object(&g, NOBODY);
		slice_new_range(&g, base, size, x.object);
		if (x.object != NOBODY)
			slice_objects(s)[x.object].region = s->n_regions + 1;
	} else if (known && hrr_json_is(j, hrr_json_get(j, 0, "region"), "del")) {
		/* The end of what begins there, where that is a region of this stream. */
		const struct hrr_range *r = hrr_ranges_at(w->memory, base);
		uint32_t object = r != NULL ? (uint32_t)((uintptr_t)r->value - 1) : NOBODY;
		uint32_t begin = object != NOBODY ? slice_objects(s)[object].region : 0;
		if (begin != 0) {
			all[begin - 1].gone = true;
			x = all[begin - 1];
			(void)hrr_ranges_del(w->memory, base, r->value);
		}
	}
	if (g.bad == 0 && hrr_buf_add(&s->regions, &x, sizeof x) < 0)
		g.bad = -ENOMEM;
	s->n_regions += g.bad == 0;
	return g.bad;
}

int hrr_slice_gather(struct hrr_slice *s, const struct hrr_record *rec, bool selected)
{
	struct slice_world *w = slice_world_of(s, rec->p);

	if (w == NULL)
		return -ENOMEM;
	if (rec->kind == HRR_REC_CALL)
		return call(s, w, rec, selected);
	if (rec->kind == HRR_REC_OUTPUT) {
		/* Its call is near the end; the wait that made it visible is the newest call. */
		for (uint32_t i = s->n_calls, far = 0; i-- > 0 && far < LOOK_BACK; far++) {
			struct slice_call *c = &slice_calls(s)[i];
			if (c->p != rec->p || c->seq != rec->seq)
				continue;
			if (c->seen_by == NOBODY || c->seen_by < w->last)
				c->seen_by = w->last;
			c->outputs = true;
			break;
		}
		return 0;
	}
	return rec->kind == HRR_REC_REGION ? region(s, w, rec) : 0;
}
