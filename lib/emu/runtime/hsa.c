#include "lib/emu/runtime/hsa.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/emu/runtime/device.h"
#include "lib/emu/runtime/visible.h"

#define AGENT 0x1000u /* handles: AGENT the CPU, AGENT + 1 + d device d */
#define POOL 0x2000u
#define POOLS_PER_AGENT 4u

static unsigned inits; /* under rt.lock */

bool hsa_ready(void)
{
	rt_lock();
	bool yes = inits > 0;
	rt_unlock();
	return yes;
}

hsa_status_t emu_hsa_init(void)
{
	hsa_status_t s = HSA_SUCCESS;

	emu_enter(EMU_ANY); /* reads the settings; no device is no error here */
	rt_lock();
	if (inits == UINT32_MAX)
		s = HSA_REFCOUNT_OVERFLOW;
	else
		inits++;
	rt_unlock();
	return s;
}

hsa_status_t emu_hsa_shut_down(void)
{
	hsa_status_t s = HSA_SUCCESS;

	rt_lock();
	if (inits == 0)
		s = HSA_NOT_INITIALIZED;
	else
		inits--;
	rt_unlock();
	return s;
}

hsa_status_t emu_hsa_status_string(hsa_status_t status, const char **status_string)
{
	static const struct {
		hsa_status_t s;
		const char *text;
	} texts[] = {
	    {HSA_SUCCESS, "HSA_STATUS_SUCCESS: The function has been executed successfully."},
	    {HSA_BREAK, "HSA_STATUS_INFO_BREAK: A traversal over a list of elements has been "
			"interrupted by the application before completing."},
	    {HSA_ERROR, "HSA_STATUS_ERROR: A generic error has occurred."},
	    {HSA_INVALID_ARGUMENT, "HSA_STATUS_ERROR_INVALID_ARGUMENT: One of the actual arguments "
				   "does not meet a precondition stated in the documentation of "
				   "the corresponding formal argument."},
	    {HSA_INVALID_ALLOCATION,
	     "HSA_STATUS_ERROR_INVALID_ALLOCATION: The requested allocation is not valid."},
	    {HSA_INVALID_AGENT, "HSA_STATUS_ERROR_INVALID_AGENT: The agent is invalid."},
	    {HSA_INVALID_REGION, "HSA_STATUS_ERROR_INVALID_REGION: The memory region is invalid."},
	    {HSA_OUT_OF_RESOURCES,
	     "HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary "
	     "resources. This error may also occur when the core runtime library needs to spawn "
	     "threads or create internal OS-specific events."},
	    {HSA_NOT_INITIALIZED, "HSA_STATUS_ERROR_NOT_INITIALIZED: An API other than hsa_init "
				  "has been invoked while the reference count of the HSA runtime "
				  "is zero."},
	    {HSA_REFCOUNT_OVERFLOW,
	     "HSA_STATUS_ERROR_REFCOUNT_OVERFLOW: The maximum reference count for the object has "
	     "been reached."},
	    {HSA_INVALID_MEMORY_POOL,
	     "HSA_STATUS_ERROR_INVALID_MEMORY_POOL: The memory pool is invalid."}};

	if (status_string == NULL)
		return HSA_INVALID_ARGUMENT;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i].s == status) {
			*status_string = texts[i].text;
			return HSA_SUCCESS;
		}
	*status_string = NULL;
	return HSA_INVALID_ARGUMENT;
}

static hsa_status_t u16(void *value, uint16_t v)
{
	memcpy(value, &v, sizeof v);
	return HSA_SUCCESS;
}

static hsa_status_t u32(void *value, uint32_t v)
{
	memcpy(value, &v, sizeof v);
	return HSA_SUCCESS;
}

static hsa_status_t u64(void *value, uint64_t v)
{
	memcpy(value, &v, sizeof v);
	return HSA_SUCCESS;
}

static hsa_status_t text(void *value, size_t room, const char *s)
{
	memset(value, 0, room);
	memcpy(value, s, strlen(s) < room ? strlen(s) : room - 1);
	return HSA_SUCCESS;
}

hsa_status_t emu_hsa_system_get_info(int attribute, void *value)
{
	if (!hsa_ready())
		return HSA_NOT_INITIALIZED;
	if (value == NULL)
		return HSA_INVALID_ARGUMENT;
	switch (attribute) {
	case 0: /* version major, minor */
	case 1:
		return u16(value, 1);
	case 2: /* timestamp */
		return u64(value, rt_now());
	case 3: /* its frequency */
		return u64(value, 1000000000u);
	case 4: /* longest signal wait */
		return u64(value, UINT64_MAX);
	case 5: /* little endian */
		return u32(value, 0);
	case 6: /* large machine model */
		return u32(value, 1);
	case 7: /* extensions */
		memset(value, 0, 128);
		return HSA_SUCCESS;
	case 0x201: /* SVM attributes */
	case 0x202:
		memset(value, 0, 1);
		return HSA_SUCCESS;
	}
	return HSA_INVALID_ARGUMENT;
}

