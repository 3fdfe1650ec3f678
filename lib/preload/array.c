#include "lib/hip/array_format.h"
#include "lib/preload/preload.h"

#include <stdlib.h>

/*
 * HIP arrays: how many bytes an element has, since copies described by hipMemcpy3DParms
 * count in elements where an array takes part. Their memory has no address.
 */
struct array {
	struct array *next;
	uint64_t handle, element;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct array *arrays;

void hrr_array_forget(void)
{
	pthread_mutex_init(&lock, NULL);
}

static struct array **find(uint64_t handle)
{
	struct array **p = &arrays;

	while (*p != NULL && (*p)->handle != handle)
		p = &(*p)->next;
	return p;
}

uint64_t hrr_array_element(uint64_t handle)
{
	pthread_mutex_lock(&lock);
	const struct array *a = *find(handle);
	uint64_t n = a != NULL ? a->element : 0;
	pthread_mutex_unlock(&lock);
	return n;
}

static void made(const struct hrr_call *c, uint64_t element)
{
	uint64_t handle = *(const uint64_t *)(uintptr_t)c->a[0];

	pthread_mutex_lock(&lock);
	struct array **p = find(handle), *a = *p;
	if (a == NULL && (a = calloc(1, sizeof *a)) != NULL)
		*p = a;
	if (a != NULL) {
		a->handle = handle;
		a->element = element;
	}
	pthread_mutex_unlock(&lock);
}

/* The second argument, which calls that free do not have. */
static const void *described(const struct hrr_call *c)
{
	return (const void *)(uintptr_t)c->a[1];
}

void hrr_array_leave(struct hrr_call *c)
{
	if (!hrr_ok(c))
		return;
	switch (c->api) {
	case HRR_API_hipMallocArray:
	case HRR_API_hipMalloc3DArray: {
		const struct hipChannelFormatDesc *d = described(c);
		made(c, (uint64_t)(d->x + d->y + d->z + d->w) / 8);
		break;
	}
	case HRR_API_hipArrayCreate: {
		const struct HIP_ARRAY_DESCRIPTOR *d = described(c);
		made(c, hrr_array_format_bytes(d->Format) * d->NumChannels);
		break;
	}
	case HRR_API_hipArray3DCreate: {
		const struct HIP_ARRAY3D_DESCRIPTOR *d = described(c);
		made(c, hrr_array_format_bytes(d->Format) * d->NumChannels);
		break;
	}
	case HRR_API_hipFreeArray:
	case HRR_API_hipArrayDestroy: {
		pthread_mutex_lock(&lock);
		struct array **at = find(c->a[0]), *a = *at;
		if (a != NULL)
			*at = a->next;
		pthread_mutex_unlock(&lock);
		free(a);
		break;
	}
	default:
		break;
	}
}
