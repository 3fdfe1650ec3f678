#include "formats/hrr/convert.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/hrr/convert_private.h"
#include "lib/stream/record.h"
#include "lib/stream/write.h"

#define MAX_SAID 16   /* messages of one kind; the rest is counted */
#define MAX_TOLD 1024 /* blobs whose trouble is remembered as said */
#define RAW_MAX (HRR_JSON_MAX_LINE / 2 - 4096)

/* Numbers of a stream go no further. */
static bool plausible(uint64_t v)
{
	return v < UINT64_C(1) << 53;
}

enum { AT_HEADER, AT_RUNTIME, AT_EVENTS, AT_END, AT_DONE };

void hrr_note(struct hrr_convert *c, const char *fmt, ...)
{
	char text[1024], masked[1024];
	va_list ap;

	if (c->opt.note == NULL)
		return;
	va_start(ap, fmt);
	int n = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	hrr_mask(masked, sizeof masked, text, n < 0 ? 0 : strlen(text));
	c->opt.note(c->opt.note_self, masked);
}

static void note_plain(void *self, const char *text)
{
	hrr_note(self, "%s", text);
}

int hrr_put_blob(struct hrr_convert *c, struct hrr_buf *b, struct hrr_fnv name,
		 const struct hrr_up_rect *rect, uint64_t *ret_size, struct hrr_diag *diag)
{
	const struct hrr_up_blob *x;
	int rc = hrr_up_blobs_find(c->blobs, name, rect, &x, diag);

	if (rc < 0)
		return rc;
	if (room(b, HRR_ID_TEXT + 8) < 0)
		return -ENOMEM;
	b->data[b->len++] = '"';
	hrr_id_text(&x->id, b->data + b->len);
	b->len += HRR_ID_TEXT;
	b->data[b->len++] = '"';
	*ret_size = x->state == HRR_UP_OK ? x->size : UINT64_MAX;
	if (x->state == HRR_UP_OK)
		return 0;
	for (size_t i = 0; i < c->n_told; i++)
		if (hrr_fnv_equal(c->told[i], name))
			return 0;
	if (c->n_told == MAX_TOLD)
		return 0;
	char h[HRR_FNV_HEX + 1];
	hrr_fnv_text(name, h);
	c->told[c->n_told++] = name;
	hrr_note(c,
		 x->state == HRR_UP_MISSING ? "blob %s.blob is missing (first named at call %llu)"
					    : "blob %s.blob is damaged: its bytes are not what "
					      "its name says (first named at call %llu)",
		 h, (unsigned long long)c->seq);
	return 0;
}

struct hrr_up_blobs *hrr_convert_blobs(struct hrr_convert *c)
{
	return c->blobs;
}

const struct hrr_events_facts *hrr_convert_facts(const struct hrr_convert *c)
{
	return &c->f;
}

uint64_t hrr_convert_time(const struct hrr_convert *c)
{
	return c->t0 + c->t_seen;
}

uint32_t hrr_convert_pid(const struct hrr_convert *c)
{
	return c->pid;
}

void hrr_convert_close(struct hrr_convert *c)
{
	if (c == NULL)
		return;
	hrr_events_close(c->e);
	hrr_up_blobs_close(c->blobs);
	hrr_up_manifest_release(&c->m);
	hrr_rrr_release(&c->regions);
	hrr_kernels_release(c);
	hrr_track_release(c);
	for (int i = 0; i < HRR_API_COUNT; i++)
		free(c->progs[i]);
	hrr_buf_release(&c->out);
	hrr_buf_release(&c->after);
	hrr_buf_release(&c->words);
	hrr_buf_release(&c->extra);
	hrr_buf_release(&c->text);
	free(c->told);
	free(c);
}

/* pid-4711 */
static uint32_t pid_of_name(const char *dir)
{
	const char *base = strrchr(dir, '/');
	unsigned pid = 0;

	return sscanf(base != NULL ? base + 1 : dir, "pid-%9u", &pid) == 1 ? pid : 0;
}

static int say_damage(struct hrr_convert *c)
{
	const struct hrr_up_manifest *m = &c->m;

	for (int i = 0;; i++) {
		int rc = hrr_events_damage(c->e, i, &c->text);
		if (rc < 0)
			return rc;
		if (rc == 0)
			break;
		hrr_note(c, "events.bin: %.*s", (int)c->text.len, c->text.data);
	}
	if (m->there && m->event_count >= 0 && (uint64_t)m->event_count != c->f.count)
		hrr_note(c, "manifest.json counts %lld events, events.bin holds %llu",
			 (long long)m->event_count, (unsigned long long)c->f.count);
	if (m->there && m->complete >= 0 && (bool)m->complete != c->f.complete)
		hrr_note(c, "manifest.json says the archive is %s, events.bin is %s",
			 m->complete ? "complete" : "not complete",
			 c->f.complete ? "closed in order" : "not");
	return 0;
}

