/* A result that is read before the event behind it has come: right by luck
 * where work runs at once. Planted: the line marked HERE. Exit codes: 0 lucky, 1 wrong result. */
#include <hip/hip_runtime.h>

#include "app.h"

__global__ void answer(int *v)
{
	*v = 42;
}

int main(int, char **argv)
{
	hipStream_t s;
	hipEvent_t done;
	int *v, *result;

	app_begin(argv[0], 1);
	CHECK(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
	CHECK(hipEventCreate(&done));
	CHECK(hipMalloc(&v, sizeof *v));
	CHECK(hipHostMalloc((void **)&result, sizeof *result, 0));
	*result = 0;
	answer<<<1, 1, 0, s>>>(v);
	CHECK(hipMemcpyAsync(result, v, sizeof *v, hipMemcpyDeviceToHost, s));
	CHECK(hipEventRecord(done, s));
	int early = *(volatile int *)result; /* HERE: hipEventSynchronize(done) is missing */
	CHECK(hipEventSynchronize(done));
	app_equal("result", 0, *result, 42);
	if (early != 42)
		app_wrong("result read before its event is %d, 42 is due", early);
	return 0;
}
