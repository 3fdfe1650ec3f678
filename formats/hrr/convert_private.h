#ifndef HRR_FORMATS_HRR_CONVERT_PRIVATE_H
#define HRR_FORMATS_HRR_CONVERT_PRIVATE_H

#include <limits.h>
#include <string.h>

#include "formats/hrr/convert.h"
#include "formats/hrr/manifest.h"
#include "formats/hrrr/hrrr.h"
#include "lib/base/digits.h"
#include "lib/base/json.h"
#include "lib/base/range.h"

#define KEY_ROOM 16u /* see put_key_text */

/* How a parameter of a call is written, worked out once per call and version. */
enum op_code {
	OP_ADDR,     /* "0x…" */
	OP_OUT_ADDR, /* what a call produced; 0: null */
	OP_I32,
	OP_U32,
	OP_U64,
	OP_F32,
	OP_ENUM,
	OP_DIM3,
	OP_SLOW /* whatever needs a second look */
};

/* A parameter that a launch record keeps: see hrr_launch_param. */
struct launch_op {
	uint8_t what, key_len;
	const char *key; /* "name": with quotes and colon */
	const struct hrr_struct *st;
};

struct op {
	uint8_t code, width, param, key_len;
	uint16_t at;
	const char *key; /* "name": with quotes and colon */
	const struct hrr_enum *en;
};

enum dir { DIR_NONE, DIR_H2D, DIR_D2H, DIR_D2D, DIR_H2H };

enum shape { /* what the generic reading of parameters does not say */
	     SHAPE_PLAIN,
	     SHAPE_LINEAR, /* dst, src, bytes */
	     SHAPE_2D,	   /* dst, dpitch, src, spitch, width, height */
	     SHAPE_3D,	   /* hipMemcpy3DParms */
	     SHAPE_DRV	   /* hip_Memcpy2D, HIP_MEMCPY3D */
};

struct prog {
	enum hrr_api api;
	const struct hrr_api_row *row;
	const struct hrr_wire_row *wire;
	struct hrr_layout l;
	bool fixed; /* l is known */
	uint8_t n_ops, shape;
	struct op ops[HRR_LAYOUT_PARAMS];
	struct launch_op *launch; /* owned, n_launch: of any call, also where l is not known */
	uint8_t n_launch;
	char head[96 + KEY_ROOM]; /* ,"api":"hipMemcpy" */
	uint8_t head_len;
	uint16_t hash, d2h, co;			      /* offsets, 0: none */
	int8_t dst, src, bytes, kind, stream, symbol; /* parameters, -1: none */
	int8_t made, made_size, gone;		      /* device memory comes, goes */
	char keys[HRR_LAYOUT_PARAMS * 48 + KEY_ROOM];
};

/* A kernel of a code object: where its explicit arguments lie. */
struct known_kernel {
	struct hrr_fnv object;
	char *name; /* owned, with its length */
	char *text; /* owned: ,"kernel":{"name":…,"object":… once that was written; or NULL */
	size_t text_len;
	uint32_t name_len, n;
	bool exact;	   /* from the code object, not from the sizes */
	uint32_t *offsets; /* owned */
	uint32_t *sizes;   /* owned */
};

struct known_var { /* found by the address of its shadow */
	struct known_var *next;
	char name[257];
	struct hrr_fnv object;
	uint64_t size;
};

struct known_module { /* found by its handle */
	struct known_module *next;
	struct hrr_fnv object;
};

#define MAX_CAPTURES 256
#define MAX_SAID 16 /* messages of one kind; the rest is counted */

/* Numbers of a stream go no further. */
static inline bool plausible(uint64_t v)
{
	return v < UINT64_C(1) << 53;
}

/* What is known of the call whose line is in out. */
struct call_head {
	bool there;
	size_t at, api_at, api_len; /* in out; in the line */
	uint64_t seq, t, tid;
};

struct hrr_convert {
	char dir[PATH_MAX];
	struct hrr_convert_options opt;
	struct hrr_events *e;
	struct hrr_events_facts f;
	struct hrr_up_blobs *blobs;
	struct hrr_up_manifest m;
	struct hrr_rrr_list regions;
	size_t next_region;
	int major; /* of HIP: names of enumerators */
	uint64_t t0, t_seen;
	uint64_t seq, outputs, regions_out;
	uint64_t undecoded, unknown; /* said after as many as MAX_SAID */
	uint32_t pid;
	uint32_t modules;
	int state;
	struct hrr_buf out, after;   /* after: the output records of a call */
	struct hrr_buf words, extra; /* members of foreign.words, of foreign */
	struct hrr_buf text;	     /* scratch */
	size_t at;
	struct call_head call;
	bool at_call; /* the line given last is that call's */
	struct prog *progs[HRR_API_COUNT];
	struct hrr_ranges *dev; /* device memory, and segments live at this time */
	uint64_t capturing[MAX_CAPTURES];
	unsigned n_capturing;
	struct known_kernel *kernels;
	size_t n_kernels;
	uint32_t *kernel_slots;
	size_t n_slots;
	struct hrr_ranges *by_var, *by_handle; /* of known_var, known_module */
	struct known_var *vars;		       /* all, owned */
	struct known_module *mods;
	struct hrr_fnv *told; /* blobs whose trouble was said */
	size_t n_told;
};

