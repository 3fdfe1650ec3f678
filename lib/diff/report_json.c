#include <string.h>

#include "lib/diff/report_private.h"

static int side_json(struct hrr_report *r, int side, const struct hrr_diff_call *c)
{
	struct hrr_buf *b = &r->buf;
	int rc = hrr_buf_addf(b, ",\"%c\":{\"line\":%llu", side ? 'b' : 'a',
			      (unsigned long long)c->lineno);

	if (rc == 0 && c->kind != HRR_REC_REGION)
		rc = hrr_buf_addf(b, ",\"seq\":%llu,\"tid\":%llu", (unsigned long long)c->seq,
				  (unsigned long long)c->tid);
	if (rc == 0 && c->p)
		rc = hrr_buf_addf(b, ",\"p\":%u", (unsigned)c->p);
	return rc == 0 ? hrr_buf_addc(b, '}') : rc;
}

/* A value: JSON as it stands in the stream; what a name stands for is a string. */
static int value_json(struct hrr_report *r, int side, const struct hrr_fact *f)
{
	struct hrr_buf text = {0};
	int rc;

	if (f->kind != HRR_FACT_REF)
		return hrr_buf_add(&r->buf, f->value, f->value_len);
	rc = hrr_diff_put_value(r->diff, side, f, &text);
	if (rc == 0)
		rc = hrr_json_put_str(&r->buf, text.data, text.len);
	hrr_buf_release(&text);
	return rc;
}

static int member(struct hrr_report *r, const struct hrr_report_member *x)
{
	const struct hrr_diff_member *m = x->m;
	const struct hrr_fact *f = m->in_a ? &m->a : &m->b;
	struct hrr_buf *b = &r->buf;
	int rc = hrr_buf_adds(b, "{\"path\":");

	if (rc == 0)
		rc = hrr_json_put_str(b, f->path, f->path_len);
	if (rc == 0 && m->in_a && (rc = hrr_buf_adds(b, ",\"a\":")) == 0)
		rc = value_json(r, 0, &m->a);
	if (rc == 0 && m->in_b && (rc = hrr_buf_adds(b, ",\"b\":")) == 0)
		rc = value_json(r, 1, &m->b);
	if (rc == 0 && x->loaded)
		rc = hrr_report_put_bytes(r, NULL, x->blob[0].data, x->blob[0].len, x->blob[1].data,
					  x->blob[1].len);
	return rc == 0 ? hrr_buf_addc(b, '}') : rc;
}

int hrr_report_json(struct hrr_report *r, const struct hrr_diff_event *e,
		    const struct hrr_report_member *m, size_t n)
{
	static const char *const names[] = {
	    [HRR_DIFF_CHANGED] = "call",
	    [HRR_DIFF_ONLY_A] = "only",
	    [HRR_DIFF_ONLY_B] = "only",
	    [HRR_DIFF_OUTPUT] = "output",
	    [HRR_DIFF_OUTPUT_ONLY_A] = "output-only",
	    [HRR_DIFF_OUTPUT_ONLY_B] = "output-only",
	};
	const struct hrr_diff_call *any = e->a ? e->a : e->b;
	struct hrr_buf *b = &r->buf;
	int rc = hrr_buf_addf(b, "{\"diff\":\"%s\"", names[e->what]);

	if (rc == 0 && !(e->a && e->b))
		rc = hrr_buf_addf(b, ",\"in\":\"%c\"", e->a ? 'a' : 'b');
	if (rc == 0 && e->thread)
		rc = hrr_buf_addf(b, ",\"thread\":%u", (unsigned)e->thread);
	if (rc == 0 && any->name && (rc = hrr_buf_adds(b, ",\"api\":")) == 0)
		rc = hrr_json_put_str(b, any->name, strlen(any->name));
	if (rc == 0 && e->of && (rc = hrr_buf_adds(b, ",\"api\":")) == 0)
		rc = hrr_json_put_str(b, e->of->api, strlen(e->of->api));
	if (rc == 0 && e->of && e->of->kernel && (rc = hrr_buf_adds(b, ",\"kernel\":")) == 0)
		rc = hrr_buf_add(b, e->of->kernel, e->of->kernel_len);
	if (rc == 0 && e->a)
		rc = side_json(r, 0, e->a);
	if (rc == 0 && e->b)
		rc = side_json(r, 1, e->b);
	if (rc == 0 && n)
		rc = hrr_buf_adds(b, ",\"members\":[");
	for (size_t i = 0; i < n && rc == 0; i++) {
		if (i)
			rc = hrr_buf_addc(b, ',');
		if (rc == 0)
			rc = member(r, &m[i]);
	}
	if (rc == 0 && n)
		rc = hrr_buf_addc(b, ']');
	return rc == 0 ? hrr_buf_adds(b, "}\n") : rc;
}

int hrr_report_end(struct hrr_report *r)
{
	const struct hrr_diff_stats *s = hrr_diff_get_stats(r->diff);
	int rc = hrr_buf_addf(
	    &r->buf,
	    "{\"diff\":\"end\",\"differ\":%llu,\"calls\":[%llu,%llu],\"equal\":%llu,\"changed\":%"
	    "llu,"
	    "\"only\":[%llu,%llu],\"outputs\":[%llu,%llu],\"outputsEqual\":%llu,"
	    "\"outputsDiffer\":%llu,\"outputsOnly\":[%llu,%llu],\"outputsUnknown\":%llu,"
	    "\"outputsLate\":%llu,\"tolerated\":%llu,\"undeclared\":%llu,\"unheld\":%llu,"
	    "\"annotations\":[%llu,%"
	    "llu],"
	    "\"givenUp\":%llu}\n",
	    (unsigned long long)r->differ, (unsigned long long)s->calls[0],
	    (unsigned long long)s->calls[1], (unsigned long long)s->equal,
	    (unsigned long long)r->changed, (unsigned long long)r->only[0],
	    (unsigned long long)r->only[1], (unsigned long long)s->outputs[0],
	    (unsigned long long)s->outputs[1], (unsigned long long)s->outputs_equal,
	    (unsigned long long)r->outputs, (unsigned long long)r->outputs_only[0],
	    (unsigned long long)r->outputs_only[1], (unsigned long long)s->outputs_unknown,
	    (unsigned long long)s->outputs_late, (unsigned long long)r->tolerated,
	    (unsigned long long)s->undeclared, (unsigned long long)s->unheld,
	    (unsigned long long)s->annotations[0], (unsigned long long)s->annotations[1],
	    (unsigned long long)s->given_up);

	hrr_report_flush(r);
	return rc;
}
