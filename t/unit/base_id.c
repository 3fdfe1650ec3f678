#include "lib/base/id.h"

#include <errno.h>
#include <string.h>

#include "t/unit/tap.h"

int main(void)
{
	char text[HRR_ID_TEXT + 1];
	struct hrr_id id = hrr_id_of("", 0), back;

	hrr_id_text(&id, text);
	is_str(text, "xxh128:99aa06d3014798d86001c324468d497f",
	       "the empty blob has the id xxhsum prints");
	is(hrr_id_parse(text, strlen(text), &back), 0, "it parses");
	ok(hrr_id_equal(&id, &back), "to the same id");

	static const struct {
		const char *text, *what;
	} bad[] = {
	    {"", "nothing"},
	    {"99aa06d3014798d86001c324468d497f", "no prefix"},
	    {"xxh128:99aa06d3014798d86001c324468d497", "31 digits"},
	    {"xxh128:99aa06d3014798d86001c324468d497f0", "33 digits"},
	    {"xxh128:99AA06d3014798d86001c324468d497f", "upper case"},
	    {"xxh128:../../../../../../etc/passwd.....", "a path"},
	    {"xxh128:99aa06d3014798d86001c324468d49 f", "a space"},
	    {"XXH128:99aa06d3014798d86001c324468d497f", "another prefix"},
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		is(hrr_id_parse(bad[i].text, strlen(bad[i].text), &back), -EINVAL, "refused: %s",
		   bad[i].what);

	unsigned char data[5000];
	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (unsigned char)(i * 7 + i / 256);
	id = hrr_id_of(data, sizeof data);
	struct hrr_hasher *h = hrr_hasher_new();
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < sizeof data; i += 77)
			hrr_hasher_add(h, data + i, sizeof data - i < 77 ? sizeof data - i : 77);
		back = hrr_hasher_end(h);
		ok(hrr_id_equal(&id, &back), "bytes in pieces have the same id (round %d)", round);
	}
	hrr_hasher_free(h);
	return done_testing();
}
