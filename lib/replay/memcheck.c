#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <dlfcn.h>

#include "lib/base/json.h"
#include "lib/replay/engine.h"

/*
 * The checks of the CPU run time, on recorded programs: it is told which parts of
 * memory are whose (that costs little, and is done whenever it can be told), and with
 * --memcheck what it finds becomes outcomes. It calls from whichever thread ran the
 * work, so faults are kept as text until the engine's own thread asks.
 */

#define LLU(x) ((unsigned long long)(x))
#define MAX_SITES 4096 /* places told apart; what comes after is only counted by the run time */

struct fault {
	char *text, *members; /* owned */
	uint64_t unknown;     /* an address the run time can say nothing recorded about, or 0 */
	struct hrr_emu_origin origin;
	struct fault *next;
};

struct site {
	uint64_t kernel, pc; /* hash of the name */
	bool unwritten;
};

struct hrr_memcheck {
	pthread_mutex_t lock;
	struct fault *first, **last;
	struct site *sites;
	size_t n_sites;
	bool lost; /* out of memory while a fault was kept */
	void (*on_fault)(void (*fn)(void *, const struct hrr_emu_fault *), void *self, int quiet);
	int (*checks)(unsigned flags);
	void (*origin)(const struct hrr_emu_origin *origin);
};

int hrr_memcheck_parse(const char *text, unsigned *ret_flags)
{
	unsigned flags = HRR_MEMCHECK_ON;

	while (text != NULL && *text != '\0') {
		size_t n = strcspn(text, ",");
		if (n == 6 && memcmp(text, "blocks", n) == 0)
			flags |= HRR_MEMCHECK_BLOCKS;
		else if (n == 4 && memcmp(text, "init", n) == 0)
			flags |= HRR_MEMCHECK_INIT;
		else
			return -EINVAL;
		text += n + (text[n] == ',');
	}
	*ret_flags = flags;
	return 0;
}

/* --- faults ------------------------------------------------------------------------ */

static int put_triple(struct hrr_buf *b, const char *key, const uint32_t v[3])
{
	return hrr_buf_addf(b, ",\"%s\":[%u,%u,%u]", key, v[0], v[1], v[2]);
}

static int put_str(struct hrr_buf *b, const char *key, const char *s)
{
	if (s == NULL)
		return 0;
	int e = hrr_buf_addf(b, ",\"%s\":", key);

	return e | hrr_json_put_str(b, s, strlen(s));
}

static int put_block(struct hrr_buf *b, const char *key, const struct hrr_emu_block *k,
		     const char *distance)
{
	if (k->size == 0)
		return 0;
	int e = hrr_buf_addf(
	    b, ",\"%s\":{\"base\":\"0x%" PRIx64 "\",\"size\":%" PRIu64 ",\"%s\":%" PRIu64, key,
	    k->recorded, k->size, distance, k->distance);
	e |= put_str(b, "tag", k->tag);
	e |= hrr_buf_adds(b, k->freed ? ",\"freed\":true}" : "}");
	return e;
}

static int members(struct hrr_buf *b, const struct hrr_emu_fault *f)
{
	static const char *const access[] = {"load", "store", "atomic", "fetch"};
	static const char *const space[] = {"global", "lds", "scratch", "constant", "flat"};
	int e = put_str(b, "kernel", f->kernel);

	if (f->kernel == NULL)
		e |= put_str(b, "operation", f->why);
	else
		e |= put_str(b, "why", f->why);
	e |= put_str(b, "access", f->access < 4 ? access[f->access] : NULL);
	if (f->kernel != NULL)
		e |= put_str(b, "space", f->space < 5 ? space[f->space] : NULL);
	e |= hrr_buf_addf(b, ",\"bytes\":%u,\"live\":\"0x%" PRIx64 "\"", f->size, f->address);
	if (f->recorded != 0)
		e |= hrr_buf_addf(b, ",\"recordedAddr\":\"0x%" PRIx64 "\"", f->recorded);
	if (f->kernel != NULL) {
		e |= hrr_buf_addf(b, ",\"pc\":\"0x%" PRIx64 "\"", f->pc);
		e |= put_str(b, "instruction", f->instruction);
		e |= put_str(b, "file", f->file);
		if (f->file != NULL)
			e |= hrr_buf_addf(b, ",\"sourceLine\":%u", f->line);
		e |= put_triple(b, "workgroup", f->workgroup);
		e |= put_triple(b, "workitem", f->workitem);
		e |= hrr_buf_addf(b, ",\"wave\":%u,\"lane\":%u,\"lanes\":%" PRIu64, f->wave,
				  f->lane, f->lanes);
	}
	e |= put_block(b, "block", &f->block, "offset");
	e |= put_block(b, "before", &f->before, "distance");
	e |= put_block(b, "after", &f->after, "distance");
	return e;
}

