#include "lib/preload/graph_priv.h"

bool hrr_capturing(uint64_t stream)
{
	pthread_mutex_lock(&hrr_graph_lock);
	bool yes = hrr_graph_capture_of(hrr_graph_member(stream)) != NULL;
	pthread_mutex_unlock(&hrr_graph_lock);
	return yes;
}

void hrr_graph_event(uint64_t event, uint64_t stream, bool wait)
{
	uint64_t key = event | (uint64_t)1 << 63;

	pthread_mutex_lock(&hrr_graph_lock);
	struct hrr_graph_entry *e = hrr_graph_capture_of(wait ? key : hrr_graph_member(stream));
	if (e != NULL)
		hrr_graph_join(e, wait ? hrr_graph_member(stream) : key);
	pthread_mutex_unlock(&hrr_graph_lock);
}

void hrr_capture_copy(struct hrr_call *c, const struct hrr_copy_op *op, enum hrr_dir dir)
{
	pthread_mutex_lock(&hrr_graph_lock);
	struct hrr_graph_entry *e = hrr_graph_capture_of(hrr_graph_member(op->stream));
	struct hrr_graph_item *x = e != NULL ? hrr_graph_add(&e->items) : NULL;
	if (x != NULL)
		*x =
		    (struct hrr_graph_item){.seq = hrr_seq(c), .copy = true, .dir = dir, .op = *op};
	pthread_mutex_unlock(&hrr_graph_lock);
}

void hrr_capture_function(uint64_t stream)
{
	pthread_mutex_lock(&hrr_graph_lock);
	struct hrr_graph_entry *e = hrr_graph_capture_of(hrr_graph_member(stream));
	struct hrr_graph_item *x = e != NULL ? hrr_graph_add(&e->items) : NULL;
	if (x != NULL)
		x->function = true;
	pthread_mutex_unlock(&hrr_graph_lock);
}

void hrr_capture_launch(struct hrr_call *c, const struct hrr_launch_args *l)
{
	struct hrr_graph_item x = {.seq = hrr_seq(c)};

	hrr_graph_kernel(c, l, &x);
	if (x.n_hosts == 0)
		return;
	pthread_mutex_lock(&hrr_graph_lock);
	struct hrr_graph_entry *e = hrr_graph_capture_of(hrr_graph_member(l->stream));
	struct hrr_graph_item *to = e != NULL ? hrr_graph_add(&e->items) : NULL;
	if (to != NULL)
		*to = x;
	pthread_mutex_unlock(&hrr_graph_lock);
}
