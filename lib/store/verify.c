#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/idmap.h"
#include "lib/base/mask.h"
#include "lib/store/verify_private.h"

struct hrr_verify {
	struct hrr_verify_options opt;
	struct hrr_idmap seen; /* named by the stream: to one of the states */
	struct hrr_verify_sum sum;
	struct hrr_buf folders; /* of struct hrr_verify_folder *: blob folders met, owned */
	struct hrr_buf foreign; /* of struct hrr_blobs *: stores of other formats met, borrowed */
};

struct hrr_verify *hrr_verify_new(const struct hrr_verify_options *opt)
{
	struct hrr_verify *v = calloc(1, sizeof *v);

	if (v != NULL && opt != NULL)
		v->opt = *opt;
	return v;
}

void hrr_verify_free(struct hrr_verify *v)
{
	if (v == NULL)
		return;
	struct hrr_verify_folder **folders = (void *)v->folders.data;
	for (size_t i = 0; i < v->folders.len / sizeof(void *); i++)
		hrr_verify_folder_free(folders[i]);
	hrr_buf_release(&v->folders);
	hrr_buf_release(&v->foreign);
	hrr_idmap_release(&v->seen);
	free(v);
}

void hrr_verify_sum(const struct hrr_verify *v, struct hrr_verify_sum *ret)
{
	*ret = v->sum;
}

static int no_memory(struct hrr_diag *diag)
{
	return hrr_diag_set(diag, -ENOMEM, "out of memory");
}

/* What is known of a store: its files were all read when it was met, if that was asked for. */
static int folder_of(struct hrr_verify *v, struct hrr_blobs *store, struct hrr_verify_folder **ret,
		     struct hrr_diag *diag)
{
	struct hrr_verify_folder **folders = (void *)v->folders.data, *new;

	for (size_t i = 0; i < v->folders.len / sizeof(void *); i++)
		if (strcmp(hrr_verify_folder_path(folders[i]), hrr_blobs_path(store)) == 0) {
			*ret = folders[i];
			return 0;
		}
	int rc = hrr_verify_folder_new(&new, store, &v->opt, diag);
	if (rc < 0)
		return rc;
	if (hrr_buf_add(&v->folders, &new, sizeof new) < 0) {
		hrr_verify_folder_free(new);
		return no_memory(diag);
	}
	*ret = new;
	return 0;
}

static int note_foreign(struct hrr_verify *v, struct hrr_blobs *store)
{
	struct hrr_blobs **stores = (void *)v->foreign.data;

	for (size_t i = 0; i < v->foreign.len / sizeof *stores; i++)
		if (stores[i] == store)
			return 0;
	return hrr_buf_add(&v->foreign, &store, sizeof store);
}

static int check(struct hrr_verify *v, struct hrr_blobs *store, const struct hrr_id *id,
		 uint64_t *ret_state, uint64_t *ret_size, struct hrr_diag *diag)
{
	struct hrr_verify_folder *f;
	int rc;

	*ret_size = 0;
	if (hrr_blobs_is_foreign(store)) {
		rc = note_foreign(v, store) < 0 ? no_memory(diag) : 0;
	} else {
		rc = folder_of(v, store, &f, diag);
		if (rc == 0 && hrr_verify_folder_knows(f, id, ret_state, ret_size))
			return 0;
	}
	if (rc < 0)
		return rc;
	rc = hrr_blobs_check(store, id, ret_size, NULL, NULL, diag);
	if (rc < 0 && rc != -ENOENT && rc != -EBADMSG)
		return rc;
	*ret_state = rc == 0	     ? HRR_VERIFY_WHOLE
		     : rc == -ENOENT ? HRR_VERIFY_MISSING
				     : HRR_VERIFY_DAMAGED;
	return 0;
}

static int look(struct hrr_verify *v, struct hrr_source *src, uint32_t p, const struct hrr_id *id,
		uint64_t *ret_state, struct hrr_diag *diag)
{
	const uint64_t *known = hrr_idmap_get(&v->seen, id);
	uint64_t size;

	if (known != NULL) {
		*ret_state = *known;
		return 0;
	}
	struct hrr_blobs *store = hrr_source_blobs(src, p, diag);
	if (store == NULL)
		return -EIO;
	int rc = check(v, store, id, ret_state, &size, diag);
	if (rc < 0)
		return rc;
	v->sum.missing += *ret_state == HRR_VERIFY_MISSING;
	v->sum.damaged += *ret_state == HRR_VERIFY_DAMAGED;
	v->sum.blobs += *ret_state != HRR_VERIFY_MISSING;
	v->sum.bytes += size;
	return hrr_idmap_add(&v->seen, id, *ret_state) < 0 ? no_memory(diag) : 0;
}

