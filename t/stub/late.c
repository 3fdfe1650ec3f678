/*
 * late LIBRARY HSACO SUBJECT: calls that HIP 6 and 7 have and Debian's headers have not,
 * bound by dlsym. Checks itself: 0 right, 1 wrong. HSACO is that of t/apps/modkern.hip.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hip_proto.h"

static void *lib;
static char *hsaco;
static int major;

static void *fn(const char *name)
{
	void *p = dlsym(lib, name);

	if (p == NULL) {
		fprintf(stderr, "late: %s\n", dlerror());
		exit(1);
	}
	return p;
}
#define HIP(name) ((hrr_fn_##name)fn(#name))
#define CHECK(call)                                                           \
	do {                                                                  \
		int e_ = (int)(call);                                         \
		if (e_ != 0) {                                                \
			fprintf(stderr, "late: line %d: %d\n", __LINE__, e_); \
			exit(1);                                              \
		}                                                             \
	} while (0)
#define N 64

static float *numbers(float *v)
{
	for (int i = 0; i < N; i++)
		v[i] = (float)i;
	return v;
}

static void *device(size_t size)
{
	void *p;

	CHECK(HIP(hipMalloc)(&p, size));
	return p;
}

static hipFunction_t kernel(const char *name)
{
	FILE *f = fopen(hsaco, "rb");
	static char image[1 << 20];
	hipModule_t m;
	hipFunction_t k;

	if (f == NULL || fread(image, 1, sizeof image, f) == 0)
		exit(1);
	fclose(f);
	CHECK(HIP(hipModuleLoadData)(&m, image));
	CHECK(HIP(hipModuleGetFunction)(&k, m, name));
	return k;
}

static int is(const float *got, float by)
{
	for (int i = 0; i < N; i++)
		if (got[i] != (float)i * by) {
			fprintf(stderr, "late: [%d] is %g, %g is due\n", i, (double)got[i],
				(double)((float)i * by));
			return 0;
		}
	return 1;
}

/* Launches with attributes: a wish, and one that counts. */
static int launch(void)
{
	float v[N], a = 3;
	int n = N, priority = 1, on = 1;
	float *x = device(sizeof v);
	hipFunction_t k = kernel("scale");
	void *params[] = {&x, &a, &n};
	struct hipLaunchAttribute attrs[2] = {{.id = hipLaunchAttributePriority},
					      {.id = hipLaunchAttributeCooperative}};
	struct HIP_LAUNCH_CONFIG c = {.gridDimX = 1,
				      .gridDimY = 1,
				      .gridDimZ = 1,
				      .blockDimX = N,
				      .blockDimY = 1,
				      .blockDimZ = 1,
				      .attrs = attrs,
				      .numAttrs = 2};

	memcpy(attrs[0].val, &priority, 4);
	memcpy(attrs[1].val, &on, 4);
	CHECK(HIP(hipMemcpyHtoD)(x, numbers(v), sizeof v));
	CHECK(HIP(hipDrvLaunchKernelEx)(&c, k, params, NULL));
	CHECK(HIP(hipMemcpyDtoH)(v, x, sizeof v));
	if (!is(v, 3))
		return 1;
	c.attrs = NULL;
	c.numAttrs = 0;
	CHECK(HIP(hipDrvLaunchKernelEx)(&c, k, params, NULL));
	CHECK(HIP(hipMemcpyDtoH)(v, x, sizeof v));
	return is(v, 9) ? 0 : 1;
}

/* Calls that are not recorded and leave nothing out. */
static int aside(void)
{
	float v[N];
	void *x = device(sizeof v), *object;

	HIP(hipUserObjectCreate)(&object, v, NULL, 1, 0);
	for (int i = 0; i < 2; i++)
		((int (*)(int *, int *))fn("hiprtcVersion"))(&(int){0}, &(int){0});
	CHECK(HIP(hipMemcpyHtoD)(x, numbers(v), sizeof v));
	CHECK(HIP(hipMemcpyDtoH)(v, x, sizeof v));
	return is(v, 1) ? 0 : 1;
}

