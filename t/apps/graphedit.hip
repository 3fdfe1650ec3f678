/* graphedit [SEED]: graphs that change after they were made: parameters of nodes set in a graph
 * and in an executable, clones, child graphs, an executable updated from another graph, several
 * executables of one graph, launches on other streams, a capture that forks, nodes found again. */
#include <hip/hip_runtime.h>
#include "app.h"

#define N 1024
#define SIZE (N * sizeof(float))

__global__ void scale(float *to, const float *from, float a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		to[i] = a * from[i];
}

static float in[N], other[N];
static float *x, *y;
static hipStream_t s1, s2;

/* Kernel parameters that live as long as the call. */
struct kernel {
	float *to;
	const float *from;
	float a;
	int n;
	void *args[4];
	hipKernelNodeParams p;
};

static hipKernelNodeParams *with(struct kernel *k, float *to, const float *from, float a)
{
	k->to = to;
	k->from = from;
	k->a = a;
	k->n = N;
	k->args[0] = &k->to;
	k->args[1] = &k->from;
	k->args[2] = &k->a;
	k->args[3] = &k->n;
	memset(&k->p, 0, sizeof k->p);
	k->p.func = (void *)scale;
	k->p.gridDim = dim3(N / 256);
	k->p.blockDim = dim3(256);
	k->p.kernelParams = k->args;
	return &k->p;
}

static hipMemcpy3DParms *box(hipMemcpy3DParms *p, void *to, void *from, hipMemcpyKind kind)
{
	memset(p, 0, sizeof *p);
	p->srcPtr = make_hipPitchedPtr(from, 256, 256, SIZE / 256);
	p->dstPtr = make_hipPitchedPtr(to, 256, 256, SIZE / 256);
	p->extent = make_hipExtent(256, SIZE / 256, 1);
	p->kind = kind;
	return p;
}

static hipMemsetParams *fill(hipMemsetParams *p, void *to, unsigned value)
{
	memset(p, 0, sizeof *p);
	p->dst = to;
	p->elementSize = 4;
	p->value = value;
	p->width = N;
	p->height = 1;
	return p;
}

static void check(const char *what, const float *got, const float *from, float a)
{
	for (int i = 0; i < N; i++)
		app_equal(what, i, got[i], a * from[i]);
}

static void run(hipGraphExec_t e, hipStream_t s)
{
	CHECK(hipGraphLaunch(e, s));
	CHECK(hipStreamSynchronize(s));
}

/* in -> x, scale to y, y -> back, in a line. */
struct line {
	hipGraph_t g;
	hipGraphNode_t up, kernel, down;
};

static void make_line(struct line *l, float a, float *back)
{
	struct kernel k;

	CHECK(hipGraphCreate(&l->g, 0));
	CHECK(hipGraphAddMemcpyNode1D(&l->up, l->g, NULL, 0, x, in, SIZE, hipMemcpyHostToDevice));
	CHECK(hipGraphAddKernelNode(&l->kernel, l->g, &l->up, 1, with(&k, y, x, a)));
	CHECK(hipGraphAddMemcpyNode1D(&l->down, l->g, &l->kernel, 1, back, y, SIZE,
				      hipMemcpyDeviceToHost));
}

static void parameters_and_clones(void)
{
	static float back[N], back2[N], back3[N], back4[N];
	hipGraphNode_t found;
	hipGraphExec_t e1, e2, e3;
	hipGraph_t clone;
	struct kernel k;
	struct line l;

	make_line(&l, 2, back);
	CHECK(hipGraphInstantiate(&e1, l.g, NULL, NULL, 0));
	run(e1, s1);
	check("first", back, in, 2);

	/* in the executable only */
	CHECK(hipGraphExecKernelNodeSetParams(e1, l.kernel, with(&k, y, x, 5)));
	CHECK(hipGraphExecMemcpyNodeSetParams1D(e1, l.up, x, other, SIZE, hipMemcpyHostToDevice));
	CHECK(hipGraphExecMemcpyNodeSetParams1D(e1, l.down, back2, y, SIZE, hipMemcpyDeviceToHost));
	run(e1, s2);
	check("executable changed", back2, other, 5);

	/* in the graph, and another executable of it */
	CHECK(hipGraphKernelNodeSetParams(l.kernel, with(&k, y, x, 7)));
	CHECK(hipGraphMemcpyNodeSetParams1D(l.down, back3, y, SIZE, hipMemcpyDeviceToHost));
	CHECK(hipGraphInstantiate(&e2, l.g, NULL, NULL, 0));
	run(e2, s1);
	check("graph changed", back3, in, 7);

	/* in a clone; what it was cloned from goes */
	CHECK(hipGraphClone(&clone, l.g));
	CHECK(hipGraphNodeFindInClone(&found, l.kernel, clone));
	CHECK(hipGraphKernelNodeSetParams(found, with(&k, y, x, -3)));
	CHECK(hipGraphNodeFindInClone(&found, l.down, clone));
	CHECK(hipGraphMemcpyNodeSetParams1D(found, back4, y, SIZE, hipMemcpyDeviceToHost));
	CHECK(hipGraphDestroy(l.g));
	CHECK(hipGraphInstantiate(&e3, clone, NULL, NULL, 0));
	run(e3, s2);
	check("clone", back4, in, -3);
	run(e2, NULL);
	check("graph gone, executable there", back3, in, 7);
	CHECK(hipGraphExecDestroy(e1));
	CHECK(hipGraphExecDestroy(e2));
	CHECK(hipGraphExecDestroy(e3));
	CHECK(hipGraphDestroy(clone));
}

