#ifndef HRR_T_UNIT_ISA_FORMS_H
#define HRR_T_UNIT_ISA_FORMS_H

#include "t/unit/isa_slots.h"
#include "lib/emu/isa/internal.h"
#include "t/unit/isa_ops_table.h"
#include "t/unit/isa_ops_more.h"
#include "t/unit/isa_values.h"

/*
 * Letters of a spec, destinations:sources. i f d q h s p P F m u U are those of
 * lib/emu/isa/table.h; H, S: a half that leaves the other one in every generation;
 * K a half of v_pk_mov; k a literal; n, N an immediate (signed, unsigned);
 * x y z a scalar float, half, pair of halves; b a pair of bf16.
 */
enum form { PLAIN, SCALAR, CONST, SIGNS, CLAMP, HALVES, SDWA, DPP, CMPX, FORMS };
static const char *const form_names[FORMS] = {"",	" with a scalar", " with a constant",
					      " signs", " clamp",	  " op_sel",
					      " sdwa",	" dpp",		  " (cmpx)"};
#define LITERAL32 0x40490fdbu
#define LITERAL16 0x4248u
#define IMM 0x8005u

static bool is_wide(char t)
{
	return strchr("qdFUK", t) != NULL;
}
static bool is_half(char t)
{
	return strchr("hsHS", t) != NULL;
}
static bool is_float(char t)
{
	return strchr("fdhFpHxyzb", t) != NULL;
}

/* Name of an instruction on an arch, into name; false when it has none. */
static bool name_in(const struct ref_op *op, const char *arch, char *name, size_t size)
{
	const int a = isa_arch_by_name(arch);
	const char *s = op->name;
	size_t len;
	int canonical;

	if (op->archs && !strstr(op->archs, arch))
		return false;
	if (strchr(s, '|')) {
		for (unsigned g = 9; g < gen_of(arch) && strchr(s, '|'); g++)
			s = strchr(s, '|') + 1;
		snprintf(name, size, "%.*s", (int)strcspn(s, "|"), s);
		return name[0] != '-';
	}
	len = strcspn(s, " ");
	canonical = isa_op_find(s, len);
	snprintf(name, size, "%.*s", (int)len, s);
	if (canonical < 0)
		return op->archs != NULL;
	if (isa_op_at((unsigned)canonical)->archs >> a & 1)
		return true;
	for (unsigned i = 0; i < isa_op_count(); i++)
		if (isa_op_at(i)->canonical == canonical && isa_op_at(i)->archs >> a & 1) {
			snprintf(name, size, "%s", isa_op_at(i)->name);
			return true;
		}
	return op->archs != NULL; /* it should be there */
}

/* The constant a CONST form gives to source 0, as text and as bits. */
static const char *const_text(char t, uint64_t *bits)
{
	switch (t) {
	case 'f':
		*bits = 0x3f000000;
		return "0.5";
	case 'd':
		*bits = 0xc000000000000000ull;
		return "-2.0";
	case 'h':
		*bits = 0x3800;
		return "0.5";
	case 'i':
		*bits = 0x12345678;
		return "0x12345678";
	case 'q':
		*bits = 0xfffffffffffffff0ull;
		return "-16";
	case 's':
		*bits = 0xfff0;
		return "-16";
	default:
		return NULL;
	}
}

