#include "lib/preload/preload.h"

#include <string.h>

/* Arguments of a call into its record: words always, and what pointers name. */

#define MAX_STRING 65536
#define MAX_ELEMENTS 65536 /* bytes of an array */

/* What to do with a parameter beyond its word; from the table, once. */
enum op { OP_NONE, OP_BOX, OP_IN, OP_OUT, OP_STR, OP_IN_ARRAY, OP_OUT_ARRAY, OP_GIVEN_ARRAY };
static uint8_t ops[HRR_API_COUNT][16];
static uint16_t sizes[HRR_API_COUNT][16];
static uint8_t n_ops[HRR_API_COUNT]; /* parameters up to the last one with an op */

size_t hrr_elem_size(const struct hrr_param *p)
{
	size_t scalar = hrr_scalar_size(p->kind);

	switch (p->kind) {
	case HRR_K_CHARS:
		return 1;
	case HRR_K_STRUCT:
	case HRR_K_VALUE:
		return p->st->size;
	case HRR_K_KPARAMS:
	case HRR_K_EXTRA:
		return 0;
	default:
		return scalar != 0 ? scalar : 8;
	}
}

static enum op op_of(const struct hrr_param *p)
{
	if (p->kind == HRR_K_KPARAMS || p->kind == HRR_K_EXTRA)
		return OP_NONE;
	if (hrr_param_boxed(p))
		return OP_BOX;
	if (p->count >= 0)
		return p->flow == HRR_FLOW_IN	   ? OP_IN_ARRAY
		       : p->flow == HRR_FLOW_GIVEN ? OP_GIVEN_ARRAY
						   : OP_OUT_ARRAY;
	if (p->flow != HRR_FLOW_IN)
		return p->flow == HRR_FLOW_OUT ? OP_OUT : OP_IN; /* in and out: both ways */
	if (p->kind == HRR_K_STR)
		return OP_STR;
	if (p->kind == HRR_K_STRUCT)
		return OP_IN;
	return OP_NONE;
}

static void plan(void)
{
	for (int i = 0; i < HRR_API_COUNT; i++) {
		const struct hrr_api_row *row = &hrr_api_table[i];
		for (int k = 0; k < row->n_params && k < 16; k++) {
			ops[i][k] = (uint8_t)op_of(&row->params[k]);
			sizes[i][k] = (uint16_t)hrr_elem_size(&row->params[k]);
			if (ops[i][k] != OP_NONE)
				n_ops[i] = (uint8_t)(k + 1);
		}
	}
}

static struct hrr_att *value(struct hrr_thread *t, unsigned param, const void *at, size_t n,
			     bool trusted)
{
	unsigned char *d = hrr_b_att(t, HRR_A_VALUE, param, n);

	if (d == NULL)
		return NULL;
	struct hrr_att *a = (struct hrr_att *)(void *)(d - sizeof *a);
	if (trusted) {
		memcpy(d, at, n);
	} else if (!hrr_copy_in(d, at, n)) {
		t->p = (unsigned char *)a; /* making room may have moved the record */
		return NULL;
	}
	return a;
}

/* Arrays that a structure's fields point to, as the call was given them. box: the structure. */
static void fields(struct hrr_thread *t, unsigned param, const struct hrr_struct *st,
		   const unsigned char *box, bool trusted)
{
	for (unsigned i = 0; i < st->n; i++) {
		const struct hrr_field *f = &st->fields[i];
		uint64_t at, n = 0;
		if (f->by < 0)
			continue;
		const struct hrr_field *by = &st->fields[f->by];
		size_t each = hrr_elem_size(&(struct hrr_param){.kind = f->elem, .st = f->st});
		memcpy(&at, box + f->offset, 8);
		memcpy(&n, box + by->offset, hrr_elem_size(&(struct hrr_param){.kind = by->kind}));
		if (at == 0 || n == 0 || each == 0 || n > MAX_ELEMENTS / each)
			continue;
		struct hrr_att *a = value(t, param, (const void *)(uintptr_t)at, n * each, trusted);
		if (a != NULL) {
			a->tag = HRR_A_FIELD;
			a->field = (uint16_t)i;
		}
	}
}

static void string(struct hrr_thread *t, unsigned param, const char *s, bool trusted)
{
	char first[4096];
	size_t n = 0;

	if (s == NULL)
		return;
	if (trusted) {
		n = strnlen(s, MAX_STRING);
	} else { /* up to the end of its page first, then on */
		const char *p = s;
		for (;;) {
			size_t chunk = 4096 - ((uintptr_t)p & 4095);
			if (!hrr_copy_in(first, p, chunk))
				return;
			size_t k = strnlen(first, chunk);
			n += k;
			if (k < chunk || n >= MAX_STRING)
				break;
			p += chunk;
		}
	}
	value(t, param, s, n < MAX_STRING ? n : MAX_STRING, trusted);
}

/* Elements of an array: the value of another parameter, or what that one points to. */
static uint64_t count_of(const struct hrr_call *c, const struct hrr_api_row *row, int k)
{
	int i = row->params[k].count;
	uint64_t n = 0;

	if (row->params[i].flow == HRR_FLOW_IN)
		return sizes[c->api][i] == 4 ? (uint32_t)c->a[i] : c->a[i];
	if (c->a[i] == 0)
		return 0;
	hrr_copy_in(&n, (const void *)(uintptr_t)c->a[i], hrr_elem_size(&row->params[i]));
	return n;
}

