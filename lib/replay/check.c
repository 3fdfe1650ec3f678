#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/replay/approx.h"
#include "lib/replay/engine.h"
#include "lib/replay/tolerance.h"

/* Outputs: what reached the host when recorded against what reached it here, where it stands. */

#define LLU(x) ((unsigned long long)(x))

struct output {
	uint64_t addr, size;			     /* packed bytes */
	uint64_t width, height, depth, pitch, slice; /* height 0: plain */
	uint64_t span;
};

static uint64_t member(const struct hrr_record *rec, const char *name)
{
	uint64_t v = 0;
	int n = hrr_json_get(&rec->json, 0, name);

	return n >= 0 && hrr_json_addr(&rec->json, n, &v) == 0 ? v : 0;
}

static int unchecked(struct hrr_replay *r, struct hrr_outcome *o, const char *why)
{
	o->kind = HRR_UNCHECKED;
	o->text = why;
	hrr_report(r, o);
	return 0;
}

static int read_output(struct hrr_replay *r, const struct hrr_record *rec, struct output *o)
{
	*o = (struct output){.addr = member(rec, "addr"), .size = member(rec, "size")};
	o->span = o->size;
	if (hrr_json_get(&rec->json, 0, "width") < 0)
		return 0;
	o->width = member(rec, "width");
	o->height = member(rec, "height");
	o->depth = member(rec, "depth");
	o->pitch = member(rec, "pitch");
	o->slice = member(rec, "slice");
	if (o->depth == 0)
		o->depth = 1;
	uint64_t area, total;
	if (o->height == 0 || __builtin_mul_overflow(o->width, o->height, &area) ||
	    __builtin_mul_overflow(area, o->depth, &total) || total != o->size)
		return hrr_fail(r, "output: width, height and depth do not make its size");
	return hrr_span(r, "output", o->width, o->height, o->depth, o->pitch, o->slice, &o->span);
}

/* Where the bytes are here; *ret_packed: rows without what lies between. NULL and why. */
static const unsigned char *locate(struct hrr_replay *r, const struct output *o, bool *ret_packed,
				   struct hrr_writer *w, const char **why)
{
	struct hrr_operand op = {"output", o->addr, o->span, -1};
	struct hrr_landing *l;
	struct hrr_mem *m;
	uint64_t live;

	*ret_packed = false;
	if (o->height != 0) {
		l = hrr_landing_find_rect(r, o->addr, o->size);
		if (l != NULL) {
			hrr_landing_seen(r, l);
			*w = l->writer;
			*ret_packed = true;
			return l->data;
		}
	}
	if (hrr_host_place(r, &op, &live, &m) < 0) {
		*why = "it runs past the end of the host memory it is in";
		return NULL;
	}
	if (live != 0) {
		if (m != NULL)
			*w = m->reached && r->anywhere.writer.seq > m->writer.seq
				 ? r->anywhere.writer
				 : m->writer;
		return (const unsigned char *)(uintptr_t)live;
	}
	l = hrr_landing_find(r, o->addr, o->span);
	if (l == NULL) {
		*why = "nothing was delivered to this address in replay";
		return NULL;
	}
	hrr_landing_seen(r, l);
	*w = l->writer;
	return l->data + (o->addr - l->addr);
}

static const struct hrr_rule *rule_for(const struct hrr_replay *r, const struct hrr_outcome *o)
{
	return r->opt.tolerance != NULL
		   ? hrr_rule_find(r->opt.tolerance, o->api, o->writer_kernel, o->addr, o->size)
		   : NULL;
}

/* Where two packed buffers differ. */
static void differences(struct hrr_outcome *o, const unsigned char *was, const unsigned char *is,
			uint64_t n)
{
	bool in = false;

	for (uint64_t i = 0; i < n; i++) {
		if (!in && n - i >= 64 && memcmp(was + i, is + i, 64) == 0) {
			i += 63;
			continue;
		}
		bool d = was[i] != is[i];
		if (d && o->bytes++ == 0)
			o->offset = i;
		if (d && !in)
			o->ranges++;
		in = d;
	}
	uint64_t at = o->offset & ~(uint64_t)15;
	o->shown = (uint32_t)(n - at < 16 ? n - at : 16);
	memcpy(o->recorded, was + at, o->shown);
	memcpy(o->replayed, is + at, o->shown);
}

