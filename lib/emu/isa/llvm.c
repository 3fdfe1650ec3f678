/* The decoder: LLVM's C disassembler, loaded when the first program is made. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/emu/isa/internal.h"

/*
 * The few calls we need, declared here instead of through llvm-c/Disassembler.h:
 * the interface is stable C, and building must not need LLVM's headers.
 */
struct llvm {
	void (*init_info)(void), (*init_mc)(void), (*init_dis)(void);
	void *(*create)(const char *triple, const char *cpu, const char *features, void *info,
			int tag, void *op_info, void *symbol);
	int (*options)(void *dc, uint64_t options);
	void (*dispose)(void *dc);
	size_t (*text)(void *dc, uint8_t *bytes, uint64_t size, uint64_t pc, char *out,
		       size_t out_size);
	int error;
	char why[200];
};

struct isa_disasm {
	struct llvm *lib;
	void *dc;
	/* a later version, asked about what this one does not know (gfx11's half registers); or
	 * NULL */
	struct isa_disasm *later;
	bool later_tried;
	enum isa_arch arch;
	unsigned lanes;
};

/*
 * The text of instructions drifts between versions; these are the ones the
 * parser was tested with, best first. gfx950 is unknown before 20.
 */
static const char *const libs_19[] = {"libLLVM-19.so.1", "libLLVM.so.19.1", "libLLVM-19.so",
				      "/usr/lib/llvm-19/lib/libLLVM.so.19.1", NULL};
static const char *const libs_22[] = {"libLLVM.so.22.1", "libLLVM-22.so.1", "libLLVM-22.so",
				      "/usr/lib/llvm-22/lib/libLLVM.so.22.1", NULL};

static struct llvm llvm_19, llvm_22;
static pthread_once_t once_19 = PTHREAD_ONCE_INIT, once_22 = PTHREAD_ONCE_INIT;

static void load(struct llvm *l, const char *const *names)
{
	void *h = NULL;
	const struct {
		const char *name;
		void *slot;
	} want[] = {
	    {"LLVMInitializeAMDGPUTargetInfo", &l->init_info},
	    {"LLVMInitializeAMDGPUTargetMC", &l->init_mc},
	    {"LLVMInitializeAMDGPUDisassembler", &l->init_dis},
	    {"LLVMCreateDisasmCPUFeatures", &l->create},
	    {"LLVMSetDisasmOptions", &l->options},
	    {"LLVMDisasmDispose", &l->dispose},
	    {"LLVMDisasmInstruction", &l->text},
	};

	for (unsigned i = 0; names[i] && !h; i++)
		h = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!h) {
		l->error = -ENOENT;
		snprintf(l->why, sizeof(l->why), "cannot load the disassembler %s", names[0]);
		return;
	}
	for (unsigned i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		void *p = dlsym(h, want[i].name);

		if (!p) {
			l->error = -ENOENT;
			snprintf(l->why, sizeof(l->why), "%s has no %s", names[0], want[i].name);
			return;
		}
		memcpy(want[i].slot, &p, sizeof(p));
	}
	l->init_info();
	l->init_mc();
	l->init_dis();
}

static void load_19(void)
{
	load(&llvm_19, libs_19);
}

static void load_22(void)
{
	load(&llvm_22, libs_22);
}

static int make(struct llvm *l, enum isa_arch arch, unsigned lanes, struct isa_disasm **ret_d,
		struct hrr_diag *diag)
{
	const char *features = "";
	struct isa_disasm *d;

	if (l->error)
		return hrr_diag_set(diag, l->error, "%s", l->why);
	if (isa_arch_wave_size(arch) != lanes)
		features = lanes == 64 ? "+wavefrontsize64,-wavefrontsize32"
				       : "+wavefrontsize32,-wavefrontsize64";
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->lib = l;
	d->arch = arch;
	d->lanes = lanes;
	d->dc = l->create("amdgcn-amd-amdhsa", isa_arch_name(arch), features, NULL, 0, NULL, NULL);
	if (!d->dc) {
		free(d);
		return hrr_diag_set(diag, -EINVAL, "the disassembler does not know %s",
				    isa_arch_name(arch));
	}
	*ret_d = d;
	return 0;
}

int isa_disasm_new(enum isa_arch arch, unsigned lanes, struct isa_disasm **ret_d,
		   struct hrr_diag *diag)
{
	if (arch == ISA_GFX950) {
		pthread_once(&once_22, load_22);
		return make(&llvm_22, arch, lanes, ret_d, diag);
	}
	pthread_once(&once_19, load_19);
	if (llvm_19.error) { /* a later one does as well */
		pthread_once(&once_22, load_22);
		if (!llvm_22.error)
			return make(&llvm_22, arch, lanes, ret_d, diag);
	}
	return make(&llvm_19, arch, lanes, ret_d, diag);
}

void isa_disasm_free(struct isa_disasm *d)
{
	if (!d)
		return;
	isa_disasm_free(d->later);
	d->lib->dispose(d->dc);
	free(d);
}

size_t isa_disasm_text(struct isa_disasm *d, const void *code, size_t size, u64 pc, char *text,
		       size_t text_size)
{
	u8 bytes[32] = {0}; /* the call wants them writable */
	size_t n = size < sizeof(bytes) ? size : sizeof(bytes), used;

	memcpy(bytes, code, n);
	text[0] = '\0';
	used = d->lib->text(d->dc, bytes, n, pc, text, text_size);
	if (!used && d->arch >= ISA_GFX1100) {
		if (!d->later_tried) {
			d->later_tried = true;
			pthread_once(&once_22, load_22);
			if (d->lib != &llvm_22)
				make(&llvm_22, d->arch, d->lanes, &d->later, NULL);
		}
		if (d->later)
			return isa_disasm_text(d->later, code, size, pc, text, text_size);
	}
	return used <= size ? used : 0;
}
