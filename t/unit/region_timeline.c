#include "lib/region/timeline.h"

#include <errno.h>
#include <string.h>

#include "lib/stream/record.h"
#include "t/unit/tap.h"

static struct hrr_timeline *tl;
static struct hrr_record rec;
static struct hrr_buf tag;
static struct hrr_diag d;
static int gone;

static void on_del(void *self, struct hrr_live_region *x)
{
	*(uint64_t *)self = x->serial;
	gone++;
}

static uint64_t gone_serial;

static int apply(const char *line)
{
	struct hrr_region r;
	int rc = hrr_record_parse(&rec, line, strlen(line), &d);

	if (rc == 0)
		rc = hrr_region_read(&rec, &r, &tag, &d);
	return rc < 0 ? rc : hrr_timeline_apply(tl, &r, on_del, &gone_serial);
}

int main(void)
{
	tl = hrr_timeline_new();

	is(apply(
	       "{\"region\":\"add\",\"kind\":\"segment\",\"base\":\"0x1000\",\"size\":4096,\"tag\":"
	       "\"pool\"}"),
	   0, "add a segment");
	is(apply("{\"region\":\"add\",\"kind\":\"block\",\"base\":\"0x1000\",\"size\":256}"), 0,
	   "a block at its base");
	is(apply(
	       "{\"region\":\"add\",\"kind\":\"block\",\"base\":\"0x1200\",\"size\":256,\"t\":7}"),
	   0, "and another");
	struct hrr_live_region *seg = hrr_timeline_segment(tl, 0x1fff);
	ok(seg != NULL && seg->base == 0x1000 && seg->segment, "the segment is found");
	is_str(seg->tag, "pool", "with its tag");
	ok(seg->t_add == HRR_NO_TIME && seg->serial == 1, "its time and number");
	ok(hrr_timeline_segment(tl, 0x2000) == NULL, "not past its end");
	ok(hrr_timeline_block(tl, 0x10ff)->base == 0x1000, "the block is found");
	ok(hrr_timeline_block(tl, 0x1100) == NULL, "nothing between the blocks");
	ok(hrr_timeline_block_before(tl, seg, 0x1180)->base == 0x1000, "the one before");
	ok(hrr_timeline_block_after(tl, seg, 0x1180)->base == 0x1200, "the one after");
	ok(hrr_timeline_block_after(tl, seg, 0x1200) == NULL, "none after the last");
	ok(hrr_timeline_block_before(tl, seg, 0x1000) == NULL, "none before the first");

	is(apply("{\"region\":\"del\",\"base\":\"0x1000\",\"device\":1}"), 1, "not on that device");
	is(apply("{\"region\":\"del\",\"base\":\"0x1000\"}"), 0, "without kind");
	ok(gone == 1 && gone_serial == 2 && hrr_timeline_segment(tl, 0x1000) == seg,
	   "the block goes first");
	is(apply("{\"region\":\"del\",\"base\":\"0x1000\",\"kind\":\"block\"}"), 1,
	   "a block that is gone matches nothing");
	is(hrr_timeline_unmatched(tl), 2, "which is counted");
	is(apply("{\"region\":\"add\",\"kind\":\"segment\",\"base\":\"0x1000\",\"size\":8192,"
		 "\"device\":1}"),
	   0, "the same base on another device");
	is(gone, 1, "replaces nothing");
	ok(hrr_timeline_segment(tl, 0x1000)->size == 4096, "the tighter wins");
	is(apply("{\"region\":\"add\",\"kind\":\"segment\",\"base\":\"0x1000\",\"size\":8}"), 0,
	   "add over a live one");
	ok(gone == 2 && gone_serial == 1, "replaces it");
	is(apply("{\"region\":\"del\",\"base\":\"0x1000\"}"), 0, "no block: the segment goes");
	ok(hrr_timeline_segment(tl, 0x1000)->device == 1, "on its device only");
	is(hrr_timeline_records(tl), 9, "records are counted");

	static const struct {
		const char *line, *what;
	} bad[] = {
	    {"{\"region\":\"add\",\"base\":\"0x1\",\"size\":1}", "bad region: no member \"kind\""},
	    {"{\"region\":\"add\",\"kind\":\"pool\",\"base\":\"0x1\",\"size\":1}",
	     "bad region: \"kind\" is neither \"segment\" nor \"block\""},
	    {"{\"region\":\"add\",\"kind\":\"block\",\"base\":\"0x1\",\"size\":0}",
	     "bad region: \"size\" is not from 1 to 2^47 and inside the address space"},
	    {"{\"region\":\"add\",\"kind\":\"block\",\"base\":\"0x1\",\"size\":140737488355329}",
	     "bad region: \"size\" is not from 1 to 2^47 and inside the address space"},
	    {"{\"region\":\"add\",\"kind\":\"block\",\"base\":\"0xffffffffffffffff\",\"size\":2}",
	     "bad region: \"size\" is not from 1 to 2^47 and inside the address space"},
	    {"{\"region\":\"del\",\"base\":\"0x1\",\"device\":65536}",
	     "bad region: \"device\" is not a number up to 65535"},
	    {"{\"region\":\"del\",\"base\":\"0x1\",\"tag\":5}",
	     "bad region: \"tag\" is not a string"},
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		is(apply(bad[i].line), -EINVAL, "refused: %s", bad[i].line);
		is_str(d.what, bad[i].what, "and said why");
	}
	hrr_timeline_free(tl);
	hrr_record_release(&rec);
	hrr_buf_release(&tag);
	return done_testing();
}
