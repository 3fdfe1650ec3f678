/* Recorded host pages and the blocks that show them. */
#include <errno.h>

#include "lib/replay/block.h"
#include "t/unit/tap.h"

#define A ((uint64_t)0x7f0000001040)

int main(void)
{
	struct hrr_pages *p = hrr_pages_new(16 * HRR_PAGE);
	struct hrr_blocks *b = hrr_blocks_new(p);
	struct hrr_block *x, *y, *z;
	struct hrr_diag d = {0};

	is(hrr_blocks_get(b, A, 100, false, &x, &d), 0, "a block");
	ok(((uintptr_t)hrr_block_at(x, A) & 0xfff) == (A & 0xfff), "keeps the offset in the page");
	ok(((uintptr_t)x->map & 63) == 0, "is aligned to 64 bytes at least");
	is(hrr_blocks_get(b, 0x7f0000200000, 64, false, &y, &d), 0, "an address aligned to 2 MiB");
	ok(((uintptr_t)hrr_block_at(y, 0x7f0000200000) & 0x1fffff) == 0, "keeps its alignment");
	is(hrr_pages_charged(p), 2 * HRR_PAGE, "a page each");
	is(hrr_blocks_get(b, A + 8, 50, false, &y, &d), 0, "asked again");
	ok(y == x, "  the same block");
	is(hrr_blocks_get(b, A, 3 * HRR_PAGE, false, &y, &d), 0, "larger");
	ok(y != x, "  another block");
	hrr_block_at(x, A)[0] = 0x5c;
	is(hrr_block_at(y, A)[0], 0x5c, "  shows the same bytes");
	is(hrr_pages_charged(p), 5 * HRR_PAGE, "  new pages are charged, old ones not again");
	is(hrr_blocks_get(b, A, 100, true, &z, &d), 0, "a fresh one");
	ok(z != x && z != y, "  is another mapping");
	hrr_block_at(z, A)[1] = 0x77;
	is(hrr_block_at(y, A)[1], 0x77, "  of the same pages");
	hrr_block_aside(b, z);
	is(hrr_blocks_get(b, A, 64, false, &y, &d), 0, "set aside");
	ok(y != z, "  it is not handed out again");

	uint64_t before = hrr_pages_charged(p);
	hrr_pages_fail(p, 1);
	is(hrr_blocks_get(b, 0x100000, HRR_PAGE, false, &y, &d), -ENOMEM,
	   "an allocation that fails");
	is(hrr_pages_charged(p), before, "  gives its charge back");
	is(hrr_blocks_get(b, 0x100000, HRR_PAGE, false, &y, &d), 0, "  and is no harm later");
	is(hrr_blocks_get(b, 0x900000, 17 * HRR_PAGE, false, &y, &d), -EDQUOT, "over the budget");
	ok(strstr(d.what, "69632") != NULL && strstr(d.what, "65536") != NULL,
	   "  with the numbers: %s", d.what);
	is(hrr_pages_charged(p), before + HRR_PAGE, "  charges nothing");
	is(hrr_blocks_get(b, A, 0, false, &y, &d), -EINVAL, "empty");
	is(hrr_blocks_get(b, UINT64_MAX - 10, 100, false, &y, &d), -EINVAL, "wrapping");
	is(hrr_blocks_get(b, 0x100000, UINT64_MAX - 0x200000, false, &y, &d), -EDQUOT, "huge");
	ok(hrr_blocks_find(b, A, 3 * HRR_PAGE) != NULL, "found whole");
	ok(hrr_blocks_find(b, A, 30 * HRR_PAGE) == NULL, "not beyond");
	ok(hrr_blocks_touch(b, A - 0x40, 1) && !hrr_blocks_touch(b, 0x8000000, 4096),
	   "touched pages");
	hrr_blocks_free(b, false);
	hrr_pages_free(p);
	return done_testing();
}
