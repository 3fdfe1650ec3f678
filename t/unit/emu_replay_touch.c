/*
 * Which operands back memory that only a sidecar knows: every copy, set and graph node of
 * formats/hip.api that replay plays, each of its ends in turn, on the CPU run time. A row that
 * is added to the table is tested from then on, or has to be excused here by name.
 */
#include "lib/replay/engine.h"
#include "t/unit/emu_fixture.h"
#include "t/unit/replay_rig.h"

#define S 0x7c1000000000u /* segment */
#define D 0x7c0000000000u /* an allocation */
#define H 0x7f0000000000u /* host memory */
#define FRESH 0x77	  /* what a segment is filled with */
#define OLD 0x11	  /* what D holds */
#define SENT 0x44	  /* what the host sends */
#define SET 0x07
#define BYTES 64 /* that each call moves: 64, or 16 * 4, or 16 * 2 * 2 */
#define LLU(x) ((unsigned long long)(x))

static void rig_hip(struct hrr_hip *to)
{
	*to = hip;
}

static void rig_gone(void)
{
}

/* One call: who its ends are. 0: the call has no such end. */
struct ends {
	uint64_t dst, src;
	bool dev_dst, dev_src, has_dir;
};

static const char *kind_of(const struct ends *e)
{
	static const char *const names[2][2] = {
	    {"hipMemcpyHostToHost", "hipMemcpyHostToDevice"},
	    {"hipMemcpyDeviceToHost", "hipMemcpyDeviceToDevice"}};

	return names[e->dev_src][e->dev_dst];
}

static bool among(const char *name, const char *const *list)
{
	for (; *list != NULL; list++)
		if (strcmp(name, *list) == 0)
			return true;
	return false;
}

static bool is_dst(const char *name)
{
	static const char *const names[] = {"dst",	  "dest", "dstDevice", "dstHost",
					    "dstPtr.ptr", "ptr",  NULL};
	return among(name, names);
}

static bool is_src(const char *name)
{
	static const char *const names[] = {"src", "srcDevice", "srcHost", "srcPtr.ptr", NULL};
	return among(name, names);
}

/* A number that makes BYTES, by what its name says. 3D: rows of 16, two in a plane of four. */
static uint64_t number(const char *name, bool box, bool two)
{
	static const char *const ones[] = {"numDependencies", "elementSize", NULL};
	static const char *const zeros[] = {"flags", "offset", "mask", NULL};

	if (strcasestr(name, "pitch") != NULL)
		return 32;
	if (strcasestr(name, "width") != NULL || strstr(name, "xsize") != NULL)
		return two ? 16 : BYTES;
	if (strstr(name, "ysize") != NULL || strcmp(name, "srcHeight") == 0 ||
	    strcmp(name, "dstHeight") == 0)
		return 4;
	if (strcasestr(name, "height") != NULL)
		return box ? 2 : two ? 4 : 1;
	if (strcasestr(name, "depth") != NULL)
		return box ? 2 : 1;
	if (strcmp(name, "value") == 0)
		return SET;
	if (strcmp(name, "numDependencies") == 0)
		return 0;
	if (among(name, ones))
		return 1;
	if (among(name, zeros) || strstr(name, "Pos.") != NULL ||
	    strstr(name, "XInBytes") != NULL || name[3] == 'Y' || name[3] == 'Z' ||
	    strstr(name, "LOD") != NULL)
		return 0;
	return BYTES;
}

static void put_number(struct hrr_buf *b, const char *name, uint64_t v)
{
	hrr_buf_addf(b, "\"%s\":%llu,", name, LLU(v));
}

static void put_addr(struct hrr_buf *b, const char *name, uint64_t v)
{
	if (v == 0)
		hrr_buf_addf(b, "\"%s\":null,", name);
	else
		hrr_buf_addf(b, "\"%s\":\"0x%llx\",", name, LLU(v));
}

