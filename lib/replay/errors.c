#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "lib/replay/engine.h"

int hrr_fail(struct hrr_replay *r, const char *fmt, ...)
{
	va_list ap;
	char text[700];

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return hrr_diag_set(&r->diag, -EPROTO, "%s", text);
}

int hrr_refuse(struct hrr_replay *r, const char *fmt, ...)
{
	va_list ap;
	char text[700];

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return hrr_diag_set(&r->diag, -EOPNOTSUPP, "%s", text);
}

int hrr_trouble(struct hrr_replay *r, int err, const char *fmt, ...)
{
	va_list ap;
	char text[700];

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	r->trouble = true;
	return hrr_diag_set(&r->diag, err, "%s", text);
}

const char *hrr_error_text(int64_t error, char buf[32])
{
	const char *name = hrr_error_name((int)error);

	if (name != NULL)
		return name;
	snprintf(buf, 32, "error %lld", (long long)error);
	return buf;
}

void hrr_report(struct hrr_replay *r, struct hrr_outcome *o)
{
	r->v.outcome[o->kind]++;
	if (o->line == 0)
		o->line = r->line;
	if (r->opt.outcome != NULL)
		r->opt.outcome(r->opt.self, o);
}

void hrr_warn(struct hrr_replay *r, uint64_t seq, const char *api, const char *fmt, ...)
{
	va_list ap;
	char text[700], clean[700];

	va_start(ap, fmt);
	int n = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	hrr_mask(clean, sizeof clean, text,
		 n < 0			   ? 0
		 : (size_t)n < sizeof text ? (size_t)n
					   : sizeof text - 1);
	struct hrr_outcome o = {
	    .kind = HRR_WARNED, .seq = seq, .node = -1, .api = api, .text = clean};
	hrr_report(r, &o);
}
