#include "lib/stream/record.h"

#include <errno.h>
#include <string.h>

void hrr_record_release(struct hrr_record *rec)
{
	hrr_json_release(&rec->json);
	*rec = (struct hrr_record){0};
}

/* What a member's value must be. */
enum want { ANY, NUMBER, TEXT, OBJECT, ARRAY, ADDRESS, TEXT_OR_NUMBER };

enum member {
	M_HRR,
	M_SEQ,
	M_OUTPUT,
	M_REGION,
	M_RUNTIME,
	M_END,
	M_P,
	M_T,
	M_DUR,
	M_TID,
	M_API,
	M_ARGS,
	M_RET,
	M_DIR,
	M_BLOBS,
	M_KERNEL,
	M_KERNELS,
	M_HOST,
	M_SYMBOL,
	M_NODE,
	M_ADDR,
	M_BASE,
	M_SIZE,
	M_BLOB,
	M_UNKNOWN,
	M_COUNT
};

static const struct {
	const char *name;
	unsigned char len;
} names[M_COUNT] = {
#define N(m, s) [m] = {s, sizeof s - 1}
    N(M_HRR, "hrr"),	     N(M_SEQ, "seq"),	N(M_OUTPUT, "output"), N(M_REGION, "region"),
    N(M_RUNTIME, "runtime"), N(M_END, "end"),	N(M_P, "p"),	       N(M_T, "t"),
    N(M_DUR, "dur"),	     N(M_TID, "tid"),	N(M_API, "api"),       N(M_ARGS, "args"),
    N(M_RET, "ret"),	     N(M_DIR, "dir"),	N(M_BLOBS, "blobs"),   N(M_KERNEL, "kernel"),
    N(M_KERNELS, "kernels"), N(M_HOST, "host"), N(M_SYMBOL, "symbol"), N(M_NODE, "node"),
    N(M_ADDR, "addr"),	     N(M_BASE, "base"), N(M_SIZE, "size"),     N(M_BLOB, "blob"),
    N(M_UNKNOWN, "unknown"),
#undef N
};

/* Members whose type is checked, by kind; required ones are marked. */
struct rule {
	unsigned char member, want;
	bool required;
};

static const struct rule header_rules[] = {{M_HRR, NUMBER, true}};
static const struct rule call_rules[] = {
    {M_SEQ, NUMBER, true},     {M_T, NUMBER, true},
    {M_DUR, NUMBER, false},    {M_TID, NUMBER, false},
    {M_API, TEXT, true},       {M_ARGS, OBJECT, true},
    {M_DIR, TEXT, false},      {M_RET, TEXT_OR_NUMBER, false},
    {M_BLOBS, OBJECT, false},  {M_HOST, ARRAY, false},
    {M_KERNEL, OBJECT, false}, {M_KERNELS, ARRAY, false},
    {M_SYMBOL, OBJECT, false},
};
static const struct rule output_rules[] = {
    {M_OUTPUT, NUMBER, true}, {M_NODE, NUMBER, false},	{M_T, NUMBER, false},
    {M_TID, NUMBER, false},   {M_ADDR, ADDRESS, true},	{M_SIZE, NUMBER, true},
    {M_BLOB, TEXT, false},    {M_UNKNOWN, TEXT, false},
};
static const struct rule region_rules[] = {
    {M_REGION, TEXT, true}, {M_BASE, ADDRESS, true}, {M_SIZE, NUMBER, false}, {M_T, NUMBER, false}};
static const struct rule runtime_rules[] = {{M_RUNTIME, OBJECT, true}, {M_T, NUMBER, false}};
static const struct rule end_rules[] = {{M_END, TEXT, true}, {M_T, NUMBER, false}};

static const struct {
	const struct rule *rules;
	size_t n;
} kinds[HRR_REC_OTHER] = {
#define K(k, r) [k] = {r, sizeof r / sizeof *r}
    K(HRR_REC_HEADER, header_rules),   K(HRR_REC_CALL, call_rules),
    K(HRR_REC_OUTPUT, output_rules),   K(HRR_REC_REGION, region_rules),
    K(HRR_REC_RUNTIME, runtime_rules), K(HRR_REC_END, end_rules),
#undef K
};

/* memcmp of a length known to the compiler is no call. */
static inline bool named(int m, const char *s, size_t len)
{
	const char *name = names[m].name;

	switch (len) {
	case 1:
		return s[0] == name[0];
	case 3:
		return memcmp(s, name, 3) == 0;
	case 4:
		return memcmp(s, name, 4) == 0;
	case 5:
		return memcmp(s, name, 5) == 0;
	case 6:
		return memcmp(s, name, 6) == 0;
	default:
		return memcmp(s, name, 7) == 0;
	}
}

