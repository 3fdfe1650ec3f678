#include <errno.h>
#include <stdlib.h>

#include "formats/hrr/convert_private.h"

#define RAW_MAX (HRR_JSON_MAX_LINE / 2 - 4096)

/* A record that is not understood: its bytes, whole. */
static int raw(struct hrr_convert *c, const struct hrr_event *ev, const char *api, const char *why)
{
	struct hrr_buf *b = &c->out;
	int bad = hrr_buf_addf(b, "{\"foreign\":{\"type\":%u", ev->type);

	if (api != NULL)
		bad |= hrr_buf_addf(b, ",\"api\":\"%s\"", api);
	if (bad || room(b, 64) < 0)
		return -ENOMEM;
	PUT(b, ",\"seq\":");
	put_num(b, ev->seq);
	bad |= hrr_buf_addf(b, ",\"why\":\"%s\"", why);
	if (ev->len <= RAW_MAX) {
		bad |= hrr_buf_adds(b, ",\"raw\":");
		bad |= hrr_json_put_hex(b, ev->data, ev->len);
	} else {
		bad |= hrr_buf_addf(b, ",\"length\":%u", ev->len);
	}
	bad |= hrr_buf_addc(b, '}');
	if (c->opt.p >= 0)
		bad |= hrr_buf_addf(b, ",\"p\":%lld", (long long)c->opt.p);
	if (bad || room(b, 128) < 0)
		return -ENOMEM;
	put_when(b, ev->t - c->t0, ev->tid);
	PUT(b, "}\n");
	return 0;
}

static int put_ret(struct hrr_convert *c, const struct prog *p, const struct hrr_event *ev)
{
	struct hrr_buf *b = &c->out;
	const unsigned char *at = ev->data + p->l.ret;

	switch (p->row->ret) {
	case HRR_RET_ERROR: {
		int32_t v = (int32_t)hrr_le32(at);
		if (v == 0)
			return 0;
		const char *name = hrr_error_name(v);
		return name != NULL ? hrr_buf_addf(b, ",\"ret\":\"%s\"", name)
				    : hrr_buf_addf(b, ",\"ret\":%d", v);
	}
	case HRR_RET_INT:
		return hrr_buf_addf(b, ",\"ret\":%d", (int32_t)hrr_le32(at));
	case HRR_RET_FATBIN:
		return hrr_buf_addf(b, ",\"ret\":\"0x%llx\"", (unsigned long long)hrr_le64(at));
	case HRR_RET_STR:
		return hrr_le64(at) != 0 ? hrr_left_word(c, "ret", hrr_le64(at)) : 0;
	case HRR_RET_STRUCT:
		return p->l.ret_width == 20 ? hrr_left_bytes(c, "ret", at, 20) : 0;
	default:
		return 0;
	}
}

static int begin_call(struct hrr_convert *c, const struct prog *p, const struct hrr_event *ev)
{
	struct hrr_buf *b = &c->out;

	if (room(b, 256) < 0)
		return -ENOMEM;
	c->call = (struct call_head){.at = b->len,
				     .there = true,
				     .seq = c->seq,
				     .t = ev->t - c->t0,
				     .tid = ev->tid,
				     .api_len = p->head_len - sizeof ",\"api\":\"\"" + 1};
	PUT(b, "{\"seq\":");
	put_dec(b, c->seq);
	put_p(b, c->opt.p);
	put_when(b, ev->t - c->t0, ev->tid);
	c->call.api_at = b->len - c->call.at + sizeof ",\"api\":\"" - 1;
	put_key_text(b, p->head, p->head_len);
	return 0;
}

static int end_call(struct hrr_convert *c)
{
	struct hrr_buf *b = &c->out, *w = &c->words, *x = &c->extra;

	if (w->len == 0 && x->len == 0)
		return hrr_buf_add(b, "}\n", 2);
	if (room(b, w->len + x->len + 64) < 0)
		return -ENOMEM;
	PUT(b, ",\"foreign\":{");
	if (w->len > 0) {
		PUT(b, "\"words\":{");
		put_raw(b, w->data, w->len);
		PUT(b, "}");
		if (x->len > 0)
			PUT(b, ",");
	}
	if (x->len > 0)
		put_raw(b, x->data, x->len);
	PUT(b, "}}\n");
	return 0;
}

