/*
 * LDS instructions of two addresses: the lane's values are put at both by single stores, the
 * instruction reads, writes or exchanges them, and what it gave and what is there after it are
 * compared. Strides of 64 reach other places than plain ones.
 */
#include "t/unit/isa_slots.h"
#include "lib/emu/isa/internal.h"
#include "t/unit/isa_values.h"

enum kind { READ, WRITE, EXCHANGE, KINDS };
static const char *const names[KINDS][2] = {{"ds_read2", "ds_load_2addr"},
					    {"ds_write2", "ds_store_2addr"},
					    {"ds_wrxchg2", "ds_storexchg_2addr"}};

struct two {
	enum kind kind;
	int bytes;
	bool stride, after; /* after: what is stored after it, not what it gave */
	unsigned slot;
	char name[64];
};

static void emit(const struct two *t, unsigned gen, char *text, size_t size)
{
	const bool late = gen >= 11, wide = t->bytes == 8;
	const int o0 = t->stride ? 1 : 64, o1 = t->stride ? 3 : 200;
	const int unit = t->bytes * (t->stride ? 64 : 1);
	const char *const store = late	 ? wide ? "ds_store_b64" : "ds_store_b32"
				  : wide ? "ds_write_b64"
					 : "ds_write_b32";
	const char *const load = late	? wide ? "ds_load_b64" : "ds_load_b32"
				 : wide ? "ds_read_b64"
					: "ds_read_b32";
	const char *const add = gen == 9 ? "v_add_u32" : "v_add_nc_u32";
	const char *const c = wide ? "v[6:7]" : "v6", *const old = wide ? "v[8:9]" : "v8";
	char offsets[48];

	snprintf(offsets, sizeof(offsets), "offset0:%d offset1:%d", o0, o1);
	snprintf(text, size,
		 "v_lshlrev_b32 v14, %d, v10\n%s v16, %d, v14\n%s v17, %d, v14\n"
		 "%s v16, %s\n%s v17, %s\n",
		 wide ? 3 : 2, add, o0 * unit, add, o1 * unit, store, wide ? "v[2:3]" : "v2", store,
		 wide ? "v[4:5]" : "v4");
	text += strlen(text);
	if (t->kind == READ)
		snprintf(text, size, "%s v[20:%d], v14 %s\n", t->name, wide ? 23 : 21, offsets);
	else if (t->kind == WRITE)
		snprintf(text, size, "%s v14, %s, %s %s\n", t->name, c, old, offsets);
	else
		snprintf(text, size, "%s v[20:%d], v14, %s, %s %s\n", t->name, wide ? 23 : 21, c,
			 old, offsets);
	text += strlen(text);
	if (t->after)
		snprintf(text, size,
			 wide ? "%s v[20:21], v16\n%s v[22:23], v17\n"
			      : "%s v20, v16\n%s v21, v17\n",
			 load, load);
	text += strlen(text);
	snprintf(
	    text, size,
	    wide ? "v_mov_b32 v8, v20\nv_mov_b32 v9, v21\nv_mov_b32 v18, v22\nv_mov_b32 v19, v23"
		 : "v_mov_b32 v8, v20\nv_mov_b32 v9, 0\nv_mov_b32 v18, v21\nv_mov_b32 v19, 0");
}

static void check(struct slots *s, const struct two *t)
{
	static const uint64_t execs[] = {~0ull, 0x5a5af0ff12345679ull, 1ull << 17, 0};
	const uint64_t all = s->lanes == 64 ? ~0ull : 0xffffffff;
	const uint64_t low = t->bytes == 8 ? ~0ull : 0xffffffff;
	unsigned bad = 0;

	for (unsigned r = 0; r < 4; r++) {
		slot_ctl[r] = (struct slot_ctl){execs[r] & all, 0};
		for (unsigned i = 0; i < s->lanes; i++)
			slot_in[r][i] = (struct lane_in){rnd64(), rnd64(), rnd64(), rnd64()};
	}
	if (!slots_run(s, t->slot, 4, 0x3f0)) {
		ok(false, "%s %s runs: %s", s->arch, t->name, s->fx.report.what);
		return;
	}
	for (unsigned r = 0; r < 4; r++)
		for (unsigned i = 0; i < s->lanes; i++) {
			const struct lane_in *const v = &slot_in[r][i];
			const struct slot_out *const o = &slot_out[r][i];
			const bool new = t->after && t->kind != READ;

			if (!(execs[r] >> i & 1))
				bad += o->result != v->old;
			else
				bad += o->result != ((new ? v->c : v->a) & low) ||
				       o->second != ((new ? v->old : v->b) & low);
		}
	is(bad, 0, "%s %s%s", s->arch, t->name, t->after ? ", and what is there then" : "");
}

static void test_arch(const char *arch, const char *clang)
{
	struct two tests[32];
	unsigned n = 0;
	struct slots s;

	slots_init(&s, arch);
	for (int k = 0; k < KINDS; k++)
		for (int wide = 0; wide < 2; wide++)
			for (int stride = 0; stride < 2; stride++)
				for (int after = k == WRITE; after < 2; after++) {
					struct two *const t = &tests[n++];
					char text[1200];

					*t = (struct two){
					    (enum kind)k, wide ? 8 : 4, stride, after, 0, ""};
					snprintf(t->name, sizeof(t->name), "%s%s%s_b%d",
						 names[k][s.gen >= 11],
						 !stride       ? ""
						 : s.gen >= 11 ? "_stride64"
							       : "st64",
						 k == EXCHANGE ? "_rtn" : "", 8 * t->bytes);
					emit(t, s.gen, text, sizeof(text));
					t->slot = slots_add(&s, text);
				}
	if (slots_build(&s, "two", clang)) {
		seed = 23;
		for (unsigned i = 0; i < n; i++)
			if (ok(!s.why[tests[i].slot], "%s has %s", arch, tests[i].name))
				check(&s, &tests[i]);
			else
				diag("%s", s.why[tests[i].slot]);
	}
	slots_release(&s);
}

int main(int argc, char **argv)
{
	return isa_main(argc, argv, "isa_two", NULL, test_arch);
}
