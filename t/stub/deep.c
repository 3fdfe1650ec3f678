/* A library that uses HIP, for dl. */
int hipSetDevice(int device);
int deep(void);

int deep(void)
{
	return hipSetDevice(0);
}
