#include "lib/store/source.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/store/archive.h"
#include "lib/store/file.h"
#include "lib/store/source_private.h"

static int no_memory(struct hrr_diag *diag)
{
	return hrr_diag_set(diag, -ENOMEM, "out of memory");
}

static struct process *process(const struct hrr_source *s, uint32_t p)
{
	return p < s->n_processes ? &((struct process *)(void *)s->processes.data)[p] : NULL;
}

/* Makes room up to p. */
static int process_get(struct hrr_source *s, uint32_t p, struct process **ret)
{
	static const struct process none;

	while (s->n_processes <= p) {
		if (hrr_buf_add(&s->processes, &none, sizeof none) < 0)
			return -ENOMEM;
		s->n_processes++;
	}
	*ret = process(s, p);
	return 0;
}

/* --- following: the end of a file is the end once the recorder has gone --- */

static bool wait_for_more(void *self)
{
	struct hrr_source *s = self;
	const struct process *p =
	    process(s, s->reading->p >= 0 ? (uint32_t)s->reading->p : s->reading->head.p);
	const struct timespec pause = {0, 50000000};
	struct hrr_archive_manifest m;

	if (p != NULL && p->end)
		return false;
	s->running = hrr_archive_manifest(s->archive, &m, NULL) == 0 && m.running;
	if (s->running) {
		s->last_look = false;
		nanosleep(&pause, NULL);
		return true;
	}
	/* What was written between our read and its end is still to be read. */
	if (s->last_look)
		return false;
	s->last_look = true;
	return true;
}

static void follow(struct hrr_source *s)
{
	for (size_t i = 0; i < s->n_feeds && s->archive != NULL; i++)
		if (s->feeds[i].reader != NULL)
			hrr_reader_follow(s->feeds[i].reader, wait_for_more, s);
}

int hrr_source_open(struct hrr_source **ret, const char *operand,
		    const struct hrr_source_options *opt, struct hrr_diag *diag)
{
	struct hrr_source *s = calloc(1, sizeof *s);
	int rc = 0;

	if (s == NULL)
		return no_memory(diag);
	s->opt.pid = -1;
	if (opt != NULL)
		s->opt = *opt;
	if (s->opt.blobs != NULL) {
		s->blobs = realpath(s->opt.blobs, NULL);
		if (s->blobs == NULL) {
			hrr_diag_at(diag, s->opt.blobs, 0);
			rc = hrr_diag_set(diag, -errno, "cannot open blob folder: %s",
					  strerror(errno));
		}
	}
	if (rc == 0)
		rc = hrr_source_find(s, operand, diag);
	if (rc < 0) {
		hrr_source_close(s);
		return rc;
	}
	if (s->opt.follow)
		follow(s);
	*ret = s;
	return 0;
}

void hrr_source_close(struct hrr_source *s)
{
	if (s == NULL)
		return;
	for (size_t i = 0; i < s->n_feeds; i++)
		hrr_source_feed_release(&s->feeds[i]);
	free(s->feeds);
	for (size_t p = 0; p < s->n_processes; p++)
		free(process(s, (uint32_t)p)->blobs);
	hrr_buf_release(&s->processes);
	struct hrr_blobs **stores = (void *)s->stores.data;
	for (size_t i = 0; i < s->stores.len / sizeof *stores; i++)
		hrr_blobs_close(stores[i]);
	hrr_buf_release(&s->stores);
	free(s->blobs);
	free(s->archive);
	hrr_shapes_free(s->shapes);
	free(s);
}

/* --- what records say about their process --- */

static uint64_t decimal(const struct hrr_json *j, const char *key)
{
	size_t len;
	const char *text = hrr_json_raw(j, hrr_json_get(j, 0, key), &len);
	uint64_t v = 0;

	for (size_t i = 0; text != NULL && i < len; i++)
		if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(text[i] - '0'), &v))
			return 0;
	return v;
}

