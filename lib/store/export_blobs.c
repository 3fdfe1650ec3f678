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

/* *ret_id: the id under which the new archive has it. */
static int take_blob(struct hrr_export *x, struct hrr_source *src, uint32_t p,
		     const struct hrr_id *id, bool payload, struct hrr_id *ret_id,
		     struct hrr_diag *diag)
{
	struct hrr_blobs *from, *to = hrr_archive_blobs(x->archive);
	bool redact = x->opt.redact && payload;
	struct hrr_idmap *done = redact ? &x->redacted : &x->done;
	const struct hrr_id *ids = (const void *)x->new_ids.data;
	const uint64_t *at = hrr_idmap_get(done, id);
	struct hrr_blob b;
	char path[4096];
	uint64_t len;
	int rc;

	*ret_id = *id;
	if (at != NULL) {
		if (redact)
			*ret_id = ids[*at];
		return 0;
	}
	from = hrr_source_blobs(src, p, diag);
	if (from == NULL)
		return -ENXIO;
	rc = hrr_blobs_check(from, id, &len, NULL, NULL, diag);
	if (rc < 0)
		return rc;
	x->bytes += len;
	if (redact) {
		rc = put_redacted(x, id, (size_t)len, ret_id, diag);
	} else if (hrr_blobs_file(from, id, path, sizeof path) < 0 ||
		   hrr_blobs_link(to, path, id) < 0) {
		rc = hrr_blobs_get(from, id, 0, &b, diag);
		if (rc == 0) {
			rc = hrr_blobs_put(to, b.data, b.len, ret_id, diag);
			hrr_blob_release(&b);
		}
	}
	if (rc < 0)
		return rc;
	if (hrr_idmap_add(done, id, x->new_ids.len / sizeof *ids) < 0 ||
	    (redact && hrr_buf_add(&x->new_ids, ret_id, sizeof *ret_id) < 0))
		return no_memory(diag);
	return 0;
}

/* Code stays what it is: without it nothing runs. */
static bool is_payload(const struct hrr_json *j, uint32_t node)
{
	int key = (int)node - 1;

	return !j->nodes[key].key ||
	       !(hrr_json_is(j, key, "object") || hrr_json_is(j, key, "image"));
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
		int rc = take_blob(x, src, rec->p, &id, is_payload(j, i), &now, diag);
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
