#include "lib/replay/verdict.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/json.h"

static const char *const names[HRR_OUTCOMES] = {
    [HRR_EXACT] = "exact",	   [HRR_TOLERATED] = "tolerated", [HRR_DIFFERS] = "differs",
    [HRR_UNCHECKED] = "unchecked", [HRR_REFUSED] = "refused",	  [HRR_FAILED] = "failed",
    [HRR_WARNED] = "warned",	   [HRR_MEMORY] = "memory",
};

const char *hrr_outcome_name(enum hrr_outcome_kind kind)
{
	return names[kind];
}

/* JSON has no infinities. */
static int put_double(struct hrr_buf *b, const char *key, double v)
{
	if (isnan(v) || isinf(v))
		return hrr_buf_addf(b, ",\"%s\":null", key);
	return hrr_buf_addf(b, ",\"%s\":%.17g", key, v);
}

int hrr_outcome_json(struct hrr_buf *b, const struct hrr_outcome *o, int64_t p)
{
	int e = hrr_buf_addf(b, "{\"outcome\":\"%s\"", names[o->kind]);

	if (p >= 0)
		e |= hrr_buf_addf(b, ",\"p\":%" PRId64, p);
	e |= hrr_buf_addf(b, ",\"line\":%" PRIu64 ",\"seq\":%" PRIu64, o->line, o->seq);
	if (o->node >= 0)
		e |= hrr_buf_addf(b, ",\"node\":%" PRId64, o->node);
	if (o->api != NULL) {
		e |= hrr_buf_adds(b, ",\"api\":");
		e |= hrr_json_put_str(b, o->api, strlen(o->api));
	}
	if (o->addr != 0)
		e |= hrr_buf_addf(b, ",\"addr\":\"0x%" PRIx64 "\",\"size\":%" PRIu64, o->addr,
				  o->size);
	if (o->kind == HRR_DIFFERS || o->kind == HRR_TOLERATED) {
		e |= hrr_buf_addf(
		    b, ",\"offset\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"ranges\":%" PRIu64,
		    o->offset, o->bytes, o->ranges);
		e |=
		    hrr_buf_addf(b, ",\"at\":%" PRIu64 ",\"recorded\":", o->offset & ~(uint64_t)15);
		e |= hrr_json_put_hex(b, o->recorded, o->shown);
		e |= hrr_buf_adds(b, ",\"replayed\":");
		e |= hrr_json_put_hex(b, o->replayed, o->shown);
		e |= put_double(b, "maxAbs", o->max_abs);
		e |= put_double(b, "maxRel", o->max_rel);
		e |= hrr_buf_addf(b, ",\"maxUlp\":%" PRIu64, o->max_ulp);
	}
	if (o->writer != 0)
		e |= hrr_buf_addf(b, ",\"writer\":%" PRIu64, o->writer);
	if (o->writer != 0 && o->writer_kernel != NULL) {
		e |= hrr_buf_adds(b, ",\"kernel\":");
		e |= hrr_json_put_str(b, o->writer_kernel, strlen(o->writer_kernel));
	}
	if (o->approximate)
		e |= hrr_buf_adds(b, ",\"approximate\":true");
	if (o->members != NULL)
		e |= hrr_buf_adds(b, o->members);
	if (o->text != NULL) {
		e |= hrr_buf_adds(b, ",\"text\":");
		e |= hrr_json_put_str(b, o->text, strlen(o->text));
	}
	e |= hrr_buf_adds(b, "}\n");
	return e;
}

static uint64_t compared(const struct hrr_verdict *v)
{
	return v->outcome[HRR_EXACT] + v->outcome[HRR_TOLERATED] + v->outcome[HRR_DIFFERS];
}

static uint64_t bad(const struct hrr_verdict *v)
{
	return v->outcome[HRR_DIFFERS] + v->outcome[HRR_REFUSED] + v->outcome[HRR_FAILED] +
	       v->outcome[HRR_MEMORY] + v->emu_refused;
}

static bool nothing_compared(const struct hrr_verdict *v)
{
	return v->outputs != 0 && compared(v) == 0;
}

int hrr_verdict_exit(const struct hrr_verdict *v, bool require_complete)
{
	if (v->trouble || v->abandoned)
		return 2;
	if (bad(v) != 0 || (nothing_compared(v) && !v->asked) || (v->cut && require_complete))
		return 1;
	return 0;
}

