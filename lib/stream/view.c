#include "lib/stream/view.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/stream/view_private.h"

struct hrr_view *hrr_view_new(enum hrr_view_kind kind, const struct hrr_view_options *opt)
{
	struct hrr_view *v = calloc(1, sizeof *v);

	if (v == NULL)
		return NULL;
	v->kind = kind;
	v->opt.to = UINT64_MAX;
	if (opt != NULL)
		v->opt = *opt;
	return v;
}

void hrr_view_free(struct hrr_view *v)
{
	if (v == NULL)
		return;
	hrr_buf_release(&v->name);
	hrr_buf_release(&v->text);
	hrr_buf_release(&v->t0s);
	hrr_buf_release(&v->tracks);
	hrr_buf_release(&v->pids);
	free(v);
}

int hrr_view_record(struct hrr_view *v, const struct hrr_record *rec, struct hrr_buf *b)
{
	switch (v->kind) {
	case HRR_VIEW_TEXT:
		return hrr_view_text(v, rec, b);
	case HRR_VIEW_CSV:
		return hrr_view_csv(v, rec, b);
	case HRR_VIEW_TIMELINE:
		return hrr_view_timeline(v, rec, b);
	}
	return 0;
}

int hrr_view_end(struct hrr_view *v, struct hrr_buf *b)
{
	return v->kind == HRR_VIEW_TIMELINE ? hrr_view_timeline_end(v, b) : 0;
}

int hrr_view_kernel(struct hrr_view *v, const struct hrr_record *rec, int kernel)
{
	const struct hrr_json *j = &rec->json;
	int node = hrr_json_get(j, kernel, "name"), rc;
	size_t len;
	const char *name = hrr_json_raw(j, node, &len);

	v->name.len = v->text.len = 0;
	if (name == NULL) {
		v->text.failed = false;
		if (node < 0 || hrr_json_str(j, node, &v->text) < 0)
			return v->text.failed ? -ENOMEM : 0;
		name = v->text.data;
		len = v->text.len;
	}
	rc = v->opt.demangle != NULL ? v->opt.demangle(v->opt.self, name, len, &v->name) : -ENOSYS;
	if (rc < 0 && rc != -ENOMEM) {
		v->name.len = 0;
		rc = hrr_buf_add(&v->name, name, len);
	}
	return rc < 0 ? rc : 1;
}
