#include <errno.h>
#include <string.h>

#include "lib/base/mask.h"
#include "lib/stream/select.h"
#include "lib/stream/view_private.h"

/* RFC 4180: quoted where it has to be. */
static int field(struct hrr_buf *b, const char *s, size_t len)
{
	int bad = 0;
	bool quote = false;

	for (size_t i = 0; i < len; i++)
		quote = quote || s[i] == '"' || s[i] == ',' || s[i] == '\n' || s[i] == '\r';
	if (!quote)
		return hrr_buf_add(b, s, len);
	bad |= hrr_buf_addc(b, '"');
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '"')
			bad |= hrr_buf_addc(b, '"');
		bad |= hrr_buf_addc(b, s[i]);
	}
	bad |= hrr_buf_addc(b, '"');
	return bad;
}

/* A text of the stream; on a terminal its control characters are masked. */
static int text_field(const struct hrr_view *v, struct hrr_buf *b, const char *s, size_t len)
{
	struct hrr_buf text = {0};

	if (!v->opt.mask)
		return field(b, s, len);
	int bad = hrr_mask_add(&text, s, len);
	if (bad == 0)
		bad = field(b, text.data, text.len);
	hrr_buf_release(&text);
	return bad;
}

static int node_field(const struct hrr_view *v, struct hrr_buf *b, const struct hrr_json *j,
		      int node)
{
	struct hrr_buf text = {0};
	int bad = 0;

	if (node < 0)
		return 0;
	if (hrr_json_str(j, node, &text) == 0)
		bad = text_field(v, b, text.data, text.len);
	else
		bad = text_field(v, b, j->text + j->nodes[node].off, j->nodes[node].len);
	hrr_buf_release(&text);
	return bad;
}

/* A member of each kernel a call launches, with a ';' between them. */
static int kernels_field(struct hrr_view *v, struct hrr_buf *b, const struct hrr_record *rec,
			 const char *key)
{
	const struct hrr_json *j = &rec->json;
	struct hrr_buf text = {0};
	int bad = 0, n = 0;

	for (int k = -1; (k = hrr_kernel_next(j, rec->kernel, k)) >= 0; n++) {
		int node = key != NULL ? hrr_json_get(j, k, key) : -1;
		if (n > 0)
			bad |= hrr_buf_addc(&text, ';');
		int named = key == NULL ? hrr_view_kernel(v, rec, k) : 0;
		if (named < 0)
			bad = named;
		else if (named > 0)
			bad |= hrr_buf_add(&text, v->name.data, v->name.len);
		else if (node >= 0)
			bad |= hrr_buf_add(&text, j->text + j->nodes[node].off, j->nodes[node].len);
	}
	if (text.len > 0)
		bad |= text_field(v, b, text.data, text.len);
	hrr_buf_release(&text);
	return bad;
}

int hrr_view_csv(struct hrr_view *v, const struct hrr_record *rec, struct hrr_buf *b)
{
	const struct hrr_json *j = &rec->json;
	bool call = rec->kind == HRR_REC_CALL;
	uint64_t size;
	int bad = 0;

	if (!v->begun) {
		v->begun = true;
		bad |= hrr_buf_adds(
		    b,
		    "kind,p,seq,t,dur,tid,api,ret,stream,size,dir,kernel,grid,block,addr,blob\r\n");
	}
	if (!call && rec->kind != HRR_REC_OUTPUT)
		return bad ? -ENOMEM : 0;
	bad |= hrr_buf_addf(b, "%s,%u,%llu,", call ? "call" : "output", rec->p,
			    (unsigned long long)rec->seq);
	if (rec->t != HRR_NO_TIME)
		bad |= hrr_buf_addu(b, rec->t);
	bad |= hrr_buf_addc(b, ',');
	if (call)
		bad |= hrr_buf_addu(b, rec->dur);
	bad |= hrr_buf_addf(b, ",%llu,", (unsigned long long)rec->tid);
	if (call)
		bad |= text_field(v, b, rec->api, rec->api_len);
	bad |= hrr_buf_addc(b, ',');
	bad |= node_field(v, b, j, rec->ret);
	bad |= hrr_buf_addc(b, ',');
	bad |= node_field(v, b, j, hrr_launch_stream(j, rec->args, 0));
	bad |= hrr_buf_addc(b, ',');
	if (hrr_record_size(rec, &size))
		bad |= hrr_buf_addu(b, size);
	bad |= hrr_buf_addc(b, ',');
	bad |= node_field(v, b, j, rec->dir);
	bad |= hrr_buf_addc(b, ',');
	bad |= kernels_field(v, b, rec, NULL);
	bad |= hrr_buf_addc(b, ',');
	bad |= kernels_field(v, b, rec, "grid");
	bad |= hrr_buf_addc(b, ',');
	bad |= kernels_field(v, b, rec, "block");
	bad |= hrr_buf_addc(b, ',');
	if (!call) {
		bad |= node_field(v, b, j, hrr_json_get(j, 0, "addr"));
		bad |= hrr_buf_addc(b, ',');
		bad |= node_field(v, b, j, hrr_json_get(j, 0, "blob"));
	} else {
		bad |= hrr_buf_addc(b, ',');
	}
	bad |= hrr_buf_adds(b, "\r\n");
	return bad ? -ENOMEM : 0;
}
