/*
 * libFuzzer over the small files of an archive: manifest.json where the input begins with
 * '{"hrr-archive', else a sidecar, whose lines have to come out sorted and be regions. See
 * stream.sh.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/store/archive.h"
#include "lib/store/sidecar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[64], sidecar[80], manifest[80];

static void make_dir(void)
{
	strcpy(dir, "/dev/shm/hrr-fuzz-XXXXXX");
	if (mkdtemp(dir) == NULL) {
		strcpy(dir, "/tmp/hrr-fuzz-XXXXXX");
		if (mkdtemp(dir) == NULL)
			abort();
	}
	strcat(strcpy(sidecar, dir), "/a.jsonl");
	strcat(strcpy(manifest, dir), "/manifest.json");
}

static void save(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

static void read_sidecar(void)
{
	static const struct hrr_sidecar_clock clocks[] = {
	    {0, 0}, {7675166380820, 1795997951455357601}, {UINT64_MAX, 1}, {1, UINT64_MAX}};
	static struct hrr_record rec;
	struct hrr_diag d = {0};

	for (size_t c = 0; c < sizeof clocks / sizeof *clocks; c++) {
		struct hrr_sidecars s = {0};
		uint64_t before = 0;
		if (hrr_sidecars_add(&s, sidecar, &clocks[c], &d) < 0) {
			if (d.what[0] == '\0')
				abort();
			s.n = 0;
		}
		hrr_sidecars_sort(&s);
		for (size_t i = 0; i < s.n; i++) {
			const struct hrr_sidecar_line *l = hrr_sidecars_at(&s, i);
			if (l->t < before || l->off > s.text.len || l->len > s.text.len - l->off)
				abort();
			before = l->t;
			if (hrr_record_parse(&rec, s.text.data + l->off, l->len, &d) < 0 ||
			    rec.kind != HRR_REC_REGION || (l->stamped && rec.t != l->t))
				abort();
		}
		hrr_sidecars_release(&s);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char begin[] = "{\"hrr-archive";
	struct hrr_archive_manifest m;
	struct hrr_diag d = {0};

	if (dir[0] == '\0')
		make_dir();
	if (size >= sizeof begin - 1 && memcmp(data, begin, sizeof begin - 1) == 0) {
		memset(&m, 1, sizeof m);
		save(manifest, data, size);
		if (hrr_archive_manifest(dir, &m, &d) == 0 &&
		    memchr(m.boot, '\0', sizeof m.boot) == NULL)
			abort();
		return 0;
	}
	save(sidecar, data, size);
	read_sidecar();
	return 0;
}