/* A call of fixed form. 1: not decoded, why in *ret_why. */
static int fixed(struct hrr_convert *c, const struct prog *p, const struct hrr_event *ev,
		 const char **ret_why, struct hrr_diag *diag)
{
	int rc;

	if (!p->fixed) {
		*ret_why = "its parameters are not described";
		return 1;
	}
	if (ev->len < p->l.size) {
		*ret_why = "payload too small";
		return 1;
	}
	if (c->f.version < 5 && ev->len != p->l.size) {
		*ret_why = "its length is another call's: the build numbered its calls otherwise";
		return 1;
	}
	rc = put_ret(c, p, ev);
	if (rc < 0 || room(&c->out, 32) < 0)
		return -ENOMEM;
	PUT(&c->out, ",\"args\":{");
	if (hrr_put_args(c, p, ev) < 0 || hrr_buf_addc(&c->out, '}') < 0)
		return -ENOMEM;
	rc = hrr_track(c, p, ev);
	if (rc < 0)
		return rc;
	rc = hrr_put_bytes(c, p, ev, diag);
	if (rc < 0)
		return rc;
	if (p->l.tail)
		return hrr_put_node(c, p, ev, ret_why, diag);
	return ev->len > p->l.size
		   ? hrr_left_bytes(c, "tail", ev->data + p->l.size, ev->len - p->l.size)
		   : 0;
}

static int launch(struct hrr_convert *c, const struct prog *p, const struct hrr_event *ev,
		  const char **ret_why, struct hrr_diag *diag)
{
	bool fits = p->fixed && ev->len == p->l.size;
	size_t before = c->out.len;
	const char *ignored;
	int rc;

	if (!p->wire->launch && fits)
		return fixed(c, p, ev, ret_why, diag);
	rc = hrr_put_launch(c, p, ev, ret_why, diag);
	if (rc == 1 && fits) {
		c->out.len = before;
		rc = fixed(c, p, ev, &ignored, diag);
	}
	return rc;
}

int hrr_put_call(struct hrr_convert *c, const struct hrr_event *ev, struct hrr_diag *diag)
{
	int api = hrr_wire_api(c->f.version, c->f.base, (int)ev->type);
	const char *why = "unknown id";
	size_t before = c->out.len;
	struct prog *p = NULL;
	int rc = 1;

	c->words.len = c->extra.len = c->after.len = 0;
	if (!plausible(ev->t - c->t0) || !plausible(ev->tid)) {
		why = plausible(ev->tid) ? "its time is not plausible"
					 : "its thread id is not plausible";
		p = api >= 0 ? hrr_prog(c, (enum hrr_api)api) : NULL;
	} else if (api >= 0) {
		p = hrr_prog(c, (enum hrr_api)api);
		if (p == NULL)
			return -ENOMEM;
		uint64_t outputs = c->outputs;
		c->seq++;
		rc = begin_call(c, p, ev);
		if (rc == 0)
			rc = p->row->cls == HRR_CLASS_LAUNCH ? launch(c, p, ev, &why, diag)
							     : fixed(c, p, ev, &why, diag);
		if (rc == 0)
			rc = end_call(c);
		if (rc == 0 && c->out.len - before > HRR_JSON_MAX_LINE) {
			why = "its line would pass the limit of a line";
			rc = 1;
		}
		if (rc == 1) {
			c->seq--;
			c->call.there = false;
			c->outputs = outputs;
			c->after.len = 0;
		}
	}
	if (rc == 1) {
		c->out.len = before;
		const char *name = p != NULL ? p->row->name : NULL;
		uint64_t *n = p != NULL ? &c->undecoded : &c->unknown;
		if ((*n)++ < MAX_SAID)
			hrr_note(
			    c, "event %llu (%s, type %u, %u bytes at offset %llu): %s: not decoded",
			    (unsigned long long)ev->seq, name != NULL ? name : "UNKNOWN", ev->type,
			    ev->len, (unsigned long long)ev->offset, why);
		rc = raw(c, ev, name, why);
	}
	if (rc == 0 && c->after.len > 0)
		rc = hrr_buf_add(&c->out, c->after.data, c->after.len);
	return rc;
}
