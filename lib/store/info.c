#include "lib/store/info.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/counts.h"
#include "lib/base/mask.h"
#include "lib/stream/select.h"

enum { WAYS = 5 };
static const char *const ways[WAYS] = {"h2d", "d2h", "d2d", "h2h", "output"};

struct process {
	bool met;
	struct hrr_buf header, runtime; /* their lines */
	uint64_t calls, failed, outputs, unknown, regions, last;
	uint64_t copies[WAYS], bytes[WAYS];
};

struct hrr_info {
	struct hrr_buf processes;
	size_t n;
	bool part; /* an end record says that calls were left out */
	struct hrr_counts calls, failed, kernels, not_recorded;
	struct hrr_record scratch;
};

struct hrr_info *hrr_info_new(void)
{
	return calloc(1, sizeof(struct hrr_info));
}

static struct process *at(const struct hrr_info *x, size_t i)
{
	return &((struct process *)(void *)x->processes.data)[i];
}

void hrr_info_free(struct hrr_info *x)
{
	if (x == NULL)
		return;
	for (size_t i = 0; i < x->n; i++) {
		hrr_buf_release(&at(x, i)->header);
		hrr_buf_release(&at(x, i)->runtime);
	}
	hrr_buf_release(&x->processes);
	hrr_counts_release(&x->calls);
	hrr_counts_release(&x->failed);
	hrr_counts_release(&x->kernels);
	hrr_counts_release(&x->not_recorded);
	hrr_record_release(&x->scratch);
	free(x);
}

static int keep_line(struct hrr_buf *b, const struct hrr_record *rec)
{
	b->len = 0;
	return hrr_buf_add(b, rec->line, rec->len);
}

static int note_call(struct hrr_info *x, struct process *p, const struct hrr_record *rec)
{
	const struct hrr_json *j = &rec->json;
	uint64_t size;
	size_t len;
	int bad = hrr_counts_add(&x->calls, rec->api, rec->api_len, 1);

	p->calls++;
	if (hrr_record_failed(rec)) {
		struct hrr_buf name = {0};
		p->failed++;
		bad |= hrr_buf_add(&name, rec->api, rec->api_len);
		bad |= hrr_buf_adds(&name, " ");
		bad |= hrr_buf_add(&name, j->text + j->nodes[rec->ret].off, j->nodes[rec->ret].len);
		bad |= hrr_counts_add(&x->failed, name.data, name.len, 1);
		hrr_buf_release(&name);
	}
	for (int k = -1; (k = hrr_kernel_next(j, rec->kernel, k)) >= 0;) {
		const char *kernel = hrr_json_raw(j, hrr_json_get(j, k, "name"), &len);
		if (kernel != NULL)
			bad |= hrr_counts_add(&x->kernels, kernel, len, 1);
	}
	for (int i = 0; i < WAYS - 1 && rec->dir >= 0; i++)
		if (hrr_json_is(j, rec->dir, ways[i]) && rec->ret < 0) {
			p->copies[i]++;
			if (hrr_record_size(rec, &size))
				p->bytes[i] += size;
		}
	return bad;
}

static int note_end(struct hrr_info *x, const struct hrr_record *rec)
{
	const struct hrr_json *j = &rec->json;
	int list = hrr_json_get(j, 0, "notRecorded"), bad = 0;
	uint64_t n;

	if (list < 0 || j->nodes[list].type != HRR_JSON_OBJECT)
		return 0;
	for (int i = hrr_json_first(j, list); i >= 0; i = hrr_json_next(j, list, i))
		if (hrr_json_u64(j, i + 1, &n) == 0)
			bad |= hrr_counts_add(&x->not_recorded, j->text + j->nodes[i].off,
					      j->nodes[i].len, n);
	return bad;
}

