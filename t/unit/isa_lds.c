/*
 * LDS instructions of two accesses at the end of the workgroup's LDS: a lane that has
 * either of them outside is told once, stores nothing and loads 0, others go on.
 */
#include "t/unit/isa_asm.h"

enum { READ, WRITE, TESTS };

#define LDS_BYTES 64
#define LANES_ON 0x1ffffull

/* v8 is 4 less than four times the lane: lane 0 has its first access outside, lane 16 its second.
 */
#define ADDRESS "s_mov_b32 m0, -1\nv_lshlrev_b32 v6, 2, v10\nv_add_u32 v8, -4, v6\n"
#define WAIT "\ns_waitcnt lgkmcnt(0)\n"
static const char *const text[TESTS] = {
    /* each dword of LDS holds its address; the destination is where the address was */
    [READ] = ADDRESS "v_min_u32 v7, 60, v6\nds_write_b32 v7, v7" WAIT
		     "ds_read2_b32 v[8:9], v8 offset1:1" WAIT,
    [WRITE] = ADDRESS "v_min_u32 v7, 60, v6\nv_mov_b32 v9, 0\nds_write2_b32 v8, v10, v10 "
		      "offset1:1" WAIT "ds_read_b32 v8, v7" WAIT};

static void told(const struct fx *f, const char *what)
{
	is(f->report.n_faults, 1, "%s: one place", what);
	is(f->report.faults[0].space, ISA_LDS, "%s: in LDS", what);
	is(f->report.faults[0].address, 0xfffffffc, "%s: the first lane's address", what);
	is(f->report.faults[0].size, 4, "%s: of four bytes", what);
}

int main(void)
{
	char src[512];
	const char *path;
	unsigned bad = 0;
	struct fx f;
	FILE *s;

	snprintf(src, sizeof(src), "%s/lds.s", fx_dir());
	s = fopen(src, "w");
	if (!ok(s != NULL, "%s can be written", src))
		return done_testing();
	fprintf(s, ".text\n");
	for (unsigned i = 0; i < TESTS; i++)
		asm_kernel(s, "gfx90a", i, text[i], false, ".amdhsa_group_segment_fixed_size 64\n");
	asm_metadata(s, "gfx90a", TESTS);
	fclose(s);
	path = asm_build("gfx90a", "clang-19", "lds", src);
	if (!path || !ok(fx_load(&f, "gfx90a", path), "loads"))
		return done_testing();

	ok(!asm_launch(&f, READ, 64, LANES_ON, 0, LDS_BYTES), "a read outside ends the launch");
	is(f.report.status, ISA_FAULT, "as a fault");
	told(&f, "read");

	f.go_on = true;
	ok(asm_launch(&f, READ, 64, LANES_ON, 0, LDS_BYTES), "reads go on when asked to: %s",
	   f.report.what);
	told(&f, "read on");
	is(f.report.fault_count, 2, "each of both lanes is told once");
	for (uint64_t i = 0; i < 17; i++)
		bad += lane_out[i].result != (i == 0 || i == 16 ? 0 : (4 * i - 4) | (4 * i) << 32);
	is(bad, 0, "both load 0, the others what is there");

	ok(asm_launch(&f, WRITE, 64, LANES_ON, 0, LDS_BYTES), "writes go on when asked to: %s",
	   f.report.what);
	told(&f, "write on");
	is(f.report.fault_count, 2, "each of both lanes is told once");
	bad = 0;
	for (uint64_t i = 0; i < 17; i++)
		bad += lane_out[i].result != (i < 15 ? i + 1 : 15);
	is(bad, 0, "neither stores anything");
	fx_close(&f);
	return done_testing();
}