static int note_header(struct hrr_source *s, struct feed *f, struct process *p,
		       struct hrr_diag *diag)
{
	const struct hrr_json *j = &f->head.json;
	struct hrr_buf blobs = {0};
	uint64_t pid;

	if (p->header)
		return hrr_diag_set(diag, -EINVAL, "bad stream: a second header for process %u",
				    f->head.p);
	p->header = true;
	p->t0 = decimal(j, "t0");
	p->realtime = decimal(j, "realtime");
	/* Folders were chosen by name; a stream is chosen by what its headers say. */
	if (s->opt.pid >= 0 && f->p < 0 && hrr_json_u64(j, hrr_json_get(j, 0, "pid"), &pid) == 0)
		p->dropped = pid != (uint64_t)s->opt.pid;
	if (hrr_json_str(j, hrr_json_get(j, 0, "blobs"), &blobs) == 0 && blobs.len > 0 &&
	    hrr_buf_str(&blobs) != NULL && memchr(blobs.data, '\0', blobs.len) == NULL) {
		if (blobs.data[0] == '/')
			p->blobs = strdup(blobs.data);
		else if (f->folder != NULL)
			p->blobs = hrr_path_join(f->folder, blobs.data);
		char *real = p->blobs != NULL ? realpath(p->blobs, NULL) : NULL;
		if (real != NULL) {
			free(p->blobs);
			p->blobs = real;
		}
	}
	hrr_buf_release(&blobs);
	return 0;
}

static void note_end(const struct hrr_record *rec, struct process *p)
{
	const struct hrr_json *j = &rec->json;
	int how = hrr_json_get(j, 0, "end"), not_recorded = hrr_json_get(j, 0, "notRecorded");
	uint64_t v;

	p->end = true;
	p->filtered = hrr_json_is(j, how, "filtered");
	p->cut = hrr_json_is(j, how, "cut");
	if (hrr_json_u64(j, hrr_json_get(j, 0, "calls"), &v) == 0)
		p->end_calls = v;
	if (hrr_json_u64(j, hrr_json_get(j, 0, "outputs"), &v) == 0)
		p->end_outputs = v;
	if (hrr_json_u64(j, hrr_json_get(j, 0, "lost"), &v) == 0)
		p->lost = v;
	if (not_recorded < 0 || j->nodes[not_recorded].type != HRR_JSON_OBJECT)
		return;
	for (int i = hrr_json_first(j, not_recorded); i >= 0; i = hrr_json_next(j, not_recorded, i))
		if (hrr_json_u64(j, i + 1, &v) == 0)
			p->not_recorded += v;
}

/* --- one feed --- */

/* Puts ,"p":N behind the first member of rec's line and reads it anew. */
static int insert_p(struct hrr_record *rec, struct hrr_buf *b, uint32_t p, struct hrr_diag *diag)
{
	const struct hrr_json *j = &rec->json;

	if (hrr_json_first(j, 0) < 0)
		return 0; /* {} */
	const struct hrr_json_node *first = &j->nodes[2];
	size_t at = first->off + first->len + (first->type == HRR_JSON_STRING);
	b->len = 0;
	int bad = hrr_buf_add(b, j->text, at);
	bad |= hrr_buf_adds(b, ",\"p\":");
	bad |= hrr_buf_addu(b, p);
	bad |= hrr_buf_add(b, j->text + at, j->len - at);
	return bad ? no_memory(diag) : hrr_record_parse(rec, b->data, b->len, diag);
}

