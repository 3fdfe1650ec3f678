/* Takes LLVM's text of an instruction apart. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/emu/isa/text.h"

static const struct {
	const char *name;
	u16 reg, n;
} named[] = {
    {"vcc", R_VCC, 2},
    {"vcc_lo", R_VCC, 1},
    {"vcc_hi", R_VCC + 1, 1},
    {"exec", R_EXEC, 2},
    {"exec_lo", R_EXEC, 1},
    {"exec_hi", R_EXEC + 1, 1},
    {"m0", R_M0, 1},
    {"scc", R_SCC, 1},
    {"src_scc", R_SCC, 1},
    {"null", R_ZERO, 2},
    {"flat_scratch", R_FLAT_SCRATCH, 2},
    {"flat_scratch_lo", R_FLAT_SCRATCH, 1},
    {"flat_scratch_hi", R_FLAT_SCRATCH + 1, 1},
    {"xnack_mask", R_XNACK_MASK, 2},
    {"xnack_mask_lo", R_XNACK_MASK, 1},
    {"xnack_mask_hi", R_XNACK_MASK + 1, 1},
    {"src_shared_base", R_SHARED_BASE, 2},
    {"src_shared_base_lo", R_SHARED_BASE, 1},
    {"src_shared_limit", R_SHARED_LIMIT, 2},
    {"src_shared_limit_lo", R_SHARED_LIMIT, 1},
    {"src_private_base", R_PRIVATE_BASE, 2},
    {"src_private_base_lo", R_PRIVATE_BASE, 1},
    {"src_private_limit", R_PRIVATE_LIMIT, 2},
    {"src_private_limit_lo", R_PRIVATE_LIMIT, 1},
};

static bool same(const char *s, size_t len, const char *word)
{
	return strlen(word) == len && !memcmp(s, word, len);
}

/* "12" or "[2:3]" (or "[2]") behind the letter. */
static bool register_number(const char *s, size_t len, i32 *first, u16 *n)
{
	char *end;
	long a, b;

	if (len && isdigit((u8)s[0])) {
		a = strtol(s, &end, 10);
		*first = (i32)a;
		*n = 1;
		return end == s + len && a < 512;
	}
	if (len < 3 || s[0] != '[')
		return false;
	a = b = strtol(s + 1, &end, 10);
	if (*end == ':')
		b = strtol(end + 1, &end, 10);
	*first = (i32)a;
	*n = (u16)(b - a + 1);
	return end == s + len - 1 && *end == ']' && a >= 0 && b >= a && b < 512 && b - a < 64;
}

static bool number(const char *s, size_t len, struct isa_operand *o)
{
	char buf[64], *end;

	if (len >= sizeof(buf) || !len)
		return false;
	memcpy(buf, s, len);
	buf[len] = '\0';
	if (!isdigit((u8)buf[0]) && buf[0] != '-' && buf[0] != '.')
		return false;
	o->kind = TOK_CONST;
	o->is_hex = strstr(buf, "0x") != NULL;
	if (!o->is_hex && strchr(buf, '.')) {
		o->is_float = true;
		o->real = strtod(buf, &end);
	} else if (o->is_hex && buf[0] != '-') {
		o->value = (i64)strtoull(buf, &end, 16);
	} else {
		o->value = strtoll(buf, &end, 0);
	}
	return *end == '\0';
}

