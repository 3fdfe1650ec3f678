#include "t/unit/tap.h"

#include <errno.h>

#include "lib/hip/dwarf.h"
#include "t/unit/codeobj_build.h"

/* Line tables by hand: what compilers seldom write, and damage. The code lies in [0x1000, 0x2000).
 */

/* A unit of these parts. names is the part from the directories to the end of the head. */
struct table {
	unsigned version;
	bool wide;
	unsigned char line_range, opcode_base;
	struct hrr_buf names, program;
};

static const struct table plain = {.version = 4, .line_range = 14, .opcode_base = 13};
static const unsigned char lengths[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 2};

static void finish(struct table *t, struct hrr_buf *out)
{
	struct hrr_buf head = {0};
	size_t word = t->wide ? 8 : 4;

	put_le(&head, 4, 1); /* instruction length */
	if (t->version >= 4)
		put_le(&head, 1, 1);
	put_le(&head, 1, 1);
	put_le(&head, (unsigned char)-5, 1);
	put_le(&head, t->line_range, 1);
	put_le(&head, t->opcode_base, 1);
	for (int i = 0; i < t->opcode_base - 1; i++)
		put_le(&head, lengths[i], 1);
	hrr_buf_add(&head, t->names.data, t->names.len);
	size_t size = 2 + (t->version == 5 ? 2 : 0) + word + head.len + t->program.len;
	if (t->wide)
		put_le(out, 0xffffffff, 4);
	put_le(out, size, word);
	put_le(out, t->version, 2);
	if (t->version == 5)
		put_le(out, 8, 2);
	put_le(out, head.len, word);
	hrr_buf_add(out, head.data, head.len);
	hrr_buf_add(out, t->program.data, t->program.len);
	hrr_buf_release(&head);
	hrr_buf_release(&t->names);
	hrr_buf_release(&t->program);
}

/* A string literal with bytes in it, its last NUL counted or not. */
#define RAW(b, s) hrr_buf_add((b), s, sizeof(s) - 1)
#define STRZ(b, s) hrr_buf_add((b), s, sizeof(s))

static void names_v4(struct hrr_buf *b)
{
	STRZ(b, "/abs");
	STRZ(b, "rel");
	STRZ(b, "");
	STRZ(b, "one.hip");
	RAW(b, "\1\0\0");
	STRZ(b, "two.hip");
	RAW(b, "\2\0\0");
	STRZ(b, "three.hip");
	RAW(b, "\0\0\0");
	STRZ(b, "/four.hip");
	RAW(b, "\1\0\0");
	STRZ(b, "");
}

static void set_address(struct hrr_buf *b, uint64_t addr)
{
	RAW(b, "\0\x09\2");
	put_le(b, addr, 8);
}

static const char *const end = "\0\1\1";

/* 0x1000: line 10 of file 1, 0x1010: 20 of 2, 0x1020: 30 of 3, 0x1030: none of 4, end at 0x1040. */
static void rows(struct hrr_buf *b)
{
	set_address(b, 0x1000);
	RAW(b, "\3\x09\1");	    /* advance_line 9, copy */
	RAW(b, "\2\4\3\x0a\4\2\1"); /* advance_pc 4 instructions, line 10, file 2, copy */
	RAW(b,
	    "\x09\x10\0\3\x0a\4\3\5\7\6\7\x0a\x0b\x0c\x01\1"); /* fixed_advance_pc 16, and marks */
	RAW(b, "\2\4\3\x62\4\4\1");
	RAW(b, "\2\4");
	hrr_buf_add(b, end, 3);
}

struct answer {
	int rc;
	char file[64];
	unsigned line;
};

static struct answer look(const struct hrr_buf *line, const struct hrr_buf *strs, uint64_t addr)
{
	struct bytes b = bytes_of(line->data, line->len);
	struct bytes s = bytes_of(strs != NULL ? strs->data : "", strs != NULL ? strs->len : 0);
	struct hrr_dwarf d = {.line = b.p,
			      .line_size = b.n,
			      .line_str = s.p,
			      .line_str_size = s.n,
			      .str = s.p,
			      .str_size = s.n,
			      .lo = 0x1000,
			      .hi = 0x2000};
	struct answer a = {.line = 99};

