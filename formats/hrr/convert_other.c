#include <errno.h>

#include "formats/hrr/convert_private.h"
#include "formats/hrrr/sidecar.h"
#include "lib/stream/record.h"
#include "lib/stream/write.h"

/* Lines that are no calls. */

static int add_p(struct hrr_convert *c)
{
	if (room(&c->out, 32) < 0)
		return -ENOMEM;
	put_p(&c->out, c->opt.p);
	return 0;
}

int hrr_put_header(struct hrr_convert *c)
{
	struct hrr_buf *b = &c->out;
	int bad = hrr_buf_adds(b, "{\"hrr\":1");

	bad |= add_p(c);
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

int hrr_put_runtime(struct hrr_convert *c)
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
	bad |= add_p(c); /* second in the record: the object is the first */
	bad |= hrr_buf_adds(b, ",\"t\":0}\n");
	return bad ? -ENOMEM : 0;
}

int hrr_put_end(struct hrr_convert *c)
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
	bad |= add_p(c);
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
	char tag[HRR_RRR_TAG];
	struct hrr_region r;
	size_t before = c->out.len;
	bool fits = hrr_rrr_region(&r, x, c->t0, tag);

	if (!fits || (r.t != HRR_NO_TIME && !plausible(r.t))) {
		hrr_note(c, "regions: one at 0x%llx is left out: its %s is not plausible",
			 (unsigned long long)x->base, fits ? "time" : "size");
		return 0;
	}
	if (r.t != HRR_NO_TIME && r.t > c->t_seen)
		c->t_seen = r.t;
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

int hrr_put_regions_until(struct hrr_convert *c, uint64_t t)
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
