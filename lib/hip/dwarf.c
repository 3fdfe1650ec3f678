#include "lib/hip/dwarf.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/hip/elf.h"

/* --- reading -------------------------------------------------------------- */

/* Reading past the end gives 0 and sets bad, which is looked at once per table or row. */
struct cursor {
	const unsigned char *p, *end;
	bool bad;
};

static const unsigned char *take(struct cursor *c, uint64_t n)
{
	static const unsigned char zeros[8];

	if (n > (uint64_t)(c->end - c->p)) {
		c->bad = true;
		c->p = c->end;
		return zeros; /* callers that look take 8 bytes at most */
	}
	c->p += n;
	return c->p - n;
}

static unsigned u8(struct cursor *c)
{
	return *take(c, 1);
}
static unsigned u16(struct cursor *c)
{
	return hrr_le16(take(c, 2));
}
static uint32_t u32(struct cursor *c)
{
	return hrr_le32(take(c, 4));
}
static uint64_t u64(struct cursor *c)
{
	return hrr_le64(take(c, 8));
}
/* An offset or length of the 32-bit or 64-bit format. */
static uint64_t word(struct cursor *c, bool wide)
{
	return wide ? u64(c) : u32(c);
}

static uint64_t leb(struct cursor *c, bool is_signed)
{
	uint64_t v = 0;
	unsigned shift = 0, b;

	do {
		b = u8(c);
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80);
	if (is_signed && (b & 0x40) && shift < 64)
		v |= ~(uint64_t)0 << shift;
	return v;
}

static const char *string(struct cursor *c)
{
	const unsigned char *s = c->p;
	const unsigned char *nul = s != c->end ? memchr(s, 0, (size_t)(c->end - s)) : NULL;

	if (nul == NULL) {
		c->bad = true;
		return "";
	}
	c->p = nul + 1;
	return (const char *)s;
}

/* n is what ended() made of the size. */
static const char *string_at(const unsigned char *strs, size_t n, uint64_t at)
{
	return at < n ? (const char *)strs + at : NULL;
}

/* The part of a string section in which every string is ended. */
static size_t ended(const unsigned char *strs, size_t n)
{
	const unsigned char *last = strs != NULL && n != 0 ? memrchr(strs, 0, n) : NULL;

	return last != NULL ? (size_t)(last - strs) + 1 : 0;
}

/* --- the head of a unit --------------------------------------------------- */

enum { LNCT_PATH = 1, LNCT_DIRECTORY = 2 };
enum {
	FORM_DATA2 = 0x05,
	FORM_DATA4 = 0x06,
	FORM_DATA8 = 0x07,
	FORM_STRING = 0x08,
	FORM_BLOCK = 0x09,
	FORM_DATA1 = 0x0b,
	FORM_SDATA = 0x0d,
	FORM_STRP = 0x0e,
	FORM_UDATA = 0x0f,
	FORM_DATA16 = 0x1e,
	FORM_LINE_STRP = 0x1f
};

struct unit {
	const struct hrr_dwarf *d;
	unsigned version;
	bool wide; /* 64-bit format */
	unsigned min_length, line_range, opcode_base;
	int line_base;
	const unsigned char *op_lengths; /* opcode_base - 1 of them */
	struct cursor names;		 /* directories and files */
	struct cursor program;
};

/* Reads one unit and moves c behind it: false when its lines cannot be used. */
static bool unit(const struct hrr_dwarf *d, struct cursor *c, struct unit *u)
{
	*u = (struct unit){.d = d};
	uint64_t n = u32(c);
	if (n == 0xffffffff) {
		u->wide = true;
		n = u64(c);
	}
	const unsigned char *start = c->p;
	take(c, n);
	if (c->bad)
		return false;
	struct cursor h = {start, start + n, false};
	u->version = u16(&h);
	if (u->version < 2 || u->version > 5)
		return false;
	if (u->version == 5)
		take(&h, 2); /* sizes of addresses, which their operations tell, and of segments */
	n = word(&h, u->wide);
	start = h.p;
	take(&h, n);
	u->program = (struct cursor){h.p, h.end, false};
	h = (struct cursor){start, h.p, h.bad};
	u->min_length = u8(&h);
	if (u->version >= 4)
		u8(&h);				    /* operations per instruction: AMDGPU has one */
	u8(&h);					    /* whether rows start statements by default */
	u->line_base = (int)(u8(&h) ^ 0x80) - 0x80; /* a signed byte */
	u->line_range = u8(&h);
	u->opcode_base = u8(&h);
	if (u->line_range == 0 || u->opcode_base == 0)
		return false;
	u->op_lengths = h.p;
	take(&h, u->opcode_base - 1);
	u->names = h;
	return !h.bad;
}