	a.rc = hrr_dwarf_line(&d, addr, a.file, sizeof a.file, &a.line);
	free(b.p);
	free(s.p);
	return a;
}

static void found(const struct hrr_buf *line, const struct hrr_buf *strs, uint64_t addr,
		  const char *file, unsigned number, const char *what)
{
	struct answer a = look(line, strs, addr);

	ok(a.rc == 0 && a.line == number && strcmp(a.file, file) == 0, "%s: 0x%llx is %s:%u", what,
	   (unsigned long long)addr, file, number);
	if (a.rc != 0 || a.line != number || strcmp(a.file, file) != 0)
		diag("rc %d, %s:%u", a.rc, a.file, a.line);
}

static void none(const struct hrr_buf *line, uint64_t addr, const char *what)
{
	struct answer a = look(line, NULL, addr);

	ok(a.rc == -ENOENT && a.line == 99, "%s: 0x%llx has no line", what,
	   (unsigned long long)addr);
}

static void old_versions(void)
{
	for (unsigned i = 0; i < 4; i++) {
		struct hrr_buf b = {0};
		struct table t = plain;
		char what[32];

		t.version = i < 3 ? i + 2 : 4;
		t.wide = i == 3;
		snprintf(what, sizeof what, "version %u, %d bit", t.version, t.wide ? 64 : 32);
		names_v4(&t.names);
		rows(&t.program);
		finish(&t, &b);
		found(&b, NULL, 0x1000, "/abs/one.hip", 10, what);
		found(&b, NULL, 0x100f, "/abs/one.hip", 10, what);
		found(&b, NULL, 0x1010, "rel/two.hip", 20, what);
		found(&b, NULL, 0x1020, "three.hip", 30, what);
		found(&b, NULL, 0x103f, "/four.hip", 0, what);
		none(&b, 0xfff, what);
		none(&b, 0x1040, what);
		size_t cut = 0, head = b.len - 40;
		for (; b.len > head; b.len--)
			cut += look(&b, NULL, 0x1039).rc == 0;
		ok(cut == 1, "%s: cut, the unit is not used", what);
		hrr_buf_release(&b);
	}
}

static void version_5(void)
{
	struct hrr_buf b = {0}, strs = {0};
	struct table t = plain;

	STRZ(&strs, "x");
	STRZ(&strs, "/comp"); /* at 2 */
	STRZ(&strs, "sub");   /* at 8 */
	t.version = 5;
	RAW(&t.names, "\1\1\x1f\3"); /* one format: path by line_strp; 3 directories */
	put_le(&t.names, 2, 4);
	put_le(&t.names, 8, 4);
	put_le(&t.names, 100, 4); /* not there */
	/* Path in place, directory, an MD5, a size, a time, a vendor's block. */
	RAW(&t.names, "\6\1\x08\2\x0b\5\x1e\4\x0f\3\x06\x81\x40\x09\4");
	for (int i = 0; i < 4; i++) {
		hrr_buf_adds(&t.names, i == 3 ? "/d.hip" : "a.hip");
		RAW(&t.names, "\0");
		put_le(&t.names, (unsigned)i % 3, 1);
		put_le(&t.names, 0, 16);
		RAW(&t.names, "\xff\1");
		put_le(&t.names, 0, 4);
		RAW(&t.names, "\2xy");
	}
	set_address(&t.program, 0x1000);
	for (char i = 0; i < 5; i++) { /* files 0 to 4, of which 4 is not there */
		RAW(&t.program, "\4");
		hrr_buf_addc(&t.program, i);
		RAW(&t.program, "\1\2\4");
	}
	hrr_buf_add(&t.program, end, 3);
	finish(&t, &b);
	found(&b, &strs, 0x1000, "/comp/a.hip", 1, "version 5, in the folder of the unit");
	found(&b, &strs, 0x1010, "/comp/sub/a.hip", 1, "version 5, in a folder below");
	found(&b, &strs, 0x1020, "/comp/a.hip", 1, "version 5, in a folder without a name");
	found(&b, &strs, 0x1030, "/d.hip", 1, "version 5, with its full path");
	ok(look(&b, &strs, 0x1040).rc == -ENOENT, "version 5: no file, no line");
	strs.len--; /* the last string is not ended */
	found(&b, &strs, 0x1010, "/comp/a.hip", 1, "version 5, with strings cut");
	hrr_buf_release(&b);
	hrr_buf_release(&strs);
}

