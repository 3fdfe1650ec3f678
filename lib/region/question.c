#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/region/explain.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Up to 20 digits at s, ended by something else; how many, 0 when there are none. */
static size_t digits(const char *s, uint64_t *ret)
{
	size_t n = 0;
	uint64_t v = 0;

	for (; is_digit(s[n]); n++)
		if (__builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s[n] - '0'), &v))
			return 0;
	*ret = v;
	return n;
}

/* OPERAND:LINE: — the first ":N: " of a message. Returns what follows. */
static const char *message_line(const char *text, uint64_t *ret)
{
	for (const char *s = text; (s = strchr(s, ':')) != NULL;) {
		size_t n = digits(++s, ret);
		if (n > 0 && s[n] == ':' && (s[n + 1] == ' ' || s[n + 1] == '\0'))
			return s + n + 1;
	}
	return NULL;
}

size_t hrr_question_place(const char *text)
{
	uint64_t line;
	const char *rest = message_line(text, &line);

	return rest != NULL ? (size_t)(rest - text) : 0;
}

static int from_json(struct hrr_question *q, const char *text, struct hrr_diag *diag)
{
	static const char *const addrs[] = {"addr", "address", "base"};
	static const char *const seqs[] = {"seq", "output", "call"};
	struct hrr_json j = {0};
	int rc = hrr_json_parse(&j, text, strlen(text), diag);
	bool found = false;

	for (size_t i = 0; rc == 0 && !found && i < sizeof addrs / sizeof *addrs; i++)
		found = hrr_json_addr(&j, hrr_json_get(&j, 0, addrs[i]), &q->addr) == 0;
	for (size_t i = 0; rc == 0 && i < sizeof seqs / sizeof *seqs; i++)
		if (hrr_json_u64(&j, hrr_json_get(&j, 0, seqs[i]), &q->when) == 0) {
			q->at = HRR_WHEN_SEQ;
			break;
		}
	if (rc == 0)
		(void)hrr_json_u64(&j, hrr_json_get(&j, 0, "size"), &q->size);
	uint64_t p;
	if (rc == 0 && hrr_json_u64(&j, hrr_json_get(&j, 0, "p"), &p) == 0 && p <= UINT32_MAX)
		q->p = (int64_t)p;
	hrr_json_release(&j);
	if (rc == 0 && !found)
		return hrr_diag_set(diag, -EINVAL, "no address in it: no member \"addr\"");
	return rc;
}

int hrr_question_read(struct hrr_question *q, const char *text, struct hrr_diag *diag)
{
	uint64_t line = 0, size = 0;

	while (*text == ' ' || *text == '\t')
		text++;
	if (*text == '{')
		return from_json(q, text, diag);
	/* In a message the operand comes first, and a path may hold anything. */
	const char *rest = message_line(text, &line), *s = strstr(rest != NULL ? rest : text, "0x");
	char *end;
	if (s == NULL)
		return hrr_diag_set(diag, -EINVAL, "no address like 0x7fbe01400000 in it");
	errno = 0;
	uint64_t addr = strtoull(s, &end, 16);
	if (errno != 0 || end - s < 3)
		return hrr_diag_set(diag, -EINVAL, "bad address: %.20s", s);
	q->addr = addr;
	if (rest != NULL && q->at == HRR_WHEN_END) {
		q->at = HRR_WHEN_LINE;
		q->when = line;
	}
	if (end[0] == '+' && digits(end + 1, &size) > 0)
		q->size = size;
	else if (end[0] == ' ' && end[1] == '(' && digits(end + 2, &size) > 0 &&
		 strncmp(end + 2 + strspn(end + 2, "0123456789"), " bytes", 6) == 0)
		q->size = size;
	return 0;
}
