#include "lib/stream/select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/stream/select_private.h"

/* By name and not by table: a call this version does not know belongs somewhere too. */
const struct hrr_select_family hrr_select_families[] = {
    {"copy", "hipMemcpy* hipDrvMemcpy* hipMemPrefetchAsync*"},
    {"set", "hipMemset*"},
    {"launch", "hipLaunch* hipModuleLaunch* hipExtLaunch* hipExtModuleLaunch* hipHccModuleLaunch* "
	       "hipDrvLaunchKernelEx* hipGraphLaunch*"},
    {"alloc", "hipMalloc* hipExtMalloc* hipHostMalloc* hipHostAlloc* hipMemAlloc* hipArrayCreate* "
	      "hipArray3DCreate* hipMipmappedArrayCreate* hipHostRegister* hipMemCreate*"},
    {"free", "hipFree* hipHostFree* hipMemFree* hipArrayDestroy* hipMipmappedArrayDestroy* "
	     "hipHostUnregister* hipMemRelease*"},
    {"graph", "hipGraph* hipStreamBeginCapture* hipStreamEndCapture* hipStreamIsCapturing* "
	      "hipStreamGetCaptureInfo* hipStreamUpdateCaptureDependencies* "
	      "hipThreadExchangeStreamCaptureMode* hipUserObject* hipDrvGraph*"},
    {"sync", "*Synchronize* hipStreamWaitEvent*"},
    {"stream", "hipStream* hipExtStream*"},
    {"event", "hipEvent*"},
    {"module", "hipModule* hipLibrary* hipLink* __hipRegister* __hipUnregister* hipGetSymbol* "
	       "hipFuncGet* hipFuncSet*"},
    {"device", "hipInit* hipGetDevice* hipSetDevice* hipDevice* hipCtx* hipChooseDevice* "
	       "hipDriverGet* hipRuntimeGet*"},
    {"query", "*Query* hipGetLastError* hipPeekAtLastError* hipExtGetLastError* hipGetError* "
	      "hipDrvGetError* hipPointerGet* hipMemGet* hipFuncGet*"},
    {NULL, NULL},
};

const char *const *hrr_class_list;
int hrr_class_list_n;
int (*hrr_class_of)(const char *api, size_t len);

void hrr_select_classes(const char *const *names, int n,
			int (*class_of)(const char *api, size_t len))
{
	hrr_class_list = names;
	hrr_class_list_n = n;
	hrr_class_of = class_of;
}

static bool in_globs(const char *globs, const char *api, size_t len)
{
	for (const char *g = globs; *g != '\0';) {
		size_t n = strcspn(g, " ");
		if (hrr_glob(g, n, api, len))
			return true;
		g += n + (g[n] == ' ');
	}
	return false;
}

bool hrr_select_in_family(const char *family, const char *api, size_t len)
{
	for (const struct hrr_select_family *f = hrr_select_families; f->name != NULL; f++)
		if (strcmp(f->name, family) == 0)
			return in_globs(f->globs, api, len);
	return false;
}

static bool glob_any(const struct item *x, const struct item *end, const char *s, size_t len)
{
	for (; x < end; x++)
		if (hrr_glob(x->glob, x->len, s, len))
			return true;
	return false;
}

static bool number_any(const struct item *x, const struct item *end, uint64_t v)
{
	for (; x < end; x++)
		if (v >= x->first && v <= x->last && (v - x->first) % x->step == 0)
			return true;
	return false;
}

static bool overlap_any(const struct item *x, const struct item *end, uint64_t first, uint64_t size)
{
	uint64_t last = size == 0 || first > UINT64_MAX - (size - 1) ? first : first + (size - 1);

	for (; x < end; x++)
		if (first <= x->last && last >= x->first)
			return true;
	return false;
}

bool hrr_record_size(const struct hrr_record *rec, uint64_t *ret_size)
{
	static const char *const names[] = {"sizeBytes", "size",      "bytes", "sizeInBytes",
					    "bytesize",	 "ByteCount", "count"};
	const struct hrr_json *j = &rec->json;
	uint64_t width, height;

	if (rec->kind == HRR_REC_OUTPUT)
		return hrr_json_u64(j, hrr_json_get(j, 0, "size"), ret_size) == 0;
	if (rec->kind != HRR_REC_CALL)
		return false;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (hrr_json_u64(j, hrr_json_get(j, rec->args, names[i]), ret_size) == 0 &&
		    (names[i][0] != 'c' || hrr_select_in_family("set", rec->api, rec->api_len)))
			return true; /* elsewhere a count counts devices, nodes, … */
	if (hrr_json_u64(j, hrr_json_get(j, rec->args, "width"), &width) == 0 &&
	    hrr_json_u64(j, hrr_json_get(j, rec->args, "height"), &height) == 0 &&
	    !__builtin_mul_overflow(width, height, ret_size))
		return true;
	return false;
}

