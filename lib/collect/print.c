#include "lib/collect/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hip/codeobj.h"

static const char *const dirs[] = {NULL, "h2d", "d2h", "d2d", "h2h"};

#define LIT(b, s) hrr_buf_add(b, s, sizeof(s) - 1)

static void put_blob(struct hrr_buf *b, const struct hrr_id *id)
{
	char text[HRR_ID_TEXT + 1];

	hrr_id_text(id, text);
	hrr_buf_addc(b, '"');
	hrr_buf_add(b, text, HRR_ID_TEXT);
	hrr_buf_addc(b, '"');
}

static bool bytes_of(const struct hrr_att *a, struct hrr_bytes *x)
{
	if (a->len < sizeof *x)
		return false;
	memcpy(x, att_data(a), sizeof *x);
	return x->file != 0 || x->size <= a->len - sizeof *x;
}

static void put_blobs(struct process *p, struct hrr_buf *b, const struct hrr_rec *r,
		      const struct atts *x)
{
	struct hrr_bytes y;
	struct hrr_id id;

	if (x->src != NULL && bytes_of(x->src, &y) &&
	    store_bytes(p, &y, att_data(x->src) + sizeof y, &id)) {
		LIT(b, ",\"blobs\":{\"src\":");
		put_blob(b, &id);
		hrr_buf_addc(b, '}');
	} else if (x->image != NULL && x->image->len >= 8) {
		uint64_t object;
		memcpy(&object, att_data(x->image), 8);
		if (object < p->n_objects && p->objects[object].known) {
			LIT(b, ",\"blobs\":{\"image\":");
			put_blob(b, &p->objects[object].id);
			hrr_buf_addc(b, '}');
		}
	}
	(void)r;
}

/* The directions of a list of copies, null for what was not followed. */
static void put_dirs(struct hrr_buf *b, const struct atts *x)
{
	for (const struct hrr_att *a = x->first; a < x->end; a = att_next(a, x->end)) {
		if (a->tag != HRR_A_DIRS)
			continue;
		LIT(b, ",\"dirs\":[");
		for (uint32_t i = 0; i < a->len; i++) {
			unsigned d = att_data(a)[i];
			if (i > 0)
				hrr_buf_addc(b, ',');
			if (d == 0 || d > 4) {
				LIT(b, "null");
				continue;
			}
			hrr_buf_addc(b, '"');
			hrr_buf_add(b, dirs[d], 3);
			hrr_buf_addc(b, '"');
		}
		hrr_buf_addc(b, ']');
	}
}

static void put_host(struct process *p, struct hrr_buf *b, const struct atts *x)
{
	bool first = true;
	struct hrr_bytes y;
	struct hrr_id id;

	for (const struct hrr_att *a = x->first; a < x->end; a = att_next(a, x->end)) {
		if (a->tag != HRR_A_HOST || !bytes_of(a, &y) ||
		    !store_bytes(p, &y, att_data(a) + sizeof y, &id))
			continue;
		if (first)
			LIT(b, ",\"host\":[");
		else
			hrr_buf_addc(b, ',');
		first = false;
		LIT(b, "{\"addr\":");
		hrr_json_put_addr(b, y.addr);
		LIT(b, ",\"size\":");
		hrr_buf_addu(b, y.size);
		LIT(b, ",\"blob\":");
		put_blob(b, &id);
		hrr_buf_addc(b, '}');
	}
	if (!first)
		hrr_buf_addc(b, ']');
}

/* Byte offsets where an address stands: the whole argument, or any word of a structure that lies in
 * memory alive at this call. */
static void put_ptr(struct process *p, struct hrr_buf *b, const struct hrr_rec_arg *a,
		    const unsigned char *v)
{
	uint64_t w;
	bool first = true;

	if (a->kind == HRR_ARG_POINTER && a->size == 8) {
		memcpy(&w, v, 8);
		if (w != 0)
			LIT(b, ",\"ptr\":[0]");
		return;
	}
	if (a->kind != HRR_ARG_VALUE)
		return;
	for (uint32_t i = 0; i + 8 <= a->size; i++) {
		memcpy(&w, v + i, 8);
		if (w < 4096 || !is_address(p, w))
			continue;
		if (first)
			LIT(b, ",\"ptr\":[");
		else
			hrr_buf_addc(b, ',');
		first = false;
		hrr_buf_addu(b, i);
	}
	if (!first)
		hrr_buf_addc(b, ']');
}

