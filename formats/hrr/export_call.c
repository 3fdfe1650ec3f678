#include <errno.h>
#include <stdlib.h>

#include "formats/hrr/export_private.h"
#include "formats/hrr/launch.h"

/* Calls that have another name there, or none. */
static int there(enum hrr_api api)
{
	switch (api) {
	case HRR_API_hipGetDeviceProperties:
		return HRR_API_hipGetDevicePropertiesR0000;
	case HRR_API_hipChooseDeviceR0600:
		return HRR_API_hipChooseDevice;
	default:
		return api;
	}
}

/* One of the launches a call makes: there each is a call. */
static int launch(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		  int kernel, unsigned n, enum hrr_api api, struct hrr_diag *diag)
{
	enum hrr_api as = hrr_wire_row(api)->launch ? api : HRR_API_hipModuleLaunchKernel;
	int rc = hrr_out_launch(x, p, rec, kernel, n, diag);

	if (rc == 1) { /* as upstream: dropped, and the archive is not complete */
		hrr_lost(x, "%s: a launch with a name or an argument of more than 65535 bytes",
			 hrr_api_table[api].name);
		p->dropped = true;
		return 0;
	}
	if (rc < 0)
		return rc;
	if (hrr_api_launches(api) >= 0 || hrr_out_arg(rec, "function_address") != 0 ||
	    hrr_out_arg(rec, "f") != 0)
		hrr_lost(x, "%s: which function or stub named the kernel", hrr_api_table[api].name);
	const struct hrr_api_row *row = &hrr_api_table[api];
	for (int i = hrr_api_launches(api) + 1; i < row->n_params; i++)
		if (hrr_launch_param(&row->params[i]) == HRR_UP_LP_NONE &&
		    strcmp(row->params[i].name, "f") != 0 &&
		    strcmp(row->params[i].name, "function_address") != 0)
			hrr_out_no_place(x, rec, row, i);
	if (as != api)
		hrr_lost(x, "%s: that it was not hipModuleLaunchKernel", hrr_api_table[api].name);
	rc = hrr_out_event(x, p, rec, (unsigned)hrr_wire_id(EXPORT_VERSION, p->base, as),
			   (unsigned char *)x->rec.data, x->rec.len, NULL, diag);
	return rc < 0 ? rc : hrr_out_reveal(x, p, rec, kernel, n, diag);
}

/* The return value; 1: the call is not held. */
static int put_ret(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		   const struct hrr_api_row *row, const struct hrr_layout *l, unsigned char *data)
{
	const struct hrr_json *j = &rec->json;
	unsigned char *at = data + l->ret;
	uint64_t v = 0;
	int64_t i = 0;

	if (row->ret == HRR_RET_STR && l->ret_width == 8) {
		v = hrr_out_word(rec, "ret");
		if (rec->ret >= 0)
			hrr_lost(x, "%s: the text it returned", row->name);
	}
	if (rec->ret < 0) {
		if (l->ret_width > 0 && l->ret_width <= 8)
			set_le(at, v, l->ret_width);
		return 0;
	}
	if (row->ret == HRR_RET_ERROR) {
		size_t len;
		const char *s = hrr_json_raw(j, rec->ret, &len);
		int e = 0;
		if (!p->foreign) {
			hrr_lost(x, "%s: a call that failed or never returned", row->name);
			return 1;
		}
		for (int k = 0; s != NULL && hrr_enums[k] != NULL; k++)
			if (strcmp(hrr_enums[k]->name, "hipError_t") == 0 &&
			    hrr_enum_value(hrr_enums[k], p->major, s, len, &e) == 0)
				break;
		if (s == NULL && hrr_json_i64(j, rec->ret, &i) == 0)
			e = (int)i;
		set_le(at, (uint64_t)(int64_t)e, 4);
		return 0;
	}
	if (hrr_json_addr(j, rec->ret, &v) < 0 && hrr_json_i64(j, rec->ret, &i) == 0)
		v = (uint64_t)i;
	if (l->ret_width > 0 && l->ret_width <= 8)
		set_le(at, v, l->ret_width);
	return 0;
}

static struct later **later_of(struct out_process *p, uint64_t seq)
{
	struct later **at = &p->later[seq % 64];

	while (*at != NULL && (*at)->seq != seq)
		at = &(*at)->next;
	return at;
}