static bool operand(const char *s, size_t len, enum isa_arch arch, struct isa_operand *o)
{
	*o = (struct isa_operand){.kind = TOK_OTHER, .text = s, .len = (u32)len};
	/* wrappers: sext(v0), neg(..), abs(..), lit(..), lit64(..) */
	for (;;) {
		size_t skip = 0;

		if (len > 6 && !memcmp(s, "sext(", 5)) {
			o->sext = true;
			skip = 5;
		} else if (len > 5 && !memcmp(s, "neg(", 4)) {
			o->neg = true;
			skip = 4;
		} else if (len > 5 && !memcmp(s, "abs(", 4)) {
			o->abs = true;
			skip = 4;
		} else if (len > 5 && !memcmp(s, "lit(", 4)) {
			skip = 4;
		} else if (len > 7 && !memcmp(s, "lit64(", 6)) {
			o->is_wide = true;
			skip = 6;
		}
		if (!skip || s[len - 1] != ')')
			break;
		s += skip;
		len -= skip + 1;
	}
	if (len > 1 && s[0] == '-' && !isdigit((u8)s[1]) && s[1] != '.') {
		o->neg = true;
		s++;
		len--;
	}
	if (len > 2 && s[0] == '|' && s[len - 1] == '|') {
		o->abs = true;
		s++;
		len -= 2;
	}
	if (number(s, len, o))
		return true;
	if (len > 3 && (s[0] == 'v') && s[len - 2] == '.' &&
	    (s[len - 1] == 'l' || s[len - 1] == 'h')) {
		o->half = s[len - 1] == 'l' ? 1 : 2;
		len -= 2;
	}
	if (len > 1 && (s[0] == 'v' || s[0] == 'a') &&
	    register_number(s + 1, len - 1, &o->reg, &o->n)) {
		if (o->reg + o->n > ROW_VGPRS)
			return false;
		if (s[0] == 'a')
			o->reg += ROW_VGPRS;
		o->kind = TOK_VGPR;
		return true;
	}
	if (len > 1 && s[0] == 's' && register_number(s + 1, len - 1, &o->reg, &o->n)) {
		o->kind = TOK_SGPR;
		return o->reg + o->n <= R_VCC;
	}
	if (len > 4 && !memcmp(s, "ttmp", 4) && register_number(s + 4, len - 4, &o->reg, &o->n)) {
		o->kind = TOK_SGPR;
		o->reg += R_TTMP;
		return o->reg + o->n <= R_M0;
	}
	if (same(s, len, "off")) {
		o->kind = TOK_OFF;
		return true;
	}
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		if (same(s, len, named[i].name)) {
			o->kind = TOK_SGPR;
			o->reg = named[i].reg;
			o->n = named[i].n;
			return true;
		}
	(void)arch;
	return true; /* TOK_OTHER */
}

bool isa_text_split(const char *line, enum isa_arch arch, struct isa_text *t)
{
	static const struct {
		const char *suffix;
		bool e64, sdwa, dpp;
	} encodings[] = {{"_e64_dpp", true, false, true}, {"_e32", false, false, false},
			 {"_e64", true, false, false},	  {"_sdwa", false, true, false},
			 {"_dpp8", false, false, true},	  {"_dpp", false, false, true}};
	const char *s = line;

	*t = (struct isa_text){.mods = ""};
	while (*s == '\t' || *s == ' ')
		s++;
	t->name = s;
	while (*s && *s != ' ' && *s != '\t')
		s++;
	t->name_len = (u32)(s - t->name);
	if (!t->name_len)
		return false;
	for (size_t i = 0; i < sizeof(encodings) / sizeof(encodings[0]); i++) {
		const size_t n = strlen(encodings[i].suffix);

		if (t->name_len > n && !memcmp(s - n, encodings[i].suffix, n)) {
			t->name_len -= (u32)n;
			t->e32 = i == 1;
			t->e64 = encodings[i].e64;
			t->sdwa = encodings[i].sdwa;
			t->dpp = encodings[i].dpp;
			break;
		}
	}
	for (;;) {
		const char *start;
		int depth = 0;

		while (*s == ' ' || *s == '\t')
			s++;
		if (!*s || *s == '\n')
			return true;
		start = s;
		for (; *s && *s != '\n'; s++) {
			if (*s == '[' || *s == '(')
				depth++;
			else if (*s == ']' || *s == ')')
				depth--;
			else if (!depth && (*s == ',' || *s == ' '))
				break;
		}
		if (t->n == ISA_MAX_OPERANDS)
			return false;
		if (!operand(start, (size_t)(s - start), arch, &t->op[t->n]))
			return false;
		t->n++;
		while (*s == ' ')
			s++;
		if (*s == ',') {
			s++;
			continue;
		}
		if (!*s || *s == '\n')
			return true;
		t->mods = s;
		return true;
	}
}

bool isa_text_mod(const char **at, char *name, size_t name_size, char *arg, size_t arg_size)
{
	const char *s = *at;
	size_t n = 0, depth = 0;

	while (*s == ' ' || *s == ',' || *s == '\t')
		s++;
	if (!*s || *s == '\n')
		return false;
	for (; *s && *s != ' ' && *s != ':' && *s != '\n'; s++)
		if (n + 1 < name_size)
			name[n++] = *s;
	name[n] = '\0';
	n = 0;
	if (*s == ':') {
		for (s++; *s && *s != '\n' && (depth || *s != ' '); s++) {
			if (*s == '[' || *s == '(')
				depth++;
			if ((*s == ']' || *s == ')') && depth)
				depth--;
			if (n + 1 < arg_size)
				arg[n++] = *s;
		}
	}
	arg[n] = '\0';
	*at = s;
	return true;
}