/* False: the launch is recorded, what it launched is not known. */
static bool launch_of(const struct process *p, const struct hrr_att *a, struct hrr_att_kernel *k)
{
	if (a->len < sizeof *k)
		return false;
	memcpy(k, att_data(a), sizeof *k);
	return k->kernel != 0 && k->kernel < p->n_kernels && p->kernels[k->kernel].known;
}

static void put_launch(struct process *p, struct hrr_buf *b, const struct hrr_att *a,
		       const struct hrr_att_kernel *launch)
{
	const struct hrr_att_kernel k = *launch;
	const unsigned char *v = att_data(a) + sizeof k;
	const struct kernel *kn = &p->kernels[k.kernel];
	hrr_buf_add(b, kn->head.data, kn->head.len);
	LIT(b, ",\"grid\":");
	hrr_buf_add_dims(b, k.grid);
	LIT(b, ",\"block\":");
	hrr_buf_add_dims(b, k.block);
	LIT(b, ",\"lds\":");
	hrr_buf_addu(b, k.lds);
	if (!kn->layout) { /* args left out: not the same as a kernel that takes none */
		hrr_buf_addc(b, '}');
		return;
	}
	LIT(b, ",\"args\":[");
	for (uint32_t i = 0; i < kn->n_args; i++) {
		const struct hrr_rec_arg *x = &kn->args[i];
		if ((uint64_t)x->offset + x->size > k.size || k.size > a->len - sizeof k)
			break;
		if (i > 0)
			hrr_buf_addc(b, ',');
		LIT(b, "{\"offset\":");
		hrr_buf_addu(b, x->offset);
		LIT(b, ",\"size\":");
		hrr_buf_addu(b, x->size);
		LIT(b, ",\"hex\":");
		hrr_json_put_hex(b, v + x->offset, x->size);
		put_ptr(p, b, x, v + x->offset);
		hrr_buf_addc(b, '}');
	}
	LIT(b, "]}");
}

static void put_kernel(struct process *p, struct hrr_buf *b, const struct hrr_att *a)
{
	struct hrr_att_kernel k;

	if (!launch_of(p, a, &k))
		return;
	LIT(b, ",\"kernel\":");
	put_launch(p, b, a, &k);
}

/* Of a call that makes several: an empty object stands for one that is not known. */
static void put_kernels(struct process *p, struct hrr_buf *b, const struct atts *x)
{
	struct hrr_att_kernel k;
	bool first = true;

	for (const struct hrr_att *a = x->first; a < x->end; a = att_next(a, x->end)) {
		if (a->tag != HRR_A_KERNEL)
			continue;
		hrr_buf_adds(b, first ? ",\"kernels\":[" : ",");
		first = false;
		if (launch_of(p, a, &k))
			put_launch(p, b, a, &k);
		else
			LIT(b, "{}");
	}
	if (!first)
		hrr_buf_addc(b, ']');
}

static void put_symbol(struct process *p, struct hrr_buf *b, const struct hrr_att *a)
{
	uint64_t v[2];

	if (a->len < sizeof v)
		return;
	memcpy(v, att_data(a), sizeof v);
	LIT(b, ",\"symbol\":{\"name\":");
	hrr_json_put_str(b, (const char *)att_data(a) + sizeof v, a->len - sizeof v);
	if (v[0] != 0 && v[0] < p->n_objects && p->objects[v[0]].known) {
		LIT(b, ",\"object\":");
		put_blob(b, &p->objects[v[0]].id);
	}
	LIT(b, ",\"size\":");
	hrr_buf_addu(b, v[1]);
	hrr_buf_addc(b, '}');
}

/* The member ret, or NULL for success. */
static const char *ret_text(const struct hrr_api_row *row, const struct hrr_rec *r,
			    const struct atts *x, struct hrr_buf *b)
{
	const char *name;

	b->len = 0;
	switch (row->ret) {
	case HRR_RET_ERROR:
		if (r->ret == 0)
			return NULL;
		name = hrr_error_name((int)r->ret);
		if (name != NULL)
			return name;
		hrr_buf_addf(b, "%lld", (long long)r->ret);
		break;
	case HRR_RET_INT:
		hrr_buf_addf(b, "%lld", (long long)(int)r->ret);
		break;
	case HRR_RET_FATBIN:
		hrr_json_put_addr(b, (uint64_t)r->ret);
		break;
	case HRR_RET_STR:
		if (x->ret == NULL)
			return NULL;
		hrr_json_put_str(b, (const char *)att_data(x->ret), x->ret->len);
		break;
	default:
		return NULL;
	}
	return hrr_buf_str(b);
}

