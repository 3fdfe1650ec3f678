#include "lib/hip/made.h"

#include <string.h>

const struct hrr_api_row *hrr_record_row(const struct hrr_record *rec)
{
	int api = rec->kind == HRR_REC_CALL ? hrr_api_find(rec->api, rec->api_len) : -1;

	return api < 0 ? NULL : &hrr_api_table[api];
}

bool hrr_record_succeeded(const struct hrr_record *rec, const struct hrr_api_row *row)
{
	/* Where others than hipError_t are returned, "none" alone says that it never did. */
	return rec->ret < 0 || (row != NULL && row->ret != HRR_RET_ERROR &&
				!hrr_json_is(&rec->json, rec->ret, "none"));
}

/* The member of args that a place ("extent.height", len bytes) names, or -1. */
static int place(const struct hrr_record *rec, const char *name, size_t len)
{
	int node = rec->args;

	for (size_t at = 0; node >= 0 && at < len;) {
		const char *dot = memchr(name + at, '.', len - at);
		size_t n = dot != NULL ? (size_t)(dot - name) - at : len - at;
		char key[64];

		if (n >= sizeof key)
			return -1;
		memcpy(key, name + at, n);
		key[n] = '\0';
		node = hrr_json_get(&rec->json, node, key);
		at += n + 1;
	}
	return node;
}

static uint64_t product(const struct hrr_record *rec, const char *factors)
{
	uint64_t v, all = 1;

	for (const char *s = factors;; s++) {
		size_t n = strcspn(s, "*");
		if (hrr_json_u64(&rec->json, place(rec, s, n), &v) < 0 ||
		    __builtin_mul_overflow(all, v, &all))
			return 0;
		s += n;
		if (*s == '\0')
			return all;
	}
}

bool hrr_record_makes(const struct hrr_record *rec, const struct hrr_api_row *row,
		      struct hrr_made *ret)
{
	const struct hrr_gives *g = &row->gives;
	struct hrr_made m = {.kind = (enum hrr_gives_kind)g->kind};
	int i;

	if (g->kind == HRR_GIVES_NOTHING || !hrr_record_succeeded(rec, row) ||
	    hrr_json_addr(&rec->json, place(rec, g->addr, strlen(g->addr)), &m.base) < 0 ||
	    m.base == 0)
		return false;
	m.host = row->params[g->param].kind == HRR_K_HOST;
	i = g->kind == HRR_GIVES_NAME
		? hrr_api_param((enum hrr_api)(row - hrr_api_table), g->bytes, strlen(g->bytes))
		: -1;
	if (i >= 0 && row->params[i].kind == HRR_K_SYMBOL)
		(void)hrr_json_u64(&rec->json, hrr_json_get(&rec->json, rec->symbol, "size"),
				   &m.size);
	else if (i >= 0 && row->params[i].kind == HRR_K_HOST)
		(void)hrr_json_addr(&rec->json, place(rec, g->bytes, strlen(g->bytes)), &m.behind);
	else
		m.size = product(rec, g->bytes);
	if (m.size > 0 && m.base > UINT64_MAX - (m.size - 1))
		return false; /* an archive may say anything */
	*ret = m;
	return true;
}

bool hrr_record_takes(const struct hrr_record *rec, const struct hrr_api_row *row, uint64_t *ret,
		      bool *ret_all)
{
	if (row->release == -1 || !hrr_record_succeeded(rec, row))
		return false;
	*ret_all = row->release == -2;
	if (*ret_all)
		return true;
	const struct hrr_param *p = &row->params[row->release];
	if (p->kind != HRR_K_DEV && p->kind != HRR_K_HOST && p->kind != HRR_K_ADDR)
		return false;
	return hrr_json_addr(&rec->json, hrr_json_get(&rec->json, rec->args, p->name), ret) == 0 &&
	       *ret != 0;
}
