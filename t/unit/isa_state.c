/*
 * Instructions that combine EXEC with a mask, that must change nothing, and those that read
 * scalar memory through a buffer descriptor, on every arch.
 */
#include "t/unit/isa_slots.h"
#include "lib/emu/isa/internal.h"
#include "t/unit/isa_values.h"

enum { AND, OR, XOR, ANDN2, ORN2, NAND, NOR, XNOR, ANDN1, ORN1, W_ANDN1, W_ANDN2, MASKS };
static const char *const masks[MASKS][2] = {
    {"s_and_saveexec", "s_and_saveexec"},	 {"s_or_saveexec", "s_or_saveexec"},
    {"s_xor_saveexec", "s_xor_saveexec"},	 {"s_andn2_saveexec", "s_and_not1_saveexec"},
    {"s_orn2_saveexec", "s_or_not1_saveexec"},	 {"s_nand_saveexec", "s_nand_saveexec"},
    {"s_nor_saveexec", "s_nor_saveexec"},	 {"s_xnor_saveexec", "s_xnor_saveexec"},
    {"s_andn1_saveexec", "s_and_not0_saveexec"}, {"s_orn1_saveexec", "s_or_not0_saveexec"},
    {"s_andn1_wrexec", "s_and_not0_wrexec"},	 {"s_andn2_wrexec", "s_and_not1_wrexec"}};

static uint64_t combined(int op, uint64_t s, uint64_t e)
{
	switch (op) {
	case AND:
		return s & e;
	case OR:
		return s | e;
	case XOR:
		return s ^ e;
	case ANDN2:
	case W_ANDN2:
		return s & ~e;
	case ORN2:
		return s | ~e;
	case NAND:
		return ~(s & e);
	case NOR:
		return ~(s | e);
	case XNOR:
		return ~(s ^ e);
	case ANDN1:
	case W_ANDN1:
		return ~s & e;
	default:
		return ~s | e;
	}
}

/* What an arch lacks its assembler refuses; most of them it takes. */
static const char *const nothing[] = {"s_nop 3",
				      "v_nop",
				      "s_setprio 2",
				      "s_incperflevel 1",
				      "s_decperflevel 1",
				      "s_icache_inv",
				      "s_ttracedata",
				      "s_ttracedata_imm 1",
				      "s_wakeup",
				      "s_dcache_inv",
				      "s_dcache_wb",
				      "s_dcache_inv_vol",
				      "s_dcache_wb_vol",
				      "s_gl1_inv",
				      "s_sleep 1",
				      "s_version 1",
				      "v_clrexcp",
				      "v_pipeflush",
				      "ds_nop",
				      "s_cbranch_cdbgsys 1\ns_nop 0",
				      "s_cbranch_cdbguser 1\ns_nop 0",
				      "s_waitcnt vmcnt(0)",
				      "s_waitcnt_vscnt null, 0",
				      "s_waitcnt_vmcnt null, 0",
				      "s_waitcnt_expcnt null, 0",
				      "s_waitcnt_lgkmcnt null, 0",
				      "s_waitcnt_depctr 0",
				      "s_wait_idle",
				      "s_wait_event 1",
				      "s_wait_alu 0",
				      "s_wait_loadcnt 0",
				      "s_wait_storecnt 0",
				      "s_wait_samplecnt 0",
				      "s_wait_bvhcnt 0",
				      "s_wait_expcnt 0",
				      "s_wait_dscnt 0",
				      "s_wait_kmcnt 0",
				      "s_wait_loadcnt_dscnt 0",
				      "s_wait_storecnt_dscnt 0",
				      "s_delay_alu 0",
				      "s_clause 1\ns_nop 0\ns_nop 0",
				      "s_inst_prefetch 1",
				      "s_set_inst_prefetch_distance 1",
				      "s_prefetch_inst s[12:13], 0, null, 0",
				      "s_prefetch_inst_pc_rel 0, null, 0",
				      "s_prefetch_data s[12:13], 0, null, 0",
				      "s_prefetch_data_pc_rel 0, null, 0",
				      "s_buffer_prefetch_data s[4:7], 0, null, 0",
				      "s_sleep_var 1",
				      "s_singleuse_vdst 0",
				      "buffer_wbinvl1",
				      "buffer_wbinvl1_vol",
				      "buffer_invl2",
				      "buffer_wbl2",
				      "buffer_wbl2 sc1",
				      "buffer_inv sc1",
				      "buffer_gl0_inv",
				      "buffer_gl1_inv",
				      "global_inv",
				      "global_wb",
				      "global_wbinv",
				      "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0",
				      "s_sethalt 0",
				      "s_trap 3",
				      "s_cbranch_vccz 0",
				      "s_barrier",
				      "s_barrier_signal -1\ns_barrier_wait -1"};