static int wait_for(struct out_process *p, uint64_t seq, uint64_t offset)
{
	struct later *l = malloc(sizeof *l);

	if (l == NULL)
		return -ENOMEM;
	*l = (struct later){p->later[seq % 64], seq, offset, p->count};
	p->later[seq % 64] = l;
	return 0;
}

int hrr_out_call(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		 struct hrr_diag *diag)
{
	const struct hrr_json *j = &rec->json;
	int found = hrr_api_find(rec->api, rec->api_len);
	enum hrr_api api;
	struct hrr_layout l;
	uint64_t offset;
	uint16_t later;
	int rc, id;

	if (found < 0) {
		hrr_lost(x, "calls this program does not know");
		return 0;
	}
	api = (enum hrr_api)there((enum hrr_api)found);
	const struct hrr_api_row *row = &hrr_api_table[api];
	if (rec->kernel >= 0 && row->cls == HRR_CLASS_LAUNCH) {
		if (rec->ret >= 0) {
			hrr_lost(x, "%s: a call that failed or never returned", row->name);
			return 0;
		}
		rc = 0;
		unsigned n = 0;
		for (int k = -1; rc >= 0 && (k = hrr_kernel_next(j, rec->kernel, k)) >= 0;)
			rc = launch(x, p, rec, k, n++, api, diag);
		return rc;
	}
	id = hrr_wire_id(EXPORT_VERSION, p->base, api);
	if (id < 0 || hrr_layout_of(api, EXPORT_VERSION, &l) < 0 ||
	    (hrr_wire_row(api)->launch && rec->kernel < 0)) {
		hrr_lost(x, "%s: the call has no number or no kernel there", row->name);
		return 0;
	}
	x->rec.len = 0;
	if (hrr_buf_reserve(&x->rec, l.size) < 0)
		return -ENOMEM;
	memset(x->rec.data, 0, l.size);
	x->rec.len = l.size;
	unsigned char *data = (unsigned char *)x->rec.data;
	rc = put_ret(x, p, rec, row, &l, data);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	rc = hrr_out_args(x, p, rec, api, &l, data, diag);
	if (rc == 0)
		rc = hrr_out_bytes(x, p, rec, api, &l, data, &later, diag);
	if (rc < 0)
		return rc;
	if (l.tail) {
		rc = hrr_out_node(x, p, rec, diag);
		if (rc == 1)
			hrr_lost(x, "%s: a kernel that is too long", row->name);
		if (rc != 0)
			return rc < 0 ? rc : 0;
	}
	int f = hrr_json_get(j, 0, "foreign");
	if (f >= 0 && j->nodes[f].type == HRR_JSON_OBJECT && hrr_json_get(j, f, "tail") >= 0 &&
	    hrr_out_hex(j, hrr_json_get(j, f, "tail"), HRR_UP_MAX_RECORD / 2, &x->rec) == -ENOMEM)
		return -ENOMEM;
	data = (unsigned char *)x->rec.data; /* it may have grown */
	rc = hrr_out_event(x, p, rec, (unsigned)id, data, x->rec.len, &offset, diag);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	if (later != 0 && wait_for(p, rec->seq, offset + later) < 0)
		return -ENOMEM;
	rc = hrr_out_track(p, rec, api, &l, offset, data);
	return rc < 0 ? rc : hrr_out_reveal(x, p, rec, rec->kernel, 0, diag);
}

int hrr_out_output(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		   struct hrr_diag *diag)
{
	const struct hrr_json *j = &rec->json;
	struct later **at = later_of(p, rec->seq), *l = *at;
	unsigned char hash[16];
	struct hrr_fnv h;
	uint64_t size;
	int rc;

	if (l == NULL || hrr_record_node(rec) >= 0) {
		hrr_lost(x, hrr_record_node(rec) >= 0
				? "output of a graph"
				: "output of a call whose record has no place for it");
		return 0;
	}
	if (l->records != p->count)
		hrr_lost(x, "place of an output behind the call that follows the copy");
	rc = hrr_out_blob_node(x, p, rec, hrr_json_get(j, 0, "blob"), false, &h, &size, diag);
	if (rc == 0) {
		set_le(hash, h.lo, 8);
		set_le(hash + 8, h.hi, 8);
		rc = hrr_out_patch(p, l->offset, hash, sizeof hash, diag);
	}
	*at = l->next;
	free(l);
	return rc;
}
