/*
 * The samples beside the repository (../shared/data/hrr) against what was put into
 * them: every fact and every listed event of every archive, as the bytes are taken apart.
 */
#include <unistd.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#include "formats/hrr/blobs.h"
#include "formats/hrr/events.h"
#include "formats/hrr/launch.h"
#include "formats/hrr/manifest.h"
#include "formats/hrrr/hrrr.h"
#include "lib/base/json.h"
#include "lib/store/file.h"
#include "t/unit/tap.h"

static struct hrr_json j;
static const char *where; /* archive, process */
static uint64_t at_seq;
static int bad;

static void wrong(const char *what)
{
	bad++;
	diag("%s: event %llu: %s", where, (unsigned long long)at_seq, what);
}

static int get(int object, const char *key)
{
	int n = object >= 0 ? hrr_json_get(&j, object, key) : -1;

	return n >= 0 && j.nodes[n].type == HRR_JSON_NULL ? -1 : n;
}

static uint64_t num(int node)
{
	uint64_t v = 0;
	int64_t i;

	if (node >= 0 && hrr_json_addr(&j, node, &v) < 0 && hrr_json_i64(&j, node, &i) == 0)
		v = (uint64_t)i;
	return v;
}

static void same_num(int object, const char *key, uint64_t have)
{
	int n = get(object, key);

	if (n >= 0 && num(n) != have) {
		wrong(key);
		diag("  have %llu, want %llu", (unsigned long long)have,
		     (unsigned long long)num(n));
	}
}

static bool truth(int node)
{
	return node >= 0 && j.nodes[node].type == HRR_JSON_TRUE;
}

static bool text_is(int node, const char *s, size_t len)
{
	return node >= 0 && j.nodes[node].len == len &&
	       memcmp(j.text + j.nodes[node].off, s, len) == 0;
}

static bool hex_is(int node, const unsigned char *p, size_t n)
{
	if (node < 0 || j.nodes[node].len != 2 * n)
		return false;
	for (size_t i = 0; i < n; i++) {
		char t[3];
		snprintf(t, sizeof t, "%02x", p[i]);
		if (memcmp(j.text + j.nodes[node].off + 2 * i, t, 2) != 0)
			return false;
	}
	return true;
}

/* A hash, or {"hash":…,"size":…}, or null for none. */
static void same_hash(int event, const char *key, const unsigned char *p)
{
	struct hrr_fnv h = {hrr_le64(p), hrr_le64(p + 8)};
	int n = get(event, key), in = n;
	char t[HRR_FNV_HEX + 1];

	hrr_fnv_text(h, t);
	if (n >= 0 && j.nodes[n].type == HRR_JSON_OBJECT)
		in = get(n, "hash");
	if (n < 0 ? !hrr_fnv_none(h) : !text_is(in, t, HRR_FNV_HEX))
		wrong(key);
}

