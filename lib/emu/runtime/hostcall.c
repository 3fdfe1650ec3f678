#include "lib/emu/runtime/hostcall.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/emu/runtime/emu.h"
#include "lib/emu/runtime/mem.h"

/*
 * Layout and protocol of the device library (ockl hostcall): two lists of packets
 * by tagged index, a header and 64 lanes of eight words for each. A wave takes a
 * packet off the free list, fills it, sets READY, pushes it on the ready list and
 * rings; we answer in words 0 and 1 of each lane and clear READY.
 */
#define PACKETS 8192u
#define LANES 64u
#define WORDS 8u
#define READY 1u

/* What kernels write is not trusted: open messages, words of one and of all, text of one. */
#define MAX_MESSAGES 65536u
#define MAX_WORDS ((size_t)1 << 20)
#define MAX_ALL_WORDS ((size_t)1 << 24)
#define MAX_TEXT ((size_t)16 << 20)
#define MAX_PIECES 65536u /* of memory handed to kernels */

struct header {
	uint64_t next, lanes;
	uint32_t service, control;
};
struct buffer {
	uint64_t headers, payloads, doorbell, free_list, ready_list, index_mask;
};
struct signal { /* amd_signal_t, as far as the device library looks */
	int64_t kind, value;
	uint64_t mailbox;
	uint32_t event_id, reserved;
};

enum { SERVICE_FUNCTION = 1, SERVICE_PRINTF = 2, SERVICE_MEMORY = 3 };
enum { BEGIN = 1, END = 2 }; /* descriptor of a message: flags, words at bit 5, id at bit 8 */

struct message {
	uint64_t *words; /* owned */
	size_t n;
	bool used;
};

struct hostcall {
	int device;
	struct range *range;
	struct buffer *buffer;
	struct header *headers;
	uint64_t *payloads;
	pthread_mutex_t lock;
	struct message *messages; /* owned; by id */
	size_t n_messages, first_free;
	size_t n_words; /* of all */
	unsigned n_pieces;
};
static struct hostcall *calls[EMU_MAX_DEVICES];

static pthread_mutex_t listen_lock = PTHREAD_MUTEX_INITIALIZER;
static void (*on_print)(void *self, const char *text, size_t n, int error);
static void *on_print_self;

struct hostcall *hostcall_get(int device)
{
	if (calls[device] != NULL)
		return calls[device];
	const uint64_t fixed = 256, headers = PACKETS * sizeof(struct header);
	struct hostcall *h = calloc(1, sizeof *h);
	if (h == NULL ||
	    mem_new(RANGE_LAUNCH, device, fixed + headers + PACKETS * LANES * WORDS * 8ull, 0, NULL,
		    &h->range) != hipSuccess) {
		free(h);
		return NULL;
	}
	unsigned char *host = h->range->host;
	uint64_t base = h->range->base;
	h->device = device;
	h->buffer = (struct buffer *)(void *)host;
	h->headers = (struct header *)(void *)(host + fixed);
	h->payloads = (uint64_t *)(void *)(host + fixed + headers);
	pthread_mutex_init(&h->lock, NULL);
	struct signal *s = (struct signal *)(void *)(host + 64);
	memset(host, 0, fixed + headers);
	s->kind = 1;
	s->mailbox = base + 128; /* so that it sends the message that rings us */
	s->event_id = 1;
	/* Index 0 is used too, under a tag, because a list ends with 0. */
	uint64_t next = PACKETS;
	for (uint32_t i = 1; i < PACKETS; i++) {
		h->headers[i].next = next;
		next = i;
	}
	*h->buffer = (struct buffer){.headers = base + fixed,
				     .payloads = base + fixed + headers,
				     .doorbell = base + 64,
				     .free_list = next,
				     .index_mask = PACKETS - 1};
	calls[device] = h;
	return h;
}

uint64_t hostcall_address(const struct hostcall *h)
{
	return h->range->base;
}

/* --- printf ---------------------------------------------------------------------- */

struct args {
	const uint64_t *at, *end;
};

static uint64_t take(struct args *a)
{
	return a->at < a->end ? *a->at++ : 0;
}

/* A string packed in words, ended by NUL; its length. */
static const char *take_string(struct args *a, size_t *ret_n)
{
	const char *s = (const char *)a->at;
	size_t room = (size_t)(a->end - a->at) * 8;
	size_t n = strnlen(s, room);

	a->at += n < room ? n / 8 + 1 : room / 8;
	*ret_n = n;
	return s;
}

/* The format of one conversion: flags, width, precision, with '*' already filled in. */
struct spec {
	char flags[8];
	int width, precision; /* -1: none */
	int length;	      /* -2 hh, -1 h, 0, 1 l and longer */
	char conversion;
};

