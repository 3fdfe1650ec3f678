#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/stream/select_private.h"

#define MAX_DEPTH 64
#define MAX_TEXT 16384

static const struct {
	const char *name;
	enum key key;
} keys[] = {
    {"api", KEY_API}, {"kernel", KEY_KERNEL}, {"ret", KEY_RET},	      {"dir", KEY_DIR},
    {"seq", KEY_SEQ}, {"t", KEY_T},	      {"dur", KEY_DUR},	      {"tid", KEY_TID},
    {"p", KEY_P},     {"size", KEY_SIZE},     {"stream", KEY_STREAM}, {"addr", KEY_ADDR},
};

struct parser {
	struct hrr_select *s;
	const char *at;
	struct hrr_diag *diag;
	int depth;
};

static int bad(struct parser *p, const char *what, const char *text, size_t len)
{
	return hrr_diag_set(p->diag, -EINVAL, "bad selector: %s: \"%.*s\"", what,
			    (int)(len < 80 ? len : 80), text);
}

static void blanks(struct parser *p)
{
	while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n')
		p->at++;
}

/* A word ends at a blank or parenthesis outside of quotes. */
static size_t word_len(const char *s)
{
	size_t i = 0;

	for (bool quoted = false; s[i] != '\0'; i++) {
		if (s[i] == '"')
			quoted = !quoted;
		else if (!quoted && strchr(" \t\n()", s[i]) != NULL)
			break;
	}
	return i;
}

static bool word_is(const struct parser *p, const char *word)
{
	size_t n = word_len(p->at);

	return n == strlen(word) && memcmp(p->at, word, n) == 0;
}

static bool samples(const struct parser *p, uint32_t node)
{
	return ((const struct node *)(const void *)p->s->nodes.data)[node].samples;
}

static int add_node(struct parser *p, struct node n, uint32_t *ret)
{
	if (hrr_buf_add(&p->s->nodes, &n, sizeof n) < 0)
		return hrr_diag_set(p->diag, -ENOMEM, "out of memory");
	*ret = (uint32_t)(p->s->nodes.len / sizeof n) - 1;
	return 0;
}

static int add_item(struct parser *p, struct item item)
{
	if (hrr_buf_add(&p->s->items, &item, sizeof item) < 0)
		return hrr_diag_set(p->diag, -ENOMEM, "out of memory");
	return 0;
}

static uint32_t n_items(const struct parser *p)
{
	return (uint32_t)(p->s->items.len / sizeof(struct item));
}

/* A number with the unit its key takes; false when it is none. */
static bool number(enum key key, const char *s, size_t len, uint64_t *ret)
{
	static const struct {
		const char *name;
		uint64_t factor;
	} times[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}},
	  sizes[] = {{"K", 1u << 10}, {"M", 1u << 20}, {"G", 1u << 30}, {"T", (uint64_t)1 << 40}};
	uint64_t v = 0, fraction = 0, scale = 1, factor = 1;
	size_t i = 0;

	if (key == KEY_STREAM && len == 4 && memcmp(s, "null", 4) == 0) {
		*ret = 0;
		return true;
	}
	if (len > 2 && s[0] == '0' && s[1] == 'x') {
		if (len > 18)
			return false;
		for (i = 2; i < len; i++) {
			static const char digits[] = "0123456789abcdef";
			const char *d = strchr(digits, s[i] | 0x20);
			if (d == NULL || *d == '\0')
				return false;
			v = v << 4 | (uint64_t)(d - digits);
		}
		*ret = v;
		return true;
	}
	for (; i < len && s[i] >= '0' && s[i] <= '9'; i++)
		if (__builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s[i] - '0'), &v))
			return false;
	if (i == 0)
		return false;
	if (i + 1 < len && s[i] == '.' && s[i + 1] != '.')
		for (i++; i < len && s[i] >= '0' && s[i] <= '9'; i++)
			if (scale < 1000000000) {
				fraction = fraction * 10 + (uint64_t)(s[i] - '0');
				scale *= 10;
			}
	if (i < len) {
		bool found = false;
		for (size_t k = 0; k < 4 && (key == KEY_T || key == KEY_DUR); k++)
			if (strlen(times[k].name) == len - i &&
			    memcmp(times[k].name, s + i, len - i) == 0) {
				factor = times[k].factor;
				found = true;
			}
		for (size_t k = 0; k < 4 && key == KEY_SIZE; k++)
			if (len - i == 1 && s[i] == sizes[k].name[0]) {
				factor = sizes[k].factor;
				found = true;
			}
		if (!found)
			return false;
	}
	if (scale > 1 && factor == 1)
		return false; /* half a nanosecond, half a call */
	if (__builtin_mul_overflow(v, factor, &v))
		return false;
	*ret = v + fraction * (factor / scale) + fraction * (factor % scale) / scale;
	return true;
}