static void check_launch(int l, const struct hrr_launch *x)
{
	const unsigned char *p = x->args;
	char t[HRR_FNV_HEX + 1];
	int n;

	if (!text_is(get(l, "kernel"), x->name, x->name_len))
		wrong("kernel name");
	hrr_fnv_text(x->object, t);
	if (!text_is(get(l, "co_hash"), t, HRR_FNV_HEX))
		wrong("code object");
	same_num(l, "stream", x->stream);
	same_num(l, "shared_mem", x->lds);
	for (int k = 0; k < 2; k++) {
		int list = get(l, k ? "block" : "grid"), i = 0;
		for (n = list < 0 ? -1 : hrr_json_first(&j, list); n >= 0;
		     n = hrr_json_next(&j, list, n), i++)
			if (i > 2 || num(n) != (k ? x->block : x->grid)[i])
				wrong(k ? "block" : "grid");
	}
	int list = get(l, "args");
	if (hrr_json_count(&j, list) != x->n_args)
		wrong("number of arguments");
	n = hrr_json_first(&j, list);
	for (uint32_t i = 0; i < x->n_args && n >= 0; i++, n = hrr_json_next(&j, list, n)) {
		struct hrr_launch_arg a;
		p = hrr_launch_arg(p, &a);
		same_num(n, "kind", a.kind);
		same_num(n, "size", a.size);
		if (!hex_is(get(n, "bytes"), a.data, a.size))
			wrong("argument bytes");
		int ptrs = get(n, "pointers");
		if (ptrs < 0)
			continue;
		if (hrr_json_count(&j, ptrs) != a.n_ptrs)
			wrong("number of pointers");
		int q = hrr_json_first(&j, ptrs);
		for (uint32_t k = 0; k < a.n_ptrs && q >= 0; k++, q = hrr_json_next(&j, ptrs, q)) {
			same_num(q, "offset", hrr_le16(a.ptrs + 2 * k));
			same_num(q, "value", hrr_le64(a.data + hrr_le16(a.ptrs + 2 * k)));
		}
	}
	int attrs = get(l, "attrs");
	if (attrs >= 0) {
		same_num(attrs, "n", x->n_attrs);
		same_num(attrs, "stride", x->stride);
		if (!hex_is(get(attrs, "bytes"), x->attrs, (size_t)x->n_attrs * x->stride))
			wrong("attributes");
	}
	list = get(l, "snapshots");
	if (list < 0)
		return;
	if (hrr_json_count(&j, list) != x->n_snapshots)
		wrong("number of snapshots");
	n = hrr_json_first(&j, list);
	for (uint32_t i = 0; i < x->n_snapshots && n >= 0; i++, n = hrr_json_next(&j, list, n)) {
		const unsigned char *s = x->snapshots + (size_t)i * HRR_UP_SNAPSHOT;
		same_num(n, "ptr", hrr_le64(s));
		same_num(n, "offset", hrr_le64(s + 8));
		same_num(n, "length", hrr_le64(s + 16));
		same_hash(n, "hash", s + 24);
		same_num(n, "direction", s[40]);
	}
}

/* Dots of a dim3: numBlocks_x. */
static bool box_arg(const struct hrr_api_row *row, const struct hrr_layout *l,
		    const struct hrr_event *ev, const char *key, size_t len, uint64_t *ret)
{
	int i = len > 2 ? hrr_api_param((enum hrr_api)(row - hrr_api_table), key, len - 2) : -1;

	if (i < 0 || row->params[i].kind != HRR_K_DIM3)
		return false;
	*ret = hrr_le32(ev->data + l->at[i] + 4 * (key[len - 1] - 'x'));
	return true;
}

static void check_args(int e, enum hrr_api api, const struct hrr_layout *l,
		       const struct hrr_event *ev)
{
	const struct hrr_api_row *row = &hrr_api_table[api];
	const struct hrr_wire_row *w = hrr_wire_row(api);
	int args = get(e, "args"), n;
	uint64_t v;

	for (n = args < 0 ? -1 : hrr_json_first(&j, args); n >= 0; n = hrr_json_next(&j, args, n)) {
		const char *key = j.text + j.nodes[n].off;
		size_t len = j.nodes[n].len;
		int i = hrr_api_param(api, key, len);
		if (i >= 0 && l->width[i] == 4) {
			int64_t s = (int32_t)hrr_le32(ev->data + l->at[i]);
			bool sign = row->params[i].kind == HRR_K_INT ||
				    row->params[i].kind == HRR_K_DEVICE ||
				    row->params[i].kind == HRR_K_ENUM;
			v = sign ? (uint64_t)s : hrr_le32(ev->data + l->at[i]);
		} else if (i >= 0 && l->width[i] == 8) {
			v = hrr_le64(ev->data + l->at[i]);
		} else if (text_is(n, "blob_size", 9)) {
			v = hrr_le64(ev->data + l->extra[1]);
		} else if (text_is(n, "module_id", 9)) {
			v = hrr_le32(ev->data + l->extra[0] + 16);
		} else if (!box_arg(row, l, ev, key, len, &v)) {
			wrong("a parameter that is not in the row");
			diag("  %s %.*s", row->name, (int)len, key);
			continue;
		}
		if (num(n + 1) != v) {
			wrong("argument");
			diag("  %s %.*s: have %llu", row->name, (int)len, key,
			     (unsigned long long)v);
		}
	}
	int in = get(e, "inline");
	for (int k = 0; k < w->n; k++) {
		const struct hrr_wire_extra *x = &w->extra[k];
		const unsigned char *p = ev->data + l->extra[k];
		if (l->extra[k] == 0)
			continue;
		if (x->what == HRR_W_HASH)
			same_hash(e, "blob", p);
		else if (x->what == HRR_W_D2H)
			same_hash(e, "d2h", p);
		else if (x->what == HRR_W_CO)
			same_hash(e, "co", p);
		if (x->what != HRR_W_IN)
			continue;
		int q = get(in, row->params[x->param].name);
		if (q < 0 || truth(get(q, "present")) != (p[x->size] != 0)) {
			wrong("inlined pointee");
			continue;
		}
		if (x->elem > 0 && get(q, "n") >= 0)
			same_num(q, "n", hrr_le32(p + x->size + 1));
		int list = get(q, "handles"), i = 0;
		for (int m = list < 0 ? -1 : hrr_json_first(&j, list); m >= 0;
		     m = hrr_json_next(&j, list, m), i++)
			if (num(m) != hrr_le64(p + 8 * i))
				wrong("inlined handle");
	}
}

