#ifndef HRR_HIP_TABLE_H
#define HRR_HIP_TABLE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hip_ids.h"
#include "hip_proto.h"

/* formats/hip.api as data. Everything here is constant and static. */

enum hrr_kind_of { /* KIND of a parameter or field; see formats/hip.api */
		   HRR_K_INT,
		   HRR_K_UINT,
		   HRR_K_FLAGS,
		   HRR_K_U8,
		   HRR_K_U16,
		   HRR_K_U32,
		   HRR_K_U64,
		   HRR_K_SIZE,
		   HRR_K_FLOAT,
		   HRR_K_DEVICE,
		   HRR_K_ENUM,
		   HRR_K_DIM3,
		   HRR_K_STR,
		   HRR_K_CHARS,
		   HRR_K_BYTES,
		   HRR_K_INTS,
		   HRR_K_DEV,
		   HRR_K_HOST,
		   HRR_K_ADDR,
		   HRR_K_HINT,
		   HRR_K_SYMBOL,
		   HRR_K_STUB,
		   HRR_K_IMAGE,
		   HRR_K_KPARAMS,
		   HRR_K_EXTRA,
		   HRR_K_FN,
		   HRR_K_PTR,
		   HRR_K_STRUCT,
		   HRR_K_VALUE,
		   HRR_K_HANDLE
};

enum hrr_flow {
	HRR_FLOW_IN,
	HRR_FLOW_OUT,
	HRR_FLOW_INOUT,
	HRR_FLOW_GIVEN /* out: the address of an array that stays the run time's */
};
enum hrr_ret {
	HRR_RET_ERROR,
	HRR_RET_VOID,
	HRR_RET_INT,
	HRR_RET_STR,
	HRR_RET_FATBIN,
	HRR_RET_STRUCT
};
enum hrr_sync {
	HRR_SYNC_NONE,
	HRR_SYNC_DEVICE,
	HRR_SYNC_STREAM,
	HRR_SYNC_EVENT,
	HRR_SYNC_QUERY,
	HRR_SYNC_COPY
};
enum hrr_fail { HRR_FAIL_REISSUE, HRR_FAIL_IGNORE, HRR_FAIL_SKIP };
enum hrr_does { /* what a call is to the program's course; see formats/hip.api */
		HRR_DOES_NOTHING,
		HRR_DOES_INIT,
		HRR_DOES_CURRENT,
		HRR_DOES_CAPTURE,
		HRR_DOES_ENDCAPTURE,
		HRR_DOES_ASKCAPTURE,
		HRR_DOES_LAUNCH,
		HRR_DOES_WAITVALUE
};

#define HRR_NO_VALUE INT_MIN
#define HRR_MAJORS 3 /* 5, 6, 7 */

struct hrr_enumerator {
	const char *name;
	int value[HRR_MAJORS]; /* HRR_NO_VALUE where a major lacks it */
};

struct hrr_enum {
	const char *name;
	int n;
	const struct hrr_enumerator *values;
};

struct hrr_struct;
struct hrr_field {
	const char *name; /* nested fields with a dot: "srcPos.x" */
	uint8_t kind, handle;
	uint16_t offset;
	uint16_t count; /* chars, bytes, ints: elements */
	const struct hrr_enum *en;
	/* Of a pointer (kind PTR) to an array: what its elements are. handle and en are theirs too.
	 */
	const struct hrr_struct *st;
	uint8_t elem; /* kind */
	int8_t by;    /* index of the field that counts them, or -1: no such pointer */
};

struct hrr_struct {
	const char *name;
	uint16_t size; /* bytes */
	uint16_t n;
	const struct hrr_field *fields;
	/* From a layout (hrr_struct_at) on it is another, with fields of the same names; or NULL.
	 */
	uint16_t since;
	const struct hrr_struct *later;
};

struct hrr_param {
	const char *name;
	uint8_t flow, kind, handle;
	int8_t count; /* index of the parameter that holds the number of elements, or -1 */
	const struct hrr_enum *en;
	const struct hrr_struct *st;
};

enum hrr_gives_kind {
	HRR_GIVES_NOTHING,
	HRR_GIVES_ALLOC,   /* memory */
	HRR_GIVES_MAP,	   /* memory, where addresses were reserved */
	HRR_GIVES_RESERVE, /* addresses */
	HRR_GIVES_NAME	   /* an address of memory that is there */
};

