#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/store/export_private.h"
#include "lib/stream/edit.h"

static int no_memory(struct hrr_diag *diag)
{
	return hrr_diag_set(diag, -ENOMEM, "out of memory");
}

/* Bytes that say nothing, the same for equal ids within one export. */
static int put_redacted(struct hrr_export *x, const struct hrr_id *id, size_t len,
			struct hrr_id *ret_id, struct hrr_diag *diag)
{
	unsigned char *bytes = malloc(len + 1);
	struct hrr_hasher *h = hrr_hasher_new();
	int rc = -ENOMEM;

	if (bytes == NULL || h == NULL) {
		no_memory(diag);
		goto out;
	}
	for (size_t i = 0; i < len; i += sizeof id->b) {
		uint64_t counter = i;
		hrr_hasher_add(h, x->key, sizeof x->key);
		hrr_hasher_add(h, id->b, sizeof id->b);
		hrr_hasher_add(h, &counter, sizeof counter);
		struct hrr_id piece = hrr_hasher_end(h);
		memcpy(bytes + i, piece.b, len - i < sizeof piece.b ? len - i : sizeof piece.b);
	}
	rc = hrr_blobs_put(hrr_archive_blobs(x->archive), bytes, len, ret_id, diag);
out:
	hrr_hasher_free(h);
	free(bytes);
	return rc;
}

/* As it is: by link where that can be. */
static int put_same(struct hrr_export *x, struct hrr_blobs *from, const struct hrr_id *id,
		    struct hrr_id *ret_id, struct hrr_diag *diag)
{
	struct hrr_blobs *to = hrr_archive_blobs(x->archive);
	char path[4096];
	struct hrr_blob b;

	if (hrr_blobs_file(from, id, path, sizeof path) == 0 && hrr_blobs_link(to, path, id) == 0)
		return 0;
	int rc = hrr_blobs_get(from, id, 0, &b, diag);
	if (rc < 0)
		return rc;
	rc = hrr_blobs_put(to, b.data, b.len, ret_id, diag);
	hrr_blob_release(&b);
	return rc;
}

static int put_code(struct hrr_export *x, struct hrr_blobs *from, const struct hrr_id *id,
		    struct hrr_id *ret_id, struct hrr_diag *diag)
{
	struct hrr_buf code = {0};
	struct hrr_blob b;
	int rc = hrr_blobs_get(from, id, 0, &b, diag);

	if (rc < 0)
		return rc;
	rc = x->opt.code(x->opt.code_self, b.data, b.len, &code, diag);
	if (rc == 0)
		rc =
		    hrr_blobs_put(hrr_archive_blobs(x->archive), code.data, code.len, ret_id, diag);
	else if (rc == -ENOENT)
		rc = put_same(x, from, id, ret_id, diag);
	hrr_blob_release(&b);
	hrr_buf_release(&code);
	return rc;
}

/* *ret_id: the id under which the new archive has it. */
static int take_blob(struct hrr_export *x, struct hrr_source *src, uint32_t p,
		     const struct hrr_id *id, enum export_way way, struct hrr_id *ret_id,
		     struct hrr_diag *diag)
{
	const struct hrr_id *ids = (const void *)x->new_ids.data;
	const uint64_t *at = hrr_idmap_get(&x->done[way], id);
	struct hrr_blobs *from;
	uint64_t len;
	int rc;

	if (at != NULL) {
		*ret_id = ids[*at];
		return 0;
	}
	*ret_id = *id;
	from = hrr_source_blobs(src, p, diag);
	if (from == NULL)
		return -ENXIO;
	rc = hrr_blobs_check(from, id, &len, NULL, NULL, diag);
	if (rc < 0)
		return rc;
	x->bytes += len;
	if (way == EXPORT_REDACTED)
		rc = put_redacted(x, id, (size_t)len, ret_id, diag);
	else if (way == EXPORT_CODE)
		rc = put_code(x, from, id, ret_id, diag);
	else
		rc = put_same(x, from, id, ret_id, diag);
	if (rc < 0)
		return rc;
	if (hrr_idmap_add(&x->done[way], id, x->new_ids.len / sizeof *ids) < 0 ||
	    hrr_buf_add(&x->new_ids, ret_id, sizeof *ret_id) < 0)
		return no_memory(diag);
	return 0;
}

/* Code is never made to say nothing: without it nothing runs. */
static enum export_way way_of(const struct hrr_export *x, const struct hrr_json *j, uint32_t node)
{
	int key = (int)node - 1;

	if (j->nodes[key].key && (hrr_json_is(j, key, "object") || hrr_json_is(j, key, "image")))
		return x->opt.code != NULL ? EXPORT_CODE : EXPORT_AS_IS;
	return x->opt.redact ? EXPORT_REDACTED : EXPORT_AS_IS;
}

/* A blob that cannot be had: in a repair its output becomes unknown, a call stays as it is. */
static int without_blob(struct hrr_export *x, const struct hrr_record *rec, int rc,
			struct hrr_diag *diag)
{
	struct hrr_buf value = {0};
	const char *why = rc == -EBADMSG ? "its blob was damaged" : "its blob was missing";

	if (!x->opt.repair || (rc != -ENOENT && rc != -EBADMSG))
		return rc;
	if (rec->kind != HRR_REC_OUTPUT) {
		hrr_export_repaired(x, "a call stays broken", diag);
		return 0;
	}
	if (hrr_json_put_str(&value, why, strlen(why)) < 0)
		return no_memory(diag);
	const struct hrr_edit edits[] = {
	    {.key = "blob", .value = NULL},
	    {.key = "unknown", .value = value.data, .len = value.len, .missing = HRR_EDIT_LAST},
	};
	x->line.len = 0;
	rc = hrr_record_edit(rec, edits, 2, &x->line);
	hrr_buf_release(&value);
	if (rc < 0)
		return no_memory(diag);
	hrr_export_repaired(x, "an output is now of unknown bytes", diag);
	return 0;
}

int hrr_export_take_blobs(struct hrr_export *x, struct hrr_source *src,
			  const struct hrr_record *rec, struct hrr_diag *diag)
{
	const struct hrr_json *j = &rec->json;
	bool broken = false;

	x->line.len = 0;
	for (uint32_t i = 1; i < j->n && !broken; i++) {
		struct hrr_id id, now;
		char text[HRR_ID_TEXT + 1];
		if (j->nodes[i].type != HRR_JSON_STRING || j->nodes[i].len != HRR_ID_TEXT ||
		    hrr_id_parse(j->text + j->nodes[i].off, j->nodes[i].len, &id) < 0)
			continue;
		int rc = take_blob(x, src, rec->p, &id, way_of(x, j, i), &now, diag);
		if (rc < 0) {
			rc = without_blob(x, rec, rc, diag);
			if (rc < 0)
				return rc;
			broken = rec->kind == HRR_REC_OUTPUT; /* x->line is what it becomes */
			continue;
		}
		if (hrr_id_equal(&id, &now))
			continue;
		/* An id is as long as any other: it is replaced in place. */
		if (x->line.len == 0 && hrr_buf_add(&x->line, j->text, j->len) < 0)
			return no_memory(diag);
		hrr_id_text(&now, text);
		memcpy(x->line.data + j->nodes[i].off, text, HRR_ID_TEXT);
	}
	return 0;
}
