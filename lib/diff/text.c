#include "lib/diff/private.h"

#include <string.h>

static const char *type_name(uint8_t type)
{
	if (type == HRR_OBJECT_MEMORY)
		return "memory";
	if (type == HRR_OBJECT_STUB)
		return "symbol";
	if (type == HRR_OBJECT_PLACE)
		return "record";
	return type < HRR_H_COUNT ? hrr_handle_names[type] : "object";
}

static int put_ref(struct hrr_diff *d, int side, const struct hrr_diff_ref *r, struct hrr_buf *b)
{
	struct hrr_objects *o = &d->side[side].objects;
	struct hrr_object *x, *first;
	bool theirs = false;

	switch (r->kind) {
	case HRR_REF_NULL:
		return hrr_buf_adds(b, "0");
	case HRR_REF_HOST:
		return hrr_buf_adds(b, "host");
	case HRR_REF_DEVICE:
	case HRR_REF_HANDLE:
		return hrr_buf_addf(b, "undeclared:0x%llx", (unsigned long long)r->value);
	default:
		break;
	}
	x = hrr_objects_get(o, r->object);
	if (!x)
		return hrr_buf_adds(b, "?");
	if (side == 1) {
		first = x->pair == HRR_OBJECT_LOST ? NULL : hrr_objects_get(o->other, x->pair);
		theirs = !first;
		if (first)
			x = first;
	}
	int rc =
	    hrr_buf_addf(b, "%s%u%s", type_name(x->type), (unsigned)x->number, theirs ? "'" : "");
	if (rc == 0 && r->offset)
		rc = hrr_buf_addf(b, "+0x%llx", (unsigned long long)r->offset);
	return rc;
}

int hrr_diff_put_value(struct hrr_diff *d, int side, const struct hrr_fact *f, struct hrr_buf *b)
{
	if (f->kind == HRR_FACT_REF)
		return put_ref(d, side, f->ref, b);
	/* A simple string needs no quotes for a person. */
	if (f->value_len >= 2 && f->value[0] == '"' && !memchr(f->value, '\\', f->value_len) &&
	    !memchr(f->value, ' ', f->value_len))
		return hrr_buf_add(b, f->value + 1, f->value_len - 2);
	return hrr_buf_add(b, f->value, f->value_len);
}

static bool has_prefix(const struct hrr_fact *f, const char *prefix)
{
	size_t n = strlen(prefix);

	return f->path_len > n && memcmp(f->path, prefix, n) == 0;
}

/* What a reader of one line does not need: places of arguments, bytes that are all address. */
static bool noise(const struct hrr_fact *f)
{
	size_t skip = hrr_path_kernel(f->path, f->path_len);

	if (skip == 0 || f->path_len - skip <= 5 || memcmp(f->path + skip, "args[", 5) != 0)
		return false;
	if (f->kind == HRR_FACT_HEX)
		return strspn(f->value + 1, ".") == f->value_len - 2;
	return f->path_len > 7 && memcmp(f->path + f->path_len - 7, ".offset", 7) == 0;
}

int hrr_diff_put_call(struct hrr_diff *d, int side, const struct hrr_diff_call *c,
		      struct hrr_buf *b)
{
	struct hrr_fact f;
	uint32_t ref = 0;
	int rc = hrr_buf_adds(b, c->kind == HRR_REC_OUTPUT   ? "output"
				 : c->kind == HRR_REC_OTHER  ? "result"
				 : c->kind == HRR_REC_REGION ? "region"
							     : c->name);

	for (size_t at = 0; rc == 0 && hrr_diff_call_fact(c, &at, &ref, &f);) {
		size_t skip = has_prefix(&f, "args.") ? 5 : has_prefix(&f, "kernel.") ? 7 : 0;

		if (noise(&f))
			continue;
		if ((rc = hrr_buf_addc(b, ' ')) == 0 &&
		    (rc = hrr_buf_add(b, f.path + skip, f.path_len - skip)) == 0 &&
		    (rc = hrr_buf_addc(b, '=')) == 0)
			rc = hrr_diff_put_value(d, side, &f, b);
	}
	return rc;
}