/* One word for what came out. "matched" is kept for when nothing speaks against it. */
static const char *word(const struct hrr_verdict *v, bool require_complete)
{
	switch (hrr_verdict_exit(v, require_complete)) {
	case 2:
		return "not replayed";
	case 1:
		if (v->outcome[HRR_MEMORY] != 0)
			return "memory faults";
		if (v->outcome[HRR_DIFFERS] != 0)
			return "differs";
		if (bad(v) != 0)
			return "failed";
		return nothing_compared(v) ? "nothing compared" : "not complete";
	default:
		if (v->outputs == 0)
			return "no outputs to compare";
		if (v->not_recorded != 0 || v->lost != 0 || v->outcome[HRR_UNCHECKED] != 0 ||
		    v->stopped || v->cut || v->filtered)
			return "no difference found";
		return "matched";
	}
}

const char *hrr_fidelity(const struct hrr_verdict *v)
{
	return v->emu_refused != 0 ? "refused" : v->approximate != 0 ? "approximate" : "exact";
}

static int put_instructions(struct hrr_buf *b, const struct hrr_emu_approx *used, uint32_t n)
{
	int e = hrr_buf_adds(b, ",\"instructions\":{");

	for (uint32_t i = 0; i < n && i < HRR_EMU_MAX_APPROX; i++) {
		e |= hrr_buf_adds(b, i != 0 ? "," : "");
		e |= hrr_json_put_str(b, used[i].mnemonic, strlen(used[i].mnemonic));
		e |= hrr_buf_addf(b, ":%" PRIu64, used[i].count);
	}
	return e | hrr_buf_addc(b, '}');
}

int hrr_fidelity_json(struct hrr_buf *b, const struct hrr_launch_fidelity *f, int64_t p)
{
	int e = hrr_buf_addf(b, "{\"launch\":%" PRIu64, f->seq);

	if (p >= 0)
		e |= hrr_buf_addf(b, ",\"p\":%" PRId64, p);
	e |= hrr_buf_addf(b, ",\"line\":%" PRIu64, f->line);
	if (f->api != NULL) {
		e |= hrr_buf_adds(b, ",\"api\":");
		e |= hrr_json_put_str(b, f->api, strlen(f->api));
	}
	if (f->kernel != NULL) {
		e |= hrr_buf_adds(b, ",\"kernel\":");
		e |= hrr_json_put_str(b, f->kernel, strlen(f->kernel));
	}
	e |=
	    hrr_buf_addf(b, ",\"launches\":%" PRIu64 ",\"refused\":%" PRIu64 ",\"fidelity\":\"%s\"",
			 f->launches, f->refused,
			 f->refused != 0 ? "refused"
			 : f->n != 0	 ? "approximate"
					 : "exact");
	if (f->n != 0)
		e |= put_instructions(b, f->used, f->n);
	return e | hrr_buf_adds(b, "}\n");
}

static int fidelity_text(struct hrr_buf *b, const struct hrr_verdict *v)
{
	int e = hrr_buf_addf(b, "Fidelity : %s", hrr_fidelity(v));

	for (uint32_t i = 0; i < v->stats.n_approx && i < HRR_EMU_MAX_APPROX; i++)
		e |= hrr_buf_addf(b, "%s %s %" PRIu64,
				  i != 0	   ? ","
				  : v->emu_refused ? "; approximate:"
						   : ":",
				  v->stats.approx[i].mnemonic, v->stats.approx[i].count);
	return e | hrr_buf_adds(b, v->stats.n_approx != 0 ? " wave-instructions\n" : "\n");
}

