#include "lib/diff/work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/diff/diff.h"

/* One block: the struct and the texts behind it. */
static struct hrr_diff_work *make(const struct hrr_diff_call *c, size_t *ret_bytes)
{
	struct hrr_fact name = {0};
	const bool launch = hrr_diff_call_get(c, "kernel.name", &name);
	const size_t api = strlen(c->name) + 1;
	struct hrr_diff_work *w;

	*ret_bytes = sizeof *w + api + name.value_len;
	w = malloc(*ret_bytes);
	if (!w)
		return NULL;
	char *text = (char *)(w + 1);

	memcpy(text, c->name, api);
	*w = (struct hrr_diff_work){.api = text};
	if (launch) {
		memcpy(text + api, name.value, name.value_len);
		w->kernel = text + api;
		w->kernel_len = name.value_len;
	}
	return w;
}

int hrr_diff_work_of(struct hrr_diff_works *w, const struct hrr_diff_call *c,
		     const struct hrr_diff_work **ret)
{
	uint64_t at;
	size_t bytes;

	*ret = NULL;
	if (!c->name)
		return 0;
	if (hrr_map_get(&w->by_shape, c->shape, 0, &at)) {
		*ret = w->works[at];
		return 0;
	}
	if (w->bytes >= HRR_DIFF_MAX_WORKS)
		return 0;
	struct hrr_diff_work *new = make(c, &bytes);
	struct hrr_diff_work **more = realloc(w->works, (w->n + 1) * sizeof *more);

	if (more)
		w->works = more;
	if (!new || !more || hrr_map_set(&w->by_shape, c->shape, 0, w->n) < 0) {
		free(new);
		return -ENOMEM;
	}
	w->works[w->n++] = new;
	w->bytes += bytes;
	*ret = new;
	return 0;
}

void hrr_diff_works_release(struct hrr_diff_works *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->works[i]);
	free(w->works);
	hrr_map_release(&w->by_shape);
	*w = (struct hrr_diff_works){0};
}