/* Memory or addresses a call makes, as places in its args: see lib/hip/made.h. */
struct hrr_gives {
	uint8_t kind;
	int8_t param;	  /* the address's, or the structure's it is in */
	const char *addr; /* "ptr", "pitchedDevPtr.ptr" */
	const char
	    *bytes; /* a product: "size", "pitch*height"; of names also a symbol or host address */
};

struct hrr_api_row {
	const char *name, *symbol;
	const struct hrr_param *params;
	uint8_t n_params, ret, cls, sync, fail, does;
	int8_t release;	 /* parameter released; -1 none, -2 everything */
	uint8_t takes;	 /* an address released: of what; HRR_GIVES_... */
	int8_t records;	 /* event whose earlier place is forgotten, or -1 */
	int8_t varies;	 /* result that is the machine's and not the program's, or -1 */
	uint16_t alters; /* bit per parameter: handles whose meaning it changes */
	uint8_t unit;	 /* bytes that each of its count counts; of a value in memory its size */
	uint8_t major;	 /* first HIP major that has it */
	bool typed;
	bool aside; /* not recorded, and nothing is missing without it */
	struct hrr_gives gives;
	const char *not_recorded; /* why, or NULL: recorded */
	const char *not_played;	  /* why replay refuses it, or NULL */
};

/* A call for graph nodes of one type, or (HRR_NODE_ANY) one that takes a hipGraphNodeParams. */
#define HRR_NODE_ANY (-1)
struct hrr_node_type {
	uint16_t api;
	int16_t type; /* as HIP 6 numbers them */
	uint16_t at;  /* bytes into a hipGraphNodeParams: what the call takes */
};

extern const struct hrr_api_row hrr_api_table[HRR_API_COUNT];
extern const struct hrr_node_type hrr_node_types[]; /* ended by HRR_API_COUNT */
extern const char *const hrr_class_names[HRR_CLASS_COUNT];
extern const char *const hrr_handle_names[HRR_H_COUNT];
extern const struct hrr_enum *const hrr_enums[];     /* ended by NULL */
extern const struct hrr_struct *const hrr_structs[]; /* ended by NULL */

/* Index by name (len bytes), or -1. */
int hrr_api_find(const char *name, size_t len);
/* Index of a parameter by name, or -1. */
int hrr_api_param(enum hrr_api api, const char *name, size_t len);
/* Of a call that makes several launches (on several devices): the parameter that lists them, or -1.
 */
static inline int hrr_api_launches(enum hrr_api api)
{
	const struct hrr_api_row *row = &hrr_api_table[api];

	return row->cls == HRR_CLASS_LAUNCH && row->n_params > 0 &&
		       row->params[0].kind == HRR_K_STRUCT && row->params[0].count >= 0
		   ? 0
		   : -1;
}
/* Enumerator's name for a value in a major (5..7), or NULL. The first name wins where two share a
 * value. */
const char *hrr_enum_name(const struct hrr_enum *en, int major, int value);
/* 0 and the value, or -ENOENT. */
int hrr_enum_value(const struct hrr_enum *en, int major, const char *name, size_t len,
		   int *ret_value);
/* Bytes that a value of a kind (enum hrr_kind_of) takes in memory; 0: it is no scalar. */
size_t hrr_scalar_size(int kind);
/*
 * A structure as it is in a layout: 52 of HIP up to 5.2, 53 from there up to 5.7, 60, 70 of
 * majors 6 and 7. layout / 10 is the major.
 */
const struct hrr_struct *hrr_struct_at(const struct hrr_struct *st, int layout);
/* Fields of the same names, scalars widened or cut; the others of `to` are left as they are. */
void hrr_struct_convert(const struct hrr_struct *to, void *dst, const struct hrr_struct *from,
			const void *src);
/* "hipErrorInvalidValue", or NULL for a number that is none. */
const char *hrr_error_name(int error);
/* Whether a parameter's word is a pointer to a copy (dim3, structure by value). */
static inline bool hrr_param_boxed(const struct hrr_param *p)
{
	return p->flow == HRR_FLOW_IN && p->count < 0 &&
	       (p->kind == HRR_K_DIM3 || p->kind == HRR_K_VALUE);
}

#endif
