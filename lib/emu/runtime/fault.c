#include "lib/emu/runtime/fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/emu/isa/approx.h"
#include "lib/emu/runtime/describe.h"
#include "lib/emu/runtime/emu.h"
#include "lib/emu/runtime/hostcall.h"
#include "lib/emu/runtime/range.h"
#include "lib/emu/runtime/rt.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of everything here */
static struct hrr_emu_stats stats;
static struct {
	const char *kernel, *why; /* why: static, or NULL */
	uint64_t pc;
} * sites; /* owned: distinct places reported */
static size_t n_sites;
static void (*on_fault)(void *self, const struct hrr_emu_fault *fault);
static void *on_fault_self;
static bool quiet;

/* Whether this place is new; prints it only while there are few. */
static bool new_site(const char *kernel, uint64_t pc, const char *why)
{
	for (size_t i = 0; i < n_sites; i++)
		if (sites[i].pc == pc && strcmp(sites[i].kernel, kernel) == 0 &&
		    (sites[i].why == why ||
		     (why != NULL && sites[i].why != NULL && strcmp(sites[i].why, why) == 0)))
			return false;
	void *p = realloc(sites, (n_sites + 1) * sizeof *sites);
	char *name = strdup(kernel);
	if (p != NULL)
		sites = p;
	if (p == NULL || name == NULL) {
		free(name);
		return true;
	}
	sites[n_sites].kernel = name;
	sites[n_sites].why = why;
	sites[n_sites++].pc = pc;
	return true;
}

/* A listener hears of every fault, standard error of each place once. */
static void emit(struct hrr_buf *b, const struct hrr_emu_fault *f, bool fresh)
{
	char *text = hrr_buf_str(b);
	struct hrr_emu_fault out = *f;

	if (text == NULL)
		return;
	out.text = text;
	out.origin = emu_thread.origin;
	bool print = fresh && !quiet;
	if (print && n_sites <= rt.max_reports && write(STDERR_FILENO, text, b->len) < 0)
		errno = 0; /* nowhere to say it */
	if (print && n_sites == rt.max_reports + 1) {
		static const char more[] =
		    "hrr-emu: more places than HRR_EMU_REPORTS: counted only\n";
		if (write(STDERR_FILENO, more, sizeof more - 1) < 0)
			errno = 0;
	}
	if (on_fault != NULL)
		on_fault(on_fault_self, &out);
}

static const char *access_name(enum isa_access a)
{
	static const char *const names[] = {"load", "store", "atomic", "instruction fetch"};

	return names[a];
}

static const char *space_name(enum isa_space s)
{
	static const char *const names[] = {"global", "LDS", "scratch", "constant", "flat"};

	return names[s];
}

static void where(struct hrr_buf *b, const struct hrr_kernel *k, const struct image *image,
		  const struct hrr_emu_fault *f)
{
	uint64_t entry = 0;

	hrr_buf_adds(b, "  pc ");
	hrr_buf_addx(b, f->pc);
	if (k->descriptor != NULL) {
		int64_t offset;
		memcpy(&offset, k->descriptor + 16, sizeof offset);
		entry = image->range->base + k->kd + (uint64_t)offset;
	}
	if (entry != 0 && f->pc >= entry) {
		hrr_buf_adds(b, " (kernel + ");
		hrr_buf_addx(b, f->pc - entry);
		hrr_buf_addc(b, ')');
	}
	hrr_buf_addf(b, ": %s\n", f->instruction);
	if (f->file != NULL)
		hrr_buf_addf(b, "  source %s:%u\n", f->file, f->line);
}

