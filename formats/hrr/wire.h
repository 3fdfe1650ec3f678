#ifndef HRR_FORMATS_HRR_WIRE_H
#define HRR_FORMATS_HRR_WIRE_H

#include "lib/base/diag.h"
#include "lib/hip/table.h"

/*
 * Upstream's events.bin (formats/hrr/README.md): numbers of the calls and the
 * layout of their records, both derived from formats/hip.api. Offsets are bytes from
 * the start of the record. Everything is little-endian and unaligned.
 */
#define HRR_UP_MAGIC 0x52524845u   /* "EHRR" on disk */
#define HRR_UP_TRAILER 0x464f4548u /* "HEOF" */
#define HRR_UP_VERSION_MIN 3
#define HRR_UP_VERSION_MAX 8
#define HRR_UP_FILE_HEADER 8
#define HRR_UP_HEADER 32
#define HRR_UP_TRAILER_SIZE 44
#define HRR_UP_MAX_RECORD 67108864u /* bytes; a longer one is torn */
#define HRR_UP_PACKED_RECTS 1u	    /* flag: rectangles stored without the bytes between rows */
#define HRR_UP_TYPE_TRAILER 0xffff
#define HRR_UP_TYPE_REGIONS 0xfffd
#define HRR_UP_COMPILER_CALLS 9	 /* ids that follow the last one of the run time */
#define HRR_UP_COMPILER_BASE 544 /* written; read: inferred */
#define HRR_UP_INLINE_MAX 16	 /* dependencies a record holds */

enum hrr_wire_what {
	HRR_W_IN,    /* what a parameter points to: bytes, u8 present, u32 number (arrays) */
	HRR_W_BYTES, /* bytes that belong to a parameter */
	HRR_W_U64,
	HRR_W_HASH, /* blob of the bytes read */
	HRR_W_D2H,  /* blob of the bytes written */
	HRR_W_CO,   /* code object, u32 ordinal of the module */
	HRR_W_NODE  /* tail of a kernel node, of variable length */
};

struct hrr_wire_extra {
	const char *field;
	uint8_t what, since; /* since: first version that has it */
	int8_t param;	     /* -1: none */
	uint16_t size;	     /* bytes */
	uint16_t elem;	     /* bytes of an element; 0: no array */
	const char *st;	     /* structure where it is not the parameter's; NULL */
};

struct hrr_wire_row {
	int16_t id, id3;	    /* -1: none */
	bool compiler, launch;	    /* id counts from the compiler base; record has no fixed form */
	uint32_t wide, wide5, none; /* bit per parameter */
	uint8_t n;
	const struct hrr_wire_extra *extra;
};

const struct hrr_wire_row *hrr_wire_row(enum hrr_api api);
/*
 * Number of a call: base is the first of the compiler's (version 5 up; before
 * that they come first), -1: not known. -1 where there is none.
 */
int hrr_wire_api(int version, int base, int type);
int hrr_wire_id(int version, int base, enum hrr_api api);

#define HRR_LAYOUT_PARAMS 16
#define HRR_LAYOUT_EXTRAS 8

struct hrr_layout {
	uint32_t size;		 /* of the fixed part; a node's tail follows */
	uint16_t ret, ret_width; /* ret_width 0: no return value */
	uint16_t at[HRR_LAYOUT_PARAMS];
	uint8_t width[HRR_LAYOUT_PARAMS];  /* 0: not in the record */
	uint16_t extra[HRR_LAYOUT_EXTRAS]; /* 0: not in this version */
	bool tail;			   /* a kernel node's */
};

/* The fixed form (of a launch too). -ENOENT: parameters not described. */
int hrr_layout_of(enum hrr_api api, int version, struct hrr_layout *ret);
/* The structure that an extra's bytes hold, or NULL. */
const struct hrr_struct *hrr_wire_struct(enum hrr_api api, const struct hrr_wire_extra *x);

static inline uint16_t hrr_le16(const unsigned char *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}
static inline uint32_t hrr_le32(const unsigned char *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t hrr_le64(const unsigned char *p)
{
	return hrr_le32(p) | (uint64_t)hrr_le32(p + 4) << 32;
}

#endif
