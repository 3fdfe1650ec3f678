#include <errno.h>
#include <stdlib.h>

#include "formats/hrr/convert_private.h"
#include "lib/hip/bundle.h"
#include "lib/hip/codeobj.h"

/*
 * Upstream stores an argument's bytes without its place. The place comes from the code
 * object's metadata; where that is missing, from the sizes, and that is said.
 */
static uint64_t key_of(struct hrr_fnv object, const char *name, uint32_t len)
{
	uint64_t h = object.lo ^ (object.hi * UINT64_C(0x9e3779b97f4a7c15));

	for (uint32_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
	return h ^ h >> 31;
}

static int grow(struct hrr_convert *c)
{
	size_t n = c->n_slots ? 2 * c->n_slots : 64;
	uint32_t *slots = calloc(n, sizeof *slots);
	struct known_kernel *k = realloc(c->kernels, n / 2 * sizeof *k);

	if (k != NULL)
		c->kernels = k;
	if (slots == NULL || k == NULL) {
		free(slots);
		return -ENOMEM;
	}
	for (size_t i = 0; i < c->n_kernels; i++) {
		size_t at = (size_t)key_of(k[i].object, k[i].name, k[i].name_len);
		while (slots[at & (n - 1)] != 0)
			at++;
		slots[at & (n - 1)] = (uint32_t)i + 1;
	}
	free(c->kernel_slots);
	c->kernel_slots = slots;
	c->n_slots = n;
	return 0;
}

static int take(struct known_kernel *k, const struct hrr_kernel *from)
{
	k->offsets = calloc(from->n_explicit + 1u, sizeof *k->offsets);
	k->sizes = calloc(from->n_explicit + 1u, sizeof *k->sizes);
	if (k->offsets == NULL || k->sizes == NULL)
		return -ENOMEM;
	k->n = from->n_explicit;
	for (uint32_t i = 0; i < k->n; i++) {
		k->offsets[i] = from->args[i].offset;
		k->sizes[i] = from->args[i].size;
	}
	k->exact = true;
	return 0;
}

/* Looks the kernel up in the object's container; one arch is as good as another for offsets. */
static int read_object(struct hrr_convert *c, struct known_kernel *k, const char *name)
{
	const struct hrr_up_blob *x;
	struct hrr_blob blob;
	struct hrr_bundle b;
	struct hrr_diag d = {0};
	int rc = hrr_up_blobs_find(c->blobs, k->object, NULL, &x, &d);

	if (rc < 0 || x->state != HRR_UP_OK)
		return rc;
	struct hrr_id id = x->id;
	rc = hrr_up_blobs_get(c->blobs, &id, 0, &blob, &d);
	if (rc < 0)
		return rc == -ENOMEM ? rc : 0;
	rc = hrr_bundle_open(&b, blob.data, blob.len, &d);
	if (rc == 0) {
		for (size_t i = 0; i < b.n_entries && !k->exact && rc == 0; i++) {
			char arch[64];
			struct hrr_codeobj co;
			if (hrr_bundle_arch(&b.entries[i], arch, sizeof arch) < 0 ||
			    b.entries[i].size == 0 ||
			    hrr_codeobj_open(&co, b.entries[i].data, b.entries[i].size, &d) < 0)
				continue;
			const struct hrr_kernel *found = hrr_codeobj_kernel(&co, name);
			if (found != NULL)
				rc = take(k, found);
			hrr_codeobj_close(&co);
		}
		hrr_bundle_close(&b);
	}
	hrr_blob_release(&blob);
	return rc == -ENOMEM ? rc : 0;
}

struct known_kernel *hrr_known_kernel(struct hrr_convert *c, struct hrr_fnv object,
				      const char *name, uint32_t len)
{
	uint64_t key = key_of(object, name, len);
	size_t at = (size_t)key;

	for (; c->n_slots > 0 && c->kernel_slots[at & (c->n_slots - 1)] != 0; at++) {
		struct known_kernel *k = &c->kernels[c->kernel_slots[at & (c->n_slots - 1)] - 1];
		if (k->name_len == len && hrr_fnv_equal(k->object, object) &&
		    memcmp(k->name, name, len) == 0)
			return k;
	}
	if (2 * (c->n_kernels + 1) > c->n_slots) {
		if (grow(c) < 0)
			return NULL;
		for (at = (size_t)key; c->kernel_slots[at & (c->n_slots - 1)] != 0; at++)
			;
	}
	struct known_kernel *k = &c->kernels[c->n_kernels];
	*k = (struct known_kernel){.object = object, .name_len = len};
	k->name = malloc(len + 1u);
	if (k->name == NULL)
		return NULL;
	memcpy(k->name, name, len);
	k->name[len] = '\0';
	c->kernel_slots[at & (c->n_slots - 1)] = (uint32_t)++c->n_kernels;
	if (!hrr_fnv_none(object))
		(void)read_object(c, k, k->name);
	k = &c->kernels[c->n_kernels - 1];
	if (!k->exact)
		hrr_note(
		    c,
		    "kernel %s: no code object that has it: the places of its arguments follow "
		    "from their sizes",
		    k->name);
	return k;
}

void hrr_kernels_release(struct hrr_convert *c)
{
	for (size_t i = 0; i < c->n_kernels; i++) {
		free(c->kernels[i].name);
		free(c->kernels[i].text);
		free(c->kernels[i].offsets);
		free(c->kernels[i].sizes);
	}
	free(c->kernels);
	free(c->kernel_slots);
}
