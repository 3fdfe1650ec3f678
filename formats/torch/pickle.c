#include "formats/torch/pickle.h"

#include <errno.h>
#include <string.h>

/*
 * A stack machine over bytes. Every value that is pushed comes from an opcode of
 * its own, so that nodes, cells, stack, marks and memo each have at most as many
 * entries as the file has bytes, and an index fits 31 bits.
 */
enum { NODE_NONE, NODE_TRUE, NODE_FALSE, NODE_FIXED };

struct machine {
	struct hrr_pickle *p;
	const unsigned char *s;
	size_t at, len; /* of the whole file; at: the next byte */
	size_t op_at;	/* where the opcode stands */
	const char *op;
	struct hrr_buf stack, marks, memo; /* of uint32_t */
	uint32_t n_memo;
	struct hrr_diag *diag;
};

/* How an opcode's argument is written. */
enum { ARG_NONE, ARG_U1, ARG_U2, ARG_I4, ARG_U4, ARG_U8, ARG_F8 };

enum action {
	REFUSED, /* calls, names or builds something, or belongs to protocols 0 and 1 */
	A_PROTO,
	A_FRAME,
	A_MARK,
	A_STOP,
	A_FIXED, /* n: which */
	A_INT,
	A_LONG, /* argument: number of bytes that follow */
	A_FLOAT,
	A_STR,	 /* the same */
	A_EMPTY, /* n: a list or a dict */
	A_TUPLE, /* of n values */
	A_LIST,	 /* n values into a list */
	A_DICT,
	A_PUT,
	A_MEMOIZE,
	A_GET
};

#define NO(byte, name)                    \
	{                                 \
		byte, REFUSED, 0, 0, name \
	}
#define MARKED 255 /* so many values as are above the mark */

static const struct opcode {
	unsigned char byte, action, arg, n;
	const char *name;
} opcodes[] = {
    {0x80, A_PROTO, ARG_U1, 0, "PROTO"},
    {0x95, A_FRAME, ARG_U8, 0, "FRAME"},
    {'(', A_MARK, ARG_NONE, 0, "MARK"},
    {'.', A_STOP, ARG_NONE, 0, "STOP"},
    {'N', A_FIXED, ARG_NONE, NODE_NONE, "NONE"},
    {0x88, A_FIXED, ARG_NONE, NODE_TRUE, "NEWTRUE"},
    {0x89, A_FIXED, ARG_NONE, NODE_FALSE, "NEWFALSE"},
    {'J', A_INT, ARG_I4, 0, "BININT"},
    {'K', A_INT, ARG_U1, 0, "BININT1"},
    {'M', A_INT, ARG_U2, 0, "BININT2"},
    {0x8a, A_LONG, ARG_U1, 0, "LONG1"},
    {0x8b, A_LONG, ARG_I4, 0, "LONG4"},
    {'G', A_FLOAT, ARG_F8, 0, "BINFLOAT"},
    {'X', A_STR, ARG_U4, 0, "BINUNICODE"},
    {0x8c, A_STR, ARG_U1, 0, "SHORT_BINUNICODE"},
    {0x8d, A_STR, ARG_U8, 0, "BINUNICODE8"},
    {']', A_EMPTY, ARG_NONE, HRR_PICKLE_LIST, "EMPTY_LIST"},
    {'}', A_EMPTY, ARG_NONE, HRR_PICKLE_DICT, "EMPTY_DICT"},
    {')', A_TUPLE, ARG_NONE, 0, "EMPTY_TUPLE"},
    {0x85, A_TUPLE, ARG_NONE, 1, "TUPLE1"},
    {0x86, A_TUPLE, ARG_NONE, 2, "TUPLE2"},
    {0x87, A_TUPLE, ARG_NONE, 3, "TUPLE3"},
    {'t', A_TUPLE, ARG_NONE, MARKED, "TUPLE"},
    {'a', A_LIST, ARG_NONE, 1, "APPEND"},
    {'e', A_LIST, ARG_NONE, MARKED, "APPENDS"},
    {'s', A_DICT, ARG_NONE, 2, "SETITEM"},
    {'u', A_DICT, ARG_NONE, MARKED, "SETITEMS"},
    {'q', A_PUT, ARG_U1, 0, "BINPUT"},
    {'r', A_PUT, ARG_U4, 0, "LONG_BINPUT"},
    {0x94, A_MEMOIZE, ARG_NONE, 0, "MEMOIZE"},
    {'h', A_GET, ARG_U1, 0, "BINGET"},
    {'j', A_GET, ARG_U4, 0, "LONG_BINGET"},
    NO('c', "GLOBAL"),
    NO(0x93, "STACK_GLOBAL"),
    NO('R', "REDUCE"),
    NO('b', "BUILD"),
    NO('i', "INST"),
    NO('o', "OBJ"),
    NO(0x81, "NEWOBJ"),
    NO(0x92, "NEWOBJ_EX"),
    NO(0x82, "EXT1"),
    NO(0x83, "EXT2"),
    NO(0x84, "EXT4"),
    NO('P', "PERSID"),
    NO('Q', "BINPERSID"),
    NO('B', "BINBYTES"),
    NO('C', "SHORT_BINBYTES"),
    NO(0x8e, "BINBYTES8"),
    NO(0x96, "BYTEARRAY8"),
    NO(0x97, "NEXT_BUFFER"),
    NO(0x98, "READONLY_BUFFER"),
    NO(0x8f, "EMPTY_SET"),
    NO(0x90, "ADDITEMS"),
    NO(0x91, "FROZENSET"),
    NO('0', "POP"),
    NO('1', "POP_MARK"),
    NO('2', "DUP"),
    NO('I', "INT"),
    NO('L', "LONG"),
    NO('F', "FLOAT"),
    NO('S', "STRING"),
    NO('T', "BINSTRING"),
    NO('U', "SHORT_BINSTRING"),
    NO('V', "UNICODE"),
    NO('l', "LIST"),
    NO('d', "DICT"),
    NO('p', "PUT"),
    NO('g', "GET"),
};

