#include <errno.h>
#include <stdlib.h>

#include "formats/hrr/convert_private.h"
#include "formats/hrr/launch.h"

/* Kinds of offsets of arguments: where the code object says, else where its size lets it lie. */
static int put_arg_list(struct hrr_convert *c, const struct hrr_launch *l,
			const struct known_kernel *k)
{
	const uint32_t known = k->exact ? k->n : 0;
	struct hrr_buf *b = &c->out;
	const unsigned char *p = l->args;
	uint32_t offset = 0;

	if (room(b, 32) < 0)
		return -ENOMEM;
	PUT(b, ",\"args\":[");
	for (uint32_t i = 0; i < l->n_args; i++) {
		struct hrr_launch_arg a;
		p = hrr_launch_arg(p, &a);
		if (i < known) {
			offset = k->offsets[i];
		} else {
			uint32_t align = 8;
			while (align > 1 && a.size % align != 0)
				align /= 2;
			offset = (offset + align - 1) / align * align;
		}
		if (room(b, 128 + 2 * (size_t)a.size + 8 * (size_t)a.n_ptrs) < 0)
			return -ENOMEM;
		if (i > 0)
			PUT(b, ",");
		PUT(b, "{\"offset\":");
		put_dec(b, offset);
		PUT(b, ",\"size\":");
		put_dec(b, a.size);
		PUT(b, ",\"hex\":\"");
		hrr_hex_put(b->data + b->len, a.data, a.size);
		b->len += 2 * (size_t)a.size;
		PUT(b, "\"");
		if (a.kind == HRR_UP_KIND_POINTER) {
			PUT(b, ",\"ptr\":[0]");
		} else if (a.kind == HRR_UP_KIND_STRUCT) {
			PUT(b, ",\"ptr\":[");
			for (uint32_t n = 0; n < a.n_ptrs; n++) {
				if (n > 0)
					PUT(b, ",");
				put_dec(b, hrr_le16(a.ptrs + 2 * n));
			}
			PUT(b, "]");
		} else if (a.kind == HRR_UP_KIND_HIDDEN) {
			PUT(b, ",\"hidden\":true");
		}
		PUT(b, "}");
		offset += a.size;
	}
	return hrr_buf_addc(b, ']');
}

/* ,"kernel":{"name":…,"object":…  which is the same each time the kernel is launched. */
static int put_kernel_names(struct hrr_convert *c, const struct hrr_launch *l,
			    struct known_kernel *k, struct hrr_diag *diag)
{
	struct hrr_buf *b = &c->out;
	size_t before = b->len;
	uint64_t size;

	if (k->text != NULL)
		return hrr_buf_add(b, k->text, k->text_len);
	if (hrr_buf_adds(b, ",\"kernel\":{\"name\":") < 0 ||
	    hrr_json_put_str(b, l->name, l->name_len) < 0)
		return -ENOMEM;
	if (!hrr_fnv_none(l->object)) {
		if (hrr_buf_adds(b, ",\"object\":") < 0)
			return -ENOMEM;
		int rc = hrr_put_blob(c, b, l->object, NULL, &size, diag);
		if (rc < 0)
			return rc;
	}
	k->text_len = b->len - before;
	k->text = malloc(k->text_len);
	if (k->text == NULL)
		return -ENOMEM;
	memcpy(k->text, b->data + before, k->text_len);
	return 0;
}

/* ,"kernel":{"name":…,"object":…,"grid":…,"block":…,"lds":…,"args":[…]} */
static int put_kernel(struct hrr_convert *c, const struct hrr_launch *l, const uint32_t *grid,
		      const uint32_t *block, uint32_t lds, struct hrr_diag *diag)
{
	struct hrr_buf *b = &c->out;
	struct known_kernel *k = hrr_known_kernel(c, l->object, l->name, l->name_len);
	int rc = k == NULL ? -ENOMEM : put_kernel_names(c, l, k, diag);

	if (rc < 0)
		return rc;
	if (room(b, 160) < 0)
		return -ENOMEM;
	PUT(b, ",\"grid\":");
	hrr_buf_add_dims(b, grid);
	PUT(b, ",\"block\":");
	hrr_buf_add_dims(b, block);
	PUT(b, ",\"lds\":");
	put_dec(b, lds);
	rc = put_arg_list(c, l, k);
	return rc < 0 ? rc : hrr_buf_addc(b, '}');
}