/* kind: HRR_K_DEV, HRR_K_HOST or HRR_K_ADDR. */
static void put_end(struct hrr_buf *b, const char *name, int kind, const struct ends *e)
{
	bool dst = is_dst(name);
	uint64_t v = dst ? e->dst : e->src;
	bool dev = dst ? e->dev_dst : e->dev_src;

	if ((kind == HRR_K_DEV && !dev) || (kind == HRR_K_HOST && dev))
		v = 0; /* the other of two members has it */
	put_addr(b, name, v);
}

static void put_enum(struct hrr_buf *b, const char *name, const struct hrr_enum *en,
		     const struct ends *e)
{
	if (strcmp(en->name, "hipMemcpyKind") == 0)
		hrr_buf_addf(b, "\"%s\":\"%s\",", name, kind_of(e));
	else if (strcmp(en->name, "hipMemoryType") == 0)
		hrr_buf_addf(b, "\"%s\":\"hipMemoryType%s\",", name,
			     (name[0] == 'd' ? e->dev_dst : e->dev_src) ? "Device" : "Host");
	else
		put_number(b, name, 0);
}

static void put_struct(struct hrr_buf *b, const char *name, const struct hrr_struct *st,
		       const struct ends *e)
{
	bool flat = strcmp(st->name, "hipMemsetParams") == 0;
	bool box = !flat && strcmp(st->name, "hip_Memcpy2D") != 0;

	hrr_buf_addf(b, "\"%s\":{", name);
	for (int i = 0; i < st->n; i++) {
		const struct hrr_field *f = &st->fields[i];
		if (f->kind == HRR_K_DEV || f->kind == HRR_K_HOST || f->kind == HRR_K_ADDR)
			put_end(b, f->name, f->kind, e);
		else if (f->kind == HRR_K_ENUM)
			put_enum(b, f->name, f->en, e);
		else if (f->kind == HRR_K_HANDLE)
			put_addr(b, f->name, 0);
		else
			put_number(b, f->name, number(f->name, box, !flat));
	}
	b->len--;
	hrr_buf_adds(b, "},");
}

static void put_handle(struct hrr_buf *b, const struct hrr_param *p)
{
	uint64_t v = p->handle == HRR_H_STREAM ? 0x51
		     : p->handle == HRR_H_NODE ? 0xb1
		     : p->handle == HRR_H_EXEC ? 0xc1
					       : 0xa1;
	put_addr(b, p->name, p->count >= 0 ? 0 : v);
}

static int play(struct rig *g, const struct hrr_api_row *row, const struct ends *e)
{
	struct hrr_buf b = {0};
	bool two = false, box = false;

	for (int i = 0; i < row->n_params; i++) {
		two = two || strcmp(row->params[i].name, "width") == 0;
		box = box || row->params[i].kind == HRR_K_VALUE;
	}
	for (int i = 0; i < row->n_params; i++) {
		const struct hrr_param *p = &row->params[i];
		switch (p->kind) {
		case HRR_K_DEV:
		case HRR_K_HOST:
		case HRR_K_ADDR:
			put_end(&b, p->name, p->kind, e);
			break;
		case HRR_K_HANDLE:
			put_handle(&b, p);
			break;
		case HRR_K_ENUM:
			put_enum(&b, p->name, p->en, e);
			break;
		case HRR_K_STRUCT:
		case HRR_K_VALUE:
			put_struct(&b, p->name, p->st, e);
			break;
		case HRR_K_DEVICE:
			put_number(&b, p->name, 0);
			break;
		default:
			put_number(&b, p->name, number(p->name, box, two || box));
			break;
		}
	}
	b.len--;
	hrr_buf_addc(&b, '}');
	if (e->has_dir)
		hrr_buf_addf(&b, ",\"dir\":\"%c2%c\"", e->dev_src ? 'd' : 'h',
			     e->dev_dst ? 'd' : 'h');
	if (!e->dev_src && e->src != 0)
		hrr_buf_addf(&b, ",\"blobs\":{\"src\":\"%s\"}", rig_bytes(g, SENT, BYTES));
	int rc = rig_call(g, row->name, "%s}", hrr_buf_str(&b));
	hrr_buf_release(&b);
	return rc;
}

