/* libFuzzer over line tables: input is .debug_line, and a tail of it the strings. See run.sh.
 */
#include "lib/hip/dwarf.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t strs = size / 4;
	struct hrr_dwarf d = {.line = data,
			      .line_size = size - strs,
			      .line_str = data + size - strs,
			      .line_str_size = strs,
			      .str = data + size - strs,
			      .str_size = strs,
			      .lo = 0,
			      .hi = UINT64_MAX};
	static const uint64_t addrs[] = {0, 1, 0x1000, 0x1010, 0x2600, UINT64_MAX - 1};
	char file[16];
	unsigned line;

	for (size_t i = 0; i < sizeof addrs / sizeof *addrs; i++)
		hrr_dwarf_line(&d, addrs[i], file, 1 + i * 3, &line);
	return 0;
}