static void check_event(int e, const struct hrr_event *ev, int version, int base)
{
	int api = hrr_wire_api(version, base, (int)ev->type);
	struct hrr_layout l;
	struct hrr_launch launch;
	const char *why;

	same_num(e, "seq", ev->seq);
	same_num(e, "tid", ev->tid);
	same_num(e, "t", ev->t);
	same_num(e, "type", ev->type);
	same_num(e, "length", ev->len);
	same_num(e, "file_offset", ev->offset);
	if (api < 0 ||
	    !text_is(get(e, "api"), hrr_api_table[api].name, strlen(hrr_api_table[api].name))) {
		if (!text_is(get(e, "api"), "UNKNOWN", 7))
			wrong("name of the call");
		return;
	}
	if (get(e, "launch") >= 0) {
		if (hrr_launch_read(ev, version, &launch, &why) < 0)
			wrong(why);
		else
			check_launch(get(e, "launch"), &launch);
		return;
	}
	if (get(e, "undecoded") >= 0)
		return;
	if (hrr_layout_of((enum hrr_api)api, version, &l) < 0 || ev->len < l.size) {
		wrong("layout");
		return;
	}
	if (l.ret_width == 4)
		same_num(e, "ret", (uint64_t)(int64_t)(int32_t)hrr_le32(ev->data + l.ret));
	else if (l.ret_width == 8)
		same_num(e, "ret", hrr_le64(ev->data + l.ret));
	check_args(e, (enum hrr_api)api, &l, ev);
}

static void check_facts(int p, const struct hrr_events_facts *f)
{
	static const char *const torn[] = {NULL, "header", "payload", "length", "length"};
	int t = get(p, "torn"), tr = get(p, "trailer");

	same_num(p, "file_size", f->file_size);
	same_num(p, "version", (uint64_t)f->version);
	same_num(p, "flags", f->flags);
	same_num(p, "event_count", f->count);
	same_num(p, "records_after_trailer", f->after);
	if (get(p, "compiler_base") < 0 ? f->base != -1
					: num(get(p, "compiler_base")) != (uint64_t)f->base)
		wrong("compiler base");
	if (truth(get(p, "complete")) != f->complete)
		wrong("complete");
	if ((t >= 0) != (f->torn != HRR_UP_WHOLE))
		wrong("torn");
	if (t >= 0) {
		if (torn[f->torn] == NULL ||
		    !text_is(get(t, "what"), torn[f->torn], strlen(torn[f->torn])))
			wrong("torn.what");
		same_num(t, "have", f->have);
		if (f->torn != HRR_UP_TORN_HEADER)
			same_num(t, "length", f->length);
	}
	if ((tr >= 0) != f->trailer)
		wrong("trailer");
	if (tr >= 0) {
		same_num(tr, "seq", f->seq_trailer);
		same_num(tr, "t", f->t_trailer);
		same_num(tr, "total_events", f->trailer_count);
	}
}

