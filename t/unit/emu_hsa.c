#include "t/unit/emu_fixture.h"

#include "lib/emu/runtime/hsa.h"

/* HSA: counted start, agents, pools, grants that are enforced. */

static void *lib;
static hsa_handle cpu, gpu[2], pool[2], host_pool;
static unsigned n_gpu;

#define HSA(name, ...)                         \
	({                                     \
		__typeof__(&emu_##name) fn_;   \
		void *p_ = dlsym(lib, #name);  \
		memcpy(&fn_, &p_, sizeof fn_); \
		fn_(__VA_ARGS__);              \
	})

static hsa_status_t agent(hsa_handle a, void *data)
{
	uint32_t type = 9;

	(void)data;
	is(HSA(hsa_agent_get_info, a, 17, &type), HSA_SUCCESS, "device type");
	if (type == 0)
		cpu = a;
	else if (n_gpu < 2)
		gpu[n_gpu++] = a;
	return HSA_SUCCESS;
}

static hsa_status_t first_pool(hsa_handle p, void *data)
{
	uint32_t segment = 9;
	bool may = false;

	HSA(hsa_amd_memory_pool_get_info, p, 0, &segment);
	HSA(hsa_amd_memory_pool_get_info, p, 5, &may);
	if (segment != 0 || !may)
		return HSA_SUCCESS;
	*(hsa_handle *)data = p;
	return HSA_BREAK;
}

int main(void)
{
	char name[64] = "", b[16] = "0123456789abcde", c[16] = "";
	char *p = NULL, *h = NULL;
	const char *text = NULL;

	setenv("HRR_EMU_DEVICES", "2", 1);
	lib = dlopen(emu_built("lib/hrr/emu/libhsa-runtime64.so.1"), RTLD_NOW);
	if (!emu_open() || !ok(lib != NULL, "libhsa-runtime64.so.1 loads"))
		return done_testing();
	is(HSA(hsa_iterate_agents, agent, NULL), HSA_NOT_INITIALIZED, "before hsa_init");
	is(HSA(hsa_shut_down), HSA_NOT_INITIALIZED, "nothing to shut down");
	is(HSA(hsa_init), HSA_SUCCESS, "hsa_init");
	is(HSA(hsa_init), HSA_SUCCESS, "twice");
	is(HSA(hsa_shut_down), HSA_SUCCESS, "and down once");
	is(HSA(hsa_iterate_agents, agent, NULL), HSA_SUCCESS, "agents");
	is(n_gpu, 2, "two devices");
	is(HSA(hsa_agent_get_info, gpu[0], 0, name), HSA_SUCCESS, "name");
	is_str(name, "gfx90a", "is the architecture");
	is(HSA(hsa_amd_agent_iterate_memory_pools, gpu[0], first_pool, &pool[0]), HSA_BREAK,
	   "pool of device 0");
	is(HSA(hsa_amd_agent_iterate_memory_pools, gpu[1], first_pool, &pool[1]), HSA_BREAK,
	   "pool of device 1");
	is(HSA(hsa_amd_agent_iterate_memory_pools, cpu, first_pool, &host_pool), HSA_BREAK,
	   "pool of the CPU");
	is(HSA(hsa_amd_agent_iterate_memory_pools, (hsa_handle){7}, first_pool, &pool[1]),
	   HSA_INVALID_AGENT, "no such agent");
	is(HSA(hsa_status_string, HSA_INVALID_AGENT, &text), HSA_SUCCESS, "text");
	ok(strncmp(text, "HSA_STATUS_ERROR_INVALID_AGENT", 30) == 0, "of a status");

	is(HSA(hsa_amd_memory_pool_allocate, pool[1], 100, 0, (void **)&p), HSA_SUCCESS,
	   "memory of device 1");
	is(HSA(hsa_memory_copy, p, b, 16), HSA_SUCCESS, "hsa_memory_copy");
	is(HIP(hipMemcpy, c, p, 16, hipMemcpyDeviceToHost), hipErrorIllegalAddress,
	   "a copy by device 0: not shared");
	ok(strstr(last_fault, "which device 0 may not access") != NULL, "said: %s", last_fault);
	is(HIP(hipDeviceReset), hipSuccess, "reset");
	is(HSA(hsa_amd_agents_allow_access, 1, &gpu[0], NULL, p), HSA_SUCCESS, "share it");
	is(HIP(hipMemcpy, c, p, 16, hipMemcpyDeviceToHost), hipSuccess, "then it may");
	ok(memcmp(b, c, 16) == 0, "right bytes");
	is(HSA(hsa_amd_agents_allow_access, 1, &gpu[1], NULL, p), HSA_SUCCESS, "only its owner");
	is(HIP(hipMemcpy, c, p, 16, hipMemcpyDeviceToHost), hipErrorIllegalAddress, "again not");
	is(HIP(hipDeviceReset), hipSuccess, "reset");
	is(HSA(hsa_amd_memory_fill, p, 0x01020304, 4), HSA_SUCCESS, "fill");
	is(HSA(hsa_memory_copy, c, p, 16), HSA_SUCCESS, "read");
	ok(c[0] == 4 && c[3] == 1 && c[15] == 1, "words");
	struct {
		uint32_t size, type;
		void *agent, *host;
		size_t bytes;
		void *user;
		hsa_handle owner;
		uint32_t flags;
	} info = {.size = sizeof info};
	is(HSA(hsa_amd_pointer_info, p + 50, &info, NULL, NULL, NULL), HSA_SUCCESS, "pointer info");
	ok(info.agent == p && info.bytes == 4096 && info.owner.handle == gpu[1].handle,
	   "base, size, owner");
	is(HSA(hsa_amd_memory_pool_free, p + 16), HSA_INVALID_ALLOCATION, "interior free");
	is(HSA(hsa_amd_memory_pool_free, p), HSA_SUCCESS, "free");
	is(HSA(hsa_amd_memory_pool_free, p), HSA_INVALID_ALLOCATION, "once");
	is(HIP(hipMemcpy, c, p, 16, hipMemcpyDeviceToHost), hipErrorIllegalAddress, "gone");
	ok(strstr(last_fault, "hsa_amd_memory_pool_free") != NULL, "said: %s", last_fault);
	is(HIP(hipDeviceReset), hipSuccess, "reset");

	is(HSA(hsa_amd_memory_pool_allocate, host_pool, 64, 0, (void **)&h), HSA_SUCCESS,
	   "host memory");
	h[3] = 9;
	is(HIP(hipMemcpy, c, h, 16, hipMemcpyDefault), hipSuccess, "copied as host memory");
	is(c[3], 9, "right bytes");
	is(HSA(hsa_amd_memory_pool_free, h), HSA_SUCCESS, "free");
	is(HSA(hsa_shut_down), HSA_SUCCESS, "shut down");
	is(HSA(hsa_amd_memory_pool_free, h), HSA_NOT_INITIALIZED, "after the last");
	return done_testing();
}