static void one_fault(const struct isa_fault *f, const struct hrr_kernel *k,
		      const struct image *image, const struct launch_view *view)
{
	struct hrr_buf b = {0};
	bool fresh = new_site(k->name, f->pc, f->why);
	bool own = f->space == ISA_LDS || f->space == ISA_SCRATCH;
	char file[256], tags[3][DESCRIBE_TAG];
	struct hrr_emu_fault out = {.kernel = k->name,
				    .pc = f->pc,
				    .address = f->address,
				    .size = f->size,
				    .access = f->access,
				    .space = f->space,
				    .why = f->why,
				    .instruction = f->text,
				    .wave = f->wave,
				    .lane = f->lane,
				    .lanes = f->count};

	if (!fresh && on_fault == NULL)
		return;
	memcpy(out.workgroup, f->workgroup, sizeof out.workgroup);
	memcpy(out.workitem, f->workitem, sizeof out.workitem);
	if (hrr_codeobj_line(&image->co, f->pc - image->range->base, file, sizeof file,
			     &out.line) == 0)
		out.file = file;
	if (!own)
		describe_fill(&out, tags);
	hrr_buf_addf(&b, "hrr-emu: %s: %s of %u bytes (%s) at ", k->name, access_name(f->access),
		     f->size, space_name(f->space));
	hrr_buf_addx(&b, f->address);
	hrr_buf_addf(&b, "%s%s\n", f->why != NULL ? ": " : "", f->why != NULL ? f->why : "");
	where(&b, k, image, &out);
	hrr_buf_addf(
	    &b, "  workgroup (%u,%u,%u) wave %u lane %u work-item (%u,%u,%u); %llu lane%s\n",
	    f->workgroup[0], f->workgroup[1], f->workgroup[2], f->wave, f->lane, f->workitem[0],
	    f->workitem[1], f->workitem[2], (unsigned long long)f->count, f->count == 1 ? "" : "s");
	if (own && f->limit != 0 && f->address >= f->limit)
		hrr_buf_addf(&b, "  %llu bytes after the end of %llu\n",
			     (unsigned long long)(f->address - f->limit),
			     (unsigned long long)f->limit);
	else if (own && f->limit != 0 && f->address + f->size > f->limit)
		hrr_buf_addf(&b, "  %llu bytes past the end of %llu\n",
			     (unsigned long long)(f->address + f->size - f->limit),
			     (unsigned long long)f->limit);
	if (out.recorded != 0 && out.recorded != f->address) {
		hrr_buf_adds(&b, "  recorded as ");
		hrr_buf_addx(&b, out.recorded);
		hrr_buf_addc(&b, '\n');
	}
	if (!own && f->why == NULL)
		view_explain(&b, view, f->address);
	if (!own)
		range_explain(&b, f->address, f->size, view->device);
	emit(&b, &out, fresh);
	hrr_buf_release(&b);
}

/* What ended a launch without an access being wrong: a trap, an instruction that is not there. */
static void ended(const struct isa_report *r, const struct hrr_kernel *k, const struct image *image)
{
	struct hrr_buf b = {0};
	char file[256];
	uint32_t line;

	hrr_buf_addf(&b, "%s: %s", k->name, r->what);
	if (r->pc != 0) {
		if (hrr_codeobj_line(&image->co, r->pc - image->range->base, file, sizeof file,
				     &line) == 0)
			hrr_buf_addf(&b, "\n  source %s:%u", file, line);
		hrr_buf_addf(&b, "\n  workgroup (%u,%u,%u)", r->workgroup[0], r->workgroup[1],
			     r->workgroup[2]);
	}
	if (hrr_buf_str(&b) != NULL)
		emu_say("%s", b.data);
	hrr_buf_release(&b);
}

static void add_approx(const struct isa_approx *a)
{
	for (uint32_t i = 0; i < stats.n_approx; i++)
		if (strcmp(stats.approx[i].mnemonic, a->mnemonic) == 0) {
			stats.approx[i].count += a->count;
			return;
		}
	if (stats.n_approx < HRR_EMU_MAX_APPROX) {
		stats.approx[stats.n_approx].mnemonic = a->mnemonic;
		(void)isa_approx_error(a->mnemonic, &stats.error[stats.n_approx]);
		stats.approx[stats.n_approx++].count = a->count;
	}
}