/* The call that adds a node which row changes, or NULL: row needs none. */
static const struct hrr_api_row *adds(const struct hrr_api_row *row)
{
	if (row->cls != HRR_CLASS_GRAPH || row->params[0].flow == HRR_FLOW_OUT)
		return NULL;
	return &hrr_api_table[strstr(row->name, "Memset") != NULL ? HRR_API_hipGraphAddMemsetNode
			      : strstr(row->name, "1D") != NULL	  ? HRR_API_hipGraphAddMemcpyNode1D
								  : HRR_API_hipGraphAddMemcpyNode];
}

static void begin(struct rig *g, const struct hrr_api_row *row, const struct ends *e)
{
	const struct hrr_api_row *add = adds(row);

	rig_start(g);
	rig_call(g, "hipMalloc", "\"ptr\":\"0x%llx\",\"size\":65536}}", LLU(D));
	rig_call(g, "hipMemset", "\"dst\":\"0x%llx\",\"value\":%d,\"sizeBytes\":65536}}", LLU(D),
		 OLD);
	rig_call(g, "hipStreamCreate", "\"stream\":\"0x51\"}}");
	if (row->cls != HRR_CLASS_GRAPH)
		return;
	rig_call(g, "hipGraphCreate", "\"pGraph\":\"0xa1\",\"flags\":0}}");
	if (add == NULL)
		return;
	struct ends to = *e; /* the same kind of node, between D and the host, or D and D */
	to.has_dir = true;
	to.dst = e->dst == 0 ? 0 : e->dev_dst ? D + 4096 : H + 4096;
	to.src = e->src == 0 ? 0 : e->dev_src ? D + 8192 : H + 8192;
	play(g, add, &to);
	if (row->params[0].handle == HRR_H_EXEC)
		rig_call(g, "hipGraphInstantiate",
			 "\"pGraphExec\":\"0xc1\",\"graph\":\"0xa1\",\"pErrorNode\":null,"
			 "\"pLogBuffer\":null,\"bufferSize\":0}}");
}

/* What the destination must hold. */
static int expected(const struct hrr_api_row *row, const struct ends *e)
{
	if (row->cls == HRR_CLASS_VALUE)
		return strstr(row->name, "Write") != NULL ? SET : FRESH;
	if (e->src == 0)
		return SET;
	return !e->dev_src ? SENT : e->src >= S && e->src < S + 65536 ? FRESH : OLD;
}

static void launch(struct rig *g, const struct hrr_api_row *row)
{
	if (row->cls != HRR_CLASS_GRAPH)
		return;
	if (row->params[0].handle != HRR_H_EXEC)
		rig_call(g, "hipGraphInstantiate",
			 "\"pGraphExec\":\"0xc1\",\"graph\":\"0xa1\",\"pErrorNode\":null,"
			 "\"pLogBuffer\":null,\"bufferSize\":0}}");
	rig_call(g, "hipGraphLaunch", "\"graphExec\":\"0xc1\",\"stream\":\"0x51\"}}");
}

/* 0: bytes in a row, 2: a rectangle, 3: a box. */
static int form_of(const struct hrr_api_row *row)
{
	int form = 0;

	for (int i = 0; i < row->n_params; i++) {
		const struct hrr_struct *st = row->params[i].st;
		if (strcmp(row->params[i].name, "width") == 0)
			form = 2;
		if (st != NULL)
			form = strcmp(st->name, "hip_Memcpy2D") == 0 ? 2 : 3;
	}
	return form;
}

