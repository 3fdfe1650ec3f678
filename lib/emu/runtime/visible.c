#include "lib/emu/runtime/visible.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * ROCR_VISIBLE_DEVICES chooses among the machine's devices, for HSA and HIP. Among those
 * HIP_VISIBLE_DEVICES, or CUDA_VISIBLE_DEVICES where that is unset or empty, chooses for HIP. Both
 * lists end at the first entry that names no device. They differ in this:
 *		ROCR			HIP
 *   empty	no device		as if unset
 *   twice	ends the list		once
 *   index	blanks, 0x allowed	decimal, nothing else
 *   UUID	the beginning of one	a part, the first that has it
 */

#define ENTRY_MAX 64

void visible_uuid(int id, char text[VISIBLE_UUID_SIZE])
{
	/* "hrr-emu" and the number: a device keeps it whatever is hidden. */
	snprintf(text, VISIBLE_UUID_SIZE, "6872722d656d75%02x", (unsigned)id & 0xff);
}

/* The next entry of a list into e; false at the end. One that is too long to be anything is cut
 * off, and is then nothing. */
static bool next_entry(const char **s, char e[ENTRY_MAX])
{
	const char *p = *s;

	if (p == NULL)
		return false;
	size_t n = strcspn(p, ",");
	*s = p[n] == ',' && p[n + 1] != '\0' ? p + n + 1 : NULL;
	snprintf(e, ENTRY_MAX, "%.*s", (int)(n < ENTRY_MAX ? n : ENTRY_MAX), p);
	return true;
}

static int rocr_index(char *e, const int *ids, int n)
{
	int found = -1;
	char *end;

	while (isspace((unsigned char)*e))
		e++;
	for (size_t k = strlen(e); k > 0 && isspace((unsigned char)e[k - 1]); k--)
		e[k - 1] = '\0';
	if (toupper((unsigned char)*e) != 'G') {
		long i = strtol(e, &end, 0);
		return end != e && *end == '\0' && i >= 0 && i < n ? (int)i : -1;
	}
	for (int i = 0; i < n && strlen(e) > 4; i++) {
		char uuid[4 + VISIBLE_UUID_SIZE] = "GPU-";
		visible_uuid(ids[i], uuid + 4);
		if (strncasecmp(uuid, e, strlen(e)) != 0)
			continue;
		if (found >= 0)
			return -1; /* it could be either */
		found = i;
	}
	return found;
}

static int hip_index(const char *e, const int *ids, int n)
{
	for (int i = 0; i < n; i++) {
		char uuid[4 + VISIBLE_UUID_SIZE] = "GPU-", index[16];
		visible_uuid(ids[i], uuid + 4);
		snprintf(index, sizeof index, "%d", i);
		if (strcmp(e, index) == 0 || (strstr(e, "GPU-") != NULL && strstr(uuid, e) != NULL))
			return i;
	}
	return -1;
}

/* Keeps of ids[n] what the list names, in its order; returns how many. */
static int choose(const char *list, int *ids, int n, bool rocr)
{
	char e[ENTRY_MAX];
	bool taken[VISIBLE_MAX] = {false};
	int out[VISIBLE_MAX], n_out = 0;

	while (next_entry(&list, e)) {
		int i = rocr ? rocr_index(e, ids, n) : hip_index(e, ids, n);
		if (i < 0 || (taken[i] && rocr))
			break;
		if (!taken[i])
			out[n_out++] = ids[i];
		taken[i] = true;
	}
	memcpy(ids, out, (size_t)n_out * sizeof *ids);
	return n_out;
}

void visible_devices(int n, int agents[VISIBLE_MAX], int *ret_agents, int devices[VISIBLE_MAX],
		     int *ret_devices)
{
	const char *rocr = getenv("ROCR_VISIBLE_DEVICES"), *hip = getenv("HIP_VISIBLE_DEVICES");

	for (int i = 0; i < n; i++)
		agents[i] = i;
	if (rocr != NULL)
		n = *rocr != '\0' ? choose(rocr, agents, n, true) : 0;
	*ret_agents = n;
	memcpy(devices, agents, VISIBLE_MAX * sizeof *devices);
	if (hip == NULL || *hip == '\0')
		hip = getenv("CUDA_VISIBLE_DEVICES");
	*ret_devices = hip != NULL && *hip != '\0' ? choose(hip, devices, n, false) : n;
}