int hrr_convert_open(struct hrr_convert **ret, const char *dir,
		     const struct hrr_convert_options *opt, struct hrr_diag *diag)
{
	struct hrr_convert *c = calloc(1, sizeof *c);
	enum hrr_up_refused refused;
	char path[PATH_MAX];
	int rc;

	hrr_diag_at(diag, dir, 0);
	if (c == NULL)
		return hrr_diag_set(diag, -ENOMEM, "out of memory");
	c->opt = *opt;
	if (realpath(dir, c->dir) == NULL) {
		rc = hrr_diag_set(diag, -errno, "cannot open: %s", strerror(errno));
		goto out;
	}
	if (snprintf(path, sizeof path, "%s/events.bin", dir) >= (int)sizeof path) {
		rc = hrr_diag_set(diag, -ENAMETOOLONG, "path too long");
		goto out;
	}
	rc = hrr_events_open(&c->e, path, &refused, diag);
	if (rc < 0)
		goto out;
	c->f = *hrr_events_facts(c->e);
	rc = hrr_up_blobs_open(&c->blobs, c->dir, diag);
	if (rc < 0)
		goto out;
	struct hrr_diag why = {0};
	rc = hrr_up_manifest_read(&c->m, dir, &why);
	if (rc == -ENOMEM)
		goto out;
	if (rc < 0)
		hrr_note(c, "manifest.json: %s: ignored", why.what);
	c->pid = c->m.pid > 0 && c->m.pid <= UINT32_MAX ? (uint32_t)c->m.pid : pid_of_name(c->dir);
	c->major = c->m.major >= 5 && c->m.major <= 7 ? c->m.major : 7;
	c->t0 = c->f.t_min;
	c->dev = hrr_ranges_new();
	c->by_var = hrr_ranges_new();
	c->by_handle = hrr_ranges_new();
	c->told = calloc(MAX_TOLD, sizeof *c->told);
	rc = c->dev == NULL || c->by_var == NULL || c->by_handle == NULL || c->told == NULL
		 ? -ENOMEM
		 : 0;
	if (rc == 0)
		rc = say_damage(c);
	if (rc == 0 && !opt->no_regions &&
	    snprintf(path, sizeof path, "%s/regions", dir) < (int)sizeof path) {
		rc = hrr_rrr_folder(&c->regions, path, note_plain, c, diag);
		if (rc == 0)
			rc = hrr_rrr_sort(&c->regions);
		if (rc == 0 && c->regions.ignored > 0)
			hrr_note(c, "regions: ignored %llu records of unknown kind or size 0",
				 (unsigned long long)c->regions.ignored);
	}
	if (rc == 0) {
		*ret = c;
		return 0;
	}
	if (rc == -ENOMEM)
		hrr_diag_set(diag, rc, "out of memory");
out:
	hrr_convert_close(c);
	return rc;
}

/* --- lines that are not calls ---------------------------------------------- */

static int header(struct hrr_convert *c)
{
	struct hrr_buf *b = &c->out;
	int bad = hrr_buf_adds(b, "{\"hrr\":1");

	if (c->opt.p >= 0)
		bad |= hrr_buf_addf(b, ",\"p\":%lld", (long long)c->opt.p);
	bad |= hrr_buf_addf(b,
			    ",\"pid\":%u,\"image\":0,\"command\":[],\"t0\":\"%llu\",\"boot\":\"\","
			    "\"env\":{},\"blobs\":",
			    c->pid, (unsigned long long)c->t0);
	bad |= hrr_json_put_str(b, c->dir, strlen(c->dir));
	bad |= hrr_buf_addf(b, ",\"foreign\":{\"format\":\"hrr%d\",\"flags\":%u", c->f.version,
			    c->f.flags);
	if (c->f.base >= 0)
		bad |= hrr_buf_addf(b, ",\"compilerBase\":%d", c->f.base);
	if (c->m.parent_pid >= 0)
		bad |= hrr_buf_addf(b, ",\"parent\":%lld", (long long)c->m.parent_pid);
	bad |= hrr_buf_adds(b, "}}\n");
	return bad ? -ENOMEM : 0;
}