#define N_NOTHING (sizeof(nothing) / sizeof(nothing[0]))

#define SRD "s_mov_b32 s36, s12\ns_mov_b32 s37, s13\ns_movk_i32 s38, 0x40\ns_mov_b32 s39, 0x27000\n"
static const int widths[] = {1, 2, 4, 8, 16};

static void one_launch(struct slots *s, unsigned rows)
{
	const uint64_t all = s->lanes == 64 ? ~0ull : 0xffffffff;

	for (unsigned r = 0; r < rows; r++) {
		slot_ctl[r] = (struct slot_ctl){r % 5 == 4 ? all : rnd64() & all, rnd64() & all};
		for (unsigned i = 0; i < s->lanes; i++)
			slot_in[r][i] = (struct lane_in){r % 7	 ? rnd64()
							 : r % 2 ? ~0ull
								 : 0,
							 rnd64(), rnd64(), rnd64()};
		for (size_t i = 0; i < SLOT_PAGE; i++)
			slot_page[r][i] = (unsigned char)rnd64();
	}
}

static void test_arch(const char *arch, const char *clang)
{
	unsigned refused[2], mask_slot[MASKS][2], idle[N_NOTHING], load[5], taken = 0;
	struct slots s;
	char text[300];

	slots_init(&s, arch);
	const bool late = s.gen >= 11;
	const uint64_t all = s.lanes == 64 ? ~0ull : 0xffffffff;
	for (int i = 0; i < MASKS; i++)
		for (int wide = 0; wide < 2; wide++) {
			snprintf(text, sizeof(text),
				 wide ? "%s_b64 s[24:25], s[20:21]" : "%s_b32 s24, s20",
				 masks[i][late]);
			mask_slot[i][wide] = slots_add(&s, text);
		}
	for (size_t i = 0; i < N_NOTHING; i++)
		idle[i] = slots_add(&s, nothing[i]);
	for (int k = 0; k < 5; k++) {
		const int n = widths[k], last = 39 + n;
		char dst[24];

		snprintf(dst, sizeof(dst), n == 1 ? "s%d" : "s[%d:%d]", 40, last);
		/* the first and the last dword of it, from 16 bytes before the records end for wide
		 * ones */
		if (late)
			snprintf(text, sizeof(text), SRD "s_buffer_load_b%d %s, s[36:39], 0x10\n",
				 32 * n, dst);
		else if (n == 1)
			snprintf(text, sizeof(text), SRD "s_buffer_load_dword %s, s[36:39], 0x10\n",
				 dst);
		else
			snprintf(text, sizeof(text),
				 SRD "s_buffer_load_dwordx%d %s, s[36:39], 0x10\n", n, dst);
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "s_mov_b32 s24, s40\ns_mov_b32 s25, s%d", last);
		load[k] = slots_add(&s, text);
	}
	for (int k = 0; k < 2; k++) { /* descriptors that lay lanes out in other ways */
		snprintf(text, sizeof(text),
			 SRD "s_bitset1_b32 s%d, %d\nbuffer_load_%s v8, v11, s[36:39], %s offen",
			 k ? 39 : 37, k ? 23 : 31, late ? "b32" : "dword",
			 s.gen == 12 ? "null" : "0");
		refused[k] = slots_add(&s, text);
	}
	if (!slots_build(&s, "state", clang)) {
		slots_release(&s);
		return;
	}
	seed = 17;
	for (int i = 0; i < MASKS; i++)
		for (int wide = 0; wide < 2; wide++) {
			const unsigned slot = mask_slot[i][wide];
			unsigned bad = 0;

			if (s.why[slot] || (s.gen != 9 && wide))
				continue; /* the wide ones are for waves of 64 */
			one_launch(&s, 20);
			if (!slots_run(&s, slot, 20, 0x3f0))
				bad = 999;
			for (unsigned r = 0; r < 20 && bad < 999; r++) {
				const uint64_t e = slot_ctl[r].exec, w = wide ? ~0ull : 0xffffffff;
				const uint64_t want = combined(i, slot_in[r][0].a, e) & w & all;

				bad +=
				    (slot_out[r][0].exec & all) != want ||
				    (slot_out[r][0].sdst & w & all) != (i >= W_ANDN1 ? want : e) ||
				    slot_out[r][0].scc != (want != 0);
			}
			is(bad, 0, "%s %s", arch, s.text[slot]);
		}
	for (size_t i = 0; i < N_NOTHING; i++) {
		unsigned bad = 0;

		if (s.why[idle[i]])
			continue;
		taken++;
		one_launch(&s, 5);
		if (!slots_run(&s, idle[i], 5, 0x3f0)) {
			diag("%s", s.fx.report.what);
			bad = 999;
		}
		for (unsigned r = 0; r < 5 && bad < 999; r++)
			for (unsigned k = 0; k < s.lanes; k++)
				bad += slot_out[r][k].result != slot_in[r][k].old ||
				       (slot_out[r][k].vcc & all) != slot_ctl[r].vcc ||
				       (slot_out[r][k].exec & all) != slot_ctl[r].exec ||
				       slot_out[r][k].scc != (slot_ctl[r].vcc & 1) ||
				       slot_out[r][k].sdst != slot_in[r][0].c;
		snprintf(text, sizeof(text), "%s", nothing[i]);
		text[strcspn(text, "\n")] = '\0';
		is(bad, 0, "%s %s changes nothing", arch, text);
	}
	ok(taken > 15, "%s: %u that change nothing", arch, taken);
	for (int k = 0; k < 5; k++) {
		unsigned bad = 0;

		if (!ok(!s.why[load[k]], "%s: s_buffer_load of %d", arch, widths[k])) {
			diag("%s", s.why[load[k]]);
			continue;
		}
		one_launch(&s, 5);
		if (!slots_run(&s, load[k], 5, 0x3f0)) {
			diag("%s", s.fx.report.what);
			bad = 999;
		}
		for (unsigned r = 0; r < 5 && bad < 999; r++) {
			uint32_t first, last = 0;

			memcpy(&first, slot_page[r] + 16, 4);
			if (16 + 4 * widths[k] <= 64) /* beyond the records 0 is read */
				memcpy(&last, slot_page[r] + 12 + 4 * widths[k], 4);
			bad += slot_out[r][0].sdst != ((uint64_t)last << 32 | first);
		}
		is(bad, 0, "%s: what it read", arch);
	}
	for (int k = 0; k < 2; k++) {
		one_launch(&s, 1);
		slot_ctl[0].exec = all;
		ok(!slots_run(&s, refused[k], 1, 0x3f0) && s.fx.report.status == ISA_UNIMPLEMENTED,
		   "%s refuses a %s buffer: %s", arch, k ? "lane-numbered" : "swizzled",
		   s.fx.report.what);
	}
	slots_release(&s);
}

int main(int argc, char **argv)
{
	return isa_main(argc, argv, "isa_state", NULL, test_arch);
}
