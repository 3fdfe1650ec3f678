/* Orders that are wrong, one per argument; with luck the result is right.
 *	reuse	an event is recorded again, on another stream, before it is waited for
 *	early	an event is recorded before the work it stands for
 *	null	a non-blocking stream reads what the null stream makes
 *	pinned	the source of a copy is changed while the copy may still read it
 *	freed	stream-ordered memory goes while another stream may still use it
 *	graph	a graph copies from pinned memory that is gone when it is launched
 * Planted: the lines marked HERE. Exit codes: 0 lucky, 1 wrong result, 3 the run time said so. */
#include <hip/hip_runtime.h>

#include "app.h"

#define N 64

__global__ void fill(int *v, int x)
{
	v[threadIdx.x] = x;
}

__global__ void add(const int *v, int *sum)
{
	atomicAdd(sum, v[threadIdx.x]); /* HERE freed */
}

static int said(hipError_t e)
{
	if (e == hipSuccess)
		return 0;
	printf("%s\n", hipGetErrorName(e));
	exit(3);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	hipStream_t a, b;
	hipEvent_t event;
	int *v, *h;

	app_begin(argv[0], 1);
	CHECK(hipStreamCreateWithFlags(&a, hipStreamNonBlocking));
	CHECK(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
	CHECK(hipEventCreate(&event));
	CHECK(hipMalloc(&v, N * sizeof *v));
	CHECK(hipMemset(v, 0, N * sizeof *v));
	CHECK(hipHostMalloc((void **)&h, N * sizeof *h, 0));
	memset(h, 0, N * sizeof *h);
	CHECK(hipDeviceSynchronize());
	if (strcmp(what, "reuse") == 0) {
		fill<<<1, N, 0, a>>>(v, 5);
		CHECK(hipMemcpyAsync(h, v, N * sizeof *h, hipMemcpyDeviceToHost, a));
		CHECK(hipEventRecord(event, a));
		CHECK(hipEventRecord(event, b)); /* HERE */
		CHECK(hipEventSynchronize(event));
		app_equal("h", 0, h[0], 5);
	} else if (strcmp(what, "early") == 0) {
		CHECK(hipEventRecord(event, a)); /* HERE */
		fill<<<1, N, 0, a>>>(v, 5);
		CHECK(hipStreamWaitEvent(b, event, 0));
		CHECK(hipMemcpyAsync(h, v, N * sizeof *h, hipMemcpyDeviceToHost, b));
		CHECK(hipStreamSynchronize(b));
		app_equal("h", 0, h[0], 5);
	} else if (strcmp(what, "null") == 0) {
		fill<<<1, N>>>(v, 5);
		CHECK(hipMemcpyAsync(h, v, N * sizeof *h, hipMemcpyDeviceToHost, a)); /* HERE */
		CHECK(hipStreamSynchronize(a));
		app_equal("h", 0, h[0], 5);
	} else if (strcmp(what, "pinned") == 0) {
		int out = 0;

		h[0] = 5;
		CHECK(hipMemcpyAsync(v, h, N * sizeof *h, hipMemcpyHostToDevice, a));
		h[0] = 6; /* HERE */
		CHECK(hipStreamSynchronize(a));
		CHECK(hipMemcpy(&out, v, sizeof out, hipMemcpyDeviceToHost));
		app_equal("v", 0, out, 5);
	} else if (strcmp(what, "freed") == 0) {
		int *p;

		CHECK(hipMallocAsync((void **)&p, N * sizeof *p, a));
		fill<<<1, N, 0, a>>>(p, 5);
		CHECK(hipStreamSynchronize(a));
		add<<<1, N, 0, b>>>(p, v);
		CHECK(hipFreeAsync(p, a)); /* HERE: a has to wait for b */
		said(hipStreamSynchronize(a));
		return said(hipStreamSynchronize(b));
	} else if (strcmp(what, "graph") == 0) {
		hipGraph_t graph;
		hipGraphExec_t exec;

		CHECK(hipStreamBeginCapture(a, hipStreamCaptureModeGlobal));
		CHECK(hipMemcpyAsync(v, h, N * sizeof *h, hipMemcpyHostToDevice, a));
		CHECK(hipStreamEndCapture(a, &graph));
		CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
		CHECK(hipHostFree(h)); /* HERE */
		CHECK(hipGraphLaunch(exec, a));
		return said(hipStreamSynchronize(a));
	} else {
		app_quit(2, "which order?");
	}
	return 0;
}
