/*
 * Upstream archives: the input is an events.bin, or a region sidecar when it begins with HRRR.
 * Every line that comes out has to be a record.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/hrr/convert.h"
#include "formats/hrrr/hrrr.h"
#include "lib/stream/record.h"
#include "t/fuzz/memfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void note(void *self, const char *text)
{
	(void)self;
	if (strlen(text) > 2000)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hrr_record rec;
	static const char whole[] = "EHRR\x08\0\1\0";
	struct hrr_convert_options o = {-1, false, note, NULL};
	struct hrr_convert *c;
	struct hrr_diag d = {0};
	const char *line;
	size_t len;
	int rc;

	bool sidecar = size >= 4 && memcmp(data, "HRRR", 4) == 0;
	memfile_clear();
	memfile_set("events.bin", sidecar ? (const void *)whole : data, sidecar ? 8 : size);
	if (sidecar)
		memfile_set("regions/a.hrrr", data, size);
	if (hrr_convert_open(&c, MEM, &o, &d) < 0)
		return 0;
	while ((rc = hrr_convert_line(c, &line, &len, &d)) > 0)
		if (hrr_record_parse(&rec, line, len, &d) < 0)
			abort();
	if (rc < 0)
		abort();
	hrr_convert_close(c);
	return 0;
}