static void programs(void)
{
	struct hrr_buf b = {0};
	struct table t = plain;

	/* Special opcodes: 0x4a advances 4 instructions and 0 lines, 0x16 none and 4 lines. */
	names_v4(&t.names);
	set_address(&t.program, 0x1000);
	RAW(&t.program, "\x16\x4a\x08\x12"); /* const_add_pc is 17 instructions */
	hrr_buf_add(&t.program, end, 3);
	finish(&t, &b);
	found(&b, NULL, 0x1000, "/abs/one.hip", 5, "special opcodes");
	found(&b, NULL, 0x1010, "/abs/one.hip", 5, "special opcodes");
	none(&b, 0x1010 + 17 * 4, "const_add_pc");
	b.len = 0;

	/* What a linker leaves of functions it dropped, before and behind the real ones. */
	t = plain;
	names_v4(&t.names);
	for (int i = 0; i < 3; i++) {
		static const uint64_t at[] = {0, 0x1000, UINT64_MAX - 0x20};
		set_address(&t.program, at[i]);
		RAW(&t.program, "\3");
		hrr_buf_addc(&t.program, (char)(10 * i + 10));
		RAW(&t.program, "\1\2\xff\x3f"); /* and 0x7ffc bytes on */
		hrr_buf_add(&t.program, end, 3);
	}
	finish(&t, &b);
	found(&b, NULL, 0x1004, "/abs/one.hip", 21, "dropped functions");
	none(&b, 0x10, "dropped functions");
	b.len = 0;

	/* An opcode of a later version is stepped over by its length, an unknown extended one too.
	 */
	t = plain;
	t.opcode_base = 14;
	names_v4(&t.names);
	set_address(&t.program, 0x1000);
	RAW(&t.program, "\x0d\x81\1\5\0\5\x80"
			"abcd\1\2\4");
	hrr_buf_add(&t.program, end, 3);
	finish(&t, &b);
	found(&b, NULL, 0x1000, "/abs/one.hip", 1, "unknown opcodes");
	b.len = 0;

	/* Heads nothing can be done with, in front of a good unit. */
	static const struct {
		unsigned version;
		unsigned char range, base;
	} bad[] = {{1, 14, 13}, {6, 14, 13}, {4, 0, 13}, {4, 14, 0}};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		t = plain;
		t.version = bad[i].version;
		t.line_range = bad[i].range;
		t.opcode_base = bad[i].base;
		names_v4(&t.names);
		set_address(&t.program, 0x1000);
		RAW(&t.program, "\1\2\4");
		hrr_buf_add(&t.program, end, 3);
		finish(&t, &b);
	}
	none(&b, 0x1000, "units that cannot be read");
	t = plain;
	names_v4(&t.names);
	rows(&t.program);
	finish(&t, &b);
	found(&b, NULL, 0x1000, "/abs/one.hip", 10, "a good unit behind them");
	/* A length of more than there is ends it all. */
	for (size_t i = 0; i < 4; i++)
		b.data[i] = (char)0xee;
	none(&b, 0x1000, "a length that lies");
	hrr_buf_release(&b);
	none(&b, 0x1000, "an empty section");
}

/* A count of names without a format to read them by must not be counted through. */
static void endless(void)
{
	struct hrr_buf b = {0};
	struct table t = plain;

	t.version = 5;
	RAW(&t.names, "\0\xff\xff\xff\xff\xff\xff\xff\xff\x7f");
	RAW(&t.names, "\0\xff\xff\xff\xff\xff\xff\xff\xff\x7f");
	rows(&t.program);
	finish(&t, &b);
	none(&b, 0x1000, "names without a format");
	hrr_buf_release(&b);
}

int main(void)
{
	old_versions();
	version_5();
	programs();
	endless();
	return done_testing();
}
