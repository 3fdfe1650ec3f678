#include "lib/emu/runtime/module.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/emu/runtime/arch.h"
#include "lib/emu/runtime/mem.h"
#include "lib/emu/runtime/sched.h"
#include "lib/emu/runtime/va.h"

static struct module *modules;
static bool images_loaded;

struct module *module_list(void)
{
	return modules;
}

bool module_images_loaded(void)
{
	return images_loaded;
}

struct module *module_new(const void *data, void *owned, bool fat)
{
	struct module *m = calloc(1, sizeof *m);

	if (m != NULL) {
		m->data = data;
		m->owned = owned;
		m->fat = fat;
		m->next = modules;
		modules = m;
	}
	return m;
}

static hipError_t broken(struct module *m, hipError_t e, const struct hrr_diag *diag)
{
	emu_note("%s: %s", m->fat ? "fat binary" : "module", diag->what);
	m->broken = e;
	return e;
}

hipError_t module_open(struct module *m)
{
	struct hrr_diag diag = {0};
	size_t len;

	if (m->opened)
		return m->broken;
	m->opened = true;
	if (hrr_bundle_length(m->data, SIZE_MAX, &len, &diag) < 0 ||
	    hrr_bundle_open(&m->bundle, m->data, len, &diag) < 0)
		return broken(m, hipErrorInvalidImage, &diag);
	return hipSuccess;
}

static hipError_t load(struct module *m, const struct hrr_bundle_entry *e, int device,
		       struct image **ret_image)
{
	struct hrr_diag diag = {0};
	struct image *i = calloc(1, sizeof *i);

	if (i == NULL)
		return hipErrorOutOfMemory;
	if (hrr_codeobj_open(&i->co, e->data, e->size, &diag) < 0) {
		free(i);
		return broken(m, hipErrorInvalidImage, &diag);
	}
	hipError_t rc = mem_new(RANGE_CODE, device, i->co.image_size, 0, "code object", &i->range);
	if (rc == hipSuccess &&
	    hrr_codeobj_load(&i->co, i->range->host, i->range->base, &diag) < 0) {
		mem_delete(i->range, NULL);
		rc = broken(m, hipErrorInvalidImage, &diag);
	}
	if (rc != hipSuccess) {
		hrr_codeobj_close(&i->co);
		free(i);
		return rc;
	}
	i->range->owner = i;
	images_loaded = true;
	*ret_image = i;
	return hipSuccess;
}

hipError_t module_image(struct module *m, int device, struct image **ret_image)
{
	if (m->image[device] == NULL) {
		const struct hrr_bundle_entry *e;
		hipError_t rc = module_open(m);
		if (rc != hipSuccess)
			return rc;
		const char *arch = isa_arch_name(rt_arch());
		if (hrr_bundle_find(&m->bundle, arch, &e) < 0) {
			arch_adopt(&m->bundle);
			arch = isa_arch_name(rt_arch());
			if (hrr_bundle_find(&m->bundle, arch, &e) < 0) {
				emu_note("no code for %s in this binary", arch);
				return hipErrorNoBinaryForGpu;
			}
		}
		rc = load(m, e, device, &m->image[device]);
		if (rc != hipSuccess)
			return rc;
		module_fill_managed(m, m->image[device]);
	}
	*ret_image = m->image[device];
	return hipSuccess;
}

hipError_t function_kernel(struct function *f, int device, struct image **ret_image,
			   const struct hrr_kernel **ret_kernel)
{
	hipError_t e = module_image(f->module, device, ret_image);

	if (e != hipSuccess)
		return e;
	if (f->kernel[device] == NULL)
		f->kernel[device] = hrr_codeobj_kernel(&(*ret_image)->co, f->name);
	if (f->kernel[device] == NULL || f->kernel[device]->kd == 0) {
		emu_note("kernel %s is not in its code object", f->name);
		return hipErrorInvalidDeviceFunction;
	}
	*ret_kernel = f->kernel[device];
	return hipSuccess;
}