static int bad(struct machine *m, const char *why)
{
	return hrr_diag_set(m->diag, -EINVAL, "bad pickle: %s at byte %zu: %s", m->op, m->op_at,
			    why);
}

static int no_memory(struct machine *m)
{
	return hrr_diag_set(m->diag, -ENOMEM, "out of memory");
}

/* --- nodes, cells, stack --- */

static struct hrr_pickle_node *nodes(const struct hrr_pickle *p)
{
	return (struct hrr_pickle_node *)(void *)p->nodes.data;
}

static struct hrr_pickle_cell *cells(const struct hrr_pickle *p)
{
	return (struct hrr_pickle_cell *)(void *)p->cells.data;
}

static uint32_t *words(const struct hrr_buf *b)
{
	return (uint32_t *)(void *)b->data;
}

static uint32_t n_words(const struct hrr_buf *b)
{
	return (uint32_t)(b->len / sizeof(uint32_t));
}

static int push(struct machine *m, uint32_t node)
{
	return hrr_buf_add(&m->stack, &node, sizeof node) < 0 ? no_memory(m) : 0;
}

static int push_new(struct machine *m, const struct hrr_pickle_node *x)
{
	uint32_t node = hrr_pickle_count(m->p);

	if (hrr_buf_add(&m->p->nodes, x, sizeof *x) < 0)
		return no_memory(m);
	return push(m, node);
}

/* What may be popped: nothing below the last mark. */
static uint32_t above_mark(const struct machine *m)
{
	uint32_t n = n_words(&m->marks);

	return n_words(&m->stack) - (n > 0 ? words(&m->marks)[n - 1] : 0);
}

/* Takes the last mark; *ret_n values are above it. */
static int pop_mark(struct machine *m, uint32_t *ret_n)
{
	if (n_words(&m->marks) == 0)
		return bad(m, "no mark on the stack");
	*ret_n = above_mark(m);
	m->marks.len -= sizeof(uint32_t);
	return 0;
}

/* Moves the n values on top of the stack into node. */
static int fill(struct machine *m, uint32_t node, uint32_t n)
{
	uint32_t from = n_words(&m->stack) - n;

	for (uint32_t i = 0; i < n; i++) {
		struct hrr_pickle_cell c = {.value = words(&m->stack)[from + i]};
		uint32_t at = (uint32_t)(m->p->cells.len / sizeof c);
		if (hrr_buf_add(&m->p->cells, &c, sizeof c) < 0)
			return no_memory(m);
		struct hrr_pickle_node *x = &nodes(m->p)[node];
		uint32_t first = (uint32_t)x->v, last = (uint32_t)(x->v >> 32);
		if (first == 0)
			first = at;
		else
			cells(m->p)[last].next = at;
		x->v = (uint64_t)at << 32 | first;
		x->len++;
	}
	m->stack.len -= n * sizeof(uint32_t);
	return 0;
}

