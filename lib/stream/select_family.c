#include <string.h>

#include "lib/stream/select_private.h"
#include "stream_families.h"

/* By name and not by table: a call this version does not know belongs somewhere too. */
const struct hrr_select_family hrr_select_families[] = {HRR_FAMILIES, {NULL, NULL}};

static bool in_globs(const char *globs, const char *api, size_t len)
{
	for (const char *g = globs; *g != '\0';) {
		size_t n = strcspn(g, " ");
		if (hrr_glob(g, n, api, len))
			return true;
		g += n + (g[n] == ' ');
	}
	return false;
}

/* A stream calls few functions many times: what was found is kept by name. */
#define SLOTS 256u
#define MAX_NAME 60

struct slot {
	uint8_t len; /* 0: free */
	char name[MAX_NAME - 1];
	uint32_t families;
};

uint32_t hrr_select_families_of(const char *api, size_t len)
{
	static _Thread_local struct slot slots[SLOTS];
	uint32_t h = (uint32_t)len, families = 0;

	for (size_t i = len > 12 ? len - 12 : 0; i < len; i++)
		h = h * 31 + (unsigned char)api[i];
	struct slot *slot = &slots[h % SLOTS];
	if (len > 0 && slot->len == len && memcmp(slot->name, api, len) == 0)
		return slot->families;
	for (uint32_t i = 0; hrr_select_families[i].name != NULL; i++)
		if (in_globs(hrr_select_families[i].globs, api, len))
			families |= 1u << i;
	if (len > 0 && len <= sizeof slot->name) {
		slot->len = (uint8_t)len;
		memcpy(slot->name, api, len);
		slot->families = families;
	}
	return families;
}

bool hrr_select_in_family(const char *family, const char *api, size_t len)
{
	for (uint32_t i = 0; hrr_select_families[i].name != NULL; i++)
		if (strcmp(hrr_select_families[i].name, family) == 0)
			return (hrr_select_families_of(api, len) >> i & 1) != 0;
	return false;
}
