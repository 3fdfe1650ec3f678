/* Programs: decoded code of one code object, made when it is first reached. */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/emu/isa/internal.h"

/* Straight code is decoded to its end; a run is cut here and linked. */
#define MAX_RUN 2048
#define CHUNK ((size_t)64 << 10)
#define CONST_HASH 1024
#define MAX_TEXT 8

struct chunk {
	struct chunk *next;
	size_t used, size;
	/* data follows */
};

struct constant {
	struct constant *next;
	u64 value;
	bool wide;
	const u32 *row;
};

struct isa_code {
	struct isa_program *prog;
	struct isa_disasm *disasm;
	pthread_mutex_t lock;
	const struct isa_inst *_Atomic *at; /* by dword of the image */
	struct chunk *chunks;
	struct constant *constants[CONST_HASH];
	u32 n_inst;
	unsigned lanes;
};

struct isa_program {
	enum isa_arch arch;
	const u8 *image;
	size_t size;
	u64 base;
	/* executable parts of the image; the whole when it has no ELF header */
	struct {
		u64 at, size;
	} text[MAX_TEXT];
	unsigned n_text;
	pthread_mutex_t lock;
	struct isa_code *code[2]; /* by wave size: 32, 64 */
};

static void *chunk_alloc(struct isa_code *c, size_t size, size_t align)
{
	struct chunk *k = c->chunks;
	size_t head = (sizeof(*k) + 63) / 64 * 64, at;

	if (k) {
		at = (k->used + align - 1) / align * align;
		if (at + size <= k->size) {
			k->used = at + size;
			return (u8 *)k + at;
		}
	}
	at = head + size > CHUNK ? head + size : CHUNK;
	at = (at + 63) / 64 * 64;
	k = aligned_alloc(64, at);
	if (!k)
		return NULL;
	memset(k, 0, at);
	k->size = at;
	k->used = head + size;
	k->next = c->chunks;
	c->chunks = k;
	return (u8 *)k + head;
}

void *isa_code_alloc(struct isa_code *code, size_t size)
{
	return chunk_alloc(code, size, 64);
}

const u32 *isa_code_const(struct isa_code *code, u64 value, bool wide)
{
	const u64 h = (value ^ value >> 29 ^ wide) * 0x9e3779b97f4a7c15ull >> 54;
	struct constant **const head = &code->constants[h % CONST_HASH], *c;
	u32 *row;

	for (c = *head; c; c = c->next)
		if (c->value == value && c->wide == wide)
			return c->row;
	c = chunk_alloc(code, sizeof(*c), 16);
	row = chunk_alloc(code, wide ? 2 * ISA_ROW : ISA_ROW, 64);
	if (!c || !row)
		return NULL;
	for (unsigned i = 0; i < ISA_LANES; i++) {
		row[i] = (u32)value;
		if (wide)
			row[i + ISA_LANES] = (u32)(value >> 32);
	}
	*c = (struct constant){.next = *head, .value = value, .wide = wide, .row = row};
	*head = c;
	return row;
}

/*
 * Only executable segments are decoded: the disassembler is not made for
 * arbitrary bytes, and a jump into data is a fault anyway. A loaded image
 * begins with its ELF header.
 */
static void find_text(struct isa_program *p)
{
	Elf64_Ehdr e;
	Elf64_Phdr ph;

	if (p->size >= sizeof(e)) {
		memcpy(&e, p->image, sizeof(e));
		if (!memcmp(e.e_ident, ELFMAG, SELFMAG) && e.e_phentsize == sizeof(ph))
			for (unsigned i = 0; i < e.e_phnum && p->n_text < MAX_TEXT; i++) {
				const u64 at = e.e_phoff + (u64)i * sizeof(ph);

				if (at > p->size || p->size - at < sizeof(ph))
					break;
				memcpy(&ph, p->image + at, sizeof(ph));
				if (ph.p_type == PT_LOAD && (ph.p_flags & PF_X)) {
					p->text[p->n_text].at = ph.p_vaddr;
					p->text[p->n_text++].size = ph.p_memsz;
				}
			}
	}
	if (!p->n_text) {
		p->text[0].size = p->size;
		p->n_text = 1;
	}
}

int isa_program_new(enum isa_arch arch, const void *image, size_t size, u64 base,
		    struct isa_program **ret_prog, struct hrr_diag *diag)
{
	struct isa_program *p;
	char why[200];

