#include "t/unit/emu_fixture.h"

/* Advice about managed memory, and what hipMemRangeGetAttribute tells of it: of all of a part, or
 * that it is not the same everywhere. */

enum { PAGE = 4096, CPU = -1, NOWHERE = -2, FINE = 0, COARSE = 1, MIXED = 2 };

static char *p;

static int ask(int attribute, size_t from, size_t bytes)
{
	int v = 77;
	hipError_t e = HIP(hipMemRangeGetAttribute, &v, sizeof v, attribute, p + from, bytes);

	return e == hipSuccess ? v : 1000 + (int)e;
}

static void advise(int advice, size_t from, size_t bytes, int device)
{
	is(HIP(hipMemAdvise, p + from, bytes, advice, device), hipSuccess, "advice %d", advice);
}

static void parts(void)
{
	int all = 4 * PAGE;

	is(ask(hipMemRangeAttributeReadMostly, 0, all), 0, "fresh: not read mostly");
	is(ask(hipMemRangeAttributePreferredLocation, 0, all), NOWHERE, "no place preferred");
	is(ask(hipMemRangeAttributeLastPrefetchLocation, 0, all), NOWHERE, "never prefetched");
	is(ask(hipMemRangeAttributeCoherencyMode, 0, all), FINE, "fine-grained");

	advise(hipMemAdviseSetReadMostly, PAGE, 2 * PAGE, 99);
	is(ask(hipMemRangeAttributeReadMostly, PAGE, 2 * PAGE), 1, "the part that was said");
	is(ask(hipMemRangeAttributeReadMostly, PAGE + 5, 1), 1, "a byte in it");
	is(ask(hipMemRangeAttributeReadMostly, 0, PAGE + 1), 0, "a byte before it");
	is(ask(hipMemRangeAttributeReadMostly, 3 * PAGE - 1, 2), 0, "a byte behind it");
	is(ask(hipMemRangeAttributeReadMostly, 0, all), 0, "the whole");
	advise(hipMemAdviseUnsetReadMostly, 2 * PAGE + 7, 1, 0);
	is(ask(hipMemRangeAttributeReadMostly, PAGE, PAGE), 1, "a page of it stays");
	is(ask(hipMemRangeAttributeReadMostly, 2 * PAGE, PAGE), 0, "one goes, for a byte");

	advise(hipMemAdviseSetPreferredLocation, 0, 2 * PAGE, 1);
	advise(hipMemAdviseSetPreferredLocation, 2 * PAGE, 2 * PAGE, CPU);
	is(ask(hipMemRangeAttributePreferredLocation, 0, 2 * PAGE), 1, "device 1");
	is(ask(hipMemRangeAttributePreferredLocation, 2 * PAGE, PAGE), CPU, "the CPU");
	is(ask(hipMemRangeAttributePreferredLocation, 0, all), NOWHERE, "not one place");
	advise(hipMemAdviseUnsetPreferredLocation, 0, all, 0);
	is(ask(hipMemRangeAttributePreferredLocation, 0, PAGE), NOWHERE, "taken back");

	advise(hipMemAdviseSetCoarseGrain, 0, PAGE, 0);
	is(ask(hipMemRangeAttributeCoherencyMode, 0, PAGE), COARSE, "coarse-grained");
	is(ask(hipMemRangeAttributeCoherencyMode, 0, all), MIXED, "of both kinds");
	advise(hipMemAdviseUnsetCoarseGrain, 0, PAGE, 0);
	is(ask(hipMemRangeAttributeCoherencyMode, 0, all), FINE, "fine again");

	is(HIP(hipMemPrefetchAsync, p, all, 1, NULL), hipSuccess, "prefetch");
	is(ask(hipMemRangeAttributeLastPrefetchLocation, 0, all), 1, "is remembered");
	is(HIP(hipMemPrefetchAsync, p, PAGE, CPU, NULL), hipSuccess, "some of it back");
	is(ask(hipMemRangeAttributeLastPrefetchLocation, 0, PAGE), CPU, "is remembered");
	is(ask(hipMemRangeAttributeLastPrefetchLocation, 0, all), NOWHERE, "not one place");
}

