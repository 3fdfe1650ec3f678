#include <errno.h>
#include <stdlib.h>

#include "formats/hrr/export_private.h"

uint64_t hrr_out_arg(const struct hrr_record *rec, const char *name)
{
	int n = hrr_json_get(&rec->json, rec->args, name);
	uint64_t v;

	return n >= 0 && hrr_json_addr(&rec->json, n, &v) == 0 ? v : 0;
}

static int range(struct hrr_ranges *r, uint64_t base, uint64_t size, void *value)
{
	int rc = base != 0 && size != 0 ? hrr_ranges_add(r, base, size, value) : 0;

	return rc == -ENOMEM ? rc : 0;
}

int hrr_out_track(struct out_process *p, const struct hrr_record *rec, enum hrr_api api,
		  const struct hrr_layout *l, uint64_t offset, const unsigned char *data)
{
	const struct hrr_range *r;

	switch (api) {
	case HRR_API___hipRegisterFatBinary: {
		struct fatbin *f = calloc(1, sizeof *f);
		if (f == NULL)
			return -ENOMEM;
		*f = (struct fatbin){p->all_fatbins, offset + l->extra[0],
				     hrr_le64(data + l->extra[0]) != 0};
		p->all_fatbins = f;
		return range(p->fatbins, hrr_le64(data + l->ret), 1, f);
	}
	case HRR_API___hipRegisterFunction:
	case HRR_API___hipRegisterVar:
		r = hrr_ranges_at(p->fatbins, hrr_out_arg(rec, "modules"));
		return r == NULL ? 0
				 : range(p->stubs,
					 hrr_out_arg(rec, api == HRR_API___hipRegisterVar
							      ? "var"
							      : "hostFunction"),
					 1, r->value);
	case HRR_API_hipHostMalloc:
	case HRR_API_hipHostAlloc:
	case HRR_API_hipExtHostAlloc:
	case HRR_API_hipMallocHost:
	case HRR_API_hipMemAllocHost:
		return range(p->host, hrr_out_arg(rec, "ptr"), hrr_out_arg(rec, "size"), NULL);
	case HRR_API_hipHostRegister:
		return range(p->host, hrr_out_arg(rec, "hostPtr"), hrr_out_arg(rec, "sizeBytes"),
			     NULL);
	case HRR_API_hipHostFree:
	case HRR_API_hipFreeHost:
		(void)hrr_ranges_del(p->host, hrr_out_arg(rec, "ptr"), NULL);
		return 0;
	case HRR_API_hipHostUnregister:
		(void)hrr_ranges_del(p->host, hrr_out_arg(rec, "hostPtr"), NULL);
		return 0;
	default:
		return 0;
	}
}

/* What describes the n-th launch of a call: its arguments, or an element of the list among them. */
static int described(const struct hrr_record *rec, unsigned n)
{
	const struct hrr_json *j = &rec->json;

	if (rec->kernel < 0 || j->nodes[rec->kernel].type == HRR_JSON_OBJECT)
		return rec->args;
	for (int i = hrr_json_first(j, rec->args); i >= 0; i = hrr_json_next(j, rec->args, i)) {
		if (j->nodes[i + 1].type != HRR_JSON_ARRAY)
			continue;
		int e = hrr_json_first(j, i + 1);
		for (; e >= 0 && n > 0; n--)
			e = hrr_json_next(j, i + 1, e);
		return e;
	}
	return -1;
}

int hrr_out_reveal(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		   int kernel, unsigned nth, struct hrr_diag *diag)
{
	static const char *const names[] = {"function_address", "f", "symbol", "func"};
	const struct hrr_json *j = &rec->json;
	int object = kernel >= 0	? hrr_json_get(j, kernel, "object")
		     : rec->symbol >= 0 ? hrr_json_get(j, rec->symbol, "object")
					: -1;
	int in = described(rec, nth);
	unsigned char bytes[24];
	struct hrr_fnv h;
	uint64_t size;

	if (object < 0)
		return 0;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		uint64_t stub = 0;
		(void)hrr_json_addr(j, hrr_json_get(j, in, names[i]), &stub);
		const struct hrr_range *r = hrr_ranges_at(p->stubs, stub);
		struct fatbin *f = r != NULL ? r->value : NULL;
		if (f == NULL || f->known)
			continue;
		int rc = hrr_out_blob_node(x, p, rec, object, false, &h, &size, diag);
		if (rc < 0)
			return rc;
		set_le(bytes, h.lo, 8);
		set_le(bytes + 8, h.hi, 8);
		set_le(bytes + 16, size == UINT64_MAX ? 0 : size, 8);
		f->known = true;
		return hrr_out_patch(p, f->offset, bytes, sizeof bytes, diag);
	}
	return 0;
}
