#include "lib/preload/preload.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Ends that run no exit handler. hrr-capture does not see how its grandchildren
 * end, so that one which says nothing was killed. These may be called where
 * nothing else may, in signal handlers and behind vfork: what is next was looked
 * up before.
 */
#define SHIM __attribute__((visibility("default")))

static void (*next_exit)(int);
static void (*next_quick_exit)(int);
static int (*next_daemon)(int, int);

void hrr_next(void *function, const char *name)
{
	void *p = dlsym(RTLD_NEXT, name);

	memcpy(function, &p, sizeof p);
}

__attribute__((constructor)) static void look_up(void)
{
	hrr_next(&next_exit, "_exit");
	hrr_next(&next_quick_exit, "quick_exit");
	hrr_next(&next_daemon, "daemon");
}

/* Is this the recorded process, and not a child that still shares its memory? */
static bool is_recorded(void)
{
	return hrr_proc->recording && hrr_proc->gen == (uint32_t)getpid();
}

uint32_t hrr_ending(enum hrr_ending how)
{
	return is_recorded() ? atomic_exchange(&hrr_proc->ctl->ending, how) : 0;
}

int hrr_goes_on(uint32_t before)
{
	if (is_recorded())
		atomic_store(&hrr_proc->ctl->ending, before);
	return -1;
}

SHIM void _exit(int status)
{
	hrr_ending(HRR_ENDING_EXIT);
	if (next_exit != NULL)
		next_exit(status);
	for (;;)
		syscall(SYS_exit_group, status);
}

SHIM void _Exit(int status)
{
	_exit(status);
}

SHIM void quick_exit(int status)
{
	hrr_ending(HRR_ENDING_EXIT);
	if (next_quick_exit != NULL)
		next_quick_exit(status);
	_exit(status);
}

/* The parent ends inside it. */
SHIM int daemon(int nochdir, int noclose)
{
	uint32_t before = hrr_ending(HRR_ENDING_EXIT);
	int rc = next_daemon != NULL ? next_daemon(nochdir, noclose) : -1;

	return rc == 0 ? 0 : hrr_goes_on(before);
}
