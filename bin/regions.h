#ifndef HRR_BIN_REGIONS_H
#define HRR_BIN_REGIONS_H

#include "bin/tool.h"
#include "bin/tool_source.h"
#include "lib/region/timeline.h"

/* Private to hrr-regions: the command line, and what its commands share. All die on trouble. */
struct regions {
	struct hrr_region region; /* add, del; base and size also of clip */
	const char *archive, *name, *operand;
	bool has_base, has_size, has_t, has_at;
	uint64_t at;
	struct hrr_source_options opt;
	const char *torch, *hrrr;
	uint64_t frames, from, to, confidence;
	bool svg;
	char **operands;
	size_t n_operands;
};

extern struct hrr_diag regions_diag;

struct hrr_source *regions_open(const struct regions *g, const char *operand);
struct hrr_record *regions_next(struct hrr_source *src); /* NULL at the end */

/* Processes of a stream by index: their pids, 0 where no header tells. Zeroed is empty. */
struct regions_pids {
	struct hrr_buf v; /* of uint64_t */
	size_t n;	  /* met */
};
void regions_pids_note(struct regions_pids *p, const struct hrr_record *rec);
uint64_t regions_pid(const struct regions_pids *p, uint32_t index);

/* The commands; each returns an exit code. */
int regions_filter(struct regions *g); /* add and del in a stream */
int regions_extend(struct regions *g); /* add and del in a sidecar */
int regions_list(struct regions *g);
int regions_check(struct regions *g);
int regions_explain(struct regions *g);
int regions_import(struct regions *g);
int regions_export(struct regions *g);
int regions_combine(struct regions *g); /* merge and clip */
int regions_lint(struct regions *g);
int regions_map(struct regions *g);

#endif