bool hrr_select_time(const char *text, uint64_t *ret)
{
	return number(KEY_T, text, strlen(text), ret);
}

bool hrr_select_size(const char *text, uint64_t *ret)
{
	return number(KEY_SIZE, text, strlen(text), ret);
}

static const char *find_dots(const char *s, size_t len)
{
	for (size_t i = 0; i + 1 < len; i++)
		if (s[i] == '.' && s[i + 1] == '.')
			return s + i;
	return NULL;
}

/* NUMBER, FROM..TO/STEP or ADDRESS+SIZE. What is wrong with it, or NULL. */
static const char *range(enum key key, const char *s, size_t len, struct item *ret)
{
	static const char none[] = "neither a number nor a range here";
	const char *dots = find_dots(s, len), *plus = memchr(s, '+', len);
	struct item x = {.first = 0, .last = UINT64_MAX, .step = 1};

	if (dots != NULL) {
		size_t before = (size_t)(dots - s), after = len - before - 2;
		const char *to = dots + 2, *slash = memchr(to, '/', after);
		if (slash != NULL) {
			size_t n = after - (size_t)(slash - to) - 1;
			if (!number(key, slash + 1, n, &x.step))
				return none;
			if (x.step == 0)
				return "a step of 0";
			after = (size_t)(slash - to);
		}
		if (before > 0 && !number(key, s, before, &x.first))
			return none;
		if (after > 0 && !number(key, to, after, &x.last))
			return none;
		if (x.first > x.last)
			return "a range that ends before it begins";
	} else if (plus != NULL && key == KEY_ADDR) {
		uint64_t size;
		size_t n = (size_t)(plus - s);
		if (!number(key, s, n, &x.first) ||
		    !number(KEY_SIZE, plus + 1, len - n - 1, &size) || size == 0 ||
		    __builtin_add_overflow(x.first, size - 1, &x.last))
			return none;
	} else {
		if (!number(key, s, len, &x.first))
			return none;
		x.last = x.first;
	}
	*ret = x;
	return NULL;
}

static int glob(struct parser *p, const char *s, size_t len)
{
	bool plain = true;

	for (size_t i = 0; i < len && plain; i++)
		plain = strchr("*?[\\", s[i]) == NULL;
	return add_item(p, (struct item){.glob = s, .len = len, .plain = plain});
}

/* The length of the first of several values, which may stand in quotes; 0: it is none. */
static size_t value_len(const char *s, size_t len)
{
	const char *end;

	if (len > 0 && s[0] == '"') {
		end = memchr(s + 1, '"', len - 1);
		size_t n = end != NULL ? (size_t)(end - s) + 1 : 0;
		return n == len || (n > 0 && s[n] == ',') ? n : 0;
	}
	end = memchr(s, ',', len);
	size_t n = end != NULL ? (size_t)(end - s) : len;
	return memchr(s, '"', n) == NULL ? n : 0;
}

static int globs(struct parser *p, const char *s, size_t len)
{
	for (;;) {
		size_t n = value_len(s, len);
		bool quoted = n > 0 && s[0] == '"';
		if (n == 0)
			return bad(p,
				   memchr(s, '"', len) != NULL
				       ? "quotes that are not around a value"
				       : "a value is missing",
				   s, len);
		int rc = quoted ? glob(p, s + 1, n - 2) : glob(p, s, n);
		if (rc < 0 || n == len)
			return rc;
		s += n + 1;
		len -= n + 1;
	}
}