static void check_events(int p, struct hrr_events *e)
{
	const struct hrr_events_facts *f = hrr_events_facts(e);
	static uint64_t counts[HRR_API_COUNT], tids[64];
	uint64_t step = num(get(p, "events_step")), no = 0, n_tids = 0;
	int list = get(p, "events"), n = hrr_json_first(&j, list);
	struct hrr_event ev;
	struct hrr_diag d = {0};
	int rc;

	memset(counts, 0, sizeof counts);
	while ((rc = hrr_events_next(e, &ev, &d)) > 0) {
		int api = hrr_wire_api(f->version, f->base, (int)ev.type);
		uint64_t i = 0;
		at_seq = ev.seq;
		if (api >= 0)
			counts[api]++;
		while (i < n_tids && tids[i] != ev.tid)
			i++;
		if (i == n_tids && n_tids < 64)
			tids[n_tids++] = ev.tid;
		if (no++ % step != 0)
			continue;
		if (n < 0) {
			wrong("more events than listed");
			break;
		}
		check_event(n, &ev, f->version, f->base);
		n = hrr_json_next(&j, list, n);
	}
	if (rc < 0 || n >= 0)
		wrong("fewer events than listed");
	int t = get(p, "threads"), i = 0;
	for (n = hrr_json_first(&j, t); n >= 0; n = hrr_json_next(&j, t, n), i++)
		if (num(n) != tids[i])
			wrong("threads");
	int c = get(p, "api_counts");
	for (n = hrr_json_first(&j, c); n >= 0; n = hrr_json_next(&j, c, n)) {
		int api = hrr_api_find(j.text + j.nodes[n].off, j.nodes[n].len);
		if (api < 0 || counts[api] != num(n + 1))
			wrong("count of a call");
	}
}

static void check_blobs(int p, const char *dir)
{
	static const char *const states[] = {"ok", "missing", "wrong"};
	struct hrr_up_blobs *s;
	struct hrr_diag d = {0};

	if (hrr_up_blobs_open(&s, dir, &d) < 0) {
		wrong("blobs");
		return;
	}
	for (int k = 0; k < 2; k++) {
		int list = get(p, k ? "code_objects" : "blobs");
		for (int n = hrr_json_first(&j, list); n >= 0; n = hrr_json_next(&j, list, n)) {
			const struct hrr_up_blob *x;
			struct hrr_fnv h;
			int hash = get(n, "hash");
			if (!hrr_fnv_parse(j.text + j.nodes[hash].off, j.nodes[hash].len, &h) ||
			    hrr_up_blobs_find(s, h, NULL, &x, &d) < 0) {
				wrong("blob");
				continue;
			}
			if (!text_is(get(n, "state"), states[x->state], strlen(states[x->state])))
				wrong("state of a blob");
			if (x->state != HRR_UP_OK)
				continue;
			struct hrr_blob b;
			struct hrr_id id = x->id;
			same_num(n, "size", x->size);
			if (x->code != (bool)k)
				wrong("place of a blob");
			if (hrr_up_blobs_get(s, &id, 0, &b, &d) < 0 || b.len != num(get(n, "size")))
				wrong("bytes of a blob");
			else
				hrr_blob_release(&b);
		}
	}
	hrr_up_blobs_close(s);
}

static void check_manifest(int p, const char *dir)
{
	struct hrr_up_manifest m;
	struct hrr_diag d = {0};
	int want = get(p, "manifest");

	if (hrr_up_manifest_read(&m, dir, &d) < 0 || m.there != (want >= 0)) {
		wrong("manifest");
		return;
	}
	if (want >= 0) {
		same_num(want, "pid", (uint64_t)m.pid);
		same_num(want, "parent_pid", (uint64_t)m.parent_pid);
		same_num(want, "event_count", (uint64_t)m.event_count);
		same_num(want, "blob_count", (uint64_t)m.blob_count);
		if (truth(get(want, "complete")) != (m.complete == 1))
			wrong("manifest: complete");
		if (hrr_json_count(&j, get(want, "unreplayable_apis")) != m.n_unreplayable)
			wrong("manifest: unreplayable");
		same_num(get(want, "metadata"), "device_count", m.n_devices);
	}
	hrr_up_manifest_release(&m);
}

