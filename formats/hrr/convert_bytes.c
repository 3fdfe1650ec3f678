#include <errno.h>

#include "formats/hrr/convert_private.h"

/*
 * What a call moved. Upstream keeps one blob per copy and says with it neither
 * which side it is nor which way the bytes went: that follows from the call, its
 * kind, or from which end is device memory.
 */
struct moved {
	enum dir dir;
	uint64_t addr; /* host end that was written, for outputs */
	uint64_t bytes;
	struct hrr_up_rect from, to; /* host source, host destination; width 0: linear */
};

static uint64_t arg(const struct prog *p, const struct hrr_event *ev, int i)
{
	return i < 0 || p->l.width[i] == 0 ? 0 : word(ev->data + p->l.at[i], p->l.width[i]);
}

static uint64_t arg_named(const struct prog *p, const struct hrr_event *ev, const char *name)
{
	return arg(p, ev, hrr_api_param(p->api, name, strlen(name)));
}

static bool is_device(const struct hrr_convert *c, uint64_t addr)
{
	return hrr_ranges_find(c->dev, addr) != NULL;
}

static enum dir dir_of_ends(bool dst_dev, bool src_dev)
{
	if (dst_dev)
		return src_dev ? DIR_D2D : DIR_H2D;
	return src_dev ? DIR_D2H : DIR_NONE; /* neither is known */
}

static enum dir dir_of_kind(const struct hrr_convert *c, uint64_t kind, uint64_t dst, uint64_t src)
{
	switch (kind) {
	case hipMemcpyHostToHost:
		return DIR_H2H;
	case hipMemcpyHostToDevice:
		return DIR_H2D;
	case hipMemcpyDeviceToHost:
		return DIR_D2H;
	case hipMemcpyDeviceToDevice:
	case hipMemcpyDeviceToDeviceNoCU:
		return DIR_D2D;
	default:
		return dir_of_ends(is_device(c, dst), is_device(c, src));
	}
}

static void linear(const struct hrr_convert *c, const struct prog *p, const struct hrr_event *ev,
		   struct moved *m)
{
	const struct hrr_param *x = p->row->params;
	uint64_t dst = arg(p, ev, p->dst), src = arg(p, ev, p->src);

	m->addr = dst;
	m->bytes = arg(p, ev, p->bytes);
	if (p->kind >= 0)
		m->dir = dir_of_kind(c, arg(p, ev, p->kind), dst, src);
	else
		m->dir = x[p->dst].kind == HRR_K_HOST	? DIR_D2H
			 : x[p->src].kind == HRR_K_HOST ? DIR_H2D
							: DIR_D2D;
}

static void rect_2d(const struct hrr_convert *c, const struct prog *p, const struct hrr_event *ev,
		    struct moved *m)
{
	uint64_t w = arg_named(p, ev, "width"), h = arg_named(p, ev, "height"),
		 dp = arg_named(p, ev, "dpitch"), sp = arg_named(p, ev, "spitch");

	m->addr = arg(p, ev, p->dst);
	m->dir = dir_of_kind(c, arg(p, ev, p->kind), m->addr, arg(p, ev, p->src));
	m->from = (struct hrr_up_rect){w, h, 1, sp, 0}; /* one plane */
	m->to = (struct hrr_up_rect){w, h, 1, dp, 0};
}

/* hipMemcpy3DParms; offsets as in hip.api. Sums may wrap: replay checks what it is given. */
static void rect_3d(const struct hrr_convert *c, const unsigned char *s, struct moved *m)
{
	uint64_t w = hrr_le64(s + 128), h = hrr_le64(s + 136), d = hrr_le64(s + 144);
	uint64_t sp = hrr_le64(s + 40), dp = hrr_le64(s + 104);
	uint64_t ss = sp * hrr_le64(s + 56), ds = dp * hrr_le64(s + 120);
	uint64_t src = hrr_le64(s + 32), dst = hrr_le64(s + 96);

	m->dir = dir_of_kind(c, hrr_le32(s + 152), dst, src);
	m->addr = dst + hrr_le64(s + 72) + hrr_le64(s + 80) * dp + hrr_le64(s + 88) * ds;
	m->from = (struct hrr_up_rect){w, h, d, sp, ss};
	m->to = (struct hrr_up_rect){w, h, d, dp, ds};
}

static uint64_t field(const struct hrr_struct *st, const unsigned char *s, const char *name)
{
	for (int i = 0; i < st->n; i++) {
		const struct hrr_field *f = &st->fields[i];
		if (strcmp(f->name, name) == 0)
			return f->kind == HRR_K_UINT || f->kind == HRR_K_ENUM
				   ? hrr_le32(s + f->offset)
				   : hrr_le64(s + f->offset);
	}
	return 0;
}

