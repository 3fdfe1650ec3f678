/* hrr-diff: two files, or two blobs, byte by byte. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bin/diff.h"
#include "lib/diff/results.h"

bool diff_is_bytes(const char *operand)
{
	unsigned char head[4096];
	struct stat st;
	ssize_t n;
	size_t i = 0;

	if (strncmp(operand, "xxh128:", 7) == 0)
		return true;
	if (strcmp(operand, "-") == 0 || hrr_results_probe(operand) || stat(operand, &st) < 0 ||
	    !S_ISREG(st.st_mode))
		return false;
	int fd = open(operand, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	do
		n = read(fd, head, sizeof head);
	while (n < 0 && errno == EINTR);
	close(fd);
	if (n >= 4 && memcmp(head, "\x28\xb5\x2f\xfd", 4) == 0)
		return false; /* a compressed stream */
	while ((ssize_t)i < n && (head[i] == ' ' || head[i] == '\t'))
		i++;
	return n <= 0 || head[i] != '{' || !memmem(head, (size_t)n, "\"hrr\"", 5);
}

static int open_file(const char *operand, off_t *ret_size)
{
	struct stat st;
	int fd = open(operand, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0)
		tool_die(operand, 0, "cannot open: %s", strerror(errno));
	*ret_size = st.st_size;
	return fd;
}

/* Fills buf as far as the file goes. */
static size_t fill(int fd, const char *operand, char *buf, size_t size)
{
	size_t n = 0;

	while (n < size) {
		ssize_t r = read(fd, buf + n, size - n);

		if (r == 0)
			break;
		if (r < 0 && errno != EINTR)
			tool_die(operand, 0, "cannot read: %s", strerror(errno));
		if (r > 0)
			n += (size_t)r;
	}
	return n;
}

/* Read, not mapped: a file that shrinks meanwhile is shorter, not a signal. */
static bool equal_files(const int fd[2], char *const operand[2])
{
	enum { PIECE = 128 << 10 };
	static char a[PIECE], b[PIECE];

	for (;;) {
		size_t n = fill(fd[0], operand[0], a, PIECE), m = fill(fd[1], operand[1], b, PIECE);

		if (n != m || memcmp(a, b, n) != 0)
			return false;
		if (n < PIECE)
			return true;
	}
}

/* One of the two. A file is mapped, so that it need not fit into memory. */
struct bytes {
	const char *name;
	const void *data;
	size_t len;
	void *map;	    /* or NULL */
	struct hrr_buf buf; /* what cannot be mapped */
	struct hrr_blob blob;
	struct hrr_blobs *store; /* open for as long as the blob is used */
};

static struct bytes side[2];
static sigjmp_buf shrunk;

/* A mapped file that became shorter has no bytes behind its end, only this signal. */
static void on_bus(int signal, siginfo_t *info, void *context)
{
	(void)context;
	for (int i = 0; i < 2; i++) {
		uintptr_t at = (uintptr_t)info->si_addr, from = (uintptr_t)side[i].map;
		if (side[i].map && at >= from && at - from < side[i].len)
			siglongjmp(shrunk, i + 1);
	}
	(void)sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
}

static void load_blob(struct bytes *b, const char *blobs)
{
	struct hrr_diag diag = {0};
	struct hrr_id id;

	if (hrr_id_parse(b->name, strlen(b->name), &id) < 0)
		tool_misuse("%s: not a blob's id: xxh128: and 32 hex digits", b->name);
	if (!blobs)
		tool_misuse("%s: -b has to say where the blobs are", b->name);
	if (hrr_blobs_open(&b->store, blobs, false, &diag) < 0 ||
	    hrr_blobs_get(b->store, &id, 0, &b->blob, &diag) < 0)
		tool_die_diag(&diag);
	b->data = b->blob.data;
	b->len = b->blob.len;
}

static void load_file(struct bytes *b)
{
	off_t size;
	int fd = open_file(b->name, &size);
	void *map = size > 0 ? mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;

	if (map != MAP_FAILED) {
		b->map = map;
		b->data = map;
		b->len = (size_t)size;
		close(fd);
		return;
	}
	/* Of some files (in /proc) the size is not known before the end. */
	for (size_t n = 1; n > 0;) {
		static char piece[65536];
		n = fill(fd, b->name, piece, sizeof piece);
		if (hrr_buf_add(&b->buf, piece, n) < 0)
			tool_no_memory();
	}
	close(fd);
	b->data = b->buf.data;
	b->len = b->buf.len;
}

static void unload(struct bytes *b)
{
	if (b->map)
		munmap(b->map, b->len);
	hrr_buf_release(&b->buf);
	if (b->store) {
		hrr_blob_release(&b->blob);
		hrr_blobs_close(b->store);
	}
	*b = (struct bytes){0};
}

int diff_bytes(struct hrr_report *report, char *const operand[2], const char *const blobs[2])
{
	bool id[2];

	for (int i = 0; i < 2; i++)
		id[i] = strncmp(operand[i], "xxh128:", 7) == 0;
	if (!id[0] && !id[1]) {
		off_t size[2];
		int fd[2] = {open_file(operand[0], &size[0]), open_file(operand[1], &size[1])};
		bool equal = equal_files(fd, operand);

		close(fd[0]);
		close(fd[1]);
		if (equal)
			return 0;
	}
	for (int i = 0; i < 2; i++) {
		side[i].name = operand[i];
		if (id[i])
			load_blob(&side[i], blobs[i]);
		else
			load_file(&side[i]);
	}
	struct sigaction bus = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO};
	int which = sigsetjmp(shrunk, 1);
	if (which)
		tool_die(side[which - 1].name, 0, "became shorter while it was compared");
	(void)sigaction(SIGBUS, &bus, NULL);
	int rc =
	    hrr_report_bytes(report, "bytes", side[0].data, side[0].len, side[1].data, side[1].len);
	(void)signal(SIGBUS, SIG_DFL);
	if (rc < 0)
		tool_no_memory();
	if (report->opt.list && side[0].len != side[1].len) {
		const struct bytes *s = &side[side[0].len > side[1].len];
		tool_say(s->name, 0, "ends after byte %zu", s->len);
	}
	unload(&side[0]);
	unload(&side[1]);
	return rc;
}
