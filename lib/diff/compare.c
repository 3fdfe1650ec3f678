#include "lib/diff/private.h"

#include <string.h>

static bool same_path(const struct hrr_fact *x, const struct hrr_fact *y)
{
	return x->path_len == y->path_len && memcmp(x->path, y->path, x->path_len) == 0;
}

/* The fact of c with f's path: mostly the next one, else anywhere. */
static bool counterpart(const struct hrr_diff_call *c, const struct hrr_fact *f, size_t *at,
			uint32_t *ref_at, struct hrr_fact *ret)
{
	size_t next = *at;
	uint32_t next_ref = *ref_at;

	if (hrr_diff_call_fact(c, &next, &next_ref, ret) && same_path(f, ret)) {
		*at = next;
		*ref_at = next_ref;
		return true;
	}
	next = 0;
	next_ref = 0;
	while (hrr_diff_call_fact(c, &next, &next_ref, ret))
		if (same_path(f, ret)) {
			*at = next;
			*ref_at = next_ref;
			return true;
		}
	return false;
}

/* Memory that only somebody's annotation declares. Where the other recording has no such
 * annotation, that says nothing about the program. */
static bool annotated(struct hrr_diff *d, int side, const struct hrr_diff_ref *r)
{
	const struct hrr_object *x =
	    r->kind == HRR_REF_OBJECT ? hrr_objects_get(&d->side[side].objects, r->object) : NULL;

	return x && x->type == HRR_OBJECT_MEMORY && x->seq == 0;
}

static bool nowhere(const struct hrr_diff_ref *r)
{
	return r->kind == HRR_REF_DEVICE || r->kind == HRR_REF_HOST;
}

static bool same_ref(struct hrr_diff *d, const struct hrr_diff_ref *x, const struct hrr_diff_ref *y)
{
	bool known_x = x->kind == HRR_REF_OBJECT || x->kind == HRR_REF_MADE;
	bool known_y = y->kind == HRR_REF_OBJECT || y->kind == HRR_REF_MADE;

	if (known_x && known_y)
		return x->offset == y->offset &&
		       hrr_objects_pair(&d->side[0].objects, x->object, y->object);
	if ((annotated(d, 0, x) && nowhere(y)) || (nowhere(x) && annotated(d, 1, y))) {
		d->stats.undeclared++;
		return true;
	}
	if (x->kind != y->kind)
		return false;
	if (x->kind == HRR_REF_DEVICE)
		d->stats.undeclared++;
	return true;
}

/* An address that was taken out on one side only ('.') is no difference: the fact that stands for
 * it tells. */
static bool same_hex(const struct hrr_fact *x, const struct hrr_fact *y)
{
	if (x->value_len != y->value_len)
		return false;
	for (size_t i = 0; i < x->value_len; i++)
		if (x->value[i] != y->value[i] && x->value[i] != '.' && y->value[i] != '.')
			return false;
	return true;
}

static bool same_value(struct hrr_diff *d, const struct hrr_fact *x, const struct hrr_fact *y)
{
	if (x->kind != y->kind)
		return false;
	if (x->kind == HRR_FACT_REF)
		return same_ref(d, x->ref, y->ref);
	if (x->kind == HRR_FACT_HEX)
		return same_hex(x, y);
	return x->value_len == y->value_len && memcmp(x->value, y->value, x->value_len) == 0;
}

/* An address found in a kernel's argument because an annotation covers it. */
static bool found(struct hrr_diff *d, int side, const struct hrr_fact *f)
{
	size_t skip = hrr_path_kernel(f->path, f->path_len);

	return f->kind == HRR_FACT_REF && skip > 0 && f->path_len - skip > 5 &&
	       memcmp(f->path + skip, "args[", 5) == 0 && annotated(d, side, f->ref);
}

/* Calls with equal facts: only what they refer to can differ. */
static bool same_refs(struct hrr_diff *d, const struct hrr_diff_call *a,
		      const struct hrr_diff_call *b)
{
	if (a->n_refs != b->n_refs)
		return false;
	for (uint32_t i = 0; i < a->n_refs; i++)
		if (!same_ref(d, &a->refs[i], &b->refs[i]))
			return false;
	return true;
}

int hrr_diff_compare(struct hrr_diff *d, const struct hrr_diff_call *a,
		     const struct hrr_diff_call *b)
{
	struct hrr_diff_member m;
	size_t at = 0, bt = 0;
	uint32_t ra = 0, rb = 0;
	uint64_t undeclared = d->stats.undeclared;
	int rc = 0;

	d->members.len = 0;
	bool mixed = d->mixed && a->kind == HRR_REC_CALL;
	if (!mixed && a->content == b->content && same_refs(d, a, b))
		return 0;
	d->stats.undeclared = undeclared;
	while (rc == 0 && hrr_diff_call_fact(a, &at, &ra, &m.a)) {
		m.in_a = true;
		m.in_b = counterpart(b, &m.a, &bt, &rb, &m.b);
		/* Parameters of different launch calls may share a name. */
		if (mixed && hrr_fact_may_lack(&m.a) &&
		    (!m.in_b || (a->api != b->api && hrr_path_kernel(m.a.path, m.a.path_len) == 0 &&
				 m.a.kind == HRR_FACT_TEXT)))
			d->stats.unheld++;
		else if (m.in_b ? !same_value(d, &m.a, &m.b) : !found(d, 0, &m.a))
			rc = hrr_buf_add(&d->members, &m, sizeof m);
	}
	at = bt = 0;
	ra = rb = 0;
	while (rc == 0 && hrr_diff_call_fact(b, &bt, &rb, &m.b)) {
		m.in_b = true;
		m.in_a = counterpart(a, &m.b, &at, &ra, &m.a);
		if (!m.in_a && mixed && hrr_fact_may_lack(&m.b))
			d->stats.unheld++;
		else if (!m.in_a && !found(d, 1, &m.b))
			rc = hrr_buf_add(&d->members, &m, sizeof m);
	}
	return rc;
}
