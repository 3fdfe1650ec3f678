#ifndef HRR_HIP_SLICE_H
#define HRR_HIP_SLICE_H

#include "lib/stream/record.h"
#include "lib/stream/select.h"

/*
 * Selected calls and everything they depend on. Two readings of a stream: the
 * first gathers, in memory, what each call creates, uses and may write
 * (allocations, segments, handles, variables of code objects); the second asks
 * which records stay.
 *
 * A call needs, of each thing it uses, the call that created it and every earlier
 * call that may have written it: copies and sets by their destination, kernels and
 * graphs by every pointer they were given, so nothing is left out that could matter as far as
 * the stream tells; addresses hidden in memory it does not see. A selected
 * launch takes with it the next copies to the host from what it was given, one inside a
 * graph the graph's first launch. Waits
 * are kept where they concern kept work, releases where their thing is kept.
 */
struct hrr_slice;

struct hrr_slice *hrr_slice_new(void); /* NULL: no memory */
void hrr_slice_free(struct hrr_slice *s);
/* First reading. selected: a call one asked for. -ENOMEM. */
int hrr_slice_gather(struct hrr_slice *s, const struct hrr_record *rec, bool selected);
/* Before solve: of the selected calls only the last n are. */
void hrr_slice_last(struct hrr_slice *s, uint64_t n);
/* Before solve: the stream is the beginning of a longer one, so whatever lives at its end, and what
 * it depends on, is kept too. What calls to come depend on is then there. */
void hrr_slice_live(struct hrr_slice *s);
/* Between the readings. -ENOMEM. */
int hrr_slice_solve(struct hrr_slice *s);
/* Second reading, records in the same order: does a call or output stay? Others do. */
bool hrr_slice_keeps(struct hrr_slice *s, const struct hrr_record *rec);
/*
 * Of region records, in the same order: does it stay? Memory that came and went, and that no kept
 * call uses, needs neither its begin nor its end.
 */
bool hrr_slice_keeps_region(struct hrr_slice *s, const struct hrr_record *rec);
/* Calls selected and kept. */
void hrr_slice_counts(const struct hrr_slice *s, uint64_t *ret_selected, uint64_t *ret_kept);

#endif