	if ((unsigned)arch >= ISA_ARCH_COUNT)
		return hrr_diag_set(diag, -EINVAL, "unknown architecture");
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->arch = arch;
	p->image = image;
	p->size = size;
	p->base = base;
	find_text(p);
	pthread_mutex_init(&p->lock, NULL);
	/* the disassembler now, so that a missing one is told here */
	if (!isa_program_code(p, isa_arch_wave_size(arch), why, sizeof(why))) {
		const int err = strstr(why, "cannot load") || strstr(why, "has no") ? -ENOENT
				: strstr(why, "memory")				    ? -ENOMEM
										    : -EINVAL;
		isa_program_free(p);
		return hrr_diag_set(diag, err, "%s", why);
	}
	isa_variant();
	*ret_prog = p;
	return 0;
}

static void code_free(struct isa_code *c)
{
	if (!c)
		return;
	while (c->chunks) {
		struct chunk *const next = c->chunks->next;
		free(c->chunks);
		c->chunks = next;
	}
	isa_disasm_free(c->disasm);
	pthread_mutex_destroy(&c->lock);
	free((void *)(uintptr_t)c->at);
	free(c);
}

void isa_program_free(struct isa_program *prog)
{
	if (!prog)
		return;
	code_free(prog->code[0]);
	code_free(prog->code[1]);
	pthread_mutex_destroy(&prog->lock);
	free(prog);
}

enum isa_arch isa_program_arch(const struct isa_program *prog)
{
	return prog->arch;
}

const void *isa_program_bytes(const struct isa_program *prog, u64 addr, u64 size)
{
	if (addr < prog->base || addr - prog->base > prog->size ||
	    size > prog->size - (addr - prog->base))
		return NULL;
	return prog->image + (addr - prog->base);
}

struct isa_code *isa_program_code(struct isa_program *prog, unsigned lanes, char *why, size_t size)
{
	struct isa_code **const slot = &prog->code[lanes == 64], *c;
	struct hrr_diag diag = {.what = "out of memory"};

	pthread_mutex_lock(&prog->lock);
	if (!*slot) {
		c = calloc(1, sizeof(*c));
		if (c) {
			c->prog = prog;
			c->lanes = lanes;
			pthread_mutex_init(&c->lock, NULL);
			c->at = calloc(prog->size / 4 + 1, sizeof(*c->at));
			if (!c->at || isa_disasm_new(prog->arch, lanes, &c->disasm, &diag)) {
				code_free(c);
				c = NULL;
			}
		}
		if (!c)
			snprintf(why, size, "%s", diag.what);
		*slot = c;
	}
	c = *slot;
	pthread_mutex_unlock(&prog->lock);
	return c;
}

u32 isa_code_count(struct isa_code *code)
{
	u32 n;

	pthread_mutex_lock(&code->lock);
	n = code->n_inst;
	pthread_mutex_unlock(&code->lock);
	return n;
}

unsigned isa_code_lanes(const struct isa_code *code)
{
	return code->lanes;
}

int isa_jump(struct isa_wave *w, const struct isa_inst *in)
{
	const struct isa_inst *t = atomic_load_explicit(&in->target, memory_order_acquire);

	if (!t) {
		t = isa_resolve(w, in, in->target_pc);
		if (!t)
			return NEXT_STOP;
	}
	w->in = t;
	return NEXT_JUMP;
}

static const struct isa_inst *_Atomic *slot_of(struct isa_code *c, u64 pc)
{
	const struct isa_program *const p = c->prog;

	if (pc < p->base || pc - p->base + 4 > p->size || (pc - p->base) % 4)
		return NULL;
	for (unsigned i = 0; i < p->n_text; i++)
		if (pc - p->base >= p->text[i].at && pc - p->base - p->text[i].at < p->text[i].size)
			return &c->at[(pc - p->base) / 4];
	return NULL;
}

static void link_to(struct isa_inst *in, u64 pc, const struct isa_inst *target)
{
	*in =
	    (struct isa_inst){.run = isa_jump, .fn = isa_jump, .flags = F_LINK | F_CTRL, .pc = pc};
	in->target_pc = pc;
	atomic_init(&in->target, target);
}