/* --- agents ------------------------------------------------------------------------- */

hsa_handle hsa_agent_handle(int device)
{
	return (hsa_handle){AGENT + (uint64_t)(device + 1)};
}

int hsa_agent_device(hsa_handle agent)
{
	if (agent.handle < AGENT || agent.handle > AGENT + (uint64_t)rt.n_agents)
		return -2;
	return (int)(agent.handle - AGENT) - 1;
}

hsa_status_t emu_hsa_iterate_agents(hsa_status_t (*fn)(hsa_handle agent, void *data), void *data)
{
	if (!hsa_ready())
		return HSA_NOT_INITIALIZED;
	if (fn == NULL)
		return HSA_INVALID_ARGUMENT;
	for (int i = -1; i < rt.n_agents; i++) {
		hsa_status_t s = fn(hsa_agent_handle(i < 0 ? -1 : rt.agents[i]), data);
		if (s != HSA_SUCCESS)
			return s;
	}
	return HSA_SUCCESS;
}

static hsa_status_t gpu_info(int attribute, void *value, int device)
{
	const struct arch_info *a = arch_info(rt_arch());
	const uint16_t dims[3] = {1024, 1024, 1024};
	const uint32_t grid[3] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};

	switch (attribute) {
	case 0: /* name */
		return text(value, 64, isa_arch_name(rt_arch()));
	case 2: /* feature: kernel dispatch */
		return u32(value, 1);
	case 6:
		return u32(value, (uint32_t)a->wave_size);
	case 7:
		memcpy(value, dims, sizeof dims);
		return HSA_SUCCESS;
	case 8:
		return u32(value, 1024);
	case 9:
		memcpy(value, grid, sizeof grid);
		return HSA_SUCCESS;
	case 10:
		return u32(value, UINT32_MAX);
	case 12: /* queues: none can be made */
	case 13:
	case 14:
		return u32(value, 0);
	case 17: /* device: GPU */
		return u32(value, 1);
	case 0xa001:
		return u32(value, 64);
	case 0xa002:
		return u32(value, (uint32_t)a->cus);
	case 0xa003:
		return u32(value, (uint32_t)a->clock_khz / 1000);
	case 0xa006: /* bus, device, function */
		return u32(value, (uint32_t)(rt.dev[device].id + 1) << 8);
	case 0xa007:
		return u32(value, (uint32_t)a->bus_bits);
	case 0xa008:
		return u32(value, (uint32_t)a->memory_clock_khz / 1000);
	case 0xa009:
		return text(value, 64, a->name);
	case 0xa00a:
		return u32(value, (uint32_t)a->waves_per_cu);
	case 0xa00b:
		return u32(value, 4);
	case 0xa011:
		memcpy(value, "GPU-", 4);
		visible_uuid(rt.dev[device].id, (char *)value + 4);
		return HSA_SUCCESS;
	}
	return HSA_INVALID_ARGUMENT;
}

hsa_status_t emu_hsa_agent_get_info(hsa_handle agent, int attribute, void *value)
{
	int d = hsa_agent_device(agent);

	if (!hsa_ready())
		return HSA_NOT_INITIALIZED;
	if (d == -2)
		return HSA_INVALID_AGENT;
	if (value == NULL)
		return HSA_INVALID_ARGUMENT;
	switch (attribute) { /* what both kinds have */
	case 1:		     /* vendor */
		return text(value, 64, d < 0 ? "CPU" : "AMD");
	case 3: /* machine model: large */
		return u32(value, 1);
	case 4: /* profile: full on the CPU, base on devices */
		return u32(value, d < 0);
	case 16: /* node */
	case 0xa004:
		return u32(value, d < 0 ? 0 : (uint32_t)rt.dev[d].id + 1);
	case 20: /* extensions */
		memset(value, 0, 128);
		return HSA_SUCCESS;
	case 21:
	case 22:
		return u16(value, 1);
	case 0xa00f: /* PCI domain */
		return u32(value, 0);
	}
	if (d >= 0)
		return gpu_info(attribute, value, d);
	switch (attribute) {
	case 0:
		return text(value, 64, "hrr emulation host");
	case 2: /* feature: none */
	case 6:
	case 8:
	case 17: /* device: CPU */
		return u32(value, 0);
	case 0xa009:
		return text(value, 64, "hrr emulation host");
	}
	return HSA_INVALID_ARGUMENT;
}

/* --- pools -------------------------------------------------------------------------- */

