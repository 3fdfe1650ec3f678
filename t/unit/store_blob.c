#include "lib/store/blob.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t/unit/tap.h"

static char dir[] = "/tmp/hrr-unit-XXXXXX";
static struct hrr_diag d;

static const char *in_dir(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	fputs(text, f);
	fclose(f);
}

static int entries(const char *path)
{
	DIR *o = opendir(path);
	int n = 0;

	if (o == NULL)
		return -1;
	while (readdir(o) != NULL)
		n++;
	closedir(o);
	return n - 2;
}

/* Told that a piece was read. */
static void cut(void *path, uint64_t bytes)
{
	if (truncate(path, (off_t)bytes) < 0)
		diag("cannot cut");
}

int main(void)
{
	struct hrr_blobs *s, *again;
	struct hrr_blob b;
	struct hrr_id id, empty, id2;
	char path[4096], folder[4096];
	struct stat st;
	uint64_t size;

	if (mkdtemp(dir) == NULL)
		return 1;
	is(hrr_blobs_open(&s, in_dir("none"), false, &d), -ENOENT, "a folder that is not there");
	ok(strstr(d.what, "cannot open blob folder") != NULL, "is named");
	is(hrr_blobs_open(&s, in_dir("blobs"), true, &d), 0, "it is made on request");
	ok(stat(in_dir("blobs"), &st) == 0 && (st.st_mode & 0777) == 0700, "with mode 0700");

	is(hrr_blobs_put(s, "", 0, &empty, &d), 0, "put the empty blob");
	hrr_blobs_file(s, &empty, path, sizeof path);
	ok(strstr(path, "/blobs/99/99aa06d3014798d86001c324468d497f") != NULL, "under its name");
	ok(stat(path, &st) == 0 && (st.st_mode & 0777) == 0400, "with mode 0400");
	is(hrr_blobs_put(s, "hello", 5, &id, &d), 0, "put hello");
	is(hrr_blobs_put(s, "hello", 5, &id2, &d), 0, "and again");
	ok(hrr_id_equal(&id, &id2), "one id");
	hrr_blobs_file(s, &id, path, sizeof path);
	memcpy(folder, path, sizeof folder);
	*strrchr(folder, '/') = '\0';
	is(entries(folder), 1, "one file, no temporary left");

	is(hrr_blobs_get(s, &id, 0, &b, &d), 0, "get");
	ok(b.len == 5 && memcmp(b.data, "hello", 5) == 0, "the same bytes");
	hrr_blob_release(&b);
	is(hrr_blobs_get(s, &empty, 0, &b, &d), 0, "get the empty one");
	is(b.len, 0, "nothing in it");
	hrr_blob_release(&b);
	is(hrr_blobs_get(s, &id, 4, &b, &d), -EFBIG, "more than the caller takes");
	ok(hrr_blobs_size(s, &id, &size) == 0 && size == 5, "size");

	char *big = malloc(3000000);
	for (int i = 0; i < 3000000; i++)
		big[i] = (char)(i * 31 >> 3);
	is(hrr_blobs_put(s, big, 3000000, &id2, &d), 0, "put a large blob");
	is(hrr_blobs_get(s, &id2, 0, &b, &d), 0, "and get it");
	ok(b.len == 3000000 && memcmp(b.data, big, b.len) == 0, "equal");

	/* Whoever may write the store may cut a blob while somebody looks at it. */
	char large[4096];
	hrr_blobs_file(s, &id2, large, sizeof large);
	chmod(large, 0600);
	is(hrr_blobs_check(s, &id2, &size, NULL, NULL, &d), 0, "check it");
	ok(size == 3000000, "and its size");
	is(truncate(large, 1000), 0, "cut its file");
	ok(b.len == 3000000 && memcmp(b.data, big, b.len) == 0, "what was got stays");
	hrr_blob_release(&b);
	FILE *f = fopen(large, "w");
	fwrite(big, 1, 3000000, f);
	fclose(f);
	is(hrr_blobs_check(s, &id2, &size, cut, large, &d), -EBADMSG, "cut while it is checked");
	ok(strstr(d.what, "is damaged: it became shorter while it was read") != NULL, "is said: %s",
	   d.what);
	is(hrr_blobs_get(s, &id2, 0, &b, &d), -EBADMSG, "and seen from then on");

	/* Damage is seen, by a store that has read the file before as well. */
	chmod(path, 0600);
	write_file(path, "hellO");
	is(hrr_blobs_get(s, &id, 0, &b, &d), -EBADMSG, "a blob that was good");
	hrr_blobs_open(&again, in_dir("blobs"), false, &d);
	is(hrr_blobs_get(again, &id, 0, &b, &d), -EBADMSG, "a damaged blob");
	ok(strstr(d.what, "is damaged: its 5 bytes hash to xxh128:") != NULL, "is said: %s",
	   d.what);
	is(hrr_blobs_put(again, "hello", 5, &id2, &d), -EEXIST, "putting over it is an error");
	ok(strstr(d.what, "is there with other bytes") != NULL, "is said: %s", d.what);
	write_file(path, "hello!");
	is(hrr_blobs_put(again, "hello", 5, &id2, &d), -EEXIST, "another size too");
	unlink(path);
	is(hrr_blobs_get(again, &id, 0, &b, &d), -ENOENT, "a missing blob");
	ok(strstr(d.what, "is missing") != NULL, "is said: %s", d.what);
	is(hrr_blobs_size(again, &id, &size), -ENOENT, "it has no size");
	write_file(in_dir("outside"), "hello");
	is(symlink("../../outside", path), 0, "a link under the name");
	is(hrr_blobs_get(again, &id, 0, &b, &d), -EBADMSG, "is not followed");
	unlink(path);
	is(mkfifo(path, 0600), 0, "a FIFO under the name");
	is(hrr_blobs_get(again, &id, 0, &b, &d), -EBADMSG, "does not hang");
	unlink(path);
	rmdir(folder);
	is(symlink("..", folder), 0, "a link in place of the folder");
	is(hrr_blobs_get(again, &id, 0, &b, &d), -EBADMSG, "is not followed either");
	ok(hrr_blobs_put(again, "hello", 5, &id2, &d) < 0, "nor put through");
	unlink(folder);

	/* Taking over a file. */
	is(hrr_blobs_put_file(again, in_dir("outside"), &id2, &d), 0, "take over a file");
	ok(hrr_id_equal(&id, &id2), "by its bytes");
	struct stat st2;
	ok(stat(path, &st) == 0 && stat(in_dir("outside"), &st2) == 0 && st.st_ino == st2.st_ino,
	   "by link");
	is(hrr_blobs_put_file(again, in_dir("outside"), &id2, &d), 0, "twice");
	is(hrr_blobs_put_file(again, in_dir("nothing"), &id2, &d), -ENOENT, "a missing file");
	is(hrr_blobs_put_file(again, dir, &id2, &d), -EINVAL, "a folder");

	bool good = true;
	for (int i = 0; i < 3000; i++) {
		good = good && hrr_blobs_put(again, &i, sizeof i, &id2, &d) == 0 &&
		       hrr_blobs_get(again, &id2, 0, &b, &d) == 0 && b.len == sizeof i;
		hrr_blob_release(&b);
	}
	ok(good, "3000 blobs");
	hrr_blobs_close(s);
	hrr_blobs_close(again);
	free(big);
	char command[4200];
	snprintf(command, sizeof command, "rm -rf %s", dir);
	return system(command) != 0 || done_testing();
}
