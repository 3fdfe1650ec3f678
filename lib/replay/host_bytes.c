#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/replay/engine.h"

/*
 * What the host held when a call began, put where replay has that memory. Queued work may write
 * there too, and the record cannot tell whether it had: its bytes are left to it. Of a copy they
 * are known; of a kernel what differs from what the record said last is the host's, and goes
 * there behind the kernel. A kernel that does not end soon may be waiting for just that.
 */

#define LLU(x) ((unsigned long long)(x))
#define TRIES 2000 /* naps of a millisecond */

void hrr_host_told(struct hrr_mem *m, uint64_t addr, uint64_t size, const struct hrr_json *j,
		   int node, uint64_t at)
{
	struct hrr_id id;
	size_t len = 0;
	const char *s = hrr_json_raw(j, node, &len);
	uint32_t i = 0;

	if (m == NULL || m->host == 0 || s == NULL || hrr_id_parse(s, len, &id) < 0)
		return;
	while (i < m->n_told && (m->told[i].base != addr || m->told[i].size != size))
		i++;
	if (i == m->cap_told && m->cap_told < HRR_TOLD) {
		uint32_t cap = m->cap_told == 0 ? 4 : m->cap_told * 2;
		struct hrr_told *v = realloc(m->told, cap * sizeof *v);
		if (v == NULL)
			return; /* its bytes are then left to the device */
		m->told = v;
		m->cap_told = cap;
	}
	if (i == m->n_told && i < m->cap_told) {
		m->n_told++;
	} else { /* the newest is the last one; where all are taken, the oldest goes */
		uint32_t gone = i < m->n_told ? i : 0;
		i = m->n_told - 1;
		memmove(m->told + gone, m->told + gone + 1, (i - gone) * sizeof *m->told);
	}
	m->told[i] = (struct hrr_told){addr, size, at, id};
}

/* What the record said last of the byte at addr, or NULL; *n is cut to where the answer holds. */
static const struct hrr_told *told_at(const struct hrr_mem *m, uint64_t addr, uint64_t *n)
{
	for (uint32_t i = m->n_told; i-- > 0;) {
		const struct hrr_told *t = &m->told[i];
		if (addr < t->base) {
			*n = t->base - addr < *n ? t->base - addr : *n;
		} else if (addr - t->base < t->size) {
			*n = t->size - (addr - t->base) < *n ? t->size - (addr - t->base) : *n;
			return t;
		}
	}
	return NULL;
}