hipError_t image_program(struct image *i, struct isa_program **ret_prog)
{
	struct hrr_diag diag = {0};

	if (i->prog == NULL) {
		int arch = isa_arch_by_name(i->co.arch);
		int rc = arch < 0
			     ? hrr_diag_set(&diag, -EINVAL, "%s is not emulated", i->co.arch)
			     : isa_program_new((enum isa_arch)arch, i->range->host, i->range->size,
					       i->range->base, &i->prog, &diag);
		if (rc < 0) {
			emu_say("cannot decode kernels: %s", diag.what);
			return rc == -ENOMEM ? hipErrorOutOfMemory : hipErrorSharedObjectInitFailed;
		}
	}
	*ret_prog = i->prog;
	return hipSuccess;
}

struct image *image_at(uint64_t addr)
{
	struct range *r = range_find(addr);

	return r != NULL && r->kind == RANGE_CODE ? r->owner : NULL;
}

void module_free(struct module *m)
{
	for (struct module **p = &modules; *p != NULL; p = &(*p)->next)
		if (*p == m) {
			*p = m->next;
			break;
		}
	handle_del(m);
	for (size_t i = 0; i < m->n_index; i++)
		if (m->by_index[i] != NULL) {
			handle_del(m->by_index[i]);
			free(m->by_index[i]);
		}
	free(m->by_index);
	for (int d = 0; d < EMU_MAX_DEVICES; d++) {
		struct image *i = m->image[d];
		if (i == NULL)
			continue;
		if (i->prog != NULL)
			isa_program_free(i->prog);
		mem_delete(i->range, "hipModuleUnload");
		hrr_codeobj_close(&i->co);
		free(i);
	}
	if (m->opened) /* broken, it may be open all the same */
		hrr_bundle_close(&m->bundle);
	free(m->owned);
	free(m);
}

/* --- hipModule* --------------------------------------------------------------------- */

static hipError_t load_owned(hipModule_t *ret, void *copy)
{
	struct image *i;

	rt_lock();
	struct module *m = module_new(copy, copy, false);
	hipError_t e = m == NULL ? hipErrorOutOfMemory : module_image(m, emu_thread.device, &i);
	if (e == hipSuccess && handle_add(HANDLE_MODULE, m) < 0)
		e = hipErrorOutOfMemory;
	if (e == hipSuccess)
		*ret = (hipModule_t)(void *)m;
	else if (m != NULL)
		module_free(m);
	else
		free(copy);
	rt_unlock();
	return e;
}

static hipError_t load_data(hipModule_t *module, const void *image)
{
	struct hrr_diag diag = {0};
	size_t len;

	if (module == NULL || image == NULL)
		return hipErrorInvalidValue;
	if (hrr_bundle_length(image, SIZE_MAX, &len, &diag) < 0) {
		emu_note("hipModuleLoadData: %s", diag.what);
		return hipErrorInvalidImage;
	}
	/* The caller may free its copy as soon as this returns. */
	void *copy = malloc(len);
	if (copy == NULL)
		return hipErrorOutOfMemory;
	memcpy(copy, image, len);
	return load_owned(module, copy);
}

hipError_t emu_hipModuleLoadData(hipModule_t *module, void *image)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(load_data(module, image));
}

hipError_t emu_hipModuleLoadDataEx(hipModule_t *module, void *image, unsigned int numOptions,
				   void *options, void *optionValues)
{
	(void)numOptions;
	(void)options;
	(void)optionValues;
	EMU_ENTER(EMU_WORK);
	return emu_ret(load_data(module, image));
}

hipError_t emu_hipModuleLoadFatBinary(hipModule_t *module, void *fatbin)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(load_data(module, fatbin));
}