/* --- writing, without a call per piece ---------------------------------- */
static inline int room(struct hrr_buf *b, size_t n)
{
	return n <= b->cap - b->len ? 0 : hrr_buf_reserve(b, n);
}
/* The caller made room. */
static inline void put_raw(struct hrr_buf *b, const char *s, size_t n)
{
	memcpy(b->data + b->len, s, n);
	b->len += n;
}
#define PUT(b, s) put_raw((b), (s), sizeof(s) - 1)
/* Short texts are copied so many bytes at a time, without a call: whoever owns one has as many
 * more behind it, and whoever takes one made room for them. */
static inline void put_key_text(struct hrr_buf *b, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i += KEY_ROOM)
		memcpy(b->data + b->len + i, s + i, KEY_ROOM);
	b->len += n;
}
static inline void put_dec(struct hrr_buf *b, uint64_t v)
{
	b->len += hrr_dec_put(b->data + b->len, v);
}
static inline void put_hex(struct hrr_buf *b, uint64_t v)
{
	b->data[b->len++] = '"';
	b->len += hrr_addr_put(b->data + b->len, v);
	b->data[b->len++] = '"';
}
/* A number, as hex digits from 2^53 on. */
static inline void put_num(struct hrr_buf *b, uint64_t v)
{
	if (v < UINT64_C(1) << 53)
		put_dec(b, v);
	else
		put_hex(b, v);
}
static inline void put_int(struct hrr_buf *b, int64_t v)
{
	if (v < 0)
		b->data[b->len++] = '-';
	put_dec(b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}
/* Between members: a comma unless the object was just opened. */
static inline void put_comma(struct hrr_buf *b)
{
	char last = b->data[b->len - 1];

	if (last != '{' && last != '[')
		b->data[b->len++] = ',';
}
/* Behind the first member, in merged streams. */
static inline void put_p(struct hrr_buf *b, int64_t p)
{
	if (p < 0)
		return;
	PUT(b, ",\"p\":");
	put_dec(b, (uint64_t)p);
}
/* When and where a record was made. */
static inline void put_when(struct hrr_buf *b, uint64_t t, uint64_t tid)
{
	PUT(b, ",\"t\":");
	put_num(b, t);
	PUT(b, ",\"tid\":");
	put_num(b, tid);
}
static inline uint64_t word(const unsigned char *p, unsigned width)
{
	return width == 4 ? hrr_le32(p) : hrr_le64(p);
}

/* Lines into out. 0 or negative. */
int hrr_put_header(struct hrr_convert *c);
int hrr_put_runtime(struct hrr_convert *c); /* maybe none */
int hrr_put_end(struct hrr_convert *c);	    /* none where the archive was not closed in order */
/* Regions whose time has come. */
int hrr_put_regions_until(struct hrr_convert *c, uint64_t t);
/* A record, and the outputs it delivered. */
int hrr_put_call(struct hrr_convert *c, const struct hrr_event *ev, struct hrr_diag *diag);

struct prog *hrr_prog(struct hrr_convert *c, enum hrr_api api); /* NULL: out of memory */
bool hrr_is_address(unsigned kind);				/* of a parameter's */
bool hrr_is_stream(const struct hrr_param *x);
/* Writes the members of args. What has no place there goes to c->words and c->extra. */
int hrr_put_args(struct hrr_convert *c, const struct prog *p, const struct hrr_event *ev);
int hrr_put_enum(struct hrr_convert *c, struct hrr_buf *b, const struct hrr_enum *en, int64_t v);
int hrr_put_struct(struct hrr_convert *c, const struct hrr_struct *st, const unsigned char *bytes);
int hrr_left_word(struct hrr_convert *c, const char *name, uint64_t v);
/* ,"name": hex of bytes, in c->extra */
int hrr_left_bytes(struct hrr_convert *c, const char *name, const unsigned char *data, size_t n);
/* ,"dir":… ,"blobs":… ,"host":… ,"symbol":… of a call with fixed form; output records go to
 * c->after. */
int hrr_put_bytes(struct hrr_convert *c, const struct prog *p, const struct hrr_event *ev,
		  struct hrr_diag *diag);
/*
 * A launch record, from args on. 1: not decoded, why in *ret_why, and nothing
 * was written.
 */
int hrr_put_launch(struct hrr_convert *c, const struct prog *p, const struct hrr_event *ev,
		   const char **ret_why, struct hrr_diag *diag);
/* ,"kernel":{…} of a kernel node; 1 as above. */
int hrr_put_node(struct hrr_convert *c, const struct prog *p, const struct hrr_event *ev,
		 const char **ret_why, struct hrr_diag *diag);
/* The id of a blob, quoted. *ret_size gets its size (0: missing). Troubles are noted once. */
int hrr_put_blob(struct hrr_convert *c, struct hrr_buf *b, struct hrr_fnv name,
		 const struct hrr_up_rect *rect, uint64_t *ret_size, struct hrr_diag *diag);
/* Takes note of what a call made, before its line is written. */
int hrr_track(struct hrr_convert *c, const struct prog *p, const struct hrr_event *ev);
void hrr_track_release(struct hrr_convert *c);
void hrr_note(struct hrr_convert *c, const char *fmt, ...) HRR_PRINTF(2, 3);
/* The kernel, valid until the next is asked for; where it is exact the offsets are the code
 * object's. NULL: out of memory. */
struct known_kernel *hrr_known_kernel(struct hrr_convert *c, struct hrr_fnv object,
				      const char *name, uint32_t len);
void hrr_kernels_release(struct hrr_convert *c);

#endif
