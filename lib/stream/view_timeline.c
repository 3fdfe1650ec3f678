#include <errno.h>
#include <string.h>

#include "lib/stream/select.h"
#include "lib/stream/view_private.h"

/*
 * Chrome's trace events. A process of the stream is a process of the trace, its
 * threads are tracks with the calls. Device work has no times of its own in a
 * recording, so the tracks of HIP streams, in a process named "… streams", show
 * launches, copies and sets at the time of their call.
 */
#define STREAMS_PID 1000000000u /* of the process that has the streams: this and p */

struct track {
	uint32_t p;
	uint64_t stream;
};

/* Index of a stream's track among those met; -1: no memory. *ret_new tells it is the first time. */
static int track_of(struct hrr_view *v, uint32_t p, uint64_t stream, bool *ret_new)
{
	const struct track *all = (const void *)v->tracks.data, x = {p, stream};
	size_t n = v->tracks.len / sizeof x;

	*ret_new = false;
	for (size_t i = n; i-- > 0;)
		if (all[i].p == p && all[i].stream == stream)
			return (int)i;
	*ret_new = true;
	return hrr_buf_add(&v->tracks, &x, sizeof x) < 0 ? -1 : (int)n;
}

static int begin_event(struct hrr_view *v, struct hrr_buf *b)
{
	int bad =
	    hrr_buf_adds(b, v->begun ? ",\n" : "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");

	v->begun = true;
	return bad;
}

static uint64_t by_p(const struct hrr_buf *b, uint32_t p)
{
	const uint64_t *v = (const void *)b->data;

	return p < b->len / sizeof *v ? v[p] : 0;
}

static int set_by_p(struct hrr_buf *b, uint32_t p, uint64_t value)
{
	static const uint64_t none;

	while (b->len / sizeof none <= p)
		if (hrr_buf_add(b, &none, sizeof none) < 0)
			return -ENOMEM;
	((uint64_t *)(void *)b->data)[p] = value;
	return 0;
}

static int put_us(struct hrr_buf *b, uint64_t ns)
{
	return hrr_buf_addf(b, "%llu.%03llu", (unsigned long long)(ns / 1000),
			    (unsigned long long)(ns % 1000));
}

/* A name of a process or thread. */
static int meta(struct hrr_view *v, struct hrr_buf *b, const char *what, uint64_t pid, uint64_t tid,
		const char *name, size_t len)
{
	int bad = begin_event(v, b);

	bad |= hrr_buf_addf(b,
			    "{\"name\":\"%s\",\"ph\":\"M\",\"pid\":%llu,\"tid\":%llu,"
			    "\"args\":{\"name\":",
			    what, (unsigned long long)pid, (unsigned long long)tid);
	bad |= hrr_json_put_str(b, name, len);
	bad |= hrr_buf_adds(b, "}}");
	return bad;
}

static int header(struct hrr_view *v, const struct hrr_record *rec, struct hrr_buf *b)
{
	const struct hrr_json *j = &rec->json;
	struct hrr_buf name = {0};
	uint64_t pid = 0;
	int command = hrr_json_get(j, 0, "command"), bad = 0;

	(void)hrr_json_u64(j, hrr_json_get(j, 0, "pid"), &pid);
	bad |= set_by_p(&v->t0s, rec->p, hrr_json_decimal(j, "t0"));
	bad |= set_by_p(&v->pids, rec->p, pid);
	if (command >= 0 && j->nodes[command].type == HRR_JSON_ARRAY &&
	    hrr_json_first(j, command) >= 0)
		(void)hrr_json_str(j, hrr_json_first(j, command), &name);
	if (name.len == 0) /* upstream's archives have none */
		bad |= hrr_buf_addf(&name, "process %llu", (unsigned long long)pid);
	if (name.failed)
		bad = -ENOMEM;
	bad |= meta(v, b, "process_name", pid, 0, name.data != NULL ? name.data : "", name.len);
	bad |= hrr_buf_adds(&name, " streams");
	bad |= meta(v, b, "process_name", STREAMS_PID + rec->p, 0, name.data, name.len);
	hrr_buf_release(&name);
	return bad;
}

