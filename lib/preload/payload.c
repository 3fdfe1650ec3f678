#include "lib/preload/preload.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

uint64_t hrr_rect_bytes(const struct hrr_rect *r)
{
	uint64_t n;

	if (__builtin_mul_overflow(r->width, r->height, &n) ||
	    __builtin_mul_overflow(n, r->depth, &n) || n > (uint64_t)1 << 40)
		return 0;
	return n;
}

static bool write_all(int fd, struct iovec *v, int n)
{
	while (n > 0) {
		ssize_t w = writev(fd, v, n);
		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			return false; /* EFAULT: the memory is not there; ENOSPC and the like */
		for (; n > 0 && (size_t)w >= v->iov_len; v++, n--)
			w -= (ssize_t)v->iov_len;
		if (n > 0) {
			v->iov_base = (char *)v->iov_base + w;
			v->iov_len -= (size_t)w;
		}
	}
	return true;
}

static int new_file(char *path, uint64_t *ret_number)
{
	uint32_t n = atomic_fetch_add(&hrr_proc->ctl->files, 1);

	hrr_process_path(path, "f", n);
	*ret_number = (uint64_t)n + 1;
	return hrr_open_ours(path, O_WRONLY | O_CREAT | O_EXCL, 0400);
}

static bool write_rect(int fd, const char *addr, const struct hrr_rect *r)
{
	struct iovec v[64];
	int n = 0;

	if (r->height == 1 && r->depth == 1) {
		v[0] = (struct iovec){(void *)(uintptr_t)addr, r->width};
		return write_all(fd, v, 1);
	}
	for (uint64_t z = 0; z < r->depth; z++)
		for (uint64_t y = 0; y < r->height; y++) {
			const char *row = addr + z * r->slice + y * r->pitch;
			v[n++] = (struct iovec){(void *)(uintptr_t)row, r->width};
			if (n == 64) {
				if (!write_all(fd, v, n))
					return false;
				n = 0;
			}
		}
	return n == 0 || write_all(fd, v, n);
}

/* write(2) is also what makes a bad address an error instead of a crash. */
uint64_t hrr_bytes_file(const void *addr, const struct hrr_rect *r)
{
	char path[4096];
	uint64_t number;
	struct hrr_files old;
	int err = errno;

	hrr_files_begin(&old);
	int fd = new_file(path, &number);
	bool ok = fd >= 0 && write_rect(fd, addr, r);
	bool there = ok || errno != EFAULT;
	if (fd >= 0) {
		close(fd);
		if (!ok)
			hrr_unlink_ours(path);
	}
	hrr_files_end(&old);
	if (!ok) {
		number = HRR_NO_FILE;
		if (there) {
			atomic_fetch_add(&hrr_proc->ctl->lost, 1);
			atomic_fetch_add(&hrr_proc->ctl->lost_bytes, hrr_rect_bytes(r));
		}
	}
	errno = err;
	return number;
}

static void copy_rows(unsigned char *to, const char *addr, const struct hrr_rect *r)
{
	for (uint64_t z = 0; z < r->depth; z++)
		for (uint64_t y = 0; y < r->height; y++, to += r->width)
			memcpy(to, addr + z * r->slice + y * r->pitch, r->width);
}

/* From the first byte to the last, with what lies between rows; 0 on overflow. */
static uint64_t span_of(const struct hrr_rect *r)
{
	uint64_t planes, rows, n;

	if (r->depth == 0 || r->height == 0 ||
	    __builtin_mul_overflow(r->depth - 1, r->slice, &planes) ||
	    __builtin_mul_overflow(r->height - 1, r->pitch, &rows) ||
	    __builtin_add_overflow(planes, rows, &n) || __builtin_add_overflow(n, r->width, &n))
		return 0;
	return n;
}

uint64_t hrr_bytes_big(const void *addr, const struct hrr_rect *r, bool trusted)
{
	uint64_t n = hrr_rect_bytes(r), number;
	int err = errno;
	/* What cannot be seen to be there is left to write(2). */
	unsigned char *to =
	    trusted || hrr_readable(addr, span_of(r)) ? hrr_arena_take(n, &number) : NULL;

	errno = err;
	if (to == NULL)
		return hrr_bytes_file(addr, r);
	copy_rows(to, addr, r);
	return number;
}

