/*
 * libFuzzer over upstream archives: the input is an events.bin, or a region sidecar
 * when it begins with HRRR. Every line that comes out has to be a record. See hrr.sh.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/hrr/convert.h"
#include "formats/hrrr/hrrr.h"
#include "lib/stream/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[64];

static void make_dir(void)
{
	char path[128];

	strcpy(dir, "/dev/shm/hrr-fuzz-XXXXXX");
	if (mkdtemp(dir) == NULL) {
		strcpy(dir, "/tmp/hrr-fuzz-XXXXXX");
		if (mkdtemp(dir) == NULL)
			abort();
	}
	strcpy(path, dir);
	strcat(path, "/regions");
	mkdir(path, 0700);
}

static void save(const char *name, const void *data, size_t size)
{
	char path[128];

	strcpy(path, dir);
	strcat(path, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

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

	if (dir[0] == '\0')
		make_dir();
	bool sidecar = size >= 4 && memcmp(data, "HRRR", 4) == 0;
	save("/events.bin", sidecar ? (const void *)whole : data, sidecar ? 8 : size);
	save("/regions/a.hrrr", sidecar ? data : (const uint8_t *)whole, sidecar ? size : 8);
	if (hrr_convert_open(&c, dir, &o, &d) < 0)
		return 0;
	while ((rc = hrr_convert_line(c, &line, &len, &d)) > 0)
		if (hrr_record_parse(&rec, line, len, &d) < 0)
			abort();
	if (rc < 0)
		abort();
	hrr_convert_close(c);
	return 0;
}