static int begin_sidecars(struct hrr_source *s, struct feed *f, struct hrr_diag *diag)
{
	struct process *p;
	int rc = 0;

	f->side_p = f->p >= 0 ? (uint32_t)f->p : f->head.p;
	f->side_insert = f->insert || (f->pending && hrr_json_get(&f->head.json, 0, "p") >= 0);
	if (process_get(s, f->side_p, &p) < 0)
		return no_memory(diag);
	struct hrr_sidecar_clock clock = {p->t0, p->realtime};
	if (!s->opt.no_sidecars && f->sidecars_in != NULL)
		rc = hrr_sidecars_add_folder(&f->side, f->sidecars_in, &clock, diag);
	if (f == &s->feeds[0])
		for (size_t i = 0; rc == 0 && i < s->opt.n_sidecars; i++)
			rc = hrr_sidecars_add(&f->side, s->opt.sidecars[i], &clock, diag);
	if (rc == 0)
		hrr_sidecars_sort(&f->side);
	return rc;
}

/* Where it went wrong; worded only then, since every line goes through fetch. */
static int here(const struct feed *f, int rc, struct hrr_diag *diag)
{
	hrr_diag_at(diag, f->name, f->head.lineno);
	return rc;
}

/* Reads the next record of a feed into its head. */
static int fetch(struct hrr_source *s, struct feed *f, struct hrr_diag *diag)
{
	const char *line;
	size_t len;
	uint64_t lineno;
	bool cut;
	struct process *p;
	int rc;

again:
	s->reading = f;
	rc = f->format != NULL ? f->format->line(f->foreign, &line, &len, &lineno, &cut, diag)
			       : hrr_reader_line(f->reader, &line, &len, &lineno, &cut, diag);
	if (rc < 0)
		return rc;
	if (rc == 0 || cut) {
		f->eof = true;
		f->cut = rc > 0;
		rc = 0;
		if (!f->begun) {
			f->begun = true;
			rc = begin_sidecars(s, f, diag);
		}
		return rc;
	}
	f->head.lineno = lineno;
	rc = 0;
	if (s->shapes == NULL || !f->begun || f->insert ||
	    !hrr_shapes_fit(s->shapes, &f->head, line, len)) {
		rc = hrr_record_parse(&f->head, line, len, diag);
		if (rc == 0 && s->shapes != NULL)
			hrr_shapes_learn(s->shapes, &f->head);
	}
	if (rc < 0)
		return here(f, rc, diag);
	if (f->insert) {
		bool has_p = hrr_json_get(&f->head.json, 0, "p") >= 0;
		if (has_p && f->head.kind != HRR_REC_OTHER)
			return here(f,
				    hrr_diag_set(diag, -EINVAL,
						 "bad record: \"p\" in one process's own file"),
				    diag);
		/* In a record we do not know it may mean anything. */
		rc = has_p ? 0 : insert_p(&f->head, &f->line, (uint32_t)f->p, diag);
		if (rc < 0)
			return rc;
	}
	if (process_get(s, f->head.p, &p) < 0)
		return no_memory(diag);
	p->met = true;
	if (f->head.kind == HRR_REC_HEADER) {
		rc = note_header(s, f, p, diag);
		if (rc < 0)
			return here(f, rc, diag);
	}
	if (p->end && f->head.kind != HRR_REC_OTHER)
		return here(f, hrr_diag_set(diag, -EINVAL, "bad stream: a record behind the end"),
			    diag);
	if (p->dropped)
		goto again;
	if (f->head.t != HRR_NO_TIME && f->head.t > f->t)
		f->t = f->head.t;
	f->pending = true;
	if (!f->begun) {
		f->begun = true;
		rc = begin_sidecars(s, f, diag);
	}
	return rc;
}

/* The region of a sidecar that comes before the head, or NULL. */
static const struct hrr_sidecar_line *due(const struct feed *f)
{
	if (f->side_next >= f->side.n)
		return NULL;
	const struct hrr_sidecar_line *l = hrr_sidecars_at(&f->side, f->side_next);
	if (!f->pending)
		return l;
	if (!f->first_out && f->head.kind == HRR_REC_HEADER)
		return NULL;
	return f->head.kind == HRR_REC_END || l->t <= f->t ? l : NULL;
}

static bool has_next(const struct feed *f)
{
	return f->pending || f->side_next < f->side.n;
}