struct name {
	const char *path; /* NULL when it cannot be read */
	uint64_t dir;
};

static const char *form(const struct unit *u, struct cursor *c, uint64_t form, uint64_t *ret_number)
{
	const struct hrr_dwarf *d = u->d;

	switch (form) {
	case FORM_STRING:
		return string(c);
	case FORM_LINE_STRP:
		return string_at(d->line_str, d->line_str_size, word(c, u->wide));
	case FORM_STRP:
		return string_at(d->str, d->str_size, word(c, u->wide));
	case FORM_DATA1:
		*ret_number = u8(c);
		break;
	case FORM_DATA2:
		*ret_number = u16(c);
		break;
	case FORM_DATA4:
		*ret_number = u32(c);
		break;
	case FORM_DATA8:
		*ret_number = u64(c);
		break;
	case FORM_UDATA:
	case FORM_SDATA:
		*ret_number = leb(c, form == FORM_SDATA);
		break;
	case FORM_DATA16:
		take(c, 16);
		break;
	case FORM_BLOCK:
		take(c, leb(c, false));
		break;
	default: /* its size is not known, so nothing behind it can be found */
		c->bad = true;
	}
	return NULL;
}

/*
 * Version 5: steps over a table of names, giving the one numbered want when it
 * is there. Every form takes a byte at least, so that a count cannot make work.
 */
static bool table_v5(const struct unit *u, struct cursor *c, uint64_t want, struct name *ret_name)
{
	unsigned n_formats = u8(c);
	const unsigned char *formats = c->p;
	bool found = false;

	for (unsigned i = 0; i < n_formats; i++) {
		leb(c, false);
		leb(c, false);
	}
	uint64_t n = leb(c, false);
	if (n_formats == 0)
		n = 0;
	for (uint64_t i = 0; i < n && !c->bad; i++) {
		struct cursor f = {formats, c->end, false};
		struct name name = {0};

		for (unsigned k = 0; k < n_formats; k++) {
			uint64_t what = leb(&f, false), number = 0;
			const char *s = form(u, c, leb(&f, false), &number);
			if (what == LNCT_PATH)
				name.path = s;
			else if (what == LNCT_DIRECTORY)
				name.dir = number;
		}
		if (i == want && !c->bad) {
			*ret_name = name;
			found = true;
		}
	}
	return found;
}

/* Versions 2 to 4: directories counted from 1, an empty string behind the last; want 0 finds none.
 */
static bool directory_v2(struct cursor *c, uint64_t want, struct name *ret_name)
{
	bool found = false;

	for (uint64_t i = 1; !c->bad; i++) {
		const char *s = string(c);
		if (*s == '\0')
			break;
		if (i == want) {
			*ret_name = (struct name){s, 0};
			found = true;
		}
	}
	return found;
}

static bool file_v2(struct cursor *c, uint64_t want, struct name *ret_name)
{
	for (uint64_t i = 1; !c->bad; i++) {
		struct name name = {.path = string(c)};
		if (*name.path == '\0')
			break;
		name.dir = leb(c, false);
		leb(c, false); /* time */
		leb(c, false); /* size */
		if (i == want && !c->bad) {
			*ret_name = name;
			return true;
		}
	}
	return false;
}

/* Path of a file by its number, with the directories in front that are known. */
static int path(const struct unit *u, uint64_t number, char *file, size_t size)
{
	struct cursor c = u->names;
	struct name name = {0}, dir = {0}, base = {0};

	if (u->version == 5) {
		table_v5(u, &c, 0, &base);
		if (!table_v5(u, &c, number, &name) || name.path == NULL)
			return -ENOENT;
		c = u->names;
		table_v5(u, &c, name.dir, &dir);
		if (name.dir == 0)
			dir.path = NULL;
	} else {
		directory_v2(&c, 0, &dir);
		if (!file_v2(&c, number, &name))
			return -ENOENT;
		c = u->names;
		directory_v2(&c, name.dir, &dir);
	}
	if (name.path[0] == '/')
		dir.path = base.path = NULL;
	else if (dir.path != NULL && dir.path[0] == '/')
		base.path = NULL;
	snprintf(file, size, "%s%s%s%s%s", base.path != NULL ? base.path : "",
		 base.path != NULL ? "/" : "", dir.path != NULL ? dir.path : "",
		 dir.path != NULL ? "/" : "", name.path);
	return 0;
}

