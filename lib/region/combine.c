#include "lib/region/combine.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/store/file.h"
#include "lib/stream/record.h"

/* What a sidecar's first line says. */
struct head {
	bool realtime;
	uint64_t t0, pid;
	bool has_t0, has_pid;
};

static int no_memory(struct hrr_diag *diag)
{
	return hrr_diag_set(diag, -ENOMEM, "out of memory");
}

static int read_head(const char *path, struct head *ret, struct hrr_diag *diag)
{
	struct hrr_record rec = {0};
	struct hrr_reader *reader;
	const char *line;
	size_t len;
	bool cut;
	int rc, fd = hrr_file_open(AT_FDCWD, path, 0); /* it is read twice */

	hrr_diag_at(diag, path, 0);
	if (fd < 0)
		return hrr_diag_set(diag, fd, "cannot open sidecar: %s", hrr_file_why(fd));
	reader = hrr_reader_new(fd, path);
	if (reader == NULL)
		return no_memory(diag);
	rc = hrr_reader_line(reader, &line, &len, &rec.lineno, &cut, diag);
	if (rc == 0)
		rc = hrr_diag_set(diag, -EINVAL, "not a sidecar: it is empty");
	if (rc > 0)
		rc = hrr_record_parse(&rec, line, len, diag);
	if (rc == 0) {
		const struct hrr_json *j = &rec.json;
		const char *t0 = hrr_json_raw(j, hrr_json_get(j, 0, "t0"), &len);
		char text[24] = "";
		*ret = (struct head){.realtime =
					 hrr_json_is(j, hrr_json_get(j, 0, "clock"), "realtime")};
		if (t0 != NULL && len < sizeof text) {
			memcpy(text, t0, len);
			ret->t0 = strtoull(text, NULL, 10);
			ret->has_t0 = true;
		}
		ret->has_pid = hrr_json_u64(j, hrr_json_get(j, 0, "pid"), &ret->pid) == 0;
	}
	hrr_reader_free(reader);
	hrr_record_release(&rec);
	return rc;
}

/* One head for all: the earliest t0, the pid they share. Lines come with the time they act at, so
 * that no tick is left in them. */
static int join_heads(size_t n, const char *const *paths, const struct hrr_combine_options *opt,
		      struct head *ret, struct hrr_diag *diag)
{
	struct head all = {0}, x;

	for (size_t i = 0; i < n; i++) {
		int rc = read_head(paths[i], &x, diag);
		if (rc < 0)
			return rc;
		bool first = i == 0;
		if (!first && opt->clock.t0 == 0 &&
		    (x.realtime != all.realtime || x.has_t0 != all.has_t0))
			return hrr_diag_set(diag, -EINVAL,
					    "its clock cannot be compared with that of %.200s: the "
					    "archive is needed",
					    paths[0]);
		if (first || x.t0 < all.t0)
			all.t0 = x.t0;
		all.has_pid = first ? x.has_pid : all.has_pid && x.has_pid && x.pid == all.pid;
		all.pid = x.pid;
		all.realtime = x.realtime;
		all.has_t0 = x.has_t0;
	}
	if (opt->clock.t0 != 0) {
		all.t0 = opt->clock.t0;
		all.realtime = false;
		all.has_t0 = true;
	}
	*ret = all;
	return 0;
}

static int put_head(struct hrr_buf *b, const struct head *h)
{
	int bad = hrr_buf_addf(b, "{\"regions\":1,\"clock\":\"%s\",\"resolution\":1",
			       h->realtime ? "realtime" : "monotonic");

	if (h->has_t0)
		bad |= hrr_buf_addf(b, ",\"t0\":\"%" PRIu64 "\"", h->t0);
	if (h->has_pid)
		bad |= hrr_buf_addf(b, ",\"pid\":%" PRIu64, h->pid);
	return bad | hrr_buf_adds(b, "}\n");
}

/* --- which lines are kept --- */

struct life {
	size_t add, del; /* line numbers; del SIZE_MAX: none */
	uint64_t from, to;
	uint64_t base, size;
};

struct clip {
	struct hrr_buf lives; /* of struct life, by serial */
	size_t line;
	uint64_t t;
};