hipError_t emu_hipModuleLoad(hipModule_t *module, const char *fname)
{
	struct stat st;
	hipError_t e = hipErrorFileNotFound;

	EMU_ENTER(EMU_WORK);
	if (module == NULL || fname == NULL)
		return emu_ret(hipErrorInvalidValue);
	int fd = open(fname, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return emu_ret(e);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		struct hrr_diag diag = {0};
		size_t n = (size_t)st.st_size, got = 0, len;
		char *data = malloc(n > 0 ? n : 1);
		while (data != NULL && got < n) {
			ssize_t k = read(fd, data + got, n - got);
			if (k <= 0)
				break;
			got += (size_t)k;
		}
		if (data == NULL)
			e = hipErrorOutOfMemory;
		else if (hrr_bundle_length(data, got, &len, &diag) < 0) {
			emu_note("hipModuleLoad: %s: %s", fname, diag.what);
			free(data);
			e = hipErrorInvalidImage;
		} else {
			e = load_owned(module, data);
		}
	}
	close(fd);
	return emu_ret(e);
}

static struct module *module_get(hipModule_t h)
{
	return handle_is(HANDLE_MODULE, h) ? (struct module *)(void *)h : NULL;
}

hipError_t emu_hipModuleUnload(hipModule_t module)
{
	EMU_ENTER(EMU_ANY);
	rt_lock();
	struct module *m = module_get(module);
	if (m != NULL) {
		for (int d = 0; d < rt.n_devices; d++)
			sched_wait_device(d);
		sched_quiesce();
		m = module_get(module);
	}
	if (m != NULL)
		module_free(m);
	rt_unlock();
	return emu_ret(m != NULL ? hipSuccess : hipErrorInvalidHandle);
}

static hipError_t get_function(struct module *m, const char *name, struct function **ret)
{
	struct image *i;
	hipError_t e = module_image(m, emu_thread.device, &i);

	if (e != hipSuccess)
		return e;
	const struct hrr_kernel *k = hrr_codeobj_kernel(&i->co, name);
	if (k == NULL || k->kd == 0)
		return hipErrorNotFound;
	if (m->by_index == NULL) {
		m->by_index = calloc(i->co.n_kernels, sizeof *m->by_index);
		if (m->by_index == NULL)
			return hipErrorOutOfMemory;
		m->n_index = i->co.n_kernels;
	}
	struct function **slot = &m->by_index[k - i->co.kernels];
	if (*slot == NULL) {
		struct function *f = calloc(1, sizeof *f);
		if (f == NULL || handle_add(HANDLE_FUNCTION, f) < 0) {
			free(f);
			return hipErrorOutOfMemory;
		}
		f->module = m;
		f->name = k->name;
		*slot = f;
	}
	*ret = *slot;
	return hipSuccess;
}

hipError_t emu_hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *kname)
{
	struct function *f;

	EMU_ENTER(EMU_WORK);
	if (function == NULL || kname == NULL)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	struct module *m = module_get(module);
	hipError_t e = m != NULL ? get_function(m, kname, &f) : hipErrorInvalidHandle;
	if (e == hipSuccess)
		*function = (hipFunction_t)(void *)f;
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipModuleGetGlobal(void **dptr, size_t *bytes, hipModule_t hmod, const char *name)
{
	struct hrr_symbol sym;
	struct image *i;

	EMU_ENTER(EMU_WORK);
	if (name == NULL || (dptr == NULL && bytes == NULL))
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	struct module *m = module_get(hmod);
	hipError_t e = m != NULL ? module_image(m, emu_thread.device, &i) : hipErrorInvalidHandle;
	if (e == hipSuccess && hrr_codeobj_symbol(&i->co, name, &sym) < 0)
		e = hipErrorNotFound;
	if (e == hipSuccess && dptr != NULL)
		*dptr = (void *)(uintptr_t)(i->range->base + sym.value);
	if (e == hipSuccess && bytes != NULL)
		*bytes = sym.size;
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipModuleGetFunctionCount(unsigned int *count, hipModule_t module)
{
	struct image *i;

	EMU_ENTER(EMU_WORK);
	if (count == NULL)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	struct module *m = module_get(module);
	hipError_t e = m != NULL ? module_image(m, emu_thread.device, &i) : hipErrorInvalidHandle;
	if (e == hipSuccess)
		*count = (unsigned)i->co.n_kernels;
	rt_unlock();
	return emu_ret(e);
}
