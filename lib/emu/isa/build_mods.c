/* Modifiers: what follows the operands in the text of an instruction. */
#include <stdio.h>
#include <stdlib.h>

#include "lib/emu/isa/build.h"
#include "lib/emu/isa/mem.h"

static u32 bit_list(const char *arg) /* "[0,1,1]" to bits */
{
	u32 r = 0, n = 0;

	for (; *arg; arg++)
		if (*arg == '0' || *arg == '1')
			r |= (u32)(*arg - '0') << n++;
	return r;
}

static u8 sdwa_sel(const char *arg)
{
	static const char *const names[] = {"DWORD",  "BYTE_0", "BYTE_1", "BYTE_2",
					    "BYTE_3", "WORD_0", "WORD_1"};

	for (u8 i = 0; i < 7; i++)
		if (!strcmp(arg, names[i]))
			return i;
	return SEL_DWORD;
}

static bool modifier(struct isa_build *b, const char *name, const char *arg)
{
	static const struct {
		const char *name;
		u8 kind;
	} dpp[] = {{"row_shl", DPP_ROW_SHL},
		   {"row_shr", DPP_ROW_SHR},
		   {"row_ror", DPP_ROW_ROR},
		   {"wave_shl", DPP_WAVE_SHL},
		   {"wave_rol", DPP_WAVE_ROL},
		   {"wave_shr", DPP_WAVE_SHR},
		   {"wave_ror", DPP_WAVE_ROR},
		   {"row_mirror", DPP_MIRROR},
		   {"row_half_mirror", DPP_HALF_MIRROR},
		   {"row_newbcast", DPP_SHARE},
		   {"row_share", DPP_SHARE},
		   {"row_xmask", DPP_XMASK}};
	static const char *const ignored[] = {"glc", "slc",   "dlc", "sc0", "sc1",
					      "nt",  "scope", "off", "th"};
	struct isa_extra *const x = &b->x;
	const long n = strtol(arg, NULL, 0);

	if (!strcmp(name, "offset")) {
		b->in->imm = n;
		return true;
	}
	if (!strcmp(name, "gds") && !strncmp(b->op->name, "ds_gws_", 7))
		return true;
	if (!strcmp(name, "offset0"))
		return b->in->imm = n, true;
	if (!strcmp(name, "offset1"))
		return b->in->imm2 = n, true;
	if (!strcmp(name, "offen"))
		return b->in->m.offen = true;
	if (!strcmp(name, "idxen"))
		return b->in->m.idxen = true;
	if (!strcmp(name, "glc") || !strcmp(name, "sc0") ||
	    (!strcmp(name, "th") && strstr(arg, "RETURN")))
		b->in->m.rtn |= b->in->m.op == MEM_ATOMIC;
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		if (!strcmp(name, ignored[i]))
			return true;
	if (!strcmp(name, "clamp"))
		return b->clamp = true;
	if (!strcmp(name, "mul"))
		return x->omod = n == 4 ? 2 : 1, true;
	if (!strcmp(name, "div"))
		return x->omod = 3, true;
	if (!strcmp(name, "op_sel"))
		return b->op_sel = bit_list(arg), b->has_op_sel = true;
	if (!strcmp(name, "op_sel_hi"))
		return b->op_sel_hi = bit_list(arg), b->has_op_sel_hi = true;
	if (!strcmp(name, "neg_lo"))
		return b->neg_lo = bit_list(arg), true;
	if (!strcmp(name, "neg_hi"))
		return b->neg_hi = bit_list(arg), true;
	if (!strcmp(name, "dst_sel"))
		return x->dst_sel = sdwa_sel(arg), true;
	if (!strcmp(name, "dst_unused"))
		return x->dst_unused =
			   !strcmp(arg, "UNUSED_PRESERVE") ? 2 : !strcmp(arg, "UNUSED_SEXT"),
		       true;
	if (!strcmp(name, "src0_sel"))
		return x->mod[0].sel = sdwa_sel(arg), true;
	if (!strcmp(name, "src1_sel"))
		return x->mod[1].sel = sdwa_sel(arg), true;
	if (!strcmp(name, "quad_perm")) {
		u32 k = 0;
		for (; *arg; arg++)
			if (*arg >= '0' && *arg <= '3')
				x->dpp.n |= (u8)((*arg - '0') << (2 * k++ & 7));
		x->dpp.kind = DPP_QUAD;
		return true;
	}
	if (!strcmp(name, "dpp8")) {
		u32 k = 0;
		for (; *arg; arg++)
			if (*arg >= '0' && *arg <= '7' && k < 8)
				x->dpp.lane[k++] = (u8)(*arg - '0');
		x->dpp.kind = DPP_8;
		return true;
	}
	if (!strcmp(name, "row_bcast"))
		return x->dpp.kind = n == 15 ? DPP_BCAST15 : DPP_BCAST31, true;
	for (size_t i = 0; i < sizeof(dpp) / sizeof(dpp[0]); i++)
		if (!strcmp(name, dpp[i].name)) {
			x->dpp.kind = dpp[i].kind;
			x->dpp.n = (u8)n;
			return true;
		}
	if (!strcmp(name, "row_mask"))
		return x->dpp.row_mask = (u8)n, true;
	if (!strcmp(name, "bank_mask"))
		return x->dpp.bank_mask = (u8)n, true;
	if (!strcmp(name, "bound_ctrl")) /* either way of writing it means the bit */
		return x->dpp.bound_ctrl = true;
	if (!strcmp(name, "fi"))
		return x->dpp.fi = n != 0, true;
	if (!strcmp(name, "bitop3"))
		return b->in->imm = n, true;
	if (!strcmp(name, "byte_sel"))
		return x->mod[0].sel = (u8)(SEL_BYTE_0 + (n & 3)), true;
	if (!strcmp(name, "lds") && b->op->kind == MEM_FN_BUFFER && b->op->cls == CLASS_MEM)
		return b->in->m.to_lds = true;
	if (!strcmp(name, "cbsz"))
		return b->in->imm |= (n & 7), true;
	if (!strcmp(name, "abid") || !strcmp(name, "index_key"))
		return b->in->imm |= (n & 15) << 4, true;
	if (!strcmp(name, "blgp"))
		return b->in->imm |= (n & 7) << 8, true;
	snprintf(b->why, sizeof(b->why), "modifier %s", name);
	return false;
}

bool isa_modifiers(struct isa_build *b)
{
	const char *at = b->t.mods;
	char name[40], arg[80];

	b->x.dpp.row_mask = b->x.dpp.bank_mask = 15;
	while (isa_text_mod(&at, name, sizeof(name), arg, sizeof(arg)))
		if (!modifier(b, name, arg))
			return false;
	return true;
}
