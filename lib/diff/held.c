#include "lib/diff/held.h"

#include <errno.h>
#include <string.h>

static bool begins(const struct hrr_fact *f, const char *with)
{
	size_t n = strlen(with);

	return f->path_len >= n && memcmp(f->path, with, n) == 0;
}

bool hrr_fact_may_lack(const struct hrr_fact *f)
{
	return begins(f, "args.") || begins(f, "blobs.") || begins(f, "host[") ||
	       begins(f, "dir") ||
	       (hrr_path_kernel(f->path, f->path_len) > 0 && !begins(f, "kernel.name"));
}

bool hrr_fact_held_by_all(const struct hrr_fact *f, bool launch)
{
	if (!hrr_fact_may_lack(f))
		return true;
	if (!begins(f, "args.") || launch)
		return begins(f, "kernel.grid") || begins(f, "kernel.block") ||
		       begins(f, "blobs.src");
	/* Numbers, enumerators and handles are; texts, arrays and what is behind pointers may not
	 * be. */
	return f->kind == HRR_FACT_REF ||
	       (f->value_len > 0 && f->value[0] != '[' &&
		(f->value[0] != '"' || (f->value_len > 4 && memcmp(f->value, "\"hip", 4) == 0)));
}

int hrr_diff_format(const struct hrr_record *rec, struct hrr_buf *ret)
{
	const struct hrr_json *j = &rec->json;
	int foreign = hrr_json_get(j, 0, "foreign");

	ret->len = 0;
	if (rec->kind != HRR_REC_HEADER || foreign < 0)
		return 0;
	int rc = hrr_json_str(j, hrr_json_get(j, foreign, "format"), ret);
	return rc < 0 && rc != -ENOMEM ? 0 : rc;
}