/* Whether what the call delivers is there; *what says where it was looked for. */
static bool delivered(struct rig *g, const struct hrr_api_row *row, const struct ends *e)
{
	unsigned char got = 0;
	uint64_t seq = g->seq, node = 0;

	if (row->cls == HRR_CLASS_GRAPH) {
		node = seq;
		launch(g, row);
		seq = g->seq;
	}
	if (g->rc != 0 || rig_call(g, "hipDeviceSynchronize", "}}") != 0)
		return false;
	if (e->dev_dst)
		return hrr_replay_peek(g->r, e->dst, 1, &got, &g->diag) == 0 &&
		       got == expected(row, e);
	g->seq = seq;
	char extra[64] = "", shape[96] = "";
	int form = form_of(row);
	if (node != 0)
		snprintf(extra, sizeof extra, "\"node\":%u,", (unsigned)node);
	if (form != 0)
		snprintf(shape, sizeof shape,
			 ",\"width\":16,\"height\":%d,\"depth\":%d,\"pitch\":32,\"slice\":128",
			 form == 3 ? 2 : 4, form == 3 ? 2 : 1);
	rig_line(g,
		 "{\"output\":%llu,%s\"t\":1,\"tid\":1,\"addr\":\"0x%llx\",\"size\":%d%s,"
		 "\"blob\":\"%s\"}",
		 LLU(seq), extra, LLU(e->dst), BYTES, shape, rig_bytes(g, expected(row, e), BYTES));
	return hrr_replay_verdict(g->r)->outcome[HRR_EXACT] == 1;
}

static unsigned n_rows, n_runs;

/* Plays row with these ends and a live segment: how many segments it backs. */
static void touch(const struct hrr_api_row *row, struct ends e, uint64_t backs)
{
	struct rig g = {.opt.fill_byte = FRESH, .opt.watchdog = 10};
	char what[128];

	snprintf(what, sizeof what, "%s, destination %s%s, source %s%s%s", row->name,
		 e.dev_dst ? "device" : "host",
		 e.dst >= S && e.dst < S + 65536 ? " in segment" : "",
		 e.src == 0  ? "none"
		 : e.dev_src ? "device"
			     : "host",
		 e.src >= S && e.src < S + 65536 ? " in segment" : "", e.has_dir ? "" : ", no dir");
	n_runs++;
	begin(&g, row, &e);
	rig_line(&g,
		 "{\"region\":\"add\",\"kind\":\"segment\",\"device\":0,\"base\":\"0x%llx\","
		 "\"size\":65536}",
		 LLU(S));
	play(&g, row, &e);
	ok(g.rc == 0, "%s: is played: %s", what, g.rc != 0 ? g.text : "");
	uint64_t backed = hrr_replay_verdict(g.r)->backed;
	ok(backed == backs, "  backs %llu: %llu", LLU(backs), LLU(backed));
	ok(delivered(&g, row, &e), "  and what it moves is there: %s", g.text);
	rig_end(&g);
}

static void each_end(const struct hrr_api_row *row, int dst, int src, bool typed)
{
	const uint64_t in = S + 128;

	for (int v = 0; v < 4; v++) {
		bool dev_dst = (v & 1) != 0, dev_src = (v & 2) != 0;
		if ((dst == HRR_K_DEV && !dev_dst) || (dst == HRR_K_HOST && dev_dst))
			continue;
		if (src >= 0 && ((src == HRR_K_DEV && !dev_src) || (src == HRR_K_HOST && dev_src)))
			continue;
		if (src < 0 && dev_src)
			continue;
		struct ends e = {.dev_dst = dev_dst, .dev_src = dev_src, .has_dir = src >= 0};
		uint64_t other = src < 0 ? 0 : dev_src ? D + 512 : H;
		e.dst = in;
		e.src = other;
		touch(row, e, dev_dst);
		if (src < 0)
			continue;
		e.dst = dev_dst ? D : H + 65536;
		e.src = in;
		touch(row, e, dev_src);
		e.has_dir = false; /* a foreign stream */
		if (!typed && !dev_src)
			continue; /* its stated rule would take the number for a device's */
		touch(row, e, dev_src);
		e.dst = in;
		e.src = other;
		if (typed || dev_dst)
			touch(row, e, dev_dst);
	}
}

