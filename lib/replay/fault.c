#include "lib/replay/fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int64_t hook(void *self, struct hrr_hip *hip, enum hrr_api api, const uint64_t *args)
{
	struct hrr_faults *f = self;
	uint64_t n = ++f->calls[api];

	if (f->seen != NULL)
		f->seen(f->self, api, args);
	for (size_t i = 0; i < f->n; i++) {
		const struct hrr_fault *x = &f->v[i];
		if (x->api != api || n < x->first || n > x->last)
			continue;
		f->injected++;
		if (x->after)
			hrr_hip_invoke(hip, api, args);
		return x->error;
	}
	return hrr_hip_invoke(hip, api, args);
}

void hrr_fault_install(struct hrr_faults *f, struct hrr_hip *hip)
{
	hip->hook = hook;
	hip->hook_self = f;
}

static int error_of(const char *name, int *ret)
{
	for (int e = 1; e < 2048; e++) {
		const char *s = hrr_error_name(e);
		if (s != NULL && strcmp(s, name) == 0) {
			*ret = e;
			return 0;
		}
	}
	return -ENOENT;
}

int hrr_fault_add(struct hrr_faults *f, const char *text, struct hrr_diag *diag)
{
	struct hrr_fault x = {.first = 1, .last = 1, .error = hipErrorUnknown};
	size_t len = strcspn(text, ":");
	int api = hrr_api_find(text, len);
	const char *s = text + len;
	char *end;

	if (api < 0)
		return hrr_diag_set(diag, -EINVAL, "no call %.*s", (int)len, text);
	if (f->n == HRR_FAULT_MAX)
		return hrr_diag_set(diag, -EINVAL, "more than %d", HRR_FAULT_MAX);
	x.api = (enum hrr_api)api;
	if (*s == ':' && s[1] >= '0' && s[1] <= '9') {
		x.first = x.last = strtoull(s + 1, &end, 10);
		s = end;
		if (*s == '-') {
			x.last = strtoull(s + 1, &end, 10);
			if (end == s + 1)
				x.last = UINT64_MAX;
			s = end;
		}
	}
	if (*s == ':') {
		if (error_of(s + 1, &x.error) < 0)
			return hrr_diag_set(diag, -EINVAL, "no error %s", s + 1);
		s = "";
	}
	if (*s != '\0' || x.first == 0 || x.last < x.first)
		return hrr_diag_set(diag, -EINVAL, "not API[:N[-[M]]][:ERROR]: %s", text);
	f->v[f->n++] = x;
	return 0;
}