/* Whether the kernel that was queued has ended; waited for, but not for ever. NULL, or why not. */
static const char *running(struct hrr_replay *r, const struct hrr_pending *p)
{
	const struct hrr_held *h = hrr_work_stream(r, p->stream);

	if (r->waited >= p->seq || (h != NULL && h->live == 0)) /* destroyed when it was done */
		return NULL;
	/* Asking would end the capture. */
	if (r->captures != 0)
		return "it cannot be asked whether it has ended";
	if (r->value_waits)
		return "its stream may wait for a value that a later call brings";
	for (int i = 0; i < TRIES; i++) {
		/* A null stream is asked with all others: which device's it is, is not current. */
		int64_t e = h != NULL	  ? HRR_CALL(r, hipStreamQuery, h->live)
			    : hrr_idle(r) ? hipSuccess
					  : hipErrorNotReady;
		if (e != hipErrorNotReady)
			return e == hipSuccess ? NULL : "it ended in an error";
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	return "it is still running after 2 seconds";
}

/* Bytes that are not old's, or all, where no queued copy writes. */
static void put(struct hrr_replay *r, const struct hrr_mem *m, uint64_t addr, unsigned char *to,
		const unsigned char *from, const unsigned char *old, uint64_t size)
{
	for (uint64_t at = 0, n; at < size; at += n) {
		n = size - at;
		if (hrr_pending_exactly(r, m, addr + at, &n))
			continue;
		for (uint64_t k = at; old != NULL && k < at + n; k++)
			if (old[k] != from[k])
				to[k] = from[k];
		if (old == NULL)
			memcpy(to + at, from + at, n);
	}
}

/* The host has written behind kernels: where they do not end soon, it is said, once. */
static void behind(struct hrr_replay *r, const struct hrr_mem *m, uint64_t addr, uint64_t size)
{
	const struct hrr_pending *p = NULL;
	const char *why = NULL;

	while (why == NULL && (p = hrr_pending_anywhere(r, m, addr, size, p)) != NULL)
		if ((why = running(r, p)) != NULL)
			hrr_warn(r, r->seq, NULL,
				 "the host wrote to 0x%llx after call %llu was queued, which may "
				 "use that memory; %s: what was written may be there too soon",
				 LLU(addr), LLU(p->seq), why);
}

/* Beside queued work that may write anywhere there: what the host changed since it was told. */
static int write_changed(struct hrr_replay *r, struct hrr_mem *m, uint64_t addr, unsigned char *to,
			 const unsigned char *from, uint64_t size)
{
	struct hrr_diag d = {0};
	bool asked = false;
	uint64_t n;

	for (uint64_t at = 0; at < size; at += n) {
		n = size - at;
		const struct hrr_told *t = told_at(m, addr + at, &n);
		struct hrr_blob blob;
		if (t == NULL) /* it is left to that work */
			continue;
		int rc = hrr_blobs_get(r->blobs, &t->id, 0, &blob, &d);
		if (rc < 0)
			return hrr_trouble(r, rc, "host bytes: %s", d.what);
		if (t->at <= blob.len && t->size <= blob.len - t->at) {
			const unsigned char *old =
			    (const unsigned char *)blob.data + t->at + (addr + at - t->base);
			if (!asked && memcmp(old, from + at, n) != 0) {
				behind(r, m, addr, size);
				asked = true;
			}
			put(r, m, addr + at, to + at, from + at, old, n);
		}
		hrr_blob_release(&blob);
	}
	return 0;
}

int hrr_host_write(struct hrr_replay *r, struct hrr_mem *m, uint64_t addr, uint64_t live,
		   const unsigned char *from, uint64_t size)
{
	unsigned char *to = (unsigned char *)(uintptr_t)live;
	int rc = m != NULL ? hrr_wait_owed(r) : 0;

	if (rc < 0)
		return rc;
	if (m == NULL || !hrr_pending(r, m, addr, size))
		memcpy(to, from, size);
	else if (hrr_pending_anywhere(r, m, addr, size, NULL) != NULL)
		return write_changed(r, m, addr, to, from, size);
	else
		put(r, m, addr, to, from, NULL, size);
	return 0;
}

static bool given(const struct hrr_launch *l, const struct hrr_mem *m)
{
	size_t i = 0;

	while (i < l->n_mems && l->mems[i] != m)
		i++;
	return i < l->n_mems;
}

static int host_piece(struct hrr_replay *r, const struct hrr_json *j, int at,
		      const struct hrr_launch *l)
{
	struct hrr_operand op = {.what = "host bytes at", .blob = -1};
	int a = hrr_json_get(j, at, "addr"), s = hrr_json_get(j, at, "size");
	int b = hrr_json_get(j, at, "blob");
	struct hrr_blob blob;
	struct hrr_mem *m;
	uint64_t live;

	if (a < 0 || s < 0 || b < 0 || hrr_json_addr(j, a, &op.addr) < 0 ||
	    hrr_json_u64(j, s, &op.need) < 0)
		return hrr_fail(r, "\"host\": addr, size and blob are needed");
	if (op.need == 0 || op.addr + op.need < op.addr)
		return hrr_fail(r, "\"host\": 0x%llx + %llu is no range of addresses", LLU(op.addr),
				LLU(op.need));
	int rc = hrr_host_place(r, &op, &live, &m);
	if (rc < 0)
		return rc;
	if (m != NULL && l != NULL && !given(l, m))
		m->reached = true;
	if (live == 0) /* what nobody here holds, no work can read */
		return 0;
	rc = hrr_blob_get(r, b, "host bytes", &blob);
	if (rc < 0)
		return rc;
	if (blob.len == op.need)
		rc = hrr_host_write(r, m, op.addr, live, blob.data, blob.len);
	else
		rc = hrr_fail(r, "host bytes at 0x%llx: %llu bytes, but the blob has %zu",
			      LLU(op.addr), LLU(op.need), blob.len);
	hrr_blob_release(&blob);
	if (rc == 0)
		hrr_host_told(m, op.addr, op.need, j, b, 0);
	return rc < 0 ? rc : 0;
}

int hrr_host_bytes(struct hrr_replay *r, struct hrr_event *ev, const struct hrr_launch *l)
{
	const struct hrr_json *j = ev->j;
	int n = ev->rec->host, rc = 0;

	if (n < 0 || j->nodes[n].type != HRR_JSON_ARRAY)
		return 0;
	for (uint32_t k = (uint32_t)n + 1; rc == 0 && k < j->nodes[n].next; k = j->nodes[k].next)
		rc = host_piece(r, j, (int)k, l);
	return rc;
}
