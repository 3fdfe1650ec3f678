#include <dlfcn.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/replay/engine.h"

/* The engine: one record after the other. */

#define LLU(x) ((unsigned long long)(x))

int hrr_replay_new(struct hrr_replay **ret, struct hrr_hip *hip,
		   const struct hrr_replay_options *opt, struct hrr_blobs *blobs,
		   struct hrr_diag *diag)
{
	struct hrr_replay *r = calloc(1, sizeof *r);
	int rc;

	if (r == NULL)
		return hrr_diag_set(diag, -ENOMEM, "out of memory");
	r->hip = hip;
	r->opt = *opt;
	r->blobs = blobs;
	r->deferred_end = &r->deferred;
	r->anywhere.host = 1;
	rc = hrr_hip_devices(hip, &r->n_devices, diag);
	if (rc < 0)
		goto fail;
	r->no_query = hip->fn[HRR_API_hipStreamQuery] == NULL;
	r->map = hrr_ranges_new();
	r->hostmap = hrr_ranges_new();
	r->landings = hrr_ranges_new();
	r->rects = hrr_ranges_new();
	r->timeline = hrr_timeline_new();
	r->pages = hrr_pages_new(opt->max_host_bytes);
	r->blocks = r->pages != NULL ? hrr_blocks_new(r->pages) : NULL;
	r->nowhere = mmap(NULL, HRR_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r->nowhere == MAP_FAILED)
		r->nowhere = NULL;
	rc = -ENOMEM;
	if (r->map == NULL || r->hostmap == NULL || r->landings == NULL || r->rects == NULL ||
	    r->timeline == NULL || r->blocks == NULL || r->nowhere == NULL) {
		hrr_diag_set(diag, rc, "out of memory");
		goto fail;
	}
	if (hip->lib != NULL) {
		*(void **)&r->emu_describe = dlsym(hip->lib, "hrr_emu_describe");
		*(void **)&r->emu_undescribe = dlsym(hip->lib, "hrr_emu_undescribe");
		*(void **)&r->emu_unwritten = dlsym(hip->lib, "hrr_emu_unwritten");
		*(void **)&r->emu_report = dlsym(hip->lib, "hrr_emu_report");
	}
	if (opt->memcheck != 0 && (rc = hrr_memcheck_start(r, diag)) < 0)
		goto fail;
	*ret = r;
	return 0;
fail:
	r->finished = true;
	hrr_ranges_free(r->map);
	hrr_ranges_free(r->hostmap);
	hrr_ranges_free(r->landings);
	hrr_ranges_free(r->rects);
	if (r->blocks != NULL)
		hrr_blocks_free(r->blocks, false);
	hrr_replay_free(r);
	return rc;
}

void hrr_replay_set_blobs(struct hrr_replay *r, struct hrr_blobs *blobs)
{
	r->blobs = blobs;
}

const char *hrr_recent(const struct hrr_replay *r, uint64_t seq)
{
	size_t i = seq % HRR_RECENT;

	return seq != 0 && r->recent[i].seq == (uint32_t)seq ? hrr_api_table[r->recent[i].api].name
							     : NULL;
}

/* What "ret" says: an error, or that the call never returned. */
static int read_ret(struct hrr_replay *r, struct hrr_event *ev)
{
	size_t len = 0;
	int64_t n;

	ev->recorded = hipSuccess;
	if (ev->rec->ret < 0)
		return 0;
	const char *s = hrr_json_raw(ev->j, ev->rec->ret, &len);
	if (ev->j->nodes[ev->rec->ret].type == HRR_JSON_STRING && s != NULL && len == 4 &&
	    memcmp(s, "none", 4) == 0) {
		/* What a launch does that ended the program is what a replay is to show. */
		hrr_handler *handler = hrr_handler_of(ev->api);
		if (handler != hrr_do_launch && handler != hrr_do_launches &&
		    handler != hrr_do_graph_launch)
			ev->recorded = HRR_NEVER_RETURNED;
		return 0;
	}
	if (ev->row->ret != HRR_RET_ERROR)
		return 0;
	if (hrr_json_i64(ev->j, ev->rec->ret, &n) == 0) {
		ev->recorded = (int)n;
		return 0;
	}
	/* Error names have one vocabulary and the same values in every major. */
	for (int i = 0; s != NULL && hrr_enums[i] != NULL; i++)
		if (strcmp(hrr_enums[i]->name, "hipError_t") == 0) {
			for (int m = 5; m <= 7; m++)
				if (hrr_enum_value(hrr_enums[i], m, s, len, &ev->recorded) == 0)
					return 0;
		}
	return hrr_fail(r, "ret is no error this version knows");
}

/* A call that cannot be played leaves a hole in what it belongs to. */
static void mark_hole(struct hrr_replay *r, struct hrr_event *ev)
{
	char why[120];
	int g = hrr_api_param(ev->api, "graph", 5), s = hrr_api_param(ev->api, "stream", 6);

	hrr_held_add(&r->unplayed, ev->seq, 1);
	snprintf(why, sizeof why, "%s of call %llu is not replayed", ev->row->name, LLU(ev->seq));
	if (g >= 0 && ev->row->cls == HRR_CLASS_GRAPH && r->held[HRR_H_GRAPH].n != 0)
		hrr_graph_bad(hrr_graph_of(r, ev->w[g]), why);
	if (s >= 0 && r->captures != 0)
		hrr_graph_bad(hrr_capture_of(r, hrr_stream_key(ev, ev->w[s], false)), why);
}