static void remember(struct process *p, struct queue *q, const struct hrr_rec *r,
		     const struct atts *x)
{
	uint64_t v[4];

	for (const struct hrr_att *a = x->first; a < x->end; a = att_next(a, x->end)) {
		if (a->tag == HRR_A_RANGE && a->len >= 32) {
			memcpy(v, att_data(a), 32);
			learn_range(p, v[0], v[1], v[2], v[3] != 0);
		} else if (a->tag == HRR_A_PENDING && a->len >= 24) {
			memcpy(v, att_data(a), 24);
			pending_add(p, &(struct pending){.call = r->seq,
							 .node = v[0],
							 .addr = v[1],
							 .size = v[2],
							 .t = r->t + r->dur,
							 .tid = q->tid});
		}
	}
}

static void put_call(struct process *p, struct queue *q, const struct hrr_rec *r,
		     const struct atts *at, uint64_t seq, bool returned)
{
	const struct hrr_api_row *row = &hrr_api_table[r->api];
	struct hrr_buf *b = &p->out;
	struct atts x = *at;

	struct hrr_write_call c = {.p = p->p,
				   .seq = seq,
				   .t = r->t,
				   .dur = r->dur,
				   .tid = q->tid,
				   .api = row->name,
				   .ret = returned ? ret_text(row, r, &x, &p->c->scratch) : "none"};
	hrr_write_call(b, &c);
	print_args(b, r, &x, (int)p->ctl->layout);
	hrr_buf_addc(b, '}');
	if (r->dir > 0 && r->dir < 5 && returned) {
		LIT(b, ",\"dir\":\"");
		hrr_buf_add(b, dirs[r->dir], 3);
		hrr_buf_addc(b, '"');
	}
	if (returned)
		put_dirs(b, &x);
	if (x.src != NULL || x.image != NULL)
		put_blobs(p, b, r, &x);
	put_host(p, b, &x);
	if (x.kernel != NULL && hrr_api_launches(r->api) >= 0)
		put_kernels(p, b, &x);
	else if (x.kernel != NULL)
		put_kernel(p, b, x.kernel);
	if (x.symbol != NULL)
		put_symbol(p, b, x.symbol);
	hrr_write_call_end(b);
}

void print_call(struct process *p, struct queue *q, const struct hrr_rec *r, bool returned)
{
	struct atts x;
	bool wanted = true;

	if (r->api >= HRR_API_COUNT)
		return;
	atts_read(r, &x);
	uint64_t seq = returned && r->seq != 0 ? out_seq(p, r->seq) : out_seq(p, p->next);
	if (only_some(p)) {
		size_t from = p->out.len;
		p->bare = true;
		put_call(p, q, r, &x, seq, returned);
		p->bare = false;
		wanted = only_wants(p, from, seq);
	}
	if (wanted) {
		put_call(p, q, r, &x, seq, returned);
		p->calls++;
	} else {
		for (const struct hrr_att *a = x.first; a < x.end; a = att_next(a, x.end)) {
			struct hrr_bytes y;
			if ((a->tag == HRR_A_SRC || a->tag == HRR_A_HOST) && bytes_of(a, &y))
				drop_bytes(p, &y);
		}
	}
	if (returned)
		remember(p, q, r, &x);
	if (returned && p->ctl->t0 + r->t + r->dur > p->c->newest)
		p->c->newest = p->ctl->t0 + r->t + r->dur;
}

