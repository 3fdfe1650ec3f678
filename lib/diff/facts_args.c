#include <stdio.h>
#include <string.h>

#include "lib/diff/facts.h"

/* Results that are the machine's, not the program's. */
static const struct {
	enum hrr_api api;
	const char *param;
} environment[] = {
    {HRR_API_hipEventElapsedTime, "ms"},
    {HRR_API_hipMemGetInfo, "free"},
};

static bool is_environment(const struct hrr_facts *f, const struct hrr_param *p)
{
	for (size_t i = 0; i < sizeof environment / sizeof *environment; i++)
		if (f->api == (int)environment[i].api && strcmp(environment[i].param, p->name) == 0)
			return true;
	return false;
}

static uint64_t number(const struct hrr_facts *f, const char *name)
{
	uint64_t v;
	int node = hrr_json_get(&f->rec->json, f->rec->args, name);

	return node >= 0 && hrr_json_u64(&f->rec->json, node, &v) == 0 ? v : 0;
}

/* Bytes of what a call allocated, by the names HIP's parameters have; 1 when they do not tell. */
static uint64_t made_size(const struct hrr_facts *f)
{
	static const char *const names[] = {"size", "sizeBytes", "bytes", NULL};
	uint64_t v, pitch, height;

	if (f->rec->symbol >= 0 &&
	    hrr_json_u64(&f->rec->json, hrr_json_get(&f->rec->json, f->rec->symbol, "size"), &v) ==
		0 &&
	    v)
		return v;
	for (int i = 0; names[i]; i++)
		if ((v = number(f, names[i])) != 0)
			return v;
	pitch = number(f, "pitch");
	height = number(f, "height");
	if (pitch && height && !__builtin_mul_overflow(pitch, height, &v))
		return v;
	/* hipHostGetDevicePointer: as much as there is of the host memory. */
	uint64_t host, offset = 0;
	int node = hrr_json_get(&f->rec->json, f->rec->args, "hstPtr");

	if (node >= 0 && hrr_json_addr(&f->rec->json, node, &host) == 0) {
		uint32_t id = hrr_objects_address(f->o, f->rec->p, host, &offset);
		struct hrr_object *x = hrr_objects_get(f->o, id);

		if (x && x->size > offset)
			return x->size - offset;
	}
	return 1;
}

static bool allocates(const struct hrr_facts *f)
{
	return f->row->cls == HRR_CLASS_ALLOC || f->api == HRR_API_hipMemAddressReserve;
}

static void address(struct hrr_facts *f, uint8_t kind, uint8_t flow, uint64_t v, uint64_t size)
{
	uint64_t offset;

	if (f->api == HRR_API_hipHostRegister && f->rec->ret < 0)
		hrr_facts_made(f, HRR_OBJECT_MEMORY, v, size);
	else if (flow == HRR_FLOW_OUT && v &&
		 (allocates(f) || !hrr_objects_address(f->o, f->rec->p, v, &offset)))
		hrr_facts_made(f, HRR_OBJECT_MEMORY, v, size);
	else
		hrr_facts_address(f, v, kind == HRR_K_DEV ? HRR_REF_DEVICE : HRR_REF_HOST);
}

static void handle(struct hrr_facts *f, uint8_t type, uint8_t flow, uint64_t v, int node)
{
	uint32_t id;

	if (type == HRR_H_STREAM && v <= 2) {
		hrr_facts_node(f, HRR_FACT_TEXT, node); /* null, legacy, per thread */
	} else if (v == 0) {
		hrr_facts_ref(f, HRR_REF_NULL, HRR_OBJECT_NONE, 0, 0);
	} else {
		id = hrr_objects_handle(f->o, f->rec->p, type, v);
		/* Calls that ask for a handle give one that is there; others make a new one. */
		bool asks = f->row->cls == HRR_CLASS_CTX || f->row->cls == HRR_CLASS_POOL ||
			    f->row->cls == HRR_CLASS_REGISTER || f->row->cls == HRR_CLASS_QUERY;

		if (flow == HRR_FLOW_OUT && !(asks && id))
			hrr_facts_made(f, type, v, 0);
		else if (id)
			hrr_facts_ref(f, HRR_REF_OBJECT, id, 0, v);
		else
			hrr_facts_ref(f, HRR_REF_HANDLE, HRR_OBJECT_NONE, 0, v);
	}
}

static void stub(struct hrr_facts *f, uint64_t v)
{
	uint32_t id;

	if (f->row->cls == HRR_CLASS_REGISTER) {
		hrr_facts_made(f, HRR_OBJECT_STUB, v, 0);
		return;
	}
	id = hrr_objects_handle(f->o, f->rec->p, HRR_OBJECT_STUB, v);
	hrr_facts_ref(f, id ? HRR_REF_OBJECT : v ? HRR_REF_HANDLE : HRR_REF_NULL, id, 0, v);
}

