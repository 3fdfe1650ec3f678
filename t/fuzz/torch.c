/* libFuzzer over PyTorch's memory snapshots. See run.sh. */
#include "t/unit/torch_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hrr_diag why;

	exercise_snapshot(data, size, &why);
	return 0;
}