/* The kinds of a row's ends, -1 for none; of a structure with a member for each: ADDR.
 * *typed: the call says of which kind they are. */
static void ends_of(const struct hrr_api_row *row, int *dst, int *src, bool *typed)
{
	*dst = *src = -1;
	*typed = false;
	for (int i = 0; i < row->n_params; i++) {
		const struct hrr_param *p = &row->params[i];
		if (p->flow != HRR_FLOW_IN)
			continue;
		if (p->kind == HRR_K_DEV || p->kind == HRR_K_HOST || p->kind == HRR_K_ADDR) {
			if (is_dst(p->name))
				*dst = p->kind;
			if (is_src(p->name))
				*src = p->kind;
		}
		for (int f = 0; p->st != NULL && f < p->st->n; f++) {
			const struct hrr_field *x = &p->st->fields[f];
			*typed =
			    *typed || (x->en != NULL && strcmp(x->en->name, "hipMemoryType") == 0);
			if (x->kind != HRR_K_DEV && x->kind != HRR_K_HOST && x->kind != HRR_K_ADDR)
				continue;
			int *to = is_dst(x->name) ? dst : is_src(x->name) ? src : NULL;
			if (to != NULL)
				*to = *to >= 0 && *to != x->kind ? HRR_K_ADDR : x->kind;
		}
	}
	if (*dst == HRR_K_ADDR && *src < 0)
		*dst = HRR_K_DEV; /* an address alone is a set's */
	*typed = *typed || *dst != HRR_K_ADDR;
}

/* Rows whose other operand is in a code object or an array, and lists of copies: t/60-play.bats
 * and t/51-rows.bats have them, with real kernels and arrays. */
static bool excused(const struct hrr_api_row *row)
{
	for (int i = 0; i < row->n_params; i++) {
		const struct hrr_param *p = &row->params[i];
		if (p->kind == HRR_K_SYMBOL || p->kind == HRR_K_STUB || p->kind == HRR_K_KPARAMS)
			return true;
		if (p->kind == HRR_K_HANDLE && p->handle == HRR_H_ARRAY)
			return true;
		if (p->count >= 0 && (p->kind == HRR_K_ADDR || p->kind == HRR_K_STRUCT))
			return true;
		for (int f = 0; p->st != NULL && f < p->st->n; f++)
			if (p->st->fields[f].kind == HRR_K_KPARAMS)
				return true;
	}
	return false;
}

int main(void)
{
	setenv("HRR_EMU_DEVICES", "2", 1);
	if (!emu_open())
		return done_testing();
	for (int a = 0; a < HRR_API_COUNT; a++) {
		const struct hrr_api_row *row = &hrr_api_table[a];
		bool family = row->cls == HRR_CLASS_COPY || row->cls == HRR_CLASS_SET ||
			      row->cls == HRR_CLASS_VALUE || row->cls == HRR_CLASS_GRAPH;
		int dst, src;
		bool typed;
		if (!family || hrr_handler_of((enum hrr_api)a) == NULL || excused(row))
			continue;
		if (row->major > hip.major)
			continue;
		ends_of(row, &dst, &src, &typed);
		if (dst < 0 && (row->cls == HRR_CLASS_GRAPH || src >= 0))
			continue;
		ok(dst >= 0, "%s: its operands are known", row->name);
		n_rows++;
		each_end(row, dst, src, typed);
	}
	ok(n_rows > 50 && n_runs > 150, "%u calls, %u runs", n_rows, n_runs);
	return done_testing();
}
