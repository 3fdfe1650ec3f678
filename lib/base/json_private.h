#ifndef HRR_BASE_JSON_PRIVATE_H
#define HRR_BASE_JSON_PRIVATE_H

#include "lib/base/json.h"

/* Room for more nodes. -E2BIG at the limit, -ENOMEM. */
int hrr_json_more(struct hrr_json *j);
/* Scans what jansson printed: any number, any escape, no duplicates to look for. */
int hrr_json_scan_printed(struct hrr_json *j, const char *text, size_t len);
/* Words an -E2BIG of scan. */
int hrr_json_too_big(const struct hrr_json *j, size_t len, struct hrr_diag *diag);
/* Parses with jansson, prints the result compactly into j->own and scans that. */
int hrr_json_parse_general(struct hrr_json *j, const char *text, size_t len, struct hrr_diag *diag);

#endif
