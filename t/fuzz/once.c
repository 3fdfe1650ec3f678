/*
 * Instead of libFuzzer, where seconds count: each file through the harness as it is, and
 * RUNS times with some bytes changed, the same each time.
 *
 *     once RUNS FILE...
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t next(void)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 33;
}

/* In memory of just the size, for the sanitizer to see what lies behind. */
static void feed(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size > 0 ? size : 1);

	if (copy == NULL)
		abort();
	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

int main(int argc, char **argv)
{
	static const char odd[] = "\"\\{}[],:0-9xe.\n\t \xff\0()<>=!*\"";
	static uint8_t data[1 << 16], was[1 << 16];
	unsigned long inputs = 0, runs = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;

	for (int i = 2; i < argc; i++) {
		FILE *f = fopen(argv[i], "rb");
		if (f == NULL) {
			perror(argv[i]);
			return 2;
		}
		size_t size = fread(was, 1, sizeof was, f);
		fclose(f);
		feed(was, size);
		inputs++;
		for (unsigned long r = 0; r < runs && size > 0; r++, inputs++) {
			size_t len = size;
			memcpy(data, was, size);
			for (uint64_t n = 1 + next() % 4; n > 0 && len > 1; n--) {
				size_t at = next() % len;
				switch (next() % 5) {
				case 0:
					data[at] ^= (uint8_t)(1 << next() % 8);
					break;
				case 1:
				case 2:
					data[at] = (uint8_t)odd[next() % sizeof odd];
					break;
				case 3: /* out */
					memmove(data + at, data + at + 1, --len - at);
					break;
				default: /* again */
					if (len < sizeof data) {
						memmove(data + at + 1, data + at, len - at);
						len++;
					}
				}
			}
			feed(data, len);
		}
	}
	printf("%lu inputs\n", inputs);
	return 0;
}
