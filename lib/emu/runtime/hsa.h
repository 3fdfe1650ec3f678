#ifndef HRR_EMU_HSA_H
#define HRR_EMU_HSA_H

#include "lib/emu/runtime/rt.h"

/*
 * The part of the HSA run time's ABI that memory needs: names and numbers as in the
 * HSA Runtime Programmer's Reference and AMD's extensions to it. Agents: one CPU
 * and each device. Pools: the CPU's fine-grained, kernarg and coarse-grained ones, a
 * device's own memory and its LDS (not to be allocated from).
 */
typedef int hsa_status_t;
typedef struct {
	uint64_t handle;
} hsa_handle;

enum {
	HSA_SUCCESS = 0,
	HSA_BREAK = 1,
	HSA_ERROR = 0x1000,
	HSA_INVALID_ARGUMENT = 0x1001,
	HSA_INVALID_ALLOCATION = 0x1003,
	HSA_INVALID_AGENT = 0x1004,
	HSA_INVALID_REGION = 0x1005,
	HSA_OUT_OF_RESOURCES = 0x1008,
	HSA_NOT_INITIALIZED = 0x100b,
	HSA_REFCOUNT_OVERFLOW = 0x100c,
	HSA_INVALID_MEMORY_POOL = 40,
};

#define HSA_FINE 2u
#define HSA_COARSE 4u
#define HSA_KERNARG 1u

struct hsa_pool {
	hsa_handle handle;
	int device; /* -1: the CPU's */
	unsigned segment, flags;
	bool allocatable;
};

/* Whether hsa_init came more often than hsa_shut_down; also starts the run time. */
bool hsa_ready(void);
/* -1: the CPU; -2: none. */
int hsa_agent_device(hsa_handle agent);
/* Pools of an agent by index, or of a handle; NULL when there is none. */
const struct hsa_pool *hsa_agent_pool(int device, unsigned index);
const struct hsa_pool *hsa_pool_get(hsa_handle handle);
hsa_handle hsa_agent_handle(int device);

#define HSA_API __attribute__((visibility("default")))

HSA_API hsa_status_t emu_hsa_init(void);
HSA_API hsa_status_t emu_hsa_shut_down(void);
HSA_API hsa_status_t emu_hsa_status_string(hsa_status_t status, const char **status_string);
HSA_API hsa_status_t emu_hsa_system_get_info(int attribute, void *value);
HSA_API hsa_status_t emu_hsa_iterate_agents(hsa_status_t (*fn)(hsa_handle agent, void *data),
					    void *data);
HSA_API hsa_status_t emu_hsa_agent_get_info(hsa_handle agent, int attribute, void *value);
HSA_API hsa_status_t emu_hsa_agent_iterate_regions(
    hsa_handle agent, hsa_status_t (*fn)(hsa_handle region, void *data), void *data);
HSA_API hsa_status_t emu_hsa_region_get_info(hsa_handle region, int attribute, void *value);
HSA_API hsa_status_t emu_hsa_memory_allocate(hsa_handle region, size_t size, void **ptr);
HSA_API hsa_status_t emu_hsa_memory_free(void *ptr);
HSA_API hsa_status_t emu_hsa_memory_copy(void *dst, const void *src, size_t size);
HSA_API hsa_status_t emu_hsa_memory_register(void *ptr, size_t size);
HSA_API hsa_status_t emu_hsa_memory_deregister(void *ptr, size_t size);
HSA_API hsa_status_t emu_hsa_memory_assign_agent(void *ptr, hsa_handle agent, int access);
HSA_API hsa_status_t emu_hsa_amd_agent_iterate_memory_pools(
    hsa_handle agent, hsa_status_t (*fn)(hsa_handle pool, void *data), void *data);
HSA_API hsa_status_t emu_hsa_amd_memory_pool_get_info(hsa_handle pool, int attribute, void *value);
HSA_API hsa_status_t emu_hsa_amd_memory_pool_allocate(hsa_handle pool, size_t size, uint32_t flags,
						      void **ptr);
HSA_API hsa_status_t emu_hsa_amd_memory_pool_free(void *ptr);
HSA_API hsa_status_t emu_hsa_amd_agent_memory_pool_get_info(hsa_handle agent, hsa_handle pool,
							    int attribute, void *value);
HSA_API hsa_status_t emu_hsa_amd_agents_allow_access(uint32_t num_agents, const hsa_handle *agents,
						     const uint32_t *flags, const void *ptr);
HSA_API hsa_status_t emu_hsa_amd_memory_fill(void *ptr, uint32_t value, size_t count);
HSA_API hsa_status_t emu_hsa_amd_memory_lock(void *host_ptr, size_t size, hsa_handle *agents,
					     int num_agent, void **agent_ptr);
HSA_API hsa_status_t emu_hsa_amd_memory_unlock(void *host_ptr);
HSA_API hsa_status_t emu_hsa_amd_pointer_info(const void *ptr, void *info, void *(*alloc)(size_t),
					      uint32_t *num_agents, hsa_handle **agents);
HSA_API hsa_status_t emu_hsa_amd_pointer_info_set_userdata(const void *ptr, void *userdata);

#endif
