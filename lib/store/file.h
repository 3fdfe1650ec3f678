#ifndef HRR_STORE_FILE_H
#define HRR_STORE_FILE_H

#include <dirent.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/base/buf.h"
#include "lib/base/diag.h"

/* Files that appear whole or not at all. */

/* All of data, over interrupts and short writes. Negative errno. */
int hrr_write_all(int fd, const void *data, size_t len);
/* len bytes from the start of an open file; -ENODATA where it ends before, -errno. */
int hrr_read_exactly(int fd, void *data, size_t len);
/*
 * Writes dirfd/name by a temporary name in the same folder and a rename; what
 * was there before stays until then. -errno with "cannot write NAME: why".
 */
int hrr_file_replace(int dirfd, const char *name, const void *data, size_t len, mode_t mode,
		     struct hrr_diag *diag);
/*
 * A file of somebody's folder, to be read: a descriptor, or -errno. What is no plain file is
 * -EISDIR or -EINVAL: a pipe nobody writes to is not waited for. flags: O_NOFOLLOW or 0.
 */
int hrr_file_open(int dirfd, const char *name, int flags);
/* Why one cannot be opened or read, for people. */
const char *hrr_file_why(int rc);
/* Appends the whole of a plain file to b; -EFBIG beyond max bytes; else as hrr_file_open. */
int hrr_file_read(int dirfd, const char *name, size_t max, struct hrr_buf *b);
/* The same, of a path whose last part is no link. */
int hrr_file_read_plain(const char *path, size_t max, struct hrr_buf *b);
/* The same of what a user names: a pipe, too; "-" is standard input. */
int hrr_operand_read(const char *path, size_t max, struct hrr_buf *b);
/* A name for a temporary file beside others, unlike any other in this process. */
void hrr_file_temporary(char *name, size_t size);
/* DIR/NAME in new memory, without doubled slash; NULL: no memory. */
char *hrr_path_join(const char *dir, const char *name);
/* Folder of path's last component ("." when there is none), in new memory. */
char *hrr_path_dir(const char *path);

/*
 * A folder that appears whole or not at all. begin makes a temporary one beside
 * dir (-EEXIST when dir is there; *ret_temporary is owned by the caller), end
 * gives it its name without replacing, remove takes it away with all it holds.
 */
int hrr_folder_begin(const char *dir, char **ret_temporary, struct hrr_diag *diag);
int hrr_folder_end(const char *temporary, const char *dir, struct hrr_diag *diag);
void hrr_folder_remove(const char *temporary);

/*
 * The next entry of a folder, or NULL: at its end, or with *rc a negative errno when it cannot be
 * read on. Nobody would miss what a list leaves out.
 */
struct dirent *hrr_dir_next(DIR *d, int *rc);

#endif
