#include "formats/torch/pickle.h"

#include <errno.h>
#include <stdlib.h>

#include "t/unit/tap.h"
#include "t/unit/torch_fixture.h"

static struct hrr_diag d;
static struct hrr_pickle p;

#define BYTES(s) (s), sizeof(s) - 1

static int read_bytes(const char *s, size_t n)
{
	static void *last;

	free(last);
	last = exact(s, n);
	return hrr_pickle_read(&p, last, n, &d);
}

static void good(void)
{
	uint64_t v = 0;
	size_t len = 0;

	/* {"a": [1, 258, -2, None, True, (3.0,)], "b": 2**40} and what else there is */
	is(read_bytes(BYTES("\x80\x02}q\x00(X\x01\x00\x00\x00"
			    "a](K\x01M\x02\x01J\xfe\xff\xff\xffN\x88G@\x08\0\0\0\0\0\0\x85"
			    "eX\x01\x00\x00\x00"
			    "b\x8a\x06\0\0\0\0\0\x01u.")),
	   0, "protocol 2");
	int root = (int)p.root, a = hrr_pickle_get(&p, root, "a");
	ok(hrr_pickle_if(&p, root, HRR_PICKLE_DICT) == root, "a dict");
	is(hrr_pickle_at(&p, root)->len, 4, "of two keys and two values");
	is(hrr_pickle_at(&p, a)->len, 6, "a list of six");
	uint32_t c = hrr_pickle_first(&p, a);
	ok(hrr_pickle_u64(&p, hrr_pickle_item(&p, c), &v) == 0 && v == 1, "BININT1");
	c = hrr_pickle_next(&p, c);
	ok(hrr_pickle_u64(&p, hrr_pickle_item(&p, c), &v) == 0 && v == 258, "BININT2");
	c = hrr_pickle_next(&p, c);
	is(hrr_pickle_u64(&p, hrr_pickle_item(&p, c), &v), -EINVAL, "a negative one is no u64");
	ok(hrr_pickle_at(&p, hrr_pickle_item(&p, c))->negative, "but known");
	c = hrr_pickle_next(&p, c);
	is(hrr_pickle_at(&p, hrr_pickle_item(&p, c))->type, HRR_PICKLE_NONE, "None");
	c = hrr_pickle_next(&p, c);
	is(hrr_pickle_at(&p, hrr_pickle_item(&p, c))->v, 1, "True");
	c = hrr_pickle_next(&p, c);
	is(hrr_pickle_at(&p, hrr_pickle_item(&p, c))->type, HRR_PICKLE_TUPLE, "a tuple");
	is(hrr_pickle_next(&p, c), 0, "is the last");
	ok(hrr_pickle_u64(&p, hrr_pickle_get(&p, root, "b"), &v) == 0 && v == 1ULL << 40, "LONG1");
	is(hrr_pickle_get(&p, root, "c"), -1, "no such key");
	is(hrr_pickle_get(&p, a, "a"), -1, "a list has none");
	is(hrr_pickle_u64(&p, a, &v), -EINVAL, "and is no number");
	is(hrr_pickle_first(&p, -1), 0, "nothing has no items");
	hrr_pickle_release(&p);

	is(read_bytes(
	       BYTES("\x80\x04\x95\x0d\0\0\0\0\0\0\0\x8c\x02h\xc3\x94\x8c\x01k\x94h\x01\x87.")),
	   0, "protocol 4: frame, memo");
	c = hrr_pickle_next(&p, hrr_pickle_first(&p, (int)p.root));
	ok(hrr_pickle_is(&p, hrr_pickle_item(&p, c), "k"), "what was put is got");
	hrr_pickle_release(&p);

	is(read_bytes(BYTES("\x80\x05}(\x8c\x01k\x4b\x01\x8c\x01k\x4b\x02u.")), 0, "a key twice");
	ok(hrr_pickle_u64(&p, hrr_pickle_get(&p, (int)p.root, "k"), &v) == 0 && v == 2,
	   "the last one counts, as in Python");
	hrr_pickle_release(&p);

	is(read_bytes(BYTES("\x80\x02(\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\0"
			    "\x8a\x09\0\0\0\0\0\0\0\0\x01\x8a\x08\0\0\0\0\0\0\0\x80\x8a\0"
			    "\x8a\x09\xff\xff\xff\xff\xff\xff\xff\x7f\xff\x8b\x01\0\0\0\x05"
			    "\x8a\x02\xff\xfft.")),
	   0, "integers");
	static const struct {
		bool negative, wide;
		uint64_t v;
	} want[] = {{0, 0, UINT64_MAX}, {0, 1, 0}, {1, 0, 1ULL << 63}, {0, 0, 0},
		    {1, 1, 0},		{0, 0, 5}, {1, 0, UINT64_MAX}};
	c = hrr_pickle_first(&p, (int)p.root);
	for (size_t i = 0; i < 7; i++, c = hrr_pickle_next(&p, c)) {
		const struct hrr_pickle_node *x = hrr_pickle_at(&p, hrr_pickle_item(&p, c));
		ok(x->negative == want[i].negative && x->wide == want[i].wide &&
		       (x->wide || x->v == want[i].v),
		   "integer %zu", i);
	}
	hrr_pickle_release(&p);

	/* A list that holds itself, as a BINGET makes it. */
	is(read_bytes(BYTES("\x80\x02]q\0h\0a.")), 0, "a cycle is only data");
	is(hrr_pickle_item(&p, hrr_pickle_first(&p, (int)p.root)), p.root, "found in itself");
	hrr_pickle_release(&p);
	is(read_bytes(BYTES("\x80\x02]q\x05h\x05\x87.")), -EINVAL, "too few for TUPLE3");
	is(read_bytes(BYTES("\x80\x03]q\x03q\x03\x94h\x01\x86.")), 0,
	   "MEMOIZE counts what was put");
	hrr_pickle_release(&p);
	ok(hrr_pickle_str(&p, -1, &len) == NULL, "nothing is no string");
}

