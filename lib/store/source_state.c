#include "lib/store/source_private.h"

void hrr_source_state(const struct hrr_source *s, struct hrr_source_state *ret)
{
	struct hrr_source_state st = {
	    .has_end = true,
	    .counts_fit = true,
	    .running = s->running,
	    .sidecar = s->sidecar,
	    .calls = s->calls,
	    .outputs = s->outputs,
	    .regions = s->regions,
	    .sidecars = s->sidecars,
	};

	for (size_t i = 0; i < s->n_feeds; i++) {
		st.cut_line = st.cut_line || s->feeds[i].cut;
		st.cut_sidecar = st.cut_sidecar || s->feeds[i].side.cut;
		/* A file in which nothing begins is a process all the same. */
		if (s->feeds[i].p >= 0 && (hrr_source_process(s, (uint32_t)s->feeds[i].p) == NULL ||
					   !hrr_source_process(s, (uint32_t)s->feeds[i].p)->met)) {
			st.no_header = true;
			st.has_end = false;
		}
	}
	for (size_t i = 0; i < s->n_processes; i++) {
		const struct process *p = hrr_source_process(s, (uint32_t)i);
		if (!p->met || p->dropped)
			continue;
		st.processes++;
		st.no_header = st.no_header || !p->header;
		st.has_end = st.has_end && p->end;
		st.filtered = st.filtered || p->filtered;
		st.ended_cut = st.ended_cut || p->cut;
		if (p->end && (p->calls != p->end_calls || p->outputs != p->end_outputs))
			st.counts_fit = false;
		st.not_recorded += p->not_recorded;
		st.lost += p->lost;
		if (p->stamped > 0 && p->inside * 10 < p->stamped)
			st.clock_suspect = true;
	}
	if (st.processes == 0) {
		st.has_end = st.counts_fit = false;
		st.no_header = true;
	}
	*ret = st;
}

const char *hrr_source_word(const struct hrr_source_state *st)
{
	if (st->has_end && st->counts_fit && !st->cut_line && !st->ended_cut)
		return st->filtered || st->no_header ? "filtered" : "complete";
	return st->running ? "running" : "cut short";
}
