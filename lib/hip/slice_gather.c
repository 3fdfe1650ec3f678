#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hip/slice_private.h"
#include "lib/hip/table.h"

#define LOOK_BACK 1000000 /* calls between a copy and the wait behind which its output stands */

/* The first reading: what a call creates, uses and writes. */
struct gather {
	struct hrr_slice *s;
	struct slice_world *w;
	const struct hrr_record *rec;
	const struct hrr_api_row *row; /* NULL: a call the table does not know */
	uint32_t call;
	bool releasing; /* the parameter at hand is what the call releases */
	int bad;
};

static struct slice_world *world_of(struct hrr_slice *s, uint32_t p)
{
	static const struct slice_world none = {.last = NOBODY};

	while (s->n_worlds <= p) {
		if (hrr_buf_add(&s->worlds, &none, sizeof none) < 0)
			return NULL;
		s->n_worlds++;
	}
	struct slice_world *w = &((struct slice_world *)(void *)s->worlds.data)[p];
	if (w->memory == NULL)
		w->memory = hrr_ranges_new();
	if (w->maps == NULL)
		w->maps = hrr_ranges_new();
	return w->memory != NULL && w->maps != NULL ? w : NULL;
}

static uint32_t new_object(struct gather *g, uint32_t creator)
{
	const struct slice_object o = {.creator = creator, .releaser = NOBODY, .owner = NOBODY};

	if (g->s->n_objects >= NOBODY - 1 || hrr_buf_add(&g->s->objects, &o, sizeof o) < 0) {
		g->bad = -ENOMEM;
		return NOBODY;
	}
	return g->s->n_objects++;
}

static void add_writer(struct gather *g, uint32_t object, uint32_t call)
{
	struct hrr_buf *b = &slice_objects(g->s)[object].writers;
	const uint32_t *all = (const void *)b->data;
	size_t n = b->len / sizeof *all;

	if (n > 0 && all[n - 1] >= call)
		return;
	if (hrr_buf_add(b, &call, sizeof call) < 0)
		g->bad = -ENOMEM;
}

static void use(struct gather *g, uint32_t object, bool writes)
{
	const struct slice_use u = {object, writes, g->releasing};

	if (object == NOBODY)
		return;
	if (hrr_buf_add(&g->s->uses, &u, sizeof u) < 0)
		g->bad = -ENOMEM;
	else
		g->s->n_uses++;
	if (!writes || g->releasing)
		return;
	add_writer(g, object, g->call);
	/* A graph whose node changes is another one to who instantiates it. */
	if (slice_objects(g->s)[object].owner != NOBODY)
		add_writer(g, slice_objects(g->s)[object].owner, g->call);
}

static struct hrr_id handle_key(unsigned type, uint64_t value)
{
	uint64_t key[2] = {value, type};

	return hrr_id_of(key, sizeof key); /* spreads, and cannot clash by accident */
}

static uint32_t handle(const struct gather *g, unsigned type, uint64_t value)
{
	struct hrr_id key = handle_key(type, value);
	const uint64_t *v = value != 0 ? hrr_idmap_get(&g->w->handles, &key) : NULL;

	return v != NULL ? (uint32_t)*v : NOBODY;
}

static uint32_t new_handle(struct gather *g, unsigned type, uint64_t value)
{
	struct hrr_id key = handle_key(type, value);
	uint32_t object = new_object(g, g->call);

	if (object == NOBODY)
		return NOBODY;
	int rc = hrr_idmap_add(&g->w->handles, &key, object);
	if (rc == 0)
		*hrr_idmap_get(&g->w->handles, &key) = object;
	else if (rc < 0)
		g->bad = rc;
	slice_objects(g->s)[object].handle = (uint8_t)type;
	return object;
}

static uint32_t memory(const struct gather *g, uint64_t addr)
{
	const struct hrr_range *x = addr != 0 ? hrr_ranges_find(g->w->memory, addr) : NULL;

	return x != NULL ? (uint32_t)((uintptr_t)x->value - 1) : NOBODY;
}

