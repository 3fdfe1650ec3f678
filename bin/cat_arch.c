#include <errno.h>

#include "bin/cat.h"
#include "bin/tool.h"
#include "lib/hip/bundle.h"

/* --arch: programs and libraries bring code for every GPU there is; a recording needs one's. */

int cat_code_for(void *self, const void *data, size_t len, struct hrr_buf *ret,
		 struct hrr_diag *diag)
{
	struct cat_arch *a = self;
	struct hrr_diag ignored = {0};
	struct hrr_bundle b;
	size_t fit = 0, other = 0;
	char name[64];

	/* What cannot be read is for who loads it to tell. */
	if (hrr_bundle_open(&b, data, len, &ignored) < 0) {
		a->without++;
		return -ENOENT;
	}
	for (size_t i = 0; i < b.n_entries; i++)
		if (hrr_bundle_fits(&b.entries[i], a->name))
			fit++;
		else if (b.entries[i].size != 0 &&
			 hrr_bundle_arch(&b.entries[i], name, sizeof name) == 0)
			other++;
	*(fit != 0 ? &a->with : &a->without) += 1;
	int rc = fit == 0 || other == 0 ? -ENOENT : hrr_bundle_only(&b, a->name, ret);
	hrr_bundle_close(&b);
	return rc == -ENOMEM ? hrr_diag_set(diag, rc, "out of memory") : rc;
}

void cat_arch_end(const struct cat_arch *a)
{
	if (a->name == NULL || a->without == 0)
		return;
	if (a->with == 0)
		tool_die(NULL, 0, "--arch %s: no code object here has code for it", a->name);
	tool_say(NULL, 0,
		 "--arch %s: %zu of %zu code objects have no code for it and stay as they are",
		 a->name, a->without, a->with + a->without);
}
