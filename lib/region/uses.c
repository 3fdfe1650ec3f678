#include <string.h>

#include "lib/hip/made.h"
#include "lib/region/world.h"
#include "lib/stream/select.h"

typedef int each_use(void *self, const struct hrr_use *u);

static int hex_digit(char c)
{
	return c >= '0' && c <= '9'		    ? c - '0'
	       : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
						    : -1;
}

/* The 8-byte word at byte at of hex digits. */
static bool word_at(const char *hex, size_t digits, uint64_t at, uint64_t *ret)
{
	uint64_t v = 0;

	if (at > digits / 2 || digits / 2 - at < 8)
		return false;
	for (int b = 7; b >= 0; b--) {
		const char *s = hex + 2 * (at + (uint64_t)b);
		int h = hex_digit(s[0]), l = hex_digit(s[1]);
		if (h < 0 || l < 0)
			return false;
		v = v << 8 | (uint64_t)(h << 4 | l);
	}
	*ret = v;
	return true;
}

static int pointers(const struct hrr_record *rec, int kernel, each_use *each, void *self)
{
	const struct hrr_json *j = &rec->json;
	int args = hrr_json_get(j, kernel, "args"), rc = 0;
	struct hrr_use u = {.what = "argument", .kernel = kernel};

	if (args < 0 || j->nodes[args].type != HRR_JSON_ARRAY)
		return 0;
	for (int a = hrr_json_first(j, args); rc == 0 && a >= 0;
	     a = hrr_json_next(j, args, a), u.arg++) {
		int ptr = hrr_json_get(j, a, "ptr");
		size_t digits;
		const char *hex = hrr_json_raw(j, hrr_json_get(j, a, "hex"), &digits);
		if (ptr < 0 || hex == NULL || j->nodes[ptr].type != HRR_JSON_ARRAY)
			continue;
		for (int o = hrr_json_first(j, ptr); rc == 0 && o >= 0;
		     o = hrr_json_next(j, ptr, o))
			if (hrr_json_u64(j, o, &u.at) == 0 && word_at(hex, digits, u.at, &u.addr) &&
			    u.addr != 0)
				rc = each(self, &u);
	}
	return rc;
}

/* The operand whose name begins so, as HIP calls its destinations and sources; or the only one. */
static int operand(const struct hrr_record *rec, const struct hrr_api_row *row, const char *begin,
		   struct hrr_use u, each_use *each, void *self)
{
	for (int i = 0; i < row->n_params; i++) {
		const struct hrr_param *p = &row->params[i];
		if ((p->kind != HRR_K_DEV && p->kind != HRR_K_ADDR) ||
		    strncmp(p->name, begin, strlen(begin)) != 0)
			continue;
		int node = hrr_json_get(&rec->json, rec->args, p->name);
		return hrr_json_addr(&rec->json, node, &u.addr) == 0 && u.addr != 0 ? each(self, &u)
										    : 0;
	}
	return 0;
}

int hrr_call_uses(const struct hrr_record *rec, int (*each)(void *self, const struct hrr_use *u),
		  void *self)
{
	struct hrr_use to = {.what = "destination", .kernel = -1},
		       from = {.what = "source", .kernel = -1};
	const struct hrr_api_row *row = hrr_record_row(rec);
	const struct hrr_json *j = &rec->json;
	int rc = 0;

	if (rec->kind != HRR_REC_CALL || rec->args < 0)
		return 0;
	for (int k = -1; rc == 0 && (k = hrr_kernel_next(j, rec->kernel, k)) >= 0;)
		rc = pointers(rec, k, each, self);
	if (rec->kernel >= 0)
		return rc;
	if (row == NULL || (row->cls != HRR_CLASS_COPY && row->cls != HRR_CLASS_SET))
		return 0;
	/* A rectangle's bytes do not follow one another. */
	if (hrr_json_get(j, rec->args, "height") < 0 && hrr_record_size(rec, &to.size) &&
	    __builtin_mul_overflow(to.size, (uint64_t)row->unit, &to.size))
		to.size = UINT64_MAX;
	from.size = to.size;
	if (row->cls == HRR_CLASS_SET)
		return operand(rec, row, "d", to, each, self);
	if (rec->dir >= 0) {
		if (hrr_json_is(j, rec->dir, "h2d") || hrr_json_is(j, rec->dir, "d2d"))
			rc = operand(rec, row, "d", to, each, self);
		if (rc == 0 && (hrr_json_is(j, rec->dir, "d2h") || hrr_json_is(j, rec->dir, "d2d")))
			rc = operand(rec, row, "src", from, each, self);
	}
	return rc;
}