static int runtime(struct hrr_convert *c)
{
	struct hrr_buf *b = &c->out;
	const struct hrr_up_manifest *m = &c->m;
	int bad;

	if (m->major < 0 && m->n_devices == 0)
		return 0;
	bad = hrr_buf_adds(b, "{\"runtime\":{");
	if (m->major >= 0)
		bad |= hrr_buf_addf(b, "\"major\":%d", m->major);
	if (m->major >= 0 && m->major < 100 && m->minor >= 0 && m->minor < 100 && m->patch >= 0 &&
	    m->patch < 100000)
		bad |= hrr_buf_addf(b, ",\"version\":%d",
				    m->major * 10000000 + m->minor * 100000 + m->patch);
	if (m->n_devices > 0) {
		bad |= hrr_buf_adds(b, m->major >= 0 ? ",\"devices\":[" : "\"devices\":[");
		for (size_t i = 0; i < m->n_devices; i++) {
			const struct hrr_up_device *d = &m->devices[i];
			bad |= hrr_buf_adds(b, i > 0 ? ",{\"name\":" : "{\"name\":");
			bad |= hrr_json_put_str(b, d->name, strlen(d->name));
			bad |= hrr_buf_adds(b, ",\"arch\":");
			bad |= hrr_json_put_str(b, d->arch, strlen(d->arch));
			bad |= hrr_buf_addf(b, ",\"memory\":%llu}", (unsigned long long)d->memory);
		}
		bad |= hrr_buf_addc(b, ']');
	}
	bad |= hrr_buf_addc(b, '}');
	if (c->opt.p >= 0) /* second in the record: the object is the first */
		bad |= hrr_buf_addf(b, ",\"p\":%lld", (long long)c->opt.p);
	bad |= hrr_buf_adds(b, ",\"t\":0}\n");
	return bad ? -ENOMEM : 0;
}

static int end(struct hrr_convert *c)
{
	struct hrr_buf *b = &c->out;
	const struct hrr_up_manifest *m = &c->m;
	uint64_t t = c->f.t_trailer > c->t0 ? c->f.t_trailer - c->t0 : 0;
	int bad;

	if (!plausible(t))
		t = 0;
	if (!c->f.complete)
		return 0; /* cut short: no end */
	bad = hrr_buf_adds(b, "{\"end\":\"complete\"");
	if (c->opt.p >= 0)
		bad |= hrr_buf_addf(b, ",\"p\":%lld", (long long)c->opt.p);
	bad |= hrr_buf_addf(
	    b,
	    ",\"t\":%llu,\"calls\":%llu,\"outputs\":%llu,\"regions\":%llu,\"lost\":0"
	    ",\"notRecorded\":{",
	    (unsigned long long)(t > c->t_seen ? t : c->t_seen), (unsigned long long)c->seq,
	    (unsigned long long)c->outputs, (unsigned long long)c->regions_out);
	for (size_t i = 0, n = 0; i < m->n_unreplayable; i++) {
		const char *name = m->unreplayable[i];
		bool twice = false;
		for (size_t k = 0; k < i && !twice; k++)
			twice = strcmp(m->unreplayable[k], name) == 0;
		if (twice)
			continue;
		/* how often is not said */
		bad |= n++ > 0 ? hrr_buf_addc(b, ',') : 0;
		bad |= hrr_json_put_str(b, name, strlen(name));
		bad |= hrr_buf_adds(b, ":1");
	}
	bad |= hrr_buf_adds(b, "}}\n");
	return bad ? -ENOMEM : 0;
}

static int region(struct hrr_convert *c, const struct hrr_rrr *x)
{
	char tag[16];
	struct hrr_region r = {.add = x->op == 0,
			       .segment = x->kind == 1,
			       .kind_known = true,
			       .device = x->device,
			       .base = x->base,
			       .size = x->op == 0 ? x->size : 0,
			       .t = HRR_NO_TIME};
	size_t before = c->out.len;

	if ((x->op == 0 && (x->size > UINT64_C(1) << 47 || x->size > UINT64_MAX - x->base)) ||
	    (x->t > 0 && (uint64_t)x->t > c->t0 && !plausible((uint64_t)x->t - c->t0))) {
		hrr_note(c, "regions: one at 0x%llx is left out: its %s is not plausible",
			 (unsigned long long)x->base,
			 x->op == 0 &&
				 (x->size > UINT64_C(1) << 47 || x->size > UINT64_MAX - x->base)
			     ? "size"
			     : "time");
		return 0;
	}
	if (x->t != 0) {
		r.t = x->t > 0 && (uint64_t)x->t > c->t0 ? (uint64_t)x->t - c->t0 : 0;
		if (r.t > c->t_seen)
			c->t_seen = r.t;
	}
	if (x->tag != 0) {
		r.tag_len = (size_t)snprintf(tag, sizeof tag, "#%u", x->tag);
		r.tag = tag;
	}
	if (hrr_write_region(&c->out, c->opt.p, &r) < 0)
		return -ENOMEM;
	if (x->flags != 0) {
		c->out.len -= 2; /* }\n */
		if (hrr_buf_addf(&c->out, ",\"foreign\":{\"flags\":%u}}\n", x->flags) < 0) {
			c->out.len = before;
			return -ENOMEM;
		}
	}
	c->regions_out++;
	if (r.segment && r.add) {
		int rc = hrr_ranges_add(c->dev, x->base, x->size, NULL);
		return rc == -ENOMEM ? rc : 0;
	}
	if (r.segment)
		(void)hrr_ranges_del(c->dev, x->base, NULL);
	return 0;
}

