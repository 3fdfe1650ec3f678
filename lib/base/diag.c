#include "lib/base/diag.h"

#include <stdio.h>
#include <string.h>

int hrr_diag_set(struct hrr_diag *diag, int err, const char *fmt, ...)
{
	char raw[768];
	va_list ap;

	if (diag == NULL)
		return err;
	va_start(ap, fmt);
	int n = vsnprintf(raw, sizeof raw, fmt, ap);
	va_end(ap);
	if (n < 0)
		n = 0;
	if ((size_t)n >= sizeof raw)
		n = (int)sizeof raw - 1;
	hrr_mask(diag->what, sizeof diag->what, raw, (size_t)n);
	return err;
}

void hrr_diag_at(struct hrr_diag *diag, const char *operand, uint64_t line)
{
	if (diag == NULL)
		return;
	if (operand == NULL)
		operand = "";
	hrr_mask(diag->operand, sizeof diag->operand, operand, strlen(operand));
	diag->line = line;
}
