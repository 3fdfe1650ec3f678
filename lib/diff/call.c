#include "lib/diff/facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/id.h"
#include "lib/diff/held.h"
#include "lib/region/timeline.h"

/* One fact in memory: this, the path, the value. */
struct head {
	uint8_t kind;
	uint16_t path_len;
	uint32_t value_len;
};

const char *hrr_facts_text(const struct hrr_facts *f, int node, size_t *ret_len)
{
	const struct hrr_json_node *n = &f->rec->json.nodes[node];
	int quote = n->type == HRR_JSON_STRING;

	*ret_len = n->len + (size_t)quote * 2;
	return f->rec->json.text + n->off - quote;
}

void hrr_facts_add(struct hrr_facts *f, enum hrr_fact_kind kind, const char *value, size_t len)
{
	size_t path = strlen(f->s->path);
	struct head h;

	memset(&h, 0, sizeof h); /* padding too: it is hashed */
	h.kind = (uint8_t)kind;
	h.path_len = (uint16_t)path;
	h.value_len = (uint32_t)len;
	if (f->err == 0 && (hrr_buf_add(&f->s->facts, &h, sizeof h) < 0 ||
			    hrr_buf_add(&f->s->facts, f->s->path, path) < 0 ||
			    hrr_buf_add(&f->s->facts, value, len) < 0))
		f->err = -ENOMEM;
}

void hrr_facts_node(struct hrr_facts *f, enum hrr_fact_kind kind, int node)
{
	size_t len;
	const char *text = hrr_facts_text(f, node, &len);

	hrr_facts_add(f, kind, text, len);
}

void hrr_facts_ref(struct hrr_facts *f, enum hrr_ref_kind kind, uint32_t object, uint64_t offset,
		   uint64_t value)
{
	struct hrr_diff_ref r = {0};
	char what[9];

	r.kind = (uint8_t)kind;
	r.object = object;
	r.offset = offset;
	r.value = value;
	/* In the facts, and so in the hash, is only what two runs may have in common. */
	what[0] = (char)kind;
	memcpy(what + 1, &offset, sizeof offset);
	if (f->err == 0 && hrr_buf_add(&f->s->refs, &r, sizeof r) < 0)
		f->err = -ENOMEM;
	if (f->err == 0)
		hrr_objects_ref(f->o, object);
	hrr_facts_add(f, HRR_FACT_REF, what, sizeof what);
}

void hrr_facts_address(struct hrr_facts *f, uint64_t addr, enum hrr_ref_kind unknown)
{
	uint64_t offset = 0;
	uint32_t id = addr ? hrr_objects_address(f->o, f->rec->p, addr, &offset) : HRR_OBJECT_NONE;

	if (addr == 0)
		hrr_facts_ref(f, HRR_REF_NULL, HRR_OBJECT_NONE, 0, 0);
	else if (id)
		hrr_facts_ref(f, HRR_REF_OBJECT, id, offset, addr);
	else
		hrr_facts_ref(f, unknown, HRR_OBJECT_NONE, 0, addr);
}

void hrr_facts_made(struct hrr_facts *f, uint8_t type, uint64_t value, uint64_t size)
{
	struct hrr_object like = {0};
	uint32_t id;

	if (value == 0) {
		hrr_facts_ref(f, HRR_REF_NULL, HRR_OBJECT_NONE, 0, 0);
		return;
	}
	like.p = f->rec->p;
	like.type = type;
	like.seq = f->rec->seq;
	like.origin = (uint64_t)(f->api + 2);
	like.size = size;
	int rc = f->err ? f->err : hrr_objects_make(f->o, &like, value, &id);
	if (rc == -ERANGE) /* an archive may say anything: then it is an address like others */
		hrr_facts_ref(f, HRR_REF_DEVICE, HRR_OBJECT_NONE, 0, value);
	else if (rc < 0)
		f->err = rc;
	else
		hrr_facts_ref(f, HRR_REF_MADE, id, 0, value);
}