static const char *read_spec(const char *p, const char *end, struct spec *s, struct args *a)
{
	size_t n = 0;

	*s = (struct spec){.width = -1, .precision = -1};
	for (; p < end && *p != '\0' && strchr("-+ #0", *p) != NULL; p++)
		if (n < sizeof s->flags - 1)
			s->flags[n++] = *p;
	if (p < end && *p == '*') {
		s->width = (int)take(a);
		if (s->width < 0) { /* as in C: a minus flag */
			s->width = s->width == INT32_MIN ? 0 : -s->width;
			if (n < sizeof s->flags - 1)
				s->flags[n++] = '-';
		}
		p++;
	} else {
		for (; p < end && *p >= '0' && *p <= '9'; p++)
			s->width = (s->width < 0 ? 0 : s->width) * 10 % 100000 + (*p - '0');
	}
	if (p < end && *p == '.') {
		s->precision = 0;
		if (++p < end && *p == '*') {
			s->precision = (int)take(a);
			p++;
		} else {
			for (; p < end && *p >= '0' && *p <= '9'; p++)
				s->precision = s->precision * 10 % 100000 + (*p - '0');
		}
	}
	for (; p < end && *p != '\0' && strchr("hlLjztq", *p) != NULL; p++)
		s->length += *p == 'h' ? -1 : 2;
	if (s->width > 65536)
		s->width = 65536;
	if (s->precision > 65536)
		s->precision = 65536;
	s->conversion = p < end ? *p++ : '\0';
	return p;
}

static int64_t signed_arg(uint64_t v, int length)
{
	switch (length) {
	case -2:
		return (signed char)v;
	case -1:
		return (short)v;
	case 0:
		return (int)v;
	}
	return (int64_t)v;
}