/* The element at the first difference, as a number where that says something. */
static void values(struct hrr_buf *b, const struct hrr_outcome *o, enum hrr_type type)
{
	size_t each = type == HRR_TYPE_NONE ? 4 : hrr_type_size(type);
	uint64_t at = (o->offset & 15) & ~(uint64_t)(each - 1);
	char was[48], is[48];

	if (at + each > o->shown)
		each = 1, at = o->offset & 15, type = HRR_TYPE_U8;
	for (int k = 0; k < 2; k++) {
		const unsigned char *p = (k == 0 ? o->recorded : o->replayed) + at;
		char *s = k == 0 ? was : is;
		uint64_t v = 0;
		memcpy(&v, p, each);
		int n = snprintf(s, 48, "0x%0*llx", (int)each * 2, LLU(v));
		if (each > 1 || type != HRR_TYPE_U8)
			snprintf(s + n, 48 - (size_t)n, " (%s%.9g)",
				 type == HRR_TYPE_NONE ? "f32 " : "",
				 hrr_type_value(type == HRR_TYPE_NONE ? HRR_TYPE_F32 : type, p));
	}
	hrr_buf_addf(b, "recorded %s, replayed %s", was, is);
}

static int say_differs(struct hrr_replay *r, struct hrr_outcome *o, const struct hrr_rule *rule)
{
	struct hrr_buf b = {0};

	hrr_buf_addf(&b, "output 0x%llx (%llu bytes) of call %llu differs at offset %llu: ",
		     LLU(o->addr), LLU(o->size), LLU(o->seq), LLU(o->offset));
	values(&b, o, rule != NULL ? rule->type : HRR_TYPE_NONE);
	hrr_buf_addf(&b, "; %llu of %llu bytes in %llu range%s", LLU(o->bytes), LLU(o->size),
		     LLU(o->ranges), o->ranges == 1 ? "" : "s");
	if (rule != NULL)
		hrr_buf_addf(&b, "; largest difference %.9g, relative %.9g, %llu ulp", o->max_abs,
			     o->max_rel, LLU(o->max_ulp));
	if (o->writer != 0)
		hrr_buf_addf(&b, "; last launch that could have written there: call %llu%s%s",
			     LLU(o->writer), o->writer_kernel != NULL ? ", kernel " : "",
			     o->writer_kernel != NULL ? o->writer_kernel : "");
	if (o->approximate)
		hrr_buf_adds(&b, "; within what approximate instructions may cause, and still a "
				 "difference");
	o->text = hrr_buf_str(&b);
	hrr_report(r, o);
	hrr_buf_release(&b);
	return 0;
}

static int compare(struct hrr_replay *r, const struct output *out, struct hrr_outcome *o,
		   const struct hrr_blob *blob, const unsigned char *is, bool packed)
{
	const unsigned char *flat = is;
	unsigned char *copy = NULL;

	if (out->height != 0 && !packed && (out->height > 1 || out->depth > 1)) {
		copy = hrr_scratch(r, out->size);
		if (copy == NULL)
			return hrr_trouble(r, -ENOMEM, "out of memory to compare %llu bytes",
					   LLU(out->size));
		hrr_copy_rows(copy, out->width, out->width * out->height, is, out->pitch,
			      out->slice, out->width, out->height, out->depth);
		flat = copy;
	}
	if (memcmp(flat, blob->data, out->size) == 0) {
		o->kind = HRR_EXACT;
		hrr_report(r, o);
		return 0;
	}
	differences(o, blob->data, flat, out->size);
	const struct hrr_rule *rule = rule_for(r, o);
	o->kind = HRR_DIFFERS;
	if (rule != NULL && hrr_rule_apply(rule, blob->data, flat, out->size, o))
		o->kind = HRR_TOLERATED;
	if (o->kind == HRR_DIFFERS) {
		struct hrr_emu_stats stats = {.size = sizeof stats};
		o->approximate =
		    r->emu_report != NULL && r->emu_report(&stats) == 0 &&
		    hrr_approximately(&stats, rule != NULL ? rule->type : HRR_TYPE_NONE, blob->data,
				      flat, out->size);
		return say_differs(r, o, rule);
	}
	hrr_report(r, o);
	return 0;
}

