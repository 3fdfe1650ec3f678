#ifndef HRR_HIP_DWARF_H
#define HRR_HIP_DWARF_H

#include <stddef.h>
#include <stdint.h>

/* A line table as far as one look-up needs it. Private to lib/hip; bytes are borrowed and
 * untrusted. */
struct hrr_dwarf {
	const unsigned char *line, *line_str,
	    *str; /* .debug_line, .debug_line_str, .debug_str; NULL when absent */
	size_t line_size, line_str_size, str_size;
	/*
	 * Sequences that start outside [lo, hi) are left out: linkers keep the
	 * lines of functions they dropped, at address 0 and the like.
	 */
	uint64_t lo, hi;
};

/*
 * The row that covers an address: 0, or -ENOENT. Units of versions other than 2
 * to 5 and damaged ones are passed over; the work is linear in line_size.
 * file (size > 0) is cut to fit and ended; line is 0 for code of no line.
 */
int hrr_dwarf_line(const struct hrr_dwarf *d, uint64_t addr, char *file, size_t size,
		   unsigned *ret_line);

#endif