/* Under the lock: whether this place was not met yet. */
static bool fresh(struct hrr_memcheck *m, const struct hrr_emu_fault *f)
{
	const char *name = f->kernel != NULL ? f->kernel : f->why != NULL ? f->why : "";
	struct site s = {14695981039346656037u, f->kernel != NULL ? f->pc : f->address,
			 f->kernel != NULL && f->why != NULL};

	for (; *name != '\0'; name++)
		s.kernel = (s.kernel ^ (unsigned char)*name) * 1099511628211u;
	for (size_t i = 0; i < m->n_sites; i++)
		if (m->sites[i].kernel == s.kernel && m->sites[i].pc == s.pc &&
		    m->sites[i].unwritten == s.unwritten)
			return false;
	if (m->n_sites == MAX_SITES)
		return false;
	m->sites[m->n_sites++] = s;
	return true;
}

static void on_fault(void *self, const struct hrr_emu_fault *f)
{
	struct hrr_memcheck *m = self;
	struct hrr_buf b = {0};

	pthread_mutex_lock(&m->lock);
	if (fresh(m, f)) {
		struct fault *x = calloc(1, sizeof *x);
		const char *s = members(&b, f) == 0 ? hrr_buf_str(&b) : NULL;
		if (x != NULL && s != NULL && (x->members = strdup(s)) != NULL &&
		    (x->text = strdup(f->text)) != NULL) {
			if (f->kernel != NULL && f->recorded == 0 && f->space != 1 && f->space != 2)
				x->unknown = f->address;
			x->origin = f->origin;
			*m->last = x;
			m->last = &x->next;
		} else {
			if (x != NULL)
				free(x->members);
			free(x);
			m->lost = true;
		}
	}
	pthread_mutex_unlock(&m->lock);
	hrr_buf_release(&b);
}

void hrr_memcheck_tell(struct hrr_replay *r)
{
	struct hrr_memcheck *m = r->memcheck;

	if (m == NULL)
		return;
	pthread_mutex_lock(&m->lock);
	struct fault *list = m->first;
	m->first = NULL;
	m->last = &m->first;
	bool lost = m->lost;
	m->lost = false;
	pthread_mutex_unlock(&m->lock);
	while (list != NULL) {
		struct fault *x = list;
		static const char prefix[] = "hrr-emu: ";
		const char *text = x->text;
		if (strncmp(text, prefix, sizeof prefix - 1) == 0)
			text += sizeof prefix - 1;
		struct hrr_buf b = {0};
		/* Memory it never had a description of: what the recording knows. */
		if (x->unknown != 0 && hrr_buf_adds(&b, text) == 0 &&
		    hrr_buf_adds(&b, "  in the recording") == 0) {
			size_t before = b.len;
			static const char was[] = "; it was ";
			hrr_explain(r, x->unknown, &b);
			if (b.len > before + sizeof was &&
			    memcmp(b.data + before, was, sizeof was - 1) == 0 &&
			    hrr_buf_addc(&b, '\n') == 0 && hrr_buf_str(&b) != NULL)
				text = hrr_buf_str(&b);
		}
		const bool said = x->origin.seq != 0;
		struct hrr_outcome o = {.kind = HRR_MEMORY,
					.line = said ? x->origin.line : 0,
					.seq = said ? x->origin.seq : r->seq,
					.node = -1,
					.api = said ? x->origin.api : hrr_recent(r, r->seq),
					.text = text,
					.members = x->members};
		hrr_report(r, &o);
		hrr_buf_release(&b);
		list = x->next;
		free(x->members);
		free(x->text);
		free(x);
	}
	if (lost) {
		struct hrr_outcome o = {.kind = HRR_MEMORY,
					.seq = r->seq,
					.node = -1,
					.text = "a wrong access that no memory was left to tell"};
		hrr_report(r, &o);
	}
}