void hrr_facts_any(struct hrr_facts *f, int node)
{
	const struct hrr_json *j = &f->rec->json;
	size_t len, at = strlen(f->s->path);
	const char *s = hrr_json_raw(j, node, &len);
	uint64_t v;

	if (s && len > 2 && s[0] == '0' && s[1] == 'x' && hrr_json_addr(j, node, &v) == 0) {
		hrr_facts_address(f, v,
				  f->rec->kind == HRR_REC_OTHER ? HRR_REF_HOST : HRR_REF_DEVICE);
	} else if (j->nodes[node].type == HRR_JSON_OBJECT) {
		for (int k = hrr_json_first(j, node); k >= 0; k = hrr_json_next(j, node, k)) {
			snprintf(f->s->path + at, sizeof f->s->path - at, "%s%.*s", at ? "." : "",
				 (int)j->nodes[k].len, j->text + j->nodes[k].off);
			hrr_facts_any(f, k + 1);
		}
		f->s->path[at] = 0;
	} else if (j->nodes[node].type == HRR_JSON_ARRAY) {
		int i = 0;

		for (int k = hrr_json_first(j, node); k >= 0; k = hrr_json_next(j, node, k)) {
			snprintf(f->s->path + at, sizeof f->s->path - at, "[%d]", i++);
			hrr_facts_any(f, k);
		}
		f->s->path[at] = 0;
	} else {
		hrr_facts_node(f, HRR_FACT_TEXT, node);
	}
}

static void path(struct hrr_facts *f, const char *text)
{
	snprintf(f->s->path, sizeof f->s->path, "%s", text);
}

static void host_snapshots(struct hrr_facts *f, int array)
{
	const struct hrr_json *j = &f->rec->json;
	uint64_t addr;
	int i = 0;

	for (int k = hrr_json_first(j, array); k >= 0; k = hrr_json_next(j, array, k), i++) {
		int a = hrr_json_get(j, k, "addr"), size = hrr_json_get(j, k, "size"),
		    blob = hrr_json_get(j, k, "blob");

		snprintf(f->s->path, sizeof f->s->path, "host[%d].addr", i);
		if (a >= 0 && hrr_json_addr(j, a, &addr) == 0)
			hrr_facts_address(f, addr, HRR_REF_HOST);
		snprintf(f->s->path, sizeof f->s->path, "host[%d].size", i);
		if (size >= 0)
			hrr_facts_node(f, HRR_FACT_TEXT, size);
		snprintf(f->s->path, sizeof f->s->path, "host[%d].blob", i);
		if (blob >= 0)
			hrr_facts_node(f, HRR_FACT_BLOB, blob);
	}
}

static bool one_of(const struct hrr_json *j, int key, const char *const *names)
{
	for (; *names; names++)
		if (strlen(*names) == j->nodes[key].len &&
		    memcmp(j->text + j->nodes[key].off, *names, j->nodes[key].len) == 0)
			return true;
	return false;
}

/* Members of no meaning (they differ from run to run), or with facts of their own. */
static const char *const handled[] = {"seq",  "t",	 "dur",	 "tid",	   "p",	     "api",
				      "ret",  "args",	 "dir",	 "blobs",  "kernel", "kernels",
				      "host", "addr",	 "blob", "output", "node",   "region",
				      "base", "foreign", NULL};

static void others(struct hrr_facts *f)
{
	const struct hrr_json *j = &f->rec->json;

	for (int k = hrr_json_first(j, 0); k >= 0; k = hrr_json_next(j, 0, k)) {
		if (one_of(j, k, handled))
			continue;
		snprintf(f->s->path, sizeof f->s->path, "%.*s", (int)j->nodes[k].len,
			 j->text + j->nodes[k].off);
		hrr_facts_any(f, k + 1);
	}
}

