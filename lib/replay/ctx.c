#include <errno.h>

#include "lib/replay/engine.h"

/*
 * Contexts. To HIP a context is a device, and what is current is a matter of the
 * thread; replay has one thread for all. So the stacks are kept here, one for each recorded
 * thread, and of these calls only those that make and destroy contexts reach the run time.
 */

/* Calls that change what is current there: the engine has to say again what it wants. */
static int set_again(struct hrr_replay *r, int rc)
{
	int device = r->device;

	r->device = -1;
	int rc2 = hrr_set_device(r, device);
	return rc < 0 ? rc : rc2;
}

static int push(struct hrr_replay *r, struct hrr_thread *th, int device)
{
	if (th->n_ctx == HRR_MAX_CTX)
		return hrr_fail(r, "more than %d contexts on one thread", HRR_MAX_CTX);
	th->ctx[th->n_ctx++] = (uint8_t)th->device;
	th->device = device;
	return 0;
}

static void pop(struct hrr_thread *th)
{
	if (th->n_ctx != 0)
		th->device = th->ctx[--th->n_ctx];
}

/* Made on, or told of, a device. */
static int made(struct hrr_replay *r, struct hrr_event *ev, int i, int device)
{
	int rc = hrr_do_generic(r, ev);

	rc = set_again(r, rc);
	struct hrr_held *h = hrr_held_find(&r->held[HRR_H_CTX], ev->w[i]);
	if (rc == 0 && h != NULL)
		h->device = device;
	return rc;
}

static int device_of(struct hrr_replay *r, struct hrr_event *ev, uint64_t ctx, int *ret)
{
	uint64_t live;
	int rc = hrr_handle(r, ev, HRR_H_CTX, ctx, &live);
	const struct hrr_held *h = hrr_held_find(&r->held[HRR_H_CTX], ctx);

	if (rc == 0 && h == NULL)
		return hrr_fail(r, "its context is null");
	if (rc == 0)
		*ret = h->device;
	return rc;
}

/* Run times may give one handle for every context of a device: it stays known. */
static int destroy(struct hrr_replay *r, struct hrr_event *ev)
{
	int device = 0, rc = device_of(r, ev, ev->w[0], &device);

	if (rc < 0)
		return rc;
	uint64_t live = hrr_held_find(&r->held[HRR_H_CTX], ev->w[0])->live;
	rc = set_again(r, hrr_do_generic(r, ev));
	if (rc < 0)
		return rc;
	struct hrr_held *h = hrr_held_add(&r->held[HRR_H_CTX], ev->w[0], live);
	if (h == NULL)
		return hrr_trouble(r, -ENOMEM, "out of memory");
	h->device = device;
	if (device == ev->th->device)
		pop(ev->th);
	return 0;
}

int hrr_do_ctx(struct hrr_replay *r, struct hrr_event *ev)
{
	int device = 0, rc;

	switch (ev->api) {
	case HRR_API_hipCtxCreate:
		device = (int)hrr_arg_of(ev, "device");
		rc = made(r, ev, 0, device);
		return rc < 0 ? rc : push(r, ev->th, device);
	case HRR_API_hipDevicePrimaryCtxRetain:
		return made(r, ev, 0, (int)hrr_arg_of(ev, "dev"));
	case HRR_API_hipCtxGetCurrent:
		return made(r, ev, 0, ev->th->device);
	case HRR_API_hipCtxDestroy:
		return destroy(r, ev);
	case HRR_API_hipCtxSetCurrent:
		if (ev->w[0] == 0)
			return 0;
		rc = device_of(r, ev, ev->w[0], &device);
		if (rc == 0)
			ev->th->device = device;
		return rc;
	case HRR_API_hipCtxPushCurrent:
		rc = device_of(r, ev, ev->w[0], &device);
		return rc < 0 ? rc : push(r, ev->th, device);
	default: /* hipCtxPopCurrent: what it tells is the handle of what was current */
		if (ev->w[0] != 0 && hrr_held_find(&r->held[HRR_H_CTX], ev->w[0]) == NULL)
			return hrr_fail(r, "context 0x%llx was not made in this stream of calls",
					(unsigned long long)ev->w[0]);
		pop(ev->th);
		return 0;
	}
}

/* What the run time told the program is how it was, whatever its rules for contexts are. */
int hrr_do_get_device(struct hrr_replay *r, struct hrr_event *ev)
{
	if (ev->node[0] >= 0 && ev->w[0] < (uint64_t)r->n_devices)
		ev->th->device = (int)ev->w[0];
	return hrr_do_ignored(r, ev);
}
