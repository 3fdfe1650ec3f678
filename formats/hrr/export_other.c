#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/hrr/export_private.h"
#include "lib/region/timeline.h"

int hrr_out_header(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		   struct hrr_diag *diag)
{
	const struct hrr_json *j = &rec->json;
	int f = hrr_json_get(j, 0, "foreign"), n;
	uint64_t v;

	if (p->begun)
		return hrr_diag_set(diag, -EINVAL, "a second header for process %u", rec->p);
	if (hrr_json_u64(j, hrr_json_get(j, 0, "pid"), &v) == 0)
		p->pid = (uint32_t)v;
	if (hrr_json_u64(j, hrr_json_get(j, 0, "image"), &v) == 0)
		p->image = (uint32_t)v;
	p->t0 = hrr_json_decimal(j, "t0");
	if (f >= 0 && j->nodes[f].type == HRR_JSON_OBJECT) {
		p->foreign = true;
		p->major = 7; /* until the runtime record says */
		if (hrr_json_u64(j, hrr_json_get(j, f, "compilerBase"), &v) == 0 && v >= 543 &&
		    v <= 767)
			p->base = (int)v;
		if (hrr_json_u64(j, hrr_json_get(j, f, "parent"), &v) == 0)
			p->parent = (int64_t)v;
	}
	n = hrr_json_get(j, 0, "command");
	if (n >= 0 && j->nodes[n].type == HRR_JSON_ARRAY && hrr_json_count(j, n) > 0)
		hrr_lost(x, "command line and environment of a process");
	return hrr_out_begin(x, p, diag);
}

int hrr_out_runtime(struct out_process *p, const struct hrr_record *rec)
{
	const struct hrr_json *j = &rec->json;
	int r = hrr_json_get(j, 0, "runtime"), m;
	uint64_t v;

	m = r >= 0 ? hrr_json_get(j, r, "major") : -1;
	if (m >= 0 && hrr_json_u64(j, m, &v) == 0 && v >= 5 && v <= 7)
		p->major = (int)v;
	p->runtime.len = 0;
	return hrr_buf_add(&p->runtime, j->text, j->len);
}

int hrr_out_region(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		   bool from_sidecar, struct hrr_diag *diag)
{
	struct hrr_region r;
	struct hrr_rrr y = {0};
	int rc;

	x->tmp.len = 0;
	rc = hrr_region_read(rec, &r, &x->tmp, diag);
	if (rc < 0)
		return rc;
	y.op = !r.add;
	y.kind = r.segment;
	y.device = (uint8_t)r.device;
	y.base = r.base;
	y.size = r.size;
	/* Where it stands is when it acts, unless it lived before the stream. */
	if (r.t != HRR_NO_TIME)
		y.t = (int64_t)(p->t0 + r.t);
	else if (!from_sidecar && p->count > 0)
		y.t = (int64_t)(p->t0 + p->t);
	if (r.device < 0 || r.device > 255) {
		hrr_lost(x, "regions of devices past 255");
		return 0;
	}
	if (r.tag != NULL) {
		unsigned tag = 0;
		char end;
		char text[16];
		snprintf(text, sizeof text, "%.*s", r.tag_len < 15 ? (int)r.tag_len : 15, r.tag);
		if (sscanf(text, "#%9u%c", &tag, &end) == 1)
			y.tag = tag;
		else if (r.tag_len > 0)
			hrr_lost(x, "tags of regions that are no numbers");
	}
	int f = hrr_json_get(&rec->json, 0, "foreign");
	uint64_t flags;
	if (f >= 0 && rec->json.nodes[f].type == HRR_JSON_OBJECT &&
	    hrr_json_u64(&rec->json, hrr_json_get(&rec->json, f, "flags"), &flags) == 0)
		y.flags = (uint8_t)flags;
	if (p->regions.n == p->regions.cap) {
		size_t cap = p->regions.cap ? 2 * p->regions.cap : 256;
		struct hrr_rrr *q = realloc(p->regions.r, cap * sizeof *q);
		if (q == NULL)
			return -ENOMEM;
		p->regions.r = q;
		p->regions.cap = cap;
	}
	p->regions.r[p->regions.n++] = y;
	return 0;
}

int hrr_out_raw(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		struct hrr_diag *diag)
{
	const struct hrr_json *j = &rec->json;
	struct hrr_record at = *rec;
	int f = hrr_json_get(j, 0, "foreign"), n;
	uint64_t type;

	if (f < 0 || j->nodes[f].type != HRR_JSON_OBJECT ||
	    hrr_json_u64(j, hrr_json_get(j, f, "type"), &type) < 0 || type > 65535) {
		hrr_lost(x, "records of unknown kind");
		return 0;
	}
	x->rec.len = 0;
	n = hrr_json_get(j, f, "raw");
	if (n < 0 || hrr_out_hex(j, n, HRR_UP_MAX_RECORD, &x->rec) < 0 ||
	    x->rec.len < HRR_UP_HEADER) {
		hrr_lost(x, "raw records whose bytes are not there");
		return 0;
	}
	(void)hrr_json_u64(j, hrr_json_get(j, 0, "t"), &at.t);
	(void)hrr_json_u64(j, hrr_json_get(j, 0, "tid"), &at.tid);
	int rc = hrr_out_event(x, p, &at, (unsigned)type, (unsigned char *)x->rec.data, x->rec.len,
			       NULL, diag);
	return rc < 0 ? rc : 0;
}

int hrr_out_end(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec)
{
	const struct hrr_json *j = &rec->json;
	int how = hrr_json_get(j, 0, "end"), n = hrr_json_get(j, 0, "notRecorded");

	p->ended = true;
	p->complete = hrr_json_is(j, how, "complete") || hrr_json_is(j, how, "filtered");
	p->t_end = rec->t != HRR_NO_TIME ? rec->t : p->t;
	if (hrr_json_is(j, how, "filtered"))
		hrr_lost(x, "that the stream was filtered");
	if (n < 0 || j->nodes[n].type != HRR_JSON_OBJECT)
		return 0;
	for (int k = hrr_json_first(j, n); k >= 0; k = hrr_json_next(j, n, k)) {
		struct hrr_buf *b = &p->not_recorded;
		if ((b->len > 0 && hrr_buf_adds(b, ", ") < 0) || hrr_buf_addc(b, '"') < 0 ||
		    hrr_buf_add(b, j->text + j->nodes[k].off, j->nodes[k].len) < 0 ||
		    hrr_buf_addc(b, '"') < 0)
			return -ENOMEM;
	}
	return 0;
}