/* Whether the call must not end an open capture: of another thread, or of one that relaxed. */
static bool goes_beside(struct hrr_replay *r, const struct hrr_event *ev)
{
	const struct hrr_held_map *m = &r->held[HRR_H_STREAM];

	if (ev->th->capture_mode == hipStreamCaptureModeRelaxed)
		return true;
	for (size_t i = 0; i < m->cap; i++) {
		const struct hrr_graph *g = m->slot[i].recorded != 0 ? m->slot[i].info : NULL;
		if (g != NULL && g->origin_tid == ev->th->tid)
			return false;
	}
	return true;
}

static int play(struct hrr_replay *r, struct hrr_event *ev)
{
	hrr_handler *handler = hrr_handler_of(ev->api);
	int saved = -1, rc;

	rc = hrr_args_read(r, ev);
	if (rc < 0)
		return rc;
	if (handler == NULL) {
		const char *why = ev->row->not_played != NULL	  ? ev->row->not_played
				  : ev->row->not_recorded != NULL ? ev->row->not_recorded
								  : "not replayed";
		if (ev->recorded != hipSuccess) {
			r->v.left_out++;
			r->v.issued--;
			return 0;
		}
		return hrr_refuse(r, "cannot be replayed: %s", why);
	}
	rc = hrr_set_device(r, ev->th->device);
	if (rc < 0)
		return rc;
	bool relaxed = r->captures != 0 && goes_beside(r, ev);
	if (relaxed)
		hrr_relax(r, &saved);
	if (ev->recorded == hipSuccess || handler == hrr_do_end_capture)
		rc = handler(r, ev);
	else if (handler == hrr_do_ignored || handler == hrr_do_last_error)
		rc = hrr_do_ignored(r, ev);
	else
		rc = hrr_reissue_failed(r, ev);
	if (relaxed)
		hrr_unrelax(r, saved);
	if (rc < 0 || ev->row->sync != HRR_SYNC_DEVICE || ev->recorded != hipSuccess)
		return rc;
	if (ev->row->release == -1) {
		hrr_note_device_wait(r, ev->th->device, ev->seq);
		return rc;
	}
	/* It stands where it began: it may have returned much later. */
	ev->th->owes = ev->seq;
	ev->th->owes_device = ev->th->device;
	ev->th->owes_late = r->owed_wait;
	return rc;
}

static bool is_left_out(struct hrr_replay *r, const struct hrr_event *ev)
{
	bool out = ev->recorded == HRR_NEVER_RETURNED ||
		   (ev->recorded != hipSuccess &&
		    (ev->row->fail == HRR_FAIL_SKIP || ev->row->fail == HRR_FAIL_IGNORE));

	if (out)
		r->v.left_out++;
	return out;
}

static int ended(struct hrr_replay *r, struct hrr_event *ev)
{
	if (r->opt.stop_at != 0 && ev->seq >= r->opt.stop_at)
		goto asked;
	if (r->opt.seq_last != 0 && ev->seq >= r->opt.seq_last &&
	    ev->row->sync != HRR_SYNC_COPY) /* its outputs follow; they end replay below */
		return 0;
	if (r->opt.only_kernel != NULL && ev->rec->kernel >= 0 && r->captures == 0) {
		size_t len = 0;
		char name[512];
		int n = hrr_json_get(ev->j, ev->rec->kernel, "name");
		const char *s = n >= 0 ? hrr_json_raw(ev->j, n, &len) : NULL;
		if (s == NULL || len >= sizeof name)
			return 0;
		memcpy(name, s, len);
		name[len] = '\0';
		if (fnmatch(r->opt.only_kernel, name, 0) == 0)
			goto asked;
	}
	return 0;
asked:
	r->v.stopped = r->v.asked = true;
	int rc = hrr_wait_all(r);
	return rc < 0 ? rc : 1;
}