/* One value of a parameter or of a field. */
static void value(struct hrr_facts *f, uint8_t kind, uint8_t type, uint8_t flow, int node,
		  uint64_t size)
{
	uint64_t v;

	switch (kind) {
	case HRR_K_DEV:
	case HRR_K_HOST:
	case HRR_K_ADDR:
		if (hrr_json_addr(&f->rec->json, node, &v) == 0) {
			address(f, kind, flow, v, size);
			return;
		}
		break;
	case HRR_K_HANDLE:
		if (hrr_json_addr(&f->rec->json, node, &v) == 0) {
			handle(f, type, flow, v, node);
			return;
		}
		break;
	case HRR_K_SYMBOL:
	case HRR_K_STUB:
		if (hrr_json_addr(&f->rec->json, node, &v) == 0) {
			stub(f, v);
			return;
		}
		break;
	case HRR_K_HINT:
	case HRR_K_IMAGE:
	case HRR_K_FN:
	case HRR_K_PTR:
	case HRR_K_KPARAMS:
	case HRR_K_EXTRA:
		/* Places in the program, of which only null says something. */
		if (hrr_json_addr(&f->rec->json, node, &v) == 0) {
			hrr_facts_add(f, HRR_FACT_TEXT, v ? "\"set\"" : "\"0x0\"", 5);
			return;
		}
		break;
	default:
		hrr_facts_node(f, HRR_FACT_TEXT, node);
		return;
	}
	hrr_facts_any(f, node);
}

static const struct hrr_field *field_of(const struct hrr_struct *st, const char *name, size_t len)
{
	for (int i = 0; i < st->n; i++)
		if (strlen(st->fields[i].name) == len && memcmp(st->fields[i].name, name, len) == 0)
			return &st->fields[i];
	return NULL;
}

static void structure(struct hrr_facts *f, const struct hrr_param *p, int node)
{
	const struct hrr_json *j = &f->rec->json;
	size_t at = strlen(f->s->path);
	uint64_t pitch = 0, rows = 0, size = 1;

	if (allocates(f)) { /* hipMalloc3D */
		(void)hrr_json_u64(j, hrr_json_get(j, node, "pitch"), &pitch);
		(void)hrr_json_u64(j, hrr_json_get(j, node, "ysize"), &rows);
		int extent = hrr_json_get(j, f->rec->args, "extent");
		uint64_t depth = 1;

		(void)hrr_json_u64(j, hrr_json_get(j, extent, "depth"), &depth);
		if (__builtin_mul_overflow(pitch, rows, &size) ||
		    __builtin_mul_overflow(size, depth, &size))
			size = 1;
	}
	for (int k = hrr_json_first(j, node); k >= 0; k = hrr_json_next(j, node, k)) {
		const struct hrr_field *d =
		    field_of(p->st, j->text + j->nodes[k].off, j->nodes[k].len);

		snprintf(f->s->path + at, sizeof f->s->path - at, ".%.*s", (int)j->nodes[k].len,
			 j->text + j->nodes[k].off);
		if (d)
			value(f, d->kind, d->handle, p->flow, k + 1, size);
		else
			hrr_facts_any(f, k + 1);
	}
	f->s->path[at] = 0;
}

static void element(struct hrr_facts *f, const struct hrr_param *p, int node)
{
	if (p->st && f->rec->json.nodes[node].type == HRR_JSON_OBJECT)
		structure(f, p, node);
	else
		value(f, p->kind, p->handle, p->flow, node, made_size(f));
}

static void parameter(struct hrr_facts *f, const struct hrr_param *p, int node)
{
	const struct hrr_json *j = &f->rec->json;
	size_t at = strlen(f->s->path);

	if (is_environment(f, p))
		return;
	if (p->count < 0 || j->nodes[node].type != HRR_JSON_ARRAY) {
		element(f, p, node);
		return;
	}
	int i = 0;
	for (int k = hrr_json_first(j, node); k >= 0; k = hrr_json_next(j, node, k)) {
		snprintf(f->s->path + at, sizeof f->s->path - at, "[%d]", i++);
		element(f, p, k);
	}
	f->s->path[at] = 0;
}

/* After the facts are taken: what the call released is gone. */
static void release(struct hrr_facts *f)
{
	const struct hrr_json *j = &f->rec->json;
	uint64_t v;

	if (f->rec->ret >= 0 && f->row->ret == HRR_RET_ERROR)
		return; /* it failed, and released nothing */
	if (f->row->release == -2) {
		hrr_objects_drop_all(f->o, f->rec->p);
		return;
	}
	if (f->row->release < 0 || f->api == HRR_API_hipMemUnmap)
		return;
	const struct hrr_param *p = &f->row->params[f->row->release];
	int node = hrr_json_get(j, f->rec->args, p->name);

	if (node < 0 || hrr_json_addr(j, node, &v) < 0)
		return;
	if (p->kind == HRR_K_HANDLE)
		hrr_objects_drop_handle(f->o, f->rec->p, p->handle, v);
	else
		hrr_objects_drop_memory(f->o, f->rec->p, v);
}

void hrr_facts_args(struct hrr_facts *f)
{
	const struct hrr_json *j = &f->rec->json;
	int args = f->rec->args;

	for (int k = args < 0 ? -1 : hrr_json_first(j, args); k >= 0;
	     k = hrr_json_next(j, args, k)) {
		const char *name = j->text + j->nodes[k].off;
		int i = f->row ? hrr_api_param((enum hrr_api)f->api, name, j->nodes[k].len) : -1;

		snprintf(f->s->path, sizeof f->s->path, "args.%.*s", (int)j->nodes[k].len, name);
		if (i < 0)
			hrr_facts_any(f, k + 1);
		else
			parameter(f, &f->row->params[i], k + 1);
	}
	if (f->row)
		release(f);
}