/* n values are on top of what they go into. */
static int add_items(struct machine *m, uint32_t n, enum hrr_pickle_type type)
{
	uint32_t have = above_mark(m);

	if (have < n || have - n < 1)
		return bad(m, "too little on the stack");
	uint32_t into = words(&m->stack)[n_words(&m->stack) - n - 1];
	if (nodes(m->p)[into].type != type)
		return bad(m, type == HRR_PICKLE_LIST ? "not into a list" : "not into a dict");
	if (type == HRR_PICKLE_DICT && n % 2 != 0)
		return bad(m, "a key without a value");
	return fill(m, into, n);
}

static int make_tuple(struct machine *m, uint32_t n)
{
	const struct hrr_pickle_node t = {.type = HRR_PICKLE_TUPLE};
	uint32_t node = hrr_pickle_count(m->p);

	if (above_mark(m) < n)
		return bad(m, "too little on the stack");
	if (hrr_buf_add(&m->p->nodes, &t, sizeof t) < 0)
		return no_memory(m);
	int rc = fill(m, node, n);
	return rc < 0 ? rc : push(m, node);
}

/* --- memo --- */

static int put(struct machine *m, uint64_t index)
{
	static const uint32_t none = UINT32_MAX;

	if (above_mark(m) == 0)
		return bad(m, "nothing on the stack");
	/* Real files count up; what is larger than the file would only cost memory. */
	if (index >= m->len)
		return bad(m, "a number larger than the file");
	while (n_words(&m->memo) <= index)
		if (hrr_buf_add(&m->memo, &none, sizeof none) < 0)
			return no_memory(m);
	if (words(&m->memo)[index] == none)
		m->n_memo++;
	words(&m->memo)[index] = words(&m->stack)[n_words(&m->stack) - 1];
	return 0;
}

static int get(struct machine *m, uint64_t index)
{
	if (index >= n_words(&m->memo) || words(&m->memo)[index] == UINT32_MAX)
		return bad(m, "nothing was put there");
	return push(m, words(&m->memo)[index]);
}

/* --- opcodes --- */

/* Two's complement, little endian, any length. */
static int push_long(struct machine *m, uint64_t n)
{
	struct hrr_pickle_node x = {.type = HRR_PICKLE_INT};
	const unsigned char *s = m->s + m->at;

	x.negative = n > 0 && (s[n - 1] & 0x80) != 0;
	unsigned char sign = x.negative ? 0xff : 0;
	for (uint64_t i = 0; i < 8; i++)
		x.v |= (uint64_t)(i < n ? s[i] : sign) << (8 * i);
	for (uint64_t i = 8; i < n; i++)
		x.wide = x.wide || s[i] != sign;
	x.wide = x.wide || (x.negative && x.v >> 63 == 0);
	m->at += n;
	return push_new(m, &x);
}

static int argument(struct machine *m, const struct opcode *op, uint64_t *ret)
{
	static const unsigned char sizes[] = {0, 1, 2, 4, 4, 8, 8};
	unsigned n = sizes[op->arg];
	uint64_t v = 0;

	if (m->len - m->at < n)
		return bad(m, "the file ends in it");
	for (unsigned i = 0; i < n; i++)
		v |= (uint64_t)m->s[m->at + i] << (8 * i);
	if (op->arg == ARG_I4)
		v = (uint64_t)(int64_t)(int32_t)(uint32_t)v;
	m->at += n;
	*ret = v;
	return 0;
}

