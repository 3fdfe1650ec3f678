#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/store/file.h"
#include "lib/store/source_private.h"

int hrr_source_insert_p(struct hrr_record *rec, struct hrr_buf *b, uint32_t p,
			struct hrr_diag *diag)
{
	const struct hrr_json *j = &rec->json;

	if (hrr_json_first(j, 0) < 0)
		return 0; /* {} */
	const struct hrr_json_node *first = &j->nodes[2];
	size_t at = first->off + first->len + (first->type == HRR_JSON_STRING);
	b->len = 0;
	int bad = hrr_buf_add(b, j->text, at);
	bad |= hrr_buf_adds(b, ",\"p\":");
	bad |= hrr_buf_addu(b, p);
	bad |= hrr_buf_add(b, j->text + at, j->len - at);
	return bad ? hrr_source_no_memory(diag) : hrr_record_parse(rec, b->data, b->len, diag);
}

static int begin_sidecars(struct hrr_source *s, struct feed *f, struct hrr_diag *diag)
{
	struct process *p;
	int rc = 0;

	f->side_p = f->p >= 0 ? (uint32_t)f->p : f->head.p;
	f->side_insert = f->insert || (f->pending && hrr_json_get(&f->head.json, 0, "p") >= 0);
	if (hrr_source_process_get(s, f->side_p, &p) < 0)
		return hrr_source_no_memory(diag);
	struct hrr_sidecar_clock clock = {p->t0, p->realtime};
	if (!s->opt.no_sidecars && f->sidecars_in != NULL)
		rc = hrr_sidecars_add_folder(&f->side, f->sidecars_in, &clock, diag);
	if (f == &s->feeds[0])
		for (size_t i = 0; rc == 0 && i < s->opt.n_sidecars; i++)
			rc = hrr_sidecars_add(&f->side, s->opt.sidecars[i], &clock, diag);
	if (rc == 0)
		hrr_sidecars_sort(&f->side);
	return rc;
}

/* Where it went wrong; worded only then, since every line goes through fetch. */
static int here(const struct feed *f, int rc, struct hrr_diag *diag)
{
	hrr_diag_at(diag, f->name, f->head.lineno);
	return rc;
}

/* Known by its shape, or to who wrote it: nothing is left to be checked. */
static bool known(struct hrr_source *s, struct feed *f, const char *line, size_t len, int *ret_rc)
{
	const struct hrr_source_format *format = f->format;

	*ret_rc = 0;
	if (f->begun && s->heads_only && !s->looked_at && format != NULL && format->head != NULL &&
	    format->head(f->foreign, &f->head)) {
		hrr_record_head_only(&f->head, line, len);
		return true;
	}
	if (!f->begun || !hrr_shapes_fit(s->shapes, &f->head, line, len))
		return false;
	*ret_rc = s->heads_only ? 0 : hrr_shapes_members(s->shapes, &f->head);
	return true;
}

/* A call as our writers print it, with p put in: {"seq":1,"p":0,"t":… Others are left to jansson.
 */
static bool put_p(struct feed *f, const char *line, size_t len)
{
	static const char before[] = "{\"seq\":", behind[] = ",\"t\":";
	size_t i = sizeof before - 1;

	if (len < i || memcmp(line, before, i) != 0)
		return false;
	while (i < len && (unsigned char)(line[i] - '0') <= 9)
		i++;
	if (len - i < sizeof behind - 1 || memcmp(line + i, behind, sizeof behind - 1) != 0)
		return false;
	f->line.len = 0;
	int bad = hrr_buf_add(&f->line, line, i);
	bad |= hrr_buf_adds(&f->line, ",\"p\":");
	bad |= hrr_buf_addu(&f->line, (uint64_t)f->p);
	bad |= hrr_buf_add(&f->line, line + i, len - i);
	return bad == 0;
}

/* Reads a line into the head, with p put in where that is asked for. */
static int parse(struct hrr_source *s, struct feed *f, const char *line, size_t len,
		 struct hrr_diag *diag)
{
	struct hrr_record *rec = &f->head;
	int rc;

	if (!f->insert) {
		if (known(s, f, line, len, &rc))
			return rc;
		rc = hrr_record_parse(rec, line, len, diag);
	} else {
		if (put_p(f, line, len) && known(s, f, f->line.data, f->line.len, &rc))
			return rc;
		rc = hrr_record_parse(rec, line, len, diag);
		if (rc < 0)
			return rc;
		/* In a record we do not know it may mean anything. */
		if (hrr_json_get(&rec->json, 0, "p") >= 0)
			return rec->kind == HRR_REC_OTHER
				   ? 0
				   : hrr_diag_set(diag, -EINVAL,
						  "bad record: \"p\" in one process's own file");
		rc = hrr_source_insert_p(rec, &f->line, (uint32_t)f->p, diag);
	}
	if (rc == 0)
		hrr_shapes_learn(s->shapes, rec);
	return rc;
}

int hrr_source_fetch(struct hrr_source *s, struct feed *f, struct hrr_diag *diag)
{
	const char *line;
	size_t len;
	uint64_t lineno;
	bool cut;
	struct process *p;
	int rc;

again:
	s->reading = f;
	rc = f->format != NULL ? f->format->line(f->foreign, &line, &len, &lineno, &cut, diag)
			       : hrr_reader_line(f->reader, &line, &len, &lineno, &cut, diag);
	if (rc < 0)
		return rc;
	if (rc == 0 || cut) {
		f->eof = true;
		f->cut = rc > 0;
		rc = 0;
		if (!f->begun) {
			f->begun = true;
			rc = begin_sidecars(s, f, diag);
		}
		return rc;
	}
	f->head.lineno = lineno;
	rc = parse(s, f, line, len, diag);
	if (rc < 0)
		return here(f, rc, diag);
	if (hrr_source_process_get(s, f->head.p, &p) < 0)
		return hrr_source_no_memory(diag);
	p->met = true;
	if (f->head.kind == HRR_REC_HEADER) {
		rc = hrr_source_note_header(s, f, p, diag);
		if (rc < 0)
			return here(f, rc, diag);
	}
	if (p->end && f->head.kind != HRR_REC_OTHER)
		return here(f, hrr_diag_set(diag, -EINVAL, "bad stream: a record behind the end"),
			    diag);
	if (p->dropped)
		goto again;
	if (f->head.t != HRR_NO_TIME && f->head.t > f->t)
		f->t = f->head.t;
	f->pending = true;
	if (!f->begun) {
		f->begun = true;
		s->sidecar = s->n_feeds == 1 && f->head.kind == HRR_REC_OTHER &&
			     hrr_json_get(&f->head.json, 0, "regions") >= 0;
		rc = begin_sidecars(s, f, diag);
	}
	return rc;
}