static void refused(void)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *what;
	} t[] = {
	    {BYTES(""), "not a pickle of protocol 2 or later: no PROTO at its start"},
	    {BYTES("(lp0\n."), "not a pickle of protocol 2 or later: no PROTO at its start"},
	    {BYTES("\x80\x06N."), "pickle protocol 6 is not read: 2 to 5 are"},
	    {BYTES("\x80\x01N."), "pickle protocol 1 is not read: 2 to 5 are"},
	    {BYTES("\x80\x02N"), "pickle cut short: no STOP in its 3 bytes"},
	    {BYTES("\x80\x02N.N"), "bad pickle: 1 bytes behind its end at byte 4"},
	    {BYTES("\x80\x02\xff"), "bad pickle: 0xff at byte 2 is no opcode"},
	    {BYTES("\x80\x02N\x80\x02."),
	     "bad pickle: PROTO at byte 3: only the first opcode may be this one"},
	    {BYTES("\x80\x02"
		   "cos\nsystem\n(X\x02\0\0\0lstR."),
	     "pickle refused: opcode GLOBAL at byte 2 has no place in a file of data"},
	    {BYTES("\x80\x04\x8c\x02os\x8c\x06system\x93."),
	     "pickle refused: opcode STACK_GLOBAL at byte 14 has no place in a file of data"},
	    {BYTES("\x80\x02)R."),
	     "pickle refused: opcode REDUCE at byte 3 has no place in a file of data"},
	    {BYTES("\x80\x02."),
	     "bad pickle: STOP at byte 2: the stack does not hold just one value"},
	    {BYTES("\x80\x02NN."),
	     "bad pickle: STOP at byte 4: the stack does not hold just one value"},
	    {BYTES("\x80\x02N(."),
	     "bad pickle: STOP at byte 4: the stack does not hold just one value"},
	    {BYTES("\x80\x02t."), "bad pickle: TUPLE at byte 2: no mark on the stack"},
	    {BYTES("\x80\x02Ne."), "bad pickle: APPENDS at byte 3: no mark on the stack"},
	    {BYTES("\x80\x02(e."), "bad pickle: APPENDS at byte 3: too little on the stack"},
	    {BYTES("\x80\x02]Na(a."), "bad pickle: APPEND at byte 6: too little on the stack"},
	    {BYTES("\x80\x02]N](a."), "bad pickle: APPEND at byte 6: too little on the stack"},
	    {BYTES("\x80\x02}Na."), "bad pickle: APPEND at byte 4: not into a list"},
	    {BYTES("\x80\x02]NNs."), "bad pickle: SETITEM at byte 5: not into a dict"},
	    {BYTES("\x80\x02}(Nu."), "bad pickle: SETITEMS at byte 5: a key without a value"},
	    {BYTES("\x80\x02q\0."), "bad pickle: BINPUT at byte 2: nothing on the stack"},
	    {BYTES("\x80\x02Nr\xff\xff\xff\x7f."),
	     "bad pickle: LONG_BINPUT at byte 3: a number larger than the file"},
	    {BYTES("\x80\x02h\0."), "bad pickle: BINGET at byte 2: nothing was put there"},
	    {BYTES("\x80\x02Nq\x02h\x01\x86."),
	     "bad pickle: BINGET at byte 5: nothing was put there"},
	    {BYTES("\x80\x02j\xff\xff\xff\xff."),
	     "bad pickle: LONG_BINGET at byte 2: nothing was put there"},
	    {BYTES("\x80\x02X\xff\xff\xff\xff."),
	     "bad pickle: BINUNICODE at byte 2: the file ends in it"},
	    {BYTES("\x80\x02\x8d\xff\xff\xff\xff\xff\xff\xff\xff."),
	     "bad pickle: BINUNICODE8 at byte 2: the file ends in it"},
	    {BYTES("\x80\x02\x8b\xff\xff\xff\xff."),
	     "bad pickle: LONG4 at byte 2: the file ends in it"},
	    {BYTES("\x80\x02\x8a\x03\0."), "bad pickle: LONG1 at byte 2: the file ends in it"},
	    {BYTES("\x80\x02J\0\0."), "bad pickle: BININT at byte 2: the file ends in it"},
	    {BYTES("\x80\x04\x95\x03\0\0\0\0\0\0\0N."),
	     "bad pickle: FRAME at byte 2: the file ends in the frame"},
	};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		d.what[0] = '\0';
		if (ok(read_bytes(t[i].bytes, t[i].n) == -EINVAL, "refused: %s", t[i].what))
			is_str(d.what, t[i].what, "and said");
		ok(p.nodes.data == NULL && p.cells.data == NULL, "nothing is kept");
	}
	is(hrr_pickle_read(&p, NULL, HRR_PICKLE_MAX + 1, &d), -E2BIG, "a file over the limit");
}

int main(void)
{
	good();
	refused();
	return done_testing();
}