static void new_range(struct gather *g, uint64_t base, uint64_t size, uint32_t object)
{
	if (object == NOBODY || base == 0 || size == 0)
		return;
	/* An address that comes again is a new life; what was there has been released. */
	while (hrr_ranges_at(g->w->memory, base) != NULL)
		(void)hrr_ranges_del(g->w->memory, base, NULL);
	if (hrr_ranges_add(g->w->memory, base, size, (void *)((uintptr_t)object + 1)) == -ENOMEM)
		g->bad = -ENOMEM;
	slice_objects(g->s)[object].memory = true;
	slice_objects(g->s)[object].size = size;
}

/* The variables of a code object: what copies to symbols write and kernels may read and write. */
static uint32_t variables(struct gather *g, int node)
{
	const struct hrr_json *j = &g->rec->json;
	size_t len;
	const char *text = hrr_json_raw(j, node, &len);
	struct hrr_id id;

	if (text == NULL || hrr_id_parse(text, len, &id) < 0)
		return NOBODY;
	const uint64_t *known = hrr_idmap_get(&g->w->variables, &id);
	if (known != NULL)
		return (uint32_t)*known;
	uint32_t object = new_object(g, NOBODY);
	if (object == NOBODY)
		return NOBODY;
	slice_objects(g->s)[object].variables = true;
	if (hrr_idmap_add(&g->w->variables, &id, object) < 0)
		g->bad = -ENOMEM;
	return object;
}

static bool name_has(const struct gather *g, const char *word)
{
	return memmem(g->rec->api, g->rec->api_len, word, strlen(word)) != NULL;
}

static bool starts(const struct gather *g, const char *word)
{
	return g->rec->api_len >= strlen(word) && memcmp(g->rec->api, word, strlen(word)) == 0;
}

/* Does the call change what a handle of this type stands for? A call nobody knows may. */
static bool alters(const struct gather *g, unsigned type)
{
	if (g->row == NULL)
		return true;
	for (int i = 0; i < g->row->n_params; i++)
		if ((g->row->alters >> i & 1) != 0 && g->row->params[i].handle == type)
			return true;
	return false;
}

static bool is_graph_thing(unsigned type)
{
	return type == HRR_H_GRAPH || type == HRR_H_NODE || type == HRR_H_EXEC;
}

/* A launch of a graph uses whatever its nodes were given. */
static void use_touched(struct gather *g, uint32_t object)
{
	if (object == NOBODY)
		return;
	size_t n = slice_objects(g->s)[object].touches.len / sizeof(uint32_t);
	for (size_t i = 0; i < n; i++)
		use(g, ((const uint32_t *)(void *)slice_objects(g->s)[object].touches.data)[i],
		    true);
}

static void touch(struct gather *g, uint32_t graph, uint32_t object)
{
	if (graph != NOBODY && object != NOBODY && graph != object &&
	    hrr_buf_add(&slice_objects(g->s)[graph].touches, &object, sizeof object) < 0)
		g->bad = -ENOMEM;
}

static void touch_all(struct gather *g, uint32_t to, uint32_t from)
{
	if (to == NOBODY || from == NOBODY)
		return;
	size_t n = slice_objects(g->s)[from].touches.len / sizeof(uint32_t);
	for (size_t i = 0; i < n; i++)
		touch(g, to, ((const uint32_t *)(void *)slice_objects(g->s)[from].touches.data)[i]);
}

/* Every address in a value: arguments that are structures or arrays, and plain ones. */
static void use_addresses(struct gather *g, int node, bool writes)
{
	const struct hrr_json *j = &g->rec->json;
	uint64_t v;

	for (int i = node; i < (int)j->nodes[node].next; i++)
		if (!j->nodes[i].key && j->nodes[i].type == HRR_JSON_STRING &&
		    hrr_json_addr(j, i, &v) == 0) {
			use(g, memory(g, v), writes);
			for (unsigned type = 1; type < HRR_H_COUNT; type++)
				use(g, handle(g, type, v), alters(g, type));
		}
}

static void parameter(struct gather *g, int at, int node)
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
			use(g, handle(g, p->handle, v), (g->row->alters >> at & 1) != 0);
}

