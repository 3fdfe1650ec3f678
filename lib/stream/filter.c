#include "lib/stream/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/stream/edit.h"

struct counts {
	uint64_t calls, outputs, regions;
};

struct hrr_filter {
	struct hrr_select **selectors;
	size_t n;
	bool exclude;
	uint64_t first, calls;
	bool (*keep)(void *self, const struct hrr_record *rec);
	void *self;
	struct hrr_seqs *kept; /* calls whose outputs are kept; NULL: all */
	struct hrr_buf by_p;   /* of struct counts */
	size_t n_p;
};

int hrr_filter_new(struct hrr_filter **ret, const struct hrr_filter_options *opt,
		   struct hrr_diag *diag)
{
	struct hrr_filter *f = calloc(1, sizeof *f);
	int rc = -ENOMEM;

	if (f == NULL)
		goto fail;
	f->exclude = opt->exclude;
	f->keep = opt->keep;
	f->self = opt->self;
	f->first = opt->first > 0 ? opt->first : UINT64_MAX;
	if (opt->n_selectors > 0 || opt->first > 0 || opt->exclude) {
		f->kept = hrr_seqs_new();
		f->selectors = calloc(opt->n_selectors + 1, sizeof(struct hrr_select *));
		if (f->kept == NULL || f->selectors == NULL)
			goto fail;
	}
	for (; f->n < opt->n_selectors; f->n++) {
		rc = hrr_select_new(&f->selectors[f->n], opt->selectors[f->n], diag);
		if (rc < 0)
			goto fail;
	}
	*ret = f;
	return 0;
fail:
	if (rc == -ENOMEM)
		hrr_diag_set(diag, rc, "out of memory");
	hrr_filter_free(f);
	return rc;
}

void hrr_filter_free(struct hrr_filter *f)
{
	if (f == NULL)
		return;
	for (size_t i = 0; i < f->n; i++)
		hrr_select_free(f->selectors[i]);
	free(f->selectors);
	hrr_seqs_free(f->kept);
	hrr_buf_release(&f->by_p);
	free(f);
}

static struct counts *counts_of(struct hrr_filter *f, uint32_t p)
{
	static const struct counts none;

	while (f->n_p <= p) {
		if (hrr_buf_add(&f->by_p, &none, sizeof none) < 0)
			return NULL;
		f->n_p++;
	}
	return &((struct counts *)(void *)f->by_p.data)[p];
}

static bool fits(const struct hrr_filter *f, const struct hrr_record *rec)
{
	bool fit = f->n == 0;

	for (size_t i = 0; i < f->n && !fit; i++)
		fit = hrr_select_call(f->selectors[i], rec);
	return fit != f->exclude;
}

int hrr_filter_record(struct hrr_filter *f, const struct hrr_record *rec)
{
	struct counts *c;

	if (f->keep != NULL && (rec->kind == HRR_REC_CALL || rec->kind == HRR_REC_OUTPUT)) {
		if (!f->keep(f->self, rec))
			return 0;
	} else if (rec->kind == HRR_REC_CALL) {
		if (f->kept != NULL) {
			if (f->calls >= f->first || !fits(f, rec))
				return 0;
			if (hrr_seqs_add(f->kept, rec->p, rec->seq) < 0)
				return -ENOMEM;
		}
	} else if (rec->kind == HRR_REC_OUTPUT) {
		if (f->kept != NULL && !hrr_seqs_has(f->kept, rec->p, rec->seq))
			return 0;
	} else if (rec->kind != HRR_REC_REGION) {
		return 1;
	}
	c = counts_of(f, rec->p);
	if (c == NULL)
		return -ENOMEM;
	if (rec->kind == HRR_REC_CALL) {
		c->calls++;
		f->calls++;
	} else if (rec->kind == HRR_REC_OUTPUT) {
		c->outputs++;
	} else {
		c->regions++;
	}
	return 1;
}

void hrr_filter_take_back(struct hrr_filter *f, enum hrr_record_kind kind, uint32_t p)
{
	struct counts *c = counts_of(f, p);

	if (c == NULL)
		return; /* cannot be: it was counted */
	if (kind == HRR_REC_CALL)
		c->calls--;
	else if (kind == HRR_REC_OUTPUT)
		c->outputs--;
}

int hrr_filter_end(const struct hrr_filter *f, const struct hrr_record *end, struct hrr_buf *b)
{
	static const struct counts none;
	const struct counts *c =
	    end->p < f->n_p ? &((const struct counts *)(const void *)f->by_p.data)[end->p] : &none;
	const struct hrr_json *j = &end->json;
	char calls[24], outputs[24], regions[24];
	uint64_t said_calls = 0, said_outputs = 0;
	struct hrr_buf number = {0};
	struct hrr_edit e[4];
	size_t n = 0;

	static const char *const keys[] = {"calls", "outputs", "regions"};
	const uint64_t values[] = {c->calls, c->outputs, c->regions};
	char *const texts[] = {calls, outputs, regions};
	for (int i = 0; i < 3; i++) {
		number.len = 0;
		if (hrr_buf_addu(&number, values[i]) < 0 || hrr_buf_str(&number) == NULL) {
			hrr_buf_release(&number);
			return -ENOMEM;
		}
		memcpy(texts[i], number.data, number.len + 1);
		e[n++] = (struct hrr_edit){keys[i], texts[i], number.len, HRR_EDIT_LAST};
	}
	hrr_buf_release(&number);
	(void)hrr_json_u64(j, hrr_json_get(j, 0, "calls"), &said_calls);
	(void)hrr_json_u64(j, hrr_json_get(j, 0, "outputs"), &said_outputs);
	if (hrr_json_is(j, hrr_json_get(j, 0, "end"), "complete") &&
	    (said_calls != c->calls || said_outputs != c->outputs))
		e[n++] = (struct hrr_edit){"end", "\"filtered\"", 10, HRR_EDIT_ONLY};
	return hrr_record_edit(end, e, n, b);
}

uint64_t hrr_filter_calls(const struct hrr_filter *f)
{
	return f->calls;
}

bool hrr_filter_heads_only(const struct hrr_filter *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (!hrr_select_head_only(f->selectors[i]))
			return false;
	return true;
}
