#include <dlfcn.h>
#include <string.h>

#include "lib/replay/engine.h"

/*
 * What the recording says of its run time. The CPU run time takes the recorded HIP major, for what
 * calls, values and structures there are, and the recorded devices' arch and number, where the user
 * asked for no other: which code object a kernel is taken from, and how many lanes its waves have,
 * are to be as they were. A GPU is what it is.
 */
int hrr_runtime_record(struct hrr_replay *r, const struct hrr_record *rec)
{
	const struct hrr_json *j = &rec->json;
	int run = hrr_json_get(j, 0, "runtime"), list = hrr_json_get(j, run, "devices");
	int (*devices)(const char *arch, unsigned count) = NULL;
	char arch[64] = "";
	size_t len = 0;
	uint64_t major;

	if (r->hip->lib != NULL)
		*(void **)&devices = dlsym(r->hip->lib, "hrr_emu_devices");
	if (devices == NULL || devices(NULL, 0) < 0) /* not that run time, or in use already */
		return 0;
	if (hrr_json_u64(j, hrr_json_get(j, run, "major"), &major) == 0 && major <= 9)
		hrr_hip_become(r->hip, (int)major);
	if (list < 0 || j->nodes[list].type != HRR_JSON_ARRAY)
		return 0;
	int first = hrr_json_first(j, list);
	const char *s = first >= 0 ? hrr_json_raw(j, hrr_json_get(j, first, "arch"), &len) : NULL;
	if (s != NULL && len < sizeof arch)
		memcpy(arch, s, len);
	if (devices(arch[0] != '\0' ? arch : NULL, hrr_json_count(j, list)) < 0)
		return 0;
	return hrr_hip_devices(r->hip, &r->n_devices, &r->diag);
}
