/* The reading half of capture against rings written here by hand: order, groups,
 * calls that never return, overflow, numbers nobody used, damage. */
#include "t/unit/rings.h"

static void order(void)
{
	struct fixture f;

	start(&f, "order");
	make_process(&f, true, 2);
	call(&f, 1, 2);
	hrr_collect_step(f.collect, NULL);
	is_str(stream(), "", "the second call waits for the first");
	call(&f, 0, 1);
	call(&f, 0, 4);
	call(&f, 1, 3);
	hrr_collect_step(f.collect, NULL);
	is_str(stream(), "1 2 3 4 ", "rings are merged by number");
	is((int)(f.ring[0]->head - f.ring[0]->tail), 0, "what is written is given back");
	f.ctl->start = 1;
	f.ctl->ending = HRR_ENDING_EXIT;
	stop(&f);
	is_str(stream(), "1 2 3 4 complete", "an end when the process has ended");
}

static void group(void)
{
	struct fixture f;

	start(&f, "group");
	make_process(&f, true, 2);
	call(&f, 0, 1);
	put(f.ring[0], HRR_R_LEAVE, 2, HRR_F_MORE, sizeof(struct hrr_rec));
	output(&f, 0, 1);
	f.ctl->seq = 2;
	call(&f, 1, 3);
	hrr_collect_step(f.collect, NULL);
	is_str(stream(), "1 2 o1 ", "a group is not over before its END");
	output(&f, 0, 2);
	put(f.ring[0], HRR_R_END, 0, 0, sizeof(struct hrr_rec));
	hrr_collect_step(f.collect, NULL);
	is_str(stream(), "1 2 o1 o2 3 ", "then others go on");
	f.ctl->start = 1;
	stop(&f);
}

static void blocked(void)
{
	struct fixture f;
	uint64_t seq = 1;

	start(&f, "blocked");
	make_process(&f, true, 2);
	/* A hipFree that has begun and does not return; another thread goes on for many rings'
	 * worth. */
	put(f.ring[0], HRR_R_ENTER, 1, 0, sizeof(struct hrr_rec));
	for (int round = 0; round < 40; round++) {
		for (int i = 0; i < 1000; i++)
			if (f.ring[1]->head - f.ring[1]->tail + 2 * sizeof(struct hrr_rec) <
			    HRR_RING_MIN)
				call(&f, 1, ++seq);
		hrr_collect_step(f.collect, NULL);
	}
	ok(seq > 5 * HRR_RING_MIN / sizeof(struct hrr_rec), "%llu calls got past the blocked one",
	   (unsigned long long)seq);
	is_str(stream(), "", "and none is written before it");
	put(f.ring[0], HRR_R_LEAVE, 1, HRR_F_ENTERED, sizeof(struct hrr_rec));
	hrr_collect_step(f.collect, NULL);
	f.ctl->start = 1;
	f.ctl->ending = HRR_ENDING_EXIT;
	stop(&f);
	const char *s = stream();
	uint64_t n = 0;
	char *end;
	for (unsigned long long v; (v = strtoull(s, &end, 10)) == n + 1; s = end)
		n++;
	ok(n == seq && strcmp(s, " complete") == 0, "all come in order: %llu of %llu, then '%.20s'",
	   (unsigned long long)n, (unsigned long long)seq, s);
}

static void killed(void)
{
	struct fixture f;

	start(&f, "killed");
	make_process(&f, false, 3);
	call(&f, 0, 1);
	/* 2 was taken by a call that died before its record; 3 and 4 were written by others. */
	call(&f, 1, 3);
	put(f.ring[2], HRR_R_LEAVE, 4, HRR_F_MORE, sizeof(struct hrr_rec));
	output(&f, 2, 3);
	put(f.ring[0], HRR_R_ENTER, 0, 0, sizeof(struct hrr_rec));
	f.ctl->seq = 4;
	stop(&f);
	is_str(stream(), "1 2 3 o2 4? cut",
	       "no gap where a number was not used, and the call that never returned is last");
}