/* hipLaunchConfig_t and HIP_LAUNCH_CONFIG, which differ in names only. */
static int put_config(struct hrr_convert *c, const struct hrr_launch *l,
		      const struct hrr_struct *st)
{
	unsigned char s[56] = {0};

	for (int k = 0; k < 28; k++) {
		uint32_t v = k < 12 ? l->grid[k / 4] : k < 24 ? l->block[k / 4 - 3] : l->lds;
		s[k] = (unsigned char)(v >> (8 * (k % 4)));
	}
	for (int k = 0; k < 8; k++)
		s[32 + k] = (unsigned char)(l->stream >> (8 * k));
	for (int k = 0; k < 4; k++)
		s[48 + k] = (unsigned char)(l->n_attrs >> (8 * k));
	return hrr_put_struct(c, st, s);
}

/* The parameters a launch record keeps, by the names the call has for them. */
static int put_launch_args(struct hrr_convert *c, const struct prog *p, const struct hrr_launch *l)
{
	struct hrr_buf *b = &c->out;
	const uint32_t *dims[2] = {l->grid, l->block};
	int scalars = 0, boxes = 0;

	for (const struct launch_op *o = p->launch; o < p->launch + p->n_launch; o++) {
		if (room(b, o->key_len + 256u) < 0)
			return -ENOMEM;
		put_comma(b);
		put_key_text(b, o->key, o->key_len);
		switch ((enum hrr_launch_param)o->what) {
		case HRR_UP_LP_LDS:
			put_dec(b, l->lds);
			break;
		case HRR_UP_LP_STREAM:
			put_hex(b, l->stream);
			break;
		case HRR_UP_LP_AXIS:
			put_dec(b, dims[scalars / 3][scalars % 3]);
			scalars++;
			break;
		case HRR_UP_LP_CONFIG:
			if (put_config(c, l, o->st) < 0)
				return -ENOMEM;
			break;
		case HRR_UP_LP_BOX:
			hrr_buf_add_dims(b, dims[boxes < 1 ? boxes : 1]);
			boxes++;
			break;
		case HRR_UP_LP_NONE:
			break;
		}
	}
	return 0;
}

/*
 * Pinned memory before a launch: what is to be restored is the line's "host". What was
 * unchanged while the stream was busy is to be left alone: kept in "foreign" only.
 */
static int put_snapshots(struct hrr_convert *c, const struct hrr_event *ev,
			 const struct hrr_launch *l, struct hrr_diag *diag)
{
	struct hrr_buf *b = &c->out;
	bool first = true, alone = false;
	uint64_t size;

	for (uint32_t i = 0; i < l->n_snapshots; i++) {
		const unsigned char *s = l->snapshots + (size_t)i * HRR_UP_SNAPSHOT;
		uint64_t base = hrr_le64(s), off = hrr_le64(s + 8), len = hrr_le64(s + 16);
		struct hrr_fnv h = {hrr_le64(s + 24), hrr_le64(s + 32)};
		bool wraps = off > UINT64_MAX - base || len > UINT64_MAX - base - off;
		if (s[40] == 1) {
			alone = true;
			continue;
		}
		if (s[40] > 1 || wraps || hrr_fnv_none(h)) {
			hrr_note(c, "event %llu: a snapshot of pinned memory is refused: %s",
				 (unsigned long long)ev->seq,
				 s[40] > 1 ? "unknown direction"
				 : wraps   ? "its range wraps"
					   : "it has no blob");
			alone = true;
			continue;
		}
		if (room(b, 160) < 0)
			return -ENOMEM;
		if (first)
			PUT(b, ",\"host\":[");
		else
			PUT(b, ",");
		first = false;
		PUT(b, "{\"addr\":");
		put_hex(b, base + off);
		PUT(b, ",\"size\":");
		put_num(b, len);
		PUT(b, ",\"blob\":");
		int rc = hrr_put_blob(c, b, h, NULL, &size, diag);
		if (rc < 0)
			return rc;
		if (size != len && size != UINT64_MAX)
			hrr_note(c,
				 "event %llu: a snapshot of pinned memory has %llu bytes, its blob "
				 "%llu",
				 (unsigned long long)ev->seq, (unsigned long long)len,
				 (unsigned long long)size);
		/* where the range lies in its allocation */
		if (off != 0) {
			if (room(b, 64) < 0)
				return -ENOMEM;
			PUT(b, ",\"offset\":");
			put_num(b, off);
		}
		if (hrr_buf_addc(b, '}') < 0)
			return -ENOMEM;
	}
	if (!first && hrr_buf_addc(b, ']') < 0)
		return -ENOMEM;
	return alone ? hrr_left_bytes(c, "snapshots", l->snapshots,
				      (size_t)l->n_snapshots * HRR_UP_SNAPSHOT)
		     : 0;
}

