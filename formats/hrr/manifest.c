#include "formats/hrr/manifest.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/json.h"
#include "lib/store/file.h"

void hrr_up_manifest_release(struct hrr_up_manifest *m)
{
	free(m->devices);
	for (size_t i = 0; i < m->n_unreplayable; i++)
		free(m->unreplayable[i]);
	free(m->unreplayable);
	*m = (struct hrr_up_manifest){0};
}

static int64_t number(const struct hrr_json *j, int object, const char *key)
{
	int64_t v;
	int node = hrr_json_get(j, object, key);

	return node >= 0 && hrr_json_i64(j, node, &v) == 0 && v >= 0 ? v : -1;
}

/* A string member into text, cut to fit; what is none is empty. -ENOMEM. */
static int text_of(const struct hrr_json *j, int object, const char *key, char *text, size_t size)
{
	struct hrr_buf b = {0};
	int node = hrr_json_get(j, object, key);

	text[0] = '\0';
	if (node < 0 || j->nodes[node].type != HRR_JSON_STRING || hrr_json_str(j, node, &b) < 0) {
		int rc = b.failed ? -ENOMEM : 0;
		hrr_buf_release(&b);
		return rc;
	}
	size_t n = b.len < size - 1 ? b.len : size - 1;
	memcpy(text, b.data, n);
	text[n] = '\0';
	hrr_buf_release(&b);
	return 0;
}

static int devices(struct hrr_up_manifest *m, const struct hrr_json *j, int metadata)
{
	int list = hrr_json_get(j, metadata, "devices");

	if (list < 0 || j->nodes[list].type != HRR_JSON_ARRAY)
		return 0;
	m->devices = calloc(HRR_UP_MAX_DEVICES, sizeof *m->devices);
	if (m->devices == NULL)
		return -ENOMEM;
	for (int i = hrr_json_first(j, list); i >= 0 && m->n_devices < HRR_UP_MAX_DEVICES;
	     i = hrr_json_next(j, list, i)) {
		struct hrr_up_device *d = &m->devices[m->n_devices];
		int p = j->nodes[i].type == HRR_JSON_OBJECT ? hrr_json_get(j, i, "properties") : -1;
		if (p < 0 || j->nodes[p].type != HRR_JSON_OBJECT)
			continue;
		if (text_of(j, p, "name", d->name, sizeof d->name) < 0 ||
		    text_of(j, p, "gcn_arch_name", d->arch, sizeof d->arch) < 0)
			return -ENOMEM;
		int64_t memory = number(j, p, "total_global_mem");
		d->memory = memory < 0 ? 0 : (uint64_t)memory;
		m->n_devices++;
	}
	return 0;
}

static int unreplayable(struct hrr_up_manifest *m, const struct hrr_json *j)
{
	int list = hrr_json_get(j, 0, "unreplayable_apis");

	if (list < 0 || j->nodes[list].type != HRR_JSON_ARRAY)
		return 0;
	uint32_t n = hrr_json_count(j, list);
	if (n > HRR_UP_MAX_UNREPLAYABLE)
		n = HRR_UP_MAX_UNREPLAYABLE;
	m->unreplayable = calloc(n > 0 ? n : 1, sizeof *m->unreplayable);
	if (m->unreplayable == NULL)
		return -ENOMEM;
	for (int i = hrr_json_first(j, list); i >= 0 && m->n_unreplayable < n;
	     i = hrr_json_next(j, list, i)) {
		struct hrr_buf b = {0};
		if (j->nodes[i].type != HRR_JSON_STRING)
			continue;
		if (hrr_json_str(j, i, &b) < 0 || hrr_buf_str(&b) == NULL) {
			hrr_buf_release(&b);
			return -ENOMEM;
		}
		m->unreplayable[m->n_unreplayable++] = b.data; /* taken */
	}
	return 0;
}

int hrr_up_manifest_read(struct hrr_up_manifest *m, const char *dir, struct hrr_diag *diag)
{
	char path[PATH_MAX];
	struct hrr_buf b = {0};
	struct hrr_json j = {0};
	int rc;

	*m = (struct hrr_up_manifest){.pid = -1,
				      .parent_pid = -1,
				      .event_count = -1,
				      .blob_count = -1,
				      .complete = -1,
				      .major = -1,
				      .minor = -1,
				      .patch = -1};
	if (snprintf(path, sizeof path, "%s/manifest.json", dir) >= (int)sizeof path)
		return -ENAMETOOLONG;
	rc = hrr_file_read_plain(path, HRR_UP_MAX_MANIFEST, &b);
	if (rc == -ENOENT) {
		rc = 0;
		goto out;
	}
	if (rc < 0) {
		rc = hrr_diag_set(diag, rc, "cannot read: %s", hrr_file_why(rc));
		goto out;
	}
	rc = hrr_json_parse(&j, b.len > 0 ? b.data : "", b.len, diag);
	if (rc == 0 && j.nodes[0].type != HRR_JSON_OBJECT)
		rc = hrr_diag_set(diag, -EINVAL, "manifest.json: not an object");
	if (rc < 0)
		goto out;
	m->there = true;
	m->pid = number(&j, 0, "pid");
	m->parent_pid = number(&j, 0, "parent_pid");
	m->event_count = number(&j, 0, "event_count");
	m->blob_count = number(&j, 0, "blob_count");
	int complete = hrr_json_get(&j, 0, "complete");
	if (complete >= 0 &&
	    (j.nodes[complete].type == HRR_JSON_TRUE || j.nodes[complete].type == HRR_JSON_FALSE))
		m->complete = j.nodes[complete].type == HRR_JSON_TRUE;
	rc = unreplayable(m, &j);
	int metadata = hrr_json_get(&j, 0, "metadata");
	if (rc == 0 && metadata >= 0 && j.nodes[metadata].type == HRR_JSON_OBJECT) {
		int run = hrr_json_get(&j, metadata, "runtime");
		char version[64] = "";
		if (run >= 0 && j.nodes[run].type == HRR_JSON_OBJECT)
			rc = text_of(&j, run, "hip_runtime_version", version, sizeof version);
		if (sscanf(version, "%9d.%9d.%9d", &m->major, &m->minor, &m->patch) < 1 ||
		    m->major < 0)
			m->major = -1;
		if (rc == 0)
			rc = devices(m, &j, metadata);
	}
out:
	if (rc < 0)
		hrr_up_manifest_release(m);
	hrr_json_release(&j);
	hrr_buf_release(&b);
	return rc;
}
