#include "lib/preload/preload.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

__thread struct hrr_thread hrr_self __attribute__((tls_model("initial-exec")));

/* Rings of threads that ended, for the next ones: a program with many short threads needs few. */
static pthread_mutex_t spare_lock = PTHREAD_MUTEX_INITIALIZER;
static struct hrr_ring *spare;
static uint32_t spare_gen;
static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

void hrr_thread_forget(void)
{
	memset(hrr_proc, 0, sizeof *hrr_proc);
}

void hrr_spares_forget(void)
{
	pthread_mutex_init(&spare_lock, NULL);
	spare = NULL; /* the parent's: not mapped here */
	spare_gen = 0;
}

static void thread_ends(void *self)
{
	struct hrr_thread *t = self;

	hrr_left(t); /* cancelled inside a call */
	if (t->ring == NULL || t->gen != hrr_proc->gen)
		return;
	pthread_mutex_lock(&spare_lock);
	if (spare_gen == t->gen) {
		t->ring->next = spare;
		spare = t->ring;
	}
	pthread_mutex_unlock(&spare_lock);
	t->ring = NULL;
	t->gen = 0; /* later calls of this thread (other destructors) attach anew */
}

static void make_key(void)
{
	pthread_key_create(&key, thread_ends);
}

static struct hrr_ring *new_ring(void)
{
	char path[4096];
	uint64_t size = hrr_proc->hub->ring_size;
	uint32_t index = atomic_fetch_add(&hrr_proc->ctl->rings, 1);

	hrr_process_path(path, "r", index);
	int fd = hrr_open_ours(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0)
		return NULL;
	struct hrr_ring *r = MAP_FAILED;
	/* Space is taken now: a full disk later would be a SIGBUS in the program. */
	if (posix_fallocate(fd, 0, (off_t)(HRR_RING_HEADER + size)) == 0)
		r = mmap(NULL, HRR_RING_HEADER + size, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_POPULATE, fd, 0);
	close(fd);
	if (r == MAP_FAILED) {
		hrr_unlink_ours(path);
		return NULL;
	}
	madvise(r, HRR_RING_HEADER + size, MADV_DONTFORK);
	r->version = HRR_RING_VERSION;
	r->index = index;
	r->size = size;
	atomic_store_explicit(&r->magic, HRR_RING_MAGIC, memory_order_release);
	return r;
}

bool hrr_thread_attach(struct hrr_thread *t)
{
	struct hrr_ring *r = NULL;

	pthread_once(&key_once, make_key);
	pthread_mutex_lock(&spare_lock);
	spare_gen = hrr_proc->gen;
	r = spare;
	if (r != NULL)
		spare = r->next;
	pthread_mutex_unlock(&spare_lock);
	if (r == NULL) {
		struct hrr_files old;
		hrr_files_begin(&old);
		r = new_ring();
		hrr_files_end(&old);
	}
	if (r == NULL) {
		atomic_fetch_add(&hrr_proc->ctl->lost, 1);
		return false;
	}
	t->data = hrr_ring_data(r);
	t->size = r->size;
	t->head = atomic_load_explicit(&r->head, memory_order_relaxed);
	t->tail = atomic_load_explicit(&r->tail, memory_order_acquire);
	t->ring = r;
	pthread_setspecific(key, t);
	hrr_b_begin(t, HRR_R_TID, 0);
	hrr_b_rec(t)->ret = (int64_t)syscall(SYS_gettid);
	hrr_b_commit(t);
	return true;
}

struct hrr_thread *hrr_thread_slow(struct hrr_thread *t)
{
	int err = errno;
	struct hrr_process *p = hrr_proc;

	if (atomic_load_explicit(&p->gen, memory_order_acquire) == 0) {
		hrr_process_start();
		p = hrr_proc;
	}
	t->gen = p->gen;
	t->ring = NULL;
	if (p->recording && hrr_thread_attach(t))
		hrr_register_replay(t);
	errno = err;
	return t->ring != NULL ? t : NULL;
}

/* --- building ------------------------------------------------------------- */