int hrr_memcheck_start(struct hrr_replay *r, struct hrr_diag *diag)
{
	struct hrr_memcheck *m = calloc(1, sizeof *m);
	unsigned flags = HRR_EMU_GO_ON;

	if (m == NULL)
		return hrr_diag_set(diag, -ENOMEM, "out of memory");
	pthread_mutex_init(&m->lock, NULL);
	m->last = &m->first;
	r->memcheck = m;
	m->sites = calloc(MAX_SITES, sizeof *m->sites);
	if (m->sites == NULL)
		return hrr_diag_set(diag, -ENOMEM, "out of memory");
	if (r->hip->lib != NULL) {
		*(void **)&m->on_fault = dlsym(r->hip->lib, "hrr_emu_on_fault");
		*(void **)&m->checks = dlsym(r->hip->lib, "hrr_emu_memcheck");
		*(void **)&m->origin = dlsym(r->hip->lib, "hrr_emu_origin");
	}
	if (r->opt.memcheck & HRR_MEMCHECK_BLOCKS)
		flags |= HRR_EMU_CHECK_BLOCKS;
	if (r->opt.memcheck & HRR_MEMCHECK_INIT)
		flags |= HRR_EMU_CHECK_INIT;
	if (m->on_fault == NULL || m->checks == NULL || r->emu_describe == NULL ||
	    r->emu_undescribe == NULL || r->emu_unwritten == NULL || m->checks(flags) != 0)
		return hrr_diag_set(diag, -ENOTSUP,
				    "memory can be checked on the CPU run time only (-d emu)");
	m->on_fault(on_fault, m, 1);
	return 0;
}

void hrr_memcheck_call(struct hrr_replay *r, const char *api)
{
	const struct hrr_memcheck *const m = r->memcheck;

	if (m != NULL && m->origin != NULL)
		m->origin(&(struct hrr_emu_origin){.seq = r->seq, .line = r->line, .api = api});
}

void hrr_memcheck_end(struct hrr_replay *r)
{
	struct hrr_memcheck *m = r->memcheck;

	if (m == NULL)
		return;
	if (m->on_fault != NULL)
		m->on_fault(NULL, NULL, 0);
	if (m->checks != NULL)
		m->checks(0);
	while (m->first != NULL) {
		struct fault *x = m->first;
		m->first = x->next;
		free(x->members);
		free(x->text);
		free(x);
	}
	pthread_mutex_destroy(&m->lock);
	free(m->sites);
	free(m);
	r->memcheck = NULL;
}

/* --- descriptions ------------------------------------------------------------------- */

static void when(const struct hrr_replay *r, char *text, size_t size)
{
	const char *api = hrr_recent(r, r->seq);

	/* A region record is in hand when the line belongs to no call; both say where. */
	snprintf(text, size, "line %llu, at call %llu%s%s%s", LLU(r->line), LLU(r->seq),
		 api != NULL ? " (" : "", api != NULL ? api : "", api != NULL ? ")" : "");
}

static void describe_block(struct hrr_replay *r, const struct hrr_mem *m, struct hrr_live_region *x)
{
	uint64_t off = x->base - m->base;

	if (x->user == NULL && off < m->size && x->size <= m->size - off &&
	    r->emu_describe(m->live + off, x->size, x->base, x->tag, 0) == 0)
		x->user = r; /* described; blocks have no storage of their own */
}

void hrr_memcheck_block(struct hrr_replay *r, struct hrr_live_region *x, bool just_now)
{
	const struct hrr_range *at = hrr_ranges_find(r->map, x->base);
	const struct hrr_mem *m = at != NULL ? at->value : NULL;

	if (m == NULL || r->emu_describe == NULL)
		return;
	describe_block(r, m, x);
	/* What the pool's last user left there is nothing the new one wrote. */
	if (just_now && x->user != NULL && x->t_add != HRR_NO_TIME &&
	    (r->opt.memcheck & HRR_MEMCHECK_INIT) && hrr_idle(r))
		r->emu_unwritten(m->live + (x->base - m->base), x->size);
}

