#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/replay/engine.h"

/* Modules the program loaded itself, which keep their own state, and addresses of variables. */

/* A variable's recorded address becomes another name of its live one. */
static int enter_alias(struct hrr_replay *r, uint64_t recorded, uint64_t size, uint64_t live,
		       uint64_t owner)
{
	const struct hrr_range *x = hrr_ranges_at(r->map, recorded);

	if (recorded == 0 || size == 0)
		return 0;
	if (x != NULL) {
		struct hrr_mem *m = x->value;
		if (m->kind == HRR_MEM_ALIAS) {
			if (m->live == live && m->size == size)
				return 0;
			hrr_mem_drop(r, m, r->seq);
		}
	}
	struct hrr_mem *m = hrr_mem_new(r, HRR_MEM_ALIAS, recorded, size);
	if (m == NULL)
		return -ENOMEM;
	m->live = live;
	m->owner = owner;
	int rc = hrr_mem_enter(r, m);
	if (rc < 0)
		free(m);
	return rc;
}

int hrr_do_symbol_address(struct hrr_replay *r, struct hrr_event *ev)
{
	uint64_t live, size;
	int rc = hrr_symbol(r, ev, &live, &size);

	return rc < 0 ? rc : enter_alias(r, hrr_arg_of(ev, "devPtr"), size, live, 0);
}

int hrr_do_get_global(struct hrr_replay *r, struct hrr_event *ev)
{
	uint64_t module, live = 0;
	size_t size = 0;
	int rc = hrr_handle(r, ev, HRR_H_MODULE, hrr_arg_of(ev, "hmod"), &module);

	if (rc < 0)
		return rc;
	ev->live[0] = HRR_P(&live);
	ev->live[1] = HRR_P(&size);
	ev->live[2] = module;
	ev->live[3] = hrr_arg_of(ev, "name");
	if (ev->live[3] == 0)
		return hrr_fail(r, "its name was not recorded");
	rc = hrr_issue(r, ev);
	if (rc < 0)
		return rc;
	return enter_alias(r, hrr_arg_of(ev, "dptr"), size, live, hrr_arg_of(ev, "hmod"));
}

/* --- modules of the program -------------------------------------------------------- */

struct owned {
	uint64_t owner;
	struct hrr_mem *found;
};

static int find_owned(void *self, const struct hrr_range *x)
{
	struct owned *o = self;
	struct hrr_mem *m = x->value;

	if (m->kind != HRR_MEM_ALIAS || m->owner != o->owner)
		return 0;
	o->found = m;
	return 1;
}

/* Its variables and functions go, and the module itself when the device is idle. */
static int module_leaves(struct hrr_replay *r, struct hrr_event *ev, uint64_t recorded)
{
	const struct hrr_held *h = hrr_held_find(&r->held[HRR_H_MODULE], recorded);
	struct hrr_module *m = h->info;
	uint64_t live = h->live;
	struct owned o = {.owner = recorded};
	int rc = 0;

	while (o.found = NULL, hrr_ranges_each(r->map, find_owned, &o) != 0)
		hrr_mem_drop(r, o.found, r->seq);
	struct hrr_held_map *fns = &r->held[HRR_H_FUNCTION];
	for (size_t i = 0; i < fns->cap; i++)
		while (fns->slot[i].recorded != 0 && fns->slot[i].owner == recorded)
			hrr_held_del(fns, fns->slot[i].recorded);
	hrr_held_del(&r->held[HRR_H_MODULE], recorded);
	/* The image stays with what was loaded from it until the end: unloading may be late. */
	if (m != NULL) {
		hrr_code_release(&m->code);
		rc = hrr_stage(r, &m->blob);
		free(m);
	}
	if (rc < 0)
		return rc;
	return hrr_defer(r, HRR_DEFER_MODULE, ev, recorded, live, NULL);
}

