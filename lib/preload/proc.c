#include "lib/preload/preload.h"

#include <stdio.h>
#include <string.h>

/* hipGetProcAddress (ROCm 6): the program shall call us, not past us. */
void hrr_proc_leave(struct hrr_call *c)
{
	const char *name = (const char *)(uintptr_t)c->a[0];
	void **pfn = (void **)(uintptr_t)c->a[1];
	char spt[256];

	if (!hrr_ok(c) || name == NULL || pfn == NULL || *pfn == NULL)
		return;
	/* Asked for the per-thread default stream it answers with the _spt variant. */
	if (snprintf(spt, sizeof spt, "%s_spt", name) < (int)sizeof spt) {
		void *real = hrr_resolve_name(spt, false);
		void *shim = real == *pfn ? hrr_shim_of(spt) : NULL;
		if (shim != NULL) {
			*pfn = shim;
			return;
		}
	}
	void *shim = hrr_shim_of(name);
	if (shim == NULL) { /* C++ names: by the row */
		int api = hrr_api_find(name, strlen(name));
		shim = api >= 0 ? hrr_shim_of(hrr_api_table[api].symbol) : NULL;
	}
	if (shim == NULL)
		return;
	int api = hrr_api_find(name, strlen(name));
	if (api >= 0 && hrr_real[api] == NULL)
		__atomic_store_n(&hrr_real[api], *pfn, __ATOMIC_RELEASE); /* what we forward to */
	*pfn = shim;
}