static uint64_t unsigned_arg(uint64_t v, int length)
{
	switch (length) {
	case -2:
		return (unsigned char)v;
	case -1:
		return (unsigned short)v;
	case 0:
		return (unsigned)v;
	}
	return v;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static int convert(struct hrr_buf *out, const struct spec *s, struct args *a)
{
	char format[64];
	int n = snprintf(format, sizeof format, "%%%s", s->flags);

	if (s->width >= 0)
		n += snprintf(format + n, sizeof format - (size_t)n, "%d", s->width);
	if (s->precision >= 0)
		n += snprintf(format + n, sizeof format - (size_t)n, ".%d", s->precision);
	char *end = format + n;
	double d;
	uint64_t v;
	const char *str;
	size_t len;
	int rc;
	switch (s->conversion) {
	case '%':
		return hrr_buf_addc(out, '%');
	case 'd':
	case 'i':
		memcpy(end, "lld", 4);
		return hrr_buf_addf(out, format, (long long)signed_arg(take(a), s->length));
	case 'u':
	case 'x':
	case 'X':
	case 'o':
		snprintf(end, 8, "ll%c", s->conversion);
		return hrr_buf_addf(out, format,
				    (unsigned long long)unsigned_arg(take(a), s->length));
	case 'c':
		memcpy(end, "c", 2);
		return hrr_buf_addf(out, format, (int)take(a));
	case 'p':
		memcpy(end, "p", 2);
		return hrr_buf_addf(out, format, (void *)(uintptr_t)take(a));
	case 'f':
	case 'F':
	case 'e':
	case 'E':
	case 'g':
	case 'G':
	case 'a':
	case 'A':
		snprintf(end, 8, "%c", s->conversion);
		v = take(a);
		memcpy(&d, &v, sizeof d);
		return hrr_buf_addf(out, format, d);
	case 's':
		str = take_string(a, &len);
		char *copy = strndup(str, len); /* the packed one may end without NUL */
		if (copy == NULL)
			return -ENOMEM;
		memcpy(end, "s", 2);
		rc = hrr_buf_addf(out, format, copy);
		free(copy);
		return rc;
	case 'n':
		(void)take(a); /* nothing to write to */
		return 0;
	}
	return 0; /* not a conversion: it vanishes, as on hardware */
}
#pragma GCC diagnostic pop

int hostcall_format(struct hrr_buf *out, const uint64_t *words, size_t n)
{
	struct args a = {words, words + n};
	size_t len;
	const char *p = take_string(&a, &len), *end = p + len;
	int rc = 0;

	while (rc == 0 && p < end) {
		const char *percent = memchr(p, '%', (size_t)(end - p));
		size_t plain = percent != NULL ? (size_t)(percent - p) : (size_t)(end - p);
		struct spec s;
		rc = hrr_buf_add(out, p, plain);
		p += plain;
		if (rc == 0 && percent != NULL) {
			p = read_spec(p + 1, end, &s, &a);
			rc = convert(out, &s, &a);
		}
		if (rc == 0 && out->len > MAX_TEXT)
			rc = -E2BIG;
	}
	return rc;
}

static int64_t print(const struct message *m)
{
	struct hrr_buf b = {0};
	int64_t n = -1;

	if (m->n < 1)
		return n;
	const bool error = (m->words[0] & 1) != 0;
	if (hostcall_format(&b, m->words + 1, m->n - 1) == 0) {
		FILE *const f = error ? stderr : stdout;
		pthread_mutex_lock(&listen_lock);
		if (on_print != NULL) {
			on_print(on_print_self, b.data, b.len, error);
		} else {
			fwrite(b.data, 1, b.len, f);
			fflush(f);
		}
		pthread_mutex_unlock(&listen_lock);
		n = (int64_t)b.len;
	}
	hrr_buf_release(&b);
	return n;
}

__attribute__((visibility("default"))) void
hrr_emu_on_print(void (*fn)(void *self, const char *text, size_t n, int error), void *self)
{
	pthread_mutex_lock(&listen_lock);
	on_print = fn;
	on_print_self = self;
	pthread_mutex_unlock(&listen_lock);
}

bool hostcall_heard(void)
{
	pthread_mutex_lock(&listen_lock);
	bool yes = on_print != NULL;
	pthread_mutex_unlock(&listen_lock);
	return yes;
}

static struct message *message_get(struct hostcall *h, uint64_t desc, uint64_t *ret_id)
{
	uint64_t id = desc >> 8;

	if ((desc & BEGIN) == 0)
		return id < h->n_messages && h->messages[id].used ? (*ret_id = id, &h->messages[id])
								  : NULL;
	for (id = h->first_free; id < h->n_messages && h->messages[id].used; id++)
		;
	if (id == h->n_messages) {
		if (id >= MAX_MESSAGES)
			return NULL;
		struct message *p = realloc(h->messages, (id + 16) * sizeof *p);
		if (p == NULL)
			return NULL;
		memset(p + id, 0, 16 * sizeof *p);
		h->messages = p;
		h->n_messages = id + 16;
	}
	h->messages[id].used = true;
	h->first_free = id + 1;
	*ret_id = id;
	return &h->messages[id];
}

static void message_end(struct hostcall *h, struct message *m)
{
	const size_t id = (size_t)(m - h->messages);

	h->n_words -= m->n;
	free(m->words);
	*m = (struct message){0};
	if (id < h->first_free)
		h->first_free = id;
}

/* One lane's piece of a message; the answer goes to lane[0]. */
static void printf_piece(struct hostcall *h, uint64_t *lane)
{
	uint64_t desc = lane[0], id, n = desc >> 5 & 7;
	struct message *m = message_get(h, desc, &id);
	uint64_t *p = NULL;

	if (m != NULL && m->n + n <= MAX_WORDS && h->n_words + n <= MAX_ALL_WORDS)
		p = realloc(m->words, (m->n + n + 1) * sizeof *p);
	if (p == NULL) {
		if (m != NULL)
			message_end(h, m);
		lane[0] = UINT64_MAX;
		return;
	}
	m->words = p;
	memcpy(m->words + m->n, lane + 1, n * sizeof *p);
	m->n += n;
	h->n_words += n;
	if ((desc & END) == 0) {
		lane[0] = (desc & 0xff & ~(uint64_t)BEGIN) | id << 8;
		return;
	}
	lane[0] = (uint64_t)print(m);
	message_end(h, m);
}

/* malloc and free in kernels, where they come as requests for whole pieces. */
static void memory(struct hostcall *h, uint64_t *lane)
{
	struct range *r;
	uint64_t at = lane[0], size = lane[1];

	lane[0] = 0;
	/* A kernel that frees may be one of many that look: the piece stays until the end. */
	if (at != 0 || h->n_pieces == MAX_PIECES)
		return;
	h->n_pieces++;
	rt_lock();
	if (mem_new(RANGE_DEVICE, h->device, size, 0, "malloc in a kernel", &r) == hipSuccess)
		lane[0] = r->base;
	rt_unlock();
}

static void serve(struct hostcall *h, struct header *p, uint64_t *payload)
{
	static const uint64_t none = UINT64_MAX;

	for (unsigned i = 0; i < LANES; i++) {
		uint64_t *lane = payload + i * WORDS;
		if ((p->lanes >> i & 1) == 0)
			continue;
		if (p->service == SERVICE_PRINTF)
			printf_piece(h, lane);
		else if (p->service == SERVICE_MEMORY)
			memory(h, lane);
		else {
			emu_say("a kernel asked the host for service %u: not supported",
				p->service);
			lane[0] = lane[1] = none;
		}
	}
}

void hostcall_ring(void *self, uint32_t message)
{
	struct hostcall *h = self;

	(void)message;
	pthread_mutex_lock(&h->lock);
	uint64_t at = __atomic_exchange_n(&h->buffer->ready_list, 0, __ATOMIC_ACQUIRE);
	/* A list has each packet once, whatever a kernel made of it. */
	for (unsigned n = 0; at != 0 && n < PACKETS; n++) {
		uint64_t i = at & (PACKETS - 1);
		struct header *p = &h->headers[i];
		uint64_t next = p->next; /* after READY goes, the wave may reuse it */
		serve(h, p, h->payloads + i * LANES * WORDS);
		__atomic_fetch_and(&p->control, ~READY, __ATOMIC_RELEASE);
		at = next;
	}
	pthread_mutex_unlock(&h->lock);
}
