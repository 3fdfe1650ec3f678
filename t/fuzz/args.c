/*
 * Arguments of calls, read by the table into the words a call takes. The input is the number of a
 * call (two bytes), the run time's major, then one value a line for parameters in their order: as
 * it is, or of a structure the value of every member where it does not begin with a brace.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/replay/engine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int init(unsigned flags)
{
	(void)flags;
	return 0;
}

static int devices(int *n)
{
	*n = 1;
	return 0;
}

static struct hrr_replay *engine(int major)
{
	static struct hrr_hip hip = {.major = 5};
	static struct hrr_replay *r;
	static const struct hrr_replay_options opt;
	struct hrr_diag d;

	hip.major = major;
	if (r != NULL)
		return r;
	hip.fn[HRR_API_hipInit] = (void *)init;
	hip.fn[HRR_API_hipGetDeviceCount] = (void *)devices;
	if (hrr_replay_new(&r, &hip, &opt, NULL, &d) < 0)
		abort();
	return r;
}

static void put(struct hrr_buf *b, const char *text, size_t len)
{
	if (hrr_buf_add(b, text, len) < 0)
		abort();
}

static void puts_(struct hrr_buf *b, const char *text)
{
	put(b, text, strlen(text));
}

static void put_value(struct hrr_buf *b, const struct hrr_param *p, const char *v, size_t len)
{
	if (p->st == NULL || len == 0 || v[0] == '{' || v[0] == '[' || v[0] == 'n') {
		put(b, v, len);
		return;
	}
	puts_(b, p->count >= 0 ? "[{" : "{");
	for (int i = 0; i < p->st->n; i++) {
		puts_(b, i > 0 ? ",\"" : "\"");
		puts_(b, p->st->fields[i].name);
		puts_(b, "\":");
		put(b, v, len);
	}
	puts_(b, p->count >= 0 ? "}]" : "}");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hrr_record rec;
	static struct hrr_buf b;
	struct hrr_event ev = {0};
	struct hrr_diag d = {0};

	if (size < 3)
		return 0;
	const struct hrr_api_row *row = &hrr_api_table[(data[0] | data[1] << 8) % HRR_API_COUNT];
	struct hrr_replay *r = engine(5 + data[2] % 3);
	const char *v = (const char *)data + 3, *end = (const char *)data + size;

	b.len = 0;
	puts_(&b, "{\"seq\":1,\"t\":1,\"dur\":1,\"tid\":1,\"api\":\"hipInit\",\"args\":{");
	for (int i = 0; i < row->n_params && v < end; i++) {
		const char *nl = memchr(v, '\n', (size_t)(end - v));
		size_t len = nl != NULL ? (size_t)(nl - v) : (size_t)(end - v);
		puts_(&b, i > 0 ? ",\"" : "\"");
		puts_(&b, row->params[i].name);
		puts_(&b, "\":");
		put_value(&b, &row->params[i], v, len);
		v += len + 1;
	}
	puts_(&b, "},\"ret\":0}");
	if (hrr_record_parse(&rec, b.data, b.len, &d) < 0)
		return 0;
	ev.rec = &rec;
	ev.j = &rec.json;
	ev.row = row;
	r->diag.what[0] = '\0';
	if (hrr_args_read(r, &ev) < 0 && r->diag.what[0] == '\0')
		abort();
	hrr_scratch_reset(r);
	return 0;
}
