#include "formats/hrr/convert.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/hrr/convert_private.h"
#include "lib/stream/record.h"
#include "lib/stream/write.h"

#define MAX_TOLD 1024 /* blobs whose trouble is remembered as said */

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
	for (int i = 0; i < HRR_API_COUNT; i++) {
		if (c->progs[i] != NULL)
			free(c->progs[i]->launch);
		free(c->progs[i]);
	}
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
	if (rc < 0 && rc != -EINVAL && rc != -E2BIG) { /* not its contents */
		hrr_diag_set(diag, rc, "manifest.json: %s", why.what);
		goto out;
	}
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
		return hrr_put_header(c);
	case AT_RUNTIME:
		c->state = AT_EVENTS;
		return hrr_put_runtime(c);
	case AT_EVENTS:
		rc = hrr_events_next(c->e, &ev, diag);
		if (rc < 0)
			return rc;
		if (rc == 0) {
			c->state = AT_END;
			said_all(c);
			return hrr_put_regions_until(c, UINT64_MAX);
		}
		if (ev.t - c->t0 > c->t_seen && plausible(ev.t - c->t0))
			c->t_seen = ev.t - c->t0;
		rc = hrr_put_regions_until(c, c->t0 + c->t_seen);
		return rc < 0 ? rc : hrr_put_call(c, &ev, diag);
	case AT_END:
		c->state = AT_DONE;
		return hrr_put_end(c);
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
		c->call.there = false;
		if (c->out.cap > (size_t)4 << 20) /* a long line must not keep its memory */
			hrr_buf_release(&c->out);
		int rc = step(c, diag);
		if (rc < 0) {
			hrr_diag_at(diag, c->dir, 0);
			return rc == -ENOMEM ? hrr_diag_set(diag, rc, "out of memory") : rc;
		}
	}
	const char *line = c->out.data + c->at;
	c->at_call = c->call.there && c->call.at == c->at;
	const char *nl = memchr(line, '\n', c->out.len - c->at);
	*ret_line = line;
	*ret_len = (size_t)(nl - line);
	c->at += *ret_len + 1;
	return 1;
}

bool hrr_convert_head(const struct hrr_convert *c, const char *line, struct hrr_record *rec)
{
	if (!c->at_call)
		return false;
	rec->p = c->opt.p >= 0 ? (uint32_t)c->opt.p : 0;
	rec->seq = c->call.seq;
	rec->t = c->call.t;
	rec->dur = 0;
	rec->tid = c->call.tid;
	rec->api = line + c->call.api_at;
	rec->api_len = c->call.api_len;
	return true;
}