/* What breaks: the record, and as what it names the blob. */
static int put_use(struct hrr_buf *b, const struct hrr_record *rec, int node)
{
	const struct hrr_json *j = &rec->json;
	size_t len;
	const char *kernel;
	int bad = 0, of = hrr_kernel_next(j, rec->kernel, -1);

	/* Of several launches the one that the node belongs to. */
	for (int k = of; k >= 0 && k < node; k = hrr_kernel_next(j, rec->kernel, k))
		of = k;
	if (hrr_json_get(j, 0, "p") >= 0)
		bad |= hrr_buf_addf(b, "process %u ", rec->p);
	switch (rec->kind) {
	case HRR_REC_CALL:
		kernel = hrr_json_raw(j, hrr_json_get(j, of, "name"), &len);
		bad |= hrr_buf_addf(b, "%s %llu ", kernel != NULL ? "launch" : "call",
				    (unsigned long long)rec->seq);
		bad |= hrr_mask_add(b, rec->api, rec->api_len);
		if (kernel != NULL) {
			bad |= hrr_buf_addc(b, ' ');
			bad |= hrr_mask_add(b, kernel, len);
		}
		break;
	case HRR_REC_OUTPUT:
		bad |= hrr_buf_addf(b, "output of %llu", (unsigned long long)rec->seq);
		break;
	case HRR_REC_HEADER:
	case HRR_REC_REGION:
	case HRR_REC_RUNTIME:
	case HRR_REC_END:
	case HRR_REC_OTHER:
		bad |= hrr_buf_addf(b, "line %llu", (unsigned long long)rec->lineno);
		break;
	}
	if (j->nodes[node - 1].key) {
		bad |= hrr_buf_addc(b, ' ');
		bad |= hrr_mask_add(b, j->text + j->nodes[node - 1].off, j->nodes[node - 1].len);
	}
	return bad;
}

int hrr_verify_record(struct hrr_verify *v, struct hrr_source *src, const struct hrr_record *rec,
		      struct hrr_buf *b, struct hrr_diag *diag)
{
	const struct hrr_json *j = &rec->json;
	bool broken = false;

	for (uint32_t i = 1; i < j->n; i++) {
		struct hrr_id id;
		uint64_t state;
		if (j->nodes[i].type != HRR_JSON_STRING || j->nodes[i].len != HRR_ID_TEXT ||
		    hrr_id_parse(j->text + j->nodes[i].off, j->nodes[i].len, &id) < 0)
			continue;
		int rc = look(v, src, rec->p, &id, &state, diag);
		if (rc < 0)
			return rc;
		if (state == HRR_VERIFY_WHOLE)
			continue;
		broken = true;
		char text[HRR_ID_TEXT + 1];
		hrr_id_text(&id, text);
		int bad = hrr_buf_addf(b, "blob %s is %s: ", text,
				       state == HRR_VERIFY_MISSING ? "missing" : "damaged");
		bad |= put_use(b, rec, (int)i);
		bad |= hrr_buf_addc(b, '\n');
		if (bad)
			return hrr_diag_set(diag, -ENOMEM, "out of memory");
	}
	v->sum.uses += broken;
	return 0;
}

/* Where a line per orphan goes. */
struct orphans {
	struct hrr_verify *v;
	struct hrr_buf *b;
};

static int own_orphan(void *self, const struct hrr_id *id)
{
	struct orphans *o = self;
	char text[HRR_ID_TEXT + 1];

	if (hrr_idmap_get(&o->v->seen, id) != NULL)
		return 0;
	o->v->sum.orphaned++;
	hrr_id_text(id, text);
	return hrr_buf_addf(o->b, "blob %s is orphaned: nothing names it\n", text);
}

static int foreign_orphan(void *self, const char *name)
{
	struct orphans *o = self;

	o->v->sum.orphaned++;
	int bad = hrr_buf_adds(o->b, "blob ");
	bad |= hrr_mask_add(o->b, name, strlen(name));
	bad |= hrr_buf_adds(o->b, " is orphaned: nothing names it\n");
	return bad ? -ENOMEM : 0;
}

int hrr_verify_orphans(struct hrr_verify *v, struct hrr_source *src, struct hrr_buf *b,
		       struct hrr_diag *diag)
{
	struct orphans o = {v, b};
	struct hrr_verify_folder *f;
	int rc = 0;

	/* A stream that names no blob may have a folder of them all the same. */
	const char *first = hrr_source_blobs_path(src, 0);
	struct hrr_blobs *store = first != NULL ? hrr_source_blobs(src, 0, NULL) : NULL;
	if (store != NULL && hrr_blobs_is_foreign(store))
		rc = note_foreign(v, store) < 0 ? no_memory(diag) : 0;
	else if (store != NULL)
		rc = folder_of(v, store, &f, diag);
	struct hrr_verify_folder **folders = (void *)v->folders.data;
	for (size_t i = 0; rc == 0 && i < v->folders.len / sizeof(void *); i++)
		rc = hrr_verify_folder_each(folders[i], own_orphan, &o);
	struct hrr_blobs **stores = (void *)v->foreign.data;
	for (size_t i = 0; rc == 0 && i < v->foreign.len / sizeof *stores; i++)
		rc = hrr_blobs_orphans(stores[i], foreign_orphan, &o, diag);
	return rc == -ENOMEM ? no_memory(diag) : rc;
}