static int numbers(struct parser *p, enum key key, const char *op, const char *s, size_t len)
{
	struct item x;

	if (op[0] == '<' || op[0] == '>') {
		if (!number(key, s, len, &x.first))
			return bad(p, "not a number here", s, len);
		bool equal = op[1] == '=';
		x = op[0] == '<' ? (struct item){.first = 0, .last = x.first}
				 : (struct item){.first = x.first, .last = UINT64_MAX};
		x.step = 1;
		if (!equal && op[0] == '<' && x.last-- == 0)
			return add_item(p, (struct item){.first = 1, .last = 0, .step = 1});
		if (!equal && op[0] == '>' && x.first++ == UINT64_MAX)
			return add_item(p, (struct item){.first = 1, .last = 0, .step = 1});
		return add_item(p, x);
	}
	for (;;) {
		const char *comma = memchr(s, ',', len);
		size_t n = comma != NULL ? (size_t)(comma - s) : len;
		const char *wrong = range(key, s, n, &x);
		if (wrong != NULL)
			return bad(p, wrong, s, n);
		int rc = add_item(p, x);
		if (rc < 0 || comma == NULL)
			return rc;
		s += n + 1;
		len -= n + 1;
	}
}

/* A direction without wildcards is one of four. */
static int directions(struct parser *p, uint32_t from)
{
	const struct item *x = (const void *)p->s->items.data;

	for (uint32_t i = from; i < n_items(p); i++)
		if (x[i].plain &&
		    (x[i].len != 3 || x[i].glob[1] != '2' || strchr("hd", x[i].glob[0]) == NULL ||
		     strchr("hd", x[i].glob[2]) == NULL))
			return bad(p, "no such direction", x[i].glob, x[i].len);
	return 0;
}

static int family(struct parser *p, const char *s, size_t len, unsigned char *ret_key)
{
	for (uint32_t i = 0; hrr_select_families[i].name != NULL; i++)
		if (strlen(hrr_select_families[i].name) == len &&
		    memcmp(hrr_select_families[i].name, s, len) == 0)
			return add_item(p, (struct item){.first = i});
	for (int i = 0; i < hrr_class_list_n; i++)
		if (strlen(hrr_class_list[i]) == len && memcmp(hrr_class_list[i], s, len) == 0) {
			*ret_key = KEY_CLASS;
			return add_item(p, (struct item){.first = (uint64_t)i});
		}
	return bad(p, "no such family", s, len);
}

static bool is_name_glob(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!((s[i] | 0x20) >= 'a' && (s[i] | 0x20) <= 'z') &&
		    !(s[i] >= '0' && s[i] <= '9') && strchr("_*?[]!^-", s[i]) == NULL)
			return false;
	return len > 0;
}

static int term(struct parser *p, uint32_t *ret)
{
	const char *s = p->at;
	size_t len = word_len(s), op = strcspn(s, "=!<>\"");
	struct node n = {.type = NODE_TERM, .key = KEY_API, .a = n_items(p)};
	int rc;

	p->at += len;
	if (len == 0)
		return bad(p, "something is missing", s, strlen(s));
	if (s[0] == '@') {
		n.key = KEY_FAMILY;
		rc = family(p, s + 1, len - 1, &n.key);
	} else if (op >= len || memchr(s, '[', op) != NULL) {
		rc = is_name_glob(s, len) ? globs(p, s, len) : bad(p, "not a call's name", s, len);
	} else {
		size_t k = 0, op_len = 1 + (s[op] != '=' && s[op + 1] == '=');
		while (k < sizeof keys / sizeof *keys &&
		       (strlen(keys[k].name) != op || memcmp(keys[k].name, s, op) != 0))
			k++;
		if (k == sizeof keys / sizeof *keys)
			return bad(p, "no such key", s, op);
		if (s[op] == '"' || (s[op] == '!' && op_len == 1))
			return bad(p, "no such operator", s + op, op_len);
		n.key = (unsigned char)keys[k].key;
		n.negate = s[op] == '!';
		const char *value = s + op + op_len;
		size_t rest = len - op - op_len;
		if (rest == 0)
			return bad(p, "a value is missing", s, len);
		if (n.key <= KEY_DIR && (s[op] == '<' || s[op] == '>'))
			return bad(p, "names have no order", s, len);
		rc = n.key <= KEY_DIR ? globs(p, value, rest)
				      : numbers(p, keys[k].key, s + op, value, rest);
	}
	if (rc == 0 && n.key == KEY_DIR)
		rc = directions(p, n.a);
	if (rc < 0)
		return rc;
	if (n.key != KEY_API && n.key != KEY_FAMILY && n.key != KEY_CLASS &&
	    (n.key < KEY_SEQ || n.key > KEY_P))
		p->s->head_only = false;
	n.b = n_items(p);
	for (uint32_t i = n.a; i < n.b && n.key == KEY_T; i++)
		n.samples |= ((const struct item *)(const void *)p->s->items.data)[i].step > 1;
	return add_node(p, n, ret);
}

