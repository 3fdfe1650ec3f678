/* A roctx that does nothing but count its levels; built as libroctx64.so.4. */
#define STUB __attribute__((visibility("default")))
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static int level;

STUB void roctxMarkA(const char *text)
{
	(void)text;
}
STUB int roctxRangePushA(const char *text)
{
	(void)text;
	return level++;
}
STUB int roctxRangePop(void)
{
	return --level;
}
STUB unsigned long roctxRangeStartA(const char *text)
{
	(void)text;
	return 77;
}
STUB void roctxRangeStop(unsigned long id)
{
	(void)id;
}