void print_output(struct process *p, struct queue *q, const struct hrr_rec *r)
{
	const struct hrr_rec_output *o = (const struct hrr_rec_output *)(const void *)r;
	struct hrr_write_output w = {.p = p->p,
				     .seq = out_seq(p, o->call),
				     .node = o->node != 0 ? (int64_t)out_seq(p, o->node) : -1,
				     .t = r->t,
				     .tid = q->tid,
				     .addr = o->b.addr,
				     .size = o->b.size,
				     .width = o->width,
				     .height = o->height,
				     .depth = o->depth,
				     .pitch = o->pitch,
				     .slice = o->slice};

	pending_del(p, o->call, o->node, o->b.addr);
	if (!only_wants_output(p, w.seq)) {
		drop_bytes(p, &o->b);
		return;
	}
	p->outputs++;
	if ((o->b.file == 0 && o->b.size > r->size - sizeof *o) ||
	    !store_bytes(p, &o->b, o + 1, &w.blob)) {
		w.unknown = true;
		w.reason = "the bytes could not be read or kept";
	}
	hrr_write_output(&p->out, &w);
}

void print_unknown(struct process *p, const struct pending *y, const char *why)
{
	struct hrr_write_output w = {.p = p->p,
				     .seq = out_seq(p, y->call),
				     .node = y->node != 0 ? (int64_t)out_seq(p, y->node) : -1,
				     .t = y->t,
				     .tid = (uint32_t)y->tid,
				     .addr = y->addr,
				     .size = y->size,
				     .unknown = true,
				     .reason = why};

	if (!only_wants_output(p, w.seq))
		return;
	p->outputs++;
	hrr_write_output(&p->out, &w);
}

void print_runtime(struct process *p, const struct hrr_rec *r)
{
	const struct hrr_rec_runtime *x = (const struct hrr_rec_runtime *)(const void *)r;
	const char *path = (const char *)(x + 1);
	struct hrr_buf *b = &p->out;
	uint64_t room = r->size - sizeof *x;

	if (x->path > room)
		return;
	LIT(b, "{\"runtime\":{\"library\":");
	hrr_json_put_str(b, path, strnlen(path, x->path));
	hrr_buf_addf(b, ",\"major\":%d", (int)r->ret);
	if (x->version != 0)
		hrr_buf_addf(b, ",\"version\":%d", x->version);
	uint64_t n = (room - x->path) / sizeof(struct hrr_rec_device);
	if (n > x->n_devices)
		n = x->n_devices;
	for (uint64_t i = 0; i < n; i++) {
		struct hrr_rec_device d;
		memcpy(&d, path + x->path + i * sizeof d, sizeof d);
		hrr_buf_adds(b, i == 0 ? ",\"devices\":[{\"name\":" : ",{\"name\":");
		hrr_json_put_str(b, d.name, strnlen(d.name, sizeof d.name));
		LIT(b, ",\"arch\":");
		hrr_json_put_str(b, d.arch, strnlen(d.arch, sizeof d.arch));
		hrr_buf_addf(b, ",\"memory\":%llu}", (unsigned long long)d.memory);
		if (i + 1 == n)
			hrr_buf_addc(b, ']');
	}
	hrr_buf_addc(b, '}');
	if (p->p >= 0)
		hrr_buf_addf(b, ",\"p\":%lld", (long long)p->p);
	hrr_buf_addf(b, ",\"t\":%llu}\n", (unsigned long long)r->t);
}

void print_marker(struct process *p, struct queue *q, const struct hrr_rec *r)
{
	static const char *const names[] = {"mark", "push",	     "pop",	    "start",
					    "stop", "profilerStart", "profilerStop"};
	const struct hrr_rec_marker *x = (const struct hrr_rec_marker *)(const void *)r;
	struct hrr_buf *b = &p->out;

	if (r->words >= sizeof names / sizeof *names || x->len > r->size - sizeof *x)
		return;
	if (r->words == HRR_MARK_PROFILER_START || r->words == HRR_MARK_PROFILER_STOP)
		p->gate = r->words == HRR_MARK_PROFILER_START;
	hrr_buf_addf(b, "{\"marker\":\"%s\"", names[r->words]);
	if (p->p >= 0)
		hrr_buf_addf(b, ",\"p\":%lld", (long long)p->p);
	hrr_buf_addf(b, ",\"t\":%llu,\"tid\":%u", (unsigned long long)r->t, q->tid);
	if (r->words == HRR_MARK_START || r->words == HRR_MARK_STOP) {
		LIT(b, ",\"id\":");
		hrr_json_put_addr(b, x->id);
	}
	if (r->words == HRR_MARK || r->words == HRR_MARK_PUSH || r->words == HRR_MARK_START) {
		LIT(b, ",\"text\":");
		hrr_json_put_str(b, (const char *)(x + 1), x->len);
	}
	LIT(b, "}\n");
}
