#include "lib/stream/places.h"

#include <string.h>

#include "lib/stream/record.h"

#define IS(name) (memcmp(s, name, sizeof(name) - 1) == 0)

static enum hrr_measure measure_of(const char *s, size_t len)
{
	switch (len) {
	case 4:
		return IS("size") ? HRR_SIZE : HRR_MEASURES;
	case 5:
		return IS("bytes")   ? HRR_BYTES
		       : IS("count") ? HRR_COUNT
		       : IS("width") ? HRR_WIDTH
				     : HRR_MEASURES;
	case 6:
		return IS("height") ? HRR_HEIGHT : HRR_MEASURES;
	case 8:
		return IS("bytesize") ? HRR_BYTESIZE : HRR_MEASURES;
	case 9:
		return IS("sizeBytes")	 ? HRR_SIZE_BYTES
		       : IS("ByteCount") ? HRR_BYTE_COUNT
					 : HRR_MEASURES;
	case 11:
		return IS("sizeInBytes") ? HRR_SIZE_IN_BYTES : HRR_MEASURES;
	default:
		return HRR_MEASURES;
	}
}

void hrr_size_places(const struct hrr_json *j, int args, struct hrr_size_places *ret)
{
	ret->met = 0;
	for (int i = hrr_json_first(j, args); i >= 0; i = hrr_json_next(j, args, i)) {
		enum hrr_measure m = measure_of(j->text + j->nodes[i].off, j->nodes[i].len);
		if (m == HRR_MEASURES || j->nodes[i + 1].type != HRR_JSON_INT)
			continue;
		ret->met |= 1u << m;
		ret->node[m] = i + 1;
	}
}

/* The memory a copy or set touches starts at these. */
static bool is_touched(const char *s, size_t len)
{
	switch (len) {
	case 3:
		return IS("dst") || IS("src") || IS("ptr");
	case 4:
		return IS("dest");
	case 6:
		return IS("devPtr");
	case 7:
		return IS("dev_ptr");
	case 9:
		return IS("dstDevice") || IS("srcDevice");
	default:
		return false;
	}
}
#undef IS

static int array(const struct hrr_json *j, int object, const char *name)
{
	int node = hrr_json_get(j, object, name);

	return node >= 0 && j->nodes[node].type == HRR_JSON_ARRAY ? node : -1;
}

/* The words of a kernel's arguments that are addresses. */
static bool kernel_places(const struct hrr_json *j, int kernel,
			  bool (*take)(void *self, const struct hrr_address_place *place),
			  void *self)
{
	int args = array(j, kernel, "args");

	if (args < 0)
		return false;
	for (int a = hrr_json_first(j, args); a >= 0; a = hrr_json_next(j, args, a)) {
		int ptr = array(j, a, "ptr"), hex = ptr < 0 ? -1 : hrr_json_get(j, a, "hex");
		size_t len;
		if (hrr_json_raw(j, hex, &len) == NULL)
			continue;
		for (int o = hrr_json_first(j, ptr); o >= 0; o = hrr_json_next(j, ptr, o)) {
			const struct hrr_address_place place = {hex, o, false};
			if (j->nodes[o].type == HRR_JSON_INT && take(self, &place))
				return true;
		}
	}
	return false;
}

bool hrr_address_places(const struct hrr_json *j, int args, int kernel,
			bool (*take)(void *self, const struct hrr_address_place *place), void *self)
{
	int end = (int)j->nodes[args].next;

	for (int i = args + 1; i < end; i++) {
		const struct hrr_json_node *n = &j->nodes[i];
		if (n->key || n->type != HRR_JSON_STRING)
			continue;
		const struct hrr_address_place place = {
		    i, -1, n[-1].key && is_touched(j->text + n[-1].off, n[-1].len)};
		if (take(self, &place))
			return true;
	}
	for (int k = -1; (k = hrr_kernel_next(j, kernel, k)) >= 0;)
		if (kernel_places(j, k, take, self))
			return true;
	return false;
}
