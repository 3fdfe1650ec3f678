#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/replay/tolerance.h"

/* Typed comparison: only where a rule gives the type; nothing is guessed. */

static const struct {
	uint8_t mantissa; /* explicit bits of a float's mantissa, 0: integer */
	bool is_signed;
} types[] = {
    [HRR_TYPE_NONE] = {0, false}, [HRR_TYPE_F16] = {10, true}, [HRR_TYPE_BF16] = {7, true},
    [HRR_TYPE_F32] = {23, true},  [HRR_TYPE_F64] = {52, true}, [HRR_TYPE_I8] = {0, true},
    [HRR_TYPE_U8] = {0, false},	  [HRR_TYPE_I16] = {0, true},  [HRR_TYPE_U16] = {0, false},
    [HRR_TYPE_I32] = {0, true},	  [HRR_TYPE_U32] = {0, false}, [HRR_TYPE_I64] = {0, true},
    [HRR_TYPE_U64] = {0, false},
};

static uint64_t bits_of(enum hrr_type type, const void *p)
{
	uint64_t v = 0;

	memcpy(&v, p, hrr_type_size(type));
	return v;
}

/* Units in the last place between two floats of one type: the distance of their ordered bits. */
static uint64_t ulps(enum hrr_type type, uint64_t a, uint64_t b)
{
	unsigned width = hrr_type_size(type) * 8u;
	uint64_t sign = (uint64_t)1 << (width - 1);
	uint64_t x = (a & sign) != 0 ? sign - (a & ~sign) : sign + a;
	uint64_t y = (b & sign) != 0 ? sign - (b & ~sign) : sign + b;

	return x > y ? x - y : y - x;
}

static uint64_t distance(enum hrr_type type, uint64_t a, uint64_t b)
{
	unsigned shift = 64 - hrr_type_size(type) * 8u;
	if (!types[type].is_signed)
		return a > b ? a - b : b - a;
	int64_t x = (int64_t)(a << shift) >> shift, y = (int64_t)(b << shift) >> shift;
	return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

static bool element_fits(const struct hrr_rule *rule, const unsigned char *was,
			 const unsigned char *is, struct hrr_outcome *o)
{
	enum hrr_type t = rule->type;
	uint64_t a = bits_of(t, was), b = bits_of(t, is);

	if (a == b)
		return true;
	double x = hrr_type_value(t, was), y = hrr_type_value(t, is);
	bool is_float = types[t].mantissa != 0;
	if (is_float && (isnan(x) || isnan(y)))
		return rule->nan && isnan(x) && isnan(y);
	if (is_float && (isinf(x) || isinf(y)))
		return false; /* equal infinities have equal bits */
	double diff = fabs(x - y);
	uint64_t u = is_float ? ulps(t, a, b) : distance(t, a, b);
	if (!is_float)
		diff = (double)u;
	if (diff > o->max_abs)
		o->max_abs = diff;
	if (x != 0 && diff / fabs(x) > o->max_rel)
		o->max_rel = diff / fabs(x);
	if (u > o->max_ulp)
		o->max_ulp = u;
	return diff <= rule->atol + rule->rtol * fabs(x) || (rule->ulp != 0 && u <= rule->ulp);
}

bool hrr_rule_apply(const struct hrr_rule *rule, const void *was, const void *is, uint64_t n,
		    struct hrr_outcome *o)
{
	const unsigned char *a = was, *b = is;
	size_t each = hrr_type_size(rule->type);
	bool fits = n % each == 0; /* bytes that are no whole element have no type */

	for (uint64_t i = 0; i + each <= n; i += each)
		if (!element_fits(rule, a + i, b + i, o))
			fits = false;
	return fits;
}

const struct hrr_rule *hrr_rule_find(const struct hrr_rules *t, const char *api, const char *kernel,
				     uint64_t addr, uint64_t size)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct hrr_rule *x = &t->rules[i];
		if (x->api[0] != '\0' && (api == NULL || fnmatch(x->api, api, 0) != 0))
			continue;
		if (x->kernel[0] != '\0' && (kernel == NULL || fnmatch(x->kernel, kernel, 0) != 0))
			continue;
		if (x->size != 0 &&
		    (addr < x->base || size > x->size || addr - x->base > x->size - size))
			continue;
		return x;
	}
	return NULL;
}

/* --- reading rules ----------------------------------------------------------------- */

static int copy_text(char *to, size_t size, const char *v, const char *key, struct hrr_diag *diag)
{
	if (strlen(v) >= size)
		return hrr_diag_set(diag, -EINVAL, "%s: too long", key);
	memcpy(to, v, strlen(v) + 1);
	return 0;
}

static int number(const char *v, double *ret, const char *key, struct hrr_diag *diag)
{
	char *end;
	double d = strtod(v, &end);

	if (end == v || *end != '\0' || !(d >= 0) || isinf(d))
		return hrr_diag_set(diag, -EINVAL, "%s: no number from 0: %s", key, v);
	*ret = d;
	return 0;
}