/* When the next item of a feed comes, on the machine's clock. */
static uint64_t when(const struct hrr_source *s, const struct feed *f)
{
	const struct process *p = process(s, f->p >= 0 ? (uint32_t)f->p : 0);
	const struct hrr_sidecar_line *l = due(f);

	return (p != NULL ? p->t0 : 0) + (l != NULL && l->t < f->t ? l->t : f->t);
}

static void note_region(struct hrr_source *s, const struct feed *f,
			const struct hrr_sidecar_line *l)
{
	struct process *p = process(s, f->region.p);

	s->sidecars++;
	if (p == NULL || !l->stamped)
		return;
	p->stamped++;
	/* Behind the last record that has a time, or moved to the start from before it. */
	if (l->t > 0 && l->t <= f->t)
		p->inside++;
}

static int give_region(struct hrr_source *s, struct feed *f, const struct hrr_sidecar_line *l,
		       struct hrr_record **ret_rec, struct hrr_diag *diag)
{
	int rc = hrr_record_parse(&f->region, f->side.text.data + l->off, l->len, diag);

	if (rc < 0)
		return rc; /* it was parsed before */
	f->region.lineno = 0;
	f->region.p = f->side_p;
	if (f->side_insert) {
		rc = insert_p(&f->region, &f->region_line, f->side_p, diag);
		if (rc < 0)
			return rc;
	}
	f->side_next++;
	note_region(s, f, l);
	s->last = f;
	s->last_region = true;
	*ret_rec = &f->region;
	return 1;
}

/* The end of a stream: was the process in it that --pid names? */
static int check_chosen(struct hrr_source *s, struct hrr_diag *diag)
{
	for (size_t i = 0; i < s->n_processes; i++)
		if (process(s, (uint32_t)i)->met && !process(s, (uint32_t)i)->dropped)
			return 0;
	hrr_diag_at(diag, s->feeds[0].name, 0);
	return hrr_diag_set(diag, -ENOENT, "no process %lld in it", (long long)s->opt.pid);
}

int hrr_source_next(struct hrr_source *s, struct hrr_record **ret_rec, struct hrr_diag *diag)
{
	struct feed *best = NULL;

	if (s->last != NULL && !s->last_region) {
		s->last->pending = false;
		s->last->first_out = true;
	}
	s->last = NULL;
	for (size_t i = 0; i < s->n_feeds; i++) {
		struct feed *f = &s->feeds[i];
		if (!f->pending && !f->eof) {
			int rc = fetch(s, f, diag);
			if (rc < 0)
				return rc;
		}
		if (has_next(f) && (best == NULL || when(s, f) < when(s, best)))
			best = f;
	}
	if (best == NULL)
		return s->opt.pid >= 0 ? check_chosen(s, diag) : 0;
	const struct hrr_sidecar_line *l = due(best);
	if (l != NULL)
		return give_region(s, best, l, ret_rec, diag);

	struct process *p = process(s, best->head.p);
	switch (best->head.kind) {
	case HRR_REC_CALL:
		p->calls++;
		s->calls++;
		break;
	case HRR_REC_OUTPUT:
		p->outputs++;
		s->outputs++;
		break;
	case HRR_REC_REGION:
		s->regions++;
		break;
	case HRR_REC_END:
		note_end(&best->head, p);
		break;
	case HRR_REC_HEADER:
	case HRR_REC_RUNTIME:
	case HRR_REC_OTHER:
		break;
	}
	s->last = best;
	s->last_region = false;
	*ret_rec = &best->head;
	return 1;
}

/* --- questions --- */

const char *hrr_source_sidecar_folder(const struct hrr_source *s)
{
	return s->n_feeds == 1 ? s->feeds[0].sidecars_in : NULL;
}

size_t hrr_source_files(const struct hrr_source *s)
{
	return s->n_feeds;
}

