#include "lib/emu/runtime/hsa.h"

#include <string.h>

#include "lib/emu/runtime/copy.h"
#include "lib/emu/runtime/mem.h"

static hsa_status_t allocate(const struct hsa_pool *p, size_t size, const char *api, void **ptr)
{
	struct range *r;

	if (ptr == NULL || size == 0)
		return HSA_INVALID_ARGUMENT;
	if (!p->allocatable)
		return HSA_INVALID_ALLOCATION;
	/* The granule is a page, and a pool hands out whole ones. */
	if (size > SIZE_MAX - EMU_PAGE)
		return HSA_OUT_OF_RESOURCES;
	size = (size + EMU_PAGE - 1) / EMU_PAGE * EMU_PAGE;
	rt_lock();
	hipError_t e =
	    mem_new(p->device < 0 ? RANGE_HSA_HOST : RANGE_HSA, p->device, size, p->flags, api, &r);
	if (e == hipSuccess) {
		r->shared = false;
		*ptr = (void *)(uintptr_t)r->base;
	}
	rt_unlock();
	return e == hipSuccess ? HSA_SUCCESS : HSA_OUT_OF_RESOURCES;
}

static hsa_status_t release(void *ptr, const char *api)
{
	hsa_status_t s = HSA_INVALID_ALLOCATION;

	if (!hsa_ready())
		return HSA_NOT_INITIALIZED;
	if (ptr == NULL)
		return HSA_SUCCESS;
	rt_lock();
	sched_quiesce();
	struct range *r = mem_at(ptr);
	if (r != NULL && (r->kind == RANGE_HSA || r->kind == RANGE_HSA_HOST)) {
		mem_delete(r, api);
		s = HSA_SUCCESS;
	}
	rt_unlock();
	return s;
}

hsa_status_t emu_hsa_amd_memory_pool_allocate(hsa_handle pool, size_t size, uint32_t flags,
					      void **ptr)
{
	const struct hsa_pool *p = hsa_pool_get(pool);

	(void)flags;
	if (!hsa_ready())
		return HSA_NOT_INITIALIZED;
	if (p == NULL)
		return HSA_INVALID_MEMORY_POOL;
	return allocate(p, size, "hsa_amd_memory_pool_allocate", ptr);
}

hsa_status_t emu_hsa_amd_memory_pool_free(void *ptr)
{
	return release(ptr, "hsa_amd_memory_pool_free");
}

hsa_status_t emu_hsa_memory_allocate(hsa_handle region, size_t size, void **ptr)
{
	const struct hsa_pool *p = hsa_pool_get(region);

	if (!hsa_ready())
		return HSA_NOT_INITIALIZED;
	return p == NULL ? HSA_INVALID_REGION : allocate(p, size, "hsa_memory_allocate", ptr);
}

hsa_status_t emu_hsa_memory_free(void *ptr)
{
	return release(ptr, "hsa_memory_free");
}

hsa_status_t emu_hsa_amd_agents_allow_access(uint32_t num_agents, const hsa_handle *agents,
					     const uint32_t *flags, const void *ptr)
{
	uint32_t mask = 0;

	if (!hsa_ready())
		return HSA_NOT_INITIALIZED;
	if (num_agents == 0 || agents == NULL || flags != NULL || ptr == NULL)
		return HSA_INVALID_ARGUMENT;
	for (uint32_t i = 0; i < num_agents; i++) {
		int d = hsa_agent_device(agents[i]);
		if (d == -2)
			return HSA_INVALID_AGENT;
		if (d >= 0)
			mask |= 1u << d;
	}
	hsa_status_t s = HSA_INVALID_ALLOCATION;
	rt_lock();
	sched_quiesce();
	struct range *r = range_find((uintptr_t)ptr);
	if (r != NULL) {
		/* Only those listed, and the owner; HIP's own memory is not taken back. */
		if (r->kind == RANGE_HSA || r->kind == RANGE_HSA_HOST)
			r->access = mask | (r->device >= 0 ? 1u << r->device : 0);
		else
			r->access |= mask;
		s = HSA_SUCCESS;
	}
	rt_unlock();
	return s;
}

hsa_status_t emu_hsa_memory_copy(void *dst, const void *src, size_t size)
{
	uint64_t bad;

	if (!hsa_ready())
		return HSA_NOT_INITIALIZED;
	if (dst == NULL || src == NULL)
		return HSA_INVALID_ARGUMENT;
	return mem_move(-1, (uintptr_t)dst, (uintptr_t)src, size, &bad) == 0 ? HSA_SUCCESS
									     : HSA_INVALID_ARGUMENT;
}

