#include "formats/hrr/export.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/hrr/export_private.h"
#include "formats/hrr/launch.h"
#include "lib/region/timeline.h"
#include "lib/store/file.h"
#include "lib/stream/write.h"

#define FLUSH_AT ((size_t)256 << 10)
#define MAX_PROCESSES 4096

void hrr_lost(struct hrr_hrr8 *x, const char *fmt, ...)
{
	char text[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < x->n_lost; i++)
		if (strcmp(x->lost[i].text, text) == 0) {
			x->lost[i].n++;
			return;
		}
	if (x->n_lost == LOST_KINDS - 1)
		snprintf(text, sizeof text, "other things");
	if (x->n_lost == LOST_KINDS) {
		x->lost[LOST_KINDS - 1].n++;
		return;
	}
	snprintf(x->lost[x->n_lost].text, sizeof x->lost[0].text, "%s", text);
	x->lost[x->n_lost++].n = 1;
}

/* --- the file ----------------------------------------------------------------- */

static int flush(struct out_process *p, struct hrr_diag *diag)
{
	int rc = hrr_write_all(p->fd, p->buf.data, p->buf.len);

	if (rc < 0)
		return hrr_diag_set(diag, rc, "cannot write events.bin: %s", strerror(-rc));
	p->written += p->buf.len;
	p->buf.len = 0;
	return 0;
}

static int append(struct out_process *p, const void *data, size_t n, struct hrr_diag *diag)
{
	if (hrr_buf_add(&p->buf, data, n) < 0)
		return hrr_diag_set(diag, -ENOMEM, "out of memory");
	return p->buf.len >= FLUSH_AT ? flush(p, diag) : 0;
}

int hrr_out_patch(struct out_process *p, uint64_t offset, const void *data, size_t n,
		  struct hrr_diag *diag)
{
	if (offset >= p->written) {
		memcpy(p->buf.data + (offset - p->written), data, n);
		return 0;
	}
	if (offset + n > p->written) { /* across what is in the file and what is not */
		int rc = flush(p, diag);
		if (rc < 0)
			return rc;
	}
	ssize_t got = pwrite(p->fd, data, n, (off_t)offset);
	return got == (ssize_t)n
		   ? 0
		   : hrr_diag_set(diag, got < 0 ? -errno : -EIO, "cannot write events.bin: %s",
				  strerror(got < 0 ? errno : EIO));
}

