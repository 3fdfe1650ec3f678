#include "lib/preload/preload.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/*
 * Our files in somebody else's program. While we make and write them no signal
 * of ours reaches it (SIGXFSZ), and no thread of it is cancelled, which would
 * leave our locks taken. Our descriptors are never its standard ones: threads
 * of a program that closed those go on to print into whatever has the number.
 */
void hrr_files_begin(struct hrr_files *f)
{
	sigset_t one;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &f->cancel);
	sigemptyset(&one);
	sigaddset(&one, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &one, &f->mask);
}

void hrr_files_end(const struct hrr_files *f)
{
	static const struct timespec now = {0};
	sigset_t one;

	if (sigismember(&f->mask, SIGXFSZ) == 0) {
		sigemptyset(&one);
		sigaddset(&one, SIGXFSZ);
		sigtimedwait(&one, NULL, &now); /* it goes to the thread that wrote */
	}
	pthread_sigmask(SIG_SETMASK, &f->mask, NULL);
	pthread_setcancelstate(f->cancel, NULL);
}

static int open_at(int at, const char *path, int flags, mode_t mode)
{
	int plugs[3], n = 0;

	/* Such a descriptor can neither be read nor written: as if there were none. */
	for (int i = 0; i < 3; i++)
		if (fcntl(i, F_GETFD) < 0 && (plugs[n] = open("/", O_PATH | O_CLOEXEC)) >= 0)
			n++;
	int fd = openat(at, path, flags | O_CLOEXEC, mode), err = errno;
	while (n > 0)
		close(plugs[--n]);
	errno = err;
	return fd;
}

int hrr_open(const char *path, int flags, mode_t mode)
{
	return open_at(AT_FDCWD, path, flags, mode);
}

/* A file of the recording's folder, by its whole path. */
int hrr_open_ours(const char *path, int flags, mode_t mode)
{
	int at = hrr_away_folder();

	return at < 0 ? hrr_open(path, flags, mode)
		      : open_at(at, strrchr(path, '/') + 1, flags, mode);
}

void hrr_unlink_ours(const char *path)
{
	int at = hrr_away_folder();

	if (at < 0)
		unlink(path);
	else
		unlinkat(at, strrchr(path, '/') + 1, 0);
}

/* A descriptor out of the way of programs that count on low numbers. */
int hrr_high_fd(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, 400);

	if (high < 0)
		return fd;
	close(fd);
	return high;
}
