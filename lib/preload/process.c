#include "lib/preload/preload.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/base/proc.h"

static struct hrr_process nobody; /* before start-up, and where there is no memory for a page */
struct hrr_process *_Atomic hrr_proc = &nobody;
static uint64_t t_loaded; /* when the first of our code ran */

uint64_t hrr_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

bool hrr_copy_in(void *dst, const void *src, size_t n)
{
	struct iovec l = {dst, n}, r = {(void *)(uintptr_t)src, n};

	if (n == 0)
		return true;
	if (src == NULL)
		return false;
	ssize_t got = process_vm_readv(getpid(), &l, 1, &r, 1, 0);
	if (got < 0 && (errno == ENOSYS || errno == EPERM)) {
		memcpy(dst, src, n); /* forbidden here: trust the program, as its run time does */
		return true;
	}
	return got == (ssize_t)n;
}

static void read_start_time(uint64_t *ret)
{
	int fd = hrr_open("/proc/self/stat", O_RDONLY, 0);

	if (fd < 0)
		return;
	hrr_proc_stat(fd, NULL, ret);
	close(fd);
}

static void *map_file(int fd, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Not recorded though it was wanted: hrr-capture has to know. A folder takes no descriptor. */
static bool unrecorded(struct hrr_process *p, const char *dir)
{
	char path[4200];

	if (p->hub != NULL) {
		atomic_fetch_add(&p->hub->unrecorded, 1);
	} else if (strlen(dir) < 4096) {
		snprintf(path, sizeof path, "%s/" HRR_UNRECORDED, dir);
		(void)mkdir(path, 0700);
	}
	return false;
}

static bool is_our_recording(const struct hrr_hub *hub)
{
	const char *id = getenv(HRR_ENV_ID);

	return id != NULL && strtoull(id, NULL, 16) == hub->id;
}

int hrr_map_hub(const char *dir, struct hrr_hub **ret)
{
	char path[4096];
	struct stat st = {0};
	struct hrr_hub *hub = NULL;
	int err = 0;

	snprintf(path, sizeof path, "%s/hub", dir);
	int fd = hrr_open(path, O_RDWR | O_NOFOLLOW, 0);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) != 0)
		err = -errno;
	else if (st.st_uid != geteuid() || st.st_size < (off_t)sizeof *hub)
		err = -EACCES;
	else if ((hub = map_file(fd, sizeof *hub)) == NULL)
		err = -errno;
	else if (atomic_load_explicit(&hub->magic, memory_order_acquire) != HRR_HUB_MAGIC ||
		 hub->version != HRR_RING_VERSION || !is_our_recording(hub)) {
		munmap(hub, sizeof *hub);
		err = -EACCES;
	}
	close(fd);
	if (err == 0)
		*ret = hub;
	return err;
}

static bool open_hub(struct hrr_process *p, const char *dir)
{
	if (p == &nobody || strlen(dir) >= sizeof p->dir)
		return unrecorded(p, dir);
	strcpy(p->dir, dir);
	p->hub = hrr_away_hub();
	int err = p->hub == NULL ? hrr_map_hub(dir, &p->hub) : 0;
	if (err < 0) /* recording is over; or another user's */
		return err == -ENOENT || err == -EACCES ? false : unrecorded(p, dir);
	if (atomic_load(&p->hub->off) != 0)
		return false;
	if (!hrr_reader_alive()) {
		atomic_store(&p->hub->missed, 1);
		return false;
	}
	return true;
}

bool hrr_reader_alive(void)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	char path[4096];

	snprintf(path, sizeof path, "%s/hub", hrr_proc->dir);
	int fd = hrr_open_ours(path, O_RDWR | O_NOFOLLOW, 0);
	if (fd < 0)
		return errno != ENOENT; /* out of descriptors tells nothing */
	bool alive = fcntl(fd, F_GETLK, &l) != 0 || l.l_type != F_UNLCK;
	close(fd);
	return alive;
}

extern char **environ;

static bool env_wanted(const char *e)
{
	return strncmp(e, "HIP_", 4) == 0 || strncmp(e, "HSA_", 4) == 0 ||
	       strncmp(e, "ROCR_", 5) == 0 || strncmp(e, "AMD_", 4) == 0 ||
	       strncmp(e, "GPU_", 4) == 0;
}

/* argv and environment behind the ctl struct. */
static void write_info(int fd, struct hrr_ctl *ctl)
{
	char buf[8192];
	off_t at = sizeof *ctl;
	int in = hrr_open("/proc/self/cmdline", O_RDONLY, 0);

	for (ssize_t n; in >= 0 && (n = read(in, buf, sizeof buf)) > 0;) {
		for (ssize_t i = 0; i < n; i++)
			ctl->argc += buf[i] == '\0';
		if (pwrite(fd, buf, (size_t)n, at) != n)
			break;
		at += n;
	}
	if (in >= 0)
		close(in);
	for (char **e = environ; e != NULL && *e != NULL; e++) {
		size_t n = strlen(*e) + 1;
		if (!env_wanted(*e))
			continue;
		if (pwrite(fd, *e, n, at) != (ssize_t)n)
			break;
		at += (off_t)n;
		ctl->envc++;
	}
	ctl->info = (uint32_t)(at - (off_t)sizeof *ctl);
}