static bool end_is_device(const struct hrr_convert *c, const struct hrr_struct *st,
			  const unsigned char *s, const char *type, const char *dev, bool *ret_host)
{
	const struct hrr_enum *en = NULL;
	for (int i = 0; i < st->n; i++)
		if (strcmp(st->fields[i].name, type) == 0)
			en = st->fields[i].en;
	const char *name = en != NULL ? hrr_enum_name(en, c->major, (int)field(st, s, type)) : NULL;

	*ret_host = name != NULL && (strcmp(name, "hipMemoryTypeHost") == 0 ||
				     strcmp(name, "hipMemoryTypeUnregistered") == 0);
	if (*ret_host)
		return false;
	return (name != NULL && strcmp(name, "hipMemoryTypeDevice") == 0) ||
	       is_device(c, field(st, s, dev));
}

static void rect_drv(const struct hrr_convert *c, const struct hrr_struct *st,
		     const unsigned char *s, struct moved *m)
{
	bool src_host, dst_host;
	bool src_dev = end_is_device(c, st, s, "srcMemoryType", "srcDevice", &src_host),
	     dst_dev = end_is_device(c, st, s, "dstMemoryType", "dstDevice", &dst_host);
	uint64_t w = field(st, s, "WidthInBytes"), h = field(st, s, "Height"),
		 d = field(st, s, "Depth"), sp = field(st, s, "srcPitch"),
		 dp = field(st, s, "dstPitch"), sh = field(st, s, "srcHeight"),
		 dh = field(st, s, "dstHeight");
	bool flat = d == 0 && field(st, s, "srcZ") == 0 && st->size == sizeof(struct hip_Memcpy2D);

	if (flat)
		d = 1;
	uint64_t ss = sp * (sh != 0 ? sh : h), ds = dp * (dh != 0 ? dh : h);
	m->dir = dir_of_ends(dst_dev, src_dev);
	if (m->dir == DIR_NONE && src_host && dst_host)
		m->dir = DIR_H2H;
	m->addr = field(st, s, "dstHost") + field(st, s, "dstXInBytes") +
		  field(st, s, "dstY") * dp + field(st, s, "dstZ") * ds;
	m->from = (struct hrr_up_rect){w, h, d, sp, ss};
	m->to = (struct hrr_up_rect){w, h, d, dp, ds};
}

static void movement(const struct hrr_convert *c, const struct prog *p, const struct hrr_event *ev,
		     struct moved *m)
{
	*m = (struct moved){DIR_NONE, 0, 0, {0}, {0}};
	switch (p->shape) {
	case SHAPE_LINEAR:
		linear(c, p, ev, m);
		break;
	case SHAPE_2D:
		rect_2d(c, p, ev, m);
		break;
	case SHAPE_3D:
	case SHAPE_DRV:
		for (int k = 0; k < p->wire->n; k++) {
			const struct hrr_wire_extra *x = &p->wire->extra[k];
			const unsigned char *s = ev->data + p->l.extra[k];
			if (x->what != HRR_W_BYTES || p->l.extra[k] == 0)
				continue;
			if (p->shape == SHAPE_3D)
				rect_3d(c, s, m);
			else if (hrr_wire_struct(p->api, x) != NULL)
				rect_drv(c, hrr_wire_struct(p->api, x), s, m);
		}
		break;
	default:
		break;
	}
	if (m->to.width > 0 && (__builtin_mul_overflow(m->to.width, m->to.height, &m->bytes) ||
				__builtin_mul_overflow(m->bytes, m->to.depth, &m->bytes)))
		m->bytes = 0;
}

static struct hrr_fnv hash_at(const struct hrr_event *ev, uint16_t at)
{
	if (at == 0)
		return (struct hrr_fnv){0, 0};
	return (struct hrr_fnv){hrr_le64(ev->data + at), hrr_le64(ev->data + at + 8)};
}

static bool capturing(const struct hrr_convert *c, uint64_t stream)
{
	for (unsigned i = 0; i < c->n_capturing; i++)
		if (c->capturing[i] == stream)
			return true;
	return false;
}