static void call(struct hrr_facts *f)
{
	const struct hrr_record *rec = f->rec;
	const struct hrr_json *j = &rec->json;
	uint64_t handle;

	/* What hipGetLastError finds after such a question is luck as well. */
	if (rec->ret >= 0 && !(f->row && f->row->cls == HRR_CLASS_ERROR &&
			       hrr_json_is(j, rec->ret, "hipErrorNotReady"))) {
		path(f, "ret");
		if (f->row && f->row->ret == HRR_RET_FATBIN &&
		    hrr_json_addr(j, rec->ret, &handle) == 0)
			hrr_facts_made(f, HRR_H_FATBIN, handle, 0);
		else
			hrr_facts_node(f, HRR_FACT_TEXT, rec->ret);
	}
	hrr_facts_args(f);
	if (rec->dir >= 0) {
		path(f, "dir");
		hrr_facts_node(f, HRR_FACT_TEXT, rec->dir);
	}
	if (rec->kernel >= 0)
		hrr_facts_kernel(f, rec->kernel);
	for (int k = rec->blobs < 0 ? -1 : hrr_json_first(j, rec->blobs); k >= 0;
	     k = hrr_json_next(j, rec->blobs, k)) {
		snprintf(f->s->path, sizeof f->s->path, "blobs.%.*s", (int)j->nodes[k].len,
			 j->text + j->nodes[k].off);
		hrr_facts_node(f, HRR_FACT_BLOB, k + 1);
	}
	if (rec->host >= 0)
		host_snapshots(f, rec->host);
	others(f);
}

static void output(struct hrr_facts *f)
{
	const struct hrr_json *j = &f->rec->json;
	int addr = hrr_json_get(j, 0, "addr"), blob = hrr_json_get(j, 0, "blob");
	uint64_t v;

	path(f, "addr");
	if (addr >= 0 && hrr_json_addr(j, addr, &v) == 0)
		hrr_facts_address(f, v, f->s->of_launch ? HRR_REF_DEVICE : HRR_REF_HOST);
	others(f); /* size, width, …, unknown */
	path(f, "blob");
	if (blob >= 0)
		hrr_facts_node(f, HRR_FACT_BLOB, blob);
}

static void region(struct hrr_facts *f, struct hrr_diag *diag)
{
	struct hrr_region r;
	int rc;

	f->s->text.len = 0;
	rc = hrr_region_read(f->rec, &r, &f->s->text, diag);
	if (rc < 0) {
		f->err = rc;
		return;
	}
	path(f, "base");
	if (r.add) {
		hrr_facts_made(f, HRR_OBJECT_MEMORY, r.base, r.size);
	} else {
		hrr_facts_address(f, r.base, HRR_REF_DEVICE);
		hrr_objects_drop_memory(f->o, f->rec->p, r.base);
	}
	others(f);
}

static uint64_t hash(const void *data, size_t len, uint64_t more)
{
	struct hrr_id id = hrr_id_of(data, len);
	uint64_t h;

	memcpy(&h, id.b, sizeof h);
	return (h ^ more) * 0x9e3779b97f4a7c15u;
}

/* Where in a thread it stands, and what that means for other streams. */
static void order(struct hrr_diff_call *c, const struct hrr_facts *f)
{
	const struct hrr_api_row *row = f->row;
	bool waits, makes = false;

	if (!row)
		return;
	waits = row->sync != HRR_SYNC_NONE && row->sync != HRR_SYNC_QUERY;
	/* A handle is used by calls of no stream: it has to be there before them. */
	for (uint32_t i = 0; i < c->n_refs; i++) {
		const struct hrr_object *x = c->refs[i].kind == HRR_REF_MADE
						 ? hrr_objects_get(f->o, c->refs[i].object)
						 : NULL;
		makes = makes || (x && x->type < HRR_H_COUNT);
	}
	c->stream = f->stream;
	c->queued = f->stream && !f->several && !waits && !makes;
	c->orders = !c->queued && (waits || f->stream_at[1] || row->cls == HRR_CLASS_LAUNCH ||
				   row->cls == HRR_CLASS_COPY || row->cls == HRR_CLASS_SET);
	if (f->stream_at[1])
		c->work =
		    hash(c->facts, f->stream_at[0],
			 hash(c->facts + f->stream_at[1], c->len - f->stream_at[1], c->family));
}

