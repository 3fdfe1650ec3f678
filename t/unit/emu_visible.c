#include "t/unit/emu_fixture.h"

#include <sys/wait.h>

#include "lib/emu/runtime/hsa.h"

/* ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES and CUDA_VISIBLE_DEVICES on a machine of four. A device
 * is told by its PCI bus, 1 to 4. Settings are read once, so each case is a process. */

static char line[256];
static void *hsa;

#define UUID(n) "GPU-6872722d656d750" n

#define HSA(name, ...)                         \
	({                                     \
		__typeof__(&emu_##name) fn_;   \
		void *p_ = dlsym(hsa, #name);  \
		memcpy(&fn_, &p_, sizeof fn_); \
		fn_(__VA_ARGS__);              \
	})

__attribute__((format(printf, 1, 2))) static void add(const char *fmt, ...)
{
	size_t n = strlen(line);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line + n, sizeof line - n, fmt, ap);
	va_end(ap);
}

static hsa_status_t agent(hsa_handle a, void *data)
{
	uint32_t type = 9, bdf = 0, node = 9;
	char uuid[32] = "";

	(void)data;
	HSA(hsa_agent_get_info, a, 17, &type);
	if (type != 1)
		return HSA_SUCCESS;
	HSA(hsa_agent_get_info, a, 0xa006, &bdf);
	HSA(hsa_agent_get_info, a, 0xa004, &node);
	HSA(hsa_agent_get_info, a, 0xa011, uuid);
	add("%u%s", bdf >> 8, node == bdf >> 8 && uuid[19] == (char)('0' + node - 1) ? "" : "?");
	return HSA_SUCCESS;
}

/* "HIP's devices|HSA's". */
static void tell(void)
{
	int n = 0;

	HIP(hipGetDeviceCount, &n);
	for (int d = 0; d < n; d++) {
		char bus[16] = "", uuid[17] = "";
		int back = -1, number = 0;
		HIP(hipDeviceGetPCIBusId, bus, sizeof bus, d);
		HIP(hipDeviceGetByPCIBusId, &back, bus);
		HIP(hipDeviceGetAttribute, &number, hipDeviceAttributePciBusId, d);
		HIP(hipDeviceGetUuid, (struct hipUUID_t *)uuid, d);
		add("%d%s", number,
		    back == d && bus[6] == '0' + number && uuid[15] == '0' + number - 1 ? "" : "?");
	}
	if (n == 0)
		add("-%d", HIP(hipSetDevice, 0));
	add("|");
	HSA(hsa_init);
	HSA(hsa_iterate_agents, agent, NULL);
}

static void set(const char *name, const char *value)
{
	if (value != NULL)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

static void see(const char *rocr, const char *hip_list, const char *cuda, const char *want)
{
	int fd[2];
	char got[sizeof line] = "";

	if (!ok(pipe(fd) == 0, "a pipe"))
		return;
	pid_t pid = fork();
	if (pid == 0) {
		set("ROCR_VISIBLE_DEVICES", rocr);
		set("HIP_VISIBLE_DEVICES", hip_list);
		set("CUDA_VISIBLE_DEVICES", cuda);
		tell();
		_exit(write(fd[1], line, strlen(line)) < 0);
	}
	close(fd[1]);
	if (read(fd[0], got, sizeof got - 1) < 0)
		got[0] = '\0';
	close(fd[0]);
	waitpid(pid, NULL, 0);
	ok(strcmp(got, want) == 0, "ROCR=%s HIP=%s CUDA=%s: %s is %s", rocr ? rocr : "unset",
	   hip_list ? hip_list : "unset", cuda ? cuda : "unset", got, want);
}

int main(void)
{
	setenv("HRR_EMU_DEVICES", "4", 1);
	hsa = dlopen(emu_built("lib/hrr/emu/libhsa-runtime64.so.1"), RTLD_NOW);
	if (!emu_open() || !ok(hsa != NULL, "libhsa-runtime64.so.1 loads"))
		return done_testing();
	see(NULL, NULL, NULL, "1234|1234");
	see(NULL, "2,0", NULL, "31|1234");
	see(NULL, "1", "3", "2|1234");
	see(NULL, "", "3", "4|1234");
	see(NULL, NULL, "3,1", "42|1234");
	see(NULL, "1,4,2", NULL, "2|1234");
	see(NULL, "1,-1,2", NULL, "2|1234");
	see(NULL, "1,,2", NULL, "2|1234");
	see(NULL, "1, 2", NULL, "2|1234");
	see(NULL, "1,02", NULL, "2|1234");
	see(NULL, "1,1,0", NULL, "21|1234");
	see(NULL, "-1", NULL, "-100|1234");
	see(NULL, "none", NULL, "-100|1234");
	see(NULL, UUID("2") "," UUID("0"), NULL, "31|1234");
	see(NULL, "GPU-6872", NULL, "1|1234");
	see(NULL, "0," UUID("7") ",1", NULL, "1|1234");
	see("3,1", NULL, NULL, "42|42");
	see("3,1", "1", NULL, "2|42");
	see("3,1", "2", NULL, "-100|42");
	see(" 0x3 , 1", NULL, NULL, "42|42");
	see("1,1,0", NULL, NULL, "2|2");
	see("0,gpu-6872722D656D7503,9,1", NULL, NULL, "14|14");
	see("0,GPU-6872", NULL, NULL, "1|1");
	see("2x", NULL, NULL, "-100|");
	see("", "0", NULL, "-100|");
	return done_testing();
}