int hrr_put_launch(struct hrr_convert *c, const struct prog *p, const struct hrr_event *ev,
		   const char **ret_why, struct hrr_diag *diag)
{
	struct hrr_launch l;
	struct hrr_buf *b = &c->out;
	int rc;

	if (hrr_launch_read(ev, c->f.version, &l, ret_why) < 0)
		return 1;
	if (room(b, 32) < 0)
		return -ENOMEM;
	PUT(b, ",\"args\":{");
	if (put_launch_args(c, p, &l) < 0 || hrr_buf_addc(b, '}') < 0)
		return -ENOMEM;
	if (l.n_snapshots > 0 && (rc = put_snapshots(c, ev, &l, diag)) < 0)
		return rc;
	rc = put_kernel(c, &l, l.grid, l.block, l.lds, diag);
	if (rc == 0 && (l.n_attrs > 0 || l.stride > 0)) {
		struct hrr_buf *x = &c->extra;
		if (hrr_buf_addf(x, "%s\"attrs\":{\"n\":%u,\"stride\":%u,\"hex\":",
				 x->len > 0 ? "," : "", l.n_attrs, l.stride) < 0 ||
		    hrr_json_put_hex(x, l.attrs, (size_t)l.n_attrs * l.stride) < 0 ||
		    hrr_buf_addc(x, '}') < 0)
			return -ENOMEM;
	}
	return rc;
}

int hrr_put_node(struct hrr_convert *c, const struct prog *p, const struct hrr_event *ev,
		 const char **ret_why, struct hrr_diag *diag)
{
	static const uint32_t none[3];
	const unsigned char *params = NULL;
	uint32_t grid[3], block[3], lds = 0;
	struct hrr_launch l;

	if (hrr_node_read(ev, p->l.size, &l, ret_why) < 0)
		return 1;
	if (l.name_len == 0) {
		hrr_note(c, "event %llu (%s): the kernel of the node was not resolved",
			 (unsigned long long)ev->seq, p->row->name);
		return 0;
	}
	for (int k = 0; k < p->wire->n; k++) {
		const struct hrr_wire_extra *x = &p->wire->extra[k];
		const struct hrr_struct *st = x->param >= 0 ? hrr_wire_struct(p->api, x) : NULL;
		const unsigned char *at = ev->data + p->l.extra[k];
		if (st != NULL && st->size == sizeof(struct hipKernelNodeParams) &&
		    p->l.extra[k] != 0 && at[x->size] != 0)
			params = at;
	}
	if (params == NULL)
		return put_kernel(c, &l, none, none, 0, diag);
	for (int i = 0; i < 3; i++) {
		block[i] = hrr_le32(params + 4 * i);
		grid[i] = hrr_le32(params + 32 + 4 * i);
	}
	lds = hrr_le32(params + 56);
	return put_kernel(c, &l, grid, block, lds, diag);
}