const char *hrr_source_name(const struct hrr_source *s, const struct hrr_record *rec)
{
	for (size_t i = 0; i < s->n_feeds; i++)
		if (rec == &s->feeds[i].head || rec == &s->feeds[i].region)
			return s->feeds[i].name;
	return s->n_feeds > 0 ? s->feeds[0].name : "-";
}

bool hrr_source_ready(const struct hrr_source *s)
{
	for (size_t i = 0; i < s->n_feeds; i++) {
		const struct feed *f = &s->feeds[i];
		bool pending = f->pending && (f != s->last || s->last_region);
		if (!pending && !f->eof && due(f) == NULL && f->reader != NULL &&
		    !hrr_reader_ready(f->reader))
			return false;
	}
	return true;
}

int hrr_source_heads_only(struct hrr_source *s)
{
	if (s->shapes == NULL)
		s->shapes = hrr_shapes_new();
	return s->shapes != NULL ? 0 : -ENOMEM;
}

bool hrr_source_from_sidecar(const struct hrr_source *s)
{
	return s->last != NULL && s->last_region;
}

uint64_t hrr_source_t0(const struct hrr_source *s, uint32_t p)
{
	const struct process *x = process(s, p);

	return x != NULL ? x->t0 : 0;
}

const char *hrr_source_blobs_path(struct hrr_source *s, uint32_t p)
{
	const struct process *x = process(s, p);

	if (s->blobs != NULL)
		return s->blobs;
	if (s->n_feeds == 1 && s->feeds[0].format != NULL) {
		struct hrr_blobs *store = s->feeds[0].format->blobs(s->feeds[0].foreign, p, NULL);
		return store != NULL ? hrr_blobs_path(store) : NULL;
	}
	return x != NULL ? x->blobs : NULL;
}

struct hrr_blobs *hrr_source_blobs(struct hrr_source *s, uint32_t p, struct hrr_diag *diag)
{
	struct process *x;
	struct hrr_blobs *store;

	if (s->blobs == NULL && s->n_feeds == 1 && s->feeds[0].format != NULL)
		return s->feeds[0].format->blobs(s->feeds[0].foreign, p, diag);
	if (process_get(s, p, &x) < 0) {
		no_memory(diag);
		return NULL;
	}
	if (x->store != NULL)
		return x->store;
	const char *path = hrr_source_blobs_path(s, p);
	if (path == NULL) {
		hrr_diag_set(diag, -ENOENT,
			     "the stream does not say where its blobs are: name the "
			     "folder with -b");
		return NULL;
	}
	struct hrr_blobs **stores = (void *)s->stores.data;
	for (size_t i = 0; i < s->stores.len / sizeof *stores; i++)
		if (strcmp(hrr_blobs_path(stores[i]), path) == 0)
			return x->store = stores[i];
	if (hrr_blobs_open(&store, path, false, diag) < 0)
		return NULL;
	if (hrr_buf_add(&s->stores, &store, sizeof store) < 0) {
		hrr_blobs_close(store);
		no_memory(diag);
		return NULL;
	}
	return x->store = store;
}

void hrr_source_state(const struct hrr_source *s, struct hrr_source_state *ret)
{
	struct hrr_source_state st = {
	    .has_end = true,
	    .counts_fit = true,
	    .running = s->running,
	    .calls = s->calls,
	    .outputs = s->outputs,
	    .regions = s->regions,
	    .sidecars = s->sidecars,
	};

	for (size_t i = 0; i < s->n_feeds; i++) {
		st.cut_line = st.cut_line || s->feeds[i].cut;
		st.cut_sidecar = st.cut_sidecar || s->feeds[i].side.cut;
		/* A file in which nothing begins is a process all the same. */
		if (s->feeds[i].p >= 0 && (process(s, (uint32_t)s->feeds[i].p) == NULL ||
					   !process(s, (uint32_t)s->feeds[i].p)->met)) {
			st.no_header = true;
			st.has_end = false;
		}
	}
	for (size_t i = 0; i < s->n_processes; i++) {
		const struct process *p = process(s, (uint32_t)i);
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
