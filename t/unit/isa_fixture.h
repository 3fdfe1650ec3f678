#ifndef HRR_T_UNIT_ISA_FIXTURE_H
#define HRR_T_UNIT_ISA_FIXTURE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/emu/isa/isa.h"
#include "lib/hip/codeobj.h"

/*
 * A small run time for tests of the interpreter: compiles kernels, loads them,
 * keeps memory at made-up device addresses, fills in arguments.
 */

#define FX_SPANS 64
#define FX_BASE 0x7a0000000000ull /* device addresses: far from host ones */

struct fx {
	enum isa_arch arch;
	struct hrr_codeobj co;
	unsigned char *file, *image;
	size_t file_size;
	struct isa_program *prog;
	uint64_t base;
	struct isa_span span[FX_SPANS];
	unsigned n_spans;
	unsigned threads;
	uint64_t budget, room;
	bool cooperative, go_on, watch_own;
	unsigned char poison;
	void (*hostcall)(void *self, uint32_t message);
	void *hostcall_self;
	struct isa_report report;
};

static int fx_find(void *self, uint64_t addr, struct isa_span *ret)
{
	const struct fx *f = self;

	for (unsigned i = 0; i < f->n_spans; i++)
		if (addr >= f->span[i].base && addr - f->span[i].base < f->span[i].size) {
			*ret = f->span[i];
			return 0;
		}
	return -14;
}

/* Gives host memory a device address, 1 MiB apart from its neighbours at least. */
static inline uint64_t fx_map(struct fx *f, void *host, size_t size)
{
	const unsigned n = f->n_spans++;
	uint64_t at = FX_BASE;

	if (n >= FX_SPANS)
		abort();
	for (unsigned i = 0; i < n; i++)
		if (f->span[i].base + f->span[i].size > at)
			at = f->span[i].base + f->span[i].size;
	at = (at + (2u << 20)) & ~(uint64_t)0xfffff;
	f->span[n] = (struct isa_span){
	    .base = at, .size = size, .host = host, .readable = true, .writable = true};
	return at;
}

static inline unsigned char *fx_read(const char *path, size_t *size)
{
	FILE *const in = fopen(path, "rb");
	unsigned char *p = NULL;
	long n;

	if (!in)
		return NULL;
	fseek(in, 0, SEEK_END);
	n = ftell(in);
	rewind(in);
	if (n > 0)
		p = malloc((size_t)n);
	if (p && fread(p, 1, (size_t)n, in) != (size_t)n) {
		free(p);
		p = NULL;
	}
	*size = (size_t)n;
	fclose(in);
	return p;
}

/* Where compiled kernels go; made when it is not there. */
static inline const char *fx_dir(void)
{
	static char dir[256];
	const char *const build = getenv("BUILD");

	if (!dir[0]) {
		snprintf(dir, sizeof(dir), "%s/t/isa", build ? build : "build/gcc");
		mkdir(build ? build : "build", 0777);
		if (!build)
			mkdir("build/gcc", 0777);
		char up[280];
		snprintf(up, sizeof(up), "%s/t", build ? build : "build/gcc");
		mkdir(up, 0777);
		mkdir(dir, 0777);
	}
	return dir;
}

/* Loads an object from a file. false with a line on stderr when that fails. */
static inline bool fx_load(struct fx *f, const char *arch, const char *path)
{
	struct hrr_diag diag = {0};
	const int a = isa_arch_by_name(arch);

	memset(f, 0, sizeof(*f));
	if (a < 0)
		return false;
	f->arch = (enum isa_arch)a;
	f->file = fx_read(path, &f->file_size);
	if (!f->file)
		return false;
	if (hrr_codeobj_open(&f->co, f->file, f->file_size, &diag)) {
		fprintf(stderr, "%s: %s\n", path, diag.what);
		return false;
	}
	f->image = aligned_alloc(4096, (f->co.image_size + 4095) / 4096 * 4096);
	f->base = 0x7b0000000000ull;
	if (!f->image || hrr_codeobj_load(&f->co, f->image, f->base, &diag)) {
		fprintf(stderr, "%s: %s\n", path, diag.what);
		return false;
	}
	if (isa_program_new(f->arch, f->image, f->co.image_size, f->base, &f->prog, &diag)) {
		fprintf(stderr, "%s: %s\n", path, diag.what);
		return false;
	}
	f->span[f->n_spans++] = (struct isa_span){.base = f->base,
						  .size = f->co.image_size,
						  .host = f->image,
						  .readable = true,
						  .writable = true};
	return true;
}

static inline void fx_close(struct fx *f)
{
	isa_program_free(f->prog);
	hrr_codeobj_close(&f->co);
	free(f->image);
	free(f->file);
}

static inline void fx_put(unsigned char *p, size_t size, uint64_t v)
{
	memcpy(p, &v, size < 8 ? size : 8);
}

