#include <errno.h>

#include "formats/hrr/export_private.h"
#include "formats/hrr/launch.h"

static int put(struct hrr_buf *b, uint64_t v, unsigned n)
{
	unsigned char t[8];

	set_le(t, v, n);
	return hrr_buf_add(b, t, n);
}

static int put_hash(struct hrr_buf *b, struct hrr_fnv h)
{
	return put(b, h.lo, 8) < 0 || put(b, h.hi, 8) < 0 ? -ENOMEM : 0;
}

static uint64_t num(const struct hrr_json *j, int node)
{
	uint64_t v;

	return node >= 0 && hrr_json_addr(j, node, &v) == 0 ? v : 0;
}

static int put_box(struct hrr_buf *b, const struct hrr_json *j, int kernel, const char *name)
{
	int list = hrr_json_get(j, kernel, name), i = 0;

	if (list >= 0 && j->nodes[list].type == HRR_JSON_ARRAY)
		for (int n = hrr_json_first(j, list); n >= 0 && i < 3;
		     n = hrr_json_next(j, list, n), i++)
			if (put(b, num(j, n), 4) < 0)
				return -ENOMEM;
	for (; i < 3; i++)
		if (put(b, 0, 4) < 0)
			return -ENOMEM;
	return 0;
}

static int put_arg(struct hrr_hrr8 *x, const struct hrr_json *j, int arg)
{
	struct hrr_buf *b = &x->rec;
	int ptr = hrr_json_get(j, arg, "ptr"), hidden = hrr_json_get(j, arg, "hidden");
	uint32_t n = 0;

	x->tmp.len = 0;
	if (hrr_out_hex(j, hrr_json_get(j, arg, "hex"), 65536, &x->tmp) < 0)
		return 1;
	if (x->tmp.len > 65535)
		return 1;
	if (ptr >= 0 && j->nodes[ptr].type == HRR_JSON_ARRAY)
		n = hrr_json_count(j, ptr);
	else
		ptr = -1;
	bool whole = ptr >= 0 && n == 1 && x->tmp.len == 8 && num(j, hrr_json_first(j, ptr)) == 0;
	unsigned kind = whole	      ? HRR_UP_KIND_POINTER
			: ptr >= 0    ? HRR_UP_KIND_STRUCT
			: hidden >= 0 ? HRR_UP_KIND_HIDDEN
				      : HRR_UP_KIND_PLAIN;
	if (n > 65535)
		return 1;
	if (put(b, kind, 1) < 0 || put(b, x->tmp.len, 2) < 0 ||
	    hrr_buf_add(b, x->tmp.data, x->tmp.len) < 0)
		return -ENOMEM;
	if (kind != HRR_UP_KIND_STRUCT)
		return 0;
	if (put(b, n, 2) < 0)
		return -ENOMEM;
	for (int m = hrr_json_first(j, ptr); m >= 0; m = hrr_json_next(j, ptr, m)) {
		uint64_t v = num(j, m);
		if (v + 8 > x->tmp.len)
			return 1;
		if (put(b, v, 2) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* name_len, name, code object. */
static int put_name(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		    int kernel, struct hrr_diag *diag)
{
	const struct hrr_json *j = &rec->json;
	struct hrr_buf *b = &x->rec;
	struct hrr_fnv object;
	uint64_t size;
	int name = hrr_json_get(j, kernel, "name");

	x->tmp.len = 0;
	if (name < 0 || hrr_json_str(j, name, &x->tmp) < 0 || x->tmp.len > 65535)
		return 1;
	if (put(b, x->tmp.len, 2) < 0 || hrr_buf_add(b, x->tmp.data, x->tmp.len) < 0)
		return -ENOMEM;
	int rc = hrr_out_blob_node(x, p, rec, hrr_json_get(j, kernel, "object"), false, &object,
				   &size, diag);
	return rc < 0 ? rc : put_hash(b, object);
}

static int put_args(struct hrr_hrr8 *x, const struct hrr_json *j, int kernel, uint32_t *ret_n)
{
	int list = hrr_json_get(j, kernel, "args"), rc = 0;

	*ret_n = 0;
	if (list < 0 || j->nodes[list].type != HRR_JSON_ARRAY)
		return 0;
	for (int a = hrr_json_first(j, list); a >= 0 && rc == 0; a = hrr_json_next(j, list, a)) {
		rc = *ret_n < 65535 ? put_arg(x, j, a) : 1;
		++*ret_n;
	}
	return rc;
}

static int put_attrs(struct hrr_hrr8 *x, const struct hrr_json *j)
{
	int f = hrr_json_get(j, 0, "foreign"), a = -1;
	struct hrr_buf *b = &x->rec;

	if (f >= 0 && j->nodes[f].type == HRR_JSON_OBJECT)
		a = hrr_json_get(j, f, "attrs");
	x->tmp.len = 0;
	if (a < 0 || j->nodes[a].type != HRR_JSON_OBJECT ||
	    hrr_out_hex(j, hrr_json_get(j, a, "hex"), HRR_UP_MAX_RECORD / 2, &x->tmp) < 0)
		return put(b, 0, 8);
	uint64_t n = num(j, hrr_json_get(j, a, "n")), stride = num(j, hrr_json_get(j, a, "stride"));
	if (n > UINT32_MAX || stride > UINT32_MAX || n * stride != x->tmp.len)
		return put(b, 0, 8);
	return put(b, n, 4) < 0 || put(b, stride, 4) < 0 ||
		       hrr_buf_add(b, x->tmp.data, x->tmp.len) < 0
		   ? -ENOMEM
		   : 0;
}

/* Host memory before a launch, as snapshots of pinned allocations. */
static int put_snapshots(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
			 uint32_t *ret_n, struct hrr_diag *diag)
{
	const struct hrr_json *j = &rec->json;
	struct hrr_buf *b = &x->rec;
	int f = hrr_json_get(j, 0, "foreign"), kept = -1;

	if (f >= 0 && j->nodes[f].type == HRR_JSON_OBJECT)
		kept = hrr_json_get(j, f, "snapshots");
	*ret_n = 0;
	/* Blobs of what is restored are stored in any case. */
	size_t before = b->len;
	if (rec->host >= 0)
		for (int h = hrr_json_first(j, rec->host); h >= 0;
		     h = hrr_json_next(j, rec->host, h)) {
			struct hrr_fnv name;
			uint64_t size, addr = num(j, hrr_json_get(j, h, "addr")),
				       off = num(j, hrr_json_get(j, h, "offset"));
			int rc = hrr_out_blob_node(x, p, rec, hrr_json_get(j, h, "blob"), false,
						   &name, &size, diag);
			if (rc < 0)
				return rc;
			const struct hrr_range *r = hrr_ranges_find(p->host, addr);
			if (off == 0 && r != NULL)
				off = addr - r->base;
			if (*ret_n == 65535) {
				hrr_lost(x, "snapshots past the 65535th of a launch");
				break;
			}
			if (put(b, addr - off, 8) < 0 || put(b, off, 8) < 0 ||
			    put(b, num(j, hrr_json_get(j, h, "size")), 8) < 0 ||
			    put_hash(b, name) < 0 || put(b, 0, 1) < 0)
				return -ENOMEM;
			++*ret_n;
		}
	x->tmp.len = 0;
	if (kept >= 0 && hrr_out_hex(j, kept, 65535 * HRR_UP_SNAPSHOT, &x->tmp) == 0 &&
	    x->tmp.len % HRR_UP_SNAPSHOT == 0) {
		b->len = before; /* the list as it was, with what is left alone */
		if (hrr_buf_add(b, x->tmp.data, x->tmp.len) < 0)
			return -ENOMEM;
		*ret_n = (uint32_t)(x->tmp.len / HRR_UP_SNAPSHOT);
	}
	p->snapshots += *ret_n;
	return 0;
}

int hrr_out_launch(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		   int kernel, unsigned n, struct hrr_diag *diag)
{
	const struct hrr_json *j = &rec->json;
	struct hrr_buf *b = &x->rec;
	uint32_t n_args, n_snapshots = 0;
	int rc, stream = hrr_launch_stream(j, rec->args, n);

	b->len = 0;
	for (int i = 0; i < 4; i++)
		if (put(b, 0, 8) < 0)
			return -ENOMEM;
	if (put(b, stream >= 0 ? num(j, stream) : 0, 8) < 0)
		return -ENOMEM;
	rc = put_name(x, p, rec, kernel, diag);
	if (rc != 0)
		return rc;
	if (put_box(b, j, kernel, "grid") < 0 || put_box(b, j, kernel, "block") < 0 ||
	    put(b, num(j, hrr_json_get(j, kernel, "lds")), 4) < 0)
		return -ENOMEM;
	size_t counts = b->len;
	if (put(b, 0, 4) < 0)
		return -ENOMEM;
	rc = put_args(x, j, kernel, &n_args);
	if (rc == 0)
		rc = put_attrs(x, j);
	if (rc == 0 && n == 0) /* of several launches the first brings them all */
		rc = put_snapshots(x, p, rec, &n_snapshots, diag);
	if (rc != 0)
		return rc;
	set_le((unsigned char *)b->data + counts, n_args, 2);
	set_le((unsigned char *)b->data + counts + 2, n_snapshots, 2);
	return 0;
}

int hrr_out_node(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		 struct hrr_diag *diag)
{
	struct hrr_buf *b = &x->rec;
	uint32_t n;
	int rc;

	if (rec->kernel < 0)
		return put(b, 0, 8) < 0 || put(b, 0, 8) < 0 || put(b, 0, 4) < 0 ? -ENOMEM : 0;
	rc = put_name(x, p, rec, rec->kernel, diag);
	if (rc != 0)
		return rc;
	size_t count = b->len;
	if (put(b, 0, 2) < 0)
		return -ENOMEM;
	rc = put_args(x, &rec->json, rec->kernel, &n);
	if (rc == 0)
		set_le((unsigned char *)b->data + count, n, 2);
	return rc;
}