int hrr_info_record(struct hrr_info *x, const struct hrr_record *rec)
{
	static const struct process none;
	uint64_t size;
	int bad = 0;

	while (x->n <= rec->p) {
		if (hrr_buf_add(&x->processes, &none, sizeof none) < 0)
			return -ENOMEM;
		x->n++;
	}
	struct process *p = at(x, rec->p);
	if (rec->kind != HRR_REC_OTHER)
		p->met = true;
	if (rec->t != HRR_NO_TIME && rec->t > p->last && rec->kind != HRR_REC_REGION)
		p->last = rec->t;
	switch (rec->kind) {
	case HRR_REC_HEADER:
		bad = keep_line(&p->header, rec);
		break;
	case HRR_REC_RUNTIME:
		bad = keep_line(&p->runtime, rec);
		break;
	case HRR_REC_END:
		bad = note_end(x, rec);
		x->part = x->part ||
			  hrr_json_is(&rec->json, hrr_json_get(&rec->json, 0, "end"), "filtered");
		break;
	case HRR_REC_CALL:
		bad = note_call(x, p, rec);
		break;
	case HRR_REC_OUTPUT:
		p->outputs++;
		p->copies[WAYS - 1]++;
		if (hrr_json_get(&rec->json, 0, "blob") < 0)
			p->unknown++;
		if (hrr_record_size(rec, &size))
			p->bytes[WAYS - 1] += size;
		break;
	case HRR_REC_REGION:
		p->regions++;
		break;
	case HRR_REC_OTHER:
		break;
	}
	return bad ? -ENOMEM : 0;
}

/* --- text --- */

static int put_node(struct hrr_buf *b, const struct hrr_json *j, int node)
{
	struct hrr_buf text = {0};
	int bad = 0;

	if (node < 0)
		return hrr_buf_addc(b, '?');
	if (hrr_json_str(j, node, &text) == 0)
		bad = hrr_mask_add(b, text.data, text.len);
	else if (text.failed)
		bad = -ENOMEM;
	else
		bad = hrr_mask_add(b, j->text + j->nodes[node].off, j->nodes[node].len);
	hrr_buf_release(&text);
	return bad;
}

static int put_bytes(struct hrr_buf *b, uint64_t n)
{
	static const char units[] = "KMGTP";
	int bad = hrr_buf_addf(b, "%llu bytes", (unsigned long long)n);
	double v = (double)n;
	int unit = -1;

	for (; v >= 1024 && unit < 4; unit++)
		v /= 1024;
	if (unit >= 0)
		bad |= hrr_buf_addf(b, " (%.1f %ciB)", v, units[unit]);
	return bad;
}