static int any(struct parser *p, uint32_t *ret);

static int one(struct parser *p, uint32_t *ret)
{
	int rc;

	if (++p->depth > MAX_DEPTH)
		return bad(p, "nested too deep", p->at, strlen(p->at));
	blanks(p);
	if (word_is(p, "not")) {
		p->at += 3;
		uint32_t a;
		rc = one(p, &a);
		if (rc == 0)
			rc = add_node(
			    p, (struct node){.type = NODE_NOT, .samples = samples(p, a), .a = a},
			    ret);
	} else if (*p->at == '(') {
		p->at++;
		rc = any(p, ret);
		blanks(p);
		if (rc == 0 && *p->at != ')')
			rc = bad(p, "\")\" is missing", p->at, strlen(p->at));
		else if (rc == 0)
			p->at++;
	} else if (word_is(p, "and") || word_is(p, "or")) {
		rc = bad(p, "something is missing before", p->at, strlen(p->at));
	} else {
		rc = term(p, ret);
	}
	p->depth--;
	return rc;
}

static int several(struct parser *p, const char *word, enum node_type type,
		   int (*part)(struct parser *, uint32_t *), uint32_t *ret)
{
	int rc = part(p, ret);

	while (rc == 0) {
		blanks(p);
		if (!word_is(p, word))
			break;
		p->at += strlen(word);
		uint32_t b;
		rc = part(p, &b);
		if (rc == 0)
			rc = add_node(p,
				      (struct node){.type = (unsigned char)type,
						    .samples = samples(p, *ret) || samples(p, b),
						    .a = *ret,
						    .b = b},
				      ret);
	}
	return rc;
}

static int all(struct parser *p, uint32_t *ret)
{
	return several(p, "and", NODE_AND, one, ret);
}

static int any(struct parser *p, uint32_t *ret)
{
	return several(p, "or", NODE_OR, all, ret);
}

int hrr_select_new(struct hrr_select **ret, const char *expr, struct hrr_diag *diag)
{
	struct hrr_select *s = calloc(1, sizeof *s);
	struct parser p = {.s = s, .diag = diag};
	int rc;

	if (s == NULL)
		return hrr_diag_set(diag, -ENOMEM, "out of memory");
	s->head_only = true;
	s->text = strndup(expr, MAX_TEXT);
	if (s->text == NULL) {
		rc = hrr_diag_set(diag, -ENOMEM, "out of memory");
		goto fail;
	}
	p.at = s->text;
	rc = strlen(expr) > MAX_TEXT ? bad(&p, "too long", expr, 80) : any(&p, &s->root);
	if (rc == 0) {
		blanks(&p);
		if (*p.at != '\0')
			rc = bad(&p, "\"and\" or \"or\" is missing before", p.at, strlen(p.at));
	}
	if (rc == 0) {
		*ret = s;
		return 0;
	}
fail:
	hrr_select_free(s);
	return rc;
}

void hrr_select_free(struct hrr_select *s)
{
	if (s == NULL)
		return;
	hrr_buf_release(&s->nodes);
	hrr_buf_release(&s->items);
	free(s->text);
	free(s);
}