const struct hsa_pool *hsa_agent_pool(int device, unsigned index)
{
	enum { GLOBAL = 0, GROUP = 3 };
	static const struct hsa_pool cpu[] = {
	    {{POOL}, -1, GLOBAL, HSA_FINE, true},
	    {{POOL + 1}, -1, GLOBAL, HSA_FINE | HSA_KERNARG, true},
	    {{POOL + 2}, -1, GLOBAL, HSA_COARSE, true}};
	static struct hsa_pool gpu[EMU_MAX_DEVICES][2];

	if (device < 0)
		return index < 3 ? &cpu[index] : NULL;
	if (index > 1)
		return NULL;
	uint64_t h = POOL + POOLS_PER_AGENT * (uint64_t)(device + 1);
	rt_lock();
	gpu[device][0] = (struct hsa_pool){{h}, device, GLOBAL, HSA_COARSE, true};
	gpu[device][1] = (struct hsa_pool){{h + 1}, device, GROUP, 0, false};
	rt_unlock();
	return &gpu[device][index];
}

const struct hsa_pool *hsa_pool_get(hsa_handle h)
{
	uint64_t n = h.handle - POOL;

	if (h.handle < POOL || n / POOLS_PER_AGENT > (uint64_t)rt.n_agents)
		return NULL;
	return hsa_agent_pool((int)(n / POOLS_PER_AGENT) - 1, (unsigned)(n % POOLS_PER_AGENT));
}

static hsa_status_t each_pool(hsa_handle agent, hsa_status_t (*fn)(hsa_handle pool, void *data),
			      void *data)
{
	const struct hsa_pool *p;
	int d = hsa_agent_device(agent);

	if (!hsa_ready())
		return HSA_NOT_INITIALIZED;
	if (d == -2)
		return HSA_INVALID_AGENT;
	if (fn == NULL)
		return HSA_INVALID_ARGUMENT;
	for (unsigned i = 0; (p = hsa_agent_pool(d, i)) != NULL; i++) {
		hsa_status_t s = fn(p->handle, data);
		if (s != HSA_SUCCESS)
			return s;
	}
	return HSA_SUCCESS;
}

hsa_status_t emu_hsa_amd_agent_iterate_memory_pools(hsa_handle agent,
						    hsa_status_t (*fn)(hsa_handle pool, void *data),
						    void *data)
{
	return each_pool(agent, fn, data);
}

hsa_status_t emu_hsa_agent_iterate_regions(hsa_handle agent,
					   hsa_status_t (*fn)(hsa_handle region, void *data),
					   void *data)
{
	return each_pool(agent, fn, data);
}

static hsa_status_t pool_info(const struct hsa_pool *p, int attribute, void *value)
{
	uint64_t size = !p->allocatable ? 65536 : rt.memory;

	switch (attribute) {
	case 0:
		return u32(value, p->segment);
	case 1:
		return u32(value, p->flags);
	case 2:	 /* size */
	case 4:	 /* largest allocation: region's number */
	case 16: /* and pool's */
		return u64(value, size);
	case 5:
		memset(value, p->allocatable, 1);
		return HSA_SUCCESS;
	case 6: /* granule */
	case 7: /* alignment */
		return u64(value, p->allocatable ? EMU_PAGE : 0);
	case 15: /* accessible by all */
		memset(value, 0, 1);
		return HSA_SUCCESS;
	}
	return HSA_INVALID_ARGUMENT;
}

hsa_status_t emu_hsa_amd_memory_pool_get_info(hsa_handle pool, int attribute, void *value)
{
	const struct hsa_pool *p = hsa_pool_get(pool);

	if (!hsa_ready())
		return HSA_NOT_INITIALIZED;
	if (p == NULL)
		return HSA_INVALID_MEMORY_POOL;
	return value != NULL ? pool_info(p, attribute, value) : HSA_INVALID_ARGUMENT;
}

hsa_status_t emu_hsa_region_get_info(hsa_handle region, int attribute, void *value)
{
	const struct hsa_pool *p = hsa_pool_get(region);

	if (!hsa_ready())
		return HSA_NOT_INITIALIZED;
	if (p == NULL)
		return HSA_INVALID_REGION;
	return value != NULL ? pool_info(p, attribute, value) : HSA_INVALID_ARGUMENT;
}

hsa_status_t emu_hsa_amd_agent_memory_pool_get_info(hsa_handle agent, hsa_handle pool,
						    int attribute, void *value)
{
	enum { NEVER, BY_DEFAULT, ON_REQUEST };
	const struct hsa_pool *p = hsa_pool_get(pool);
	int d = hsa_agent_device(agent);

	if (!hsa_ready())
		return HSA_NOT_INITIALIZED;
	if (d == -2)
		return HSA_INVALID_AGENT;
	if (p == NULL)
		return HSA_INVALID_MEMORY_POOL;
	if (value == NULL)
		return HSA_INVALID_ARGUMENT;
	switch (attribute) {
	case 0:
		return u32(value, d == p->device    ? BY_DEFAULT
				  : !p->allocatable ? NEVER
						    : ON_REQUEST);
	case 1: /* link hops */
		return u32(value, d != p->device);
	}
	return HSA_INVALID_ARGUMENT;
}
