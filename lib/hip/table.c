#include "lib/hip/table.h"

#include <errno.h>
#include <string.h>

#include "hip_table.inc"

int hrr_api_find(const char *name, size_t len)
{
	int lo = 0, hi = HRR_API_COUNT - 1;

	while (lo <= hi) {
		int mid = (lo + hi) / 2;
		const char *have = hrr_api_table[by_name[mid]].name;
		int c = strncmp(name, have, len);
		if (c == 0 && have[len] != '\0')
			c = -1;
		if (c == 0)
			return by_name[mid];
		if (c < 0)
			hi = mid - 1;
		else
			lo = mid + 1;
	}
	return -1;
}

int hrr_api_param(enum hrr_api api, const char *name, size_t len)
{
	const struct hrr_api_row *row = &hrr_api_table[api];

	for (int i = 0; i < row->n_params; i++)
		if (strncmp(row->params[i].name, name, len) == 0 &&
		    row->params[i].name[len] == '\0')
			return i;
	return -1;
}

const char *hrr_enum_name(const struct hrr_enum *en, int major, int value)
{
	if (major < 5 || major >= 5 + HRR_MAJORS)
		major = 5;
	for (int i = 0; i < en->n; i++)
		if (en->values[i].value[major - 5] == value && value != HRR_NO_VALUE)
			return en->values[i].name;
	return NULL;
}

int hrr_enum_value(const struct hrr_enum *en, int major, const char *name, size_t len,
		   int *ret_value)
{
	if (major < 5 || major >= 5 + HRR_MAJORS)
		major = 5;
	for (int i = 0; i < en->n; i++) {
		const struct hrr_enumerator *v = &en->values[i];
		if (strncmp(v->name, name, len) != 0 || v->name[len] != '\0')
			continue;
		if (v->value[major - 5] == HRR_NO_VALUE)
			return -ENOENT;
		*ret_value = v->value[major - 5];
		return 0;
	}
	return -ENOENT;
}

const char *hrr_error_name(int error)
{
	return hrr_enum_name(&enum_hipError_t, 5, error);
}

const struct hrr_struct *hrr_struct_at(const struct hrr_struct *st, int layout)
{
	return st != NULL && st->later != NULL && layout >= st->since ? st->later : st;
}

size_t hrr_scalar_size(int kind)
{
	switch (kind) {
	case HRR_K_U8:
		return 1;
	case HRR_K_U16:
		return 2;
	case HRR_K_INT:
	case HRR_K_DEVICE:
	case HRR_K_UINT:
	case HRR_K_FLAGS:
	case HRR_K_U32:
	case HRR_K_FLOAT:
	case HRR_K_ENUM:
		return 4;
	case HRR_K_DIM3:
		return 12;
	case HRR_K_STRUCT:
	case HRR_K_VALUE:
	case HRR_K_CHARS:
	case HRR_K_BYTES:
	case HRR_K_INTS:
	case HRR_K_KPARAMS:
	case HRR_K_EXTRA:
		return 0;
	default:
		return 8;
	}
}

/* Bytes of a field that holds one number; 0: it does not. */
static size_t width(const struct hrr_field *f)
{
	return f->kind == HRR_K_DIM3 ? 0 : hrr_scalar_size(f->kind);
}

void hrr_struct_convert(const struct hrr_struct *to, void *dst, const struct hrr_struct *from,
			const void *src)
{
	for (int i = 0; i < to->n; i++) {
		const struct hrr_field *t = &to->fields[i], *f = NULL;
		uint64_t v = 0;
		for (int k = 0; k < from->n && f == NULL; k++)
			if (strcmp(from->fields[k].name, t->name) == 0)
				f = &from->fields[k];
		if (f == NULL || width(f) == 0 || width(t) == 0)
			continue;
		memcpy(&v, (const char *)src + f->offset, width(f));
		memcpy((char *)dst + t->offset, &v, width(t));
	}
}
