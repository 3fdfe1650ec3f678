#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/store/file.h"
#include "lib/store/verify_private.h"

#define MAX_THREADS 8

/* A file under a blob's name. */
struct file {
	struct hrr_id id;
	uint64_t size;
	uint8_t state;
	bool read;
};

struct hrr_verify_folder {
	struct hrr_blobs *store; /* borrowed */
	struct hrr_verify_options opt;
	struct hrr_buf files; /* of struct file, by id */
	uint64_t total;	      /* bytes of them all, for who waits */
	/* While they are read: */
	_Atomic size_t next;
	_Atomic uint64_t bytes;
	pthread_mutex_t lock; /* over rc and diag: the first failure */
	int rc;
	struct hrr_diag diag;
};

static struct file *files(const struct hrr_verify_folder *f, size_t *ret_n)
{
	*ret_n = f->files.len / sizeof(struct file);
	return (struct file *)(void *)f->files.data;
}

/* --- listing --- */

static int list(struct hrr_verify_folder *f, const char *two)
{
	char *path = hrr_path_join(hrr_blobs_path(f->store), two);
	DIR *d = path != NULL ? opendir(path) : NULL;
	int rc = path == NULL ? -ENOMEM : 0;

	if (path != NULL && d == NULL && errno != ENOENT && errno != ENOTDIR)
		rc = -errno;
	for (struct dirent *e; d != NULL && rc == 0 && (e = hrr_dir_next(d, &rc)) != NULL;) {
		char text[HRR_ID_TEXT + 1] = "xxh128:";
		struct file file = {.size = 0};
		if (strlen(e->d_name) != HRR_ID_HEX || memcmp(e->d_name, two, 2) != 0)
			continue;
		memcpy(text + 7, e->d_name, HRR_ID_HEX + 1);
		if (hrr_id_parse(text, HRR_ID_TEXT, &file.id) < 0)
			continue;
		struct stat st;
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			f->total += (uint64_t)st.st_size;
		rc = hrr_buf_add(&f->files, &file, sizeof file);
	}
	if (d != NULL)
		closedir(d);
	free(path);
	return rc;
}

static int by_id(const void *a, const void *b)
{
	return memcmp(((const struct file *)a)->id.b, ((const struct file *)b)->id.b,
		      sizeof(struct hrr_id));
}

/* --- reading --- */

struct worker {
	struct hrr_verify_folder *f;
	bool calling; /* the calling thread: progress may be told */
	uint64_t told;
};

static void tell(void *self, uint64_t bytes)
{
	struct worker *w = self;
	uint64_t all = atomic_fetch_add(&w->f->bytes, bytes - w->told) + (bytes - w->told);

	w->told = bytes;
	if (w->calling && w->f->opt.progress != NULL)
		w->f->opt.progress(w->f->opt.self, all, w->f->total);
}

static void *work(void *self)
{
	struct worker *w = self;
	struct hrr_verify_folder *f = w->f;
	struct hrr_diag diag = {0};
	size_t n, i;
	struct file *file = files(f, &n);

	while ((i = atomic_fetch_add(&f->next, 1)) < n) {
		w->told = 0;
		int rc = hrr_blobs_check(f->store, &file[i].id, &file[i].size, tell, w, &diag);
		file[i].read = true;
		file[i].state = rc == 0		? HRR_VERIFY_WHOLE
				: rc == -ENOENT ? HRR_VERIFY_MISSING
						: HRR_VERIFY_DAMAGED;
		if (rc == 0 || rc == -ENOENT || rc == -EBADMSG)
			continue;
		pthread_mutex_lock(&f->lock);
		if (f->rc == 0) {
			f->rc = rc;
			f->diag = diag;
		}
		pthread_mutex_unlock(&f->lock);
		atomic_store(&f->next, n);
	}
	return NULL;
}

static int read_all(struct hrr_verify_folder *f, struct hrr_diag *diag)
{
	struct worker workers[MAX_THREADS];
	pthread_t threads[MAX_THREADS];
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t n = cpus < 1 ? 1 : cpus > MAX_THREADS ? MAX_THREADS : (size_t)cpus, started = 1;

	for (size_t i = 0; i < n; i++)
		workers[i] = (struct worker){.f = f, .calling = i == 0};
	/* At once: the others may be done before the calling thread has a file to tell of. */
	if (f->opt.progress != NULL)
		f->opt.progress(f->opt.self, 0, f->total);
	while (started < n && pthread_create(&threads[started], NULL, work, &workers[started]) == 0)
		started++;
	work(&workers[0]);
	for (size_t i = 1; i < started; i++)
		pthread_join(threads[i], NULL);
	if (f->rc < 0)
		return hrr_diag_set(diag, f->rc, "%s", f->diag.what);
	return 0;
}

/* --- asked --- */

int hrr_verify_folder_new(struct hrr_verify_folder **ret, struct hrr_blobs *store,
			  const struct hrr_verify_options *opt, struct hrr_diag *diag)
{
	static const char hex[] = "0123456789abcdef";
	struct hrr_verify_folder *f = calloc(1, sizeof *f);
	int rc = f == NULL ? -ENOMEM : 0;

	if (f != NULL) {
		f->store = store;
		f->opt = *opt;
		pthread_mutex_init(&f->lock, NULL);
	}
	for (unsigned k = 0; rc == 0 && k < 256; k++)
		rc = list(f, (char[3]){hex[k >> 4], hex[k & 15], '\0'});
	if (rc < 0) {
		hrr_verify_folder_free(f);
		return hrr_diag_set(diag, rc, "cannot list blobs: %s", strerror(-rc));
	}
	size_t n;
	struct file *all = files(f, &n);
	if (n > 1)
		qsort(all, n, sizeof *all, by_id);
	if (f->opt.all && n > 0)
		rc = read_all(f, diag);
	if (rc < 0)
		hrr_verify_folder_free(f);
	else
		*ret = f;
	return rc;
}

void hrr_verify_folder_free(struct hrr_verify_folder *f)
{
	if (f == NULL)
		return;
	pthread_mutex_destroy(&f->lock);
	hrr_buf_release(&f->files);
	free(f);
}

const char *hrr_verify_folder_path(const struct hrr_verify_folder *f)
{
	return hrr_blobs_path(f->store);
}

bool hrr_verify_folder_knows(const struct hrr_verify_folder *f, const struct hrr_id *id,
			     uint64_t *ret_state, uint64_t *ret_size)
{
	size_t n;
	const struct file key = {.id = *id}, *all = files(f, &n);
	const struct file *x = n > 0 ? bsearch(&key, all, n, sizeof *all, by_id) : NULL;

	if (x == NULL || !x->read)
		return false;
	*ret_state = x->state;
	*ret_size = x->state == HRR_VERIFY_WHOLE ? x->size : 0;
	return true;
}

int hrr_verify_folder_each(struct hrr_verify_folder *f,
			   int (*each)(void *self, const struct hrr_id *id), void *self)
{
	size_t n;
	const struct file *all = files(f, &n);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = each(self, &all[i].id);
	return rc;
}
