/* The kernels of isa.hip for Oclgrind. */
#define TILE 16
#define SIDE 32

__kernel void saxpy(float a, __global const float *x, __global float *y, int n)
{
	int i = get_global_id(0);

	if (i < n)
		y[i] = a * x[i] + y[i];
}

__kernel void matmul(__global const float *a, __global const float *b, __global float *c, int n)
{
	__local float as[TILE][TILE], bs[TILE][TILE];
	int x = get_local_id(0), y = get_local_id(1);
	int row = get_group_id(1) * TILE + y, col = get_group_id(0) * TILE + x;
	float sum = 0;

	for (int t = 0; t < n; t += TILE) {
		as[y][x] = a[row * n + t + x];
		bs[y][x] = b[(t + y) * n + col];
		barrier(CLK_LOCAL_MEM_FENCE);
		for (int k = 0; k < TILE; k++)
			sum += as[y][k] * bs[k][x];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	c[row * n + col] = sum;
}

__kernel void reduce(__global const float *x, __global float *sums)
{
	__local float s[256];
	int t = get_local_id(0);

	s[t] = x[get_group_id(0) * 256 + t];
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int h = 128; h > 0; h >>= 1) {
		if (t < h)
			s[t] += s[t + h];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	if (t == 0)
		sums[get_group_id(0)] = s[0];
}

__kernel void mandelbrot(__global int *out, int width, int limit)
{
	int px = get_global_id(0), py = get_global_id(1);
	float cx = px * (3.0f / width) - 2, cy = py * (3.0f / width) - 1.5f;
	float x = 0, y = 0;
	int n = 0;

	while (n < limit && x * x + y * y < 4) {
		float t = x * x - y * y + cx;
		y = 2 * x * y + cy;
		x = t;
		n++;
	}
	out[py * width + px] = n;
}

__kernel void transpose(__global const float *in, __global float *out, int n)
{
	__local float tile[SIDE][SIDE + 1];
	int lx = get_local_id(0), ly = get_local_id(1);
	int x = get_group_id(0) * SIDE + lx, y = get_group_id(1) * SIDE + ly;

	for (int j = 0; j < SIDE; j += 8)
		tile[ly + j][lx] = in[(y + j) * n + x];
	barrier(CLK_LOCAL_MEM_FENCE);
	x = get_group_id(1) * SIDE + lx;
	y = get_group_id(0) * SIDE + ly;
	for (int j = 0; j < SIDE; j += 8)
		out[(y + j) * n + x] = tile[lx][ly + j];
}