uint64_t hrr_bytes_file_copy(const char *from, uint64_t *ret_size)
{
	char path[4096], buf[65536];
	uint64_t number, size = 0;
	struct hrr_files old;
	int err = errno;

	hrr_files_begin(&old);
	int in = hrr_open(from, O_RDONLY, 0);
	int fd = in < 0 ? -1 : new_file(path, &number);
	bool ok = fd >= 0;

	while (ok) {
		ssize_t n = read(in, buf, sizeof buf);
		if (n <= 0) {
			ok = n == 0;
			break;
		}
		struct iovec v = {buf, (size_t)n};
		ok = write_all(fd, &v, 1);
		size += (uint64_t)n;
	}
	if (in >= 0)
		close(in);
	if (fd >= 0) {
		close(fd);
		if (!ok)
			hrr_unlink_ours(path);
	}
	hrr_files_end(&old);
	errno = err;
	*ret_size = size;
	return ok ? number : HRR_NO_FILE;
}

static bool copy_rect(unsigned char *to, const char *addr, const struct hrr_rect *r, bool trusted)
{
	if (trusted) {
		copy_rows(to, addr, r);
		return true;
	}
	for (uint64_t z = 0; z < r->depth; z++)
		for (uint64_t y = 0; y < r->height; y++, to += r->width)
			if (!hrr_copy_in(to, addr + z * r->slice + y * r->pitch, r->width))
				return false;
	return true;
}

static bool goes_inline(const struct hrr_thread *t, const struct hrr_rect *r, uint64_t n)
{
	/* Many untrusted rows would be a system call each: a file takes 64 with one. */
	return n <= HRR_INLINE_MAX && n <= t->size / 8 && r->height * r->depth <= 4096;
}

/* What a record says of bytes, which are in the arena or a file, or (file 0) to be put behind. */
static struct hrr_bytes put_apart(const struct hrr_thread *t, const void *addr,
				  const struct hrr_rect *r, bool trusted)
{
	uint64_t n = hrr_rect_bytes(r);
	struct hrr_bytes b = {(uintptr_t)addr, n, 0};

	if (n == 0 && r->width * r->height * r->depth != 0)
		b.file = HRR_NO_FILE;
	else if (!goes_inline(t, r, n))
		b.file = hrr_bytes_big(addr, r, trusted);
	return b;
}

bool hrr_bytes_att(struct hrr_thread *t, enum hrr_att_tag tag, unsigned param, const void *addr,
		   const struct hrr_rect *r, bool trusted)
{
	struct hrr_bytes b = put_apart(t, addr, r, trusted);
	uint64_t n = b.size;
	int err = errno;
	hrr_kept(t, b.file);
	unsigned char *d = hrr_b_att(t, tag, param, sizeof b + (b.file == 0 ? n : 0));
	if (d == NULL)
		return false;
	if (b.file == 0 && !copy_rect(d + sizeof b, addr, r, trusted)) {
		b.file = HRR_NO_FILE;
		struct hrr_att *a = (struct hrr_att *)(void *)(d - sizeof *a);
		a->len = sizeof b;
		t->p = d + sizeof b;
	}
	memcpy(d, &b, sizeof b);
	errno = err;
	return true;
}

void hrr_bytes_rec(struct hrr_thread *t, size_t off, const void *addr, const struct hrr_rect *r,
		   bool trusted)
{
	struct hrr_bytes b = put_apart(t, addr, r, trusted);
	uint64_t n = b.size, room = (n + 7) & ~(uint64_t)7;
	int err = errno;
	if (b.file == 0 && n != 0) {
		if (!hrr_b_room(t, room)) {
			t->failed = true;
			return;
		}
		memset(t->p + room - 8, 0, 8);
		if (copy_rect(t->p, addr, r, trusted))
			t->p += room;
		else
			b.file = HRR_NO_FILE;
	}
	hrr_kept(t, b.file);
	memcpy(t->start + off, &b, sizeof b);
	errno = err;
}
