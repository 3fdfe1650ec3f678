#include <stdio.h>
#include <string.h>

#include "lib/diff/facts.h"
#include "lib/hip/made.h"

/*
 * An address. What the call makes is a new object; an address that comes out of
 * any other call is one that nothing declared before, or of an object that is there.
 */
static void address(struct hrr_facts *f, uint8_t kind, uint8_t flow, uint64_t v)
{
	struct hrr_made m;
	uint64_t offset;
	bool made = hrr_record_makes(f->rec, f->row, &m) && m.base == v &&
		    m.kind != HRR_GIVES_MAP, /* of an object that addresses were reserved for */
	    here = v != 0 && hrr_objects_address(f->o, f->rec->p, v, &offset) != HRR_OBJECT_NONE;

	if (made && m.kind == HRR_GIVES_NAME &&
	    m.size == 0) { /* as much as there is of the other */
		struct hrr_object *x =
		    hrr_objects_get(f->o, hrr_objects_address(f->o, f->rec->p, m.behind, &offset));
		m.size = x && x->size > offset ? x->size - offset : 0;
		offset = 0;
	}
	if (made && !(m.kind == HRR_GIVES_NAME && here))
		hrr_facts_made(f, HRR_OBJECT_MEMORY, v, m.size ? m.size : 1);
	else if (flow == HRR_FLOW_OUT && v && !here)
		hrr_facts_made(f, HRR_OBJECT_MEMORY, v, 1);
	else
		hrr_facts_address(f, v, kind == HRR_K_DEV ? HRR_REF_DEVICE : HRR_REF_HOST);
}

/*
 * An event is what was recorded into it last: that record is an object of its own,
 * so that two runs that wait for different ones differ, and in that.
 */
static void place(struct hrr_facts *f, uint64_t event)
{
	size_t at = strlen(f->s->path);
	uint32_t id = hrr_objects_handle(f->o, f->rec->p, HRR_OBJECT_PLACE, event);

	snprintf(f->s->path + at, sizeof f->s->path - at, ".record");
	if (f->row->records >= 0 && hrr_record_succeeded(f->rec, f->row))
		hrr_facts_made(f, HRR_OBJECT_PLACE, event, 0);
	else if (id)
		hrr_facts_ref(f, HRR_REF_OBJECT, id, 0, event);
	f->s->path[at] = 0;
}

static void handle(struct hrr_facts *f, uint8_t type, uint8_t flow, uint64_t v, int node)
{
	size_t before = f->s->facts.len;
	uint32_t id, stream = 0;

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
		if (type == HRR_H_EVENT && flow == HRR_FLOW_IN)
			place(f, v);
		stream = id ? id : HRR_STREAM_UNDECLARED;
	}
	if (type != HRR_H_STREAM || flow != HRR_FLOW_IN)
		return;
	if (f->stream_at[1] == 0) {
		f->stream = stream;
		f->stream_at[0] = before;
		f->stream_at[1] = f->s->facts.len;
	} else if (stream != f->stream) {
		f->several = true;
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
static void value(struct hrr_facts *f, uint8_t kind, uint8_t type, uint8_t flow, int node)
{
	uint64_t v;

	switch (kind) {
	case HRR_K_DEV:
	case HRR_K_HOST:
	case HRR_K_ADDR:
		if (hrr_json_addr(&f->rec->json, node, &v) == 0) {
			address(f, kind, flow, v);
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

	for (int k = hrr_json_first(j, node); k >= 0; k = hrr_json_next(j, node, k)) {
		const struct hrr_field *d =
		    field_of(p->st, j->text + j->nodes[k].off, j->nodes[k].len);

		snprintf(f->s->path + at, sizeof f->s->path - at, ".%.*s", (int)j->nodes[k].len,
			 j->text + j->nodes[k].off);
		if (d)
			value(f, d->kind, d->handle, p->flow, k + 1);
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
		value(f, p->kind, p->handle, p->flow, node);
}

static void parameter(struct hrr_facts *f, const struct hrr_param *p, int node)
{
	const struct hrr_json *j = &f->rec->json;
	size_t at = strlen(f->s->path);

	if (f->row->varies >= 0 && p == &f->row->params[f->row->varies])
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
	bool all;

	if (hrr_record_takes(f->rec, f->row, &v, &all)) {
		if (all)
			hrr_objects_drop_all(f->o, f->rec->p);
		else if (f->row->takes != HRR_GIVES_MAP) /* the addresses stay reserved */
			hrr_objects_drop_memory(f->o, f->rec->p, v);
		return;
	}
	if (f->row->release < 0 || !hrr_record_succeeded(f->rec, f->row))
		return;
	const struct hrr_param *p = &f->row->params[f->row->release];
	if (p->kind != HRR_K_HANDLE ||
	    hrr_json_addr(j, hrr_json_get(j, f->rec->args, p->name), &v) < 0)
		return;
	hrr_objects_drop_handle(f->o, f->rec->p, p->handle, v);
	if (p->handle == HRR_H_EVENT)
		hrr_objects_drop_handle(f->o, f->rec->p, HRR_OBJECT_PLACE, v);
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
