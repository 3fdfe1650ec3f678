/* libFuzzer over containers of code objects. See run.sh. */
#include "t/unit/codeobj_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	exercise_bundle(data, size);
	return 0;
}