static int event(struct hrr_view *v, const struct hrr_record *rec, struct hrr_buf *b,
		 const char *name, size_t len, const char *category, uint64_t pid, uint64_t tid)
{
	const struct hrr_json *j = &rec->json;
	uint64_t origin = by_p(&v->t0s, 0), t0 = by_p(&v->t0s, rec->p);
	int bad = begin_event(v, b);

	bad |= hrr_buf_adds(b, "{\"name\":");
	bad |= hrr_json_put_str(b, name, len);
	bad |= hrr_buf_addf(b, ",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":%llu,\"tid\":%llu,\"ts\":",
			    category, (unsigned long long)pid, (unsigned long long)tid);
	bad |= put_us(b, rec->t + (t0 > origin ? t0 - origin : 0));
	bad |= hrr_buf_adds(b, ",\"dur\":");
	bad |= put_us(b, rec->dur);
	bad |= hrr_buf_addf(b, ",\"args\":{\"seq\":%llu", (unsigned long long)rec->seq);
	if (hrr_json_count(j, rec->args) > 0) {
		bad |= hrr_buf_addc(b, ',');
		bad |= hrr_buf_add(b, j->text + j->nodes[rec->args].off + 1,
				   j->nodes[rec->args].len - 2);
	}
	bad |= hrr_buf_adds(b, "}}");
	return bad;
}

/* On the row of its stream: what is in v->name. */
static int on_stream(struct hrr_view *v, const struct hrr_record *rec, struct hrr_buf *b,
		     unsigned n, const char *category)
{
	const struct hrr_json *j = &rec->json;
	uint64_t stream = 0;
	bool fresh;
	int bad = 0;

	(void)hrr_json_addr(j, hrr_launch_stream(j, rec->args, n), &stream);
	int track = track_of(v, rec->p, stream, &fresh);
	if (track < 0)
		return -ENOMEM;
	if (fresh) {
		struct hrr_buf name = {0};
		bad |= hrr_buf_adds(&name, stream == 0 ? "null stream" : "stream ");
		if (stream != 0)
			bad |= hrr_buf_addx(&name, stream);
		bad |= meta(v, b, "thread_name", STREAMS_PID + rec->p, (uint64_t)track, name.data,
			    name.len);
		hrr_buf_release(&name);
	}
	return bad | event(v, rec, b, v->name.data, v->name.len, category, STREAMS_PID + rec->p,
			   (uint64_t)track);
}

int hrr_view_timeline(struct hrr_view *v, const struct hrr_record *rec, struct hrr_buf *b)
{
	const struct hrr_json *j = &rec->json;
	int bad;

	if (rec->kind == HRR_REC_HEADER)
		return header(v, rec, b) ? -ENOMEM : 0;
	if (rec->kind != HRR_REC_CALL || rec->t > v->opt.to ||
	    (rec->t < v->opt.from && v->opt.from - rec->t > rec->dur))
		return 0;
	bad = event(v, rec, b, rec->api, rec->api_len, "call", by_p(&v->pids, rec->p), rec->tid);

	bool copy = hrr_select_in_family("copy", rec->api, rec->api_len),
	     set = hrr_select_in_family("set", rec->api, rec->api_len);
	if (rec->kernel >= 0) {
		unsigned n = 0;
		for (int k = -1; (k = hrr_kernel_next(j, rec->kernel, k)) >= 0; n++) {
			int named = hrr_view_kernel(v, rec, k);
			if (named < 0)
				return named;
			if (named > 0)
				bad |= on_stream(v, rec, b, n, "kernel");
		}
	} else if (copy || set) {
		size_t len;
		const char *dir = hrr_json_raw(j, rec->dir, &len);
		v->name.len = 0;
		bad |= hrr_buf_adds(&v->name, copy ? "copy" : "set");
		if (dir != NULL) {
			bad |= hrr_buf_addc(&v->name, ' ');
			bad |= hrr_buf_add(&v->name, dir, len);
		}
		bad |= on_stream(v, rec, b, 0, copy ? "copy" : "set");
	}
	return bad ? -ENOMEM : 0;
}

int hrr_view_timeline_end(struct hrr_view *v, struct hrr_buf *b)
{
	int bad = 0;

	if (!v->begun)
		bad |= hrr_buf_adds(b, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	bad |= hrr_buf_adds(b, "\n]}\n");
	return bad ? -ENOMEM : 0;
}
