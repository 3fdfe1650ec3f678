#include "lib/preload/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Going away from where the recording is found: to another root folder or other
 * mounts, or to a user who may not get at it. Before the process does, the
 * folder is opened and the hub mapped, for it and its children. The program may
 * close that descriptor and have others by its number, so that it is looked at
 * each time. A user who may not make files needs them made: a program that has
 * the run time loaded is recorded from there on, with what it has by then.
 */
#define SHIM __attribute__((visibility("default")))

static struct {
	_Atomic int fd; /* + 1 */
	dev_t dev;
	ino_t ino;
	struct hrr_hub *_Atomic hub;
} near;

static pid_t loaded_by;
static int (*next_chroot)(const char *);
static int (*next_unshare)(int);
static int (*next_setns)(int, int);
static int (*next_setuid)(uid_t);
static int (*next_seteuid)(uid_t);
static int (*next_setreuid)(uid_t, uid_t);
static int (*next_setresuid)(uid_t, uid_t, uid_t);

/* Now: later a forked child may be at it, beside a lock of the loader that nobody gives back. */
__attribute__((constructor)) static void look_up(void)
{
	loaded_by = getpid();
	hrr_next(&next_chroot, "chroot");
	hrr_next(&next_unshare, "unshare");
	hrr_next(&next_setns, "setns");
	hrr_next(&next_setuid, "setuid");
	hrr_next(&next_seteuid, "seteuid");
	hrr_next(&next_setreuid, "setreuid");
	hrr_next(&next_setresuid, "setresuid");
}

int hrr_away_folder(void)
{
	int fd = near.fd - 1;
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == near.dev && st.st_ino == near.ino
		   ? fd
		   : -1;
}

struct hrr_hub *hrr_away_hub(void)
{
	return near.hub;
}

static void keep_near(void)
{
	const char *dir = getauxval(AT_SECURE) ? NULL : getenv(HRR_ENV_DIR);
	struct hrr_hub *hub = NULL;
	struct stat st;
	int err = errno;

	if (dir == NULL || hrr_away_folder() >= 0 ||
	    (near.hub == NULL && hrr_map_hub(dir, &hub) < 0))
		goto out;
	int fd = hrr_open(dir, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	if (fd >= 0 && fstat(fd, &st) == 0) {
		near.dev = st.st_dev;
		near.ino = st.st_ino;
		near.fd = hrr_high_fd(fd) + 1;
	}
	if (hub != NULL)
		near.hub = hub;
out:
	errno = err;
}

extern char __libc_single_threaded __attribute__((weak)); /* since glibc 2.32 */

/* A forked child may look for the run time only where no other thread held the loader's lock. */
static bool may_look(void)
{
	return loaded_by == getpid() ||
	       (&__libc_single_threaded != NULL && __libc_single_threaded != 0);
}

/* Another user's files cannot be made later. */
static void start_now(void)
{
	struct hrr_thread *t = &hrr_self;
	int err = errno;

	keep_near();
	if (near.hub != NULL && t->depth == 0 && hrr_process_own() && may_look() &&
	    hrr_resolve(HRR_API_hipInit) != NULL) {
		hrr_inside(t, __builtin_frame_address(0));
		if ((t->gen == 0 || t->gen != hrr_proc->gen) && hrr_thread_slow(t) != NULL)
			hrr_arena_prepare();
		hrr_outside(t);
	}
	errno = err;
}

#define NEXT(name, ...)                          \
	if (next_##name == NULL)                 \
		look_up();                       \
	if (next_##name != NULL)                 \
		return next_##name(__VA_ARGS__); \
	errno = ENOSYS;                          \
	return -1

SHIM int chroot(const char *path)
{
	keep_near();
	NEXT(chroot, path);
}

SHIM int unshare(int flags)
{
	keep_near();
	NEXT(unshare, flags);
}

SHIM int setns(int fd, int type)
{
	keep_near();
	NEXT(setns, fd, type);
}

SHIM int setuid(uid_t uid)
{
	if (uid != geteuid())
		start_now();
	NEXT(setuid, uid);
}

SHIM int seteuid(uid_t uid)
{
	if (uid != geteuid())
		start_now();
	NEXT(seteuid, uid);
}

SHIM int setreuid(uid_t real, uid_t effective)
{
	if (effective != geteuid())
		start_now();
	NEXT(setreuid, real, effective);
}

SHIM int setresuid(uid_t real, uid_t effective, uid_t saved)
{
	if (effective != geteuid())
		start_now();
	NEXT(setresuid, real, effective, saved);
}