static void children(void)
{
	static float back[N], zero[N];
	struct line l, m;
	hipGraph_t parent, inner;
	hipGraphExec_t e;
	hipGraphNode_t clear, child, down, empty;
	hipMemsetParams set;
	hipMemcpy3DParms copy;
	float *z;

	CHECK(hipMalloc(&z, SIZE));
	make_line(&l, 2, back);
	make_line(&m, 11, back);
	CHECK(hipGraphCreate(&parent, 0));
	CHECK(hipGraphAddMemsetNode(&clear, parent, NULL, 0, fill(&set, z, 0xffffffff)));
	CHECK(hipGraphAddEmptyNode(&empty, parent, &clear, 1));
	CHECK(hipGraphAddChildGraphNode(&child, parent, &empty, 1, l.g));
	CHECK(hipGraphAddMemcpyNode(&down, parent, &child, 1,
				    box(&copy, zero, z, hipMemcpyDeviceToHost)));
	CHECK(hipGraphChildGraphNodeGetGraph(child, &inner));
	CHECK(hipGraphMemsetNodeSetParams(clear, fill(&set, z, 0x3f800000)));
	CHECK(hipGraphInstantiate(&e, parent, NULL, NULL, 0));
	run(e, s1);
	check("child", back, in, 2);
	app_equal("memset", N - 1, zero[N - 1], 1);

	CHECK(hipGraphExecChildGraphNodeSetParams(e, child, m.g));
	CHECK(hipGraphExecMemsetNodeSetParams(e, clear, fill(&set, z, 0x40000000)));
	CHECK(hipGraphExecMemcpyNodeSetParams(e, down,
					      box(&copy, back + 0, z, hipMemcpyDeviceToHost)));
	run(e, s2);
	app_equal("box", 5, back[5], 2);
	CHECK(hipGraphMemcpyNodeSetParams(down, box(&copy, zero, y, hipMemcpyDeviceToHost)));
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipGraphInstantiate(&e, parent, NULL, NULL, 0));
	run(e, s2);
	check("made again", zero, in, 2);
	CHECK(hipGraphExecDestroy(e));
	/* the child by itself, with what only it brings */
	for (int i = 0; i < N; i++)
		in[i] += 1;
	CHECK(hipGraphInstantiate(&e, inner, NULL, NULL, 0));
	run(e, s1);
	check("child alone", back, in, 2);
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipGraphDestroy(parent));
	CHECK(hipGraphDestroy(l.g));
	CHECK(hipGraphDestroy(m.g));
	CHECK(hipFree(z));
}

/* A capture over two streams: in -> x, then y and z beside each other. */
static void capture(hipGraph_t *g, float *z, float a, float b, float *back)
{
	hipEvent_t forked, done;

	CHECK(hipEventCreate(&forked));
	CHECK(hipEventCreate(&done));
	CHECK(hipStreamBeginCapture(s1, hipStreamCaptureModeGlobal));
	CHECK(hipMemcpyAsync(x, in, SIZE, hipMemcpyHostToDevice, s1));
	CHECK(hipEventRecord(forked, s1));
	CHECK(hipStreamWaitEvent(s2, forked, 0));
	scale<<<N / 256, 256, 0, s2>>>(z, x, b, N);
	CHECK(hipEventRecord(done, s2));
	scale<<<N / 256, 256, 0, s1>>>(y, x, a, N);
	CHECK(hipStreamWaitEvent(s1, done, 0));
	CHECK(hipMemcpyAsync(back, y, SIZE, hipMemcpyDeviceToHost, s1));
	CHECK(hipMemcpyAsync(back + N, z, SIZE, hipMemcpyDeviceToHost, s1));
	CHECK(hipStreamEndCapture(s1, g));
	CHECK(hipEventDestroy(forked));
	CHECK(hipEventDestroy(done));
}

