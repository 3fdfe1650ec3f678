#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/hrr/convert_private.h"
#include "formats/hrr/launch.h"

/*
 * How a call is written, worked out once per archive and call: which bytes of a record are which
 * parameter, and the texts that come with them.
 */
static int param_named(const struct hrr_api_row *row, const char *name)
{
	for (int i = 0; i < row->n_params; i++)
		if (strcmp(row->params[i].name, name) == 0)
			return i;
	return -1;
}

static bool plain_in(const struct hrr_param *x)
{
	return x->flow == HRR_FLOW_IN && x->count < 0;
}

bool hrr_is_address(unsigned kind)
{
	switch (kind) {
	case HRR_K_DEV:
	case HRR_K_HOST:
	case HRR_K_ADDR:
	case HRR_K_HINT:
	case HRR_K_SYMBOL:
	case HRR_K_STUB:
	case HRR_K_IMAGE:
	case HRR_K_FN:
	case HRR_K_PTR:
	case HRR_K_HANDLE:
		return true;
	default:
		return false;
	}
}

bool hrr_is_stream(const struct hrr_param *x)
{
	return x->kind == HRR_K_HANDLE && x->handle == HRR_H_STREAM;
}

static uint8_t code_of(const struct prog *p, int i)
{
	const struct hrr_param *x = &p->row->params[i];

	for (int k = 0; k < p->wire->n; k++)
		if (p->wire->extra[k].param == i && p->l.extra[k] != 0)
			return OP_SLOW;
	if (x->flow != HRR_FLOW_IN)
		return x->count < 0 && hrr_is_address(x->kind) && x->kind != HRR_K_PTR ? OP_OUT_ADDR
										       : OP_SLOW;
	if (x->count >= 0)
		return OP_SLOW;
	if (hrr_is_address(x->kind))
		return OP_ADDR;
	switch (x->kind) {
	case HRR_K_INT:
	case HRR_K_DEVICE:
		return OP_I32;
	case HRR_K_UINT:
	case HRR_K_FLAGS:
	case HRR_K_U32:
		return OP_U32;
	case HRR_K_U8:
	case HRR_K_U16:
	case HRR_K_U64:
	case HRR_K_SIZE:
		return OP_U64;
	case HRR_K_FLOAT:
		return OP_F32;
	case HRR_K_ENUM:
		return OP_ENUM;
	case HRR_K_DIM3:
		return OP_DIM3;
	default:
		return OP_SLOW;
	}
}

static void shape_of(struct prog *p)
{
	const struct hrr_api_row *row = p->row;

	p->dst = (int8_t)param_named(row, "dst");
	p->src = (int8_t)param_named(row, "src");
	p->kind = (int8_t)param_named(row, "kind");
	p->stream = p->symbol = p->bytes = p->made = p->made_size = p->gone = -1;
	for (int i = 0; i < row->n_params; i++) {
		const struct hrr_param *x = &row->params[i];
		if (hrr_is_stream(x) && plain_in(x))
			p->stream = (int8_t)i;
		if (x->kind == HRR_K_SYMBOL)
			p->symbol = (int8_t)i;
		if (x->kind == HRR_K_SIZE && plain_in(x) && p->bytes < 0)
			p->bytes = (int8_t)i;
		if (x->kind == HRR_K_DEV && x->flow == HRR_FLOW_OUT)
			p->made = (int8_t)i;
	}
	if (row->cls == HRR_CLASS_ALLOC && p->made >= 0)
		p->made_size = p->bytes;
	else
		p->made = -1;
	if (row->cls == HRR_CLASS_FREE && row->release >= 0)
		p->gone = row->release;
	if (row->cls != HRR_CLASS_COPY)
		return;
	if (p->dst >= 0 && p->src >= 0)
		p->shape = param_named(row, "dpitch") >= 0 ? SHAPE_2D : SHAPE_LINEAR;
	for (int k = 0; k < p->wire->n; k++)
		if (p->wire->extra[k].what == HRR_W_BYTES)
			p->shape = p->wire->extra[k].size == 160 ? SHAPE_3D : SHAPE_DRV;
}

/* "name": with its quotes. Returns its length. */
static uint8_t key_text(char *to, const char *name)
{
	size_t len = strlen(name);

	to[0] = '"';
	memcpy(to + 1, name, len);
	memcpy(to + 1 + len, "\":", 2);
	return (uint8_t)(len + 3);
}

/* What a launch record keeps of the call's parameters. */
static int launch_ops(struct prog *p)
{
	const struct hrr_api_row *row = p->row;
	size_t text = KEY_ROOM;
	int axes = 0;

	for (int i = 0; i < row->n_params; i++)
		text += strlen(row->params[i].name) + 3;
	p->launch = calloc(1, row->n_params * sizeof *p->launch + text);
	if (p->launch == NULL)
		return -ENOMEM;
	char *key = (char *)(p->launch + row->n_params);
	for (int i = 0; i < row->n_params; i++) {
		const struct hrr_param *x = &row->params[i];
		enum hrr_launch_param what = hrr_launch_param(x);
		if (what == HRR_UP_LP_NONE || (what == HRR_UP_LP_AXIS && axes++ >= 6))
			continue;
		struct launch_op *o = &p->launch[p->n_launch++];
		*o = (struct launch_op){(uint8_t)what, key_text(key, x->name), key, x->st};
		key += o->key_len;
	}
	return 0;
}

struct prog *hrr_prog(struct hrr_convert *c, enum hrr_api api)
{
	struct prog *p = c->progs[api];

	if (p != NULL)
		return p;
	p = calloc(1, sizeof *p);
	if (p == NULL)
		return NULL;
	p->api = api;
	p->row = &hrr_api_table[api];
	p->wire = hrr_wire_row(api);
	p->fixed = hrr_layout_of(api, c->f.version, &p->l) == 0;
	int n = snprintf(p->head, sizeof p->head, ",\"api\":\"%s\"", p->row->name);
	p->head_len = (uint8_t)n;
	if (p->row->cls == HRR_CLASS_LAUNCH && launch_ops(p) < 0) {
		free(p);
		return NULL;
	}
	c->progs[api] = p;
	if (!p->fixed)
		return p;
	size_t k = 0;
	for (int i = 0; i < p->row->n_params; i++) {
		const struct hrr_param *x = &p->row->params[i];
		if (p->l.width[i] == 0 || x->kind == HRR_K_KPARAMS || x->kind == HRR_K_EXTRA)
			continue;
		struct op *o = &p->ops[p->n_ops++];
		*o = (struct op){.code = code_of(p, i),
				 .width = p->l.width[i],
				 .param = (uint8_t)i,
				 .key_len = key_text(p->keys + k, x->name),
				 .at = p->l.at[i],
				 .key = p->keys + k,
				 .en = x->en};
		k += o->key_len;
	}
	for (int i = 0; i < p->wire->n; i++) {
		uint16_t at = p->l.extra[i];
		unsigned what = p->wire->extra[i].what;
		if (what == HRR_W_HASH)
			p->hash = at;
		else if (what == HRR_W_D2H)
			p->d2h = at;
		else if (what == HRR_W_CO)
			p->co = at;
	}
	shape_of(p);
	return p;
}
