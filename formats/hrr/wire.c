#include "formats/hrr/wire.h"

#include <errno.h>
#include <string.h>

struct hrr_wide_enum {
	const char *name;
	int until; /* last version with 8 bytes */
};

#include "hrr_wire.inc"

_Static_assert(HRR_API_COUNT < 32768, "ids of rows fit");

const struct hrr_wire_row *hrr_wire_row(enum hrr_api api)
{
	return &wire_rows[api];
}

/* Rows by number, filled once; racing fills write the same values. */
#define IDS 1024
static int16_t by_id[IDS], by_id3[IDS], by_compiler[HRR_UP_COMPILER_CALLS];
static volatile int filled;

static void fill(void)
{
	if (filled)
		return;
	for (int i = 0; i < HRR_API_COUNT; i++) {
		const struct hrr_wire_row *w = &wire_rows[i];
		if (w->id >= 0 && w->compiler)
			by_compiler[w->id] = (int16_t)(i + 1);
		else if (w->id >= 0)
			by_id[w->id] = (int16_t)(i + 1);
		if (w->id3 >= 0)
			by_id3[w->id3] = (int16_t)(i + 1);
	}
	__sync_synchronize();
	filled = 1;
}

int hrr_wire_api(int version, int base, int type)
{
	fill();
	if (type < 0 || type >= IDS)
		return -1;
	if (version < 5)
		return by_id3[type] - 1;
	if (base >= 0 && type >= base)
		return type - base < HRR_UP_COMPILER_CALLS ? by_compiler[type - base] - 1 : -1;
	return by_id[type] - 1;
}

int hrr_wire_id(int version, int base, enum hrr_api api)
{
	const struct hrr_wire_row *w = &wire_rows[api];

	if (version < 5)
		return w->id3;
	if (w->compiler)
		return base < 0 ? -1 : base + w->id;
	return w->id >= 0 && (base < 0 || w->id < base) ? w->id : -1;
}

static bool wide_enum(const struct hrr_enum *en, int version)
{
	for (size_t i = 0; en != NULL && i < sizeof wide_enums / sizeof *wide_enums; i++)
		if (strcmp(wide_enums[i].name, en->name) == 0)
			return version <= wide_enums[i].until;
	return false;
}

/* Bytes of a parameter by its type alone. */
static unsigned type_width(const struct hrr_param *p, int version)
{
	if (p->flow != HRR_FLOW_IN || p->count >= 0)
		return 8;
	switch (p->kind) {
	case HRR_K_INT:
	case HRR_K_DEVICE:
	case HRR_K_UINT:
	case HRR_K_FLAGS:
	case HRR_K_U32:
	case HRR_K_FLOAT:
		return 4;
	case HRR_K_ENUM:
		return wide_enum(p->en, version) ? 8 : 4;
	case HRR_K_DIM3:
		return 12;
	case HRR_K_VALUE:
		return version < 6 ? 8 : p->st->size;
	default:
		return 8;
	}
}

int hrr_layout_of(enum hrr_api api, int version, struct hrr_layout *ret)
{
	const struct hrr_api_row *row = &hrr_api_table[api];
	const struct hrr_wire_row *w = &wire_rows[api];
	uint32_t off = HRR_UP_HEADER;

	if (!row->typed || row->n_params > HRR_LAYOUT_PARAMS || w->n > HRR_LAYOUT_EXTRAS)
		return -ENOENT;
	*ret = (struct hrr_layout){.ret = HRR_UP_HEADER};
	switch (row->ret) {
	case HRR_RET_ERROR:
	case HRR_RET_INT:
		ret->ret_width = 4;
		break;
	case HRR_RET_STR:
	case HRR_RET_FATBIN:
		ret->ret_width = 8;
		break;
	case HRR_RET_STRUCT:
		ret->ret_width = version < 6 ? 8 : 20;
		break;
	default:
		break;
	}
	off += ret->ret_width;
	for (int i = 0; i < row->n_params; i++) {
		unsigned width = type_width(&row->params[i], version);
		if (w->wide >> i & 1 || (version < 6 && w->wide5 >> i & 1))
			width = 8;
		if (w->none >> i & 1)
			width = 0;
		ret->at[i] = (uint16_t)off;
		ret->width[i] = (uint8_t)width;
		off += width;
	}
	for (int i = 0; i < w->n; i++) {
		const struct hrr_wire_extra *x = &w->extra[i];
		if (version < x->since)
			continue;
		if (x->what == HRR_W_NODE) {
			ret->tail = true;
			continue;
		}
		ret->extra[i] = (uint16_t)off;
		switch (x->what) {
		case HRR_W_IN:
			off += x->size + 1u + (x->elem ? 4u : 0u);
			break;
		case HRR_W_BYTES:
			off += x->size;
			break;
		case HRR_W_U64:
			off += 8;
			break;
		case HRR_W_CO:
			off += 20;
			break;
		default:
			off += 16;
			break;
		}
	}
	ret->size = off;
	return 0;
}

const struct hrr_struct *hrr_wire_struct(enum hrr_api api, const struct hrr_wire_extra *x)
{
	if (x->st != NULL) {
		for (int i = 0; hrr_structs[i] != NULL; i++)
			if (strcmp(hrr_structs[i]->name, x->st) == 0)
				return hrr_structs[i];
		return NULL;
	}
	if (x->param < 0)
		return NULL;
	const struct hrr_param *p = &hrr_api_table[api].params[x->param];
	return p->kind == HRR_K_STRUCT && p->st->size <= x->size ? p->st : NULL;
}
