#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/replay/engine.h"

/* __managed__ variables of registered objects: their memory, and the pointers to it in modules. */

/* Memory of a managed variable, as the object says it begins. */
static int init_managed(struct hrr_replay *r, const struct hrr_managed *m, uint64_t module,
			uint64_t live)
{
	char name[512];
	uint64_t init = 0;
	size_t size = 0;

	snprintf(name, sizeof name, "%s.managed", m->name);
	if (HRR_CALL(r, hipModuleGetGlobal, HRR_P(&init), HRR_P(&size), module, HRR_P(name)) ==
		hipSuccess &&
	    size <= m->size)
		HRR_CALL(r, hipMemcpyDtoH, live, init, size);
	return 0;
}

/* A run time that gives modules managed memory itself answers with that: ours moves there. */
static bool is_managed(struct hrr_replay *r, uint64_t at)
{
	struct {
		struct hipPointerAttribute_t a;
		unsigned char more[256];
	} x = {0};

	return HRR_CALL(r, hipPointerGetAttributes, HRR_P(&x), at) == hipSuccess &&
	       x.a.isManaged != 0;
}

static void move_managed(struct hrr_replay *r, const struct hrr_managed *v, struct hrr_mem *m,
			 uint64_t at)
{
	uint64_t old = m->live;

	if (v->filled)
		memcpy((void *)(uintptr_t)at, (const void *)(uintptr_t)old, v->size);
	m->live = m->host = at;
	if (m->how == HRR_FREE_DEVICE)
		HRR_CALL(r, hipFree, old);
	m->how = HRR_FREE_NONE;
}

/* What was entered when it was registered, as long as it is there. */
static struct hrr_mem *managed_mem(const struct hrr_replay *r, const struct hrr_managed *v)
{
	const struct hrr_range *x = v->base != 0 ? hrr_ranges_at(r->hostmap, v->base) : NULL;
	struct hrr_mem *m = x != NULL ? x->value : NULL;

	return m != NULL && m->kind == HRR_MEM_MANAGED && m->size == v->size ? m : NULL;
}

/*
 * A managed variable is a pointer in the object. Run times set it for registered
 * objects, not all of them for modules: there it gets the memory its registration got.
 */
int hrr_managed_fill(struct hrr_replay *r, uint64_t module)
{
	size_t size;
	uint64_t at, p;

	for (struct hrr_managed *m = r->managed; m != NULL; m = m->next) {
		struct hrr_mem *mem = managed_mem(r, m);
		at = p = size = 0;
		if (HRR_CALL(r, hipModuleGetGlobal, HRR_P(&at), HRR_P(&size), module,
			     HRR_P(m->name)) != hipSuccess)
			continue;
		if (size == m->size && is_managed(r, at)) {
			if (mem != NULL && mem->live != at)
				move_managed(r, m, mem, at);
			continue;
		}
		if (size < 8 || HRR_CALL(r, hipMemcpyDtoH, HRR_P(&p), at, 8) != hipSuccess)
			continue;
		if (mem != NULL) {
			p = mem->live;
			if (!m->filled)
				init_managed(r, m, module, p);
			m->filled = true;
		} else if (p != 0) {
			continue;
		} else {
			if (HRR_CALL(r, hipMallocManaged, HRR_P(&p), m->size, 1) != hipSuccess)
				return hrr_fail(r, "no memory for managed variable %s", m->name);
			memset((void *)(uintptr_t)p, 0, m->size);
			init_managed(r, m, module, p);
		}
		if (HRR_CALL(r, hipMemcpyHtoD, at, HRR_P(&p), 8) != hipSuccess)
			return hrr_fail(r, "managed variable %s cannot be set", m->name);
	}
	return 0;
}

int hrr_do_managed_var(struct hrr_replay *r, struct hrr_event *ev)
{
	const char *name = (const char *)(uintptr_t)hrr_arg_of(ev, "name");
	uint64_t size = hrr_arg_of(ev, "size"), base = hrr_arg_of(ev, "pointer");
	int rc = 0;

	if (name == NULL || size == 0 || size > (uint64_t)1 << 40)
		return hrr_fail(r, "its name and size were not recorded");
	struct hrr_managed *m = calloc(1, sizeof *m);
	if (m == NULL || (m->name = strdup(name)) == NULL) {
		free(m);
		return hrr_trouble(r, -ENOMEM, "out of memory");
	}
	m->size = size;
	m->next = r->managed;
	r->managed = m;
	/* A foreign stream has the address of the pointer, not what was put there. */
	if (base != 0 && hrr_json_get(ev->j, 0, "foreign") < 0)
		rc = hrr_managed_new(r, m->base = base, size);
	m->filled = m->base != 0 && ev->rec->host >= 0;
	return rc == 0 && m->filled ? hrr_host_bytes(r, ev, NULL) : rc;
}

void hrr_managed_end(struct hrr_replay *r)
{
	while (r->managed != NULL) {
		struct hrr_managed *next = r->managed->next;
		free(r->managed->name);
		free(r->managed);
		r->managed = next;
	}
}