static bool make_ctl(struct hrr_process *p)
{
	char path[4096];
	struct timespec real;

	p->index = atomic_fetch_add(&p->hub->processes, 1);
	hrr_process_path(path, "ctl", UINT32_MAX);
	int fd = hrr_open_ours(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0)
		return unrecorded(p, p->dir);
	struct hrr_ctl *ctl = NULL;
	if (posix_fallocate(fd, 0, sizeof *ctl) == 0)
		ctl = map_file(fd, sizeof *ctl);
	if (ctl == NULL) {
		close(fd);
		hrr_unlink_ours(path);
		return unrecorded(p, p->dir);
	}
	madvise(ctl, sizeof *ctl, MADV_DONTFORK); /* a child's is its own */
	ctl->version = HRR_RING_VERSION;
	ctl->pid = (uint32_t)getpid();
	ctl->major = (uint32_t)hrr_runtime_major();
	ctl->layout = (uint32_t)hrr_runtime_layout();
	read_start_time(&ctl->start);
	clock_gettime(CLOCK_REALTIME, &real);
	uint64_t now = hrr_now();
	ctl->t0 = t_loaded != 0 && t_loaded < now ? t_loaded : now;
	ctl->realtime =
	    (uint64_t)real.tv_sec * 1000000000u + (uint64_t)real.tv_nsec - (now - ctl->t0);
	write_info(fd, ctl);
	p->ctl = ctl;
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	fd = hrr_high_fd(fd);
	fcntl(fd, F_SETLK, &l); /* kept open: the lock says that we live */
	atomic_store_explicit(&ctl->magic, HRR_CTL_MAGIC, memory_order_release);
	hrr_b_wake(NULL);
	return true;
}

void hrr_process_path(char *path, const char *kind, uint32_t n)
{
	if (n == UINT32_MAX)
		snprintf(path, 4096, "%s/p%u.%s", hrr_proc->dir, hrr_proc->index, kind);
	else
		snprintf(path, 4096, "%s/p%u.%s%u", hrr_proc->dir, hrr_proc->index, kind, n);
}

static void page_init(void)
{
	struct hrr_process *p =
	    mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return;
	if (madvise(p, sizeof *p, MADV_WIPEONFORK) != 0)
		pthread_atfork(NULL, NULL, hrr_thread_forget); /* before Linux 4.14 */
	hrr_proc = p;
}

static pthread_once_t page = PTHREAD_ONCE_INIT;

bool hrr_process_own(void)
{
	uint32_t pid = (uint32_t)getpid();

	pthread_once(&page, page_init);
	if (hrr_proc->pid == 0)
		hrr_proc->pid = pid;
	return hrr_proc->pid == pid;
}

bool hrr_process_start(void)
{
	static _Atomic uint32_t last_pid;
	uint32_t pid = (uint32_t)getpid();
	int err = errno;

	pthread_once(&page, page_init);
	struct hrr_process *p = hrr_proc;
	while (atomic_exchange_explicit(&p->lock, 1, memory_order_acquire) != 0)
		sched_yield();
	if (atomic_load(&p->gen) == 0) {
		uint32_t before = atomic_exchange(&last_pid, pid);
		if (before != 0 &&
		    before != pid) { /* forked: locks may be held by threads that are not here */
			t_loaded = hrr_now();
			hrr_spares_forget();
			hrr_memory_forget();
			hrr_hosts_forget();
			hrr_pending_forget();
			hrr_kernel_forget();
			hrr_graph_forget();
			hrr_arena_forget();
			hrr_array_forget();
		}
		hrr_tables_init();
		const char *dir = getauxval(AT_SECURE) ? NULL : getenv(HRR_ENV_DIR);
		struct hrr_files old;
		hrr_files_begin(&old);
		p->recording = dir != NULL && open_hub(p, dir) && make_ctl(p);
		hrr_files_end(&old);
		atomic_store_explicit(&p->gen, pid, memory_order_release);
	}
	atomic_store_explicit(&p->lock, 0, memory_order_release);
	errno = err;
	return p->recording;
}

__attribute__((constructor)) static void loaded(void)
{
	if (t_loaded == 0)
		t_loaded = hrr_now();
	hrr_process_own();
}

__attribute__((destructor)) static void exiting(void)
{
	if (hrr_proc->recording && hrr_proc->gen == (uint32_t)getpid())
		atomic_store(&hrr_proc->ctl->ending, HRR_ENDING_EXIT);
}