static int range(const char *v, struct hrr_rule *x, struct hrr_diag *diag)
{
	char *end;

	errno = 0;
	x->base = strtoull(v, &end, 16);
	if (end == v || *end != ':' || errno != 0)
		return hrr_diag_set(diag, -EINVAL, "addr: not BASE:SIZE: %s", v);
	v = end + 1;
	x->size = strtoull(v, &end, 0);
	if (end == v || *end != '\0' || errno != 0 || x->size == 0)
		return hrr_diag_set(diag, -EINVAL, "addr: not BASE:SIZE: %s", v);
	return 0;
}

static int one_key(struct hrr_rule *x, const char *key, const char *v, struct hrr_diag *diag)
{
	double d = 0;
	int rc = 0;

	if (strcmp(key, "api") == 0)
		return copy_text(x->api, sizeof x->api, v, key, diag);
	if (strcmp(key, "kernel") == 0)
		return copy_text(x->kernel, sizeof x->kernel, v, key, diag);
	if (strcmp(key, "addr") == 0)
		return range(v, x, diag);
	if (strcmp(key, "atol") == 0)
		return number(v, &x->atol, key, diag);
	if (strcmp(key, "rtol") == 0)
		return number(v, &x->rtol, key, diag);
	if (strcmp(key, "ulp") == 0) {
		rc = number(v, &d, key, diag);
		if (rc == 0 && (d > 9e15 || d != floor(d)))
			return hrr_diag_set(diag, -EINVAL, "ulp: no count: %s", v);
		x->ulp = (uint64_t)d;
		return rc;
	}
	if (strcmp(key, "nan") == 0) {
		x->nan = strcmp(v, "equal") == 0;
		if (!x->nan && strcmp(v, "exact") != 0)
			return hrr_diag_set(diag, -EINVAL, "nan: equal or exact, not %s", v);
		return 0;
	}
	if (strcmp(key, "type") == 0) {
		x->type = hrr_type_find(v);
		return x->type != HRR_TYPE_NONE
			   ? 0
			   : hrr_diag_set(diag, -EINVAL, "type: unknown: %s", v);
	}
	return hrr_diag_set(diag, -EINVAL, "unknown key %s", key);
}

int hrr_rules_add(struct hrr_rules *t, const char *text, struct hrr_diag *diag)
{
	struct hrr_rule x = {0};
	char *copy = strdup(text), *save = NULL;
	int rc = copy != NULL ? 0 : -ENOMEM;

	for (char *w = copy != NULL ? strtok_r(copy, " \t\r\n", &save) : NULL; rc == 0 && w != NULL;
	     w = strtok_r(NULL, " \t\r\n", &save)) {
		char *eq = strchr(w, '=');
		if (eq == NULL) {
			rc = hrr_diag_set(diag, -EINVAL, "not KEY=VALUE: %s", w);
			break;
		}
		*eq = '\0';
		rc = one_key(&x, w, eq + 1, diag);
	}
	free(copy);
	if (rc == 0 && x.type == HRR_TYPE_NONE)
		rc = hrr_diag_set(diag, -EINVAL, "a rule needs type=");
	if (rc == 0 && t->n == HRR_MAX_RULES)
		rc = hrr_diag_set(diag, -E2BIG, "more than %d rules", HRR_MAX_RULES);
	if (rc < 0)
		return rc;
	struct hrr_rule *v = realloc(t->rules, (t->n + 1) * sizeof *v);
	if (v == NULL)
		return hrr_diag_set(diag, -ENOMEM, "out of memory");
	t->rules = v;
	v[t->n++] = x;
	return 0;
}

int hrr_rules_load(struct hrr_rules *t, const char *path, struct hrr_diag *diag)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t cap = 0;
	uint64_t n = 0;
	int rc = 0;

	if (f == NULL) {
		int e = -errno;
		hrr_diag_at(diag, path, 0);
		return hrr_diag_set(diag, e, "%s", strerror(-e));
	}
	while (rc == 0 && getline(&line, &cap, f) >= 0) {
		n++;
		line[strcspn(line, "#\n")] = '\0';
		if (line[strspn(line, " \t\r")] != '\0')
			rc = hrr_rules_add(t, line, diag);
		if (rc < 0)
			hrr_diag_at(diag, path, n);
	}
	if (rc == 0 && ferror(f)) {
		hrr_diag_at(diag, path, 0);
		rc = hrr_diag_set(diag, -EIO, "cannot read: %s", strerror(errno));
	}
	free(line);
	fclose(f);
	return rc;
}

void hrr_rules_release(struct hrr_rules *t)
{
	free(t->rules);
	*t = (struct hrr_rules){0};
}
