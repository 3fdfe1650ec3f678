#include "lib/hip/codeobj_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hip/msgpack.h"

/*
 * The metadata of code objects v3 to v6, as "User Guide for AMDGPU Backend",
 * Code Object Metadata, describes it: a map with amdhsa.target and amdhsa.kernels.
 */
enum { NT_AMDGPU_METADATA = 32 };

static int damaged(struct hrr_diag *diag, const char *why)
{
	return hrr_diag_set(diag, -EINVAL, "code object metadata: %s", why);
}

static bool is(const struct hrr_msgpack_item *it, const char *name, size_t len)
{
	return it->len == len && memcmp(it->str, name, len) == 0;
}
#define IS(it, name) is(it, name, sizeof(name) - 1)

/* A key, which is a string everywhere, and the item behind it (of a container its head). */
static int pair(struct hrr_msgpack *r, struct hrr_msgpack_item *key, struct hrr_msgpack_item *value)
{
	int rc = hrr_msgpack_next(r, key);

	if (rc == 0 && key->type != HRR_MSGPACK_STR)
		rc = -EINVAL;
	return rc < 0 ? rc : hrr_msgpack_next(r, value);
}

static int u32(const struct hrr_msgpack_item *it, uint32_t *ret)
{
	if (it->type != HRR_MSGPACK_UINT || it->u > UINT32_MAX)
		return -EINVAL;
	*ret = (uint32_t)it->u;
	return 0;
}

/* --- arguments ------------------------------------------------------------ */

static const struct {
	const char *name; /* behind "hidden_" */
	enum hrr_hidden hidden;
} hidden_names[] = {
    {"block_count_x", HRR_HIDDEN_BLOCK_COUNT_X},
    {"block_count_y", HRR_HIDDEN_BLOCK_COUNT_Y},
    {"block_count_z", HRR_HIDDEN_BLOCK_COUNT_Z},
    {"group_size_x", HRR_HIDDEN_GROUP_SIZE_X},
    {"group_size_y", HRR_HIDDEN_GROUP_SIZE_Y},
    {"group_size_z", HRR_HIDDEN_GROUP_SIZE_Z},
    {"remainder_x", HRR_HIDDEN_REMAINDER_X},
    {"remainder_y", HRR_HIDDEN_REMAINDER_Y},
    {"remainder_z", HRR_HIDDEN_REMAINDER_Z},
    {"global_offset_x", HRR_HIDDEN_GLOBAL_OFFSET_X},
    {"global_offset_y", HRR_HIDDEN_GLOBAL_OFFSET_Y},
    {"global_offset_z", HRR_HIDDEN_GLOBAL_OFFSET_Z},
    {"grid_dims", HRR_HIDDEN_GRID_DIMS},
    {"printf_buffer", HRR_HIDDEN_PRINTF_BUFFER},
    {"hostcall_buffer", HRR_HIDDEN_HOSTCALL_BUFFER},
    {"default_queue", HRR_HIDDEN_DEFAULT_QUEUE},
    {"completion_action", HRR_HIDDEN_COMPLETION_ACTION},
    {"multigrid_sync_arg", HRR_HIDDEN_MULTIGRID_SYNC_ARG},
    {"heap_v1", HRR_HIDDEN_HEAP_V1},
    {"dynamic_lds_size", HRR_HIDDEN_DYNAMIC_LDS_SIZE},
    {"private_base", HRR_HIDDEN_PRIVATE_BASE},
    {"shared_base", HRR_HIDDEN_SHARED_BASE},
    {"queue_ptr", HRR_HIDDEN_QUEUE_PTR},
};

static int value_kind(const struct hrr_msgpack_item *it, struct hrr_arg *a)
{
	static const char prefix[] = "hidden_";
	const size_t n = sizeof prefix - 1;

	if (it->type != HRR_MSGPACK_STR)
		return -EINVAL;
	a->hidden = HRR_HIDDEN_NONE;
	if (IS(it, "by_value")) {
		a->kind = HRR_ARG_VALUE;
	} else if (IS(it, "global_buffer")) {
		a->kind = HRR_ARG_POINTER;
	} else if (IS(it, "dynamic_shared_pointer")) {
		a->kind = HRR_ARG_LDS;
	} else if (it->len > n && memcmp(it->str, prefix, n) == 0) {
		a->kind = HRR_ARG_HIDDEN;
		a->hidden = HRR_HIDDEN_OTHER;
		for (size_t i = 0; i < sizeof hidden_names / sizeof *hidden_names; i++) {
			const char *name = hidden_names[i].name;
			if (memcmp(it->str + n, name, 1) == 0 && strlen(name) == it->len - n &&
			    memcmp(it->str + n, name, it->len - n) == 0) {
				a->hidden = hidden_names[i].hidden;
				break;
			}
		}
	} else {
		a->kind = HRR_ARG_OPAQUE;
	}
	return 0;
}