static void captures(void)
{
	static float back[2 * N], back2[2 * N];
	hipGraphExecUpdateResult result;
	hipGraphNode_t nodes[16], error;
	hipGraphExec_t e, again;
	hipGraph_t g, h;
	struct kernel k;
	size_t n = 16;
	float *z;

	CHECK(hipMalloc(&z, SIZE));
	capture(&g, z, 2, 3, back);
	CHECK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
	CHECK(hipGraphInstantiate(&again, g, NULL, NULL, 0));
	run(e, s1);
	check("forked y", back, in, 2);
	check("forked z", back + N, in, 3);
	memset(back, 0, sizeof back);
	run(again, s2);
	check("again y", back, in, 2);

	capture(&h, z, 4, 6, back2);
	CHECK(hipGraphExecUpdate(e, h, &error, &result));
	run(e, s2);
	check("updated y", back2, in, 4);
	check("updated z", back2 + N, in, 6);

	/* a node that only a list tells of */
	CHECK(hipGraphGetNodes(g, nodes, &n));
	for (size_t i = 0; i < n; i++) {
		hipGraphNodeType type;
		CHECK(hipGraphNodeGetType(nodes[i], &type));
		if (type != hipGraphNodeTypeKernel)
			continue;
		CHECK(hipGraphExecKernelNodeSetParams(again, nodes[i], with(&k, y, x, 9)));
		CHECK(hipGraphKernelNodeSetParams(nodes[i], with(&k, y, x, 9)));
	}
	run(again, NULL);
	check("found y", back, in, 9);
	CHECK(hipGraphExecDestroy(again));
	CHECK(hipGraphInstantiate(&again, g, NULL, NULL, 0));
	run(again, s1);
	check("found and made again y", back, in, 9);
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipGraphExecDestroy(again));
	CHECK(hipGraphDestroy(g));
	CHECK(hipGraphDestroy(h));
	CHECK(hipFree(z));
}

/* Events recorded and waited for by nodes order a stream beside the graph. */
static void events(void)
{
	static float back[N];
	hipGraphNode_t up, record, kernel, wait;
	hipGraphExec_t e;
	hipEvent_t ready, go;
	hipGraph_t g;
	struct kernel k;

	CHECK(hipEventCreate(&ready));
	CHECK(hipEventCreate(&go));
	CHECK(hipGraphCreate(&g, 0));
	CHECK(hipGraphAddEventWaitNode(&wait, g, NULL, 0, go));
	CHECK(hipGraphAddMemcpyNode1D(&up, g, &wait, 1, x, in, SIZE, hipMemcpyHostToDevice));
	CHECK(hipGraphAddKernelNode(&kernel, g, &up, 1, with(&k, y, x, 8)));
	CHECK(hipGraphAddEventRecordNode(&record, g, &kernel, 1, ready));
	CHECK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
	CHECK(hipEventRecord(go, s1));
	CHECK(hipGraphLaunch(e, s2));
	CHECK(hipStreamWaitEvent(s1, ready, 0));
	CHECK(hipMemcpyAsync(back, y, SIZE, hipMemcpyDeviceToHost, s1));
	CHECK(hipStreamSynchronize(s1));
	check("events", back, in, 8);
	CHECK(hipStreamSynchronize(s2));
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipGraphDestroy(g));
	CHECK(hipEventDestroy(ready));
	CHECK(hipEventDestroy(go));
}

int main(int argc, char **argv)
{
	uint32_t seed = app_seed(argc, argv, 1, 1);

	app_begin(argv[0], 1);
	app_numbers(in, N, seed);
	app_numbers(other, N, seed + 1);
	CHECK(hipMalloc(&x, SIZE));
	CHECK(hipMalloc(&y, SIZE));
	CHECK(hipStreamCreate(&s1));
	CHECK(hipStreamCreate(&s2));
	parameters_and_clones();
	children();
	captures();
	events();
	CHECK(hipStreamDestroy(s1));
	CHECK(hipStreamDestroy(s2));
	CHECK(hipFree(x));
	CHECK(hipFree(y));
	printf("graphedit: graphs that change are right\n");
	return 0;
}