/* Hashes api, then the facts that say which call it is. */
static void hashes(struct hrr_diff_call *c, const struct hrr_facts *f)
{
	static const char *const telling[] = {"ret", "dir", "region", "seq", NULL};
	const struct hrr_record *rec = f->rec;
	bool mixed = f->s->mixed && rec->kind == HRR_REC_CALL,
	     launch = rec->kernel >= 0 && f->row && f->row->cls == HRR_CLASS_LAUNCH;
	const char *name = mixed && launch ? "launch" : rec->api ? rec->api : "-";
	struct hrr_fact fact;
	uint32_t ref = 0;

	/* Upstream tells one launch call from another by what it launches only. */
	c->family = hash(name, name == rec->api ? rec->api_len : strlen(name), (uint64_t)rec->kind);
	c->content = mixed ? c->family : hash(c->facts, c->len, c->family);
	c->shape = c->family;
	for (size_t at = 0; hrr_diff_call_fact(c, &at, &ref, &fact);) {
		if (mixed && hrr_fact_held_by_all(&fact, launch))
			c->content = hash(fact.value, fact.value_len,
					  hash(fact.path, fact.path_len, c->content));
		size_t skip = hrr_path_kernel(fact.path, fact.path_len);
		bool tells = skip > 0 && fact.path_len - skip == 4 &&
			     memcmp(fact.path + skip, "name", 4) == 0;
		for (int i = 0; telling[i]; i++)
			tells |= fact.path_len == strlen(telling[i]) &&
				 memcmp(fact.path, telling[i], fact.path_len) == 0;
		if (tells && !(mixed && fact.path_len == 3 && fact.path[0] == 'd'))
			c->shape = hash(fact.value, fact.value_len,
					hash(fact.path, fact.path_len, c->shape));
	}
}

/* A line of hrr-play -r: what became of one call or output, or the verdict. */
static void result(struct hrr_facts *f, int node)
{
	const struct hrr_json *j = &f->rec->json;
	int verdict = hrr_json_get(j, node, "verdict");

	if (verdict >= 0) { /* its counts are those of the lines before */
		path(f, "verdict");
		hrr_facts_any(f, verdict);
		return;
	}
	for (int k = hrr_json_first(j, node); k >= 0; k = hrr_json_next(j, node, k)) {
		snprintf(f->s->path, sizeof f->s->path, "%.*s", (int)j->nodes[k].len,
			 j->text + j->nodes[k].off);
		if (strcmp(f->s->path, "line") != 0)
			hrr_facts_any(f, k + 1);
	}
}

/* How often a program asks whether something is done says how fast the machine was. */
static bool luck(const struct hrr_facts *f)
{
	return f->row && f->row->fail == HRR_FAIL_IGNORE &&
	       (f->rec->ret < 0 || hrr_json_is(&f->rec->json, f->rec->ret, "hipErrorNotReady"));
}

int hrr_diff_call_read(struct hrr_objects *o, struct hrr_diff_scratch *s,
		       const struct hrr_record *rec, struct hrr_diff_call **ret,
		       struct hrr_diag *diag)
{
	struct hrr_facts f = {.o = o, .s = s, .rec = rec, .api = -1};
	struct hrr_diff_call *c = NULL;

