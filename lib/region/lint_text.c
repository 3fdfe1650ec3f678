#include <inttypes.h>

#include "lib/region/lint.h"

const char *hrr_lint_word(enum hrr_lint_kind kind)
{
	static const char *const words[] = {"unknown", "stale", "hidden", "payload", "near"};

	return words[kind];
}

int hrr_lint_text(const struct hrr_lint_finding *f, struct hrr_buf *b)
{
	static const char *const texts[] = {
	    [HRR_LINT_UNKNOWN] = "points to memory that nobody declared",
	    [HRR_LINT_STALE] = "points to memory that was given back",
	    [HRR_LINT_HIDDEN] = "is no declared pointer, but an address",
	    [HRR_LINT_PAYLOAD] = "is an address",
	    [HRR_LINT_NEAR] = "could be an address: recorded memory is or was near",
	};
	const struct hrr_record *rec = f->rec;
	const struct hrr_json *j = &rec->json;
	char text[512];
	size_t len;

	hrr_mask(text, sizeof text, rec->api, rec->api_len);
	int bad = hrr_buf_addf(b, "%d%% %s: call %" PRIu64 " %s", f->confidence,
			       hrr_lint_word(f->kind), rec->seq, text);
	const char *kernel = hrr_json_raw(j, hrr_json_get(j, f->kernel, "name"), &len);
	if (kernel != NULL) {
		hrr_mask(text, sizeof text, kernel, len);
		bad |= hrr_buf_addf(b, " of %s", text);
	}
	if (f->in_payload)
		bad |= hrr_buf_addf(b, ": payload byte %" PRIu64, f->at);
	else if (f->arg >= 0)
		bad |= hrr_buf_addf(b, ": argument %" PRId64 " byte %" PRIu64, f->arg, f->at);
	else
		bad |= hrr_buf_addf(b, ": arguments byte %" PRIu64, f->at);
	bad |= hrr_buf_addf(b, ": 0x%" PRIx64 " %s", f->addr, texts[f->kind]);
	if (f->owner != NULL)
		bad |= hrr_buf_addf(b, " in %s 0x%" PRIx64 " + %" PRIu64,
				    hrr_thing_word(f->owner->kind), f->owner->base, f->owner->size);
	if (f->count > 1)
		bad |= hrr_buf_addf(b, " (and %" PRIu64 " more)", f->count - 1);
	return bad;
}