static int call_record(struct hrr_replay *r, const struct hrr_record *rec)
{
	struct hrr_event ev = {.rec = rec, .j = &rec->json, .seq = rec->seq};
	int api = hrr_api_find(rec->api, rec->api_len), rc;

	if (r->opt.seq_last != 0 && rec->seq > r->opt.seq_last) {
		r->v.stopped = r->v.asked = true;
		return 1;
	}
	r->v.calls++;
	r->seq = rec->seq;
	if (api < 0) {
		char name[128];
		hrr_mask(name, sizeof name, rec->api, rec->api_len);
		hrr_held_add(&r->unplayed, rec->seq, 1);
		hrr_refuse(r, "%s is no call this version knows", name);
		rc = -EOPNOTSUPP;
		ev.row = NULL;
		goto report;
	}
	ev.api = (enum hrr_api)api;
	ev.row = &hrr_api_table[api];
	r->recent[rec->seq % HRR_RECENT].seq = (uint32_t)rec->seq;
	r->recent[rec->seq % HRR_RECENT].api = (uint16_t)api;
	hrr_memcheck_call(r, ev.row->name);
	ev.th = hrr_thread(r, rec->tid);
	if (ev.th == NULL)
		return hrr_trouble(r, -ENOMEM, "out of memory");
	hrr_note_return(r, ev.th);
	rc = read_ret(r, &ev);
	if (rc == 0 && is_left_out(r, &ev))
		return ended(r, &ev);
	if (rc == 0) {
		r->v.issued++;
		rc = play(r, &ev);
		if (rc == 0)
			return ended(r, &ev);
		r->v.issued--;
	}
	if (r->trouble)
		return rc;
	mark_hole(r, &ev);
report:;
	struct hrr_outcome o = {.kind =
				    rc == -EOPNOTSUPP || rc == -EDQUOT ? HRR_REFUSED : HRR_FAILED,
				.line = rec->lineno,
				.seq = rec->seq,
				.node = -1,
				.api = ev.row != NULL ? ev.row->name : NULL,
				.text = r->diag.what};
	hrr_report(r, &o);
	if (r->opt.keep_going)
		return 0;
	r->v.stopped = true;
	return 1;
}

int hrr_output_told(struct hrr_replay *r, const struct hrr_record *rec)
{
	int rc = hrr_output(r, rec);

	if (rc == 0 || r->trouble)
		return rc;
	struct hrr_outcome o = {
	    .kind = HRR_UNCHECKED, .seq = rec->seq, .node = -1, .text = r->diag.what};
	hrr_report(r, &o);
	return 0;
}

int hrr_replay_record(struct hrr_replay *r, const struct hrr_record *rec, struct hrr_diag *diag)
{
	int rc = 0;

	r->line = rec->lineno;
	r->j = &rec->json;
	r->diag.what[0] = '\0';
	if (r->opt.interrupt != NULL && *r->opt.interrupt != 0)
		rc = hrr_trouble(r, -EINTR, "interrupted");
	hrr_scratch_reset(r);
	if (rc == 0)
		switch (rec->kind) {
		case HRR_REC_CALL:
			rc = hrr_outputs_due(r, rec->seq - 1);
			if (rc == 0)
				rc = call_record(r, rec);
			if (rc == 0)
				rc = hrr_outputs_due(r, rec->seq);
			break;
		case HRR_REC_OUTPUT:
			rc = hrr_output_is_early(r, rec) ? hrr_output_hold(r, rec)
							 : hrr_output_told(r, rec);
			break;
		case HRR_REC_RUNTIME:
			rc = hrr_runtime_record(r, rec);
			break;
		case HRR_REC_REGION:
			rc = hrr_region_record(r, rec);
			if (rc < 0 && rc != -ENOMEM && rc != -EPROTO)
				r->trouble = true;
			if (rc < 0)
				r->trouble = true;
			break;
		default:
			break;
		}
	hrr_memcheck_tell(r);
	if (rec->kind == HRR_REC_CALL && r->opt.fidelity != NULL && r->emu_report != NULL)
		hrr_fidelity_tell(r, rec);
	if (rc == 0 && r->late_failure && !r->opt.keep_going) {
		r->v.stopped = true;
		rc = 1;
	}
	r->late_failure = false;
	if (rc < 0) {
		r->v.stopped = r->v.trouble = true;
		r->timed_out = rc == -ETIMEDOUT;
		hrr_diag_set(diag, rc, "%s", r->diag.what);
	}
	return rc;
}

const struct hrr_verdict *hrr_replay_verdict(struct hrr_replay *r)
{
	return &r->v;
}

int hrr_replay_time(struct hrr_replay *r, size_t i, struct hrr_kernel_time *ret)
{
	const struct hrr_function *best = NULL;
	uint64_t below = UINT64_MAX, taken = 0;

	/* Few kernels, asked once: the i-th longest by repeated selection. */
	for (size_t k = 0; k <= i; k++) {
		best = NULL;
		for (int list = 0; list < 2; list++) {
			const struct hrr_function *f = list == 1 ? r->module_functions : NULL;
			for (size_t s = 0; list == 0 ? s < r->functions.cap : f != NULL;
			     s++, f = list == 1 ? f->next : f) {
				const struct hrr_function *x = f;
				if (list == 0)
					x = r->functions.slot[s].recorded != 0
						? r->functions.slot[s].info
						: NULL;
				if (x == NULL || x->total == 0 || x->total > below ||
				    (x->total == below && (uint64_t)(uintptr_t)x >= taken))
					continue;
				if (best == NULL || x->total > best->total ||
				    (x->total == best->total && x > best))
					best = x;
			}
		}
		if (best == NULL)
			return -ENOENT;
		below = best->total;
		taken = (uint64_t)(uintptr_t)best;
	}
	*ret =
	    (struct hrr_kernel_time){best->name, best->launches, best->total, best->min, best->max};
	return 0;
}
