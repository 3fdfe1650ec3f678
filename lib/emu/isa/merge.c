/* The reports of a launch's threads, made one. */
#include "lib/emu/isa/merge.h"

/* Each site once, told by its lowest workgroup, and in the order of these. */
static void merge_site(struct isa_report *out, struct isa_fault f)
{
	unsigned at = 0;

	while (at < out->n_faults && (f.ends || !isa_same_site(&out->faults[at], &f)))
		at++;
	if (at < out->n_faults) {
		const u64 count = f.count + out->faults[at].count;
		if (out->faults[at].order < f.order)
			f = out->faults[at];
		f.count = count;
		out->n_faults--;
		memmove(&out->faults[at], &out->faults[at + 1], (out->n_faults - at) * sizeof(f));
	} else if (out->n_faults == ISA_MAX_FAULTS) {
		if (!f.ends && out->faults[ISA_MAX_FAULTS - 1].order <= f.order)
			return;
		out->n_faults--;
	}
	for (at = out->n_faults; at > 0 && !f.ends && out->faults[at - 1].order > f.order; at--)
		out->faults[at] = out->faults[at - 1];
	out->faults[at] = f;
	out->n_faults++;
}

static void merge(struct isa_report *out, const struct isa_thread *t, u64 *order)
{
	out->instructions += t->instructions;
	out->waves += t->waves;
	out->fault_count += t->report.fault_count;
	for (unsigned i = 0; i < t->report.n_faults; i++)
		if (!t->report.faults[i].ends)
			merge_site(out, t->report.faults[i]);
	if (t->order < *order) {
		*order = t->order;
		out->status = t->final.status;
		memcpy(out->what, t->final.what, sizeof(out->what));
		out->pc = t->final.pc;
		memcpy(out->workgroup, t->final.workgroup, sizeof(out->workgroup));
	}
}

/* What ended the launch: last, and of the lowest workgroup only. */
static void merge_end(struct isa_report *out, const struct isa_thread *t)
{
	for (unsigned i = 0; t->final.status == ISA_FAULT && i < t->final.n_faults; i++)
		if (t->final.faults[i].ends) {
			out->fault_count += t->final.faults[i].count;
			merge_site(out, t->final.faults[i]);
		}
}

static void merge_approx(struct isa_report *out, struct isa_thread *const *threads, unsigned n)
{
	const u16 *rows;
	const unsigned n_rows = isa_approx_rows(&rows);

	for (unsigned k = 0; k < n_rows && out->n_approx < ISA_MAX_APPROX; k++) {
		u64 count = 0;

		for (unsigned i = 0; i < n; i++)
			if (threads[i])
				count += threads[i]->approx[rows[k]];
		if (count)
			out->approx[out->n_approx++] = (struct isa_approx){
			    .mnemonic = isa_op_at(rows[k])->name, .count = count};
	}
}

void isa_merge(struct isa_report *out, struct isa_thread *const *threads, unsigned n)
{
	u64 order = UINT64_MAX;

	for (unsigned i = 0; i < n; i++)
		if (threads[i])
			merge(out, threads[i], &order);
	for (unsigned i = 0; order != UINT64_MAX && i < n; i++)
		if (threads[i] && threads[i]->order == order)
			merge_end(out, threads[i]);
	merge_approx(out, threads, n);
}