/* The instruction in a form; false when the form says nothing for it. */
static bool emit(const struct ref_op *op, const char *name, const char *arch, enum form form,
		 char *text, size_t size)
{
	static const char *const narrow[] = {"v2", "v4", "v6"}, *const pair[] = {"v[2:3]", "v[4:5]",
										 "v[6:7]"};
	static const char *const sn[] = {"s20", "s22", "s24"}, *const sp[] = {"s[20:21]",
									      "s[22:23]",
									      "s[24:25]"};
	const unsigned gen = gen_of(arch);
	const char *const vcc = gen == 9 ? "vcc" : "vcc_lo";
	const char *const colon = strchr(op->spec, ':'), *const srcs = colon + 1;
	const char *const extra = strchr(op->name, ' ');
	const unsigned n_src = (unsigned)strlen(srcs);
	const bool scalar = strpbrk(op->spec, "uUnNxyz") != NULL;
	const bool cmp = op->spec[0] == 'm';
	char tail[160] = "", part[64], full[80];
	unsigned src = 0, chosen = 0;
	bool any = false;
	size_t at;
	uint64_t bits;

	if (form != PLAIN && (scalar || (extra && form != SCALAR)))
		return false;
	if (form == CMPX && !cmp)
		return false;
	if (form == SIGNS && strstr(name, "_div_scale_")) /* has no place for |x| */
		return false;
	snprintf(full, sizeof(full), "%s%s", name,
		 form == SDWA  ? "_sdwa"
		 : form == DPP ? "_dpp"
		 : form == SIGNS || form == CLAMP || form == HALVES
		     ? strncmp(name, "v_pk_", 5) && !strstr(name, "_mix") ? "_e64" : ""
		     : "");
	if (form == CMPX)
		snprintf(full, sizeof(full), "v_cmpx%s", name + 5);
	at = (size_t)snprintf(text, size, "%s ", full);
	for (const char *s = op->spec; *s; s++) {
		const bool dst = s < colon;
		const char *what;

		if (*s == ':' || (dst && *s == 'm' && form == CMPX && gen >= 10))
			continue;
		if (*s == 'm')
			what = vcc;
		else if (*s == 'u' || *s == 'x' || *s == 'y' || *s == 'z')
			what = dst ? "s24" : sn[src];
		else if (*s == 'U')
			what = dst ? "s[24:25]" : sp[src];
		else if (*s == 'n' || *s == 'N')
			what = "0x8005";
		else if (*s == 'k')
			what = op->spec[0] == 'h' ? "0x4248" : "0x40490fdb";
		else if (dst)
			what = is_wide(*s) ? "v[8:9]" : "v8";
		else
			what = is_wide(*s) ? pair[src] : narrow[src];
		if (!dst && *s != 'm') {
			const bool last = src + 1 == n_src || srcs[src + 1] == 'm';

			if (form == SCALAR &&
			    (n_src == 1 || strchr(srcs, 'k') ? src == 0 : src == 1)) {
				what = is_wide(*s) ? sp[src] : sn[src];
				any = true;
			} else if (form == CONST && src == 0) {
				what = const_text(*s, &bits);
				if (!what)
					return false;
				any = true;
			} else if (form == SIGNS && strchr("fdh", *s)) {
				/* -a, |b|, -|c| */
				snprintf(part, sizeof(part),
					 src == 0   ? "-%s"
					 : src == 1 ? "|%s|"
						    : "-|%s|",
					 what);
				what = part;
				any = true;
			}
			if (form == HALVES && is_half(*s))
				chosen |= 1u << src;
			(void)last;
			src++;
		}
		at += (size_t)snprintf(text + at, size - at, "%s%s",
				       at > strlen(full) + 1 ? ", " : "", what);
	}
	switch (form) {
	case SIGNS:
		if (strpbrk(srcs, "pF") && !any) {
			/* -lo(a), -hi(b), halves of a change places */
			snprintf(tail, sizeof(tail),
				 "op_sel:[1,0%s] op_sel_hi:[0,1%s] neg_lo:[1,0%s] neg_hi:[0,1%s]",
				 n_src > 2 ? ",0" : "", n_src > 2 ? ",1" : "",
				 n_src > 2 ? ",0" : "", n_src > 2 ? ",0" : "");
			any = n_src > 1;
		} else if (strpbrk(srcs, "P") && n_src > 1) {
			snprintf(tail, sizeof(tail), "op_sel:[1,0%s] op_sel_hi:[0,1%s]",
				 n_src > 2 ? ",0" : "", n_src > 2 ? ",1" : "");
			any = true;
		}
		break;
	case CLAMP:
		any = is_float(op->spec[0]) && op->spec[0] != 'b' && strpbrk(srcs, "fdhFpb");
		snprintf(tail, sizeof(tail), "clamp");
		break;
	case HALVES: {
		unsigned n = 0;

		if (chosen && is_half(op->spec[0]))
			chosen |= 1u << (strstr(name, "_fmac_f16") ? 3 : n_src);
		any = chosen != 0 && !strpbrk(srcs, "pPk");
		at += (size_t)snprintf(text + at, size - at, " op_sel:[");
		for (; n < (chosen > 7 ? 4 : n_src + !cmp); n++)
			at += (size_t)snprintf(text + at, size - at, "%s%u", n ? "," : "",
					       chosen >> n & 1);
		snprintf(tail, sizeof(tail), "]");
		break;
	}
	case SDWA:
		any = gen == 9 && n_src <= 2 + (srcs[n_src - 1] == 'm') &&
		      !strpbrk(op->spec, "dqFKPpUb");
		snprintf(tail, sizeof(tail), "%ssrc0_sel:WORD_1%s",
			 cmp ? "" : "dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE ",
			 n_src > 1 ? " src1_sel:BYTE_1" : "");
		break;
	case DPP:
		any = !strpbrk(op->spec, "dqFKPp");
		snprintf(tail, sizeof(tail),
			 "quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:%d", gen >= 11);
		break;
	default:
		any |= form == PLAIN || form == CMPX;
		break;
	}
	if (form == HALVES)
		snprintf(text + at, size - at, "%s", tail);
	else
		snprintf(text + at, size - at, " %s%s", tail, extra ? extra : "");
	if (form == CMPX)
		strncat(text,
			gen == 9 ? "\ns_and_b64 vcc, vcc, exec" : "\ns_mov_b32 vcc_lo, exec_lo",
			size - strlen(text) - 1);
	if (strchr(op->name, '/'))
		return false;
	return any;
}