int hrr_out_event(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		  unsigned type, unsigned char *data, size_t len, uint64_t *ret_offset,
		  struct hrr_diag *diag)
{
	if (len > HRR_UP_MAX_RECORD) {
		hrr_lost(x, "records of more than 64 MiB");
		p->dropped = true;
		return 1;
	}
	if (rec->t != HRR_NO_TIME && rec->t > p->t)
		p->t = rec->t;
	set_le(data, type, 2);
	set_le(data + 2, p->count, 8);
	set_le(data + 10, p->t0 + (rec->t != HRR_NO_TIME ? rec->t : p->t), 8);
	set_le(data + 18, rec->tid, 8);
	set_le(data + 26, len, 4);
	set_le(data + 30, 0, 2);
	if (ret_offset != NULL)
		*ret_offset = p->written + p->buf.len;
	p->count++;
	return append(p, data, len, diag);
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

/* --- processes ------------------------------------------------------------------ */

static int process(struct hrr_hrr8 *x, uint32_t index, struct out_process **ret)
{
	if (index >= MAX_PROCESSES)
		return -E2BIG;
	if (index >= x->n) {
		struct out_process *p = realloc(x->p, (index + 1) * sizeof *p);
		if (p == NULL)
			return -ENOMEM;
		x->p = p;
		for (; x->n <= index; x->n++)
			p[x->n] = (struct out_process){.fd = -1, .parent = -1};
	}
	*ret = &x->p[index];
	return 0;
}

static int begin(struct hrr_hrr8 *x, struct out_process *p, struct hrr_diag *diag)
{
	unsigned char h[HRR_UP_FILE_HEADER] = {0};
	char path[PATH_MAX + 16];

	p->begun = true;
	p->base = p->base != 0 ? p->base : HRR_UP_COMPILER_BASE;
	p->major = p->major != 0 ? p->major : 5;
	p->fatbins = hrr_ranges_new();
	p->stubs = hrr_ranges_new();
	p->host = hrr_ranges_new();
	if (p->fatbins == NULL || p->stubs == NULL || p->host == NULL)
		return hrr_diag_set(diag, -ENOMEM, "out of memory");
	if (snprintf(p->dir, sizeof p->dir, "%s/pid-%u", x->dir, p->pid) >= (int)sizeof p->dir)
		return hrr_diag_set(diag, -ENAMETOOLONG, "path too long");
	if (mkdir(p->dir, 0700) < 0) {
		if (errno != EEXIST)
			return hrr_diag_set(diag, -errno, "cannot make %s: %s", p->dir,
					    strerror(errno));
		/* a second image of one pid, or two processes of one number */
		p->dropped = true;
		hrr_lost(x, "process %u, image %u: one folder per pid", p->pid, p->image);
		return 0;
	}
	snprintf(path, sizeof path, "%s/events.bin", p->dir);
	p->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (p->fd < 0)
		return hrr_diag_set(diag, -errno, "cannot make %s: %s", path, strerror(errno));
	set_le(h, HRR_UP_MAGIC, 4);
	set_le(h + 4, EXPORT_VERSION, 2);
	set_le(h + 6, HRR_UP_PACKED_RECTS, 2);
	return append(p, h, sizeof h, diag);
}

static int header(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		  struct hrr_diag *diag)
{
	const struct hrr_json *j = &rec->json;
	int f = hrr_json_get(j, 0, "foreign"), n;
	uint64_t v;

	if (p->begun)
		return hrr_diag_set(diag, -EINVAL, "a second header for process %u", rec->p);
	if (hrr_json_u64(j, hrr_json_get(j, 0, "pid"), &v) == 0)
		p->pid = (uint32_t)v;
	if (hrr_json_u64(j, hrr_json_get(j, 0, "image"), &v) == 0)
		p->image = (uint32_t)v;
	p->t0 = hrr_json_decimal(j, "t0");
	if (f >= 0 && j->nodes[f].type == HRR_JSON_OBJECT) {
		p->foreign = true;
		p->major = 7; /* until the runtime record says */
		if (hrr_json_u64(j, hrr_json_get(j, f, "compilerBase"), &v) == 0 && v >= 543 &&
		    v <= 767)
			p->base = (int)v;
		if (hrr_json_u64(j, hrr_json_get(j, f, "parent"), &v) == 0)
			p->parent = (int64_t)v;
	}
	n = hrr_json_get(j, 0, "command");
	if (n >= 0 && j->nodes[n].type == HRR_JSON_ARRAY && hrr_json_count(j, n) > 0)
		hrr_lost(x, "command line and environment of a process");
	return begin(x, p, diag);
}

static int runtime(struct out_process *p, const struct hrr_record *rec)
{
	const struct hrr_json *j = &rec->json;
	int r = hrr_json_get(j, 0, "runtime"), m;
	uint64_t v;

	m = r >= 0 ? hrr_json_get(j, r, "major") : -1;
	if (m >= 0 && hrr_json_u64(j, m, &v) == 0 && v >= 5 && v <= 7)
		p->major = (int)v;
	p->runtime.len = 0;
	return hrr_buf_add(&p->runtime, j->text, j->len);
}

/* --- records ----------------------------------------------------------------- */

static int region(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
		  bool from_sidecar, struct hrr_diag *diag)
{
	struct hrr_region r;
	struct hrr_rrr y = {0};
	int rc;

	x->tmp.len = 0;
	rc = hrr_region_read(rec, &r, &x->tmp, diag);
	if (rc < 0)
		return rc;
	y.op = !r.add;
	y.kind = r.segment;
	y.device = (uint8_t)r.device;
	y.base = r.base;
	y.size = r.size;
	/* Where it stands is when it acts, unless it lived before the stream. */
	if (r.t != HRR_NO_TIME)
		y.t = (int64_t)(p->t0 + r.t);
	else if (!from_sidecar && p->count > 0)
		y.t = (int64_t)(p->t0 + p->t);
	if (r.device < 0 || r.device > 255) {
		hrr_lost(x, "regions of devices past 255");
		return 0;
	}
	if (r.tag != NULL) {
		unsigned tag = 0;
		char end;
		char text[16];
		snprintf(text, sizeof text, "%.*s", r.tag_len < 15 ? (int)r.tag_len : 15, r.tag);
		if (sscanf(text, "#%9u%c", &tag, &end) == 1)
			y.tag = tag;
		else if (r.tag_len > 0)
			hrr_lost(x, "tags of regions that are no numbers");
	}
	int f = hrr_json_get(&rec->json, 0, "foreign");
	uint64_t flags;
	if (f >= 0 && rec->json.nodes[f].type == HRR_JSON_OBJECT &&
	    hrr_json_u64(&rec->json, hrr_json_get(&rec->json, f, "flags"), &flags) == 0)
		y.flags = (uint8_t)flags;
	if (p->regions.n == p->regions.cap) {
		size_t cap = p->regions.cap ? 2 * p->regions.cap : 256;
		struct hrr_rrr *q = realloc(p->regions.r, cap * sizeof *q);
		if (q == NULL)
			return -ENOMEM;
		p->regions.r = q;
		p->regions.cap = cap;
	}
	p->regions.r[p->regions.n++] = y;
	return 0;
}

static int output(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
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

/* A record that some reader did not understand, as it was. */
static int raw(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
	       struct hrr_diag *diag)
{
	const struct hrr_json *j = &rec->json;
	struct hrr_record at = *rec;
	int f = hrr_json_get(j, 0, "foreign"), n;
	uint64_t type;

	if (f < 0 || j->nodes[f].type != HRR_JSON_OBJECT ||
	    hrr_json_u64(j, hrr_json_get(j, f, "type"), &type) < 0 || type > 65535) {
		hrr_lost(x, "records of unknown kind");
		return 0;
	}
	x->rec.len = 0;
	n = hrr_json_get(j, f, "raw");
	if (n < 0 || hrr_out_hex(j, n, HRR_UP_MAX_RECORD, &x->rec) < 0 ||
	    x->rec.len < HRR_UP_HEADER) {
		hrr_lost(x, "raw records whose bytes are not there");
		return 0;
	}
	(void)hrr_json_u64(j, hrr_json_get(j, 0, "t"), &at.t);
	(void)hrr_json_u64(j, hrr_json_get(j, 0, "tid"), &at.tid);
	int rc = hrr_out_event(x, p, &at, (unsigned)type, (unsigned char *)x->rec.data, x->rec.len,
			       NULL, diag);
	return rc < 0 ? rc : 0;
}

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

static uint64_t arg(const struct hrr_record *rec, const char *name)
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

/* What later records refer to: fat binaries by what they registered, pinned memory. */
static int track(struct out_process *p, const struct hrr_record *rec, enum hrr_api api,
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
		r = hrr_ranges_at(p->fatbins, arg(rec, "modules"));
		return r == NULL ? 0
				 : range(p->stubs,
					 arg(rec, api == HRR_API___hipRegisterVar ? "var"
										  : "hostFunction"),
					 1, r->value);
	case HRR_API_hipHostMalloc:
	case HRR_API_hipHostAlloc:
	case HRR_API_hipExtHostAlloc:
	case HRR_API_hipMallocHost:
	case HRR_API_hipMemAllocHost:
		return range(p->host, arg(rec, "ptr"), arg(rec, "size"), NULL);
	case HRR_API_hipHostRegister:
		return range(p->host, arg(rec, "hostPtr"), arg(rec, "sizeBytes"), NULL);
	case HRR_API_hipHostFree:
	case HRR_API_hipFreeHost:
		(void)hrr_ranges_del(p->host, arg(rec, "ptr"), NULL);
		return 0;
	case HRR_API_hipHostUnregister:
		(void)hrr_ranges_del(p->host, arg(rec, "hostPtr"), NULL);
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

/* The bytes of a fat binary come to light with its first kernel or symbol. kernel: which, or -1. */
static int reveal(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
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
	if (hrr_api_launches(api) >= 0 || arg(rec, "function_address") != 0 || arg(rec, "f") != 0)
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
	return rc < 0 ? rc : reveal(x, p, rec, kernel, n, diag);
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

static int call(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec,
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
	rc = track(p, rec, api, &l, offset, data);
	return rc < 0 ? rc : reveal(x, p, rec, rec->kernel, 0, diag);
}

static int end(struct hrr_hrr8 *x, struct out_process *p, const struct hrr_record *rec)
{
	const struct hrr_json *j = &rec->json;
	int how = hrr_json_get(j, 0, "end"), n = hrr_json_get(j, 0, "notRecorded");

	p->ended = true;
	p->complete = hrr_json_is(j, how, "complete") || hrr_json_is(j, how, "filtered");
	p->t_end = rec->t != HRR_NO_TIME ? rec->t : p->t;
	if (hrr_json_is(j, how, "filtered"))
		hrr_lost(x, "that the stream was filtered");
	if (n < 0 || j->nodes[n].type != HRR_JSON_OBJECT)
		return 0;
	for (int k = hrr_json_first(j, n); k >= 0; k = hrr_json_next(j, n, k)) {
		struct hrr_buf *b = &p->not_recorded;
		if ((b->len > 0 && hrr_buf_adds(b, ", ") < 0) || hrr_buf_addc(b, '"') < 0 ||
		    hrr_buf_add(b, j->text + j->nodes[k].off, j->nodes[k].len) < 0 ||
		    hrr_buf_addc(b, '"') < 0)
			return -ENOMEM;
	}
	return 0;
}

/* --- the whole ------------------------------------------------------------- */

int hrr_hrr8_open(struct hrr_hrr8 **ret, const char *dir, const struct hrr_hrr8_options *opt,
		  struct hrr_diag *diag)
{
	struct hrr_hrr8 *x = calloc(1, sizeof *x);
	int rc;

	hrr_diag_at(diag, dir, 0);
	if (x == NULL)
		return hrr_diag_set(diag, -ENOMEM, "out of memory");
	x->opt = *opt;
	struct stat st;
	size_t len = strlen(dir);
	while (len > 1 && dir[len - 1] == '/')
		len--;
	rc = lstat(dir, &st) == 0 ? -EEXIST : 0;
	if (rc == 0 &&
	    (snprintf(x->final, sizeof x->final, "%.*s", (int)len, dir) >= (int)sizeof x->final ||
	     snprintf(x->dir, sizeof x->dir, "%.*s.tmp-%ld", (int)len, dir, (long)getpid()) >=
		 (int)sizeof x->dir))
		rc = -ENAMETOOLONG;
	if (rc == 0 && mkdir(x->dir, 0700) < 0)
		rc = -errno;
	if (rc < 0) {
		free(x);
		return hrr_diag_set(diag, rc, "cannot make: %s", strerror(-rc));
	}
	x->made = true;
	*ret = x;
	return 0;
}

int hrr_hrr8_record(struct hrr_hrr8 *x, const struct hrr_record *rec, bool from_sidecar,
		    struct hrr_blobs *(*blobs)(void *self, uint32_t p), void *self,
		    struct hrr_diag *diag)
{
	struct out_process *p;
	int rc = process(x, rec->p, &p);

	x->blobs = blobs;
	x->self = self;
	if (rc == 0 && !p->begun)
		rc = rec->kind == HRR_REC_HEADER ? header(x, p, rec, diag) : begin(x, p, diag);
	else if (rc == 0 && rec->kind == HRR_REC_HEADER)
		rc = header(x, p, rec, diag);
	if (rc < 0 || p->fd < 0)
		goto out;
	switch (rec->kind) {
	case HRR_REC_HEADER:
		break;
	case HRR_REC_RUNTIME:
		rc = runtime(p, rec);
		break;
	case HRR_REC_CALL:
		if (rec->dur > 0)
			hrr_lost(x, "how long a call took");
		rc = call(x, p, rec, diag);
		break;
	case HRR_REC_OUTPUT:
		rc = output(x, p, rec, diag);
		break;
	case HRR_REC_REGION:
		rc = region(x, p, rec, from_sidecar, diag);
		break;
	case HRR_REC_END:
		rc = end(x, p, rec);
		break;
	default:
		rc = raw(x, p, rec, diag);
		break;
	}
out:
	/* Some members are read as far as they make sense. */
	if (rc == 0 && (x->tmp.failed || x->rec.failed))
		rc = -ENOMEM;
	return rc == -ENOMEM ? hrr_diag_set(diag, rc, "out of memory") : rc;
}

static int finish_process(struct hrr_hrr8 *x, struct out_process *p, struct hrr_diag *diag)
{
	unsigned char t[HRR_UP_TRAILER_SIZE] = {0};
	int rc = 0;

	for (int i = 0; i < 64; i++)
		for (struct later *l = p->later[i]; l != NULL; l = l->next)
			hrr_lost(x, "a copy to the host whose bytes the stream does not hold");
	p->complete = p->complete && !p->dropped;
	if (p->complete) {
		set_le(t, HRR_UP_TYPE_TRAILER, 2);
		set_le(t + 2, p->count, 8);
		set_le(t + 10, p->t0 + p->t_end, 8);
		set_le(t + 18, p->pid, 8);
		set_le(t + 26, sizeof t, 4);
		set_le(t + 32, p->count, 8);
		set_le(t + 40, HRR_UP_TRAILER, 4);
		rc = append(p, t, sizeof t, diag);
	}
	if (rc == 0)
		rc = flush(p, diag);
	if (rc == 0 && close(p->fd) < 0)
		rc = hrr_diag_set(diag, -errno, "cannot write events.bin: %s", strerror(errno));
	p->fd = -1;
	if (rc < 0 || p->regions.n == 0)
		return rc;
	char path[PATH_MAX + 16];
	snprintf(path, sizeof path, "%s/regions", p->dir);
	x->rec.len = 0;
	if (mkdir(path, 0700) < 0)
		return hrr_diag_set(diag, -errno, "cannot make %s: %s", path, strerror(errno));
	if (hrr_rrr_put_header(&x->rec) < 0 ||
	    hrr_rrr_put_batch(&x->rec, p->regions.r, p->regions.n, p->t0) < 0)
		return hrr_diag_set(diag, -ENOMEM, "out of memory");
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return hrr_diag_set(diag, -errno, "cannot open %s: %s", path, strerror(errno));
	rc = hrr_file_replace(fd, "hrr.hrrr", x->rec.data, x->rec.len, 0600, diag);
	close(fd);
	return rc;
}

int hrr_hrr8_finish(struct hrr_hrr8 *x, struct hrr_diag *diag)
{
	char text[256];
	int rc = 0;

	hrr_diag_at(diag, x->final, 0);
	for (size_t i = 0; i < x->n && rc == 0; i++)
		if (x->p[i].fd >= 0)
			rc = finish_process(x, &x->p[i], diag);
	if (rc == 0)
		rc = hrr_out_manifests(x, diag);
	if (rc == 0 && renameat2(AT_FDCWD, x->dir, AT_FDCWD, x->final, RENAME_NOREPLACE) < 0)
		rc = hrr_diag_set(diag, -errno, "cannot make: %s", strerror(errno));
	if (rc == 0)
		x->made = false;
	for (size_t i = 0; i < x->n_lost && rc == 0 && x->opt.lost != NULL; i++) {
		if (x->lost[i].n > 1)
			snprintf(text, sizeof text, "not held: %s (%llu times)", x->lost[i].text,
				 (unsigned long long)x->lost[i].n);
		else
			snprintf(text, sizeof text, "not held: %s", x->lost[i].text);
		x->opt.lost(x->opt.self, text);
	}
	return rc;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	(void)remove(path);
	return 0;
}

void hrr_hrr8_close(struct hrr_hrr8 *x)
{
	if (x == NULL)
		return;
	if (x->made)
		(void)nftw(x->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	for (size_t i = 0; i < x->n; i++) {
		struct out_process *p = &x->p[i];
		if (p->fd >= 0)
			close(p->fd);
		for (int k = 0; k < 64; k++)
			for (struct later *l = p->later[k], *next; l != NULL; l = next) {
				next = l->next;
				free(l);
			}
		for (struct fatbin *f = p->all_fatbins, *next; f != NULL; f = next) {
			next = f->next;
			free(f);
		}
		hrr_ranges_free(p->fatbins);
		hrr_ranges_free(p->stubs);
		hrr_ranges_free(p->host);
		hrr_rrr_release(&p->regions);
		hrr_buf_release(&p->buf);
		hrr_buf_release(&p->runtime);
		hrr_buf_release(&p->not_recorded);
		free(p->stored);
		free(p->slots);
	}
	free(x->p);
	hrr_buf_release(&x->rec);
	hrr_buf_release(&x->tmp);
	free(x);
}
