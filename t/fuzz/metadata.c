/*
 * The metadata note of a code object: the input is its MessagePack, put into the smallest ELF
 * that is taken for a code object of gfx90a. The reader below it walks the same bytes.
 */
#include "lib/hip/msgpack.h"
#include "t/unit/codeobj_fixture.h"

#define HEAD 64
#define PHDR 56
#define NOTE 20 /* sizes, type, "AMDGPU" and two zeros */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put(unsigned char *p, uint64_t v, int n)
{
	for (int i = 0; i < n; i++)
		p[i] = (unsigned char)(v >> 8 * i);
}

/* Every item is stepped over once, whole or by its elements: both end at the same place. */
static void walk(const uint8_t *data, size_t size)
{
	struct hrr_msgpack r = {data, data + size}, s;
	struct hrr_msgpack_item it;

	while (hrr_msgpack_next(&r, &it) == 0) {
		if (r.p > r.end ||
		    (it.str != NULL && (it.len > size || it.str < (const char *)data)))
			abort();
		s = r;
		if (hrr_msgpack_skip(&s, &it) == 0 && s.p > s.end)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n = HEAD + PHDR + NOTE + ((size + 3) & ~(size_t)3);
	unsigned char *f = calloc(1, n);

	if (f == NULL)
		abort();
	memcpy(f, "\177ELF\2\1\1\100\3", 9); /* AMDGPU HSA, code object 5 */
	put(f + 16, 3, 2);		     /* shared object */
	put(f + 18, 224, 2);		     /* AMDGPU */
	put(f + 20, 1, 4);
	put(f + 32, HEAD, 8); /* program headers */
	put(f + 48, 0x3f, 4); /* gfx90a */
	put(f + 52, HEAD, 2);
	put(f + 54, PHDR, 2);
	put(f + 56, 1, 2);
	put(f + 58, 64, 2);
	put(f + HEAD, 4, 4); /* PT_NOTE */
	put(f + HEAD + 8, HEAD + PHDR, 8);
	put(f + HEAD + 32, NOTE + size, 8);
	put(f + HEAD + 40, NOTE + size, 8);
	put(f + HEAD + 48, 4, 8);
	put(f + HEAD + PHDR, 7, 4);
	put(f + HEAD + PHDR + 4, size, 4);
	put(f + HEAD + PHDR + 8, 32, 4);
	memcpy(f + HEAD + PHDR + 12, "AMDGPU", 6);
	memcpy(f + HEAD + PHDR + NOTE, data, size);
	exercise_object(f, n);
	free(f);
	walk(data, size);
	return 0;
}