/* --- what must come out --------------------------------------------------------- */

/* Equal, or near enough for what hardware approximates; NaN is NaN. */
static bool same(char type, uint64_t got, uint64_t want, double ulp)
{
	if (got == want)
		return true;
	switch (type) {
	case 'f':
	case 'x': {
		const float x = rf(got), y = rf(want);
		if (isnan(x) && isnan(y))
			return true;
		if (ulp > 0 && isfinite(x) && isfinite(y)) {
			int e;
			frexpf(y, &e);
			return fabs((double)x - (double)y) <=
			       ulp * ldexp(1, (e < -125 ? -125 : e) - 24) + 1e-45;
		}
		return false;
	}
	case 'd': {
		const double x = rd(got), y = rd(want);
		if (isnan(x) && isnan(y))
			return true;
		return ulp > 0 && isfinite(x) && isfinite(y) &&
		       fabs(x - y) <= ulp * fabs(y) * 0x1p-52;
	}
	case 'h':
	case 'H':
	case 'y':
		return (isnan(rh(got)) && isnan(rh(want)) && got >> 16 == want >> 16) ||
		       (ulp > 0 && fabs((double)got - (double)want) <= ulp);
	case 'b':
		return (((got & 0x7fff) > 0x7f80 && (want & 0x7fff) > 0x7f80) ||
			!((got ^ want) & 0xffff)) &&
		       (((got >> 16 & 0x7fff) > 0x7f80 && (want >> 16 & 0x7fff) > 0x7f80) ||
			got >> 16 == want >> 16);
	case 'F':
		return same('f', got & 0xffffffff, want & 0xffffffff, ulp) &&
		       same('f', got >> 32, want >> 32, ulp);
	case 'p':
	case 'z':
		return same('h', got & 0xffff, want & 0xffff, ulp) &&
		       same('h', got >> 16, want >> 16, ulp);
	default:
		return false;
	}
}

static uint64_t signs(char t, uint64_t v, unsigned k)
{
	const uint64_t top = t == 'f' ? 0x80000000u : t == 'h' ? 0x8000u : 1ull << 63;

	if (!strchr("fdh", t))
		return v;
	return k == 0 ? v ^ top : k == 1 ? v & ~top : v | top;
}
static uint64_t pairs(char t, uint64_t v, unsigned k)
{
	if (t == 'p' || t == 'P') {
		if (k == 0)
			v = (v >> 16 & 0xffff) | (v & 0xffff) << 16;
		if (t == 'p')
			v ^= k == 0 ? 0x8000u : k == 1 ? 0x80000000u : 0;
	} else if (t == 'F') {
		if (k == 0)
			v = v >> 32 | v << 32;
		v ^= k == 0 ? 0x80000000u : k == 1 ? 1ull << 63 : 0;
	}
	return v;
}
static uint64_t clamped(char t, uint64_t v)
{
	switch (t) {
	case 'f':
		return rf(v) > 1 ? fr(1) : rf(v) > 0 ? v : 0;
	case 'd':
		return rd(v) > 1 ? dr(1) : rd(v) > 0 ? v : 0;
	case 'h':
	case 'H':
		return rh(v) > 1 ? 0x3c00 : rh(v) > 0 ? v & 0xffff : 0;
	case 'p':
		return clamped('h', v & 0xffff) | clamped('h', v >> 16) << 16;
	case 'F':
		return clamped('f', v & 0xffffffff) | clamped('f', v >> 32) << 32;
	default:
		return v;
	}
}

