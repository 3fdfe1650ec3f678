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