hipError_t fault_launch(const struct isa_report *r, const struct hrr_kernel *k, struct image *image,
			const struct launch_view *view, uint64_t ns)
{
	static const hipError_t result[] = {[ISA_DONE] = hipSuccess,
					    [ISA_FAULT] = hipErrorIllegalAddress,
					    [ISA_UNIMPLEMENTED] = hipErrorLaunchFailure,
					    [ISA_BUDGET] = hipErrorLaunchTimeOut,
					    [ISA_TRAP] = hipErrorLaunchFailure,
					    [ISA_BAD_LAUNCH] = hipErrorLaunchFailure,
					    [ISA_NOMEM] = hipErrorOutOfMemory};

	pthread_mutex_lock(&lock);
	stats.launches++;
	stats.waves += r->waves;
	stats.instructions += r->instructions;
	stats.nanoseconds += ns;
	for (unsigned i = 0; i < r->n_approx; i++)
		add_approx(&r->approx[i]);
	stats.refused += r->status == ISA_UNIMPLEMENTED || r->status == ISA_BAD_LAUNCH;
	stats.budget += r->status == ISA_BUDGET;
	stats.traps += r->status == ISA_TRAP;
	stats.faults += r->fault_count;
	for (unsigned i = 0; i < r->n_faults; i++)
		one_fault(&r->faults[i], k, image, view);
	bool say = r->status != ISA_DONE && (r->status != ISA_FAULT || r->n_faults == 0);
	/* assert and abort in a kernel end the program, as they do on hardware; a tool that
	 * listens to faults stays in charge. */
	bool end = r->status == ISA_TRAP && !rt.trap_error && on_fault == NULL && !hostcall_heard();
	pthread_mutex_unlock(&lock);
	if (say)
		ended(r, k, image);
	if (end)
		abort();
	return result[r->status];
}

void fault_copy(const char *what, bool write, uint64_t addr, uint64_t size, int device)
{
	char tags[3][DESCRIBE_TAG];
	struct hrr_buf b = {0};

	pthread_mutex_lock(&lock);
	stats.faults++;
	hrr_buf_addf(&b, "hrr-emu: %s: cannot %s ", what, write ? "write" : "read");
	hrr_buf_addx(&b, addr);
	hrr_buf_addf(&b, " (%llu bytes a row)\n", (unsigned long long)size);
	range_explain(&b, addr, size, device);
	struct hrr_emu_fault out = {.address = addr,
				    .size = (uint32_t)size,
				    .access = write ? ISA_STORE : ISA_LOAD,
				    .why = what};
	describe_fill(&out, tags);
	emit(&b, &out, new_site(what, addr, NULL));
	pthread_mutex_unlock(&lock);
	hrr_buf_release(&b);
}

void fault_count_not_supported(void)
{
	pthread_mutex_lock(&lock);
	stats.not_supported++;
	pthread_mutex_unlock(&lock);
}

__attribute__((visibility("default"))) int hrr_emu_report(struct hrr_emu_stats *ret_stats)
{
	size_t size = ret_stats->size;

	if (size < offsetof(struct hrr_emu_stats, waves))
		return -EINVAL;
	if (size > sizeof stats)
		size = sizeof stats;
	pthread_mutex_lock(&lock);
	stats.size = ret_stats->size;
	memcpy(ret_stats, &stats, size);
	pthread_mutex_unlock(&lock);
	return 0;
}

__attribute__((visibility("default"))) void hrr_emu_origin(const struct hrr_emu_origin *origin)
{
	emu_thread.origin = *origin;
}

__attribute__((visibility("default"))) void
hrr_emu_on_fault(void (*fn)(void *self, const struct hrr_emu_fault *fault), void *self,
		 int be_quiet)
{
	pthread_mutex_lock(&lock);
	on_fault = fn;
	on_fault_self = self;
	quiet = be_quiet != 0;
	pthread_mutex_unlock(&lock);
}