static int put_when(struct hrr_buf *b, const struct hrr_json *j)
{
	uint64_t v = hrr_json_decimal(j, "realtime");
	struct tm tm;

	time_t t = (time_t)(v / 1000000000);
	if (v == 0 || gmtime_r(&t, &tm) == NULL)
		return 0;
	return hrr_buf_addf(b, "  started   %04d-%02d-%02d %02d:%02d:%02d UTC\n", tm.tm_year + 1900,
			    tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

static int put_devices(struct hrr_buf *b, const struct hrr_json *j, int runtime)
{
	int list = hrr_json_get(j, runtime, "devices"), bad = 0;
	uint64_t memory;

	if (list < 0 || j->nodes[list].type != HRR_JSON_ARRAY)
		return 0;
	for (int i = hrr_json_first(j, list); i >= 0; i = hrr_json_next(j, list, i)) {
		bad |= hrr_buf_adds(b, "  device    ");
		bad |= put_node(b, j, hrr_json_get(j, i, "name"));
		bad |= hrr_buf_adds(b, ", ");
		bad |= put_node(b, j, hrr_json_get(j, i, "arch"));
		if (hrr_json_u64(j, hrr_json_get(j, i, "memory"), &memory) == 0) {
			bad |= hrr_buf_adds(b, ", ");
			bad |= put_bytes(b, memory);
		}
		bad |= hrr_buf_addc(b, '\n');
	}
	return bad;
}

/* Kept lines were parsed before: what fails now is memory. */
static int parse_again(struct hrr_info *x, const struct hrr_buf *line)
{
	return hrr_record_parse(&x->scratch, line->data, line->len, NULL) < 0 ? -ENOMEM : 0;
}

static int put_process(struct hrr_info *x, const struct process *p, size_t i, struct hrr_buf *b)
{
	struct hrr_json *j = &x->scratch.json;
	int bad = hrr_buf_addf(b, "process %zu\n", i);

	if (p->header.len > 0) {
		if (parse_again(x, &p->header) < 0)
			return -ENOMEM;
		int command = hrr_json_get(j, 0, "command"),
		    first = command >= 0 && j->nodes[command].type == HRR_JSON_ARRAY
				? hrr_json_first(j, command)
				: -1;
		bad |= hrr_buf_adds(b, "  pid       ");
		bad |= put_node(b, j, hrr_json_get(j, 0, "pid"));
		bad |= hrr_buf_adds(b, "\n  command  ");
		if (first < 0)
			bad |= hrr_buf_adds(b, " not recorded");
		for (int a = first; a >= 0; a = hrr_json_next(j, command, a)) {
			bad |= hrr_buf_addc(b, ' ');
			bad |= put_node(b, j, a);
		}
		bad |= hrr_buf_addc(b, '\n');
		bad |= put_when(b, j);
	} else {
		bad |= hrr_buf_adds(b, "  no header\n");
	}
	bad |= hrr_buf_addf(b, "  lasted    %llu.%06llu s\n",
			    (unsigned long long)(p->last / 1000000000),
			    (unsigned long long)(p->last / 1000 % 1000000));
	if (p->runtime.len > 0) {
		if (parse_again(x, &p->runtime) < 0)
			return -ENOMEM;
		int runtime = hrr_json_get(j, 0, "runtime");
		bad |= hrr_buf_adds(b, "  library   ");
		int library = hrr_json_get(j, runtime, "library");
		bad |= library < 0 ? hrr_buf_adds(b, "not recorded") : put_node(b, j, library);
		bad |= hrr_buf_adds(b, ", HIP ");
		bad |= put_node(b, j, hrr_json_get(j, runtime, "major"));
		bad |= hrr_buf_addc(b, '\n');
		bad |= put_devices(b, j, runtime);
	}
	bad |= hrr_buf_addf(b, "  calls     %llu, %llu failed\n", (unsigned long long)p->calls,
			    (unsigned long long)p->failed);
	bad |= hrr_buf_addf(b, "  outputs   %llu, %llu with unknown bytes\n",
			    (unsigned long long)p->outputs, (unsigned long long)p->unknown);
	bad |= hrr_buf_addf(b, "  regions   %llu\n", (unsigned long long)p->regions);
	for (int w = 0; w < WAYS; w++) {
		if (p->copies[w] == 0)
			continue;
		bad |= hrr_buf_addf(b, "  %-9s ", ways[w]);
		bad |= put_bytes(b, p->bytes[w]);
		bad |= hrr_buf_addf(b, " in %llu %s\n", (unsigned long long)p->copies[w],
				    w == WAYS - 1 ? "outputs" : "copies");
	}
	return bad;
}

static int put_counts(struct hrr_counts *c, const char *title,
		      int (*demangle)(void *, const char *, size_t, struct hrr_buf *), void *self,
		      struct hrr_buf *b)
{
	int bad = 0;

	if (c->used == 0)
		return 0;
	hrr_counts_sort(c);
	bad |= hrr_buf_addf(b, "%s\n", title);
	for (size_t i = 0; i < c->used; i++) {
		struct hrr_buf name = {0};
		bad |= hrr_buf_addf(b, "  %9llu ", (unsigned long long)c->slots[i].n);
		int rc = demangle != NULL ? demangle(self, c->slots[i].name, c->slots[i].len, &name)
					  : -ENOSYS;
		if (rc == -ENOMEM)
			bad = rc;
		else if (rc == 0)
			bad |= hrr_mask_add(b, name.data, name.len);
		else
			bad |= hrr_mask_add(b, c->slots[i].name, c->slots[i].len);
		bad |= hrr_buf_addc(b, '\n');
		hrr_buf_release(&name);
	}
	return bad;
}

int hrr_info_text(struct hrr_info *x, const struct hrr_source *src, const char *operand,
		  int (*demangle)(void *self, const char *name, size_t len, struct hrr_buf *b),
		  void *self, struct hrr_buf *b)
{
	struct hrr_source_state st;
	int bad = 0;

	hrr_source_state(src, &st);
	bad |= hrr_mask_add(b, operand, strlen(operand));
	const bool part = x->part && !st.filtered;
	bad |= hrr_buf_addf(b, ": %s%s\n", hrr_source_word(&st),
			    part ? "; of it, what was selected" : "");
	if (st.lost > 0)
		bad |= hrr_buf_addf(b, "  lost      %llu records\n", (unsigned long long)st.lost);
	for (size_t i = 0; i < x->n; i++)
		if (at(x, i)->met)
			bad |= put_process(x, at(x, i), i, b);
	bad |= put_counts(&x->calls, "calls", NULL, NULL, b);
	bad |= put_counts(&x->failed, "failed", NULL, NULL, b);
	bad |= put_counts(&x->kernels, "kernels", demangle, self, b);
	bad |= put_counts(&x->not_recorded, "not recorded", NULL, NULL, b);
	return bad ? -ENOMEM : 0;
}