void hrr_b_wake(struct hrr_thread *t)
{
	struct hrr_hub *hub = hrr_proc->hub;

	if (t != NULL) {
		t->tail = atomic_load_explicit(&t->ring->tail, memory_order_acquire);
		if (t->head - t->tail <= t->size / 2)
			return;
	}
	if (atomic_load_explicit(&hub->sleeping, memory_order_relaxed) == 0)
		return;
	int err = errno;
	atomic_fetch_add(&hub->wake, 1);
	syscall(SYS_futex, &hub->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	errno = err;
}

/* Waits until need bytes behind head are free. */
static bool wait_space(struct hrr_thread *t, uint64_t need)
{
	struct hrr_hub *hub = hrr_proc->hub;
	uint64_t waited = 0, step = 20000;
	int err = errno, cancel;
	bool ok = true;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	for (;;) {
		t->tail = atomic_load_explicit(&t->ring->tail, memory_order_acquire);
		if (t->size - (t->head - t->tail) >= need)
			break;
		if (atomic_load_explicit(&hub->off, memory_order_relaxed) != 0 ||
		    ((hub->options & HRR_OPT_DROP) != 0 && !t->must) ||
		    (waited >= 200000000 && !hrr_reader_alive())) {
			ok = false;
			break;
		}
		if (waited >= 200000000)
			waited = 0;
		hrr_b_wake(t);
		struct timespec ts = {0, (long)step};
		nanosleep(&ts, NULL);
		waited += step;
		if (step < 2000000)
			step *= 2;
	}
	if (!ok && (hub->options & HRR_OPT_DROP) == 0 && atomic_load(&hub->off) == 0)
		atomic_store(&hub->off,
			     HRR_OFF_ALONE); /* nobody reads: recording ends, the program runs on */
	pthread_setcancelstate(cancel, NULL);
	errno = err;
	return ok;
}

static void set_end(struct hrr_thread *t)
{
	uint64_t room = t->size - (t->head - t->tail);
	unsigned char *end = t->data + t->size;

	t->end = (uint64_t)(end - t->start) < room ? end : t->start + room;
}

bool hrr_b_room_slow(struct hrr_thread *t, size_t n)
{
	uint64_t used = (uint64_t)(t->p - t->start), whole = used + n;

	if (t->failed)
		return false;
	/* Leave room for what follows in small steps. */
	uint64_t off = t->head & (t->size - 1), rest = t->size - off;
	if (whole > t->size / 2) {
		t->failed = true;
		return false;
	}
	uint64_t need = whole > rest ? rest + whole : whole;
	if (!wait_space(t, need)) {
		t->failed = true;
		return false;
	}
	if (whole > rest) {
		memcpy(t->data, t->start, used);
		struct hrr_rec *pad = (struct hrr_rec *)(void *)t->start;
		pad->size = (uint32_t)rest;
		pad->type = HRR_R_PAD;
		t->head += rest;
		t->start = t->data;
		t->p = t->start + used;
	}
	set_end(t);
	return true;
}

void hrr_b_begin(struct hrr_thread *t, enum hrr_rec_type type, enum hrr_api api)
{
	while (t->n_kept > 0) /* of a record that was begun and left */
		hrr_arena_give(t->kept[--t->n_kept]);
	t->failed = false;
	t->start = t->p = t->data + (t->head & (t->size - 1));
	set_end(t);
	if (!hrr_b_room(t, sizeof(struct hrr_rec)))
		return;
	struct hrr_rec *r = hrr_b_rec(t);
	*r = (struct hrr_rec){.type = (uint8_t)type, .api = (uint16_t)api};
	/* Records without a number of their own stand behind the last one given. */
	if (type >= HRR_R_OBJECT)
		r->seq = atomic_load_explicit(&hrr_proc->ctl->seq, memory_order_relaxed);
	t->p += sizeof *r;
}

unsigned char *hrr_b_att(struct hrr_thread *t, enum hrr_att_tag tag, unsigned param, size_t len)
{
	size_t padded = (len + 7) & ~(size_t)7;

	if (len > t->size / 2 || !hrr_b_room(t, sizeof(struct hrr_att) + padded)) {
		t->failed = true;
		return NULL;
	}
	struct hrr_att *a = (struct hrr_att *)(void *)t->p;
	*a = (struct hrr_att){.len = (uint32_t)len, .tag = (uint8_t)tag, .param = (uint8_t)param};
	unsigned char *d = t->p + sizeof *a;
	if (padded != len)
		memset(d + padded - 8, 0, 8);
	t->p = d + padded;
	return d;
}

bool hrr_b_commit(struct hrr_thread *t)
{
	if (t->failed) {
		atomic_fetch_add_explicit(&hrr_proc->ctl->lost, 1, memory_order_relaxed);
		return false;
	}
	uint64_t n = (uint64_t)(t->p - t->start);
	t->n_kept = 0;
	hrr_b_rec(t)->size = (uint32_t)n;
	t->head += n;
	atomic_store_explicit(&t->ring->head, t->head, memory_order_release);
	if (t->head - t->tail > t->size / 2)
		hrr_b_wake(t);
	return true;
}
