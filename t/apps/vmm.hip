/* vmm [SEED]: address ranges reserved by the program, physical memory mapped into them: side by
 * side, one memory at two addresses, other memory where some was unmapped, copies and a kernel. */
#include <hip/hip_runtime.h>
#include "app.h"

__global__ void scale(float *to, const float *from, float a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		to[i] = a * from[i];
}

#define N 4096
#define SIZE (N * sizeof(float))

static size_t grain;

static hipMemGenericAllocationHandle_t memory(void)
{
	hipMemGenericAllocationHandle_t h;
	hipMemAllocationProp p;

	memset(&p, 0, sizeof p);
	p.type = hipMemAllocationTypePinned;
	p.location.type = hipMemLocationTypeDevice;
	p.location.id = 0;
	CHECK(hipMemCreate(&h, grain, &p, 0));
	return h;
}

static void map(void *at, hipMemGenericAllocationHandle_t h)
{
	hipMemAccessDesc d;

	memset(&d, 0, sizeof d);
	d.location.type = hipMemLocationTypeDevice;
	d.flags = hipMemAccessFlagsProtReadWrite;
	CHECK(hipMemMap(at, grain, 0, h, 0));
	CHECK(hipMemSetAccess(at, grain, &d, 1));
}

static void check(const char *what, const float *p, const float *in, float a)
{
	static float out[N];

	CHECK(hipMemcpy(out, p, SIZE, hipMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		app_equal(what, i, out[i], a * in[i]);
}

int main(int argc, char **argv)
{
	uint32_t seed = app_seed(argc, argv, 1, 1);
	static float in[N];
	hipMemAllocationProp p;
	void *va;

	app_begin(argv[0], 1);
	app_numbers(in, N, seed);
	memset(&p, 0, sizeof p);
	p.type = hipMemAllocationTypePinned;
	p.location.type = hipMemLocationTypeDevice;
	if (hipMemGetAllocationGranularity(&grain, &p, hipMemAllocationGranularityMinimum) !=
	    hipSuccess)
		app_quit(77, "no virtual memory calls here");
	grain = (65536 + grain - 1) / grain * grain;
	CHECK(hipMemAddressReserve(&va, 4 * grain, 0, NULL, 0));

	char *base = (char *)va;
	hipMemGenericAllocationHandle_t one = memory(), two = memory(), three = memory();

	map(base, one);
	map(base + grain, two);
	map(base + 3 * grain, one); /* the first again */

	float *x = (float *)base, *y = (float *)(base + grain + 4096),
	      *alias = (float *)(base + 3 * grain);

	CHECK(hipMemcpy(x, in, SIZE, hipMemcpyHostToDevice));
	scale<<<N / 256, 256>>>(y, x, 2, N);
	CHECK(hipGetLastError());
	check("second", y, in, 2);
	check("first at another address", alias, in, 1);
	/* a copy over the seam between the first two */
	CHECK(hipMemset(base + grain - 64, 0x3f, 128));
	unsigned char seam[130];
	CHECK(hipMemcpy(seam, base + grain - 65, 130, hipMemcpyDeviceToHost));
	if (seam[0] == 0x3f || seam[1] != 0x3f || seam[128] != 0x3f || seam[129] == 0x3f)
		app_wrong("a copy over the seam of two mappings is wrong");

	CHECK(hipMemUnmap(base, grain));
	map(base, three);
	scale<<<N / 256, 256>>>(x, y, 3, N);
	CHECK(hipGetLastError());
	check("third where the first was", x, in, 6);
	check("the first still at the other", alias, in, 1);

	CHECK(hipDeviceSynchronize());
	CHECK(hipMemUnmap(base, grain));
	CHECK(hipMemUnmap(base + grain, grain));
	CHECK(hipMemUnmap(base + 3 * grain, grain));
	CHECK(hipMemRelease(one));
	CHECK(hipMemRelease(two));
	CHECK(hipMemRelease(three));
	CHECK(hipMemAddressFree(va, 4 * grain));
	printf("vmm: mapped memory is right\n");
	return 0;
}