static void kernel(struct gather *g, int kernel)
{
	const struct hrr_json *j = &g->rec->json;
	int args = hrr_json_get(j, kernel, "args");
	struct hrr_buf bytes = {0};

	use(g, variables(g, hrr_json_get(j, kernel, "object")), true);
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
			use(g, memory(g, v), true);
		}
	}
	hrr_buf_release(&bytes);
}

static uint64_t size_of(const struct gather *g)
{
	const struct hrr_json *j = &g->rec->json;
	uint64_t pitch, height, size = 0;

	if (hrr_json_u64(j, hrr_json_get(j, g->rec->args, "pitch"), &pitch) == 0 &&
	    hrr_json_u64(j, hrr_json_get(j, g->rec->args, "height"), &height) == 0 &&
	    !__builtin_mul_overflow(pitch, height, &size))
		return size;
	return hrr_record_size(g->rec, &size) ? size : 0;
}

/* The variables of the module that a call was given, or NOBODY. */
static uint32_t module_variables(const struct gather *g)
{
	const struct slice_call *c = &slice_calls(g->s)[g->call];

	for (uint32_t i = c->uses; i < g->s->n_uses; i++) {
		const struct slice_object *o = &slice_objects(g->s)[slice_uses(g->s)[i].object];
		if (o->touches.len > 0 && !o->memory && !o->variables)
			return *(const uint32_t *)(void *)o->touches.data;
	}
	return NOBODY;
}

/* Calls since the capture began, or its graph was last asked for, are part of the graph. */
static void captured(struct gather *g, uint32_t graph)
{
	if (starts(g, "hipStreamEndCapture"))
		g->w->captures--;
	else if (!starts(g, "hipStreamGetCaptureInfo"))
		return;
	for (uint32_t k = g->w->capture_from; k < g->call; k++) {
		const struct slice_call in = slice_calls(g->s)[k];
		if (in.p != g->rec->p)
			continue;
		add_writer(g, graph, k);
		for (uint32_t i = 0; i < in.n_uses; i++)
			touch(g, graph, slice_uses(g->s)[in.uses + i].object);
	}
	g->w->capture_from = g->call;
}

/* Whether it has not been released: nodes go with the graph that owns them. */
static bool lives(const struct hrr_slice *s, uint32_t object)
{
	const struct slice_object *o = &slice_objects(s)[object];

	return o->releaser == NOBODY &&
	       (o->owner == NOBODY || slice_objects(s)[o->owner].releaser == NOBODY);
}

static void create(struct gather *g, const struct hrr_param *p, int node)
{
	const struct hrr_json *j = &g->rec->json;
	struct hrr_slice *s = g->s;
	const struct slice_call *c = &slice_calls(s)[g->call];
	uint64_t v;

	if (hrr_json_addr(j, node, &v) < 0 || v == 0)
		return;
	if (p->kind == HRR_K_DEV || p->kind == HRR_K_HOST || p->kind == HRR_K_ADDR) {
		uint64_t size = size_of(g);
		if (g->rec->symbol >= 0) {
			/* A variable's address: another name of its code object's variables. */
			uint32_t object = variables(g, hrr_json_get(j, g->rec->symbol, "object"));
			(void)hrr_json_u64(j, hrr_json_get(j, g->rec->symbol, "size"), &size);
			new_range(g, v, size, object);
			use(g, object, true);
			return;
		}
		if (starts(g, "hipModuleGetGlobal") || starts(g, "hipLibraryGetGlobal")) {
			uint32_t object = module_variables(g);
			if (object == NOBODY)
				object = new_object(g, g->call);
			else
				slice_objects(s)[object].variables_used = true;
			new_range(g, v, size, object);
			use(g, object, true);
			return;
		}
		if (size == 0) {
			/* Another address of memory that it uses: the device's of a host block. */
			for (uint32_t i = 0; i < s->n_uses - c->uses; i++) {
				uint32_t object = slice_uses(s)[c->uses + i].object;
				if (slice_objects(s)[object].memory) {
					new_range(g, v, slice_objects(s)[object].size, object);
					add_writer(g, object, g->call);
					return;
				}
			}
			return;
		}
		new_range(g, v, size, new_object(g, g->call));
		return;
	}
	if (p->kind != HRR_K_HANDLE)
		return;
	/* A handle that is given out again while it lives: a question, not a making. */
	uint32_t live = handle(g, p->handle, v);
	if (live != NOBODY && lives(s, live)) {
		use(g, live, false);
		/* The graph was there before its capture ended: captured into, or asked for. */
		if (p->handle == HRR_H_GRAPH && g->w->captures > 0) {
			captured(g, live);
			add_writer(g, live, g->call);
		}
		return;
	}
	uint32_t fresh = new_handle(g, p->handle, v);
	if (fresh != NOBODY && p->handle == HRR_H_MODULE && g->rec->blobs >= 0)
		touch(g, fresh, variables(g, hrr_json_get(j, g->rec->blobs, "image")));
	if (fresh == NOBODY || !is_graph_thing(p->handle))
		return;
	/* What a graph's launch will touch: all that this call, or what it was given, touches. */
	for (uint32_t i = c->uses; i < s->n_uses; i++) {
		uint32_t object = slice_uses(s)[i].object;
		if (p->handle == HRR_H_NODE && slice_objects(s)[object].handle == HRR_H_GRAPH)
			slice_objects(s)[fresh].owner = object;
		touch_all(g, fresh, object);
		if (slice_objects(s)[object].memory || slice_objects(s)[object].variables)
			touch(g, fresh, object);
	}
	if (p->handle == HRR_H_GRAPH && g->w->captures > 0)
		captured(g, fresh);
}