/* The memory a copy or set touches starts at these. */
static bool is_touched(const struct hrr_json *j, int key)
{
	static const char *const names[] = {"dst",    "src",  "ptr",	   "dev_ptr",
					    "devPtr", "dest", "dstDevice", "srcDevice"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (hrr_json_is(j, key, names[i]))
			return true;
	return false;
}

static bool addresses_in(const struct hrr_record *rec, const struct item *x, const struct item *end)
{
	const struct hrr_json *j = &rec->json;
	uint64_t v, size = 0;

	if (!hrr_select_in_family("copy", rec->api, rec->api_len) &&
	    !hrr_select_in_family("set", rec->api, rec->api_len) &&
	    !hrr_select_in_family("alloc", rec->api, rec->api_len))
		size = 0;
	else if (!hrr_record_size(rec, &size))
		size = 0;
	for (int i = rec->args + 1; i < (int)j->nodes[rec->args].next; i++) {
		if (j->nodes[i].key || j->nodes[i].type != HRR_JSON_STRING ||
		    hrr_json_addr(j, i, &v) < 0)
			continue;
		bool whole = j->nodes[i - 1].key && is_touched(j, i - 1);
		if (overlap_any(x, end, v, whole ? size : 0))
			return true;
	}
	/* Kernel arguments: little-endian words at the offsets in ptr. */
	int args = hrr_json_get(j, rec->kernel, "args");
	if (args < 0 || j->nodes[args].type != HRR_JSON_ARRAY)
		return false;
	for (int a = hrr_json_first(j, args); a >= 0; a = hrr_json_next(j, args, a)) {
		int ptr = hrr_json_get(j, a, "ptr");
		size_t len;
		const char *hex = hrr_json_raw(j, hrr_json_get(j, a, "hex"), &len);
		if (ptr < 0 || hex == NULL || j->nodes[ptr].type != HRR_JSON_ARRAY)
			continue;
		for (int o = hrr_json_first(j, ptr); o >= 0; o = hrr_json_next(j, ptr, o)) {
			uint64_t at;
			if (hrr_json_u64(j, o, &at) < 0 || at > len / 2 || len / 2 - at < 8)
				continue;
			v = 0;
			for (int b = 7; b >= 0; b--)
				for (int h = 0; h < 2; h++) {
					char c = hex[2 * (at + (uint64_t)b) + (uint64_t)h];
					v = v << 4 |
					    (uint64_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
				}
			if (overlap_any(x, end, v, 0))
				return true;
		}
	}
	return false;
}

static bool term(const struct hrr_select *s, const struct node *n, const struct hrr_record *rec)
{
	const struct item *items = (const void *)s->items.data;
	const struct item *x = items + n->a, *end = items + n->b;
	const struct hrr_json *j = &rec->json;
	const char *text = NULL;
	size_t len = 0;
	uint64_t v;

	switch ((enum key)n->key) {
	case KEY_API:
	case KEY_FAMILY:
		return glob_any(x, end, rec->api, rec->api_len);
	case KEY_CLASS:
		return hrr_class_of(rec->api, rec->api_len) == (int)x->first;
	case KEY_KERNEL:
		text = hrr_json_raw(j, hrr_json_get(j, rec->kernel, "name"), &len);
		return text != NULL && glob_any(x, end, text, len);
	case KEY_DIR:
		text = hrr_json_raw(j, rec->dir, &len);
		return text != NULL && glob_any(x, end, text, len);
	case KEY_RET:
		if (rec->ret < 0)
			return glob_any(x, end, "hipSuccess", 10);
		text = j->text + j->nodes[rec->ret].off;
		return glob_any(x, end, text, j->nodes[rec->ret].len);
	case KEY_SEQ:
		return number_any(x, end, rec->seq);
	case KEY_T:
		return rec->t != HRR_NO_TIME && number_any(x, end, rec->t);
	case KEY_DUR:
		return number_any(x, end, rec->dur);
	case KEY_TID:
		return number_any(x, end, rec->tid);
	case KEY_P:
		return number_any(x, end, rec->p);
	case KEY_SIZE:
		return hrr_record_size(rec, &v) && number_any(x, end, v);
	case KEY_STREAM: {
		int stream = hrr_json_get(j, rec->args, "stream");
		if (stream < 0)
			stream = hrr_json_get(j, rec->args, "hStream");
		if (stream >= 0 && j->nodes[stream].type == HRR_JSON_NULL)
			return number_any(x, end, 0);
		return hrr_json_addr(j, stream, &v) == 0 && number_any(x, end, v);
	}
	case KEY_ADDR:
		return addresses_in(rec, x, end);
	case KEY_COUNT:
		break;
	}
	return false;
}

static bool eval(const struct hrr_select *s, uint32_t at, const struct hrr_record *rec)
{
	const struct node *n = &((const struct node *)(const void *)s->nodes.data)[at];

	switch ((enum node_type)n->type) {
	case NODE_OR:
		return eval(s, n->a, rec) || eval(s, n->b, rec);
	case NODE_AND:
		return eval(s, n->a, rec) && eval(s, n->b, rec);
	case NODE_NOT:
		return !eval(s, n->a, rec);
	case NODE_TERM:
		return term(s, n, rec) != n->negate;
	}
	return false;
}

bool hrr_select_call(const struct hrr_select *s, const struct hrr_record *rec)
{
	return rec->kind == HRR_REC_CALL && eval(s, s->root, rec);
}

bool hrr_select_head_only(const struct hrr_select *s)
{
	return s->head_only;
}
