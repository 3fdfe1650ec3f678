#include "lib/store/verify.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/idmap.h"
#include "lib/store/file.h"

enum { WHOLE, MISSING, DAMAGED };

struct hrr_verify {
	struct hrr_idmap seen; /* to one of the above */
	struct hrr_verify_sum sum;
	struct hrr_buf folders; /* char *: blob folders met, owned */
};

struct hrr_verify *hrr_verify_new(void)
{
	return calloc(1, sizeof(struct hrr_verify));
}

void hrr_verify_free(struct hrr_verify *v)
{
	if (v == NULL)
		return;
	char **folders = (void *)v->folders.data;
	for (size_t i = 0; i < v->folders.len / sizeof *folders; i++)
		free(folders[i]);
	hrr_buf_release(&v->folders);
	hrr_idmap_release(&v->seen);
	free(v);
}

void hrr_verify_sum(const struct hrr_verify *v, struct hrr_verify_sum *ret)
{
	*ret = v->sum;
}

static int note_folder(struct hrr_verify *v, const char *path)
{
	char **folders = (void *)v->folders.data, *copy;

	for (size_t i = 0; i < v->folders.len / sizeof *folders; i++)
		if (strcmp(folders[i], path) == 0)
			return 0;
	copy = strdup(path);
	if (copy == NULL || hrr_buf_add(&v->folders, &copy, sizeof copy) < 0) {
		free(copy);
		return -ENOMEM;
	}
	return 0;
}

static int look(struct hrr_verify *v, struct hrr_source *src, uint32_t p, const struct hrr_id *id,
		uint64_t *ret_state, struct hrr_diag *diag)
{
	const uint64_t *known = hrr_idmap_get(&v->seen, id);
	struct hrr_blobs *store;
	struct hrr_blob blob;

	if (known != NULL) {
		*ret_state = *known;
		return 0;
	}
	store = hrr_source_blobs(src, p, diag);
	if (store == NULL)
		return -EIO;
	int rc = hrr_blobs_get(store, id, 0, &blob, diag);
	if (rc < 0 && rc != -ENOENT && rc != -EBADMSG)
		return rc;
	*ret_state = rc == 0 ? WHOLE : rc == -ENOENT ? MISSING : DAMAGED;
	v->sum.missing += rc == -ENOENT;
	v->sum.damaged += rc == -EBADMSG;
	v->sum.blobs += rc != -ENOENT;
	if (rc == 0) {
		v->sum.bytes += blob.len;
		hrr_blob_release(&blob);
	}
	if (hrr_idmap_add(&v->seen, id, *ret_state) < 0 ||
	    note_folder(v, hrr_blobs_path(store)) < 0)
		return hrr_diag_set(diag, -ENOMEM, "out of memory");
	return 0;
}

static int put_masked(struct hrr_buf *b, const char *s, size_t len)
{
	if (len > SIZE_MAX / 8 || hrr_buf_reserve(b, 4 * len + 8) < 0)
		return -ENOMEM;
	b->len += hrr_mask(b->data + b->len, 4 * len + 8, s, len);
	return 0;
}

/* What breaks: the record, and as what it names the blob. */
static int put_use(struct hrr_buf *b, const struct hrr_record *rec, int node)
{
	const struct hrr_json *j = &rec->json;
	size_t len;
	const char *kernel;
	int bad = 0;

	if (hrr_json_get(j, 0, "p") >= 0)
		bad |= hrr_buf_addf(b, "process %u ", rec->p);
	switch (rec->kind) {
	case HRR_REC_CALL:
		kernel = hrr_json_raw(j, hrr_json_get(j, rec->kernel, "name"), &len);
		bad |= hrr_buf_addf(b, "%s %llu ", kernel != NULL ? "launch" : "call",
				    (unsigned long long)rec->seq);
		bad |= put_masked(b, rec->api, rec->api_len);
		if (kernel != NULL) {
			bad |= hrr_buf_addc(b, ' ');
			bad |= put_masked(b, kernel, len);
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
		bad |= put_masked(b, j->text + j->nodes[node - 1].off, j->nodes[node - 1].len);
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
		if (state == WHOLE)
			continue;
		broken = true;
		char text[HRR_ID_TEXT + 1];
		hrr_id_text(&id, text);
		int bad = hrr_buf_addf(b, "blob %s is %s: ", text,
				       state == MISSING ? "missing" : "damaged");
		bad |= put_use(b, rec, (int)i);
		bad |= hrr_buf_addc(b, '\n');
		if (bad)
			return hrr_diag_set(diag, -ENOMEM, "out of memory");
	}
	v->sum.uses += broken;
	return 0;
}

static int orphans_in(struct hrr_verify *v, const char *folder, const char *two, struct hrr_buf *b)
{
	char *path = hrr_path_join(folder, two);
	DIR *d = path != NULL ? opendir(path) : NULL;
	int bad = path == NULL ? -ENOMEM : 0;

	for (struct dirent *e; d != NULL && bad == 0 && (e = readdir(d)) != NULL;) {
		char text[HRR_ID_TEXT + 1] = "xxh128:";
		struct hrr_id id;
		if (strlen(e->d_name) != HRR_ID_HEX || memcmp(e->d_name, two, 2) != 0)
			continue;
		memcpy(text + 7, e->d_name, HRR_ID_HEX + 1);
		if (hrr_id_parse(text, HRR_ID_TEXT, &id) < 0 ||
		    hrr_idmap_get(&v->seen, &id) != NULL)
			continue;
		v->sum.orphaned++;
		bad = hrr_buf_addf(b, "blob %s is orphaned: nothing names it\n", text);
	}
	if (d != NULL)
		closedir(d);
	free(path);
	return bad;
}

int hrr_verify_orphans(struct hrr_verify *v, struct hrr_source *src, struct hrr_buf *b,
		       struct hrr_diag *diag)
{
	char **folders = (void *)v->folders.data;
	int bad = 0;

	/* A stream that names no blob may have a folder of them all the same. */
	const char *first = hrr_source_blobs_path(src, 0);
	if (first != NULL)
		bad = note_folder(v, first);
	folders = (void *)v->folders.data;
	for (size_t i = 0; bad == 0 && i < v->folders.len / sizeof *folders; i++)
		for (unsigned k = 0; bad == 0 && k < 256; k++) {
			static const char hex[] = "0123456789abcdef";
			const char two[3] = {hex[k >> 4], hex[k & 15], '\0'};
			bad = orphans_in(v, folders[i], two, b);
		}
	return bad ? hrr_diag_set(diag, -ENOMEM, "out of memory") : 0;
}
