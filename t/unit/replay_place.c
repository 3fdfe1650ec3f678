/* Spans wanted by a scan: which numbers are device addresses, and what becomes one span. */
#include "lib/replay/place.h"
#include "t/unit/tap.h"

#define GRAIN HRR_SPAN_ROUND

/* How many spans one recorded call makes wanted; what it is read as. */
static size_t scanned(const char *api, const char *args, const char *more)
{
	struct hrr_place *p = hrr_place_new();
	struct hrr_record rec = {0};
	struct hrr_diag d = {0};
	char line[512];
	int n = snprintf(line, sizeof line,
			 "{\"seq\":1,\"t\":1,\"dur\":1,\"tid\":1,\"api\":\"%s\"%s,\"args\":{%s}}",
			 api, more, args);

	if (p == NULL || hrr_record_parse(&rec, line, (size_t)n, &d) < 0 ||
	    hrr_place_scan(p, &rec) < 0) {
		diag("%s: %s", line, d.what);
		return 99;
	}
	size_t wanted = hrr_ranges_count(p->spans);
	if (wanted != 0 && hrr_ranges_find(p->spans, 0x7d0000006000) == NULL)
		wanted = 98;
	hrr_record_release(&rec);
	hrr_place_free(p);
	return wanted;
}

#define AT "\"0x7d0000006000\""

static void scan(void)
{
	is(scanned("hipMalloc", "\"ptr\":" AT ",\"size\":64", ""), 1, "an allocation");
	is(scanned("hipMalloc", "\"ptr\":" AT ",\"size\":64", ",\"ret\":\"hipErrorOutOfMemory\""),
	   0, "  not one that failed");
	is(scanned("hipMallocAsync", "\"dev_ptr\":" AT ",\"size\":64,\"stream\":null", ""), 1,
	   "one in a stream");
	is(scanned("hipMallocPitch", "\"ptr\":" AT ",\"pitch\":512,\"width\":4,\"height\":8", ""),
	   1, "rows");
	is(scanned("hipMalloc3D",
		   "\"pitchedDevPtr\":{\"ptr\":" AT ",\"pitch\":512,\"xsize\":4,\"ysize\":2},"
		   "\"extent\":{\"width\":4,\"height\":2,\"depth\":2}",
		   ""),
	   1, "a box");
	is(scanned("hipMemAddressReserve",
		   "\"ptr\":" AT ",\"size\":4096,\"alignment\":0,\"addr\":null,\"flags\":0", ""),
	   1, "addresses the program reserved");
	is(scanned("hipMallocManaged", "\"dev_ptr\":" AT ",\"size\":64,\"flags\":1", ""), 0,
	   "managed memory: the run time chooses");
	is(scanned("hipHostMalloc", "\"ptr\":" AT ",\"size\":64,\"flags\":0", ""), 0,
	   "host memory");
	is(scanned("hipHostRegister", "\"hostPtr\":" AT ",\"sizeBytes\":64,\"flags\":0", ""), 0,
	   "registered memory");
	is(scanned("hipMemGetAddressRange", "\"pbase\":" AT ",\"psize\":64,\"dptr\":" AT, ""), 0,
	   "what is only told");
}

int main(void)
{
	struct hrr_place *p = hrr_place_new();

	if (!ok(p != NULL, "a new place"))
		return done_testing();
	is(hrr_place_want(p, 0x7fbe01400000, 4096), 0, "an address as hardware gives them");
	is(hrr_ranges_count(p->spans), 1, "it is wanted");
	is(hrr_place_want(p, 0x7d0000006000, 20000), 0, "one as the CPU run time gives them");
	is(hrr_ranges_count(p->spans), 2, "it is wanted too");
	const struct hrr_range *x = hrr_ranges_find(p->spans, 0x7d0000006000);
	ok(x != NULL && x->base % HRR_SPAN_WIDE == 0 && x->size == HRR_SPAN_WIDE,
	   "spans are rounded to what every run time honours");
	is(hrr_place_want(p, 0x7d0000000000 + HRR_SPAN_WIDE, GRAIN), 0, "a neighbour");
	is(hrr_ranges_count(p->spans), 2, "neighbours are one span");
	is(hrr_place_want(p, (uint64_t)1 << 47, 4096), 0, "no user address");
	is(hrr_place_want(p, ((uint64_t)1 << 47) - 4096, 8192), 0, "one that runs past the end");
	is(hrr_place_want(p, UINT64_MAX - 10, 4096), 0, "one that wraps");
	is(hrr_place_want(p, 0x1000, (uint64_t)1 << 50), 0, "a size no memory has");
	is(hrr_ranges_count(p->spans), 2, "none of them is wanted");
	hrr_place_free(p);
	scan();
	return done_testing();
}
