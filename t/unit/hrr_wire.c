/* The ids and layouts derived from hip.api against the format's own tables. */
#include <stdlib.h>

#include "formats/hrr/hash.h"
#include "formats/hrr/wire.h"
#include "t/unit/tap.h"

static char text[8192];

static void put(const char *name, const char *suffix, const char *type, unsigned at)
{
	size_t n = strlen(text);

	snprintf(text + n, sizeof text - n, "%s%s%s:%s@%u", n ? " " : "", name, suffix, type, at);
}

static void bytes(const char *name, const char *suffix, unsigned n, unsigned at)
{
	char type[24];

	snprintf(type, sizeof type, "u8[%u]", n);
	put(name, suffix, type, at);
}

static void one_param(const struct hrr_param *p, unsigned at, unsigned width)
{
	bool in = p->flow == HRR_FLOW_IN && p->count < 0;

	if (width == 0)
		return;
	if (in && p->kind == HRR_K_DIM3) {
		put(p->name, "_x", "u32", at);
		put(p->name, "_y", "u32", at + 4);
		put(p->name, "_z", "u32", at + 8);
	} else if (in && p->kind == HRR_K_VALUE && width == p->st->size && at > 0 && width != 8) {
		bytes(p->name, "_bytes", width, at);
	} else if (width == 8) {
		put(p->name, "", "u64", at);
	} else if (p->kind == HRR_K_FLOAT) {
		put(p->name, "", "f32", at);
	} else {
		bool u = p->kind == HRR_K_UINT || p->kind == HRR_K_FLAGS || p->kind == HRR_K_U32;
		put(p->name, "", u ? "u32" : "i32", at);
	}
}

/* The layout in the words of the table. */
static void describe(enum hrr_api api, int version)
{
	const struct hrr_api_row *row = &hrr_api_table[api];
	const struct hrr_wire_row *w = hrr_wire_row(api);
	struct hrr_layout l;

	text[0] = '\0';
	if (hrr_layout_of(api, version, &l) < 0)
		return;
	if (l.ret_width == 20)
		bytes("ret", "_bytes", 20, l.ret);
	else if (l.ret_width > 0)
		put("ret", "", l.ret_width == 4 ? "i32" : "u64", l.ret);
	for (int i = 0; i < row->n_params; i++) {
		const struct hrr_param *p = &row->params[i];
		/* hipMemLocation is 8 bytes as a pointer is */
		if (version >= 6 && p->kind == HRR_K_VALUE && p->st->size == 8)
			bytes(p->name, "_bytes", 8, l.at[i]);
		else
			one_param(p, l.at[i], l.width[i]);
	}
	for (int i = 0; i < w->n; i++) {
		const struct hrr_wire_extra *x = &w->extra[i];
		const char *name = x->what == HRR_W_IN ? row->params[x->param].name : x->field;
		unsigned at = l.extra[i];
		if (at == 0)
			continue;
		switch (x->what) {
		case HRR_W_IN:
			bytes(name, "_bytes", x->size, at);
			put(name, "_present", "u8", at + x->size);
			if (x->elem)
				put(name, "_n", "u32", at + x->size + 1);
			break;
		case HRR_W_BYTES:
			bytes(name, "_bytes", x->size, at);
			break;
		case HRR_W_U64:
			put(name, "", "u64", at);
			break;
		case HRR_W_HASH:
			put("blob_hash", "_lo", "u64", at);
			put("blob_hash", "_hi", "u64", at + 8);
			break;
		case HRR_W_D2H:
			put("d2h_hash", "_lo", "u64", at);
			put("d2h_hash", "_hi", "u64", at + 8);
			break;
		case HRR_W_CO:
			put("co_hash", "_lo", "u64", at);
			put("co_hash", "_hi", "u64", at + 8);
			put("module_id", "", "u32", at + 16);
			break;
		default:
			break;
		}
	}
	if (l.tail) {
		size_t n = strlen(text);
		unsigned s = l.size;
		snprintf(text + n, sizeof text - n,
			 " tail.name_len:u16@%u tail.name:u8[name_len]@%u tail.co_hash_lo:u64@%u+L"
			 " tail.co_hash_hi:u64@%u+L tail.num_args:u16@%u+L"
			 " tail.args:arg[num_args]@%u+L",
			 s, s + 2, s + 2, s + 10, s + 18, s + 20);
	}
	put("END", "", "", l.size);
}

static bool same(const char *call, const char *want, int version, enum hrr_api api)
{
	describe(api, version);
	if (strcmp(text, want) == 0)
		return true;
	diag("%s, version %d", call, version);
	diag("got  %s", text);
	diag("want %s", want);
	return false;
}