/* Every line goes through here, member by member: lengths tell most of them apart. */
static inline int member_of(const char *s, size_t len)
{
	static const signed char by_length[][10] = {
	    [1] = {M_P, M_T, -1},
	    [3] = {M_SEQ, M_DUR, M_TID, M_API, M_RET, M_DIR, M_HRR, M_END, -1},
	    [4] = {M_ARGS, M_ADDR, M_SIZE, M_BLOB, M_HOST, M_NODE, M_BASE, -1},
	    [5] = {M_BLOBS, -1},
	    [6] = {M_OUTPUT, M_KERNEL, M_REGION, M_SYMBOL, -1},
	    [7] = {M_KERNELS, M_RUNTIME, M_UNKNOWN, -1},
	    [8] = {-1},
	};
	if (len == 0 || len >= sizeof by_length / sizeof *by_length || by_length[len][0] == 0)
		return -1;
	for (const signed char *m = by_length[len]; *m >= 0; m++)
		if (named(*m, s, len))
			return *m;
	return -1;
}

/* *ret gets the value of a number or address. */
static bool fits(const struct hrr_json *j, int node, enum want want, uint64_t *ret)
{

	switch (want) {
	case ANY:
		return true;
	case NUMBER:
		return hrr_json_u64(j, node, ret) == 0;
	case TEXT:
		return j->nodes[node].type == HRR_JSON_STRING;
	case OBJECT:
		return j->nodes[node].type == HRR_JSON_OBJECT;
	case ARRAY:
		return j->nodes[node].type == HRR_JSON_ARRAY;
	case ADDRESS:
		return hrr_json_addr(j, node, ret) == 0;
	case TEXT_OR_NUMBER:
		return j->nodes[node].type == HRR_JSON_STRING ||
		       j->nodes[node].type == HRR_JSON_INT;
	}
	return false;
}

static const char *want_name(enum want want)
{
	static const char *const text[] = {
	    [NUMBER] = "a whole number of 0 or more",
	    [TEXT] = "a string",
	    [OBJECT] = "an object",
	    [ARRAY] = "an array",
	    [ADDRESS] = "an address like \"0x1000\"",
	    [TEXT_OR_NUMBER] = "a string or a whole number",
	};
	return text[want];
}

/* Values of numbers go to value, by member. */
static int check(const struct hrr_record *rec, const int *at, uint64_t *value,
		 struct hrr_diag *diag)
{
	const struct hrr_json *j = &rec->json;

	for (size_t i = 0; i < kinds[rec->kind].n; i++) {
		const struct rule *r = &kinds[rec->kind].rules[i];
		if (at[r->member] < 0) {
			if (!r->required)
				continue;
			return hrr_diag_set(diag, -EINVAL, "bad record: no member \"%s\"",
					    names[r->member].name);
		}
		if (!fits(j, at[r->member], (enum want)r->want, &value[r->member]))
			return hrr_diag_set(diag, -EINVAL, "bad record: \"%s\" is not %s",
					    names[r->member].name, want_name((enum want)r->want));
	}
	return 0;
}

static int check_header(uint64_t version, struct hrr_diag *diag)
{
	if (version == HRR_STREAM_VERSION)
		return 0;
	return hrr_diag_set(diag, -EINVAL,
			    "stream version %llu is not known: this program reads version %d",
			    (unsigned long long)version, HRR_STREAM_VERSION);
}

static int check_output(const int *at, struct hrr_diag *diag)
{
	if (at[M_BLOB] < 0 && at[M_UNKNOWN] < 0)
		return hrr_diag_set(diag, -EINVAL, "bad record: an output without \"blob\"");
	return 0;
}

static int check_region(const struct hrr_record *rec, const int *at, struct hrr_diag *diag)
{
	bool add = hrr_json_is(&rec->json, at[M_REGION], "add");

	if (!add && !hrr_json_is(&rec->json, at[M_REGION], "del"))
		return hrr_diag_set(diag, -EINVAL,
				    "bad record: \"region\" is neither \"add\" nor \"del\"");
	if (add && at[M_SIZE] < 0)
		return hrr_diag_set(diag, -EINVAL, "bad record: no member \"size\"");
	return 0;
}

