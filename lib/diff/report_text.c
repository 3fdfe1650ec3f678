#include <string.h>

#include "lib/base/mask.h"
#include "lib/diff/report_private.h"

/* Which call, and of a launch which kernel, delivered it: for who looks for the first that is
 * wrong. */
static int output_of(struct hrr_report *r, const struct hrr_diff_work *w)
{
	struct hrr_buf *b = &r->buf;
	int rc = hrr_buf_adds(b, ", output");
	size_t before = b->len;

	if (rc == 0 && w)
		rc = hrr_buf_addf(b, " of %s", w->api);
	if (rc == 0 && w && w->kernel) {
		const struct hrr_fact name = {
		    .kind = HRR_FACT_TEXT, .value = w->kernel, .value_len = w->kernel_len};

		if ((rc = hrr_buf_addc(b, ' ')) == 0)
			rc = hrr_diff_put_value(r->diff, 0, &name, b);
	}
	return rc == 0 ? hrr_mask_from(b, before) : rc;
}

/* path: of the member that is told, NULL for all. */
static int place(struct hrr_report *r, const struct hrr_diff_event *e, const char *path)
{
	const struct hrr_diff_call *c[2] = {e->a, e->b};
	struct hrr_buf *b = &r->buf;
	int rc = hrr_buf_adds(b, "@@");

	for (int side = 0; side < 2 && rc == 0; side++) {
		if (!c[side])
			continue;
		rc = hrr_buf_addf(b, " %c", side ? '+' : '-');
		if (rc == 0 && c[side]->p)
			rc = hrr_buf_addf(b, "p%u:", (unsigned)c[side]->p);
		if (rc == 0)
			rc = hrr_buf_addu(b, c[side]->seq);
	}
	if (rc == 0 && e->thread)
		rc = hrr_buf_addf(b, " @@ thread %u", (unsigned)e->thread);
	else if (rc == 0)
		rc = hrr_buf_adds(b, " @@");
	if (rc == 0 && e->what >= HRR_DIFF_OUTPUT)
		rc = output_of(r, e->of);
	if (rc == 0 && path)
		rc = hrr_buf_addf(b, ", %s", path);
	return rc == 0 ? hrr_buf_addc(b, '\n') : rc;
}

static int line(struct hrr_report *r, char mark, int side, const struct hrr_diff_call *c)
{
	size_t before = r->buf.len;
	int rc = hrr_buf_addc(&r->buf, mark);

	if (rc == 0)
		rc = hrr_diff_put_call(r->diff, side, c, &r->buf);
	if (rc == 0) /* its texts are the archive's */
		rc = hrr_mask_from(&r->buf, before);
	return rc == 0 ? hrr_buf_addc(&r->buf, '\n') : rc;
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 0;
}

/* Bytes of a kernel's argument, of which nobody says what they mean: small ones are shown as
 * integers and as floating point. */
static int argument(struct hrr_report *r, const struct hrr_diff_member *m)
{
	static const enum hrr_type types[2][2] = {{HRR_TYPE_I32, HRR_TYPE_F32},
						  {HRR_TYPE_I64, HRR_TYPE_F64}};
	unsigned char v[2][8];
	const struct hrr_fact *f[2] = {&m->a, &m->b};
	size_t n = m->a.value_len;
	int rc = 0;

	if (!m->in_a || !m->in_b || m->b.value_len != n || (n != 2 + 8 && n != 2 + 16) ||
	    memchr(m->a.value, '.', n) || memchr(m->b.value, '.', n))
		return 0;
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < (n - 2) / 2; i++)
			v[side][i] = (unsigned char)(digit(f[side]->value[1 + i * 2]) << 4 |
						     digit(f[side]->value[2 + i * 2]));
	for (int k = 0; k < 2 && rc == 0; k++) {
		enum hrr_type t = types[n == 2 + 16][k];

		if ((rc = hrr_buf_addf(&r->buf, "%s%s ", k ? ", " : "  (", hrr_type_names[t])) ==
			0 &&
		    (rc = hrr_typed_put(t, v[0], &r->buf)) == 0 &&
		    (rc = hrr_buf_adds(&r->buf, " | ")) == 0)
			rc = hrr_typed_put(t, v[1], &r->buf);
	}
	return rc == 0 ? hrr_buf_addc(&r->buf, ')') : rc;
}

static int member(struct hrr_report *r, const struct hrr_diff_event *e,
		  const struct hrr_report_member *x)
{
	const struct hrr_diff_member *m = x->m;
	const struct hrr_fact *f = m->in_a ? &m->a : &m->b;
	struct hrr_buf *b = &r->buf;
	char path[160];
	size_t before = b->len;
	int rc;

	hrr_mask(path, sizeof path, f->path, f->path_len);
	/* Bytes that are listed are numbered anew in each blob. */
	if (x->loaded && r->opt.list && (rc = place(r, e, path)) < 0)
		return rc;
	if (x->loaded)
		return hrr_report_put_bytes(r, path, x->blob[0].data, x->blob[0].len,
					    x->blob[1].data, x->blob[1].len);
	rc = hrr_buf_addf(b, "  %s: ", path);
	if (rc == 0)
		rc = m->in_a ? hrr_diff_put_value(r->diff, 0, &m->a, b) : hrr_buf_adds(b, "(none)");
	if (rc == 0)
		rc = hrr_buf_adds(b, " | ");
	if (rc == 0)
		rc = m->in_b ? hrr_diff_put_value(r->diff, 1, &m->b, b) : hrr_buf_adds(b, "(none)");
	if (rc == 0)
		rc = hrr_mask_from(b, before);
	if (rc == 0 && f->kind == HRR_FACT_HEX)
		rc = argument(r, m);
	return rc == 0 ? hrr_buf_addc(b, '\n') : rc;
}

int hrr_report_text(struct hrr_report *r, const struct hrr_diff_event *e,
		    const struct hrr_report_member *m, size_t n)
{
	int rc = 0;

	if (r->differ == 1 && !r->opt.list) {
		char a[4096], b[4096]; /* a name may hold anything, ends of lines too */
		hrr_mask(a, sizeof a, r->name[0], strlen(r->name[0]));
		hrr_mask(b, sizeof b, r->name[1], strlen(r->name[1]));
		rc = hrr_buf_addf(&r->buf, "--- %s\n+++ %s\n", a, b);
	}
	if (rc == 0 && !r->opt.list)
		rc = place(r, e, NULL);
	for (size_t i = 0; i < e->n_context && rc == 0 && !r->opt.list; i++)
		rc = line(r, ' ', 0, e->context[i]);
	if (rc == 0 && e->a && !r->opt.list)
		rc = line(r, '-', 0, e->a);
	if (rc == 0 && e->b && !r->opt.list)
		rc = line(r, '+', 1, e->b);
	for (size_t i = 0; i < n && rc == 0; i++)
		if (m[i].loaded || !r->opt.list)
			rc = member(r, e, &m[i]);
	return rc;
}
