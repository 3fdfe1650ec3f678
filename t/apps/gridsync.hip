/* All workgroups of a grid meet, round by round (cooperative groups): each time every one of them
 * sees what all others wrote before. Without a cooperative launch the grid says it cannot. */
#include <hip/hip_runtime.h>
/* needs it before */
#include <hip/hip_cooperative_groups.h>

#include "app.h"

#define GROUPS 12
#define ROUNDS 20

/* A ring of cells: in each round a cell becomes the sum of its neighbours. */
__global__ void relax(unsigned *from, unsigned *to, int n, int *valid)
{
	cooperative_groups::grid_group g = cooperative_groups::this_grid();
	int i = (int)g.thread_rank();

	if (i == 0)
		*valid = g.is_valid();
	if (!g.is_valid())
		return;
	for (int r = 0; r < ROUNDS; r++) {
		to[i] = from[(i + 1) % n] + from[(i + n - 1) % n];
		g.sync();
		unsigned *t = from;
		from = to;
		to = t;
	}
}

int main(int, char **argv)
{
	enum { N = GROUPS * 128 };
	static unsigned in[N], host[2][N], got[N];
	unsigned *a, *b;
	int *valid, v = -1, n = N;

	app_begin(argv[0], 1);
	CHECK(hipMalloc(&a, sizeof in));
	CHECK(hipMalloc(&b, sizeof in));
	CHECK(hipMalloc(&valid, sizeof v));
	for (int i = 0; i < N; i++)
		in[i] = host[0][i] = (unsigned)i * 2654435761u >> 7;
	CHECK(hipMemcpy(a, in, sizeof in, hipMemcpyHostToDevice));
	for (int r = 0; r < ROUNDS; r++)
		for (int i = 0; i < N; i++)
			host[1 - r % 2][i] =
			    host[r % 2][(i + 1) % N] + host[r % 2][(i + N - 1) % N];

	void *args[] = {&a, &b, &n, &valid};
	CHECK(hipLaunchCooperativeKernel((const void *)relax, dim3(GROUPS), dim3(N / GROUPS), args,
					 0, 0));
	CHECK(hipMemcpy(got, a, sizeof got, hipMemcpyDeviceToHost));
	CHECK(hipMemcpy(&v, valid, sizeof v, hipMemcpyDeviceToHost));
	if (v != 1)
		app_wrong("a cooperative launch whose grid is not valid");
	for (int i = 0; i < N; i++)
		if (got[i] != host[ROUNDS % 2][i])
			app_wrong("cell %d is %u, not %u", i, got[i], host[ROUNDS % 2][i]);
	relax<<<GROUPS, N / GROUPS>>>(a, b, n, valid);
	CHECK(hipMemcpy(&v, valid, sizeof v, hipMemcpyDeviceToHost));
	if (v != 0)
		app_wrong("an ordinary launch whose grid is valid");
	CHECK(hipFree(a));
	CHECK(hipFree(b));
	CHECK(hipFree(valid));
	printf("gridsync: %d rounds are right\n", ROUNDS);
	return 0;
}
