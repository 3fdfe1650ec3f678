#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "formats/hrr/export_private.h"
#include "lib/store/file.h"

static int write_in(const char *dir, const struct hrr_buf *b, struct hrr_diag *diag)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return hrr_diag_set(diag, -errno, "cannot open %s: %s", dir, strerror(errno));
	int rc = hrr_file_replace(fd, "manifest.json", b->data, b->len, 0600, diag);
	close(fd);
	return rc;
}

static const char *yes(bool b)
{
	return b ? "true" : "false";
}

/* Upstream prints "version" as M.m.p; ours is one number. */
static int metadata(struct hrr_buf *b, const struct out_process *p)
{
	struct hrr_json j = {0};
	int bad = 0;

	if (p->runtime.len == 0 || hrr_json_parse(&j, p->runtime.data, p->runtime.len, NULL) < 0) {
		hrr_json_release(&j);
		return 0;
	}
	int r = hrr_json_get(&j, 0, "runtime"), list = r >= 0 ? hrr_json_get(&j, r, "devices") : -1;
	uint64_t v = 0;
	int n = r >= 0 ? hrr_json_get(&j, r, "version") : -1;
	uint32_t devices =
	    list >= 0 && j.nodes[list].type == HRR_JSON_ARRAY ? hrr_json_count(&j, list) : 0;

	bad |= hrr_buf_adds(b, ",\n  \"metadata\": {\n    \"schema_version\": 1");
	if (n >= 0 && hrr_json_u64(&j, n, &v) == 0)
		bad |= hrr_buf_addf(b,
				    ",\n    \"runtime\": {\n      \"hip_runtime_version\": "
				    "\"%llu.%llu.%llu\"\n    }",
				    (unsigned long long)(v / 10000000),
				    (unsigned long long)(v / 100000 % 100),
				    (unsigned long long)(v % 100000));
	else if (p->major > 0)
		bad |= hrr_buf_addf(b,
				    ",\n    \"runtime\": {\n      \"hip_runtime_version\": \"%d\"\n"
				    "    }",
				    p->major);
	bad |= hrr_buf_addf(b,
			    ",\n    \"device_count\": %u,\n    \"captured_device_count\": %u,\n"
			    "    \"devices\": [",
			    devices, devices);
	int i = 0;
	for (int d = devices > 0 ? hrr_json_first(&j, list) : -1; d >= 0;
	     d = hrr_json_next(&j, list, d), i++) {
		static const char *const ours[] = {"name", "arch", "memory"},
					 *const theirs[] = {"name", "gcn_arch_name",
							    "total_global_mem"};
		bool first = true;
		bad |= hrr_buf_addf(b,
				    "%s\n      {\n        \"ordinal\": %d,\n"
				    "        \"properties\": {",
				    i > 0 ? "," : "", i);
		for (int k = 0; k < 3 && j.nodes[d].type == HRR_JSON_OBJECT; k++) {
			int m = hrr_json_get(&j, d, ours[k]);
			if (m < 0)
				continue;
			bool string = j.nodes[m].type == HRR_JSON_STRING;
			bad |= hrr_buf_addf(b, "%s\n          \"%s\": %s%.*s%s", first ? "" : ",",
					    theirs[k], string ? "\"" : "", (int)j.nodes[m].len,
					    j.text + j.nodes[m].off, string ? "\"" : "");
			first = false;
		}
		bad |= hrr_buf_adds(b, "\n        }\n      }");
	}
	bad |= hrr_buf_adds(b, i > 0 ? "\n    ]\n  }" : "]\n  }");
	hrr_json_release(&j);
	return bad ? -ENOMEM : 0;
}

static int one(struct hrr_hrr8 *x, const struct out_process *p, struct hrr_diag *diag)
{
	struct hrr_buf *b = &x->rec;
	int bad;

	b->len = 0;
	bad =
	    hrr_buf_addf(b,
			 "{\n  \"pid\": %u,\n  \"parent_pid\": %lld,\n  \"complete\": %s,\n"
			 "  \"event_count\": %llu,\n  \"blob_count\": %zu,\n"
			 "  \"host_snapshots\": %llu,\n  \"host_snapshot_chunks\": %llu,\n"
			 "  \"host_snapshots_unordered\": 0,\n  \"unreplayable_apis\": [%.*s]",
			 p->pid, (long long)(p->parent >= 0 ? p->parent : 0), yes(p->complete),
			 (unsigned long long)p->count, p->n_files, (unsigned long long)p->snapshots,
			 (unsigned long long)p->snapshots, (int)p->not_recorded.len,
			 p->not_recorded.data != NULL ? p->not_recorded.data : "");
	bad |= metadata(b, p);
	bad |= hrr_buf_adds(b, "\n}\n");
	return bad ? hrr_diag_set(diag, -ENOMEM, "out of memory") : write_in(p->dir, b, diag);
}

static bool held(const struct out_process *p)
{
	return p->begun && p->written > 0;
}

int hrr_out_manifests(struct hrr_hrr8 *x, struct hrr_diag *diag)
{
	struct hrr_buf *b = &x->rec;
	uint32_t owner = 0, lowest = 0;
	int rc = 0, bad, n = 0;

	for (size_t i = 0; i < x->n && rc == 0; i++) {
		const struct out_process *p = &x->p[i];
		if (!held(p))
			continue;
		rc = one(x, p, diag);
		if (lowest == 0 || p->pid < lowest)
			lowest = p->pid;
		for (size_t k = 0; k < x->n; k++)
			if (held(&x->p[k]) && x->p[k].parent == p->pid && k != i)
				owner = p->pid;
	}
	if (rc < 0)
		return rc;
	b->len = 0;
	bad = hrr_buf_addf(b,
			   "{\n  \"version\": 1,\n  \"capture_mode\": \"in-tree\",\n"
			   "  \"owner_pid\": %u,\n  \"processes\": [",
			   owner != 0 ? owner : lowest);
	/* by pid; the list is short */
	for (uint64_t last = 0, next; n < 4096; last = next) {
		const struct out_process *p = NULL;
		for (size_t i = 0; i < x->n; i++)
			if (held(&x->p[i]) && (n == 0 || x->p[i].pid > last) &&
			    (p == NULL || x->p[i].pid < p->pid))
				p = &x->p[i];
		if (p == NULL)
			break;
		next = p->pid;
		bad |= hrr_buf_addf(b,
				    "%s\n    {\n      \"pid\": %u,\n      \"parent_pid\": %lld,\n"
				    "      \"complete\": %s,\n      \"event_count\": %llu,\n"
				    "      \"blob_count\": %zu\n    }",
				    n++ > 0 ? "," : "", p->pid,
				    (long long)(p->parent >= 0 ? p->parent : 0), yes(p->complete),
				    (unsigned long long)p->count, p->n_files);
	}
	bad |= hrr_buf_adds(b, n > 0 ? "\n  ]\n}\n" : "]\n}\n");
	return bad ? hrr_diag_set(diag, -ENOMEM, "out of memory") : write_in(x->dir, b, diag);
}