/* One thing, or an array of them. */
static void create_all(struct gather *g, const struct hrr_param *p, int node)
{
	const struct hrr_json *j = &g->rec->json;

	if (j->nodes[node].type != HRR_JSON_ARRAY) {
		create(g, p, node);
		return;
	}
	for (int i = hrr_json_first(j, node); i >= 0; i = hrr_json_next(j, node, i))
		create(g, p, i);
}

/* Nodes added to a graph, parameters changed in it: it touches what they were given. */
static void pass_on_touches(struct gather *g)
{
	const struct slice_call *c = &slice_calls(g->s)[g->call];
	uint32_t n = g->s->n_uses;

	for (uint32_t i = c->uses; i < n; i++) {
		const struct slice_use u = slice_uses(g->s)[i];
		if (!u.writes || slice_objects(g->s)[u.object].memory ||
		    slice_objects(g->s)[u.object].variables)
			continue;
		for (uint32_t k = c->uses; k < n; k++) {
			uint32_t other = slice_uses(g->s)[k].object;
			if (slice_objects(g->s)[other].memory ||
			    slice_objects(g->s)[other].variables) {
				touch(g, u.object, other);
				touch(g, slice_objects(g->s)[u.object].owner, other);
			}
		}
	}
}

/*
 * A mapping is a thing of its own: what uses the addresses needs the call that mapped them, and
 * that call the one that ends it, or nothing could be mapped there again.
 */
static void mapping(struct gather *g)
{
	uint64_t base, size;
	const struct hrr_range *r;

	if (g->row->gives.kind != HRR_GIVES_MAP && g->row->takes != HRR_GIVES_MAP)
		return;
	int at = g->row->takes == HRR_GIVES_MAP ? g->row->release : g->row->gives.param;
	int node = hrr_json_get(&g->rec->json, g->rec->args, g->row->params[at].name);
	if (hrr_json_addr(&g->rec->json, node, &base) < 0 || !hrr_record_size(g->rec, &size))
		return;
	if (g->row->takes == HRR_GIVES_MAP) {
		while ((r = hrr_ranges_overlap(g->w->maps, base, size)) != NULL) {
			slice_objects(g->s)[(uintptr_t)r->value - 1].releaser = g->call;
			(void)hrr_ranges_del(g->w->maps, r->base, r->value);
		}
		return;
	}
	uint32_t object = new_object(g, g->call);
	if (object != NOBODY &&
	    hrr_ranges_add(g->w->maps, base, size, (void *)((uintptr_t)object + 1)) == -ENOMEM)
		g->bad = -ENOMEM;
}