static void damaged(void)
{
	uint32_t sizes[] = {0, 4, 7, 12, 40, 0x7fffffff, 0xfffffff8};

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct fixture f;
		struct hrr_collect_summary sum;
		start_nth(&f, "damaged", i, false, 1);
		call(&f, 0, 1);
		struct hrr_rec *r = put(f.ring[0], HRR_R_LEAVE, 2, 0, sizeof *r);
		r->size = sizes[i];
		f.ctl->seq = 2;
		hrr_collect_finish(f.collect, NULL);
		hrr_collect_summary(f.collect, &sum);
		hrr_collect_close(f.collect);
		hrr_archive_close(f.archive);
		ok(strcmp(stream(), "1 cut") == 0 && sum.calls == 1 && sum.lost > 0,
		   "a record of size %u ends its ring, and is counted: '%s'", sizes[i], stream());
	}
}

static void attachments(void)
{
	struct fixture f;
	struct hrr_collect_summary sum;

	/* Lengths that leave the record: what came before counts, nothing is read behind it. */
	start(&f, "attachments");
	make_process(&f, false, 1);
	for (uint64_t seq = 1; seq <= 8; seq++) {
		struct hrr_rec *r = put(f.ring[0], HRR_R_LEAVE, seq, 0, sizeof *r + 32);
		struct hrr_att *a = (struct hrr_att *)(void *)(r + 1);
		r->words = seq % 2 ? 0 : 255;
		a->tag = (uint8_t)(seq % 8);
		a->param = (uint8_t)(seq * 37);
		a->len = seq % 3 ? 0xffffffffu : 16;
	}
	f.ctl->seq = 8;
	hrr_collect_finish(f.collect, NULL);
	hrr_collect_summary(f.collect, &sum);
	is((int)sum.calls, 8, "attachments that lie do no harm");
	hrr_collect_close(f.collect);
	hrr_archive_close(f.archive);
}

static void arena(void)
{
	static const uint64_t wrong[] = {(((uint64_t)1 << 40) - 1) * 64, 1 << 20, 4096, 64, 1};
	struct fixture f;
	struct hrr_rec_output *o;

	start(&f, "arena");
	make_process(&f, true, 1);
	struct hrr_arena *a = map("p0.a", HRR_ARENA_HEADER + 4096);
	a->size = 4096;
	memset(a->busy, 1, sizeof a->busy);
	memcpy(hrr_arena_data(a) + 128, "abcd", 4);
	put(f.ring[0], HRR_R_LEAVE, 1, HRR_F_MORE, sizeof(struct hrr_rec));
	o = (struct hrr_rec_output *)(void *)put(f.ring[0], HRR_R_OUTPUT, 0, 0, sizeof *o);
	o->call = 1;
	o->b = (struct hrr_bytes){0x1000, 4, hrr_arena_number(7, 128)};
	f.ctl->seq = 1;
	is(a->busy[7], 1, "an extent is the reader's");
	hrr_collect_step(f.collect, NULL);
	is_str(stream(), "1 o1 ", "an output out of the arena");
	ok(a->busy[7] == 0 && a->busy[6] == 1 && a->busy[8] == 1,
	   "is given back when its line is written, and nothing else");
	snprintf(path, sizeof path, "%s/blobs", dir);
	struct hrr_id id = hrr_id_of("abcd", 4);
	uint64_t size = 0;
	ok(hrr_blobs_size(hrr_archive_blobs(f.archive), &id, &size) == 0 && size == 4,
	   "its bytes are a blob");
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		o = (struct hrr_rec_output *)(void *)put(f.ring[0], HRR_R_OUTPUT, 0, 0, sizeof *o);
		o->call = 1;
		o->b = (struct hrr_bytes){0x1000, 4096, hrr_arena_number(1, wrong[i])};
		if (wrong[i] == 1)
			o->b = (struct hrr_bytes){0x1000, UINT64_MAX, hrr_arena_number(1, 64)};
	}
	put(f.ring[0], HRR_R_END, 0, 0, sizeof(struct hrr_rec));
	f.ctl->start = 1;
	stop(&f);
	is_str(stream(), "1 o1 o1 o1 o1 o1 o1 cut", "what lies outside of the arena is not read");
}

int main(void)
{
	rings_begin();
	order();
	group();
	blocked();
	killed();
	damaged();
	attachments();
	arena();
	rings_end();
	return done_testing();
}