/* --- the program ---------------------------------------------------------- */

enum {
	LNS_EXTENDED = 0,
	LNS_COPY = 1,
	LNS_ADVANCE_PC = 2,
	LNS_ADVANCE_LINE = 3,
	LNS_SET_FILE = 4,
	LNS_CONST_ADD_PC = 8,
	LNS_FIXED_ADVANCE_PC = 9,
	LNE_END_SEQUENCE = 1,
	LNE_SET_ADDRESS = 2
};

struct row {
	uint64_t addr, file, line;
};

struct machine {
	const struct unit *u;
	uint64_t want;
	struct row now, last;
	bool open;    /* last is a row of the sequence we are in */
	bool dropped; /* the sequence is one of a function that is not there */
};

/* A row is complete: true when the one before it covers the address. */
static bool emit(struct machine *m)
{
	if (m->open && !m->dropped && m->last.addr <= m->want && m->want < m->now.addr)
		return true;
	if (!m->open)
		m->dropped = m->now.addr < m->u->d->lo || m->now.addr >= m->u->d->hi;
	m->last = m->now;
	m->open = true;
	return false;
}

static void restart(struct machine *m)
{
	m->now = (struct row){0, 1, 1};
	m->open = false;
}

static bool extended(struct machine *m, struct cursor *c)
{
	uint64_t n = leb(c, false);
	const unsigned char *start = c->p;

	take(c, n);
	if (c->bad || n == 0)
		return false;
	struct cursor x = {start + 1, c->p, false};
	if (*start == LNE_END_SEQUENCE) {
		if (emit(m))
			return true;
		restart(m);
	} else if (*start == LNE_SET_ADDRESS && (n == 9 || n == 5)) {
		m->now.addr = word(&x, n == 9);
	}
	return false;
}

/* Runs the line program of a unit until a row covers the wanted address. */
static bool run(struct machine *m)
{
	const struct unit *u = m->u;
	struct cursor c = u->program;
	bool found = false;

	restart(m);
	while (!found && !c.bad && c.p != c.end) {
		unsigned op = u8(&c);

		if (op >= u->opcode_base) {
			op -= u->opcode_base;
			m->now.addr += (uint64_t)(op / u->line_range) * u->min_length;
			m->now.line += (uint64_t)((int)(op % u->line_range) + u->line_base);
			found = emit(m);
			continue;
		}
		switch (op) {
		case LNS_EXTENDED:
			found = extended(m, &c);
			break;
		case LNS_COPY:
			found = emit(m);
			break;
		case LNS_ADVANCE_PC:
			m->now.addr += leb(&c, false) * u->min_length;
			break;
		case LNS_ADVANCE_LINE:
			m->now.line += leb(&c, true);
			break;
		case LNS_SET_FILE:
			m->now.file = leb(&c, false);
			break;
		case LNS_CONST_ADD_PC:
			m->now.addr +=
			    (uint64_t)((255 - u->opcode_base) / u->line_range) * u->min_length;
			break;
		case LNS_FIXED_ADVANCE_PC:
			m->now.addr += u16(&c);
			break;
		default: /* columns, marks, and what later versions may add */
			for (unsigned i = u->op_lengths[op - 1]; i > 0; i--)
				leb(&c, false);
		}
	}
	return found;
}

int hrr_dwarf_line(const struct hrr_dwarf *sections, uint64_t addr, char *file, size_t size,
		   unsigned *ret_line)
{
	struct hrr_dwarf copy = *sections, *d = &copy;
	struct cursor c = {d->line, d->line + d->line_size, false};

	d->line_str_size = ended(d->line_str, d->line_str_size);
	d->str_size = ended(d->str, d->str_size);
	while (!c.bad && c.p != c.end) {
		struct unit u;
		struct machine m = {.u = &u, .want = addr};

		if (!unit(d, &c, &u) || !run(&m) || path(&u, m.last.file, file, size) < 0)
			continue;
		*ret_line = m.last.line <= UINT32_MAX ? (unsigned)m.last.line : 0;
		return 0;
	}
	return -ENOENT;
}