/* Regions whose time has come; all of them at the end. */
static int regions_until(struct hrr_convert *c, uint64_t t)
{
	while (c->next_region < c->regions.n) {
		const struct hrr_rrr *x = &c->regions.r[c->next_region];
		if (x->t > 0 && (uint64_t)x->t > t)
			return 0;
		int rc = region(c, x);
		if (rc < 0)
			return rc;
		c->next_region++;
	}
	return 0;
}

/* --- calls --------------------------------------------------------------- */

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
	PUT(b, ",\"t\":");
	put_num(b, ev->t - c->t0);
	PUT(b, ",\"tid\":");
	put_num(b, ev->tid);
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
	PUT(b, "{\"seq\":");
	put_dec(b, c->seq);
	put_p(b, c->opt.p);
	PUT(b, ",\"t\":");
	put_dec(b, ev->t - c->t0);
	PUT(b, ",\"tid\":");
	put_num(b, ev->tid);
	put_raw(b, p->head, p->head_len);
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
	if (rc < 0 || hrr_buf_adds(&c->out, ",\"args\":{") < 0 || hrr_put_args(c, p, ev) < 0 ||
	    hrr_buf_addc(&c->out, '}') < 0)
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

static int call(struct hrr_convert *c, const struct hrr_event *ev, struct hrr_diag *diag)
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

static int said_all(struct hrr_convert *c)
{
	if (c->unknown > MAX_SAID)
		hrr_note(c, "%llu events of unknown id in all", (unsigned long long)c->unknown);
	if (c->undecoded > MAX_SAID)
		hrr_note(c, "%llu events not decoded in all", (unsigned long long)c->undecoded);
	return 0;
}

/* Puts the next lines into out. 0, negative; state AT_DONE: there are none. */
static int step(struct hrr_convert *c, struct hrr_diag *diag)
{
	struct hrr_event ev;
	int rc;

	switch (c->state) {
	case AT_HEADER:
		c->state = AT_RUNTIME;
		return header(c);
	case AT_RUNTIME:
		c->state = AT_EVENTS;
		return runtime(c);
	case AT_EVENTS:
		rc = hrr_events_next(c->e, &ev, diag);
		if (rc < 0)
			return rc;
		if (rc == 0) {
			c->state = AT_END;
			said_all(c);
			return regions_until(c, UINT64_MAX);
		}
		if (ev.t - c->t0 > c->t_seen && plausible(ev.t - c->t0))
			c->t_seen = ev.t - c->t0;
		rc = regions_until(c, c->t0 + c->t_seen);
		return rc < 0 ? rc : call(c, &ev, diag);
	case AT_END:
		c->state = AT_DONE;
		return end(c);
	default:
		return 0;
	}
}

int hrr_convert_line(struct hrr_convert *c, const char **ret_line, size_t *ret_len,
		     struct hrr_diag *diag)
{
	while (c->at == c->out.len) {
		if (c->state == AT_DONE)
			return 0;
		c->at = c->out.len = 0;
		if (c->out.cap > (size_t)4 << 20) /* a long line must not keep its memory */
			hrr_buf_release(&c->out);
		int rc = step(c, diag);
		if (rc < 0) {
			hrr_diag_at(diag, c->dir, 0);
			return rc == -ENOMEM ? hrr_diag_set(diag, rc, "out of memory") : rc;
		}
	}
	const char *line = c->out.data + c->at;
	const char *nl = memchr(line, '\n', c->out.len - c->at);
	*ret_line = line;
	*ret_len = (size_t)(nl - line);
	c->at += *ret_len + 1;
	return 1;
}