void hrr_memcheck_block_gone(struct hrr_replay *r, struct hrr_live_region *x)
{
	const struct hrr_range *at = hrr_ranges_find(r->map, x->base);
	const struct hrr_mem *m = at != NULL ? at->value : NULL;
	char text[160];

	if (x->user == NULL || m == NULL || r->emu_undescribe == NULL)
		return;
	when(r, text, sizeof text);
	r->emu_undescribe(m->live + (x->base - m->base), text);
	x->user = NULL;
}

/* Calls fn for each live block that begins inside m. */
static void each_block(struct hrr_replay *r, const struct hrr_mem *m,
		       void (*fn)(struct hrr_replay *, const struct hrr_mem *,
				  struct hrr_live_region *))
{
	const struct hrr_ranges *blocks = hrr_timeline_ranges(r->timeline, false);
	const struct hrr_range *x = hrr_ranges_overlap(blocks, m->base, m->size);

	for (; x != NULL && x->base - m->base < m->size; x = hrr_ranges_after(blocks, x->base))
		fn(r, m, x->value);
}

void hrr_memcheck_mem(struct hrr_replay *r, struct hrr_mem *m)
{
	if (r->emu_describe == NULL)
		return;
	m->described = r->emu_describe(m->live, m->size, m->base, NULL, 1) == 0;
	/* Our own filling is not the program's. */
	if ((r->opt.memcheck & HRR_MEMCHECK_INIT) && r->captures == 0)
		r->emu_unwritten(m->live, m->size);
	each_block(r, m, describe_block);
}

static void undescribe_block(struct hrr_replay *r, const struct hrr_mem *m,
			     struct hrr_live_region *x)
{
	char text[160];

	if (x->user == NULL)
		return;
	when(r, text, sizeof text);
	r->emu_undescribe(m->live + (x->base - m->base), text);
	x->user = NULL;
}

void hrr_memcheck_mem_gone(struct hrr_replay *r, struct hrr_mem *m)
{
	char text[160];

	if (!m->described || r->emu_undescribe == NULL)
		return;
	when(r, text, sizeof text);
	each_block(r, m, undescribe_block);
	r->emu_undescribe(m->live, text);
	m->described = false;
}

static int lives_at(void *self, const struct hrr_range *x)
{
	const struct hrr_mem *m = x->value;

	return *(const uint64_t *)self - m->live < m->size;
}

bool hrr_memcheck_dead(struct hrr_replay *r, uint64_t addr)
{
	/* Memory that was put elsewhere has numbers that mean something else in the recording. */
	return r->memcheck != NULL && r->v.not_placed == 0 && r->captures == 0 &&
	       hrr_ranges_each(r->map, lives_at, &addr) == 0;
}

/* --- fidelity -------------------------------------------------------------------------- */

void hrr_fidelity_tell(struct hrr_replay *r, const struct hrr_record *rec)
{
	struct hrr_launch_fidelity f = {
	    .line = rec->lineno, .seq = rec->seq, .api = hrr_recent(r, rec->seq)};
	struct hrr_emu_stats s = {.size = sizeof s};
	char name[512];
	size_t len = 0;

	if (r->emu_report(&s) != 0)
		return;
	f.launches = s.launches - r->told.launches;
	f.refused = s.refused - r->told.refused;
	/* Names stay, new ones come behind: those of before have the same place. */
	for (uint32_t i = 0; f.launches != 0 && i < s.n_approx && i < HRR_EMU_MAX_APPROX; i++) {
		uint64_t before = i < r->told.n_approx ? r->told.approx[i].count : 0;
		if (s.approx[i].count != before)
			f.used[f.n++] = (struct hrr_emu_approx){s.approx[i].mnemonic,
								s.approx[i].count - before};
	}
	r->told = s;
	if (f.n == 0 && f.refused == 0)
		return;
	int n = rec->kernel >= 0 ? hrr_json_get(&rec->json, rec->kernel, "name") : -1;
	const char *text = n >= 0 && f.launches == 1 ? hrr_json_raw(&rec->json, n, &len) : NULL;
	if (text != NULL) {
		hrr_mask(name, sizeof name, text, len);
		f.kernel = name;
	}
	r->opt.fidelity(r->opt.self, &f);
}
