#ifndef HRR_STREAM_SELECT_H
#define HRR_STREAM_SELECT_H

#include "lib/stream/record.h"

/*
 * The one selector grammar of all tools (manual page hrr(7), "SELECTORS"):
 *
 *     expr  = all { "or" all }
 *     all   = one { "and" one }
 *     one   = "not" one | "(" expr ")" | term
 *     term  = GLOB                     the call's name
 *           | "@" FAMILY               a family of calls, see hrr_select_families
 *           | KEY OP VALUE             without blanks between them
 *     OP    = "=" | "!=" | "<" | "<=" | ">" | ">="
 *     VALUE = item { "," item }        one of them has to fit; "=" and "!=" only
 *     item  = GLOB | '"' GLOB '"' | NUMBER | FROM ".." TO [ "/" STEP ] | ADDRESS "+" SIZE
 *
 * FROM or TO may be missing.
 * Keys: api kernel ret dir (globs); seq t dur tid p size (numbers; t and dur take ns us ms s,
 * size takes K M G); stream (address or "null"); addr (ranges of addresses: an argument
 * lies in it, or the memory a copy or set touches does).
 */
struct hrr_select;

/* -EINVAL with diag ("bad selector: …"), -ENOMEM. */
int hrr_select_new(struct hrr_select **ret, const char *expr, struct hrr_diag *diag);
void hrr_select_free(struct hrr_select *s);
/* Does a call fit? Records of other kinds never do. Calls come in the order of their stream: of
 * times with a step the first call in each fits, of those the rest of an "and" lets through. */
bool hrr_select_call(struct hrr_select *s, const struct hrr_record *rec);
/* True when only seq, t, dur, tid, p and api are asked for. */
bool hrr_select_head_only(const struct hrr_select *s);

/* A time in ns or a size in bytes as the values above are written, for options. */
bool hrr_select_time(const char *text, uint64_t *ret);
bool hrr_select_size(const char *text, uint64_t *ret);

/* Families and the globs they stand for, for manuals: name, globs separated by blanks; NULL at the
 * end. */
struct hrr_select_family {
	const char *name, *globs;
};
extern const struct hrr_select_family hrr_select_families[];
/* Is the call name (not ended by NUL) of the family? For slicing and summaries. */
bool hrr_select_in_family(const char *family, const char *api, size_t len);

/*
 * More families, of a table this folder does not know: n names, and the index of the one a call
 * is of, or negative. Set once by a program before it makes selectors; borrowed.
 */
void hrr_select_classes(const char *const *names, int n,
			int (*class_of)(const char *api, size_t len));

/* Glob on a span: * ? [a-z] [!a-z], backslash takes the next as it is. */
bool hrr_glob(const char *glob, size_t glob_len, const char *text, size_t len);

/* Bytes a call is about: the first of sizeBytes, size, bytes, count, … in its args (width times
 * height for rectangles); false when it has none. An output's size. */
bool hrr_record_size(const struct hrr_record *rec, uint64_t *ret_size);

/* A set of process and seq pairs, for outputs that follow their call. */
struct hrr_seqs;
struct hrr_seqs *hrr_seqs_new(void);
void hrr_seqs_free(struct hrr_seqs *s);
int hrr_seqs_add(struct hrr_seqs *s, uint32_t p, uint64_t seq); /* -ENOMEM */
bool hrr_seqs_has(const struct hrr_seqs *s, uint32_t p, uint64_t seq);

#endif