static bool seq_in(const struct hrr_replay *r, uint64_t seq)
{
	return seq >= r->opt.seq_first && (r->opt.seq_last == 0 || seq <= r->opt.seq_last);
}

int hrr_output(struct hrr_replay *r, const struct hrr_record *rec)
{
	struct hrr_outcome o = {.seq = rec->seq, .node = hrr_record_node(rec), .line = rec->lineno};
	int blob_node = hrr_json_get(&rec->json, 0, "blob");
	int unknown = hrr_json_get(&rec->json, 0, "unknown");
	struct hrr_writer w = {0};
	struct output out;
	struct hrr_blob blob;
	const char *why = NULL;
	char text[160];
	bool packed;
	int rc;

	r->v.outputs++;
	o.addr = member(rec, "addr");
	o.size = member(rec, "size");
	o.api = hrr_recent(r, rec->seq);
	if (!seq_in(r, rec->seq))
		return unchecked(r, &o, "outside --seq");
	if (hrr_held_find(&r->unplayed, rec->seq) != NULL)
		return unchecked(r, &o, "the call that delivers it was not replayed");
	if (unknown >= 0) {
		size_t len = 0;
		const char *s = hrr_json_raw(&rec->json, unknown, &len);
		hrr_mask(text, sizeof text, s != NULL ? s : "not recorded", s != NULL ? len : 12);
		return unchecked(r, &o, text);
	}
	rc = read_output(r, rec, &out);
	if (rc < 0)
		return rc;
	if (out.size == 0)
		return unchecked(r, &o, "it is empty");
	/* The program had waited here; a release that waited for it was put off. */
	if (r->owed_wait && r->captures == 0) {
		rc = hrr_wait_all(r);
		if (rc < 0)
			return rc;
	}
	/*
	 * An output right behind a copy that does not wait: the recorder waited there
	 * (foreign streams). Ours has the program's wait in between.
	 */
	size_t i = rec->seq % HRR_RECENT;
	if (rec->seq == r->seq && r->captures == 0 && r->waited < rec->seq &&
	    r->recent[i].seq == (uint32_t)rec->seq &&
	    hrr_api_table[r->recent[i].api].cls == HRR_CLASS_COPY &&
	    hrr_api_table[r->recent[i].api].sync == HRR_SYNC_NONE) {
		rc = hrr_wait_all(r);
		if (rc < 0)
			return rc;
	}
	const unsigned char *is = locate(r, &out, &packed, &w, &why);
	if (is == NULL) {
		r->diag.what[0] = '\0';
		return unchecked(r, &o, why);
	}
	struct hrr_mem *in = hrr_mem_at(r->hostmap, out.addr);
	if (in != NULL)
		hrr_pending_told(r, in, rec->seq);
	if (w.seq == 0 && r->graph_writer.seq == rec->seq)
		w = r->graph_writer;
	o.writer = w.seq;
	o.writer_kernel = w.fn != NULL ? w.fn->name : NULL;
	if (out.span == out.size)
		hrr_host_told(in, out.addr, out.size, &rec->json, blob_node, 0);
	rc = hrr_blob_of(r, &rec->json, blob_node, "output", &blob);
	if (rc < 0)
		return rc;
	if (blob.len != out.size) {
		snprintf(text, sizeof text, "%llu bytes, but its blob has %zu", LLU(out.size),
			 blob.len);
		rc = unchecked(r, &o, text);
	} else {
		rc = compare(r, &out, &o, &blob, is, packed);
	}
	hrr_blob_release(&blob);
	return rc;
}
