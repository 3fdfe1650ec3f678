/*
 * Kernel descriptors: the input is launch sizes (16 bytes), then an image with a descriptor in
 * it. What is accepted becomes a wave whose first registers are set up.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/emu/isa/internal.h"

#define IMAGE 192
#define KERNARG 0x100000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned char memory[64];

/* Preloaded arguments come from a short segment. */
static int find(void *self, uint64_t addr, struct isa_span *ret)
{
	(void)self;
	if (addr < KERNARG || addr - KERNARG >= sizeof memory)
		return -14;
	*ret = (struct isa_span){
	    .base = KERNARG, .size = sizeof memory, .host = memory, .readable = true};
	return 0;
}

/* NULL: no disassembler is here for it (gfx950). Making one takes long: it is loaded. */
static struct isa_program *program(unsigned arch, const u8 *bytes, size_t n)
{
	static struct isa_program *progs[ISA_ARCH_COUNT];
	static u8 *images[ISA_ARCH_COUNT];
	struct hrr_diag d;
	int rc;

	if (images[arch] == NULL) {
		images[arch] = calloc(1, IMAGE);
		if (images[arch] == NULL)
			abort();
		rc = isa_program_new(arch, images[arch], IMAGE, 0x10000, &progs[arch], &d);
		if (rc < 0 && rc != -ENOENT)
			abort();
	}
	memset(images[arch], 0, IMAGE);
	memcpy(images[arch], bytes, n < IMAGE ? n : IMAGE);
	return progs[arch];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static u32 rows[8 * ISA_LANES];
	static struct isa_wave w;
	static struct isa_thread t; /* keeps the ids of the last shape of a group */
	struct isa_launch l = {.kernarg = KERNARG, .packet = 1, .queue = 2, .mem.find = find};
	struct isa_kernel k;
	struct isa_wg g = {0};
	char why[160] = "";

	if (size < 16)
		return 0;
	l.prog = program(data[0] % ISA_ARCH_COUNT, data + 16, size - 16);
	if (l.prog == NULL)
		return 0;
	l.kd = 0x10000 + data[1] % (IMAGE + 64);
	for (int i = 0; i < 3; i++) {
		l.block[i] = (u32)data[2 + i] * (data[5] & 7);
		l.grid[i] = (u32)data[6 + i] << (data[9] & 31);
	}
	memcpy(&l.lds, data + 10, 3);
	memcpy(&l.scratch, data + 13, 3);
	if (isa_kernel_read(&l, &k, why, sizeof why) < 0) {
		if (why[0] == '\0')
			abort();
		return 0;
	}
	memcpy(g.dim, l.block, sizeof g.dim);
	w = (struct isa_wave){.wg = &g, .t = &t, .v = rows, .index = data[15] % k.waves};
	isa_wave_init(&w, &k, &l);
	if (w.lanes != 32 && w.lanes != 64)
		abort();
	return 0;
}