static void accessed(void)
{
	int by[4] = {9, 9, 9, 9};

	advise(hipMemAdviseSetAccessedBy, 0, 4 * PAGE, CPU);
	advise(hipMemAdviseSetAccessedBy, 0, 4 * PAGE, 1);
	advise(hipMemAdviseSetAccessedBy, 0, PAGE, 0);
	is(HIP(hipMemRangeGetAttribute, by, 16, hipMemRangeAttributeAccessedBy, p, PAGE),
	   hipSuccess, "accessed by");
	ok(by[0] == 0 && by[1] == 1 && by[2] == CPU && by[3] == NOWHERE, "%d %d %d %d", by[0],
	   by[1], by[2], by[3]);
	is(HIP(hipMemRangeGetAttribute, by, 8, hipMemRangeAttributeAccessedBy, p, 2 * PAGE),
	   hipSuccess, "of two pages");
	ok(by[0] == 1 && by[1] == CPU && by[2] == CPU, "by what may access both, no further");
	advise(hipMemAdviseUnsetAccessedBy, 0, PAGE, 1);
	is(HIP(hipMemRangeGetAttribute, by, 4, hipMemRangeAttributeAccessedBy, p, 2 * PAGE),
	   hipSuccess, "taken back in one");
	is(by[0], CPU, "leaves the CPU");
}

static void several(void)
{
	int mostly = 9, by[2] = {9, 9}, where = 9;
	void *data[] = {&mostly, by, &where};
	size_t sizes[] = {4, 8, 4};
	int which[] = {hipMemRangeAttributeReadMostly, hipMemRangeAttributeAccessedBy,
		       hipMemRangeAttributeLastPrefetchLocation};

	is(HIP(hipMemRangeGetAttributes, data, sizes, which, 3, p + PAGE, PAGE), hipSuccess,
	   "several at once");
	ok(mostly == 1 && by[0] == 1 && by[1] == CPU && where == 1, "%d %d %d %d", mostly, by[0],
	   by[1], where);
	is(HIP(hipMemRangeGetAttributes, data, sizes, which, 0, p, PAGE), hipErrorInvalidValue,
	   "none");
	is(HIP(hipMemRangeGetAttributes, NULL, sizes, which, 3, p, PAGE), hipErrorInvalidValue,
	   "nowhere to write");
	data[1] = NULL;
	is(HIP(hipMemRangeGetAttributes, data, sizes, which, 3, p, PAGE), hipErrorInvalidValue,
	   "one nowhere");
}

static void wrong(void)
{
	int v[2], invalid = 1000 + hipErrorInvalidValue;
	char *d = NULL;

	is(ask(5, 0, PAGE), invalid, "no such attribute");
	is(ask(hipMemRangeAttributeReadMostly, 0, 4 * PAGE + 1), invalid, "past the end");
	is(ask(hipMemRangeAttributeReadMostly, 0, 0), invalid, "nothing");
	is(HIP(hipMemRangeGetAttribute, v, 8, hipMemRangeAttributeReadMostly, p, PAGE),
	   hipErrorInvalidValue, "a size it does not have");
	is(HIP(hipMemRangeGetAttribute, v, 6, hipMemRangeAttributeAccessedBy, p, PAGE),
	   hipErrorInvalidValue, "half a device");
	is(HIP(hipMemRangeGetAttribute, NULL, 4, hipMemRangeAttributeReadMostly, p, PAGE),
	   hipErrorInvalidValue, "nowhere to write");
	is(HIP(hipMalloc, (void **)&d, PAGE), hipSuccess, "memory that is not managed");
	is(HIP(hipMemRangeGetAttribute, v, 4, hipMemRangeAttributeReadMostly, d, PAGE),
	   hipErrorInvalidValue, "has none");
	is(HIP(hipMemAdvise, p, PAGE, hipMemAdviseSetPreferredLocation, 2), hipErrorInvalidDevice,
	   "no such device");
	is(HIP(hipFree, d), hipSuccess, "free");
}

int main(void)
{
	setenv("HRR_EMU_DEVICES", "2", 1);
	if (!emu_open())
		return done_testing();
	is(HIP(hipMallocManaged, (void **)&p, 4 * PAGE, 1), hipSuccess, "managed memory");
	parts();
	accessed();
	several();
	wrong();
	is(HIP(hipFree, p), hipSuccess, "free");
	is(HIP(hipMallocManaged, (void **)&p, 4 * PAGE, 1), hipSuccess, "again");
	is(ask(hipMemRangeAttributeReadMostly, PAGE, PAGE), 0, "knows nothing of what was there");
	is(HIP(hipFree, p), hipSuccess, "free");
	return done_testing();
}