static void layouts(void)
{
	FILE *f = fopen("t/data/hrr/layouts.tsv", "r");
	static char line[16384];
	int calls = 0, bad7 = 0, bad5 = 0, ids = 0, back = 0, ids3 = 0;

	if (!ok(f != NULL, "the tables are there"))
		return;
	while (fgets(line, sizeof line, f) != NULL) {
		char *field[5], *at = line;
		if (line[0] == '#')
			continue;
		line[strcspn(line, "\n")] = '\0';
		for (int i = 0; i < 5; i++)
			field[i] = strsep(&at, "\t");
		if (field[4] == NULL)
			continue;
		calls++;
		int api = hrr_api_find(field[0], strlen(field[0]));
		if (api < 0) {
			diag("no row: %s", field[0]);
			bad7++;
			continue;
		}
		int id = atoi(field[1]), id3 = atoi(field[2]);
		int base = id < 0 ? 546 : 544; /* the two calls of later builds */
		if (id >= 0 && hrr_wire_id(8, base, (enum hrr_api)api) != id) {
			diag("id of %s", field[0]);
			ids++;
		}
		if (hrr_wire_api(8, base, hrr_wire_id(8, base, (enum hrr_api)api)) != api)
			back++;
		if (hrr_wire_id(3, -1, (enum hrr_api)api) != id3 ||
		    (id3 >= 0 && hrr_wire_api(3, -1, id3) != api))
			ids3++;
		if (strcmp(field[3], "launch") == 0) {
			bad7 += !hrr_wire_row((enum hrr_api)api)->launch;
			continue;
		}
		bad7 += !same(field[0], field[3], 7, (enum hrr_api)api);
		if (strcmp(field[4], "-") != 0)
			bad5 += !same(field[0], field[4][0] == '=' ? field[3] : field[4], 5,
				      (enum hrr_api)api);
	}
	fclose(f);
	is(calls, 555, "calls in the tables");
	is(ids, 0, "numbers of version 5 and later");
	is(back, 0, "and back");
	is(ids3, 0, "numbers of version 3");
	is(bad7, 0, "records of versions 7 and 8, derived");
	is(bad5, 0, "records of version 5, derived");
}

static void bases(void)
{
	is(hrr_wire_api(8, 544, 546), HRR_API___hipRegisterFatBinary, "base 544");
	is(hrr_wire_api(8, 546, 548), HRR_API___hipRegisterFatBinary, "base 546");
	is(hrr_wire_api(8, 546, 544), HRR_API_hipModuleEnumerateFunctions,
	   "a later call below 546");
	is(hrr_wire_api(8, 544, 553), -1, "behind the last compiler call");
	is(hrr_wire_id(8, 544, HRR_API_hipModuleEnumerateFunctions), -1, "not in a build of 544");
	is(hrr_wire_api(8, -1, 65534), -1, "no such number");
}

static void hashes(void)
{
	unsigned char b[256];
	char t[HRR_FNV_HEX + 1];
	struct hrr_fnv h;
	static const struct {
		const char *bytes, *hex;
	} k[] = {{"", "cbf29ce48422232500000100000001b3"},
		 {"a", "af63dc4c8601ec8c61c4bcf88623f95a"},
		 {"hello", "a430d84680aabd0b779c7cb5ec50a9a9"}};

	for (size_t i = 0; i < sizeof k / sizeof *k; i++) {
		hrr_fnv_text(hrr_fnv_of(k[i].bytes, strlen(k[i].bytes)), t);
		is_str(t, k[i].hex, "hash of \"%s\"", k[i].bytes);
	}
	for (int i = 0; i < 256; i++)
		b[i] = (unsigned char)i;
	h = hrr_fnv_start();
	hrr_fnv_add(&h, b, 100);
	hrr_fnv_add(&h, b + 100, 156);
	hrr_fnv_text(h, t);
	is_str(t, "4242dc5249c33625042cd2895c50ddb3", "hash of the bytes 00 to ff, in pieces");
	ok(hrr_fnv_parse(t, 32, &h) && hrr_fnv_equal(h, hrr_fnv_of(b, 256)), "parsed back");
	ok(!hrr_fnv_parse("4242DC5249C33625042CD2895C50DDB3", 32, &h), "upper case is no name");
	ok(!hrr_fnv_parse(t, 31, &h), "nor a short one");
}

int main(void)
{
	layouts();
	bases();
	hashes();
	return done_testing();
}