/* Opens ,"blobs":{"name":  and writes the id. */
static int put_blobs(struct hrr_convert *c, const char *name, struct hrr_fnv h,
		     const struct hrr_up_rect *rect, uint64_t *ret_size, struct hrr_diag *diag)
{
	size_t len = strlen(name);

	if (room(&c->out, len + 32) < 0)
		return -ENOMEM;
	PUT(&c->out, ",\"blobs\":{\"");
	put_raw(&c->out, name, len);
	PUT(&c->out, "\":");
	int rc = hrr_put_blob(c, &c->out, h, rect, ret_size, diag);
	return rc < 0 ? rc : hrr_buf_addc(&c->out, '}');
}

static void check_size(struct hrr_convert *c, const struct prog *p, const struct hrr_event *ev,
		       struct hrr_fnv h, uint64_t size, uint64_t want)
{
	char text[HRR_FNV_HEX + 1];

	if (size == want || size == UINT64_MAX)
		return;
	hrr_fnv_text(h, text);
	hrr_note(c, "event %llu (%s): moves %llu bytes, blob %s has %llu",
		 (unsigned long long)ev->seq, p->row->name, (unsigned long long)want, text,
		 (unsigned long long)size);
}

/* What arrived at host memory: a record of its own, right behind the call. */
static int put_output(struct hrr_convert *c, const struct prog *p, const struct hrr_event *ev,
		      const struct moved *m, struct hrr_fnv h, struct hrr_diag *diag)
{
	const struct hrr_up_rect *r = m->to.width > 0 ? &m->to : NULL;
	struct hrr_buf *b = &c->after;
	uint64_t size = 0;

	if (room(b, 512) < 0)
		return -ENOMEM;
	PUT(b, "{\"output\":");
	put_dec(b, c->seq);
	put_p(b, c->opt.p);
	put_when(b, ev->t - c->t0, ev->tid);
	PUT(b, ",\"addr\":");
	put_hex(b, m->addr);
	PUT(b, ",\"size\":");
	put_num(b, m->bytes);
	if (r != NULL) {
		PUT(b, ",\"width\":");
		put_num(b, r->width);
		PUT(b, ",\"height\":");
		put_num(b, r->height);
		PUT(b, ",\"depth\":");
		put_num(b, r->depth);
		PUT(b, ",\"pitch\":");
		put_num(b, r->pitch);
		PUT(b, ",\"slice\":");
		put_num(b, r->slice);
	}
	if (hrr_fnv_none(h)) {
		PUT(b, ",\"unknown\":\"the archive holds no bytes of this copy\"}\n");
	} else {
		PUT(b, ",\"blob\":");
		int rc =
		    hrr_put_blob(c, b, h, c->f.flags & HRR_UP_PACKED_RECTS ? NULL : r, &size, diag);
		if (rc < 0)
			return rc;
		check_size(c, p, ev, h, size, m->bytes);
		if (hrr_buf_adds(b, "}\n") < 0)
			return -ENOMEM;
	}
	c->outputs++;
	return 0;
}

static int put_copy(struct hrr_convert *c, const struct prog *p, const struct hrr_event *ev,
		    struct hrr_diag *diag)
{
	static const char *const names[] = {
	    [DIR_H2D] = "h2d", [DIR_D2H] = "d2h", [DIR_D2D] = "d2d", [DIR_H2H] = "h2h"};
	struct hrr_fnv in = hash_at(ev, p->hash), out = hash_at(ev, p->d2h);
	struct moved m;
	uint64_t size = 0;
	int rc;

	movement(c, p, ev, &m);
	if (p->d2h == 0 && m.dir == DIR_D2H) { /* one blob: of what was written */
		out = in;
		in = (struct hrr_fnv){0, 0};
	}
	if (m.dir == DIR_NONE && !hrr_fnv_none(out)) /* only a copy to the host has one */
		m.dir = DIR_D2H;
	if (m.dir == DIR_NONE && p->d2h != 0 && !hrr_fnv_none(in))
		m.dir = DIR_H2D;
	if (room(&c->out, 32) < 0)
		return -ENOMEM;
	if (m.dir != DIR_NONE) {
		PUT(&c->out, ",\"dir\":\"");
		put_raw(&c->out, names[m.dir], 3);
		PUT(&c->out, "\"");
	}
	if (!hrr_fnv_none(in) && (m.dir == DIR_H2D || m.dir == DIR_H2H)) {
		const struct hrr_up_rect *r =
		    m.from.width > 0 && !(c->f.flags & HRR_UP_PACKED_RECTS) ? &m.from : NULL;
		rc = put_blobs(c, "src", in, r, &size, diag);
		if (rc < 0)
			return rc;
		check_size(c, p, ev, in, size, m.bytes);
	} else if (!hrr_fnv_none(in)) {
		char text[HRR_FNV_HEX + 1];
		hrr_fnv_text(in, text);
		hrr_note(c, "event %llu (%s): which end blob %s belongs to is not known",
			 (unsigned long long)ev->seq, p->row->name, text);
		rc = hrr_left_word(c, "blob_hash_lo", in.lo);
		if (rc < 0 || hrr_left_word(c, "blob_hash_hi", in.hi) < 0)
			return -ENOMEM;
	}
	if (m.dir != DIR_D2H)
		return 0;
	if ((m.bytes | m.to.width | m.to.height | m.to.depth | m.to.pitch | m.to.slice) >> 53 !=
	    0) {
		hrr_note(c, "event %llu (%s): its size is not plausible: no output",
			 (unsigned long long)ev->seq, p->row->name);
		return 0;
	}
	if (hrr_fnv_none(out) && p->stream >= 0 && capturing(c, arg(p, ev, p->stream)))
		return 0; /* nothing moved yet */
	if (hrr_fnv_none(out) && m.bytes == 0)
		return 0;
	return put_output(c, p, ev, &m, out, diag);
}

