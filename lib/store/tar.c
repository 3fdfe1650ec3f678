#include "lib/store/tar.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static unsigned sum_of(const struct hrr_tar_header *h)
{
	struct hrr_tar_header copy = *h;
	const unsigned char *p = (const unsigned char *)&copy;
	unsigned sum = 0;

	memset(copy.sum, ' ', sizeof copy.sum);
	for (size_t i = 0; i < sizeof copy; i++)
		sum += p[i];
	return sum;
}

/* Octal where it fits, else GNU's base 256. */
static void put_size(char *field, uint64_t size)
{
	if (size < (uint64_t)1 << 33) {
		for (int i = 10; i >= 0; i--, size >>= 3)
			field[i] = (char)('0' + (size & 7));
		return;
	}
	memset(field, 0, 12);
	field[0] = (char)0x80;
	for (int i = 11; i > 3; i--, size >>= 8)
		field[i] = (char)(size & 0xff);
}

int hrr_tar_make(struct hrr_tar_header *h, const char *name, uint64_t size, unsigned mode)
{
	size_t len = strlen(name);
	char text[16];

	memset(h, 0, sizeof *h);
	if (len <= sizeof h->name) {
		memcpy(h->name, name, len);
	} else {
		const char *slash = NULL;
		for (const char *s = name; s < name + len; s++)
			if (*s == '/' && s - name <= (int)sizeof h->prefix)
				slash = s;
		if (slash == NULL || len - (size_t)(slash - name) - 1 > sizeof h->name)
			return -ENAMETOOLONG;
		memcpy(h->prefix, name, (size_t)(slash - name));
		memcpy(h->name, slash + 1, len - (size_t)(slash - name) - 1);
	}
	snprintf(text, sizeof text, "%07o", mode & 07777);
	memcpy(h->mode, text, 8);
	memcpy(h->uid, "0000000", 8);
	memcpy(h->gid, "0000000", 8);
	put_size(h->size, size);
	memcpy(h->mtime, "00000000000", 12);
	h->type = '0';
	memcpy(h->magic, "ustar", 6);
	memcpy(h->version, "00", 2);
	snprintf(text, sizeof text, "%06o", sum_of(h));
	memcpy(h->sum, text, 7);
	h->sum[7] = ' ';
	return 0;
}

static int octal(const char *field, size_t len, uint64_t *ret)
{
	uint64_t v = 0;
	size_t i = 0;

	while (i < len && field[i] == ' ')
		i++;
	for (; i < len && field[i] >= '0' && field[i] <= '7'; i++)
		v = v << 3 | (uint64_t)(field[i] - '0');
	if (i < len && field[i] != '\0' && field[i] != ' ')
		return -EINVAL;
	*ret = v;
	return 0;
}

int hrr_tar_read(const struct hrr_tar_header *h, char *name, uint64_t *ret_size)
{
	uint64_t sum, size = 0;

	if (memcmp(h->magic, "ustar", 5) != 0 || octal(h->sum, sizeof h->sum, &sum) < 0 ||
	    sum != sum_of(h))
		return -EINVAL;
	if ((unsigned char)h->size[0] == 0x80) {
		for (int i = 4; i < 12; i++)
			size = size << 8 | (unsigned char)h->size[i];
	} else if (octal(h->size, sizeof h->size, &size) < 0) {
		return -EINVAL;
	}
	/* GNU tar's own header has other things where the prefix is. */
	int prefix = h->magic[5] == '\0' ? (int)strnlen(h->prefix, sizeof h->prefix) : 0;
	snprintf(name, 256, "%.*s%s%.*s", prefix, h->prefix, prefix > 0 ? "/" : "",
		 (int)strnlen(h->name, sizeof h->name), h->name);
	*ret_size = size;
	return 0;
}