/* Operands as form has them; the reference's result and mask bit. */
static uint64_t expect(const struct ref_op *op, const char *arch, enum form form,
		       const struct lane_in *row, unsigned i, uint64_t exec, uint64_t vcc,
		       bool *carry)
{
	const char *const srcs = strchr(op->spec, ':') + 1;
	const unsigned n_src = (unsigned)strlen(srcs), gen = gen_of(arch);
	const char dst = op->spec[0];
	const bool packed_signs = form == SIGNS && strpbrk(srcs, "pPF") && !strpbrk(srcs, "fdh");
	uint64_t v[3] = {row[i].a, row[i].b, row[i].c}, old = row[i].old, r;
	struct ref_in in;

	for (unsigned k = 0; k < n_src && k < 3; k++) {
		const char t = srcs[k];

		if (form == SCALAR && (n_src == 1 || strchr(srcs, 'k') ? k == 0 : k == 1))
			v[k] = k == 0 ? row[0].a : k == 1 ? row[0].b : row[0].c;
		if (form == CONST && k == 0)
			const_text(t, &v[0]);
		if (form == DPP && k == 0)
			v[0] = exec >> (i ^ 1) & 1 ? row[i ^ 1].a : 0;
		if (form == HALVES && is_half(t))
			v[k] >>= 16;
		if (form == SDWA)
			v[k] = k == 0 ? v[k] >> 16 & 0xffff : k == 1 ? v[k] >> 8 & 0xff : v[k];
		if (form == SIGNS)
			v[k] = packed_signs ? pairs(t, v[k], k) : signs(t, v[k], k);
		if (t == 'k')
			v[k] = op->spec[0] == 'h' ? LITERAL16 : LITERAL32;
		if (t == 'n')
			v[k] = 0xffff0000u | IMM;
		if (t == 'N')
			v[k] = IMM;
	}
	if (form == HALVES && is_half(dst))
		old >>= 16;
	if (strchr("uUxyz", dst) && dst)
		old = row[0].c;
	in = (struct ref_in){v[0], v[1], v[2], old, vcc >> i & 1, i};
	r = op->fn(&in, carry);
	if (form == CLAMP && !strncmp(op->name, "v_fma_mixhi", 11))
		r = (r & 0xffff) | clamped('h', r >> 16) << 16;
	else if (form == CLAMP)
		r = clamped(dst, r);
	old = row[i].old;
	if (is_half(dst)) {
		r &= 0xffff;
		if (form == HALVES)
			return r << 16 | (old & 0xffff);
		if (form != SDWA && (gen >= 10 || dst == 'H' || dst == 'S'))
			r |= old & 0xffff0000;
	}
	if (form == SDWA)
		r = (old & 0xffff) | (r & 0xffff) << 16;
	return r;
}

static const char *shown(const char *text)
{
	static char line[160];

	snprintf(line, sizeof(line), "%s", text);
	for (char *p = line; *p; p++)
		*p = *p == '\n' ? ';' : *p == '#' ? ' ' : *p;
	return line;
}

static void fill(const struct ref_op *op, unsigned rows, unsigned lanes, bool scalar)
{
	static const uint64_t execs[] = {~0ull, 0x5a5a00ff12345678ull, 0};
	const char *const srcs = strchr(op->spec, ':') + 1;
	const unsigned n_src = (unsigned)strlen(srcs);
	const uint64_t all = lanes == 64 ? ~0ull : 0xffffffff;
	const char dst = op->spec[0];

	for (unsigned r = 0; r < rows; r++) {
		slot_ctl[r].exec =
		    scalar ? all : execs[r + 2 < rows ? r % 7 == 3 : r + 3 - rows] & all;
		slot_ctl[r].vcc = rnd64() & all;
		for (unsigned i = 0; i < lanes; i++) {
			const unsigned k = r * lanes + i;
			struct lane_in *const v = &slot_in[r][i];

			v->a = value(srcs[0], k % 47);
			v->b = n_src > 1 ? value(srcs[1], k / 47 % 47) : 0;
			v->c = n_src > 2 ? value(srcs[2], (unsigned)(rnd64() % 47)) : rnd64();
			v->old =
			    value(dst == 'm' || dst == ':' ? 'q' : dst, (unsigned)(rnd64() % 47));
			if (is_half(dst))
				v->old = (v->old & 0xffff) | 0xabcd0000;
			if (!strncmp(op->name, "v_div_scale", 11)) /* one of the two others */
				v->a = rnd64() & 1 ? v->b : v->c;
		}
	}
}

#endif