int hrr_do_module_load(struct hrr_replay *r, struct hrr_event *ev)
{
	int blobs = ev->rec->blobs, n = blobs >= 0 ? hrr_json_get(ev->j, blobs, "image") : -1;
	size_t len = 0;
	uint64_t live = 0;

	if (n < 0)
		return hrr_refuse(r, "the code object was not recorded, and files named by an "
				     "archive are never opened");
	const char *id = hrr_json_raw(ev->j, n, &len);
	struct hrr_module *m = calloc(1, sizeof *m);
	if (m == NULL)
		return hrr_trouble(r, -ENOMEM, "out of memory");
	int rc = hrr_blob_get(r, n, "code object", &m->blob);
	char text[HRR_ID_TEXT + 1] = "";
	if (rc == 0) {
		memcpy(text, id, len < HRR_ID_TEXT ? len : HRR_ID_TEXT);
		rc = hrr_load_image(r, &m->blob, text, &live);
	}
	uint64_t recorded = hrr_arg_of(ev, "module");
	if (rc == 0 && hrr_held_find(&r->held[HRR_H_MODULE], recorded) != NULL) {
		hrr_warn(r, ev->seq, NULL,
			 "module 0x%llx is still there: its release is not in the stream",
			 (unsigned long long)recorded);
		rc = module_leaves(r, ev, recorded);
	}
	struct hrr_held *h = rc == 0 ? hrr_held_add(&r->held[HRR_H_MODULE], recorded, live) : NULL;
	if (h == NULL) {
		if (live != 0)
			HRR_CALL(r, hipModuleUnload, live);
		hrr_blob_release(&m->blob);
		free(m);
		return rc < 0 ? rc : hrr_fail(r, "its handle was not recorded");
	}
	h->info = m;
	h->device = r->device;
	return 0;
}

int hrr_do_get_function(struct hrr_replay *r, struct hrr_event *ev)
{
	uint64_t live = 0, module;
	const char *name = (const char *)(uintptr_t)hrr_arg_of(ev, "kname");
	int rc = hrr_handle(r, ev, HRR_H_MODULE, hrr_arg_of(ev, "module"), &module);

	if (rc < 0)
		return rc;
	/* Foreign launches name their kernel themselves: the handle is not needed. */
	if (name == NULL && hrr_json_get(ev->j, 0, "foreign") >= 0)
		return hrr_do_ignored(r, ev);
	if (name == NULL)
		return hrr_fail(r, "its name was not recorded");
	ev->live[0] = HRR_P(&live);
	ev->live[1] = module;
	ev->live[2] = HRR_P(name);
	rc = hrr_issue(r, ev);
	if (rc < 0)
		return rc;
	struct hrr_held *h = hrr_held_find(&r->held[HRR_H_FUNCTION], ev->w[0]);
	struct hrr_function *f = h != NULL ? h->info : NULL;
	if (f == NULL || strcmp(f->name, name) != 0) {
		f = calloc(1, sizeof *f);
		if (f == NULL || (f->name = strdup(name)) == NULL) {
			free(f);
			return hrr_trouble(r, -ENOMEM, "out of memory");
		}
		f->next = r->module_functions; /* writers may name it until the end */
		r->module_functions = f;
	}
	/* Read each time: the same number may be of another module by now. */
	const struct hrr_held *of = hrr_held_find(&r->held[HRR_H_MODULE], hrr_arg_of(ev, "module"));
	if (of == NULL || of->info == NULL)
		return hrr_fail(r, "its module is null");
	struct hrr_module *m = of->info;
	rc = hrr_function_layout(r, f, &m->code, &m->blob);
	if (rc < 0)
		return rc;
	h = hrr_held_add(&r->held[HRR_H_FUNCTION], ev->w[0], live);
	if (h == NULL)
		return hrr_fail(r, "its handle was not recorded");
	h->info = f;
	h->owner = hrr_arg_of(ev, "module");
	return 0;
}

int hrr_do_module_unload(struct hrr_replay *r, struct hrr_event *ev)
{
	uint64_t live;
	int rc = hrr_handle(r, ev, HRR_H_MODULE, ev->w[0], &live);

	if (rc < 0)
		return rc;
	if (ev->w[0] == 0)
		return hrr_fail(r, "its module is null");
	rc = module_leaves(r, ev, ev->w[0]);
	r->owed_wait = true;
	return rc < 0 ? rc : hrr_settle_if_idle(r);
}

void hrr_module_end(struct hrr_replay *r)
{
	struct hrr_held_map *m = &r->held[HRR_H_MODULE];

	for (size_t i = 0; i < m->cap; i++) {
		struct hrr_module *x = m->slot[i].info;
		if (m->slot[i].recorded == 0 || x == NULL)
			continue;
		if (!r->abandoned)
			HRR_CALL(r, hipModuleUnload, m->slot[i].live);
		hrr_code_release(&x->code);
		hrr_blob_release(&x->blob);
		free(x);
	}
	while (r->module_functions != NULL) {
		struct hrr_function *f = r->module_functions;
		r->module_functions = f->next;
		hrr_function_free(f);
	}
	hrr_objects_end(r);
	hrr_managed_end(r);
}