static void check_regions(int p, const char *dir)
{
	struct hrr_rrr_list l = {0};
	struct hrr_diag d = {0};
	char path[4200];
	int want = get(p, "regions"), list = get(want, "records"), n;
	size_t i = 0;

	snprintf(path, sizeof path, "%s/regions", dir);
	if (hrr_rrr_folder(&l, path, NULL, NULL, &d) < 0 || hrr_rrr_sort(&l) < 0)
		wrong("regions");
	for (n = list < 0 ? -1 : hrr_json_first(&j, list); n >= 0;
	     n = hrr_json_next(&j, list, n), i++) {
		if (i >= l.n) {
			wrong("fewer regions than listed");
			break;
		}
		const struct hrr_rrr *r = &l.r[i];
		if (!text_is(get(n, "op"), r->op ? "del" : "add", 3) ||
		    !text_is(get(n, "kind"), r->kind ? "segment" : "block", r->kind ? 7 : 5))
			wrong("region: op or kind");
		same_num(n, "device", r->device);
		same_num(n, "flags", r->flags);
		same_num(n, "tag", r->tag);
		same_num(n, "base", r->base);
		same_num(n, "size", r->size);
		same_num(n, "mono_ns", (uint64_t)r->t);
	}
	if (i != l.n)
		wrong("more regions than listed");
	int streams = get(want, "streams");
	uint64_t inside = 0;
	for (n = streams < 0 ? -1 : hrr_json_first(&j, streams); n >= 0;
	     n = hrr_json_next(&j, streams, n)) {
		int t = get(n, "torn");
		if (get(t, "whole_records_inside") >= 0)
			inside += hrr_json_count(&j, get(t, "whole_records_inside"));
	}
	if (inside != l.torn_records)
		wrong("records inside a torn batch");
	hrr_rrr_release(&l);
}

static void sample(const char *root, const char *name)
{
	struct hrr_buf b = {0};
	struct hrr_diag d = {0};
	char path[4200], dir[4096], at[600];

	snprintf(path, sizeof path, "%s/%s.expected.json", root, name);
	if (hrr_file_read_plain(path, (size_t)16 << 20, &b) < 0 ||
	    hrr_json_parse(&j, b.data, b.len, &d) < 0) {
		ok(false, "%s: %s", path, d.what);
		hrr_buf_release(&b);
		return;
	}
	int list = get(0, "processes");
	for (int p = hrr_json_first(&j, list); p >= 0; p = hrr_json_next(&j, list, p)) {
		enum hrr_up_refused refused;
		struct hrr_events *e;
		int sub = get(p, "path");
		bool flat = text_is(get(0, "layout"), "flat", 4);
		bad = 0;
		snprintf(dir, sizeof dir, "%s/%s%s%.*s", root, name, flat ? "" : "/",
			 flat ? 0 : (int)j.nodes[sub].len, j.text + j.nodes[sub].off);
		snprintf(path, sizeof path, "%s/events.bin", dir);
		snprintf(at, sizeof at, "%.300s", name);
		where = at;
		at_seq = 0;
		if (hrr_events_open(&e, path, &refused, &d) < 0) {
			static const char *const why[] = {"", "no-events-file", "short", "magic",
							  "version"};
			ok(get(p, "error") >= 0 &&
			       text_is(get(p, "error"), why[refused], strlen(why[refused])),
			   "%s is refused: %s", name, d.what);
			continue;
		}
		check_facts(p, hrr_events_facts(e));
		check_events(p, e);
		hrr_events_close(e);
		check_blobs(p, dir);
		check_manifest(p, dir);
		check_regions(p, dir);
		is(bad, 0, "%s, process %llu", name, (unsigned long long)num(get(p, "pid")));
	}
	hrr_buf_release(&b);
}

int main(int argc, char **argv)
{
	const char *root = argc > 1 ? argv[1] : "../shared/data/hrr";
	struct dirent **names;
	int n;

	/* a worktree lies a folder deeper than a clone */
	if (argc == 1 && access(root, R_OK) != 0)
		root = "../../shared/data/hrr";
	n = scandir(root, &names, NULL, alphasort);
	if (n < 0) {
		skip(1, "no ../shared/data/hrr here");
		return done_testing();
	}
	for (int i = 0; i < n; i++) {
		char *end = strstr(names[i]->d_name, ".expected.json");
		if (end != NULL) {
			*end = '\0';
			sample(root, names[i]->d_name);
		}
		free(names[i]);
	}
	free(names);
	hrr_json_release(&j);
	return done_testing();
}
