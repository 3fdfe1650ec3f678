/* malloc and free in kernels: lists that one launch builds, another adds up and a third frees,
 * again and again, so that pieces are given out anew. */
#include <hip/hip_runtime.h>

#include "app.h"

#define LISTS 256
#define ROUNDS 6

struct node {
	node *next;
	unsigned value, pad[29];
};

__global__ void build(node **head, int n)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	head[i] = nullptr;
	for (int k = 0; k < n + i % 5; k++) {
		node *e = (node *)malloc(sizeof *e);
		if (e == nullptr)
			return;
		e->next = head[i];
		e->value = (unsigned)(i * 31 + k);
		head[i] = e;
	}
}

__global__ void add_up(node **head, unsigned *sum)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	sum[i] = 0;
	for (node *e = head[i]; e != nullptr; e = e->next)
		sum[i] += e->value;
}

__global__ void release(node **head)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	while (head[i] != nullptr) {
		node *e = head[i];
		head[i] = e->next;
		free(e);
	}
}

int main(int, char **argv)
{
	node **head;
	unsigned *sum, got[LISTS];

	app_begin(argv[0], 1);
	CHECK(hipMalloc(&head, LISTS * sizeof *head));
	CHECK(hipMalloc(&sum, sizeof got));
	for (int r = 0; r < ROUNDS; r++) {
		int n = 3 + 4 * r;
		build<<<LISTS / 64, 64>>>(head, n);
		add_up<<<LISTS / 64, 64>>>(head, sum);
		release<<<LISTS / 64, 64>>>(head);
		CHECK(hipMemcpy(got, sum, sizeof got, hipMemcpyDeviceToHost));
		for (int i = 0; i < LISTS; i++) {
			unsigned want = 0;
			for (int k = 0; k < n + i % 5; k++)
				want += (unsigned)(i * 31 + k);
			if (got[i] != want)
				app_wrong("round %d: list %d adds up to %u, not %u", r, i, got[i],
					  want);
		}
	}
	CHECK(hipDeviceSynchronize());
	CHECK(hipFree(head));
	CHECK(hipFree(sum));
	printf("devmalloc: %d lists are right\n", LISTS);
	return 0;
}