static int put_host(struct hrr_convert *c, const struct prog *p, const struct hrr_event *ev,
		    struct hrr_fnv h, struct hrr_diag *diag)
{
	struct hrr_buf *b = &c->out;
	uint64_t size = 0, want = arg_named(p, ev, "sizeBytes");

	if (room(b, 128) < 0)
		return -ENOMEM;
	PUT(b, ",\"host\":[{\"addr\":");
	put_hex(b, arg_named(p, ev, "hostPtr"));
	PUT(b, ",\"size\":");
	put_num(b, want);
	PUT(b, ",\"blob\":");
	int rc = hrr_put_blob(c, b, h, NULL, &size, diag);
	if (rc < 0)
		return rc;
	check_size(c, p, ev, h, size, want);
	return hrr_buf_adds(b, "}]");
}

static int put_symbol(struct hrr_convert *c, const struct prog *p, const struct hrr_event *ev,
		      struct hrr_diag *diag)
{
	const struct hrr_range *r = hrr_ranges_at(c->by_var, arg(p, ev, p->symbol));
	struct hrr_buf *b = &c->out;
	uint64_t size;

	if (r == NULL)
		return 0;
	const struct known_var *v = r->value;
	if (hrr_buf_adds(b, ",\"symbol\":{\"name\":") < 0 ||
	    hrr_json_put_str(b, v->name, strlen(v->name)) < 0)
		return -ENOMEM;
	if (!hrr_fnv_none(v->object)) {
		if (hrr_buf_adds(b, ",\"object\":") < 0)
			return -ENOMEM;
		int rc = hrr_put_blob(c, b, v->object, NULL, &size, diag);
		if (rc < 0)
			return rc;
	}
	if (room(b, 64) < 0)
		return -ENOMEM;
	PUT(b, ",\"size\":");
	put_num(b, v->size);
	PUT(b, "}");
	return 0;
}

int hrr_put_bytes(struct hrr_convert *c, const struct prog *p, const struct hrr_event *ev,
		  struct hrr_diag *diag)
{
	struct hrr_fnv h = hash_at(ev, p->hash);
	uint64_t size = 0;
	int rc = 0;

	if (p->shape != SHAPE_PLAIN) {
		rc = put_copy(c, p, ev, diag);
	} else if (p->api == HRR_API_hipHostRegister) {
		if (!hrr_fnv_none(h))
			rc = put_host(c, p, ev, h, diag);
	} else if (p->api == HRR_API___hipRegisterFatBinary) {
		if (!hrr_fnv_none(h))
			rc = put_blobs(c, "image", h, NULL, &size, diag);
		if (rc == 0 && hrr_le64(ev->data + p->hash + 16) != size)
			rc = hrr_left_word(c, "blob_size", hrr_le64(ev->data + p->hash + 16));
	} else if (p->co != 0) {
		h = hash_at(ev, p->co);
		if (!hrr_fnv_none(h))
			rc = put_blobs(c, "image", h, NULL, &size, diag);
		if (rc == 0 && hrr_le32(ev->data + p->co + 16) != c->modules)
			rc = hrr_left_word(c, "module_id", hrr_le32(ev->data + p->co + 16));
		c->modules++;
	} else if (p->hash != 0 && !hrr_fnv_none(h)) {
		rc = put_blobs(c, p->symbol >= 0 ? "src" : "image", h, NULL, &size, diag);
	}
	if (rc == 0 && p->symbol >= 0 && p->row->cls != HRR_CLASS_REGISTER)
		rc = put_symbol(c, p, ev, diag);
	return rc;
}
