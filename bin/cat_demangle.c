#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bin/cat.h"
#include "bin/tool.h"

/* The C++ library knows how, where it is installed. */
int cat_demangle(void *self, const char *name, size_t len, struct hrr_buf *b)
{
	static char *(*cxa_demangle)(const char *, char *, size_t *, int *);
	static bool tried;
	struct hrr_buf copy = {0};
	int status = -1, rc = -ENOSYS;

	(void)self;
	if (!tried) {
		void *lib = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
		void *symbol = lib != NULL ? dlsym(lib, "__cxa_demangle") : NULL;
		memcpy(&cxa_demangle, &symbol, sizeof symbol);
		tried = true;
		if (cxa_demangle == NULL)
			tool_say(NULL, 0, "--demangle: libstdc++.so.6 cannot be loaded");
	}
	/* What follows a '.' (".kd", clones) is no part of a mangled name. */
	size_t n = 0;
	while (n < len && name[n] != '.')
		n++;
	if (cxa_demangle == NULL)
		return -ENOSYS;
	if (hrr_buf_add(&copy, name, n) < 0 || hrr_buf_str(&copy) == NULL) {
		hrr_buf_release(&copy);
		return -ENOMEM;
	}
	char *text = cxa_demangle(copy.data, NULL, NULL, &status);
	if (text != NULL && status == 0)
		rc = hrr_buf_adds(b, text) | hrr_buf_add(b, name + n, len - n);
	else if (status == -1)
		rc = -ENOMEM;
	free(text);
	hrr_buf_release(&copy);
	return rc < 0 ? rc : 0;
}