/* Decodes from pc to the end of straight code. Under the lock. */
static const struct isa_inst *decode_run(struct isa_code *c, u64 pc, char *why, size_t size)
{
	struct isa_program *const p = c->prog;
	struct isa_inst *const list = aligned_alloc(64, (MAX_RUN + 1) * sizeof(*list));
	struct isa_inst *out = NULL;
	size_t n = 0;
	char text[512];

	if (!list) {
		snprintf(why, size, "out of memory");
		return NULL;
	}
	for (;; n++) {
		const struct isa_inst *_Atomic *const slot = slot_of(c, pc);
		struct isa_inst *const in = &list[n];
		size_t used;

		memset((void *)in, 0, sizeof(*in));
		if (!slot) {
			if (n == 0) {
				snprintf(why, size, "jump outside the code object");
				free(list);
				return NULL;
			}
			link_to(in, pc, NULL); /* fails when it is reached */
			n++;
			break;
		}
		if (n == MAX_RUN || *slot) {
			link_to(in, pc, *slot);
			n++;
			break;
		}
		used = isa_disasm_text(c->disasm, p->image + (pc - p->base),
				       p->size - (pc - p->base), pc, text, sizeof(text));
		in->pc = pc;
		in->id = c->n_inst++;
		in->size = used ? (u8)used : 4;
		memcpy(in->raw, p->image + (pc - p->base), used > 12 ? 12 : used ? used : 4);
		if (!used)
			snprintf(text, sizeof(text), "not an instruction: 0x%08x",
				 (unsigned)in->raw[0]);
		if (isa_build(c, p->arch, text, in) < 0) {
			snprintf(why, size, "out of memory");
			free(list);
			return NULL;
		}
		pc += in->size;
		if (in->flags & F_CTRL) {
			n++;
			break;
		}
	}
	out = isa_code_alloc(c, n * sizeof(*out));
	if (out) {
		memcpy(out, list, n * sizeof(*out));
		for (size_t i = 0; i < n; i++)
			if (!(out[i].flags & F_LINK))
				atomic_store_explicit(slot_of(c, out[i].pc), &out[i],
						      memory_order_release);
	} else {
		snprintf(why, size, "out of memory");
	}
	free(list);
	return out;
}

const struct isa_inst *isa_code_at(struct isa_code *code, u64 pc, char *why, size_t size)
{
	const struct isa_inst *_Atomic *const slot = slot_of(code, pc);
	const struct isa_inst *in;

	if (!slot) {
		snprintf(why, size, "jump to 0x%llx, outside its code", (unsigned long long)pc);
		return NULL;
	}
	in = atomic_load_explicit(slot, memory_order_acquire);
	if (in)
		return in;
	pthread_mutex_lock(&code->lock);
	in = *slot ? *slot : decode_run(code, pc, why, size);
	pthread_mutex_unlock(&code->lock);
	return in;
}

const struct isa_inst *isa_resolve(struct isa_wave *w, const struct isa_inst *in, u64 pc)
{
	char why[160] = "out of memory";
	const struct isa_inst *const t = isa_code_at(w->t->code, pc, why, sizeof(why));

	if (!t) {
		if (strstr(why, "memory"))
			isa_fail(w, in, ISA_NOMEM, "%s", why);
		else
			isa_fault_at(w, in, ISA_FETCH, ISA_GLOBAL, pc, 4, isa_exec(w), why);
		return NULL;
	}
	if (in->target_pc == pc) {
		struct isa_inst *const mine = (struct isa_inst *)(uintptr_t)in;
		atomic_store_explicit(&mine->target, t, memory_order_release);
	}
	return t;
}

void isa_inst_text(struct isa_code *code, const struct isa_inst *in, char *text, size_t size)
{
	const struct isa_program *const p = code->prog;
	char buf[512], *s = buf;

	text[0] = '\0';
	if (!slot_of(code, in->pc))
		return;
	pthread_mutex_lock(&code->lock);
	isa_disasm_text(code->disasm, p->image + (in->pc - p->base), p->size - (in->pc - p->base),
			in->pc, buf, sizeof(buf));
	pthread_mutex_unlock(&code->lock);
	while (*s == '\t' || *s == ' ')
		s++;
	snprintf(text, size, "%.*s", (int)size - 1, s);
	for (s = text; *s; s++)
		if (*s == '\t')
			*s = ' ';
}