	s->facts.len = s->refs.len = 0;
	s->path[0] = 0;
	*ret = NULL;
	switch (rec->kind) {
	case HRR_REC_CALL:
		f.api = hrr_api_find(rec->api, rec->api_len);
		f.row = f.api >= 0 ? &hrr_api_table[f.api] : NULL;
		if (luck(&f))
			return 0;
		call(&f);
		break;
	case HRR_REC_OUTPUT:
		output(&f);
		break;
	case HRR_REC_REGION:
		region(&f, diag);
		break;
	case HRR_REC_OTHER:
		if (hrr_json_get(&rec->json, 0, "result") < 0)
			return 0;
		result(&f, hrr_json_get(&rec->json, 0, "result"));
		break;
	default:
		return 0;
	}
	if (f.err == 0)
		c = malloc(sizeof *c + s->refs.len + s->facts.len + rec->api_len + 1);
	if (!c) {
		const struct hrr_diff_ref *r = (const struct hrr_diff_ref *)(void *)s->refs.data;

		for (size_t i = 0; i < s->refs.len / sizeof *r; i++)
			hrr_objects_unref(o, r[i].object);
		if (f.err == 0 || f.err == -ENOMEM)
			return hrr_diag_set(diag, -ENOMEM, "out of memory");
		return f.err;
	}
	*c = (struct hrr_diff_call){
	    .kind = rec->kind, .api = f.api, .p = rec->p, .seq = rec->seq, .tid = rec->tid};
	c->lineno = rec->lineno;
	c->n_refs = (uint32_t)(s->refs.len / sizeof(struct hrr_diff_ref));
	c->refs = (struct hrr_diff_ref *)(void *)(c + 1);
	c->facts = (const char *)(c->refs + c->n_refs);
	c->len = s->facts.len;
	c->outputs_tail = &c->outputs;
	if (s->refs.len)
		memcpy(c->refs, s->refs.data, s->refs.len);
	if (s->facts.len)
		memcpy((char *)(c->refs + c->n_refs), s->facts.data, s->facts.len);
	if (rec->api) {
		char *name = (char *)(c->refs + c->n_refs) + c->len;

		memcpy(name, rec->api, rec->api_len);
		name[rec->api_len] = 0;
		c->name = name;
	}
	if (rec->kind == HRR_REC_OTHER)
		(void)hrr_json_u64(
		    &rec->json,
		    hrr_json_get(&rec->json, hrr_json_get(&rec->json, 0, "result"), "seq"),
		    &c->seq);
	hashes(c, &f);
	order(c, &f);
	*ret = c;
	return 0;
}

void hrr_diff_call_free(struct hrr_objects *o, struct hrr_diff_call *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->n_refs; i++)
		hrr_objects_unref(o, c->refs[i].object);
	while (c->outputs) {
		struct hrr_diff_call *next = c->outputs->next;

		hrr_diff_call_free(o, c->outputs);
		c->outputs = next;
	}
	free(c);
}

bool hrr_diff_call_fact(const struct hrr_diff_call *c, size_t *at, uint32_t *ref_at,
			struct hrr_fact *ret)
{
	struct head h;

	if (*at >= c->len)
		return false;
	memcpy(&h, c->facts + *at, sizeof h);
	ret->kind = (enum hrr_fact_kind)h.kind;
	ret->path = c->facts + *at + sizeof h;
	ret->path_len = h.path_len;
	ret->value = ret->path + h.path_len;
	ret->value_len = h.value_len;
	ret->ref = h.kind == HRR_FACT_REF ? &c->refs[(*ref_at)++] : NULL;
	*at += sizeof h + h.path_len + h.value_len;
	return true;
}

bool hrr_diff_call_get(const struct hrr_diff_call *c, const char *name, struct hrr_fact *ret)
{
	uint32_t ref = 0;
	size_t len = strlen(name);

	for (size_t at = 0; hrr_diff_call_fact(c, &at, &ref, ret);)
		if (ret->path_len == len && memcmp(ret->path, name, len) == 0)
			return true;
	return false;
}

size_t hrr_diff_call_bytes(const struct hrr_diff_call *c)
{
	return sizeof *c + c->len + c->n_refs * sizeof *c->refs + 32;
}
