/* Memory from an HSA pool, which HIP is never told of. For C and HIP C++. */
#ifndef HRR_T_HSAPOOL_H
#define HRR_T_HSAPOOL_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include "app.h"

struct hsapool {
	hsa_agent_t agents[64];
	uint32_t count;
	int gpu; /* index of the first GPU agent, -1 */
	hsa_amd_memory_pool_t pool;
	int found;
};

static void hsapool_check(hsa_status_t s, const char *call)
{
	const char *text = NULL;

	if (s == HSA_STATUS_SUCCESS || s == HSA_STATUS_INFO_BREAK)
		return;
	if (hsa_status_string(s, &text) != HSA_STATUS_SUCCESS || !text)
		text = "no text";
	app_wrong("%s: 0x%x %s", call, (unsigned)s, text);
}
#define HSA(call) hsapool_check((call), #call)

static hsa_status_t hsapool_agent(hsa_agent_t agent, void *to)
{
	struct hsapool *p = (struct hsapool *)to;
	hsa_device_type_t type;

	HSA(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
	if (p->count == sizeof p->agents / sizeof *p->agents)
		return HSA_STATUS_SUCCESS;
	if (type == HSA_DEVICE_TYPE_GPU && p->gpu < 0)
		p->gpu = (int)p->count;
	p->agents[p->count++] = agent;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t hsapool_pool(hsa_amd_memory_pool_t pool, void *to)
{
	struct hsapool *p = (struct hsapool *)to;
	hsa_amd_segment_t segment;
	uint32_t flags = 0;
	bool can = false;

	HSA(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
	if (segment != HSA_AMD_SEGMENT_GLOBAL)
		return HSA_STATUS_SUCCESS;
	HSA(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
	HSA(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED,
					 &can));
	if (!can || !(flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED))
		return HSA_STATUS_SUCCESS;
	p->pool = pool;
	p->found = 1;
	return HSA_STATUS_INFO_BREAK;
}

/* hsa_init, a pool of the first GPU, `size` bytes of it open to every agent.
 * Prints "segment BASE SIZE", what a sidecar needs. */
static void *hsapool_get(size_t size)
{
	struct hsapool p;
	void *base = NULL;

	memset(&p, 0, sizeof p);
	p.gpu = -1;
	HSA(hsa_init());
	HSA(hsa_iterate_agents(hsapool_agent, &p));
	if (p.gpu < 0)
		app_quit(2, "no HSA GPU agent");
	HSA(hsa_amd_agent_iterate_memory_pools(p.agents[p.gpu], hsapool_pool, &p));
	if (!p.found)
		app_quit(77, "the GPU has no coarse-grained pool to allocate from");
	HSA(hsa_amd_memory_pool_allocate(p.pool, size, 0, &base));
	HSA(hsa_amd_agents_allow_access(p.count, p.agents, NULL, base));
	printf("segment 0x%llx %zu\n", (unsigned long long)(uintptr_t)base, size);
	fflush(stdout);
	return base;
}

static void hsapool_put(void *base)
{
	HSA(hsa_amd_memory_pool_free(base));
	HSA(hsa_shut_down());
}

#endif