static void array(struct hrr_thread *t, const struct hrr_call *c, int k, bool trusted)
{
	const struct hrr_api_row *row = &hrr_api_table[c->api];
	uint64_t n = count_of(c, row, k), size = hrr_elem_size(&row->params[k]);
	const char *at = (const char *)(uintptr_t)c->a[k];

	if (at != NULL && row->params[k].flow == HRR_FLOW_GIVEN) {
		memcpy(&at, (const void *)at, sizeof at);
		trusted = false; /* of a stream that is not captured nothing is told */
	}
	if (at == NULL)
		return;
	if (row->params[k].kind == HRR_K_CHARS) { /* a text buffer of n bytes */
		n = strnlen(at, n < MAX_STRING ? n : MAX_STRING);
	} else if (size == 0 || n > MAX_ELEMENTS / size) {
		return;
	}
	value(t, (unsigned)k, at, n * size, trusted);
}

void hrr_encode_args(struct hrr_thread *t, const struct hrr_call *c, bool left)
{
	const struct hrr_api_row *row = &hrr_api_table[c->api];
	unsigned n = row->n_params;
	bool ok = left && (row->ret != HRR_RET_ERROR || c->ret == 0);

	if (!hrr_b_room(t, 8 * n + 256)) { /* and the small attachments behind */
		t->failed = true;
		return;
	}
	hrr_b_rec(t)->words = (uint8_t)n;
	memcpy(t->p, c->a, 8 * n);
	t->p += 8 * n;
	for (unsigned k = 0; k < n_ops[c->api]; k++) {
		const void *at = (const void *)(uintptr_t)c->a[k];
		if (ops[c->api][k] == OP_NONE || at == NULL)
			continue;
		/* A call that succeeded has followed its pointers: they are good. */
		size_t size = sizes[c->api][k];
		const struct hrr_struct *st = row->params[k].st;
		if (st != NULL && st->later != NULL) {
			st = hrr_struct_at(st, (int)hrr_proc->ctl->layout);
			size = st->size;
		}
		switch (ops[c->api][k]) {
		case OP_BOX:
			value(t, k, at, size, true);
			break;
		case OP_IN:
			value(t, k, at, size, ok);
			if (ok && row->params[k].kind == HRR_K_STRUCT)
				fields(t, k, st, at, true);
			break;
		case OP_OUT:
			if (ok)
				value(t, k, at, size, true);
			break;
		case OP_STR:
			string(t, k, at, ok);
			break;
		case OP_IN_ARRAY:
			array(t, c, (int)k, ok);
			break;
		case OP_OUT_ARRAY:
		case OP_GIVEN_ARRAY:
			if (ok)
				array(t, c, (int)k, true);
			break;
		}
	}
}

/* --- which calls need more ------------------------------------------------- */
uint8_t hrr_hook_of[HRR_API_COUNT];
bool hrr_per_thread[HRR_API_COUNT];

static enum hrr_hook hook_of(enum hrr_api api)
{
	const struct hrr_api_row *row = &hrr_api_table[api];

	switch (api) {
	case HRR_API_hipMallocArray:
	case HRR_API_hipMalloc3DArray:
	case HRR_API_hipArrayCreate:
	case HRR_API_hipArray3DCreate:
	case HRR_API_hipFreeArray:
	case HRR_API_hipArrayDestroy:
		return HRR_HOOK_ARRAY;
	default:
		break;
	}
	if (hrr_node_generic(api))
		return HRR_HOOK_NODE;
	switch (row->cls) {
	case HRR_CLASS_COPY:
		return HRR_HOOK_COPY;
	case HRR_CLASS_ALLOC:
		return HRR_HOOK_ALLOC;
	case HRR_CLASS_FREE:
		return HRR_HOOK_FREE;
	case HRR_CLASS_MAP:
		return HRR_HOOK_MAP;
	case HRR_CLASS_VMM:
		return api == HRR_API_hipMemMap	    ? HRR_HOOK_ALLOC
		       : api == HRR_API_hipMemUnmap ? HRR_HOOK_FREE
						    : HRR_HOOK_NONE;
	case HRR_CLASS_LAUNCH:
		return HRR_HOOK_LAUNCH;
	case HRR_CLASS_MODULE:
		return HRR_HOOK_MODULE;
	case HRR_CLASS_REGISTER:
		return api == HRR_API___hipPushCallConfiguration ||
			       api == HRR_API___hipPopCallConfiguration
			   ? HRR_HOOK_NONE
			   : HRR_HOOK_REGISTER;
	case HRR_CLASS_GRAPH:
		return HRR_HOOK_GRAPH;
	case HRR_CLASS_SET:
		return HRR_HOOK_SET;
	default:
		break;
	}
	if (api == HRR_API_hipGetProcAddress || api == HRR_API_hipGetProcAddress_spt ||
	    api == HRR_API_hipGetDriverEntryPoint || api == HRR_API_hipGetDriverEntryPoint_spt)
		return HRR_HOOK_PROC;
	if (api == HRR_API_hipGetSymbolAddress || api == HRR_API_hipGetSymbolSize)
		return HRR_HOOK_SYMBOL;
	if (row->sync != HRR_SYNC_NONE)
		return HRR_HOOK_SYNC;
	if (row->cls == HRR_CLASS_STREAM || row->cls == HRR_CLASS_EVENT ||
	    row->cls == HRR_CLASS_VALUE)
		return HRR_HOOK_STREAM;
	return HRR_HOOK_NONE;
}

static void fill_tables(void)
{
	plan();
	for (int i = 0; i < HRR_API_COUNT; i++) {
		size_t n = strlen(hrr_api_table[i].name);
		hrr_hook_of[i] = (uint8_t)hook_of((enum hrr_api)i);
		hrr_per_thread[i] = n > 4 && strcmp(hrr_api_table[i].name + n - 4, "_spt") == 0;
	}
}

/* Threads come here at once with their first calls. */
void hrr_tables_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, fill_tables);
}