static int argument(struct hrr_msgpack *r, uint64_t pairs, struct hrr_arg *a)
{
	enum { OFFSET = 1, SIZE = 2, KIND = 4 };
	unsigned seen = 0;
	int rc = 0;

	while (pairs-- > 0 && rc == 0) {
		struct hrr_msgpack_item key, value;

		rc = pair(r, &key, &value);
		if (rc < 0)
			break;
		if (IS(&key, ".offset")) {
			rc = u32(&value, &a->offset);
			seen |= OFFSET;
		} else if (IS(&key, ".size")) {
			rc = u32(&value, &a->size);
			seen |= SIZE;
		} else if (IS(&key, ".value_kind")) {
			rc = value_kind(&value, a);
			seen |= KIND;
		} else {
			rc = hrr_msgpack_skip(r, &value);
		}
	}
	return rc < 0 || seen == (OFFSET | SIZE | KIND) ? rc : -EINVAL;
}

static int by_place(const void *va, const void *vb)
{
	const struct hrr_arg *a = va, *b = vb;
	bool ha = a->kind == HRR_ARG_HIDDEN, hb = b->kind == HRR_ARG_HIDDEN;

	if (ha != hb)
		return ha - hb;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

static int arguments(struct hrr_codeobj_owned *o, struct hrr_msgpack *r, uint64_t n,
		     struct hrr_kernel *k, struct hrr_diag *diag)
{
	bool sorted = true;

	if (n > HRR_CODEOBJ_MAX_ARGS)
		return damaged(diag, "too many arguments");
	if (n == 0)
		return 0;
	if (hrr_buf_reserve(&o->args, (size_t)n * sizeof(struct hrr_arg)) < 0)
		return -ENOMEM;
	struct hrr_arg *a = (struct hrr_arg *)(void *)(o->args.data + o->args.len);
	for (size_t i = 0; i < n; i++) {
		struct hrr_msgpack_item it;

		a[i] = (struct hrr_arg){0};
		if (hrr_msgpack_next(r, &it) < 0 || it.type != HRR_MSGPACK_MAP ||
		    argument(r, it.u, &a[i]) < 0)
			return damaged(diag, "an argument cannot be read");
		sorted = sorted && (i == 0 || by_place(&a[i - 1], &a[i]) <= 0);
		k->n_explicit += a[i].kind != HRR_ARG_HIDDEN;
	}
	k->n_args = (uint32_t)n;
	o->args.len += (size_t)n * sizeof *a;
	if (!sorted)
		qsort(a, (size_t)n, sizeof *a, by_place);
	return 0;
}

/* --- kernels -------------------------------------------------------------- */

static const struct field {
	const char *name;
	size_t len, at;
} fields[] = {
#define FIELD(name, member)                                                 \
	{                                                                   \
		name, sizeof(name) - 1, offsetof(struct hrr_kernel, member) \
	}
    FIELD(".kernarg_segment_size", kernarg_size),
    FIELD(".kernarg_segment_align", kernarg_align),
    FIELD(".group_segment_fixed_size", group_size),
    FIELD(".private_segment_fixed_size", private_size),
    FIELD(".wavefront_size", wave_size),
    FIELD(".max_flat_workgroup_size", max_block),
    FIELD(".sgpr_count", sgprs),
    FIELD(".vgpr_count", vgprs),
    FIELD(".agpr_count", agprs),
    FIELD(".sgpr_spill_count", sgpr_spills),
    FIELD(".vgpr_spill_count", vgpr_spills),
#undef FIELD
};

static const struct field *field(const struct hrr_msgpack_item *key)
{
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (is(key, fields[i].name, fields[i].len))
			return &fields[i];
	return NULL;
}

static int reqd_block(struct hrr_msgpack *r, const struct hrr_msgpack_item *value,
		      struct hrr_kernel *k)
{
	if (value->type != HRR_MSGPACK_ARRAY || value->u != 3)
		return -EINVAL;
	for (int i = 0; i < 3; i++) {
		struct hrr_msgpack_item it;
		if (hrr_msgpack_next(r, &it) < 0 || u32(&it, &k->reqd_block[i]) < 0)
			return -EINVAL;
	}
	return 0;
}

/* What a kernel needs to be launched: checked, so that users can trust the numbers. */
static int check(const struct hrr_codeobj_owned *o, const struct hrr_kernel *k,
		 struct hrr_diag *diag)
{
	if (k->kernarg_size > HRR_CODEOBJ_MAX_KERNARG)
		return damaged(diag, "kernel argument segment too big");
	if (k->kernarg_align == 0 || (k->kernarg_align & (k->kernarg_align - 1)) != 0 ||
	    k->kernarg_align > HRR_ELF_PAGE)
		return damaged(diag, "impossible kernel argument alignment");
	if (k->wave_size != 32 && k->wave_size != 64)
		return damaged(diag, "wavefront size is neither 32 nor 64");
	if (k->n_args == 0)
		return 0;
	/* Those of this kernel are the last ones read. */
	const struct hrr_arg *end = (const struct hrr_arg *)(void *)(o->args.data + o->args.len);
	for (const struct hrr_arg *a = end - k->n_args; a != end; a++)
		if (a->offset > k->kernarg_size || a->size > k->kernarg_size - a->offset)
			return damaged(diag, "an argument reaches out of the argument segment");
	return 0;
}

static bool good_name(const struct hrr_msgpack_item *it)
{
	return it->type == HRR_MSGPACK_STR && it->len != 0 && it->len <= HRR_ELF_MAX_NAME &&
	       memchr(it->str, 0, it->len) == NULL;
}

static int add_names(struct hrr_buf *b, const struct hrr_msgpack_item *name,
		     const struct hrr_msgpack_item *symbol)
{
	int rc = hrr_buf_add(b, name->str, name->len);

	if (rc == 0)
		rc = hrr_buf_addc(b, 0);
	if (rc == 0 && symbol->len != 0)
		rc = hrr_buf_add(b, symbol->str, symbol->len);
	else if (rc == 0 && (rc = hrr_buf_add(b, name->str, name->len)) == 0)
		rc = hrr_buf_adds(b, ".kd");
	return rc < 0 ? rc : hrr_buf_addc(b, 0);
}

static int kernel(struct hrr_codeobj_owned *o, struct hrr_msgpack *r, uint64_t pairs,
		  struct hrr_diag *diag)
{
	struct hrr_kernel k = {.kernarg_align = 8, .wave_size = 64, .max_block = 1024};
	struct hrr_msgpack_item key, value, name = {0}, symbol = {0};
	bool had_args = false;

	while (pairs-- > 0) {
		int rc = pair(r, &key, &value);
		const struct field *f = rc == 0 ? field(&key) : NULL;

		if (rc < 0) {
			return damaged(diag, "a kernel cannot be read");
		} else if (f != NULL) {
			rc = u32(&value, (uint32_t *)(void *)((char *)&k + f->at));
		} else if (IS(&key, ".args")) {
			if (value.type != HRR_MSGPACK_ARRAY || had_args)
				return damaged(diag, "arguments that are no list, or two lists");
			had_args = true;
			rc = arguments(o, r, value.u, &k, diag);
			if (rc < 0)
				return rc;
		} else if (IS(&key, ".name")) {
			name = value;
			rc = good_name(&name) ? 0 : -EINVAL;
		} else if (IS(&key, ".symbol")) {
			symbol = value;
			rc = good_name(&symbol) ? 0 : -EINVAL;
		} else if (IS(&key, ".reqd_workgroup_size")) {
			rc = reqd_block(r, &value, &k);
		} else if (IS(&key, ".uses_dynamic_stack")) {
			rc = value.type == HRR_MSGPACK_BOOL ? 0 : -EINVAL;
			k.dynamic_stack = value.u != 0;
		} else {
			rc = hrr_msgpack_skip(r, &value);
		}
		if (rc < 0)
			return hrr_diag_set(diag, -EINVAL,
					    "code object metadata: bad value of %.*s", (int)key.len,
					    key.len <= 64 ? key.str : "a key");
	}
	if (name.len == 0)
		return damaged(diag, "a kernel without a name");
	int rc = check(o, &k, diag);
	if (rc == 0)
		rc = add_names(&o->names, &name, &symbol);
	return rc < 0 ? rc : hrr_buf_add(&o->kernels, &k, sizeof k);
}

static int kernels(struct hrr_codeobj_owned *o, struct hrr_msgpack *r,
		   const struct hrr_msgpack_item *list, struct hrr_diag *diag)
{
	if (list->type != HRR_MSGPACK_ARRAY || o->kernels.len != 0)
		return damaged(diag, "kernels that are no list, or two lists");
	if (list->u > HRR_CODEOBJ_MAX_KERNELS)
		return damaged(diag, "too many kernels");
	for (uint64_t i = 0; i < list->u; i++) {
		struct hrr_msgpack_item it;
		if (hrr_msgpack_next(r, &it) < 0 || it.type != HRR_MSGPACK_MAP)
			return damaged(diag, "a kernel is not a map");
		int rc = kernel(o, r, it.u, diag);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int root(struct hrr_codeobj_owned *o, const unsigned char *data, size_t size,
		struct hrr_diag *diag)
{
	struct hrr_msgpack r = {data, data + size};
	struct hrr_msgpack_item top, key, value;

	if (hrr_msgpack_next(&r, &top) < 0 || top.type != HRR_MSGPACK_MAP)
		return damaged(diag, "not a map");
	while (top.u-- > 0) {
		int rc = pair(&r, &key, &value);

		if (rc < 0)
			return damaged(diag, "cut short or not MessagePack");
		if (IS(&key, "amdhsa.kernels")) {
			rc = kernels(o, &r, &value, diag);
			if (rc < 0)
				return rc;
		} else if (IS(&key, "amdhsa.target")) {
			if (value.type != HRR_MSGPACK_STR || value.len >= sizeof o->target)
				return damaged(diag, "impossible target");
			memcpy(o->target, value.str, value.len);
			o->target[value.len] = '\0';
		} else if (hrr_msgpack_skip(&r, &value) < 0) {
			return damaged(diag, "cut short, too deep or not MessagePack");
		}
	}
	return 0;
}

/* --- notes ---------------------------------------------------------------- */

/* The description of the metadata note among the notes in p: 0, -ENOENT, or -EINVAL on damage. */
static int find_note(const unsigned char *p, size_t n, const unsigned char **ret_p, size_t *ret_n)
{
	while (n >= 12) {
		uint64_t name = hrr_le32(p), desc = hrr_le32(p + 4);
		uint64_t at = 12 + ((name + 3) & ~(uint64_t)3);

		if (at > n || desc > n - at)
			return -EINVAL;
		if (hrr_le32(p + 8) == NT_AMDGPU_METADATA && name == 7 &&
		    memcmp(p + 12, "AMDGPU", 7) == 0) {
			*ret_p = p + at;
			*ret_n = (size_t)desc;
			return 0;
		}
		uint64_t next = at + ((desc + 3) & ~(uint64_t)3);
		if (next > n)
			break;
		p += next;
		n -= (size_t)next;
	}
	return -ENOENT;
}

int hrr_codeobj_metadata(struct hrr_codeobj_owned *o, struct hrr_diag *diag)
{
	const struct hrr_elf *e = &o->elf;
	const unsigned char *note = NULL;
	size_t n = 0;
	int rc = -ENOENT;

	for (uint32_t i = 0; i < e->phnum && rc == -ENOENT; i++) {
		struct hrr_elf_phdr ph = hrr_elf_phdr(e, i);
		if (ph.type != HRR_ELF_PT_NOTE)
			continue;
		const unsigned char *p = hrr_elf_bytes(e, ph.offset, ph.filesz);
		rc = p != NULL ? find_note(p, (size_t)ph.filesz, &note, &n) : -EINVAL;
	}
	for (uint32_t i = 1; i < e->shnum && rc == -ENOENT; i++) {
		struct hrr_elf_shdr sh = hrr_elf_shdr(e, i);
		if (sh.type != HRR_ELF_SHT_NOTE)
			continue;
		const unsigned char *p = hrr_elf_bytes(e, sh.offset, sh.size);
		rc = p != NULL ? find_note(p, (size_t)sh.size, &note, &n) : -EINVAL;
	}
	if (rc == -ENOENT)
		return 0;
	return rc < 0 ? damaged(diag, "note cut short") : root(o, note, n, diag);
}