static int step(struct machine *m, const struct opcode *op, uint64_t v)
{
	struct hrr_pickle_node x = {0};
	uint32_t n;
	int rc;

	switch ((enum action)op->action) {
	case REFUSED:
		return hrr_diag_set(
		    m->diag, -EINVAL,
		    "pickle refused: opcode %s at byte %zu has no place in a file of data",
		    op->name, m->op_at);
	case A_PROTO:
		return bad(m, "only the first opcode may be this one");
	case A_FRAME:
		return v > m->len - m->at ? bad(m, "the file ends in the frame") : 0;
	case A_MARK:
		n = n_words(&m->stack);
		return hrr_buf_add(&m->marks, &n, sizeof n) < 0 ? no_memory(m) : 0;
	case A_STOP:
		return 0; /* seen to by the loop */
	case A_FIXED:
		return push(m, op->n);
	case A_INT:
		x = (struct hrr_pickle_node){
		    .type = HRR_PICKLE_INT, .v = v, .negative = op->arg == ARG_I4 && v >> 63 != 0};
		return push_new(m, &x);
	case A_FLOAT:
		x.type = HRR_PICKLE_FLOAT;
		return push_new(m, &x);
	case A_LONG:
	case A_STR:
		/* A negative length is a large one here. */
		if (v > m->len - m->at)
			return bad(m, "the file ends in it");
		if (op->action == A_LONG)
			return push_long(m, v);
		x = (struct hrr_pickle_node){
		    .type = HRR_PICKLE_STR, .len = (uint32_t)v, .v = m->at};
		m->at += v;
		return push_new(m, &x);
	case A_EMPTY:
		x.type = op->n;
		return push_new(m, &x);
	case A_TUPLE:
	case A_LIST:
	case A_DICT:
		n = op->n;
		rc = n == MARKED ? pop_mark(m, &n) : 0;
		if (rc < 0 || op->action == A_TUPLE)
			return rc < 0 ? rc : make_tuple(m, n);
		return add_items(m, n, op->action == A_LIST ? HRR_PICKLE_LIST : HRR_PICKLE_DICT);
	case A_PUT:
		return put(m, v);
	case A_MEMOIZE:
		return put(m, m->n_memo);
	case A_GET:
		return get(m, v);
	}
	return bad(m, "not known");
}

static int run(struct machine *m)
{
	const struct opcode *by_byte[256] = {0}, *op;
	int rc = 0;

	for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
		by_byte[opcodes[i].byte] = &opcodes[i];
	if (m->len < 2 || m->s[0] != 0x80)
		return hrr_diag_set(m->diag, -EINVAL,
				    "not a pickle of protocol 2 or later: no PROTO at its start");
	if (m->s[1] < 2 || m->s[1] > 5)
		return hrr_diag_set(m->diag, -EINVAL, "pickle protocol %d is not read: 2 to 5 are",
				    m->s[1]);
	for (m->at = 2; m->at < m->len;) {
		m->op_at = m->at;
		op = by_byte[m->s[m->at++]];
		if (op == NULL)
			return hrr_diag_set(m->diag, -EINVAL,
					    "bad pickle: 0x%02x at byte %zu is no opcode",
					    m->s[m->op_at], m->op_at);
		m->op = op->name;
		uint64_t v = 0;
		if (op->action != REFUSED)
			rc = argument(m, op, &v);
		if (rc == 0)
			rc = step(m, op, v);
		if (rc < 0)
			return rc;
		if (op->action != A_STOP)
			continue;
		if (n_words(&m->marks) != 0 || n_words(&m->stack) != 1)
			return bad(m, "the stack does not hold just one value");
		if (m->at != m->len)
			return hrr_diag_set(m->diag, -EINVAL,
					    "bad pickle: %zu bytes behind its end at byte %zu",
					    m->len - m->at, m->at);
		m->p->root = words(&m->stack)[0];
		return 0;
	}
	return hrr_diag_set(m->diag, -EINVAL, "pickle cut short: no STOP in its %zu bytes", m->len);
}

void hrr_pickle_release(struct hrr_pickle *p)
{
	hrr_buf_release(&p->nodes);
	hrr_buf_release(&p->cells);
	*p = (struct hrr_pickle){0};
}

int hrr_pickle_read(struct hrr_pickle *p, const void *data, size_t len, struct hrr_diag *diag)
{
	static const struct hrr_pickle_node fixed[NODE_FIXED] = {
	    [NODE_NONE] = {.type = HRR_PICKLE_NONE},
	    [NODE_TRUE] = {.type = HRR_PICKLE_BOOL, .v = 1},
	    [NODE_FALSE] = {.type = HRR_PICKLE_BOOL},
	};
	static const struct hrr_pickle_cell no_cell;
	struct machine m = {.p = p, .s = data, .len = len, .op = "", .diag = diag};

	*p = (struct hrr_pickle){.data = data, .len = len};
	if (len > HRR_PICKLE_MAX)
		return hrr_diag_set(diag, -E2BIG, "pickle too large: the limit is %zu bytes",
				    HRR_PICKLE_MAX);
	int rc = hrr_buf_add(&p->nodes, fixed, sizeof fixed) < 0 ||
			 hrr_buf_add(&p->cells, &no_cell, sizeof no_cell) < 0
		     ? no_memory(&m)
		     : run(&m);
	hrr_buf_release(&m.stack);
	hrr_buf_release(&m.marks);
	hrr_buf_release(&m.memo);
	if (rc < 0)
		hrr_pickle_release(p);
	return rc;
}
