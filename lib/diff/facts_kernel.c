#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/diff/facts.h"

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The 8-byte word at byte at of a little-endian string of hex digits. */
static bool word(const char *hex, size_t len, uint64_t at, uint64_t *ret)
{
	uint64_t v = 0;

	if (at > len / 2 || len / 2 - at < 8)
		return false;
	for (int i = 7; i >= 0; i--) {
		int hi = digit(hex[(at + (uint64_t)i) * 2]),
		    lo = digit(hex[(at + (uint64_t)i) * 2 + 1]);

		if (hi < 0 || lo < 0)
			return false;
		v = v << 8 | (uint64_t)(hi << 4 | lo);
	}
	*ret = v;
	return true;
}

/* An address inside an argument: out of the bytes, into a fact of its own. */
static void lift(struct hrr_facts *f, char *hex, size_t len, uint64_t at, bool declared)
{
	size_t base = strlen(f->s->path);
	uint64_t v, offset;

	if (!word(hex, len, at, &v))
		return;
	if (!declared && (v == 0 || !hrr_objects_address(f->o, f->rec->p, v, &offset)))
		return;
	memset(hex + at * 2, '.', 16);
	snprintf(f->s->path + base, sizeof f->s->path - base, "+%llu", (unsigned long long)at);
	hrr_facts_address(f, v, HRR_REF_DEVICE);
	f->s->path[base] = 0;
}

/* of: "kernel", or "kernels[N]" of a call that launches several. */
static void argument(struct hrr_facts *f, const char *of, int arg, int n)
{
	const struct hrr_json *j = &f->rec->json;
	int hex = hrr_json_get(j, arg, "hex"), ptr = hrr_json_get(j, arg, "ptr"),
	    offset = hrr_json_get(j, arg, "offset");
	size_t len;
	const char *digits = hrr_json_raw(j, hex, &len);
	uint64_t at, where = 0;

	if (!digits) {
		snprintf(f->s->path, sizeof f->s->path, "%s.args[%d]", of, n);
		hrr_facts_any(f, arg);
		return;
	}
	snprintf(f->s->path, sizeof f->s->path, "%s.args[%d].offset", of, n);
	if (offset >= 0) {
		hrr_facts_node(f, HRR_FACT_TEXT, offset);
		(void)hrr_json_u64(j, offset, &where);
	}
	f->s->text.len = 0;
	if (hrr_buf_addc(&f->s->text, '"') < 0 || hrr_buf_add(&f->s->text, digits, len) < 0 ||
	    hrr_buf_addc(&f->s->text, '"') < 0) {
		f->err = -ENOMEM;
		return;
	}
	char *copy = f->s->text.data + 1;

	snprintf(f->s->path, sizeof f->s->path, "%s.args[%d]", of, n);
	for (int k = ptr < 0 ? -1 : hrr_json_first(j, ptr); k >= 0; k = hrr_json_next(j, ptr, k))
		if (hrr_json_u64(j, k, &at) == 0)
			lift(f, copy, len, at, true);
	/* Recorded before somebody declared the memory: a word that lies in it all the same. */
	for (at = (8 - where % 8) % 8; at + 8 <= len / 2; at += 8)
		lift(f, copy, len, at, false);
	hrr_facts_add(f, HRR_FACT_HEX, f->s->text.data, f->s->text.len);
}

static void launch(struct hrr_facts *f, const char *of, int kernel)
{
	const struct hrr_json *j = &f->rec->json;

	for (int k = hrr_json_first(j, kernel); k >= 0; k = hrr_json_next(j, kernel, k)) {
		const struct hrr_json_node *key = &j->nodes[k];
		const char *name = j->text + key->off;

		if (key->len == 4 && memcmp(name, "args", 4) == 0 &&
		    j->nodes[k + 1].type == HRR_JSON_ARRAY) {
			int n = 0;

			for (int a = hrr_json_first(j, k + 1); a >= 0;
			     a = hrr_json_next(j, k + 1, a))
				argument(f, of, a, n++);
			continue;
		}
		snprintf(f->s->path, sizeof f->s->path, "%s.%.*s", of, (int)key->len, name);
		hrr_facts_node(f, HRR_FACT_TEXT, k + 1);
	}
}

void hrr_facts_kernel(struct hrr_facts *f, int kernel)
{
	const struct hrr_json *j = &f->rec->json;
	char of[32];
	int n = 0;

	if (j->nodes[kernel].type == HRR_JSON_OBJECT) {
		launch(f, "kernel", kernel);
		return;
	}
	for (int k = -1; (k = hrr_kernel_next(j, kernel, k)) >= 0;) {
		snprintf(of, sizeof of, "kernels[%d]", n++);
		launch(f, of, k);
	}
}

size_t hrr_path_kernel(const char *path, size_t len)
{
	size_t n = 7;

	if (len > n && memcmp(path, "kernel.", n) == 0)
		return n;
	if (len <= ++n || memcmp(path, "kernels[", n) != 0)
		return 0;
	while (n < len && path[n] >= '0' && path[n] <= '9')
		n++;
	return len - n > 2 && memcmp(path + n, "].", 2) == 0 ? n + 2 : 0;
}
