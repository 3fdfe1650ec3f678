#include "formats/hrr/launch.h"

#include <errno.h>
#include <string.h>

const unsigned char *hrr_launch_arg(const unsigned char *p, struct hrr_launch_arg *ret)
{
	ret->kind = p[0];
	ret->size = hrr_le16(p + 1);
	ret->data = p + 3;
	ret->n_ptrs = 0;
	ret->ptrs = NULL;
	p += 3 + ret->size;
	if (ret->kind == HRR_UP_KIND_STRUCT) {
		ret->n_ptrs = hrr_le16(p);
		ret->ptrs = p + 2;
		p += 2 + 2 * (size_t)ret->n_ptrs;
	}
	return p;
}

/* Checks n arguments from off on; *ret_off gets where they end. */
static int check_args(const struct hrr_event *ev, uint32_t off, uint32_t n, uint32_t *ret_off,
		      const char **ret_why)
{
	const unsigned char *p = ev->data;

	for (uint32_t i = 0; i < n; i++) {
		if (ev->len - off < 3 || ev->len - off - 3 < hrr_le16(p + off + 1)) {
			*ret_why = "an argument runs past the record";
			return -EINVAL;
		}
		unsigned kind = p[off];
		uint32_t size = hrr_le16(p + off + 1);
		if (kind > HRR_UP_KIND_STRUCT) {
			*ret_why = "an argument of unknown kind";
			return -EINVAL;
		}
		if (kind == HRR_UP_KIND_POINTER && size < 8) {
			*ret_why = "a pointer argument of fewer than 8 bytes";
			return -EINVAL;
		}
		off += 3 + size;
		if (kind != HRR_UP_KIND_STRUCT)
			continue;
		if (ev->len - off < 2 || (ev->len - off - 2) / 2 < hrr_le16(p + off)) {
			*ret_why = "an argument's pointer offsets run past the record";
			return -EINVAL;
		}
		uint32_t ptrs = hrr_le16(p + off);
		for (uint32_t k = 0; k < ptrs; k++)
			if (hrr_le16(p + off + 2 + 2 * k) + 8u > size) {
				*ret_why = "a pointer past the end of its argument";
				return -EINVAL;
			}
		off += 2 + 2 * ptrs;
	}
	*ret_off = off;
	return 0;
}

int hrr_launch_read(const struct hrr_event *ev, int version, struct hrr_launch *ret,
		    const char **ret_why)
{
	const unsigned char *p = ev->data;
	struct hrr_launch l = {0};
	uint32_t off;

	*ret_why = "too small for a launch";
	if (ev->len < HRR_UP_LAUNCH_FIXED || ev->len - HRR_UP_LAUNCH_FIXED < hrr_le16(p + 40))
		return -EINVAL;
	l.stream = hrr_le64(p + 32);
	l.name_len = hrr_le16(p + 40);
	l.name = (const char *)p + 42;
	p += l.name_len;
	l.object = (struct hrr_fnv){hrr_le64(p + 42), hrr_le64(p + 50)};
	for (int i = 0; i < 3; i++) {
		l.grid[i] = hrr_le32(p + 58 + 4 * i);
		l.block[i] = hrr_le32(p + 70 + 4 * i);
	}
	l.lds = hrr_le32(p + 82);
	l.n_args = hrr_le16(p + 86);
	l.n_snapshots = version >= 8 ? hrr_le16(p + 88) : 0;
	l.args = p + 90;
	if (check_args(ev, HRR_UP_LAUNCH_FIXED + l.name_len, l.n_args, &off, ret_why) < 0)
		return -EINVAL;
	p = ev->data;
	if (version >= 6) {
		*ret_why = "the launch attributes run past the record";
		if (ev->len - off < 8)
			return -EINVAL;
		l.n_attrs = hrr_le32(p + off);
		l.stride = hrr_le32(p + off + 4);
		off += 8;
		if ((uint64_t)l.n_attrs * l.stride > ev->len - off)
			return -EINVAL;
		l.attrs = p + off;
		off += l.n_attrs * l.stride;
	}
	if ((ev->len - off) / HRR_UP_SNAPSHOT < l.n_snapshots) {
		*ret_why = "the snapshots of pinned memory run past the record";
		return -EINVAL;
	}
	l.snapshots = p + off;
	if (ev->len - off != l.n_snapshots * HRR_UP_SNAPSHOT) {
		*ret_why = "bytes behind the last field";
		return -EINVAL;
	}
	*ret = l;
	return 0;
}

int hrr_node_read(const struct hrr_event *ev, uint32_t at, struct hrr_launch *ret,
		  const char **ret_why)
{
	const unsigned char *p = ev->data + at;
	struct hrr_launch l = {0};
	uint32_t off;

	*ret_why = "too small for a kernel node";
	if (ev->len < at + 20 || ev->len - at - 20 < hrr_le16(p))
		return -EINVAL;
	l.name_len = hrr_le16(p);
	l.name = (const char *)p + 2;
	p += l.name_len;
	l.object = (struct hrr_fnv){hrr_le64(p + 2), hrr_le64(p + 10)};
	l.n_args = hrr_le16(p + 18);
	l.args = p + 20;
	if (check_args(ev, at + 20 + l.name_len, l.n_args, &off, ret_why) < 0)
		return -EINVAL;
	if (off != ev->len) {
		*ret_why = "bytes behind the last field";
		return -EINVAL;
	}
	*ret = l;
	return 0;
}

enum hrr_launch_param hrr_launch_param(const struct hrr_param *x)
{
	size_t len = strlen(x->name);

	if (strncmp(x->name, "sharedMem", 9) == 0)
		return HRR_UP_LP_LDS;
	if (len > 1 && (x->kind == HRR_K_UINT || x->kind == HRR_K_U32) && x->name[len - 1] >= 'X' &&
	    x->name[len - 1] <= 'Z')
		return HRR_UP_LP_AXIS;
	if (x->kind == HRR_K_HANDLE && x->handle == HRR_H_STREAM)
		return HRR_UP_LP_STREAM;
	if (x->kind == HRR_K_STRUCT && strcmp(x->name, "config") == 0)
		return HRR_UP_LP_CONFIG;
	return x->kind == HRR_K_DIM3 ? HRR_UP_LP_BOX : HRR_UP_LP_NONE;
}
