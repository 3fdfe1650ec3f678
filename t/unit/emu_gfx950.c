#include "t/unit/emu_fixture.h"

/* What only some architectures have: gfx950 has 160 KiB of LDS for a workgroup. */

int main(void)
{
	int bytes = 0;

	setenv("HRR_EMU_ARCH", "gfx950", 1);
	if (emu_open()) {
		is(HIP(hipDeviceGetAttribute, &bytes, hipDeviceAttributeMaxSharedMemoryPerBlock, 0),
		   hipSuccess, "asked for");
		is(bytes, 160 << 10, "LDS of a workgroup");
	}
	return done_testing();
}