int hrr_verdict_text(struct hrr_buf *b, const struct hrr_verdict *v, bool require_complete)
{
	const uint64_t *o = v->outcome;
	int e = hrr_buf_addf(b, "Verdict : %s", word(v, require_complete));

	if (o[HRR_EXACT] == compared(v) && compared(v) != 0)
		e |= hrr_buf_addf(b, ": %" PRIu64 " output%s compared, all exact", compared(v),
				  compared(v) == 1 ? "" : "s");
	e |= hrr_buf_addf(b,
			  "\nOutputs : %" PRIu64 " compared of %" PRIu64 ": %" PRIu64
			  " exact, %" PRIu64 " within tolerance, %" PRIu64 " differ, %" PRIu64
			  " unchecked\n",
			  compared(v), v->outputs, o[HRR_EXACT], o[HRR_TOLERATED], o[HRR_DIFFERS],
			  o[HRR_UNCHECKED]);
	e |= hrr_buf_addf(
	    b,
	    "Calls : %" PRIu64 ": %" PRIu64 " replayed, %" PRIu64 " without effect, %" PRIu64
	    " left out, %" PRIu64 " refused, %" PRIu64 " failed",
	    v->calls, v->issued, v->no_effect, v->left_out, o[HRR_REFUSED], o[HRR_FAILED]);
	if (v->not_reissued != 0)
		e |= hrr_buf_addf(b, ", %" PRIu64 " recorded failures not issued again",
				  v->not_reissued);
	e |= hrr_buf_addf(b, "\nLaunches : %" PRIu64 "\n", v->launches);
	if (v->placed + v->not_placed != 0) {
		e |= hrr_buf_addf(
		    b, "Placement : %" PRIu64 " at the recorded address, %" PRIu64 " elsewhere",
		    v->placed, v->not_placed);
		if (v->not_placed != 0)
			e |= hrr_buf_addf(b, " (first: 0x%" PRIx64 ")", v->not_placed_first);
		e |= hrr_buf_addc(b, '\n');
	}
	if (v->regions != 0)
		e |= hrr_buf_addf(b, "Regions : %" PRIu64 " records from %" PRIu64 " streams\n",
				  v->regions, v->streams);
	if (v->backed != 0)
		e |= hrr_buf_addf(b, "Region segs : %" PRIu64 " backed\n", v->backed);
	if (v->words != 0)
		e |= hrr_buf_addf(b,
				  "Region words : %" PRIu64
				  " in kernel arguments, taken for addresses in segments\n",
				  v->words);
	if (v->stray != 0)
		e |= hrr_buf_addf(
		    b, "Stray : %" PRIu64 " accesses in a segment outside every live block\n",
		    v->stray);
	if (v->unmatched_del != 0)
		e |= hrr_buf_addf(b, "Regions gone : %" PRIu64 " del records matched nothing\n",
				  v->unmatched_del);
	if (v->host_charged != 0)
		e |= hrr_buf_addf(b, "Host pages : %" PRIu64 " bytes\n", v->host_charged);
	if (v->not_recorded != 0)
		e |= hrr_buf_addf(
		    b, "Not recorded : %" PRIu64 " calls of the program are not in the stream\n",
		    v->not_recorded);
	if (v->lost != 0)
		e |= hrr_buf_addf(b, "Lost : %" PRIu64 " records\n", v->lost);
	if (v->emu_refused != 0)
		e |= hrr_buf_addf(
		    b, "Refused : %" PRIu64 " launches hold instructions the CPU run time lacks\n",
		    v->emu_refused);
	if (v->emu)
		e |= fidelity_text(b, v);
	if (o[HRR_MEMORY] != 0)
		e |= hrr_buf_addf(b, "Memory : %" PRIu64 " wrong accesses at %" PRIu64 " place%s\n",
				  v->stats.faults, o[HRR_MEMORY], o[HRR_MEMORY] == 1 ? "" : "s");
	if (v->cut || v->filtered)
		e |= hrr_buf_addf(b, "Stream : %s\n", v->cut ? "cut short" : "filtered");
	if (v->abandoned)
		e |= hrr_buf_adds(b, "Device : could not be waited for; what it may still "
				     "write was left alone\n");
	return e;
}

int hrr_verdict_json(struct hrr_buf *b, const struct hrr_verdict *v, bool require_complete,
		     int64_t p)
{
	int e = hrr_buf_addf(b, "{\"verdict\":\"%s\"", word(v, require_complete));

	if (p >= 0)
		e |= hrr_buf_addf(b, ",\"p\":%" PRId64, p);
	e |= hrr_buf_addf(b, ",\"exit\":%d", hrr_verdict_exit(v, require_complete));
	for (int i = 0; i < HRR_OUTCOMES; i++)
		e |= hrr_buf_addf(b, ",\"%s\":%" PRIu64, names[i], v->outcome[i]);
	const struct {
		const char *name;
		uint64_t n;
	} counts[] = {{"outputs", v->outputs},
		      {"calls", v->calls},
		      {"replayed", v->issued},
		      {"noEffect", v->no_effect},
		      {"leftOut", v->left_out},
		      {"notReissued", v->not_reissued},
		      {"launches", v->launches},
		      {"placed", v->placed},
		      {"notPlaced", v->not_placed},
		      {"regions", v->regions},
		      {"backed", v->backed},
		      {"words", v->words},
		      {"stray", v->stray},
		      {"hostBytes", v->host_charged},
		      {"notRecorded", v->not_recorded},
		      {"lost", v->lost},
		      {"deviceRefused", v->emu_refused},
		      {"approximate", v->approximate}};
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
		e |= hrr_buf_addf(b, ",\"%s\":%" PRIu64, counts[i].name, counts[i].n);
	if (v->emu) {
		e |= hrr_buf_addf(b, ",\"fidelity\":\"%s\",\"accesses\":%" PRIu64, hrr_fidelity(v),
				  v->stats.faults);
		e |= put_instructions(b, v->stats.approx, v->stats.n_approx);
	}
	e |= hrr_buf_addf(b, ",\"stream\":\"%s\"}\n",
			  v->cut	? "cut short"
			  : v->filtered ? "filtered"
					: "complete");
	return e;
}
