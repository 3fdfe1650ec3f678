#include "lib/diff/results.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/store/source.h"

struct results {
	struct hrr_reader *reader;
	struct hrr_buf line;
};

bool hrr_results_probe(const char *path)
{
	char head[16] = "";
	struct stat st;
	bool ours;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t n;
	do
		n = read(fd, head, sizeof head - 1);
	while (n < 0 && errno == EINTR);
	ours = n > 10 &&
	       (strncmp(head, "{\"outcome\":", 11) == 0 || strncmp(head, "{\"verdict\":", 11) == 0);
	close(fd);
	return ours;
}

static int open_results(void **ret, const char *path, const struct hrr_source_options *opt,
			struct hrr_diag *diag)
{
	struct results *r;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	(void)opt;
	if (fd < 0)
		return hrr_diag_set(diag, -errno, "cannot open: %s", strerror(errno));
	r = calloc(1, sizeof *r);
	if (r)
		r->reader = hrr_reader_new(fd, path);
	if (!r || !r->reader) {
		if (!r)
			close(fd);
		free(r);
		return hrr_diag_set(diag, -ENOMEM, "out of memory");
	}
	*ret = r;
	return 0;
}

static int next_line(void *self, const char **ret_line, size_t *ret_len, uint64_t *ret_lineno,
		     bool *ret_cut, struct hrr_diag *diag)
{
	struct results *r = self;
	const char *line;
	size_t len;
	int rc = hrr_reader_line(r->reader, &line, &len, ret_lineno, ret_cut, diag);

	if (rc <= 0)
		return rc;
	r->line.len = 0;
	if (hrr_buf_adds(&r->line, "{\"result\":") < 0 || hrr_buf_add(&r->line, line, len) < 0 ||
	    hrr_buf_addc(&r->line, '}') < 0)
		return hrr_diag_set(diag, -ENOMEM, "out of memory");
	*ret_line = r->line.data;
	*ret_len = r->line.len;
	return 1;
}

static struct hrr_blobs *no_blobs(void *self, uint32_t p, struct hrr_diag *diag)
{
	(void)self;
	(void)p;
	hrr_diag_set(diag, -ENOENT, "results of a replay hold no blobs");
	return NULL;
}

static void close_results(void *self)
{
	struct results *r = self;

	hrr_reader_free(r->reader);
	hrr_buf_release(&r->line);
	free(r);
}

static const struct hrr_source_format format = {.name = "results",
						.probe = hrr_results_probe,
						.open = open_results,
						.line = next_line,
						.blobs = no_blobs,
						.close = close_results};

int hrr_results_register(void)
{
	return hrr_source_add_format(&format);
}
