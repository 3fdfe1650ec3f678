#include "lib/collect/private.h"

#include <errno.h>
#include <unistd.h>

/*
 * Calls that --only and --profiler-gate leave out. No selector looks at bytes, so a call is printed
 * without them, judged, and printed again with them when it is wanted: what is
 * not wanted leaves no blob. What it teaches (objects, addresses) counts all the same.
 */
static bool gated(const struct process *p)
{
	return (p->c->hub->options & HRR_OPT_GATE) != 0;
}

bool only_some(const struct process *p)
{
	return p->c->only != NULL || gated(p);
}

bool only_wants(struct process *p, size_t from, uint64_t seq)
{
	struct hrr_collect *c = p->c;
	struct hrr_buf *b = &p->out;
	struct hrr_record *r = &c->judged;

	/* What cannot be judged is kept: too much can be left out later, not too little. */
	bool wanted = (!gated(p) || p->gate) &&
		      (c->only == NULL || b->len <= from ||
		       hrr_record_parse(r, b->data + from, b->len - 1 - from, NULL) < 0 ||
		       hrr_select_call(c->only, r));
	b->len = from;
	if (wanted && (p->wanted == NULL && (p->wanted = hrr_seqs_new()) == NULL))
		return true;
	if (wanted)
		hrr_seqs_add(p->wanted, 0, seq);
	return wanted;
}

bool only_wants_output(const struct process *p, uint64_t seq)
{
	return !only_some(p) || (p->wanted != NULL && hrr_seqs_has(p->wanted, 0, seq));
}

const char *only_how(const struct process *p)
{
	return p->filtered || (only_some(p) && p->calls != out_seq(p, p->next) - 1) ? "filtered"
										    : "complete";
}

int only_restore(struct process *p)
{
	struct hrr_diag diag = {0};
	const char *line;
	size_t len;
	uint64_t lineno;
	bool cut;
	int rc;

	if (!only_some(p) || p->fd < 0 || p->written == 0)
		return 0;
	if (p->wanted == NULL && (p->wanted = hrr_seqs_new()) == NULL)
		return -ENOMEM;
	int fd = dup(p->fd);
	if (fd < 0 || lseek(fd, 0, SEEK_SET) < 0) {
		rc = -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	struct hrr_reader *reader = hrr_reader_new(fd, "");
	if (reader == NULL) {
		close(fd);
		return -ENOMEM;
	}
	while ((rc = hrr_reader_line(reader, &line, &len, &lineno, &cut, &diag)) > 0)
		if (hrr_record_parse(&p->c->judged, line, len, NULL) == 0 &&
		    p->c->judged.kind == HRR_REC_CALL &&
		    hrr_seqs_add(p->wanted, 0, p->c->judged.seq) < 0) {
			rc = -ENOMEM;
			break;
		}
	hrr_reader_free(reader);
	return rc < 0 ? rc : 0;
}
