/*
 * Without AddressSanitizer (FUZZ_KIND=fast) the input ends where a page begins that nobody may
 * touch, so that a read past it is a crash. run.sh has the linker put this between.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ROOM ((size_t)1 << 16)
#define PAGE ((size_t)4096)

int __real_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) __attribute__((weak));
int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t *room;

	if (room == NULL) {
		room = mmap(NULL, ROOM + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
		if (room == MAP_FAILED || mprotect(room + ROOM, PAGE, PROT_NONE) < 0)
			abort();
	}
	if (size > ROOM)
		return 0;
	memcpy(room + ROOM - size, data, size);
	return __real_LLVMFuzzerTestOneInput(room + ROOM - size, size);
}