int hrr_record_parse(struct hrr_record *rec, const char *line, size_t len, struct hrr_diag *diag)
{
	struct hrr_json *j = &rec->json;
	int at[M_COUNT];
	uint64_t value[M_COUNT], v;

	rec->kind = HRR_REC_OTHER;
	rec->line = line;
	rec->len = len;
	rec->p = 0;
	rec->shapes = NULL;
	rec->t = HRR_NO_TIME;
	rec->seq = rec->dur = rec->tid = 0;
	rec->api = NULL;
	rec->api_len = 0;
	rec->args = rec->ret = rec->dir = rec->blobs = rec->kernel = rec->host = rec->symbol = -1;

	int rc = hrr_json_parse(j, line, len, diag);
	if (rc < 0)
		return rc;
	if (j->nodes[0].type != HRR_JSON_OBJECT)
		return hrr_diag_set(diag, -EINVAL, "bad record: not an object");

	memset(at, 0xff, sizeof at); /* -1 */
	value[M_T] = HRR_NO_TIME;
	value[M_TID] = value[M_DUR] = 0;
	for (int i = hrr_json_first(j, 0); i >= 0; i = hrr_json_next(j, 0, i)) {
		int m = j->nodes[i].len == 0
			    ? -1
			    : member_of(j->text + j->nodes[i].off, j->nodes[i].len);
		if (m < 0)
			continue;
		at[m] = i + 1;
		if (m > M_END)
			continue;
		if (rec->kind != HRR_REC_OTHER)
			return hrr_diag_set(diag, -EINVAL, "bad record: both \"%s\" and \"%s\"",
					    names[rec->kind].name, names[m].name);
		rec->kind = (enum hrr_record_kind)m;
	}

	if (at[M_P] >= 0) {
		if (hrr_json_u64(j, at[M_P], &v) == 0 && v < HRR_STREAM_MAX_PROCESSES)
			rec->p = (uint32_t)v;
		else if (rec->kind != HRR_REC_OTHER)
			return hrr_diag_set(diag, -EINVAL,
					    "bad record: \"p\" is not a process index below %d",
					    HRR_STREAM_MAX_PROCESSES);
	}
	if (rec->kind == HRR_REC_OTHER)
		return 0;
	rc = check(rec, at, value, diag);
	if (rc < 0)
		return rc;
	rec->t = value[M_T];
	rec->tid = value[M_TID];

	switch (rec->kind) {
	case HRR_REC_HEADER:
		return check_header(value[M_HRR], diag);
	case HRR_REC_OUTPUT:
		rec->seq = value[M_OUTPUT];
		return check_output(at, diag);
	case HRR_REC_REGION:
		return check_region(rec, at, diag);
	case HRR_REC_CALL:
		break;
	case HRR_REC_RUNTIME:
	case HRR_REC_END:
	case HRR_REC_OTHER:
		return 0;
	}
	rec->seq = value[M_SEQ];
	rec->dur = value[M_DUR];
	rec->api = hrr_json_raw(j, at[M_API], &rec->api_len);
	if (rec->api == NULL || rec->api_len == 0)
		return hrr_diag_set(diag, -EINVAL, "bad record: \"api\" is not a name");
	rec->args = at[M_ARGS];
	rec->ret = at[M_RET];
	rec->dir = at[M_DIR];
	rec->blobs = at[M_BLOBS];
	rec->kernel = at[M_KERNEL] >= 0 ? at[M_KERNEL] : at[M_KERNELS];
	rec->host = at[M_HOST];
	rec->symbol = at[M_SYMBOL];
	return 0;
}

bool hrr_returns_value(const char *api, size_t api_len, const char *ret, size_t len)
{
	if (api_len > 11 && memcmp(api, "hipGetError", 11) == 0)
		return true;
	return !(len > 8 && memcmp(ret, "hipError", 8) == 0) &&
	       !(len == 4 && memcmp(ret, "none", 4) == 0);
}

bool hrr_record_failed(const struct hrr_record *rec)
{
	const struct hrr_json *j = &rec->json;

	if (rec->kind != HRR_REC_CALL || rec->ret < 0 || j->nodes[rec->ret].type != HRR_JSON_STRING)
		return false;
	const char *s = j->text + j->nodes[rec->ret].off;
	size_t len = j->nodes[rec->ret].len;
	return !hrr_returns_value(rec->api, rec->api_len, s, len);
}

int hrr_kernel_next(const struct hrr_json *j, int kernel, int at)
{
	if (kernel < 0)
		return -1;
	if (j->nodes[kernel].type == HRR_JSON_OBJECT)
		return at < 0 ? kernel : -1;
	do
		at = at < 0 ? hrr_json_first(j, kernel) : hrr_json_next(j, kernel, at);
	while (at >= 0 && j->nodes[at].type != HRR_JSON_OBJECT);
	return at;
}

static int stream_in(const struct hrr_json *j, int object)
{
	int node = hrr_json_get(j, object, "stream");

	return node >= 0 ? node : hrr_json_get(j, object, "hStream");
}

int hrr_launch_stream(const struct hrr_json *j, int args, unsigned n)
{
	int found = args >= 0 ? stream_in(j, args) : -1;

	if (args < 0 || found >= 0)
		return n == 0 ? found : -1;
	for (int i = hrr_json_first(j, args); i >= 0; i = hrr_json_next(j, args, i)) {
		unsigned left = n;
		int at = i + 1;
		if (j->nodes[at].type == HRR_JSON_ARRAY) {
			int e = hrr_json_first(j, at);
			for (; e >= 0 && left > 0; left--)
				e = hrr_json_next(j, at, e);
			at = e;
		}
		found = left == 0 ? stream_in(j, at) : -1;
		if (found >= 0)
			return found;
	}
	return -1;
}

int64_t hrr_record_node(const struct hrr_record *rec)
{
	uint64_t v;

	if (rec->kind != HRR_REC_OUTPUT ||
	    hrr_json_u64(&rec->json, hrr_json_get(&rec->json, 0, "node"), &v) < 0)
		return -1;
	return (int64_t)v;
}