/* Launches kernel with its explicit arguments as they lie in memory; false when isa_run failed. */
static inline bool fx_run(struct fx *f, const char *kernel, const uint32_t *grid,
			  const uint32_t *block, uint32_t dyn_lds, const void *args,
			  size_t args_size)
{
	const struct hrr_kernel *const k = hrr_codeobj_kernel(&f->co, kernel);
	unsigned char *const kernarg = calloc(1, 8192), packet[64] = {0}, queue[256] = {0};
	const unsigned keep = f->n_spans;
	struct isa_launch l = {.prog = f->prog};
	uint32_t dims = grid[2] > 1 ? 3 : grid[1] > 1 ? 2 : 1;
	bool good;

	memset(&f->report, 0, sizeof(f->report));
	if (!k || !kernarg || args_size > 4096) {
		snprintf(f->report.what, sizeof(f->report.what), "no kernel %s", kernel);
		f->report.status = ISA_BAD_LAUNCH;
		free(kernarg);
		return false;
	}
	memcpy(kernarg, args, args_size);
	for (uint32_t i = 0; i < k->n_args; i++) {
		const struct hrr_arg *const a = &k->args[i];
		unsigned char *const p = kernarg + a->offset;

		if (a->kind != HRR_ARG_HIDDEN)
			continue;
		switch (a->hidden) {
		case HRR_HIDDEN_BLOCK_COUNT_X:
		case HRR_HIDDEN_BLOCK_COUNT_Y:
		case HRR_HIDDEN_BLOCK_COUNT_Z: {
			const int d = (int)a->hidden - HRR_HIDDEN_BLOCK_COUNT_X;
			fx_put(p, a->size, grid[d] / block[d]);
			break;
		}
		case HRR_HIDDEN_GROUP_SIZE_X:
		case HRR_HIDDEN_GROUP_SIZE_Y:
		case HRR_HIDDEN_GROUP_SIZE_Z:
			fx_put(p, a->size, block[(int)a->hidden - HRR_HIDDEN_GROUP_SIZE_X]);
			break;
		case HRR_HIDDEN_REMAINDER_X:
		case HRR_HIDDEN_REMAINDER_Y:
		case HRR_HIDDEN_REMAINDER_Z: {
			const int d = (int)a->hidden - HRR_HIDDEN_REMAINDER_X;
			fx_put(p, a->size, grid[d] % block[d]);
			break;
		}
		case HRR_HIDDEN_GRID_DIMS:
			fx_put(p, a->size, dims);
			break;
		case HRR_HIDDEN_DYNAMIC_LDS_SIZE:
			fx_put(p, a->size, dyn_lds);
			break;
		case HRR_HIDDEN_PRIVATE_BASE:
			fx_put(p, a->size, 0x00020000u);
			break;
		case HRR_HIDDEN_SHARED_BASE:
			fx_put(p, a->size, 0x00010000u);
			break;
		default:
			break;
		}
	}
	for (int d = 0; d < 3; d++) {
		fx_put(packet + 4 + 2 * d, 2, block[d]);
		fx_put(packet + 12 + 4 * d, 4, grid[d]);
	}
	fx_put(packet + 2, 2, dims);
	/* amd_queue_t: group_segment_aperture_base_hi at 0x40, private at 0x44 */
	fx_put(queue + 0x40, 4, 0x00010000u);
	fx_put(queue + 0x44, 4, 0x00020000u);
	l.kd = f->base + k->kd;
	memcpy(l.grid, grid, sizeof(l.grid));
	memcpy(l.block, block, sizeof(l.block));
	l.kernarg = fx_map(f, kernarg, 8192);
	l.packet = fx_map(f, packet, sizeof(packet));
	l.queue = fx_map(f, queue, sizeof(queue));
	l.lds = k->group_size + dyn_lds;
	l.scratch = k->private_size + (k->dynamic_stack ? 16384 : 0);
	l.budget = f->budget ? f->budget : 2000000000ull;
	l.room = f->room;
	l.threads = f->threads;
	l.cooperative = f->cooperative;
	l.watch_own = f->watch_own;
	l.go_on = f->go_on;
	l.poison_lds = f->poison;
	l.mem = (struct isa_mem){f, fx_find};
	l.hostcall = f->hostcall;
	l.hostcall_self = f->hostcall_self;
	good = isa_run(&l, &f->report) == 0;
	f->n_spans = keep;
	free(kernarg);
	return good && f->report.status == ISA_DONE;
}

/*
 * Compiles t/isa/NAME.hip for an arch. Debian's clang-15 for what it knows, newer
 * clangs for the rest. NULL when the compiler fails, which stderr tells.
 */
static inline const char *fx_compile(const char *name, const char *arch, const char *clang,
				     const char *flags)
{
	static char path[512];
	char cmd[8192], src[256];
	struct stat a, b;
	const bool libs = !strcmp(clang, "clang++-15");

	snprintf(src, sizeof(src), "t/isa/%s.hip", name);
	snprintf(path, sizeof(path), "%s/%s-%s-%s%s.co", fx_dir(), name, arch, clang, flags);
	for (char *p = path + strlen(fx_dir()) + 1; *p; p++)
		if (*p == ' ' || *p == '/')
			*p = '_';
	if (!stat(path, &a) && !stat(src, &b) && a.st_mtime >= b.st_mtime)
		return path;
	snprintf(cmd, sizeof(cmd),
		 "%s -x hip --cuda-device-only --no-gpu-bundle-output --offload-arch=%s %s %s -w "
		 "%s -o %s.tmp "
		 "2>%s.log && mv %s.tmp %s",
		 clang, arch,
		 libs ? "--rocm-path=/usr "
			"--rocm-device-lib-path=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode "
			"-D__HIP_PLATFORM_AMD__ -DWITH_LIBS"
		      : "-nogpulib -nogpuinc",
		 flags, src, path, path, path, path);
	if (system(cmd)) {
		fprintf(stderr, "%s\n", cmd);
		return NULL;
	}
	return path;
}

/* Leaves the names of the table this process met where isa_coverage reads them. */
static inline void fx_met(const char *test)
{
	char path[512];
	FILE *out;

	snprintf(path, sizeof(path), "%s/met-%s.txt", fx_dir(), test);
	out = fopen(path, "w");
	if (!out)
		return;
	for (int a = 0; a < ISA_ARCH_COUNT; a++)
		for (unsigned i = 0; isa_table_name((enum isa_arch)a, i); i++)
			if (isa_table_met((enum isa_arch)a, i))
				fprintf(out, "%s %s\n", isa_arch_name((enum isa_arch)a),
					isa_table_name((enum isa_arch)a, i));
	fclose(out);
}

#endif
