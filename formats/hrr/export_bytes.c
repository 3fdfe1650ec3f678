#include <errno.h>
#include <stdlib.h>

#include "formats/hrr/export_private.h"

static void set_hash(unsigned char *at, struct hrr_fnv h)
{
	set_le(at, h.lo, 8);
	set_le(at + 8, h.hi, 8);
}

static int blob_member(const struct hrr_record *rec, const char *name)
{
	return rec->blobs >= 0 ? hrr_json_get(&rec->json, rec->blobs, name) : -1;
}

/* The reader tells the direction of copies whose record names both ends. */
static bool has_direction(enum hrr_api api, const struct hrr_layout *l)
{
	const struct hrr_api_row *row = &hrr_api_table[api];
	const struct hrr_wire_row *w = hrr_wire_row(api);

	if (row->cls != HRR_CLASS_COPY)
		return false;
	for (int k = 0; k < w->n; k++)
		if (w->extra[k].what == HRR_W_BYTES && l->extra[k] != 0)
			return true;
	return hrr_api_param(api, "dst", 3) >= 0 && hrr_api_param(api, "src", 3) >= 0;
}

/*
 * Hash fields of a call. What a copy brings to the host stands in a later record:
 * *ret_later gets the offset of the field that waits for it.
 */
int hrr_out_bytes(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		  enum hrr_api api, const struct hrr_layout *l, unsigned char *data,
		  uint16_t *ret_later, struct hrr_diag *diag)
{
	const struct hrr_wire_row *w = hrr_wire_row(api);
	const struct hrr_json *j = &rec->json;
	bool d2h = rec->dir >= 0 && hrr_json_is(j, rec->dir, "d2h");
	bool used_src = false, used_host = false, two = false;
	struct hrr_fnv h;
	uint64_t size;
	int rc;

	*ret_later = 0;
	for (int k = 0; k < w->n; k++)
		two = two || (w->extra[k].what == HRR_W_D2H && l->extra[k] != 0);
	for (int k = 0; k < w->n; k++) {
		unsigned char *at = data + l->extra[k];
		if (l->extra[k] == 0)
			continue;
		switch (w->extra[k].what) {
		case HRR_W_HASH:
			if (api == HRR_API_hipHostRegister) {
				int first = rec->host >= 0 ? hrr_json_first(j, rec->host) : -1;
				rc = hrr_out_blob_node(
				    x, p, rec, first >= 0 ? hrr_json_get(j, first, "blob") : -1,
				    false, &h, &size, diag);
				used_host = true;
			} else {
				int node = blob_member(rec, "src");
				if (node < 0)
					node = blob_member(rec, "image");
				rc = hrr_out_blob_node(x, p, rec, node, false, &h, &size, diag);
				used_src = true;
				if (hrr_fnv_none(h) && d2h && !two)
					*ret_later = l->extra[k];
			}
			if (rc < 0)
				return rc;
			if (hrr_fnv_none(h)) /* the reader could not tell which end it is of */
				h = (struct hrr_fnv){hrr_out_word(rec, "blob_hash_lo"),
						     hrr_out_word(rec, "blob_hash_hi")};
			set_hash(at, h);
			if (api == HRR_API___hipRegisterFatBinary) {
				bool said =
				    hrr_out_has_word(rec, "blob_size") || size == UINT64_MAX;
				set_le(at + 16, said ? hrr_out_word(rec, "blob_size") : size, 8);
			}
			break;
		case HRR_W_D2H:
			if (d2h)
				*ret_later = l->extra[k];
			break;
		case HRR_W_CO: {
			bool said = hrr_out_has_word(rec, "module_id");
			rc = hrr_out_blob_node(x, p, rec, blob_member(rec, "image"), true, &h,
					       &size, diag);
			if (rc < 0)
				return rc;
			set_hash(at, h);
			set_le(at + 16, said ? hrr_out_word(rec, "module_id") : p->modules, 4);
			p->modules++;
			used_src = true;
			break;
		}
		default:
			break;
		}
	}
	if (rec->blobs >= 0 && !used_src && hrr_json_count(j, rec->blobs) > 0)
		hrr_lost(x, "%s: the bytes it read", hrr_api_table[api].name);
	if (rec->dir >= 0 && !has_direction(api, l))
		hrr_lost(x, "%s: its direction", hrr_api_table[api].name);
	if (rec->host >= 0 && !used_host)
		hrr_lost(x, "%s: host memory as it was before the call", hrr_api_table[api].name);
	return 0;
}
