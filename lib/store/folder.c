#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/store/file.h"

int hrr_folder_begin(const char *dir, char **ret_temporary, struct hrr_diag *diag)
{
	char name[64], *parent = NULL, *temporary = NULL;
	struct stat st;
	int rc = 0;

	hrr_diag_at(diag, dir, 0);
	if (lstat(dir, &st) == 0)
		return hrr_diag_set(diag, -EEXIST, "cannot make archive: it is there already");
	parent = hrr_path_dir(dir);
	do {
		hrr_file_temporary(name, sizeof name);
		free(temporary);
		temporary = parent != NULL ? hrr_path_join(parent, name) : NULL;
		if (temporary == NULL)
			rc = -ENOMEM;
		else
			rc = mkdir(temporary, 0700) < 0 ? -errno : 0;
	} while (rc == -EEXIST);
	free(parent);
	if (rc < 0) {
		free(temporary);
		return hrr_diag_set(diag, rc, "cannot make archive: %s", strerror(-rc));
	}
	*ret_temporary = temporary;
	return 0;
}

int hrr_folder_end(const char *temporary, const char *dir, struct hrr_diag *diag)
{
	if (renameat2(AT_FDCWD, temporary, AT_FDCWD, dir, RENAME_NOREPLACE) == 0)
		return 0;
	int rc = -errno;
	hrr_diag_at(diag, dir, 0);
	return hrr_diag_set(diag, rc, "cannot make archive: %s",
			    rc == -EEXIST ? "it is there already" : strerror(-rc));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	(void)remove(path);
	return 0;
}

void hrr_folder_remove(const char *temporary)
{
	(void)nftw(temporary, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