hsa_status_t emu_hsa_amd_memory_fill(void *ptr, uint32_t value, size_t count)
{
	if (!hsa_ready())
		return HSA_NOT_INITIALIZED;
	if (ptr == NULL || (uintptr_t)ptr % 4 != 0)
		return HSA_INVALID_ARGUMENT;
	struct set_op s = {.dst = (uintptr_t)ptr,
			   .value = value,
			   .elem = 4,
			   .width = count,
			   .height = 1,
			   .depth = 1};
	if (set_check(&s) != hipSuccess || set_run(&s, -1) != hipSuccess)
		return HSA_INVALID_ALLOCATION;
	return HSA_SUCCESS;
}

/* --- registration ---------------------------------------------------------------------- */

hsa_status_t emu_hsa_memory_register(void *ptr, size_t size)
{
	/* A hint in the full profile, nothing else. */
	if (!hsa_ready())
		return HSA_NOT_INITIALIZED;
	return ptr != NULL || size == 0 ? HSA_SUCCESS : HSA_INVALID_ARGUMENT;
}

hsa_status_t emu_hsa_memory_deregister(void *ptr, size_t size)
{
	(void)ptr;
	(void)size;
	return hsa_ready() ? HSA_SUCCESS : HSA_NOT_INITIALIZED;
}

hsa_status_t emu_hsa_memory_assign_agent(void *ptr, hsa_handle agent, int access)
{
	(void)access;
	if (!hsa_ready())
		return HSA_NOT_INITIALIZED;
	if (hsa_agent_device(agent) == -2)
		return HSA_INVALID_AGENT;
	return ptr != NULL ? HSA_SUCCESS : HSA_INVALID_ARGUMENT;
}

hsa_status_t emu_hsa_amd_memory_lock(void *host_ptr, size_t size, hsa_handle *agents, int num_agent,
				     void **agent_ptr)
{
	(void)agents;
	(void)num_agent;
	if (!hsa_ready())
		return HSA_NOT_INITIALIZED;
	if (host_ptr == NULL || size == 0 || agent_ptr == NULL)
		return HSA_INVALID_ARGUMENT;
	*agent_ptr = NULL;
	if (emu_hipHostRegister(host_ptr, size, 0) != hipSuccess)
		return HSA_OUT_OF_RESOURCES;
	*agent_ptr = host_ptr;
	return HSA_SUCCESS;
}

hsa_status_t emu_hsa_amd_memory_unlock(void *host_ptr)
{
	if (!hsa_ready())
		return HSA_NOT_INITIALIZED;
	return emu_hipHostUnregister(host_ptr) == hipSuccess ? HSA_SUCCESS : HSA_INVALID_ARGUMENT;
}

struct pointer_info {
	uint32_t size, type;
	void *agent_base, *host_base;
	size_t bytes;
	void *userdata;
	hsa_handle owner;
	uint32_t flags;
};

hsa_status_t emu_hsa_amd_pointer_info(const void *ptr, void *info, void *(*alloc)(size_t),
				      uint32_t *num_agents, hsa_handle **agents)
{
	enum { UNKNOWN, HSA, LOCKED };
	struct pointer_info out = {.size = sizeof out, .type = UNKNOWN};
	uint32_t room, access = 0;

	if (!hsa_ready())
		return HSA_NOT_INITIALIZED;
	if (ptr == NULL || info == NULL)
		return HSA_INVALID_ARGUMENT;
	memcpy(&room, info, sizeof room);
	if (room == 0)
		return HSA_INVALID_ARGUMENT;
	rt_lock();
	const struct range *r = range_find((uintptr_t)ptr);
	if (r != NULL) {
		bool host = r->device < 0;
		out.type = r->kind == RANGE_REGISTERED ? LOCKED : HSA;
		out.agent_base = (void *)(uintptr_t)r->base;
		out.host_base = host || r->kind == RANGE_MANAGED ? out.agent_base : NULL;
		out.bytes = r->size;
		out.owner = hsa_agent_handle(r->device);
		out.flags = r->kind == RANGE_HSA || r->kind == RANGE_HSA_HOST ? r->flags
			    : host					      ? HSA_FINE
									      : HSA_COARSE;
		for (int d = 0; d < rt.n_agents; d++)
			if (range_allows(r, d))
				access |= 1u << d;
	}
	rt_unlock();
	if (room < out.size)
		out.size = room;
	memcpy(info, &out, out.size);
	if (alloc != NULL && num_agents != NULL && agents != NULL) {
		uint32_t n = (uint32_t)__builtin_popcount(access);
		hsa_handle *list = n > 0 ? alloc(n * sizeof *list) : NULL;
		if (n > 0 && list == NULL)
			return HSA_OUT_OF_RESOURCES;
		*num_agents = n;
		*agents = list;
		for (int d = 0; d < rt.n_agents; d++)
			if (access >> d & 1)
				*list++ = hsa_agent_handle(d);
	}
	return HSA_SUCCESS;
}

hsa_status_t emu_hsa_amd_pointer_info_set_userdata(const void *ptr, void *userdata)
{
	(void)ptr;
	(void)userdata;
	/* Nothing here keeps it: say so rather than forget it silently. */
	return hsa_ready() ? HSA_ERROR : HSA_NOT_INITIALIZED;
}