static void on_del(void *self, struct hrr_live_region *x)
{
	struct clip *c = self;
	struct life *l = (struct life *)(void *)c->lives.data + (x->serial - 1);

	l->del = c->line;
	l->to = c->t;
}

static bool kept(const struct hrr_combine_options *opt, const struct life *l)
{
	if (l->from > opt->to || l->to < opt->from)
		return false;
	if (opt->size == 0)
		return true;
	return l->base <= opt->base + (opt->size - 1) && opt->base <= l->base + (l->size - 1);
}

/* keep[i] for each line of s. */
static int choose(const struct hrr_sidecars *s, const struct hrr_combine_options *opt,
		  unsigned char *keep, struct hrr_diag *diag)
{
	struct hrr_timeline *tl = hrr_timeline_new();
	struct hrr_record rec = {0};
	struct hrr_buf tag = {0};
	struct clip c = {.line = 0};
	struct hrr_region r;
	int rc = tl == NULL ? no_memory(diag) : 0;

	for (size_t i = 0; rc >= 0 && i < s->n; i++) {
		const struct hrr_sidecar_line *line = hrr_sidecars_at(s, i);
		rc = hrr_record_parse(&rec, s->text.data + line->off, line->len, diag);
		if (rc == 0)
			rc = hrr_region_read(&rec, &r, &tag, diag);
		if (rc < 0)
			break;
		c.line = i;
		c.t = line->stamped ? line->t : 0;
		struct life l = {i, SIZE_MAX, c.t, HRR_NO_TIME, r.base, r.size};
		if (r.add && hrr_buf_add(&c.lives, &l, sizeof l) < 0)
			rc = no_memory(diag);
		else
			rc = hrr_timeline_apply(tl, &r, on_del, &c);
		if (rc == -ENOMEM)
			no_memory(diag);
	}
	const struct life *l = (const void *)c.lives.data;
	for (size_t i = 0; rc >= 0 && i < c.lives.len / sizeof *l; i++)
		if (kept(opt, &l[i])) {
			keep[l[i].add] = 1;
			/* An add that replaces another is no del of its own. */
			if (l[i].del != SIZE_MAX && l[i].to <= opt->to)
				keep[l[i].del] = 1;
		}
	hrr_timeline_free(tl);
	hrr_record_release(&rec);
	hrr_buf_release(&tag);
	hrr_buf_release(&c.lives);
	return rc < 0 ? rc : 0;
}

int hrr_sidecars_combine(struct hrr_buf *b, size_t n, const char *const *paths,
			 const struct hrr_combine_options *opt, struct hrr_combine_stats *ret,
			 struct hrr_diag *diag)
{
	bool all = opt->from == 0 && opt->to == HRR_NO_TIME && opt->size == 0;
	struct hrr_sidecars s = {0};
	size_t before = b->len;
	unsigned char *keep = NULL;
	struct head h = {0};
	int rc = join_heads(n, paths, opt, &h, diag);

	if (rc < 0)
		return rc;
	struct hrr_sidecar_clock clock = opt->clock;
	if (clock.t0 == 0)
		clock = (struct hrr_sidecar_clock){h.t0, h.t0};
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = hrr_sidecars_add(&s, paths[i], &clock, diag);
	if (rc == 0) {
		hrr_sidecars_sort(&s);
		keep = calloc(s.n + 1, 1);
		rc = keep == NULL ? no_memory(diag) : all ? 0 : choose(&s, opt, keep, diag);
	}
	*ret = (struct hrr_combine_stats){.lines = s.n, .cut = s.cut};
	int bad = rc == 0 ? put_head(b, &h) : 0;
	for (size_t i = 0; rc == 0 && i < s.n; i++) {
		const struct hrr_sidecar_line *line = hrr_sidecars_at(&s, i);
		if (!all && !keep[i])
			continue;
		ret->kept++;
		bad |= hrr_buf_add(b, s.text.data + line->off, line->len);
		bad |= hrr_buf_addc(b, '\n');
	}
	free(keep);
	hrr_sidecars_release(&s);
	if (rc == 0 && bad != 0)
		rc = no_memory(diag);
	if (rc < 0)
		b->len = before;
	return rc;
}
