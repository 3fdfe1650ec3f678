#ifndef HRR_T_UNIT_REPLAY_KERNEL_H
#define HRR_T_UNIT_REPLAY_KERNEL_H

#include "t/unit/codeobj_build.h"

/* Code objects whose kernel "fill" takes explicit arguments of these sizes, one behind the other.
 */
static inline struct bytes kernel_object(const char *name, const uint32_t *sizes, size_t n)
{
	struct build b = {0};
	uint64_t end = 0;

	for (size_t i = 0; i < n; i++)
		end += sizes[i];
	mp_map(&b.meta, 1);
	mp_str(&b.meta, "amdhsa.kernels");
	mp_array(&b.meta, 1);
	mp_map(&b.meta, 3);
	mp_str(&b.meta, ".name");
	mp_str(&b.meta, name);
	mp_pair(&b.meta, ".kernarg_segment_size", end);
	mp_str(&b.meta, ".args");
	mp_array(&b.meta, n);
	end = 0;
	for (size_t i = 0; i < n; i++) {
		mp_arg(&b.meta, end, sizes[i], "by_value");
		end += sizes[i];
	}
	return build_finish(&b);
}

/* The object of the fake's kernel as a blob. */
static inline const char *fill_object(struct rig *g)
{
	static const uint32_t sizes[] = {8, 4, 4};
	struct bytes o = kernel_object("fill", sizes, 3);
	const char *id = rig_blob(g, o.p, o.n);

	free(o.p);
	return id;
}

#endif
