/* manifest.json: ours, and upstream's of one process. Who fails says why. */
#include <stdlib.h>
#include <string.h>

#include "formats/hrr/manifest.h"
#include "lib/store/archive.h"
#include "t/fuzz/memfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hrr_archive_manifest m;
	struct hrr_up_manifest up;
	struct hrr_diag d = {0};

	memset(&m, 1, sizeof m);
	memfile_set("manifest.json", data, size);
	if (hrr_archive_manifest(MEM, &m, &d) == 0) {
		if (memchr(m.boot, '\0', sizeof m.boot) == NULL || m.writer > INT32_MAX)
			abort();
	} else if (d.what[0] == '\0') {
		abort();
	}
	d.what[0] = '\0';
	if (hrr_up_manifest_read(&up, MEM, &d) == 0) {
		for (size_t i = 0; i < up.n_devices; i++)
			if (memchr(up.devices[i].name, '\0', sizeof up.devices[i].name) == NULL)
				abort();
		hrr_up_manifest_release(&up);
	} else if (d.what[0] == '\0') {
		abort();
	}
	return 0;
}