static void arguments(struct gather *g)
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
		uint32_t object = variables(g, hrr_json_get(j, rec->symbol, "object"));
		if (object != NOBODY)
			slice_objects(g->s)[object].variables_used = true;
		use(g, object, !name_has(g, "From"));
	}
	if (rec->host >= 0)
		use_addresses(g, rec->host, false);
	if (graph && starts(g, "hipGraphLaunch")) {
		uint32_t from = slice_calls(g->s)[g->call].uses, n = g->s->n_uses;
		for (uint32_t i = from; i < n; i++)
			use_touched(g, slice_uses(g->s)[i].object);
	} else if (graph) {
		pass_on_touches(g);
	}
	if (g->row == NULL)
		return;
	mapping(g);
	for (int i = hrr_json_first(j, rec->args); i >= 0; i = hrr_json_next(j, rec->args, i)) {
		int p = hrr_api_param((enum hrr_api)(g->row - hrr_api_table),
				      j->text + j->nodes[i].off, j->nodes[i].len);
		if (p >= 0 && g->row->params[p].flow == HRR_FLOW_OUT)
			create_all(g, &g->row->params[p], i + 1);
		if (p >= 0 && p == g->row->release && g->row->takes != HRR_GIVES_MAP) {
			/* The newest use of what it releases. */
			uint64_t v;
			if (hrr_json_addr(j, i + 1, &v) < 0)
				continue;
			uint32_t object = g->row->params[p].kind == HRR_K_HANDLE
					      ? handle(g, g->row->params[p].handle, v)
					      : memory(g, v);
			if (object != NOBODY)
				slice_objects(g->s)[object].releaser = g->call;
		}
	}
	/* Host memory that the program allocated itself and tells HIP of. */
	uint64_t base;
	if (starts(g, "hipHostRegister") &&
	    hrr_json_addr(j, hrr_json_get(j, rec->args, "hostPtr"), &base) == 0)
		new_range(g, base, size_of(g), new_object(g, g->call));
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
	struct gather g = {.s = s, .w = w, .rec = rec, .row = row < 0 ? NULL : &hrr_api_table[row]};
	struct slice_call c = {.seq = rec->seq,
			       .p = rec->p,
			       .uses = s->n_uses,
			       .device = NOBODY,
			       .seen_by = NOBODY,
			       .selected = selected,
			       .launch = rec->kernel >= 0 || starts(&g, "hipGraphLaunch"),
			       .to_host = hrr_json_is(&rec->json, rec->dir, "d2h")};
	struct hrr_id thread = hrr_id_of(&rec->tid, sizeof rec->tid);

	if (s->n_calls >= NOBODY - 1)
		return -E2BIG;
	c.always = starts(&g, "hipInit");
	c.waits_value = starts(&g, "hipStreamWaitValue");
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
	if (starts(&g, "hipSetDevice") || starts(&g, "hipCtxSetCurrent") ||
	    starts(&g, "hipCtxPushCurrent") || starts(&g, "hipCtxPopCurrent")) {
		int rc = hrr_idmap_add(&w->devices, &thread, g.call);
		if (rc < 0)
			return rc;
		if (rc == 0)
			*hrr_idmap_get(&w->devices, &thread) = g.call;
		if (c.device != NOBODY)
			slice_calls(s)[c.device].current = false;
		slice_calls(s)[g.call].current = true;
	}
	if (starts(&g, "hipStreamBeginCapture") && !failed(rec) && w->captures++ == 0)
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
	struct gather g = {.s = s, .w = w, .rec = rec};
	struct slice_region x = {.object = NOBODY};
	struct slice_region *all = (struct slice_region *)(void *)s->regions.data;
	uint64_t base, size;
	bool known = hrr_json_addr(j, hrr_json_get(j, 0, "base"), &base) == 0;

	if (known && hrr_json_is(j, hrr_json_get(j, 0, "region"), "add") &&
	    hrr_json_is(j, hrr_json_get(j, 0, "kind"), "segment") &&
	    hrr_json_u64(j, hrr_json_get(j, 0, "size"), &size) == 0) {
		x.object = new_object(&g, NOBODY);
		new_range(&g, base, size, x.object);
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
	struct slice_world *w = world_of(s, rec->p);

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
