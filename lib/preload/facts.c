#include "lib/preload/preload.h"

#include <string.h>

/*
 * The RUNTIME record: which library answered, and, once the program has had
 * something of a device with success, its version and devices. Asking then starts
 * nothing that is not running: these are queries of what the run time has found.
 * They are not recorded, and they must leave the program's last error alone.
 */
#define MAX_DEVICES 64u
#define MAX_PROPERTIES 4096 /* the structure has 792 bytes in HIP 5, 1472 from 6 on */

static bool int_of(enum hrr_api api, int *ret)
{
	int (*f)(int *);
	void *p = hrr_resolve(api);

	memcpy(&f, &p, sizeof f);
	return f != NULL && f(ret) == 0;
}

static int last_error(enum hrr_api api)
{
	int (*f)(void);
	void *p = hrr_resolve(api);

	memcpy(&f, &p, sizeof f);
	return f != NULL ? f() : -1;
}

static const struct hrr_struct *layout(const char *name)
{
	for (const struct hrr_struct *const *s = hrr_structs; *s != NULL; s++)
		if (strcmp((*s)->name, name) == 0)
			return *s;
	return NULL;
}

static const unsigned char *field(const struct hrr_struct *s, const char *name,
				  const unsigned char *of)
{
	for (uint16_t i = 0; i < s->n; i++)
		if (strcmp(s->fields[i].name, name) == 0)
			return of + s->fields[i].offset;
	return NULL;
}

static void text(char *to, size_t size, const unsigned char *from)
{
	size_t n = from != NULL ? strnlen((const char *)from, size - 1) : 0;

	memcpy(to, from, n);
	memset(to + n, 0, size - n);
}

static bool device(int ordinal, struct hrr_rec_device *ret)
{
	unsigned char _Alignas(16) props[MAX_PROPERTIES] = {0};
	const struct hrr_struct *s = layout("hipDeviceProp_tR0600");
	void *p = hrr_resolve(HRR_API_hipGetDevicePropertiesR0600);
	int (*f)(void *, int);

	if (p == NULL) { /* from HIP 6 on the old name has the old layout still */
		s = layout("hipDeviceProp_t");
		p = hrr_resolve(HRR_API_hipGetDeviceProperties);
	}
	memcpy(&f, &p, sizeof f);
	if (f == NULL || s == NULL || s->size > sizeof props || f(props, ordinal) != 0)
		return false;
	text(ret->name, sizeof ret->name, field(s, "name", props));
	text(ret->arch, sizeof ret->arch, field(s, "gcnArchName", props));
	const unsigned char *m = field(s, "totalGlobalMem", props);
	ret->memory = 0;
	if (m != NULL)
		memcpy(&ret->memory, m, 8);
	return true;
}

/* Asked before the record is begun: nothing may come between a record's beginning and its end. */
static uint32_t ask(struct hrr_rec_runtime *x, struct hrr_rec_device *d)
{
	int version = 0, count = 0;
	bool failed = !int_of(HRR_API_hipRuntimeGetVersion, &version);

	x->version = failed ? 0 : version;
	failed |= !int_of(HRR_API_hipGetDeviceCount, &count);
	for (int i = 0; !failed && i < count && (unsigned)i < MAX_DEVICES; i++) {
		failed = !device(i, &d[i]); /* a list with holes would number them wrong */
		x->n_devices += !failed;
	}
	if (failed)
		last_error(HRR_API_hipGetLastError); /* ours: there was none before */
	return x->n_devices;
}

static void write_record(struct hrr_thread *t, bool asks)
{
	static struct hrr_rec_device devices[MAX_DEVICES]; /* one thread comes here with asks */
	const char *path = hrr_runtime_path();
	struct hrr_rec_runtime x = {0};
	size_t n = strlen(path) + 1, head = sizeof x - sizeof x.r, room = (n + 7) & ~(size_t)7;
	size_t list = asks ? ask(&x, devices) * sizeof devices[0] : 0;

	hrr_b_begin(t, HRR_R_RUNTIME, 0);
	if (hrr_b_room(t, head + room + list)) {
		x.path = (uint32_t)room;
		memcpy(t->p, (unsigned char *)&x + sizeof x.r, head);
		t->p += head;
		memset(t->p + room - 8, 0, 8);
		memcpy(t->p, path, n);
		memcpy(t->p + room, devices, list);
		t->p += room + list;
		hrr_b_rec(t)->t = hrr_now() - hrr_proc->ctl->t0;
		hrr_b_rec(t)->ret = hrr_runtime_major();
	}
	hrr_b_commit(t);
}

void hrr_runtime_told(const struct hrr_call *c)
{
	_Atomic uint32_t *told = &hrr_proc->ctl->told;
	uint32_t was = 0;
	bool device_used =
	    (c->hook == HRR_HOOK_ALLOC || c->hook == HRR_HOOK_COPY || c->hook == HRR_HOOK_LAUNCH) &&
	    hrr_n_captures == 0;

	if (atomic_compare_exchange_strong(told, &was, HRR_TOLD_LIBRARY)) {
		write_record(c->t, false);
		was = HRR_TOLD_LIBRARY;
	}
	/* An error the program has not fetched yet stays: asked at a later call then. */
	if (!device_used || was != HRR_TOLD_LIBRARY)
		return;
	int cancel; /* the program does not make these calls: none of its threads ends in them */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (last_error(HRR_API_hipPeekAtLastError) == 0 &&
	    atomic_compare_exchange_strong(told, &was, HRR_TOLD_ALL))
		write_record(c->t, true);
	pthread_setcancelstate(cancel, NULL);
}