/* Arrays: every call that copies from or to one, by bytes, rows, boxes. */
static int array(void)
{
	enum { W = 8, H = 8 };
	struct hipChannelFormatDesc desc = {32, 0, 0, 0, hipChannelFormatKindFloat};
	struct HIP_ARRAY_DESCRIPTOR d = {
	    .Width = W, .Height = H, .Format = HIP_AD_FORMAT_FLOAT, .NumChannels = 1};
	size_t row = W * sizeof(float), all = row * H;
	float v[N], w[N], *pinned, *dev = device(all);
	hipArray_t a, b, line;
	hipStream_t s;
	void *p;

	numbers(v);
	CHECK(HIP(hipStreamCreate)(&s));
	CHECK(HIP(hipHostMalloc)(&p, all, 0));
	pinned = p;
	CHECK(HIP(hipMallocArray)(&a, &desc, W, H, 0));
	CHECK(HIP(hipArrayCreate)(&b, &d));
	CHECK(HIP(hipMallocArray)(&line, &desc, N, 0, 0));
	/* The whole, from packed rows; back to rows that are apart. */
	CHECK(HIP(hipMemcpy2DToArray)(a, 0, 0, v, row, row, H, hipMemcpyHostToDevice));
	float wide[H][W * 2];
	memset(wide, 0, sizeof wide);
	CHECK(HIP(hipMemcpy2DFromArray)(wide, sizeof wide[0], a, 0, 0, row, H,
					hipMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		w[i] = wide[i / W][i % W];
	if (!is(w, 1))
		return 1;
	/* Array to array, array to device, device to host. */
	CHECK(HIP(hipMemcpy2DArrayToArray)(b, 0, 0, a, 0, 0, row, H, hipMemcpyDeviceToDevice));
	CHECK(
	    HIP(hipMemcpy2DFromArrayAsync)(dev, row, b, 0, 0, row, H, hipMemcpyDeviceToDevice, s));
	CHECK(HIP(hipMemcpyAsync)(pinned, dev, all, hipMemcpyDeviceToHost, s));
	CHECK(HIP(hipStreamSynchronize)(s));
	if (!is(pinned, 1))
		return 1;
	/* Boxes: elements are counted where an array takes part. */
	struct hipMemcpy3DParms m = {.srcPtr = {v, row, W, H},
				     .dstArray = b,
				     .dstPos = {0, 4, 0},
				     .extent = {W, 4, 1},
				     .kind = hipMemcpyHostToDevice};
	CHECK(HIP(hipMemcpy3D)(&m));
	struct hip_Memcpy2D x = {.srcMemoryType = hipMemoryTypeArray_7,
				 .srcArray = b,
				 .srcY = 4,
				 .dstMemoryType = hipMemoryTypeHost_7,
				 .dstHost = w,
				 .dstPitch = row,
				 .WidthInBytes = row,
				 .Height = 4};
	CHECK(HIP(hipMemcpyParam2D)(&x));
	struct HIP_MEMCPY3D_size y = {.srcMemoryType = hipMemoryTypeArray_7,
				      .srcArray = a,
				      .srcY = 4,
				      .dstMemoryType = hipMemoryTypeHost_7,
				      .dstHost = w + 4 * W,
				      .dstPitch = row,
				      .dstHeight = 4,
				      .WidthInBytes = row,
				      .Height = 4,
				      .Depth = 1};
	CHECK(HIP(hipDrvMemcpy3D)((struct HIP_MEMCPY3D *)(void *)&y));
	if (!is(w, 1))
		return 1;
	/* Lines of bytes. */
	CHECK(HIP(hipMemcpyHtoA)(line, 0, v, all / 2));
	CHECK(HIP(hipMemcpyDtoA)(line, all / 2, (char *)dev + all / 2, all / 2));
	memset(w, 0, sizeof w);
	CHECK(HIP(hipMemcpyAtoHAsync)(pinned, line, 0, all, s));
	CHECK(HIP(hipStreamSynchronize)(s));
	CHECK(HIP(hipMemcpyFromArray_spt)(w, line, 0, 0, all, hipMemcpyDeviceToHost));
	CHECK(HIP(hipFreeArray)(a));
	CHECK(HIP(hipArrayDestroy)(b));
	return is(pinned, 1) && is(w, 1) ? 0 : 1;
}

/* A capture that is given nodes by hand, and told what to go on behind. */
static int capture(void)
{
	float v[N], a = 3, b = 5, *x = device(sizeof v), *pinned;
	int n = N, status;
	hipFunction_t k = kernel("scale");
	void *first[] = {&x, &a, &n}, *second[] = {&x, &b, &n}, *p;
	struct hipKernelNodeParams node = {
	    .blockDim = {N, 1, 1}, .gridDim = {1, 1, 1}, .func = k, .kernelParams = second};
	hipStream_t s;
	hipGraph_t g, same;
	hipGraphExec_t exec;
	hipGraphNode_t *deps, made;
	size_t n_deps;
	uint64_t id;

	CHECK(HIP(hipStreamCreateWithFlags)(&s, 1));
	CHECK(HIP(hipHostMalloc)(&p, sizeof v, 0));
	pinned = p;
	CHECK(HIP(hipMemcpyHtoD)(x, numbers(v), sizeof v));
	CHECK(HIP(hipStreamBeginCapture)(s, hipStreamCaptureModeGlobal));
	CHECK(HIP(hipModuleLaunchKernel)(k, 1, 1, 1, N, 1, 1, 0, s, first, NULL));
	CHECK(HIP(hipStreamGetCaptureInfo_v2)(s, &status, &id, &g, &deps, &n_deps));
	if (status != hipStreamCaptureStatusActive || n_deps != 1)
		return 1;
	CHECK(HIP(hipGraphAddKernelNode)(&made, g, deps, n_deps, &node));
	CHECK(HIP(hipStreamUpdateCaptureDependencies)(s, &made, 1, 1));
	CHECK(HIP(hipMemcpyAsync)(pinned, x, sizeof v, hipMemcpyDeviceToHost, s));
	CHECK(HIP(hipStreamEndCapture)(s, &same));
	if (same != g)
		return 1;
	CHECK(HIP(hipGraphInstantiateWithFlags)(&exec, g, 0));
	CHECK(HIP(hipGraphLaunch)(exec, s));
	CHECK(HIP(hipStreamSynchronize)(s));
	CHECK(HIP(hipGraphExecDestroy)(exec));
	CHECK(HIP(hipGraphDestroy)(g));
	return is(pinned, 15) ? 0 : 1;
}

/* Lists of copies: from pageable and pinned memory, between devices, boxes; to pinned memory. */
static int batch(void)
{
	enum { HALF = N / 2 };
	float v[N], w[N], *x = device(sizeof v), *y = device(sizeof v), *pinned, *back;
	size_t row = 8 * sizeof(float), fail = 99, half = sizeof v / 2;
	hipStream_t s;
	void *p;

	numbers(v);
	CHECK(HIP(hipStreamCreate)(&s));
	CHECK(HIP(hipHostMalloc)(&p, sizeof v, 0));
	pinned = p;
	CHECK(HIP(hipHostMalloc)(&p, sizeof v, 0));
	back = p;
	memcpy(pinned, v, sizeof v);
	struct hipMemcpyAttributes attr = {.srcAccessOrder = hipMemcpySrcAccessOrderStream};
	size_t first = 0, sizes[] = {half, half, sizeof v, sizeof v};
	void *dsts[] = {x, x + HALF, y, back}, *srcs[] = {v, pinned + HALF, x, y};
	CHECK(HIP(hipMemcpyBatchAsync)(dsts, srcs, sizes, 4, &attr, &first, 1, &fail, s));
	CHECK(HIP(hipStreamSynchronize)(s));
	if (!is(back, 1))
		return 1;
	/* The left half of eight rows on the device, as a box; the right half from the host. */
	CHECK(HIP(hipMemset)(x, 0, sizeof v));
	struct hipMemcpy3DBatchOp ops[2] = {
	    {.src = {.type = hipMemcpyOperandTypePointer, .ptr = y, .rowLength = row},
	     .dst = {.type = hipMemcpyOperandTypePointer, .ptr = x, .rowLength = row},
	     .extent = {row / 2, 8, 1},
	     .srcAccessOrder = hipMemcpySrcAccessOrderStream},
	    {.src = {.type = hipMemcpyOperandTypePointer, .ptr = v + 4, .rowLength = row},
	     .dst = {.type = hipMemcpyOperandTypePointer, .ptr = x + 4, .rowLength = row},
	     .extent = {row / 2, 8, 1},
	     .srcAccessOrder = hipMemcpySrcAccessOrderStream}};
	CHECK(HIP(hipMemcpy3DBatchAsync)(2, ops, &fail, 0, s));
	CHECK(HIP(hipStreamSynchronize)(s));
	CHECK(HIP(hipMemset)(y, 0, sizeof v));
	struct hipMemcpy3DPeerParms peer = {
	    .srcPtr = {x, row, 8, 8}, .dstPtr = {y, row, 8, 8}, .extent = {row, 8, 1}};
	CHECK(HIP(hipMemcpy3DPeer)(&peer));
	CHECK(HIP(hipMemcpyDtoH)(w, y, sizeof w));
	return is(w, 1) ? 0 : 1;
}

/* A list of waits and writes; what is written is seen by the copy behind it. */
static int values(void)
{
	uint32_t got[4], *x = device(sizeof got);
	struct hipStreamBatchMemOpParams ops[] = {
	    {.operation = hipStreamMemOpWriteValue32, .address = x, .value64 = 7},
	    {.operation = hipStreamMemOpWaitValue32, .address = x, .value64 = 7},
	    {.operation = hipStreamMemOpBarrier},
	    {.operation = hipStreamMemOpWriteValue64, .address = x + 2, .value64 = 0x500000006}};
	hipStream_t s;

	CHECK(HIP(hipStreamCreate)(&s));
	CHECK(HIP(hipMemset)(x, 0, sizeof got));
	CHECK(HIP(hipDeviceSynchronize)());
	CHECK(HIP(hipStreamBatchMemOp)(s, 4, ops, 0));
	CHECK(HIP(hipStreamSynchronize)(s));
	CHECK(HIP(hipMemcpyDtoH)(got, x, sizeof got));
	return got[0] == 7 && got[1] == 0 && got[2] == 6 && got[3] == 5 ? 0 : 1;
}

/* A capture into a graph that has a node already. */
static int into(void)
{
	float v[N], a = 3, b = 2, *x = device(sizeof v), *pinned;
	int n = N;
	hipFunction_t f = kernel("scale");
	void *by_hand[] = {&x, &a, &n}, *captured[] = {&x, &b, &n}, *p;
	struct hipKernelNodeParams k = {
	    .blockDim = {N, 1, 1}, .gridDim = {1, 1, 1}, .func = f, .kernelParams = by_hand};
	struct hipGraphInstantiateParams how = {.flags = 1};
	hipStream_t s;
	hipGraph_t g, same;
	hipGraphExec_t exec;
	hipGraphNode_t node;

	CHECK(HIP(hipStreamCreateWithFlags)(&s, 1));
	CHECK(HIP(hipHostMalloc)(&p, sizeof v, 0));
	pinned = p;
	CHECK(HIP(hipMemcpyHtoD)(x, numbers(v), sizeof v));
	CHECK(HIP(hipGraphCreate)(&g, 0));
	CHECK(HIP(hipGraphAddKernelNode)(&node, g, NULL, 0, &k));
	CHECK(HIP(hipStreamBeginCaptureToGraph)(s, g, &node, NULL, 1, hipStreamCaptureModeGlobal));
	CHECK(HIP(hipModuleLaunchKernel)(f, 1, 1, 1, N, 1, 1, 0, s, captured, NULL));
	CHECK(HIP(hipMemcpyAsync)(pinned, x, sizeof v, hipMemcpyDeviceToHost, s));
	CHECK(HIP(hipStreamEndCapture)(s, &same));
	if (same != g)
		return 1;
	CHECK(HIP(hipGraphInstantiateWithParams)(&exec, g, &how));
	CHECK(HIP(hipGraphLaunch)(exec, s));
	CHECK(HIP(hipStreamSynchronize)(s));
	CHECK(HIP(hipGraphExecDestroy)(exec));
	CHECK(HIP(hipGraphDestroy)(g));
	return is(pinned, 6) ? 0 : 1;
}

/* Memory that a graph makes, uses and frees at each launch. */
static int graphmem(void)
{
	float v[N], a = 3, *x = device(sizeof v), *y = device(sizeof v), *mid;
	int n = N;
	struct hipMemAccessDesc rw = {{hipMemLocationTypeDevice, 0},
				      hipMemAccessFlagsProtReadWrite};
	struct hipMemAllocNodeParams alloc = {
	    .poolProps = {.allocType = hipMemAllocationTypePinned,
			  .location = {hipMemLocationTypeDevice, 0}},
	    .accessDescs = &rw,
	    .accessDescCount = 1,
	    .bytesize = sizeof v};
	hipGraph_t g;
	hipGraphExec_t exec;
	hipGraphNode_t make, in, mul, out, end;

	CHECK(HIP(hipMemcpyHtoD)(x, numbers(v), sizeof v));
	CHECK(HIP(hipGraphCreate)(&g, 0));
	CHECK(HIP(hipGraphAddMemAllocNode)(&make, g, NULL, 0, &alloc));
	mid = alloc.dptr;
	void *params[] = {&mid, &a, &n};
	struct hipKernelNodeParams k = {.blockDim = {N, 1, 1},
					.gridDim = {1, 1, 1},
					.func = kernel("scale"),
					.kernelParams = params};
	CHECK(HIP(hipGraphAddMemcpyNode1D)(&in, g, &make, 1, mid, x, sizeof v,
					   hipMemcpyDeviceToDevice));
	CHECK(HIP(hipGraphAddKernelNode)(&mul, g, &in, 1, &k));
	CHECK(HIP(hipGraphAddMemcpyNode1D)(&out, g, &mul, 1, y, mid, sizeof v,
					   hipMemcpyDeviceToDevice));
	CHECK(HIP(hipGraphAddMemFreeNode)(&end, g, &out, 1, mid));
	CHECK(HIP(hipGraphInstantiateWithFlags)(&exec, g, 0));
	for (int i = 0; i < 2; i++) {
		CHECK(HIP(hipGraphLaunch)(exec, NULL));
		CHECK(HIP(hipMemcpyDtoH)(v, y, sizeof v));
		if (!is(v, 3))
			return 1;
	}
	CHECK(HIP(hipGraphExecDestroy)(exec));
	CHECK(HIP(hipGraphDestroy)(g));
	return 0;
}

/* Registered memory that kernels read and write, in pieces of 256 KiB: one is changed. */
static int pieces(void)
{
	enum { PIECE = 256 << 10 };
	char *host = aligned_alloc(4096, 4 * PIECE);
	float a = 2, *at;
	int n = N;
	void *dev;

	for (int i = 0; i < 4 * PIECE; i++)
		host[i] = (char)(i / PIECE + 1);
	numbers((float *)(void *)(host + 2 * PIECE));
	CHECK(HIP(hipHostRegister)(host, 4 * PIECE, 2));
	CHECK(HIP(hipHostGetDevicePointer)(&dev, host, 0));
	at = (float *)(void *)((char *)dev + 2 * PIECE);
	void *params[] = {&at, &a, &n};
	hipFunction_t k = kernel("scale");
	CHECK(HIP(hipModuleLaunchKernel)(k, 1, 1, 1, N, 1, 1, 0, NULL, params, NULL));
	CHECK(HIP(hipDeviceSynchronize)());
	host[PIECE]++;
	CHECK(HIP(hipModuleLaunchKernel)(k, 1, 1, 1, N, 1, 1, 0, NULL, params, NULL));
	CHECK(HIP(hipDeviceSynchronize)());
	int right = is((float *)(void *)(host + 2 * PIECE), 4);
	CHECK(HIP(hipHostUnregister)(host));
	return right ? 0 : 1;
}

/* Registered memory that the program gives back, or shuts off, without a word to the run time. */
static int given_back(void)
{
	enum { SIZE = 1 << 20 };
	char *host[2], c = 1;
	short s = 2;
	double d = 3;
	int *out, got, right = 0;

	CHECK(HIP(hipMalloc)((void **)&out, N * sizeof *out));
	hipFunction_t k = kernel("mixed");
	for (int i = 0; i < 2; i++) {
		host[i] =
		    mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memset(host[i], i + 1, SIZE);
		CHECK(HIP(hipHostRegister)(host[i], SIZE, 2));
		void *params[] = {&c, &d, &s, &out, &host[i]}; /* as a number */
		CHECK(HIP(hipModuleLaunchKernel)(k, 1, 1, 1, 1, 1, 1, 64, NULL, params, NULL));
		CHECK(HIP(hipDeviceSynchronize)());
		CHECK(HIP(hipModuleLaunchKernel)(k, 1, 1, 1, 1, 1, 1, 64, NULL, params, NULL));
		if (i == 0)
			munmap(host[i], SIZE);
		else
			mprotect(host[i], SIZE, PROT_NONE);
		CHECK(HIP(hipDeviceSynchronize)());
		CHECK(HIP(hipModuleLaunchKernel)(k, 1, 1, 1, 1, 1, 1, 64, NULL, params, NULL));
		/* What came of it has to do with an address: other bytes are to be compared. */
		CHECK(HIP(hipMemcpy)(out, &i, sizeof i, hipMemcpyHostToDevice));
		CHECK(HIP(hipMemcpy)(&got, out, sizeof got, hipMemcpyDeviceToHost));
		right += got == i;
	}
	CHECK(HIP(hipFree)(out));
	return right == 2 ? 0 : 1;
}

/* Structures whose layout or values are not the same in every major; the same calls in each. */
static int layouts(void)
{
	struct hipMemAllocationProp old = {.type = hipMemAllocationTypePinned,
					   .location = {hipMemLocationTypeDevice, 0},
					   .usage = 3},
				    *prop = &old;
	struct hipMemAllocationProp_53 new = {.type = hipMemAllocationTypePinned,
					      .location = {hipMemLocationTypeDevice, 0},
					      .usage = 3};
	struct hipMemAccessDesc rw = {{hipMemLocationTypeDevice, 0},
				      hipMemAccessFlagsProtReadWrite};
	struct hipMemPoolProps pool_props = {.allocType = hipMemAllocationTypePinned,
					     .location = {hipMemLocationTypeDevice, 0}};
	struct hipPointerAttribute_t attr;
	static unsigned char properties[4096];
	float v[N], w[N];
	hipMemGenericAllocationHandle_t h;
	hipMemPool_t pool;
	size_t g = 0, row = N / 4 * sizeof(float);
	void *p;

	if (major >= 6) /* our run time of 5 is 5.2 */
		prop = (struct hipMemAllocationProp *)(void *)&new;
	CHECK(HIP(hipMemGetAllocationGranularity)(&g, prop, hipMemAllocationGranularityMinimum));
	CHECK(HIP(hipMemCreate)(&h, g, prop, 0));
	CHECK(HIP(hipMemGetAllocationPropertiesFromHandle)(prop, h));
	CHECK(HIP(hipMemAddressReserve)(&p, g, 0, NULL, 0));
	CHECK(HIP(hipMemMap)(p, g, 0, h, 0));
	CHECK(HIP(hipMemSetAccess)(p, g, &rw, 1));
	CHECK(HIP(hipPointerGetAttributes)(&attr, p));
	CHECK(HIP(hipMemPoolCreate)(&pool, &pool_props));
	CHECK(HIP(hipMemPoolDestroy)(pool));
	if (major < 6)
		CHECK(HIP(hipGetDeviceProperties)((void *)properties, 0));
	else
		CHECK(HIP(hipGetDevicePropertiesR0600)((void *)properties, 0));
	struct HIP_MEMCPY3D_size to = {
	    .srcMemoryType = major < 6 ? hipMemoryTypeHost_5 : hipMemoryTypeHost_6,
	    .srcHost = numbers(v),
	    .srcPitch = row,
	    .srcHeight = 4,
	    .dstMemoryType = major < 6 ? hipMemoryTypeDevice_5 : hipMemoryTypeDevice_6,
	    .dstDevice = p,
	    .dstPitch = row,
	    .dstHeight = 4,
	    .WidthInBytes = row,
	    .Height = 4,
	    .Depth = 1};
	struct HIP_MEMCPY3D_size from = {.srcMemoryType = to.dstMemoryType,
					 .srcDevice = p,
					 .srcPitch = row,
					 .srcHeight = 4,
					 .dstMemoryType = to.srcMemoryType,
					 .dstHost = w,
					 .dstPitch = row,
					 .dstHeight = 4,
					 .WidthInBytes = row,
					 .Height = 4,
					 .Depth = 1};
	struct HIP_MEMCPY3D to5 = {.srcMemoryType = to.srcMemoryType,
				   .srcHost = v,
				   .srcPitch = (unsigned)row,
				   .srcHeight = 4,
				   .dstMemoryType = to.dstMemoryType,
				   .dstDevice = p,
				   .dstPitch = (unsigned)row,
				   .dstHeight = 4,
				   .WidthInBytes = (unsigned)row,
				   .Height = 4,
				   .Depth = 1};
	struct HIP_MEMCPY3D from5 = {.srcMemoryType = to.dstMemoryType,
				     .srcDevice = p,
				     .srcPitch = (unsigned)row,
				     .srcHeight = 4,
				     .dstMemoryType = to.srcMemoryType,
				     .dstHost = w,
				     .dstPitch = (unsigned)row,
				     .dstHeight = 4,
				     .WidthInBytes = (unsigned)row,
				     .Height = 4,
				     .Depth = 1};
	CHECK(HIP(hipDrvMemcpy3D)(major < 6 ? &to5 : (struct HIP_MEMCPY3D *)(void *)&to));
	CHECK(HIP(hipDrvMemcpy3D)(major < 6 ? &from5 : (struct HIP_MEMCPY3D *)(void *)&from));
	CHECK(HIP(hipMemUnmap)(p, g));
	CHECK(HIP(hipMemAddressFree)(p, g));
	CHECK(HIP(hipMemRelease)(h));
	return is(w, 1) ? 0 : 1;
}

/* What hipGraphAddNode takes, as HIP 6 and 7 lay it out. */
struct node_params {
	int type, reserved[3];
	union {
		long long room[30];
		struct hipKernelNodeParams kernel;
		struct {
			int flags, reserved[3];
			struct hipMemcpy3DParms params;
		} copy;
		struct hipMemsetParams set;
		struct hipMemAllocNodeParams alloc;
		hipGraph_t graph;
		hipEvent_t event;
		void *free;
	} u;
};

/* Nodes of every type by one call, and their parameters changed. */
static int nodes(void)
{
	float v[N], a = 3, b = 5, *x = device(sizeof v), *y = device(sizeof v), *mid;
	int n = N;
	struct node_params set = {.type = hipGraphNodeTypeMemset_6}, empty, copy, mul, make, end,
			   child, event = {.type = hipGraphNodeTypeEventRecord_6};
	hipGraph_t g, in;
	hipGraphExec_t exec;
	hipGraphNode_t node[8];

	CHECK(HIP(hipEventCreate)(&event.u.event));
	CHECK(HIP(hipMemcpyHtoD)(x, numbers(v), sizeof v));
	CHECK(HIP(hipGraphCreate)(&g, 0));
	CHECK(HIP(hipGraphCreate)(&in, 0));
	make = (struct node_params){.type = hipGraphNodeTypeMemAlloc_6};
	make.u.alloc =
	    (struct hipMemAllocNodeParams){.poolProps = {.allocType = hipMemAllocationTypePinned,
							 .location = {hipMemLocationTypeDevice, 0}},
					   .bytesize = sizeof v};
	CHECK(HIP(hipGraphAddNode)(&node[0], g, NULL, 0, &make));
	mid = make.u.alloc.dptr;
	set.u.set = (struct hipMemsetParams){
	    .dst = y, .elementSize = 4, .height = 1, .value = 1, .width = N};
	CHECK(HIP(hipGraphAddNode)(&node[1], in, NULL, 0, &set));
	child = (struct node_params){.type = hipGraphNodeTypeGraph_6, .u.graph = in};
	CHECK(HIP(hipGraphAddNode)(&node[2], g, NULL, 0, &child));
	empty = (struct node_params){.type = hipGraphNodeTypeEmpty_6};
	CHECK(HIP(hipGraphAddNode)(&node[1], g, &node[0], 1, &empty));
	copy = (struct node_params){.type = hipGraphNodeTypeMemcpy_6};
	copy.u.copy.params = (struct hipMemcpy3DParms){.srcPtr = {x, sizeof v, sizeof v, 1},
						       .dstPtr = {mid, sizeof v, sizeof v, 1},
						       .extent = {sizeof v, 1, 1},
						       .kind = hipMemcpyDeviceToDevice};
	CHECK(HIP(hipGraphAddNode)(&node[3], g, &node[1], 1, &copy));
	void *params[] = {&mid, &a, &n}, *other[] = {&mid, &b, &n};
	mul = (struct node_params){.type = hipGraphNodeTypeKernel_6};
	mul.u.kernel = (struct hipKernelNodeParams){.blockDim = {N, 1, 1},
						    .gridDim = {1, 1, 1},
						    .func = kernel("scale"),
						    .kernelParams = params};
	CHECK(HIP(hipGraphAddNode)(&node[4], g, &node[3], 1, &mul));
	copy.u.copy.params.srcPtr.ptr = mid;
	copy.u.copy.params.dstPtr.ptr = y;
	hipGraphNode_t both[] = {node[4], node[2]};
	CHECK(HIP(hipGraphAddNode)(&node[5], g, both, 2, &copy));
	CHECK(HIP(hipGraphAddNode)(&node[6], g, &node[5], 1, &event));
	end = (struct node_params){.type = hipGraphNodeTypeMemFree_6, .u.free = mid};
	CHECK(HIP(hipGraphAddNode)(&node[7], g, &node[6], 1, &end));
	CHECK(HIP(hipGraphNodeSetParams)(node[4], &mul));
	CHECK(HIP(hipGraphInstantiateWithFlags)(&exec, g, 0));
	CHECK(HIP(hipGraphLaunch)(exec, NULL));
	CHECK(HIP(hipMemcpyDtoH)(v, y, sizeof v));
	if (!is(v, 3))
		return 1;
	mul.u.kernel.kernelParams = other;
	CHECK(HIP(hipGraphExecNodeSetParams)(exec, node[4], &mul));
	CHECK(HIP(hipGraphLaunch)(exec, NULL));
	CHECK(HIP(hipEventSynchronize)(event.u.event));
	CHECK(HIP(hipMemcpyDtoH)(v, y, sizeof v));
	/* Neither of these is a node. */
	mul.type = 99;
	if (HIP(hipGraphAddNode)(&node[0], g, NULL, 0, &mul) == 0 ||
	    HIP(hipGraphAddNode)(&node[0], g, NULL, 0, NULL) == 0)
		return 1;
	CHECK(HIP(hipGraphExecDestroy)(exec));
	CHECK(HIP(hipGraphDestroy)(g));
	CHECK(HIP(hipGraphDestroy)(in));
	return is(v, 5) ? 0 : 1;
}

/* A kernel on each of two devices with one call. */
static int multi(void)
{
	struct hipFunctionLaunchParams_t list[2];
	float v[2][N], *x[2], a[2] = {3, 5};
	void *params[2][3];
	hipStream_t s[2];
	int n = N;

	for (int d = 0; d < 2; d++) {
		CHECK(HIP(hipSetDevice)(d));
		CHECK(HIP(hipStreamCreate)(&s[d]));
		x[d] = device(sizeof v[d]);
		CHECK(HIP(hipMemcpyHtoD)(x[d], numbers(v[d]), sizeof v[d]));
		params[d][0] = &x[d];
		params[d][1] = &a[d];
		params[d][2] = &n;
		list[d] = (struct hipFunctionLaunchParams_t){.function = kernel("scale"),
							     .gridDimX = 1,
							     .gridDimY = 1,
							     .gridDimZ = 1,
							     .blockDimX = N,
							     .blockDimY = 1,
							     .blockDimZ = 1,
							     .hStream = s[d],
							     .kernelParams = params[d]};
	}
	CHECK(HIP(hipModuleLaunchCooperativeKernelMultiDevice)(list, 2, 0));
	for (int d = 0; d < 2; d++) {
		CHECK(HIP(hipSetDevice)(d));
		CHECK(HIP(hipMemcpyDtoH)(v[d], x[d], sizeof v[d]));
		if (!is(v[d], a[d]))
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} subjects[] = {{"launch", launch},	{"aside", aside},     {"array", array},
			{"layouts", layouts},	{"capture", capture}, {"into", into},
			{"graphmem", graphmem}, {"pieces", pieces},   {"given_back", given_back},
			{"batch", batch},	{"values", values},   {"multi", multi},
			{"nodes", nodes}};

	if (argc < 4)
		return 2;
	hsaco = argv[2];
	major = atoi(strstr(argv[1], ".so.") != NULL ? strstr(argv[1], ".so.") + 4 : "5");
	lib = dlopen(argv[1], RTLD_NOW);
	if (lib == NULL) {
		fprintf(stderr, "late: %s\n", dlerror());
		return 1;
	}
	for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
		if (strcmp(argv[3], subjects[i].name) == 0)
			return subjects[i].run();
	return 2;
}
