#include "lib/base/mask.h"

#include "t/unit/tap.h"

static struct hrr_buf out;

static bool becomes(const char *s, size_t len, const char *want)
{
	char cut[256];
	bool as_text = hrr_mask(cut, sizeof cut, s, len) == strlen(want) && strcmp(cut, want) == 0;

	out.len = 0;
	return hrr_mask_add(&out, s, len) == 0 && out.len == strlen(want) &&
	       memcmp(out.data, want, out.len) == 0 && as_text;
}
#define BECOMES(s, want) ok(becomes(s, sizeof(s) - 1, want), "%s", want)

static void is_text(const char *want, const char *what)
{
	ok(out.len == strlen(want) && memcmp(out.data, want, out.len) == 0, "%s", what);
}

int main(void)
{
	static const char alphabet[][4] = {"a",	   "Z",	   "~",	       " ",    "\t",
					   "\x1b", "\x7f", "\x80",     "\xc2", "\xe2",
					   "\x80", "\xae", "\xc3\xa9", "\xd8", "\x9c"};
	uint32_t seed = 3;
	int wrong = 0;

	BECOMES("a name of more than sixteen bytes", "a name of more than sixteen bytes");
	BECOMES("\x1b[2J\x07\n\x7f", "\\x1b[2J\\x07\\x0a\\x7f");
	BECOMES("caf\xc3\xa9 \xe2\x82\xac \xe2\x80\x9c", "caf\xc3\xa9 \xe2\x82\xac \xe2\x80\x9c");
	BECOMES("\xc2\x85\xc2\x9b|\xc2\xa0", "\\xc2\\x85\\xc2\\x9b|\xc2\xa0");
	BECOMES("\xff\xc3", "\\xff\\xc3");
	/* What turns the text around, first and last of each kind, and their neighbours. */
	BECOMES("\xd8\x9b\xd8\x9c\xd8\x9d", "\xd8\x9b\\xd8\\x9c\xd8\x9d");
	BECOMES("\xe2\x80\x8d\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\x90",
		"\xe2\x80\x8d\\xe2\\x80\\x8e\\xe2\\x80\\x8f\xe2\x80\x90");
	BECOMES("\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xae\xe2\x80\xaf",
		"\xe2\x80\xa7\\xe2\\x80\\xa8\\xe2\\x80\\xae\xe2\x80\xaf");
	BECOMES("\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa",
		"\xe2\x81\xa5\\xe2\\x81\\xa6\\xe2\\x81\\xa9\xe2\x81\xaa");

	for (int i = 0; i < 100000; i++) {
		char text[64] = "", want[HRR_MASK_ROOM(sizeof text)];
		for (int k = 0; k < i % 40; k++) {
			seed = seed * 1664525u + 1013904223u;
			strcat(text, i % 3 == 0 ? alphabet[(seed >> 20) % 4]
						: alphabet[(seed >> 20) % 15]);
		}
		size_t n = hrr_mask(want, sizeof want, text, strlen(text));
		out.len = 0;
		wrong += hrr_mask_add(&out, text, strlen(text)) < 0 || out.len != n ||
			 memcmp(out.data, want, n) != 0;
	}
	is(wrong, 0, "100000 texts: the same with and without a limit");

	static const char lines[] = "a\tb\x1b\r\nc\rd\n\xe2\x80\xae";
	out.len = 0;
	is(hrr_mask_lines(&out, lines, sizeof lines - 1), 0, "several lines");
	is_text("a\tb\\x1b\r\nc\\x0dd\n\\xe2\\x80\\xae", "their ends stay");
	out.len = 0;
	is(hrr_buf_adds(&out, "\x1b|\x1b\n") + hrr_mask_from(&out, 2), 0, "from a place on");
	is_text("\x1b|\\x1b\n", "what stood before stays");
	hrr_buf_release(&out);
	return done_testing();
}
